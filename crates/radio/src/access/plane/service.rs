//! Handling of new data. Passes packets into bearers, wakes the cells of legs and sends scheduling
//! requests.

use super::capture;
use super::failures::SecondaryFailures;
use super::pass_on::schedule_pass_on;
use super::stack::Stack;
use super::states::{States, record_ue_event};
use crate::bearer::Finder;
use crate::cell::{CellMac, Grant};
use crate::config::{Env, LegId};
use crate::leg::{LegConfig, Repeat, requesting_leg};
use crate::rrc::CellSelection;
use crate::rrc::pace::Sleep;
use fadeout_core::{
    CellId, Direction, DrbId, Motion, PacketId, PacketPool, Probe, RrcEvent, Time, UeId,
};

/// Cells, and the legs and bearers that they serve, without mobility management.
#[derive(Debug)]
pub(crate) struct Service {
    pub cells: Vec<CellMac>,
    pub stack: Stack,
    pub states: States,
    pub secondary: SecondaryFailures,
    pub seed: u64,
}

impl Service {
    /// Passes a packet to its bearer, or keeps the packet until its UE is connected.
    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        now: Time,
        entering: (DrbId, Direction, PacketId),
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        self.stack.events.advance(now);
        let stack = (&mut self.stack, &self.cells[..]);
        if self.states.admits(now, entering, stack, probe) {
            self.admit(now, entering, pool, probe);
        }
    }

    /// Passes a packet of a connected UE to its bearer.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        now: Time,
        (bearer, direction, packet): (DrbId, Direction, PacketId),
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let env = &mut Env {
            now,
            pool,
            // The bearer has not sent any packet yet, so no packet leaves the bearer here.
            out: &mut Vec::new(),
            probe,
        };
        let leg = self.stack.leg_of(bearer);
        match direction {
            Direction::Uplink => {
                if self.stack.accept_uplink(now, bearer, packet, env) {
                    self.on_uplink_data(leg, env);
                    self.on_split_data(bearer, env);
                }
            }
            Direction::Downlink => {
                let (mut ready_at, mut slot) = (now, 0);
                if let Some(leg) = leg {
                    let cell = self.stack.legs[leg.index()].config.cell;
                    let plan = &self.cells[cell.index()].plan;
                    ready_at = now.saturating_add(plan.config.timing.base_preparation);
                    slot = plan.frame.slot_from(ready_at);
                }
                self.stack.hold_downlink(ready_at, bearer, packet, env);
                self.stack.drain_inlet(bearer, env);
                self.activate(now, leg, direction, slot);
                self.activate_secondary((leg, direction), now, ready_at);
            }
        }
        if leg.is_none() {
            schedule_pass_on(&mut self.stack, now, bearer);
        }
    }

    /// Runs the initial cell selection of a UE, which connects to the selected cell.
    pub(crate) fn on_cell_selection<M: Motion>(
        &mut self,
        ue: UeId,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let mut selection = CellSelection::default();
        let cells = &self.cells;
        let report = |cell: CellId, value| {
            if cells[cell.index()].plan.config.pilot.is_none() {
                selection.on_measured(cell, value);
            }
        };
        self.stack.air.measure_cells(ue, env.now, motion, report);
        let cell = selection.selected();
        let Some(leg) = cell.and_then(|cell| self.connect(ue, cell).ok()) else {
            return;
        };
        // Packets that arrived before the cell selection are in the bearer. The largest block size
        // is known only now, so packets that fit into no block are dropped now.
        let plan = &self.cells[self.stack.legs[leg.index()].config.cell.index()].plan;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let given_db = self.stack.air.given_sinr_db(leg, direction);
            let room = plan.largest_room(direction, given_db);
            self.stack.lose_unfit((leg, direction), room, env);
        }
        if self.stack.downlink_waiting(env.now, leg) != (0, None) {
            self.activate(env.now, Some(leg), Direction::Downlink, 0);
        }
        self.on_uplink_data(Some(leg), env);
    }

    /// Informs the cell of a leg that the leg may have data for `slot` or later.
    pub(crate) fn activate(
        &mut self,
        now: Time,
        leg: Option<LegId>,
        direction: Direction,
        slot: u64,
    ) {
        let Some(leg) = leg.map(|leg| &mut self.stack.legs[leg.index()]) else {
            return;
        };
        let LegConfig { cell, rnti, .. } = leg.config;
        let state = &mut self.cells[cell.index()];
        let slot = leg.awaken(&state.plan, now, direction, slot);
        let needed = state.activate(rnti, direction, slot);
        self.stack.wake_cell(cell, needed);
    }

    /// Informs the secondary cells that carry this direction of a leg. They may have data of the
    /// leg from `ready_at` on.
    #[inline]
    pub(crate) fn activate_secondary(
        &mut self,
        (leg, direction): (Option<LegId>, Direction),
        now: Time,
        ready_at: Time,
    ) {
        let Some(leg) = leg else { return };
        if !self.stack.legs[leg.index()].carriers.carry(direction) {
            return;
        }
        let mut position = 0;
        while let Some(id) = self.stack.scell(leg, position) {
            let cell = self.stack.legs[id.index()].config.cell;
            let slot = self.cells[cell.index()].plan.frame.slot_from(ready_at);
            self.activate(now, Some(id), direction, slot);
            position += 1;
        }
    }

    /// Handles a block that the base station has received on a leg. If the base station knows that
    /// more uplink data waits, the UE may get grants in all its cells.
    #[inline]
    pub(crate) fn on_received_block(&mut self, leg: LegId, now: Time) {
        let primary = self.stack.legs[leg.index()].primary();
        if requesting_leg(&self.stack.legs[leg.index()]) != primary {
            if self.stack.requests[leg.index()].is_known() {
                self.activate(now, Some(leg), Direction::Uplink, 0);
            }
            return;
        }
        let carriers = &self.stack.legs[primary.index()].carriers;
        if carriers.carry(Direction::Uplink) && self.stack.requests[primary.index()].is_known() {
            let uplink = (Some(primary), Direction::Uplink);
            if leg != primary {
                self.activate(now, uplink.0, uplink.1, 0);
            }
            self.activate_secondary(uplink, now, now);
        }
    }

    /// Handles new data to send in one direction of a leg.
    pub(crate) fn on_backlog(
        &mut self,
        leg: Option<LegId>,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
    ) {
        if direction == Direction::Uplink {
            request_on_own_leg(self, leg, env);
        }
        // All cells of a primary leg share its waiting data. The UE sends scheduling requests in
        // its primary cell.
        let leg = leg.map(|leg| self.stack.legs[leg.index()].primary());
        let backlog = leg.map_or(0, |leg| self.stack.backlog(env.now, leg, direction));
        match direction {
            _ if backlog == 0 => {}
            Direction::Uplink => self.on_uplink_data(leg, env),
            Direction::Downlink => {
                self.activate(env.now, leg, direction, 0);
                self.activate_secondary((leg, direction), env.now, env.now);
            }
        }
    }

    /// Handles waiting data at a UE. The UE sends a scheduling request, unless a configured grant
    /// can carry the data or the cell already knows of the data.
    pub(crate) fn on_uplink_data(&mut self, leg: Option<LegId>, env: &mut Env<'_, impl Probe>) {
        let Some(id) = leg else { return };
        let is_heard = self.stack.requests[id.index()].is_heard();
        if is_heard || self.stack.backlog(env.now, id, Direction::Uplink) == 0 {
            return;
        }
        let (leg, requests) = self.stack.leg_and_requests(id);
        let cell = &mut self.cells[leg.config.cell.index()];
        let first_slot = cell.first_slot();
        match leg.use_configured_grant(requests, &cell.plan, env.now, first_slot) {
            None => self.send_request(id, env),
            Some((slot, process)) => {
                let leg = leg.config;
                let grant = Grant {
                    slot,
                    leg: leg.id,
                    process,
                };
                let needed = cell.use_configured_grant(grant);
                self.stack.wake_cell(leg.cell, needed);
            }
        }
    }

    /// Sends a scheduling request of a UE.
    fn send_request(&mut self, id: LegId, env: &mut Env<'_, impl Probe>) {
        let (leg, requests) = self.stack.leg_and_requests(id);
        let LegConfig { cell, ue, .. } = leg.config;
        let plan = &self.cells[cell.index()].plan;
        let request = leg.request(requests, plan, env.now);
        if env.probe.wants_mac_pdus(cell, ue) {
            capture::report_request(plan, leg, request.slot, env.probe);
        }
        self.stack.align_listening(id);
        self.activate(env.now, Some(id), Direction::Uplink, request.answered_from);
        self.stack.arm_repeat(id);
    }

    /// Repeats a UE's scheduling request, if a repetition is due. Returns true if the UE has sent
    /// the maximum number of requests without a grant.
    pub(crate) fn on_repeat(&mut self, id: LegId, env: &mut Env<'_, impl Probe>) -> bool {
        // When the leg armed the timer, it was the primary leg. Now the UE sends requests on
        // another leg.
        if requesting_leg(&self.stack.legs[id.index()]) != id {
            return false;
        }
        let is_secondary = self.stack.legs[id.index()].primary() != id;
        let (leg, requests) = self.stack.leg_and_requests(id);
        let plan = &self.cells[leg.config.cell.index()].plan;
        let repeat = requests.on_repeat(plan, env.now);
        match repeat {
            Repeat::Later => self.stack.arm_repeat(id),
            Repeat::No => {}
            Repeat::Ask | Repeat::GiveUp
                if self.stack.backlog(env.now, id, Direction::Uplink) == 0 => {}
            Repeat::Ask => self.send_request(id, env),
            // If a secondary cell does not answer requests, the radio link does not fail (TS 38.321
            // clause 5.4.4).
            Repeat::GiveUp if is_secondary => self.send_request(id, env),
            Repeat::GiveUp => return true,
        }
        false
    }

    /// Handles new downlink data of a bearer at its base stations.
    pub(crate) fn on_downlink_data(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.stack.leg_of(bearer) else {
            return schedule_pass_on(&mut self.stack, env.now, bearer);
        };
        self.stack.drain_inlet(bearer, env);
        if self.stack.downlink_waiting(env.now, leg) != (0, None) {
            self.activate(env.now, Some(leg), Direction::Downlink, 0);
        }
        if self.stack.bearers[bearer.index()].is_dual {
            let source = self.stack.bearers[bearer.index()].legs().nth(1);
            self.on_backlog(source, Direction::Downlink, env);
        }
    }

    /// Handles a link failure of a leg. The leg and its secondary cells' legs restart in the same
    /// cells.
    pub(crate) fn fail_link(
        &mut self,
        (id, finder): (LegId, Finder),
        env: &mut Env<'_, impl Probe>,
    ) {
        let stack = &mut self.stack;
        let LegConfig {
            cell, ue, number, ..
        } = stack.legs[id.index()].config;
        if number > 0 || stack.legs[id.index()].carriers.primary().is_some() {
            self.fail_secondary((id, finder), env);
            return;
        }
        let cell = &mut self.cells[cell.index()];
        let takes = cell.plan.config.reestablish_after;
        let until = stack.ues[ue.index()].on_link_failure(env.now, takes);
        stack.requests[id.index()].reset();
        stack.legs[id.index()].fail(until, &mut stack.lost);
        cell.forget_grants(id);
        let mut position = 0;
        while let Some(secondary) = stack.scell(id, position) {
            position += 1;
            let has_own_requests = requesting_leg(&stack.legs[secondary.index()]) != id;
            if has_own_requests {
                stack.lose_content(id, env);
                stack.requests[secondary.index()].reset();
            }
            let leg = &mut stack.legs[secondary.index()];
            leg.fail(until, &mut stack.lost);
            self.cells[leg.config.cell.index()].forget_grants(secondary);
            if has_own_requests {
                stack.fail_bearers((secondary, until), env);
            }
        }
        stack.fail_bearers((id, until), env);
        // HARQ processes and grants were reset, so waiting data must be scheduled again.
        self.activate(env.now, Some(id), Direction::Downlink, 0);
        self.activate_secondary((Some(id), Direction::Downlink), env.now, env.now);
        self.on_uplink_data(Some(id), env);
        self.serve_split(id, env);
        self.on_master_failed(ue, until);
    }

    /// Clears a leg that the UE leaves. The leg carries no data from now on.
    pub(crate) fn leave_leg(&mut self, id: LegId) {
        let stack = &mut self.stack;
        let leg = &mut stack.legs[id.index()];
        let requests = &mut stack.requests[id.index()];
        let cell = &mut self.cells[leg.config.cell.index()];
        cell.forget_grants(id);
        if requests.has_occasions() {
            cell.release_occasion(requests.occasion());
        }
        requests.leave();
        leg.reset(&mut stack.lost);
        for lost in &mut stack.lost {
            for content in lost.drain(..) {
                stack.contents.free(content);
            }
        }
        stack.air.stop_using(id);
    }

    /// Returns true for each direction in which the leg's SINR without fading is at least
    /// `least_db` now.
    pub(crate) fn is_heard<M: Motion>(
        &mut self,
        leg: LegId,
        least_db: f64,
        motion: &mut M,
        now: Time,
    ) -> [bool; 2] {
        self.stack.air.refresh(leg, now, motion);
        let quality_db = self.stack.air.quality_db(leg, now);
        quality_db.map(|sinr_db| sinr_db >= least_db)
    }

    /// Returns true if the cell of a leg has DRX.
    pub(crate) fn may_sleep(&self, leg: LegId) -> bool {
        let cell = self.stack.legs[leg.index()].config.cell;
        self.cells[cell.index()].plan.config.drx.is_some()
    }

    /// Returns the sleep pattern of a UE. `None` without DRX, or if the UE has been active
    /// recently.
    ///
    /// Standard: TS 36.133 §3.6.1; TS 38.133 §3.6.1.
    pub(crate) fn sleep(&self, ue: UeId, now: Time) -> Option<Sleep> {
        let leg = *self.stack.ues[ue.index()].legs().first()?;
        let leg = &self.stack.legs[leg.index()];
        let cell = &self.cells[leg.config.cell.index()].plan.config;
        let cycle = leg.sleeps(cell.drx.as_ref(), now)?;
        Some(Sleep {
            cycle,
            is_nr: cell.is_nr(),
        })
    }

    /// Stops waiting for end markers at target cells that have waited too long.
    pub(crate) fn expire_marker_waits(&mut self, ue: UeId, env: &mut Env<'_, impl Probe>) {
        let mut position = 0;
        while let Some(&bearer) = self.stack.ues[ue.index()].bearers().get(position) {
            let drb = &mut self.stack.bearers[bearer.index()];
            if drb.transfers().guard_at() <= env.now {
                drb.mobile().on_guard(env.now);
                self.on_downlink_data(bearer, env);
                self.stack.declare_lost(bearer, Direction::Downlink, env);
            }
            position += 1;
        }
    }

    /// Handles the return of a UE to the connected state: its waiting packets enter their bearers.
    pub(crate) fn on_reconnected(&mut self, ue: UeId, env: &mut Env<'_, impl Probe>) {
        let now = env.now;
        record_ue_event(now, (ue, RrcEvent::Connected), &self.stack, env.probe);
        let Some(released) = self.states.released_mut(ue) else {
            return;
        };
        released.connection.on_open(now);
        let mut held = std::mem::take(&mut released.held);
        for entering in held.drain(..) {
            self.admit(now, entering, env.pool, env.probe);
        }
        if let Some(released) = self.states.released_mut(ue) {
            released.held = held;
            released.arm(ue, &mut self.stack);
        }
    }
}

/// Requests uplink grants in the secondary cells to which RLC entities are restricted. Data of such
/// an entity cannot be sent in any other cell.
#[inline]
fn request_on_own_leg(service: &mut Service, leg: Option<LegId>, env: &mut Env<'_, impl Probe>) {
    let Some(leg) = leg else { return };
    let primary = service.stack.legs[leg.index()].primary();
    let mut position = 0;
    while let Some(secondary) = service.stack.scell(primary, position) {
        if requesting_leg(&service.stack.legs[secondary.index()]) == secondary {
            service.on_uplink_data(Some(secondary), env);
        }
        position += 1;
    }
}

#[cfg(test)]
mod tests;
