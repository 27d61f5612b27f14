//! A channel from outside: gain or SINR over time, from a ray tracer or a drive test.
//!
//! [`read`] makes [`Recording`]s of a table in CSV, one for each pair of UE and cell, and a
//! [`Series`] says what the quantity is at any time.

mod csv;
mod series;

pub use csv::read;
pub use series::{Interpolation, Series};

use fadeout_core::{Span, Time};

/// The recording of a UE and a cell in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The UE's name.
    pub ue: String,
    /// The cell's name.
    pub cell: String,
    /// Line of the file that names them first, from 1.
    pub line: usize,
    /// The quantity over time.
    pub quantity: Quantity,
}

/// The quantity that a file has, over the time of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// Received by transmitted power in dB, both antennas' gains included.
    Gain(Series),
    /// SINR over the band in dB.
    Sinr {
        /// Of the downlink.
        downlink: Series,
        /// Of the uplink; the downlink's where the file has none.
        uplink: Series,
    },
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Time in the file at which the run starts.
    pub start: Span,
    /// How long the run is.
    pub duration: Span,
    /// The value between two rows.
    pub interpolation: Interpolation,
    /// The value before the first and after the last row.
    pub outside: Outside,
    /// Longest time between two rows of a pair during the run.
    pub maximum_gap: Span,
}

pub use fadeout_core::agreed::Outside;

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct RecordingError {
    /// Line of the file, from 1.
    pub line: usize,
    /// The mistake, and what was expected.
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
    /// The whole of a file that begins at 0 s, with the values of its borders outside.
    pub fn whole() -> Reading {
        Reading {
            start: Span::ZERO,
            duration: Span::ZERO,
            interpolation: Interpolation::Linear,
            outside: Outside::Hold,
            maximum_gap: Span::MAX,
        }
    }

    /// The times of the file that the run takes.
    fn window(&self) -> (Time, Time) {
        let from = Time::ZERO.saturating_add(self.start);
        (from, from.saturating_add(self.duration))
    }
}
