//! STARTUP and DRAIN (sections 5.3.1 and 5.3.2).

use super::super::super::{AckSample, RecoveryState};
use super::{BbrV3, State};
use fadeout_core::Time;

/// Number of ACKs with losses in a round from which STARTUP ends.
const FULL_LOSSES: u32 = 6;
/// Maximum number of rounds that DRAIN lasts.
const DRAIN_ROUNDS: u64 = 3;

impl BbrV3 {
    /// Ends STARTUP after three rounds in which the bandwidth grew by less than a quarter.
    pub(super) fn check_plateau(&mut self, ack: &AckSample) {
        let is_checked = self.model.round.is_start && !self.model.is_limited(ack);
        if self.plateau.is_reached() || !is_checked {
            return;
        }
        if let Some(rate) = ack.rate.segments_per_sec() {
            self.plateau.on_round(rate);
            self.is_pipe_full |= self.plateau.is_reached();
        }
    }

    pub(super) fn check_startup(&mut self, ack: &AckSample) {
        self.check_startup_loss(ack);
        if self.state == State::Startup && self.is_pipe_full {
            self.state = State::Drain;
            self.drain_start_round = self.model.round.count;
        }
    }

    /// Ends STARTUP after a full round of fast recovery with a high loss rate.
    fn check_startup_loss(&mut self, ack: &AckSample) {
        if self.is_pipe_full || !self.model.signals.is_round_start {
            return;
        }
        let has_recovered_a_round = ack.state == RecoveryState::Recovery
            && self.model.round.count > self.model.signals.recovery_round;
        if has_recovered_a_round
            && self.model.signals.loss_events >= FULL_LOSSES
            && self.is_loss_too_high(ack)
        {
            self.is_pipe_full = true;
            let product = self.model.product(self.model.max_bandwidth.max(), 1.0);
            self.model.bounds.long_inflight = product.max(self.model.signals.latest_inflight);
            self.saved_state = Some(State::Startup);
        }
    }

    pub(super) fn check_drain(&mut self, ack: &AckSample) {
        if self.state != State::Drain {
            return;
        }
        let is_drained = f64::from(ack.in_flight) <= self.inflight(self.model.bandwidth(), 1.0);
        if is_drained || self.model.round.count > self.drain_start_round + DRAIN_ROUNDS {
            self.start_down(ack.now, ack.delivered);
        }
    }

    /// Starts PROBE_BW in its state DOWN. `delivered` is the connection's delivered count.
    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.model.signals.reset();
        self.probe.start_down(now, &mut self.random);
        self.model.round.restart(delivered);
        self.state = State::Down;
    }
}
