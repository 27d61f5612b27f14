//! Directions in space.

use fadeout_core::math::{asin, atan2};
use fadeout_core::{Point, Vector};

/// Direction in space.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Angles {
    /// Azimuth of the direction, counter-clockwise from east, degrees.
    pub azimuth_deg: f64,
    /// Elevation above the horizon, degrees.
    pub elevation_deg: f64,
}

impl Angles {
    /// Returns the direction from one position to another. East if the positions are equal.
    pub fn between(from: Point, to: Point) -> Angles {
        Angles::along(to - from)
    }

    /// Returns the direction of a vector. East if the vector has length zero.
    pub fn along(direction: Vector) -> Angles {
        let length = direction.length();
        if length == 0.0 {
            return Angles::default();
        }
        Angles {
            azimuth_deg: atan2(direction.y, direction.x).to_degrees(),
            elevation_deg: asin((direction.z / length).clamp(-1.0, 1.0)).to_degrees(),
        }
    }

    /// Returns this direction relative to an antenna with this boresight. The azimuth is in [-180,
    /// 180). The tilt is subtracted, not rotated, as TR 36.814 does.
    ///
    /// Standard: TR 36.814 §A.2.1.
    pub fn relative_to(self, boresight: Angles) -> Angles {
        let turns = (self.azimuth_deg - boresight.azimuth_deg) / 360.0;
        Angles {
            azimuth_deg: 360.0 * (turns - (turns + 0.5).floor()),
            elevation_deg: self.elevation_deg - boresight.elevation_deg,
        }
    }
}
