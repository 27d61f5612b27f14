//! Beams that are steered between measurements toward the predicted position of the UE.

use super::Angles;
use super::management::{BeamManagement, BeamPrediction};
use fadeout_core::math::{cos, sin};
use fadeout_core::{Kinematics, Point, Span, Time, Vector};

/// Number of stored measurements. A prediction uses two of them. The number is too small only if
/// the switching delay exceeds six tracking periods.
const REMEMBERED: usize = 8;

/// Positions of a UE at the last beam measurements, the newest last. For measurements before the
/// first evaluation, the UE is assumed to have moved in a straight line.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeamTrack {
    found: [Option<(Time, Kinematics)>; REMEMBERED],
    /// Time of the next beam measurement.
    due_at: Time,
}

impl BeamTrack {
    /// Returns an empty track for a link with this beam management. `None` if the position of the
    /// UE is not predicted.
    pub(crate) fn from_management(management: &BeamManagement) -> Option<BeamTrack> {
        (management.prediction != BeamPrediction::None).then(BeamTrack::default)
    }

    /// Records the UE's position at each measurement that was due until `now`. The positions are
    /// computed from the UE's current position and velocity.
    pub(crate) fn record_measurements(&mut self, period: Span, now: Time, ue: Kinematics) {
        if now < self.due_at {
            return;
        }
        let period = period.max(Span::from_nanos(1));
        let latest = Time::from_nanos(now.as_nanos() / period.as_nanos() * period.as_nanos());
        let oldest = latest.saturating_sub(period * (REMEMBERED as u64 - 1));
        let mut at = self.due_at.max(oldest);
        while at <= latest {
            let earlier = now.since(at).as_secs_f64();
            let position = ue.position + ue.velocity * -earlier;
            self.found.rotate_left(1);
            self.found[REMEMBERED - 1] = Some((at, Kinematics { position, ..ue }));
            at = at.saturating_add(period);
        }
        self.due_at = at;
    }

    /// Returns the position of the UE at `at` that a base station at `base` predicts from the
    /// measurements until `measured_at`. `None` if there are too few measurements. A prediction by
    /// angle assumes a constant distance.
    pub(crate) fn expected(
        &self,
        management: &BeamManagement,
        base: Point,
        (measured_at, at): (Time, Time),
    ) -> Option<Point> {
        let known = self.found.iter().flatten();
        let mut latest_first = known.rev().filter(|(time, _)| *time <= measured_at);
        let (last_at, last) = *latest_first.next()?;
        let passed = at.max(last_at).since(last_at).as_secs_f64();
        match management.prediction {
            BeamPrediction::None => None,
            BeamPrediction::Place => Some(last.position + last.velocity * passed),
            BeamPrediction::Angle => {
                let (before_at, before) = *latest_first.next()?;
                let between = last_at.since(before_at).as_secs_f64();
                let (from, to) = (
                    Angles::between(base, before.position),
                    Angles::between(base, last.position),
                );
                let turned = to.relative_to(from);
                let share = passed / between;
                let expected = Angles {
                    azimuth_deg: to.azimuth_deg + turned.azimuth_deg * share,
                    elevation_deg: (to.elevation_deg + turned.elevation_deg * share)
                        .clamp(-90.0, 90.0),
                };
                let away_m = base.distance_to(last.position);
                Some(base + toward(expected) * away_m)
            }
        }
    }
}

/// Returns a unit vector in a direction.
fn toward(angles: Angles) -> Vector {
    let (azimuth, elevation) = (
        angles.azimuth_deg.to_radians(),
        angles.elevation_deg.to_radians(),
    );
    let on_ground = cos(elevation);
    Vector::new(
        on_ground * cos(azimuth),
        on_ground * sin(azimuth),
        sin(elevation),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn management(prediction: BeamPrediction) -> BeamManagement {
        BeamManagement {
            prediction,
            ..BeamManagement::default()
        }
    }

    /// Returns the state of a UE on a circle around the base station.
    fn circling(ms: u64) -> Kinematics {
        let turn = 0.002 * ms as f64;
        Kinematics {
            position: Point::new(20.0 * cos(turn), 20.0 * sin(turn), 5.0),
            velocity: Vector::new(-40.0 * sin(turn), 40.0 * cos(turn), 0.0),
        }
    }

    #[test]
    fn who_turns_evenly_is_where_angles_say_and_who_goes_straight_where_places_say() {
        let base = Point::new(0.0, 0.0, 5.0);
        let period = Span::from_millis(20);
        let by_angle = management(BeamPrediction::Angle);
        let by_place = management(BeamPrediction::Place);
        let mut track = BeamTrack::default();
        for ms in 0..2_000 {
            track.record_measurements(period, time_at_ms(ms), circling(ms));
            let measured_at = by_angle.measured_at(time_at_ms(ms));
            let found = track.expected(&by_angle, base, (measured_at, time_at_ms(ms)));
            if ms < 25 {
                assert!(found.is_none(), "one measurement has no rate: {found:?}");
                continue;
            }
            let off = found.expect("two").distance_to(circling(ms).position);
            assert!(off < 1e-9, "{off} m at {ms} ms");
            // The prediction follows the tangent of the circle. Its error is half the square of the
            // angle times the radius. The radius is 20 m, and the UE moves at 2 rad/s for up to 44
            // ms.
            let found = track.expected(&by_place, base, (measured_at, time_at_ms(ms)));
            let angle = 2.0 * time_at_ms(ms).since(measured_at).as_secs_f64();
            let off = found.expect("one").distance_to(circling(ms).position);
            assert!(off <= 20.0 * 0.51 * angle * angle, "{off} m at {ms} ms");
        }
    }

    #[test]
    fn a_link_that_was_not_looked_at_makes_up_the_last_measurements() {
        let straight = |ms: u64| Kinematics {
            position: Point::new(10.0, 0.03 * ms as f64, 5.0),
            velocity: Vector::new(0.0, 30.0, 0.0),
        };
        let (mut often, mut seldom) = (BeamTrack::default(), BeamTrack::default());
        let period = Span::from_millis(20);
        for ms in 0..=5_003 {
            often.record_measurements(period, time_at_ms(ms), straight(ms));
        }
        seldom.record_measurements(period, time_at_ms(5_003), straight(5_003));
        assert_eq!(often.due_at, seldom.due_at);
        for (one, other) in often.found.iter().zip(&seldom.found) {
            let ((one_at, one), (other_at, other)) = (one.expect("all"), other.expect("all"));
            assert_eq!(one_at, other_at);
            assert!(one.position.distance_to(other.position) < 1e-9);
        }
    }
}
