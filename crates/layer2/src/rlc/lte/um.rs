//! LTE unacknowledged mode.
//!
//! Standard: TS 36.322 §5.1.2.

use super::assembly::{Assembly, LengthIndicators};
use super::order::{Reassembler, Store};
use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::pull::Pull;
use crate::rlc::sequence::{START, SnSpace};
use crate::rlc::{Backlog, MacSubheader, Pdu, PduKind, RlcConfig, Sdu, SduPart, UmConfig};
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(in crate::rlc) struct UmTx {
    space: SnSpace,
    subheader: MacSubheader,
    pub(in crate::rlc) assembly: Assembly,
    /// VT(US).
    next: u64,
}

impl UmTx {
    pub(in crate::rlc) fn new(config: &RlcConfig, um: &UmConfig) -> UmTx {
        let header = if um.sn_bits == 10 { 2 } else { 1 };
        let buffer = TxBuffer::new(config.buffer, config.closes_count_gaps);
        UmTx {
            space: SnSpace::new(um.sn_bits),
            subheader: config.subheader,
            assembly: Assembly::new(buffer, LengthIndicators::SHORT, header),
            next: START,
        }
    }

    pub(in crate::rlc) fn backlog(&self) -> Backlog {
        Backlog {
            new: self.assembly.backlog(self.subheader.size(u32::MAX)),
            ..Backlog::default()
        }
    }

    pub(in crate::rlc) fn pull(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        loop {
            let room = self.subheader.largest_pdu(pull.room());
            let first = pull.block.parts.len() as u32;
            let (count, bytes) = self.assembly.fill(room, pull);
            if count == 0 {
                return;
            }
            let size = self.assembly.header + self.assembly.indicators.size(count) + bytes;
            pull.block.pdus.push(Pdu {
                kind: PduKind::Umd,
                sn: self.space.on_air(self.next),
                size,
                first,
                count,
                ..Pdu::default()
            });
            pull.block.bytes += size + self.subheader.size(size);
            self.next += 1;
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::rlc) struct UmRx {
    space: SnSpace,
    t_reordering: Span,
    /// VR(UR): number of the earliest PDU that may still be reordered.
    vr_ur: u64,
    /// VR(UX): number that started t-Reordering.
    vr_ux: u64,
    /// VR(UH): number after the highest received PDU.
    vr_uh: u64,
    /// PDUs from VR(UR) on.
    store: Store,
    reassembler: Reassembler,
    expires_at: Time,
}

impl UmRx {
    pub(in crate::rlc) fn new(um: &UmConfig) -> UmRx {
        UmRx {
            space: SnSpace::new(um.sn_bits),
            t_reordering: um.t_reassembly,
            vr_ur: START,
            vr_ux: START,
            vr_uh: START,
            store: Store::new(),
            reassembler: Reassembler::default(),
            expires_at: Time::NEVER,
        }
    }

    pub(in crate::rlc) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) {
        let low = self.vr_uh - self.space.window;
        let number = self.space.extend(pdu.sn, low);
        if number < self.vr_ur || self.store.holds(number) {
            return;
        }
        self.store.put(number, 0, parts);
        if number >= self.vr_uh {
            self.vr_uh = number + 1;
            let low = self.vr_uh - self.space.window;
            if self.vr_ur < low {
                self.move_to(low, delivered);
            }
        }
        if self.store.holds(self.vr_ur) {
            self.move_to(self.vr_ur, delivered);
        }
        // VR(UR) is in the window, so a number outside the window is below VR(UR).
        if self.vr_ux <= self.vr_ur {
            self.expires_at = Time::NEVER;
        }
        if self.expires_at.is_never() {
            self.start_timer(now);
        }
    }

    /// Delivers the complete received SDUs in spite of gaps.
    pub(in crate::rlc) fn hand_up(&mut self, held: &mut Vec<Sdu>) {
        self.store.take_all(&mut self.reassembler, held);
    }

    /// Moves VR(UR) to the first missing PDU from `number` on, and delivers the PDUs below it.
    fn move_to(&mut self, number: u64, delivered: &mut Vec<Sdu>) {
        self.vr_ur = number;
        while self.store.holds(self.vr_ur) {
            self.vr_ur += 1;
        }
        self.store
            .take_below(self.vr_ur, &mut self.reassembler, delivered);
    }

    fn start_timer(&mut self, now: Time) {
        if self.vr_uh > self.vr_ur {
            self.expires_at = now.saturating_add(self.t_reordering);
            self.vr_ux = self.vr_uh;
        }
    }

    pub(in crate::rlc) fn on_wake(&mut self, now: Time, delivered: &mut Vec<Sdu>) {
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.move_to(self.vr_ux, delivered);
        self.start_timer(now);
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

    /// Returns a receiver with an SN of 5 bits, whose window is 16.
    fn rx() -> UmRx {
        UmRx::new(&UmConfig {
            sn_bits: 5,
            t_reassembly: WAIT,
        })
    }

    impl UmRx {
        /// Receives PDU `number` at `ms`, with an SDU of the same COUNT. Returns the COUNTs
        /// delivered.
        fn receive_at_ms(&mut self, ms: u64, number: u32) -> Vec<u32> {
            let sdu = Sdu {
                size: 100,
                count: number,
                ..Sdu::default()
            };
            let pdu = Pdu {
                kind: PduKind::Umd,
                sn: number % 32,
                ..Pdu::default()
            };
            let mut delivered = Vec::new();
            self.on_pdu(at_ms(ms), &pdu, &[SduPart::whole(sdu)], &mut delivered);
            delivered.iter().map(|sdu| sdu.count).collect()
        }
        /// Returns VR(UR) and VR(UH).
        fn ends(&self) -> (u64, u64) {
            (self.vr_ur - START, self.vr_uh - START)
        }
    }

    const NONE: [u32; 0] = [];

    #[test]
    fn a_gap_holds_back_what_is_behind_it_until_it_is_filled() {
        let mut rx = rx();
        assert_eq!(rx.receive_at_ms(0, 0), [0]);
        assert!(rx.wake_at().is_never(), "nothing is missing");
        assert_eq!(rx.receive_at_ms(1, 2), NONE);
        assert_eq!((rx.ends(), rx.wake_at()), ((1, 3), at_ms(1) + WAIT));
        assert_eq!(rx.receive_at_ms(2, 4), NONE);
        assert_eq!(rx.wake_at(), at_ms(1) + WAIT, "not started again");
        assert_eq!(rx.receive_at_ms(3, 1), [1, 2]);
        assert_eq!((rx.ends(), rx.wake_at()), ((3, 5), at_ms(3) + WAIT));
        assert_eq!(rx.receive_at_ms(4, 3), [3, 4]);
        assert_eq!((rx.ends(), rx.wake_at()), ((5, 5), Time::NEVER));
    }

    #[test]
    fn a_gap_is_given_up_after_t_reordering() {
        let mut rx = rx();
        rx.receive_at_ms(0, 1);
        rx.receive_at_ms(1, 3);
        let mut out = Vec::new();
        rx.on_wake(at_ms(34), &mut out);
        assert!(out.is_empty() && rx.wake_at() == at_ms(35), "too early");
        rx.on_wake(at_ms(35), &mut out);
        assert_eq!(out.iter().map(|sdu| sdu.count).collect::<Vec<_>>(), [1]);
        assert_eq!((rx.ends(), rx.wake_at()), ((2, 4), at_ms(35) + WAIT));
    }

    #[test]
    fn duplicates_are_discarded_whether_delivered_or_held_back() {
        let mut rx = rx();
        assert_eq!(rx.receive_at_ms(0, 0), [0]);
        assert_eq!(rx.receive_at_ms(1, 0), NONE);
        rx.receive_at_ms(1, 2);
        assert_eq!(rx.receive_at_ms(2, 2), NONE);
        assert_eq!(rx.receive_at_ms(3, 1), [1, 2]);
        assert_eq!(rx.ends(), (3, 3));
    }

    #[test]
    fn what_falls_out_of_the_window_is_delivered_as_it_is() {
        let mut rx = rx();
        rx.receive_at_ms(0, 1);
        assert_eq!(rx.receive_at_ms(1, 15), NONE);
        assert_eq!(rx.ends(), (0, 16), "it just fits");
        assert_eq!(rx.receive_at_ms(2, 20), [1]);
        assert_eq!(rx.ends(), (5, 21));
    }
}
