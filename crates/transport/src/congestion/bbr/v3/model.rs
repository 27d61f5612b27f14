//! The model: bandwidth, its short-term and long-term bounds, and what losses teach
//! (sections 5.5.7 to 5.5.10).

use super::super::super::{AckSample, Window};
use super::{BbrV3, State};

/// Bounds that loss sets; infinite when there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// bw_shortterm, in segments per second.
    pub(super) short_bandwidth: f64,
    /// inflight_shortterm, in segments.
    pub(super) short_inflight: f64,
    /// inflight_longterm, in segments.
    pub(super) long_inflight: f64,
}

impl Bounds {
    pub(super) const NONE: Bounds = Bounds {
        short_bandwidth: f64::INFINITY,
        short_inflight: f64::INFINITY,
        long_inflight: f64::INFINITY,
    };

    pub(super) fn lift_short_term(&mut self) {
        self.short_bandwidth = f64::INFINITY;
        self.short_inflight = f64::INFINITY;
    }

    pub(super) fn restore(&mut self, saved: &Bounds) {
        self.short_bandwidth = self.short_bandwidth.max(saved.short_bandwidth);
        self.short_inflight = self.short_inflight.max(saved.short_inflight);
        self.long_inflight = self.long_inflight.max(saved.long_inflight);
    }
}

/// What the present loss round has seen.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signals {
    pub(super) latest_bandwidth: f64,
    pub(super) latest_inflight: f64,
    pub(super) is_round_start: bool,
    pub(super) has_loss: bool,
    /// ACKs of this round that reported a loss.
    pub(super) loss_events: u32,
    /// Round in which fast recovery began.
    pub(super) recovery_round: u64,
    round_delivered: u64,
}

impl Signals {
    fn on_ack(&mut self, ack: &AckSample, rate: f64) {
        self.is_round_start = false;
        self.latest_bandwidth = self.latest_bandwidth.max(rate);
        self.latest_inflight = self.latest_inflight.max(ack.rate.delivered as f64);
        if ack.rate.prior_delivered >= self.round_delivered {
            self.round_delivered = ack.delivered;
            self.is_round_start = true;
        }
    }

    /// The next round begins with this ACK's sample.
    pub(super) fn advance(&mut self, ack: &AckSample) {
        if self.is_round_start {
            self.latest_bandwidth = ack.rate.segments_per_sec().unwrap_or(0.0);
            self.latest_inflight = ack.rate.delivered as f64;
            self.loss_events = 0;
        }
    }

    pub(super) fn reset(&mut self) {
        self.has_loss = false;
        self.latest_bandwidth = 0.0;
        self.latest_inflight = 0.0;
    }
}

impl BbrV3 {
    /// The bandwidth to send at: the largest, within the short-term bound.
    pub(super) fn bandwidth(&self) -> f64 {
        self.max_bandwidth.max().min(self.bounds.short_bandwidth)
    }

    pub(super) fn is_limited(&self, ack: &AckSample) -> bool {
        ack.rate.is_app_limited || ack.rate.prior_delivered < self.limited_until
    }

    pub(super) fn update_signals(&mut self, window: &Window, ack: &AckSample) {
        self.round.on_ack(ack);
        if self.round.is_start {
            self.probe.rounds_since += 1;
        }
        let Some(rate) = ack.rate.segments_per_sec() else {
            self.signals.is_round_start = false;
            return;
        };
        self.signals.on_ack(ack, rate);
        if rate > 0.0 && (rate >= self.max_bandwidth.max() || !self.is_limited(ack)) {
            self.max_bandwidth.update(self.cycles, rate);
        }
        if self.signals.is_round_start {
            // Probing for bandwidth provokes losses; they set the long-term bound instead.
            let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
            if self.signals.has_loss && !is_probing {
                self.lower_short_term(window.cwnd);
            }
            self.signals.has_loss = false;
        }
    }

    pub(super) fn lower_short_term(&mut self, cwnd: f64) {
        let beta = self.constants.beta;
        let (bandwidth, inflight) = (self.bounds.short_bandwidth, self.bounds.short_inflight);
        let bandwidth = if bandwidth.is_finite() {
            bandwidth
        } else {
            self.max_bandwidth.max()
        };
        let inflight = if inflight.is_finite() { inflight } else { cwnd };
        self.bounds.short_bandwidth = self.signals.latest_bandwidth.max(beta * bandwidth);
        self.bounds.short_inflight = self.signals.latest_inflight.max(beta * inflight);
    }

    /// Segments were lost: remember it for the round and judge the probe.
    pub(super) fn on_loss(&mut self, window: &Window, ack: &AckSample) {
        if !self.signals.has_loss {
            self.signals.has_loss = true;
            self.signals.round_delivered = ack.delivered;
            self.save_bounds();
        }
        self.signals.loss_events += 1;
        if self.probe.is_sampling && self.is_loss_too_high(ack) {
            let inflight = inflight_at_loss(
                self.constants.loss_threshold,
                f64::from(ack.rate.tx_in_flight),
                f64::from(ack.rate.lost),
                f64::from(ack.lost_now.min(ack.rate.lost).min(ack.rate.tx_in_flight)),
            );
            self.on_probe_too_high(window, ack, inflight);
        }
    }

    pub(super) fn is_loss_too_high(&self, ack: &AckSample) -> bool {
        f64::from(ack.rate.lost) > self.constants.loss_threshold * f64::from(ack.rate.tx_in_flight)
    }

    /// The loss rate passed the threshold with `inflight` segments out (section 5.5.10.2).
    pub(super) fn on_probe_too_high(&mut self, window: &Window, ack: &AckSample, inflight: f64) {
        self.probe.was_too_high = true;
        self.probe.is_sampling = false;
        if !self.is_limited(ack) {
            let target = self.constants.beta * self.target_inflight(window);
            self.bounds.long_inflight = inflight.max(target);
        }
        if self.state == State::Up {
            self.saved_state = Some(State::Up);
            self.start_down(ack.now, ack.delivered);
        }
    }

    pub(super) fn save_bounds(&mut self) {
        self.saved = self.bounds;
        self.saved_state = None;
    }
}

/// Data in flight when the loss rate passed `threshold`: all but the last `size` lost segments of
/// `tx`, and as many of those as keep to the threshold.
pub(super) fn inflight_at_loss(threshold: f64, tx: f64, lost: f64, size: f64) -> f64 {
    let (before, lost_before) = (tx - size, lost - size);
    before + (threshold * before - lost_before) / (1.0 - threshold)
}
