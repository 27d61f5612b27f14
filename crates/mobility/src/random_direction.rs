//! Random direction movement. Position and speed have their steady-state distribution from the
//! start.

use crate::area::Area;
use crate::registry::Model;
use crate::speeds::Speeds;
use crate::track::DrawnLegs;
use crate::{Leg, MobilityError, Rectangle, Track};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, span};
use fadeout_core::{Point, Span, Time, Vector, math};
use std::f64::consts::PI;

fadeout_core::parameters! {
    /// Parameters that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RandomDirection {
        /// Area in which the UE moves.
        pub area: Area = group(),
        /// Speeds. A new speed is drawn for each movement from one edge of the area to another.
        pub speeds: Speeds = group(),
        /// Pause of the UE each time it reaches an edge of the area.
        pub pause: Span = span("0 s"),
    }
}

impl Registered for RandomDirection {
    const ENTRY: Entry = Entry::new(
        "random-direction",
        "random",
        "Random direction: the UE goes straight to the edge of a rectangle, pauses, and takes \
         another direction. Speed and position have their steady-state distribution from the start \
         of the run.",
        "E. Royer, P. Melliar-Smith, L. Moser, An Analysis of the Optimum Node Density for Ad hoc \
         Mobile Networks, IEEE ICC 2001",
    )
    .with_parameters(RandomDirection::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        RandomDirection::read(settings)
    }
}

impl Model for RandomDirection {
    fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError> {
        self.speeds.check()?;
        let area = self.area.rectangle();
        area.check_extent()?;
        Ok(Track::drawn(Walk {
            model: self,
            area,
            height: start.z,
            random,
            inward: 0.0,
            is_pausing: false,
        }))
    }
}

impl RandomDirection {
    /// Returns the probability that the UE is pausing at a random time. The mean length of a
    /// movement across the area is pi times the area divided by its perimeter (Cauchy). This holds
    /// because all lines across the area are equally likely.
    fn pause_share(&self) -> f64 {
        let (width, depth) = self.area.rectangle().size();
        let mean_path = PI * width * depth / (2.0 * (width + depth));
        let pause = self.pause.as_secs_f64();
        let share = pause / (pause + mean_path * self.speeds.mean_pace());
        debug_assert!((0.0..=1.0).contains(&share), "a share of pauses of {share}");
        share
    }
}

/// State of a UE that moves from edge to edge.
#[derive(Debug, Clone)]
struct Walk {
    model: RandomDirection,
    area: Rectangle,
    height: f64,
    random: Stream,
    /// Direction away from the current edge, in radians from east.
    inward: f64,
    is_pausing: bool,
}

impl Walk {
    /// Returns the UE's movement from `here` to the edge of the area.
    fn go(&mut self, now: Time, here: Point, angle: f64, speed: f64) -> Leg {
        let (east, north) = (math::cos(angle), math::sin(angle));
        let to = |at: f64, direction: f64, low: f64, high: f64| match direction {
            direction if direction > 0.0 => ((high - at) / direction).max(0.0),
            direction if direction < 0.0 => ((low - at) / direction).max(0.0),
            _ => f64::INFINITY,
        };
        let across = to(here.x, east, self.area.low.0, self.area.high.0);
        let up = to(here.y, north, self.area.low.1, self.area.high.1);
        self.inward = match (across <= up, east > 0.0, north > 0.0) {
            (true, true, _) => PI,
            (true, false, _) => 0.0,
            (false, _, true) => 1.5 * PI,
            (false, _, false) => 0.5 * PI,
        };
        debug_assert!(speed > 0.0 && speed.is_finite(), "a walk at {speed} m/s");
        debug_assert!(across.min(up).is_finite(), "a walk that reaches no edge");
        let lasts = Span::from_secs_f64(across.min(up) / speed);
        self.is_pausing = false;
        Leg {
            from: now,
            until: now.saturating_add(lasts.max(Span::from_nanos(1))),
            start: here,
            velocity: Vector::new(east * speed, north * speed, 0.0),
        }
    }

    fn pause(&mut self, now: Time, here: Point, lasts: Span) -> Leg {
        self.is_pausing = true;
        Leg {
            until: now.saturating_add(lasts),
            ..Leg::rest(now, here)
        }
    }

    /// Draws a place uniformly on the edge of the area.
    fn draw_edge(&mut self) -> Point {
        let (width, depth) = self.area.size();
        let along = self.random.uniform() * 2.0 * (width + depth);
        let (x, y, inward) = if along < width {
            (along, 0.0, 0.5 * PI)
        } else if along < width + depth {
            (width, along - width, PI)
        } else if along < 2.0 * width + depth {
            (along - width - depth, depth, 1.5 * PI)
        } else {
            (0.0, along - 2.0 * width - depth, 0.0)
        };
        self.inward = inward;
        Point::new(self.area.low.0 + x, self.area.low.1 + y, self.height)
    }

    /// Returns the place clamped to the area, because rounding may move it outside.
    fn inside(&self, at: Point) -> Point {
        Point::new(
            at.x.clamp(self.area.low.0, self.area.high.0),
            at.y.clamp(self.area.low.1, self.area.high.1),
            self.height,
        )
    }
}

impl DrawnLegs for Walk {
    /// Draws the first leg from the stationary distribution. Place and direction are uniform. The
    /// probability of a speed is in proportion to the time for which the UE has that speed.
    fn first_leg(&mut self) -> Leg {
        let stationary = self.model.pause_share();
        if self.random.chance(stationary) {
            let here = self.draw_edge();
            let left = self.model.pause.as_secs_f64() * self.random.uniform();
            return self.pause(Time::ZERO, here, Span::from_secs_f64(left));
        }
        let Rectangle { low, high } = self.area;
        let here = Point::new(
            self.random.uniform_in(low.0, high.0),
            self.random.uniform_in(low.1, high.1),
            self.height,
        );
        let angle = 2.0 * PI * self.random.uniform();
        let speed = self.model.speeds.draw_in_time(&mut self.random);
        self.go(Time::ZERO, here, angle, speed)
    }

    fn next_leg(&mut self, leg: &Leg) -> Leg {
        let here = self.inside(leg.end());
        if !self.is_pausing && self.model.pause > Span::ZERO {
            return self.pause(leg.until, here, self.model.pause);
        }
        // Places stay uniform only if directions from the edge have the cosine distribution.
        let off = math::asin(2.0 * self.random.uniform() - 1.0);
        let speed = self.model.speeds.draw(&mut self.random);
        self.go(leg.until, here, self.inward + off, speed)
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
    use fadeout_testkit::Cases;

    #[test]
    fn places_and_speeds_are_stationary_from_the_start() {
        let model = RandomDirection {
            area: Area {
                x_max: 200.0,
                ..Area::default()
            },
            pause: Span::from_secs(2),
            ..RandomDirection::default()
        };
        let pausing = model.pause_share();
        let cases = Cases::new(8000);
        for time in [0, 60, 600] {
            let (mut pauses, mut speeds, mut middle) = (0.0, 0.0, 0.0);
            cases.run(|seed| {
                let random = Stream::new(seed, "test", 0);
                let track = model.track(Point::new(0.0, 0.0, 1.5), random);
                let at = track
                    .expect("good parameters")
                    .kinematics_at(Time::ZERO + Span::from_secs(time));
                assert!((0.0..=200.0).contains(&at.position.x));
                let is_pause = at.velocity.length() == 0.0;
                pauses += f64::from(u8::from(is_pause));
                speeds += at.velocity.length();
                // Counts UEs in the middle quarter of the area.
                let is_mid =
                    (50.0..150.0).contains(&at.position.x) && (25.0..75.0).contains(&at.position.y);
                middle += f64::from(u8::from(is_mid));
            });
            let walks = cases.count() as f64;
            let share = |count: f64| count / walks;
            // The limit is five standard errors. The standard deviation of a share is at most a
            // half, and that of the speed is 8 m/s.
            let error = 5.0 / walks.sqrt();
            assert!((share(pauses) - pausing).abs() < 0.5 * error, "{time} s");
            assert!(
                (share(middle) - 0.25 * (1.0 - pausing)).abs() < 0.5 * error,
                "{time} s"
            );
            let expected = (1.0 - pausing) / model.speeds.mean_pace();
            assert!((share(speeds) - expected).abs() < 8.0 * error, "{time} s");
        }
    }

    #[test]
    fn an_area_without_extent_is_refused() {
        let model = RandomDirection {
            area: Area {
                x_max: 0.0,
                ..Area::default()
            },
            ..RandomDirection::default()
        };
        let made = model.track(Point::default(), Stream::new(1, "test", 0));
        assert!(made.is_err());
    }
}
