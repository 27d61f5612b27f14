//! Packets between base stations. Carries frames of split bearers and forwarded packets, and wakes
//! the cells of a bearer's legs.

use super::event::Event;
use super::moves::{Backhaul, Move};
use super::service::Service;
use super::stack::Stack;
use crate::bearer::daps::{daps, daps_cells};
use crate::bearer::early::{early, early_copy_cells};
use crate::bearer::{
    Drb, Frame, FrameKind, SplitBearer, last_secondary, leg_numbered, may_use_other_legs,
    on_late_uplink, split,
};
use crate::config::{Env, LegId};
use crate::rrc::UeRrc;
use fadeout_core::{CellId, Direction, DrbId, PdcpNumber, Probe, Time};

/// Number of the leg in the primary cell.
const NEAR_LEG: u8 = 0;
/// Number of the leg at the base station without PDCP.
const FAR_LEG: u8 = 1;

impl Stack {
    fn split_bearer(&mut self, bearer: DrbId) -> Option<SplitBearer<'_>> {
        split(&mut self.bearers[bearer.index()])
    }

    /// Moves downlink packets that the base station has processed into PDCP. Moves frames that the
    /// base station without PDCP has processed into the RLC entity of that base station.
    #[inline(never)]
    pub(crate) fn drain_split(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
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
    pub(crate) fn arm_interface(&mut self, now: Time, bearer: DrbId) {
        let armed = self
            .split_bearer(bearer)
            .and_then(|mut split| split.arm(now));
        schedule_interface(self, bearer, armed);
    }

    /// Sends a status or a poll between the base stations of a split bearer, if one is due.
    pub(crate) fn on_interface(
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
    pub(crate) fn take_frames(&mut self, moves: &mut Vec<Move>) {
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

    /// Queues the packets that base stations forward to each other as [`Move`]s.
    pub(crate) fn send_forwarded(&mut self, moves: &mut Vec<Move>) {
        for forwarded in self.storage.forwarded.drain(..) {
            let config = self.bearers[forwarded.bearer.index()].config();
            // In unacknowledged mode the target assigns a new PDCP number.
            let count = forwarded.count.filter(|_| config.is_acknowledged());
            let bits = config.pdcp.sn_bits;
            moves.push(Move::Forwarded {
                bearer: forwarded.bearer,
                packet: forwarded.packet,
                number: count.map(|count| PdcpNumber { count, bits }),
                from: forwarded.from,
                to: forwarded.to,
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
    pub(crate) fn bearer_at(&self, leg: LegId, position: usize) -> Option<DrbId> {
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
pub(crate) fn last_leg(ues: &[UeRrc], drb: &Drb, number: u8) -> Option<LegId> {
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
pub(crate) fn on_backlogs(
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

impl Service {
    /// Handles a frame from the other base station of a split bearer.
    #[cold]
    pub(crate) fn on_frame(
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
    pub(crate) fn on_split_data(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        if may_use_other_legs(&self.stack.bearers[bearer.index()], env.now) {
            let mut position = 1;
            while let Some(leg) = leg_at(&self.stack, bearer, position) {
                self.on_uplink_data(Some(leg), env);
                position += 1;
            }
        }
    }

    /// Makes the data of a failed leg's split bearers available to the bearers' other legs.
    pub(crate) fn serve_split(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
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
