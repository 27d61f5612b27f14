//! Uplink grants that a cell sends in a slot, and uplink transmissions on earlier grants.

use super::competition::{Entrant, Offer};
use super::{CellMac, Demand, Grant, GrantSlots, Served, Slot};
use crate::config::{Rnti, Shape};
use crate::mac::scheduler::MacScheduler;
use fadeout_core::Direction;

impl CellMac {
    /// Makes UEs send on their grants for `slot`, which begins now.
    pub(super) fn send_granted(&mut self, slot: u64, served: &mut impl Served) {
        while let Some(&grant) = self.grants.front() {
            if grant.slot > slot {
                return;
            }
            self.grants.pop_front();
            served.send_uplink(&self.plan, grant.leg, grant.slot, grant.process);
        }
    }

    /// Allocates the uplink slots that can be granted in `slot`, which begins now.
    pub(super) fn schedule_uplink(&mut self, slot: u64, served: &mut impl Served) {
        if self.up.active.is_empty() {
            return;
        }
        let mut targets = self.plan.targets(slot).peekable();
        while let Some(target) = targets.next() {
            let active = std::mem::take(&mut self.up.active);
            let is_last = targets.peek().is_none();
            self.share_uplink((slot, target), is_last, &active, served);
            self.up.restore_active(active);
        }
    }

    /// Allocates one of the uplink slots that can be granted in a slot. UEs that may have data
    /// compete for each of these uplink slots.
    fn share_uplink(
        &mut self,
        (slot, target): (u64, u64),
        is_last: bool,
        active: &[Rnti],
        served: &mut impl Served,
    ) {
        let mut ues = self.plan.config.most_ues;
        for &rnti in active {
            ues -= u32::from(ues > 0 && self.repeat_uplink(rnti, (slot, target), is_last, served));
        }
        let mut competition = std::mem::take(&mut self.competition);
        competition.clear();
        let units = self.uplink_units_left(target);
        let symbols = self.plan.uplink_symbols(target);
        let least = self.plan.up.least_units();
        let asked = Slot {
            now: slot,
            target,
            symbols,
            units: if units >= least { units } else { 0 },
        };
        let plan = &self.plan;
        let by_rnti = (&mut self.up.ready[..], &self.served[..]);
        competition.collect_bids(slot, active, by_rnti, |_, (leg, _)| {
            let demand = served.uplink_demand(plan, leg, asked);
            let ready = if is_last { demand.ready } else { slot };
            Demand { ready, ..demand }
        });
        let offer = Offer {
            slot: target,
            units,
            least,
            most_ues: ues,
        };
        competition.decide(&offer, &mut self.up.scheduler);
        for (entrant, units) in competition.winners() {
            self.grant_new(entrant, (slot, target), (symbols, units), served);
            if !is_last {
                self.up.ready[entrant.rnti.index()] = slot;
            }
        }
        self.competition = competition;
    }

    fn grant_new(
        &mut self,
        Entrant { rnti, scheme, cqi }: Entrant,
        (slot, target): (u64, u64),
        (symbols, units): (u8, u32),
        served: &mut impl Served,
    ) {
        let (leg, ue) = self.served[rnti.index()];
        let bytes = self.plan.up.bytes(symbols, usize::from(scheme), units);
        let shape = Shape {
            scheme,
            symbols,
            units,
            bytes,
            ..Shape::default()
        };
        let slots = GrantSlots { sent: slot, target };
        let Some(process) = served.grant(&self.plan, leg, slots, (shape, cqi)) else {
            return;
        };
        self.use_uplink(target, units);
        let grant = Grant {
            slot: target,
            leg,
            process,
        };
        if let Some((at, generation)) = self.use_configured_grant(grant) {
            served.wake(at, generation);
        }
        self.up.scheduler.on_served(target, ue, bytes);
        self.up.ready[rnti.index()] = served.uplink_ready(&self.plan, leg, slot);
    }

    /// Grants a pending retransmission of a UE and returns true, if the block fits into slot
    /// `target`. If the block fits into no slot that `slot` can grant, the retransmission is tried
    /// again in the next slot.
    pub(super) fn repeat_uplink(
        &mut self,
        rnti: Rnti,
        (slot, target): (u64, u64),
        is_last: bool,
        served: &mut impl Served,
    ) -> bool {
        if self.up.ready[rnti.index()] > slot {
            return false;
        }
        let (leg, _) = self.served[rnti.index()];
        let repetition = served.repetition(leg, Direction::Uplink, slot, target);
        let Some((process, shape)) = repetition else {
            return false;
        };
        if shape.units > self.uplink_units_for_repetition(target)
            || shape.symbols > self.plan.uplink_symbols(target)
        {
            if is_last {
                self.up.ready[rnti.index()] = slot + 1;
            }
            return false;
        }
        served.resume(leg, Direction::Uplink, process, target);
        self.use_uplink(target, shape.units);
        self.push_grant(Grant {
            slot: target,
            leg,
            process,
        });
        true
    }
}
