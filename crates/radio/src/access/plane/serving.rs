//! Interface between a cell that schedules a slot and the legs in that cell.

use super::event::Event;
use super::stack::Stack;
use crate::cell::{Bid, Demand, GrantSlots, LegPart, SchemeChoice, Served, Slot, Transmission};
use crate::config::{Env, LegId, NO_SLOT, Shape};
use crate::leg::{Block, Leg, LegConfig, UplinkAir, UplinkChoice, requesting_leg, rlc_of};
use crate::plan::{BandCqi, CellPlan, Measurement};
use fadeout_core::{CellId, Direction, Motion, Probe, Time, UeId};

/// Implementation of [`Served`] by the legs, bearers and the air, which a cell uses when it
/// schedules.
pub(crate) struct LegService<'a, 'b, M, P> {
    pub cell: CellId,
    pub stack: &'a mut Stack,
    pub motion: &'a mut M,
    pub env: &'a mut Env<'b, P>,
}

/// Uplink channel of one leg.
struct LegInAir<'a, M> {
    leg: LegId,
    now: Time,
    air: &'a mut crate::air::Air,
    motion: &'a mut M,
}

impl<M: Motion> UplinkAir for LegInAir<'_, M> {
    fn measure(&mut self, slot: u64, measurement: &mut Measurement) {
        self.air.refresh(self.leg, self.now, self.motion);
        self.air.measure_uplink(self.leg, slot, measurement);
    }
    fn affordable_blocks(&self, available: u32) -> u32 {
        self.air.affordable_blocks(self.leg, available)
    }
    fn spread_db(&self, blocks: u32) -> f64 {
        self.air.spread_db(self.leg, blocks)
    }
}

impl<M: Motion, P: Probe> LegService<'_, '_, M, P> {
    fn leg(&mut self, leg: LegId) -> &mut Leg {
        &mut self.stack.legs[leg.index()]
    }

    /// Returns the bytes that wait for a leg at the base station, and the time at which the next
    /// packet is ready. The bytes include all packets that are ready now.
    fn downlink_waiting(&mut self, leg: LegId) -> (u64, Option<Time>) {
        let mut position = 0;
        while let Some(bearer) = self.stack.legs[leg.index()].channels.bearer(position) {
            let number = rlc_of(&self.stack.legs[leg.index()], bearer);
            if self.stack.bearers[bearer.index()]
                .inlet_at(number)
                .is_some()
            {
                self.stack.drain_inlet(bearer, self.env);
            }
            position += 1;
        }
        self.stack.downlink_waiting(self.env.now, leg)
    }

    /// Fills a new uplink block of `bytes` bytes. Returns false if the UE has nothing to send.
    fn fill_uplink(&mut self, plan: &CellPlan, leg: LegId, process: u8, bytes: u32) -> bool {
        let room = plan.room_without_report(bytes);
        let now = self.env.now;
        let content = self.stack.fill(leg, Direction::Uplink, room, self.env);
        let left = self.stack.backlog(now, leg, Direction::Uplink);
        let filled = (content, left);
        let (state, requests) = self.stack.leg_and_requests(leg);
        let requested_at = state.on_filled(requests, plan, now, process, filled);
        if left > 0 {
            self.stack.arm_repeat(leg);
        }
        match content {
            // A block without data is still sent if it carries a buffer status report about waiting
            // data.
            None => left > 0 && room > 0,
            Some(content) => {
                let (stack, direction) = (&mut *self.stack, Direction::Uplink);
                stack.on_new_block(leg, direction, content, requested_at, self.env);
                true
            }
        }
    }

    /// Records whether a leg's downlink is out of range. Declares a radio link failure if the
    /// downlink has been out of range for too long.
    ///
    /// Standard: TS 38.331 §5.3.10.
    fn monitor_range(&mut self, plan: &CellPlan, leg: LegId, is_out_of_range: bool) {
        let now = self.env.now;
        let state = &mut self.stack.legs[leg.index()];
        let LegConfig { ue, number, .. } = state.config;
        let is_secondary = state.carriers.primary().is_some();
        let was_out_of_range = state.on_evaluation(is_out_of_range);
        let rrc = &mut self.stack.ues[ue.index()];
        if is_secondary {
            // A secondary cell has no radio link monitoring.
        } else if is_out_of_range {
            let recheck = plan.config.recheck_after;
            let cycle = plan.config.drx.map(|drx| drx.cycle);
            let period = cycle.map_or(recheck, |cycle| recheck.max(cycle));
            if rrc.record_out_of_range(now, number, period) {
                self.stack.events.schedule(now, Event::OutOfRange(leg));
            }
        } else if was_out_of_range {
            rrc.record_in_range(number);
        }
    }
}

impl<M: Motion, P: Probe> Served for LegService<'_, '_, M, P> {
    #[inline]
    fn prefetch(&self, leg: LegId, part: LegPart) {
        let Stack {
            legs, bearers, air, ..
        } = &*self.stack;
        let state = &legs[leg.index()];
        match part {
            LegPart::Leg => state.prefetch(),
            LegPart::BearerAndPath => {
                if let Some(bearer) = state.channels.bearer(0) {
                    bearers[bearer.index()].prefetch();
                }
                air.prefetch_path(leg);
            }
            LegPart::Channel => air.prefetch_channel(leg),
        }
    }

    fn repetition(
        &self,
        leg: LegId,
        direction: Direction,
        slot: u64,
        target: u64,
    ) -> Option<(u8, Shape)> {
        let leg = &self.stack.legs[leg.index()];
        let is_there = leg.is_reachable(direction, slot, target);
        leg.half(direction)
            .repetition(slot, target)
            .filter(|_| is_there)
    }

    fn changes(&self, ue: UeId) -> u32 {
        self.stack.changes.of(ue)
    }

    fn resume(&mut self, leg: LegId, direction: Direction, process: u8, target: u64) {
        self.stack.on_leg_changed(leg);
        self.leg(leg).half_mut(direction).resume(process, target);
    }

    #[inline]
    fn downlink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand {
        let waiting = self.downlink_waiting(leg);
        let backlog = waiting.0;
        let Stack { legs, air, .. } = &mut *self.stack;
        let (motion, now) = (&mut *self.motion, self.env.now);
        let state = &mut legs[leg.index()];
        let may_send = backlog > 0 && state.may_send_new(plan, slot.now);
        let mut chosen = if may_send {
            state.downlink_scheme(plan, slot.now, |measured, resources, bands| {
                air.refresh(leg, now, motion);
                let report = air.downlink_report(leg, measured, resources);
                if let Some(sub_bands) = &plan.sub_bands {
                    let what = (resources, sub_bands);
                    *bands = air.sub_band_report(leg, measured, what, report);
                }
                report
            })
        } else {
            None
        };
        let mut is_out_of_range = may_send && chosen.is_none();
        if may_send {
            self.monitor_range(plan, leg, is_out_of_range);
        }
        let state = &mut self.stack.legs[leg.index()];
        if let Some((scheme, _)) = chosen
            && state.channels.has_whole_only()
        {
            let (scheme, direction) = (usize::from(scheme), Direction::Downlink);
            let least = self.stack.least_block(leg, direction);
            if plan.down.bytes(slot.symbols, scheme, slot.units) < least {
                chosen = None;
                let most = plan.most_bytes(direction, scheme, u32::MAX);
                let half = (leg, direction);
                is_out_of_range = most < least && !self.stack.drop_oversized(half, most, self.env);
            }
        }
        let state = &mut self.stack.legs[leg.index()];
        if may_send {
            let half = state.half_mut(Direction::Downlink);
            half.record_range(is_out_of_range);
        }
        let ready = state.downlink_ready(plan, slot.now, waiting, is_out_of_range);
        let bid = chosen
            .map(|(scheme, cqi)| Bid::downlink(plan, slot, SchemeChoice { scheme, cqi }, backlog));
        Demand { ready, bid }
    }

    #[inline]
    fn downlink_holds_before(&self, plan: &CellPlan, leg: LegId) -> u64 {
        let state = &self.stack.legs[leg.index()];
        if plan.config.drx.is_some() || !state.is_steady() {
            return 0;
        }
        let changes_at = self.stack.downlink_changes_at(self.env.now, leg);
        changes_at.map_or(NO_SLOT, |at| plan.frame.slot_from(at))
    }

    fn sub_band_cqi(&self, leg: LegId) -> &BandCqi {
        self.stack.legs[leg.index()].sub_band_cqi()
    }

    fn scheme_over(&self, plan: &CellPlan, leg: LegId, units: &[u8]) -> Option<(u8, u8)> {
        self.stack.legs[leg.index()].scheme_over(plan, units)
    }

    fn fill_downlink(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slot: u64,
        (shape, cqi): (Shape, u8),
    ) -> Result<u8, u64> {
        self.stack.on_leg_changed(leg);
        let (now, direction) = (self.env.now, Direction::Downlink);
        let content = self.stack.fill(leg, direction, shape.bytes, self.env);
        let Some(content) = content else {
            let backlog = self.stack.backlog(now, leg, direction);
            let leg = self.leg(leg);
            return Err(leg.ready_after_nothing(slot, shape.bytes, backlog));
        };
        let stack = &mut *self.stack;
        stack.on_new_block(leg, direction, content, None, self.env);
        let block = (shape, cqi);
        let process = self
            .leg(leg)
            .start_downlink(plan, (now, slot), block, content);
        self.stack.align_listening(leg);
        process.ok_or(slot + 1)
    }

    fn send_downlink(&mut self, leg: LegId, process: u8, transmission: Transmission) {
        let Transmission {
            slot,
            again_from,
            decoded_at,
            share,
            bands,
        } = transmission;
        self.stack.on_leg_changed(leg);
        let state = self.leg(leg);
        let again_from = state.answered_from(decoded_at, again_from);
        let half = state.half_mut(Direction::Downlink);
        half.set_bands(process, bands);
        half.sent(process, slot, again_from);
        self.stack.air.on_downlink_sent(self.cell, slot, share);
        let event = Event::Received(leg, process, Direction::Downlink);
        self.stack.events.schedule(decoded_at, event);
    }

    fn downlink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64 {
        let waiting = self.stack.downlink_waiting(self.env.now, leg);
        self.leg(leg).downlink_ready(plan, slot, waiting, false)
    }

    fn uplink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand {
        let Stack {
            legs,
            requests,
            air,
            ..
        } = &mut *self.stack;
        let state = &mut legs[leg.index()];
        let requests = &mut requests[requesting_leg(state).index()];
        let mut air = LegInAir {
            leg,
            now: self.env.now,
            air,
            motion: &mut *self.motion,
        };
        let wanted = state.uplink_wanted(requests, plan);
        let may_send = slot.units > 0 && wanted > 0 && state.may_be_granted(slot.now, slot.target);
        let mut choice = if may_send {
            let offered = (slot.symbols, slot.units, wanted);
            state.uplink_choice(plan, slot.now, offered, &mut air)
        } else {
            None
        };
        let mut is_out_of_range = may_send && choice.is_none();
        if let Some(UplinkChoice { scheme, units, .. }) = choice
            && requests.is_unfit(plan.up.bytes(slot.symbols, usize::from(scheme), units))
        {
            choice = None;
            let most = state.most_uplink_bytes(plan, scheme, &air);
            if requests.is_unfit(most) {
                requests.forget_unfit();
                let (half, room) = ((leg, Direction::Uplink), plan.room_without_report(most));
                is_out_of_range = !self.stack.drop_oversized(half, room, self.env);
            }
        }
        let (state, requests) = self.stack.leg_and_requests(leg);
        if may_send {
            state
                .half_mut(Direction::Uplink)
                .record_range(is_out_of_range);
        }
        Demand {
            ready: state.uplink_ready(requests, plan, slot.now, is_out_of_range),
            bid: choice.map(|choice| Bid {
                scheme: choice.scheme,
                cqi: choice.cqi,
                wanted: choice.units,
                whole: choice.units,
                rate: choice.rate,
                reported: plan.up.reported(usize::from(choice.scheme), choice.cqi),
                backlog: wanted,
            }),
        }
    }

    fn grant(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        GrantSlots { sent, target }: GrantSlots,
        (shape, cqi): (Shape, u8),
    ) -> Option<u8> {
        self.stack.on_leg_changed(leg);
        let (state, requests) = self.stack.leg_and_requests(leg);
        let process = state.free_uplink(sent)?;
        let block = (process, Block { shape, cqi });
        state.grant(requests, plan, block, target);
        self.stack.align_listening(leg);
        Some(process)
    }

    fn uplink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64 {
        let (leg, requests) = self.stack.leg_and_requests(leg);
        leg.uplink_ready(requests, plan, slot, false)
    }

    fn send_uplink(&mut self, plan: &CellPlan, leg: LegId, slot: u64, process: u8) {
        self.stack.on_leg_changed(leg);
        let block = self.leg(leg).half(Direction::Uplink).block(process);
        let (shape, is_new) = (block.shape, block.is_unsent());
        if is_new && !self.fill_uplink(plan, leg, process, shape.bytes) {
            let (leg, requests) = self.stack.leg_and_requests(leg);
            leg.skip_grant(requests, process, slot);
            return;
        }
        let air = &mut self.stack.air;
        air.refresh(leg, self.env.now, self.motion);
        let blocks = plan.up.occupied(shape.symbols, shape.units).resource_blocks;
        let power_dbm = air.block_power_dbm(leg, blocks);
        let share = plan.share(Direction::Uplink, shape.units);
        air.on_uplink_sent(leg, slot, power_dbm, share);
        let sent = (process, slot);
        let decoded_at = self.leg(leg).send_uplink(plan, sent, power_dbm);
        let event = Event::Received(leg, process, Direction::Uplink);
        self.stack.events.schedule(decoded_at, event);
    }

    fn wake(&mut self, at: Time, generation: u32) {
        let event = Event::Slot(self.cell, generation);
        self.stack.events.schedule(at, event);
    }
}
