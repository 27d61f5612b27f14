//! Patterns of single elements and of sector antennas.

use super::angles::Angles;
use super::pattern::{Boresight, Mounted, Pattern, Steepness, check_gain, check_width};
use crate::error::ConfigError;
use fadeout_core::math::{cos, to_db};
use fadeout_core::registry::{Entry, Registered, Settings, choice, number};
use std::f64::consts::PI;

fadeout_core::parameters! {
    /// Antenna with the same gain in all directions.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Isotropic {
        /// Antenna gain in every direction.
        pub gain_dbi as "gain": f64 = number((-50.0, 60.0, "dBi"), "0"),
    }
}

impl Registered for Isotropic {
    const ENTRY: Entry = Entry::new(
        "isotropic",
        "fixed",
        "The same gain in every direction.",
        "none",
    )
    .with_parameters(Isotropic::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Isotropic::read(settings)
    }
}

impl Pattern for Isotropic {
    fn gain_dbi(&self, _: Angles, _: Angles) -> f64 {
        self.gain_dbi
    }
    fn is_the_same_everywhere(&self) -> bool {
        true
    }
    fn steepness(&self) -> Option<Steepness> {
        Some(Steepness::default())
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.gain_dbi)
    }
}

fadeout_core::choices! {
    /// An element of an antenna panel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ElementKind {
        /// Element that uses exactly its own area of the panel. The gain is in proportion to this
        /// area as seen from the direction, `4 pi A cos(theta) / lambda^2`. It is 5 dBi at a
        /// spacing of half a wavelength (P. W. Hannan, "The element-gain paradox for a phased-array
        /// antenna", IEEE Transactions on Antennas and Propagation 12(4), 1964).
        #[default]
        Aperture = "aperture",
        /// Element with the same gain in all directions, also behind the panel.
        Isotropic = "isotropic",
        /// Element of a handheld device: gain 5 dBi, beamwidth 90 degrees, front-to-back ratio 25
        /// dB.
        Handheld = "handheld",
        /// Element with gain 8 dBi, beamwidth 65 degrees, front-to-back ratio 30 dB. Needs a
        /// spacing of 0.71 wavelengths.
        Tr38901 = "tr38901",
        /// Element with gain 8 dBi, beamwidth 65 degrees, front-to-back ratio 30 dB at any spacing,
        /// as in 3GPP's calibrations. At half a wavelength the array has 3 dB more gain than its
        /// aperture allows.
        Calibration = "tr38901-calibration",
    }
}

/// Pattern of an element of an antenna panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Element {
    /// Gain at boresight, dBi.
    pub peak_dbi: f64,
    /// Shape of the pattern around boresight.
    pub shape: Shape,
    /// Kind of the element.
    pub kind: ElementKind,
}

/// Shape of an element's pattern around its boresight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// The same gain in all directions.
    Isotropic,
    /// Gain proportional to the cosine of the angle. Behind the element the gain is 30 dB lower
    /// than at boresight.
    Cosine,
    /// Loss in dB in proportion to the square of the angle, in azimuth and in elevation.
    ///
    /// Standard: TR 38.901 Table 7.3-1.
    Parabolic {
        /// Half-power beamwidth, the same in azimuth and elevation, degrees.
        hpbw_deg: f64,
        /// Front-to-back ratio A_max, and the limit of the vertical pattern SLA_V, dB.
        front_to_back_db: f64,
    },
}

impl Shape {
    /// Smallest relative gain of the cosine shape: 30 dB, the front-to-back ratio of TR 38.901
    /// Table 7.3-1.
    pub(super) const COSINE_FLOOR: f64 = 1e-3;
}

impl Default for Element {
    /// Returns the element of TR 38.901 Table 7.3-1.
    fn default() -> Element {
        Element::new(ElementKind::Tr38901, HALF_WAVE)
    }
}

impl Element {
    /// Returns an element of a panel whose elements are `spacing` wavelengths apart.
    ///
    /// Standard: TR 38.901 Table 7.3-1; TR 38.802 Table A.2.1-8.
    pub fn new(kind: ElementKind, spacing: f64) -> Element {
        let parabolic = |hpbw_deg, front_to_back_db| Shape::Parabolic {
            hpbw_deg,
            front_to_back_db,
        };
        let (peak_dbi, shape) = match kind {
            ElementKind::Aperture => (cell_limit_dbi(spacing), Shape::Cosine),
            ElementKind::Isotropic => (0.0, Shape::Isotropic),
            ElementKind::Handheld => (5.0, parabolic(90.0, 25.0)),
            ElementKind::Tr38901 | ElementKind::Calibration => (8.0, parabolic(65.0, 30.0)),
        };
        Element {
            peak_dbi,
            shape,
            kind,
        }
    }

    /// Returns the gain in dBi in a direction relative to boresight.
    pub fn gain_dbi(&self, direction: Angles) -> f64 {
        let loss = match self.shape {
            Shape::Isotropic => 0.0,
            Shape::Cosine => {
                let forward = cos(direction.elevation_deg.to_radians())
                    * cos(direction.azimuth_deg.to_radians());
                -to_db(forward.max(Shape::COSINE_FLOOR))
            }
            Shape::Parabolic {
                hpbw_deg,
                front_to_back_db,
            } => {
                let cut = |angle_deg: f64| {
                    let ratio = angle_deg / hpbw_deg;
                    (12.0 * ratio * ratio).min(front_to_back_db)
                };
                (cut(direction.elevation_deg) + cut(direction.azimuth_deg)).min(front_to_back_db)
            }
        };
        self.peak_dbi - loss
    }
}

/// Returns the largest gain in dBi of an area of `spacing` wavelengths squared, `4 pi A /
/// lambda^2`. The source is C. A. Balanis, "Antenna Theory", 4th edition, equation 12-37.
pub fn cell_limit_dbi(spacing: f64) -> f64 {
    to_db(4.0 * PI * spacing * spacing)
}

fadeout_core::parameters! {
    /// Parameters of a single element.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct ElementParameters {
        /// Kind of antenna element.
        element: ElementKind = choice(ElementKind::NAMES, "tr38901"),
        /// Direction of the boresight.
        boresight: Boresight = group(),
    }
}

impl Registered for Mounted<Element> {
    const ENTRY: Entry = Entry::new(
        "element",
        "fixed",
        "One element of an antenna panel. The default element has 8 dBi and a beamwidth of 65 \
         degrees.",
        "TR 38.901 Table 7.3-1",
    )
    .with_parameters(ElementParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        let given = ElementParameters::read(settings);
        Mounted {
            pattern: Element::new(given.element, HALF_WAVE),
            boresight: given.boresight.angles(),
        }
    }
}

/// Usual spacing of elements, wavelengths.
pub(super) const HALF_WAVE: f64 = 0.5;

impl Pattern for Element {
    fn gain_dbi(&self, toward: Angles, _: Angles) -> f64 {
        Element::gain_dbi(self, toward)
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.peak_dbi)?;
        match self.shape {
            Shape::Isotropic | Shape::Cosine => Ok(()),
            Shape::Parabolic {
                hpbw_deg,
                front_to_back_db,
            } => {
                let name = "front-to-back ratio";
                ConfigError::within(name, front_to_back_db, 0.0..=60.0, "dB")?;
                check_width(hpbw_deg)
            }
        }
    }
}

/// Three-sector antenna of TR 36.814 Table A.2.1.1-2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LteSector {
    /// Gain at boresight, dBi.
    pub peak_dbi: f64,
    /// Half-power beamwidth in azimuth, degrees.
    pub azimuth_hpbw_deg: f64,
    /// Front-to-back ratio A_m, dB.
    pub front_to_back_db: f64,
    /// Half-power beamwidth in elevation, degrees.
    pub elevation_hpbw_deg: f64,
    /// Limit of the vertical pattern SLA_v, dB.
    pub side_lobe_db: f64,
    /// Electrical tilt below the horizon, degrees.
    pub tilt_deg: f64,
}

impl Default for LteSector {
    /// Returns the antenna of the table: beamwidths of 70 and 10 degrees, limits of 25 and 20 dB.
    /// The tilt is that of the 500 m grid (case 1).
    fn default() -> LteSector {
        SectorParameters::default().sector()
    }
}

fadeout_core::parameters! {
    /// Parameters of a sector antenna that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct SectorParameters {
        /// Azimuth of the antenna's boresight, counter-clockwise from east.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "0"),
        /// Electrical tilt of the antenna below the horizon.
        tilt: f64 = number((-90.0, 90.0, "deg"), "15"),
        /// Gain of the antenna at boresight.
        gain: f64 = number((0.0, 30.0, "dBi"), "14"),
        /// Half-power beamwidth of the antenna in azimuth.
        azimuth_width: f64 = number((1.0, 360.0, "deg"), "70"),
        /// Front-to-back ratio A_m of the antenna. The gain is never further below the boresight
        /// gain.
        front_to_back: f64 = number((0.0, 60.0, "dB"), "25"),
        /// Half-power beamwidth of the antenna in elevation.
        elevation_width: f64 = number((1.0, 180.0, "deg"), "10"),
        /// Largest loss of the vertical pattern alone, SLA_v.
        side_lobe: f64 = number((0.0, 60.0, "dB"), "20"),
    }
}

impl SectorParameters {
    fn sector(&self) -> LteSector {
        LteSector {
            peak_dbi: self.gain,
            azimuth_hpbw_deg: self.azimuth_width,
            front_to_back_db: self.front_to_back,
            elevation_hpbw_deg: self.elevation_width,
            side_lobe_db: self.side_lobe,
            tilt_deg: self.tilt,
        }
    }
}

impl Registered for Mounted<LteSector> {
    const ENTRY: Entry = Entry::new(
        "sector",
        "fixed",
        "Antenna of a three-sector site, from 3GPP's LTE studies.",
        "TR 36.814 Table A.2.1.1-2",
    )
    .with_parameters(SectorParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        let given = SectorParameters::read(settings);
        Mounted {
            pattern: given.sector(),
            boresight: Angles {
                azimuth_deg: given.azimuth,
                elevation_deg: 0.0,
            },
        }
    }
}

impl Pattern for LteSector {
    fn gain_dbi(&self, toward: Angles, _: Angles) -> f64 {
        LteSector::gain_dbi(self, toward)
    }
    fn steepness(&self) -> Option<Steepness> {
        // The loss 12 (x / w)^2 has its largest slope where it reaches its limit.
        let at_limit = |limit_db: f64, width_deg: f64| 24.0 * (limit_db / 12.0).sqrt() / width_deg;
        Some(Steepness {
            azimuth_db: at_limit(self.front_to_back_db, self.azimuth_hpbw_deg),
            elevation_db: at_limit(self.side_lobe_db, self.elevation_hpbw_deg),
            anywhere_db: self.front_to_back_db,
        })
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.peak_dbi)?;
        check_width(self.azimuth_hpbw_deg)?;
        check_width(self.elevation_hpbw_deg)
    }
}

impl LteSector {
    /// Returns the gain in dBi in a direction relative to boresight.
    pub fn gain_dbi(&self, direction: Angles) -> f64 {
        let across = direction.azimuth_deg / self.azimuth_hpbw_deg;
        let up = (direction.elevation_deg + self.tilt_deg) / self.elevation_hpbw_deg;
        let loss = (12.0 * across * across).min(self.front_to_back_db)
            + (12.0 * up * up).min(self.side_lobe_db);
        self.peak_dbi - loss.min(self.front_to_back_db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_is_strongest_along_its_tilt_and_weakest_behind() {
        let sector = LteSector::default();
        let gain_toward = |azimuth_deg, elevation_deg| {
            sector.gain_dbi(Angles {
                azimuth_deg,
                elevation_deg,
            })
        };
        assert_eq!(gain_toward(0.0, -15.0), 14.0);
        assert!((gain_toward(35.0, -15.0) - 11.0).abs() < 1e-9);
        assert_eq!(gain_toward(180.0, 60.0), -11.0);
    }

    #[test]
    fn the_sector_of_m_2135_is_wider_in_elevation_and_has_more_behind() {
        // Report ITU-R M.2135 clause 8.5.2 has beamwidths of 70 and 15 degrees. The limits in
        // azimuth, in elevation and of their sum are 20 dB each.
        let sector = SectorParameters {
            tilt: 12.0,
            gain: 17.0,
            front_to_back: 20.0,
            elevation_width: 15.0,
            ..SectorParameters::default()
        };
        let gain_toward = |azimuth_deg, elevation_deg| {
            sector.sector().gain_dbi(Angles {
                azimuth_deg,
                elevation_deg,
            })
        };
        assert!((gain_toward(0.0, -4.5) - 14.0).abs() < 1e-9);
        assert!((gain_toward(35.0, -4.5) - 11.0).abs() < 1e-9);
        assert_eq!(gain_toward(180.0, 60.0), -3.0);
    }
}
