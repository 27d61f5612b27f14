//! UEs in cells of 3G. The caller sends their packets over links. This module contains the handover
//! to and from 3G, and all special treatment in a 3G cell.
//!
//! ```text
//! command: stop, detach, re-establish PDCP ─► utra-interruption
//! ─► enter: bearers pass packets on ─► complete, path switch
//! event 3a ─► command: recall_packets ─► leave ─► random access in the target ─► enter
//! ```

use super::beam_failure::Beams;
use super::handover::seconds;
use super::managed::Managed;
use crate::access::plane::event::Event;
use crate::access::plane::moves::Move;
use crate::access::plane::pass_on::schedule_pass_on;
use crate::bearer::UtraBearer;
use crate::config::{Env, LegId};
use crate::rrc::mobility::{Message, Stage};
use fadeout_core::{CellId, Direction, Probe, Span, Time};

/// Bits of RRC messages in a transport block of the 13.6 kbit/s signalling bearer, and the block
/// interval. Each 10 ms block has 148 bits, of which RLC uses 16 and MAC uses 4.
///
/// Standard: TS 34.108 §6.10.2.4.1.3.
const BLOCK: (u32, Span) = (128, Span::from_millis(10));

/// Returns the transmission time of a message over the signalling bearer of 3G.
fn transmission_time(message: Message) -> Span {
    let (bits, interval) = BLOCK;
    interval * u64::from((8 * message.size()).div_ceil(bits))
}

/// Mutable access to a UE's state, for entry into a cell of 3G, the time in that cell, and
/// departure.
pub(in crate::access) struct Utran<'m, 'a>(pub &'m mut Managed<'a>);

impl Utran<'_, '_> {
    /// Returns the cell of 3G in which the UE is, or which the UE has just left. `None` if the UE's
    /// cell is not a 3G cell.
    fn cell(&self) -> Option<CellId> {
        let serving = self.0.service.stack.serving_cell(self.0.ue);
        serving.filter(|&cell| self.0.config.is_utra(cell))
    }

    /// Returns true if the UE is in a cell of 3G.
    pub(in crate::access) fn is_in_utra(&self) -> bool {
        self.0.state.is_connected() && self.cell().is_some()
    }

    /// Starts the UE's change to `target` if `target` is a cell of 3G. Returns false otherwise.
    pub(in crate::access) fn start_change(
        &mut self,
        target: CellId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        if !self.0.config.is_utra(target) {
            return false;
        }
        let Some(leg) = self.0.leg_in(target) else {
            self.0.reselect(env);
            return true;
        };
        let stack = &mut self.0.service.stack;
        for bearer in stack.ues[self.0.ue.index()].all_bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            UtraBearer(drb).leave_for_utra(env, &mut stack.storage);
        }
        let takes = self.0.config.procedure.utra_interruption;
        let at = env.now.saturating_add(takes);
        self.0.state.stage = Stage::Arriving { leg, at };
        true
    }

    /// Completes the UE's entry into a cell of 3G. The UE's bearers now hand packets to links of
    /// the caller, and the UE sends the complete message.
    pub(in crate::access) fn enter(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let ue = self.0.ue;
        let stack = &mut self.0.service.stack;
        let cell = stack.legs[leg.index()].config.cell;
        for bearer in stack.ues[ue.index()].bearers() {
            UtraBearer(&mut stack.bearers[bearer.index()]).on_utra_entered();
        }
        stack.ues[ue.index()].on_moved(leg);
        self.0.loads[cell.index()] += 1;
        let state = &mut self.0.state;
        state.stage = Stage::Connected;
        state.network.on_entered();
        state.survey.on_new_serving_cell();
        state
            .record
            .update_row(|row| row.entered_s = seconds(env.now));
        Beams(self.0).start_monitoring(cell, env);
        self.0.moves.push(Move::Uplink { ue, cell });
        self.0.send(Direction::Uplink, Message::Complete, env);
        let stack = &mut self.0.service.stack;
        let mut position = 0;
        while let Some(&bearer) = stack.ues[ue.index()].bearers().get(position) {
            schedule_pass_on(stack, env.now, bearer);
            position += 1;
        }
    }

    /// Takes back the downlink packets that wait at the 3G base station, after that base station
    /// has commanded the UE to another cell. These packets are then handled like all later packets.
    pub(in crate::access) fn recall_packets(&mut self) {
        let ue = self.0.ue;
        if let Some(cell) = self.cell() {
            self.0.moves.push(Move::Recall { ue, cell });
        }
    }

    /// Records that the UE leaves a cell of 3G. Its bearers no longer hand packets to links of the
    /// caller.
    pub(in crate::access) fn leave(&mut self) {
        let ue = self.0.ue;
        let Some(cell) = self.cell() else {
            return;
        };
        let stack = &mut self.0.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            UtraBearer(&mut stack.bearers[bearer.index()]).on_utra_left();
        }
        self.0.moves.push(Move::Left { ue, cell });
    }

    /// Sends a numbered RRC message in a cell of 3G, where no message is lost.
    pub(in crate::access) fn send(
        &mut self,
        (direction, number): (Direction, u64),
        message: Message,
        now: Time,
    ) {
        let at = now.saturating_add(transmission_time(message));
        let event = Event::RrcMessage(self.0.ue, direction, number);
        self.0.service.stack.events.schedule(at, event);
    }

    /// Handles the arrival of an RRC message, unless the UE has left the 3G cell.
    pub(in crate::access) fn on_rrc_message(
        &mut self,
        direction: Direction,
        number: u64,
        env: &mut Env<'_, impl Probe>,
    ) {
        if let Some(message) = self.0.state.messages.take_arrived(number) {
            self.0.on_message(direction, message, env);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_as_many_blocks_as_its_bits_fill() {
        assert_eq!(transmission_time(Message::Complete), Span::from_millis(30));
        assert_eq!(
            transmission_time(Message::Command(CellId(0))),
            Span::from_millis(130)
        );
    }
}
