//! UEs in cells of 3G, whose packets links of the caller carry: the way there, and what is different there.
//!
//! ```text
//! command: stop, detach, PDCP anew ─► utra-interruption ─► enter: bearers pass on what comes ─► complete, path switch
//! 3a ─► command: recall ─► leave ─► random access in the target ─► enter
//! ```

use super::Event;
use super::beam_failure::Beams;
use super::handover::seconds;
use super::managed::Managed;
use super::moves::Move;
use super::stack::Stack;
use crate::bearer::Stays;
use crate::config::{Env, LegId};
use crate::rrc::mobility::{Message, Stage};
use fadeout_core::{CellId, Direction, DrbId, Probe, Span, Time};

/// A block of the signalling bearer of 13.6 kbit/s: every 10 ms 148 bits, of which RLC's 16 and MAC's 4 are none of the
/// message.
///
/// Standard: TS 34.108 §6.10.2.4.1.3.
const BLOCK: (u32, Span) = (128, Span::from_millis(10));

/// How long a message takes over the signalling bearer of 3G.
fn takes(message: Message) -> Span {
    let (bits, interval) = BLOCK;
    interval * u64::from((8 * message.size()).div_ceil(bits))
}

/// A UE that goes to 3G, is there, or comes from there.
pub(super) struct Utran<'m, 'a>(pub &'m mut Managed<'a>);

impl Utran<'_, '_> {
    /// The cell of 3G that the UE is in, or that it was in before it left.
    fn cell(&self) -> Option<CellId> {
        let serving = self.0.service.stack.serving_cell(self.0.ue);
        serving.filter(|&cell| self.0.config.is_utra(cell))
    }

    /// Whether the UE is in a cell of 3G.
    pub(super) fn is_there(&self) -> bool {
        self.0.state.is_connected() && self.cell().is_some()
    }

    /// The UE, which has left its cell, goes to `target` if that is of 3G. Whether it is.
    pub(super) fn go(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) -> bool {
        if !self.0.config.is_utra(target) {
            return false;
        }
        let Some(leg) = self.0.join(target) else {
            self.0.reselect(env);
            return true;
        };
        let stack = &mut self.0.service.stack;
        for bearer in stack.ues[self.0.ue.index()].all_bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            Stays(drb).set_out(env, &mut stack.storage);
        }
        let takes = self.0.config.procedure.utra_interruption;
        let at = env.now.saturating_add(takes);
        self.0.state.stage = Stage::Arriving { leg, at };
        true
    }

    /// The UE is in a cell of 3G: its bearers pass on what comes, and it says that it is there.
    pub(super) fn enter(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let ue = self.0.ue;
        let stack = &mut self.0.service.stack;
        let cell = stack.legs[leg.index()].config.cell;
        for bearer in stack.ues[ue.index()].bearers() {
            Stays(&mut stack.bearers[bearer.index()]).go_abroad();
        }
        stack.ues[ue.index()].on_moved(leg);
        self.0.loads[cell.index()] += 1;
        let state = &mut self.0.state;
        state.stage = Stage::Connected;
        state.network.on_entered();
        state.survey.on_new_serving_cell();
        state.record.note(|row| row.entered_s = seconds(env.now));
        Beams(self.0).enter(cell, env);
        self.0.moves.push(Move::Uplink { ue, cell });
        self.0.send(Direction::Uplink, Message::Complete, env);
        let stack = &mut self.0.service.stack;
        let mut position = 0;
        while let Some(&bearer) = stack.ues[ue.index()].bearers().get(position) {
            note(stack, env.now, bearer);
            position += 1;
        }
    }

    /// The base station of 3G has commanded the UE away: what waits there has the fate of all that comes from now on.
    pub(super) fn recall(&mut self) {
        let ue = self.0.ue;
        if let Some(cell) = self.cell() {
            self.0.moves.push(Move::Recall { ue, cell });
        }
    }

    /// The UE leaves its cell, which may be of 3G.
    pub(super) fn leave(&mut self) {
        let ue = self.0.ue;
        let Some(cell) = self.cell() else {
            return;
        };
        let stack = &mut self.0.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            Stays(&mut stack.bearers[bearer.index()]).leave_abroad();
        }
        self.0.moves.push(Move::Left { ue, cell });
    }

    /// A message that has a number sets out in 3G, where none is lost.
    pub(super) fn send(
        &mut self,
        (direction, number): (Direction, u64),
        message: Message,
        now: Time,
    ) {
        let at = now.saturating_add(takes(message));
        let event = Event::Letter(self.0.ue, direction, number);
        self.0.service.stack.events.schedule(at, event);
    }

    /// A message is there, unless the UE has left.
    pub(super) fn on_letter(
        &mut self,
        direction: Direction,
        number: u64,
        env: &mut Env<'_, impl Probe>,
    ) {
        if let Some(message) = self.0.state.letters.take(number) {
            self.0.on_message(direction, message, env);
        }
    }
}

/// Packets may have come to a bearer whose UE is in a cell of 3G: they go on.
pub(super) fn note(stack: &mut Stack, now: Time, bearer: DrbId) {
    if stack.bearers[bearer.index()].transfers().is_abroad() {
        stack.events.schedule(now, Event::Abroad(bearer));
    }
}

/// What has come to such a bearer leaves it, for a link of the caller.
pub(super) fn pass_on(stack: &mut Stack, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
    let drb = &mut stack.bearers[bearer.index()];
    if !drb.transfers().is_abroad() {
        return;
    }
    if let Some(at) = Stays(drb).pass_on(env, &mut stack.storage) {
        stack.events.schedule(at, Event::Abroad(bearer));
    }
    stack.close_books(bearer, Direction::Downlink, env);
    stack.close_books(bearer, Direction::Uplink, env);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_as_many_blocks_as_its_bits_fill() {
        assert_eq!(takes(Message::Complete), Span::from_millis(30));
        assert_eq!(takes(Message::Command(CellId(0))), Span::from_millis(130));
    }
}
