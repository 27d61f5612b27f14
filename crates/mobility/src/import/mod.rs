//! Readers of movement traces of other tools.

mod bonnmotion;
mod ns2;
mod streets;
mod sumo;
mod sumo_csv;
mod traced;

pub use bonnmotion::bonnmotion;
pub use ns2::ns2;
pub use streets::{ImportedStreets, streets};
pub use sumo::{sumo_fcd, sumo_vehicles};
pub use sumo_csv::{sumo_csv, sumo_csv_vehicles};
pub use traced::TracedVehicle;

use crate::{Leg, Track};
use std::collections::BTreeMap;

/// Tracks of a trace file, by the name of the node or vehicle in the file.
pub type Tracks = BTreeMap<String, Track>;

/// Error with which a trace file is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TraceError {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Description of the mistake and of the expected content.
    pub message: String,
}

impl TraceError {
    fn new(line: usize, message: impl Into<String>) -> TraceError {
        TraceError {
            line,
            message: message.into(),
        }
    }
}

/// Largest valid time in a trace file, in seconds.
const MAX_SECONDS: f64 = 1e6;
/// Largest valid coordinate in a trace file, in metres.
const MAX_METRES: f64 = 1e7;

/// Highest valid speed in a trace file, in metres per second. Generators write speeds far above
/// that of light for nodes that jump.
const MAX_SPEED: f64 = 1e30;

/// Parses a finite number from `-most` to `most`.
fn number(text: &str, what: &str, most: f64, line: usize) -> Result<f64, TraceError> {
    match text.parse::<f64>() {
        Ok(value) if value.abs() <= most => Ok(value),
        _ => {
            let shown: String = text.chars().take(24).collect();
            let message = format!("`{shown}` as {what}; expected a number within ±{most:e}");
            Err(TraceError::new(line, message))
        }
    }
}

fn tracks(legs: BTreeMap<String, Vec<Leg>>) -> Tracks {
    legs.into_iter()
        .filter(|(_, legs)| !legs.is_empty())
        .map(|(name, legs)| (name, Track::legs(legs)))
        .collect()
}
