//! The downlink of a slot. Retransmissions are sent first, then new data by the scheduler's
//! decision.

use super::competition::{Entrant, Offer};
use super::{CellMac, LegPart, NEEDS, Served, Slot, Transmission, prefetch_upcoming};
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
        // The list is moved out of the cell, so that the cell's other fields can be changed
        // meanwhile. No UE becomes active within a slot.
        let active = std::mem::take(&mut self.down.active);
        for (position, &rnti) in active.iter().enumerate() {
            let parts = [(4, LegPart::Leg)];
            prefetch_upcoming((&active, position), &self.served, &parts, served);
            self.repeat_downlink(rnti, &mut remaining, served);
        }
        self.share_downlink(&active, &mut remaining, served);
        self.down.restore_active(active);
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
        if self.down.ready[rnti.index()] > remaining.slot || remaining.ues == 0 {
            return;
        }
        let (leg, _) = self.served[rnti.index()];
        let repetition =
            served.repetition(leg, Direction::Downlink, remaining.slot, remaining.slot);
        let Some((process, shape)) = repetition else {
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

    /// Divides the remaining resources among UEs with new data.
    fn share_downlink(
        &mut self,
        active: &[Rnti],
        remaining: &mut SlotResources,
        served: &mut impl Served,
    ) {
        let mut competition = std::mem::take(&mut self.competition);
        competition.clear();
        let asked = Slot {
            now: remaining.slot,
            target: remaining.slot,
            symbols: remaining.symbols,
            units: remaining.units,
        };
        let plan = &self.plan;
        let legs = &self.served[..];
        let by_rnti = (&mut self.down.ready[..], legs);
        let reports_at = plan.downlink_reports_at(remaining.slot);
        let parts: &[_] = match std::mem::replace(&mut self.reports_at, reports_at) == reports_at {
            true => &[(4, LegPart::BearerAndPath)],
            false => &[(4, LegPart::BearerAndPath), (2, LegPart::Channel)],
        };
        competition.collect_bids(remaining.slot, active, by_rnti, |position, leg| {
            prefetch_upcoming((active, position), legs, parts, served);
            served.downlink_demand(plan, leg, asked)
        });
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
