//! Path loss models of studies for LTE.
//!
//! Standard: TR 36.942; TR 36.814; TR 36.873.

use super::places::deviation_db;
use super::tr38901::{self, roofs_db, ue_term};
use super::{ByCondition, Condition, Ends, PathLossModel, Places, StateProbabilities};
use fadeout_core::math::{exp, log10};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Returns the loss of the macro cell of TR 36.942, also used in TR 36.814. The antenna is 15 m
/// above the roofs. The loss at 1 km is 128.1 dB at 2 GHz and 120.9 dB at 900 MHz. The value for
/// the nearer of both carriers is used. The slope is 37.6 dB a decade. The distance is at least 35
/// m.
///
/// Standard: TR 36.942 §4.5.2; TR 36.814 Table A.2.1.1-2.
pub fn macro_db(ends: &Ends) -> f64 {
    let ends = ends.at_least(35.0);
    let at_one_km = if ends.carrier_ghz < 1.45 {
        120.9
    } else {
        128.1
    };
    at_one_km + 37.6 * log10(ends.slant_m / 1000.0)
}

/// Returns the loss of the macro cell of TR 36.814 (HetNet) at 2 GHz. The distance is at least 35
/// m.
///
/// Standard: TR 36.814 Table A.2.1.1.2-3.
pub fn hetnet_macro_db(ends: &Ends, condition: Condition) -> f64 {
    let log_km = log10(ends.at_least(35.0).slant_m / 1000.0);
    match condition {
        Condition::Los => 103.4 + 24.2 * log_km,
        Condition::Nlos => 131.1 + 42.8 * log_km,
    }
}

/// Returns the LOS probability of the HetNet macro cell at a ground distance in metres.
pub fn hetnet_macro_los_probability(ground_m: f64) -> f64 {
    let km = ground_m.max(1.0) / 1000.0;
    let decay = exp(-km / 0.063);
    (0.018 / km).min(1.0) * (1.0 - decay) + decay
}

/// Returns the loss of the pico cell of TR 36.814 (HetNet) at 2 GHz. The distance is at least 10 m.
///
/// Standard: TR 36.814 Table A.2.1.1.2-3.
pub fn hetnet_pico_db(ends: &Ends, condition: Condition) -> f64 {
    let log_km = log10(ends.at_least(10.0).slant_m / 1000.0);
    match condition {
        Condition::Los => 103.8 + 20.9 * log_km,
        Condition::Nlos => 145.4 + 37.5 * log_km,
    }
}

/// Returns the LOS probability of the HetNet pico cell at a ground distance in metres.
pub fn hetnet_pico_los_probability(ground_m: f64) -> f64 {
    let km = ground_m.max(1.0) / 1000.0;
    0.5 - (5.0 * exp(-0.156 / km)).min(0.5) + (5.0 * exp(-km / 0.03)).min(0.5)
}

/// Returns the loss of 3D-UMa in TR 36.873. In LOS it equals UMa of TR 38.901. In NLOS streets are
/// 20 m wide and buildings 20 m high.
///
/// Standard: TR 36.873 Table 7.2-1.
pub fn uma_3d_db(ends: &Ends, condition: Condition) -> f64 {
    let los = tr38901::uma_db(ends, Condition::Los);
    if condition == Condition::Los {
        return los;
    }
    let ends = ends.at_least(10.0);
    let base = ends.base_height_m.max(10.0);
    let ue = ends.ue_height_m.clamp(1.5, 22.5);
    let blocked = roofs_db(&ends, (base, log10(base)), 20.0, 20.0, 20.0 / base)
        - ue_term(17.625)
        - 0.6 * (ue - 1.5);
    los.max(blocked)
}

/// Returns the loss of 3D-UMi in TR 36.873. In LOS it has both slopes and the breakpoint term of
/// 3D-UMa.
///
/// Standard: TR 36.873 Table 7.2-1.
pub fn umi_3d_db(ends: &Ends, condition: Condition) -> f64 {
    let ends = Ends {
        environment_height_m: 1.0,
        ..ends.at_least(10.0)
    };
    let los = tr38901::uma_db(&ends, Condition::Los);
    match condition {
        Condition::Los => los,
        Condition::Nlos => {
            let ue = ends.ue_height_m.clamp(1.5, 22.5);
            los.max(
                36.7 * log10(ends.slant_m) + 22.7 + 26.0 * log10(ends.carrier_ghz)
                    - 0.3 * (ue - 1.5),
            )
        }
    }
}

const MACRO: Places = Places::from_row("LTE macro");

/// Macro cell of TR 36.942. All links are in NLOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LteMacro;

impl Registered for LteMacro {
    const ENTRY: Entry = Entry::new(
        "lte-macro",
        "3gpp-lte",
        "Macro cell at 2 GHz or 900 MHz. The path loss does not depend on line of sight.",
        "TR 36.942 clause 4.5.2; TR 36.814 Table A.2.1.1-2",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        LteMacro
    }
}

impl PathLossModel for LteMacro {
    fn loss_db(&self, ends: &Ends, _: Condition) -> f64 {
        macro_db(ends)
    }

    fn state_probabilities(&self, _: &Ends) -> StateProbabilities {
        StateProbabilities::los(0.0)
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("lte-macro,LOS"),
            nlos: deviation_db("lte-macro,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn steepest_db(&self, _: Condition) -> Option<f64> {
        Some(37.6)
    }

    fn between_sites(&self) -> f64 {
        BETWEEN_SITES
    }

    fn places(&self) -> Places {
        MACRO
    }
}

/// Correlation of the shadowing between different sites.
///
/// Standard: TR 36.814 Table A.2.1.1-1.
const BETWEEN_SITES: f64 = 0.5;

/// HetNet macro cell of TR 36.814.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HetnetMacro;

impl Registered for HetnetMacro {
    const ENTRY: Entry = Entry::new(
        "hetnet-macro",
        "3gpp-lte",
        "Macro cell of 3GPP's studies on heterogeneous networks, at 2 GHz.",
        "TR 36.814 Table A.2.1.1.2-3",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        HetnetMacro
    }
}

impl PathLossModel for HetnetMacro {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        hetnet_macro_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(hetnet_macro_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("hetnet-macro,LOS"),
            nlos: deviation_db("hetnet-macro,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn steepest_db(&self, condition: Condition) -> Option<f64> {
        Some(match condition {
            Condition::Los => 24.2,
            Condition::Nlos => 42.8,
        })
    }

    fn between_sites(&self) -> f64 {
        BETWEEN_SITES
    }

    fn places(&self) -> Places {
        MACRO
    }
}

/// HetNet pico cell of TR 36.814.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HetnetPico;

impl Registered for HetnetPico {
    const ENTRY: Entry = Entry::new(
        "hetnet-pico",
        "3gpp-lte",
        "Pico cell of 3GPP's studies on heterogeneous networks, at 2 GHz.",
        "TR 36.814 Table A.2.1.1.2-3",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        HetnetPico
    }
}

impl PathLossModel for HetnetPico {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        hetnet_pico_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(hetnet_pico_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("hetnet-pico,LOS"),
            nlos: deviation_db("hetnet-pico,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn steepest_db(&self, condition: Condition) -> Option<f64> {
        Some(match condition {
            Condition::Los => 20.9,
            Condition::Nlos => 37.5,
        })
    }

    fn between_sites(&self) -> f64 {
        BETWEEN_SITES
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}

/// 3D-UMa of TR 36.873.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrbanMacro3d;

impl Registered for UrbanMacro3d {
    const ENTRY: Entry = Entry::new(
        "3d-uma",
        "3gpp-lte",
        "Urban macro cell of the three-dimensional LTE model, 2 to 6 GHz.",
        "TR 36.873 Table 7.2-1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        UrbanMacro3d
    }
}

impl PathLossModel for UrbanMacro3d {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        uma_3d_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        let los = tr38901::uma_los_probability(ends.ground_m, ends.ue_height_m);
        StateProbabilities::los(los)
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("3d-uma,LOS"),
            nlos: deviation_db("3d-uma,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        const INDOORS_DB: f64 = deviation_db("3d-uma,indoors");
        Some(INDOORS_DB)
    }

    fn places(&self) -> Places {
        Places::URBAN_MACRO
    }

    fn draws_environment_height(&self) -> bool {
        true
    }
}

/// 3D-UMi of TR 36.873.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrbanMicro3d;

impl Registered for UrbanMicro3d {
    const ENTRY: Entry = Entry::new(
        "3d-umi",
        "3gpp-lte",
        "Urban micro cell of the three-dimensional LTE model, 2 to 6 GHz.",
        "TR 36.873 Table 7.2-1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        UrbanMicro3d
    }
}

impl PathLossModel for UrbanMicro3d {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        umi_3d_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(tr38901::umi_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        const SIGMA_DB: ByCondition = ByCondition {
            los: deviation_db("3d-umi,LOS"),
            nlos: deviation_db("3d-umi,NLOS"),
        };
        SIGMA_DB.for_condition(condition)
    }

    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        const INDOORS_DB: f64 = deviation_db("3d-umi,indoors");
        Some(INDOORS_DB)
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}
