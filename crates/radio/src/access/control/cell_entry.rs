//! Last steps of a UE's entry into a cell. All entry procedures end with these steps.

use super::managed::{Managed, leave_signalling};
use crate::access::plane::connect::connect_some_bearers;
use crate::access::plane::moves::Move;
use crate::bearer::{Drb, UtraBearer};
use crate::config::{Env, LegId};
use crate::rrc::message::Message;
use crate::rrc::record::RowTime;
use crate::rrc::stage::Stage;
use fadeout_core::{CellId, Direction, Probe, Procedure};

impl Managed<'_> {
    /// Sends the RRC complete message, by which the UE reports its arrival in the cell.
    pub(crate) fn send_complete(&mut self, env: &mut Env<'_, impl Probe>) {
        self.send(Direction::Uplink, Message::Complete, env);
        self.wake_uplink(env);
    }

    /// Wakes the UE's cell for uplink data that waits.
    pub(crate) fn wake_uplink(&mut self, env: &mut Env<'_, impl Probe>) {
        let leg = self.leg();
        self.service.on_uplink_data(leg, env);
    }

    /// Moves the UE and its bearers to its leg in a cell, after its entry into the cell.
    pub(crate) fn enter_cell(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.leg_of(cell) else {
            return;
        };
        self.connect_bearers((leg, |_| true), env);
        self.set_serving_leg(leg);
        self.start_monitoring(cell, env);
        self.state.record.stamp(RowTime::Entered, env.now);
    }

    /// Connects bearers of the UE to `leg`, if `which` returns true for the bearer.
    pub(crate) fn connect_bearers(
        &mut self,
        (leg, which): (LegId, fn(&Drb) -> bool),
        env: &mut Env<'_, impl Probe>,
    ) {
        let ue = self.ue;
        let cell = self.service.stack.legs[leg.index()].config.cell;
        let generation = self.service.cells[cell.index()].plan.config.generation();
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].all_bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            if which(drb) {
                UtraBearer(drb).return_from_utra(env, &mut stack.storage);
                drb.mobile()
                    .enter_generation(generation, env, &mut stack.storage);
            }
        }
        connect_some_bearers(self.service, (ue, leg), which);
    }

    /// Connects the UE's signalling bearers to a cell after RRC setup. The setup of its data
    /// bearers begins.
    pub(crate) fn connect_signalling(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.leg_of(cell) else {
            return;
        };
        self.connect_bearers((leg, |drb| drb.is_signalling), env);
        self.set_serving_leg(leg);
        self.state.stage = Stage::Attaching;
        self.state.link.reset(env.now, &self.config.monitoring);
        self.state.record.stamp(RowTime::Entered, env.now);
        self.state.record.update_row(|row| {
            if row.procedure == Procedure::Attach {
                row.source = cell;
            }
        });
    }

    /// Connects the UE's data bearers to its serving cell. The UE is now connected.
    pub(crate) fn connect_data(&mut self, env: &mut Env<'_, impl Probe>) {
        let serving = self.service.stack.serving_cell(self.ue);
        if let (Some(leg), Some(cell)) = (self.leg(), serving) {
            self.connect_bearers((leg, |drb| !drb.is_signalling), env);
            self.start_monitoring(cell, env);
        }
    }

    /// Disconnects the UE's signalling bearers from its serving cell, which the UE leaves.
    pub(crate) fn disconnect_signalling(&mut self, env: &mut Env<'_, impl Probe>) {
        let serving = self.service.stack.serving_cell(self.ue);
        if let (Some(leg), Some(cell)) = (self.leg(), serving) {
            let load = &mut self.loads[cell.index()];
            *load = load.saturating_sub(1);
            self.state.messages.clear();
            self.service.leave_leg(leg);
            leave_signalling(self, env);
            self.state.link.reset(env.now, &self.config.monitoring);
        }
    }

    /// Makes `leg` the UE's serving leg and adds the UE to the load of the cell.
    pub(crate) fn set_serving_leg(&mut self, leg: LegId) {
        let cell = self.service.stack.legs[leg.index()].config.cell;
        self.service.stack.ues[self.ue.index()].on_moved(leg);
        self.loads[cell.index()] += 1;
        self.state.network.on_entered();
    }

    /// Starts measurements, beam monitoring and uplink routing in the new cell, after the bearers
    /// have moved.
    pub(crate) fn start_monitoring(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        self.state.stage = Stage::Connected;
        match self.state.ltm.is_some() {
            true => self.update_candidates(cell, env),
            false => self.state.survey.on_new_serving_cell(),
        }
        if let Some(node) = &mut self.state.secondary_node {
            node.on_new_master();
        }
        self.start_beam_monitoring(cell, env.now);
        self.moves.push(Move::Uplink { ue, cell });
    }
}
