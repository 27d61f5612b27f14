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
    /// VR(UR): the earliest PDU that may still be reordered.
    vr_ur: u64,
    /// VR(UX): what started t-Reordering.
    vr_ux: u64,
    /// VR(UH): above the highest PDU received.
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
        if !self.expires_at.is_never() {
            let low = self.vr_uh - self.space.window;
            if self.vr_ux <= self.vr_ur || self.vr_ux < low {
                self.expires_at = Time::NEVER;
            }
        }
        if self.expires_at.is_never() {
            self.start_timer(now);
        }
    }

    /// Moves VR(UR) to the first PDU from `number` on that is not here and delivers what is
    /// below.
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
