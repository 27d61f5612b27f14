//! Errors in the parameters of a link.

use fadeout_core::registry::OutOfRange;
use fadeout_core::{Rate, Span, Time};

/// Reason for which a link cannot be built. Every message has the expected value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// The link would never send a packet.
    #[error("the rate is always zero; expected a positive rate")]
    NeverSends,
    /// A rate that varies or is sent in blocks is too small to be simulated packet by packet.
    #[error(
        "a rate that varies or is sent in blocks is {0:?}; expected zero or at least 0.001 Mbit/s"
    )]
    RateTooSmall(Rate),
    /// The list of steps is empty or does not begin at time zero.
    #[error("steps begin at {}; expected the first step at 0 s",
        .0.map_or_else(|| "no time at all".to_owned(), |at| at.to_string()))]
    FirstStep(Option<Span>),
    /// A step, an interval or a gap is too short to be simulated.
    #[error("{what} lasts {length}; expected at least {least}")]
    TooShort {
        /// Name of the value that is too short.
        what: &'static str,
        /// Its length.
        length: Span,
        /// Smallest valid length.
        least: Span,
    },
    /// A periodic interval does not end before the next one begins.
    #[error("an interval of {duration} repeats every {period}; expected it to end before the next")]
    FillsPeriod {
        /// Length of the interval.
        duration: Span,
        /// Time from one start to the next.
        period: Span,
    },
    /// An interval ends before it begins, or begins before the previous one ends.
    #[error("interval {start} to {end}; expected intervals in order, each ending after its start")]
    Interval {
        /// Start of the interval.
        start: Time,
        /// End of the interval.
        end: Time,
    },
    /// The schedule has too many intervals.
    #[error("the schedule has more than {0} intervals before the end; expected fewer")]
    TooManyIntervals(usize),
    /// A probability is outside [0, 1].
    #[error("{name} is {value}; expected a probability between 0 and 1")]
    Probability {
        /// Name of the parameter.
        name: &'static str,
        /// Value of the parameter.
        value: f64,
    },
    /// A parameter of a queue discipline is out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A Gilbert–Elliott chain without transitions has no stationary distribution.
    #[error("both transition probabilities are zero; expected at least one above zero")]
    FrozenChain,
    /// The limit of a queue, or of the packets held in a blockage, is zero.
    #[error("{0} is zero; expected at least 1")]
    ZeroLimit(&'static str),
    /// A listed arrival is zero, or not greater than the one before.
    #[error("arrival {ordinal} is listed after {previous}; expected increasing ordinals from 1 on")]
    Ordinal {
        /// Ordinal of the arrival.
        ordinal: u64,
        /// Ordinal before it. 0 for the first.
        previous: u64,
    },
    /// Packets cannot keep the rate of their arrival on this link.
    #[error("packets keep the rate of their arrival on a link with {0}; expected {1}")]
    ForArrivals(&'static str, &'static str),
    /// The caller of a simulation cannot change the rate of this link.
    #[error("the link has {0}; expected a constant rate, no blockage and a plain queue")]
    Unsteerable(&'static str),
    /// A blockage slows a trace-driven link instead of stopping it.
    #[error("a blockage slows a trace-driven link to {0:?}; expected a blocked rate of zero")]
    SlowedTrace(Rate),
}

/// Reason for which a trace cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is not a number.
    #[error("line {line}: found {found:?}; expected a time in whole milliseconds")]
    NotANumber {
        /// One-based line number.
        line: usize,
        /// Start of the line.
        found: String,
    },
    /// A time is before that of the previous line.
    #[error("line {line}: {time_ms} ms comes after {previous_ms} ms; expected times in order")]
    Backwards {
        /// One-based line number.
        line: usize,
        /// Time on this line.
        time_ms: u32,
        /// Time on the previous line.
        previous_ms: u32,
    },
    /// The trace has no line.
    #[error("the trace is empty; expected one time in milliseconds per line")]
    Empty,
    /// All times are zero, so the trace cannot repeat.
    #[error("line {line}: the trace ends at 0 ms; expected the last time to be at least 1 ms")]
    NoDuration {
        /// One-based number of the last line.
        line: usize,
    },
}

/// Reason for which a list of arrivals cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrdinalsError {
    /// A line is not an ordinal.
    #[error(
        "line {line}: found {found:?}; expected the ordinal of an arrival, a whole number from 1 \
         on"
    )]
    NotAnOrdinal {
        /// One-based line number.
        line: usize,
        /// Start of the line.
        found: String,
    },
    /// An ordinal is not greater than the previous one.
    #[error("line {line}: {ordinal} comes after {previous}; expected increasing ordinals")]
    OutOfOrder {
        /// One-based line number.
        line: usize,
        /// Ordinal on this line.
        ordinal: u64,
        /// Ordinal on the previous line.
        previous: u64,
    },
}

/// Reason for which a series of rates and delays cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SeriesError {
    /// The series has no row.
    #[error("the series is empty; expected a line of column names and at least one row")]
    Empty,
    /// A column is missing.
    #[error(
        "line {line}: no column `{name}` in {found:?}; expected `time_s` and at least one of \
         `rate_mbps`, `delay_ms` and `loss_share`"
    )]
    NoColumn {
        /// One-based number of the line with column names.
        line: usize,
        /// Name of the column.
        name: &'static str,
        /// Start of the line.
        found: String,
    },
    /// Two columns have the same name.
    #[error("line {line}: two columns are called `{name}`; expected one")]
    TwoColumns {
        /// One-based number of the line with column names.
        line: usize,
        /// Name of the columns.
        name: &'static str,
    },
    /// A row has more or fewer cells than there are columns.
    #[error("line {line}: {found} columns; expected {expected}, as in the first line")]
    Columns {
        /// One-based line number.
        line: usize,
        /// Number of cells on this line.
        found: usize,
        /// Number of columns.
        expected: usize,
    },
    /// A cell is not a number, or out of its range.
    #[error("line {line}: {name} is {found:?}; expected a number from 0 to {largest:e}")]
    NotANumber {
        /// One-based line number.
        line: usize,
        /// Name of the column.
        name: &'static str,
        /// Largest number of the column.
        largest: f64,
        /// Start of the cell.
        found: String,
    },
    /// A time does not increase, or the first one is not zero.
    #[error("line {line}: {}", .previous.map_or_else(
        || format!("the first row is at {time_s} s; expected 0"),
        |previous| format!("{time_s} s comes after {previous} s; expected increasing times"),
    ))]
    Time {
        /// One-based line number.
        line: usize,
        /// Time on this line.
        time_s: f64,
        /// Time on the previous line. `None` for the first row.
        previous: Option<f64>,
    },
}
