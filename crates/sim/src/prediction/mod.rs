//! Prediction of the time and duration of blockages, from the vehicles' reports of earlier
//! positions.
//!
//! Each base station has a map of regions, which are squares of the ground or its beams. Each
//! region has the share of reports from there that found it blocked. Each report of a vehicle has
//! its position and speed. The base station follows the straight line ahead through its map. The
//! predicted blockage begins with the first region that was mostly blocked, and ends behind the
//! last one. The base station uses only past reports, in the order in which they arrive.
//!
//! Source: Na et al., "Congestion control vs. link failure: TCP behavior in mmWave connected
//! vehicular networks", section 3.2.5. The paper describes its map of channel quality in words.

mod ahead;
mod cars;
mod forecast;
mod predictor;
mod regions;
mod score;

pub(crate) use cars::Cars;
pub(crate) use forecast::{Forecast, future};
pub use predictor::{Predictor, Seen};
pub use regions::Division;
pub use score::{Cut, Outcome, Said, Score, match_up, score};

use fadeout_core::{Span, Time};

/// Report of a vehicle on a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Time of the report.
    pub at: Time,
    /// Number of the vehicle's UE.
    pub ue: u32,
    /// Number of the measured cell.
    pub cell: u32,
    /// Position of the vehicle, metres: east and north.
    pub place: (f64, f64),
    /// Velocity of the vehicle, m/s: east and north.
    pub speed: (f64, f64),
    /// True if the measured level is too low for reception.
    pub is_cut: bool,
    /// True if the measured cell serves the UE. No reports arrive while the serving cell is
    /// blocked.
    pub serves: bool,
}

/// Prediction of a base station that the path to a vehicle will be blocked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Time of the prediction.
    pub made: Time,
    /// Number of the vehicle's UE.
    pub ue: u32,
    /// Number of the predicting cell.
    pub cell: u32,
    /// Predicted start of the blockage.
    pub starts: Time,
    /// Predicted duration of the blockage.
    pub lasts: Span,
}

/// Settings of the prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Division of the ground into regions.
    pub regions: Division,
    /// Side of a square region, metres. The line ahead is sampled in steps of half of it.
    pub resolution_m: f64,
    /// Number of reports from a region before it is used.
    pub learning: u32,
    /// Time between two reports of a vehicle.
    pub report_period: Span,
    /// Longest time ahead of a prediction.
    pub horizon: Span,
    /// Standard deviation of a vehicle's position error, metres.
    pub place_error_m: f64,
    /// Standard deviation of a vehicle's speed error, as a share of the speed.
    pub speed_error: f64,
    /// Share of predictions that are lost.
    pub missed: f64,
    /// Share of reports without a prediction that cause a wrong one.
    pub false_alarms: f64,
    /// Seed of the errors.
    pub seed: u64,
}
