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
            }
        }
    }

    fn reestablish<M: Motion, P: Probe>(&mut self, bearer: BearerId, env: &mut Env<'_, M, P>) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mut unconfirmed = std::mem::take(&mut self.scratch.unconfirmed);
            let end = self.bearers[bearer.index()].sender(direction);
            end.tx.reestablish(&mut end.rlc, &mut unconfirmed);
            for sdu in unconfirmed.drain(..) {
                if end.ledger.leave(sdu.serial) {
                    self.scratch.lost.push(sdu.packet);
                }
            }
            self.scratch.unconfirmed = unconfirmed;
            self.drop_lost(bearer, direction, RadioDropCause::LinkFailure, env);
        }
    }
}
