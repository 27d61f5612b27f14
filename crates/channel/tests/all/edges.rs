//! Tests with a UE that walks behind the corner of a building. The channel changes only as fast as
//! diffraction allows.

use fadeout_channel::antenna::{Angles, Antenna, Array, Element, ElementKind, Mounted};
use fadeout_channel::fading::Fading;
use fadeout_channel::path_loss::{PathLoss, UrbanMicro};
use fadeout_channel::{
    ChannelConfig, Environment, LineOfSight, LinkChannel, LinkEnds, LinkKey, State, wavelength,
};
use fadeout_core::{Hertz, Kinematics, Point, Span, Time};

/// Fading by clusters. K factor and delay spread depend on the position.
const CLUSTERS: Fading = Fading::Clusters {
    k_db: 0.0,
    delay_spread: Span::ZERO,
};

/// Distances from the mast to the corner, and from the corner to the UE, metres.
const DISTANCES: (f64, f64) = (40.0, 20.0);

fn channel(carrier: f64, config: ChannelConfig) -> LinkChannel {
    let config = ChannelConfig {
        carrier: Hertz(carrier),
        path_loss: PathLoss::UrbanMicro(UrbanMicro),
        line_of_sight: LineOfSight::Geometry,
        shadowing: None,
        ..config
    };
    let environment = Environment::new(config, 3).expect("a valid channel");
    environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue: 0,
    })
}

/// Returns ends with the UE `offset` metres beside the line from the mast past the corner. The
/// obstruction of the direct path grows with `offset`.
fn ends(offset: f64) -> LinkEnds {
    let (to_corner, beyond) = DISTANCES;
    // The intercept theorem gives the distance of the corner from the path.
    let across = offset * to_corner / (to_corner + beyond);
    let scale = (2.0 * (1.0 / to_corner + 1.0 / beyond)).sqrt();
    LinkEnds {
        obstruction: Some(across * scale),
        ..LinkEnds::new(
            Kinematics::at_rest(Point::new(0.0, 0.0, 10.0)),
            Kinematics::at_rest(Point::new(to_corner + beyond, offset, 1.5)),
        )
    }
}

/// Returns the large-scale gain in dB every millimetre, from 5 m before the corner to 15 m behind
/// it.
fn walk(channel: &mut LinkChannel) -> Vec<(f64, f64)> {
    (-5000..15_000)
        .map(|mm: i64| {
            let offset = mm as f64 / 1000.0;
            let now = Time::ZERO + Span::from_micros((mm + 5000) as u64 * 500);
            (offset, channel.large_scale_db(now, &ends(offset)))
        })
        .collect()
}

/// Returns the distance behind the corner at which the gain has fallen by `db`, metres.
fn fallen_by(walk: &[(f64, f64)], db: f64) -> f64 {
    let at_corner = walk[5000].1;
    let place = walk.iter().find(|(_, gain)| *gain < at_corner - db);
    place.expect("it falls").0
}

#[test]
fn the_way_into_the_shadow_is_as_long_as_the_fresnel_radius_says() {
    let (to_corner, beyond) = DISTANCES;
    for carrier in [2.1e9, 28e9, 73e9] {
        let config = ChannelConfig {
            los_fading: Fading::None,
            nlos_fading: Fading::None,
            ..ChannelConfig::default()
        };
        let walk = walk(&mut channel(carrier, config));
        // At the edge half of the amplitude remains. Another 6 dB are lost at v = 0.78 (12.1 dB by
        // equation 31), which is 0.55 Fresnel radii behind the edge. Other paths are at least 15 dB
        // below the direct path, and change the result by less than 1 dB.
        let radius =
            (wavelength(Hertz(carrier)).0 * to_corner * beyond / (to_corner + beyond)).sqrt();
        let expected = 0.55 * radius * (to_corner + beyond) / to_corner;
        let found = fallen_by(&walk, 6.0);
        assert!(
            (found / expected - 1.0).abs() < 0.25,
            "{carrier} Hz: {found} m beside {expected}"
        );
    }
}

#[test]
fn nothing_jumps_at_a_corner() {
    let panel = |azimuth_deg| {
        Antenna::Array(Mounted {
            pattern: Array {
                element: Element::new(ElementKind::Aperture, 0.5),
                ..Array::default()
            },
            boresight: Angles {
                azimuth_deg,
                elevation_deg: 0.0,
            },
        })
    };
    for carrier in [2.1e9, 28e9, 73e9] {
        for (name, antennas, allowed) in [
            // Evaluations are 1 mm apart. The slope at the edge is 20 dB in 1.6 Fresnel radii,
            // which are at least 0.25 m.
            ("isotropic", None, 0.15),
            // Beams are chosen again in each square of half a metre. The error of the old beam is
            // then at most its half-power width.
            ("arrays", Some((panel(0.0), panel(180.0))), 3.0),
        ] {
            let (base_antenna, ue_antenna) = antennas.unwrap_or_default();
            let config = ChannelConfig {
                draws_k_factor: true,
                draws_delay_spread: true,
                los_fading: CLUSTERS,
                nlos_fading: CLUSTERS,
                base_antenna,
                ue_antenna,
                ..ChannelConfig::default()
            };
            let mut channel = channel(carrier, config);
            let walk = walk(&mut channel);
            assert_eq!(channel.large_scale().state, State::Nlos);
            let steepest = walk
                .windows(2)
                .map(|pair| (pair[1].1 - pair[0].1).abs())
                .fold(0.0, f64::max);
            assert!(
                steepest < allowed,
                "{carrier} Hz, {name}: {steepest} dB a millimetre"
            );
            // The gain in line of sight is more than 10 dB higher than behind the corner.
            assert!(walk[0].1 - walk[walk.len() - 1].1 > 10.0);
        }
    }
}
