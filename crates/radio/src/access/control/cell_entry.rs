//! Last steps of a UE's entry into a cell. All entry procedures end with these steps.

use super::managed::{Managed, seconds};
use super::scg::Scg;
use crate::access::plane::connect::connect_some_bearers;
use crate::access::plane::moves::Move;
use crate::bearer::{Drb, UtraBearer};
use crate::config::{Env, LegId};
use crate::rrc::message::Message;
use crate::rrc::mobility::Stage;
use fadeout_core::{Direction, Probe};

impl Managed<'_> {
    /// Sends the RRC complete message, by which the UE reports its arrival in the cell.
    pub(crate) fn send_complete(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        self.send(Direction::Uplink, Message::Complete, env);
        self.service.on_uplink_data(Some(leg), env);
    }

    /// Moves the UE and its bearers to `leg` after its entry into the cell.
    pub(crate) fn enter_cell(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        self.connect_bearers((leg, |_| true), env);
        self.set_serving_leg(leg);
        self.start_monitoring(leg, env);
        self.state
            .record
            .update_row(|row| row.entered_s = seconds(env.now));
    }

    /// Connects bearers of the UE to `leg`, if `which` returns true for the bearer.
    pub(crate) fn connect_bearers(
        &mut self,
        (leg, which): (LegId, impl Fn(&Drb) -> bool),
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

    /// Makes `leg` the UE's serving leg and adds the UE to the load of the cell.
    pub(crate) fn set_serving_leg(&mut self, leg: LegId) {
        let cell = self.service.stack.legs[leg.index()].config.cell;
        self.service.stack.ues[self.ue.index()].on_moved(leg);
        self.loads[cell.index()] += 1;
        self.state.network.on_entered();
    }

    /// Starts measurements, beam monitoring and uplink routing in the new cell, after the bearers
    /// have moved.
    pub(crate) fn start_monitoring(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        let cell = self.service.stack.legs[leg.index()].config.cell;
        self.state.stage = Stage::Connected;
        match self.state.ltm.is_some() {
            true => self.update_candidates(cell, env),
            false => self.state.survey.on_new_serving_cell(),
        }
        Scg(self).on_new_master();
        self.start_beam_monitoring(cell, env.now);
        self.moves.push(Move::Uplink { ue, cell });
    }
}
