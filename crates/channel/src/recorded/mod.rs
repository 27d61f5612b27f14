//! Recorded channels: gain or SINR over time, from a ray tracer or a drive test.
//!
//! [`read`] reads a CSV table. It returns a [`Recording`] for each pair of UE and cell. A
//! [`Series`] returns the quantity at any time.

mod csv;
mod series;

pub use csv::read;
pub use series::{Interpolation, Series};

use fadeout_core::{Span, Time};

/// Recording of one pair of UE and cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Name of the UE.
    pub ue: String,
    /// Name of the cell.
    pub cell: String,
    /// Line of the file on which the pair first appears, counted from 1.
    pub line: usize,
    /// Recorded quantity over time.
    pub quantity: Quantity,
}

/// Quantity of a recording, over the time of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// Ratio of received to transmitted power in dB, including the gains of both antennas.
    Gain(Series),
    /// SINR over the band in dB.
    Sinr {
        /// SINR of the downlink.
        downlink: Series,
        /// SINR of the uplink. If the file has none, the SINR of the downlink is used.
        uplink: Series,
    },
}

/// Options for reading a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Time in the file at which the run starts.
    pub start: Span,
    /// Duration of the run.
    pub duration: Span,
    /// Interpolation between two rows.
    pub interpolation: Interpolation,
    /// Handling of times before the first and after the last row.
    pub outside: Outside,
    /// Longest allowed time between two rows of a pair during the run.
    pub maximum_gap: Span,
}

pub use fadeout_core::agreed::Outside;

/// Error with which a file is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct RecordingError {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Description of the mistake and of the expected content.
    pub message: String,
}

impl RecordingError {
    fn new(line: usize, message: impl Into<String>) -> RecordingError {
        RecordingError {
            line,
            message: message.into(),
        }
    }
}

impl Reading {
    /// Returns options for a whole file that begins at 0 s. Before the first row and after the
    /// last, their values are used.
    pub fn whole() -> Reading {
        Reading {
            start: Span::ZERO,
            duration: Span::ZERO,
            interpolation: Interpolation::Linear,
            outside: Outside::Hold,
            maximum_gap: Span::MAX,
        }
    }

    /// Returns the times in the file at which the run starts and ends.
    fn window(&self) -> (Time, Time) {
        let from = Time::ZERO.saturating_add(self.start);
        (from, from.saturating_add(self.duration))
    }
}
