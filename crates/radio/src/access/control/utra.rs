//! UEs in cells of 3G. The caller sends their packets over links. This module contains the handover
//! to and from 3G, and all special treatment in a 3G cell.
//!
//! ```text
//! command: stop, detach, re-establish PDCP ─► utra-interruption
//! ─► enter: bearers pass packets on ─► complete, path switch
//! event 3a ─► command: recall_packets ─► leave ─► random access in the target ─► enter
//! ```

use super::managed::Managed;
use crate::access::plane::moves::Move;
use crate::access::plane::pass_on::schedule_pass_on;
use crate::bearer::UtraBearer;
use crate::config::Env;
use crate::rrc::message::Message;
use crate::rrc::record::RowTime;
use crate::rrc::stage::Stage;
use fadeout_core::{CellId, Direction, Probe};

impl Managed<'_> {
    /// Starts the UE's change to a cell of 3G.
    pub(crate) fn start_utra_change(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        if self.leg_in(target).is_none() {
            return self.reselect(env);
        }
        let stack = &mut self.service.stack;
        for bearer in stack.ues[self.ue.index()].all_bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            UtraBearer(drb).leave_for_utra(env, &mut stack.storage);
        }
        let takes = self.config.procedure.utra_interruption;
        let at = env.now.saturating_add(takes);
        self.state.stage = Stage::Arriving { cell: target, at };
    }

    /// Completes the UE's entry into a cell of 3G. The UE's bearers now hand packets to links of
    /// the caller, and the UE sends the complete message.
    pub(crate) fn enter_utra(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.leg_of(cell) else {
            return;
        };
        let ue = self.ue;
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            UtraBearer(&mut stack.bearers[bearer.index()]).on_utra_entered();
        }
        stack.ues[ue.index()].on_moved(leg);
        self.loads[cell.index()] += 1;
        let state = &mut self.state;
        state.stage = Stage::Connected;
        state.network.on_entered();
        state.survey.on_new_serving_cell();
        state.record.stamp(RowTime::Entered, env.now);
        self.start_beam_monitoring(cell, env.now);
        self.moves.push(Move::Uplink { ue, cell });
        self.send(Direction::Uplink, Message::Complete, env);
        self.each_bearer(|bearer, service| {
            schedule_pass_on(&mut service.stack, env.now, bearer);
        });
    }

    /// Takes back the downlink packets that wait at the 3G base station, after that base station
    /// has commanded the UE to another cell. These packets are then handled like all later packets.
    pub(crate) fn recall_utra_packets(&mut self) {
        let ue = self.ue;
        if let Some(cell) = self.utra_cell() {
            self.moves.push(Move::Recall { ue, cell });
        }
    }

    /// Records that the UE leaves a cell of 3G. Its bearers no longer hand packets to links of the
    /// caller.
    pub(crate) fn leave_utra(&mut self) {
        let ue = self.ue;
        let Some(cell) = self.utra_cell() else {
            return;
        };
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            UtraBearer(&mut stack.bearers[bearer.index()]).on_utra_left();
        }
        self.moves.push(Move::Left { ue, cell });
    }
}
