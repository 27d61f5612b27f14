//! Movement traces of other tools.

mod bonnmotion;
mod ns2;
mod streets;
mod sumo;
mod sumo_csv;
mod traced;

pub use bonnmotion::bonnmotion;
pub use ns2::ns2;
pub use streets::{Streets, streets};
pub use sumo::{sumo_fcd, sumo_vehicles};
pub use sumo_csv::{sumo_csv, sumo_csv_vehicles};
pub use traced::TracedVehicle;

use crate::{Leg, Track};
use std::collections::BTreeMap;

/// The tracks of a trace file, by the name that the file gives each node or vehicle.
pub type Tracks = BTreeMap<String, Track>;

/// Why a trace file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TraceError {
    /// Line of the file, from 1.
    pub line: usize,
    /// The mistake, and what was expected.
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

/// Longest time in a trace, in seconds; a time beyond it is a mistake.
const MAX_SECONDS: f64 = 1e6;
/// Farthest coordinate in a trace, in metres.
const MAX_METRES: f64 = 1e7;

/// A finite number of at most `most` either side of zero.
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
