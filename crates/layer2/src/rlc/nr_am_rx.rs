//! The receiving side of NR acknowledged mode (TS 38.322 clauses 5.2.3.2 and 5.3.4).

use super::pieces::{Insertion, Received};
use super::reception::Reception;
use super::sequence::START;
use super::{AmConfig, Generation, Pdu, RlcConfig, Sdu, SduPart, TransportBlock};
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct NrAmRx {
    t_reassembly: Span,
    reception: Reception,
    rx_next_status_trigger: u64,
    /// t-Reassembly.
    expires_at: Time,
}

impl NrAmRx {
    pub(super) fn new(config: &RlcConfig, am: &AmConfig) -> NrAmRx {
        NrAmRx {
            t_reassembly: am.t_reassembly,
            reception: Reception::new(Generation::Nr, config, am),
            rx_next_status_trigger: START,
            expires_at: Time::NEVER,
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
        let rx_next = self.reception.window.first();
        let number = self.reception.space.extend(pdu.sn, rx_next);
        let is_placed = number < self.reception.limit() && self.place(number, part, delivered);
        if is_placed {
            self.update_timer(now);
        }
        self.reception
            .on_pdu(now, number, is_placed, pdu.is_polling);
    }

    /// Takes a part; false when it brings nothing new.
    #[inline]
    fn place(&mut self, number: u64, part: &SduPart, delivered: &mut Vec<Sdu>) -> bool {
        let reception = &mut self.reception;
        let window = &mut reception.window;
        // The usual case: the next SDU, whole, and nothing waits.
        if number == window.end() && window.is_empty() && part.is_whole() {
            window.advance_to(number + 1);
            reception.decided = number + 1;
            delivered.push(part.sdu);
            return true;
        }
        window.extend_to(number + 1);
        let is_complete = match window[number] {
            Received::All => return false,
            Received::Nothing if part.is_whole() => true,
            _ => match reception.insert(number, (part.offset, part.end()), part.is_last()) {
                Insertion::Duplicate => return false,
                Insertion::Incomplete => false,
                Insertion::Complete => true,
            },
        };
        if is_complete {
            delivered.push(part.sdu);
            reception.complete(number);
        }
        true
    }

    /// Whether something is missing before the last byte received, from `first` on.
    #[inline]
    fn has_gap_from(&self, first: u64) -> bool {
        let end = self.reception.window.end();
        end > first + 1
            || (end == first + 1
                && match self.reception.window[first] {
                    Received::Some(id) => self.reception.pieces.has_gap(id),
                    Received::Nothing | Received::All => false,
                })
    }

    #[inline]
    fn update_timer(&mut self, now: Time) {
        let rx_next = self.reception.window.first();
        if !self.expires_at.is_never() {
            let trigger = self.rx_next_status_trigger;
            let is_resolved = trigger <= rx_next
                || (trigger == rx_next + 1 && !self.has_gap_in(rx_next))
                || trigger > self.reception.limit();
            if is_resolved {
                self.expires_at = Time::NEVER;
            }
        }
        if self.expires_at.is_never() && self.has_gap_from(rx_next) {
            self.start_timer(now);
        }
    }

    fn has_gap_in(&self, number: u64) -> bool {
        match self.reception.window[number] {
            Received::Some(id) => self.reception.pieces.has_gap(id),
            Received::Nothing => true,
            Received::All => false,
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.expires_at = now.saturating_add(self.t_reassembly);
        self.rx_next_status_trigger = self.reception.window.end();
    }

    pub(super) fn on_wake(&mut self, now: Time) {
        self.reception.on_wake(now);
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.reception
            .give_up_below(now, self.rx_next_status_trigger);
        if self.has_gap_from(self.reception.decided) {
            self.start_timer(now);
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.expires_at.min(self.reception.wake_at())
    }

    /// Bytes of the STATUS PDU that is due, with its subheader.
    #[inline]
    pub(super) fn status_backlog(&self, now: Time) -> u64 {
        self.reception.status_backlog(now)
    }

    /// Sends a STATUS PDU if one is due and fits.
    #[inline]
    pub(super) fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) {
        self.reception.pull(now, grant, block);
    }
}
