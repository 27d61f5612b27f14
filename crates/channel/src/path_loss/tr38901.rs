//! Path loss and LOS probability of TR 38.901, for 0.5 to 100 GHz.
//!
//! Standard: TR 38.901 §7.4.1, §7.4.2.
//!
//! Heights outside the range of a table are clamped to the range. Ground distances below 10 m (1 m
//! indoors) are set to that value, because the formulas would take logarithms of zero. Distances
//! beyond the range are extrapolated.

use super::places::deviation_db;
use super::{ByCondition, Condition, Ends, PathLossModel, Places, StateProbabilities};
use crate::error::ConfigError;
use fadeout_core::math::{exp, log10, pow};
use fadeout_core::registry::{Entry, Registered, Settings, number};

/// Speed of light as rounded in Table 7.4.1-1 note 1, m/s.
const C: f64 = 3.0e8;

/// Heights of both antennas and of the environment in a street model, clamped to their ranges.
struct Street {
    base: f64,
    ue: f64,
    /// Effective environment height h_E.
    environment: f64,
}

impl Street {
    fn new(ends: &Ends, environment: f64) -> Street {
        Street {
            base: ends.base_height_m.max(environment + 1.0),
            ue: ends
                .ue_height_m
                .clamp(environment.max(1.0) + 0.5, HIGHEST_UE_M),
            environment,
        }
    }

    /// Returns the breakpoint distance d'_BP in metres (note 1).
    fn breakpoint(&self, carrier_ghz: f64) -> f64 {
        let (base, ue) = (self.base - self.environment, self.ue - self.environment);
        4.0 * base * ue * carrier_ghz * 1e9 / C
    }

    /// Returns the loss in LOS. `near` contains the constant and the slope before the breakpoint.
    /// Beyond the breakpoint the slope is 40 dB a decade. `breakpoint_factor` is the factor of the
    /// breakpoint term.
    fn loss(&self, ends: &Ends, near: (f64, f64), breakpoint_factor: f64) -> f64 {
        let (constant, slope) = near;
        let frequency = 20.0 * log10(ends.carrier_ghz);
        let breakpoint = self.breakpoint(ends.carrier_ghz);
        let rise = self.base - self.ue;
        if ends.ground_m <= breakpoint {
            constant + slope * log10(ends.slant_m) + frequency
        } else {
            constant + 40.0 * log10(ends.slant_m) + frequency
                - breakpoint_factor * log10(breakpoint * breakpoint + rise * rise)
        }
    }
}

/// Returns the breakpoint distance of UMi in metres.
pub fn umi_breakpoint_m(ends: &Ends) -> f64 {
    Street::new(ends, 1.0).breakpoint(ends.carrier_ghz)
}

/// Returns the loss of UMi-Street Canyon in dB.
///
/// Standard: TR 38.901 Table 7.4.1-1.
pub fn umi_db(ends: &Ends, condition: Condition) -> f64 {
    let ends = ends.at_least(10.0);
    let street = Street::new(&ends, 1.0);
    let los = street.loss(&ends, (32.4, 21.0), 9.5);
    match condition {
        Condition::Los => los,
        Condition::Nlos => los.max(
            35.3 * log10(ends.slant_m) + 22.4 + 21.3 * log10(ends.carrier_ghz)
                - 0.3 * (street.ue - 1.5),
        ),
    }
}

/// Returns the breakpoint distance of UMa in metres.
pub fn uma_breakpoint_m(ends: &Ends) -> f64 {
    Street::new(ends, ends.environment_height_m).breakpoint(ends.carrier_ghz)
}

/// Returns the loss of UMa in dB.
///
/// Standard: TR 38.901 Table 7.4.1-1.
pub fn uma_db(ends: &Ends, condition: Condition) -> f64 {
    let ends = ends.at_least(10.0);
    let street = Street::new(&ends, ends.environment_height_m);
    let los = street.loss(&ends, (28.0, 22.0), 9.0);
    match condition {
        Condition::Los => los,
        Condition::Nlos => los.max(
            13.54 + 39.08 * log10(ends.slant_m) + 20.0 * log10(ends.carrier_ghz)
                - 0.6 * (street.ue - 1.5),
        ),
    }
}

/// Returns the effective environment height h_E of UMa in metres (note 1), from a uniform number in
/// [0, 1). The height is 1 m with the probability `1 / (1 + C)`. Otherwise it is one of 12, 15, ...
/// up to h_UT - 1.5 m. A UE above 22.5 m is treated as a UE at 22.5 m.
pub fn uma_environment_height_m(ground_m: f64, ue_height_m: f64, uniform: f64) -> f64 {
    let ue_height_m = ue_height_m.min(HIGHEST_UE_M);
    let probability = 1.0 / (1.0 + uma_height_term(ground_m, ue_height_m));
    let choices = ((ue_height_m - 1.5 - 12.0) / 3.0).floor();
    if uniform < probability || choices < 0.0 {
        return 1.0;
    }
    let share = (uniform - probability) / (1.0 - probability);
    12.0 + 3.0 * (share * (choices + 1.0)).floor().min(choices)
}

/// Largest height of a UE in the street models in metres (UMa and UMi, Table 7.4.1-1).
const HIGHEST_UE_M: f64 = 22.5;

/// Largest height of a UE in metres whose effective environment height is always 1 m (note 1).
pub(crate) const LOW_UE_M: f64 = 13.0;

/// Returns the term C(d2D, h_UT) of note 1.
fn uma_height_term(ground_m: f64, ue_height_m: f64) -> f64 {
    if ue_height_m <= LOW_UE_M || ground_m <= 18.0 {
        return 0.0;
    }
    let hundreds = ground_m / 100.0;
    pow((ue_height_m.min(HIGHEST_UE_M) - 13.0) / 10.0, 1.5)
        * 1.25
        * hundreds
        * hundreds
        * hundreds
        * exp(-ground_m / 150.0)
}

fadeout_core::parameters! {
    /// Rural macro cell (RMa), with the defaults of Table 7.4.1-1.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RuralMacro {
        /// Average height of the buildings.
        pub building_height_m as "building-height": f64 = number((5.0, 50.0, "m"), "5"),
        /// Average width of the streets.
        pub street_width_m as "street-width": f64 = number((5.0, 50.0, "m"), "20"),
    }
}

impl RuralMacro {
    fn heights(ends: &Ends) -> (f64, f64) {
        (
            ends.base_height_m.clamp(10.0, 150.0),
            ends.ue_height_m.clamp(1.0, 10.0),
        )
    }

    /// Returns the breakpoint distance in metres (note 5).
    pub fn breakpoint_m(&self, ends: &Ends) -> f64 {
        let (base, ue) = RuralMacro::heights(ends);
        2.0 * std::f64::consts::PI * base * ue * ends.carrier_ghz * 1e9 / C
    }

    /// Returns the loss PL_1 at a distance in metres.
    fn near_db(&self, distance_m: f64, carrier_ghz: f64) -> f64 {
        let h = self.building_height_m;
        let power = pow(h, 1.72);
        20.0 * log10(40.0 * std::f64::consts::PI * distance_m * carrier_ghz / 3.0)
            + (0.03 * power).min(10.0) * log10(distance_m)
            - (0.044 * power).min(14.77)
            + 0.002 * log10(h) * distance_m
    }

    fn blocked_db(&self, ends: &Ends) -> f64 {
        let (base, ue) = RuralMacro::heights(ends);
        let log_base = log10(base);
        let ratio = self.building_height_m / base;
        roofs_db(
            ends,
            (base, log_base),
            self.street_width_m,
            self.building_height_m,
            ratio,
        ) - ue_term(11.75 * ue)
    }
}

/// Returns the part of RMa's NLOS loss that does not depend on the UE's height. 3D-UMa of TR 36.873
/// contains the same part.
pub(super) fn roofs_db(
    ends: &Ends,
    (_, log_base): (f64, f64),
    street_width_m: f64,
    building_height_m: f64,
    ratio: f64,
) -> f64 {
    161.04 - 7.1 * log10(street_width_m) + 7.5 * log10(building_height_m)
        - (24.37 - 3.7 * ratio * ratio) * log_base
        + (43.42 - 3.1 * log_base) * (log10(ends.slant_m) - 3.0)
        + 20.0 * log10(ends.carrier_ghz)
}

/// Returns `3.2 (log10 x)^2 - 4.97`, in which only the logarithm is squared.
pub(super) fn ue_term(x: f64) -> f64 {
    let log = log10(x);
    3.2 * log * log - 4.97
}

/// Returns the loss of InH-Office in dB.
///
/// Standard: TR 38.901 Table 7.4.1-1.
pub fn inh_db(ends: &Ends, condition: Condition) -> f64 {
    let ends = ends.at_least(1.0);
    let los = 32.4 + 17.3 * log10(ends.slant_m) + 20.0 * log10(ends.carrier_ghz);
    match condition {
        Condition::Los => los,
        Condition::Nlos => {
            los.max(38.3 * log10(ends.slant_m) + 17.3 + 24.9 * log10(ends.carrier_ghz))
        }
    }
}

/// Returns the LOS probability of RMa at a ground distance in metres.
///
/// Standard: TR 38.901 Table 7.4.2-1.
pub fn rma_los_probability(ground_m: f64) -> f64 {
    if ground_m <= 10.0 {
        1.0
    } else {
        exp(-(ground_m - 10.0) / 1000.0)
    }
}

/// Returns the LOS probability of UMi at a ground distance in metres.
///
/// Standard: TR 38.901 Table 7.4.2-1.
pub fn umi_los_probability(ground_m: f64) -> f64 {
    street_los_probability(ground_m, 36.0)
}

/// Returns the LOS probability of UMa at a ground distance and for a UE height, both in metres.
///
/// Standard: TR 38.901 Table 7.4.2-1.
pub fn uma_los_probability(ground_m: f64, ue_height_m: f64) -> f64 {
    let street = street_los_probability(ground_m, 63.0);
    (street * (1.0 + uma_height_term(ground_m, ue_height_m))).min(1.0)
}

fn street_los_probability(ground_m: f64, decay_m: f64) -> f64 {
    if ground_m <= 18.0 {
        return 1.0;
    }
    let near = 18.0 / ground_m;
    near + exp(-ground_m / decay_m) * (1.0 - near)
}

/// Returns the LOS probability of InH, mixed office, at a ground distance in metres.
///
/// Standard: TR 38.901 Table 7.4.2-1.
pub fn inh_mixed_los_probability(ground_m: f64) -> f64 {
    if ground_m <= 1.2 {
        1.0
    } else if ground_m < 6.5 {
        exp(-(ground_m - 1.2) / 4.7)
    } else {
        0.32 * exp(-(ground_m - 6.5) / 32.6)
    }
}

/// Returns the LOS probability of InH, open office, at a ground distance in metres.
///
/// Standard: TR 38.901 Table 7.4.2-1.
pub fn inh_open_los_probability(ground_m: f64) -> f64 {
    if ground_m <= 5.0 {
        1.0
    } else if ground_m <= 49.0 {
        exp(-(ground_m - 5.0) / 70.8)
    } else {
        0.54 * exp(-(ground_m - 49.0) / 211.7)
    }
}

/// Urban macro cell (UMa).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrbanMacro;

impl Registered for UrbanMacro {
    const ENTRY: Entry = Entry::new(
        "uma",
        "3gpp-nr",
        "Urban macro cell, 0.5 to 100 GHz.",
        "TR 38.901 Table 7.4.1-1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        UrbanMacro
    }
}

impl PathLossModel for UrbanMacro {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        uma_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(uma_los_probability(ends.ground_m, ends.ue_height_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("uma,LOS"),
            nlos: deviation_db("uma,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        const INDOORS_DB: f64 = deviation_db("uma,indoors");
        Some(INDOORS_DB)
    }

    fn places(&self) -> Places {
        Places::URBAN_MACRO
    }

    fn draws_environment_height(&self) -> bool {
        true
    }
}

/// Urban micro cell (UMi-Street Canyon).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrbanMicro;

impl Registered for UrbanMicro {
    const ENTRY: Entry = Entry::new(
        "umi",
        "3gpp-nr",
        "Urban micro cell in a street canyon, 0.5 to 100 GHz.",
        "TR 38.901 Table 7.4.1-1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        UrbanMicro
    }
}

impl PathLossModel for UrbanMicro {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        umi_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(umi_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("umi,LOS"),
            nlos: deviation_db("umi,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        const INDOORS_DB: f64 = deviation_db("umi,indoors");
        Some(INDOORS_DB)
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}

impl Registered for RuralMacro {
    const ENTRY: Entry = Entry::new(
        "rma",
        "3gpp-nr",
        "Rural macro cell, 0.5 to 30 GHz.",
        "TR 38.901 Table 7.4.1-1",
    )
    .with_parameters(RuralMacro::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        RuralMacro::read(settings)
    }
}

impl PathLossModel for RuralMacro {
    /// Returns the loss of RMa in dB, valid up to 30 GHz.
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let ends = ends.at_least(10.0);
        let breakpoint = self.breakpoint_m(&ends);
        let los = if ends.ground_m <= breakpoint {
            self.near_db(ends.slant_m, ends.carrier_ghz)
        } else {
            self.near_db(breakpoint, ends.carrier_ghz) + 40.0 * log10(ends.slant_m / breakpoint)
        };
        match condition {
            Condition::Los => los,
            Condition::Nlos => los.max(self.blocked_db(&ends)),
        }
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(rma_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, ends: &Ends, condition: Condition) -> f64 {
        const NEAR_DB: f64 = deviation_db("rma,LOS");
        const FAR_DB: f64 = deviation_db("rma,LOS beyond breakpoint");
        const NLOS_DB: f64 = deviation_db("rma,NLOS");
        match condition {
            Condition::Los if ends.ground_m > self.breakpoint_m(ends) => FAR_DB,
            Condition::Los => NEAR_DB,
            Condition::Nlos => NLOS_DB,
        }
    }

    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        const INDOORS_DB: f64 = deviation_db("rma,indoors");
        Some(INDOORS_DB)
    }

    fn places(&self) -> Places {
        const { Places::from_row("RMa") }
    }

    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within("building height", self.building_height_m, 5.0..=50.0, "m")?;
        ConfigError::within("street width", self.street_width_m, 5.0..=50.0, "m")
    }
}

const INDOOR: Places = Places::from_row("InH");

/// Indoor hotspot (InH), mixed office.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndoorMixed;

impl Registered for IndoorMixed {
    const ENTRY: Entry = Entry::new(
        "inh-mixed",
        "3gpp-nr",
        "Indoor hotspot in a mixed office.",
        "TR 38.901 Tables 7.4.1-1 and 7.4.2-1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        IndoorMixed
    }
}

impl PathLossModel for IndoorMixed {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        inh_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(inh_mixed_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("inh,LOS"),
            nlos: deviation_db("inh,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn places(&self) -> Places {
        INDOOR
    }
}

/// Indoor hotspot (InH), open office.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndoorOpen;

impl Registered for IndoorOpen {
    const ENTRY: Entry = Entry::new(
        "inh-open",
        "3gpp-nr",
        "Indoor hotspot in an open office.",
        "TR 38.901 Tables 7.4.1-1 and 7.4.2-1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        IndoorOpen
    }
}

impl PathLossModel for IndoorOpen {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        inh_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(inh_open_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("inh,LOS"),
            nlos: deviation_db("inh,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn places(&self) -> Places {
        INDOOR
    }
}
