//! Column of elements with a fixed electrical tilt, the antenna of a sector.

use super::angles::Angles;
use super::array::{NULL_FLOOR, row_gain};
use super::element::{Element, ElementKind};
use super::pattern::{Mounted, Pattern};
use crate::error::ConfigError;
use fadeout_core::math::{sin, to_db};
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer, number};

/// Elements one above the other, fed so that the beam points below the horizon.
///
/// Standard: TR 36.873 §7.1, §8.2; TR 38.901 §7.3, Table 7.8-1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Number of elements, one above the other.
    pub rows: u32,
    /// Pattern of one element.
    pub element: Element,
    /// Distance between neighbouring elements, wavelengths.
    pub spacing: f64,
    /// Electrical tilt below the horizon, degrees.
    pub tilt_deg: f64,
}

impl Default for Column {
    fn default() -> Column {
        ColumnParameters::default().column()
    }
}

fadeout_core::parameters! {
    /// Parameters of a column that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct ColumnParameters {
        /// Azimuth of the antenna's boresight, counter-clockwise from east.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "0"),
        /// Electrical tilt below the horizon. A tilt of 12 degrees is a zenith angle of 102
        /// degrees.
        tilt: f64 = number((-90.0, 90.0, "deg"), "12"),
        /// Number of elements in the column, one above the other.
        rows: u32 = integer((1, 256, ""), "10"),
        /// Kind of antenna element.
        element: ElementKind = choice(ElementKind::NAMES, "tr38901"),
        /// Distance between neighbouring antenna elements, in wavelengths.
        spacing: f64 = number((0.1, 2.0, "wavelengths"), "0.5"),
    }
}

impl ColumnParameters {
    fn column(&self) -> Column {
        Column {
            rows: self.rows,
            element: Element::new(self.element, self.spacing),
            spacing: self.spacing,
            tilt_deg: self.tilt,
        }
    }
}

impl Registered for Mounted<Column> {
    const ENTRY: Entry = Entry::new(
        "column",
        "fixed",
        "A column of elements with an electrical tilt, as in the sectors of 3GPP's calibrations.",
        "TR 38.901 Table 7.8-1",
    )
    .with_parameters(ColumnParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        let given = ColumnParameters::read(settings);
        Mounted {
            pattern: given.column(),
            boresight: Angles {
                azimuth_deg: given.azimuth,
                elevation_deg: 0.0,
            },
        }
    }
}

impl Pattern for Column {
    fn gain_dbi(&self, toward: Angles, _: Angles) -> f64 {
        Column::gain_dbi(self, toward)
    }
    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within("rows", f64::from(self.rows), 1.0..=256.0, "elements")?;
        ConfigError::within("spacing", self.spacing, 0.1..=2.0, "wavelengths")?;
        self.element.check()
    }
}

impl Column {
    /// Returns the gain in dBi in a direction relative to boresight.
    pub fn gain_dbi(&self, direction: Angles) -> f64 {
        let up = sin(direction.elevation_deg.to_radians());
        let steered = sin((-self.tilt_deg).to_radians());
        let array = row_gain(self.rows, self.spacing, up, steered);
        self.element.gain_dbi(direction) + to_db(array.max(NULL_FLOOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The array factor of ten elements is 10 dB. One element loses 12 (12 / 65)² dB at 12 degrees
    /// below its boresight.
    #[test]
    fn a_column_is_strongest_along_its_tilt() {
        let column = Column::default();
        let gain_toward = |azimuth_deg, elevation_deg| {
            column.gain_dbi(Angles {
                azimuth_deg,
                elevation_deg,
            })
        };
        let off: f64 = 12.0 / 65.0;
        assert!((gain_toward(0.0, -12.0) - (18.0 - 12.0 * off * off)).abs() < 1e-9);
        for elevation_deg in [-30.0, -20.0, -5.0, 0.0, 10.0] {
            assert!(gain_toward(0.0, elevation_deg) < gain_toward(0.0, -12.0));
        }
        assert!((gain_toward(0.0, -12.0) - gain_toward(32.5, -12.0) - 3.0).abs() < 1e-9);
    }
}
