//! TDD of LTE: configurations, special subframes, and HARQ timing.

use super::error::PhyError;
use super::tdd::{SpecialSlot, TddPattern};
use fadeout_core::data;

/// Number of HARQ processes of LTE FDD in each direction.
///
/// Standard: TS 36.213 §7, §8.
pub const LTE_FDD_PROCESSES: u8 = 8;

/// Uplink-downlink configuration, 0 to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LteTdd(u8);

/// Number of subframes in a radio frame.
const SUBFRAMES: usize = 10;

const CONFIGURATIONS: &str = include_str!("../data/lte_tdd_configurations.csv");
const HARQ: &str = include_str!("../data/lte_tdd_harq.csv");
const SPECIAL_SUBFRAMES: &str = include_str!("../data/lte_special_subframes.csv");

/// Table of numbers, indexed by configuration and subframe.
type BySubframe = [[u8; SUBFRAMES]; 7];

/// Uplink-downlink configurations.
///
/// Standard: TS 36.211 Table 4.2-2.
const SUBFRAME_KINDS: [&str; 7] = data::cells(CONFIGURATIONS, "tdd", 2);

/// Number of HARQ processes: downlink and uplink.
///
/// Standard: TS 36.213 Table 7-1, Table 8-1.
const PROCESSES: [[u8; 2]; 7] = data::bytes(CONFIGURATIONS, "tdd", 3);

/// Number of subframes from a downlink subframe to the uplink subframe of its feedback. Zero in
/// uplink subframes. The table is the inverse of the standard's sets K.
///
/// Standard: TS 36.213 Table 10.1.3.1-1.
const FEEDBACK: BySubframe = data::bytes(HARQ, "feedback", 2);

/// Number of subframes from a grant, or from the PHICH that requests a repetition, to the uplink
/// data. Zero in subframes without grants. In configuration 0 the UL index selects the distance in
/// the table or a distance of seven. Here subframes 1 and 6 always use seven. The uplink subframes
/// at their tabulated distance are granted by subframes 0 and 5, with a distance of seven.
///
/// Standard: TS 36.213 §8.0, Table 8-2.
const GRANT: BySubframe = data::bytes(HARQ, "grant", 2);

/// Distance to the second subframe that subframes 0 and 5 of configuration 0 grant.
const SECOND_GRANT: u64 = 7;

/// Number of subframes from uplink data to the PHICH or grant that answers the data.
///
/// Standard: TS 36.213 Table 9.1.2-1.
const ANSWER: BySubframe = data::bytes(HARQ, "answer", 2);

/// Number of symbols of special subframes with normal cyclic prefixes: DwPTS, guard and UpPTS.
///
/// Standard: TS 36.211 Table 4.2-1.
const SPECIAL: [[u8; 3]; 11] = data::bytes(SPECIAL_SUBFRAMES, "special", 2);

impl LteTdd {
    /// Returns configuration 0 to 6.
    pub fn new(configuration: u8) -> Result<LteTdd, PhyError> {
        let is_valid = usize::from(configuration) < SUBFRAME_KINDS.len();
        let value = f64::from(configuration);
        PhyError::check("TDD configuration", value, is_valid, "0 to 6")?;
        Ok(LteTdd(configuration))
    }

    /// Returns the pattern of subframes, with special subframes of configuration 0 to 10.
    pub fn pattern(self, special: u8) -> Result<TddPattern, PhyError> {
        let value = f64::from(special);
        let symbols = SPECIAL.get(usize::from(special));
        let is_valid = symbols.is_some();
        PhyError::check("special subframe configuration", value, is_valid, "0 to 10")?;
        let [downlink, guard, uplink] = symbols.copied().unwrap_or_default();
        let special = SpecialSlot {
            downlink,
            guard,
            uplink,
        };
        TddPattern::new(SUBFRAME_KINDS[self.index()], special, 14)
    }

    /// Returns the number of HARQ processes: downlink and uplink.
    pub fn processes(self) -> (u8, u8) {
        PROCESSES[self.index()].into()
    }

    /// Returns the uplink subframe with the feedback for downlink data in subframe `subframe`. Both
    /// are counted from the start of the run. `None` for an uplink subframe.
    pub fn feedback(self, subframe: u64) -> Option<u64> {
        self.later(&FEEDBACK, subframe)
    }

    /// Returns the uplink subframes that are granted in a subframe.
    pub fn granted(self, subframe: u64) -> impl Iterator<Item = u64> {
        let first = self.later(&GRANT, subframe);
        let has_two = self.0 == 0 && subframe.is_multiple_of(5);
        let second = has_two.then_some(subframe + SECOND_GRANT);
        first.into_iter().chain(second)
    }

    /// Returns the subframe in which uplink data in subframe `subframe` is answered, and its
    /// repetition granted. `None` for a downlink subframe.
    pub fn answer(self, subframe: u64) -> Option<u64> {
        self.later(&ANSWER, subframe)
    }

    fn later(self, distances: &BySubframe, subframe: u64) -> Option<u64> {
        let distance = distances[self.index()][(subframe % SUBFRAMES as u64) as usize];
        (distance > 0).then(|| subframe + u64::from(distance))
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = (LteTdd, Vec<char>)> {
        (0..7).map(|n| {
            let tdd = LteTdd::new(n).expect("0 to 6");
            (tdd, SUBFRAME_KINDS[tdd.index()].chars().collect())
        })
    }

    #[test]
    fn the_tables_lead_from_downlink_to_uplink_and_back() {
        for (tdd, kinds) in all() {
            let kind = |subframe: u64| kinds[(subframe % 10) as usize];
            for subframe in 20..30 {
                let is_up = kind(subframe) == 'U';
                let ends = [tdd.feedback(subframe), tdd.answer(subframe)];
                assert_eq!(ends.map(|end| end.is_some()), [!is_up, is_up], "{tdd:?}");
                for end in ends.into_iter().flatten() {
                    // The feedback follows at least four subframes later, in a subframe of the
                    // other direction.
                    assert!(
                        end >= subframe + 4 && (kind(end) == 'U') != is_up,
                        "{tdd:?}"
                    );
                }
                for target in tdd.granted(subframe) {
                    assert!(!is_up && target >= subframe + 4 && kind(target) == 'U');
                }
            }
            // Every uplink subframe can be granted, and its data can be repeated.
            let granted: Vec<u64> = (0..40).flat_map(|subframe| tdd.granted(subframe)).collect();
            for subframe in (20..30).filter(|&subframe| kind(subframe) == 'U') {
                let times = granted.iter().filter(|&&target| target == subframe).count();
                assert_eq!(times, 1, "{tdd:?} {subframe}");
                let answer = tdd.answer(subframe).expect("an uplink subframe");
                assert!(tdd.granted(answer).count() > 0, "{tdd:?} {subframe}");
            }
        }
    }

    #[test]
    fn feedback_is_that_of_the_sets_k() {
        // TS 36.213 Table 10.1.3.1-1 as written: uplink subframe, and distances back.
        let table: [&[(u64, &[u64])]; 7] = [
            &[(2, &[6]), (4, &[4]), (7, &[6]), (9, &[4])],
            &[(2, &[7, 6]), (3, &[4]), (7, &[7, 6]), (8, &[4])],
            &[(2, &[8, 7, 4, 6]), (7, &[8, 7, 4, 6])],
            &[(2, &[7, 6, 11]), (3, &[6, 5]), (4, &[5, 4])],
            &[(2, &[12, 8, 7, 11]), (3, &[6, 5, 4, 7])],
            &[(2, &[13, 12, 9, 8, 7, 5, 4, 11, 6])],
            &[(2, &[7]), (3, &[7]), (4, &[5]), (7, &[7]), (8, &[7])],
        ];
        for ((tdd, kinds), sets) in all().zip(table) {
            let mut seen = 0;
            for (uplink, distances) in sets {
                for distance in *distances {
                    let subframe = 40 + uplink - distance;
                    assert_eq!(tdd.feedback(subframe), Some(40 + uplink), "{tdd:?}");
                    seen += 1;
                }
            }
            let downlink = kinds.iter().filter(|kind| **kind != 'U').count();
            assert_eq!(seen, downlink, "{tdd:?}");
        }
    }

    #[test]
    fn a_process_comes_back_after_as_many_uplink_subframes_as_there_are_processes() {
        // The uplink is synchronous, so TS 36.213 Table 8-1 follows from the other two tables. They
        // give data, its answer, and the repetition granted there. In configuration 0 two blocks
        // are answered in subframes 0 and 5, and the earlier one is repeated first.
        for (tdd, kinds) in all() {
            let is_up = |subframe: &u64| kinds[(subframe % 10) as usize] == 'U';
            let mut taken = Vec::new();
            for subframe in (20..60).filter(is_up) {
                let answer = tdd.answer(subframe).expect("an uplink subframe");
                let again = tdd.granted(answer).find(|target| !taken.contains(target));
                let again = again.expect("a repetition");
                taken.push(again);
                let between = (subframe..again).filter(is_up).count();
                assert_eq!(
                    between,
                    usize::from(tdd.processes().1),
                    "{tdd:?} {subframe}"
                );
            }
        }
    }

    #[test]
    fn special_subframes_have_fourteen_symbols() {
        for (configuration, downlink) in [(0, 2), (1, 4), (2, 6), (3, 6), (4, 7), (5, 8), (6, 3)] {
            let tdd = LteTdd::new(configuration).expect("0 to 6");
            for special in 0..=10 {
                let pattern = tdd.pattern(special).expect("14 symbols");
                let full = pattern.slots().iter().filter(|slot| slot.downlink == 14);
                assert_eq!(full.count(), downlink, "configuration {configuration}");
            }
            assert!(tdd.pattern(11).is_err());
        }
        assert!(LteTdd::new(7).is_err());
    }
}
