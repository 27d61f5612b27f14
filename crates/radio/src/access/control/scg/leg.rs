//! The secondary leg of a UE: entry into the cell, release, and the effects on both ends of the
//! UE's bearers.

use super::{SECONDARY_LEG, Scg};
use crate::access::control::managed::record_cell_event;
use crate::access::control::random_access::run_random_access;
use crate::bearer::{close_secondary, leave_secondary, open_secondary};
use crate::config::{Env, LegId};
use crate::rrc::message::Message;
use crate::rrc::random_access::{Progress, RandomAccess};
use crate::rrc::record::seconds;
use crate::rrc::secondary_cells::secondary_processing;
use crate::rrc::secondary_node::{NodeMessage, Order, RequestReason, ScgState, SecondaryNetwork};
use fadeout_core::{
    CellId, Direction, HandoverOutcome, Motion, Probe, Procedure, RrcEvent, SecondaryCause, Time,
};

impl Scg<'_, '_> {
    /// Runs the next step of random access to the cell of the secondary node.
    pub(crate) fn advance_access<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(ScgState::Entering {
            leg,
            mut access,
            until,
        }) = self.node().map(|node| node.leg_state)
        else {
            return;
        };
        if until <= env.now {
            return self.fail_access(leg, env);
        }
        if access.wake_at() > env.now {
            return;
        }
        let (progress, sent) = run_random_access(self.0, (leg, &mut access), true, motion, env);
        let restart = RandomAccess::new(self.0.access_in(self.cell_of(leg)), env.now, true);
        let Some(node) = self.node() else { return };
        node.update_row(|row| row.preambles += sent);
        match progress {
            Progress::Done => return self.on_entered(leg, env),
            // Only T304 ends the entry. Until then MAC starts random access again.
            Progress::Problem => access = restart,
            Progress::Running => {}
        }
        node.leg_state = ScgState::Entering { leg, access, until };
    }

    /// Handles the expiry of T304 of the secondary cell group. The UE reports the failure and waits
    /// for the network's order.
    ///
    /// Standard: TS 38.331 §5.3.5.8.3, §5.7.3.
    fn fail_access(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let cell = self.cell_of(leg);
        self.0.service.leave_leg(leg);
        record_cell_event((self.0.ue, cell), RrcEvent::AccessFailure, env);
        record_cell_event((self.0.ue, cell), RrcEvent::SecondaryFailed, env);
        if let Some(node) = self.node() {
            node.leg_state = ScgState::Lost;
        }
        self.end_row(HandoverOutcome::Failed, env);
        let message = Message::Node(NodeMessage::AccessFailed(cell));
        self.0.send(Direction::Uplink, message, env);
    }

    /// Handles the network's order about the secondary node at the UE.
    pub(crate) fn on_order(&mut self, order: Order, number: u32, env: &mut Env<'_, impl Probe>) {
        if !self.0.state.is_connected() {
            return;
        }
        let master = self
            .0
            .service
            .stack
            .serving_cell(self.0.ue)
            .unwrap_or_default();
        let generation = self.0.service.cells[master.index()]
            .plan
            .config
            .generation();
        let answer_at = env.now.saturating_add(secondary_processing(generation));
        let Some(node) = self.node() else { return };
        node.answer = Some((answer_at, number));
        // The network may repeat an order. The UE carries out each order once.
        if std::mem::replace(&mut node.last_order, number) == number {
            return;
        }
        let cell = match order {
            Order::Enter(cell) => Some(cell),
            Order::Release => node.network.cell(),
        };
        record_cell_event(
            (self.0.ue, cell.unwrap_or(master)),
            RrcEvent::SecondaryCommand,
            env,
        );
        self.leave_cell(env);
        match order {
            Order::Enter(cell) => {
                let ready_at = env.now.saturating_add(self.0.config.procedure.interruption);
                self.begin_access(cell, ready_at, env);
            }
            Order::Release => {
                if let Some(node) = self.node() {
                    node.leg_state = ScgState::Alone;
                    node.without_leg_since = None;
                    node.addition_survey.on_new_serving_cell();
                }
            }
        }
    }

    /// Starts random access to a cell of a secondary node.
    fn begin_access(&mut self, cell: CellId, ready_at: Time, env: &mut Env<'_, impl Probe>) {
        let access = RandomAccess::new(self.0.access_in(cell), ready_at, true);
        let leg = self.0.leg_in(cell);
        if let Some(leg) = leg {
            self.0.service.stack.legs[leg.index()].config.number = SECONDARY_LEG;
        }
        let Some(node) = self.node() else { return };
        match leg {
            Some(leg) => {
                let until = env.now.saturating_add(node.config.t304);
                node.leg_state = ScgState::Entering { leg, access, until };
            }
            None => node.leg_state = ScgState::Lost,
        }
    }

    /// Makes the UE leave the cell of the secondary node, or ends the UE's entry into that cell.
    /// The master's leg continues.
    fn leave_cell(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Some(ScgState::Entering { leg, .. }) = self.node().map(|node| node.leg_state) {
            self.0.service.leave_leg(leg);
        }
        let Some(leg) = self.0.service.stack.ues[self.0.ue.index()].second_leg() else {
            return;
        };
        let mut again = 0;
        self.each_bearer(|bearer, stack| {
            let drb = &mut stack.bearers[bearer.index()];
            again += leave_secondary(drb, env, &mut stack.storage);
        });
        self.drop_leg(leg, env);
        if let Some(node) = self.node() {
            node.without_leg_since.get_or_insert(env.now);
            node.update_row(|row| {
                row.left_s = seconds(env.now);
                row.uplink_again = again;
            });
        }
        self.send_waiting_data(env);
    }

    /// Releases the UE's secondary leg.
    fn drop_leg(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let cell = self.cell_of(leg);
        record_cell_event((self.0.ue, cell), RrcEvent::SecondaryReleased, env);
        let service = &mut *self.0.service;
        service.stack.ues[self.0.ue.index()].release_second();
        service.secondary.forget(leg);
        service.leave_leg(leg);
        if self.node().is_some() {
            let load = &mut self.0.loads[cell.index()];
            *load = load.saturating_sub(1);
        }
    }

    /// Handles the end of random access to the cell of the secondary node. The secondary leg now
    /// carries data.
    fn on_entered(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let (ue, cell) = (self.0.ue, self.cell_of(leg));
        record_cell_event((ue, cell), RrcEvent::AccessDone, env);
        let Some(node) = self.node() else { return };
        let is_confirmed = !node.network.is_busy();
        let silent = node.without_leg_since.take();
        node.leg_state = ScgState::Serving;
        node.pscell_survey.on_new_serving_cell();
        node.update_row(|row| {
            row.entered_s = seconds(env.now);
            row.gap_s = silent.map_or(f64::NAN, |since| env.now.since(since).as_secs_f64());
        });
        self.each_bearer(|bearer, stack| {
            let drb = &mut stack.bearers[bearer.index()];
            open_secondary(drb, env.now, is_confirmed);
        });
        self.0.service.stack.ues[ue.index()].on_connected(leg);
        self.0.service.connect_bearers(ue, leg);
        self.0.loads[cell.index()] += 1;
        self.with_node(env, |network, step| network.end_reservation(cell, step));
        record_cell_event((ue, cell), RrcEvent::SecondaryAdded, env);
        if is_confirmed {
            self.end_row(HandoverOutcome::Success, env);
        }
        self.send_waiting_data(env);
    }

    /// Handles the UE's answer at the master's base station.
    pub(crate) fn on_answer(&mut self, number: u32, env: &mut Env<'_, impl Probe>) {
        let order = self.with_node(env, |network, step| network.on_answer(number, step));
        let Some(order) = order.flatten() else { return };
        let mut again = 0;
        self.each_bearer(|bearer, stack| {
            let drb = &mut stack.bearers[bearer.index()];
            again += close_secondary(drb, env, &mut stack.storage);
        });
        let Some(node) = self.node() else { return };
        node.update_row(|row| {
            row.completed_s = seconds(env.now);
            row.downlink_again += again;
        });
        let is_done = order == Order::Release || matches!(node.leg_state, ScgState::Serving);
        if is_done {
            self.end_row(HandoverOutcome::Success, env);
        }
        self.send_waiting_data(env);
    }

    /// Releases the secondary leg when the UE leaves its master's cell. If the handover command
    /// names a secondary cell, the UE enters that cell later.
    pub(crate) fn release_leg(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Some(ScgState::Entering { leg, .. }) = self.node().map(|node| node.leg_state) {
            self.0.service.leave_leg(leg);
        }
        let leg = self.0.service.stack.ues[self.0.ue.index()].second_leg();
        if let Some(leg) = leg {
            self.drop_leg(leg, env);
        }
        let change = self.0.state.record.change();
        let is_commanded =
            change.is_some_and(|change| change.procedure == Procedure::Handover && !change.is_done);
        let Some(node) = self.node() else { return };
        let (planned, had) = (node.network.planned(), node.network.cell());
        node.leg_state = planned.map_or(ScgState::Alone, ScgState::Waiting);
        node.answer = None;
        node.addition_survey.on_new_serving_cell();
        node.pscell_survey.on_new_serving_cell();
        if planned.is_some() {
            node.without_leg_since.get_or_insert(env.now);
            node.update_row(|row| row.left_s = seconds(env.now));
        } else {
            node.without_leg_since = None;
            self.end_row(HandoverOutcome::Cancelled, env);
            if had.is_some() {
                let cause = match is_commanded {
                    true => SecondaryCause::Handover,
                    false => SecondaryCause::Failure,
                };
                self.begin_row(None, RequestReason::Change(cause), env);
                if let Some(node) = self.node() {
                    node.update_row(|row| row.left_s = seconds(env.now));
                }
                self.end_row(HandoverOutcome::Success, env);
            }
        }
        self.with_node(env, SecondaryNetwork::on_left);
    }

    /// Clears the entered cells and the time to trigger of the secondary node's measurement events,
    /// because the UE has a new master cell. The filtered levels are kept.
    pub(crate) fn on_new_master(&mut self) {
        if let Some(node) = self.node() {
            node.addition_survey.on_new_serving_cell();
            node.pscell_survey.on_new_serving_cell();
        }
    }

    /// Enters the secondary cell that the handover command named, after the UE has entered the
    /// master's target.
    pub(crate) fn enter_commanded(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Some(node) = self.node()
            && let ScgState::Waiting(cell) = node.leg_state
        {
            node.network.set_cell(Some(cell));
            self.begin_access(cell, env.now, env);
        }
    }

    /// Drops the secondary cell that a handover command named, because the UE must select a new
    /// cell.
    pub(crate) fn drop_commanded(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Some(node) = self.node()
            && let ScgState::Waiting(cell) = node.leg_state
        {
            node.leg_state = ScgState::Alone;
            node.without_leg_since = None;
            self.with_node(env, |network, step| network.end_reservation(cell, step));
            self.end_row(HandoverOutcome::Failed, env);
        }
    }
}
