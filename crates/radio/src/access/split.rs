//! Split bearers. Carries frames between their base stations, and wakes the cells of their legs.

use super::service::Service;
use super::stack::Stack;
use super::{Backhaul, Event, LegCounters, Move, RadioAccess};
use crate::bearer::daps::{daps, daps_cells};
use crate::bearer::early::{early, early_copy_cells};
use crate::bearer::{
    Carried, Drb, Frame, FrameKind, SplitBearer, carried, interface_frame, last_secondary,
    leg_numbered, may_use_other_legs, on_late_uplink, split,
};
use crate::config::{Env, LegId};
use crate::leg::rlc_of;
use crate::rrc::UeRrc;
use fadeout_core::{CellId, Direction, DrbId, InterfaceFrame, Probe, Span, Time};

/// Number of the leg in the primary cell.
const NEAR_LEG: u8 = 0;
/// Number of the leg at the base station without PDCP.
const FAR_LEG: u8 = 1;

impl RadioAccess {
    /// Returns the counters of each leg of a bearer in one direction. With carrier aggregation the
    /// counters cover the primary cell of each leg. `None` if the bearer has one leg.
    pub fn legs_of(&self, bearer: DrbId, direction: Direction) -> Option<Vec<LegCounters>> {
        let Stack {
            bearers, legs, ues, ..
        } = &self.service.stack;
        let drb = &bearers[bearer.index()];
        let carried = carried(drb, direction)?;
        let of_leg = |(number, carried): (u8, &Carried)| {
            let leg = &legs[last_leg(ues, drb, number)?.index()];
            let plan = &self.service.cells[leg.config.cell.index()].plan;
            let blocks = leg.half(direction).counters();
            let whole = plan.resources(direction).units(plan.frame.symbols());
            let nanos = u128::from(blocks.units) * u128::from(plan.frame.slot().as_nanos());
            Some(LegCounters {
                cell: leg.config.cell,
                packets: carried.packets,
                bytes: carried.bytes,
                copies: carried.copies,
                discarded: carried.discarded,
                useless: carried.useless,
                blocks: blocks.blocks,
                retransmissions: blocks.retransmissions,
                air_time: Span::from_nanos((nanos / u128::from(whole.max(1))) as u64),
            })
        };
        Some((0..).zip(carried).filter_map(of_leg).collect())
    }

    /// Returns the fields of a frame between the base stations of a split bearer. `None` after the
    /// frame was received.
    pub fn frame(&self, what: Backhaul, number: u64) -> Option<InterfaceFrame> {
        let (bearer, kind) = match what {
            Backhaul::DownlinkPdu { bearer } => (bearer, FrameKind::Downlink),
            Backhaul::Poll { bearer } => (bearer, FrameKind::Poll),
            Backhaul::Discard { bearer } => (bearer, FrameKind::Discard),
            Backhaul::DeliveryStatus { bearer } => (bearer, FrameKind::Status),
            Backhaul::UplinkPdu { bearer } => (bearer, FrameKind::Uplink),
            _ => return None,
        };
        interface_frame(&self.service.stack.bearers[bearer.index()], kind, number)
    }
}

impl Stack {
    fn split_bearer(&mut self, bearer: DrbId) -> Option<SplitBearer<'_>> {
        split(&mut self.bearers[bearer.index()])
    }

    /// Moves downlink packets that the base station has processed into PDCP. Moves frames that the
    /// base station without PDCP has processed into the RLC entity of that base station.
    #[inline(never)]
    pub(super) fn drain_split(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let drb = &mut self.bearers[bearer.index()];
        let took_any = drb.drain_inlet(env, &mut self.storage);
        let wakes = took_any && drb.config().wakes_for_packets();
        let Some(mut split) = split(drb) else { return };
        split.drain(env.now);
        split.feed(env, &mut self.storage);
        let armed = split.arm(env.now);
        if wakes {
            self.arm(env.now, bearer, Direction::Downlink);
        }
        schedule_interface(self, bearer, armed);
    }

    /// Arms the timer for the next status or poll between the base stations of a split bearer.
    pub(super) fn arm_interface(&mut self, now: Time, bearer: DrbId) {
        let armed = self
            .split_bearer(bearer)
            .and_then(|mut split| split.arm(now));
        schedule_interface(self, bearer, armed);
    }

    /// Sends a status or a poll between the base stations of a split bearer, if one is due.
    pub(super) fn on_interface(
        &mut self,
        (bearer, generation): (DrbId, u32),
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(mut split) = split(&mut self.bearers[bearer.index()]) else {
            return;
        };
        if split.fire(generation) {
            split.on_wake(env.now, &mut self.storage);
            split.feed(env, &mut self.storage);
            self.arm_interface(env.now, bearer);
        }
    }

    /// Converts the frames that base stations send into moves.
    pub(super) fn take_frames(&mut self, moves: &mut Vec<Move>) {
        let (mut of, mut cells) = (None, Default::default());
        for frame in self.storage.frames.drain(..) {
            let Frame {
                bearer,
                kind,
                number,
                size,
                flow,
            } = frame;
            let drb = &self.bearers[bearer.index()];
            if of != Some(bearer) {
                let cell = |leg: LegId| self.legs[leg.index()].config.cell;
                let near = last_leg(&self.ues, drb, NEAR_LEG).map_or(CellId::default(), cell);
                let far = last_leg(&self.ues, drb, FAR_LEG).map_or(near, cell);
                (of, cells) = (Some(bearer), (near, far));
            }
            let (near, far) = cells;
            let (what, from, to) = match kind {
                FrameKind::Copy => {
                    let early = early_copy_cells(drb, number);
                    let ends = early.or_else(|| daps_cells(drb));
                    let [from, to] = ends.unwrap_or([near; 2]);
                    (Backhaul::Copy { bearer }, from, to)
                }
                FrameKind::Downlink => (Backhaul::DownlinkPdu { bearer }, near, far),
                FrameKind::Poll => (Backhaul::Poll { bearer }, near, far),
                FrameKind::Discard => (Backhaul::Discard { bearer }, near, far),
                FrameKind::Status => (Backhaul::DeliveryStatus { bearer }, far, near),
                FrameKind::Failure => (Backhaul::LegFailure { bearer }, far, near),
                FrameKind::Uplink => (Backhaul::UplinkPdu { bearer }, far, near),
            };
            moves.push(Move::Frame {
                what,
                number,
                size,
                flow,
                from,
                to,
            });
        }
    }

    /// Returns the leg of a split bearer at the base station without PDCP. `None` if the bearer has
    /// no such leg.
    fn far_leg(&self, bearer: DrbId) -> Option<LegId> {
        leg_numbered(&self.bearers[bearer.index()], FAR_LEG)
    }

    /// Returns the bearer with index `position` in the list of a leg's bearers. `None` if the list
    /// is shorter.
    pub(super) fn bearer_at(&self, leg: LegId, position: usize) -> Option<DrbId> {
        self.legs[leg.index()].channels.bearer(position)
    }
}

#[inline(always)]
fn schedule_interface(stack: &mut Stack, bearer: DrbId, armed: Option<(Time, u32)>) {
    if let Some((at, generation)) = armed {
        let event = Event::InterfaceReport(bearer, generation);
        stack.events.schedule(at, event);
    }
}

/// Returns the leg of a split bearer with this number. If no leg has the number now, returns the
/// last leg that had it. No leg has it while the UE is between two cells or without a secondary
/// node.
fn last_leg(ues: &[UeRrc], drb: &Drb, number: u8) -> Option<LegId> {
    let last = || match number {
        NEAR_LEG => ues[drb.config().ue.index()].legs().first().copied(),
        FAR_LEG => last_secondary(drb),
        _ => None,
    };
    leg_numbered(drb, number).or_else(last)
}

/// Returns the leg with index `position` in the list of a bearer's legs.
fn leg_at(stack: &Stack, bearer: DrbId, position: usize) -> Option<LegId> {
    stack.bearers[bearer.index()].legs().nth(position)
}

/// Wakes the cells of all legs of a bearer that may have new data to send.
pub(super) fn on_backlogs(
    service: &mut Service,
    bearer: DrbId,
    direction: Direction,
    env: &mut Env<'_, impl Probe>,
) {
    let mut position = 0;
    while let Some(leg) = leg_at(&service.stack, bearer, position) {
        service.on_backlog(Some(leg), direction, env);
        position += 1;
    }
}

/// Returns true if a bearer has an RLC entity that fails with this leg. On a leg in a secondary
/// cell, only an RLC entity that is restricted to that cell fails.
pub(super) fn fails_with(stack: &Stack, leg: LegId, bearer: DrbId) -> bool {
    let state = &stack.legs[leg.index()];
    let is_secondary = state.carriers.primary().is_some();
    let number = rlc_of(state, bearer);
    !is_secondary || leg_numbered(&stack.bearers[bearer.index()], number) == Some(leg)
}

impl Service {
    /// Handles a frame from the other base station of a split bearer.
    #[cold]
    pub(super) fn on_frame(
        &mut self,
        (what, number): (Backhaul, u64),
        env: &mut Env<'_, impl Probe>,
    ) {
        match what {
            Backhaul::Copy { bearer } => {
                let drb = &mut self.stack.bearers[bearer.index()];
                match drb.is_dual {
                    true => daps(drb).on_copy(number),
                    false => early(drb).on_copy(number, env),
                }
                self.on_downlink_data(bearer, env);
            }
            Backhaul::DownlinkPdu { bearer } => {
                self.on_downlink_frame((bearer, number, false), env);
            }
            Backhaul::Poll { bearer } => self.on_downlink_frame((bearer, number, true), env),
            Backhaul::Discard { bearer } => {
                if let Some(mut split) = self.stack.split_bearer(bearer) {
                    split.on_discard(env.now, number);
                }
            }
            Backhaul::DeliveryStatus { bearer } => self.on_status((bearer, number), env),
            Backhaul::LegFailure { .. } => self.act_on_failure(number, env),
            Backhaul::UplinkPdu { bearer } => self.on_uplink_frame((bearer, number), env),
            Backhaul::EndMarker { .. }
            | Backhaul::Message { .. }
            | Backhaul::Forwarded { .. }
            | Backhaul::ForwardedEnd { .. }
            | Backhaul::Unattached { .. } => {}
        }
    }

    fn on_downlink_frame(
        &mut self,
        (bearer, number, is_poll): (DrbId, u64, bool),
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(leg) = self.stack.far_leg(bearer) else {
            return;
        };
        let cell = self.stack.legs[leg.index()].config.cell;
        let plan = &self.cells[cell.index()].plan;
        let ready_at = env.now.saturating_add(plan.config.timing.base_preparation);
        let slot = plan.frame.slot_from(ready_at);
        if let Some(mut split) = self.stack.split_bearer(bearer) {
            split.on_frame(ready_at, number, is_poll);
        }
        self.activate(env.now, Some(leg), Direction::Downlink, slot);
    }

    fn on_status(&mut self, (bearer, number): (DrbId, u64), env: &mut Env<'_, impl Probe>) {
        let stack = &mut self.stack;
        if let Some(mut split) = split(&mut stack.bearers[bearer.index()]) {
            split.on_status(env.now, number, &mut stack.storage);
            split.feed(env, &mut stack.storage);
        }
        stack.arm_interface(env.now, bearer);
        stack.declare_lost(bearer, Direction::Downlink, env);
        // Data that was lost between the base stations waits at the base station with PDCP again,
        // so that base station may have data to send.
        let leg = stack.leg_of(bearer);
        self.on_backlog(leg, Direction::Downlink, env);
    }

    fn on_uplink_frame(&mut self, (bearer, number): (DrbId, u64), env: &mut Env<'_, impl Probe>) {
        let stack = &mut self.stack;
        let drb = &mut stack.bearers[bearer.index()];
        if let Some(mut split) = split(drb) {
            split.on_uplink(number, &mut stack.storage);
        } else {
            on_late_uplink(drb, number, &mut stack.storage);
        }
        let number = drb.config().split.and_then(|split| split.leg);
        drb.on_sdus(
            (number.unwrap_or(0), Direction::Uplink),
            env,
            &mut stack.storage,
        );
        stack.declare_lost(bearer, Direction::Uplink, env);
        stack.arm(env.now, bearer, Direction::Downlink);
    }

    /// Requests grants also on the secondary legs of a bearer, if these legs may carry the bearer's
    /// new uplink data.
    #[inline]
    pub(super) fn on_split_data(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        if may_use_other_legs(&self.stack.bearers[bearer.index()], env.now) {
            let mut position = 1;
            while let Some(leg) = leg_at(&self.stack, bearer, position) {
                self.on_uplink_data(Some(leg), env);
                position += 1;
            }
        }
    }

    /// Makes the data of a failed leg's split bearers available to the bearers' other legs.
    pub(super) fn serve_split(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let mut position = 0;
        while let Some(bearer) = self.stack.bearer_at(leg, position) {
            position += 1;
            if self.stack.bearers[bearer.index()].config().split.is_none() {
                continue;
            }
            if let Some(mut split) = split(&mut self.stack.bearers[bearer.index()]) {
                split.feed(env, &mut self.stack.storage);
            }
            self.stack.arm_interface(env.now, bearer);
            let mut nth = 0;
            while let Some(of) = leg_at(&self.stack, bearer, nth) {
                self.on_backlog(Some(of), Direction::Downlink, env);
                self.on_uplink_data(Some(of), env);
                nth += 1;
            }
        }
    }
}
