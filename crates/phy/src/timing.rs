//! Times between assignment, transmission, feedback and repetition.
//!
//! One set of rules serves LTE and NR. Each step has a least number of slots and a least processing
//! time. It then takes the first slot of the frame that has symbols for it. The n+4 and n+8 of LTE
//! FDD follow from this. LTE TDD has tables, which replace the rules.
//!
//! Standard: TS 36.213 §7.3, §8, §9.1.2; TS 38.213 §9.2; TS 38.214 §5.3, §6.4.

use super::error::PhyError;
use super::frame::{Frame, lte_symbols};
use super::lte_tdd::LteTdd;
use super::numerology::Numerology;
use fadeout_core::data::{cell, number};
use fadeout_core::{Span, Time};

/// Minimum times between the steps of transmissions in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Time from the arrival of data at the base station to the start of the slot that can assign
    /// the data.
    pub base_preparation: Span,
    /// Time from the end of a reception at the base station to the start of the slot that can
    /// answer it. The reception is a scheduling request, feedback or data. The answer is an
    /// assignment, a grant or a repetition.
    pub base_reaction: Span,
    /// Time from the end of uplink data to its delivery to the layers above.
    pub base_decoding: Span,
    /// Time from the end of downlink data to its delivery to the layers above.
    pub user_decoding: Span,
    /// Time from the end of downlink data to the start of its feedback.
    pub user_feedback: Span,
    /// Time from the end of a grant to the start of its data.
    pub user_preparation: Span,
    /// Slots from an assignment to its data (K0).
    pub k0: u32,
    /// Least number of slots from data to its feedback (K1).
    pub k1: u32,
    /// Least number of slots from a grant to its data (K2).
    pub k2: u32,
    /// Control symbols at the start of a slot, for assignments and grants (PDCCH).
    pub control_symbols: u8,
    /// Symbols at the end of a slot for feedback and scheduling requests (PUCCH).
    pub feedback_symbols: u8,
    /// Configuration of LTE TDD, whose tables apply. `None` for other systems.
    pub lte_tdd: Option<LteTdd>,
}

/// Times of the steps of a downlink transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownlinkTimes {
    /// Slot of the data.
    pub data_slot: u64,
    /// End of the data.
    pub data_end_at: Time,
    /// Time at which a decoded block reaches the layers above.
    pub decoded_at: Time,
    /// Slot of the feedback.
    pub feedback_slot: u64,
    /// End of the feedback, when the base station knows it.
    pub feedback_at: Time,
    /// Slot of the earliest assignment of a repetition, or of new data for the process.
    pub repetition_slot: u64,
}

/// Times of the steps of an uplink transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UplinkTimes {
    /// Slot of the data.
    pub data_slot: u64,
    /// End of the data.
    pub data_end_at: Time,
    /// Time at which a decoded block reaches the layers above.
    pub decoded_at: Time,
    /// Slot of the earliest grant of a repetition, or of new data for the process. In LTE it is
    /// also the slot of the PHICH.
    pub repetition_slot: u64,
}

impl Timing {
    /// Returns the timing of LTE, with every distance in proportion to the interval. Assignments
    /// and data are in one subframe. Feedback is in n+4, and the repetition in n+8. Uplink data is
    /// four subframes after its grant. Decoding takes 1.5 intervals. Data waits one interval at the
    /// base station, and then for the next boundary, half an interval in the mean.
    ///
    /// Standard: TR 36.912 §B.2.1.
    pub fn lte(tti: Span) -> Timing {
        Timing {
            base_preparation: tti,
            base_reaction: tti * 3,
            base_decoding: tti * 3 / 2,
            user_decoding: tti * 3 / 2,
            user_feedback: Span::ZERO,
            user_preparation: Span::ZERO,
            k0: 0,
            k1: 4,
            k2: 4,
            control_symbols: 0,
            // Feedback takes the whole subframe. The uplink symbols of a special subframe carry no
            // feedback.
            feedback_symbols: lte_symbols(tti),
            lte_tdd: None,
        }
    }

    /// Returns the timing of LTE TDD, with the tables of its configuration.
    ///
    /// Standard: TS 36.213 Table 8-2, Table 9.1.2-1, Table 10.1.3.1-1.
    pub fn lte_tdd(tdd: LteTdd) -> Timing {
        Timing {
            lte_tdd: Some(tdd),
            ..Timing::lte(Span::from_millis(1))
        }
    }

    /// Returns the timing of NR, with the processing times of the device.
    pub fn nr(numerology: Numerology, config: &NrTimingConfig) -> Result<Timing, PhyError> {
        let decoding = processing_1(numerology, config.capability, config.additional_dmrs)?;
        let preparation = processing_2(numerology, config.capability)?;
        let symbols = numerology.symbols();
        for (what, value) in [
            ("control symbols", config.control_symbols),
            ("feedback symbols", config.feedback_symbols),
        ] {
            let is_valid = (1..symbols).contains(&value);
            PhyError::check(what, f64::from(value), is_valid, "1 to less than a slot")?;
        }
        for (what, value, most, expected) in [
            ("K0", config.k0, 32, "0 to 32"),
            ("K1", config.k1, 15, "0 to 15"),
            ("K2", config.k2, 32, "0 to 32"),
        ] {
            PhyError::check(what, f64::from(value), value <= most, expected)?;
        }
        let slot = numerology.slot();
        Ok(Timing {
            base_preparation: config.base_preparation.unwrap_or(slot),
            base_reaction: config.base_reaction.unwrap_or(decoding + slot),
            base_decoding: config.base_decoding.unwrap_or(decoding),
            user_decoding: decoding,
            user_feedback: decoding,
            user_preparation: preparation,
            k0: config.k0,
            k1: config.k1,
            k2: config.k2,
            control_symbols: config.control_symbols,
            feedback_symbols: config.feedback_symbols,
            lte_tdd: None,
        })
    }

    /// Returns the first slot that can carry an assignment of data that arrives at the base station
    /// at `at`.
    pub fn assignment_slot(&self, frame: &Frame, at: Time) -> u64 {
        let ready = frame.slot_from(at.saturating_add(self.base_preparation));
        frame.downlink_from(ready, self.control_symbols.max(1))
    }

    /// Returns the first slot that can carry the answer to a reception that ends at `end_at`.
    pub fn reaction_slot(&self, frame: &Frame, end_at: Time) -> u64 {
        let ready = frame.slot_from(end_at.saturating_add(self.base_reaction));
        frame.downlink_from(ready, self.control_symbols.max(1))
    }

    /// Returns true if `slot` has symbols for a scheduling request. NR's short PUCCH takes one or
    /// two symbols. LTE takes a whole uplink subframe, and special subframes carry no request.
    ///
    /// Standard: TS 38.213 §9.2.4; TS 36.213 §10.1.5.
    pub fn carries_request(&self, frame: &Frame, slot: u64) -> bool {
        let least = match self.lte_tdd {
            Some(_) => self.feedback_symbols,
            None => self.feedback_symbols.clamp(1, 2),
        };
        frame.format(slot).uplink >= least
    }

    /// Returns the slot of the earliest grant that answers a scheduling request in `slot`.
    pub fn grant_slot(&self, frame: &Frame, slot: u64) -> u64 {
        self.reaction_slot(frame, frame.start_of(slot + 1))
    }

    /// Returns the times of a downlink transmission assigned in `slot`. Its data ends before symbol
    /// `end_symbol` of its slot.
    pub fn downlink(&self, frame: &Frame, slot: u64, end_symbol: u8) -> DownlinkTimes {
        let data_slot = frame.downlink_from(slot + u64::from(self.k0), 1);
        let data_end_at = frame.symbol_start(data_slot, end_symbol);
        let by_table = self.lte_tdd.and_then(|tdd| tdd.feedback(data_slot));
        let feedback_slot = by_table.unwrap_or_else(|| {
            self.uplink_slot(
                frame,
                data_slot + u64::from(self.k1),
                data_end_at.saturating_add(self.user_feedback),
                self.feedback_symbols,
                self.feedback_symbols,
            )
        });
        let feedback_at = frame.start_of(feedback_slot + 1);
        debug_assert!(
            slot <= data_slot && data_slot <= feedback_slot,
            "slot {slot} assigns data in {data_slot}, with feedback in {feedback_slot}"
        );
        debug_assert!(
            data_end_at <= feedback_at,
            "feedback at {feedback_at} of data that ends at {data_end_at}"
        );
        DownlinkTimes {
            data_slot,
            data_end_at,
            decoded_at: data_end_at.saturating_add(self.user_decoding),
            feedback_slot,
            feedback_at,
            repetition_slot: self.reaction_slot(frame, feedback_at),
        }
    }

    /// Returns the times of an uplink transmission granted in `slot`. Its data is in the first slot
    /// with at least `least_symbols` uplink symbols.
    pub fn uplink(&self, frame: &Frame, slot: u64, least_symbols: u8) -> UplinkTimes {
        let granted_at = frame.symbol_start(slot, self.control_symbols.min(frame.symbols()));
        let data_slot = self.uplink_slot(
            frame,
            slot + u64::from(self.k2),
            granted_at.saturating_add(self.user_preparation),
            least_symbols.max(1),
            frame.symbols(),
        );
        let data_end_at = frame.start_of(data_slot + 1);
        debug_assert!(slot <= data_slot, "slot {slot} grants data in {data_slot}");
        debug_assert!(
            granted_at <= data_end_at,
            "data ends at {data_end_at}, and was granted at {granted_at}"
        );
        UplinkTimes {
            data_slot,
            data_end_at,
            decoded_at: data_end_at.saturating_add(self.base_decoding),
            repetition_slot: self.answer_slot(frame, data_slot),
        }
    }

    /// Returns the slot of the earliest grant that answers uplink data in `slot`.
    pub fn answer_slot(&self, frame: &Frame, slot: u64) -> u64 {
        let by_table = self.lte_tdd.and_then(|tdd| tdd.answer(slot));
        by_table.unwrap_or_else(|| self.reaction_slot(frame, frame.start_of(slot + 1)))
    }

    // Returns the first slot from `slot` on with `least` uplink symbols. Its last `used` uplink
    // symbols, or all if it has fewer, start at `ready_at` or later.
    fn uplink_slot(&self, frame: &Frame, slot: u64, ready_at: Time, least: u8, used: u8) -> u64 {
        let mut slot = frame.uplink_from(slot, least);
        // The slot that contains `ready_at` is possible if its uplink symbols are late enough.
        if slot < frame.slot_at(ready_at) {
            slot = frame.uplink_from(frame.slot_at(ready_at), least);
        }
        let used = used.min(frame.format(slot).uplink).min(frame.symbols());
        if frame.symbol_start(slot, frame.symbols() - used) < ready_at {
            slot = frame.uplink_from(slot + 1, least);
        }
        slot
    }
}

/// Processing capability of a device, which determines its processing times.
///
/// Standard: TS 38.214 §5.3, §6.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProcessingCapability {
    /// Capability 1, which every device has.
    #[default]
    One,
    /// Capability 2, which is faster and valid up to 60 kHz.
    Two,
}

/// Parameters of [`Timing::nr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NrTimingConfig {
    /// Processing capability of the device.
    pub capability: ProcessingCapability,
    /// True if there are additional DM-RS, which delay the decoding.
    pub additional_dmrs: bool,
    /// Slots from an assignment to its data.
    pub k0: u32,
    /// Least number of slots from data to feedback. The processing time may need more.
    pub k1: u32,
    /// Least number of slots from a grant to its data. The processing time may need more.
    pub k2: u32,
    /// PDCCH symbols at the start of a slot.
    pub control_symbols: u8,
    /// PUCCH symbols at the end of a slot.
    pub feedback_symbols: u8,
    /// Value of [`Timing::base_preparation`]. `None` for one slot.
    pub base_preparation: Option<Span>,
    /// Value of [`Timing::base_reaction`]. `None` for the decoding time and one slot.
    pub base_reaction: Option<Span>,
    /// Value of [`Timing::base_decoding`]. `None` for the device's decoding time T_proc,1.
    pub base_decoding: Option<Span>,
}

impl Default for NrTimingConfig {
    /// Returns the earliest times that processing allows, with one PDCCH symbol and a short PUCCH
    /// of two symbols.
    fn default() -> Self {
        NrTimingConfig {
            capability: ProcessingCapability::One,
            additional_dmrs: false,
            k0: 0,
            k1: 1,
            k2: 1,
            control_symbols: 1,
            feedback_symbols: 2,
            base_preparation: None,
            base_reaction: None,
            base_decoding: None,
        }
    }
}

const TIMES: &str = include_str!("../data/nr_processing_times.csv");

/// Returns a row of `data/nr_processing_times.csv` in half symbols by mu. Zero if there is no
/// value.
const fn half_symbols(row: &str) -> [u64; 7] {
    let mut halves = [0; 7];
    let mut mu = 0;
    while mu < 7 {
        if !cell(TIMES, row, mu + 1).is_empty() {
            halves[mu] = (2.0 * number(TIMES, row, mu + 1)) as u64;
        }
        mu += 1;
    }
    halves
}

/// Returns T_proc,1, the time from the last symbol of downlink data to the earliest feedback (d_1,1
/// = 0). It is rounded down to the nanosecond.
///
/// Standard: TS 38.214 §5.3, Table 5.3-1, Table 5.3-2.
pub fn processing_1(
    numerology: Numerology,
    capability: ProcessingCapability,
    additional_dmrs: bool,
) -> Result<Span, PhyError> {
    const ONE: [u64; 7] = half_symbols("N1 capability 1");
    const ONE_ADDITIONAL: [u64; 7] = half_symbols("N1 capability 1 additional DM-RS");
    const TWO: [u64; 7] = half_symbols("N1 capability 2");
    let halves = match (capability, additional_dmrs) {
        (ProcessingCapability::One, false) => ONE,
        (ProcessingCapability::One, true) => ONE_ADDITIONAL,
        (ProcessingCapability::Two, _) => TWO,
    };
    processing(numerology, halves)
}

/// Returns T_proc,2, the time from the end of a grant to the earliest uplink data (d_2,1 = 0). It
/// is rounded down to the nanosecond.
///
/// Standard: TS 38.214 §6.4, Table 6.4-1, Table 6.4-2.
pub fn processing_2(
    numerology: Numerology,
    capability: ProcessingCapability,
) -> Result<Span, PhyError> {
    const ONE: [u64; 7] = half_symbols("N2 capability 1");
    const TWO: [u64; 7] = half_symbols("N2 capability 2");
    let halves = match capability {
        ProcessingCapability::One => ONE,
        ProcessingCapability::Two => TWO,
    };
    processing(numerology, halves)
}

fn processing(numerology: Numerology, half_symbols: [u64; 7]) -> Result<Span, PhyError> {
    let mu = numerology.mu();
    let halves = half_symbols[usize::from(mu)];
    PhyError::check(
        "numerology of a data channel with this processing capability",
        f64::from(mu),
        halves > 0,
        "0 to 3, 5 or 6; with capability 2 0 to 2",
    )?;
    // A symbol is (2048 + 144) kappa 2^-mu T_c, with kappa = 64 and T_c = 15625/30720 ns.
    Ok(Span::from_nanos(
        (halves * 2192 * 64 * 15_625 / (2 * 30_720)) >> mu,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Duplex, SpecialSlot, TddPattern};
    use crate::numerology::CyclicPrefix;

    fn numerology(mu: u8) -> Numerology {
        Numerology::new(mu, CyclicPrefix::Normal).expect("a numerology")
    }

    fn tdd(mu: u8, pattern: &str) -> Frame {
        let pattern = TddPattern::new(pattern, SpecialSlot::default(), 14).expect("a pattern");
        Frame::nr(numerology(mu), Duplex::Tdd(pattern)).expect("a frame")
    }

    #[test]
    fn lte_acknowledges_after_four_intervals_and_repeats_after_eight() {
        for micros in [1000, 500, 100] {
            let tti = Span::from_micros(micros);
            let frame = Frame::lte(tti, Duplex::Fdd).expect("a frame");
            let timing = Timing::lte(tti);
            let down = timing.downlink(&frame, 10, frame.symbols());
            assert_eq!((down.data_slot, down.feedback_slot), (10, 14));
            assert_eq!(down.repetition_slot, 18);
            assert_eq!(down.decoded_at, Time::ZERO + tti * 25 / 2);
            let up = timing.uplink(&frame, 10, 1);
            assert_eq!((up.data_slot, up.repetition_slot), (14, 18));
            assert_eq!(timing.grant_slot(&frame, 10), 14);
        }
    }

    #[test]
    fn lte_tdd_acknowledges_and_repeats_where_its_tables_say() {
        let tdd = LteTdd::new(2).expect("0 to 6");
        let tti = Span::from_millis(1);
        let pattern = tdd.pattern(7).expect("DSUDDDSUDD");
        let frame = Frame::lte(tti, Duplex::Tdd(pattern)).expect("a frame");
        let timing = Timing::lte_tdd(tdd);
        // TS 36.213 Table 10.1.3.1-1, configuration 2: k = 8, 7, 4, 6. The first uplink subframe
        // from n+4 on would be 17 for 13, and 22 for 14.
        for (slot, expected) in [(10, 17), (11, 17), (13, 17), (14, 22), (18, 22), (19, 27)] {
            let found = timing.downlink(&frame, slot, 14).feedback_slot;
            assert_eq!(found, expected, "subframe {slot}");
        }
        // Table 9.1.2-1: data in subframe 2 is answered in subframe 8, which grants subframe 12.
        assert_eq!(timing.answer_slot(&frame, 12), 18);
        assert_eq!(timing.uplink(&frame, 18, 14).repetition_slot, 28);
        // A request in subframe 2 is processed by subframe 5, and answered in the next downlink
        // subframe.
        assert_eq!(timing.grant_slot(&frame, 12), 16);
    }

    #[test]
    fn nr_waits_for_processing_and_for_an_uplink_slot() {
        let config = NrTimingConfig::default();
        let timing = Timing::nr(numerology(3), &config).expect("a timing");
        let frame = tdd(3, "DDDSU");
        // Data ends with slot 0 at 125 us. The feedback is ready 178 us later, in slot 2. The next
        // uplink symbols are those of S.
        let times = timing.downlink(&frame, 0, 14);
        assert_eq!(times.feedback_slot, 3);
        assert_eq!(times.feedback_at, frame.start_of(4));
        // The data of slot 2 is decoded in slot 4, after its start but before its last two symbols.
        assert_eq!(timing.downlink(&frame, 2, 14).feedback_slot, 4);
        // A grant in slot 0 needs 321 us. The last symbols of S at 482 us are late enough.
        assert_eq!(timing.uplink(&frame, 0, 1).data_slot, 3);
        assert_eq!(timing.uplink(&frame, 0, 14).data_slot, 4);
        assert_eq!(timing.uplink(&frame, 2, 14).data_slot, 9);
    }

    #[test]
    fn feedback_of_every_pattern_lies_on_its_uplink_symbols() {
        for pattern in ["DDDSU", "DDSU", "DDDDDDDSUU", "DSUUD", "DU"] {
            for (mu, feedback_symbols) in (0..4).flat_map(|mu| [1, 2, 4, 13].map(|n| (mu, n))) {
                let config = NrTimingConfig {
                    feedback_symbols,
                    ..NrTimingConfig::default()
                };
                let timing = Timing::nr(numerology(mu), &config).expect("a timing");
                let frame = tdd(mu, pattern);
                for slot in (0..40).filter(|&slot| frame.format(slot).downlink > 1) {
                    let times = timing.downlink(&frame, slot, frame.format(slot).downlink);
                    let uplink = frame.format(times.feedback_slot).uplink;
                    assert!(uplink >= feedback_symbols, "{pattern} {slot}");
                    let begins = frame.symbols() - feedback_symbols;
                    let begins_at = frame.symbol_start(times.feedback_slot, begins);
                    assert!(begins_at >= times.data_end_at + timing.user_feedback);
                }
            }
        }
    }

    #[test]
    fn requests_are_sent_where_there_is_pucch() {
        let nr = Timing::nr(numerology(1), &NrTimingConfig::default()).expect("a timing");
        let frame = tdd(1, "DDDSU");
        let slots: Vec<u64> = (0..10)
            .filter(|&slot| nr.carries_request(&frame, slot))
            .collect();
        assert_eq!(slots, [3, 4, 8, 9]);
        // A special subframe of LTE has uplink symbols, but no PUCCH.
        let configuration = LteTdd::new(0).expect("0 to 6");
        let pattern = configuration.pattern(7).expect("0 to 10");
        let frame = Frame::lte(Span::from_millis(1), Duplex::Tdd(pattern)).expect("a frame");
        let lte = Timing::lte_tdd(configuration);
        let slots: Vec<u64> = (0..10)
            .filter(|&slot| lte.carries_request(&frame, slot))
            .collect();
        assert_eq!(slots, [2, 3, 4, 7, 8, 9]);
    }

    #[test]
    fn values_out_of_range_are_errors() {
        let mu3 = numerology(3);
        let config = |k1, control_symbols| NrTimingConfig {
            k1,
            control_symbols,
            ..NrTimingConfig::default()
        };
        assert!(Timing::nr(mu3, &config(16, 1)).is_err());
        assert!(Timing::nr(mu3, &config(1, 0)).is_err());
        assert!(Timing::nr(mu3, &config(1, 14)).is_err());
        assert!(Timing::nr(numerology(4), &NrTimingConfig::default()).is_err());
        assert!(processing_1(mu3, ProcessingCapability::Two, false).is_err());
    }
}
