//! Positions and movement in a flat world: x east, y north, z up, in metres.

use crate::{NodeId, Time, math};
use std::ops::{Add, Mul, Sub};

/// Position in metres.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Point {
    /// Coordinate to the east.
    pub x: f64,
    /// Coordinate to the north.
    pub y: f64,
    /// Height above the ground.
    pub z: f64,
}

/// Difference of positions in metres, or velocity in metres per second.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Vector {
    /// Component to the east.
    pub x: f64,
    /// Component to the north.
    pub y: f64,
    /// Upward component.
    pub z: f64,
}

impl Point {
    /// Returns the position `(x, y, z)`.
    pub const fn new(x: f64, y: f64, z: f64) -> Point {
        Point { x, y, z }
    }
    /// Returns the distance in space, d3D of TR 38.901.
    pub fn distance_to(self, other: Point) -> f64 {
        (other - self).length()
    }
    /// Returns the distance on the ground, d2D of TR 38.901.
    pub fn ground_distance_to(self, other: Point) -> f64 {
        math::hypot(other.x - self.x, other.y - self.y)
    }
}

impl Vector {
    /// Returns the vector `(x, y, z)`.
    pub const fn new(x: f64, y: f64, z: f64) -> Vector {
        Vector { x, y, z }
    }
    /// Returns the scalar product.
    pub fn dot(self, other: Vector) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    /// Returns the length, which is the speed for a velocity.
    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }
}

impl Sub for Point {
    type Output = Vector;
    fn sub(self, other: Point) -> Vector {
        Vector::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Add<Vector> for Point {
    type Output = Point;
    fn add(self, offset: Vector) -> Point {
        Point::new(self.x + offset.x, self.y + offset.y, self.z + offset.z)
    }
}

impl Mul<f64> for Vector {
    type Output = Vector;
    fn mul(self, factor: f64) -> Vector {
        Vector::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

/// Position and velocity of an object.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Kinematics {
    /// Position.
    pub position: Point,
    /// Velocity in metres per second.
    pub velocity: Vector,
}

impl Kinematics {
    /// Returns the state of an object at rest at `position`.
    pub const fn at_rest(position: Point) -> Kinematics {
        Kinematics {
            position,
            velocity: Vector::new(0.0, 0.0, 0.0),
        }
    }
}

/// Moving obstacle near the straight line between two antennas.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Edge {
    /// Position of the edge along the line, as a share of its length from 0 to 1.
    pub share: f64,
    /// Depth of the line behind the edge, as defined by [`Motion::obstruction`].
    pub depth: f64,
}

/// Source of the positions of the nodes, and of the obstacles between positions.
pub trait Motion {
    /// Returns position and velocity of `node` at `time`. Times never go back for the same node.
    fn kinematics_at(&mut self, node: NodeId, time: Time) -> Kinematics;

    /// Returns the time until which `node` moves in a straight line after a query for `time`. Until
    /// then [`Motion::kinematics_at`] may be called for times in any order. Returns `time` if this
    /// is unknown.
    fn orderless_until(&mut self, _node: NodeId, time: Time) -> Time {
        time
    }

    /// Returns how deep the straight line between two positions lies behind the edges of fixed
    /// obstacles. The depth is negative if the line is clear of them. Its unit is the square root
    /// of metres: the diffraction parameter of ITU-R P.526-15 equation 26 times the root of the
    /// wavelength. An edge that the line clears by more than `clear`, in the same unit, may be
    /// ignored while no edge cuts the line.
    fn obstruction(&mut self, _ends: (Point, Point), _clear: f64) -> f64 {
        f64::NEG_INFINITY
    }

    /// Returns the length in metres of the part of the straight line between two positions that
    /// lies within foliage.
    fn foliage_m(&mut self, _from: Point, _to: Point) -> f64 {
        0.0
    }

    /// Returns true if vehicles may be between fixed positions.
    fn has_vehicles(&self) -> bool {
        true
    }

    /// Returns the vehicles near the straight line from a position to that of `node`, in order
    /// along the line. The node's own vehicle is among them only if its antenna is below its roof.
    /// Vehicles that the line clears by more than `clear`, as defined by [`Motion::obstruction`],
    /// are left out.
    fn vehicles(&mut self, _at: (NodeId, Time), _ends: (Point, Point), _clear: f64) -> &[Edge] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ground_distance_ignores_height() {
        let (mast, phone) = (Point::new(0.0, 0.0, 25.0), Point::new(30.0, 40.0, 1.5));
        assert_eq!(mast.ground_distance_to(phone), 50.0);
        assert_eq!(
            mast.distance_to(phone),
            (50.0_f64 * 50.0 + 23.5 * 23.5).sqrt()
        );
    }
}
