//! Congestion marks at the receiver, and their report to the sender.
//!
//! Standard: RFC 3168 §6.1.3; RFC 8257 §3.2; RFC 9768 §3.2.

use crate::congestion::EcnFeedback;
use crate::tcp::config::AckRule;
use fadeout_core::{Ecn, Flags, Segment};

/// Number of new marks after which an ACK is sent at once. RFC 9768 section 3.2.2.5.1 requires an
/// ACK for every sixth mark and recommends one for every second.
const MARKS_PER_ACK: u32 = 2;
/// Initial value of the three-bit counter of the header.
///
/// Standard: RFC 9768 §3.2.1.
const FIRST_ACE: u32 = 5;

/// Received marks and the state of their report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ReceivedMarks {
    feedback: EcnFeedback,
    /// Rule for ACKs. With [`AckRule::Linux`], marks and CWR change the time of an ACK.
    rule: AckRule,
    /// ECN field of the current segment.
    field: Ecn,
    /// True if ACKs carry an echo (Linux `TCP_ECN_DEMAND_CWR`). Classic feedback echoes until the
    /// sender sets CWR. DCTCP echoes the mark of the newest segment.
    echoes: bool,
    /// True if the newest data segment was marked, for DCTCP and for accurate feedback.
    was_marked: bool,
    /// True if an ECN-capable segment with data has arrived (Linux `TCP_ECN_SEEN`).
    has_seen_ect: bool,
    /// True if the current segment must be acknowledged at once (Linux `ICSK_ACK_NOW`).
    demands_ack: bool,
    /// Number of marked packets received, for accurate feedback.
    marked: u32,
    /// Number of marked packets that ACKs have reported.
    reported: u32,
}

impl ReceivedMarks {
    pub(super) fn new(rule: AckRule) -> ReceivedMarks {
        ReceivedMarks {
            feedback: EcnFeedback::None,
            rule,
            field: Ecn::NotEct,
            echoes: false,
            was_marked: false,
            has_seen_ect: false,
            demands_ack: false,
            marked: 0,
            reported: 0,
        }
    }

    pub(super) fn on_established(&mut self, feedback: EcnFeedback) {
        self.feedback = feedback;
    }

    /// Returns true if a data segment ends a run of segments with equal marks. Earlier segments
    /// must then be acknowledged first, with their own echo.
    pub(super) fn ends_run(&self, ecn: Ecn) -> bool {
        self.feedback == EcnFeedback::Dctcp
            && (ecn == Ecn::Ce) != self.was_marked
            && !self.ignores(ecn)
    }

    /// Returns true if the ECN field of a data segment does not change the echo. Linux reports a
    /// segment without ECN neither as marked nor as unmarked.
    fn ignores(&self, ecn: Ecn) -> bool {
        self.rule == AckRule::Linux && ecn == Ecn::NotEct
    }

    /// Sets the ECN field of the current segment, if the ends agreed on no feedback.
    #[inline]
    pub(super) fn set_field(&mut self, ecn: Ecn) {
        self.field = ecn;
    }

    /// Processes CWR and the ECN field of a segment that consists of `packets`. Accurate feedback
    /// counts the marks of all packets, duplicates and acknowledgments included.
    ///
    /// Standard: RFC 9768 §3.2.2, §3.2.2.5.1.
    pub(super) fn process_header(&mut self, segment: &Segment, ecn: Ecn, packets: u32) {
        let has_data = segment.seq_len() > 0;
        let is_marked = ecn == Ecn::Ce;
        self.field = ecn;
        match self.feedback {
            EcnFeedback::None => {}
            EcnFeedback::Classic | EcnFeedback::Dctcp => {
                if segment.flags.has(Flags::CWR) {
                    self.echoes = false;
                    // The sender's window may be a single segment, so that no second one follows
                    // (tcp_ecn_accept_cwr).
                    self.demands_ack |= self.rule == AckRule::Linux && has_data;
                }
            }
            EcnFeedback::Accurate => {
                self.marked += if is_marked { packets } else { 0 };
                if has_data {
                    self.demands_ack |= is_marked && !self.was_marked;
                    self.was_marked = is_marked;
                }
            }
        }
    }

    /// Processes the mark of the current segment, which has new data within the window. Returns
    /// true if quick ACKs are granted (Linux `__tcp_ecn_check_ce`, `dctcp_ece_ack_update`).
    pub(super) fn process_data(&mut self) -> bool {
        let is_marked = self.field == Ecn::Ce;
        let was_echoing = self.echoes;
        match self.feedback {
            EcnFeedback::None | EcnFeedback::Accurate => return false,
            EcnFeedback::Classic => self.echoes |= is_marked,
            EcnFeedback::Dctcp if self.ignores(self.field) => {}
            EcnFeedback::Dctcp => {
                self.demands_ack |= self.rule == AckRule::Linux && self.ends_run(self.field);
                self.was_marked = is_marked;
                self.echoes = is_marked;
            }
        }
        if self.rule != AckRule::Linux {
            return false;
        }
        if self.field == Ecn::NotEct {
            // Such a segment after others with ECN is probably a retransmission.
            return self.has_seen_ect;
        }
        self.has_seen_ect = true;
        self.feedback == EcnFeedback::Classic && is_marked && !was_echoing
    }

    /// Returns true if the current segment must be acknowledged at once. Ends the demand.
    pub(super) fn take_demand(&mut self) -> bool {
        std::mem::take(&mut self.demands_ack)
    }

    /// Returns true if an ACK must be sent now to report marks.
    pub(super) fn is_ack_due(&self) -> bool {
        self.marked - self.reported >= MARKS_PER_ACK
    }

    /// Writes the report of marks into a segment that is sent now.
    pub(super) fn stamp(&mut self, segment: &mut Segment) {
        match self.feedback {
            EcnFeedback::None => {}
            EcnFeedback::Classic | EcnFeedback::Dctcp => {
                if self.echoes {
                    segment.flags |= Flags::ECE;
                }
            }
            EcnFeedback::Accurate => {
                segment.ce_packets = self.marked;
                self.reported = self.marked;
                let ace = FIRST_ACE.wrapping_add(self.marked);
                for (bit, flag) in [(0, Flags::ECE), (1, Flags::CWR), (2, Flags::AE)] {
                    if ace >> bit & 1 == 1 {
                        segment.flags |= flag;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(feedback: EcnFeedback, rule: AckRule) -> ReceivedMarks {
        let mut marks = ReceivedMarks::new(rule);
        marks.on_established(feedback);
        marks
    }

    fn data(flags: Flags) -> Segment {
        Segment {
            len: 1448,
            flags,
            ..Segment::default()
        }
    }

    /// Delivers a new data segment. Returns true for quick ACKs, and true for an ACK at once.
    fn deliver(marks: &mut ReceivedMarks, flags: Flags, ecn: Ecn) -> [bool; 2] {
        marks.process_header(&data(flags), ecn, 1);
        [marks.process_data(), marks.take_demand()]
    }

    fn stamped(marks: &mut ReceivedMarks) -> Segment {
        let mut ack = Segment::default();
        marks.stamp(&mut ack);
        ack
    }

    fn echoes(marks: &mut ReceivedMarks) -> bool {
        stamped(marks).flags.has(Flags::ECE)
    }

    #[test]
    fn a_classic_echo_lasts_until_the_window_is_reduced() {
        let none = Flags::default();
        for rule in [AckRule::Linux, AckRule::EverySecond] {
            let mut marks = receiver(EcnFeedback::Classic, rule);
            deliver(&mut marks, none, Ecn::Ce);
            deliver(&mut marks, none, Ecn::Ect0);
            assert!(echoes(&mut marks));
            let [_, is_at_once] = deliver(&mut marks, Flags::CWR, Ecn::Ect0);
            assert!(!echoes(&mut marks));
            assert_eq!(is_at_once, rule == AckRule::Linux);
        }
    }

    #[test]
    fn only_the_first_mark_of_an_echo_grants_quick_acks() {
        let none = Flags::default();
        let mut marks = receiver(EcnFeedback::Classic, AckRule::Linux);
        assert_eq!(deliver(&mut marks, none, Ecn::Ect0), [false, false]);
        assert_eq!(deliver(&mut marks, none, Ecn::Ce), [true, false]);
        assert_eq!(deliver(&mut marks, none, Ecn::Ce), [false, false]);
        assert_eq!(deliver(&mut marks, Flags::CWR, Ecn::Ce), [true, true]);
    }

    #[test]
    fn a_segment_without_ecn_grants_quick_acks_after_one_with_ecn() {
        let none = Flags::default();
        for feedback in [EcnFeedback::Classic, EcnFeedback::Dctcp] {
            let mut marks = receiver(feedback, AckRule::Linux);
            assert_eq!(deliver(&mut marks, none, Ecn::NotEct), [false, false]);
            deliver(&mut marks, none, Ecn::Ect0);
            assert_eq!(deliver(&mut marks, none, Ecn::NotEct), [true, false]);
        }
    }

    #[test]
    fn a_dctcp_echo_is_the_newest_segments_mark() {
        let none = Flags::default();
        let mut marks = receiver(EcnFeedback::Dctcp, AckRule::Linux);
        assert!(!marks.ends_run(Ecn::Ect0) && marks.ends_run(Ecn::Ce));
        assert_eq!(deliver(&mut marks, none, Ecn::Ce), [false, true]);
        assert_eq!(deliver(&mut marks, none, Ecn::Ce), [false, false]);
        assert!(marks.ends_run(Ecn::Ect0) && !marks.ends_run(Ecn::Ce));
        marks.process_header(&Segment::default(), Ecn::NotEct, 1);
        assert!(echoes(&mut marks));
        assert_eq!(deliver(&mut marks, none, Ecn::NotEct), [true, false]);
        assert!(echoes(&mut marks), "a segment without ECN changes nothing");
        assert_eq!(deliver(&mut marks, none, Ecn::Ect0), [false, true]);
        assert!(!echoes(&mut marks));
    }

    #[test]
    fn a_segment_without_ecn_is_unmarked_by_the_rfc() {
        let none = Flags::default();
        let mut marks = receiver(EcnFeedback::Dctcp, AckRule::EverySecond);
        deliver(&mut marks, none, Ecn::Ce);
        assert!(marks.ends_run(Ecn::NotEct));
        assert_eq!(deliver(&mut marks, none, Ecn::NotEct), [false, false]);
        assert!(!echoes(&mut marks));
    }

    #[test]
    fn accurate_feedback_counts_and_its_header_bits_start_at_five() {
        let none = Flags::default();
        let mut marks = receiver(EcnFeedback::Accurate, AckRule::Linux);
        let first = stamped(&mut marks);
        assert_eq!(first.flags, Flags::AE | Flags::ECE);
        assert_eq!(deliver(&mut marks, none, Ecn::Ce), [false, true]);
        assert!(!marks.is_ack_due());
        assert_eq!(deliver(&mut marks, none, Ecn::Ce), [false, false]);
        assert!(marks.is_ack_due());
        let second = stamped(&mut marks);
        assert_eq!((second.ce_packets, marks.is_ack_due()), (2, false));
        assert_eq!(second.flags, Flags::AE | Flags::CWR | Flags::ECE);
    }
}
