//! The window (section 5.6.4): products, allowances for bursts and aggregation, and the bounds.

use super::super::super::{AckSample, RecoveryState, Window};
use super::{BbrV3, INITIAL_WINDOW, MIN_WINDOW, State};

const QUANTUM_SECS: f64 = 1e-3;
const QUANTUM_BYTES: f64 = 65_536.0;
const USEC: f64 = 1e6;

impl BbrV3 {
    /// Bandwidth-delay product times `gain`.
    pub(super) fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt {
            None => INITIAL_WINDOW,
            Some(rtt) => bandwidth * rtt.as_micros() as f64 / USEC * gain,
        }
    }

    /// Segments handed down at once.
    pub(super) fn send_quantum(&self) -> f64 {
        let most = (QUANTUM_BYTES / self.mss).max(2.0);
        (self.pacing_rate * QUANTUM_SECS / self.mss).clamp(2.0, most)
    }

    /// Room for offloading at both ends, and more when probing.
    fn with_bursts(&self, segments: f64) -> f64 {
        let enough = segments.max(3.0 * self.send_quantum()).max(MIN_WINDOW);
        if self.state == State::Up {
            enough + 2.0
        } else {
            enough
        }
    }

    /// Segments in flight that `gain` products of `bandwidth` ask for.
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_bursts(self.product(bandwidth, gain))
    }

    /// What the model would keep in flight, by window and product.
    pub(super) fn target_inflight(&self, window: &Window) -> f64 {
        self.product(self.bandwidth(), 1.0).min(window.cwnd)
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => self.constants.up_cwnd_gain,
            State::ProbeRtt => self.constants.probe_rtt_gain,
            _ => self.constants.cwnd_gain,
        }
    }

    /// max_inflight: product, aggregation and bursts.
    pub(super) fn max_inflight(&self) -> f64 {
        let product = self.product(self.bandwidth(), self.cwnd_gain());
        self.with_bursts(product + self.extra.max())
    }

    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.product(self.bandwidth(), self.constants.probe_rtt_gain)
            .max(MIN_WINDOW)
    }

    /// ACKs that come in bursts: how much more than the bandwidth explains (section 5.5.9).
    pub(super) fn update_extra_acked(&mut self, window: &Window, ack: &AckSample) {
        let elapsed = ack.now.since(self.extra_since).as_secs_f64();
        let mut expected = self.bandwidth() * elapsed;
        if self.extra_delivered <= expected {
            self.extra_delivered = 0.0;
            self.extra_since = ack.now;
            expected = 0.0;
        }
        self.extra_delivered += f64::from(ack.delivered_now);
        let extra = (self.extra_delivered - expected).min(window.cwnd);
        self.extra.update(self.round.count, extra);
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
            State::Down | State::Refill | State::Up => self.bounds.long_inflight,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        window.cwnd = window
            .cwnd
            .min(bound.min(self.bounds.short_inflight).max(MIN_WINDOW));
    }

    /// Keeps the window for the end of recovery or of PROBE_RTT.
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
