//! Rectangle that bounds random movement.

use crate::{MobilityError, Rectangle};
use fadeout_core::registry::number;

/// Range and unit of a coordinate.
pub(crate) const METRES: (f64, f64, &str) = (-1e6, 1e6, "m");

fadeout_core::parameters! {
    /// Rectangle on the ground, given by its edges.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Area {
        /// Western edge of the area.
        pub x_min: f64 = number(METRES, "0"),
        /// Eastern edge of the area.
        pub x_max: f64 = number(METRES, "100"),
        /// Southern edge of the area.
        pub y_min: f64 = number(METRES, "0"),
        /// Northern edge of the area.
        pub y_max: f64 = number(METRES, "100"),
    }
}

impl Area {
    /// Returns the rectangle between the edges.
    pub fn rectangle(&self) -> Rectangle {
        Rectangle {
            low: (self.x_min, self.y_min),
            high: (self.x_max, self.y_max),
        }
    }
}

impl Rectangle {
    /// Checks that movement within the rectangle is possible.
    ///
    /// # Errors
    /// Returns an error if width or depth is not above zero, or if the area is not finite.
    pub fn check_extent(&self) -> Result<(), MobilityError> {
        let (width, depth) = self.size();
        if width > 0.0 && depth > 0.0 && (width * depth).is_finite() {
            return Ok(());
        }
        Err(MobilityError(format!(
            "an area of {width} m by {depth} m; expected both above zero"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_needs_a_width_and_a_depth() {
        let area = |x_max, y_max| Area {
            x_max,
            y_max,
            ..Area::default()
        };
        assert_eq!(area(1.0, 1e-3).rectangle().check_extent(), Ok(()));
        for (x_max, y_max) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::INFINITY, 1.0)] {
            assert!(area(x_max, y_max).rectangle().check_extent().is_err());
        }
    }
}
