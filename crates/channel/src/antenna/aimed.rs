//! Antenna with a fixed beam direction, whose gain is computed in many directions.

use super::angles::Angles;
use super::array::{Array, NULL_FLOOR, row_gain_by};
use super::element::Shape;
use super::pattern::Mounted;
use super::registry::Antenna;
use crate::phasor::{cos_sin, wrap};
use fadeout_core::math::from_db;

/// Antenna whose beam points in a fixed direction. It computes the gain of [`Antenna::gain_dbi`]
/// for many directions, on a linear scale and in single precision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aimed<'a> {
    antenna: &'a Antenna,
    steering: Steering,
}

/// Part of an antenna's gain that depends on its beam direction alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steering {
    beam: Angles,
    /// Values of an array: the peak gain of one element, and the sines of the angles to which rows
    /// and columns are steered.
    peak: f64,
    across: f64,
    up: f64,
}

impl Antenna {
    /// Returns the antenna with its beam in a direction.
    pub(crate) fn aimed(&self, beam: Angles) -> Aimed<'_> {
        self.steered_as(self.steering(beam))
    }

    /// Returns the antenna with a steering that the caller has computed before.
    pub(crate) fn steered_as(&self, steering: Steering) -> Aimed<'_> {
        Aimed {
            antenna: self,
            steering,
        }
    }

    /// Returns the steering for a beam in a direction.
    pub(crate) fn steering(&self, beam: Angles) -> Steering {
        let (mut peak, mut across, mut up) = (0.0, 0.0, 0.0);
        if let Antenna::Array(mounted) = self {
            peak = from_db(mounted.pattern.element.peak_dbi);
            (across, up) = mounted.pattern.steered(beam.relative_to(mounted.boresight));
        }
        Steering {
            beam,
            peak,
            across,
            up,
        }
    }
}

impl Aimed<'_> {
    /// Returns the linear power gain toward a direction.
    pub(crate) fn gain(&self, toward: Angles) -> f64 {
        match self.antenna {
            Antenna::Array(mounted) => self.steering.gain_of(mounted, toward),
            antenna => from_db(antenna.gain_dbi(toward, self.steering.beam)),
        }
    }

    /// Returns [`Antenna::is_the_same_everywhere`].
    pub(crate) fn is_the_same_everywhere(&self) -> bool {
        self.antenna.is_the_same_everywhere()
    }
}

impl Steering {
    fn gain_of(&self, mounted: &Mounted<Array>, toward: Angles) -> f64 {
        let Mounted { pattern, boresight } = mounted;
        let toward = toward.relative_to(*boresight);
        let (cos_azimuth, sin_azimuth) = turned(toward.azimuth_deg / 360.0);
        let (cos_elevation, sin_elevation) = turned(toward.elevation_deg / 360.0);
        let element = match pattern.element.shape {
            Shape::Isotropic => self.peak,
            Shape::Cosine => self.peak * (cos_elevation * cos_azimuth).max(Shape::COSINE_FLOOR),
            Shape::Parabolic { .. } => from_db(pattern.element.gain_dbi(toward)),
        };
        let row = |elements, sine: f64, steered: f64| {
            let half = 0.5 * pattern.spacing * (sine - steered);
            row_gain_by(elements, half, |turns| turned(turns).1, 1e-4)
        };
        let across = row(pattern.columns, cos_elevation * sin_azimuth, self.across);
        let up = row(pattern.rows, sin_elevation, self.up);
        element * (across * up).max(NULL_FLOOR)
    }
}

/// Returns the cosine and the sine of an angle in turns.
fn turned(turns: f64) -> (f64, f64) {
    let (cosine, sine) = cos_sin(wrap(turns) as f32);
    (f64::from(cosine), f64::from(sine))
}

#[cfg(test)]
mod tests {
    use super::super::element::{Element, ElementKind};
    use super::*;
    use fadeout_core::math::to_db;
    use fadeout_core::random::Stream;

    #[test]
    fn it_is_the_gain_of_the_pattern() {
        let mut draw = Stream::new(1, "aimed", 0);
        let kinds = [
            ElementKind::Aperture,
            ElementKind::Isotropic,
            ElementKind::Calibration,
        ];
        for step in 0..3000 {
            let mut angles = || Angles {
                azimuth_deg: draw.uniform_in(-180.0, 180.0),
                elevation_deg: draw.uniform_in(-89.0, 89.0),
            };
            let (toward, beam, boresight) = (angles(), angles(), angles());
            let antenna = Antenna::Array(Mounted {
                pattern: Array {
                    rows: 1 + draw.below(16) as u32,
                    columns: 1 + draw.below(16) as u32,
                    element: Element::new(kinds[step % 3], 0.5),
                    ..Array::default()
                },
                boresight,
            });
            let found = to_db(antenna.aimed(beam).gain(toward));
            let expected = antenna.gain_dbi(toward, beam);
            // Single precision causes a visible error only near nulls. These are 25 dB below the
            // gain of one element.
            let off = (found - expected).abs();
            assert!(
                off < 0.01 || expected < -15.0 && off < 0.5,
                "{found} beside {expected}"
            );
        }
    }
}
