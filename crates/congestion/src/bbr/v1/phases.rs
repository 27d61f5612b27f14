//! STARTUP, DRAIN and the gain cycle of PROBE_BW.

use super::super::super::{AckSample, Window};
use super::{BbrV1, DRAIN_GAIN, HIGH_GAIN, Mode};
use fadeout_core::Time;

/// Pacing gains of PROBE_BW, one for each of its eight phases.
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Growth factor of the bandwidth in a round. STARTUP counts a round with less growth towards a
/// full pipe.
const FULL_THRESHOLD: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

impl BbrV1 {
    /// Marks the pipe as full after three rounds in which the bandwidth grew by less than a
    /// quarter.
    pub(super) fn check_full_pipe(&mut self, ack: &AckSample) {
        if self.is_pipe_full || !self.round.is_start || self.is_limited(ack) {
            return;
        }
        if self.bandwidth.max() >= self.full_bandwidth * FULL_THRESHOLD {
            self.full_bandwidth = self.bandwidth.max();
            self.full_bandwidth_rounds = 0;
        } else {
            self.full_bandwidth_rounds += 1;
            self.is_pipe_full = self.full_bandwidth_rounds >= FULL_ROUNDS;
        }
    }

    /// Moves from STARTUP to DRAIN once the pipe is full, and from DRAIN to PROBE_BW once the queue
    /// is empty.
    pub(super) fn check_drain(&mut self, window: &mut Window, ack: &AckSample) {
        if self.mode == Mode::Startup && self.is_pipe_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(self.bandwidth.max(), 1.0);
        }
        if self.mode == Mode::Drain
            && self.in_network_at_departure(ack, ack.in_flight)
                <= self.inflight(self.bandwidth.max(), 1.0)
        {
            self.start_probe_bw(ack.now);
        }
    }

    /// Starts PROBE_BW in a random phase other than the draining phase, so that flows do not probe
    /// in step.
    pub(super) fn start_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.random.below(7) as usize;
        self.advance_cycle(now);
    }

    fn advance_cycle(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = now;
    }

    pub(super) fn update_cycle(&mut self, ack: &AckSample) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(ack) {
            self.advance_cycle(ack.now);
        }
    }

    fn is_phase_over(&self, ack: &AckSample) -> bool {
        let is_full_length = self
            .min_rtt
            .is_some_and(|rtt| ack.now.since(self.cycle_at) > rtt);
        let bandwidth = self.bandwidth.max();
        let in_flight = self.in_network_at_departure(ack, ack.prior_in_flight);
        if self.pacing_gain > 1.0 {
            // Probing continues until the extra data is in flight or a segment is lost.
            let has_probed = in_flight >= self.inflight(bandwidth, self.pacing_gain);
            is_full_length && (ack.lost_now > 0 || has_probed)
        } else if self.pacing_gain < 1.0 {
            is_full_length || in_flight <= self.inflight(bandwidth, 1.0)
        } else {
            is_full_length
        }
    }

    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rate().is_some() => (1.0, self.cwnd_gain_probe),
            Mode::ProbeBw => (CYCLE[self.cycle], self.cwnd_gain_probe),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }
}
