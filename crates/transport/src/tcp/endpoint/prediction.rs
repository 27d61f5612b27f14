//! Header prediction at an endpoint: data segments that change the receiving half alone.

use super::{ConnectionState, TcpEndpoint, push_ack};
use crate::tcp::Outbox;
use fadeout_core::{Ecn, Segment, Time};

impl TcpEndpoint {
    /// Returns true if predicted segments may take the short path.
    #[inline]
    pub(super) fn may_predict(&self) -> bool {
        self.sender.may_pass()
            && self.receiver.is_predicting()
            && self.life.state() == ConnectionState::Established
            && self.opening.wake_at() == Time::NEVER
            && self.accurate.is_none()
            && !self.sender.uses_casablanca()
    }

    /// Processes a predicted data segment.
    pub(super) fn on_predicted(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        out: &mut Outbox,
    ) {
        debug_assert!(self.may_predict(), "the general path must be taken");
        let from = out.segments.len();
        self.sender.pass(segment);
        let rtt = self.sender.rtt();
        let times = (rtt.rto(), rtt.srtt());
        out.delivered_bytes += u64::from(segment.len);
        if self.receiver.on_predicted(now, segment, ecn, times) {
            push_ack(&self.sender, out);
            self.stamp_all(now, out, from);
        }
        self.assert_invariants();
    }
}
