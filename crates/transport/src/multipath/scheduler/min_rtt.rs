//! The lowest smoothed round-trip time among the paths with room (Raiciu et al., NSDI 2012; Linux
//! out-of-tree `mptcp_sched.c`).

use super::{Choice, Demand, PathScheduler, PathView, fastest};

/// Lowest round-trip time first.
#[derive(Debug, Clone, Copy, Default)]
pub struct MinRtt;

impl PathScheduler for MinRtt {
    fn choose(&mut self, _demand: &Demand, paths: &[PathView]) -> Choice {
        match fastest(paths).1 {
            Some(path) => Choice::Path {
                path: path.id,
                bytes: u64::MAX,
            },
            None => Choice::Wait,
        }
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
