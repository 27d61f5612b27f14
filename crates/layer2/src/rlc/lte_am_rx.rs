//! The receiving side of LTE acknowledged mode (TS 36.322 clauses 5.1.3.2 and 5.2.3).

use super::lte_order::{Reassembler, Store};
use super::pieces::{Insertion, Received};
use super::reception::Reception;
use super::sequence::START;
use super::{AmConfig, Generation, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock};
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct LteAmRx {
    t_reordering: Span,
    reception: Reception,
    store: Store,
    reassembler: Reassembler,
    /// VR(X): what started t-Reordering.
    vr_x: u64,
    expires_at: Time,
}

impl LteAmRx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> LteAmRx {
        LteAmRx {
            t_reordering: am.t_reassembly,
            reception: Reception::new(Generation::Lte, config, am),
            store: Store::new(),
            reassembler: Reassembler::default(),
            vr_x: START,
            expires_at: Time::NEVER,
        }
    }

    pub(super) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) {
        let vr_r = self.reception.window.first();
        let number = self.reception.space.extend(pdu.sn, vr_r);
        let is_placed =
            number < self.reception.limit() && self.place(number, pdu, parts, delivered);
        if is_placed {
            self.update_timer(now);
        }
        self.reception
            .on_pdu(now, number, is_placed, pdu.is_polling);
    }

    /// Takes a PDU or a segment of one; false when it brings nothing new.
    fn place(
        &mut self,
        number: u64,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) -> bool {
        let reception = &mut self.reception;
        reception.window.extend_to(number + 1);
        let is_segment = pdu.kind == PduKind::AmdSegment;
        let is_complete = match reception.window[number] {
            Received::All => return false,
            Received::Nothing if !is_segment => true,
            _ => {
                let len: u32 = parts.iter().map(|part| part.len).sum();
                let start = pdu.segment_offset;
                let is_last = !is_segment || pdu.is_last_segment;
                match reception.insert(number, (start, start + len), is_last) {
                    Insertion::Duplicate => return false,
                    Insertion::Incomplete => false,
                    Insertion::Complete => true,
                }
            }
        };
        self.store.put(number, pdu.segment_offset, parts);
        if is_complete && reception.complete(number) {
            let vr_r = reception.window.first();
            self.store
                .take_below(vr_r, &mut self.reassembler, delivered);
        }
        true
    }

    fn update_timer(&mut self, now: Time) {
        let vr_r = self.reception.window.first();
        if !self.expires_at.is_never() && (self.vr_x <= vr_r || self.vr_x > self.reception.limit())
        {
            self.expires_at = Time::NEVER;
        }
        if self.expires_at.is_never() && self.reception.window.end() > vr_r {
            self.start_timer(now);
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.expires_at = now.saturating_add(self.t_reordering);
        self.vr_x = self.reception.window.end();
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        self.reception.on_wake(now);
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.reception.give_up_below(now, self.vr_x);
        if self.reception.window.end() > self.reception.decided {
            self.start_timer(now);
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.expires_at.min(self.reception.wake_at())
    }

    /// Bytes of the STATUS PDU that is due, with its subheader.
    pub(super) fn status_backlog(&self, now: Time) -> u64 {
        self.reception.status_backlog(now)
    }

    /// Sends a STATUS PDU if one is due and fits.
    pub(super) fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) {
        self.reception.pull(now, grant, block);
    }
}
