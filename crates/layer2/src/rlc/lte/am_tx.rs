//! Transmitting side of LTE acknowledged mode.
//!
//! Standard: TS 36.322 §5.1.3.1, §5.2.1, §5.2.2.

use super::assembly::{Assembly, LengthIndicators};
use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::outstanding::{New, Outstanding};
use crate::rlc::pull::Pull;
use crate::rlc::unacked::Piece;
use crate::rlc::{AmConfig, Backlog, MacSubheader, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart};
use fadeout_core::{Ring, Time};

/// Bytes of the LSF and SO fields of an AMD PDU segment.
const SEGMENT_FIELDS: u32 = 2;

/// Numbers of the parts of an AMD PDU.
#[derive(Clone, Copy, Default, Debug)]
struct PartRange {
    first: u64,
    count: u32,
}

#[derive(Clone, Debug)]
pub(in crate::rlc) struct AmTx {
    subheader: MacSubheader,
    pub(in crate::rlc) assembly: Assembly,
    /// Unacknowledged AMD PDUs. Their length is that of the data field.
    outstanding: Outstanding<PartRange>,
    /// Parts of these PDUs.
    parts: Ring<SduPart>,
}

impl AmTx {
    pub(in crate::rlc) fn new(config: &RlcConfig, am: &AmConfig) -> AmTx {
        let (header, indicators) = if am.sn_bits == 16 {
            (3, LengthIndicators::LONG)
        } else {
            (2, LengthIndicators::SHORT)
        };
        let buffer = TxBuffer::new(config.buffer, config.closes_count_gaps);
        AmTx {
            subheader: config.subheader,
            assembly: Assembly::new(buffer, indicators, header),
            outstanding: Outstanding::new(am),
            parts: Ring::new(),
        }
    }

    #[inline]
    pub(in crate::rlc) fn has_failed(&self) -> bool {
        self.outstanding.unacked.has_failed()
    }

    fn new_bytes(&self) -> New {
        if self.outstanding.unacked.window_left() == 0 {
            New::Stalled
        } else if self.assembly.is_empty() {
            New::Nothing
        } else {
            New::Ready
        }
    }

    /// Calls [`Outstanding::ensure_answer`].
    pub(in crate::rlc) fn ensure_answer(&mut self, now: Time) {
        let new = self.new_bytes();
        self.outstanding.ensure_answer(now, new);
    }

    pub(in crate::rlc) fn backlog(&self) -> Backlog {
        let subheader = self.subheader.size(u32::MAX);
        let header = u64::from(self.assembly.header + SEGMENT_FIELDS + subheader);
        // The exact number of parts in the retransmitted segments is not counted here. All stored
        // parts give an upper bound of the LI fields.
        let indicators = if self.outstanding.unacked.pending_pieces == 0 {
            0
        } else {
            u64::from(self.assembly.indicators.size(self.parts.len() as u32 + 1))
        };
        Backlog {
            status: 0,
            retransmission: self.outstanding.unacked.pending_bytes
                + self.outstanding.unacked.pending_pieces * header
                + indicators,
            new: if self.outstanding.unacked.window_left() == 0 {
                0
            } else {
                self.assembly.backlog(subheader)
            },
        }
    }

    pub(in crate::rlc) fn pull(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        while let Some(piece) = self.outstanding.unacked.front() {
            let room = self.subheader.largest_pdu(pull.room());
            if !self.retransmit(piece, room, pull) {
                return;
            }
        }
        while self.outstanding.unacked.window_left() > 0 {
            let room = self.subheader.largest_pdu(pull.room());
            let first = pull.block.parts.len();
            let (count, bytes) = self.assembly.fill(room, pull);
            if count == 0 {
                break;
            }
            let range = PartRange {
                first: self.parts.end(),
                count,
            };
            for &part in &pull.block.parts[first..] {
                self.parts.push(part);
            }
            self.outstanding.unacked.push(range, bytes);
            self.outstanding.on_new(bytes);
            let pdu = Pdu {
                kind: PduKind::Amd,
                sn: self
                    .outstanding
                    .unacked
                    .space
                    .on_air(self.outstanding.unacked.highest()),
                size: self.assembly.header + bytes,
                first: first as u32,
                count,
                ..Pdu::default()
            };
            self.emit(pdu, pull);
        }
        if !pull.dropped.is_empty() {
            self.ensure_answer(pull.now);
        }
    }

    /// Retransmits bytes of an AMD PDU. The whole PDU is sent if all of it is requested and fits.
    /// Otherwise a segment of at most `room` bytes is sent. Returns false if nothing fits.
    fn retransmit(
        &mut self,
        piece: Piece,
        room: u32,
        pull: &mut Pull<'_, impl QueueManagement>,
    ) -> bool {
        let Piece { number, start, end } = piece;
        let sent = self.outstanding.unacked.item(number);
        let (range, len) = (sent.item, sent.len);
        let whole = self.assembly.header + self.assembly.indicators.size(range.count) + len;
        let is_whole = start == 0 && end == len && whole <= room;
        let header = self.assembly.header + if is_whole { 0 } else { SEGMENT_FIELDS };
        let first = pull.block.parts.len();
        let (mut position, mut bytes, mut count) = (0, 0, 0);
        for part_number in range.first..range.first + u64::from(range.count) {
            let part = self.parts[part_number];
            let from = start.max(position);
            let to = end.min(position + part.len);
            let offset = part.offset + from.saturating_sub(position);
            position += part.len;
            if from >= to {
                continue;
            }
            let used = header + self.assembly.indicators.size(count + 1) + bytes;
            let len = (to - from).min(room.saturating_sub(used));
            if len == 0 {
                break;
            }
            pull.block.parts.push(SduPart {
                offset,
                len,
                ..part
            });
            bytes += len;
            count += 1;
            if len < to - from {
                break;
            }
        }
        if count == 0 {
            return false;
        }
        self.outstanding.unacked.on_retransmitted(bytes);
        let pdu = Pdu {
            kind: if is_whole {
                PduKind::Amd
            } else {
                PduKind::AmdSegment
            },
            is_last_segment: start + bytes == len,
            sn: self.outstanding.unacked.space.on_air(number),
            segment_offset: start,
            size: header + bytes,
            first: first as u32,
            count,
            ..Pdu::default()
        };
        self.emit(pdu, pull);
        true
    }

    /// Adds a PDU. Its size does not include LI fields yet, and its poll bit is not set.
    fn emit(&mut self, mut pdu: Pdu, pull: &mut Pull<'_, impl QueueManagement>) {
        let new = self.new_bytes();
        pdu.is_polling = self.outstanding.polls(pull.now, new);
        pdu.size += self.assembly.indicators.size(pdu.count);
        pull.block.bytes += pdu.size + self.subheader.size(pdu.size);
        pull.block.pdus.push(pdu);
    }

    /// Processes a STATUS PDU.
    pub(in crate::rlc) fn on_status(&mut self, now: Time, pdu: &Pdu, nacks: &[Nack]) {
        if !self.outstanding.on_status(pdu, nacks) {
            return;
        }
        self.ensure_answer(now);
        let first = match self.outstanding.unacked.oldest() {
            Some(sent) => sent.item.first,
            None => self.parts.end(),
        };
        while self.parts.first() < first {
            self.parts.pop();
        }
    }

    pub(in crate::rlc) fn on_wake(&mut self, now: Time) {
        let new = self.new_bytes();
        self.outstanding.on_wake(now, new);
    }

    #[inline]
    pub(in crate::rlc) fn wake_at(&self) -> Time {
        self.outstanding.wake_at()
    }

    /// Returns the oldest SDU that has a part in an unacknowledged PDU, or that is being segmented.
    /// `None` if there is none.
    pub(in crate::rlc) fn oldest(&self) -> Option<&Sdu> {
        let sent = self.outstanding.unacked.oldest();
        let begun = sent.map(|sent| &self.parts[sent.item.first].sdu);
        begun.or_else(|| self.assembly.segmenting())
    }

    /// Appends the SDUs with a part in an unacknowledged PDU, then those not sent. Returns the
    /// number of COUNTs freed by drops.
    pub(in crate::rlc) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        let before = out.len();
        for sent in self.outstanding.unacked.unacknowledged() {
            let PartRange { first, count } = sent.item;
            for number in first..first + u64::from(count) {
                let sdu = self.parts[number].sdu;
                // The parts of an SDU are consecutive, so only the last SDU in the list can be the
                // same.
                if out[before..].last() != Some(&sdu) {
                    out.push(sdu);
                }
            }
        }
        if out[before..].last() == self.assembly.segmenting() {
            out.truncate(out.len() - usize::from(self.assembly.segmenting().is_some()));
        }
        self.assembly.flush(out)
    }
}
