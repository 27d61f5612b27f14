//! When a path will be cut and for how long, predicted from what cars have reported of places.
//!
//! Each base station has a map of regions: squares of the ground, or its beams, each with the share of reports from
//! there that found it cut off. A car announces its place and speed with each report; the base station
//! follows the straight way ahead through its map, and says when the first region that was mostly cut
//! begins and where the last one ends. It reads past reports alone, in the order in which they come.
//!
//! Source: the map of channel quality of Na et al., "Congestion control vs. link failure: TCP behavior in
//! mmWave connected vehicular networks", section 3.2.5, which gives it in words.

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

/// A car's report about a base station.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// When.
    pub at: Time,
    /// Who, by its number.
    pub ue: u32,
    /// Of whom.
    pub cell: u32,
    /// Where it is, metres: east and north.
    pub place: (f64, f64),
    /// How fast it goes, m/s.
    pub speed: (f64, f64),
    /// Whether it measured less than it can receive.
    pub is_cut: bool,
    /// Whether this cell serves it: while it is cut no report comes.
    pub serves: bool,
}

/// A base station's prediction that a car's path will be cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// When it says so.
    pub made: Time,
    /// Of whom.
    pub ue: u32,
    /// Who says so.
    pub cell: u32,
    /// When the path will be cut.
    pub starts: Time,
    /// For how long.
    pub lasts: Span,
}

/// How base stations predict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// What a region is.
    pub regions: Division,
    /// Side of a region that is a square, metres; the way ahead is looked at in steps of half of it.
    pub resolution_m: f64,
    /// Reports from a region until it is known.
    pub learning: u32,
    /// From one report of a car to the next.
    pub report_period: Span,
    /// How far ahead they look.
    pub horizon: Span,
    /// Standard deviation of a car's error of place, metres.
    pub place_error_m: f64,
    /// Standard deviation of a car's error of speed, as a share of it.
    pub speed_error: f64,
    /// Share of predictions that are lost.
    pub missed: f64,
    /// Share of reports without a prediction after which there is a wrong one.
    pub false_alarms: f64,
    /// Of the errors.
    pub seed: u64,
}
