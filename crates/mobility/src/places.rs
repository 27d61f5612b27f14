//! The tracks of all nodes.

use crate::Track;
use fadeout_core::{Kinematics, Motion, NodeId, Point, Time};

/// Where every node is: a track each, and the origin for those without one.
#[derive(Debug, Clone, Default)]
pub struct Places {
    tracks: Vec<Option<Track>>,
}

impl Places {
    /// Gives `node` a track, in place of the one it had.
    pub fn put(&mut self, node: NodeId, track: Track) {
        if self.tracks.len() <= node.index() {
            self.tracks.resize(node.index() + 1, None);
        }
        self.tracks[node.index()] = Some(track);
    }
}

impl Motion for Places {
    fn at(&mut self, node: NodeId, time: Time) -> Kinematics {
        match self.tracks.get_mut(node.index()) {
            Some(Some(track)) => track.at(time),
            _ => Kinematics::at_rest(Point::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
