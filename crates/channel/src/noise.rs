//! Thermal noise.

use fadeout_core::math::to_db;
use fadeout_core::{Dbm, Decibel, Hertz};

/// Power density of thermal noise at 290 K, dBm/Hz, rounded as in 3GPP's studies. The exact value
/// of k T is -173.975 dBm/Hz.
pub const DENSITY_DBM_PER_HZ: f64 = -174.0;

/// Returns the noise power at the receiver's input, which is the sum of noise density, bandwidth
/// and noise figure in dB.
pub fn power(bandwidth: Hertz, noise_figure: Decibel) -> Dbm {
    Dbm(DENSITY_DBM_PER_HZ + to_db(bandwidth.0) + noise_figure.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_power_matches_reference_values() {
        for (bandwidth, figure, expected) in [(18e6, 9.0, -92.4473), (400e6, 10.0, -77.9794)] {
            let noise = power(Hertz(bandwidth), Decibel(figure)).0;
            assert!((noise - expected).abs() < 1e-4, "{noise} beside {expected}");
        }
    }
}
