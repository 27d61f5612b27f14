//! Values that RLC-Config and PDCP-Config enumerate, and checks against them.

use fadeout_core::registry::OutOfRange;
use fadeout_core::{Bytes, Span, data};

/// Error for a parameter with a value that is not allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// The value is not in the standard's enumeration.
    #[error("{parameter} is {given}; the nearest allowed value is {nearest}")]
    NotEnumerated {
        /// The standard's name of the parameter.
        parameter: &'static str,
        /// Given value, with its unit.
        given: String,
        /// Nearest allowed value, with its unit.
        nearest: String,
    },
    /// A parameter of queue management is out of its range.
    #[error("aqm: {0}")]
    Aqm(#[from] OutOfRange),
}

/// Ranges of whole milliseconds, each as `(first, last, step)`.
pub(crate) type Milliseconds = &'static [(u64, u64, u64)];

/// Values of t-PollRetransmit. 1 to 4 ms exist since release 16 (NR).
pub(crate) const T_POLL_RETRANSMIT: Milliseconds = &[
    (1, 4, 1),
    (5, 250, 5),
    (300, 500, 50),
    (800, 800, 1),
    (1000, 1000, 1),
    (2000, 4000, 2000),
];
/// Values of t-Reassembly (NR) and t-Reordering (LTE).
pub(crate) const T_REASSEMBLY: Milliseconds = &[(0, 100, 5), (110, 200, 10)];
/// Values of t-StatusProhibit. 1 to 4 ms exist since release 16 (NR).
pub(crate) const T_STATUS_PROHIBIT: Milliseconds = &[
    (0, 4, 1),
    (5, 250, 5),
    (300, 500, 50),
    (800, 1200, 200),
    (1600, 2400, 400),
];
const VALUES: &str = include_str!("../../data/rlc_enumerations.csv");

/// Values that RLC-Config enumerates for polling.
pub(crate) struct Polling {
    /// Allowed values of pollPDU.
    pub(crate) pdus: &'static [u64],
    /// Allowed values of pollByte in kB.
    pub(crate) kilobytes: &'static [u64],
}

/// Allowed polling values of LTE.
///
/// Standard: TS 36.331 §6.3.2.
pub(crate) const LTE: Polling = {
    const PDUS: [[u64; 7]; 1] = data::longs(VALUES, "poll-pdu-lte", 1);
    const KILOBYTES: [[u64; 14]; 1] = data::longs(VALUES, "poll-byte-lte", 1);
    Polling {
        pdus: &PDUS[0],
        kilobytes: &KILOBYTES[0],
    }
};

/// Allowed polling values of NR.
///
/// Standard: TS 38.331 §6.3.2.
pub(crate) const NR: Polling = {
    const PDUS: [[u64; 23]; 1] = data::longs(VALUES, "poll-pdu-nr", 1);
    const KILOBYTES: [[u64; 43]; 1] = data::longs(VALUES, "poll-byte-nr", 1);
    Polling {
        pdus: &PDUS[0],
        kilobytes: &KILOBYTES[0],
    }
};

/// Values of maxRetxThreshold.
pub(crate) const MAX_RETX: [[u64; 8]; 1] = data::longs(VALUES, "max-retx-threshold", 1);

/// Returns an error for a number that is not one of `allowed`.
pub(crate) fn one_of(
    parameter: &'static str,
    given: u64,
    allowed: &[u64],
    unit: &str,
) -> Result<(), ParameterError> {
    nearest(given, allowed.iter().copied()).map_or(Ok(()), |nearest| {
        Err(ParameterError::NotEnumerated {
            parameter,
            given: format!("{given} {unit}"),
            nearest: format!("{nearest} {unit}"),
        })
    })
}

/// Returns an error for a number below `least`.
pub(crate) fn at_least(
    parameter: &'static str,
    given: u64,
    least: u64,
    unit: &str,
) -> Result<(), ParameterError> {
    one_of(parameter, given, &[given.max(least)], unit)
}

/// Returns an error for a time that is not in one of the ranges.
pub(crate) fn milliseconds(
    parameter: &'static str,
    given: Span,
    runs: Milliseconds,
) -> Result<(), ParameterError> {
    let allowed = runs
        .iter()
        .flat_map(|&(first, last, step)| (first..=last).step_by(step as usize))
        .map(|ms| Span::from_millis(ms).as_nanos());
    nearest(given.as_nanos(), allowed).map_or(Ok(()), |nearest| {
        Err(ParameterError::NotEnumerated {
            parameter,
            given: given.to_string(),
            nearest: Span::from_nanos(nearest).to_string(),
        })
    })
}

/// Returns an error for a number of bytes that is not one of `allowed`, in units of 1000 bytes.
pub(crate) fn kilobytes(
    parameter: &'static str,
    given: Bytes,
    allowed: &[u64],
) -> Result<(), ParameterError> {
    nearest(given.0, allowed.iter().map(|kb| kb * 1000)).map_or(Ok(()), |nearest| {
        Err(ParameterError::NotEnumerated {
            parameter,
            given: format!("{} kB", given.0 as f64 / 1e3),
            nearest: format!("{} kB", nearest as f64 / 1e3),
        })
    })
}

/// Returns the nearest allowed value, the lower one of two. `None` if the value itself is allowed.
fn nearest(given: u64, allowed: impl Iterator<Item = u64>) -> Option<u64> {
    allowed
        .min_by_key(|&value| value.abs_diff(given))
        .filter(|&value| value != given)
}
