//! Path loss of the LTE-era studies: TR 36.942, TR 36.814 and TR 36.873.

use super::tr38901::{roofs_db, ue_term};
use super::{Condition, Ends};
use fadeout_core::math::{exp, log10};

/// Macro cell of TR 36.942 clause 4.5.2 (and TR 36.814 Table A.2.1.1-2), antenna 15 m above the
/// roofs: 128.1 dB at 1 km and 2 GHz, 120.9 dB at 900 MHz, 37.6 dB a decade. The nearer of the two
/// carriers decides; distance at least 35 m.
pub fn macro_db(ends: &Ends) -> f64 {
    let ends = ends.at_least(35.0);
    let at_one_km = if ends.carrier_ghz < 1.45 {
        120.9
    } else {
        128.1
    };
    at_one_km + 37.6 * log10(ends.slant_m / 1000.0)
}

/// Macro cell of TR 36.814 Table A.2.1.1.2-3 (HetNet), 2 GHz; distance at least 35 m.
pub fn hetnet_macro_db(ends: &Ends, condition: Condition) -> f64 {
    let log_km = log10(ends.at_least(35.0).slant_m / 1000.0);
    match condition {
        Condition::Los => 103.4 + 24.2 * log_km,
        Condition::Nlos => 131.1 + 42.8 * log_km,
    }
}

/// LOS probability of the HetNet macro cell.
pub fn hetnet_macro_los_probability(ground_m: f64) -> f64 {
    let km = ground_m.max(1.0) / 1000.0;
    let decay = exp(-km / 0.063);
    (0.018 / km).min(1.0) * (1.0 - decay) + decay
}

/// Pico cell of TR 36.814 Table A.2.1.1.2-3 (HetNet), 2 GHz; distance at least 10 m.
pub fn hetnet_pico_db(ends: &Ends, condition: Condition) -> f64 {
    let log_km = log10(ends.at_least(10.0).slant_m / 1000.0);
    match condition {
        Condition::Los => 103.8 + 20.9 * log_km,
        Condition::Nlos => 145.4 + 37.5 * log_km,
    }
}

/// LOS probability of the HetNet pico cell.
pub fn hetnet_pico_los_probability(ground_m: f64) -> f64 {
    let km = ground_m.max(1.0) / 1000.0;
    0.5 - (5.0 * exp(-0.156 / km)).min(0.5) + (5.0 * exp(-km / 0.03)).min(0.5)
}

/// 3D-UMa of TR 36.873 Table 7.2-1. In LOS as UMa of TR 38.901; in NLOS streets of 20 m and
/// houses of 20 m.
pub fn uma_3d_db(ends: &Ends, condition: Condition) -> f64 {
    let los = super::tr38901::uma_db(ends, Condition::Los);
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

/// 3D-UMi of TR 36.873 Table 7.2-1. In LOS it has the near and far slopes and the breakpoint
/// term of 3D-UMa.
pub fn umi_3d_db(ends: &Ends, condition: Condition) -> f64 {
    let ends = Ends {
        environment_height_m: 1.0,
        ..ends.at_least(10.0)
    };
    let los = super::tr38901::uma_db(&ends, Condition::Los);
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
