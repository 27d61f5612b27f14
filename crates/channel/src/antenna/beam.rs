//! Beam with a Gaussian main lobe and a constant side-lobe level.
//!
//! The lobe `G0 - 12 (offset / HPBW)^2` dB has the main-lobe shape of TR 38.901 Table 7.3-1. It is
//! 3 dB down at half the half-power beamwidth (HPBW).

use super::angles::Angles;
use super::pattern::{Pattern, check_gain, check_width};
use crate::error::ConfigError;
use fadeout_core::Decibel;
use fadeout_core::math::to_db;
use fadeout_core::registry::{Entry, Registered, Settings, number};
use std::f64::consts::{LN_10, PI};

fadeout_core::parameters! {
    /// A beam: its width and its gain.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct BeamParameters {
        /// Half-power beamwidth of the beam in azimuth.
        pub width_deg as "width": f64 = number((0.1, 360.0, "deg"), "12"),
        /// Half-power beamwidth of the beam in elevation.
        pub height_deg as "height": f64 = number((0.1, 360.0, "deg"), "12"),
        /// Share of the ideal directivity that the beam reaches. At 0.87 the main lobe contains all
        /// the power.
        pub efficiency: f64 = number((0.01, 0.87, ""), "0.7"),
        /// Level of the side lobes below the peak gain. The side lobes are weaker if the main lobe
        /// leaves less power for them.
        // The first side lobe of a uniform array is 13 dB below the peak, and all others are lower.
        // The element of TR 38.901 has a level of 30 dB.
        pub side_lobe: Decibel = number((0.0, 100.0, "dB"), "20"),
    }
}

/// Beam with a Gaussian main lobe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    /// Half-power beamwidth in azimuth, degrees.
    pub azimuth_deg: f64,
    /// Half-power beamwidth in elevation, degrees.
    pub elevation_deg: f64,
    /// Gain at the centre relative to an isotropic antenna.
    pub peak: Decibel,
    /// Largest loss relative to the peak.
    pub side_lobe: Decibel,
}

impl Beam {
    /// Returns a beam whose peak gain follows from its beamwidths by [`peak_gain`]. The side lobes
    /// get at most the power outside the main lobe. The integral of the gain over the sphere is
    /// therefore at most 4 pi.
    pub fn new(parameters: &BeamParameters) -> Beam {
        let &BeamParameters {
            width_deg,
            height_deg,
            efficiency,
            side_lobe,
        } = parameters;
        let peak = peak_gain(width_deg, height_deg, efficiency);
        let left = (1.0 - LOBE_SHARE * efficiency).max(1e-10);
        Beam {
            azimuth_deg: width_deg,
            elevation_deg: height_deg,
            peak,
            side_lobe: Decibel(side_lobe.0.max(peak.0 - to_db(left))),
        }
    }

    /// Returns the gain at the given angles from the beam's centre, in degrees.
    pub fn gain(&self, azimuth_offset_deg: f64, elevation_offset_deg: f64) -> Decibel {
        let (a, e) = (
            azimuth_offset_deg / self.azimuth_deg,
            elevation_offset_deg / self.elevation_deg,
        );
        Decibel(self.peak.0 - (12.0 * (a * a + e * e)).min(self.side_lobe.0))
    }
}

/// Power in a Gaussian main lobe relative to that of a cone of the same width and peak. The
/// integral of `10^(-1.2 x^2) dx`, squared, is `pi / (1.2 ln 10)`.
const LOBE_SHARE: f64 = PI / (1.2 * LN_10);

/// Returns the gain at the centre of a beam with the given half-power beamwidths in degrees:
/// `41253 * efficiency / (azimuth * elevation)`. The sphere has 41 253 square degrees. The source
/// is C. A. Balanis, "Antenna Theory", 4th edition, equation 2-27. The efficiency is added to this
/// equation.
pub fn peak_gain(azimuth_deg: f64, elevation_deg: f64, efficiency: f64) -> Decibel {
    Decibel(to_db(41_253.0 * efficiency / (azimuth_deg * elevation_deg)))
}

impl Registered for Beam {
    const ENTRY: Entry = Entry::new(
        "beam",
        "steered",
        "A Gaussian beam that can point in any direction. Its beamwidth determines its gain.",
        "main lobe of TR 38.901 Table 7.3-1; C. A. Balanis, Antenna Theory, equation 2-27",
    )
    .with_parameters(BeamParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Beam::new(&BeamParameters::read(settings))
    }
}

impl Pattern for Beam {
    fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64 {
        let off = toward.relative_to(beam);
        self.gain(off.azimuth_deg, off.elevation_deg).0
    }
    fn is_steered(&self) -> bool {
        true
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.peak.0)?;
        ConfigError::within(
            "side lobe below the peak",
            self.side_lobe.0,
            0.0..=100.0,
            "dB",
        )?;
        check_width(self.azimuth_deg)?;
        check_width(self.elevation_deg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beam(width_deg: f64, efficiency: f64) -> Beam {
        Beam::new(&BeamParameters {
            width_deg,
            height_deg: width_deg,
            efficiency,
            ..BeamParameters::default()
        })
    }

    #[test]
    fn misalignment_costs_what_the_gaussian_lobe_says() {
        for (beamwidth, offset, loss) in
            [(12.0, 6.0, 3.0), (12.0, 9.0, 6.75), (30.0, 10.0, 1.33333)]
        {
            let beam = beam(beamwidth, 0.7);
            let fall = beam.peak.0 - beam.gain(offset, 0.0).0;
            assert!((fall - loss).abs() < 1e-4, "{fall} beside {loss}");
        }
    }

    #[test]
    fn far_off_the_centre_the_floor_holds() {
        // A main lobe of efficiency 0.7 leaves a share of 1 - 0.7 pi / (1.2 ln 10) = 0.204 of the
        // power to the side lobes. The level of the side lobes is then -6.9 dBi.
        let narrow = beam(12.0, 0.7);
        assert!((narrow.gain(90.0, 90.0).0 + 6.9).abs() < 0.01);
        // Next to a wide main lobe there is enough power for side lobes 20 dB below the peak.
        let wide = beam(90.0, 0.7);
        assert_eq!(wide.gain(180.0, 90.0).0, wide.peak.0 - 20.0);
    }

    #[test]
    fn a_lossless_beam_of_twelve_degrees_has_24_6_dbi() {
        // The expected gain is 10 log10(41253 / 144) dBi.
        let beam = beam(12.0, 1.0);
        assert!((beam.peak.0 - 24.571).abs() < 1e-3, "{:?}", beam.peak);
    }
}
