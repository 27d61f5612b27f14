//! Boxes that block straight lines: buildings and vehicles.

use fadeout_core::{Point, math, polygon};

/// Rectangle on the ground along the axes, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    /// South-west corner, `(x, y)`.
    pub low: (f64, f64),
    /// North-east corner, `(x, y)`.
    pub high: (f64, f64),
}

impl Rectangle {
    /// Returns the extent along x and along y.
    pub fn size(&self) -> (f64, f64) {
        (self.high.0 - self.low.0, self.high.1 - self.low.1)
    }
}

/// Rotation on the ground, counter-clockwise. The sine and cosine are stored, because they are used
/// far more often than the angle changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub(crate) sin: f64,
    pub(crate) cos: f64,
}

impl Turn {
    /// No rotation, along the axes.
    pub const NONE: Turn = Turn { sin: 0.0, cos: 1.0 };

    /// Returns the rotation by an angle in radians.
    pub fn by(angle: f64) -> Turn {
        Turn {
            sin: math::sin(angle),
            cos: math::cos(angle),
        }
    }

    /// Returns the point that this rotation moves to `(x, y)`.
    fn back(self, (x, y): (f64, f64)) -> (f64, f64) {
        let Turn { sin, cos } = self;
        (cos * x + sin * y, cos * y - sin * x)
    }
}

/// Upright box, rotated about its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Obstacle {
    /// Centre of the footprint, `(x, y)` in metres.
    pub center: (f64, f64),
    /// Extent along the box's own axes before the rotation, in metres.
    pub size: (f64, f64),
    /// Rotation about the centre.
    pub turn: Turn,
    /// Height of the top above ground, in metres.
    pub height: f64,
    /// Height of the underside in metres. Zero if the box stands on the ground.
    pub base: f64,
}

/// Part of a straight line within an obstacle. Both ends are fractions of the line's length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Fraction of the line's length at which the line enters the obstacle.
    pub enters: f64,
    /// Fraction of the line's length at which the line leaves the obstacle.
    pub leaves: f64,
}

impl Obstacle {
    /// Returns a building with this footprint and height.
    pub fn building(footprint: Rectangle, height: f64) -> Obstacle {
        let Rectangle { low, high } = footprint;
        Obstacle {
            center: (0.5 * (low.0 + high.0), 0.5 * (low.1 + high.1)),
            size: footprint.size(),
            turn: Turn::NONE,
            height,
            base: 0.0,
        }
    }

    /// Returns the walls of a building of any shape, from the rings of its outline. Walls are
    /// screens without thickness between consecutive points of a ring, and between the last point
    /// and the first.
    ///
    /// A line through the building crosses at least two walls, also if the building has courtyards.
    pub fn walls(rings: &[Vec<(f64, f64)>], base: f64, height: f64) -> Vec<Obstacle> {
        let mut walls = Vec::new();
        for ring in rings {
            for ((x0, y0), (x1, y1)) in polygon::edges(ring) {
                let (x, y) = (x1 - x0, y1 - y0);
                let length = math::hypot(x, y);
                if length > 0.0 {
                    walls.push(Obstacle {
                        center: (0.5 * (x0 + x1), 0.5 * (y0 + y1)),
                        size: (length, 0.0),
                        turn: Turn::by(math::atan2(y, x)),
                        height,
                        base,
                    });
                }
            }
        }
        walls
    }

    /// Returns the part of the straight line from `from` to `to` within the box. `None` if the line
    /// misses the box. A line that only touches it counts as crossing. The slab method is that of
    /// A. Williams et al., "An Efficient and Robust Ray-Box Intersection Algorithm", Journal of
    /// Graphics Tools 10(1), 2005.
    pub fn crossing(&self, from: Point, to: Point) -> Option<Crossing> {
        let (one, other) = (self.local(from), self.local(to));
        let mut inside = Crossing {
            enters: 0.0,
            leaves: 1.0,
        };
        for (start, end, half) in [
            (one.0, other.0, 0.5 * self.size.0),
            (one.1, other.1, 0.5 * self.size.1),
        ] {
            inside.clip(start, end, -half, half)?;
        }
        let base = match self.base > 0.0 {
            true => self.base,
            // A line that dips below the ground still crosses a box on the ground.
            false => f64::NEG_INFINITY,
        };
        inside.clip(from.z, to.z, base, self.height)?;
        Some(inside)
    }

    /// Returns the part of the line that is over the footprint, at any height.
    pub(crate) fn crossing_on_the_ground(&self, from: Point, to: Point) -> Option<Crossing> {
        let taller = Obstacle {
            height: f64::INFINITY,
            base: 0.0,
            ..*self
        };
        taller.crossing(from, to)
    }

    /// Returns the corners of the footprint, counter-clockwise.
    pub(crate) fn corners(&self) -> [(f64, f64); 4] {
        let (x, y) = (0.5 * self.size.0, 0.5 * self.size.1);
        let Turn { sin, cos } = self.turn;
        let corner = |x: f64, y: f64| {
            (
                self.center.0 + cos * x - sin * y,
                self.center.1 + sin * x + cos * y,
            )
        };
        [corner(-x, -y), corner(x, -y), corner(x, y), corner(-x, y)]
    }

    /// Returns the distance of a point from the footprint on the ground. Zero within the footprint.
    #[cfg(test)]
    pub(crate) fn distance_on_the_ground(&self, place: Point) -> f64 {
        let (x, y) = self.local(place);
        let beyond = |at: f64, size: f64| (at.abs() - 0.5 * size).max(0.0);
        let (x, y) = (beyond(x, self.size.0), beyond(y, self.size.1));
        (x * x + y * y).sqrt()
    }

    /// Returns the coordinates of a point along the box's own axes, from its centre.
    fn local(&self, place: Point) -> (f64, f64) {
        self.turn
            .back((place.x - self.center.0, place.y - self.center.1))
    }
}

impl Crossing {
    /// Keeps the part of the line whose coordinate lies in `low..=high`. The coordinate changes
    /// from `start` to `end` along the line. `None` if no part remains.
    fn clip(&mut self, start: f64, end: f64, low: f64, high: f64) -> Option<()> {
        let change = end - start;
        if change == 0.0 {
            return (low <= start && start <= high).then_some(());
        }
        let (one, other) = ((low - start) / change, (high - start) / change);
        self.enters = self.enters.max(one.min(other));
        self.leaves = self.leaves.min(one.max(other));
        (self.enters <= self.leaves).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn building(low: (f64, f64), high: (f64, f64), height: f64) -> Obstacle {
        Obstacle::building(Rectangle { low, high }, height)
    }

    fn near(crossing: Option<Crossing>, enters: f64, leaves: f64) -> bool {
        crossing
            .is_some_and(|c| (c.enters - enters).abs() < 1e-6 && (c.leaves - leaves).abs() < 1e-6)
    }

    /// Compares crossings with the test vectors of the reference sheet, section G.6.
    #[test]
    fn a_line_crosses_where_the_reference_says() {
        let flat = |x, y| Point::new(x, y, 0.0);
        let house = building((4.0, 3.0), (6.0, 5.0), 10.0);
        assert!(near(
            house.crossing(flat(0.0, 0.0), flat(10.0, 10.0)),
            0.4,
            0.5
        ));
        let outside = building((4.0, 1.0), (6.0, 5.0), 10.0);
        assert_eq!(outside.crossing(flat(0.0, 0.0), flat(10.0, 0.0)), None);
        let (low, high) = (Point::new(0.0, 0.0, 1.5), Point::new(10.0, 0.0, 10.0));
        assert_eq!(
            building((4.0, -1.0), (6.0, 1.0), 4.0).crossing(low, high),
            None
        );
        let taller = building((4.0, -1.0), (6.0, 1.0), 5.0);
        assert!(near(taller.crossing(low, high), 0.4, 0.411_765));
    }

    #[test]
    fn a_turned_box_is_crossed_along_its_turned_sides() {
        let car = Obstacle {
            center: (10.0, 0.0),
            size: (4.8, 1.8),
            turn: Turn::by(0.5 * std::f64::consts::PI),
            height: 1.5,
            base: 0.0,
        };
        let crossing = car.crossing(Point::new(0.0, 0.0, 1.0), Point::new(20.0, 0.0, 1.0));
        assert!(near(crossing, (10.0 - 0.9) / 20.0, (10.0 + 0.9) / 20.0));
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        /// The crossing agrees with samples along the line, except near the box's edges.
        #[test]
        fn a_crossing_agrees_with_sampling(
            ends in prop::array::uniform4(-20.0_f64..20.0),
            heights in (0.0_f64..6.0, 0.0_f64..6.0),
            center in (-10.0_f64..10.0, -10.0_f64..10.0),
            size in (0.5_f64..10.0, 0.5_f64..10.0),
            turn in 0.0_f64..3.2,
        ) {
            let house = Obstacle { center, size, turn: Turn::by(turn), height: 3.0, base: 0.0 };
            let from = Point::new(ends[0], ends[1], heights.0);
            let to = Point::new(ends[2], ends[3], heights.1);
            let crossing = house.crossing(from, to);
            for step in 0..=200 {
                let t = f64::from(step) / 200.0;
                let place = from + (to - from) * t;
                let (x, y) = house.local(place);
                let depth = (0.5 * size.0 - x.abs()).min(0.5 * size.1 - y.abs()).min(3.0 - place.z);
                let is_inside = crossing.is_some_and(|c| c.enters <= t && t <= c.leaves);
                let is_right = depth.abs() < 1e-6 || is_inside == (depth > 0.0);
                prop_assert!(is_right, "t = {t}, depth {depth}");
            }
        }
    }
}
