//! Tests of beams and fading by the clusters of TR 38.901 clause 7.5.

use fadeout_channel::antenna::{
    Angles, Antenna, Array, BeamManagement, Element, ElementKind, Mounted,
};
use fadeout_channel::blockage::{Blockage, Interval, Scripted};
use fadeout_channel::fading::Fading;
use fadeout_channel::{ChannelConfig, Environment, LargeScale, LineOfSight, LinkEnds, LinkKey};
use fadeout_core::math::{cos, sin, to_db};
use fadeout_core::{Hertz, Kinematics, Point, Span, Time};
use fadeout_testkit::Cases;

/// Fading by clusters. K factor and delay spread depend on the position.
const CLUSTERS: Fading = Fading::Clusters {
    k_db: 0.0,
    delay_spread: Span::ZERO,
};

/// Returns an array of isotropic elements half a wavelength apart, with as many codebook beams as
/// elements.
fn array(side: u32, azimuth_deg: f64) -> Antenna {
    Antenna::Array(Mounted {
        pattern: Array {
            rows: side,
            columns: side,
            element: Element::new(ElementKind::Isotropic, 0.5),
            spacing: 0.5,
            oversampling: 1,
        },
        boresight: Angles {
            azimuth_deg,
            elevation_deg: 0.0,
        },
    })
}

fn config(is_los: bool, azimuth_deg: f64) -> ChannelConfig {
    ChannelConfig {
        carrier: Hertz(28e9),
        bandwidth: Hertz(400e6),
        line_of_sight: match is_los {
            true => LineOfSight::Clear,
            false => LineOfSight::Obstructed,
        },
        shadowing: None,
        los_fading: CLUSTERS,
        nlos_fading: CLUSTERS,
        base_antenna: array(8, azimuth_deg),
        ue_antenna: array(4, azimuth_deg + 180.0),
        draws_k_factor: true,
        draws_delay_spread: true,
        ..ChannelConfig::default()
    }
}

fn ends(x: f64, y: f64) -> LinkEnds {
    LinkEnds::new(
        Kinematics::at_rest(Point {
            x: 0.0,
            y: 0.0,
            z: 10.0,
        }),
        Kinematics::at_rest(Point { x, y, z: 1.5 }),
    )
}

/// Returns the gains relative to the peak of both arrays in dB, sorted. UEs are at 20 to 200 m,
/// within 60 degrees of broadside.
fn below_peak(is_los: bool, drops: Cases) -> Vec<f64> {
    let peak_db = to_db(f64::from(64 * 16));
    let mut found = Vec::new();
    drops.run(|seed| {
        let environment = Environment::new(config(is_los, 0.0), seed).expect("a valid channel");
        let mut link = environment.link(LinkKey {
            site: 0,
            cell: 0,
            ue: seed as u32,
        });
        let (share, turn) = ((seed % 97) as f64 / 97.0, (seed % 89) as f64 / 89.0);
        let distance = (400.0 + share * (40_000.0 - 400.0)).sqrt();
        let azimuth = (-60.0 + 120.0 * turn).to_radians();
        link.large_scale_db(
            Time::ZERO,
            &ends(distance * cos(azimuth), distance * sin(azimuth)),
        );
        let parts = link.large_scale();
        found.push(peak_db - parts.base_gain_dbi - parts.ue_gain_dbi);
    });
    found.sort_by(f64::total_cmp);
    found
}

#[test]
fn the_best_beams_are_as_far_below_their_peak_as_an_exhaustive_search_finds() {
    // An independent program searched all 16,384 pairs of beams, with sorted clusters and drawn
    // couplings, over 10,000 drops. Its deciles in LOS are 3.21 and 8.42 dB, and its median is 5.31
    // dB. In NLOS its deciles are 9.82 and 14.40 dB, and its median is 12.29 dB. Here beams point
    // at the centre of a cluster, which loses 0.1 dB. If no cluster dominates, the loss is 0.25 dB,
    // because a full search finds pairs that combine several clusters.
    let cases = Cases::new(2000);
    let drops = cases.count() as usize;
    // Two standard errors of 2,000 drops and of the program's 10,000 drops are 0.1 dB for the
    // median. For the deciles they are 0.2 dB, because fewer samples are near the deciles.
    let error = |of_2000: f64| of_2000 * (2000.0 / drops as f64 + 0.2).sqrt() / 1.2_f64.sqrt();
    let found = [true, false].map(|is_los| below_peak(is_los, cases));
    let decile = |is_los: bool, tenths: usize| found[usize::from(!is_los)][drops * tenths / 10];
    for (is_los, tenths, expected, lost, of_2000) in [
        (true, 1, 3.21, 0.1, 0.2),
        (true, 5, 5.31, 0.1, 0.1),
        (true, 9, 8.42, 0.1, 0.2),
        (false, 1, 9.82, 0.1, 0.2),
        (false, 5, 12.29, 0.1, 0.1),
        (false, 9, 14.40, 0.25, 0.2),
    ] {
        let found = decile(is_los, tenths);
        assert!(
            (found - expected).abs() < lost + error(of_2000),
            "{is_los}, {tenths} tenths: {found} dB for {expected}"
        );
    }
}

/// Returns the gain by antennas and clusters of a UE that walks past the base station at 20 m.
fn walk(is_los: bool, steps: u32, step_m: f64) -> Vec<f64> {
    let environment = Environment::new(config(is_los, 90.0), 5).expect("a valid channel");
    let mut link = environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue: 0,
    });
    (0..steps)
        .map(|n| {
            let at = Time::from_nanos(u64::from(n) * 1_000_000);
            link.large_scale_db(at, &ends(-10.0 + f64::from(n) * step_m, 20.0));
            let parts = link.large_scale();
            parts.base_gain_dbi + parts.ue_gain_dbi
        })
        .collect()
}

#[test]
fn gains_change_gently_with_the_place() {
    for is_los in [true, false] {
        let gains = walk(is_los, 4000, 0.005);
        let steps = gains.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let beams = steps.clone().filter(|step| *step > 0.05).count();
        // Over 5 mm the gain changes only if another pair of beams is chosen. Each of forty squares
        // of half a metre has at most one such change. The gain of the new pair is close to that of
        // the old one.
        assert!(beams <= 40, "{is_los}: {beams} steps");
        let most = steps.fold(0.0, f64::max);
        assert!(most < 6.0, "{is_los}: {most}");
    }
}

#[test]
fn a_place_has_the_same_clusters_whichever_way_one_comes_there() {
    let far = walk(false, 2001, 0.01);
    let near = walk(false, 1001, 0.02);
    assert_eq!(far[2000], near[1000]);
    assert_eq!(far[1000], near[500]);
}

#[test]
fn a_blocker_in_the_direct_path_leaves_the_clusters() {
    // The mean of K is 9 dB. If blockage reduces the direct path by 60 dB, only the clusters' share
    // of the power remains.
    let mut lost = Vec::new();
    for seed in 0..200 {
        let large_scale_with = |blockages| {
            let config = ChannelConfig {
                blockages,
                ..config(true, 0.0)
            };
            let environment = Environment::new(config, seed).expect("a valid channel");
            let mut link = environment.link(LinkKey {
                site: 0,
                cell: 0,
                ue: 0,
            });
            link.large_scale_db(Time::from_nanos(1_000_000_000), &ends(50.0, 0.0));
            *link.large_scale()
        };
        let clear = large_scale_with(Vec::new());
        let blocked = large_scale_with(vec![wall()]);
        assert_eq!(clear.blockage_db, 0.0);
        let by_antennas = |parts: &LargeScale| parts.base_gain_dbi + parts.ue_gain_dbi;
        // The beams of the blocked link point elsewhere, so the whole difference is the loss.
        lost.push(by_antennas(&clear) - by_antennas(&blocked) + blocked.blockage_db);
    }
    lost.sort_by(f64::total_cmp);
    let median = lost[100];
    assert!(
        lost[0] > 0.0 && lost[199] < 60.0,
        "{} {}",
        lost[0],
        lost[199]
    );
    assert!((9.0..25.0).contains(&median), "{median}");
}

/// Returns a blockage that always attenuates the direct path by 60 dB.
fn wall() -> Blockage {
    Blockage::Scripted(Scripted {
        intervals: [Interval {
            from: Time::ZERO,
            until: Time::from_nanos(10_000_000_000),
            loss_db: 60.0,
        }]
        .into(),
    })
}

#[test]
fn the_wideband_gain_fades_as_its_clusters_say() {
    // The gain is the mean over the band of independent waves with shares s_n and different delays.
    // Its mean is 1, and its variance is at most that of one flat wave.
    let environment = Environment::new(config(false, 90.0), 9).expect("a valid channel");
    let (mut sum, mut square) = (0.0, 0.0);
    let count = Cases::new(4000).count() as u32;
    for ue in 0..count {
        let mut link = environment.link(LinkKey {
            site: 0,
            cell: 0,
            ue,
        });
        link.large_scale_db(Time::ZERO, &ends(5.0, 60.0));
        assert_eq!(link.sub_bands(), Some(16));
        let gain = link.fading_flat(Time::ZERO);
        sum += gain;
        square += gain * gain;
    }
    let mean = sum / f64::from(count);
    let variance = square / f64::from(count) - mean * mean;
    // The limit is four standard errors of a mean whose variance is below 1.
    let error = 4.0 / f64::from(count).sqrt();
    assert!((mean - 1.0).abs() < error, "{mean}");
    assert!((0.02..0.7).contains(&variance), "{variance}");
}

/// Returns the instants in milliseconds at which beam recovery prevents reception. Only every
/// `every`-th instant is evaluated. The UE is behind the wall and passes at 10 m/s.
fn recovering(los_fading: Fading, every: u64) -> Vec<u64> {
    let config = ChannelConfig {
        los_fading,
        nlos_fading: Fading::Rayleigh,
        draws_k_factor: false,
        draws_delay_spread: false,
        blockages: vec![wall()],
        beams: Some(BeamManagement::default()),
        ..config(true, 0.0)
    };
    let environment = Environment::new(config, 3).expect("a valid channel");
    let mut link = environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue: 0,
    });
    let mut found = Vec::new();
    for ms in (0..1000).step_by(every as usize) {
        let mut ends = ends(50.0, 0.01 * ms as f64);
        ends.ue.velocity.y = 10.0;
        link.large_scale_db(Time::ZERO + Span::from_millis(ms), &ends);
        if ms % 5 == 0 && link.large_scale().is_recovering {
            found.push(ms);
        }
    }
    found
}

#[test]
fn a_blocked_direct_path_is_no_beam_failure_where_clusters_leave_enough() {
    let clusters = |k_db| Fading::Clusters {
        k_db,
        delay_spread: Span::from_nanos(50),
    };
    // Clusters have ten times the power of the direct path, so the wall reduces the power by at
    // most 0.4 dB. This is far below the threshold of 10 dB, so no beam failure occurs.
    assert_eq!(recovering(clusters(-10.0), 1), []);
    // Without clusters, or with very weak clusters, the third measurement declares a beam failure.
    // Then 20 ms without reception follow.
    for without in [Fading::None, Fading::Rician { k_db: 9.0 }, clusters(60.0)] {
        let failures = recovering(without, 1);
        assert_eq!(failures[..4], [60, 65, 70, 75], "{without:?}");
        assert!(failures.len() > 10, "{without:?}");
    }
}

#[test]
fn what_a_measurement_of_beams_finds_does_not_depend_on_how_often_the_link_is_asked() {
    for k_db in [9.0, 12.0, 20.0] {
        let clusters = Fading::Clusters {
            k_db,
            delay_spread: Span::from_nanos(50),
        };
        assert_eq!(recovering(clusters, 1), recovering(clusters, 5), "{k_db}");
    }
}

#[test]
fn beams_that_point_at_others_do_not_fail() {
    for fading in [
        Fading::Rician { k_db: 9.0 },
        Fading::Clusters {
            k_db: 9.0,
            delay_spread: Span::from_nanos(50),
        },
    ] {
        let config = ChannelConfig {
            los_fading: fading,
            nlos_fading: Fading::Rayleigh,
            draws_k_factor: false,
            draws_delay_spread: false,
            blockages: Vec::new(),
            beams: Some(BeamManagement::default()),
            ..config(true, 0.0)
        };
        let environment = Environment::new(config, 3).expect("a valid channel");
        let mut link = environment.link(LinkKey {
            site: 0,
            cell: 0,
            ue: 0,
        });
        let mut gains = |beam_at: Option<Point>| -> Vec<f64> {
            (0..500)
                .map(|ms| {
                    let mut ends = ends(50.0, 0.0);
                    ends.base_beam_at = beam_at;
                    let at = Time::ZERO
                        + Span::from_millis(if beam_at.is_some() { ms } else { 600 + ms });
                    link.large_scale_db(at, &ends)
                })
                .collect()
        };
        let away = gains(Some(Point::new(50.0, 60.0, 1.5)));
        let toward = gains(None);
        // The loss is far above the threshold of beam failure, but the path exists all the time.
        assert!(
            away.iter()
                .all(|gain| (-200.0..toward[0] - 5.0).contains(gain)),
            "{fading:?}"
        );
        assert!(toward.iter().all(|gain| *gain > -200.0), "{fading:?}");
    }
}
