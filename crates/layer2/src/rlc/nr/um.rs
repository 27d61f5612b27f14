//! NR unacknowledged mode.
//!
//! Standard: TS 38.322 §5.2.2.

use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::pieces::{Insertion, Pieces, Received};
use crate::rlc::pull::Pull;
use crate::rlc::sequence::{START, SnSpace, Window};
use crate::rlc::{Backlog, MacSubheader, Pdu, PduKind, RlcConfig, Sdu, SduPart, UmConfig};
use fadeout_core::{Span, Time};

/// Header of a PDU with a complete SDU: no SN.
const COMPLETE_HEADER: u32 = 1;
/// The SO field.
const OFFSET_FIELD: u32 = 2;

#[derive(Clone, Debug)]
pub(in crate::rlc) struct UmTx {
    space: SnSpace,
    /// Header of a first segment; the others have the SO field too.
    header: u32,
    subheader: MacSubheader,
    pub(in crate::rlc) buffer: TxBuffer,
    tx_next: u64,
    /// The SDU being segmented and its bytes sent.
    segmenting: Option<(Sdu, u32)>,
}

impl UmTx {
    pub(in crate::rlc) fn new(config: &RlcConfig, um: &UmConfig) -> UmTx {
        UmTx {
            space: SnSpace::new(um.sn_bits),
            header: if um.sn_bits == 12 { 2 } else { 1 },
            subheader: config.subheader,
            buffer: TxBuffer::new(config.buffer, config.closes_count_gaps),
            tx_next: START,
            segmenting: None,
        }
    }

    pub(in crate::rlc) fn backlog(&self) -> Backlog {
        let whole = u64::from(COMPLETE_HEADER + self.subheader.size(u32::MAX));
        let most = u64::from(self.header + OFFSET_FIELD + self.subheader.size(u32::MAX));
        let rest = self
            .segmenting
            .map_or(0, |(sdu, sent)| u64::from(sdu.size - sent) + most);
        Backlog {
            status: 0,
            retransmission: 0,
            new: rest + self.buffer.bytes() + self.buffer.len() * whole,
        }
    }

    pub(in crate::rlc) fn pull(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        while pull.room() > 0 {
            let room = pull.room();
            let (sdu, sent) = match self.segmenting {
                Some(rest) => rest,
                None => match pull.next(&mut self.buffer) {
                    Some(head) => (head, 0),
                    None => return,
                },
            };
            let left = sdu.size - sent;
            let whole = COMPLETE_HEADER + sdu.size;
            if sent == 0 && whole + self.subheader.size(whole) <= room {
                let sdu = self.buffer.pop().expect("the head was just seen");
                let pdu = Pdu {
                    kind: PduKind::UmdComplete,
                    size: whole,
                    ..Pdu::default()
                };
                pull.push(pdu, SduPart::whole(sdu), self.subheader.size(whole));
                continue;
            }
            let header = self.header + if sent == 0 { 0 } else { OFFSET_FIELD };
            let mut len = self.subheader.largest_pdu(room).saturating_sub(header);
            // A first segment leaves at least one byte to the next.
            len = len.min(left - u32::from(sent == 0));
            if len == 0 {
                return;
            }
            let sdu = if sent == 0 {
                self.buffer.pop().expect("the head was just seen")
            } else {
                sdu
            };
            let size = header + len;
            let pdu = Pdu {
                kind: PduKind::Umd,
                sn: self.space.on_air(self.tx_next),
                size,
                ..Pdu::default()
            };
            let part = SduPart {
                sdu,
                offset: sent,
                len,
            };
            pull.push(pdu, part, self.subheader.size(size));
            self.segmenting = if part.is_last() {
                self.tx_next += 1;
                None
            } else {
                Some((sdu, sent + len))
            };
        }
    }

    pub(in crate::rlc) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        out.extend(self.segmenting.take().map(|(sdu, _)| sdu));
        self.buffer.flush(out)
    }
}

#[derive(Clone, Debug)]
pub(in crate::rlc) struct UmRx {
    space: SnSpace,
    t_reassembly: Span,
    /// From RX_Next_Reassembly to RX_Next_Highest.
    window: Window<Received>,
    pieces: Pieces,
    rx_timer_trigger: u64,
    /// t-Reassembly.
    expires_at: Time,
}

impl UmRx {
    pub(in crate::rlc) fn new(um: &UmConfig) -> UmRx {
        UmRx {
            space: SnSpace::new(um.sn_bits),
            t_reassembly: um.t_reassembly,
            window: Window::new(START),
            pieces: Pieces::default(),
            rx_timer_trigger: START,
            expires_at: Time::NEVER,
        }
    }

    #[inline]
    pub(in crate::rlc) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        part: &SduPart,
        delivered: &mut Vec<Sdu>,
    ) {
        if pdu.kind == PduKind::UmdComplete {
            delivered.push(part.sdu);
        } else {
            self.on_segment(now, pdu.sn, part, delivered);
        }
    }

    fn on_segment(&mut self, now: Time, sn: u32, part: &SduPart, delivered: &mut Vec<Sdu>) {
        let low = self.window.end() - self.space.window;
        let number = self.space.extend(sn, low);
        if number < self.window.first() {
            return;
        }
        if number >= self.window.end() {
            self.window.extend_to(number + 1);
            let low = self.window.end() - self.space.window;
            if self.window.first() < low {
                self.discard_below(low);
            }
        }
        let id = match self.window[number] {
            Received::All => return,
            Received::Some(id) => id,
            Received::Nothing => {
                let id = self.pieces.open();
                self.window[number] = Received::Some(id);
                id
            }
        };
        match self
            .pieces
            .insert(id, part.offset, part.end(), part.is_last())
        {
            Insertion::Duplicate => return,
            Insertion::Incomplete => {}
            Insertion::Complete => {
                self.pieces.close(id);
                self.window[number] = Received::All;
                delivered.push(part.sdu);
                if number == self.window.first() {
                    self.discard_below(number + 1);
                }
            }
        }
        self.update_timer(now);
    }

    /// Moves RX_Next_Reassembly to the first number from `number` on that was not delivered, and
    /// forgets what is below.
    fn discard_below(&mut self, number: u64) {
        let mut next = self.window.first();
        while next < self.window.end() && (next < number || self.window[next] == Received::All) {
            if let Received::Some(id) = self.window[next] {
                self.pieces.close(id);
            }
            next += 1;
        }
        self.window.advance_to(next.max(number));
    }

    /// Whether a byte is missing before the last byte received.
    fn has_gap(&self) -> bool {
        let (next, end) = (self.window.first(), self.window.end());
        end > next + 1
            || (end == next + 1
                && match self.window[next] {
                    Received::Some(id) => self.pieces.has_gap(id),
                    Received::Nothing | Received::All => false,
                })
    }

    fn update_timer(&mut self, now: Time) {
        if !self.expires_at.is_never() {
            let low = self.window.end() - self.space.window;
            let trigger = self.rx_timer_trigger;
            if trigger <= self.window.first() || trigger < low || !self.has_gap() {
                self.expires_at = Time::NEVER;
            }
        }
        if self.expires_at.is_never() && self.has_gap() {
            self.start_timer(now);
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.expires_at = now.saturating_add(self.t_reassembly);
        self.rx_timer_trigger = self.window.end();
    }

    pub(in crate::rlc) fn on_wake(&mut self, now: Time) {
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.discard_below(self.rx_timer_trigger);
        if self.has_gap() {
            self.start_timer(now);
        }
    }

    #[inline]
    pub(in crate::rlc) fn wake_at(&self) -> Time {
        self.expires_at
    }
}
