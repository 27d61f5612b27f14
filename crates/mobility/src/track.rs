//! Movement of a node as a chain of straight legs.

use crate::MobilityError;
use fadeout_core::{Kinematics, Point, Span, Time, Vector};
use std::fmt;

/// Straight part of a track at constant speed. The velocity is zero if the node rests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// Time at which the leg starts.
    pub from: Time,
    /// Time at which the leg ends. [`Time::NEVER`] for the last leg of a track.
    pub until: Time,
    /// Position at the start of the leg.
    pub start: Point,
    /// Velocity in metres per second.
    pub velocity: Vector,
}

impl Leg {
    /// Returns a leg on which the node rests at `place` from `from` on, without end.
    pub const fn rest(from: Time, place: Point) -> Leg {
        Leg {
            from,
            until: Time::NEVER,
            start: place,
            velocity: Vector::new(0.0, 0.0, 0.0),
        }
    }

    /// Returns a leg from `start`, at time `from`, to `end` at `speed` metres per second.
    pub fn walk(from: Time, start: Point, end: Point, speed: f64) -> Leg {
        let offset = end - start;
        let length = offset.length();
        if length == 0.0 || speed <= 0.0 {
            return Leg {
                until: from,
                ..Leg::rest(from, start)
            };
        }
        Leg {
            from,
            until: from.saturating_add(Span::from_secs_f64(length / speed)),
            start,
            velocity: offset * (speed / length),
        }
    }

    /// Returns position and velocity at `time`, which may be before the start or after the end of
    /// the leg.
    pub fn kinematics_at(&self, time: Time) -> Kinematics {
        let passed = time.min(self.until).since(self.from);
        let position = self.start + self.velocity * passed.as_secs_f64();
        debug_assert!(
            position.x.is_finite() && position.y.is_finite() && position.z.is_finite(),
            "a node is at {position:?}"
        );
        Kinematics {
            position,
            velocity: self.velocity,
        }
    }

    /// Returns the position at the end of the leg.
    pub fn end(&self) -> Point {
        self.kinematics_at(self.until).position
    }
}

/// Place that a node moves through, or stays at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waypoint {
    /// Position of the waypoint.
    pub place: Point,
    /// Speed on the leg to the waypoint, in metres per second.
    pub speed: f64,
    /// Duration of the stay at the waypoint.
    pub pause: Span,
}

/// Movement of one node over time.
#[derive(Debug, Clone)]
pub struct Track {
    /// Leg that contains the latest time requested.
    current: Leg,
    next_legs: NextLegs,
}

/// Source of the legs after the current one.
#[derive(Debug, Clone)]
enum NextLegs {
    /// No further legs.
    None,
    /// List of legs, and the index of the next leg.
    Listed(Vec<Leg>, usize),
    /// Legs drawn by a model.
    Drawn(Box<dyn DrawnLegs>),
}

/// Source that draws the legs of a model one after the other.
pub(crate) trait DrawnLegs: fmt::Debug + Send + Sync {
    /// Returns the leg of the node at time zero.
    fn first_leg(&mut self) -> Leg;
    /// Returns the leg after `leg`.
    fn next_leg(&mut self, leg: &Leg) -> Leg;
    /// Moves all places up by `height` metres.
    fn raise(&mut self, height: f64);
    /// Returns a copy of the source.
    fn boxed(&self) -> Box<dyn DrawnLegs>;
}

impl Clone for Box<dyn DrawnLegs> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

impl Track {
    /// Returns a track on which the node rests for ever.
    pub fn rest(place: Point) -> Track {
        Track {
            current: Leg::rest(Time::ZERO, place),
            next_legs: NextLegs::None,
        }
    }

    /// Returns a straight track without end. `velocity` is in metres per second.
    pub fn line(start: Point, velocity: Vector) -> Track {
        Track {
            current: Leg {
                velocity,
                ..Leg::rest(Time::ZERO, start)
            },
            next_legs: NextLegs::None,
        }
    }

    /// Returns a track from `start` through all waypoints. The node rests at the last waypoint.
    ///
    /// # Errors
    /// Returns an error if the speed to a waypoint at another place is not positive and finite.
    pub fn waypoints(start: Point, waypoints: &[Waypoint]) -> Result<Track, MobilityError> {
        let (mut now, mut place) = (Time::ZERO, start);
        let mut legs = Vec::with_capacity(2 * waypoints.len() + 1);
        for (number, waypoint) in waypoints.iter().enumerate() {
            let has_speed = waypoint.speed > 0.0 && waypoint.speed.is_finite();
            if waypoint.place != place && !has_speed {
                return Err(MobilityError(format!(
                    "waypoint {number}: the speed is {} m/s; expected a speed above zero",
                    waypoint.speed
                )));
            }
            let leg = Leg::walk(now, place, waypoint.place, waypoint.speed);
            (now, place) = (leg.until, waypoint.place);
            legs.push(leg);
            let pause = Leg {
                until: now.saturating_add(waypoint.pause),
                ..Leg::rest(now, place)
            };
            now = pause.until;
            legs.push(pause);
        }
        legs.push(Leg::rest(now, place));
        Ok(Track::legs(legs))
    }

    /// Returns a track of these legs, sorted by time. The node rests at the start of the first leg
    /// before that leg, and at the end of the last leg after it. If two legs do not touch, the node
    /// rests in between and then jumps.
    ///
    /// # Panics
    /// Panics if there is no leg.
    pub fn legs(legs: Vec<Leg>) -> Track {
        debug_assert!(
            legs.windows(2).all(|pair| pair[0].from <= pair[1].from),
            "legs are out of order"
        );
        let first = legs.first().expect("a track has a leg");
        Track {
            current: Leg {
                until: first.from,
                ..Leg::rest(Time::ZERO, first.start)
            },
            next_legs: NextLegs::Listed(legs, 0),
        }
    }

    /// Returns a listed track that starts later: its time zero is `start` of this track. Other
    /// tracks are returned unchanged.
    pub fn starting_at(self, start: Span) -> Track {
        let NextLegs::Listed(legs, _) = self.next_legs else {
            return self;
        };
        let zero = Time::ZERO.saturating_add(start);
        // A time before `start` becomes zero.
        let earlier = |time: Time| match time.is_never() {
            true => time,
            false => Time::ZERO + time.since(zero),
        };
        // The last leg that has begun determines the position at the start, even if it has ended.
        let begun = legs.partition_point(|leg| leg.from <= zero);
        let kept = legs[begun.saturating_sub(1)..].iter().map(|leg| Leg {
            from: earlier(leg.from),
            until: earlier(leg.until),
            start: match leg.from < zero {
                true => leg.kinematics_at(zero).position,
                false => leg.start,
            },
            velocity: leg.velocity,
        });
        Track::legs(kept.collect())
    }

    /// Returns the times of the first and the last leg of a listed track. `None` for other tracks.
    pub fn listed_span(&self) -> Option<(Time, Time)> {
        match &self.next_legs {
            NextLegs::Listed(legs, _) => Some((legs.first()?.from, legs.last()?.from)),
            _ => None,
        }
    }

    /// Returns a track whose legs `model` draws.
    pub(crate) fn drawn(mut model: impl DrawnLegs + 'static) -> Track {
        Track {
            current: model.first_leg(),
            next_legs: NextLegs::Drawn(Box::new(model)),
        }
    }

    /// Returns the same movement, `height` metres higher.
    pub fn raised(mut self, height: f64) -> Track {
        self.current.start.z += height;
        match &mut self.next_legs {
            NextLegs::None => {}
            NextLegs::Listed(legs, _) => legs.iter_mut().for_each(|leg| leg.start.z += height),
            NextLegs::Drawn(model) => model.raise(height),
        }
        self
    }

    /// Returns position and velocity at `time`. Successive calls must not go back in time.
    pub fn kinematics_at(&mut self, time: Time) -> Kinematics {
        while time >= self.current.until {
            match &mut self.next_legs {
                NextLegs::None => break,
                NextLegs::Listed(legs, next) => match legs.get(*next) {
                    Some(leg) if leg.from <= time => {
                        self.current = *leg;
                        *next += 1;
                    }
                    _ => return Kinematics::at_rest(self.current.end()),
                },
                NextLegs::Drawn(model) => {
                    let next = model.next_leg(&self.current);
                    debug_assert!(
                        next.from == self.current.until && next.until >= next.from,
                        "a leg does not follow the one before it: {next:?}"
                    );
                    self.current = next;
                }
            }
        }
        debug_assert!(
            time >= self.current.from,
            "{time} is asked for after {}",
            self.current.from
        );
        self.current.kinematics_at(time)
    }

    /// Returns the time until which [`Track::kinematics_at`] may be called in any order, from
    /// `time` on. The caller must have called [`Track::kinematics_at`] for `time` before.
    pub fn orderless_until(&self, time: Time) -> Time {
        if time < self.current.until {
            return self.current.until;
        }
        match &self.next_legs {
            NextLegs::None => Time::NEVER,
            // The node rests until the next leg.
            NextLegs::Listed(legs, next) => legs.get(*next).map_or(Time::NEVER, |leg| leg.from),
            NextLegs::Drawn(_) => time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Point = Point::new(0.0, 0.0, 0.0);

    fn time_at_secs(secs: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(secs)
    }

    #[test]
    fn a_line_goes_on_for_ever() {
        let mut track = Track::line(Point::new(45.0, 0.0, 1.5), Vector::new(2.0, 0.0, 0.0));
        assert_eq!(
            track.kinematics_at(time_at_secs(5.0)).position,
            Point::new(55.0, 0.0, 1.5)
        );
        assert_eq!(track.kinematics_at(time_at_secs(500.0)).position.x, 1045.0);
        assert_eq!(
            track.kinematics_at(time_at_secs(500.0)).velocity.length(),
            2.0
        );
    }

    #[test]
    fn waypoints_are_reached_when_the_speed_says_so_and_left_after_the_pause() {
        let stops = [
            Waypoint {
                place: Point::new(30.0, 40.0, 0.0),
                speed: 5.0,
                pause: Span::from_secs(3),
            },
            Waypoint {
                place: Point::new(30.0, 50.0, 0.0),
                speed: 10.0,
                pause: Span::ZERO,
            },
        ];
        let mut track = Track::waypoints(ORIGIN, &stops).expect("good waypoints");
        assert_eq!(
            track.kinematics_at(time_at_secs(5.0)).position,
            Point::new(15.0, 20.0, 0.0)
        );
        assert_eq!(
            track.kinematics_at(time_at_secs(10.0)).position,
            stops[0].place
        );
        assert_eq!(
            track.kinematics_at(time_at_secs(12.9)).velocity.length(),
            0.0
        );
        let walking = track.kinematics_at(time_at_secs(13.5));
        assert!((walking.position.y - 45.0).abs() < 1e-9, "{walking:?}");
        assert_eq!(
            track.kinematics_at(time_at_secs(1e6)),
            Kinematics::at_rest(Point::new(30.0, 50.0, 0.0))
        );
    }

    #[test]
    fn a_waypoint_without_speed_is_refused_unless_it_is_where_one_stands() {
        let stay = Waypoint {
            place: ORIGIN,
            speed: 0.0,
            pause: Span::from_secs(1),
        };
        assert!(Track::waypoints(ORIGIN, &[stay]).is_ok());
        let away = Waypoint {
            place: Point::new(1.0, 0.0, 0.0),
            ..stay
        };
        let error = Track::waypoints(ORIGIN, &[away]).expect_err("no speed");
        assert!(error.to_string().contains("above zero"), "{error}");
    }

    #[test]
    fn until_a_leg_ends_places_may_be_asked_for_in_any_order() {
        let leg = |from: f64, until: f64, x: f64| Leg {
            from: time_at_secs(from),
            until: time_at_secs(until),
            start: Point::new(x, 0.0, 0.0),
            velocity: Vector::new(1.0, 0.0, 0.0),
        };
        let legs = vec![leg(1.0, 2.0, 0.0), leg(5.0, 6.0, 100.0)];
        let (mut track, in_order) = (Track::legs(legs.clone()), Track::legs(legs));
        for (from, until) in [(0.0, 1.0), (1.25, 2.0), (2.0, 5.0), (5.0, 6.0), (6.5, 1e9)] {
            track.kinematics_at(time_at_secs(from));
            let most = track.orderless_until(time_at_secs(from));
            assert!(most == time_at_secs(until) || until == 1e9 && most.is_never());
            for share in [0.9, 0.1, 0.5, 0.0] {
                let time = time_at_secs(from + share * (until - from).min(10.0));
                assert_eq!(
                    track.kinematics_at(time),
                    in_order.clone().kinematics_at(time),
                    "{time:?}"
                );
            }
        }
        assert!(
            Track::rest(ORIGIN)
                .orderless_until(time_at_secs(7.0))
                .is_never()
        );
    }

    #[test]
    fn a_gap_between_legs_is_a_rest_and_a_jump() {
        let leg = |from: f64, until: f64, x: f64| Leg {
            from: time_at_secs(from),
            until: time_at_secs(until),
            start: Point::new(x, 0.0, 0.0),
            velocity: Vector::new(1.0, 0.0, 0.0),
        };
        let mut track = Track::legs(vec![leg(1.0, 2.0, 0.0), leg(5.0, 6.0, 100.0)]);
        assert_eq!(track.kinematics_at(time_at_secs(0.5)).position.x, 0.0);
        assert_eq!(track.kinematics_at(time_at_secs(1.5)).position.x, 0.5);
        assert_eq!(
            track.kinematics_at(time_at_secs(4.9)),
            Kinematics::at_rest(Point::new(1.0, 0.0, 0.0))
        );
        assert_eq!(track.kinematics_at(time_at_secs(5.0)).position.x, 100.0);
        assert_eq!(track.kinematics_at(time_at_secs(9.0)).position.x, 101.0);
    }
}
