//! Slots in which the channel is measured for channel reports.

use super::CellPlan;
use crate::config::Adaptation;
use crate::phy::frame::Duplex;
use crate::phy::link_adaptation::CsiReporting;
use fadeout_core::{Direction, Time};

impl CellPlan {
    /// Returns the measurement time of the report that is in use at `at`. `None` before the first
    /// report is known.
    ///
    /// In TDD the channel is measured in the latest slot of its direction. A UE's report on the
    /// downlink waits for PUCCH symbols. This wait makes the report older at its first use.
    ///
    /// Standard: TS 38.214 §5.2.2.5; TS 38.213 §9.2; TS 36.213 §7.2.2, §7.2.3.
    pub(crate) fn measured_at(
        &self,
        direction: Direction,
        reporting: &CsiReporting,
        at: Time,
    ) -> Option<Time> {
        let mut nominal = reporting.measured_at(at)?;
        if !matches!(self.config.duplex, Duplex::Tdd(_)) {
            return Some(nominal);
        }
        let frame = &self.frame;
        let step = reporting.period.max(frame.slot());
        let first = Time::ZERO.saturating_add(reporting.offset);
        while direction == Direction::Downlink && self.used_from(reporting, nominal) > at {
            if nominal < first.saturating_add(step) {
                return None;
            }
            nominal = nominal.saturating_sub(step);
        }
        let measured = frame.latest_until(frame.slot_at(nominal), direction);
        Some(frame.start_of(measured))
    }

    /// Returns the measurement time of the downlink reports in use in `slot`. `None` if UEs do not
    /// report.
    pub(crate) fn downlink_reports_at(&self, slot: u64) -> Option<Time> {
        match self.config.adaptation {
            Adaptation::Reports(reports) => {
                let start = self.frame.start_of(slot);
                self.measured_at(Direction::Downlink, &reports.reporting, start)
            }
            Adaptation::FixedRate { .. } | Adaptation::FixedScheme { .. } => None,
        }
    }

    /// Returns the time at which the base station first uses a downlink report that was measured at
    /// `nominal`. The time includes the reporting delay and the wait for PUCCH symbols.
    fn used_from(&self, reporting: &CsiReporting, nominal: Time) -> Time {
        let (frame, timing) = (&self.frame, &self.config.timing);
        // The base station's reaction time `base_reaction` is counted from the start of PUCCH.
        let answered = Time::ZERO + frame.slot() + timing.base_reaction;
        let answered = frame.start_of(frame.slot_from(answered)).since(Time::ZERO);
        let lead = reporting.delay - reporting.delay.min(answered);
        let ready = frame.slot_at(nominal.saturating_add(lead));
        let sent = frame.uplink_from(ready, timing.feedback_symbols);
        let wait = frame.slot() * (sent - ready);
        nominal.saturating_add(reporting.delay + wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CellConfig;
    use crate::phy::frame::{SpecialSlot, TddPattern};
    use crate::phy::lte_tdd::LteTdd;
    use crate::phy::timing::Timing;
    use fadeout_core::{CellId, Hertz, Point, Span};

    fn plan(config: CellConfig) -> CellPlan {
        CellPlan::new(CellId(0), config).expect("a cell")
    }

    fn reporting(slot: Span, period: u64, delay: u64) -> CsiReporting {
        CsiReporting {
            period: slot * period,
            offset: Span::ZERO,
            delay: slot * delay,
        }
    }

    /// Returns the slot in which the report that is used in `slot` was measured.
    fn measured(
        plan: &CellPlan,
        direction: Direction,
        periods: (u64, u64),
        slot: u64,
    ) -> Option<u64> {
        let reporting = reporting(plan.frame.slot(), periods.0, periods.1);
        let at = plan.measured_at(direction, &reporting, plan.frame.start_of(slot))?;
        Some(plan.frame.slot_at(at))
    }

    #[test]
    fn reports_of_fdd_are_used_after_their_delay() {
        let plan = plan(CellConfig::lte(Point::default(), Hertz(2e9), 50));
        for slot in 0..50 {
            let expected = (slot >= 6).then(|| (slot - 6) / 5 * 5);
            for direction in [Direction::Downlink, Direction::Uplink] {
                assert_eq!(measured(&plan, direction, (5, 6), slot), expected);
            }
        }
    }

    #[test]
    fn a_report_of_tdd_is_of_a_downlink_slot_and_waits_for_pucch() {
        // LTE configuration 2, DSUDDDSUDD, has PUCCH in subframes 2 and 7 of each frame. Four
        // subframes lie between PUCCH and the assignment. Reports of subframes 0 and 5 are sent in
        // subframes 2 and 7, without a further wait.
        let tdd = LteTdd::new(2).expect("0 to 6");
        let lte = plan(CellConfig {
            duplex: Duplex::Tdd(tdd.pattern(7).expect("0 to 10")),
            timing: Timing::lte_tdd(tdd),
            ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
        });
        let measured_slot = |slot| measured(&lte, Direction::Downlink, (5, 6), slot);
        assert_eq!(
            [25, 26, 30, 31].map(measured_slot),
            [15, 20, 20, 25].map(Some)
        );
        // With a report in each subframe, the reports of subframes 21 to 25 are sent in subframe
        // 27. From subframe 31 on, the latest of these reports is used. The reports of subframes 26
        // to 30 are sent in subframe 32.
        let measured_slot = |slot| measured(&lte, Direction::Downlink, (1, 6), slot);
        assert_eq!(
            [31, 32, 33, 35, 36].map(measured_slot),
            [25, 25, 25, 25, 30].map(Some)
        );
        assert_eq!(measured_slot(5), None);
    }

    #[test]
    fn the_uplink_is_measured_where_it_is() {
        let pattern = TddPattern::new("DDDSU", SpecialSlot::default(), 14).expect("a pattern");
        let nr = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell");
        let nr = plan(CellConfig {
            duplex: Duplex::Tdd(pattern),
            ..nr
        });
        let measured_slot = |slot| measured(&nr, Direction::Uplink, (10, 4), slot);
        // Slots 10 and 20 are downlink slots. The uplink is therefore measured in the latest uplink
        // slots before them, 9 and 19.
        assert_eq!([14, 23, 24].map(measured_slot), [9, 9, 19].map(Some));
    }
}
