//! STARTUP and DRAIN (sections 5.3.1 and 5.3.2).

use super::super::super::{AckSample, RecoveryState};
use super::{BbrV3, State};
use fadeout_core::Time;

const FULL_THRESHOLD: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Losses in a round from which STARTUP has filled the pipe.
const FULL_LOSSES: u32 = 6;
/// DRAIN ends after this many rounds at the latest.
const DRAIN_ROUNDS: u64 = 3;

impl BbrV3 {
    /// Three rounds without a quarter more bandwidth: a plateau.
    pub(super) fn check_plateau(&mut self, ack: &AckSample) {
        if self.is_full_now || !self.round.is_start || self.is_limited(ack) {
            return;
        }
        let Some(rate) = ack.rate.segments_per_sec() else {
            return;
        };
        if rate >= self.full_bandwidth * FULL_THRESHOLD {
            self.reset_plateau(rate);
            return;
        }
        self.full_rounds += 1;
        self.is_full_now = self.full_rounds >= FULL_ROUNDS;
        self.is_pipe_full |= self.is_full_now;
    }

    /// Looks for a new plateau above `bandwidth`.
    pub(super) fn reset_plateau(&mut self, bandwidth: f64) {
        self.full_bandwidth = bandwidth;
        self.full_rounds = 0;
        self.is_full_now = false;
    }

    pub(super) fn check_startup(&mut self, ack: &AckSample) {
        self.check_startup_loss(ack);
        if self.state == State::Startup && self.is_pipe_full {
            self.state = State::Drain;
            self.drain_start_round = self.round.count;
        }
    }

    /// A full round of fast recovery with a high loss rate ends STARTUP too.
    fn check_startup_loss(&mut self, ack: &AckSample) {
        if self.is_pipe_full || !self.signals.is_round_start {
            return;
        }
        let has_recovered_a_round =
            ack.state == RecoveryState::Recovery && self.round.count > self.signals.recovery_round;
        if has_recovered_a_round
            && self.signals.loss_events >= FULL_LOSSES
            && self.is_loss_too_high(ack)
        {
            self.is_pipe_full = true;
            let product = self.product(self.max_bandwidth.max(), 1.0);
            self.bounds.long_inflight = product.max(self.signals.latest_inflight);
            self.saved_state = Some(State::Startup);
        }
    }

    pub(super) fn check_drain(&mut self, ack: &AckSample) {
        if self.state != State::Drain {
            return;
        }
        let is_drained = f64::from(ack.in_flight) <= self.inflight(self.bandwidth(), 1.0);
        if is_drained || self.round.count > self.drain_start_round + DRAIN_ROUNDS {
            self.start_down(ack.now, ack.delivered);
        }
    }

    pub(super) fn start_startup(&mut self) {
        self.state = State::Startup;
    }

    /// PROBE_BW begins going down; `delivered` is the connection's count.
    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.signals.reset();
        self.probe.start_down(now, &mut self.random);
        self.round.restart(delivered);
        self.state = State::Down;
    }
}
