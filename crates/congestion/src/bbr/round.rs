//! Rounds, counted by acknowledged data (packet-timed round trips).

use super::super::AckSample;

/// Counter of rounds. A round ends when a segment that was sent after the round's start is
/// acknowledged (draft-ietf-ccwg-bbr section 5.5.1).
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct RoundCounter {
    /// Number of rounds that have begun.
    pub(in super::super) count: u64,
    /// True if the present ACK starts a round.
    pub(in super::super) is_start: bool,
    next_delivered: u64,
}

impl RoundCounter {
    /// Updates the round with the delivery-rate sample of the ACK.
    pub(in super::super) fn on_ack(&mut self, ack: &AckSample) {
        self.is_start = ack
            .rate
            .interval
            .is_some_and(|interval| !interval.is_zero())
            && ack.rate.prior_delivered >= self.next_delivered;
        if self.is_start {
            self.next_delivered = ack.delivered;
            self.count += 1;
        }
    }

    /// Restarts the present round at a count of `delivered` segments.
    pub(in super::super) fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}
