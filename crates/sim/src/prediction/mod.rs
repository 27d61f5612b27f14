//! Prediction of the time and duration of blockages, from the vehicles' reports of earlier
//! positions.
//! Each base station has a map that is divided into regions. A region is a square of the ground or
//! a beam. For each region the map contains the share of reports that found the path blocked. A
//! report contains the position and the speed of a vehicle. The base station extends the vehicle's
//! path in a straight line over the map. The predicted blockage begins at the first region in which
//! most reports were blocked. It ends after the last adjoining region with this property. The base
//! station uses only past reports, in the order of their arrival.
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
pub use regions::RegionShape;
pub use score::{Cut, Outcome, Score, SentPrediction, match_up, score};

use fadeout_core::{Span, Time};

/// Measurement report of a vehicle on one cell.
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
    /// True if the measured cell serves the UE. While the serving cell is blocked, the base station
    /// receives no report.
    pub serves: bool,
}

/// Prediction by a base station that the path to a vehicle will be blocked.
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
pub struct PredictionSettings {
    /// Division of the ground into regions.
    pub regions: RegionShape,
    /// Side of a square region, metres. The vehicle's extended path is sampled in steps of half a
    /// side.
    pub resolution_m: f64,
    /// Number of reports that a region needs before predictions use it.
    pub learning: u32,
    /// Time between two reports of a vehicle.
    pub report_period: Span,
    /// Longest time between a prediction and the start of the predicted blockage.
    pub horizon: Span,
    /// Standard deviation of a vehicle's position error, metres.
    pub place_error_m: f64,
    /// Standard deviation of a vehicle's speed error, as a share of the speed.
    pub speed_error: f64,
    /// Probability that a prediction is lost.
    pub missed: f64,
    /// Probability of a false prediction after a report that finds no blockage ahead.
    pub false_alarms: f64,
    /// Seed of the random errors.
    pub seed: u64,
}
