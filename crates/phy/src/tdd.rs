//! TDD patterns: downlink and uplink in one band.

use super::error::PhyError;
use super::numerology::Numerology;
use fadeout_core::Span;
use std::fmt;

/// Symbols of a slot that each direction may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotFormat {
    /// Largest number of downlink symbols.
    pub downlink: u8,
    /// Largest number of uplink symbols.
    pub uplink: u8,
    /// Largest number of symbols of both directions. It is their sum unless the scheduler divides
    /// the slot.
    pub budget: u8,
}

impl SlotFormat {
    /// Returns the symbols that the scheduler may give to either direction.
    pub fn shared(&self) -> u8 {
        debug_assert!(
            self.downlink <= self.budget && self.uplink <= self.budget,
            "a direction has more symbols than both together"
        );
        debug_assert!(
            self.budget <= self.downlink + self.uplink,
            "symbols of no direction are counted"
        );
        self.downlink + self.uplink - self.budget
    }
}

/// Pattern of downlink and uplink, given by counts. Downlink slots come first and uplink slots
/// last. The downlink and uplink symbols of partial slots are between them.
///
/// Standard: TS 38.331 §6.3.2; TS 38.213 §11.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UlDlPattern {
    /// Length of the pattern (dl-UL-TransmissionPeriodicity).
    pub period: Span,
    /// Number of downlink slots at the beginning.
    pub downlink_slots: u32,
    /// Number of downlink symbols in the slot after the downlink slots.
    pub downlink_symbols: u8,
    /// Number of uplink slots at the end.
    pub uplink_slots: u32,
    /// Number of uplink symbols in the slot before the uplink slots.
    pub uplink_symbols: u8,
}

/// Use of a pattern's flexible symbols, those between downlink and uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flexible {
    /// All flexible symbols are guard symbols.
    Guard,
    /// All flexible symbols are downlink symbols, except this number of guard symbols at the end of
    /// each pattern's flexible symbols.
    Downlink(u8),
    /// All flexible symbols are uplink symbols, except this number of guard symbols at the
    /// beginning of the flexible symbols.
    Uplink(u8),
    /// The scheduler divides the flexible symbols of each slot, except this number of guard
    /// symbols.
    Shared(u8),
}

impl fmt::Display for UlDlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} slots and {} symbols down, {} and {} up in {} ms",
            self.downlink_slots,
            self.downlink_symbols,
            self.uplink_slots,
            self.uplink_symbols,
            self.period.as_secs_f64() * 1e3
        )
    }
}

impl UlDlPattern {
    fn slots(
        &self,
        numerology: Numerology,
        flexible: Flexible,
    ) -> Result<impl Iterator<Item = SlotFormat> + use<>, String> {
        let (slot, symbols) = (numerology.slot().as_nanos(), numerology.symbols());
        if !self.period.as_nanos().is_multiple_of(slot) {
            let khz = numerology.spacing_khz();
            return Err(format!("no whole number of slots at {khz} kHz"));
        }
        for (what, count) in [
            ("downlink", self.downlink_symbols),
            ("uplink", self.uplink_symbols),
        ] {
            if count >= symbols {
                return Err(format!("{count} {what} symbols are a slot or more"));
            }
        }
        let of_slots = move |count: u32| u64::from(count) * u64::from(symbols);
        let count = self.period.as_nanos() / slot;
        let all = count * u64::from(symbols);
        let down = of_slots(self.downlink_slots) + u64::from(self.downlink_symbols);
        let up = of_slots(self.uplink_slots) + u64::from(self.uplink_symbols);
        let Some(free) = all.checked_sub(down + up) else {
            return Err(format!("{} symbols, where there are {all}", down + up));
        };
        let guard = match flexible {
            Flexible::Guard => 0,
            Flexible::Downlink(guard) | Flexible::Uplink(guard) | Flexible::Shared(guard) => guard,
        };
        if free < u64::from(guard) {
            return Err(format!(
                "a guard of {guard} symbols, where {free} are flexible"
            ));
        }
        let (mut down_end, mut up_start) = (down, all - up);
        match flexible {
            Flexible::Guard | Flexible::Shared(_) => {}
            Flexible::Downlink(guard) => down_end = up_start - u64::from(guard),
            Flexible::Uplink(guard) => up_start = down_end + u64::from(guard),
        }
        Ok((0..count).map(move |slot| {
            let (first, end) = (of_slots(slot as u32), of_slots(slot as u32 + 1));
            let downlink = down_end.clamp(first, end) - first;
            let uplink = end - up_start.clamp(first, end);
            let between = u64::from(symbols) - downlink - uplink;
            let shared = match flexible {
                Flexible::Shared(guard) => between.saturating_sub(u64::from(guard)),
                _ => 0,
            };
            SlotFormat {
                downlink: (downlink + shared) as u8,
                uplink: (uplink + shared) as u8,
                budget: (downlink + uplink + shared) as u8,
            }
        }))
    }
}

/// Symbols of the special slot (`S`), in which downlink changes to uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecialSlot {
    /// Number of downlink symbols, at the beginning.
    pub downlink: u8,
    /// Number of silent symbols between both directions.
    pub guard: u8,
    /// Number of uplink symbols, at the end.
    pub uplink: u8,
}

impl Default for SpecialSlot {
    /// Returns 10 downlink, 2 silent and 2 uplink symbols.
    fn default() -> Self {
        SpecialSlot {
            downlink: 10,
            guard: 2,
            uplink: 2,
        }
    }
}

/// Cyclic sequence of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TddPattern {
    slots: Vec<SlotFormat>,
}

/// Largest number of slots in a pattern: 20 ms of 15.6 us slots.
const LONGEST_PATTERN: usize = 1280;

impl TddPattern {
    /// Returns a pattern of the letters `D` (downlink), `U` (uplink) and `S` (special), for slots
    /// of `symbols` symbols. Each direction needs at least one slot.
    pub fn new(pattern: &str, special: SpecialSlot, symbols: u8) -> Result<TddPattern, PhyError> {
        let error = |problem: String| PhyError::Pattern {
            pattern: pattern.chars().take(32).collect(),
            problem,
            example: "DDDSU",
        };
        let SpecialSlot {
            downlink,
            guard,
            uplink,
        } = special;
        let taken = u32::from(downlink) + u32::from(guard) + u32::from(uplink);
        if pattern.contains('S') && taken != u32::from(symbols) {
            return Err(error(format!(
                "S of {downlink}:{guard}:{uplink} symbols has {taken}, a slot has {symbols}"
            )));
        }
        let slots = pattern.chars().map(|letter| match letter {
            'D' => Ok((symbols, 0)),
            'U' => Ok((0, symbols)),
            'S' => Ok((downlink, uplink)),
            other => Err(error(format!("'{other}' is none of D, U and S"))),
        });
        let slots = slots
            .map(|slot| {
                slot.map(|(downlink, uplink)| SlotFormat {
                    downlink,
                    uplink,
                    budget: downlink + uplink,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        TddPattern::from_slots(slots).map_err(error)
    }

    fn from_slots(slots: Vec<SlotFormat>) -> Result<TddPattern, String> {
        if slots.len() > LONGEST_PATTERN {
            return Err(format!("more than {LONGEST_PATTERN} slots"));
        }
        if !slots.iter().any(|slot| slot.downlink > 0) {
            return Err("no downlink".to_owned());
        }
        if !slots.iter().any(|slot| slot.uplink > 0) {
            return Err("no uplink".to_owned());
        }
        Ok(TddPattern { slots })
    }

    /// Returns a pattern given by counts, as a cell announces it (tdd-UL-DL-ConfigurationCommon).
    /// There may be two patterns that follow each other. The symbols between downlink and uplink
    /// are flexible, with the use `flexible`.
    ///
    /// # Errors
    /// Returns an error if a period is no whole number of slots, or if the periods do not divide 20
    /// ms. The same holds if there are more symbols than a period has, or if a direction has no
    /// symbols.
    ///
    /// Standard: TS 38.213 §11.1.
    pub fn by_counts(
        numerology: Numerology,
        patterns: &[UlDlPattern],
        flexible: Flexible,
    ) -> Result<TddPattern, PhyError> {
        let text: Vec<String> = patterns.iter().map(UlDlPattern::to_string).collect();
        let error = |problem: String| PhyError::Pattern {
            pattern: text.join(" and "),
            problem,
            example: "7 slots and 6 symbols down, 2 and 4 up in 5 ms",
        };
        let add = |sum: Span, pattern: &UlDlPattern| sum + pattern.period;
        let period = patterns.iter().fold(Span::ZERO, add);
        let nanos = period.as_nanos();
        if nanos == 0 || 20_000_000 % nanos != 0 {
            let ms = period.as_secs_f64() * 1e3;
            return Err(error(format!("a period of {ms} ms does not divide 20 ms")));
        }
        let mut slots = Vec::new();
        for pattern in patterns {
            slots.extend(pattern.slots(numerology, flexible).map_err(error)?);
        }
        TddPattern::from_slots(slots).map_err(error)
    }

    /// Returns the slots of one period.
    pub fn slots(&self) -> &[SlotFormat] {
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerology::CyclicPrefix;

    fn tdd(pattern: &str) -> Result<TddPattern, PhyError> {
        TddPattern::new(pattern, SpecialSlot::default(), 14)
    }

    fn by_counts(
        mu: u8,
        counts: &[(u64, [u8; 4])],
        flexible: Flexible,
    ) -> Result<TddPattern, PhyError> {
        let patterns: Vec<UlDlPattern> = counts
            .iter()
            .map(|(micros, counts)| UlDlPattern {
                period: Span::from_micros(*micros),
                downlink_slots: u32::from(counts[0]),
                downlink_symbols: counts[1],
                uplink_slots: u32::from(counts[2]),
                uplink_symbols: counts[3],
            })
            .collect();
        let numerology = Numerology::new(mu, CyclicPrefix::Normal).expect("a numerology");
        TddPattern::by_counts(numerology, &patterns, flexible)
    }

    fn symbols(pattern: &TddPattern) -> Vec<(u8, u8, u8)> {
        let slots = pattern.slots().iter();
        slots
            .map(|it| (it.downlink, it.uplink, it.budget))
            .collect()
    }

    #[test]
    fn a_bad_pattern_is_an_error_that_says_what_is_wrong() {
        for (pattern, problem) in [
            ("DDFSU", "'F' is none of D, U and S"),
            ("DDDD", "no uplink"),
            ("UU", "no downlink"),
            ("", "no downlink"),
        ] {
            let error = tdd(pattern).expect_err(pattern).to_string();
            assert!(error.contains(problem), "{error}");
        }
        let special = SpecialSlot {
            guard: 5,
            ..SpecialSlot::default()
        };
        let error = TddPattern::new("DS", special, 14).expect_err("17 symbols");
        assert!(
            error.to_string().contains("10:5:2 symbols has 17"),
            "{error}"
        );
        assert!(tdd(&"DU".repeat(1000)).is_err());
    }

    #[test]
    fn counts_make_the_pattern_that_letters_do() {
        // TS 38.101-4 Table A.1.2-2, FR1.30-1: 7 slots and 6 symbols are downlink, 2 slots and 4
        // symbols are uplink in 5 ms.
        let found = by_counts(1, &[(5000, [7, 6, 2, 4])], Flexible::Guard).expect("a pattern");
        let special = SpecialSlot {
            downlink: 6,
            guard: 4,
            uplink: 4,
        };
        let expected = TddPattern::new("DDDDDDDSUU", special, 14).expect("a pattern");
        assert_eq!(found, expected);
        let dddsu = by_counts(1, &[(2500, [3, 10, 1, 2])], Flexible::Guard);
        assert_eq!(dddsu, tdd("DDDSU"));
        // Two patterns follow each other at 30 kHz: DDDSUU of 3 ms, then DDDD of 2 ms.
        let both = [(3000, [3, 6, 2, 4]), (2000, [4, 0, 0, 0])];
        let found = by_counts(1, &both, Flexible::Guard).expect("a pattern");
        let expected = TddPattern::new("DDDSUUDDDD", special, 14).expect("a pattern");
        assert_eq!(found, expected);
    }

    #[test]
    fn flexible_symbols_go_where_they_are_said_to() {
        // The pattern has a downlink slot, two partial slots and an uplink slot, 4 ms at 15 kHz.
        // Ten symbols of the second slot and twelve of the third are flexible.
        let slots_with = |flexible| {
            let pattern = by_counts(0, &[(4000, [1, 4, 1, 2])], flexible).expect("a pattern");
            symbols(&pattern)
        };
        let (down, up) = ((14, 0, 14), (0, 14, 14));
        assert_eq!(
            slots_with(Flexible::Guard),
            [down, (4, 0, 4), (0, 2, 2), up]
        );
        assert_eq!(
            slots_with(Flexible::Downlink(3)),
            [down, down, (9, 2, 11), up]
        );
        assert_eq!(
            slots_with(Flexible::Downlink(15)),
            [down, (11, 0, 11), (0, 2, 2), up]
        );
        assert_eq!(slots_with(Flexible::Uplink(3)), [down, (4, 7, 11), up, up]);
        // With `Shared`, the scheduler divides the flexible symbols. Two in each slot are guard
        // symbols.
        let shared = slots_with(Flexible::Shared(2));
        assert_eq!(shared, [down, (12, 8, 12), (10, 12, 12), up]);
        let format = by_counts(0, &[(4000, [0, 0, 0, 0])], Flexible::Shared(0)).expect("flexible");
        assert!(format.slots().iter().all(|it| it.shared() == 14));
    }

    #[test]
    fn counts_that_make_no_pattern_are_errors_that_say_why() {
        for (mu, counts, flexible, problem) in [
            (
                0,
                vec![(500, [0, 6, 0, 6])],
                Flexible::Guard,
                "no whole number of slots at 15 kHz",
            ),
            (
                1,
                vec![(3000, [3, 0, 2, 0])],
                Flexible::Guard,
                "3 ms does not divide 20 ms",
            ),
            (
                1,
                vec![(2500, [4, 0, 2, 0])],
                Flexible::Guard,
                "84 symbols, where there are 70",
            ),
            (
                1,
                vec![(2500, [3, 14, 1, 0])],
                Flexible::Guard,
                "14 downlink symbols are a slot",
            ),
            (1, vec![(2500, [5, 0, 0, 0])], Flexible::Guard, "no uplink"),
            (
                1,
                vec![(2500, [0, 0, 1, 0])],
                Flexible::Guard,
                "no downlink",
            ),
            (
                1,
                vec![(2500, [3, 10, 1, 2])],
                Flexible::Shared(3),
                "where 2 are flexible",
            ),
            (1, vec![], Flexible::Guard, "0 ms"),
        ] {
            let error = by_counts(mu, &counts, flexible)
                .expect_err(problem)
                .to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
