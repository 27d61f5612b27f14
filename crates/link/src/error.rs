//! Errors in a link's parameters.

use fadeout_core::registry::OutOfRange;
use fadeout_core::{Rate, Span, Time};

/// Reason for which a link cannot be built. Every message gives the expected value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// The link would never send anything.
    #[error("the rate is always zero; expected a positive rate")]
    NeverSends,
    /// A rate that varies or is sent in blocks, too small to simulate packet by packet.
    #[error(
        "a rate that varies or is sent in blocks is {0:?}; expected zero or at least 0.001 Mbit/s"
    )]
    RateTooSmall(Rate),
    /// A list of steps is empty or does not begin at time zero.
    #[error("steps begin at {}; expected the first step at 0 s",
        .0.map_or_else(|| "no time at all".to_owned(), |at| at.to_string()))]
    FirstStep(Option<Span>),
    /// A step, an interval or a gap too short to simulate.
    #[error("{what} lasts {length}; expected at least {least}")]
    TooShort {
        /// The length of time that is too short.
        what: &'static str,
        /// Its length.
        length: Span,
        /// The least length.
        least: Span,
    },
    /// A periodic interval that does not end before the next one begins.
    #[error("an interval of {duration} repeats every {period}; expected it to end before the next")]
    FillsPeriod {
        /// Length of the interval.
        duration: Span,
        /// Distance from one beginning to the next.
        period: Span,
    },
    /// An interval that ends before it begins, or begins before the one listed before it ends.
    #[error("interval {start} to {end}; expected intervals in order, each ending after its start")]
    Interval {
        /// Beginning of the interval.
        start: Time,
        /// Its end.
        end: Time,
    },
    /// A schedule with too many intervals.
    #[error("the schedule has more than {0} intervals before the end; expected fewer")]
    TooManyIntervals(usize),
    /// A probability outside [0, 1].
    #[error("{name} is {value}; expected a probability between 0 and 1")]
    Probability {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A parameter of a queue discipline out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A Gilbert–Elliott chain that never moves has no stationary distribution.
    #[error("both transition probabilities are zero; expected at least one above zero")]
    FrozenChain,
    /// A queue or hold limit that admits nothing.
    #[error("{0} is zero; expected at least 1")]
    ZeroLimit(&'static str),
    /// A listed arrival that is zero or does not come after the one before it.
    #[error("arrival {ordinal} is listed after {previous}; expected increasing ordinals from 1 on")]
    Ordinal {
        /// The ordinal.
        ordinal: u64,
        /// The one before it; 0 before the first.
        previous: u64,
    },
    /// Packets cannot keep the rate of their arrival on this link.
    #[error("packets keep the rate of their arrival on a link with {0}; expected {1}")]
    ForArrivals(&'static str, &'static str),
    /// A trace with a blockage that slows the link instead of stopping it.
    #[error("a blockage slows a trace-driven link to {0:?}; expected a blocked rate of zero")]
    SlowedTrace(Rate),
}

/// Why a trace cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line that is not a number.
    #[error("line {line}: found {found:?}; expected a time in whole milliseconds")]
    NotANumber {
        /// One-based line number.
        line: usize,
        /// The start of the line.
        found: String,
    },
    /// A time before that of the line above.
    #[error("line {line}: {time_ms} ms comes after {previous_ms} ms; expected times in order")]
    Backwards {
        /// One-based line number.
        line: usize,
        /// Time on this line.
        time_ms: u32,
        /// Time on the line above.
        previous_ms: u32,
    },
    /// No line at all.
    #[error("the trace is empty; expected one time in milliseconds per line")]
    Empty,
    /// All times are zero, so the trace cannot repeat.
    #[error("line {line}: the trace ends at 0 ms; expected the last time to be at least 1 ms")]
    NoDuration {
        /// One-based number of the last line.
        line: usize,
    },
}

/// Why a list of arrivals cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrdinalsError {
    /// A line that is not an ordinal.
    #[error(
        "line {line}: found {found:?}; expected the ordinal of an arrival, a whole number from 1 \
         on"
    )]
    NotAnOrdinal {
        /// One-based line number.
        line: usize,
        /// The start of the line.
        found: String,
    },
    /// An ordinal that does not come after the one above.
    #[error("line {line}: {ordinal} comes after {previous}; expected increasing ordinals")]
    OutOfOrder {
        /// One-based line number.
        line: usize,
        /// Ordinal on this line.
        ordinal: u64,
        /// Ordinal above it.
        previous: u64,
    },
}

/// Why a series of rates and delays cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SeriesError {
    /// No row.
    #[error("the series is empty; expected a line of column names and at least one row")]
    Empty,
    /// A column is missing.
    #[error(
        "line {line}: no column `{name}` in {found:?}; expected `time_s` and `rate_mbps`, \
         `delay_ms` or both"
    )]
    NoColumn {
        /// One-based number of the line of column names.
        line: usize,
        /// The column.
        name: &'static str,
        /// The start of the line.
        found: String,
    },
    /// A row with more or fewer cells than there are columns.
    #[error("line {line}: {found} columns; expected {expected}, as in the first line")]
    Columns {
        /// One-based line number.
        line: usize,
        /// Cells on this line.
        found: usize,
        /// Columns.
        expected: usize,
    },
    /// A cell that is not a number, or out of its range.
    #[error("line {line}: {name} is {found:?}; expected a number from 0 to 1e9")]
    NotANumber {
        /// One-based line number.
        line: usize,
        /// The column.
        name: &'static str,
        /// The start of the cell.
        found: String,
    },
    /// A time that does not increase, or a first one that is not zero.
    #[error("line {line}: {}", .previous.map_or_else(
        || format!("the first row is at {time_s} s; expected 0"),
        |previous| format!("{time_s} s comes after {previous} s; expected increasing times"),
    ))]
    Time {
        /// One-based line number.
        line: usize,
        /// Time on this line.
        time_s: f64,
        /// Time above it, if there is one.
        previous: Option<f64>,
    },
}
