//! Closed forms of fading statistics. Tests compare simulated channels with these formulas.
//! Analyses without a simulated channel use the formulas directly.

use fadeout_core::math::{atan, exp, j0, ln};
use std::f64::consts::{PI, TAU};

/// Returns the largest Doppler shift in Hz at a speed in m/s: `v f / c` with c = 3e8 m/s.
pub fn max_doppler_hz(speed: f64, carrier_hz: f64) -> f64 {
    speed * carrier_hz / 3.0e8
}

/// Returns the correlation of the complex gain after `tau` seconds: `J0(2 pi f_D tau)` (Clarke
/// 1968).
pub fn correlation(doppler_hz: f64, tau: f64) -> f64 {
    j0(TAU * doppler_hz * tau)
}

/// Returns the coherence time in seconds by the geometric mean rule, `0.423 / f_D` (Rappaport,
/// "Wireless Communications", 2nd edition, equation 5.40.c).
pub fn coherence_time(doppler_hz: f64) -> f64 {
    0.423 / doppler_hz
}

/// Returns the coherence time in seconds for a correlation of one half: `9 / (16 pi f_D)`
/// (Rappaport, equation 5.40.b).
pub fn half_coherence_time(doppler_hz: f64) -> f64 {
    9.0 / (16.0 * PI * doppler_hz)
}

/// Returns the probability that a Rayleigh-faded power is below `ratio` times its mean.
pub fn rayleigh_outage(ratio: f64) -> f64 {
    1.0 - exp(-ratio)
}

/// Returns the rate per second at which a Rayleigh-faded power falls below `ratio` times its mean.
pub fn rayleigh_crossings(doppler_hz: f64, ratio: f64) -> f64 {
    (TAU * ratio).sqrt() * doppler_hz * exp(-ratio)
}

/// Returns the mean duration of a Rayleigh fade below `ratio` times the mean power, in seconds.
pub fn rayleigh_fade_duration(doppler_hz: f64, ratio: f64) -> f64 {
    rayleigh_outage(ratio) / rayleigh_crossings(doppler_hz, ratio)
}

/// Returns the probability that a Rician-faded power is below `ratio` times its mean. `k` is the
/// linear K factor.
pub fn rician_outage(k: f64, ratio: f64) -> f64 {
    1.0 - marcum_q1((2.0 * k).sqrt(), (2.0 * (k + 1.0) * ratio).sqrt())
}

/// Returns Marcum's Q function of order 1. It is the probability that a Rician envelope exceeds
/// `b`, with a direct path of amplitude `a` and unit variance in each dimension. The series of
/// Poisson weights is summed to an error of about 1e-12.
pub fn marcum_q1(a: f64, b: f64) -> f64 {
    // The series is Q1 = sum over n of Poisson(n; a^2/2) * P(Poisson(b^2/2) <= n).
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

/// Returns the variance of the power gain averaged over a bandwidth in Hz. The power-delay profile
/// is exponential with this RMS delay spread in seconds. The inverse of the variance is the shape
/// of the gamma distribution that approximates the gain.
pub fn wideband_variance(delay_spread: f64, bandwidth_hz: f64) -> f64 {
    let a = TAU * delay_spread * bandwidth_hz;
    2.0 / a * atan(a) - ln(1.0 + a * a) / (a * a)
}

/// Two-state process of packet errors over Rayleigh fading.
///
/// Source: M. Zorzi, R. R. Rao and L. B. Milstein, "On the accuracy of a first-order Markov model
/// for data transmission on fading channels", IEEE ICUPC 1995.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStatePackets {
    /// Share of packets in error.
    pub error: f64,
    /// Probability that a good packet follows a packet in error.
    pub bad_to_good: f64,
    /// Probability that a packet in error follows a good packet.
    pub good_to_bad: f64,
}

impl TwoStatePackets {
    /// Returns the process for a linear fading margin, which is the mean power over the threshold.
    /// `doppler_times_duration` is the Doppler shift times the packet duration.
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
