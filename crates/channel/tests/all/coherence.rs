//! Tests of the time for which a fixed beam covers a passing car, and of the benefit of predicted
//! beams.

use fadeout_channel::antenna::beam::{Beam, BeamParameters};
use fadeout_channel::antenna::{Antenna, BeamManagement, BeamPrediction};
use fadeout_channel::fading::Fading;
use fadeout_channel::path_loss::{FreeSpace, PathLoss};
use fadeout_channel::{ChannelConfig, Environment, LineOfSight, LinkChannel, LinkEnds, LinkKey};
use fadeout_core::{Hertz, Kinematics, Point, Span, Time, Vector};

/// Time between two beam measurements. It is so long that only the first measurement is used.
const PERIOD: Span = Span::from_secs(10);

fn channel(width_deg: f64) -> LinkChannel {
    tracked(
        width_deg,
        BeamManagement {
            tracking_period: PERIOD,
            switching_delay: Span::ZERO,
            failure: None,
            ..BeamManagement::default()
        },
    )
}

fn tracked(width_deg: f64, beams: BeamManagement) -> LinkChannel {
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
        beams: Some(beams),
        ..ChannelConfig::default()
    };
    let environment = Environment::new(config, 1).expect("a valid channel");
    environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue: 0,
    })
}

/// Returns the gain of the beam in dBi `after` seconds without steering. The car was at `start` and
/// moves at `velocity`. The base station is at the origin, at the height of the car.
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

/// Returns the time in seconds until the gain of a fixed beam has fallen by 3 dB.
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

/// Compares with the reference values `dwell_*`: width / (2 omega) with the car at its nearest
/// point, and the law of sines.
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
        // The time step is 0.1 ms, and the gain at the half-power width is -3.01 dB.
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

/// Speed of a car that passes at a distance of 10 m, in m/s. The car is nearest after 2 s.
const SPEED: f64 = 30.0;
const AWAY_M: f64 = 10.0;

fn passing(at: f64) -> (f64, f64) {
    (SPEED * (at - 2.0), AWAY_M)
}

/// Returns the direction from the base station to the car in degrees.
fn direction_deg(at: f64) -> f64 {
    let (x, y) = passing(at);
    fadeout_core::math::atan2(y, x).to_degrees()
}

/// For each millisecond, returns the time, the direction of the base station's beam, and the loss
/// relative to its peak gain. Beams are measured every 20 ms and used 5 ms later.
fn followed(
    width_deg: f64,
    prediction: BeamPrediction,
    place: impl Fn(f64) -> ((f64, f64), (f64, f64)),
) -> Vec<(f64, f64, f64)> {
    let mut channel = tracked(
        width_deg,
        BeamManagement {
            prediction,
            failure: None,
            ..BeamManagement::default()
        },
    );
    let peak_dbi = {
        let mut channel = self::channel(width_deg);
        gain_dbi(&mut channel, (0.0, 10.0), (30.0, 0.0), 0.0)
    };
    (0..4_000_u64)
        .map(|ms| {
            let now = Time::ZERO + Span::from_millis(ms);
            let ((x, y), (x_speed, y_speed)) = place(now.as_secs_f64());
            let car = Kinematics {
                position: Point::new(x, y, 5.0),
                velocity: Vector::new(x_speed, y_speed, 0.0),
            };
            let ends = LinkEnds::new(Kinematics::at_rest(Point::new(0.0, 0.0, 5.0)), car);
            channel.large_scale_db(now, &ends);
            let lost_db = peak_dbi - channel.large_scale().base_gain_dbi;
            let beam = channel.causes().and_then(|causes| causes.beam_deg);
            (now.as_secs_f64(), beam.expect("a beam"), lost_db)
        })
        .collect()
}

/// Returns the measurement time of the beam in use, and the time of the measurement before.
fn measured(at: f64) -> (f64, f64) {
    let last = ((at - 0.005 + 1e-9) / 0.02).floor() * 0.02;
    (last, last - 0.02)
}

/// Checks the direction and the largest loss of a beam of 5 degrees for each prediction. Without
/// prediction the loss is the reference value `stale_max_20_5_5deg`, because the beam points behind
/// the car. With predictions the beam points along the line through the last two directions, or at
/// the car.
#[test]
fn a_predicted_beam_is_off_by_what_the_closed_form_leaves() {
    let straight = |at: f64| (passing(at), (SPEED, 0.0));
    let worst = |prediction, expected: &dyn Fn(f64) -> f64| {
        let mut worst = (0.0_f64, 0.0_f64);
        for (at, beam_deg, lost_db) in followed(5.0, prediction, straight) {
            // Before 50 ms there are fewer than two measurements.
            if at < 0.05 {
                continue;
            }
            let off = beam_deg - expected(at);
            assert!(off.abs() < 1e-6, "{prediction:?} {at} s: {off} degrees");
            let behind = (beam_deg - direction_deg(at)).abs();
            worst = (worst.0.max(behind), worst.1.max(lost_db));
        }
        worst
    };
    let omega = SPEED / AWAY_M;
    let (behind, lost_db) = worst(BeamPrediction::None, &|at| direction_deg(measured(at).0));
    // The measurement is at most 24 ms old, because the evaluations are 1 ms apart.
    let fastest = (omega * 0.024_f64).to_degrees();
    assert!(behind > 0.99 * fastest && behind <= fastest, "{behind}");
    let stale_db = 12.0 * (fastest / 5.0) * (fastest / 5.0);
    assert!((lost_db - stale_db).abs() < 0.15, "{lost_db} {stale_db}");

    let (behind, lost_db) = worst(BeamPrediction::Angle, &|at| {
        let (last, before) = measured(at);
        let rate = (direction_deg(last) - direction_deg(before)) / 0.02;
        direction_deg(last) + rate * (at - last)
    });
    // The error of a line through two points of a curve is at most half the largest second
    // derivative times the distances from both points. For the direction, this derivative is 3
    // sqrt(3) / 8 times the square of the largest angular speed.
    let bend = 3.0 * 3.0_f64.sqrt() / 8.0 * omega * omega;
    let most = (0.5 * bend * 0.024 * 0.044_f64).to_degrees();
    assert!(behind > 0.9 * most && behind <= most, "{behind} {most}");
    assert!(lost_db < 0.02, "{lost_db}");

    let (behind, lost_db) = worst(BeamPrediction::Place, &direction_deg);
    assert!(behind < 1e-6 && lost_db < 1e-6, "{behind} {lost_db}");
}

/// Until the turn has been reported, the beam follows the old line. Then it points at the car
/// again.
#[test]
fn a_turn_is_known_when_it_has_been_measured() {
    // The car drives east, passes the base station after 1 s, and turns north at 2.003 s.
    let turn = 2.003;
    let place = |at: f64| {
        if at < turn {
            (passing(at + 1.0), (SPEED, 0.0))
        } else {
            let (x, y) = passing(turn + 1.0);
            ((x, y + SPEED * (at - turn)), (0.0, SPEED))
        }
    };
    for (prediction, measurements) in [(BeamPrediction::Place, 1), (BeamPrediction::Angle, 2)] {
        // The first measurement after the turn is at 2.02 s, and its beam is used 5 ms later.
        let known = 2.025 + 0.02 * f64::from(measurements - 1);
        let mut most_deg = 0.0_f64;
        for (at, beam_deg, _) in followed(5.0, prediction, place) {
            let ((x, y), _) = place(at);
            let toward = fadeout_core::math::atan2(y, x).to_degrees();
            let off = (beam_deg - toward).abs();
            if at > turn && at < known {
                most_deg = most_deg.max(off);
            } else if at > 0.05 {
                // With a prediction by angle, the error by curvature remains. It is much smaller
                // than at the nearest point.
                assert!(off < 0.2, "{prediction:?} {at} s: {off} degrees");
            }
        }
        // A measurement from before the turn is used until 2.024 s. At that time the car is as far
        // north of the predicted line as its predicted position is ahead on this line. The base
        // station sees only the part of the error across its line to the car.
        let (x, y) = passing(turn + 1.0);
        let away_m = fadeout_core::math::hypot(x, y);
        let across = SPEED * (2.024 - turn) * (x + y) / away_m;
        let expected = (across / away_m).to_degrees();
        assert!(
            (most_deg / expected - 1.0).abs() < 0.02,
            "{prediction:?} {most_deg} {expected}"
        );
    }
}
