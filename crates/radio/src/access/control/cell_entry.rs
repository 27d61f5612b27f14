//! Last steps of a UE's entry into a cell. All entry procedures end with these steps.

use super::beam_failure::Beams;
use super::handover::seconds;
use super::ltm::Switched;
use super::managed::Managed;
use super::scg::Scg;
use crate::access::plane::connect::connect_some_bearers;
use crate::access::plane::moves::Move;
use crate::bearer::{Drb, UtraBearer};
use crate::config::{Env, LegId};
use crate::rrc::mobility::{Message, Stage};
use fadeout_core::{Direction, Probe};

/// Mutable access to a UE's state, for the steps after its entry into a cell.
pub(in crate::access) struct CellEntry<'m, 'a>(pub &'m mut Managed<'a>);

impl CellEntry<'_, '_> {
    /// Sends the RRC complete message, by which the UE reports its arrival in the cell.
    pub(in crate::access) fn send_complete(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        self.0.send(Direction::Uplink, Message::Complete, env);
        self.0.service.on_uplink_data(Some(leg), env);
    }

    /// Moves the UE and its bearers to `leg` after its entry into the cell.
    pub(in crate::access) fn enter_cell(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        self.connect_bearers((leg, |_| true), env);
        self.set_serving_leg(leg);
        self.start_monitoring(leg, env);
        self.0
            .state
            .record
            .update_row(|row| row.entered_s = seconds(env.now));
    }

    /// Connects bearers of the UE to `leg`, if `which` returns true for the bearer.
    pub(in crate::access) fn connect_bearers(
        &mut self,
        (leg, which): (LegId, impl Fn(&Drb) -> bool),
        env: &mut Env<'_, impl Probe>,
    ) {
        let ue = self.0.ue;
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        let stack = &mut self.0.service.stack;
        for bearer in stack.ues[ue.index()].all_bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            if which(drb) {
                UtraBearer(drb).return_from_utra(env, &mut stack.storage);
                drb.mobile()
                    .enter_generation(generation, env, &mut stack.storage);
            }
        }
        connect_some_bearers(self.0.service, (ue, leg), which);
    }

    /// Makes `leg` the UE's serving leg and adds the UE to the load of the cell.
    pub(in crate::access) fn set_serving_leg(&mut self, leg: LegId) {
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        self.0.service.stack.ues[self.0.ue.index()].on_moved(leg);
        self.0.loads[cell.index()] += 1;
        self.0.state.network.on_entered();
    }

    /// Starts measurements, beam monitoring and uplink routing in the new cell, after the bearers
    /// have moved.
    pub(in crate::access) fn start_monitoring(
        &mut self,
        leg: LegId,
        env: &mut Env<'_, impl Probe>,
    ) {
        let ue = self.0.ue;
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        self.0.state.stage = Stage::Connected;
        match self.0.state.ltm.is_some() {
            true => Switched(self.0).on_new_serving_cell(cell, env),
            false => self.0.state.survey.on_new_serving_cell(),
        }
        Scg(self.0).on_new_master();
        Beams(self.0).start_monitoring(cell, env);
        self.0.moves.push(Move::Uplink { ue, cell });
    }
}
