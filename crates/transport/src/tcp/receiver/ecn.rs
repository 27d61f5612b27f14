//! Effect of congestion marks on the timing of acknowledgments.
//!
//! Standard: RFC 8257 §3.2.

use super::Receiver;
use crate::tcp::config::AckRule;
use fadeout_core::{Ecn, Segment};

/// Largest number of quick ACKs after a mark and after a segment without ECN (Linux
/// `__tcp_ecn_check_ce`).
const QUICK_ACKS: u64 = 2;

impl Receiver {
    /// Processes the mark of the current data segment, which is no duplicate.
    pub(super) fn process_mark(&mut self) {
        if self.marks.process_data() {
            self.enter_quick_mode(QUICK_ACKS);
        }
    }

    /// Grants at most `most` quick ACKs.
    pub(super) fn enter_quick_mode(&mut self, most: u64) {
        let window = self.window.last();
        self.policy.enter_quick_mode(window, self.peer_mss, most);
    }

    /// Returns true if earlier data must be acknowledged before a segment with the ECN field `ecn`
    /// is processed. This is so if the mark changes, or if thinned ACKs must be sent first.
    ///
    /// Standard: RFC 8257 §3.2.
    #[inline]
    pub(in crate::tcp) fn must_acknowledge_before(&mut self, segment: &Segment, ecn: Ecn) -> bool {
        if segment.len == 0 {
            return false;
        }
        self.is_answered = self.ends_compression(segment);
        if self.is_answered {
            self.reassembly.extend(segment.seq, segment.end_seq());
        }
        let next = self.reassembly.next();
        let waits = match self.policy.rule() {
            AckRule::Linux => self.policy.is_delayed(),
            _ => next > self.acked_up_to,
        };
        self.is_answered || waits && segment.end_seq() > next && self.marks.ends_run(ecn)
    }
}
