//! The transmitting side of NR acknowledged mode (TS 38.322 clauses 5.2.3.1, 5.3.2 and 5.3.3).

use super::buffer::{HeadDrop, TxBuffer};
use super::poll::Poll;
use super::sequence::{START, SnSpace, Window};
use super::{
    AmConfig, Backlog, MacSubheader, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock,
};
use fadeout_core::{Ring, Time};

/// An SDU that was sent at least in part, until it is acknowledged.
#[derive(Clone, Copy, Default, Debug)]
struct Sent {
    sdu: Sdu,
    /// Bytes that were sent at least once: less than the size for the SDU being segmented.
    sent: u32,
    /// Bytes and pieces that wait for retransmission.
    pending_bytes: u32,
    pending_pieces: u32,
    /// The report that asked for retransmission last.
    reported_by: u32,
    /// RETX_COUNT; `None` before the first retransmission.
    retx_count: Option<u32>,
    is_acked: bool,
}

/// Bytes to retransmit.
#[derive(Clone, Copy, Default, Debug)]
struct Piece {
    number: u64,
    start: u32,
    end: u32,
}

#[derive(Clone, Debug)]
pub(super) struct NrAmTx {
    space: SnSpace,
    header: u32,
    subheader: MacSubheader,
    max_retx_threshold: u32,
    pub(super) buffer: TxBuffer,
    /// From TX_Next_Ack to TX_Next.
    sent: Window<Sent>,
    /// Whether the last SDU of the window has bytes that were not sent yet.
    is_segmenting: bool,
    /// In the order of the reports; pieces of acknowledged SDUs stay inside and are skipped.
    retransmissions: Ring<Piece>,
    pending_bytes: u64,
    pending_pieces: u64,
    poll: Poll,
    reports: u32,
    has_failed: bool,
}

impl NrAmTx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> NrAmTx {
        NrAmTx {
            space: SnSpace::new(am.sn_bits),
            header: if am.sn_bits == 18 { 3 } else { 2 },
            subheader: config.subheader,
            max_retx_threshold: am.max_retx_threshold,
            buffer: TxBuffer::new(config.buffer, config.closes_count_gaps),
            sent: Window::new(START),
            is_segmenting: false,
            retransmissions: Ring::new(),
            pending_bytes: 0,
            pending_pieces: 0,
            poll: Poll::new(am),
            reports: 0,
            has_failed: false,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether the window keeps further SDUs back.
    #[inline]
    fn is_stalled(&self) -> bool {
        self.sent.end() - self.sent.first() >= self.space.window
    }

    /// Whether neither new nor retransmitted bytes wait.
    #[inline]
    fn is_drained(&self) -> bool {
        self.pending_pieces == 0 && self.buffer.is_empty() && !self.is_segmenting
    }

    #[inline]
    fn may_send_nothing_new(&self) -> bool {
        self.is_stalled() && !self.is_segmenting
    }

    /// SDUs were dropped at the head. If they were the last ones, the PDU that went before them
    /// did not poll: wait for an answer as if it had.
    pub(super) fn on_dropped(&mut self, now: Time) {
        if self.is_drained() && !self.sent.is_empty() {
            self.poll.expect_answer(now, self.sent.end() - 1);
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        let most = u64::from(self.header + 2 + self.subheader.size(u32::MAX));
        let whole = u64::from(self.header + self.subheader.size(u32::MAX));
        let rest = if self.is_segmenting {
            let last = &self.sent[self.sent.end() - 1];
            u64::from(last.sdu.size - last.sent) + most
        } else {
            0
        };
        let room = self.space.window - (self.sent.end() - self.sent.first());
        let fresh = match self.buffer.len() {
            _ if room == 0 => 0,
            sdus => self.buffer.bytes() + sdus * whole,
        };
        Backlog {
            status: 0,
            retransmission: self.pending_bytes + self.pending_pieces * most,
            new: rest + fresh,
        }
    }

    #[inline]
    fn header_at(&self, offset: u32) -> u32 {
        self.header + if offset == 0 { 0 } else { 2 }
    }

    /// Bytes of `left` at `offset` that fit into `room` with header and subheader.
    #[inline]
    fn fitting(&self, offset: u32, left: u32, room: u32) -> u32 {
        let pdu = self.header_at(offset) + left;
        if pdu + self.subheader.size(pdu) <= room {
            left
        } else {
            let pdu = self.subheader.largest_pdu(room);
            pdu.saturating_sub(self.header_at(offset)).min(left)
        }
    }

    pub(super) fn pull(
        &mut self,
        now: Time,
        grant: u32,
        block: &mut TransportBlock,
        aqm: &mut impl HeadDrop,
        dropped: &mut Vec<Sdu>,
    ) {
        let limit = block.bytes + grant;
        self.pull_retransmissions(now, limit, block);
        while block.bytes < limit {
            let room = limit - block.bytes;
            if !self.is_segmenting {
                if self.is_stalled() {
                    break;
                }
                let Some(head) = self.buffer.next(now, aqm, dropped) else {
                    break;
                };
                if self.fitting(0, head.size, room) == 0 {
                    break;
                }
                let sdu = self.buffer.pop().expect("the head was just seen");
                self.sent.push(Sent {
                    sdu,
                    ..Sent::default()
                });
            }
            let number = self.sent.end() - 1;
            let Sent { sdu, sent, .. } = self.sent[number];
            let len = self.fitting(sent, sdu.size - sent, room);
            if len == 0 {
                break;
            }
            self.sent[number].sent = sent + len;
            self.is_segmenting = sent + len < sdu.size;
            self.poll.on_new(len);
            let part = SduPart {
                sdu,
                offset: sent,
                len,
            };
            self.emit(now, number, part, block);
        }
        if !dropped.is_empty() {
            self.on_dropped(now);
        }
    }

    fn pull_retransmissions(&mut self, now: Time, limit: u32, block: &mut TransportBlock) {
        while let Some(&Piece { number, start, end }) = self.retransmissions.front() {
            if !self.sent.contains(number) || self.sent[number].is_acked {
                self.retransmissions.pop();
                continue;
            }
            let len = self.fitting(start, end - start, limit - block.bytes);
            if len == 0 {
                return;
            }
            let entry = &mut self.sent[number];
            entry.pending_bytes -= len;
            self.pending_bytes -= u64::from(len);
            if start + len == end {
                entry.pending_pieces -= 1;
                self.pending_pieces -= 1;
                self.retransmissions.pop();
            } else {
                let first = self.retransmissions.first();
                self.retransmissions[first].start = start + len;
            }
            let part = SduPart {
                sdu: self.sent[number].sdu,
                offset: start,
                len,
            };
            self.emit(now, number, part, block);
        }
    }

    #[inline]
    fn emit(&mut self, now: Time, number: u64, part: SduPart, block: &mut TransportBlock) {
        let is_last = self.is_drained() || self.may_send_nothing_new();
        let highest = self.sent.end() - 1;
        let is_polling = self.poll.decide(now, is_last, highest);
        let size = self.header_at(part.offset) + part.len;
        let pdu = Pdu {
            kind: PduKind::Amd,
            is_polling,
            sn: self.space.on_air(number),
            size,
            ..Pdu::default()
        };
        block.push(pdu, part, self.subheader.size(size));
    }

    /// A STATUS PDU arrived.
    pub(super) fn on_status(&mut self, pdu: &Pdu, nacks: &[Nack]) {
        let ack = self.space.extend(pdu.sn, self.sent.first());
        if ack > self.sent.end() {
            return; // Older than the window.
        }
        self.reports = self.reports.wrapping_add(1);
        let mut next = self.sent.first();
        for nack in nacks {
            let number = self.space.extend(nack.sn, self.sent.first());
            if number >= ack {
                continue; // Acknowledged by a later STATUS PDU that overtook this one.
            }
            self.acknowledge(next, number);
            let end = (number + u64::from(nack.range)).min(ack);
            let (first, last) = nack.segment.unwrap_or((0, Nack::TO_THE_END));
            for number in number..end {
                self.retransmit(number, first, last.saturating_add(1));
            }
            next = next.max(end);
        }
        self.acknowledge(next, ack);
        let mut first = self.sent.first();
        if nacks.is_empty() {
            first = ack;
        } else {
            while first < ack && self.sent[first].is_acked {
                first += 1;
            }
        }
        self.sent.advance_to(first);
        self.poll.on_status(ack);
    }

    /// Everything from `first` to before `end` was received.
    fn acknowledge(&mut self, first: u64, end: u64) {
        for number in first..end {
            let entry = &mut self.sent[number];
            entry.is_acked = true;
            self.pending_bytes -= u64::from(entry.pending_bytes);
            self.pending_pieces -= u64::from(entry.pending_pieces);
            entry.pending_bytes = 0;
            entry.pending_pieces = 0;
        }
    }

    /// Bytes `start .. end` of an SDU are considered for retransmission.
    fn retransmit(&mut self, number: u64, start: u32, end: u32) {
        let entry = &mut self.sent[number];
        let end = end.min(entry.sent);
        let is_of_this_report = entry.reported_by == self.reports;
        // What already waits for retransmission is not reported twice.
        let is_pending = entry.pending_pieces > 0 && !is_of_this_report;
        if entry.is_acked || start >= end || is_pending {
            return;
        }
        if !is_of_this_report {
            entry.reported_by = self.reports;
            let count = entry.retx_count.map_or(0, |count| count + 1);
            entry.retx_count = Some(count);
            self.has_failed |= count >= self.max_retx_threshold;
        }
        entry.pending_bytes += end - start;
        entry.pending_pieces += 1;
        self.pending_bytes += u64::from(end - start);
        self.pending_pieces += 1;
        self.retransmissions.push(Piece { number, start, end });
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        if !self.poll.expires(now) || self.sent.is_empty() {
            return;
        }
        if self.is_drained() || self.may_send_nothing_new() {
            self.reports = self.reports.wrapping_add(1);
            let mut number = self.sent.end() - 1;
            if self.sent[number].is_acked {
                number = self.sent.first();
            }
            self.retransmit(number, 0, u32::MAX);
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.poll.wake_at()
    }

    /// SDUs that are not acknowledged, then those not sent.
    pub(super) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        for number in self.sent.first()..self.sent.end() {
            if !self.sent[number].is_acked {
                out.push(self.sent[number].sdu);
            }
        }
        self.buffer.flush(out)
    }
}
