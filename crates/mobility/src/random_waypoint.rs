//! Random waypoint movement. Position and speed have their steady-state distribution from the
//! start.

use crate::area::Area;
use crate::registry::Model;
use crate::speeds::SpeedRange;
use crate::track::DrawnLegs;
use crate::{Leg, MobilityError, Rectangle, Track};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, span};
use fadeout_core::{Point, Span, Time, math};

fadeout_core::parameters! {
    /// Parameters that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RandomWaypointParameters {
        /// Area in which the UE moves.
        pub area: Area = group(),
        /// Speeds. A new speed is drawn uniformly for each movement to a place.
        pub speeds: SpeedRange = group(&[("min-speed", "0.5"), ("max-speed", "1.5")]),
        /// Pause of the UE at each place that it reaches.
        pub pause: Span = span("2 s"),
    }
}

impl Registered for RandomWaypointParameters {
    const ENTRY: Entry = Entry::new(
        "random-waypoint",
        "random",
        "Random waypoint: the UE goes to places drawn uniformly from a rectangle, with pauses. \
         Speed and position have their steady-state distribution from the start of the run.",
        "W. Navidi, T. Camp, Stationary Distributions for the Random Waypoint Mobility Model, IEEE \
         TMC 3(1), 2004",
    )
    .with_aliases(&["rwp"])
    .with_parameters(RandomWaypointParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        RandomWaypointParameters::read(settings)
    }
}

impl Model for RandomWaypointParameters {
    fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError> {
        let area = self.area.rectangle();
        let walk = RandomWaypoint::new(area, start.z, self.speeds, self.pause, random);
        walk.map(Track::drawn)
    }
}

/// Random waypoint movement. The UE moves straight to a place drawn uniformly from an area, and
/// pauses there. Its speed is drawn uniformly for each leg.
///
/// The first leg is drawn from the stationary distribution, so the mean speed does not decay during
/// the run. The source is W. Navidi and T. Camp, "Stationary Distributions for the Random Waypoint
/// Mobility Model", IEEE Trans. Mobile Computing 3(1), 2004.
#[derive(Debug, Clone)]
pub struct RandomWaypoint {
    area: Rectangle,
    height: f64,
    speeds: SpeedRange,
    pause: Span,
    random: Stream,
    is_walking: bool,
}

impl RandomWaypoint {
    /// Returns the movement model for UEs within `area`, at a height of `height` metres.
    ///
    /// # Errors
    /// Returns an error if the lowest speed is not above zero, because the mean speed would then
    /// decay to zero. Returns an error also if the lowest speed exceeds the highest, or if the area
    /// has no extent.
    pub fn new(
        area: Rectangle,
        height: f64,
        speeds: SpeedRange,
        pause: Span,
        random: Stream,
    ) -> Result<RandomWaypoint, MobilityError> {
        speeds.check()?;
        area.check_extent()?;
        Ok(RandomWaypoint {
            area,
            height,
            speeds,
            pause,
            random,
            is_walking: false,
        })
    }

    /// Returns the mean speed over time of moving UEs, in metres per second.
    pub fn mean_speed(&self) -> f64 {
        let (low, high) = self.speeds.bounds();
        if low == high {
            return low;
        }
        (high - low) / math::ln(high / low)
    }

    /// Returns the probability that the node is pausing at a random time.
    pub fn pause_probability(&self) -> f64 {
        let pause = self.pause.as_secs_f64();
        let share = pause / (pause + mean_leg(self.area) / self.mean_speed());
        debug_assert!((0.0..=1.0).contains(&share), "a share of pauses of {share}");
        share
    }

    fn draw_place(&mut self) -> Point {
        let Rectangle { low, high } = self.area;
        let x = self.random.uniform_in(low.0, high.0);
        let y = self.random.uniform_in(low.1, high.1);
        debug_assert!(
            (low.0..=high.0).contains(&x) && (low.1..=high.1).contains(&y),
            "a place outside the area: {x}, {y}"
        );
        Point::new(x, y, self.height)
    }
}

/// Returns the mean distance between two places drawn uniformly from a rectangle, in metres (L. A.
/// Santaló, "Integral Geometry and Geometric Probability", 1976).
fn mean_leg(area: Rectangle) -> f64 {
    let (a, b) = area.size();
    let d = math::hypot(a, b);
    let ratio = a * a / (b * b);
    let logs = b * b / a * math::ln((a + d) / b) + a * a / b * math::ln((b + d) / a);
    (a * ratio + b / ratio + d * (3.0 - ratio - 1.0 / ratio) + 2.5 * logs) / 15.0
}

impl DrawnLegs for RandomWaypoint {
    /// Draws the first leg from the stationary distribution.
    fn first_leg(&mut self) -> Leg {
        let stationary = self.pause_probability();
        if self.random.chance(stationary) {
            self.is_walking = false;
            let left = self.pause.as_secs_f64() * self.random.uniform();
            return Leg {
                until: Time::ZERO + Span::from_secs_f64(left),
                ..Leg::rest(Time::ZERO, self.draw_place())
            };
        }
        // A random instant falls into a leg with a probability in proportion to the leg's length.
        let (width, depth) = self.area.size();
        let longest = math::hypot(width, depth);
        let (from, to) = loop {
            let (from, to) = (self.draw_place(), self.draw_place());
            if self.random.chance(from.distance_to(to) / longest) {
                break (from, to);
            }
        };
        let here = from + (to - from) * self.random.uniform();
        let (low, high) = self.speeds.bounds();
        // The time on a leg is proportional to 1/v for the speed v. So is the density of the speed
        // over time.
        let speed = low * math::pow(high / low, self.random.uniform());
        self.is_walking = true;
        Leg::walk(Time::ZERO, here, to, speed)
    }

    fn next_leg(&mut self, leg: &Leg) -> Leg {
        let (now, here) = (leg.until, leg.end());
        if self.is_walking && self.pause > Span::ZERO {
            self.is_walking = false;
            return Leg {
                until: now.saturating_add(self.pause),
                ..Leg::rest(now, here)
            };
        }
        self.is_walking = true;
        let (low, high) = self.speeds.bounds();
        let (to, speed) = (self.draw_place(), self.random.uniform_in(low, high));
        debug_assert!(speed > 0.0 && speed.is_finite(), "a walk at {speed} m/s");
        let leg = Leg::walk(now, here, to, speed);
        // If the area is a single point, all legs have zero length. Each leg then lasts 1 ns, so
        // that time advances.
        Leg {
            until: leg.until.max(now + Span::from_nanos(1)),
            ..leg
        }
    }

    fn raise(&mut self, height: f64) {
        self.height += height;
    }

    fn boxed(&self) -> Box<dyn DrawnLegs> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

    fn square(side: f64) -> Rectangle {
        Rectangle {
            low: (0.0, 0.0),
            high: (side, side),
        }
    }

    fn range((min_speed, max_speed): (f64, f64)) -> SpeedRange {
        SpeedRange {
            min_speed,
            max_speed,
        }
    }

    fn model(speeds: (f64, f64), pause: f64, seed: u64) -> RandomWaypoint {
        let random = Stream::new(seed, "test", 0);
        RandomWaypoint::new(
            square(1000.0),
            1.5,
            range(speeds),
            Span::from_secs_f64(pause),
            random,
        )
        .expect("good parameters")
    }

    #[test]
    fn the_mean_leg_of_the_unit_square_is_the_known_one() {
        assert!((mean_leg(square(1.0)) - 0.521_405_433).abs() < 1e-8);
        let strip = Rectangle {
            low: (0.0, 0.0),
            high: (3.0, 1.0),
        };
        // A rotation of the rectangle does not change the mean distance.
        let turned = Rectangle {
            low: (0.0, 0.0),
            high: (1.0, 3.0),
        };
        assert!((mean_leg(strip) - mean_leg(turned)).abs() < 1e-12);
    }

    #[test]
    fn the_stationary_mean_speed_is_the_harmonic_one() {
        // Reference value of section G.6 of the reference sheet, for speeds of 1 to 20 m/s.
        assert!((model((1.0, 20.0), 0.0, 1).mean_speed() - 6.342_36).abs() < 1e-5);
    }

    #[test]
    fn the_walk_is_stationary_from_the_start() {
        // The mean speed is taken over 4,000 walks at 0, 100 and 1,000 s. It agrees with the
        // stationary distribution, including pauses. The speed's standard deviation is about 5 m/s,
        // so the standard error is 5 / sqrt(4000) = 0.08 m/s.
        let (walks, pause) = (4000, 60.0);
        let one = model((1.0, 20.0), pause, 0);
        let expected = one.mean_speed() * (1.0 - one.pause_probability());
        for time in [0, 100, 1000] {
            let sum: f64 = (0..walks)
                .map(|seed| {
                    let mut track = Track::drawn(model((1.0, 20.0), pause, seed));
                    let now = Time::ZERO + Span::from_secs(time);
                    track.kinematics_at(now).velocity.length()
                })
                .sum();
            let mean = sum / walks as f64;
            assert!(
                (mean - expected).abs() < 0.3,
                "at {time} s: {mean}, not {expected}"
            );
        }
    }

    #[test]
    fn the_walk_stays_inside() {
        let mut track = Track::drawn(model((5.0, 50.0), 1.0, 7));
        for secs in 0..5000 {
            let Point { x, y, z } = track
                .kinematics_at(Time::ZERO + Span::from_secs(secs))
                .position;
            assert!((-1e-6..=1000.0 + 1e-6).contains(&x) && (-1e-6..=1000.0 + 1e-6).contains(&y));
            assert_eq!(z, 1.5);
        }
    }

    #[test]
    fn bad_speeds_and_areas_are_refused() {
        let random = Stream::new(1, "test", 0);
        let new = |area, speeds| {
            RandomWaypoint::new(area, 0.0, range(speeds), Span::ZERO, random.clone()).is_err()
        };
        assert!(new(square(10.0), (0.0, 1.0)));
        assert!(new(square(10.0), (2.0, 1.0)));
        assert!(new(square(10.0), (f64::NAN, 1.0)));
        assert!(new(square(0.0), (1.0, 1.0)));
    }
}
