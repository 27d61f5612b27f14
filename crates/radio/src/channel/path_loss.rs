//! Free-space path loss.

use fadeout_core::math::log10;
use fadeout_core::{Decibel, Hertz, Meters};

/// Speed of light in vacuum in m/s (exact, SI).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Free-space path loss between isotropic antennas, `20 log10(4 pi d f / c)`
/// (H. T. Friis, "A note on a simple transmission formula", Proc. IRE 34, 1946; Recommendation
/// ITU-R P.525-4 equation 3). Valid in the far field; at very short distance the formula turns
/// negative.
pub fn free_space(distance: Meters, carrier: Hertz) -> Decibel {
    let ratio = 4.0 * std::f64::consts::PI * distance.0 * carrier.0 / SPEED_OF_LIGHT;
    Decibel(20.0 * log10(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_loss_matches_reference_values() {
        for (distance, carrier, expected) in [
            (1.0, 28e9, 61.3909),
            (100.0, 2e9, 78.4684),
            (1000.0, 73e9, 129.714),
        ] {
            let loss = free_space(Meters(distance), Hertz(carrier)).0;
            // The reference values have six digits.
            assert!(
                (loss / expected - 1.0).abs() < 1e-5,
                "{loss} beside {expected}"
            );
        }
    }
}
