//! Bearer of a UE in a cell of 3G. Packets that arrive at either end leave the bearer at once and
//! in order. The caller sends the packets over a link.

use super::transfer::{Gap, Transfers};
use super::{Drb, Storage};
use crate::config::Env;
use fadeout_core::{Direction, Probe, Time};

/// State of a bearer while its UE can use 3G.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum UtraState {
    /// The UE is in an LTE or NR cell, or on its way between two such cells.
    #[default]
    Outside,
    /// The UE is in a cell of 3G.
    Inside,
    /// The UE is leaving 3G for an LTE or NR cell. The two ends of the bearer have unrelated COUNT
    /// values.
    Leaving,
}

impl Transfers {
    /// Returns true if the UE is in a cell of 3G.
    #[inline]
    pub(crate) fn is_in_utra(&self) -> bool {
        let transfer = self.0.as_ref();
        transfer.is_some_and(|transfer| transfer.utra == UtraState::Inside)
    }

    /// Returns the current interruptions by direction, for [`Self::restore_gaps`].
    fn gaps(&self) -> [Gap; 2] {
        self.0.as_ref().map_or_else(Default::default, |it| it.gaps)
    }

    fn restore_gaps(&mut self, gaps: [Gap; 2]) {
        if let Some(transfer) = &mut self.0 {
            transfer.gaps = gaps;
        }
    }
}

/// Operations on a bearer while its UE goes to 3G, is in 3G, or comes back.
pub(crate) struct UtraBearer<'a>(pub &'a mut Drb);

impl UtraBearer<'_> {
    fn set_state(&mut self, state: UtraState) {
        if let Some(transfer) = &mut self.0.transfer.0 {
            transfer.utra = state;
        }
    }

    /// Handles the UE's departure for a cell of 3G, after the UE has left its own cell. Both ends
    /// set up RLC and PDCP anew. Packets that PDCP stored for reordering are delivered now. Their
    /// delivery does not end the measured interruption.
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

    /// Handles the UE's arrival in an LTE or NR cell. If the UE comes from 3G, both ends set up RLC
    /// and PDCP anew.
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

    /// Removes the waiting packets from the bearer in order. Downlink packets that the base station
    /// is still processing stay. Returns the time at which the base station has processed the next
    /// packet. `None` if the base station is processing no packet.
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
