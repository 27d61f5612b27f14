//! BLEST: a slow path is not used if its data would block the peer's window for the fast path.
//! Source: Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016.
//!
//! While a segment crosses the slow path, the fast path could send `X = MSS (cwnd + (r - 1) / 2) r`
//! bytes, where `r` is the ratio of their round-trip times. The scheduler waits if `lambda X`
//! exceeds the peer's window less the slow path's segments in flight. `lambda` starts at 1.2 and
//! stays within 1.0 to 1.3 (out-of-tree `mptcp_blest.c`). In a round trip of the slow path `lambda`
//! rises by 0.04 if the window blocked. Otherwise `lambda` falls by 0.01.

use super::{Choice, Demand, PathScheduler, PathView};
use fadeout_core::Time;
use fadeout_core::registry::{Entry, Registered, Settings};

/// The BLEST scheduler (blocking estimation).
#[derive(Debug, Clone, Copy)]
pub struct Blest {
    lambda: f64,
    updated_at: Time,
    was_blocked: bool,
}

impl Default for Blest {
    fn default() -> Self {
        Blest {
            lambda: 1.2,
            updated_at: Time::ZERO,
            was_blocked: false,
        }
    }
}

impl Blest {
    fn update(&mut self, now: Time, slow: &PathView) {
        if now.since(self.updated_at) < slow.srtt {
            return;
        }
        let step = if self.was_blocked { 0.04 } else { -0.01 };
        self.lambda = (self.lambda + step).clamp(1.0, 1.3);
        self.was_blocked = false;
        self.updated_at = now;
    }

    /// Returns true if data on the path `slow` would block the peer's window for the path `fast`.
    fn would_block(&self, demand: &Demand, fast: &PathView, slow: &PathView) -> bool {
        let ratio = slow.srtt.as_secs_f64() / fast.srtt.as_secs_f64().max(1e-9);
        let could_send = f64::from(fast.mss) * (f64::from(fast.cwnd) + (ratio - 1.0) / 2.0) * ratio;
        let own = f64::from(slow.mss) * f64::from(slow.in_flight + 1);
        self.lambda * could_send > demand.window as f64 - own
    }
}

impl Registered for Blest {
    const ENTRY: Entry = Entry::new(
        "blest",
        "scheduler",
        "Skips a slow path if its data would block the receive window (BLEST).",
        "Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Blest::default()
    }
}

impl PathScheduler for Blest {
    fn choose(&mut self, demand: &Demand, paths: &[PathView]) -> Choice {
        Choice::fastest_unless(paths, |fast, next| {
            self.update(demand.now, next);
            self.would_block(demand, fast, next)
        })
    }

    fn on_blocked(&mut self) {
        self.was_blocked = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{demand, path};
    use super::*;
    use fadeout_core::Span;

    #[test]
    fn a_slow_path_is_used_while_the_window_has_room_for_both() {
        // Reference vector BL-1.
        let blest = Blest::default();
        let fast = path(0, 20, 10, 10);
        let window = demand(1 << 20, 100_000);
        assert!(!blest.would_block(&window, &fast, &path(1, 100, 40, 20)));
        assert!(blest.would_block(&window, &fast, &path(1, 100, 40, 30)));
    }

    #[test]
    fn lambda_follows_blocking_within_its_bounds() {
        let mut blest = Blest::default();
        let slow = path(1, 100, 10, 0);
        let mut now = Time::ZERO;
        for _ in 0..10 {
            now += slow.srtt;
            blest.on_blocked();
            blest.update(now, &slow);
        }
        assert_eq!(blest.lambda, 1.3);
        now += slow.srtt;
        blest.update(now, &slow);
        assert_eq!(blest.lambda, 1.29);
    }

    #[test]
    fn what_the_fast_path_could_send_meanwhile_decides() {
        // With r = 3, X is 1000 (10 + 1) 3 = 33,000, and lambda X is 39,600. Four segments in
        // flight and the next one use 5,000 bytes of the window. So the slow path blocks if the
        // window is below 44,600.
        let blest = Blest::default();
        let (fast, slow) = (path(0, 20, 10, 10), path(1, 60, 40, 4));
        assert!(!blest.would_block(&demand(1 << 20, 44_600), &fast, &slow));
        assert!(blest.would_block(&demand(1 << 20, 44_599), &fast, &slow));
    }

    #[test]
    fn lambda_moves_once_a_round_trip_of_the_slow_path() {
        let mut blest = Blest::default();
        let slow = path(1, 100, 10, 0);
        let time_at_ms = |ms| Time::ZERO + Span::from_millis(ms);
        for (ms, lambda) in [(99, 1.2), (100, 1.19), (199, 1.19), (200, 1.18)] {
            blest.update(time_at_ms(ms), &slow);
            assert!(
                (blest.lambda - lambda).abs() < 1e-12,
                "{} at {ms} ms",
                blest.lambda
            );
        }
        for n in 3..30 {
            blest.update(time_at_ms(100 * n), &slow);
        }
        assert_eq!(blest.lambda, 1.0);
    }
}
