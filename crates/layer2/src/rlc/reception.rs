//! Receiving side of acknowledged mode: detection of missing data, and status reports.
//!
//! Standard: TS 38.322 §5.2.3.2, §5.3.4; TS 36.322 §5.1.3.2, §5.2.3.

use super::pieces::{Insertion, Pieces, Received};
use super::report::Report;
use super::sequence::{START, SnSpace, Window};
use super::status::StatusFormat;
use super::{AmConfig, Generation, RlcConfig, TransportBlock};
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct Reception {
    pub(super) space: SnSpace,
    /// Window from RX_Next to RX_Next_Highest (NR), or from VR(R) to VR(H) (LTE).
    pub(super) window: Window<Received>,
    pub(super) pieces: Pieces,
    /// First number whose reception is undecided, and end of a report: RX_Highest_Status (NR),
    /// VR(MS) (LTE).
    pub(super) decided: u64,
    generation: Generation,
    /// Duration of t-Reassembly (NR) or t-Reordering (LTE).
    wait: Span,
    /// Expiry of t-Reassembly (NR) or t-Reordering (LTE).
    expires_at: Time,
    /// Number after the one that started the timer: RX_Next_Status_Trigger (NR), VR(X) (LTE).
    trigger: u64,
    format: StatusFormat,
    report: Report,
}

impl Reception {
    pub(super) fn new(generation: Generation, config: &RlcConfig, am: &AmConfig) -> Reception {
        Reception {
            space: SnSpace::new(am.sn_bits),
            window: Window::new(START),
            pieces: Pieces::default(),
            decided: START,
            generation,
            wait: am.t_reassembly,
            expires_at: Time::NEVER,
            trigger: START,
            format: StatusFormat::new(generation, am.sn_bits, config.subheader),
            report: Report::new(am.t_status_prohibit),
        }
    }

    /// Returns the number after the last one that fits into the window.
    #[inline]
    pub(super) fn limit(&self) -> u64 {
        self.window.first() + self.space.window
    }

    /// Returns the first number from `number` on that is not completely received.
    #[inline]
    pub(super) fn first_missing(&self, mut number: u64) -> u64 {
        while number < self.window.end() && self.window[number] == Received::All {
            number += 1;
        }
        number
    }

    /// Adds received bytes `start .. end` of a number that is incomplete.
    #[inline]
    pub(super) fn insert(
        &mut self,
        number: u64,
        (start, end): (u32, u32),
        is_last: bool,
    ) -> Insertion {
        let id = match self.window[number] {
            Received::Some(id) => id,
            Received::Nothing | Received::All => {
                let id = self.pieces.open();
                self.window[number] = Received::Some(id);
                id
            }
        };
        let insertion = self.pieces.insert(id, start, end, is_last);
        if matches!(insertion, Insertion::Complete) {
            self.pieces.close(id);
        }
        insertion
    }

    /// Records that a number is completely received. Returns true if the window has moved.
    #[inline]
    pub(super) fn complete(&mut self, number: u64) -> bool {
        self.window[number] = Received::All;
        if number == self.decided {
            self.decided = self.first_missing(number + 1);
        }
        let moves = number == self.window.first();
        if moves {
            let first = self.first_missing(number + 1);
            self.window.advance_to(first);
        }
        moves
    }

    /// Processes a PDU. `is_placed`: true if it has new bytes. A poll is answered when the
    /// reception of its PDU is decided.
    ///
    /// Standard: TS 38.322 §5.3.4; TS 36.322 §5.2.3.
    #[inline]
    pub(super) fn on_pdu(&mut self, now: Time, number: u64, is_placed: bool, is_polling: bool) {
        if is_placed {
            self.update_timer(now);
            self.report.on_decided(now, self.decided);
        }
        if is_polling {
            if !is_placed || number >= self.limit() || number < self.decided {
                self.report.trigger(now);
            } else {
                self.report.delay(number);
            }
        }
        self.assert_invariants();
    }

    /// Returns true if bytes of a number in the window are missing before received ones. LTE counts
    /// PDUs, so a PDU of which only segments are received is missing.
    #[inline]
    fn has_gap_in(&self, number: u64) -> bool {
        match self.window[number] {
            Received::Some(id) => self.generation == Generation::Lte || self.pieces.has_gap(id),
            Received::Nothing => true,
            Received::All => false,
        }
    }

    /// Returns true if a byte from number `first` on is missing before the last byte received.
    #[inline]
    fn has_gap_from(&self, first: u64) -> bool {
        let end = self.window.end();
        end > first + 1 || (end == first + 1 && self.has_gap_in(first))
    }

    #[inline]
    fn update_timer(&mut self, now: Time) {
        let first = self.window.first();
        if !self.expires_at.is_never() {
            // The window only moves up, so the trigger is never above it.
            let is_resolved =
                self.trigger <= first || (self.trigger == first + 1 && !self.has_gap_in(first));
            if is_resolved {
                self.expires_at = Time::NEVER;
            }
        }
        if self.expires_at.is_never() && self.has_gap_from(first) {
            self.start_timer(now);
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.expires_at = now.saturating_add(self.wait);
        self.trigger = self.window.end();
    }

    /// Handles expiries of t-StatusProhibit and of the timer for missing data. Missing data is
    /// reported after its timer.
    ///
    /// Standard: TS 38.322 §5.3.4; TS 36.322 §5.2.3.
    pub(super) fn on_wake(&mut self, now: Time) {
        self.report.on_wake(now);
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        self.decided = self.first_missing(self.trigger);
        self.report.trigger(now);
        self.report.on_decided(now, self.decided);
        if self.has_gap_from(self.decided) {
            self.start_timer(now);
        }
        self.assert_invariants();
        debug_assert!(self.wake_at() > now, "a timer is left in the past");
    }

    /// Returns the next timer expiry, or the time at which a held STATUS PDU becomes due.
    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.expires_at.min(self.report.wake_at())
    }

    /// Asserts the order of the receiving window's variables: RX_Next <= RX_Highest_Status <=
    /// RX_Next_Highest.
    ///
    /// Standard: TS 38.322 §7.1.
    #[inline]
    fn assert_invariants(&self) {
        let (first, end) = (self.window.first(), self.window.end());
        debug_assert!(
            first <= self.decided && self.decided <= end,
            "what is decided ends at {}, in a window from {first} to {end}",
            self.decided
        );
        debug_assert!(
            end - first <= self.space.window,
            "the receiving window holds {} PDUs",
            end - first
        );
        debug_assert!(
            first == end || self.window[first] != Received::All,
            "the window begins with a PDU that is there"
        );
        debug_assert!(
            self.expires_at.is_never() || self.trigger <= end,
            "the timer waits for a PDU beyond the window"
        );
        debug_assert!(
            self.expires_at.is_never() || first < end,
            "the timer runs and nothing is missing"
        );
    }

    /// Returns the time from which a STATUS PDU is due.
    pub(super) fn status_from(&self) -> Time {
        self.report.due_from()
    }

    /// Returns the current bytes of a STATUS PDU with its subheader.
    pub(super) fn status_bytes(&self) -> u64 {
        self.format.size(self)
    }

    /// Sends a STATUS PDU if one is due and fits.
    #[inline]
    pub(super) fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) {
        if self.report.is_due(now) && self.format.write(self, grant, block) {
            self.report.on_sent(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlc::Mode;

    const WAIT: Span = Span::from_millis(35);

    fn reception(generation: Generation) -> Reception {
        let config = match generation {
            Generation::Lte => RlcConfig::LTE_AM,
            Generation::Nr => RlcConfig::NR_AM,
        };
        let Mode::Am(am) = config.mode else {
            unreachable!("acknowledged mode");
        };
        let am = AmConfig {
            t_reassembly: WAIT,
            t_status_prohibit: Span::ZERO,
            ..am
        };
        Reception::new(generation, &config, &am)
    }

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    impl Reception {
        /// Receives all bytes of SN `sn`.
        fn whole(&mut self, now: Time, sn: u64, is_polling: bool) {
            let number = START + sn;
            self.window.extend_to(number + 1);
            self.complete(number);
            self.on_pdu(now, number, true, is_polling);
        }
        /// Receives a byte range of SN `sn`, which has 100 bytes.
        fn piece(&mut self, now: Time, sn: u64, bytes: (u32, u32), is_polling: bool) {
            let number = START + sn;
            self.window.extend_to(number + 1);
            if self.insert(number, bytes, bytes.1 == 100) == Insertion::Complete {
                self.complete(number);
            }
            self.on_pdu(now, number, true, is_polling);
        }
        fn is_due(&self, now: Time) -> bool {
            now >= self.status_from()
        }
        fn sent(&mut self, now: Time) {
            let mut block = TransportBlock::new();
            self.pull(now, 1000, &mut block);
            assert_eq!(block.pdus.len(), 1);
        }
    }

    #[test]
    fn what_comes_behind_a_gap_does_not_start_its_timer_again() {
        for generation in [Generation::Nr, Generation::Lte] {
            let mut reception = reception(generation);
            reception.whole(at_ms(0), 1, false);
            reception.whole(at_ms(10), 3, false);
            assert_eq!(reception.wake_at(), at_ms(0) + WAIT);
            // The timer was started for the numbers below 2. The gap at 2 starts its own timer.
            reception.whole(at_ms(20), 0, false);
            assert_eq!(reception.wake_at(), at_ms(20) + WAIT);
            reception.whole(at_ms(30), 2, false);
            assert!(reception.wake_at().is_never());
        }
    }

    /// VR(H) of LTE is above VR(R) after the first segment. RX_Next_Highest of NR needs a missing
    /// byte before a received one.
    #[test]
    fn the_beginning_of_an_sdu_is_a_gap_in_lte_and_none_in_nr() {
        for (generation, wake_at) in [
            (Generation::Nr, Time::NEVER),
            (Generation::Lte, at_ms(5) + WAIT),
        ] {
            let mut reception = reception(generation);
            reception.whole(at_ms(0), 0, false);
            reception.piece(at_ms(5), 1, (0, 50), false);
            assert_eq!(reception.wake_at(), wake_at, "{generation:?}");
        }
    }

    #[test]
    fn a_missing_beginning_is_waited_for_until_it_comes() {
        let mut reception = reception(Generation::Nr);
        reception.piece(at_ms(5), 0, (50, 70), false);
        assert_eq!(reception.wake_at(), at_ms(5) + WAIT);
        reception.piece(at_ms(6), 0, (0, 50), false);
        assert!(reception.wake_at().is_never(), "the end is not missing yet");
    }

    #[test]
    fn the_timer_goes_on_while_something_is_missing_below_what_started_it() {
        let mut reception = reception(Generation::Nr);
        reception.whole(at_ms(0), 2, false);
        // SDU 0 has no gap before its last received byte, but SDU 1 is missing.
        reception.piece(at_ms(10), 0, (0, 50), false);
        assert_eq!(reception.wake_at(), at_ms(0) + WAIT);
        reception.on_wake(at_ms(35));
        assert!(reception.is_due(at_ms(35)));
        assert_eq!(
            reception.decided,
            START + 3,
            "given up below what started it"
        );
    }

    #[test]
    fn a_poll_in_a_pdu_that_is_not_decided_waits_for_it() {
        let mut reception = reception(Generation::Nr);
        reception.piece(at_ms(0), 0, (0, 50), true);
        assert!(!reception.is_due(at_ms(0)));
        reception.piece(at_ms(1), 0, (50, 100), false);
        assert!(reception.is_due(at_ms(1)));
        reception.sent(at_ms(1));
        reception.whole(at_ms(2), 1, false);
        assert!(!reception.is_due(at_ms(2)), "it was answered");
    }

    #[test]
    fn a_poll_in_a_pdu_that_is_discarded_is_answered_at_once() {
        let mut reception = reception(Generation::Nr);
        reception.whole(at_ms(0), 1, false);
        reception.on_pdu(at_ms(1), START + 1, false, true);
        assert!(reception.is_due(at_ms(1)));
    }
}
