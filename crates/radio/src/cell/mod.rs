//! A cell: which slots it has to look at, and whom it serves in them.
//!
//! A slot is looked at only if something may happen in it: data or a retransmission waits, an
//! uplink slot was granted, or may be. So a cell whose UEs have nothing to send asks for no slot.
//!
//! [`CellMac`] schedules. What a UE has to send, and which scheme it needs, it asks of [`Served`]; it
//! knows no HARQ process, no bearer and no channel.

mod bands;
mod contest;
mod downlink;
#[cfg(test)]
mod tests;
mod uplink;

use crate::config::{Division, LegId, NO_SLOT, Rnti, Shape};
use crate::mac::scheduler::{BuiltInScheduler, MacSchedulerKind};
use crate::phy::sub_band::BandSet;
use crate::plan::{BandCqi, CellPlan};
use bands::Bands;
use contest::Contest;
use fadeout_core::{Direction, Span, Time, UeId, Wake};
use std::collections::VecDeque;

/// The demand of a UE for a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    /// From which slot on it may have something again, after this one.
    pub ready: u64,
    /// Its bid for the slot, when it can use it now.
    pub bid: Option<Bid>,
}

/// A UE's use of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bid {
    pub scheme: u8,
    pub cqi: u8,
    /// Units that would empty its buffer, of those that are left.
    pub wanted: u32,
    /// The same if nothing of the slot were given away; of downlink that the uplink may take from.
    pub whole: u32,
    /// Bytes on all units.
    pub rate: f64,
    /// Bits that a resource element carries by the report alone. Zero without a report.
    pub reported: f64,
}

/// A slot, and the units of it that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The slot that begins now.
    pub now: u64,
    /// The slot to be given away: the same in the downlink, a later one in the uplink.
    pub target: u64,
    /// Its symbols for data.
    pub symbols: u8,
    /// Its units that are left; none when so few are left that they carry nothing.
    pub units: u32,
}

/// A downlink transmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Transmission {
    pub slot: u64,
    /// Slot before which nothing follows from it.
    pub again_from: u64,
    /// When the UE has tried to decode it.
    pub decoded_at: Time,
    /// Share of the band and slot.
    pub share: f64,
    /// The sub-bands that it lies in, where the cell schedules by them.
    pub bands: BandSet,
}

/// The legs of a cell, as it asks them.
pub(crate) trait Served {
    /// The block of a leg to be sent again in slot `target` first, and its resources.
    fn repetition(
        &self,
        leg: LegId,
        direction: Direction,
        slot: u64,
        target: u64,
    ) -> Option<(u8, Shape)>;
    /// That block gets slot `target`.
    fn resume(&mut self, leg: LegId, direction: Direction, process: u8, target: u64);
    /// The demand of a leg for a downlink slot that begins now.
    fn downlink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand;
    /// The CQI of each sub-band by the report that the leg's latest demand follows from.
    fn sub_band_cqi(&self, leg: LegId) -> &BandCqi;
    /// Scheme and CQI of a downlink block of a leg with so many units in each sub-band, by the same
    /// report; none out of range.
    fn scheme_over(&self, plan: &CellPlan, leg: LegId, units: &[u8]) -> Option<(u8, u8)>;
    /// Fills a new block for a leg. Its process; without one, nothing was there that fits, and it
    /// may have something from the slot on that is returned.
    fn fill_downlink(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slot: u64,
        block: (Shape, u8),
    ) -> Result<u8, u64>;
    /// Sends the block of a process.
    fn send_downlink(&mut self, leg: LegId, process: u8, transmission: Transmission);
    /// From which slot on a leg may have something again that was just sent a new block.
    fn downlink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64;
    /// Uplink demand of a leg that can be granted in a slot now.
    fn uplink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand;
    /// Grants a leg a new block, in a slot for a later one. Its process; none when all are busy.
    fn grant(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slots: (u64, u64),
        block: (Shape, u8),
    ) -> Option<u8>;
    /// From which slot on a leg may be granted something again that was just granted a block.
    fn uplink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64;
    /// The slot begins that was granted to a process.
    fn send_uplink(&mut self, plan: &CellPlan, leg: LegId, slot: u64, process: u8);
    /// The cell is to look at the slot that begins at `at`.
    fn wake(&mut self, at: Time, generation: u32);
}

/// Slots of which it is remembered what the downlink needed: more than lie between a grant and its slot.
const NEEDS: usize = 8;

/// A cell: its own state and decisions.
#[derive(Debug)]
pub(crate) struct CellMac {
    pub plan: CellPlan,
    down: Half,
    up: Half,
    /// Its UEs, by [`Rnti`].
    served: Vec<(LegId, UeId)>,
    /// Uplink slots given away, in order.
    grants: VecDeque<Grant>,
    wake: Wake,
    /// The next slot to look at is not before this one.
    first_slot: u64,
    /// Uplink units given away, by slot.
    uplink_used: Vec<(u64, u32)>,
    /// Units that the downlink needed in the latest slots that it had something for.
    needed: [(u64, u32); NEEDS],
    /// Units of the largest downlink block that is to be sent again and found no room.
    blocked_units: u32,
    /// Occasions of configured grants in each slot of their period.
    occasions: Vec<u32>,
    contest: Contest,
    /// Where UEs report on sub-bands.
    bands: Option<Box<Bands>>,
    slots: u64,
}

/// One direction of a cell.
#[derive(Debug)]
struct Half {
    scheduler: BuiltInScheduler,
    /// UEs that may have something for a coming slot.
    active: Vec<Rnti>,
    /// By [`Rnti`]: the first slot that it may have something for while it is active.
    ready: Vec<u64>,
    /// By [`Rnti`]: whether it is in `active`.
    is_active: Vec<bool>,
}

/// An uplink slot that a UE may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    pub slot: u64,
    pub leg: LegId,
    pub process: u8,
}

impl Half {
    fn new(kind: MacSchedulerKind, ues: usize, slot: Span) -> Half {
        Half {
            scheduler: kind.start(ues, slot),
            active: Vec::new(),
            ready: Vec::new(),
            is_active: Vec::new(),
        }
    }

    /// Puts the list of active UEs back after a slot, without those that have nothing more.
    fn put_back(&mut self, mut active: Vec<Rnti>) {
        active.retain(|&rnti| {
            let has_more = self.ready[rnti.index()] != NO_SLOT;
            self.is_active[rnti.index()] = has_more;
            has_more
        });
        debug_assert!(
            self.active.is_empty(),
            "a UE became active while the active ones were away"
        );
        self.active = active;
    }

    /// The first slot for which anybody may have something.
    fn earliest(&self) -> Option<u64> {
        let ready = self.active.iter().map(|&rnti| self.ready[rnti.index()]);
        ready.min().filter(|&slot| slot != NO_SLOT)
    }
}

impl CellMac {
    /// A cell for UEs with ids below `ues`.
    pub(crate) fn new(plan: CellPlan, ues: usize) -> CellMac {
        let occasions = plan.config.configured_grant.map_or(0, |grant| grant.period);
        let slot = plan.frame.slot();
        CellMac {
            down: Half::new(plan.config.downlink_scheduler, ues, slot),
            up: Half::new(plan.config.uplink_scheduler, ues, slot),
            served: Vec::new(),
            grants: VecDeque::new(),
            wake: Wake::default(),
            first_slot: 0,
            uplink_used: vec![(u64::MAX, 0); 256],
            needed: [(0, 0); NEEDS],
            blocked_units: 0,
            occasions: vec![0; occasions as usize],
            contest: Contest::default(),
            bands: plan.sub_bands.as_ref().map(|_| Box::default()),
            slots: 0,
            plan,
        }
    }

    /// A UE connects.
    pub(crate) fn connect(&mut self, leg: LegId, ue: UeId) -> Rnti {
        let rnti = Rnti(self.served.len() as u32);
        self.served.push((leg, ue));
        for half in [&mut self.down, &mut self.up] {
            half.ready.push(NO_SLOT);
            half.is_active.push(false);
        }
        rnti
    }

    /// Slots looked at so far.
    pub(crate) fn slots(&self) -> u64 {
        self.slots
    }

    /// The next slot that it looks at is not before this one.
    pub(crate) fn first_slot(&self) -> u64 {
        self.first_slot
    }

    fn half_mut(&mut self, direction: Direction) -> &mut Half {
        match direction {
            Direction::Downlink => &mut self.down,
            Direction::Uplink => &mut self.up,
        }
    }

    /// A UE may have something for `slot` or later. When to look at a slot and the generation of
    /// that wake-up, if there is no earlier one.
    pub(crate) fn activate(
        &mut self,
        rnti: Rnti,
        direction: Direction,
        slot: u64,
    ) -> Option<(Time, u32)> {
        let slot = slot.max(self.first_slot);
        let half = self.half_mut(direction);
        let is_active = half.is_active[rnti.index()];
        let ready = &mut half.ready[rnti.index()];
        if is_active && *ready <= slot {
            return None;
        }
        *ready = slot;
        if !is_active {
            half.is_active[rnti.index()] = true;
            half.active.push(rnti);
        }
        self.need(self.plan.schedulable_from(direction, slot))
    }

    /// Makes the cell look at `slot`. When its event is due and with which generation, unless an
    /// earlier one is pending.
    fn need(&mut self, slot: u64) -> Option<(Time, u32)> {
        let at = self.plan.frame.start_of(slot.max(self.first_slot));
        self.wake.arm(at).map(|generation| (at, generation))
    }

    /// Whether a wake-up is the one that was armed last.
    pub(crate) fn fire(&mut self, generation: u32) -> bool {
        self.wake.fire(generation)
    }

    /// A slot begins that it wanted to look at.
    pub(crate) fn on_slot(&mut self, now: Time, served: &mut impl Served) {
        let slot = self.plan.frame.slot_at(now);
        if slot < self.first_slot {
            return;
        }
        debug_assert!(
            self.grants.front().is_none_or(|grant| grant.slot >= slot),
            "a grant was not used in its slot"
        );
        self.first_slot = slot + 1;
        self.slots += 1;
        self.send_granted(slot, served);
        self.schedule_downlink(slot, served);
        self.schedule_uplink(slot, served);
        let next = self.next_slot();
        if next != NO_SLOT
            && let Some((at, generation)) = self.need(next)
        {
            debug_assert!(at > now, "a cell wakes at {at}, and it is {now}");
            served.wake(at, generation);
        }
    }

    /// The next slot that it has to look at, as far as it knows now.
    fn next_slot(&self) -> u64 {
        let earliest = |direction, half: &Half| {
            let ready = half.earliest()?.max(self.first_slot);
            Some(self.plan.schedulable_from(direction, ready))
        };
        let down = earliest(Direction::Downlink, &self.down);
        let up = earliest(Direction::Uplink, &self.up);
        let granted = self.grants.front().map(|grant| grant.slot);
        let next = down.into_iter().chain(up).chain(granted).min();
        next.unwrap_or(NO_SLOT)
    }

    /// Units that the uplink may still give to new data in `slot`.
    fn uplink_units_left(&self, slot: u64) -> u32 {
        let symbols = self.plan.data_symbols(slot);
        let mut units = self.plan.up.units(symbols.up);
        if symbols.shared() > 0 && !self.down.active.is_empty() {
            // Both directions want the slot: half each, unless a downlink block that is to be
            // sent again needs more.
            let (shared, both) = (u32::from(symbols.shared()), u32::from(symbols.both));
            let left = both.saturating_sub(self.blocked_units);
            let half = shared.div_ceil(2);
            let kept = match self.plan.config.division {
                Division::Halves => half,
                Division::Demand => self
                    .needed(slot)
                    .clamp(self.plan.down.least_units(), half.max(2)),
            };
            units = units.saturating_sub(kept).min(left);
        }
        units.saturating_sub(self.reserved(slot) + self.uplink_used(slot))
    }

    /// The most units that the downlink needed in any of the latest slots before `slot`.
    fn needed(&self, slot: u64) -> u32 {
        let latest = self.needed.iter();
        let latest = latest.filter(|(at, _)| at + NEEDS as u64 * 2 > slot);
        latest.map(|(_, units)| *units).max().unwrap_or(0)
    }

    /// Units that it may still give to blocks that are sent again.
    fn uplink_units_for_repetition(&self, slot: u64) -> u32 {
        let units = self.plan.up.units(self.plan.uplink_symbols(slot));
        units.saturating_sub(self.reserved(slot) + self.uplink_used(slot))
    }

    /// Units kept for configured grants, and for the reports of UEs with downlink data on sub-bands.
    fn reserved(&self, slot: u64) -> u32 {
        let granted = self.plan.config.configured_grant.map_or(0, |grant| {
            self.occasions[(slot % u64::from(grant.period)) as usize] * grant.units
        });
        granted + self.plan.report_units(slot, self.down.active.len())
    }

    fn uplink_used(&self, slot: u64) -> u32 {
        let (at, used) = self.uplink_used[slot as usize % self.uplink_used.len()];
        if at == slot { used } else { 0 }
    }

    /// Gives away units of `slot`.
    fn use_uplink(&mut self, slot: u64, units: u32) {
        let used = self.uplink_used(slot) + units;
        let index = slot as usize % self.uplink_used.len();
        debug_assert!(
            used <= self.plan.up.units(self.plan.uplink_symbols(slot)),
            "{used} units are granted in slot {slot}, which has {}",
            self.plan.up.units(self.plan.uplink_symbols(slot))
        );
        self.uplink_used[index] = (slot, used);
    }

    /// Keeps an occasion of the configured grant free for a UE with this offset. False when there
    /// is none, or half of the slot is kept already (a quarter where it is shared with the
    /// downlink): the rest is for everybody else, and for blocks that are sent again.
    pub(crate) fn reserve_occasion(&mut self, offset: u32) -> bool {
        let Some(grant) = self.plan.config.configured_grant else {
            return false;
        };
        let parts = if self.plan.divides_slots() { 4 } else { 2 };
        let most = self.plan.up.units(self.plan.frame.symbols()) / parts;
        let count = &mut self.occasions[offset as usize];
        let has_room = (*count + 1) * grant.units <= most;
        *count += u32::from(has_room);
        has_room
    }

    /// A UE that had an occasion with this offset has left.
    pub(crate) fn release_occasion(&mut self, offset: u32) {
        if let Some(count) = self.occasions.get_mut(offset as usize) {
            *count = count.saturating_sub(1);
        }
    }

    /// A UE will use a slot of its configured grant. As [`CellMac::activate`].
    pub(crate) fn keep(&mut self, grant: Grant) -> Option<(Time, u32)> {
        self.push_grant(grant);
        self.need(grant.slot)
    }

    /// Puts a grant in its place in the order of slots.
    fn push_grant(&mut self, grant: Grant) {
        let behind = self.grants.iter().rev();
        let behind = behind.take_while(|other| other.slot > grant.slot).count();
        self.grants.insert(self.grants.len() - behind, grant);
        debug_assert!(
            self.grants.iter().is_sorted_by_key(|grant| grant.slot),
            "grants are not in the order of their slots"
        );
        debug_assert!(
            grant.slot >= self.first_slot.saturating_sub(1),
            "a grant is for slot {}, which is over",
            grant.slot
        );
    }

    /// A leg has failed: what it was granted is void.
    pub(crate) fn forget_grants(&mut self, leg: LegId) {
        self.grants.retain(|grant| grant.leg != leg);
    }
}
