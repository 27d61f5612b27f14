//! The tracks of all nodes.

use crate::shadow::{self, Silhouette};
use crate::{Obstacle, Track};
use fadeout_core::{Kinematics, Motion, NodeId, Point, Time};

/// Where every node is: a track each, and the origin for those without one; and the buildings
/// between them.
#[derive(Debug, Clone, Default)]
pub struct Places {
    tracks: Vec<Option<Track>>,
    buildings: Vec<Obstacle>,
    /// Room for what stands near a line.
    seen: Vec<Silhouette>,
}

impl Places {
    /// Gives `node` a track, in place of the one it had.
    pub fn put(&mut self, node: NodeId, track: Track) {
        if self.tracks.len() <= node.index() {
            self.tracks.resize(node.index() + 1, None);
        }
        self.tracks[node.index()] = Some(track);
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
        match self.tracks.get_mut(node.index()) {
            Some(Some(track)) => track.at(time),
            _ => Kinematics::at_rest(Point::default()),
        }
    }

    fn obstruction(&mut self, from: Point, to: Point) -> f64 {
        shadow::obstruction(&self.buildings, (from, to), &mut self.seen)
    }
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
