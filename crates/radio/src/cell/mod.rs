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
#[cfg(test)]
mod tests;
mod uplink;

use crate::config::{Division, LegId, NO_SLOT, Rnti, Shape};
use crate::mac::scheduler::{BuiltInScheduler, MacScheduler, MacSchedulerKind};
use crate::phy::sub_band::BandSet;
use crate::plan::{BandCqi, CellPlan};
use bands::Bands;
use competition::Competition;
use fadeout_core::{Direction, Span, Time, UeId, Wake};
use std::collections::VecDeque;

/// A UE's demand for resources of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    /// First later slot in which the UE may have data again.
    pub ready: u64,
    /// Bid of the UE for the slot. `None` if the UE cannot use the slot.
    pub bid: Option<Bid>,
}

/// Resources that a UE can use in a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bid {
    pub scheme: u8,
    pub cqi: u8,
    /// Units that would empty the UE's buffer, limited to the unallocated units.
    pub wanted: u32,
    /// Units that would empty the UE's buffer if the whole slot were unallocated. Differs from
    /// `wanted` if the uplink uses a part of a downlink slot.
    pub whole: u32,
    /// Bytes that all units of the slot would carry for the UE.
    pub rate: f64,
    /// Bits per resource element, computed from the UE's report only. Zero without a report.
    pub reported: f64,
}

/// A slot and its unallocated units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Number of the slot that begins now.
    pub now: u64,
    /// Number of the slot to be allocated. Equal to `now` in the downlink, later in the uplink.
    pub target: u64,
    /// Number of symbols for data.
    pub symbols: u8,
    /// Unallocated units. Zero if the remaining units are too few to carry data.
    pub units: u32,
}

/// Transmission of a downlink block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Transmission {
    pub slot: u64,
    /// First slot in which the block may be retransmitted.
    pub again_from: u64,
    /// Time at which the UE has tried to decode the block.
    pub decoded_at: Time,
    /// Share of the band and of the slot that the block occupies.
    pub share: f64,
    /// Sub-bands of the block, if the cell schedules by sub-bands.
    pub bands: BandSet,
}

/// Parts of a leg's state that a cell reads. Each part refers to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegPart {
    /// Fields of the leg that every slot needs.
    Leg,
    /// Bearer of the leg, and the entry of its path.
    BearerAndPath,
    /// Channel of the path, if the UE reports it now.
    Channel,
}

/// Number of active UEs whose state fits into the caches of a core.
const CACHED_UES: usize = 32;

/// Asks for parts of the state of the UEs that the cell queries after the UE at `position` of the
/// `active` UEs. Each part has the number of UEs before its use. `legs` is indexed by RNTI.
#[inline]
fn prefetch_upcoming(
    (active, position): (&[Rnti], usize),
    legs: &[(LegId, UeId)],
    parts: &[(usize, LegPart)],
    served: &impl Served,
) {
    if active.len() <= CACHED_UES {
        return;
    }
    for &(ahead, part) in parts {
        if let Some(rnti) = active.get(position + ahead) {
            served.prefetch(legs[rnti.index()].0, part);
        }
    }
}

/// Interface through which a cell queries and commands its legs.
pub(crate) trait Served {
    /// Asks the processor for a part of a leg's state, which the cell queries soon.
    fn prefetch(&self, leg: LegId, part: LegPart);
    /// Returns the HARQ process and the resources of the next block to retransmit in slot `target`.
    /// `None` if no retransmission is due.
    fn repetition(
        &self,
        leg: LegId,
        direction: Direction,
        slot: u64,
        target: u64,
    ) -> Option<(u8, Shape)>;
    /// Assigns slot `target` to the retransmission of a HARQ process.
    fn resume(&mut self, leg: LegId, direction: Direction, process: u8, target: u64);
    /// Returns the demand of a leg for a downlink slot that begins now.
    fn downlink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand;
    /// Returns the CQI of each sub-band. The CQIs are from the report that gave the leg's latest
    /// demand.
    fn sub_band_cqi(&self, leg: LegId) -> &BandCqi;
    /// Returns the MCS index and CQI of a downlink block with these units per sub-band. Both are
    /// computed from the report that gave the leg's latest demand. `None` if the leg is out of
    /// range.
    fn scheme_over(&self, plan: &CellPlan, leg: LegId, units: &[u8]) -> Option<(u8, u8)>;
    /// Fills a new block for a leg and returns its HARQ process.
    ///
    ///  # Errors
    /// If no data fits into the block, returns the first slot in which the leg may have data again.
    fn fill_downlink(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slot: u64,
        block: (Shape, u8),
    ) -> Result<u8, u64>;
    /// Sends the block of a HARQ process.
    fn send_downlink(&mut self, leg: LegId, process: u8, transmission: Transmission);
    /// Returns the first slot in which a leg may have data again after a new downlink block.
    fn downlink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64;
    /// Returns the leg's demand for uplink resources that can be granted now.
    fn uplink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand;
    /// Grants a new block to a leg. The grant is sent in one slot for a later slot. Returns the
    /// HARQ process. `None` if all processes are busy.
    fn grant(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slots: (u64, u64),
        block: (Shape, u8),
    ) -> Option<u8>;
    /// Returns the first slot in which a leg may need a further grant after it got a grant.
    fn uplink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64;
    /// Sends the uplink block of a HARQ process in its granted slot, which begins now.
    fn send_uplink(&mut self, plan: &CellPlan, leg: LegId, slot: u64, process: u8);
    /// Schedules a wake-up of the cell for the slot that begins at `at`.
    fn wake(&mut self, at: Time, generation: u32);
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
    /// Measurement time of the downlink reports in the last slot with downlink data.
    reports_at: Option<Time>,
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
            reports_at: None,
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
