//! Reassembly of out-of-order data, and the SACK blocks that report it.

use fadeout_core::{SackBlock, SackList};
use std::collections::VecDeque;

/// Initial capacity of the list of ranges, so that it seldom grows.
const FIRST_RANGES: usize = 16;

/// Largest number of ranges that an assertion checks completely. With more ranges it checks only a
/// part.
const WHOLE: usize = 16;

/// Position of a segment relative to the received data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The segment begins at RCV.NXT. A gap may remain after it.
    InOrder,
    /// The segment fills the last gap, so that all received data is in order.
    FilledLastGap,
    /// A gap remains below the segment.
    OutOfOrder,
    /// A gap remains below the segment, and all data of the segment was received before.
    HeldAlready,
    /// The whole segment lies below RCV.NXT.
    Duplicate,
}

/// Received ranges above RCV.NXT, sorted, and the order of their last changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reassembly {
    next: u64,
    ranges: VecDeque<SackBlock>,
    buffered: u64,
    /// Blocks by recency (RFC 2018 section 4): the first contains the newest arrival.
    recent: [SackBlock; 4],
    recent_len: usize,
    /// Duplicate that is reported once (RFC 2883). `None` if there is none.
    duplicate: Option<SackBlock>,
    /// True if a block that is no longer among the recent blocks restarts with the newest arrival
    /// (Linux `tcp_sack_new_ofo_skb`). Otherwise the whole range around that arrival is reported.
    begins_anew: bool,
}

impl Reassembly {
    pub(crate) fn new(begins_anew: bool) -> Reassembly {
        Reassembly {
            begins_anew,
            ..Reassembly::default()
        }
    }
    pub(crate) fn begin(&mut self, next: u64) {
        self.next = next;
    }
    /// Returns the next sequence number that is expected (RCV.NXT).
    pub(crate) fn next(&self) -> u64 {
        self.next
    }
    /// Moves RCV.NXT to `end`, after data in order. There must be no gap.
    #[inline]
    pub(super) fn advance(&mut self, end: u64) {
        debug_assert!(!self.has_gap(), "data in order may fill a gap");
        self.next = end;
    }
    pub(crate) fn has_gap(&self) -> bool {
        !self.ranges.is_empty()
    }
    /// Returns the number of sequence numbers from RCV.NXT to the end of the highest range. Zero
    /// without a gap.
    #[inline]
    pub(crate) fn reach(&self) -> u64 {
        self.ranges.back().map_or(0, |last| last.end - self.next)
    }
    /// Returns the missing ranges below the highest byte received.
    pub(super) fn holes(&self) -> impl Iterator<Item = (u64, u64)> {
        let starts = std::iter::once(self.next).chain(self.ranges.iter().map(|range| range.end));
        starts.zip(self.ranges.iter().map(|range| range.start))
    }
    /// Returns true if no gap is left after all data below `end` is received.
    pub(crate) fn is_whole_with(&self, end: u64) -> bool {
        self.ranges
            .back()
            .is_none_or(|last| last.end <= end || (self.ranges.len() == 1 && last.start <= end))
    }
    /// Returns RCV.NXT after all data up to `end` is received.
    pub(super) fn next_with(&self, end: u64) -> u64 {
        let mut next = self.next.max(end);
        for range in &self.ranges {
            if range.start > next {
                break;
            }
            next = next.max(range.end);
        }
        next
    }
    /// Returns the number of bytes received out of order.
    pub(crate) fn buffered(&self) -> u64 {
        self.buffered
    }

    /// Returns the number of blocks that are more recent than the block that `start..end` would
    /// extend. Returns the number of all blocks if the range would begin a new block.
    pub(super) fn recency(&self, start: u64, end: u64) -> usize {
        let recent = &self.recent[..self.recent_len];
        let touches = |block: &SackBlock| start <= block.end && block.start <= end;
        recent.iter().position(touches).unwrap_or(recent.len())
    }

    /// Extends the recent block that `start..end` touches. The position of the block in the list
    /// stays unchanged. Called before the range is inserted.
    pub(super) fn extend(&mut self, start: u64, end: u64) {
        let at = self.recency(start, end);
        if let Some(block) = self.recent[..self.recent_len].get_mut(at) {
            block.start = block.start.min(start);
            block.end = block.end.max(end);
        }
    }

    /// Inserts the range `start..end`.
    ///
    /// Standard: RFC 9293 §3.10.7.4; RFC 2018 §4.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Arrival {
        if start == self.next && start < end && self.ranges.is_empty() {
            self.next = end;
            return Arrival::InOrder;
        }
        let before = self.next;
        let arrival = self.insert_range(start, end);
        debug_assert!(self.next >= before, "RCV.NXT went back");
        self.assert_invariants();
        arrival
    }

    /// Asserts that the ranges are sorted and do not touch, and that their sum is the buffered
    /// data. Checks the whole list only if it is short.
    pub(super) fn assert_invariants(&self) {
        debug_assert!(
            self.ranges
                .front()
                .is_none_or(|first| first.start > self.next),
            "a range touches RCV.NXT {} and was not taken",
            self.next
        );
        debug_assert!(
            self.ranges
                .iter()
                .take(WHOLE)
                .all(|range| range.start < range.end),
            "an empty range is held"
        );
        let pairs = self.ranges.iter().zip(self.ranges.iter().skip(1));
        debug_assert!(
            pairs.take(WHOLE).all(|(one, next)| one.end < next.start),
            "ranges overlap, touch or are out of order"
        );
        debug_assert!(
            self.ranges.len() > WHOLE
                || self.buffered
                    == self
                        .ranges
                        .iter()
                        .map(|range| range.end - range.start)
                        .sum(),
            "the bytes held are not those of the ranges"
        );
        debug_assert!(
            (self.buffered == 0) == self.ranges.is_empty(),
            "bytes are held in no range"
        );
        debug_assert!(
            self.recent_len == 0 || !self.ranges.is_empty(),
            "a block is reported of what is in order"
        );
    }

    fn insert_range(&mut self, start: u64, end: u64) -> Arrival {
        if end <= self.next {
            self.duplicate = Some(SackBlock { start, end });
            return Arrival::Duplicate;
        }
        if start > self.next {
            return self.insert_above(start, end);
        }
        if start < self.next {
            // The part of the segment below RCV.NXT was received before, so it is a duplicate.
            self.duplicate = Some(SackBlock {
                start,
                end: self.next,
            });
        }
        self.next = end;
        let had_gap = self.has_gap();
        while let Some(&front) = self.ranges.front() {
            if front.start > self.next {
                break;
            }
            self.extend_duplicate(front.start, front.end.min(end));
            self.ranges.pop_front();
            self.buffered -= front.end - front.start;
            self.next = self.next.max(front.end);
        }
        self.forget_recent_below();
        if had_gap && !self.has_gap() {
            Arrival::FilledLastGap
        } else {
            Arrival::InOrder
        }
    }

    fn insert_above(&mut self, start: u64, end: u64) -> Arrival {
        // The search starts at the back, because new data is nearly always the highest.
        let mut first = self.ranges.len();
        while first > 0 && self.ranges[first - 1].end >= start {
            first -= 1;
        }
        let mut merged = SackBlock { start, end };
        let mut last = first;
        while last < self.ranges.len() && self.ranges[last].start <= end {
            let range = self.ranges[last];
            if range.start <= start && end <= range.end {
                self.duplicate = Some(SackBlock { start, end });
                self.touch(SackBlock { start, end }, range);
                return Arrival::HeldAlready;
            }
            self.extend_duplicate(range.start.max(start), range.end.min(end));
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
            self.buffered -= range.end - range.start;
            last += 1;
        }
        self.buffered += merged.end - merged.start;
        if last > first {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        } else {
            if self.ranges.is_empty() {
                self.ranges.reserve(FIRST_RANGES);
            }
            self.ranges.insert(first, merged);
        }
        self.touch(SackBlock { start, end }, merged);
        Arrival::OutOfOrder
    }

    /// Reports data below RCV.NXT as a DSACK.
    ///
    /// Standard: RFC 2883 §4.
    pub(super) fn report_duplicate(&mut self, start: u64, end: u64) {
        let end = end.min(self.next);
        self.duplicate = Some(SackBlock { start, end });
    }

    /// Reports `start..end`, which was already held, as a duplicate. Only one range is reported,
    /// the first of several separate ones (Linux `tcp_dsack_extend`).
    fn extend_duplicate(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        match &mut self.duplicate {
            None => self.duplicate = Some(SackBlock { start, end }),
            Some(block) if start <= block.end && block.start <= end => {
                block.start = block.start.min(start);
                block.end = block.end.max(end);
            }
            Some(_) => {}
        }
    }

    /// Puts the block of the range `arrived`, which is a part of `whole`, before the other recent
    /// blocks. Recent blocks inside the new block are removed.
    fn touch(&mut self, arrived: SackBlock, whole: SackBlock) {
        let mut block = whole;
        if self.begins_anew {
            block = arrived;
            // The old blocks do not touch each other. So one pass finds all blocks that the new
            // block touches.
            for old in &self.recent[..self.recent_len] {
                if old.start <= block.end && block.start <= old.end {
                    block.start = block.start.min(old.start);
                    block.end = block.end.max(old.end);
                }
            }
        }
        let mut kept = [SackBlock::default(); 4];
        kept[0] = block;
        let mut len = 1;
        for old in &self.recent[..self.recent_len] {
            let swallowed = block.start <= old.start && old.end <= block.end;
            if !swallowed && len < kept.len() {
                kept[len] = *old;
                len += 1;
            }
        }
        self.recent = kept;
        self.recent_len = len;
    }

    fn forget_recent_below(&mut self) {
        let mut len = 0;
        for n in 0..self.recent_len {
            if self.recent[n].start >= self.next {
                self.recent[len] = self.recent[n];
                len += 1;
            }
        }
        self.recent_len = len;
    }

    /// Discards the pending DSACK, as Linux does in `tcp_fin`.
    pub(crate) fn forget_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// Returns true if an ACK that is sent now carries SACK blocks.
    #[inline]
    pub(super) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || self.recent_len > 0
    }

    /// Returns at most `most` SACK blocks for an ACK that is sent now. A DSACK block comes first
    /// and is reported only once.
    ///
    /// Standard: RFC 2018 §4; RFC 2883 §4.
    pub(crate) fn take_sack_blocks(&mut self, most: usize) -> SackList {
        let mut list = SackList::EMPTY;
        let blocks = self.duplicate.take().into_iter();
        blocks
            .chain(self.recent[..self.recent_len].iter().copied())
            .take(most)
            .for_each(|block| {
                list.push(block);
            });
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(reassembly: &mut Reassembly) -> Vec<(u64, u64)> {
        let list = reassembly.take_sack_blocks(4);
        list.as_slice()
            .iter()
            .map(|block| (block.start, block.end))
            .collect()
    }

    #[test]
    fn the_newest_block_is_reported_first() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.insert(20, 30), Arrival::OutOfOrder);
        assert_eq!(reassembly.insert(40, 50), Arrival::OutOfOrder);
        assert_eq!(blocks(&mut reassembly), [(40, 50), (20, 30)]);
        assert_eq!(reassembly.insert(30, 35), Arrival::OutOfOrder);
        assert_eq!(blocks(&mut reassembly), [(20, 35), (40, 50)]);
        assert_eq!(reassembly.buffered(), 25);
    }

    #[test]
    fn a_duplicate_is_reported_once_and_first() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(0, 10);
        reassembly.insert(20, 30);
        assert_eq!(reassembly.insert(0, 10), Arrival::Duplicate);
        assert_eq!(blocks(&mut reassembly), [(0, 10), (20, 30)]);
        assert_eq!(reassembly.insert(22, 26), Arrival::HeldAlready);
        assert_eq!(blocks(&mut reassembly), [(22, 26), (20, 30)]);
        assert_eq!(blocks(&mut reassembly), [(20, 30)]);
    }

    #[test]
    fn what_a_segment_covers_of_what_was_held_is_a_duplicate() {
        // An in-order segment that overlaps a block: the overlap, 20 to 25, is reported as a
        // duplicate.
        let mut reassembly = Reassembly::default();
        reassembly.insert(20, 30);
        assert_eq!(reassembly.insert(0, 25), Arrival::FilledLastGap);
        assert_eq!(blocks(&mut reassembly), [(20, 25)]);
        // An out-of-order segment overlaps the end of one block and the start of the next. The
        // first overlap is reported as a duplicate.
        let mut reassembly = Reassembly::default();
        reassembly.insert(20, 30);
        reassembly.insert(40, 50);
        assert_eq!(reassembly.insert(25, 45), Arrival::OutOfOrder);
        assert_eq!(blocks(&mut reassembly), [(25, 30), (20, 50)]);
        assert_eq!(reassembly.buffered(), 30);
        // The segment touches a block but does not overlap it, so no data arrived twice.
        assert_eq!(reassembly.insert(50, 60), Arrival::OutOfOrder);
        assert_eq!(blocks(&mut reassembly), [(20, 60)]);
    }

    #[test]
    fn a_block_that_linux_has_forgotten_begins_anew_with_what_arrived() {
        for (begins_anew, first) in [(false, (20, 35)), (true, (30, 35))] {
            let mut reassembly = Reassembly::new(begins_anew);
            // Four later blocks remove the first one from the list.
            for start in [20, 40, 60, 80, 100] {
                reassembly.insert(start, start + 10);
            }
            reassembly.insert(30, 35);
            assert_eq!(blocks(&mut reassembly)[..2], [first, (100, 110)]);
            // Recent blocks that touch are merged. Ranges that left the list do not return.
            reassembly.insert(35, 40);
            let (start, end) = if begins_anew { (30, 40) } else { (20, 50) };
            assert_eq!(blocks(&mut reassembly)[0], (start, end));
            reassembly.insert(90, 100);
            assert_eq!(blocks(&mut reassembly)[..2], [(80, 110), (start, end)]);
            // A repeated segment within received out-of-order data is reported as a duplicate too.
            assert_eq!(reassembly.insert(22, 24), Arrival::HeldAlready);
            let again = if begins_anew { (22, 24) } else { (20, 50) };
            assert_eq!(blocks(&mut reassembly)[..2], [(22, 24), again]);
        }
    }

    #[test]
    fn a_block_is_as_recent_as_it_was_last_extended() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(20, 30);
        reassembly.insert(40, 50);
        assert_eq!(reassembly.recency(50, 60), 0);
        assert_eq!(reassembly.recency(30, 35), 1);
        assert_eq!(reassembly.recency(60, 70), 2, "a new block");
        reassembly.extend(30, 35);
        reassembly.extend(60, 70);
        assert_eq!(blocks(&mut reassembly), [(40, 50), (20, 35)]);
    }

    #[test]
    fn filling_the_last_gap_delivers_everything() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(10, 20);
        reassembly.insert(30, 40);
        assert_eq!(reassembly.insert(0, 10), Arrival::InOrder);
        assert_eq!((reassembly.next(), reassembly.has_gap()), (20, true));
        assert_eq!(
            [10, 29, 30, 50].map(|end| reassembly.next_with(end)),
            [20, 29, 40, 50]
        );
        assert_eq!(reassembly.insert(15, 30), Arrival::FilledLastGap);
        assert_eq!((reassembly.next(), reassembly.buffered()), (40, 0));
        assert_eq!(blocks(&mut reassembly), [(15, 20)]);
    }

    #[test]
    fn of_duplicates_before_an_ack_those_that_touch_are_one_and_the_first_is_kept() {
        let mut touching = Reassembly::default();
        touching.insert(20, 30);
        touching.insert(22, 26);
        assert_eq!(touching.insert(15, 28), Arrival::OutOfOrder);
        assert_eq!(blocks(&mut touching), [(20, 28), (15, 30)]);
        let mut apart = Reassembly::default();
        apart.insert(20, 30);
        apart.insert(40, 50);
        apart.insert(22, 26);
        assert_eq!(apart.insert(35, 45), Arrival::OutOfOrder);
        assert_eq!(blocks(&mut apart), [(22, 26), (35, 50), (20, 30)]);
    }

    #[test]
    fn an_old_segment_is_reported_as_far_as_it_is_a_duplicate_until_a_fin() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(0, 10);
        assert!(!reassembly.has_blocks());
        reassembly.report_duplicate(4, 20);
        assert!(reassembly.has_blocks());
        assert_eq!(blocks(&mut reassembly), [(4, 10)]);
        reassembly.report_duplicate(4, 8);
        reassembly.forget_duplicate();
        assert!(!reassembly.has_blocks());
        assert_eq!(blocks(&mut reassembly), []);
    }
}
