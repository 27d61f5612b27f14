//! Application of SACK and DSACK blocks to the scoreboard.
//!
//! Standard: RFC 2018; RFC 2883; RFC 3708.

use super::Sender;
use super::ack::{AckFlags, SentTimes};
use crate::congestion::RecoveryState;
use crate::tcp::config::LossRecovery;
use crate::tcp::scoreboard::Tags;
use fadeout_core::{SackBlock, Segment, Time};
use std::ops::Range;

/// Largest reordering that is assumed, in segments (Linux `tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;

/// Results of the SACK blocks of one ACK.
#[derive(Debug, Clone, Copy)]
pub(super) struct SackNews {
    /// Departure times of the newly SACKed segments.
    pub(super) times: SentTimes,
    /// Sequence number of the lowest segment that arrived after a later one and was never
    /// retransmitted.
    pub(super) reordered_from: u64,
}

impl Default for SackNews {
    fn default() -> Self {
        SackNews {
            times: SentTimes::default(),
            reordered_from: u64::MAX,
        }
    }
}

impl Sender {
    /// Tags the segments that the blocks of `segment` cover.
    pub(super) fn take_sacks(
        &mut self,
        now: Time,
        segment: &Segment,
        flags: &mut AckFlags,
    ) -> SackNews {
        let mut news = SackNews::default();
        let blocks = segment.sack.as_slice();
        let mut valid = [SackBlock::default(); 4];
        let mut count = 0;
        let dsack = duplicate_block(segment);
        if let Some(block) = dsack {
            self.take_dsack(block, segment.ack, flags, &mut news);
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
            self.tag_uncached(now, block, &cache, flags, &mut news);
        }
        self.sack_cache = [SackBlock::default(); 4];
        self.sack_cache[..count].copy_from_slice(valid);
        if self.state != RecoveryState::Loss || self.undo.marker.is_some() {
            self.note_reordering(news.reordered_from);
        }
        news
    }

    /// Tags the parts of `block` that no block of the previous ACK covered. A second pass over a
    /// part changes nothing.
    fn tag_uncached(
        &mut self,
        now: Time,
        block: SackBlock,
        cache: &[SackBlock],
        flags: &mut AckFlags,
        news: &mut SackNews,
    ) {
        let mut start = block.start;
        for known in cache {
            if start < known.start {
                self.tag_range(now, block, start..known.start, flags, news);
            }
            start = start.max(known.end);
        }
        if start < block.end {
            self.tag_range(now, block, start..block.end, flags, news);
        }
    }

    /// Tags the segments that touch `range` and lie wholly in `block`.
    fn tag_range(
        &mut self,
        now: Time,
        block: SackBlock,
        range: Range<u64>,
        flags: &mut AckFlags,
        news: &mut SackNews,
    ) {
        // The range may begin inside a segment.
        let number = self.board.at_or_after(range.start).saturating_sub(1);
        let mut number = number.max(self.board.first());
        while number < self.board.end() {
            let segment = *self.board.get(number);
            if segment.seq >= range.end || segment.end_seq() > block.end {
                break;
            }
            if segment.seq >= block.start && !segment.tags.has(Tags::SACKED) {
                self.advance_rack(now, &segment);
                if !segment.tags.has(Tags::EVER_RETRANSMITTED) {
                    if segment.seq < self.fack_or_una() {
                        news.reordered_from = news.reordered_from.min(segment.seq);
                    }
                    if segment.end_seq() <= self.high_seq {
                        flags.original_acked = true;
                    }
                    news.times.record(segment.sent_at);
                }
                if self.config.recovery.method == LossRecovery::Sack {
                    // A SACKed octet does not count in the pipe (RFC 6675 section 4, SetPipe).
                    self.board.clear_retransmitted(number);
                }
                self.board.mark_sacked(number);
                self.board.regroup_sacked(number, block.end);
                self.rate.delivered += 1;
                self.rate.on_delivered(now, &segment);
                self.fack = self.fack.max(segment.end_seq());
                flags.data_sacked = true;
            }
            number += 1;
        }
    }

    /// Processes a DSACK, which reports that a segment arrived twice. A retransmission was then not
    /// needed.
    ///
    /// Standard: RFC 3708.
    fn take_dsack(
        &mut self,
        block: SackBlock,
        ack: u64,
        flags: &mut AckFlags,
        news: &mut SackNews,
    ) {
        let mss = u64::from(self.window.mss);
        let duplicates = block.end.saturating_sub(block.start).div_ceil(mss.max(1));
        if duplicates == 0 || block.end > self.snd_nxt {
            return;
        }
        self.rack.duplicates_reported += duplicates;
        if self.rack.duplicates_reported > self.statistics.retransmitted_segments {
            // The network duplicates packets if DSACKs outnumber the retransmissions.
            return;
        }
        flags.dsack = true;
        let probe_end = self.probe.high_seq;
        flags.dsack_for_probe = probe_end.is_some_and(|end| block.end == end);
        if self.rack.reorderings > 0 && !flags.dsack_for_probe {
            self.rack.dsack_seen = true;
        }
        self.rate.delivered += duplicates;
        let Some(marker) = self.undo.marker else {
            return;
        };
        if block.end <= ack && block.end > marker {
            self.undo.repay(duplicates);
        } else if block.end > ack {
            // The duplicate is above the cumulative ACK, so the segments that it covers are on the
            // scoreboard.
            let mut number = self.board.at_or_after(block.start);
            while number < self.board.end() && self.board.get(number).end_seq() <= block.end {
                let segment = *self.board.get(number);
                if segment.tags.has(Tags::EVER_RETRANSMITTED) {
                    self.undo.repay(1);
                    if segment.tags.has(Tags::SACKED) {
                        news.reordered_from = news.reordered_from.min(segment.seq);
                    }
                }
                self.board.clear_retransmitted(number);
                number += 1;
            }
        }
    }

    /// Returns the end of the highest SACKed segment. Returns SND.UNA if no segment is SACKed.
    pub(super) fn fack_or_una(&self) -> u64 {
        if self.board.sacked_out == 0 {
            self.snd_una
        } else {
            self.fack
        }
    }

    /// Records reordering. Data at `low_seq` arrived after the highest SACKed segment without
    /// having been retransmitted (Linux `tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, low_seq: u64) {
        let fack = self.fack_or_una();
        if low_seq >= fack {
            return;
        }
        let segments = (fack - low_seq).div_ceil(u64::from(self.window.mss));
        self.reordering = self
            .reordering
            .max(segments.min(u64::from(MAX_REORDERING)) as u32);
        self.rack.reorderings = self.rack.reorderings.saturating_add(1);
    }
}

/// Returns the first block if it reports a duplicate. It is then below the cumulative ACK or inside
/// the second block. `None` otherwise.
///
/// Standard: RFC 2883 §4.
fn duplicate_block(segment: &Segment) -> Option<SackBlock> {
    let blocks = segment.sack.as_slice();
    let first = *blocks.first()?;
    let is_old = first.start < segment.ack;
    let is_inside = blocks
        .get(1)
        .is_some_and(|second| second.start <= first.start && first.end <= second.end);
    (is_old || is_inside).then_some(first)
}
