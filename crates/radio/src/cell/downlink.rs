//! The downlink of a slot. Retransmissions are sent first, then new data by the scheduler's
//! decision.

use super::competition::{Competition, Entrant, Offer};
use super::{
    CACHED_UES, CellMac, LegPart, NEEDS, Prefetched, Served, Slot, Transmission, prefetch_upcoming,
};
use crate::config::{LegId, Rnti, Shape, Sharing};
use crate::mac::scheduler::MacScheduler;
use crate::phy::frame::Duplex;
use crate::phy::sub_band::BandSet;
use fadeout_core::Direction;

/// Resources of a slot that are not allocated yet.
pub(super) struct SlotResources {
    slot: u64,
    /// Number of symbols for data.
    symbols: u8,
    units: u32,
    /// Units that retransmitted blocks occupy.
    repeated: u32,
    ues: u32,
    /// First symbol of the next block. Used with time sharing only.
    next_symbol: u8,
}

/// UEs that may have data in a slot.
struct SlotUes {
    /// UEs that may have data in this slot or later.
    active: Vec<Rnti>,
    /// Active UEs that the cell asks for their demands. The demands of the others are kept.
    asked: Vec<Rnti>,
    /// True if all UEs are asked, because they have new reports.
    has_new_reports: bool,
}

impl SlotUes {
    /// Returns true if the state of the UEs fits into the caches of a core.
    fn are_cached(&self) -> bool {
        self.active.len() <= CACHED_UES
    }

    /// Returns the parts to prefetch before retransmissions.
    fn parts_of_legs(&self) -> Prefetched {
        match self.are_cached() {
            true => &[],
            false => &[(4, LegPart::Leg)],
        }
    }

    /// Returns the parts to prefetch before new data.
    fn parts_of_demands(&self) -> Prefetched {
        match (self.are_cached(), self.has_new_reports) {
            (true, _) => &[],
            (false, false) => &[(4, LegPart::BearerAndPath)],
            (false, true) => &[(4, LegPart::BearerAndPath), (2, LegPart::Channel)],
        }
    }
}

impl CellMac {
    /// Returns the number of symbols for downlink data in `slot`. Symbols of granted uplink blocks
    /// are excluded.
    pub(super) fn downlink_symbols(&self, slot: u64) -> u8 {
        let symbols = self.plan.data_symbols(slot);
        if symbols.shared() == 0 {
            return symbols.down;
        }
        let left = symbols.both.saturating_sub(self.uplink_used(slot) as u8);
        symbols.down.min(left)
    }

    /// Schedules the downlink of `slot`, which begins now.
    pub(super) fn schedule_downlink(&mut self, slot: u64, served: &mut impl Served) {
        if self.down.active.is_empty() {
            return;
        }
        let symbols = self.downlink_symbols(slot);
        let (next_symbol, units) = self.plan.downlink_room(slot, symbols);
        let mut remaining = SlotResources {
            slot,
            symbols,
            units,
            repeated: 0,
            ues: self.plan.config.most_ues,
            next_symbol,
        };
        if remaining.units < self.plan.down.least_units() {
            self.record_need(slot, self.plan.down.least_units());
            return;
        }
        self.begin_bands(remaining.units);
        let ues = self.begin_downlink(slot, served);
        for (position, &rnti) in ues.asked.iter().enumerate() {
            let parts = ues.parts_of_legs();
            prefetch_upcoming((&ues.asked, position), &self.served, parts, served);
            self.repeat_downlink(rnti, &mut remaining, served);
        }
        self.share_downlink(&ues, &mut remaining, served);
        self.asked = ues.asked;
        self.down.restore_active(ues.active);
    }

    /// Returns the UEs that may have data in `slot`.
    fn begin_downlink(&mut self, slot: u64, served: &impl Served) -> SlotUes {
        // The lists are moved out of the cell, so that the cell's other fields can be changed
        // meanwhile. No UE becomes active within a slot.
        let active = std::mem::take(&mut self.down.active);
        let mut asked = std::mem::take(&mut self.asked);
        let reports_at = self.plan.downlink_reports_at(slot);
        let has_new_reports = self.kept.begin_slot(reports_at);
        let (kept, ready, legs) = (&self.kept, &self.down.ready, &self.served);
        let is_asked = |rnti: &Rnti| {
            let id = (*rnti, legs[rnti.index()].1);
            let may_send = ready[rnti.index()] <= slot;
            may_send && (has_new_reports || !kept.is_unchanged(id, slot, served))
        };
        asked.clear();
        asked.extend(active.iter().filter(|it| is_asked(it)));
        SlotUes {
            active,
            asked,
            has_new_reports,
        }
    }

    /// Records the number of units that the downlink needs in `slot`.
    fn record_need(&mut self, slot: u64, units: u32) {
        self.needed[slot as usize % NEEDS] = (slot, units);
    }

    /// Retransmits a pending block of a UE, if the block fits into the remaining resources.
    fn repeat_downlink(
        &mut self,
        rnti: Rnti,
        remaining: &mut SlotResources,
        served: &mut impl Served,
    ) {
        if remaining.ues == 0 {
            return;
        }
        let (leg, ue) = self.served[rnti.index()];
        let slot = remaining.slot;
        let repetition = || served.repetition(leg, Direction::Downlink, slot, slot);
        if self.kept.is_unchanged((rnti, ue), slot, served) {
            debug_assert_eq!(repetition(), None, "a UE without a change repeats a block");
            return;
        }
        let Some((process, shape)) = repetition() else {
            return;
        };
        let fits = shape.units <= remaining.units
            && (self.plan.config.sharing == Sharing::Time || shape.symbols <= remaining.symbols);
        if !fits {
            self.blocked_units = self.blocked_units.max(shape.units);
            return;
        }
        self.blocked_units = 0;
        served.resume(leg, Direction::Downlink, process, remaining.slot);
        remaining.repeated += shape.units;
        let bands = self.bands_to_repeat(leg, shape.units, served);
        let shape = Shape { bands, ..shape };
        self.transmit(leg, (process, shape), remaining, served);
    }

    /// Collects the bids of all UEs for a slot. Asks the UEs in `asked`, and takes the kept demands
    /// of the others.
    fn collect_bids(
        &mut self,
        competition: &mut Competition,
        ues: &SlotUes,
        slot: Slot,
        served: &mut impl Served,
    ) {
        let (plan, kept, legs) = (&self.plan, &mut self.kept, &self.served[..]);
        let by_rnti = (&mut self.down.ready[..], legs);
        let parts = ues.parts_of_demands();
        // A single UE usually gets each slot, and changes in each.
        let (mut position, keeps) = (0, ues.active.len() > 1);
        competition.collect_bids(slot.now, &ues.active, by_rnti, |rnti, (leg, ue)| {
            if ues.asked.get(position) != Some(&rnti) {
                let demand = kept.demand(plan, rnti, slot);
                debug_assert_eq!(
                    served.downlink_demand(plan, leg, slot),
                    demand,
                    "the kept demand of {leg:?} does not hold in slot {}",
                    slot.now
                );
                return demand;
            }
            prefetch_upcoming((&ues.asked, position), legs, parts, served);
            position += 1;
            let demand = served.downlink_demand(plan, leg, slot);
            kept.forget(rnti);
            if keeps {
                kept.keep((plan, slot), (rnti, leg, ue), &demand, served);
            }
            demand
        });
    }

    /// Divides the remaining resources among UEs with new data.
    fn share_downlink(
        &mut self,
        ues: &SlotUes,
        remaining: &mut SlotResources,
        served: &mut impl Served,
    ) {
        let mut competition = std::mem::take(&mut self.competition);
        competition.clear();
        let slot = Slot {
            now: remaining.slot,
            target: remaining.slot,
            symbols: remaining.symbols,
            units: remaining.units,
        };
        self.collect_bids(&mut competition, ues, slot, served);
        self.record_need(
            remaining.slot,
            remaining.repeated + competition.total_demand(),
        );
        let offer = Offer {
            slot: remaining.slot,
            units: remaining.units,
            least: self.plan.down.least_units(),
            most_ues: remaining.ues,
        };
        if !self.share_bands(&competition, &offer, remaining, served) {
            competition.decide(&offer, &mut self.down.scheduler);
            for (entrant, units) in competition.winners() {
                let part = (units, BandSet::default());
                self.send_new(entrant, part, remaining, served);
            }
        }
        self.competition = competition;
    }

    /// Sends a new block to a UE on this number of units in the given sub-bands.
    pub(super) fn send_new(
        &mut self,
        entrant: Entrant,
        (units, bands): (u32, BandSet),
        remaining: &mut SlotResources,
        served: &mut impl Served,
    ) {
        let Entrant { rnti, scheme, cqi } = entrant;
        let (leg, ue) = self.served[rnti.index()];
        let resources = &self.plan.down;
        let shape = Shape {
            scheme,
            symbols: remaining.symbols,
            units,
            bytes: resources.bytes(remaining.symbols, usize::from(scheme), units),
            bands,
        };
        let filled = served.fill_downlink(&self.plan, leg, remaining.slot, (shape, cqi));
        self.down.ready[rnti.index()] = match filled {
            Err(ready) => ready,
            Ok(process) => {
                let scheduler = &mut self.down.scheduler;
                scheduler.on_served(remaining.slot, ue, shape.bytes);
                self.transmit(leg, (process, shape), remaining, served);
                // The buffer may be empty now, or the next HARQ process may be busy.
                served.downlink_ready(&self.plan, leg, remaining.slot)
            }
        };
    }

    /// Sends a block over the air.
    fn transmit(
        &mut self,
        leg: LegId,
        (process, shape): (u8, Shape),
        remaining: &mut SlotResources,
        served: &mut impl Served,
    ) {
        let plan = &self.plan;
        let end_symbol = match (&plan.config.duplex, plan.config.sharing) {
            (Duplex::Fdd, Sharing::Frequency) => plan.frame.symbols(),
            (_, Sharing::Frequency) => plan.frame.format(remaining.slot).downlink,
            (_, Sharing::Time) => remaining.next_symbol + shape.units as u8,
        };
        let timing = &plan.config.timing;
        let times = timing.downlink(&plan.frame, remaining.slot, end_symbol);
        debug_assert!(
            shape.units <= remaining.units,
            "{} units are sent in slot {}, and {} are left",
            shape.units,
            remaining.slot,
            remaining.units
        );
        debug_assert!(remaining.ues > 0, "more UEs are served than a slot takes");
        debug_assert!(
            times.decoded_at >= plan.frame.start_of(remaining.slot),
            "a block is decoded before it is sent"
        );
        remaining.units -= shape.units;
        remaining.ues -= 1;
        if plan.config.sharing == Sharing::Time {
            remaining.next_symbol = end_symbol;
            remaining.symbols -= shape.units as u8;
        }
        let transmission = Transmission {
            slot: remaining.slot,
            again_from: times.repetition_slot,
            decoded_at: times.decoded_at,
            share: plan.share(Direction::Downlink, shape.units),
            bands: shape.bands,
        };
        served.send_downlink(leg, process, transmission);
    }
}
