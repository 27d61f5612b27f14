//! ECF, earliest completion first (Lim, Nahum, Towsley, Gibbens, CoNEXT 2017). When the fast path
//! is full, the slow path is used only if that completes the remaining data earlier than a wait.
//!
//! With `k` unsent segments the fast path needs `n = 1 + k / cwnd_f` round trips. The scheduler
//! waits if two conditions hold. First, `n rtt_f < (1 + beta) (rtt_s + d)`, where `beta` is zero
//! unless the scheduler waits already. Second, the slow path would need at least `2 rtt_f + d` for
//! all unsent segments. `d` is the larger round-trip time variation of the two paths.

use super::{Choice, Demand, PathScheduler, PathView};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Hysteresis of the wait (section 4.2 of the paper).
const BETA: f64 = 0.25;

/// The ECF scheduler (earliest completion first).
#[derive(Debug, Clone, Copy, Default)]
pub struct Ecf {
    is_waiting: bool,
}

impl Ecf {
    /// Returns true if a wait for `fast` is better than the use of `slow`.
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
        "Waits for the fast path if this completes the transfer earlier (ECF).",
        "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
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
    use fadeout_core::Span;

    #[test]
    fn it_waits_where_the_fast_path_completes_earlier() {
        // Reference vector EC-1: the end of the data decides if the scheduler waits for the fast
        // path.
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

    #[test]
    fn the_two_bounds_are_the_papers() {
        // The times are exact in binary floating point: the round trips are 1/16 s and 1/4 s, and
        // `d` is 1/16 s. With 40 segments the fast path needs five round trips, which equals rtt_s
        // + d. So the scheduler stops waiting.
        let sixteenth = Span::from_micros(62_500);
        let fast = PathView {
            srtt: sixteenth,
            variance: sixteenth / 2,
            ..path(0, 1, 10, 10)
        };
        let slow = PathView {
            srtt: sixteenth * 4,
            variance: sixteenth,
            ..path(1, 1, 20, 0)
        };
        let waits = |unsent, is_waiting| {
            let mut ecf = Ecf { is_waiting };
            let answer = ecf.waits(unsent, &fast, &slow);
            (answer, ecf.is_waiting)
        };
        assert_eq!(waits(40_000, false), (false, false));
        assert_eq!(waits(39_999, false), (true, true));
        // A scheduler that already waits uses a limit larger by a quarter: 6.25 round trips, or
        // 52.5 segments.
        assert_eq!(waits(52_500, true), (false, false));
        assert_eq!(waits(52_499, true), (true, true));
        // The scheduler waits only if the slow path needs at least 2 rtt_f + d. This limit is 15
        // segments with the slow path's window of 20.
        assert_eq!(waits(15_000, false), (true, true));
        assert_eq!(waits(14_999, false), (false, false));
        assert_eq!(waits(14_999, true), (false, true));
    }
}
