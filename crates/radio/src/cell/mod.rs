//! A cell. It decides which slots to schedule, and which UEs to serve in each slot.
//!
//! A cell schedules a slot only if the slot may have work. Work is waiting data, a retransmission,
//! an uplink grant, or an uplink slot that can be granted. A cell whose UEs have nothing to send
//! therefore has no events.
//!
//! [`CellMac`] is the scheduler. It gets a UE's data and MCS through [`Served`]. It does not know
//! HARQ processes, bearers or channels.

mod bands;
mod competition;
mod downlink;
mod kept;
mod served;
#[cfg(test)]
mod tests;
mod uplink;

use crate::config::{Division, LegId, NO_SLOT, Rnti};
use crate::mac::scheduler::{BuiltInScheduler, MacScheduler, MacSchedulerKind};
use crate::plan::CellPlan;
use bands::Bands;
use competition::Competition;
use fadeout_core::{Direction, Span, Time, UeId, Wake};
use kept::KeptDemands;
pub(crate) use served::{
    Bid, Demand, GrantSlots, LegPart, SchemeChoice, Served, Slot, Transmission,
};
use std::collections::VecDeque;

/// Number of active UEs whose state fits into the caches of a core.
const CACHED_UES: usize = 32;

/// Parts of a leg's state to prefetch, each with the number of UEs before its use.
type Prefetched = &'static [(usize, LegPart)];

/// Asks for parts of the state of the UEs that the cell queries after the UE at `position` of the
/// `queried` UEs. `legs` is indexed by RNTI.
#[inline]
fn prefetch_upcoming(
    (queried, position): (&[Rnti], usize),
    legs: &[(LegId, UeId)],
    parts: Prefetched,
    served: &impl Served,
) {
    for &(ahead, part) in parts {
        if let Some(rnti) = queried.get(position + ahead) {
            served.prefetch(legs[rnti.index()].0, part);
        }
    }
}

/// Number of slots for which the downlink's needs are stored. The number is larger than the number
/// of slots from a grant to its uplink slot.
const NEEDS: usize = 8;

/// State of a cell's scheduling.
#[derive(Debug)]
pub(crate) struct CellMac {
    pub plan: CellPlan,
    down: Half,
    up: Half,
    /// Legs and UEs of the cell by [`Rnti`].
    served: Vec<(LegId, UeId)>,
    /// Granted uplink slots in order of time.
    grants: VecDeque<Grant>,
    wake: Wake,
    /// Earliest slot that the cell has not scheduled yet.
    first_slot: u64,
    /// Number of allocated uplink units, by slot.
    uplink_used: Vec<(u64, u32)>,
    /// Number of units that the downlink needed in each of the latest slots with downlink data.
    needed: [(u64, u32); NEEDS],
    kept: KeptDemands,
    /// UEs that the cell asks for their demands in this slot. The memory is reused for each slot.
    asked: Vec<Rnti>,
    /// Units of the largest downlink retransmission that did not fit into its slot.
    blocked_units: u32,
    /// Number of reserved occasions of configured grants, by slot of the period.
    occasions: Vec<u32>,
    competition: Competition,
    /// Sub-band scheduling. `None` if UEs do not report a CQI for each sub-band.
    bands: Option<Box<Bands>>,
    slots: u64,
}

/// Scheduling state of one direction of a cell.
#[derive(Debug)]
struct Half {
    scheduler: BuiltInScheduler,
    /// UEs that may have data in a later slot.
    active: Vec<Rnti>,
    /// First slot in which an active UE may have data, by [`Rnti`].
    ready: Vec<u64>,
    /// True for the UEs in `active`, by [`Rnti`].
    is_active: Vec<bool>,
}

/// Grant of an uplink slot to a UE.
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

    /// Restores the list of active UEs after a slot. UEs without more data are removed.
    fn restore_active(&mut self, mut active: Vec<Rnti>) {
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

    /// Returns the first slot in which any UE may have data. `None` if no UE may have data.
    fn earliest(&self) -> Option<u64> {
        let ready = self.active.iter().map(|&rnti| self.ready[rnti.index()]);
        ready.min().filter(|&slot| slot != NO_SLOT)
    }
}

impl CellMac {
    /// Builds a cell for UEs with ids below `ues`.
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
            kept: KeptDemands::default(),
            asked: Vec::new(),
            blocked_units: 0,
            occasions: vec![0; occasions as usize],
            competition: Competition::default(),
            bands: plan.sub_bands.as_ref().map(|_| Box::default()),
            slots: 0,
            plan,
        }
    }

    /// Connects a UE and returns its RNTI.
    pub(crate) fn connect(&mut self, leg: LegId, ue: UeId) -> Rnti {
        let rnti = Rnti(self.served.len() as u32);
        self.served.push((leg, ue));
        self.kept.connect();
        for half in [&mut self.down, &mut self.up] {
            half.ready.push(NO_SLOT);
            half.is_active.push(false);
        }
        rnti
    }

    /// Sets the factor by which the schedulers multiply a UE's rate. Returns false if no scheduler
    /// of the cell compares rates.
    pub(crate) fn set_weight(&mut self, ue: UeId, weight: f64) -> bool {
        self.competition.set_weight(ue, weight);
        let mut halves = [&self.down, &self.up].into_iter();
        halves.any(|half| half.scheduler.weight(0, ue).is_some())
    }

    /// Returns the number of slots scheduled so far.
    pub(crate) fn slots(&self) -> u64 {
        self.slots
    }

    /// Returns the earliest slot that the cell has not scheduled yet.
    pub(crate) fn first_slot(&self) -> u64 {
        self.first_slot
    }

    fn half_mut(&mut self, direction: Direction) -> &mut Half {
        match direction {
            Direction::Downlink => &mut self.down,
            Direction::Uplink => &mut self.up,
        }
    }

    /// Records that a UE may have data in `slot` or later. Returns the time and the generation of
    /// the cell's wake-up. `None` if an earlier wake-up is already pending.
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
        self.arm_wake(self.plan.schedulable_from(direction, slot))
    }

    /// Arms a wake-up for `slot`. Returns the time and the generation of the wake-up. `None` if an
    /// earlier wake-up is already pending.
    fn arm_wake(&mut self, slot: u64) -> Option<(Time, u32)> {
        let at = self.plan.frame.start_of(slot.max(self.first_slot));
        self.wake.arm(at).map(|generation| (at, generation))
    }

    /// Returns true if the wake-up with this generation is the one that was armed last.
    pub(crate) fn fire(&mut self, generation: u32) -> bool {
        self.wake.fire(generation)
    }

    /// Schedules the slot that begins now.
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
            && let Some((at, generation)) = self.arm_wake(next)
        {
            debug_assert!(at > now, "a cell wakes at {at}, and it is {now}");
            served.wake(at, generation);
        }
    }

    /// Returns the next slot that the cell must schedule according to its present state.
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

    /// Returns the unallocated uplink units in `slot` for new data.
    fn uplink_units_left(&self, slot: u64) -> u32 {
        let symbols = self.plan.data_symbols(slot);
        let mut units = self.plan.up.units(symbols.up);
        if symbols.shared() > 0 && !self.down.active.is_empty() {
            // Both directions have data for the slot. The uplink gets half of the shared units, or
            // less if a downlink retransmission needs more than half.
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

    /// Returns the largest number of units that the downlink needed in any of the latest slots
    /// before `slot`.
    fn needed(&self, slot: u64) -> u32 {
        let latest = self.needed.iter();
        let latest = latest.filter(|(at, _)| at + NEEDS as u64 * 2 > slot);
        latest.map(|(_, units)| *units).max().unwrap_or(0)
    }

    /// Returns the unallocated uplink units in `slot` for retransmissions.
    fn uplink_units_for_repetition(&self, slot: u64) -> u32 {
        let units = self.plan.up.units(self.plan.uplink_symbols(slot));
        units.saturating_sub(self.reserved(slot) + self.uplink_used(slot))
    }

    /// Returns the units reserved in `slot` for configured grants, and for CSI reports of UEs with
    /// downlink data.
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

    /// Allocates uplink units of `slot`.
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

    /// Reserves an occasion of the configured grant for a UE with this offset. Returns false
    /// without a configured grant. Also returns false if reservations would exceed half of the
    /// slot, or a quarter of a slot that is shared with the downlink. Other UEs and retransmissions
    /// need the remaining resources.
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

    /// Releases the occasion of a UE that has left the cell.
    pub(crate) fn release_occasion(&mut self, offset: u32) {
        if let Some(count) = self.occasions.get_mut(offset as usize) {
            *count = count.saturating_sub(1);
        }
    }

    /// Records that a UE uses a slot of its configured grant. Returns the wake-up to schedule, as
    /// [`CellMac::activate`] does.
    pub(crate) fn use_configured_grant(&mut self, grant: Grant) -> Option<(Time, u32)> {
        self.push_grant(grant);
        self.arm_wake(grant.slot)
    }

    /// Inserts a grant in the order of slots.
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

    /// Cancels the grants of a leg that has failed.
    pub(crate) fn forget_grants(&mut self, leg: LegId) {
        self.grants.retain(|grant| grant.leg != leg);
    }
}
