//! Transmitting side of NR acknowledged mode.
//!
//! Standard: TS 38.322 §5.2.3.1, §5.3.2, §5.3.3.

use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::outstanding::{New, Outstanding};
use crate::rlc::pull::Pull;
use crate::rlc::unacked::Piece;
use crate::rlc::{AmConfig, Backlog, MacSubheader, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart};
use fadeout_core::Time;

#[derive(Clone, Debug)]
pub(in crate::rlc) struct AmTx {
    pub(in crate::rlc) header: u32,
    subheader: MacSubheader,
    pub(in crate::rlc) buffer: TxBuffer,
    outstanding: Outstanding<Sdu>,
    /// True if the newest SDU of the window has unsent bytes.
    is_segmenting: bool,
}

impl AmTx {
    pub(in crate::rlc) fn new(config: &RlcConfig, am: &AmConfig) -> AmTx {
        AmTx {
            header: if am.sn_bits == 18 { 3 } else { 2 },
            subheader: config.subheader,
            buffer: TxBuffer::new(config.buffer, config.closes_count_gaps),
            outstanding: Outstanding::new(am),
            is_segmenting: false,
        }
    }

    #[inline]
    pub(in crate::rlc) fn has_failed(&self) -> bool {
        self.outstanding.unacked.has_failed()
    }

    #[inline]
    fn new_bytes(&self) -> New {
        if self.is_segmenting {
            New::Ready
        } else if self.outstanding.unacked.window_left() == 0 {
            New::Stalled
        } else if self.buffer.is_empty() {
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
        let whole = u64::from(self.header + self.subheader.size(u32::MAX));
        let most = whole + 2;
        let mut new = 0;
        if self.is_segmenting {
            let last = self
                .outstanding
                .unacked
                .item(self.outstanding.unacked.highest());
            new += u64::from(last.item.size - last.len) + most;
        }
        if self.outstanding.unacked.window_left() > 0 {
            new += self.buffer.bytes() + self.buffer.len() * whole;
        }
        Backlog {
            status: 0,
            retransmission: self.outstanding.unacked.pending_bytes
                + self.outstanding.unacked.pending_pieces * most,
            new,
        }
    }

    #[inline]
    fn header_at(&self, offset: u32) -> u32 {
        self.header + if offset == 0 { 0 } else { 2 }
    }

    /// Returns the bytes that fit into `room` with header and subheader, of `left` bytes at
    /// `offset`.
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

    pub(in crate::rlc) fn pull(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        self.pull_retransmissions(pull);
        self.pull_partial_sdu(pull);
        while !self.is_segmenting && self.outstanding.unacked.window_left() > 0 {
            let Some(head) = pull.next(&mut self.buffer) else {
                break;
            };
            let len = self.fitting(0, head.size, pull.room());
            if len == 0 {
                break;
            }
            debug_assert!(len <= head.size, "more is sent than an SDU has");
            let sdu = self.buffer.pop().expect("the head was just seen");
            self.outstanding.unacked.push(sdu, len);
            self.is_segmenting = len < sdu.size;
            self.outstanding.on_new(len);
            let part = SduPart {
                sdu,
                offset: 0,
                len,
            };
            self.emit(self.outstanding.unacked.highest(), part, pull);
        }
        if !pull.dropped.is_empty() {
            self.ensure_answer(pull.now);
        }
    }

    fn pull_retransmissions(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        while let Some(Piece { number, start, end }) = self.outstanding.unacked.front() {
            let len = self.fitting(start, end - start, pull.room());
            if len == 0 {
                return;
            }
            let part = SduPart {
                sdu: self.outstanding.unacked.item(number).item,
                offset: start,
                len,
            };
            self.outstanding.unacked.on_retransmitted(len);
            self.emit(number, part, pull);
        }
    }

    /// Sends the remainder of the partly sent SDU, or a further segment of it.
    fn pull_partial_sdu(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        if !self.is_segmenting {
            return;
        }
        let number = self.outstanding.unacked.highest();
        let sent = self.outstanding.unacked.item(number);
        let (sdu, offset) = (sent.item, sent.len);
        debug_assert!(
            offset > 0 && offset < sdu.size,
            "{offset} bytes of an SDU of {} were sent, and it goes on",
            sdu.size
        );
        let len = self.fitting(offset, sdu.size - offset, pull.room());
        if len == 0 {
            return;
        }
        self.outstanding.unacked.grow(len);
        self.is_segmenting = offset + len < sdu.size;
        self.outstanding.on_new(len);
        self.emit(number, SduPart { sdu, offset, len }, pull);
    }

    // This function is called once for each SDU. Without inlining, a call would add a tenth to its
    // run time.
    #[inline(always)]
    fn emit(&mut self, number: u64, part: SduPart, pull: &mut Pull<'_, impl QueueManagement>) {
        let new = self.new_bytes();
        let size = self.header_at(part.offset) + part.len;
        let pdu = Pdu {
            kind: PduKind::Amd,
            is_polling: self.outstanding.polls(pull.now, new),
            sn: self.outstanding.unacked.space.on_air(number),
            size,
            ..Pdu::default()
        };
        pull.push(pdu, part, self.subheader.size(size));
    }

    /// Processes a STATUS PDU.
    pub(in crate::rlc) fn on_status(&mut self, now: Time, pdu: &Pdu, nacks: &[Nack]) {
        if self.outstanding.on_status(pdu, nacks) {
            self.ensure_answer(now);
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

    /// Returns the oldest partly or completely sent SDU that is not acknowledged. `None` if there
    /// is none.
    pub(in crate::rlc) fn oldest(&self) -> Option<&Sdu> {
        self.outstanding.unacked.oldest().map(|sent| &sent.item)
    }

    /// Appends the SDUs that are not acknowledged, then those not sent. Returns the number of
    /// COUNTs freed by drops.
    pub(in crate::rlc) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        out.extend(
            self.outstanding
                .unacked
                .unacknowledged()
                .map(|sent| sent.item),
        );
        self.buffer.flush(out)
    }
}
