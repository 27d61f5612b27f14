//! Downlink demands that a cell keeps from one slot to the next.
//!
//! Most active UEs of a loaded cell wait for many slots until it is their turn. Nothing about such
//! a UE changes meanwhile, so its MCS, CQI and backlog stay the same. The cell asks a leg for them
//! only after a change.

use super::served::{Bid, Demand, SchemeChoice, Served, Slot};
use crate::config::{LegId, Rnti};
use crate::plan::CellPlan;
use fadeout_core::{Time, UeId};

/// Latest demand of a UE.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    /// First slot in which the demand may differ. Zero if the demand is not kept.
    holds_before: u64,
    /// Number of changes of the UE when it was asked.
    changes: u32,
    /// Symbols and units for which the bid was computed, and the symbols without uplink data.
    offered: (u8, u8, u32),
    bid: Bid,
}

/// Latest downlink demands of the UEs of a cell.
#[derive(Debug, Default)]
pub(super) struct KeptDemands {
    by_rnti: Vec<Kept>,
    /// Measurement time of the downlink reports in the last slot with downlink data.
    reports_at: Option<Time>,
}

/// Returns the properties of a slot on which the bid of every UE depends.
#[inline]
fn offered(plan: &CellPlan, slot: Slot) -> (u8, u8, u32) {
    (slot.symbols, plan.data_symbols(slot.now).down, slot.units)
}

impl KeptDemands {
    /// Adds the UE with the next RNTI.
    pub(super) fn connect(&mut self) {
        self.by_rnti.push(Kept::default());
    }

    /// Begins a slot whose downlink reports were measured at this time. Returns true if these are
    /// other reports than in the last slot with downlink data.
    pub(super) fn begin_slot(&mut self, reports_at: Option<Time>) -> bool {
        std::mem::replace(&mut self.reports_at, reports_at) != reports_at
    }

    /// Returns true if a UE has not changed since it was asked last. The UE then has no block to
    /// retransmit in `slot`. Without a new report, its demand is kept.
    #[inline]
    pub(super) fn is_unchanged(
        &self,
        (rnti, ue): (Rnti, UeId),
        slot: u64,
        served: &impl Served,
    ) -> bool {
        let kept = &self.by_rnti[rnti.index()];
        slot < kept.holds_before && kept.changes == served.changes(ue)
    }

    /// Returns the demand for `slot` of a UE without a change or a new report.
    #[inline]
    pub(super) fn demand(&mut self, plan: &CellPlan, rnti: Rnti, slot: Slot) -> Demand {
        let kept = &mut self.by_rnti[rnti.index()];
        let offered = offered(plan, slot);
        if kept.offered != offered {
            let Bid {
                scheme,
                cqi,
                backlog,
                ..
            } = kept.bid;
            kept.bid = Bid::downlink(plan, slot, SchemeChoice { scheme, cqi }, backlog);
            kept.offered = offered;
        }
        Demand {
            ready: slot.now + 1,
            bid: Some(kept.bid),
        }
    }

    /// Forgets the demand of a UE.
    #[inline]
    pub(super) fn forget(&mut self, rnti: Rnti) {
        self.by_rnti[rnti.index()].holds_before = 0;
    }

    /// Keeps the demand of a UE that was asked just now, if it holds in later slots.
    #[inline]
    pub(super) fn keep(
        &mut self,
        (plan, slot): (&CellPlan, Slot),
        (rnti, leg, ue): (Rnti, LegId, UeId),
        demand: &Demand,
        served: &impl Served,
    ) {
        // Before the first report, the channel at the present time is used.
        let has_report = self.reports_at.is_some() || plan.config.adaptation.is_fixed();
        if let Some(bid) = demand.bid
            && demand.ready == slot.now + 1
            && has_report
        {
            self.by_rnti[rnti.index()] = Kept {
                holds_before: served.downlink_holds_before(plan, leg),
                changes: served.changes(ue),
                offered: offered(plan, slot),
                bid,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Script;
    use super::*;
    use crate::config::{CellConfig, NO_SLOT};
    use fadeout_core::{CellId, Hertz, Point};

    const ID: (Rnti, LegId, UeId) = (Rnti(0), LegId(10), UeId(0));
    const UE: (Rnti, UeId) = (ID.0, ID.2);

    fn plan() -> CellPlan {
        let config = CellConfig::lte(Point::default(), Hertz(2e9), 50);
        CellPlan::new(CellId(0), config).expect("a cell")
    }

    fn slot(now: u64, units: u32) -> Slot {
        Slot {
            now,
            target: now,
            symbols: 14,
            units,
        }
    }

    /// Returns the demand of a UE with `backlog` bytes in a slot.
    fn demand(plan: &CellPlan, slot: Slot, backlog: u64) -> Demand {
        Demand {
            ready: slot.now + 1,
            bid: Some(Bid::downlink(
                plan,
                slot,
                SchemeChoice { scheme: 9, cqi: 8 },
                backlog,
            )),
        }
    }

    /// Returns demands with that of one UE, which was asked in slot 4.
    fn kept(plan: &CellPlan, answer: Demand, script: &Script) -> KeptDemands {
        let mut kept = KeptDemands::default();
        kept.connect();
        kept.begin_slot(Some(Time::ZERO));
        kept.keep((plan, slot(4, 17)), ID, &answer, script);
        kept
    }

    #[test]
    fn a_demand_is_kept_until_a_change_or_the_given_slot() {
        let plan = plan();
        let answer = demand(&plan, slot(4, 17), 3000);
        let mut script = Script::holding_before(9);
        let mut kept = kept(&plan, answer, &script);
        let is_unchanged = [5, 8, 9, 10].map(|at| kept.is_unchanged(UE, at, &script));
        assert_eq!(is_unchanged, [true, true, false, false]);
        script.changes = 1;
        assert!(!kept.is_unchanged(UE, 5, &script));
        script.changes = 0;
        kept.forget(UE.0);
        assert!(!kept.is_unchanged(UE, 5, &script));
    }

    #[test]
    fn a_demand_before_the_first_report_is_not_kept() {
        let plan = plan();
        let script = Script::holding_before(NO_SLOT);
        let mut kept = KeptDemands::default();
        kept.connect();
        kept.begin_slot(None);
        let answer = demand(&plan, slot(4, 17), 3000);
        kept.keep((&plan, slot(4, 17)), ID, &answer, &script);
        assert!(!kept.is_unchanged(UE, 5, &script));
    }

    #[test]
    fn a_ue_that_cannot_send_in_the_next_slot_is_asked_again() {
        let plan = plan();
        let script = Script::holding_before(NO_SLOT);
        let answer = demand(&plan, slot(4, 17), 3000);
        let later = Demand { ready: 7, ..answer };
        let silent = Demand {
            bid: None,
            ..answer
        };
        for answer in [later, silent] {
            assert!(!kept(&plan, answer, &script).is_unchanged(UE, 5, &script));
        }
    }

    #[test]
    fn a_kept_demand_is_that_of_an_asked_ue_for_any_units() {
        let plan = plan();
        let script = Script::holding_before(NO_SLOT);
        for backlog in [1, 40, 700, 3000, 1_000_000] {
            let mut kept = kept(&plan, demand(&plan, slot(4, 17), backlog), &script);
            for (at, units) in [(5, 17), (6, 3), (7, 9), (8, 9), (9, 17), (10, 0)] {
                let slot = slot(at, units);
                assert_eq!(kept.demand(&plan, UE.0, slot), demand(&plan, slot, backlog));
            }
        }
    }

    #[test]
    fn only_another_measurement_time_makes_new_reports() {
        let mut kept = KeptDemands::default();
        let times = [None, Some(1), Some(1), Some(6), None];
        let are_new = times.map(|at| kept.begin_slot(at.map(Time::from_nanos)));
        assert_eq!(are_new, [false, true, false, true, true]);
    }
}
