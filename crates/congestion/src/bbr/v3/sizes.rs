//! Size of the window (section 5.6.4): bandwidth-delay product, allowances for bursts and
//! aggregation, and the bounds.

use super::super::super::{AckSample, RecoveryState, Window};
use super::{BbrV3, INITIAL_WINDOW, MIN_WINDOW, State};

impl BbrV3 {
    /// Returns `segments` plus an allowance for segmentation offload at both ends. The allowance is
    /// larger when the sender probes.
    fn with_bursts(&self, segments: f64) -> f64 {
        let enough = segments
            .max(3.0 * self.pacing.send_quantum(self.mss))
            .max(MIN_WINDOW);
        if self.state == State::Up {
            enough + 2.0
        } else {
            enough
        }
    }

    /// Returns the target number of segments in flight: `gain` bandwidth-delay products of
    /// `bandwidth`, plus an allowance for bursts.
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_bursts(self.model.product(bandwidth, gain))
    }

    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => self.constants.up_cwnd_gain,
            State::ProbeRtt => self.constants.probe_rtt_gain,
            _ => self.constants.cwnd_gain,
        }
    }

    /// Returns the draft's max_inflight: the bandwidth-delay product plus allowances for
    /// aggregation and bursts.
    pub(super) fn max_inflight(&self) -> f64 {
        let product = self.model.product(self.model.bandwidth(), self.cwnd_gain());
        self.with_bursts(product + self.model.extra.max())
    }

    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.model
            .product(self.model.bandwidth(), self.constants.probe_rtt_gain)
            .max(MIN_WINDOW)
    }

    pub(super) fn set_window(&mut self, window: &mut Window, ack: &AckSample) {
        let before = std::mem::replace(&mut self.recovery, ack.state);
        if is_repair(before) && !is_repair(ack.state) {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        let acked = f64::from(ack.delivered_now);
        let most = self.max_inflight();
        if self.is_pipe_full {
            window.cwnd = (window.cwnd + acked).min(most);
        } else if window.cwnd < most || (ack.delivered as f64) < INITIAL_WINDOW {
            window.cwnd += acked;
        }
        window.cwnd = window.cwnd.max(MIN_WINDOW);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.model.bounds.long_inflight,
            State::Cruise | State::ProbeRtt => {
                self.model.bounds.with_headroom(self.constants.headroom)
            }
            State::Startup | State::Drain => f64::INFINITY,
        };
        window.cwnd = window
            .cwnd
            .min(bound.min(self.model.bounds.short_inflight).max(MIN_WINDOW));
    }

    /// Saves the window, which the end of recovery or of PROBE_RTT restores.
    pub(super) fn save_window(&mut self, cwnd: f64) {
        self.prior_cwnd = if !is_repair(self.recovery) && self.state != State::ProbeRtt {
            cwnd
        } else {
            self.prior_cwnd.max(cwnd)
        };
    }
}

fn is_repair(state: RecoveryState) -> bool {
    matches!(state, RecoveryState::Recovery | RecoveryState::Loss)
}
