//! Free-space path loss, and the close-in model that builds on it.

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

/// Close-in path loss: free space up to 1 m, then `10 n log10(d)` (S. Sun et al., "Investigation
/// of prediction accuracy, sensitivity, and parameter stability of large-scale propagation path
/// loss models for 5G wireless communications", IEEE Transactions on Vehicular Technology 65(5),
/// 2016, equation 3).
pub fn close_in(distance: Meters, carrier: Hertz, exponent: f64) -> Decibel {
    Decibel(free_space(Meters(1.0), carrier).0 + 10.0 * exponent * log10(distance.0))
}

/// Wavelength with the speed of light that 3GPP uses, 3.0e8 m/s (TR 38.901 Table 7.4.1-1,
/// note 1).
pub fn wavelength(carrier: Hertz) -> Meters {
    Meters(3.0e8 / carrier.0)
}
