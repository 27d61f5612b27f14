//! The transmitting side of NR acknowledged mode (TS 38.322 clauses 5.2.3.1, 5.3.2 and 5.3.3).

use super::buffer::{QueueManagement, TxBuffer};
use super::poll::Poll;
use super::unacked::{Piece, Unacked};
use super::{
    AmConfig, Backlog, MacSubheader, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock,
};
use fadeout_core::Time;

#[derive(Clone, Debug)]
pub(super) struct NrAmTx {
    header: u32,
    subheader: MacSubheader,
    pub(super) buffer: TxBuffer,
    unacked: Unacked<Sdu>,
    /// Whether the newest SDU of the window has bytes that were not sent yet.
    is_segmenting: bool,
    poll: Poll,
}

impl NrAmTx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> NrAmTx {
        NrAmTx {
            header: if am.sn_bits == 18 { 3 } else { 2 },
            subheader: config.subheader,
            buffer: TxBuffer::new(config.buffer, config.closes_count_gaps),
            unacked: Unacked::new(am),
            is_segmenting: false,
            poll: Poll::new(am),
        }
    }

    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.unacked.has_failed()
    }

    /// Whether neither new nor retransmitted bytes wait.
    #[inline]
    fn is_drained(&self) -> bool {
        self.unacked.pending_pieces == 0 && self.buffer.is_empty() && !self.is_segmenting
    }

    /// Whether the window keeps further SDUs back.
    #[inline]
    fn is_stalled(&self) -> bool {
        self.unacked.window_left() == 0 && !self.is_segmenting
    }

    /// Runs t-PollRetransmit when nothing else would bring an answer: nothing waits to be sent and
    /// something is not acknowledged. Two holes of the standard: the SDUs behind the last PDU were
    /// dropped, so it did not poll; or a STATUS PDU older than the poll stopped the timer, because
    /// POLL_SN of a stalled window stays the same, and the answer was lost.
    pub(super) fn ensure_answer(&mut self, now: Time) {
        let nothing_goes =
            self.is_drained() || (self.unacked.pending_pieces == 0 && self.is_stalled());
        if nothing_goes && !self.unacked.is_empty() {
            self.poll.expect_answer(now, self.unacked.highest());
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        let whole = u64::from(self.header + self.subheader.size(u32::MAX));
        let most = whole + 2;
        let mut new = 0;
        if self.is_segmenting {
            let last = self.unacked.item(self.unacked.highest());
            new += u64::from(last.item.size - last.len) + most;
        }
        if self.unacked.window_left() > 0 {
            new += self.buffer.bytes() + self.buffer.len() * whole;
        }
        Backlog {
            status: 0,
            retransmission: self.unacked.pending_bytes + self.unacked.pending_pieces * most,
            new,
        }
    }

    #[inline]
    fn header_at(&self, offset: u32) -> u32 {
        self.header + if offset == 0 { 0 } else { 2 }
    }

    /// Bytes of `left` at `offset` that fit into `room` with header and subheader.
    #[inline]
    fn fitting(&self, offset: u32, left: u32, room: u32) -> u32 {
        let header = self.header_at(offset);
        let pdu = header + left;
        if pdu + self.subheader.size(pdu) <= room {
            left
        } else {
            let pdu = self.subheader.largest_pdu(room);
            pdu.saturating_sub(header).min(left)
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
        self.pull_retransmissions(now, limit, block);
        self.pull_rest(now, limit, block);
        while !self.is_segmenting && self.unacked.window_left() > 0 {
            let Some(head) = self.buffer.next(now, aqm, dropped) else {
                break;
            };
            let len = self.fitting(0, head.size, limit - block.bytes);
            if len == 0 {
                break;
            }
            let sdu = self.buffer.pop().expect("the head was just seen");
            self.unacked.push(sdu, len);
            self.is_segmenting = len < sdu.size;
            self.poll.on_new(len);
            let part = SduPart {
                sdu,
                offset: 0,
                len,
            };
            self.emit(now, self.unacked.highest(), part, block);
        }
        if !dropped.is_empty() {
            self.ensure_answer(now);
        }
    }

    fn pull_retransmissions(&mut self, now: Time, limit: u32, block: &mut TransportBlock) {
        while let Some(Piece { number, start, end }) = self.unacked.front() {
            let len = self.fitting(start, end - start, limit - block.bytes);
            if len == 0 {
                return;
            }
            let part = SduPart {
                sdu: self.unacked.item(number).item,
                offset: start,
                len,
            };
            self.unacked.on_retransmitted(len);
            self.emit(now, number, part, block);
        }
    }

    /// The rest of the SDU being segmented, or a further segment of it.
    fn pull_rest(&mut self, now: Time, limit: u32, block: &mut TransportBlock) {
        if !self.is_segmenting {
            return;
        }
        let number = self.unacked.highest();
        let sent = self.unacked.item(number);
        let (sdu, offset) = (sent.item, sent.len);
        let len = self.fitting(offset, sdu.size - offset, limit - block.bytes);
        if len == 0 {
            return;
        }
        self.unacked.grow(len);
        self.is_segmenting = offset + len < sdu.size;
        self.poll.on_new(len);
        self.emit(now, number, SduPart { sdu, offset, len }, block);
    }

    #[inline]
    fn emit(&mut self, now: Time, number: u64, part: SduPart, block: &mut TransportBlock) {
        let is_last = self.is_drained() || self.is_stalled();
        let size = self.header_at(part.offset) + part.len;
        let pdu = Pdu {
            kind: PduKind::Amd,
            is_polling: self.poll.decide(now, is_last, self.unacked.highest()),
            sn: self.unacked.space.on_air(number),
            size,
            ..Pdu::default()
        };
        block.push(pdu, part, self.subheader.size(size));
    }

    /// A STATUS PDU arrived.
    pub(super) fn on_status(&mut self, now: Time, pdu: &Pdu, nacks: &[Nack]) {
        if let Some(ack) = self.unacked.on_status(pdu, nacks) {
            self.poll.on_status(ack);
            self.ensure_answer(now);
        }
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        if self.poll.expires(now)
            && !self.unacked.is_empty()
            && (self.is_drained() || self.is_stalled())
        {
            self.unacked.retransmit_one();
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.poll.wake_at()
    }

    /// SDUs that are not acknowledged, then those not sent.
    pub(super) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        out.extend(self.unacked.unacknowledged().map(|sent| sent.item));
        self.buffer.flush(out)
    }
}
