//! SACK and DSACK blocks onto the scoreboard (RFC 2018, RFC 2883, RFC 3708).

use super::ack::{AckFlags, SentTimes};
use super::{Sender, Step};
use crate::congestion::RecoveryState;
use crate::tcp::scoreboard::Tags;
use fadeout_core::{Probe, SackBlock, Segment};

/// Largest reordering, in segments, that is ever assumed (Linux `tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;

impl Sender {
    /// Tags what the blocks of `segment` cover.
    pub(super) fn take_sacks<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
        segment: &Segment,
        flags: &mut AckFlags,
        times: &mut SentTimes,
        reordered_from: &mut u64,
    ) {
        let blocks = segment.sack.as_slice();
        let mut valid = [SackBlock::default(); 4];
        let mut count = 0;
        let dsack = duplicate_block(segment);
        if let Some(block) = dsack {
            self.take_dsack(block, segment.ack, flags, reordered_from);
        }
        for &block in &blocks[usize::from(dsack.is_some())..] {
            if block.start < block.end && block.end <= self.snd_nxt && block.end > self.snd_una {
                valid[count] = block;
                count += 1;
            }
        }
        let valid = &mut valid[..count];
        valid.sort_unstable_by_key(|block| block.start);
        let cache = self.sack_cache;
        for &block in valid.iter() {
            self.tag_uncached(cx, block, &cache, flags, times, reordered_from);
        }
        self.sack_cache = [SackBlock::default(); 4];
        self.sack_cache[..count].copy_from_slice(valid);
        if *reordered_from < u64::MAX
            && (self.state != RecoveryState::Loss || self.undo.marker.is_some())
        {
            self.note_reordering(*reordered_from);
        }
    }

    /// Tags the parts of `block` that no block of the previous ACK covered.
    fn tag_uncached<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
        block: SackBlock,
        cache: &[SackBlock],
        flags: &mut AckFlags,
        times: &mut SentTimes,
        reordered_from: &mut u64,
    ) {
        let mut start = block.start;
        for known in cache.iter().filter(|known| known.start < known.end) {
            if known.end <= start || known.start >= block.end {
                continue;
            }
            if start < known.start {
                self.tag_range(cx, start, known.start, flags, times, reordered_from);
            }
            start = start.max(known.end);
        }
        if start < block.end {
            self.tag_range(cx, start, block.end, flags, times, reordered_from);
        }
    }

    fn tag_range<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
        start: u64,
        end: u64,
        flags: &mut AckFlags,
        times: &mut SentTimes,
        reordered_from: &mut u64,
    ) {
        let mut number = self.board.at_or_after(start);
        while number < self.board.end() {
            let segment = *self.board.get(number);
            if segment.end_seq() > end {
                break;
            }
            if !segment.tags.has(Tags::SACKED) {
                self.advance_rack(cx.now, &segment);
                if !segment.tags.has(Tags::EVER_RETRANSMITTED) {
                    if segment.seq < self.fack_or_una() {
                        *reordered_from = (*reordered_from).min(segment.seq);
                    }
                    if segment.end_seq() <= self.high_seq {
                        flags.original_acked = true;
                    }
                    times.take(segment.sent_at);
                }
                self.board.mark_sacked(number);
                self.rate.delivered += 1;
                self.rate.on_delivered(cx.now, &segment);
                self.fack = self.fack.max(segment.end_seq());
                flags.data_sacked = true;
            }
            number += 1;
        }
    }

    /// A DSACK tells that a segment arrived twice: a retransmission was not needed (RFC 3708).
    fn take_dsack(
        &mut self,
        block: SackBlock,
        ack: u64,
        flags: &mut AckFlags,
        reordered_from: &mut u64,
    ) {
        let mss = u64::from(self.window.mss);
        let duplicates = block.end.saturating_sub(block.start).div_ceil(mss.max(1));
        if duplicates == 0 || block.end > self.snd_nxt {
            return;
        }
        self.rack.duplicates_reported += duplicates;
        if self.rack.duplicates_reported > self.statistics.retransmitted_segments {
            return; // more duplicates than retransmissions: the network duplicates
        }
        flags.dsack = true;
        let probe_end = self.probe.high_seq;
        flags.dsack_for_probe = probe_end.is_some_and(|end| block.end == end);
        if self.rack.reordering_seen && !flags.dsack_for_probe {
            self.rack.dsack_seen = true;
        }
        self.rate.delivered += duplicates;
        let Some(marker) = self.undo.marker else {
            return;
        };
        if block.end <= ack && block.end > marker {
            self.undo.repay(duplicates);
        } else if block.end > ack {
            // The duplicate lies above the cumulative ACK: find the segments it covers.
            let mut number = self.board.at_or_after(block.start);
            while number < self.board.end() && self.board.get(number).end_seq() <= block.end {
                let segment = *self.board.get(number);
                if segment.tags.has(Tags::EVER_RETRANSMITTED) && segment.end_seq() > marker {
                    self.undo.repay(1);
                    if segment.tags.has(Tags::SACKED) {
                        *reordered_from = (*reordered_from).min(segment.seq);
                    }
                }
                self.board.clear_retransmitted(number);
                number += 1;
            }
        }
    }

    /// End of the highest SACKed segment, or SND.UNA when nothing is SACKed.
    pub(super) fn fack_or_una(&self) -> u64 {
        if self.board.sacked_out == 0 {
            self.snd_una
        } else {
            self.fack
        }
    }

    /// Data below the highest SACK arrived late without having been retransmitted: packets
    /// overtake each other by that distance (Linux `tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, low_seq: u64) {
        let fack = self.fack_or_una();
        if low_seq >= fack {
            return;
        }
        let segments = (fack - low_seq).div_ceil(u64::from(self.window.mss));
        self.reordering = self
            .reordering
            .max(segments.min(u64::from(MAX_REORDERING)) as u32);
        self.rack.reordering_seen = true;
    }
}

/// The first block when it reports a duplicate: it lies below the cumulative ACK or inside the
/// second block (RFC 2883 section 4).
fn duplicate_block(segment: &Segment) -> Option<SackBlock> {
    let blocks = segment.sack.as_slice();
    let first = *blocks.first()?;
    let is_old = first.start < segment.ack;
    let is_inside = blocks
        .get(1)
        .is_some_and(|second| second.start <= first.start && first.end <= second.end);
    (is_old || is_inside).then_some(first)
}
