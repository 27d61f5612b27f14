//! The coming of a UE into a cell, however it got in.

use super::beam_failure::Beams;
use super::build::carry_some;
use super::handover::seconds;
use super::ltm::Switched;
use super::managed::Managed;
use super::moves::Move;
use super::scg::Scg;
use crate::bearer::{Drb, Stays};
use crate::config::{Env, LegId};
use crate::rrc::mobility::{Message, Stage};
use fadeout_core::{Direction, Probe};

/// A UE that has come into a cell, and all that this bears on.
pub(super) struct Arrival<'m, 'a>(pub &'m mut Managed<'a>);

impl Arrival<'_, '_> {
    /// The UE says that it is in a cell.
    pub(super) fn tell(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        self.0.send(Direction::Uplink, Message::Complete, env);
        self.0.service.on_uplink_data(Some(leg), env);
    }

    /// The UE is in a cell: its bearers are on the leg there.
    pub(super) fn come_into(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        self.take_bearers((leg, |_| true), env);
        self.take_place(leg);
        self.go_on(leg, env);
        self.0
            .state
            .record
            .note(|row| row.entered_s = seconds(env.now));
    }

    /// Bearers of the UE are on the leg, those of which `which` says so.
    pub(super) fn take_bearers(
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
                Stays(drb).come_home(env, &mut stack.storage);
                drb.travel()
                    .enter_generation(generation, env, &mut stack.storage);
            }
        }
        carry_some(self.0.service, (ue, leg), which);
    }

    /// The leg is the UE's, which counts in the cell.
    pub(super) fn take_place(&mut self, leg: LegId) {
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        self.0.service.stack.ues[self.0.ue.index()].on_moved(leg);
        self.0.loads[cell.index()] += 1;
        self.0.state.network.on_entered();
    }

    /// The UE has its bearers there.
    pub(super) fn go_on(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let ue = self.0.ue;
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        self.0.state.stage = Stage::Connected;
        match self.0.state.ltm.is_some() {
            true => Switched(self.0).on_new_serving_cell(cell, env),
            false => self.0.state.survey.on_new_serving_cell(),
        }
        Scg(self.0).on_new_master();
        Beams(self.0).enter(cell, env);
        self.0.moves.push(Move::Uplink { ue, cell });
    }
}
