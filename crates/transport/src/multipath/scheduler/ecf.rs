//! ECF, earliest completion first: with the fast path full, the slow one is used only where that
//! completes what is left earlier than waiting (Lim, Nahum, Towsley, Gibbens, CoNEXT 2017).
//!
//! With `k` segments left and `n = 1 + k / cwnd_f` round trips of the fast path: wait when
//! `n rtt_f < (1 + beta) (rtt_s + d)`, `beta` counting only while already waiting, and when the
//! slow path would take at least `2 rtt_f + d` for all of it; `d` is the larger variation.

use super::{Choice, Demand, PathScheduler, PathView};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Hysteresis of the wait (section 4.2 of the paper).
const BETA: f64 = 0.25;

/// Earliest completion first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ecf {
    is_waiting: bool,
}

impl Ecf {
    /// Whether to wait for `fast` rather than use `slow`.
    fn waits(&mut self, unsent: u64, fast: &PathView, slow: &PathView) -> bool {
        let left = unsent as f64 / f64::from(fast.mss.max(1));
        let (fast_rtt, slow_rtt) = (fast.srtt.as_secs_f64(), slow.srtt.as_secs_f64());
        let variation = fast.variance.max(slow.variance).as_secs_f64();
        let rounds = 1.0 + left / f64::from(fast.cwnd.max(1));
        let patience = if self.is_waiting { 1.0 + BETA } else { 1.0 };
        if rounds * fast_rtt >= patience * (slow_rtt + variation) {
            self.is_waiting = false;
            return false;
        }
        let by_slow = left / f64::from(slow.cwnd.max(1)) * slow_rtt;
        if by_slow >= 2.0 * fast_rtt + variation {
            self.is_waiting = true;
            return true;
        }
        false
    }
}

impl Registered for Ecf {
    const ENTRY: Entry = Entry::new(
        "ecf",
        "scheduler",
        "Waits for the fast path where that completes earlier",
        "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017",
    );

    fn with(_: &Settings<'_>, (): ()) -> Self {
        Ecf::default()
    }
}

impl PathScheduler for Ecf {
    fn choose(&mut self, demand: &Demand, paths: &[PathView]) -> Choice {
        Choice::fastest_unless(paths, |fast, next| self.waits(demand.unsent, fast, next))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::path;
    use super::*;

    #[test]
    fn it_waits_where_the_fast_path_completes_earlier() {
        // Reference vector EC-1.
        let (fast, slow) = (path(0, 20, 10, 10), path(1, 100, 10, 0));
        let mut ecf = Ecf::default();
        assert!(ecf.waits(15_000, &fast, &slow));
        assert!(ecf.is_waiting);
        assert!(!ecf.waits(100_000, &fast, &slow));
        assert!(!ecf.is_waiting);
        assert!(!ecf.waits(50_000, &fast, &slow));
        ecf.is_waiting = true;
        assert!(ecf.waits(50_000, &fast, &slow));
    }
}
