//! Closed forms of fading: what a simulated channel must agree with, and short cuts for those who
//! need no channel at all.

use fadeout_core::math::{atan, exp, j0, ln};
use std::f64::consts::{PI, TAU};

/// Largest Doppler shift in Hz at a speed in m/s: `v f / c` with c = 3e8 m/s.
pub fn max_doppler_hz(speed: f64, carrier_hz: f64) -> f64 {
    speed * carrier_hz / 3.0e8
}

/// Correlation of the complex gain after `tau` seconds: `J0(2 pi f_D tau)` (Clarke 1968).
pub fn correlation(doppler_hz: f64, tau: f64) -> f64 {
    j0(TAU * doppler_hz * tau)
}

/// Coherence time in seconds: the geometric mean rule `0.423 / f_D` (Rappaport, "Wireless
/// Communications", 2nd edition, equation 5.40.c).
pub fn coherence_time(doppler_hz: f64) -> f64 {
    0.423 / doppler_hz
}

/// Coherence time in seconds for a correlation of one half: `9 / (16 pi f_D)` (equation 5.40.b).
pub fn half_coherence_time(doppler_hz: f64) -> f64 {
    9.0 / (16.0 * PI * doppler_hz)
}

/// Probability that a Rayleigh-faded power is below `ratio` times its mean.
pub fn rayleigh_outage(ratio: f64) -> f64 {
    1.0 - exp(-ratio)
}

/// How often a second a Rayleigh-faded power falls below `ratio` times its mean.
pub fn rayleigh_crossings(doppler_hz: f64, ratio: f64) -> f64 {
    (TAU * ratio).sqrt() * doppler_hz * exp(-ratio)
}

/// How long it stays there on average, in seconds.
pub fn rayleigh_fade_duration(doppler_hz: f64, ratio: f64) -> f64 {
    rayleigh_outage(ratio) / rayleigh_crossings(doppler_hz, ratio)
}

/// Probability that a Rician-faded power of K factor `k` (linear) is below `ratio` times its mean.
pub fn rician_outage(k: f64, ratio: f64) -> f64 {
    1.0 - marcum_q1((2.0 * k).sqrt(), (2.0 * (k + 1.0) * ratio).sqrt())
}

/// Marcum's Q function of order 1: the chance that a Rician envelope with direct path `a` and unit
/// variance a dimension exceeds `b`. By its series of Poisson weights, to about 1e-12.
pub fn marcum_q1(a: f64, b: f64) -> f64 {
    // Q1 = sum over n of Poisson(n; a^2/2) * P(Poisson(b^2/2) <= n).
    let (x, y) = (a * a / 2.0, b * b / 2.0);
    let (mut weight, mut term) = (exp(-x), exp(-y));
    let (mut cumulated, mut sum, mut weights) = (term, 0.0, 0.0);
    for n in 1..5000_u32 {
        sum += weight * cumulated;
        weights += weight;
        if weights > 1.0 - 1e-14 {
            break;
        }
        weight *= x / f64::from(n);
        term *= y / f64::from(n);
        cumulated += term;
    }
    sum.min(1.0)
}

/// Variance of the power gain averaged over a bandwidth in Hz, for an exponential power-delay
/// profile of the given RMS delay spread in seconds. Its inverse is the shape of the gamma law
/// that approximates the gain.
pub fn wideband_variance(delay_spread: f64, bandwidth_hz: f64) -> f64 {
    let a = TAU * delay_spread * bandwidth_hz;
    2.0 / a * atan(a) - ln(1.0 + a * a) / (a * a)
}

/// A packet process of two states that follows Rayleigh fading (M. Zorzi, R. R. Rao and
/// L. B. Milstein, "On the accuracy of a first-order Markov model for data transmission on fading
/// channels", IEEE ICUPC 1995).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStatePackets {
    /// Share of packets in error.
    pub error: f64,
    /// Chance that a packet in error is followed by a good one.
    pub bad_to_good: f64,
    /// Chance that a good packet is followed by one in error.
    pub good_to_bad: f64,
}

impl TwoStatePackets {
    /// For a fading margin (linear: mean over threshold) and the Doppler shift times the packet
    /// duration.
    pub fn new(margin: f64, doppler_times_duration: f64) -> TwoStatePackets {
        let error = rayleigh_outage(1.0 / margin);
        let r = j0(TAU * doppler_times_duration);
        let threshold = (2.0 / margin / (1.0 - r * r)).sqrt();
        let bad_to_good = (marcum_q1(threshold, r * threshold)
            - marcum_q1(r * threshold, threshold))
            / (exp(1.0 / margin) - 1.0);
        TwoStatePackets {
            error,
            bad_to_good,
            good_to_bad: bad_to_good * error / (1.0 - error),
        }
    }
}
