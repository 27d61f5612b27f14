//! Minimum round-trip time.

use super::super::super::AckSample;
use fadeout_core::{Span, Time};

/// Smallest round-trip time of two windows. At the end of the shorter window the sender empties the
/// queue to measure it again.
///
/// Source: draft-ietf-ccwg-bbr section 5.3.4.1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MinRttFilter {
    min: Option<Span>,
    min_at: Time,
    recent: Option<Span>,
    recent_at: Time,
    has_expired: bool,
}

impl MinRttFilter {
    /// Starts from the round-trip time of the handshake. `None` if none was measured.
    pub(super) fn new(rtt: Option<Span>, now: Time) -> MinRttFilter {
        MinRttFilter {
            min: rtt,
            min_at: now,
            recent: rtt,
            recent_at: now,
            has_expired: false,
        }
    }

    /// Processes the round-trip time of an ACK. PROBE_RTT has to empty the queue every `interval`.
    /// Samples older than `window` are discarded.
    pub(super) fn on_ack(&mut self, ack: &AckSample, interval: Span, window: Span) {
        self.has_expired = ack.now.since(self.recent_at) > interval;
        if let Some(rtt) = ack.rtt
            && (self.has_expired || self.recent.is_none_or(|min| rtt < min))
        {
            self.recent = Some(rtt);
            self.recent_at = ack.now;
        }
        let is_old = ack.now.since(self.min_at) > window;
        if let Some(recent) = self.recent
            && (is_old || self.min.is_none_or(|min| recent < min))
        {
            self.min = Some(recent);
            self.min_at = self.recent_at;
        }
    }

    /// Records that the queue was empty at `now`, so the minimum round-trip time is up to date.
    pub(super) fn on_emptied(&mut self, now: Time) {
        self.recent_at = now;
    }

    /// Returns true if PROBE_RTT has to empty the queue to measure the minimum round-trip time
    /// again.
    pub(super) fn has_expired(&self) -> bool {
        self.has_expired
    }

    /// Returns the minimum round-trip time. `None` before the first sample.
    pub(super) fn get(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::testing::{ack, at_ms};
    use super::*;

    const INTERVAL: Span = Span::from_secs(5);
    const WINDOW: Span = Span::from_secs(10);

    fn process_rtt(min_rtt: &mut MinRttFilter, at: u64, rtt: u64) {
        let sample = AckSample {
            rtt: Some(Span::from_millis(rtt)),
            ..ack(at_ms(at), 1)
        };
        min_rtt.on_ack(&sample, INTERVAL, WINDOW);
    }

    #[test]
    fn a_larger_one_counts_when_the_window_of_the_smallest_is_over() {
        let mut min_rtt = MinRttFilter::new(Some(Span::from_millis(40)), at_ms(0));
        for (at, expected) in [(5_000, 40), (9_000, 40), (10_000, 40), (10_001, 50)] {
            process_rtt(&mut min_rtt, at, 50);
            let smallest = min_rtt.get();
            assert_eq!(smallest, Some(Span::from_millis(expected)), "at {at} ms");
        }
    }

    #[test]
    fn the_queue_is_to_be_emptied_once_an_interval() {
        let mut min_rtt = MinRttFilter::new(Some(Span::from_millis(40)), at_ms(0));
        process_rtt(&mut min_rtt, 5_000, 50);
        assert!(!min_rtt.has_expired());
        process_rtt(&mut min_rtt, 5_001, 50);
        assert!(min_rtt.has_expired());
        min_rtt.on_emptied(at_ms(5_200));
        process_rtt(&mut min_rtt, 10_200, 50);
        assert!(!min_rtt.has_expired());
    }
}
