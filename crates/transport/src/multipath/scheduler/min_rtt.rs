//! Scheduler that prefers the path with the lowest smoothed round-trip time, among the paths
//! whose window has space. Source: Raiciu et al., NSDI 2012, and Linux out-of-tree `mptcp_sched.c`.

use super::{Choice, Demand, PathScheduler, PathView, fastest};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Scheduler that prefers the path with the lowest round-trip time.
#[derive(Debug, Clone, Copy, Default)]
pub struct MinRtt;

impl Registered for MinRtt {
    const ENTRY: Entry = Entry::new(
        "lowest-rtt",
        "scheduler",
        "Chooses the path with the lowest smoothed round-trip time that has room in its window.",
        "Raiciu et al., NSDI 2012; Paasch et al., CSWS 2014",
    )
    .with_aliases(&["min-rtt", "lowrtt"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        MinRtt
    }
}

impl PathScheduler for MinRtt {
    fn choose(&mut self, _demand: &Demand, paths: &[PathView]) -> Choice {
        Choice::whole(fastest(paths).1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{demand, path};
    use super::*;
    use crate::multipath::PathId;

    #[test]
    fn a_full_fast_path_leaves_the_data_to_the_slow_one() {
        let mut scheduler = MinRtt;
        let slow = path(1, 100, 10, 0);
        let choose =
            |scheduler: &mut MinRtt, fast| match scheduler.choose(&demand(1, 1), &[fast, slow]) {
                Choice::Path { path, .. } => path,
                other => panic!("{other:?}"),
            };
        assert_eq!(choose(&mut scheduler, path(0, 20, 10, 3)), PathId(0));
        assert_eq!(choose(&mut scheduler, path(0, 20, 10, 10)), PathId(1));
    }
}
