//! How long a beam that is not steered again holds a car that drives by.

use fadeout_channel::antenna::beam::{Beam, BeamParameters};
use fadeout_channel::antenna::{Antenna, BeamManagement};
use fadeout_channel::fading::Fading;
use fadeout_channel::path_loss::{FreeSpace, PathLoss};
use fadeout_channel::{ChannelConfig, Environment, LineOfSight, LinkChannel, LinkEnds, LinkKey};
use fadeout_core::{Hertz, Kinematics, Point, Span, Time, Vector};

/// The beams are measured now, and then not for this long.
const PERIOD: Span = Span::from_secs(10);

fn channel(width_deg: f64) -> LinkChannel {
    let beam = Beam::new(&BeamParameters {
        width_deg,
        height_deg: 60.0,
        ..BeamParameters::default()
    });
    let config = ChannelConfig {
        carrier: Hertz(28e9),
        path_loss: PathLoss::FreeSpace(FreeSpace),
        line_of_sight: LineOfSight::Clear,
        shadowing: None,
        los_fading: Fading::None,
        nlos_fading: Fading::None,
        base_antenna: Antenna::Beam(beam),
        beams: Some(BeamManagement {
            tracking_period: PERIOD,
            switching_delay: Span::ZERO,
            failure: None,
            ..BeamManagement::default()
        }),
        ..ChannelConfig::default()
    };
    let environment = Environment::new(config, 1).expect("a valid channel");
    environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue: 0,
    })
}

/// Gain of the beam in dBi `after` seconds without steering, on a car that was at `start` and drives at
/// `velocity`; the unit is at the origin, as high as the car.
fn gain_dbi(channel: &mut LinkChannel, start: (f64, f64), velocity: (f64, f64), after: f64) -> f64 {
    let car = Kinematics {
        position: Point::new(
            start.0 + velocity.0 * after,
            start.1 + velocity.1 * after,
            5.0,
        ),
        velocity: Vector::new(velocity.0, velocity.1, 0.0),
    };
    let ends = LinkEnds::new(Kinematics::at_rest(Point::new(0.0, 0.0, 5.0)), car);
    let measured_at = Time::ZERO + PERIOD;
    channel.large_scale_db(
        measured_at.saturating_add(Span::from_secs_f64(after)),
        &ends,
    );
    channel.large_scale().base_gain_dbi
}

/// When 3 dB are lost, in seconds.
fn held(width_deg: f64, start: (f64, f64), velocity: (f64, f64)) -> f64 {
    let mut channel = channel(width_deg);
    let first = gain_dbi(&mut channel, start, velocity, 0.0);
    let mut steps = 1..1_000_000_u32;
    let step = steps.find(|step| {
        let after = f64::from(*step) * 1e-4;
        first - gain_dbi(&mut channel, start, velocity, after) >= 3.0
    });
    f64::from(step.expect("it is lost")) * 1e-4
}

/// The reference sheet's `dwell_*`: width / (2 omega) where the car is abreast, and the law of sines.
#[test]
fn a_beam_is_lost_after_half_its_width() {
    for (width_deg, start, velocity, expected) in [
        (30.0, (0.0, 10.0), (30.0, 0.0), 0.089_316_4),
        (30.0, (0.0, 10.0), (5.0, 0.0), 0.535_898_4),
        (
            30.0,
            (50.0, 0.0),
            (-30.0 * 0.75_f64.sqrt(), 15.0),
            0.610_042_3,
        ),
    ] {
        let found = held(width_deg, start, velocity);
        // A step of 0.1 ms, and a half-power width is 3.01 dB wide.
        assert!(
            (found - expected).abs() < 0.004 * expected + 1e-4,
            "{found}, not {expected}"
        );
    }
    let small = 5.0_f64.to_radians() / (2.0 * 3.0);
    let narrow = held(5.0, (0.0, 10.0), (30.0, 0.0));
    assert!(
        (narrow - small).abs() < 0.01 * small,
        "{narrow}, not {small}"
    );
}
