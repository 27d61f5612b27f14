//! CUBIC on each path, scaled so that all paths together get the rate that CUBIC alone would get on
//! the best path. The derivation stands in docs/models/coupled-cubic.md.
//!
//! RFC 9438 section 5 gives the rates. A CUBIC flow whose constant is `f^4 C` gets `f` times the
//! rate of one with `C` at the same loss. A Reno-friendly flow whose slope is `f^2 alpha` gets `f`
//! times the rate too. If all windows grow by the same amount for each acknowledged segment, each
//! window settles in inverse proportion to the path's loss, as in LIA. So the windows show which
//! rate CUBIC alone would get on each path. The growth is chosen so that the sum of the rates
//! equals the largest of them.
//!
//! The decrease is CUBIC's. Slow start ends at the first loss, as in LIA, OLIA and BALIA. With
//! `hystart` it ends as in Linux's CUBIC.
//!
//! With `estimate = "losses"`, the first form of the proposal, these rates are computed from the
//! distances between losses. With `X_i` the rate of CUBIC alone on path i, `f_i = X_max X_i / sum
//! X_k^2`.

use super::{Law, PathState, View};
use crate::hystart::HyStart;
use crate::linux::slow_start;
use crate::{AckSample, CongestionEvent, CongestionKind, Window};
use fadeout_core::registry::{Entry, Registered, Settings, choice, flag};
use fadeout_core::{Time, math};

/// Growth constant, segments per s^3.
///
/// Standard: RFC 9438 §5.
const C: f64 = 0.4;
/// Multiplicative decrease.
///
/// Standard: RFC 9438 §4.6.
const BETA: f64 = 0.7;
/// Slope that makes the average window Reno's.
///
/// Standard: RFC 9438 §4.3.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// A new epoch begins if the growth constant changes by more than this factor. The rate then
/// changes by a quarter.
const NEW_EPOCH: f64 = 2.44;

fadeout_core::choices! {
    /// Source of the estimate of CUBIC's rate alone on each path.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Estimate {
        Windows = "windows",
        Losses = "losses",
    }
}

fadeout_core::parameters! {
    /// Parameters of coupled CUBIC.
    #[derive(Debug, Clone, Copy)]
    struct CoupledCubicParameters {
        /// Estimate of the rate that CUBIC alone would get on each path: from the windows, as in
        /// LIA, or from the distances between losses.
        estimate: Estimate = choice(Estimate::NAMES, "windows"),
        /// True if slow start ends by HyStart, as in Linux's CUBIC. If false, it ends at the first
        /// loss, as in LIA, OLIA and BALIA.
        hystart: bool = flag("false"),
    }
}

/// Growth of a path as a factor of uncoupled CUBIC's growth.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    /// Factor of CUBIC's constant C.
    constant: f64,
    /// Factor of the slope in the Reno-friendly region.
    slope: f64,
}

const ALONE: Scale = Scale {
    constant: 1.0,
    slope: 1.0,
};

#[derive(Debug, Clone)]
pub(super) struct CoupledCubic {
    estimate: Estimate,
    hystart: Option<HyStart>,
    scale: Scale,
    scaled_at: Time,
    /// Window at the last loss. Fast convergence also uses the previous value.
    w_max: f64,
    epoch: Option<Epoch>,
}

#[derive(Debug, Clone, Copy)]
struct Epoch {
    began_at: Time,
    k_s: f64,
    origin: f64,
    /// Estimate of Reno's window. CUBIC's window is never below this estimate.
    friendly: f64,
    scale: Scale,
}

/// Returns the rate of CUBIC alone on a path, segments per second. The rate is the larger of
/// CUBIC's response function and Reno's.
///
/// Standard: RFC 9438 equation 5.
fn alone(path: &PathState) -> f64 {
    let interval = path.mean_interval.max(1.0);
    let factor = C * (3.0 + BETA) / (4.0 * (1.0 - BETA));
    let cubic = math::pow(factor, 0.25) * math::pow(path.srtt_s * interval, 0.75);
    let reno = (1.5 * interval).sqrt();
    cubic.max(reno) / path.srtt_s
}

/// Returns the scale computed from the distances between losses. The viewing path should get a
/// share of the rate of CUBIC alone. The factors are powers of this share.
fn by_losses(view: &View) -> Scale {
    let own = view.own();
    if own.srtt_s <= 0.0 {
        return ALONE;
    }
    let largest = view.measured().map(alone).fold(0.0, f64::max);
    let squares: f64 = view.measured().map(alone).map(|rate| rate * rate).sum();
    let share = largest * alone(&own) / squares;
    Scale {
        constant: math::pow(share, 4.0),
        slope: share * share,
    }
}

/// Returns the scale computed from the windows: the mean growth per acknowledged segment, divided
/// by the growth of the path alone. The scale never exceeds one.
fn by_windows(view: &View) -> Scale {
    let own = view.own();
    let total = view.total_rate();
    if own.srtt_s <= 0.0 || own.cwnd <= 0.0 || total <= 0.0 {
        return ALONE;
    }
    let cubic = |path: &PathState| path.cwnd / math::cbrt(path.srtt_s);
    let reno = |path: &PathState| path.cwnd / (path.srtt_s * path.srtt_s);
    let largest = |of: fn(&PathState) -> f64| view.measured().map(of).fold(0.0, f64::max);
    let part = own.rate() / total;
    let growth = largest(cubic) / cubic(&own) * math::pow(part, 4.0 / 3.0);
    let slope = largest(reno) / reno(&own) * part * part;
    Scale {
        constant: growth.min(1.0) * growth.min(1.0) * growth.min(1.0),
        slope: slope.min(1.0),
    }
}

impl Registered for CoupledCubic {
    const ENTRY: Entry = Entry::new(
        "coupled-cubic",
        "coupling",
        "CUBIC on each path, scaled so that the sum of all paths is that of CUBIC on the best \
         path.",
        "This project: docs, models, coupled CUBIC; RFC 9438",
    )
    .with_parameters(CoupledCubicParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        let CoupledCubicParameters { estimate, hystart } = CoupledCubicParameters::read(settings);
        CoupledCubic {
            estimate,
            hystart: hystart.then(HyStart::default),
            scale: ALONE,
            scaled_at: Time::ZERO,
            w_max: 0.0,
            epoch: None,
        }
    }
}

impl Law for CoupledCubic {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample, view: &View) {
        if ack.now.since(self.scaled_at) >= ack.srtt {
            self.scaled_at = ack.now;
            self.scale = match self.estimate {
                Estimate::Windows => by_windows(view),
                Estimate::Losses => by_losses(view),
            };
        }
        if let (true, Some(hystart), Some(rtt)) =
            (window.in_slow_start(), &mut self.hystart, ack.rtt)
        {
            let smallest = ack.min_rtt.min(rtt);
            hystart.on_sample(window, ack, rtt.as_micros(), smallest.as_micros());
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

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent, _: &View) {
        if let (CongestionKind::Rto, Some(hystart)) = (event.kind, &mut self.hystart) {
            hystart.on_timeout(event.now, event.snd_nxt);
        }
        // RFC 9438 section 4.7: a flow whose window shrinks from loss to loss releases bandwidth to
        // new flows.
        self.w_max = if window.cwnd < self.w_max {
            window.cwnd * (1.0 + BETA) / 2.0
        } else {
            window.cwnd
        };
        window.ssthresh = (window.cwnd * BETA).max(2.0);
        self.epoch = None;
    }

    fn round_rate(&self) -> f64 {
        0.0
    }
}

impl CoupledCubic {
    fn avoid(&mut self, window: &mut Window, ack: &AckSample, acked: f64) {
        let scale = self.scale;
        let is_stale = |epoch: &Epoch| {
            let ratio = scale.constant / epoch.scale.constant;
            !(1.0 / NEW_EPOCH..=NEW_EPOCH).contains(&ratio)
        };
        if self.epoch.as_ref().is_none_or(is_stale) {
            self.epoch = Some(self.begin(window.cwnd, ack.now));
        }
        let Some(epoch) = &mut self.epoch else { return };
        let constant = C * epoch.scale.constant;
        let t = ack.now.since(epoch.began_at).as_secs_f64() + ack.srtt.as_secs_f64();
        let offset = t - epoch.k_s;
        let cubic = constant * offset * offset * offset + epoch.origin;
        epoch.friendly += ALPHA * epoch.scale.slope * acked / window.cwnd;
        let target = cubic.clamp(window.cwnd, 1.5 * window.cwnd);
        let grown = window.cwnd + (target - window.cwnd) / window.cwnd * acked;
        window.cwnd = grown.max(epoch.friendly);
    }

    fn begin(&self, cwnd: f64, now: Time) -> Epoch {
        let constant = C * self.scale.constant;
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
}

#[cfg(test)]
mod tests;
