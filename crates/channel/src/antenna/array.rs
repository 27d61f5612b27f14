//! Uniform arrays and their codebooks of beams.

use super::angles::Angles;
use super::element::{Element, ElementKind, cell_limit_dbi};
use super::pattern::{Boresight, Mounted, Pattern};
use crate::error::ConfigError;
use fadeout_core::math::{asin, cos, pow, sin, to_db};
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer, number};
use std::f64::consts::PI;

/// Returns the power gain of a row of elements relative to a single element, at most `elements`.
/// The elements are `spacing` wavelengths apart. `s` is the sine of an angle from broadside, and
/// `steered` the sine that the beam is steered to. The source is C. A. Balanis, "Antenna Theory",
/// 4th edition, section 6.3.
pub fn row_gain(elements: u32, spacing: f64, s: f64, steered: f64) -> f64 {
    row_gain_by(elements, PI * spacing * (s - steered), sin, 1e-9)
}

/// Returns the gain of [`row_gain`]. `half` is half the phase between two elements, and `sine`
/// computes the sine of a phase in the unit of `half`. Sines below `least` are treated as zero.
#[inline]
pub(super) fn row_gain_by(elements: u32, half: f64, sine: impl Fn(f64) -> f64, least: f64) -> f64 {
    let n = f64::from(elements);
    let denominator = sine(half);
    if denominator.abs() < least {
        return n;
    }
    let ratio = sine(n * half) / denominator;
    ratio * ratio / n
}

/// Returns the half-power beamwidth of a row in degrees. `steered_deg` is the angle of the beam
/// from broadside in degrees. The limits are bisected to 1e-9 degrees. A beam toward the end of the
/// row ends at 90 degrees.
pub fn row_hpbw_deg(elements: u32, spacing: f64, steered_deg: f64) -> f64 {
    let steered = sin(steered_deg.to_radians());
    let half_power = f64::from(elements) / 2.0;
    let edge = |sign: f64| {
        // The main lobe ends at the first null, so the search ends there.
        let null = (steered + sign / (f64::from(elements) * spacing)).clamp(-1.0, 1.0);
        let (mut inside, mut outside) = (steered_deg, asin(null).to_degrees());
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            if row_gain(elements, spacing, sin(middle.to_radians()), steered) > half_power {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    };
    edge(1.0) - edge(-1.0)
}

/// Returns the sine of a beam's angle in a DFT codebook with `beams` beams: `(2 k + 1 - K) / K`.
pub fn codebook_sine(beam: u32, beams: u32) -> f64 {
    (2.0 * f64::from(beam) + 1.0 - f64::from(beams)) / f64::from(beams)
}

/// Returns the beam of a DFT codebook whose sine is nearest to `s`.
pub fn nearest_beam(s: f64, beams: u32) -> u32 {
    let n = f64::from(beams);
    // The cast to `u32` turns negative values into zero.
    (((s + 1.0) * n / 2.0).floor() as u32).min(beams.saturating_sub(1))
}

/// Rectangular array of equal elements on a square grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Array {
    /// Number of rows of elements.
    pub rows: u32,
    /// Number of columns of elements.
    pub columns: u32,
    /// Pattern of one element.
    pub element: Element,
    /// Distance between neighbouring elements, wavelengths.
    pub spacing: f64,
    /// Number of codebook beams per element and axis. With 1, the DFT codebook is critically
    /// sampled, and the gain halfway between two beams is 3.9 dB below the peak. With 2 or 4, the
    /// codebook is oversampled. With 0, the beam is steered continuously.
    pub oversampling: u32,
}

impl Default for Array {
    /// Returns an array of eight by eight elements. Its codebook is oversampled by two, so at most
    /// 0.9 dB of gain is lost between beams.
    fn default() -> Array {
        ArrayParameters::default().array()
    }
}

fadeout_core::parameters! {
    /// Parameters of an array that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct ArrayParameters {
        /// Number of rows of elements, one above the other.
        rows: u32 = integer((1, 256, ""), "8"),
        /// Number of columns of elements, side by side.
        columns: u32 = integer((1, 256, ""), "8"),
        /// Antenna element. `tr38901-calibration` is 3GPP's convention: 8 dBi for an element whose
        /// area allows only 5 dBi. The area of all other elements limits their gain.
        element: ElementKind = choice(ElementKind::NAMES, "aperture"),
        /// Distance between neighbouring antenna elements, in wavelengths.
        spacing: f64 = number((0.1, 2.0, "wavelengths"), "0.5"),
        /// Number of codebook beams per element and axis. With 0 there is no codebook, and the beam
        /// points in any direction.
        oversampling: u32 = integer((0, 16, ""), "2"),
        /// Direction of the array's broadside.
        boresight: Boresight = group(),
    }
}

impl ArrayParameters {
    fn array(&self) -> Array {
        Array {
            rows: self.rows,
            columns: self.columns,
            element: Element::new(self.element, self.spacing),
            spacing: self.spacing,
            oversampling: self.oversampling,
        }
    }
}

impl Registered for Mounted<Array> {
    const ENTRY: Entry = Entry::new(
        "array",
        "steered",
        "A rectangular array of elements with a DFT codebook.",
        "TR 38.901 clause 7.3",
    )
    .with_parameters(ArrayParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        let given = ArrayParameters::read(settings);
        Mounted {
            pattern: given.array(),
            boresight: given.boresight.angles(),
        }
    }
}

impl Pattern for Array {
    fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64 {
        Array::gain_dbi(self, toward, beam)
    }
    fn is_steered(&self) -> bool {
        true
    }
    fn check(&self) -> Result<(), ConfigError> {
        for (name, count) in [("rows", self.rows), ("columns", self.columns)] {
            ConfigError::within(name, f64::from(count), 1.0..=256.0, "elements")?;
        }
        let oversampling = f64::from(self.oversampling);
        ConfigError::within(
            "oversampling",
            oversampling,
            0.0..=16.0,
            "codebook beams per element",
        )?;
        ConfigError::within("spacing", self.spacing, 0.1..=2.0, "wavelengths")?;
        self.element.check()?;
        self.check_aperture()
    }
}

/// Margin in dB by which an element's gain may exceed the limit of its area. Tables round gains to
/// whole dBi.
const ROUNDING_DB: f64 = 0.1;

impl Array {
    /// Returns the gain in dBi at broadside with the beam at broadside. It is the number of
    /// elements times the gain of one element.
    pub fn peak_dbi(&self) -> f64 {
        to_db(f64::from(self.rows * self.columns)) + self.element.peak_dbi
    }

    /// Checks that the gain does not exceed that of the array's aperture. So the gain of an element
    /// may not exceed that of its area in the array. For a single row or column only the length
    /// sets a limit. A single element has no limit.
    fn check_aperture(&self) -> Result<(), ConfigError> {
        let is_a_plane = self.rows > 1 && self.columns > 1;
        let peak_dbi = self.element.peak_dbi;
        let limit_dbi = cell_limit_dbi(self.spacing);
        let convention = ElementKind::Calibration;
        if !is_a_plane || self.element.kind == convention || peak_dbi <= limit_dbi + ROUNDING_DB {
            return Ok(());
        }
        let least = pow(10.0, peak_dbi / 20.0) / (2.0 * PI.sqrt());
        let expected = format!(
            "at least {:.2} wavelengths, as an element `{}` has {peak_dbi} dBi and its area in the \
             array allows {limit_dbi:.1}; `{}` allows it, as 3GPP's calibrations do",
            (least * 100.0).ceil() / 100.0,
            self.element.kind.name(),
            convention.name(),
        );
        Err(ConfigError::new("spacing", self.spacing, expected))
    }

    /// Returns the number of beams over both axes. Zero if the beam is steered continuously.
    pub fn beams(&self) -> u32 {
        self.rows * self.columns * self.oversampling * self.oversampling
    }

    /// Returns the sines along columns and rows of the codebook's best beam for a direction.
    pub(super) fn steered(&self, beam: Angles) -> (f64, f64) {
        let (across, up) = cosines(beam);
        let steer = |s: f64, elements: u32| {
            if self.oversampling == 0 || elements == 1 {
                return s;
            }
            let beams = elements * self.oversampling;
            // Beams are evenly spaced in the phase between two elements. The gain has a period of 1
            // / spacing in the sine.
            let turn = 2.0 * self.spacing;
            let phase = (s * turn + 1.0).rem_euclid(2.0) - 1.0;
            codebook_sine(nearest_beam(phase, beams), beams) / turn
        };
        (steer(across, self.columns), steer(up, self.rows))
    }

    /// Returns the gain in dBi toward a direction, with the codebook's best beam for the direction
    /// `beam`. Both directions are relative to broadside.
    pub fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64 {
        let (across, up) = cosines(toward);
        let (steered_across, steered_up) = self.steered(beam);
        let gain = row_gain(self.columns, self.spacing, across, steered_across)
            * row_gain(self.rows, self.spacing, up, steered_up);
        self.element.gain_dbi(toward) + to_db(gain.max(NULL_FLOOR))
    }
}

/// Smallest gain in a null, relative to one element. Real arrays have phase and amplitude errors,
/// which limit the depth of nulls.
pub(super) const NULL_FLOOR: f64 = 1e-4;

/// Returns the direction cosines along columns and rows.
fn cosines(direction: Angles) -> (f64, f64) {
    let elevation = direction.elevation_deg.to_radians();
    let azimuth = direction.azimuth_deg.to_radians();
    (cos(elevation) * sin(azimuth), sin(elevation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codebook_loses_at_most_its_scalloping() {
        // Each entry contains the oversampling and the worst loss in one axis of eight elements,
        // dB.
        for (oversampling, worst) in [(1, 3.88), (2, 0.92)] {
            let array = Array {
                rows: 1,
                columns: 8,
                element: Element::new(ElementKind::Isotropic, 0.5),
                spacing: 0.5,
                oversampling,
            };
            let mut found = 0.0_f64;
            for step in -600..=600 {
                let direction = Angles {
                    azimuth_deg: f64::from(step) * 0.1,
                    elevation_deg: 0.0,
                };
                found = found.max(array.peak_dbi() - array.gain_dbi(direction, direction));
            }
            assert!((found - worst).abs() < 0.05, "{oversampling}: {found}");
        }
    }

    #[test]
    fn every_sine_has_a_nearest_beam() {
        for beams in [1, 7, 8, 64] {
            for step in -100..=100 {
                let s = f64::from(step) / 100.0;
                let off = (codebook_sine(nearest_beam(s, beams), beams) - s).abs();
                assert!(off <= 1.0 / f64::from(beams) + 1e-12, "{beams} {s}");
            }
        }
    }
}
