//! Round-robin scheduler: one segment on each path in turn, among the paths whose window is not
//! full. Source: Paasch et al., CSWS 2014, and Linux out-of-tree `mptcp_rr.c` with a quota of one
//! segment.

use super::{Choice, Demand, PathScheduler, PathView};
use crate::multipath::PathId;
use fadeout_core::registry::{Entry, Registered, Settings};

/// The scheduler that uses the paths in turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin {
    last: Option<PathId>,
}

impl Registered for RoundRobin {
    const ENTRY: Entry = Entry::new(
        "round-robin",
        "scheduler",
        "Round robin: sends a segment on each path in turn.",
        "Paasch et al., CSWS 2014",
    )
    .with_aliases(&["roundrobin"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        RoundRobin::default()
    }
}

impl PathScheduler for RoundRobin {
    fn choose(&mut self, _demand: &Demand, paths: &[PathView]) -> Choice {
        let with_room = || paths.iter().filter(|path| path.has_room);
        let next = with_room()
            .find(|path| Some(path.id) > self.last)
            .or_else(|| with_room().next());
        next.map_or(Choice::Wait, Choice::segment)
    }

    fn on_sent(&mut self, path: PathId) {
        self.last = Some(path);
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
            Choice::Path { path, .. } => {
                scheduler.on_sent(path);
                path.0
            }
            other => panic!("{other:?}"),
        };
        assert_eq!([turn(), turn(), turn(), turn()], [0, 2, 0, 2]);
        let mut ask = || scheduler.choose(&demand(1, 1), &paths);
        assert_eq!(ask(), ask(), "a question takes no turn");
    }
}
