//! The cycle of PROBE_BW: DOWN, CRUISE, REFILL, UP (section 5.3.3), and how UP raises the
//! long-term bound.

use super::super::super::{AckSample, Window};
use super::plateau::Plateau;
use super::{BbrV3, State};
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time};

/// Largest number of rounds between two probes, so that a competing Reno flow gets its share.
const COEXISTENCE_ROUNDS: f64 = 63.0;
const SHORTEST_WAIT: f64 = 2.0;
const LARGEST_SLOPE: u32 = 30;

/// Phase of a probe that the arriving ACKs belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of the bandwidth probe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    ack_phase: AckPhase,
    /// True if losses found now are attributed to the probe.
    pub(super) is_sampling: bool,
    pub(super) was_too_high: bool,
    /// True if UP ended without a loss, only because the previous probe had too much loss.
    was_precautionary: bool,
    pub(super) rounds_since: u32,
    wait: Span,
    cycle_at: Time,
    up_rounds: u32,
    up_acked: f64,
    acked_per_segment: f64,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            ack_phase: AckPhase::Init,
            is_sampling: false,
            was_too_high: false,
            was_precautionary: false,
            rounds_since: 0,
            wait: Span::ZERO,
            cycle_at: Time::ZERO,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_segment: f64::INFINITY,
        }
    }
}

impl Probe {
    pub(super) fn start_down(&mut self, now: Time, random: &mut Stream) {
        self.acked_per_segment = f64::INFINITY;
        self.rounds_since = random.below(2) as u32;
        self.wait = Span::from_secs_f64(SHORTEST_WAIT + random.uniform());
        self.cycle_at = now;
        self.stop();
    }

    pub(super) fn stop(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }

    /// Doubles the speed at which UP raises the long-term bound.
    pub(super) fn raise_slope(&mut self, cwnd: f64) {
        self.acked_per_segment = (cwnd / f64::from(1_u32 << self.up_rounds)).max(1.0);
        self.up_rounds = (self.up_rounds + 1).min(LARGEST_SLOPE);
    }

    #[cfg(test)]
    pub(super) fn acked_per_segment(&self) -> f64 {
        self.acked_per_segment
    }
}

impl BbrV3 {
    pub(super) fn update_probe_bw(&mut self, window: &Window, ack: &AckSample) {
        if !self.is_pipe_full {
            return;
        }
        self.adapt_long_term(window, ack);
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(window, ack.now) => {
                self.start_refill_round(ack);
            }
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(window, ack.now) => {
                self.start_refill_round(ack);
            }
            State::Refill if self.model.round.is_start => {
                self.probe.is_sampling = true;
                self.start_up(window, ack);
            }
            State::Up if self.is_time_to_go_down(window, ack) => {
                self.start_down(ack.now, ack.delivered);
            }
            _ => {}
        }
    }

    /// Adapts the long-term bound after an ACK whose loss rate is below the threshold.
    fn adapt_long_term(&mut self, window: &Window, ack: &AckSample) {
        if self.model.round.is_start {
            match self.probe.ack_phase {
                AckPhase::ProbeStarting => self.probe.ack_phase = AckPhase::ProbeFeedback,
                AckPhase::ProbeStopping => self.end_probe(ack),
                _ => {}
            }
        }
        if self.model.bounds.long_inflight.is_infinite() || self.is_loss_too_high(ack) {
            return;
        }
        let safe = f64::from(ack.rate.tx_in_flight);
        self.model.bounds.long_inflight = self.model.bounds.long_inflight.max(safe);
        if self.state == State::Up {
            self.raise_long_term(window, ack);
        }
    }

    /// Ends a probe one round after UP, when all of its ACKs have arrived.
    fn end_probe(&mut self, ack: &AckSample) {
        self.probe.is_sampling = false;
        self.probe.ack_phase = AckPhase::Init;
        if self.state.is_probe_bw() {
            if !self.model.is_limited(ack) {
                self.model.end_cycle();
            }
            if self.probe.was_precautionary && !self.probe.was_too_high {
                self.start_refill_round(ack);
            }
        }
    }

    fn raise_long_term(&mut self, window: &Window, ack: &AckSample) {
        if ack.is_cwnd_limited && window.cwnd >= self.model.bounds.long_inflight {
            self.probe.up_acked += f64::from(ack.delivered_now);
            let steps = (self.probe.up_acked / self.probe.acked_per_segment).floor();
            if steps >= 1.0 {
                self.probe.up_acked -= steps * self.probe.acked_per_segment;
                self.model.bounds.long_inflight += steps;
            }
        }
        if self.model.round.is_start {
            self.probe.raise_slope(window.cwnd);
        }
    }

    fn is_time_to_probe(&self, window: &Window, now: Time) -> bool {
        let rounds = self
            .model
            .target_inflight(window.cwnd)
            .min(COEXISTENCE_ROUNDS);
        now.since(self.probe.cycle_at) > self.probe.wait
            || f64::from(self.probe.rounds_since) >= rounds
    }

    fn is_time_to_cruise(&self, ack: &AckSample) -> bool {
        let in_flight = f64::from(ack.in_flight);
        in_flight <= self.model.bounds.with_headroom(self.constants.headroom)
            && in_flight <= self.inflight(self.model.max_bandwidth.max(), 1.0)
    }

    fn is_time_to_go_down(&mut self, window: &Window, ack: &AckSample) -> bool {
        let bound = self.model.bounds.long_inflight;
        if self.probe.was_too_high && f64::from(ack.in_flight) >= bound {
            self.probe.was_precautionary = true;
        } else if ack.is_cwnd_limited && window.cwnd >= bound {
            // The long-term bound limits the rate now. So the plateau must be found above the
            // present rate.
            self.plateau = Plateau::above(ack.rate.segments_per_sec().unwrap_or(0.0));
            return false;
        } else if !self.plateau.is_reached() {
            return false;
        }
        self.probe.was_too_high = false;
        true
    }

    fn start_refill_round(&mut self, ack: &AckSample) {
        self.model.round.restart(ack.delivered);
        self.start_refill(ack.now);
    }

    /// Enters REFILL, which fills the pipe before the probe. The short-term bounds are reset.
    pub(super) fn start_refill(&mut self, now: Time) {
        self.model.bounds.lift_short_term();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0.0;
        self.probe.was_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.probe.cycle_at = now;
        self.state = State::Refill;
    }

    fn start_up(&mut self, window: &Window, ack: &AckSample) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.model.round.restart(ack.delivered);
        self.plateau = Plateau::above(ack.rate.segments_per_sec().unwrap_or(0.0));
        self.state = State::Up;
        self.probe.raise_slope(window.cwnd);
    }
}
