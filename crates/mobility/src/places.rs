//! Positions of all nodes.

use crate::buildings::Buildings;
use crate::near::{GroundLine, Near, Vehicle, margin};
use crate::shadow::Boxes;
use crate::traffic::Fleet;
use crate::vehicle::Pose;
use crate::{Obstacle, Track, Turn};
use fadeout_core::{Edge, Kinematics, Motion, NodeId, Point, Time};
use std::cmp::Ordering;

/// Positions of all nodes, and the buildings and vehicles between them. A node is on a track, on a
/// vehicle, or at the origin.
#[derive(Debug, Clone, Default)]
pub struct Places {
    on: Vec<On>,
    buildings: Buildings,
    foliage: Vec<Obstacle>,
    fleets: Vec<Fleet>,
    /// Latest time that a caller has requested.
    now: Time,
    near: Near,
    edges: Vec<Edge>,
    /// Poses of each fleet's vehicles at the last requested time. They are kept because many lines
    /// pass the same vehicle at the same time.
    known: Vec<Vec<Known>>,
}

/// Pose of a vehicle at a time.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Requested time, and the time to which the fleets had advanced. The entry is valid for this
    /// pair only.
    at: (Time, Time),
    pose: Pose,
    is_there: bool,
    /// Rotation of the vehicle, and the heading for which it was computed. It is kept because most
    /// vehicles drive straight on. `None` before its first use.
    turn: Option<(f64, Turn)>,
}

impl Known {
    const NOTHING: Known = Known {
        at: (Time::NEVER, Time::NEVER),
        pose: Pose {
            front: (0.0, 0.0),
            heading: 0.0,
            velocity: (0.0, 0.0),
        },
        is_there: false,
        turn: None,
    };

    /// Recomputes the entry if it was computed for another time.
    fn refresh(&mut self, (fleet, now): (&Fleet, Time), vehicle: usize, time: Time) {
        if self.at != (time, now) {
            (self.pose, self.is_there) = fleet.pose(vehicle, time);
            self.at = (time, now);
        }
    }

    fn turn(&mut self) -> Turn {
        match self.turn {
            Some((heading, turn)) if heading.to_bits() == self.pose.heading.to_bits() => turn,
            _ => {
                let turn = self.pose.turn();
                self.turn = Some((self.pose.heading, turn));
                turn
            }
        }
    }
}

/// Object that determines the position of a node: a track or a vehicle.
#[derive(Debug, Clone, Default)]
enum On {
    #[default]
    Nothing,
    Track(Box<Track>),
    Vehicle(Vehicle),
}

impl Places {
    /// Puts `node` on a track. The track replaces the node's previous track or vehicle.
    pub fn put(&mut self, node: NodeId, track: Track) {
        self.set(node, On::Track(Box::new(track)));
    }

    /// Adds a fleet, and returns its number.
    pub fn add(&mut self, fleet: Fleet) -> usize {
        self.edges.reserve(fleet.len() + self.edges.capacity());
        self.known.push(vec![Known::NOTHING; fleet.len()]);
        self.fleets.push(fleet);
        self.fleets.len() - 1
    }

    /// Puts `node` on a vehicle of a fleet. The vehicle replaces the node's previous track or
    /// vehicle.
    pub fn ride(&mut self, node: NodeId, fleet: usize, vehicle: usize) {
        self.set(node, On::Vehicle((fleet as u32, vehicle as u32)));
    }

    /// Returns the fleets.
    pub fn fleets(&self) -> &[Fleet] {
        &self.fleets
    }

    fn set(&mut self, node: NodeId, on: On) {
        if self.on.len() <= node.index() {
            self.on.resize(node.index() + 1, On::Nothing);
        }
        self.on[node.index()] = on;
    }

    /// Advances all vehicles to `time`.
    pub fn advance(&mut self, time: Time) {
        if time > self.now {
            self.now = time;
            for fleet in &mut self.fleets {
                fleet.advance(time);
            }
        }
    }

    /// Returns the vehicles near the straight line from a point to the position of `node`, sorted
    /// along the line. The vehicles' positions are those `ahead` seconds after `now`, if they drive
    /// straight on. The node's own vehicle is excluded. So are vehicles whose clearance from the
    /// line exceeds `clear`, as in [`Motion::vehicles`].
    pub fn vehicles_ahead(
        &mut self,
        (node, now): (NodeId, Time),
        ahead: f64,
        ((from, to), clear): ((Point, Point), f64),
    ) -> &[Edge] {
        self.edges.clear();
        self.advance(now);
        let own = self.vehicle_of(node);
        let own = own.map(|(fleet, vehicle)| (fleet as usize, vehicle as usize));
        let margin = margin(from.distance_to(to), clear);
        let line = GroundLine::new(from, to, margin);
        let boxes = Boxes::new((from, to), -clear);
        for (number, fleet) in self.fleets.iter().enumerate() {
            for vehicle in (0..fleet.len()).filter(|&it| own != Some((number, it))) {
                let (pose, is_there) = fleet.pose(vehicle, now);
                let (x_speed, y_speed) = pose.velocity;
                let body = fleet.body(vehicle);
                let front = (
                    pose.front.0 + x_speed * ahead,
                    pose.front.1 + y_speed * ahead,
                );
                // Most vehicles are far from the line, so the cheap test comes first.
                if !is_there || line.is_clear_of(front, body.reach()) {
                    continue;
                }
                let mut obstacle = pose.obstacle(body);
                obstacle.center.0 += x_speed * ahead;
                obstacle.center.1 += y_speed * ahead;
                self.edges.extend(boxes.behind(&obstacle));
            }
        }
        self.edges.sort_unstable_by(in_order);
        assert_on_the_line(&self.edges);
        &self.edges
    }

    /// Returns the obstacles near the straight line between two nodes at a time. The first result
    /// is the line's depth behind buildings. The second lists the vehicles near the line, sorted
    /// along it. The nodes' own vehicles are included only if the antenna is below the roof.
    /// `clear` has the meaning of [`Motion::obstruction`] and [`Motion::vehicles`].
    pub fn between(
        &mut self,
        (from, to): (NodeId, NodeId),
        time: Time,
        clear: f64,
    ) -> (f64, &[Edge]) {
        let ends = [from, to].map(|node| {
            (
                self.kinematics_at(node, time).position,
                self.vehicle_of(node),
            )
        });
        let depth = self.obstruction((ends[0].0, ends[1].0), clear);
        (depth, self.vehicles_between(ends, time, clear))
    }

    fn vehicle_of(&self, node: NodeId) -> Option<Vehicle> {
        match self.on.get(node.index()) {
            Some(On::Vehicle(own)) => Some(*own),
            _ => None,
        }
    }

    /// Returns the vehicles near a line between two antennas. Each antenna may be on a vehicle.
    fn vehicles_between(
        &mut self,
        ends: [(Point, Option<Vehicle>); 2],
        time: Time,
        clear: f64,
    ) -> &[Edge] {
        self.edges.clear();
        if self.fleets.is_empty() {
            return &self.edges;
        }
        self.advance(time);
        self.near.refresh(&self.fleets, time);
        let [(from, _), (to, _)] = ends;
        let margin = margin(from.distance_to(to), clear);
        let line = GroundLine::new(from, to, margin);
        let boxes = Boxes::new((from, to), -clear);
        for &vehicle in self.near.along((from, to), &line) {
            let fleet = &self.fleets[vehicle.0 as usize];
            let body = fleet.body(vehicle.1 as usize);
            let known = &mut self.known[vehicle.0 as usize][vehicle.1 as usize];
            known.refresh((fleet, self.now), vehicle.1 as usize, time);
            // Most vehicles in the squares along a line are far from the line.
            if !known.is_there || line.is_clear_of(known.pose.front, body.reach()) {
                continue;
            }
            let turn = known.turn();
            let obstacle = known.pose.obstacle_turned(body, turn);
            // An antenna at or above a vehicle's roof is not blocked by that vehicle.
            let sees_over = |&(at, on): &(Point, Option<Vehicle>)| {
                on == Some(vehicle) && at.z >= obstacle.height
            };
            if ends.iter().any(sees_over) {
                continue;
            }
            self.edges.extend(boxes.behind(&obstacle));
        }
        self.edges.sort_unstable_by(in_order);
        assert_on_the_line(&self.edges);
        &self.edges
    }

    /// Adds a building.
    pub fn build(&mut self, building: Obstacle) {
        self.buildings.push(building);
    }

    /// Adds foliage, which attenuates lines through it.
    pub fn plant(&mut self, foliage: Obstacle) {
        self.foliage.push(foliage);
    }
}

impl Motion for Places {
    fn kinematics_at(&mut self, node: NodeId, time: Time) -> Kinematics {
        match self.on.get_mut(node.index()) {
            Some(On::Track(track)) => track.kinematics_at(time),
            Some(&mut On::Vehicle((fleet, vehicle))) => {
                self.advance(time);
                let (of, number) = (&self.fleets[fleet as usize], vehicle as usize);
                let known = &mut self.known[fleet as usize][number];
                known.refresh((of, self.now), number, time);
                let turn = known.turn();
                Kinematics {
                    position: known.pose.antenna_turned(of.body(number), turn),
                    velocity: known.pose.velocity(),
                }
            }
            _ => Kinematics::at_rest(Point::default()),
        }
    }

    fn orderless_until(&mut self, node: NodeId, time: Time) -> Time {
        match self.on.get(node.index()) {
            Some(On::Track(track)) => track.orderless_until(time),
            Some(On::Vehicle(_)) => time,
            _ => Time::NEVER,
        }
    }

    fn has_vehicles(&self) -> bool {
        // Upper bounds of a gain include neither vehicles nor foliage. So foliage is reported as
        // vehicles.
        !self.fleets.is_empty() || !self.foliage.is_empty()
    }

    fn vehicles(
        &mut self,
        (node, time): (NodeId, Time),
        (from, to): (Point, Point),
        clear: f64,
    ) -> &[Edge] {
        let own = self.vehicle_of(node);
        self.vehicles_between([(from, None), (to, own)], time, clear)
    }

    fn foliage_m(&mut self, from: Point, to: Point) -> f64 {
        let through = |tree: &Obstacle| tree.crossing(from, to).map(|it| it.leaves - it.enters);
        let shares = self.foliage.iter().filter_map(through);
        let through = shares.sum::<f64>();
        debug_assert!(through >= 0.0, "{through} of a line lie in foliage");
        through * from.distance_to(to)
    }

    fn obstruction(&mut self, ends: (Point, Point), clear: f64) -> f64 {
        self.buildings.obstruction(ends, clear)
    }
}

/// Asserts that each edge lies between the ends of the line.
fn assert_on_the_line(edges: &[Edge]) {
    debug_assert!(
        edges.iter().all(|edge| (0.0..=1.0).contains(&edge.share)),
        "an edge stands beyond the ends of its line"
    );
    debug_assert!(
        edges.iter().all(|edge| !edge.depth.is_nan()),
        "an edge of no depth"
    );
}

fn in_order(one: &Edge, other: &Edge) -> Ordering {
    let by_share = one.share.total_cmp(&other.share);
    by_share.then(one.depth.total_cmp(&other.depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rectangle;

    #[test]
    fn a_building_shades_the_lines_that_cross_it() {
        let mut places = Places::default();
        let footprint = Rectangle {
            low: (80.0, -10.0),
            high: (90.0, 10.0),
        };
        places.build(Obstacle::building(footprint, 10.0));
        let mast = Point::new(0.0, 0.0, 3.0);
        assert!(places.obstruction((mast, Point::new(100.0, 0.0, 1.0)), 1.0) > 0.0);
        assert!(places.obstruction((mast, Point::new(100.0, 40.0, 1.0)), 1.0) < 0.0);
    }

    #[test]
    fn a_line_has_as_much_foliage_as_it_is_within() {
        let mut places = Places::default();
        let tree = |low, high| Obstacle::building(Rectangle { low, high }, 8.0);
        places.plant(tree((10.0, -5.0), (14.0, 5.0)));
        places.plant(tree((20.0, 0.0), (30.0, 9.0)));
        let (mast, phone) = (Point::new(0.0, 1.0, 2.0), Point::new(40.0, 1.0, 2.0));
        assert!((places.foliage_m(mast, phone) - 14.0).abs() < 1e-9);
        assert_eq!(places.obstruction((mast, phone), 1.0), f64::NEG_INFINITY);
        // The line starts above the crowns of the trees. It enters the second crown at a height of
        // 8 m, halfway along its length.
        let (roof, street) = (Point::new(0.0, 1.0, 16.0), Point::new(40.0, 1.0, 0.0));
        let within = 10.0 * fadeout_core::math::hypot(40.0, 16.0) / 40.0;
        assert!((places.foliage_m(roof, street) - within).abs() < 1e-9);
    }

    #[test]
    fn a_node_without_a_track_is_at_the_origin() {
        let mut places = Places::default();
        places.put(NodeId(2), Track::rest(Point::new(1.0, 2.0, 3.0)));
        assert_eq!(places.kinematics_at(NodeId(2), Time::ZERO).position.z, 3.0);
        for node in [NodeId(0), NodeId(9)] {
            assert_eq!(
                places.kinematics_at(node, Time::ZERO),
                Kinematics::at_rest(Point::default())
            );
        }
    }
}
