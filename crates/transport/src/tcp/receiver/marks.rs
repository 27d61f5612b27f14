//! Congestion marks at the receiver, and their report to the sender.
//!
//! Standard: RFC 3168 §6.1.3; RFC 8257 §3.2; RFC 9768 §3.2.

use crate::congestion::EcnFeedback;
use fadeout_core::{Ecn, Flags, Segment};

/// Number of new marks after which an ACK is sent at once. RFC 9768 section 3.2.2.5.1 requires an
/// ACK for every sixth mark and recommends one for every second.
const MARKS_PER_ACK: u32 = 2;
/// Initial value of the three-bit counter of the header.
///
/// Standard: RFC 9768 §3.2.1.
const FIRST_ACE: u32 = 5;

/// Received marks and the state of their report.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReceivedMarks {
    feedback: EcnFeedback,
    /// True if ACKs carry an echo. Classic feedback echoes until the sender sets CWR. DCTCP echoes
    /// the mark of the newest segment.
    echoes: bool,
    /// Number of marked packets received, for accurate feedback.
    marked: u32,
    /// Number of marked packets that ACKs have reported.
    reported: u32,
}

impl ReceivedMarks {
    pub(super) fn on_established(&mut self, feedback: EcnFeedback) {
        self.feedback = feedback;
    }

    /// Returns true if a data segment ends a run of segments with equal marks. Earlier segments
    /// must then be acknowledged first, with their own echo.
    pub(super) fn ends_run(&self, ecn: Ecn) -> bool {
        self.feedback == EcnFeedback::Dctcp && (ecn == Ecn::Ce) != self.echoes
    }

    /// Processes the ECN field of a segment. Returns true if the segment was marked.
    pub(super) fn process_segment(&mut self, segment: &Segment, ecn: Ecn) -> bool {
        let is_marked = ecn == Ecn::Ce;
        match self.feedback {
            EcnFeedback::None => return false,
            EcnFeedback::Classic => {
                if segment.flags.has(Flags::CWR) {
                    self.echoes = false;
                }
                self.echoes |= is_marked;
            }
            // An acknowledgment without data is not ECN-capable, so its ECN field is ignored.
            EcnFeedback::Dctcp if segment.len > 0 => self.echoes = is_marked,
            EcnFeedback::Dctcp => {}
            EcnFeedback::Accurate => self.marked += u32::from(is_marked),
        }
        is_marked
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

    fn receiver(feedback: EcnFeedback) -> ReceivedMarks {
        let mut marks = ReceivedMarks::default();
        marks.on_established(feedback);
        marks
    }

    fn data() -> Segment {
        Segment {
            len: 1448,
            ..Segment::default()
        }
    }

    fn stamped(marks: &mut ReceivedMarks) -> Segment {
        let mut ack = Segment::default();
        marks.stamp(&mut ack);
        ack
    }

    #[test]
    fn a_classic_echo_lasts_until_the_window_is_reduced() {
        let mut marks = receiver(EcnFeedback::Classic);
        marks.process_segment(&data(), Ecn::Ce);
        marks.process_segment(&data(), Ecn::Ect0);
        assert!(stamped(&mut marks).flags.has(Flags::ECE));
        let reduced = Segment {
            flags: Flags::CWR,
            ..data()
        };
        marks.process_segment(&reduced, Ecn::Ect0);
        assert!(!stamped(&mut marks).flags.has(Flags::ECE));
    }

    #[test]
    fn a_dctcp_echo_is_the_newest_segments_mark() {
        let mut marks = receiver(EcnFeedback::Dctcp);
        assert!(!marks.ends_run(Ecn::Ect0) && marks.ends_run(Ecn::Ce));
        marks.process_segment(&data(), Ecn::Ce);
        assert!(marks.ends_run(Ecn::Ect0) && !marks.ends_run(Ecn::Ce));
        marks.process_segment(&Segment::default(), Ecn::NotEct);
        assert!(stamped(&mut marks).flags.has(Flags::ECE));
        marks.process_segment(&data(), Ecn::Ect0);
        assert!(!stamped(&mut marks).flags.has(Flags::ECE));
    }

    #[test]
    fn accurate_feedback_counts_and_its_header_bits_start_at_five() {
        let mut marks = receiver(EcnFeedback::Accurate);
        let first = stamped(&mut marks);
        assert_eq!(first.flags, Flags::AE | Flags::ECE);
        marks.process_segment(&data(), Ecn::Ce);
        assert!(!marks.is_ack_due());
        marks.process_segment(&data(), Ecn::Ce);
        assert!(marks.is_ack_due());
        let second = stamped(&mut marks);
        assert_eq!((second.ce_packets, marks.is_ack_due()), (2, false));
        assert_eq!(second.flags, Flags::AE | Flags::CWR | Flags::ECE);
    }
}
