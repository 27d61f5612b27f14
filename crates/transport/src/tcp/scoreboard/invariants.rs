//! Relations between the scoreboard's counts that hold after each event.

use super::{Scoreboard, SentSegment, Tags};

/// Largest number of segments that are all checked. With more segments only both ends are checked.
const WHOLE: u32 = 16;

impl Scoreboard {
    /// Asserts that the segments lie between `una` and `nxt`, in order and without gaps, and
    /// that the counts are possible.
    #[inline]
    pub(in crate::tcp) fn assert_invariants(&self, una: u64, nxt: u64) {
        let out = self.packets_out();
        debug_assert!(
            self.sacked_out <= out,
            "more segments are SACKed than are outstanding"
        );
        debug_assert!(
            self.left_out() <= out,
            "more segments left the network than are outstanding"
        );
        debug_assert!(
            self.retrans_out <= out,
            "more segments were sent again than are outstanding"
        );
        debug_assert!(self.pieces <= out, "there are more pieces than segments");
        debug_assert!(
            (self.pieces == 0) == (out == 0),
            "segments lie in no piece, or a piece holds none"
        );
        debug_assert!(
            self.settled <= self.ring.end(),
            "what was looked at ends beyond the board"
        );
        let ends = (self.ring.front(), self.ring.back());
        debug_assert!(
            ends.0.is_none_or(|head| head.seq == una),
            "the oldest segment does not begin at SND.UNA {una}"
        );
        debug_assert!(
            ends.1.is_none_or(|last| last.end_seq() == nxt),
            "the newest segment does not end at SND.NXT {nxt}"
        );
        debug_assert!(
            out > 0 || una == nxt,
            "data from {una} to {nxt} is outstanding in no segment"
        );
        debug_assert!(
            out > WHOLE || self.counts_agree(),
            "a count is not that of its tags"
        );
        debug_assert!(
            out > WHOLE || self.is_in_order(),
            "segments overlap, or have a gap between them"
        );
    }

    /// Returns true if each segment begins where the segment before it ends.
    fn is_in_order(&self) -> bool {
        let mut numbers = self.ring.first()..self.ring.end();
        let Some(first) = numbers.next() else {
            return true;
        };
        let mut end = self.ring[first].end_seq();
        numbers.all(|number| {
            let segment = &self.ring[number];
            segment.seq == std::mem::replace(&mut end, segment.end_seq())
        })
    }

    /// Asserts that a segment may be appended after the newest one.
    #[inline]
    pub(super) fn assert_follows(&self, segment: &SentSegment) {
        debug_assert!(
            segment.len > 0,
            "a segment without sequence numbers is not kept"
        );
        debug_assert!(
            self.ring
                .back()
                .is_none_or(|last| last.end_seq() == segment.seq),
            "segment {} does not follow the newest",
            segment.seq
        );
        debug_assert!(
            !segment.tags.has(Tags::SACKED) && !segment.tags.has(Tags::LOST),
            "a new segment is SACKed or lost already"
        );
    }
}
