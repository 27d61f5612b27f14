//! Deviations and correlation distances of the shadowing of path-loss models.

use super::Condition;
use fadeout_core::data::{cell, number};

const DEVIATIONS: &str = include_str!("../../data/shadowing_deviations.csv");
const DISTANCES: &str = include_str!("../../data/correlation_distances.csv");

/// Returns the standard deviation of the shadowing in one row of `data/shadowing_deviations.csv`,
/// dB.
pub(super) const fn deviation_db(row: &str) -> f64 {
    number(DEVIATIONS, row, 2)
}

/// Two numbers, one for LOS and one for NLOS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByCondition {
    /// Number for LOS.
    pub los: f64,
    /// Number for NLOS.
    pub nlos: f64,
}

impl ByCondition {
    /// Returns the number for a LOS state.
    pub fn for_condition(&self, condition: Condition) -> f64 {
        match condition {
            Condition::Los => self.los,
            Condition::Nlos => self.nlos,
        }
    }
}

/// Correlation distances of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Places {
    /// Correlation distance of the shadowing, metres. At this distance the correlation has fallen
    /// to 1/e.
    pub shadowing_m: ByCondition,
    /// Correlation distance of the LOS state, metres.
    pub state_m: f64,
    /// Scenario of TR 38.901 Table 7.5-6 from which K factor and delay spread are taken.
    pub scenario: &'static str,
}

impl Places {
    /// Returns the distances from one row of `data/correlation_distances.csv`.
    pub(super) const fn from_row(row: &'static str) -> Places {
        Places {
            shadowing_m: ByCondition {
                los: number(DISTANCES, row, 1),
                nlos: number(DISTANCES, row, 2),
            },
            state_m: number(DISTANCES, row, 3),
            scenario: cell(DISTANCES, row, 4),
        }
    }

    /// Distances of UMi. Models use them if their source gives no distances.
    pub const URBAN_MICRO: Places = Places::from_row("UMi");
    /// Distances of UMa.
    pub const URBAN_MACRO: Places = Places::from_row("UMa");
}
