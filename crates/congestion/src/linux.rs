//! The integer window arithmetic that the Linux algorithms share.
//!
//! Windows are whole segments. Fractions of a segment are stored in a counter of acknowledged
//! segments (`snd_cwnd_cnt` in the kernel). Source: net/ipv4/tcp_cong.c of Linux 6.12.

use super::{AckSample, RecoveryState, Window};
use fadeout_core::registry::{Parameter, integer};
use fadeout_core::{Span, Time};

/// The kernel's timer frequency, for the algorithms that measure time in jiffies.
pub(super) const HZ: Parameter = integer(
    "hz",
    (100, 1000, "ticks per second"),
    "1000",
    "Timer frequency of the kernel in Hz (CONFIG_HZ): 100, 250, 300 or 1000. The algorithm \
     measures time in ticks of this frequency.",
);

/// Returns the window in whole segments, at least one.
#[inline]
pub(crate) fn whole(window: &Window) -> u32 {
    (window.cwnd as u32).max(1)
}

/// Grows the window in slow start by one segment for each acknowledged segment, up to `ssthresh`.
/// Returns the number of acknowledged segments left for congestion avoidance.
///
/// Standard: RFC 5681 §3.1.
#[inline]
pub(crate) fn slow_start(window: &mut Window, acked: u32) -> u32 {
    let grown = (window.cwnd + f64::from(acked)).min(window.ssthresh);
    let used = (grown - window.cwnd).ceil();
    // The comparison allows for a fraction of a segment that is rounded up.
    debug_assert!(
        used <= f64::from(acked) + 1.0,
        "slow start used more segments than were acknowledged"
    );
    window.cwnd = grown.max(window.cwnd);
    acked.saturating_sub(used as u32)
}

/// Returns half the window, at least two segments. This is Reno's threshold in Linux. RFC 5681
/// halves the flight size instead.
///
/// Standard: RFC 5681 §3.1.
#[inline]
pub(crate) fn half(window: &Window) -> f64 {
    f64::from((whole(window) >> 1).max(2))
}

/// Counter of acknowledged segments that are not yet a whole segment of the window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckCounter(pub(crate) u32);

impl AckCounter {
    /// Raises the window by one segment for every `per` segments acknowledged.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, per: u32, acked: u32) {
        let per = per.max(1);
        // If `per` became smaller since the last ACK, the old count may already make a segment.
        // This segment is added before the ACK counts.
        if self.0 >= per {
            self.0 = 0;
            window.cwnd += 1.0;
        }
        self.0 = self.0.saturating_add(acked);
        if self.0 >= per {
            window.cwnd += f64::from(self.0 / per);
            self.0 %= per;
        }
        debug_assert!(self.0 < per, "a whole segment of window is not granted");
    }

    /// Grows the window as Reno: slow start, then one segment for each window of acknowledged
    /// segments.
    ///
    /// Standard: RFC 5681 §3.1.
    #[inline]
    pub(crate) fn reno(&mut self, window: &mut Window, ack: &AckSample) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
            if left == 0 {
                return;
            }
        }
        self.grow(window, whole(window), left);
    }
}

/// Detector of a timeout during recovery. The stack reports congestion once per recovery. So a
/// timeout during recovery is visible only in the state of the next ACK. The kernel's algorithms
/// reset on such a timeout too.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimeoutWatch(RecoveryState);

impl TimeoutWatch {
    /// Returns true if a timeout occurred since the last ACK and the sender did not report it. Must
    /// be called once for each ACK.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckSample) -> bool {
        let before = std::mem::replace(&mut self.0, ack.state);
        ack.state == RecoveryState::Loss && before != RecoveryState::Loss
    }

    /// Records that the sender reported a timeout.
    pub(crate) fn on_reported(&mut self) {
        self.0 = RecoveryState::Loss;
    }
}

/// Clock of the kernel, which counts jiffies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jiffies {
    hz: u64,
}

impl Jiffies {
    pub(crate) fn new(hz: u32) -> Self {
        Jiffies {
            hz: u64::from(hz.max(1)),
        }
    }
    /// Returns the number of ticks per second.
    pub(crate) fn hz(self) -> u64 {
        self.hz
    }
    /// Returns the number of the tick that contains `now`.
    pub(crate) fn tick_at(self, now: Time) -> u64 {
        ticks(now.as_nanos(), self.hz, 0)
    }
    /// Returns the time at which the tick that contains `now` began.
    pub(crate) fn begin_of(self, now: Time) -> Time {
        let (seconds, rest) = (self.tick_at(now) / self.hz, self.tick_at(now) % self.hz);
        Time::from_nanos(seconds * NANOS + rest * NANOS / self.hz)
    }
    /// Returns the number of ticks in `span`, rounded up.
    pub(crate) fn ticks_in(self, span: Span) -> u64 {
        ticks(span.as_nanos(), self.hz, 999_999_999)
    }
}

const NANOS: u64 = 1_000_000_000;

/// Converts nanoseconds to ticks. Whole seconds are converted separately, so that 64 bits hold the
/// product.
fn ticks(nanos: u64, hz: u64, round: u64) -> u64 {
    nanos / NANOS * hz + (nanos % NANOS * hz + round) / NANOS
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, window};
    use super::*;

    #[test]
    fn slow_start_takes_what_it_needs_up_to_the_threshold() {
        for (ssthresh, cwnd, left) in [
            (64.0, 15.0, 0),
            (12.0, 12.0, 3),
            (12.5, 12.5, 2),
            (9.0, 10.0, 5),
        ] {
            let mut w = window(10.0, ssthresh);
            assert_eq!((slow_start(&mut w, 5), w.cwnd), (left, cwnd), "{ssthresh}");
        }
    }

    #[test]
    fn a_counter_that_is_full_is_spent_before_an_ack_counts() {
        for (held, per, acked, cwnd, left) in [
            (20, 10, 3, 11.0, 3),
            (10, 10, 3, 11.0, 3),
            (9, 10, 3, 11.0, 2),
            (0, 10, 25, 12.0, 5),
            (0, 0, 2, 12.0, 0),
        ] {
            let (mut counter, mut w) = (AckCounter(held), window(10.0, 5.0));
            counter.grow(&mut w, per, acked);
            assert_eq!(
                (w.cwnd, counter.0),
                (cwnd, left),
                "{held} of {per}, {acked} more"
            );
        }
    }

    #[test]
    fn a_timeout_that_was_not_reported_is_noticed_once() {
        let state = |state| AckSample {
            state,
            ..ack(at_ms(0), 1)
        };
        let mut watch = TimeoutWatch::default();
        assert!(!watch.on_ack(&state(RecoveryState::Recovery)));
        assert!(watch.on_ack(&state(RecoveryState::Loss)));
        assert!(!watch.on_ack(&state(RecoveryState::Loss)));
        assert!(!watch.on_ack(&state(RecoveryState::Open)));
        watch.on_reported();
        assert!(!watch.on_ack(&state(RecoveryState::Loss)));
    }

    #[test]
    fn a_tick_has_a_begin_and_a_span_takes_whole_ones() {
        let jiffies = Jiffies::new(250);
        let now = Time::ZERO + Span::from_micros(3_234_567);
        assert_eq!((jiffies.hz(), jiffies.tick_at(now)), (250, 808));
        assert_eq!(jiffies.begin_of(now), at_ms(3_232));
        assert_eq!(jiffies.ticks_in(Span::from_micros(4_001)), 2);
        assert_eq!(jiffies.ticks_in(Span::from_micros(4_000)), 1);
    }
}
