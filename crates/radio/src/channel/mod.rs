//! What happens to the signal between two antennas.

pub mod blockage_model_b;
pub mod knife_edge;
pub mod noise;
pub mod path_loss;

use fadeout_core::{Hertz, Meters};

/// Wavelength with the speed of light that 3GPP uses, 3.0e8 m/s (TR 38.901 Table 7.4.1-1,
/// note 1).
pub fn wavelength(carrier: Hertz) -> Meters {
    Meters(3.0e8 / carrier.0)
}
