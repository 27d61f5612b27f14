//! A segment on each path in turn, among those with room (Paasch et al., CSWS 2014; Linux
//! out-of-tree `mptcp_rr.c` with a quota of one segment).

use super::{Choice, Demand, PathScheduler, PathView};
use crate::multipath::PathId;

/// In turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin {
    last: Option<PathId>,
}

impl PathScheduler for RoundRobin {
    fn choose(&mut self, _demand: &Demand, paths: &[PathView]) -> Choice {
        let with_room = || paths.iter().filter(|path| path.has_room);
        let next = with_room()
            .find(|path| Some(path.id) > self.last)
            .or_else(|| with_room().next());
        match next {
            Some(path) => {
                self.last = Some(path.id);
                Choice::Path {
                    path: path.id,
                    bytes: u64::from(path.mss),
                }
            }
            None => Choice::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{demand, path};
    use super::*;

    #[test]
    fn paths_with_room_take_turns() {
        let mut scheduler = RoundRobin::default();
        let paths = [path(0, 20, 10, 0), path(1, 20, 9, 9), path(2, 20, 10, 0)];
        let mut turn = || match scheduler.choose(&demand(1, 1), &paths) {
            Choice::Path { path, .. } => path.0,
            other => panic!("{other:?}"),
        };
        assert_eq!([turn(), turn(), turn(), turn()], [0, 2, 0, 2]);
    }
}
