//! Diffraction at a single knife edge.
//!
//! Standard: ITU-R P.526-15 §4.1.

use fadeout_core::math::{cos, log10, sin};
use fadeout_core::{Decibel, Meters};
use std::f64::consts::PI;

/// Returns the dimensionless diffraction parameter v (equation 26). It is positive if the edge is
/// above the direct path, and negative if the edge is below.
pub fn diffraction_parameter(
    height_above_path: Meters,
    to_transmitter: Meters,
    to_receiver: Meters,
    wavelength: Meters,
) -> f64 {
    debug_assert!(
        to_transmitter.0 > 0.0 && to_receiver.0 > 0.0 && wavelength.0 > 0.0,
        "an edge {to_transmitter:?} and {to_receiver:?} from the ends"
    );
    let inverse = 1.0 / to_transmitter.0 + 1.0 / to_receiver.0;
    height_above_path.0 * (2.0 / wavelength.0 * inverse).sqrt()
}

/// Returns the clearance beyond which an edge causes no loss, in square roots of metres. It
/// corresponds to the parameter v = -0.8, at which [`loss`] is zero, without the factor of the
/// wavelength.
pub fn clear_beyond(wavelength: Meters) -> f64 {
    0.8 * wavelength.0.sqrt()
}

/// Returns the approximation J(v) of equation 31. It is valid for v > -0.78, and the loss is zero
/// below.
pub fn loss(v: f64) -> Decibel {
    debug_assert!(!v.is_nan(), "a diffraction parameter is a number");
    if v <= -0.78 {
        return Decibel(0.0);
    }
    let u = v - 0.1;
    Decibel(6.9 + 20.0 * log10((u * u + 1.0).sqrt() + u))
}

/// Returns the loss by Fresnel integrals (equation 30), which [`loss`] approximates. The loss is
/// slightly negative if the diffraction at an edge below the path increases the field.
pub fn exact_loss(v: f64) -> Decibel {
    let (c, s) = fresnel(v);
    let (real, imaginary) = (1.0 - c - s, c - s);
    Decibel(-20.0 * log10((real * real + imaginary * imaginary).sqrt() / 2.0))
}

/// Returns the Fresnel integrals C(x) and S(x) of `cos(pi t^2 / 2)` and `sin(pi t^2 / 2)`. The
/// absolute error is below 1e-6.
fn fresnel(x: f64) -> (f64, f64) {
    let t = x.abs();
    let (c, s) = if t < 3.4 {
        fresnel_series(t)
    } else {
        fresnel_asymptotic(t)
    };
    if x < 0.0 { (-c, -s) } else { (c, s) }
}

/// Returns the Fresnel integrals by the power series in x (Abramowitz and Stegun 7.3.11 and
/// 7.3.13). The terms of the series reach 1e8 at x = 3.4, so eight digits remain.
fn fresnel_series(x: f64) -> (f64, f64) {
    let z = PI * x * x / 2.0;
    // Each term of the series is x z^n / n!. Terms with even n belong to C, terms with odd n to S.
    // The signs alternate.
    let (mut term, mut sums) = (x, [0.0, 0.0]);
    for n in 0_u32..200 {
        let sign = if n & 2 == 0 { 1.0 } else { -1.0 };
        sums[n as usize & 1] += sign * term / f64::from(2 * n + 1);
        term *= z / f64::from(n + 1);
        if term < 1e-18 {
            break;
        }
    }
    (sums[0], sums[1])
}

/// Returns the Fresnel integrals by the asymptotic expansion (Abramowitz and Stegun 7.3.9, 7.3.10,
/// 7.3.27, 7.3.28).
fn fresnel_asymptotic(x: f64) -> (f64, f64) {
    let z = PI * x * x;
    let w = 1.0 / (z * z);
    let f = (1.0 - 3.0 * w + 105.0 * w * w) / (PI * x);
    let g = (1.0 - 15.0 * w + 945.0 * w * w) / (PI * x * z);
    let (sine, cosine) = (sin(z / 2.0), cos(z / 2.0));
    (0.5 + f * sine - g * cosine, 0.5 - f * cosine - g * sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_approximation_and_the_integral_match_reference_values() {
        for (v, approximate, exact) in [
            (-1.0, 0.0, -1.001),
            (0.0, 6.0329, 6.0206),
            (1.0, 13.926, 13.864),
            (2.4, 20.539, 20.618),
        ] {
            // The reference values have four or five significant digits.
            assert!(
                (loss(v).0 - approximate).abs() < 1e-3,
                "J({v}) = {}",
                loss(v).0
            );
            assert!(
                (exact_loss(v).0 - exact).abs() < 1e-3,
                "exact {}",
                exact_loss(v).0
            );
        }
    }

    #[test]
    fn the_parameter_matches_a_reference_value() {
        let wavelength = Meters(3.0e8 / 28e9);
        let v = diffraction_parameter(Meters(0.2), Meters(10.0), Meters(10.0), wavelength);
        assert!((v - 1.222).abs() < 5e-4, "{v}");
        assert!((loss(v).0 - 15.283).abs() < 1e-3);
    }

    #[test]
    fn series_and_expansion_meet() {
        for x in [3.3, 3.4, 3.5] {
            let (series, expansion) = (fresnel_series(x), fresnel_asymptotic(x));
            // The next term of the expansion is 10395 / (pi x^2)^6 times 1 / (pi x), which is 6e-7
            // at x = 3.3. The error must be below this term.
            assert!(
                (series.0 - expansion.0).abs() < 1e-6,
                "{series:?} {expansion:?}"
            );
            assert!((series.1 - expansion.1).abs() < 1e-6);
        }
    }

    #[test]
    fn the_approximation_stays_within_a_fifth_of_a_decibel_in_the_shadow() {
        for step in 0..100 {
            let v = f64::from(step) * 0.1;
            assert!((loss(v).0 - exact_loss(v).0).abs() < 0.2, "v = {v}");
        }
    }
}
