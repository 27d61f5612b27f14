//! Estimator of ACK aggregation: data that is acknowledged in bursts.

use super::super::super::AckSample;
use super::MaxFilter;
use fadeout_core::Time;

/// Number of past rounds that the maximum covers, in addition to the present round.
const ROUNDS: u64 = 9;

/// Largest excess of acknowledged data over the data that the bandwidth explains.
///
/// Source: draft-ietf-ccwg-bbr section 5.5.9.
#[derive(Debug, Clone)]
pub(super) struct ExtraAcked {
    largest: MaxFilter,
    since: Time,
    delivered: f64,
}

impl ExtraAcked {
    pub(super) fn new() -> ExtraAcked {
        ExtraAcked {
            largest: MaxFilter::new(ROUNDS),
            since: Time::ZERO,
            delivered: 0.0,
        }
    }

    /// Starts a new count of delivered segments at `now`.
    pub(super) fn restart(&mut self, now: Time) {
        self.since = now;
        self.delivered = 0.0;
    }

    /// Processes an ACK in `round`, at `bandwidth` in segments per second. The excess is at most
    /// the window `cwnd`.
    pub(super) fn on_ack(&mut self, ack: &AckSample, round: u64, bandwidth: f64, cwnd: f64) {
        let mut expected = bandwidth * ack.now.since(self.since).as_secs_f64();
        if self.delivered <= expected {
            self.restart(ack.now);
            expected = 0.0;
        }
        self.delivered += f64::from(ack.delivered_now);
        let extra = (self.delivered - expected).min(cwnd);
        self.largest.update(round, extra);
    }

    /// Returns the largest excess of the last rounds, in segments.
    pub(super) fn max(&self) -> f64 {
        self.largest.max()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::testing::{ack, at_ms};
    use super::*;

    #[test]
    fn a_burst_counts_for_what_the_bandwidth_does_not_explain() {
        let mut extra = ExtraAcked::new();
        extra.restart(at_ms(0));
        // The first ACK begins an epoch with 25 segments, and five more make 30. 45 segments
        // arrived within 20 ms. The bandwidth explains 10 of them, so the excess is 35.
        for (ms, acked, largest) in [(10, 25, 25.0), (10, 5, 30.0), (20, 15, 35.0)] {
            extra.on_ack(&ack(at_ms(ms), acked), 0, 1000.0, 100.0);
            assert_eq!(extra.max(), largest, "at {ms} ms");
        }
    }

    #[test]
    fn a_burst_counts_for_at_most_the_window_and_for_ten_rounds() {
        let mut extra = ExtraAcked::new();
        for (ms, acked, round, largest) in
            [(0, 25, 0, 10.0), (1000, 2, 9, 10.0), (2000, 2, 10, 2.0)]
        {
            extra.on_ack(&ack(at_ms(ms), acked), round, 1000.0, 10.0);
            assert_eq!(extra.max(), largest, "in round {round}");
        }
    }
}
