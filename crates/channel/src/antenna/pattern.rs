//! Gain of an antenna as a function of direction, and mounting of the antenna.

use super::angles::Angles;
use crate::error::ConfigError;
use fadeout_core::registry::number;

/// Upper bounds of the change of a gain between directions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Steepness {
    /// Largest change of the gain per degree of azimuth, dB.
    pub azimuth_db: f64,
    /// Largest change of the gain per degree of elevation, dB.
    pub elevation_db: f64,
    /// Largest difference between the gains in any two directions, dB.
    pub anywhere_db: f64,
}

/// Gain of an antenna as a function of direction.
pub trait Pattern {
    /// Returns the gain in dBi toward a direction. A steered antenna uses its best beam for the
    /// direction `beam`.
    fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64;

    /// Returns true if the gain depends on a steering direction.
    fn is_steered(&self) -> bool {
        false
    }

    /// Returns true if the gain is the same in all directions.
    fn is_the_same_everywhere(&self) -> bool {
        false
    }

    /// Returns bounds of the change of the gain between directions. `None` if no bound is known or
    /// if the antenna is steered.
    fn steepness(&self) -> Option<Steepness> {
        None
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// Returns an error if a value is out of its range.
    fn check(&self) -> Result<(), ConfigError>;
}

fadeout_core::parameters! {
    /// Direction of an antenna's boresight.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Boresight {
        /// Azimuth of the antenna's boresight, or of an array's broadside, counter-clockwise from
        /// east.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "0"),
        /// Elevation of the antenna's boresight, or of an array's broadside, above the horizon.
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

/// Antenna pattern that is mounted with a boresight. An electrical tilt belongs to the pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mounted<T> {
    /// Pattern relative to the boresight.
    pub pattern: T,
    /// Direction of the boresight.
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
