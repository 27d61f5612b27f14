//! Path model: bandwidth, its short-term and long-term bounds, and the effect of losses (sections
//! 5.5.7 to 5.5.10).

use super::super::super::AckSample;
use super::extra_acked::ExtraAcked;
use super::min_rtt::MinRttFilter;
use super::{INITIAL_WINDOW, MIN_WINDOW, MaxFilter, RoundCounter, USEC};
use fadeout_core::{Span, Time};

/// Bounds that losses set. A bound is infinite before its first loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// Short-term bound of the bandwidth (bw_shortterm), in segments per second.
    pub(super) short_bandwidth: f64,
    /// Short-term bound of the data in flight (inflight_shortterm), in segments.
    pub(super) short_inflight: f64,
    /// Long-term bound of the data in flight (inflight_longterm), in segments.
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

    /// Returns the long-term bound, reduced by the share `headroom` that is left for other flows.
    pub(super) fn with_headroom(&self, headroom: f64) -> f64 {
        let bound = self.long_inflight;
        if bound.is_infinite() {
            return bound;
        }
        (bound - (headroom * bound).max(1.0)).max(MIN_WINDOW)
    }
}

/// Loss and delivery signals of the present loss round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signals {
    pub(super) latest_bandwidth: f64,
    pub(super) latest_inflight: f64,
    pub(super) is_round_start: bool,
    pub(super) has_loss: bool,
    /// Number of ACKs of the present round that reported a loss.
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

    /// Begins the next loss round with the sample of this ACK.
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

/// Model of the path: its bandwidth, its round-trip time, and the bounds that its losses set.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) round: RoundCounter,
    /// Largest delivery rate of the present and the last PROBE_BW cycle.
    pub(super) max_bandwidth: MaxFilter,
    cycles: u64,
    pub(super) signals: Signals,
    pub(super) bounds: Bounds,
    /// Bounds before the last loss, restored if the loss was spurious.
    saved: Bounds,
    pub(super) min_rtt: MinRttFilter,
    pub(super) extra: ExtraAcked,
    /// Delivered count up to which delivery-rate samples are limited by the application.
    pub(super) limited_until: u64,
}

impl Model {
    pub(super) fn new() -> Model {
        Model {
            round: RoundCounter::default(),
            max_bandwidth: MaxFilter::new(1),
            cycles: 0,
            signals: Signals::default(),
            bounds: Bounds::NONE,
            saved: Bounds::NONE,
            min_rtt: MinRttFilter::default(),
            extra: ExtraAcked::new(),
            limited_until: 0,
        }
    }

    /// Initialises the model when the connection starts. `rtt` is the round-trip time of the
    /// handshake. `None` if it was not measured.
    pub(super) fn start(&mut self, now: Time, rtt: Option<Span>) {
        self.min_rtt = MinRttFilter::new(rtt, now);
        self.extra.restart(now);
    }

    /// Asserts the relations that hold after each ACK.
    pub(super) fn assert_invariants(&self) {
        let bandwidth = self.bandwidth();
        debug_assert!(
            bandwidth >= 0.0 && bandwidth.is_finite(),
            "a bandwidth of {bandwidth} segments per second"
        );
        let Bounds {
            short_bandwidth,
            short_inflight,
            long_inflight,
        } = self.bounds;
        debug_assert!(
            short_bandwidth >= 0.0,
            "a short-term bound of {short_bandwidth} segments per second"
        );
        debug_assert!(
            short_inflight >= 0.0 && long_inflight > 0.0,
            "bounds of {short_inflight} and {long_inflight} segments in flight"
        );
    }

    /// Returns the bandwidth to send at: the largest measured bandwidth, limited by the short-term
    /// bound.
    pub(super) fn bandwidth(&self) -> f64 {
        self.max_bandwidth.max().min(self.bounds.short_bandwidth)
    }

    /// Returns the bandwidth-delay product times `gain`, in segments.
    pub(super) fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt.get() {
            None => INITIAL_WINDOW,
            Some(rtt) => bandwidth * rtt.as_micros() as f64 / USEC * gain,
        }
    }

    /// Returns the target amount of data in flight, the smaller of the bandwidth-delay product and
    /// the window.
    pub(super) fn target_inflight(&self, cwnd: f64) -> f64 {
        self.product(self.bandwidth(), 1.0).min(cwnd)
    }

    pub(super) fn is_limited(&self, ack: &AckSample) -> bool {
        ack.rate.is_app_limited || ack.rate.prior_delivered < self.limited_until
    }

    /// Processes the rate of an ACK. Returns true at the end of a loss round, when the caller may
    /// call [`Model::lower_short_term`].
    pub(super) fn on_ack(&mut self, ack: &AckSample) -> bool {
        self.round.on_ack(ack);
        let Some(rate) = ack.rate.segments_per_sec() else {
            self.signals.is_round_start = false;
            return false;
        };
        self.signals.on_ack(ack, rate);
        if rate > 0.0 && (rate >= self.max_bandwidth.max() || !self.is_limited(ack)) {
            self.max_bandwidth.update(self.cycles, rate);
        }
        self.signals.is_round_start && std::mem::take(&mut self.signals.has_loss)
    }

    /// Multiplies the short-term bounds by `beta` after a round with a loss. The bounds stay at or
    /// above the bandwidth and the data that the round delivered.
    pub(super) fn lower_short_term(&mut self, cwnd: f64, beta: f64) {
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

    /// Records a loss. Returns true for the first loss of a round.
    pub(super) fn on_loss(&mut self, ack: &AckSample) -> bool {
        let is_first = !self.signals.has_loss;
        if is_first {
            self.signals.has_loss = true;
            self.signals.round_delivered = ack.delivered;
            self.save_bounds();
        }
        self.signals.loss_events += 1;
        is_first
    }

    pub(super) fn save_bounds(&mut self) {
        self.saved = self.bounds;
    }

    /// Restores the bounds, because the losses since they were saved were spurious.
    pub(super) fn restore_bounds(&mut self) {
        self.bounds.restore(&self.saved);
    }

    /// Ends a PROBE_BW cycle. The bandwidth filter discards the cycle before the last.
    pub(super) fn end_cycle(&mut self) {
        self.cycles += 1;
    }
}

/// Returns the number of segments in flight at which the loss rate reached `threshold`. The newest
/// transmission of `size` segments crossed the threshold, and only its part before the crossing
/// counts. `tx` segments were in flight, and `lost` of them were lost.
pub(super) fn inflight_at_loss(threshold: f64, tx: f64, lost: f64, size: f64) -> f64 {
    let (before, lost_before) = (tx - size, lost - size);
    before + (threshold * before - lost_before) / (1.0 - threshold)
}
