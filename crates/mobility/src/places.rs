//! The tracks of all nodes.

use crate::near::{Beside, Near, Vehicle, margin};
use crate::shadow::{self, Silhouette};
use crate::traffic::Fleet;
use crate::{Obstacle, Track};
use fadeout_core::{Edge, Kinematics, Motion, NodeId, Point, Time};
use std::cmp::Ordering;

/// Edges count from this depth on: 0.78 of P.526's parameter at wavelengths up to 1 m, where the loss
/// begins.
const SHALLOWEST: f64 = -0.8;

/// Where every node is: on a track, on a vehicle, or at the origin; and the buildings and vehicles between
/// them.
#[derive(Debug, Clone, Default)]
pub struct Places {
    on: Vec<On>,
    buildings: Vec<Obstacle>,
    /// Room for what stands near a line.
    seen: Vec<Silhouette>,
    fleets: Vec<Fleet>,
    /// The latest time that was asked for.
    now: Time,
    near: Near,
    edges: Vec<Edge>,
}

/// The vehicle that a node is on, if any.
#[derive(Debug, Clone, Default)]
enum On {
    #[default]
    Nothing,
    Track(Box<Track>),
    Vehicle(Vehicle),
}

impl Places {
    /// Gives `node` a track, in place of what it was on.
    pub fn put(&mut self, node: NodeId, track: Track) {
        self.set(node, On::Track(Box::new(track)));
    }

    /// Adds a group of vehicles; gives its number.
    pub fn add(&mut self, fleet: Fleet) -> usize {
        self.edges.reserve(fleet.len() + self.edges.capacity());
        self.fleets.push(fleet);
        self.fleets.len() - 1
    }

    /// Puts `node` on a vehicle of a group, by their numbers, in place of what it was on.
    pub fn ride(&mut self, node: NodeId, fleet: usize, vehicle: usize) {
        self.set(node, On::Vehicle((fleet as u32, vehicle as u32)));
    }

    /// The groups of vehicles.
    pub fn fleets(&self) -> &[Fleet] {
        &self.fleets
    }

    fn set(&mut self, node: NodeId, on: On) {
        if self.on.len() <= node.index() {
            self.on.resize(node.index() + 1, On::Nothing);
        }
        self.on[node.index()] = on;
    }

    /// Moves all vehicles on to `time`.
    pub fn advance(&mut self, time: Time) {
        if time > self.now {
            self.now = time;
            for fleet in &mut self.fleets {
                fleet.advance(time);
            }
        }
    }

    /// The vehicles in the straight line from a place to where `node` will be `ahead` seconds after `now`, if
    /// all of them go straight on as they do then; in order along it. The node's own is never among them.
    pub fn vehicles_ahead(
        &mut self,
        (node, now): (NodeId, Time),
        ahead: f64,
        (from, to): (Point, Point),
    ) -> &[Edge] {
        self.edges.clear();
        self.advance(now);
        let own = match self.on.get(node.index()) {
            Some(On::Vehicle((fleet, vehicle))) => Some((*fleet as usize, *vehicle as usize)),
            _ => None,
        };
        let margin = margin(from.distance_to(to), -SHALLOWEST);
        let beside = Beside::new(from, to, margin);
        for (number, fleet) in self.fleets.iter().enumerate() {
            for vehicle in (0..fleet.len()).filter(|&it| own != Some((number, it))) {
                let (pose, is_there) = fleet.pose(vehicle, now);
                let (x_speed, y_speed) = pose.velocity;
                let body = fleet.body(vehicle);
                let front = (
                    pose.front.0 + x_speed * ahead,
                    pose.front.1 + y_speed * ahead,
                );
                // Most are far from the line.
                if !is_there || beside.is_clear_of(front, body.reach()) {
                    continue;
                }
                let mut obstacle = pose.obstacle(body);
                obstacle.center.0 += x_speed * ahead;
                obstacle.center.1 += y_speed * ahead;
                let edge = shadow::behind(&obstacle, (from, to));
                self.edges
                    .extend(edge.filter(|edge| edge.depth > SHALLOWEST));
            }
        }
        self.edges.sort_unstable_by(in_order);
        &self.edges
    }

    /// Adds a building.
    pub fn build(&mut self, building: Obstacle) {
        self.buildings.push(building);
        // Room for all, so that none is made while a run goes on.
        self.seen.reserve(self.buildings.len());
    }
}

impl Motion for Places {
    fn at(&mut self, node: NodeId, time: Time) -> Kinematics {
        match self.on.get_mut(node.index()) {
            Some(On::Track(track)) => track.at(time),
            Some(&mut On::Vehicle((fleet, vehicle))) => {
                self.advance(time);
                self.fleets[fleet as usize].antenna(vehicle as usize, time)
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
        !self.fleets.is_empty()
    }

    fn vehicles(&mut self, node: NodeId, time: Time, from: Point, to: Point) -> &[Edge] {
        self.edges.clear();
        if self.fleets.is_empty() {
            return &self.edges;
        }
        self.advance(time);
        self.near.refresh(&self.fleets, time);
        let own = match self.on.get(node.index()) {
            Some(On::Vehicle(own)) => Some(*own),
            _ => None,
        };
        let margin = margin(from.distance_to(to), -SHALLOWEST);
        let beside = Beside::new(from, to, margin);
        for &vehicle in self.near.along(from, to, margin) {
            let fleet = &self.fleets[vehicle.0 as usize];
            let body = fleet.body(vehicle.1 as usize);
            let (pose, is_there) = fleet.pose(vehicle.1 as usize, time);
            // Most in the squares along a line are far from it.
            if !is_there || beside.is_clear_of(pose.front, body.reach()) {
                continue;
            }
            let obstacle = pose.obstacle(body);
            // Antennas on roofs see over their own.
            if own == Some(vehicle) && to.z >= obstacle.height {
                continue;
            }
            let edge = shadow::behind(&obstacle, (from, to));
            self.edges
                .extend(edge.filter(|edge| edge.depth > SHALLOWEST));
        }
        self.edges.sort_unstable_by(in_order);
        &self.edges
    }

    fn obstruction(&mut self, from: Point, to: Point) -> f64 {
        shadow::obstruction(&self.buildings, (from, to), &mut self.seen)
    }
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
        assert!(places.obstruction(mast, Point::new(100.0, 0.0, 1.0)) > 0.0);
        assert!(places.obstruction(mast, Point::new(100.0, 40.0, 1.0)) < 0.0);
    }

    #[test]
    fn a_node_without_a_track_is_at_the_origin() {
        let mut places = Places::default();
        places.put(NodeId(2), Track::rest(Point::new(1.0, 2.0, 3.0)));
        assert_eq!(places.at(NodeId(2), Time::ZERO).position.z, 3.0);
        for node in [NodeId(0), NodeId(9)] {
            assert_eq!(
                places.at(node, Time::ZERO),
                Kinematics::at_rest(Point::default())
            );
        }
    }
}
