//! Gain of an antenna in a direction, and how it is mounted.

use super::angles::Angles;
use crate::error::ConfigError;
use fadeout_core::registry::number;

/// How a gain changes with the direction, at most.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Steepness {
    /// dB with each degree of azimuth.
    pub azimuth_db: f64,
    /// dB with each degree of elevation.
    pub elevation_db: f64,
    /// Between any two directions, dB.
    pub anywhere_db: f64,
}

/// Gain of an antenna in a direction.
pub trait Pattern {
    /// Gain in dBi toward a direction while a steered antenna's beam is the best one for `beam`.
    fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64;

    /// Whether the gain depends on a steering direction.
    fn is_steered(&self) -> bool {
        false
    }

    /// Whether the gain depends on no direction at all.
    fn is_the_same_everywhere(&self) -> bool {
        false
    }

    /// How the gain changes with the direction at most, where that is known and nothing is steered.
    fn steepness(&self) -> Option<Steepness> {
        None
    }

    /// # Errors
    /// When a value is out of its range.
    fn check(&self) -> Result<(), ConfigError>;
}

fadeout_core::parameters! {
    /// Where an antenna looks.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Boresight {
        /// Azimuth of the boresight, or of an array's broadside, counter-clockwise from east.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "0"),
        /// Elevation of the boresight above the horizon.
        elevation: f64 = number((-90.0, 90.0, "deg"), "0"),
    }
}

impl Boresight {
    pub(super) fn angles(self) -> Angles {
        Angles {
            azimuth_deg: self.azimuth,
            elevation_deg: self.elevation,
        }
    }
}

/// A pattern around a direction in which it looks. An electrical tilt is the pattern's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mounted<T> {
    /// The pattern.
    pub pattern: T,
    /// Where it looks.
    pub boresight: Angles,
}

impl<T: Pattern> Pattern for Mounted<T> {
    fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64 {
        let Mounted { pattern, boresight } = self;
        pattern.gain_dbi(toward.relative_to(*boresight), beam.relative_to(*boresight))
    }
    fn is_steered(&self) -> bool {
        self.pattern.is_steered()
    }
    fn steepness(&self) -> Option<Steepness> {
        self.pattern.steepness()
    }
    fn check(&self) -> Result<(), ConfigError> {
        self.pattern.check()
    }
}

pub(super) fn check_gain(gain_dbi: f64) -> Result<(), ConfigError> {
    ConfigError::within("antenna gain", gain_dbi, -50.0..=60.0, "dBi")
}

pub(super) fn check_width(hpbw_deg: f64) -> Result<(), ConfigError> {
    ConfigError::within("beamwidth", hpbw_deg, 0.1..=360.0, "degrees")
}
