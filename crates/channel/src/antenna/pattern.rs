//! Gain of an antenna in a direction.

use super::array::Array;
use super::beam::Beam;
use super::element::{Element, LteSector};
use crate::error::ConfigError;
use fadeout_core::math::{asin, atan2};
use fadeout_core::{Point, Vector};

/// A direction in space.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Angles {
    /// Counter-clockwise from east, degrees.
    pub azimuth_deg: f64,
    /// Above the horizon, degrees.
    pub elevation_deg: f64,
}

impl Angles {
    /// From one place to another; east when they are the same.
    pub fn between(from: Point, to: Point) -> Angles {
        Angles::along(to - from)
    }

    /// Along a vector; east when it has no length.
    pub fn along(way: Vector) -> Angles {
        let length = way.length();
        if length == 0.0 {
            return Angles::default();
        }
        Angles {
            azimuth_deg: atan2(way.y, way.x).to_degrees(),
            elevation_deg: asin((way.z / length).clamp(-1.0, 1.0)).to_degrees(),
        }
    }

    /// This direction as seen by an antenna that looks along `boresight`: azimuth in [-180, 180)
    /// and elevation relative to it. The tilt is subtracted, not rotated, as TR 36.814 does.
    pub fn relative_to(self, boresight: Angles) -> Angles {
        let turns = (self.azimuth_deg - boresight.azimuth_deg) / 360.0;
        Angles {
            azimuth_deg: 360.0 * (turns - (turns + 0.5).floor()),
            elevation_deg: self.elevation_deg - boresight.elevation_deg,
        }
    }
}

/// An antenna and how it is mounted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Antenna {
    /// The same gain everywhere.
    Isotropic {
        /// Gain, dBi.
        gain_dbi: f64,
    },
    /// One element of TR 38.901.
    Element {
        /// The pattern.
        element: Element,
        /// Where it looks.
        boresight: Angles,
    },
    /// A sector antenna of the LTE studies.
    Sector {
        /// The pattern.
        sector: LteSector,
        /// Where it looks; the electrical tilt is the pattern's own.
        boresight: Angles,
    },
    /// A beam of a fixed shape that is steered without steps.
    Beam(Beam),
    /// An array that is steered by a codebook.
    Array {
        /// The array.
        array: Array,
        /// Where its broadside looks.
        boresight: Angles,
    },
}

impl Default for Antenna {
    fn default() -> Antenna {
        Antenna::Isotropic { gain_dbi: 0.0 }
    }
}

impl Antenna {
    /// # Errors
    /// When a value is out of its range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let width = |hpbw_deg| ConfigError::within("beamwidth", hpbw_deg, 0.1..=360.0, "degrees");
        let gain = |gain_dbi| ConfigError::within("antenna gain", gain_dbi, -50.0..=60.0, "dBi");
        let element = |element: &Element| {
            gain(element.peak_dbi)?;
            ConfigError::within(
                "front-to-back ratio",
                element.front_to_back_db,
                0.0..=60.0,
                "dB",
            )?;
            width(element.hpbw_deg)
        };
        match self {
            Antenna::Isotropic { gain_dbi } => gain(*gain_dbi),
            Antenna::Element { element: own, .. } => element(own),
            Antenna::Sector { sector, .. } => {
                gain(sector.peak_dbi)?;
                width(sector.azimuth_hpbw_deg)?;
                width(sector.elevation_hpbw_deg)
            }
            Antenna::Beam(beam) => {
                gain(beam.peak.0)?;
                ConfigError::within(
                    "side lobe below the peak",
                    beam.side_lobe.0,
                    0.0..=100.0,
                    "dB",
                )?;
                width(beam.azimuth_deg)?;
                width(beam.elevation_deg)
            }
            Antenna::Array { array, .. } => {
                for (name, count) in [("rows", array.rows), ("columns", array.columns)] {
                    ConfigError::within(name, f64::from(count), 1.0..=256.0, "elements")?;
                }
                let oversampling = f64::from(array.oversampling);
                ConfigError::within("oversampling", oversampling, 0.0..=16.0, "beams an element")?;
                element(&array.element)
            }
        }
    }

    /// Whether the gain depends on a steering direction.
    pub fn is_steered(&self) -> bool {
        matches!(self, Antenna::Beam(_) | Antenna::Array { .. })
    }

    /// Gain in dBi toward a direction while a steered antenna's beam is the best one for `beam`.
    pub fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64 {
        match self {
            Antenna::Isotropic { gain_dbi } => *gain_dbi,
            Antenna::Element { element, boresight } => {
                element.gain_dbi(toward.relative_to(*boresight))
            }
            Antenna::Sector { sector, boresight } => {
                sector.gain_dbi(toward.relative_to(*boresight))
            }
            Antenna::Beam(shape) => {
                let off = toward.relative_to(beam);
                shape.gain(off.azimuth_deg, off.elevation_deg).0
            }
            Antenna::Array { array, boresight } => {
                array.gain_dbi(toward.relative_to(*boresight), beam.relative_to(*boresight))
            }
        }
    }
}
