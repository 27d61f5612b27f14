//! TCP-Casablanca at the sender (Biaz and Vaidya, IEEE/ACM Transactions on Networking 13(3), 2005).
//! One segment of `k` is sent as expendable, and a biased queue drops expendable segments first. So
//! the receiver can distinguish the radio's losses from the queue's, and reports them.

use super::Sender;
use crate::tcp::config::LossResponse;
use crate::tcp::expendable;
use fadeout_core::Segment;

impl Sender {
    pub(in crate::tcp) fn uses_casablanca(&self) -> bool {
        self.config.resilience.loss == LossResponse::Casablanca
    }

    /// Returns true if the new segment at `seq` is sent as expendable.
    pub(in crate::tcp::sender) fn is_expendable(&self, seq: u64) -> bool {
        let every = self.config.resilience.expendable_every;
        self.uses_casablanca() && expendable::is_expendable(seq, self.window.mss, every)
    }

    /// Records the kind of the losses that an ACK reports.
    pub(in crate::tcp::sender) fn take_loss_notification(&mut self, segment: &Segment) {
        self.resilience.is_radio_loss = self.uses_casablanca() && segment.is_radio_loss;
    }
}
