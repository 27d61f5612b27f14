//! Idealised beam shapes, for comparison with analyses that use them. The Gaussian shape is in
//! [`beam`](super::beam). Beamwidths are in degrees, and gains are linear unless named `dbi`.

use fadeout_core::math::{cos, ln, sin, to_db};

/// Returns the gain of an ideal cone that radiates nothing outside its beamwidth: `2 / (1 -
/// cos(HPBW / 2))`.
pub fn cone_gain(hpbw_deg: f64) -> f64 {
    2.0 / (1.0 - cos(hpbw_deg.to_radians() / 2.0))
}

/// Returns the gain of a sector in the horizontal plane, with the gain `side` outside the sector.
pub fn sector_gain(hpbw_deg: f64, side: f64) -> f64 {
    (360.0 - (360.0 - hpbw_deg) * side) / hpbw_deg
}

/// Reference antenna of IEEE 802.15.3c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceAntenna {
    /// Half-power beamwidth, degrees.
    pub hpbw_deg: f64,
}

impl ReferenceAntenna {
    /// Returns the gain at the centre, dBi.
    pub fn peak_dbi(&self) -> f64 {
        2.0 * to_db(1.6162 / sin(self.hpbw_deg.to_radians() / 2.0))
    }

    /// Returns the gain outside the main lobe, dBi.
    pub fn side_lobe_dbi(&self) -> f64 {
        -0.4111 * ln(self.hpbw_deg) - 10.579
    }

    /// Returns the width of the main lobe, degrees.
    pub fn main_lobe_deg(&self) -> f64 {
        2.6 * self.hpbw_deg
    }

    /// Returns the gain in dBi at an angle in degrees from the centre.
    pub fn gain_dbi(&self, offset_deg: f64) -> f64 {
        if offset_deg.abs() > self.main_lobe_deg() / 2.0 {
            return self.side_lobe_dbi();
        }
        let ratio = 2.0 * offset_deg / self.hpbw_deg;
        self.peak_dbi() - 3.01 * ratio * ratio
    }
}
