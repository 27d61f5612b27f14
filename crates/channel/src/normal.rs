//! The standard normal distribution and its inverse.

use fadeout_core::math::{erfc, exp, ln};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Returns the probability that a standard normal number is below `x`.
pub(super) fn normal_share_below(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// Returns the quantile of the standard normal distribution, to about 1e-12. Infinite for 0 and 1.
pub(super) fn normal_quantile(share: f64) -> f64 {
    if share <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if share >= 1.0 {
        return f64::INFINITY;
    }
    // The smaller tail is used, because its probability keeps all digits.
    let tail = share.min(1.0 - share);
    // M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.2.23, has an error
    // within 4.5e-4. Each step of Newton's method squares the error.
    let t = (-2.0 * ln(tail)).sqrt();
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = t - top / bottom;
    for _ in 0..3 {
        let density = exp(-0.5 * x * x) / TAU.sqrt();
        if density == 0.0 {
            break;
        }
        x += (normal_share_below(-x) - tail) / density;
    }
    if share < 0.5 { -x } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_the_inverse_of_the_distribution() {
        for step in -70..=70 {
            let x = f64::from(step) / 10.0;
            let back = normal_quantile(normal_share_below(x));
            // A probability near one is stored with an error of 1e-16. This limits the digits of
            // its distance from one.
            let tolerance = if x < 4.0 { 1e-9 } else { 0.2 };
            assert!((back - x).abs() < tolerance, "{x}: {back}");
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1e-300) < -37.0);
    }
}
