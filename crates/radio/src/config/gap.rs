//! Measurement gaps: times in which a UE measures other carriers and neither sends nor receives on
//! its own carriers.

use fadeout_core::{Direction, Span, Time, UeId};

/// Configuration of measurement gaps.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.5; TS 38.133 §9.1.2; TS 36.133 §8.1.2.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasurementGaps {
    /// Time between two gaps (MGRP).
    pub period: Span,
    /// Length of a gap (MGL).
    pub length: Span,
    /// Time from a multiple of the period to a gap (gapOffset). `None` if the simulator gives each
    /// UE a different offset.
    pub offset: Option<Span>,
}

impl MeasurementGaps {
    /// Returns the time from a multiple of the period to a UE's gap. Without a configured offset,
    /// the gaps of consecutive UEs start in different milliseconds.
    fn offset_of(&self, ue: UeId) -> Span {
        let spread = || {
            let places = (self.period.as_nanos() / 1_000_000).max(1);
            Span::from_millis(u64::from(ue.0) % places)
        };
        self.offset.unwrap_or_else(spread)
    }

    /// Returns the earliest time, not before `at`, that is the middle of a measurement gap of a UE.
    pub(crate) fn middle_from(&self, ue: UeId, at: Time) -> Time {
        let period = self.period.as_nanos();
        let middle = (self.offset_of(ue) + self.length / 2).as_nanos() % period;
        let wait = (period + middle - at.as_nanos() % period) % period;
        at.saturating_add(Span::from_nanos(wait))
    }

    /// Rounds the time `asked` between measurements up to a multiple of the gap period.
    pub(crate) fn whole_periods(&self, asked: Span) -> Span {
        let periods = asked.as_nanos().div_ceil(self.period.as_nanos()).max(1);
        self.period * periods
    }
}

/// Gaps of a UE in the slots of a cell. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gaps {
    period: u64,
    offset: u64,
    /// Length of a gap by direction.
    lengths: [u64; 2],
    slot: u64,
}

/// Time after a gap in which a UE of LTE does not send: one subframe.
///
/// Standard: TS 36.133 §8.1.2.1.
const AFTER_GAP: Span = Span::from_millis(1);

impl Gaps {
    /// Returns the gaps of a UE in a cell whose slots have length `slot`.
    pub(crate) fn new(gaps: &MeasurementGaps, ue: UeId, (slot, is_nr): (Span, bool)) -> Gaps {
        let length = gaps.length.as_nanos();
        let behind = if is_nr { 0 } else { AFTER_GAP.as_nanos() };
        let mut lengths = [length; 2];
        lengths[Direction::Uplink.index()] += behind;
        Gaps {
            period: gaps.period.as_nanos(),
            offset: gaps.offset_of(ue).as_nanos() % gaps.period.as_nanos(),
            lengths,
            slot: slot.as_nanos(),
        }
    }

    /// Returns the first slot from `slot` on that does not overlap a gap.
    pub(crate) fn clear_from(&self, slot: u64, direction: Direction) -> u64 {
        let start = slot.saturating_mul(self.slot);
        let phase = self.phase(start);
        let length = self.lengths[direction.index()];
        let wait = if phase < length {
            length - phase
        } else if phase + self.slot > self.period {
            self.period - phase + length
        } else {
            return slot;
        };
        start.saturating_add(wait).div_ceil(self.slot)
    }

    /// Returns the first slot after the gap that contains `at`. `None` if `at` is in no gap.
    pub(crate) fn slot_after_gap(&self, at: Time) -> Option<u64> {
        let phase = self.phase(at.as_nanos());
        let length = self.lengths[Direction::Uplink.index()];
        let left = length.checked_sub(phase).filter(|&left| left > 0)?;
        Some((at.as_nanos() + left).div_ceil(self.slot))
    }

    /// Returns the time since the start of the latest gap, in nanoseconds.
    fn phase(&self, at: u64) -> u64 {
        (at % self.period + self.period - self.offset) % self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LTE: Span = Span::from_millis(1);
    const NR: Span = Span::from_micros(500);

    fn pattern(period_ms: u64, length: Span, offset_ms: Option<u64>) -> MeasurementGaps {
        MeasurementGaps {
            period: Span::from_millis(period_ms),
            length,
            offset: offset_ms.map(Span::from_millis),
        }
    }

    /// Test vectors gap_loss_* of handover_vectors.csv.
    #[test]
    fn a_gap_takes_its_share_of_slots() {
        for (period_ms, share) in [(40, 0.15), (80, 0.075), (20, 0.3)] {
            let gaps = pattern(period_ms, Span::from_millis(6), Some(3));
            let gaps = Gaps::new(&gaps, UeId(0), (LTE, false));
            let lost = |direction| {
                let slots = (0..400).filter(|&slot| gaps.clear_from(slot, direction) != slot);
                slots.count() as f64 / 400.0
            };
            assert_eq!(lost(Direction::Downlink), share);
            assert_eq!(lost(Direction::Uplink), share + 1.0 / period_ms as f64);
        }
        let gaps = pattern(20, Span::from_micros(1500), Some(0));
        let gaps = Gaps::new(&gaps, UeId(0), (NR, true));
        let clear = |slot| gaps.clear_from(slot, Direction::Uplink);
        assert_eq!([0, 2, 3, 39, 40].map(clear), [3, 3, 3, 39, 43]);
    }

    #[test]
    fn a_slot_of_which_a_gap_takes_a_part_is_not_clear() {
        let gaps = pattern(40, Span::from_micros(5500), Some(10));
        let gaps = Gaps::new(&gaps, UeId(0), (LTE, true));
        let clear = |slot| gaps.clear_from(slot, Direction::Downlink);
        assert_eq!([9, 10, 15, 16, 49, 50].map(clear), [9, 16, 16, 16, 49, 56]);
        let time_at_micros = |micros| Time::ZERO + Span::from_micros(micros);
        assert_eq!(gaps.slot_after_gap(time_at_micros(9_999)), None);
        assert_eq!(gaps.slot_after_gap(time_at_micros(10_000)), Some(16));
        assert_eq!(gaps.slot_after_gap(time_at_micros(15_499)), Some(16));
        assert_eq!(gaps.slot_after_gap(time_at_micros(15_500)), None);
    }

    #[test]
    fn gaps_of_ues_are_spread_and_measured_in_the_middle() {
        let gaps = pattern(40, Span::from_millis(6), None);
        let middle = |ue, ms| {
            let at = Time::ZERO + Span::from_millis(ms);
            gaps.middle_from(UeId(ue), at).as_nanos() / 1_000_000
        };
        assert_eq!([0, 1, 39, 40].map(|ue| middle(ue, 0)), [3, 4, 2, 3]);
        assert_eq!([3, 4, 43, 44].map(|ms| middle(0, ms)), [3, 43, 43, 83]);
        let whole = |ms| gaps.whole_periods(Span::from_millis(ms));
        assert_eq!(
            [1, 40, 200, 201].map(whole),
            [40, 40, 200, 240].map(Span::from_millis)
        );
    }
}
