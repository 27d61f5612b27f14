//! Size of the window: bandwidth-delay product, allowances for bursts and aggregation, and the
//! effect of losses.

use super::super::super::{AckSample, RecoveryState, Window};
use super::{BbrV1, INITIAL_WINDOW, MIN_WINDOW, Mode, USEC, is_recovering};

/// Rate in bytes per second below which a burst has one segment.
const SLOW_RATE: f64 = 1.2e6 / 8.0;
/// Number of bursts per second. A burst is the data that the rate sends in about a millisecond.
const BURST_PER_SEC: f64 = 1024.0;
/// Largest burst in bytes (GSO_LEGACY_MAX_SIZE less headers) and in segments.
const BURST_BYTES: f64 = 65_535.0 - 320.0;
const BURST_SEGMENTS: f64 = 127.0;
/// Upper limit of the allowance for aggregation: the data that the bandwidth delivers in this time,
/// in seconds.
const AGGREGATION_LIMIT: f64 = 0.1;

/// Returns `value`, which must not be negative, rounded down. This code avoids `floor`, which is a
/// function call on processors without SSE 4.1.
#[inline]
pub(super) fn rounded_down(value: f64) -> f64 {
    value as u64 as f64
}

/// Returns a bandwidth in segments per second as Linux counts it: whole units of 2⁻²⁴ segments per
/// microsecond, rounded down. A product that would be a whole number is then just below it. So
/// rounding up reaches that number, not the next one (`BW_UNIT`).
#[inline]
pub(super) fn in_units(bandwidth: f64) -> f64 {
    const UNITS_PER_SEGMENT: f64 = (1 << 24) as f64 / USEC;
    rounded_down(bandwidth * UNITS_PER_SEGMENT) / UNITS_PER_SEGMENT
}

/// Returns `value`, which must not be negative, rounded up.
#[inline]
fn rounded_up(value: f64) -> f64 {
    let down = rounded_down(value);
    if down < value { down + 1.0 } else { down }
}

impl BbrV1 {
    /// Returns the bandwidth-delay product times `gain`, rounded up.
    fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt {
            None => INITIAL_WINDOW,
            Some(rtt) => rounded_up(bandwidth * rtt.as_micros() as f64 / USEC * gain),
        }
    }

    /// Returns the number of segments sent at once.
    pub(super) fn burst_goal(&self) -> f64 {
        let least = if self.pacing_rate < SLOW_RATE {
            1.0
        } else {
            2.0
        };
        let bytes = (self.pacing_rate / BURST_PER_SEC).min(BURST_BYTES);
        rounded_down(bytes / self.mss).clamp(least, BURST_SEGMENTS)
    }

    /// Returns `segments` plus an allowance for bursts at the sender and the receiver. The result
    /// is even, and two segments larger in the probing phase.
    fn with_bursts(&self, segments: f64) -> f64 {
        let even = rounded_up((segments + 3.0 * self.burst_goal()) / 2.0) * 2.0;
        if self.mode == Mode::ProbeBw && self.cycle == 0 {
            even + 2.0
        } else {
            even
        }
    }

    /// Returns the target number of segments in flight: `gain` bandwidth-delay products of
    /// `bandwidth`, plus an allowance for bursts.
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_bursts(self.product(bandwidth, gain))
    }

    /// Returns the target window of the path model, in segments.
    pub(super) fn target(&self) -> f64 {
        let bandwidth = self.bandwidth();
        let mut target = self.product(bandwidth, self.cwnd_gain);
        if self.is_pipe_full {
            let limit = rounded_down(bandwidth * AGGREGATION_LIMIT);
            target += self.aggregation.excess().min(limit);
        }
        self.with_bursts(target)
    }

    pub(super) fn set_window(&mut self, window: &mut Window, ack: &AckSample) {
        let acked = f64::from(ack.delivered_now);
        if ack.delivered_now > 0 && !self.recover_or_restore(window, ack) {
            let target = self.target();
            if self.is_pipe_full {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || (ack.delivered as f64) < INITIAL_WINDOW {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_WINDOW);
        }
    }

    /// Sets the window during recovery. Each lost segment lowers the window by one. In the first
    /// round of recovery the sender sends only as many segments as are delivered. The end of
    /// recovery restores the window. Returns true in the first round, in which the model's target
    /// is ignored.
    fn recover_or_restore(&mut self, window: &mut Window, ack: &AckSample) -> bool {
        let conserved = f64::from(ack.in_flight) + f64::from(ack.delivered_now);
        if ack.lost_now > 0 {
            window.cwnd = (window.cwnd - f64::from(ack.lost_now)).max(1.0);
        }
        let before = std::mem::replace(&mut self.state, ack.state);
        if ack.state == RecoveryState::Recovery && before != RecoveryState::Recovery {
            self.is_conserving = true;
            self.round.restart(ack.delivered);
            window.cwnd = conserved;
        } else if is_recovering(before) && !is_recovering(ack.state) {
            self.is_conserving = false;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        if self.is_conserving {
            window.cwnd = window.cwnd.max(conserved);
        }
        self.is_conserving
    }

    /// Saves the window, which the end of recovery or of PROBE_RTT restores.
    pub(super) fn save_window(&mut self, cwnd: f64) {
        self.prior_cwnd = if !is_recovering(self.state) && self.mode != Mode::ProbeRtt {
            cwnd
        } else {
            self.prior_cwnd.max(cwnd)
        };
    }
}
