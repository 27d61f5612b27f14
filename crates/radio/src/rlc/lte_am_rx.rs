//! The receiving side of LTE acknowledged mode (TS 36.322 clauses 5.1.3.2 and 5.2.3).

use super::lte_order::{Reassembler, Store};
use super::pieces::{Insertion, Pieces, Received};
use super::report::Report;
use super::sequence::{START, SnSpace, Window};
use super::status::{Reception, StatusFormat};
use super::{AmConfig, Generation, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock};
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct LteAmRx {
    space: SnSpace,
    t_reordering: Span,
    format: StatusFormat,
    /// From VR(R) to VR(H).
    window: Window<Received>,
    pieces: Pieces,
    store: Store,
    reassembler: Reassembler,
    /// VR(MS): the first PDU whose reception is not decided.
    vr_ms: u64,
    /// VR(X): what started t-Reordering.
    vr_x: u64,
    expires_at: Time,
    report: Report,
}

impl LteAmRx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> LteAmRx {
        LteAmRx {
            space: SnSpace::new(am.sn_bits),
            t_reordering: am.t_reassembly,
            format: StatusFormat::new(Generation::Lte, am.sn_bits, config.subheader),
            window: Window::new(START),
            pieces: Pieces::default(),
            store: Store::new(),
            reassembler: Reassembler::default(),
            vr_ms: START,
            vr_x: START,
            expires_at: Time::NEVER,
            report: Report::new(am.t_status_prohibit),
        }
    }

    pub(super) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) {
        let vr_r = self.window.first();
        let number = self.space.extend(pdu.sn, vr_r);
        let is_placed =
            number < vr_r + self.space.window && self.place(number, pdu, parts, delivered);
        if is_placed {
            self.update_timer(now);
            self.report.on_decided(now, self.vr_ms);
        }
        if pdu.is_polling {
            let is_beyond = number >= self.window.first() + self.space.window;
            if !is_placed || is_beyond || number < self.vr_ms {
                self.report.trigger(now);
            } else {
                self.report.delay(number);
            }
        }
    }

    /// Takes a PDU or a segment of one; false when it brings nothing new.
    fn place(
        &mut self,
        number: u64,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) -> bool {
        self.window.extend_to(number + 1);
        let is_segment = pdu.kind == PduKind::AmdSegment;
        let is_complete = match self.window[number] {
            Received::All => return false,
            Received::Nothing if !is_segment => true,
            state => {
                let id = match state {
                    Received::Some(id) => id,
                    _ => {
                        let id = self.pieces.open();
                        self.window[number] = Received::Some(id);
                        id
                    }
                };
                let len: u32 = parts.iter().map(|part| part.len).sum();
                let start = pdu.segment_offset;
                let is_last = !is_segment || pdu.is_last_segment;
                match self.pieces.insert(id, start, start + len, is_last) {
                    Insertion::Duplicate => return false,
                    Insertion::Incomplete => false,
                    Insertion::Complete => {
                        self.pieces.close(id);
                        true
                    }
                }
            }
        };
        self.store.put(number, pdu.segment_offset, parts);
        if is_complete {
            self.window[number] = Received::All;
            if number == self.vr_ms {
                self.vr_ms = self.first_missing(number + 1);
            }
            if number == self.window.first() {
                let vr_r = self.first_missing(number + 1);
                self.window.advance_to(vr_r);
                self.store
                    .take_below(vr_r, &mut self.reassembler, delivered);
            }
        }
        true
    }

    /// The first number from `number` on that is not completely received.
    fn first_missing(&self, mut number: u64) -> u64 {
        while number < self.window.end() && self.window[number] == Received::All {
            number += 1;
        }
        number
    }

    fn update_timer(&mut self, now: Time) {
        let vr_r = self.window.first();
        if !self.expires_at.is_never()
            && (self.vr_x <= vr_r || self.vr_x > vr_r + self.space.window)
        {
            self.expires_at = Time::NEVER;
        }
        if self.expires_at.is_never() && self.window.end() > vr_r {
            self.start_timer(now);
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.expires_at = now.saturating_add(self.t_reordering);
        self.vr_x = self.window.end();
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        self.report.on_wake(now);
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.vr_ms = self.first_missing(self.vr_x);
        if self.window.end() > self.vr_ms {
            self.start_timer(now);
        }
        self.report.trigger(now);
        self.report.on_decided(now, self.vr_ms);
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.expires_at.min(self.report.wake_at())
    }

    fn reception(&self) -> Reception<'_> {
        Reception {
            space: self.space,
            window: &self.window,
            pieces: &self.pieces,
            end: self.vr_ms,
        }
    }

    /// Bytes of the STATUS PDU that is due, with its subheader.
    pub(super) fn status_backlog(&self, now: Time) -> u64 {
        if self.report.is_due(now) {
            self.format.size(&self.reception())
        } else {
            0
        }
    }

    /// Sends a STATUS PDU if one is due and fits.
    pub(super) fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) {
        if self.report.is_due(now) && self.format.write(&self.reception(), grant, block) {
            self.report.on_sent(now);
        }
    }
}
