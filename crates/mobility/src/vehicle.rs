//! Vehicles: bodies, poses, and boxes that block lines.

use crate::{MobilityError, Obstacle, Turn};
use fadeout_core::random::Stream;
use fadeout_core::{Point, Time, Vector};

/// Type of vehicle. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Length from bumper to bumper.
    pub length: f64,
    /// Width from side to side.
    pub width: f64,
    /// Height of the roof above the ground.
    pub height: f64,
    /// Height of the antenna above the ground.
    pub antenna_height: f64,
    /// Distance of the antenna ahead of the vehicle's middle. Negative behind the middle.
    pub antenna_ahead: f64,
    /// Weight of this type. The share of the vehicles with this type is its weight over the sum of
    /// all.
    pub share: f64,
    /// Number of vehicles of this type that drive in a row, 2 m apart. Used if gaps are drawn by a
    /// rule.
    pub platoon: u32,
    /// Largest acceleration of the vehicle, in metres per second squared.
    pub acceleration: f64,
    /// Usual deceleration of the vehicle, in metres per second squared.
    pub deceleration: f64,
}

impl Body {
    /// Returns an upper bound of the distance between the middle of the front bumper and any part
    /// of the vehicle, in metres.
    pub(crate) fn reach(&self) -> f64 {
        self.length + self.width
    }
}

/// Position, heading and velocity of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Position of the middle of the front bumper on the ground, east and north in metres.
    pub front: (f64, f64),
    /// Heading of the vehicle, counter-clockwise from east, in radians.
    pub heading: f64,
    /// Velocity of the vehicle towards east and north, in metres per second.
    pub velocity: (f64, f64),
}

impl Pose {
    /// Returns the rotation of the vehicle's box.
    pub(crate) fn turn(&self) -> Turn {
        Turn::by(self.heading)
    }

    fn along(&self, Turn { sin, cos }: Turn, ahead: f64) -> (f64, f64) {
        (self.front.0 + ahead * cos, self.front.1 + ahead * sin)
    }

    /// Returns the vehicle as a box.
    pub fn obstacle(&self, body: &Body) -> Obstacle {
        self.obstacle_turned(body, self.turn())
    }

    /// Returns the vehicle as a box, for a rotation computed before.
    pub(crate) fn obstacle_turned(&self, body: &Body, turn: Turn) -> Obstacle {
        Obstacle {
            center: self.along(turn, -0.5 * body.length),
            size: (body.length, body.width),
            turn,
            height: body.height,
            base: 0.0,
        }
    }

    /// Returns the position of the antenna.
    pub fn antenna(&self, body: &Body) -> Point {
        self.antenna_turned(body, self.turn())
    }

    /// Returns the position of the antenna, for a rotation computed before.
    pub(crate) fn antenna_turned(&self, body: &Body, turn: Turn) -> Point {
        let (x, y) = self.along(turn, body.antenna_ahead - 0.5 * body.length);
        Point::new(x, y, body.antenna_height)
    }

    /// Returns the velocity as a vector with three components.
    pub fn velocity(&self) -> Vector {
        Vector::new(self.velocity.0, self.velocity.1, 0.0)
    }

    /// Returns the pose after this share of the movement to `other`. A vehicle that jumps stays at
    /// its first pose until the end.
    pub(crate) fn towards(&self, other: &Pose, share: f64) -> Pose {
        debug_assert!(share.is_finite(), "a share of {share} of the way");
        let (x, y) = (other.front.0 - self.front.0, other.front.1 - self.front.1);
        let turns = (other.heading - self.heading) / (2.0 * std::f64::consts::PI);
        let turn = (turns - turns.round()) * 2.0 * std::f64::consts::PI;
        Pose {
            front: (self.front.0 + x * share, self.front.1 + y * share),
            heading: self.heading + turn * share,
            velocity: self.velocity,
        }
    }
}

/// Mix of vehicle types in a group. The type of each vehicle is drawn from the mix.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix(Vec<Body>);

impl Mix {
    /// Returns a mix of these types.
    ///
    /// # Errors
    /// Returns an error if there is no type, or if the shares add up to zero.
    pub fn new(bodies: Vec<Body>) -> Result<Mix, MobilityError> {
        let total: f64 = bodies.iter().map(|body| body.share).sum();
        if total > 0.0 && total.is_finite() {
            return Ok(Mix(bodies));
        }
        Err(MobilityError(format!(
            "{} vehicle types with shares that add up to {total}; expected at least one share \
             above zero",
            bodies.len()
        )))
    }

    /// Returns the vehicle types of the mix.
    pub fn bodies(&self) -> &[Body] {
        &self.0
    }

    /// Returns the mean length of a vehicle in metres.
    pub fn mean_length(&self) -> f64 {
        let total: f64 = self.0.iter().map(|body| body.share).sum();
        let lengths = self.0.iter().map(|body| body.share * body.length);
        lengths.sum::<f64>() / total
    }

    /// Draws the index of a vehicle's type, by the types' shares of the vehicles.
    pub(crate) fn draw(&self, random: &mut Stream) -> usize {
        self.draw_by(random, |body| body.share)
    }

    /// Draws the type for the next row of vehicles, as an index. The probability of a type is its
    /// share of the vehicles divided by the length of its rows.
    pub(crate) fn draw_row(&self, random: &mut Stream) -> usize {
        self.draw_by(random, |body| body.share / f64::from(body.platoon.max(1)))
    }

    fn draw_by(&self, random: &mut Stream, weight: impl Fn(&Body) -> f64) -> usize {
        let total: f64 = self.0.iter().map(&weight).sum();
        debug_assert!(total > 0.0, "no type of vehicle has a share");
        let mut left = total * random.uniform();
        for (number, body) in self.0.iter().enumerate() {
            left -= weight(body);
            if left < 0.0 {
                return number;
            }
        }
        self.0.len() - 1
    }
}

/// Returns the time in seconds since the start, for equations of motion.
pub(crate) fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs_f64()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const CAR: Body = Body {
        length: 5.0,
        width: 2.0,
        height: 1.6,
        antenna_height: 1.6,
        antenna_ahead: 0.0,
        share: 1.0,
        platoon: 1,
        acceleration: 2.6,
        deceleration: 4.5,
    };

    pub(crate) const TRUCK: Body = Body {
        length: 13.0,
        width: 2.6,
        height: 3.0,
        antenna_height: 3.0,
        antenna_ahead: 6.5,
        acceleration: 1.3,
        deceleration: 4.0,
        ..CAR
    };

    /// Reference values `sumo_box_rear` and `sumo_box_rear_30` of the reference sheet. Here
    /// headings are counted from east.
    #[test]
    fn the_box_lies_behind_the_front_bumper() {
        let pose = |degrees: f64| Pose {
            front: (100.0, 50.0),
            heading: degrees.to_radians(),
            velocity: (0.0, 0.0),
        };
        let rear = |pose: Pose, length: f64| pose.along(pose.turn(), -length);
        let (x, y) = rear(pose(0.0), 5.0);
        assert!((x - 95.0).abs() < 1e-9 && (y - 50.0).abs() < 1e-9);
        let (x, y) = rear(pose(60.0), 13.0);
        assert!((x - 93.5).abs() < 1e-9 && (y - 38.741_67).abs() < 1e-5);
        assert_eq!(pose(0.0).obstacle(&CAR).center, (97.5, 50.0));
        assert_eq!(pose(0.0).antenna(&TRUCK), Point::new(100.0, 50.0, 3.0));
    }

    #[test]
    fn vehicles_have_their_shares() {
        let mix = Mix::new(vec![
            Body { share: 80.0, ..CAR },
            Body {
                share: 20.0,
                ..TRUCK
            },
        ]);
        let mix = mix.expect("shares");
        assert!((mix.mean_length() - 6.6).abs() < 1e-12);
        let mut random = Stream::new(1, "test", 0);
        let trucks = (0..40_000).filter(|_| mix.draw(&mut random) == 1).count();
        // The limit is five standard errors of a share of 0.2.
        assert!((trucks as f64 / 40_000.0 - 0.2).abs() < 0.01);
        assert!(Mix::new(Vec::new()).is_err());
    }
}
