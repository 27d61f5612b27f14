//! How the shadowing of a path-loss model spreads, and over which distances places are alike.

use super::Condition;
use fadeout_core::data::{cell, number};

const DEVIATIONS: &str = include_str!("../../../../data/shadowing_deviations.csv");
const DISTANCES: &str = include_str!("../../../../data/correlation_distances.csv");

/// Standard deviation of the shadowing of one row of `data/shadowing_deviations.csv`, dB.
pub(super) const fn deviation_db(row: &str) -> f64 {
    number(DEVIATIONS, row, 2)
}

/// A number for each condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByCondition {
    /// In line of sight.
    pub los: f64,
    /// Not in line of sight.
    pub nlos: f64,
}

impl ByCondition {
    /// The number of a condition.
    pub fn of(&self, condition: Condition) -> f64 {
        match condition {
            Condition::Los => self.los,
            Condition::Nlos => self.nlos,
        }
    }
}

/// Distances over which the places of a scenario are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Places {
    /// Over which the correlation of the shadowing falls to 1/e, metres.
    pub shadowing_m: ByCondition,
    /// Correlation distance of the LOS state, metres.
    pub state_m: f64,
    /// The scenario of TR 38.901 Table 7.5-6 whose K factor and delay spread the places have.
    pub scenario: &'static str,
}

impl Places {
    /// A row of `data/correlation_distances.csv`.
    pub(super) const fn of(row: &'static str) -> Places {
        Places {
            shadowing_m: ByCondition {
                los: number(DISTANCES, row, 1),
                nlos: number(DISTANCES, row, 2),
            },
            state_m: number(DISTANCES, row, 3),
            scenario: cell(DISTANCES, row, 4),
        }
    }

    /// UMi, which a model takes whose source names no distances.
    pub const URBAN_MICRO: Places = Places::of("UMi");
    /// UMa.
    pub const URBAN_MACRO: Places = Places::of("UMa");
}
