//! Observations and decisions by the caller of a simulation.

use super::RadioAccess;
use super::plane::event::Event;
use crate::bearer::leg_numbered;
use crate::config::{Env, LEG_NUMBERS};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::{BearerRow, CellId, Direction, DrbId, PacketPool, Probe, Time, UeId};

/// Result of a request to hand a UE over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoverRequest {
    /// The serving cell prepares the handover.
    Begun,
    /// The UE is in the target already, or a change of its cell is under way. Nothing happens.
    Ignored,
    /// The UE is not connected, so that no message reaches it.
    NotConnected,
    /// The UE does not measure the target, or there is no mobility management.
    NotMeasured,
}

impl RadioAccess {
    /// Makes the serving cell of `ue` prepare a handover to `target`, as after a measurement report
    /// for which the policy chose this cell. The caller must then carry out the pending
    /// [`Move`](super::Move)s.
    pub fn hand_over(
        &mut self,
        now: Time,
        (ue, target): (UeId, CellId),
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) -> HandoverRequest {
        let env = &mut Env {
            now,
            pool,
            out: &mut Vec::new(),
            probe,
        };
        self.service.stack.events.advance(now);
        let mut request = HandoverRequest::NotMeasured;
        self.with_managed(ue, |managed| {
            if managed.cells.binary_search(&target).is_err() {
                return;
            }
            let serving = managed.service.stack.serving_cell(ue);
            request = if serving == Some(target) || managed.is_busy() {
                HandoverRequest::Ignored
            } else if serving.is_none() || !managed.state.is_connected() {
                HandoverRequest::NotConnected
            } else {
                managed.prepare_handover(target, env);
                HandoverRequest::Begun
            };
        });
        request
    }

    /// Multiplies the rate of a UE by `weight` before the schedulers of all cells compare it with
    /// other UEs' rates. Returns false if no scheduler compares rates.
    pub fn set_weight(&mut self, ue: UeId, weight: f64) -> bool {
        let mut is_used = false;
        for cell in &mut self.service.cells {
            is_used |= cell.set_weight(ue, weight);
        }
        is_used
    }

    /// Changes a threshold of the RLC buffer's queue management, in a direction of a bearer.
    ///
    /// # Errors
    /// Returns an error if the algorithm does not have the threshold, or if the value is out of its
    /// range. Nothing has changed then.
    pub fn set_threshold(
        &mut self,
        now: Time,
        bearer: DrbId,
        direction: Direction,
        threshold: Threshold,
    ) -> Result<(), ThresholdError> {
        self.service.stack.on_bearer_changed(bearer);
        let bearer = &mut self.service.stack.bearers[bearer.index()];
        bearer.set_threshold(now, direction, threshold)
    }

    /// Schedules a change of a bearer's PDCP duplication at `at`. PDCP then sends copies over the
    /// primary path and over the legs to `cells`. A cell without a leg of the bearer is ignored.
    pub fn duplicate_over(&mut self, bearer: DrbId, at: Time, cells: &[CellId]) {
        let stack = &mut self.service.stack;
        let drb = &stack.bearers[bearer.index()];
        let is_there = |number: u8| {
            let leg = leg_numbered(drb, number);
            leg.is_some_and(|leg| cells.contains(&stack.legs[leg.index()].config.cell))
        };
        let legs = (0..LEG_NUMBERS as u8).filter(|&number| is_there(number));
        let legs = legs.fold(0, |legs, number| legs | 1 << number);
        stack.events.schedule(at, Event::Duplication(bearer, legs));
    }

    /// Returns a row of the data that waits in a direction of a bearer.
    pub fn backlog_row(&self, now: Time, bearer: DrbId, direction: Direction) -> BearerRow {
        self.service.stack.bearers[bearer.index()].backlog_row(now, direction)
    }
}
