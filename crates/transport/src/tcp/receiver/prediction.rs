//! Header prediction: a short path for full segments in order, as in Linux
//! (`tcp_rcv_established`). Nearly all data segments take it.
//!
//! The short path calls the steps of the general path, without the questions whose answers are
//! known. Builds with debug assertions take both paths for some segments and compare all fields.

use super::packets::{Held, Kind};
use super::{AckRule, GROWS_FROM, Receiver};
use crate::congestion::EcnFeedback;
use crate::tcp::sender::Agreed;
use fadeout_core::{Ecn, Flags, Segment, Span, Time};

impl Receiver {
    /// Returns true if the configuration and the agreed options allow header prediction.
    pub(super) fn allows_prediction(&self, agreed: &Agreed) -> bool {
        self.policy.rule() == AckRule::Linux
            && self.window.counts_memory()
            && self.of_connection.is_none()
            && agreed.timestamps
            && agreed.ecn == EcnFeedback::None
    }

    /// Returns true if a [predicted](Self::predicts) segment may take the short path.
    #[inline]
    pub(in crate::tcp) fn is_predicting(&self) -> bool {
        self.may_predict
            && self.is_reading
            && self.peer_mss >= GROWS_FROM
            && self.fin_at.is_none()
            && self.reads_since.is_none()
            && self.packets.unread() == 0
            && !self.reassembly.has_gap()
    }

    /// Returns true if `segment` is full, begins at RCV.NXT, and has no flags but ACK and PSH. Its
    /// timestamp is not older than the newest.
    #[inline]
    pub(in crate::tcp) fn predicts(&self, segment: &Segment) -> bool {
        segment.seq == self.reassembly.next()
            && segment.len == self.peer_mss
            && segment.flags.is_plain()
            && self.timestamps.continues(segment)
    }

    /// Processes a predicted segment. `times` are RTO and SRTT of the sending half. Returns true if
    /// an ACK must be sent now.
    pub(in crate::tcp) fn on_predicted(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        times: (Span, Span),
    ) -> bool {
        #[cfg(debug_assertions)]
        let before = is_compared(segment).then(|| self.clone());
        let ack_now = self.take_predicted(now, segment, ecn, times);
        #[cfg(debug_assertions)]
        if let Some(mut general) = before {
            let held_up = general.must_acknowledge_before(segment, ecn);
            let received = general.on_segment(now, segment, ecn, times, true);
            debug_assert!(!held_up, "an ACK is due before a predicted segment");
            debug_assert_eq!(
                (u64::from(segment.len), ack_now, false),
                (received.bytes, received.ack_now, received.fin)
            );
            debug_assert_eq!(general, *self, "the two paths differ");
        }
        ack_now
    }

    #[inline]
    fn take_predicted(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        (rto, srtt): (Span, Span),
    ) -> bool {
        let end = segment.seq + u64::from(segment.len);
        self.timestamps.update_recent(segment, self.acked_up_to);
        self.marks.set_field(ecn);
        self.advertised = None;
        self.is_answered = false;
        self.window.measure_rtt(now, segment.ts_echo, true, false);
        self.reassembly.advance(end);
        self.policy.schedule();
        self.last_len = 0;
        if segment.flags.has(Flags::PSH) {
            self.pushes = self.pushes.max(1);
        }
        self.window.measure_round(now, end);
        self.policy
            .on_data(now, rto, self.window.last(), self.peer_mss);
        self.packets.push(segment.seq, end, Kind::default());
        let held = Held::Memory(self.packets.memory());
        if self.window.grow(segment.len, self.mss, held) {
            self.policy.on_window_growth();
        }
        if self.policy.is_quick() && self.window.is_tight(held) {
            self.policy.forgo_quick_acks();
        }
        let is_full = self.is_more_than_a_segment_unacknowledged()
            && self.window.preview(held, self.peer_mss) >= self.window.last();
        if self.policy.decide_in_order(now, is_full, srtt) {
            self.reads_since = Some(now);
            return true;
        }
        self.read(now, u64::from(segment.len))
    }
}

/// Returns true for every eighth segment. A comparison of all would slow the tests down.
#[cfg(debug_assertions)]
fn is_compared(segment: &Segment) -> bool {
    cfg!(test) || (segment.seq / u64::from(segment.len)).is_multiple_of(8)
}
