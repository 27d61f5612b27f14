//! The receiving side of NR acknowledged mode (TS 38.322 clauses 5.2.3.2 and 5.3.4).

use super::pieces::{Insertion, Pieces, Received};
use super::report::Report;
use super::sequence::{START, SnSpace, Window};
use super::status::{Reception, StatusFormat};
use super::{AmConfig, Generation, Pdu, RlcConfig, Sdu, SduPart, TransportBlock};
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct NrAmRx {
    space: SnSpace,
    t_reassembly: Span,
    format: StatusFormat,
    /// From RX_Next to RX_Next_Highest.
    window: Window<Received>,
    pieces: Pieces,
    rx_highest_status: u64,
    rx_next_status_trigger: u64,
    /// t-Reassembly.
    expires_at: Time,
    report: Report,
}

impl NrAmRx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> NrAmRx {
        NrAmRx {
            space: SnSpace::new(am.sn_bits),
            t_reassembly: am.t_reassembly,
            format: StatusFormat::new(Generation::Nr, am.sn_bits, config.subheader),
            window: Window::new(START),
            pieces: Pieces::default(),
            rx_highest_status: START,
            rx_next_status_trigger: START,
            expires_at: Time::NEVER,
            report: Report::new(am.t_status_prohibit),
        }
    }

    #[inline]
    pub(super) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        part: &SduPart,
        delivered: &mut Vec<Sdu>,
    ) {
        let rx_next = self.window.first();
        let number = self.space.extend(pdu.sn, rx_next);
        let is_placed = number < rx_next + self.space.window && self.place(number, part, delivered);
        if is_placed {
            self.update_timer(now);
            self.report.on_decided(now, self.rx_highest_status);
        }
        if pdu.is_polling {
            let is_beyond = number >= self.window.first() + self.space.window;
            if !is_placed || is_beyond || number < self.rx_highest_status {
                self.report.trigger(now);
            } else {
                self.report.delay(number);
            }
        }
    }

    /// Takes a part; false when it brings nothing new.
    #[inline]
    fn place(&mut self, number: u64, part: &SduPart, delivered: &mut Vec<Sdu>) -> bool {
        // The usual case: the next SDU, whole, and nothing waits.
        if number == self.window.end() && self.window.is_empty() && part.is_whole() {
            self.window.advance_to(number + 1);
            self.rx_highest_status = number + 1;
            delivered.push(part.sdu);
            return true;
        }
        self.window.extend_to(number + 1);
        let is_complete = match self.window[number] {
            Received::All => return false,
            Received::Nothing if part.is_whole() => true,
            Received::Nothing => {
                let id = self.pieces.open();
                self.window[number] = Received::Some(id);
                self.pieces
                    .insert(id, part.offset, part.end(), part.is_last());
                false
            }
            Received::Some(id) => {
                match self
                    .pieces
                    .insert(id, part.offset, part.end(), part.is_last())
                {
                    Insertion::Duplicate => return false,
                    Insertion::Incomplete => false,
                    Insertion::Complete => {
                        self.pieces.close(id);
                        true
                    }
                }
            }
        };
        if is_complete {
            self.window[number] = Received::All;
            delivered.push(part.sdu);
            if number == self.rx_highest_status {
                self.rx_highest_status = self.first_missing(number + 1);
            }
            if number == self.window.first() {
                let rx_next = self.first_missing(number + 1);
                self.window.advance_to(rx_next);
            }
        }
        true
    }

    /// The first number from `number` on that is not completely received.
    #[inline]
    fn first_missing(&self, mut number: u64) -> u64 {
        while number < self.window.end() && self.window[number] == Received::All {
            number += 1;
        }
        number
    }

    /// Whether something is missing before the last byte received, from `first` on.
    #[inline]
    fn has_gap_from(&self, first: u64) -> bool {
        let end = self.window.end();
        end > first + 1
            || (end == first + 1
                && match self.window[first] {
                    Received::Some(id) => self.pieces.has_gap(id),
                    Received::Nothing | Received::All => false,
                })
    }

    #[inline]
    fn update_timer(&mut self, now: Time) {
        let rx_next = self.window.first();
        if !self.expires_at.is_never() {
            let trigger = self.rx_next_status_trigger;
            let is_resolved = trigger <= rx_next
                || (trigger == rx_next + 1 && !self.has_gap_in(rx_next))
                || trigger > rx_next + self.space.window;
            if is_resolved {
                self.expires_at = Time::NEVER;
            }
        }
        if self.expires_at.is_never() && self.has_gap_from(rx_next) {
            self.start_timer(now);
        }
    }

    fn has_gap_in(&self, number: u64) -> bool {
        match self.window[number] {
            Received::Some(id) => self.pieces.has_gap(id),
            Received::Nothing => true,
            Received::All => false,
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.expires_at = now.saturating_add(self.t_reassembly);
        self.rx_next_status_trigger = self.window.end();
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        self.report.on_wake(now);
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.rx_highest_status = self.first_missing(self.rx_next_status_trigger);
        if self.has_gap_from(self.rx_highest_status) {
            self.start_timer(now);
        }
        self.report.trigger(now);
        self.report.on_decided(now, self.rx_highest_status);
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
            end: self.rx_highest_status,
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
    #[inline]
    pub(super) fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) {
        if self.report.is_due(now) && self.format.write(&self.reception(), grant, block) {
            self.report.on_sent(now);
        }
    }
}
