//! Blockage model A: regions of blocked angles around the UE.
//!
//! The model is applied only to the direct path to the base station, and not to every ray.
//!
//! Standard: TR 38.901 §7.6.4.1.

use super::{BlockageModel, Process, View};
use crate::error::ConfigError;
use crate::field::Field;
use fadeout_core::data;
use fadeout_core::math::{acos, atan, atan2, cos, erfc, log10};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, integer, number};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

const REGIONS: &str = include_str!("../../data/blockage_model_a.csv");

/// Returns the numbers in the row `name` of `data/blockage_model_a.csv`.
const fn row<const N: usize>(name: &str) -> [f64; N] {
    let mut numbers = [0.0; N];
    let mut column = 0;
    while column < N {
        numbers[column] = data::number(REGIONS, name, column + 1);
        column += 1;
    }
    numbers
}

/// Environment of the UE, which determines the sizes of the regions (Table 7.6.4.1-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    /// InH. Regions are 15 to 45 degrees wide and 5 to 15 degrees high, at a distance of 2 m. The
    /// correlation distance is 5 m.
    Indoor,
    /// UMi, UMa and RMa. Regions are 5 to 15 degrees wide and 5 degrees high, at a distance of 10
    /// m. The correlation distance is 10 m.
    Outdoor,
}

/// Blocking by the user's own body (Table 7.6.4.1-1). Its loss is 30 dB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelfBlocking {
    /// The device is held upright. The blocked region has 120 by 80 degrees, centred on azimuth 260
    /// and zenith 100 degrees.
    Portrait,
    /// The device is held sideways. The blocked region has 160 by 75 degrees, centred on azimuth 40
    /// and zenith 110 degrees.
    Landscape,
}

impl SelfBlocking {
    /// Returns the loss in dB of a path that arrives from an azimuth and a zenith in degrees. Both
    /// angles are in the device's coordinates.
    pub fn loss_db(self, azimuth_deg: f64, zenith_deg: f64) -> f64 {
        const PORTRAIT: [f64; 5] = row("portrait");
        const LANDSCAPE: [f64; 5] = row("landscape");
        let [azimuth, zenith, width, height, loss_db] = match self {
            SelfBlocking::Portrait => PORTRAIT,
            SelfBlocking::Landscape => LANDSCAPE,
        };
        let is_inside = difference(azimuth_deg, azimuth).abs() < width / 2.0
            && (zenith_deg - zenith).abs() < height / 2.0;
        if is_inside { loss_db } else { 0.0 }
    }
}

/// Parameters of model A for one UE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelA {
    /// Environment, which determines the sizes of the regions.
    pub surroundings: Surroundings,
    /// Number K of blockers. The standard's default is 4.
    pub blockers: u32,
    /// Speed of the blockers, m/s.
    pub speed: f64,
    /// Blocking by the user's body. `None` for a device that is not held.
    pub own_body: Option<SelfBlocking>,
    /// Direction of the device's zero azimuth, degrees counter-clockwise from east. `None` if it is
    /// drawn uniformly.
    pub heading_deg: Option<f64>,
}

impl Default for ModelA {
    /// Returns the model of a device held upright.
    fn default() -> ModelA {
        ModelAParameters::default().model()
    }
}

fadeout_core::parameters! {
    /// Parameters of model A that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct ModelAParameters {
        /// True for the blocking regions of an office, false for those of outdoor environments.
        indoor: bool = flag("false"),
        /// Number K of blockers around the UE.
        blockers: u32 = integer((0, 64, ""), "4"),
        /// Speed of the blockers.
        speed: f64 = number((0.01, 300.0, "m/s"), "1"),
    }
}

impl ModelAParameters {
    fn model(&self) -> ModelA {
        ModelA {
            surroundings: if self.indoor {
                Surroundings::Indoor
            } else {
                Surroundings::Outdoor
            },
            blockers: self.blockers,
            speed: self.speed,
            own_body: Some(SelfBlocking::Portrait),
            heading_deg: None,
        }
    }
}

impl Registered for ModelA {
    const ENTRY: Entry = Entry::new(
        "model-a",
        "geometric",
        "Angular regions around the UE in which the path is blocked, including a region blocked by \
         the user's body.",
        "TR 38.901 clause 7.6.4.1",
    )
    .with_parameters(ModelAParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        ModelAParameters::read(settings).model()
    }
}

/// Region blocked by an object other than the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NonSelfBlocker {
    /// Azimuth phi' of the region's centre, degrees.
    pub azimuth_deg: f64,
    /// Zenith theta' of the region's centre, degrees.
    pub zenith_deg: f64,
    /// Width x of the region, degrees.
    pub width_deg: f64,
    /// Height y of the region, degrees.
    pub height_deg: f64,
    /// Distance r of the region from the UE, metres.
    pub distance_m: f64,
}

impl NonSelfBlocker {
    /// Returns the loss in dB of a path that arrives from an azimuth and zenith in degrees
    /// (equations 7.6-22 to 7.6-26).
    pub fn loss_db(&self, azimuth_deg: f64, zenith_deg: f64, wavelength_m: f64) -> f64 {
        let u = difference(azimuth_deg, self.azimuth_deg);
        let v = zenith_deg - self.zenith_deg;
        if u.abs() >= self.width_deg || v.abs() >= self.height_deg {
            return 0.0;
        }
        let scale = PI / wavelength_m * self.distance_m;
        let shadow = view(u, self.width_deg, scale) * view(v, self.height_deg, scale);
        -20.0 * log10(1.0 - shadow)
    }
}

/// Returns the sum of the diffraction terms of a region's two edges, in azimuth or in zenith.
/// Inside the region both terms are positive. Outside, the term of the nearer edge is negative.
fn view(offset_deg: f64, size_deg: f64, scale: f64) -> f64 {
    let edge = |angle_deg: f64| {
        let detour = 1.0 / cos(angle_deg.to_radians()) - 1.0;
        atan(PI / 2.0 * (scale * detour).sqrt()) / PI
    };
    let (upper, lower) = (
        edge(offset_deg - size_deg / 2.0),
        edge(offset_deg + size_deg / 2.0),
    );
    if offset_deg > size_deg / 2.0 {
        lower - upper
    } else if offset_deg < -size_deg / 2.0 {
        upper - lower
    } else {
        upper + lower
    }
}

/// Returns the difference `a - b` of two angles in degrees, in [-180, 180).
fn difference(a: f64, b: f64) -> f64 {
    let turns = (a - b) / 360.0;
    360.0 * (turns - (turns + 0.5).floor())
}

impl BlockageModel for ModelA {
    type Process = ModelAProcess;

    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within(
            "number of blockers",
            f64::from(self.blockers),
            0.0..=64.0,
            "blockers",
        )?;
        ConfigError::within("speed of blockers", self.speed, 0.0..=100.0, "m/s")?;
        ConfigError::within(
            "heading",
            self.heading_deg.unwrap_or(0.0),
            -360.0..=360.0,
            "degrees",
        )
    }

    fn start(&self, mut stream: Stream) -> Self::Process {
        let heading_deg = 360.0 * stream.uniform();
        const INDOOR: [f64; 6] = row("indoor");
        const OUTDOOR: [f64; 6] = row("outdoor");
        let sizes = match self.surroundings {
            Surroundings::Indoor => INDOOR,
            Surroundings::Outdoor => OUTDOOR,
        };
        let (widths, heights) = ((sizes[0], sizes[1]), (sizes[2], sizes[3]));
        let (distance_m, correlation_m) = (sizes[4], sizes[5]);
        let blockers = (0..self.blockers)
            .map(|_| {
                let blocker = NonSelfBlocker {
                    azimuth_deg: 0.0,
                    zenith_deg: 90.0,
                    width_deg: stream.uniform_in(widths.0, widths.1),
                    height_deg: stream.uniform_in(heights.0, heights.1),
                    distance_m,
                };
                let duration = correlation_m / self.speed;
                (
                    blocker,
                    Field::changing(&mut stream, correlation_m, duration),
                )
            })
            .collect();
        ModelAProcess {
            own_body: self.own_body,
            heading_deg: self.heading_deg.unwrap_or(heading_deg),
            blockers,
        }
    }

    /// Returns true, because all links of a UE share the regions around it.
    fn surrounds_the_ue(&self) -> bool {
        true
    }
}

/// Blocked regions around one UE. The azimuth of each region's centre varies with position and
/// time. It is a Gaussian field with the correlation `exp(-distance / d_cor - time / t_cor)`,
/// mapped to a uniform angle. The mapping lowers a correlation of 0.5 to 0.48, which is not
/// corrected.
#[derive(Debug)]
pub(crate) struct ModelAProcess {
    own_body: Option<SelfBlocking>,
    heading_deg: f64,
    blockers: Vec<(NonSelfBlocker, Field)>,
}

impl ModelAProcess {
    pub(crate) fn loss_db(&mut self, view: &View) -> f64 {
        let to_base = view.base - view.ue;
        let length = to_base.length();
        if length == 0.0 {
            return 0.0;
        }
        let azimuth_deg = atan2(to_base.y, to_base.x).to_degrees() - self.heading_deg;
        let zenith_deg = acos((to_base.z / length).clamp(-1.0, 1.0)).to_degrees();
        let own = self
            .own_body
            .map_or(0.0, |body| body.loss_db(azimuth_deg, zenith_deg));
        let others: f64 = self
            .blockers
            .iter()
            .map(|(blocker, field)| {
                // The field of a region is not evaluated if the path passes above or below the
                // region.
                if (zenith_deg - blocker.zenith_deg).abs() >= blocker.height_deg {
                    return 0.0;
                }
                let normal = field.value_at(view.ue.x, view.ue.y, view.now.as_secs_f64());
                let centred = NonSelfBlocker {
                    azimuth_deg: 360.0 * 0.5 * erfc(-normal * FRAC_1_SQRT_2),
                    ..*blocker
                };
                centred.loss_db(azimuth_deg, zenith_deg, view.wavelength_m)
            })
            .sum();
        own + others
    }
}

impl Process for ModelAProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::{Point, Span, Time};

    #[test]
    fn the_own_body_blocks_its_region_only() {
        let body = SelfBlocking::Portrait;
        assert_eq!(body.loss_db(-100.0, 100.0), 30.0);
        assert_eq!(body.loss_db(319.0, 100.0), 30.0);
        assert_eq!(body.loss_db(321.0, 100.0), 0.0);
        assert_eq!(body.loss_db(260.0, 50.0), 0.0);
    }

    #[test]
    fn a_level_path_meets_others_as_often_as_their_widths_say() {
        let model = ModelA {
            own_body: None,
            blockers: 1,
            ..ModelA::default()
        };
        let (mut met, mut expected, total) = (0_u32, 0.0, 4000);
        for n in 0..total {
            let mut process = model.start(Stream::new(1, "test.model_a", n));
            // A region affects paths up to its width to either side of its centre. The probability
            // is therefore twice the width over 360 degrees.
            expected += 2.0 * process.blockers[0].0.width_deg / 360.0;
            let view = View {
                now: Time::ZERO + Span::from_secs(n),
                base: Point::new(100.0, 0.0, 1.5),
                ue: Point::new(0.0, 0.0, 1.5),
                has_direct_path: true,
                wavelength_m: 0.01,
            };
            met += u32::from(process.loss_db(&view) != 0.0);
        }
        // About 220 of 4,000 paths are blocked, so one standard error is 15. The limit is four
        // standard errors.
        assert!((f64::from(met) - expected).abs() < 60.0, "{met} {expected}");
    }
}
