//! NR unacknowledged mode.
//!
//! Standard: TS 38.322 §5.2.2.

use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::pieces::{Insertion, Pieces, Received};
use crate::rlc::pull::Pull;
use crate::rlc::sequence::{START, SnSpace, Window};
use crate::rlc::{Backlog, MacSubheader, Pdu, PduKind, RlcConfig, Sdu, SduPart, UmConfig};
use fadeout_core::{Span, Time};

/// Bytes of the SO field.
const OFFSET_FIELD: u32 = 2;

#[derive(Clone, Debug)]
pub(in crate::rlc) struct UmTx {
    space: SnSpace,
    /// Header bytes of a first segment. Other segments have the SO field too.
    header: u32,
    subheader: MacSubheader,
    pub(in crate::rlc) buffer: TxBuffer,
    tx_next: u64,
    /// SDU that is partly sent, and the number of its bytes sent.
    segmenting: Option<(Sdu, u32)>,
}

impl UmTx {
    /// Header bytes of a PDU with a complete SDU, which has no SN.
    pub(in crate::rlc) const COMPLETE_HEADER: u32 = 1;

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
        let whole = u64::from(UmTx::COMPLETE_HEADER + self.subheader.size(u32::MAX));
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

    /// Fills a transport block with SDUs, complete if they fit. Only segments have SNs.
    ///
    /// Standard: TS 38.322 §5.2.2.1.
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
            debug_assert!(sent < sdu.size, "an SDU that was sent whole goes on");
            let left = sdu.size - sent;
            let whole = UmTx::COMPLETE_HEADER + sdu.size;
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
            // The complete SDU does not fit with a header of one byte, so bytes remain after a
            // first segment.
            let len = self.subheader.largest_pdu(room).saturating_sub(header);
            let len = len.min(left);
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

    /// Returns the SDU that is partly sent. `None` if there is none.
    pub(in crate::rlc) fn segmenting(&self) -> Option<&Sdu> {
        self.segmenting.as_ref().map(|(sdu, _)| sdu)
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
    /// Window from RX_Next_Reassembly to RX_Next_Highest.
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

    /// Processes a PDU. A complete SDU is delivered at once, and segments are delivered when all
    /// have arrived.
    ///
    /// Standard: TS 38.322 §5.2.2.2.
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
        self.assert_invariants();
    }

    /// Asserts that the window is no larger than UM_Window_Size, and that the timer waits for a
    /// number in it.
    ///
    /// Standard: TS 38.322 §5.2.2.2.
    fn assert_invariants(&self) {
        let (first, end) = (self.window.first(), self.window.end());
        debug_assert!(
            end - first <= self.space.window,
            "the receiving window holds {} SDUs",
            end - first
        );
        debug_assert!(
            first == end || self.window[first] != Received::All,
            "the window begins with an SDU that is there"
        );
        debug_assert!(
            self.expires_at.is_never() || self.rx_timer_trigger <= end,
            "the timer waits for an SDU beyond the window"
        );
    }

    /// Moves RX_Next_Reassembly to the first number from `number` on that was not delivered, and
    /// drops all numbers below it.
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

    /// Returns true if a byte is missing before the last byte received.
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
        // The window begins at or below RX_Next_Reassembly, so a number outside the window is below
        // it.
        let is_outside = self.rx_timer_trigger <= self.window.first();
        if is_outside || !self.has_gap() {
            self.expires_at = Time::NEVER;
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
        self.assert_invariants();
    }

    #[inline]
    pub(in crate::rlc) fn wake_at(&self) -> Time {
        self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Span = Span::from_millis(35);

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Returns a receiver with an SN of 6 bits, whose window is 32.
    fn rx() -> UmRx {
        UmRx::new(&UmConfig {
            sn_bits: 6,
            t_reassembly: WAIT,
        })
    }

    impl UmRx {
        /// Receives bytes `start .. end` of SDU `number`, which has 100, at `ms`. Returns true if
        /// it is delivered.
        fn receive_at_ms(&mut self, ms: u64, number: u32, (start, end): (u32, u32)) -> bool {
            let sdu = Sdu {
                size: 100,
                count: number,
                ..Sdu::default()
            };
            let part = SduPart {
                sdu,
                offset: start,
                len: end - start,
            };
            let mut delivered = Vec::new();
            self.on_segment(at_ms(ms), number % 64, &part, &mut delivered);
            assert!(delivered.len() <= 1 && delivered.iter().all(|&it| it == sdu));
            !delivered.is_empty()
        }
        /// Returns RX_Next_Reassembly and RX_Next_Highest.
        fn ends(&self) -> (u64, u64) {
            (self.window.first() - START, self.window.end() - START)
        }
    }

    #[test]
    fn only_a_byte_that_is_missing_before_others_is_waited_for() {
        let mut rx = rx();
        rx.receive_at_ms(0, 0, (0, 50));
        assert!(rx.wake_at().is_never(), "the end may follow");
        rx.receive_at_ms(1, 0, (60, 80));
        assert_eq!(rx.wake_at(), at_ms(1) + WAIT);
        rx.receive_at_ms(2, 0, (50, 60));
        assert!(rx.wake_at().is_never(), "no gap, though not whole");
        assert!(rx.receive_at_ms(3, 0, (80, 100)));
        assert_eq!(rx.ends(), (1, 1));
    }

    #[test]
    fn the_timer_runs_for_what_is_below_its_trigger() {
        let mut rx = rx();
        rx.receive_at_ms(0, 1, (0, 50));
        assert_eq!(rx.wake_at(), at_ms(0) + WAIT, "0 is missing");
        rx.receive_at_ms(10, 3, (0, 50));
        assert_eq!(rx.wake_at(), at_ms(0) + WAIT, "not started again");
        assert!(rx.receive_at_ms(20, 0, (0, 100)) && rx.receive_at_ms(20, 1, (50, 100)));
        assert_eq!(rx.wake_at(), at_ms(20) + WAIT, "now for 2");
        assert_eq!(rx.ends(), (2, 4));
    }

    #[test]
    fn an_expired_timer_gives_up_what_is_below_its_trigger() {
        let mut rx = rx();
        rx.receive_at_ms(0, 1, (0, 50));
        assert!(rx.receive_at_ms(1, 2, (0, 100)));
        rx.receive_at_ms(2, 3, (0, 50));
        rx.on_wake(at_ms(34));
        assert_eq!((rx.ends(), rx.wake_at()), ((0, 4), at_ms(35)), "too early");
        rx.on_wake(at_ms(35));
        assert_eq!(rx.ends(), (3, 4), "2 is here");
        assert!(rx.wake_at().is_never(), "of 3 the end may follow");
        assert!(!rx.receive_at_ms(36, 1, (50, 100)), "too late");
        assert!(rx.receive_at_ms(36, 3, (50, 100)));
    }

    #[test]
    fn an_expired_timer_starts_again_for_a_gap_above_its_trigger() {
        let mut rx = rx();
        rx.receive_at_ms(0, 1, (0, 50));
        rx.receive_at_ms(1, 2, (0, 50));
        rx.receive_at_ms(2, 4, (0, 50));
        rx.on_wake(at_ms(35));
        assert_eq!((rx.ends(), rx.wake_at()), ((2, 5), at_ms(35) + WAIT));
    }

    #[test]
    fn what_is_whole_is_passed_with_the_gap_before_it() {
        let mut rx = rx();
        assert!(rx.receive_at_ms(0, 1, (0, 100)) && rx.receive_at_ms(0, 2, (0, 100)));
        assert_eq!(rx.ends(), (0, 3));
        assert!(!rx.receive_at_ms(1, 1, (0, 100)), "a duplicate");
        assert!(rx.receive_at_ms(1, 0, (0, 100)));
        assert_eq!(rx.ends(), (3, 3));
        assert!(rx.wake_at().is_never());
    }

    #[test]
    fn what_falls_out_of_the_window_is_forgotten() {
        let mut rx = rx();
        rx.receive_at_ms(0, 0, (0, 50));
        rx.receive_at_ms(1, 31, (0, 50));
        assert_eq!(rx.ends(), (0, 32), "it just fits");
        rx.receive_at_ms(2, 40, (0, 50));
        assert_eq!(rx.ends(), (9, 41));
        assert_eq!(rx.pieces.open(), 2, "the list of 0 is used for 40");
        // The SN of number 0 now belongs to number 64, so the part does not complete SDU 0.
        assert!(!rx.receive_at_ms(3, 64, (50, 100)));
        assert_eq!(rx.ends(), (33, 65));
    }
}
