//! The transmitting side of LTE acknowledged mode (TS 36.322 clauses 5.1.3.1, 5.2.1 and 5.2.2).

use super::buffer::{QueueManagement, TxBuffer};
use super::lte_assembly::{Assembly, LengthIndicators};
use super::poll::Poll;
use super::unacked::{Piece, Unacked};
use super::{
    AmConfig, Backlog, MacSubheader, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock,
};
use fadeout_core::{Ring, Time};

/// The LSF and SO fields of an AMD PDU segment.
const SEGMENT_FIELDS: u32 = 2;

/// Numbers of the parts of an AMD PDU.
#[derive(Clone, Copy, Default, Debug)]
struct PartRange {
    first: u64,
    count: u32,
}

#[derive(Clone, Debug)]
pub(super) struct LteAmTx {
    subheader: MacSubheader,
    pub(super) assembly: Assembly,
    /// AMD PDUs; their length is that of the data field.
    unacked: Unacked<PartRange>,
    /// Their parts.
    parts: Ring<SduPart>,
    poll: Poll,
}

impl LteAmTx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> LteAmTx {
        let (header, indicators) = if am.sn_bits == 16 {
            (3, LengthIndicators::LONG)
        } else {
            (2, LengthIndicators::SHORT)
        };
        let buffer = TxBuffer::new(config.buffer, config.closes_count_gaps);
        LteAmTx {
            subheader: config.subheader,
            assembly: Assembly::new(buffer, indicators, header),
            unacked: Unacked::new(am),
            parts: Ring::new(),
            poll: Poll::new(am),
        }
    }

    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.unacked.has_failed()
    }

    fn is_drained(&self) -> bool {
        self.unacked.pending_pieces == 0 && self.assembly.is_empty()
    }

    /// Runs t-PollRetransmit when nothing else would bring an answer: nothing waits to be sent and
    /// something is not acknowledged. Two holes of the standard: the SDUs behind the last PDU were
    /// dropped, so it did not poll; or a STATUS PDU older than the poll stopped the timer, because
    /// POLL_SN of a stalled window stays the same, and the answer was lost.
    pub(super) fn ensure_answer(&mut self, now: Time) {
        let nothing_goes = self.is_drained()
            || (self.unacked.pending_pieces == 0 && self.unacked.window_left() == 0);
        if nothing_goes && !self.unacked.is_empty() {
            self.poll.expect_answer(now, self.unacked.highest());
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        let subheader = self.subheader.size(u32::MAX);
        let header = u64::from(self.assembly.header + SEGMENT_FIELDS + subheader);
        // Parts of a piece are not counted here: all that wait bound their LI fields.
        let indicators = if self.unacked.pending_pieces == 0 {
            0
        } else {
            u64::from(self.assembly.indicators.size(self.parts.len() as u32 + 1))
        };
        Backlog {
            status: 0,
            retransmission: self.unacked.pending_bytes
                + self.unacked.pending_pieces * header
                + indicators,
            new: if self.unacked.window_left() == 0 {
                0
            } else {
                self.assembly.backlog(subheader)
            },
        }
    }

    pub(super) fn pull(
        &mut self,
        now: Time,
        grant: u32,
        block: &mut TransportBlock,
        aqm: &mut impl QueueManagement,
        dropped: &mut Vec<Sdu>,
    ) {
        let limit = block.bytes + grant;
        while let Some(piece) = self.unacked.front() {
            let room = self.subheader.largest_pdu(limit - block.bytes);
            if !self.retransmit(now, piece, room, block) {
                return;
            }
        }
        while self.unacked.window_left() > 0 {
            let room = self.subheader.largest_pdu(limit - block.bytes);
            let first = block.parts.len();
            let (count, bytes) = self
                .assembly
                .fill(now, room, &mut block.parts, aqm, dropped);
            if count == 0 {
                break;
            }
            let range = PartRange {
                first: self.parts.end(),
                count,
            };
            for &part in &block.parts[first..] {
                self.parts.push(part);
            }
            self.unacked.push(range, bytes);
            self.poll.on_new(bytes);
            let pdu = Pdu {
                kind: PduKind::Amd,
                sn: self.unacked.space.on_air(self.unacked.highest()),
                size: self.assembly.header + bytes,
                first: first as u32,
                count,
                ..Pdu::default()
            };
            self.emit(now, pdu, block);
        }
        if !dropped.is_empty() {
            self.ensure_answer(now);
        }
    }

    /// Retransmits a piece: the whole AMD PDU when that is wanted and fits, else a segment of it
    /// of at most `room` bytes. False when nothing fits.
    fn retransmit(
        &mut self,
        now: Time,
        piece: Piece,
        room: u32,
        block: &mut TransportBlock,
    ) -> bool {
        let Piece { number, start, end } = piece;
        let sent = self.unacked.item(number);
        let (range, len) = (sent.item, sent.len);
        let whole = self.assembly.header + self.assembly.indicators.size(range.count) + len;
        let is_whole = start == 0 && end == len && whole <= room;
        let header = self.assembly.header + if is_whole { 0 } else { SEGMENT_FIELDS };
        let first = block.parts.len();
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
            block.parts.push(SduPart {
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
        self.unacked.on_retransmitted(bytes);
        let pdu = Pdu {
            kind: if is_whole {
                PduKind::Amd
            } else {
                PduKind::AmdSegment
            },
            is_last_segment: start + bytes == len,
            sn: self.unacked.space.on_air(number),
            segment_offset: start,
            size: header + bytes,
            first: first as u32,
            count,
            ..Pdu::default()
        };
        self.emit(now, pdu, block);
        true
    }

    /// Adds a PDU whose size lacks its LI fields and whose poll is undecided.
    fn emit(&mut self, now: Time, mut pdu: Pdu, block: &mut TransportBlock) {
        let is_last = self.is_drained() || self.unacked.window_left() == 0;
        pdu.is_polling = self.poll.decide(now, is_last, self.unacked.highest());
        pdu.size += self.assembly.indicators.size(pdu.count);
        block.bytes += pdu.size + self.subheader.size(pdu.size);
        block.pdus.push(pdu);
    }

    /// A STATUS PDU arrived.
    pub(super) fn on_status(&mut self, now: Time, pdu: &Pdu, nacks: &[Nack]) {
        let Some(ack) = self.unacked.on_status(pdu, nacks) else {
            return;
        };
        self.poll.on_status(ack);
        self.ensure_answer(now);
        let first = match self.unacked.oldest() {
            Some(sent) => sent.item.first,
            None => self.parts.end(),
        };
        while self.parts.first() < first {
            self.parts.pop();
        }
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        if self.poll.expires(now)
            && !self.unacked.is_empty()
            && (self.is_drained() || self.unacked.window_left() == 0)
        {
            self.unacked.retransmit_one();
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.poll.wake_at()
    }

    /// SDUs with a part in a PDU that is not acknowledged, then those not sent.
    pub(super) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        let before = out.len();
        for sent in self.unacked.unacknowledged() {
            let PartRange { first, count } = sent.item;
            for number in first..first + u64::from(count) {
                let sdu = self.parts[number].sdu;
                // The parts of an SDU follow each other.
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
