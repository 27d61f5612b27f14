//! A bearer whose UE is in a cell of 3G: what comes to either end leaves at once, in order, for a link of the caller.

use super::transfer::{Gap, Transfers};
use super::{Drb, Storage};
use crate::config::Env;
use fadeout_core::{Direction, Probe, Time};

/// Where the UE of a bearer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stay {
    /// In a cell that carries the bearer, or on its way from one.
    #[default]
    Home,
    /// In one of 3G.
    Abroad,
    /// On its way from there: PDCP's numbers mean nothing to the other end.
    Returning,
}

impl Transfers {
    /// Whether the UE is in a cell of 3G.
    #[inline]
    pub(crate) fn is_abroad(&self) -> bool {
        let transfer = self.0.as_ref();
        transfer.is_some_and(|transfer| transfer.stay == Stay::Abroad)
    }

    /// The times without packets as they stand, to be [restored](Self::restore_gaps).
    fn gaps(&self) -> [Gap; 2] {
        self.0.as_ref().map_or_else(Default::default, |it| it.gaps)
    }

    fn restore_gaps(&mut self, gaps: [Gap; 2]) {
        if let Some(transfer) = &mut self.0 {
            transfer.gaps = gaps;
        }
    }
}

/// A bearer whose UE goes to 3G, is there, or comes from there.
pub(crate) struct Stays<'a>(pub &'a mut Drb);

impl Stays<'_> {
    fn stay(&mut self, stay: Stay) {
        if let Some(transfer) = &mut self.0.transfer.0 {
            transfer.stay = stay;
        }
    }

    /// The UE, which has left its cell, goes to one of 3G: both ends set up RLC and PDCP anew. What it held behind a gap
    /// is no end of the time without packets.
    pub(crate) fn set_out(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        let before = self.0.transfer.gaps();
        self.0.travel().set_up_again(env, storage);
        self.0.transfer.restore_gaps(before);
    }

    /// The UE is in a cell of 3G.
    pub(crate) fn go_abroad(&mut self) {
        self.stay(Stay::Abroad);
    }

    /// It has left that.
    pub(crate) fn leave_abroad(&mut self) {
        self.stay(Stay::Returning);
    }

    /// It is in a cell that carries the bearer: if it comes from 3G, both ends set up RLC and PDCP anew.
    pub(crate) fn come_home(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        let transfer = self.0.transfer.0.as_ref();
        if transfer.is_some_and(|transfer| transfer.stay == Stay::Returning) {
            self.0.travel().set_up_again(env, storage);
            self.stay(Stay::Home);
        }
    }

    /// Packets leave in order, those of the downlink that the base station is ready with. When it is ready with the next.
    pub(crate) fn pass_on(
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
            self.0.hand_over(direction, env, storage);
        }
        self.0.inlet.front().map(|&(at, _)| at)
    }
}
