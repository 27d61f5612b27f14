//! CUBIC on each path, scaled so that the sum is CUBIC's on the best path. The derivation stands
//! in docs/models/coupled-cubic.md; in short:
//!
//! By RFC 9438 section 5, a CUBIC flow whose constant is `f^4 C` gets `f` times the rate of one
//! with `C` at the same loss, and a Reno-friendly one whose slope is `f^2 alpha` too. With `X_i`
//! the rate that CUBIC alone would get on path i, from its distance between losses,
//! `f_i = X_max X_i / sum X_k^2` makes the rates `f_i X_i` add up to `X_max` and favour the paths
//! with the least congestion as LIA does (rates as the square of what each path would give).

use super::{PathState, View};
use crate::congestion::linux::slow_start;
use crate::congestion::{AckSample, Window};
use fadeout_core::{Time, math};

/// RFC 9438 section 5: growth constant, segments per s^3.
const C: f64 = 0.4;
/// RFC 9438 section 4.6: multiplicative decrease.
const BETA: f64 = 0.7;
/// RFC 9438 section 4.3: slope that makes the average window Reno's.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// A scale that has changed by this ratio begins a new epoch.
const NEW_EPOCH: f64 = 1.25;

#[derive(Debug, Clone)]
pub(super) struct CoupledCubic {
    scale: f64,
    scaled_at: Time,
    /// Window at the last loss, and its largest before (fast convergence).
    w_max: f64,
    epoch: Option<Epoch>,
}

#[derive(Debug, Clone, Copy)]
struct Epoch {
    began_at: Time,
    k_s: f64,
    origin: f64,
    /// What Reno's slope, scaled, would have reached.
    friendly: f64,
    scale: f64,
}

impl Default for CoupledCubic {
    fn default() -> Self {
        CoupledCubic {
            scale: 1.0,
            scaled_at: Time::ZERO,
            w_max: 0.0,
            epoch: None,
        }
    }
}

/// The rate that CUBIC alone would get on a path, segments per second: the larger of its own
/// response function (RFC 9438 equation 5) and of Reno's.
fn alone(path: &PathState) -> f64 {
    let interval = path.mean_interval.max(1.0);
    let factor = C * (3.0 + BETA) / (4.0 * (1.0 - BETA));
    let cubic = math::pow(factor, 0.25) * math::pow(path.srtt_s * interval, 0.75);
    let reno = (1.5 * interval).sqrt();
    cubic.max(reno) / path.srtt_s
}

/// The share of its own rate that the path which looks should take.
fn scale(view: &View) -> f64 {
    let own = view.own();
    if own.srtt_s <= 0.0 {
        return 1.0;
    }
    let largest = view.measured().map(alone).fold(0.0, f64::max);
    let squares: f64 = view.measured().map(alone).map(|rate| rate * rate).sum();
    largest * alone(&own) / squares
}

impl CoupledCubic {
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &AckSample, view: &View) {
        if ack.now.since(self.scaled_at) >= ack.srtt {
            self.scaled_at = ack.now;
            self.scale = scale(view);
        }
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
        }
        if left > 0 {
            self.avoid(window, ack, f64::from(left));
        }
    }

    fn avoid(&mut self, window: &mut Window, ack: &AckSample, acked: f64) {
        let scale = self.scale;
        let is_stale = |epoch: &Epoch| {
            let ratio = scale / epoch.scale;
            !(1.0 / NEW_EPOCH..=NEW_EPOCH).contains(&ratio)
        };
        if self.epoch.as_ref().is_none_or(is_stale) {
            self.epoch = Some(self.begin(window.cwnd, ack.now));
        }
        let Some(epoch) = &mut self.epoch else { return };
        let constant = C * math::pow(epoch.scale, 4.0);
        let t = ack.now.since(epoch.began_at).as_secs_f64() + ack.srtt.as_secs_f64();
        let offset = t - epoch.k_s;
        let cubic = constant * offset * offset * offset + epoch.origin;
        epoch.friendly += ALPHA * epoch.scale * epoch.scale * acked / window.cwnd;
        let target = cubic.clamp(window.cwnd, 1.5 * window.cwnd);
        let grown = window.cwnd + (target - window.cwnd) / window.cwnd * acked;
        window.cwnd = grown.max(epoch.friendly);
    }

    fn begin(&self, cwnd: f64, now: Time) -> Epoch {
        let constant = C * math::pow(self.scale, 4.0);
        let (k_s, origin) = if cwnd < self.w_max {
            (math::cbrt((self.w_max - cwnd) / constant), self.w_max)
        } else {
            (0.0, cwnd)
        };
        Epoch {
            began_at: now,
            k_s,
            origin,
            friendly: cwnd,
            scale: self.scale,
        }
    }

    pub(super) fn on_congestion(&mut self, window: &mut Window) {
        // RFC 9438 section 4.7: release room when the window shrinks from loss to loss.
        self.w_max = if window.cwnd < self.w_max {
            window.cwnd * (1.0 + BETA) / 2.0
        } else {
            window.cwnd
        };
        window.ssthresh = (window.cwnd * BETA).max(2.0);
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{near, view};
    use super::*;

    #[test]
    fn alone_it_is_cubic() {
        near(scale(&view(0, &[(10.0, 50.0, 1000.0)])), 1.0);
    }

    #[test]
    fn equal_paths_take_a_part_each() {
        let three = [(10.0, 50.0, 1000.0); 3];
        near(scale(&view(1, &three)), 1.0 / 3.0);
    }

    #[test]
    fn the_scaled_rates_add_up_to_the_best_paths() {
        let paths = [
            (10.0, 50.0, 1000.0),
            (40.0, 20.0, 300.0),
            (5.0, 90.0, 9000.0),
        ];
        let views = [view(0, &paths), view(1, &paths), view(2, &paths)];
        let sum: f64 = views.iter().map(|v| scale(v) * alone(&v.own())).sum();
        let best = views.iter().map(|v| alone(&v.own())).fold(0.0, f64::max);
        near(sum / best, 1.0);
        assert!(views.iter().all(|v| scale(v) <= 1.0));
    }
}
