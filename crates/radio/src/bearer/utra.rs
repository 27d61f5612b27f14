//! Bearer of a UE in a cell of 3G. Packets that arrive at either end leave the bearer at once and
//! in order. A link of the caller carries them on.

use super::transfer::{Gap, Transfers};
use super::{Drb, Storage};
use crate::config::Env;
use fadeout_core::{Direction, Probe, Time};

/// State of a bearer with regard to 3G.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum UtraState {
    /// The UE is in a cell that carries the bearer, or on its way between two such cells.
    #[default]
    Outside,
    /// The UE is in a cell of 3G.
    Inside,
    /// The UE is leaving 3G for a cell that carries the bearer. The PDCP numbers of one end mean
    /// nothing to the other end.
    Leaving,
}

impl Transfers {
    /// Returns true if the UE is in a cell of 3G.
    #[inline]
    pub(crate) fn is_in_utra(&self) -> bool {
        let transfer = self.0.as_ref();
        transfer.is_some_and(|transfer| transfer.utra == UtraState::Inside)
    }

    /// Returns the interruption times by direction as measured so far, for [`Self::restore_gaps`].
    fn gaps(&self) -> [Gap; 2] {
        self.0.as_ref().map_or_else(Default::default, |it| it.gaps)
    }

    fn restore_gaps(&mut self, gaps: [Gap; 2]) {
        if let Some(transfer) = &mut self.0 {
            transfer.gaps = gaps;
        }
    }
}

/// Operations on a bearer whose UE goes to 3G, is there, or comes back.
pub(crate) struct UtraBearer<'a>(pub &'a mut Drb);

impl UtraBearer<'_> {
    fn set_state(&mut self, state: UtraState) {
        if let Some(transfer) = &mut self.0.transfer.0 {
            transfer.utra = state;
        }
    }

    /// Handles the UE's departure for a cell of 3G, after it left its own cell. Both ends set up
    /// RLC and PDCP anew. Packets that PDCP held behind a gap are delivered now. Their delivery
    /// does not end the measured interruption.
    pub(crate) fn leave_for_utra(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        let before = self.0.transfer.gaps();
        self.0.mobile().set_up_again(env, storage);
        self.0.transfer.restore_gaps(before);
    }

    /// Records that the UE is in a cell of 3G.
    pub(crate) fn on_utra_entered(&mut self) {
        self.set_state(UtraState::Inside);
    }

    /// Records that the UE has left the cell of 3G.
    pub(crate) fn on_utra_left(&mut self) {
        self.set_state(UtraState::Leaving);
    }

    /// Handles the UE's arrival in a cell that carries the bearer. If the UE comes from 3G, both
    /// ends set up RLC and PDCP anew.
    pub(crate) fn return_from_utra(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let transfer = self.0.transfer.0.as_ref();
        if transfer.is_some_and(|transfer| transfer.utra == UtraState::Leaving) {
            self.0.mobile().set_up_again(env, storage);
            self.set_state(UtraState::Outside);
        }
    }

    /// Takes the waiting packets out of the bearer in order. Downlink packets that the base station
    /// is still processing stay. Returns the time at which the base station has processed the next
    /// one. `None` if it processes none.
    pub(crate) fn take_waiting(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> Option<Time> {
        self.0.drain_inlet(env, storage);
        for direction in [Direction::Downlink, Direction::Uplink] {
            let end = self.0.legs.primary.sender(direction);
            end.catch_up(env.now);
            while let Some(sdu) = end.rlc.take_head(env.now) {
                storage.ordered.push(sdu);
            }
            self.0.deliver_in_order(direction, env, storage);
        }
        self.0.inlet.front().map(|&(at, _)| at)
    }
}
