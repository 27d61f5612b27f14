//! The receiving side of NR acknowledged mode (TS 38.322 clauses 5.2.3.2 and 5.3.4).

use super::pieces::{Insertion, Pieces, Received};
use super::report::Report;
use super::sequence::{START, SnSpace, Window};
use super::{AmConfig, MacSubheader, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock};
use fadeout_core::{Span, Time};

/// SNs that one NACK range covers at most: its field has 8 bits.
const LONGEST_RANGE: u64 = 255;
/// Bytes of a STATUS PDU without NACKs, for both lengths of the SN (TS 38.322 clause 6.2.2.5).
const STATUS_HEADER: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct NrAmRx {
    space: SnSpace,
    t_reassembly: Span,
    subheader: MacSubheader,
    /// Bytes of a NACK_SN with its extension bits.
    nack_size: u32,
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
            subheader: config.subheader,
            nack_size: if am.sn_bits == 18 { 3 } else { 2 },
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

    /// Bytes of the STATUS PDU that is due, with its subheader.
    pub(super) fn status_backlog(&self, now: Time) -> u64 {
        if !self.report.is_due(now) {
            return 0;
        }
        let mut size = STATUS_HEADER;
        self.for_each_nack(|nack| {
            size += self.size_of(nack);
            true
        });
        u64::from(size + self.subheader.size(size))
    }

    /// Sends a STATUS PDU if one is due and fits; it reports as much as fits.
    pub(super) fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) {
        if !self.report.is_due(now) {
            return;
        }
        let room = self.subheader.largest_pdu(grant);
        if room < STATUS_HEADER {
            return;
        }
        let first = block.nacks.len();
        let mut size = STATUS_HEADER;
        let mut ack = self.rx_highest_status;
        self.for_each_nack(|nack| {
            let bytes = self.size_of(nack);
            if size + bytes > room {
                ack = self.space.extend(nack.sn, self.window.first());
                return false;
            }
            size += bytes;
            block.nacks.push(*nack);
            true
        });
        // An SDU is reported with all of its gaps or not at all.
        let ack_sn = self.space.on_air(ack);
        while block.nacks.len() > first && block.nacks[block.nacks.len() - 1].sn == ack_sn {
            size -= self.size_of(&block.nacks[block.nacks.len() - 1]);
            block.nacks.pop();
        }
        block.bytes += size + self.subheader.size(size);
        block.pdus.push(Pdu {
            kind: PduKind::Status,
            sn: ack_sn,
            size,
            first: first as u32,
            count: (block.nacks.len() - first) as u32,
            ..Pdu::default()
        });
        self.report.on_sent(now);
    }

    /// Bytes of a NACK: SN, segment offsets, range (TS 38.322 clause 6.2.2.5).
    fn size_of(&self, nack: &Nack) -> u32 {
        self.nack_size
            + if nack.segment.is_some() { 4 } else { 0 }
            + if nack.range > 1 { 1 } else { 0 }
    }

    /// Calls `report` for what is missing below RX_Highest_Status, in order, until it says false.
    fn for_each_nack(&self, mut report: impl FnMut(&Nack) -> bool) {
        let mut number = self.window.first();
        while number < self.rx_highest_status {
            let sn = self.space.on_air(number);
            match self.window[number] {
                Received::All => number += 1,
                Received::Nothing => {
                    let longest = self.rx_highest_status.min(number + LONGEST_RANGE);
                    let mut end = number + 1;
                    while end < longest && self.window[end] == Received::Nothing {
                        end += 1;
                    }
                    let range = (end - number) as u16;
                    let segment = None;
                    if !report(&Nack { sn, range, segment }) {
                        return;
                    }
                    number = end;
                }
                Received::Some(id) => {
                    for (start, end) in self.pieces.missing(id) {
                        let nack = Nack {
                            sn,
                            range: 1,
                            segment: Some((start, end.map_or(Nack::TO_THE_END, |end| end - 1))),
                        };
                        if !report(&nack) {
                            return;
                        }
                    }
                    number += 1;
                }
            }
        }
    }
}
