//! Radio link failure: RLC has repeated something as often as it may.
//!
//! There is no RRC here. Both ends of the UE's bearers in acknowledged mode are re-established at
//! once, what they had not confirmed is lost, HARQ is emptied, and the UE is without service for
//! the time that re-establishment takes.

use super::{Env, RadioAccess};
use crate::rlc::Mode;
use fadeout_core::{BearerId, Direction, Motion, Probe, RadioDropCause, UeId};

impl RadioAccess {
    /// Handles a failure of either end of a bearer. Whether there was one.
    pub(super) fn check_failure<M: Motion, P: Probe>(
        &mut self,
        bearer: BearerId,
        env: &mut Env<'_, M, P>,
    ) -> bool {
        let state = &self.bearers[bearer.index()];
        let has_failed = state.ends.iter().any(|end| end.rlc.has_failed());
        if has_failed {
            self.on_link_failure(state.config.ue, env);
        }
        has_failed
    }

    #[cold]
    fn on_link_failure<M: Motion, P: Probe>(&mut self, ue: UeId, env: &mut Env<'_, M, P>) {
        self.counters.link_failures += 1;
        let state = &mut self.ues[ue.index()];
        let Some(id) = state.cell else { return };
        let cell = &mut self.cells[id.index()];
        state.unserved_until = env.now.saturating_add(cell.config.reestablish_after);
        state.access.reset();
        cell.grants.retain(|granted| granted.ue != ue);
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mut contents = std::mem::take(&mut self.scratch.contents);
            let half = self.ues[ue.index()].half_mut(direction);
            half.harq.clear(&mut contents);
            for content in contents.drain(..) {
                self.lose(direction, content, env);
            }
            self.scratch.contents = contents;
        }
        for index in 0..self.ues[ue.index()].bearers.len() {
            let bearer = self.ues[ue.index()].bearers[index];
            if matches!(self.bearers[bearer.index()].config.rlc.mode, Mode::Am(_)) {
                self.reestablish(bearer, env);
            } else {
                self.close_books(bearer, Direction::Downlink, env);
                self.close_books(bearer, Direction::Uplink, env);
            }
        }
        // Whatever waited for a HARQ process or a grant waits for service now.
        self.activate(env.now, ue, Direction::Downlink, 0);
        self.on_uplink_data(env.now, ue, env.probe);
    }

    /// What the receivers hold goes up, everything else is lost.
    fn reestablish<M: Motion, P: Probe>(&mut self, bearer: BearerId, env: &mut Env<'_, M, P>) {
        let mut unconfirmed = std::mem::take(&mut self.scratch.unconfirmed);
        for direction in [Direction::Downlink, Direction::Uplink] {
            let end = self.bearers[bearer.index()].sender(direction);
            end.catch_up(env.now);
            end.tx.reestablish(&mut end.rlc, &mut unconfirmed);
        }
        // The ledgers know all of them, and those that only a receiver knew of.
        unconfirmed.clear();
        self.scratch.unconfirmed = unconfirmed;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let receiver = self.bearers[bearer.index()].receiver(direction);
            receiver.rx.flush(&mut self.scratch.ordered);
            self.hand_over(bearer, direction, env);
            let sender = self.bearers[bearer.index()].sender(direction);
            sender.ledger.pass_all(&mut self.scratch.lost);
            self.drop_lost(bearer, direction, RadioDropCause::LinkFailure, env);
        }
    }
}
