//! Congestion marks that the peer reports.
//!
//! Standard: RFC 3168 §6.1.2; RFC 8257 §3.3; RFC 9768 §3.2.

use super::Sender;
use crate::congestion::EcnFeedback;
use crate::tcp::accurate::Delivery;
use fadeout_core::{Ecn, Flags, Segment};

/// Negotiated ECN feedback and number of reported marks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReportedMarks {
    feedback: EcnFeedback,
    /// True if data packets carry the codepoint ECT(1).
    is_l4s: bool,
    /// Number of marked packets that the peer has reported with accurate feedback.
    reported: u32,
    /// True if the next new segment must signal "congestion window reduced".
    cwr_pending: bool,
}

impl ReportedMarks {
    /// Records that the handshake agreed on `feedback`. The congestion control needs `needed`.
    pub(super) fn on_established(&mut self, feedback: EcnFeedback, needed: EcnFeedback) {
        self.feedback = feedback;
        self.is_l4s = feedback == EcnFeedback::Accurate && needed == EcnFeedback::Accurate;
    }

    /// Returns true if ECN was agreed on.
    pub(super) fn is_agreed(&self) -> bool {
        self.feedback != EcnFeedback::None
    }

    /// Returns the ECN field of a packet with new data.
    pub(super) fn codepoint(&self) -> Ecn {
        match self.feedback {
            EcnFeedback::None => Ecn::NotEct,
            _ if self.is_l4s => Ecn::Ect1,
            _ => Ecn::Ect0,
        }
    }

    /// Returns the ECN field of a retransmission. It is not ECN-capable, except with DCTCP (Linux
    /// `tcp_ecn_send`).
    ///
    /// Standard: RFC 3168 §6.1.5.
    pub(super) fn codepoint_of_retransmission(&self) -> Ecn {
        match self.feedback {
            EcnFeedback::Dctcp => self.codepoint(),
            _ => Ecn::NotEct,
        }
    }

    /// Processes the ECN report of an ACK. Returns true if the ACK reports marks, and their number
    /// if the feedback is accurate. `None` if the number is unknown.
    pub(super) fn process_report(&mut self, segment: &Segment) -> (bool, Option<u32>) {
        match self.feedback {
            EcnFeedback::None => (false, None),
            EcnFeedback::Classic | EcnFeedback::Dctcp => (segment.flags.has(Flags::ECE), None),
            EcnFeedback::Accurate => {
                // A reordered old ACK carries an old count and reports no new marks.
                let marked = segment.ce_packets.saturating_sub(self.reported);
                self.reported += marked;
                (marked > 0, Some(marked))
            }
        }
    }

    /// Records that the window was reduced, so that CWR must be sent.
    pub(super) fn on_reduced(&mut self) {
        self.cwr_pending = matches!(self.feedback, EcnFeedback::Classic | EcnFeedback::Dctcp);
    }

    /// Records that the last reduction was undone, so that CWR need not be sent.
    pub(super) fn on_undone(&mut self) {
        self.cwr_pending = false;
    }

    /// Returns the flags of a segment with new data.
    pub(super) fn flags_of_data(&mut self) -> Flags {
        if std::mem::take(&mut self.cwr_pending) {
            Flags::CWR
        } else {
            Flags::default()
        }
    }
}

impl Sender {
    /// Returns the packets and bytes that an ACK is about to deliver. Only whole segments count as
    /// packets.
    pub(in crate::tcp) fn preview_delivery(&self, segment: &Segment) -> Delivery {
        let mss = u64::from(self.window.mss.max(1));
        let acked = segment.ack.min(self.snd_nxt).saturating_sub(self.snd_una);
        let sacked: u64 = segment
            .sack
            .as_slice()
            .iter()
            .map(|block| block.end.saturating_sub(block.start.max(segment.ack)))
            .sum();
        let known = u64::from(self.board.sacked_out) * mss;
        let bytes = (acked + sacked).saturating_sub(known);
        Delivery {
            packets: bytes.div_ceil(mss) as u32,
            bytes,
            is_progress: bytes > 0,
            mss: self.window.mss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_reported_once_however_acks_are_ordered() {
        let mut marks = ReportedMarks::default();
        marks.on_established(EcnFeedback::Accurate, EcnFeedback::None);
        let ack = |ce_packets| Segment {
            ce_packets,
            ..Segment::default()
        };
        assert_eq!(marks.process_report(&ack(3)), (true, Some(3)));
        assert_eq!(marks.process_report(&ack(1)), (false, Some(0)));
        assert_eq!(marks.process_report(&ack(4)), (true, Some(1)));
        assert_eq!(marks.codepoint(), Ecn::Ect0);
    }

    #[test]
    fn only_an_algorithm_made_for_accurate_feedback_sends_ect1() {
        let mut marks = ReportedMarks::default();
        marks.on_established(EcnFeedback::Classic, EcnFeedback::Accurate);
        assert_eq!(marks.codepoint(), Ecn::Ect0);
        marks.on_established(EcnFeedback::Accurate, EcnFeedback::Accurate);
        assert_eq!(marks.codepoint(), Ecn::Ect1);
    }

    #[test]
    fn only_dctcps_retransmissions_are_ecn_capable() {
        let mut marks = ReportedMarks::default();
        for (feedback, ecn) in [
            (EcnFeedback::None, Ecn::NotEct),
            (EcnFeedback::Classic, Ecn::NotEct),
            (EcnFeedback::Accurate, Ecn::NotEct),
            (EcnFeedback::Dctcp, Ecn::Ect0),
        ] {
            marks.on_established(feedback, feedback);
            assert_eq!(marks.codepoint_of_retransmission(), ecn);
        }
    }
}
