//! A beam with a Gaussian main lobe and a floor.
//!
//! The lobe `G0 - 12 (offset / HPBW)^2` dB is the main-lobe shape of TR 38.901 Table 7.3-1, 3 dB
//! down at half the half-power beamwidth (HPBW). Side lobes are a constant floor.

use fadeout_core::Decibel;

/// Share of the ideal directivity that a real antenna reaches, where nothing is known of it.
pub const DEFAULT_EFFICIENCY: f64 = 0.7;

/// Side lobes below the peak, where nothing is known of them: the first side lobe of a uniform
/// array is 13 dB down, the rest lower; 38.901's element has 30 dB.
pub const DEFAULT_SIDE_LOBE: Decibel = Decibel(20.0);

/// A beam.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    /// Half-power beamwidth in azimuth, degrees.
    pub azimuth_deg: f64,
    /// Half-power beamwidth in elevation, degrees.
    pub elevation_deg: f64,
    /// Gain at the centre over an isotropic antenna.
    pub peak: Decibel,
    /// How far below the peak the pattern never falls.
    pub side_lobe: Decibel,
}

impl Beam {
    /// A beam whose peak gain follows from its beamwidths in degrees,
    /// `41253 efficiency / (azimuth elevation)`: the sphere has 41 253 square degrees
    /// (C. A. Balanis, "Antenna Theory", 4th edition, equation 2-27, with an efficiency).
    pub fn from_beamwidths(azimuth_deg: f64, elevation_deg: f64, efficiency: f64) -> Beam {
        let ratio = 41_253.0 * efficiency / (azimuth_deg * elevation_deg);
        let peak = Decibel(fadeout_core::math::to_db(ratio));
        Beam {
            azimuth_deg,
            elevation_deg,
            peak,
            side_lobe: DEFAULT_SIDE_LOBE,
        }
    }

    /// Gain at the given angles from the beam's centre, in degrees.
    pub fn gain(&self, azimuth_offset_deg: f64, elevation_offset_deg: f64) -> Decibel {
        let (a, e) = (
            azimuth_offset_deg / self.azimuth_deg,
            elevation_offset_deg / self.elevation_deg,
        );
        Decibel(self.peak.0 - (12.0 * (a * a + e * e)).min(self.side_lobe.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misalignment_costs_what_the_gaussian_lobe_says() {
        for (beamwidth, offset, loss) in
            [(12.0, 6.0, 3.0), (12.0, 9.0, 6.75), (30.0, 10.0, 1.33333)]
        {
            let beam = Beam::from_beamwidths(beamwidth, beamwidth, DEFAULT_EFFICIENCY);
            let fall = beam.peak.0 - beam.gain(offset, 0.0).0;
            assert!((fall - loss).abs() < 1e-4, "{fall} beside {loss}");
        }
    }

    #[test]
    fn far_off_the_centre_the_floor_holds() {
        let beam = Beam::from_beamwidths(12.0, 12.0, DEFAULT_EFFICIENCY);
        assert_eq!(beam.gain(90.0, 90.0).0, beam.peak.0 - DEFAULT_SIDE_LOBE.0);
    }

    #[test]
    fn a_lossless_beam_of_twelve_degrees_has_24_6_dbi() {
        // 10 log10(41253 / 144).
        let beam = Beam::from_beamwidths(12.0, 12.0, 1.0);
        assert!((beam.peak.0 - 24.571).abs() < 1e-3, "{:?}", beam.peak);
    }
}
