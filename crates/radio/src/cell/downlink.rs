//! The downlink of a slot: retransmissions first, then new data as the scheduler decides.

use super::contest::{Entrant, Offer};
use super::{CellMac, NEEDS, Served, Slot, Transmission};
use crate::config::{LegId, Rnti, Shape, Sharing};
use crate::mac::scheduler::MacScheduler;
use crate::phy::frame::Duplex;
use crate::phy::sub_band::BandSet;
use fadeout_core::Direction;

/// Resources of a slot that are left during scheduling.
pub(super) struct Room {
    slot: u64,
    /// Symbols for data.
    symbols: u8,
    units: u32,
    /// Units of retransmitted blocks.
    repeated: u32,
    ues: u32,
    /// First symbol of the next block. Used with time sharing only.
    next_symbol: u8,
}

impl CellMac {
    /// Returns the number of symbols for downlink data in `slot`, without those of uplink grants.
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
        let mut room = Room {
            slot,
            symbols,
            units,
            repeated: 0,
            ues: self.plan.config.most_ues,
            next_symbol,
        };
        if room.units < self.plan.down.least_units() {
            self.note_need(slot, self.plan.down.least_units());
            return;
        }
        self.begin_bands(room.units);
        // The list is moved out to allow access to other state of the cell. No UE becomes active
        // within a slot.
        let active = std::mem::take(&mut self.down.active);
        for &rnti in &active {
            self.repeat_downlink(rnti, &mut room, served);
        }
        self.share_downlink(&active, &mut room, served);
        self.down.put_back(active);
    }

    /// Records the number of units that the downlink needs in a slot.
    fn note_need(&mut self, slot: u64, units: u32) {
        self.needed[slot as usize % NEEDS] = (slot, units);
    }

    /// Retransmits a block of a UE if one is pending and fits.
    fn repeat_downlink(&mut self, rnti: Rnti, room: &mut Room, served: &mut impl Served) {
        if self.down.ready[rnti.index()] > room.slot || room.ues == 0 {
            return;
        }
        let (leg, _) = self.served[rnti.index()];
        let repetition = served.repetition(leg, Direction::Downlink, room.slot, room.slot);
        let Some((process, shape)) = repetition else {
            return;
        };
        let fits = shape.units <= room.units
            && (self.plan.config.sharing == Sharing::Time || shape.symbols <= room.symbols);
        if !fits {
            self.blocked_units = self.blocked_units.max(shape.units);
            return;
        }
        self.blocked_units = 0;
        served.resume(leg, Direction::Downlink, process, room.slot);
        room.repeated += shape.units;
        let bands = self.bands_to_repeat(leg, shape.units, served);
        let shape = Shape { bands, ..shape };
        self.transmit(leg, (process, shape), room, served);
    }

    /// Shares the remaining resources among UEs with new data.
    fn share_downlink(&mut self, active: &[Rnti], room: &mut Room, served: &mut impl Served) {
        let mut contest = std::mem::take(&mut self.contest);
        contest.clear();
        let asked = Slot {
            now: room.slot,
            target: room.slot,
            symbols: room.symbols,
            units: room.units,
        };
        let plan = &self.plan;
        let by_rnti = (&mut self.down.ready[..], &self.served[..]);
        contest.ask(room.slot, active, by_rnti, |leg| {
            served.downlink_demand(plan, leg, asked)
        });
        self.note_need(room.slot, room.repeated + contest.whole());
        let offer = Offer {
            slot: room.slot,
            units: room.units,
            least: self.plan.down.least_units(),
            most_ues: room.ues,
        };
        if !self.share_bands(&contest, &offer, room, served) {
            contest.decide(&offer, &mut self.down.scheduler);
            for (entrant, units) in contest.winners() {
                let part = (units, BandSet::default());
                self.send_new(entrant, part, room, served);
            }
        }
        self.contest = contest;
    }

    /// Sends a new block to a UE in this number of units, which lie in these sub-bands.
    pub(super) fn send_new(
        &mut self,
        entrant: Entrant,
        (units, bands): (u32, BandSet),
        room: &mut Room,
        served: &mut impl Served,
    ) {
        let Entrant { rnti, scheme, cqi } = entrant;
        let (leg, ue) = self.served[rnti.index()];
        let resources = &self.plan.down;
        let shape = Shape {
            scheme,
            symbols: room.symbols,
            units,
            bytes: resources.bytes(room.symbols, usize::from(scheme), units),
            bands,
        };
        let filled = served.fill_downlink(&self.plan, leg, room.slot, (shape, cqi));
        self.down.ready[rnti.index()] = match filled {
            Err(ready) => ready,
            Ok(process) => {
                let scheduler = &mut self.down.scheduler;
                scheduler.on_served(room.slot, ue, shape.bytes);
                self.transmit(leg, (process, shape), room, served);
                // The buffer may be empty now, or the next HARQ process may be busy.
                served.downlink_ready(&self.plan, leg, room.slot)
            }
        };
    }

    /// Sends a block over the air.
    fn transmit(
        &mut self,
        leg: LegId,
        (process, shape): (u8, Shape),
        room: &mut Room,
        served: &mut impl Served,
    ) {
        let plan = &self.plan;
        let end_symbol = match (&plan.config.duplex, plan.config.sharing) {
            (Duplex::Fdd, Sharing::Frequency) => plan.frame.symbols(),
            (_, Sharing::Frequency) => plan.frame.format(room.slot).downlink,
            (_, Sharing::Time) => room.next_symbol + shape.units as u8,
        };
        let timing = &plan.config.timing;
        let times = timing.downlink(&plan.frame, room.slot, end_symbol);
        debug_assert!(
            shape.units <= room.units,
            "{} units are sent in slot {}, and {} are left",
            shape.units,
            room.slot,
            room.units
        );
        debug_assert!(room.ues > 0, "more UEs are served than a slot takes");
        debug_assert!(
            times.decoded_at >= plan.frame.start_of(room.slot),
            "a block is decoded before it is sent"
        );
        room.units -= shape.units;
        room.ues -= 1;
        if plan.config.sharing == Sharing::Time {
            room.next_symbol = end_symbol;
            room.symbols -= shape.units as u8;
        }
        let transmission = Transmission {
            slot: room.slot,
            again_from: times.repetition_slot,
            decoded_at: times.decoded_at,
            share: plan.share(Direction::Downlink, shape.units),
            bands: shape.bands,
        };
        served.send_downlink(leg, process, transmission);
    }
}
