//! The values that RLC-Config and PDCP-Config enumerate, and the check against them.

use fadeout_core::registry::OutOfRange;
use fadeout_core::{Bytes, Span};

/// A parameter has a value that is not allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// The standard does not enumerate it.
    #[error("{parameter} is {given}; the nearest allowed value is {nearest}")]
    NotEnumerated {
        /// The standard's name of the parameter.
        parameter: &'static str,
        /// The value given, with its unit.
        given: String,
        /// The allowed value that is nearest to it, with unit.
        nearest: String,
    },
    /// A parameter of queue management is out of its range.
    #[error("aqm: {0}")]
    Aqm(#[from] OutOfRange),
}

/// Whole milliseconds: runs of `(first, last, step)`.
pub(crate) type Milliseconds = &'static [(u64, u64, u64)];

/// t-PollRetransmit; 1 to 4 ms since release 16 (NR).
pub(crate) const T_POLL_RETRANSMIT: Milliseconds = &[
    (1, 4, 1),
    (5, 250, 5),
    (300, 500, 50),
    (800, 800, 1),
    (1000, 1000, 1),
    (2000, 4000, 2000),
];
/// t-Reassembly (NR) and t-Reordering (LTE).
pub(crate) const T_REASSEMBLY: Milliseconds = &[(0, 100, 5), (110, 200, 10)];
/// t-StatusProhibit; 1 to 4 ms since release 16 (NR).
pub(crate) const T_STATUS_PROHIBIT: Milliseconds = &[
    (0, 4, 1),
    (5, 250, 5),
    (300, 500, 50),
    (800, 1200, 200),
    (1600, 2400, 400),
];
/// pollPDU of LTE.
pub(crate) const POLL_PDU_LTE: &[u64] = &[4, 8, 16, 32, 64, 128, 256];
/// pollPDU of NR.
pub(crate) const POLL_PDU_NR: &[u64] = &[
    4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 20480, 24576,
    28672, 32768, 40960, 49152, 57344, 65536,
];
/// pollByte of LTE in kB.
pub(crate) const POLL_BYTE_KB_LTE: &[u64] = &[
    25, 50, 75, 100, 125, 250, 375, 500, 750, 1000, 1250, 1500, 2000, 3000,
];
/// pollByte of NR in kB.
pub(crate) const POLL_BYTE_KB_NR: &[u64] = &[
    1, 2, 5, 8, 10, 15, 25, 50, 75, 100, 125, 250, 375, 500, 750, 1000, 1250, 1500, 2000, 3000,
    4000, 4500, 5000, 5500, 6000, 6500, 7000, 7500, 8000, 9000, 10_000, 11_000, 12_000, 13_000,
    14_000, 15_000, 16_000, 17_000, 18_000, 20_000, 25_000, 30_000, 40_000,
];
/// maxRetxThreshold.
pub(crate) const MAX_RETX: &[u64] = &[1, 2, 3, 4, 6, 8, 16, 32];

/// Refuses a number that is not one of `allowed`.
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

/// Refuses a number below `least`.
pub(crate) fn at_least(
    parameter: &'static str,
    given: u64,
    least: u64,
    unit: &str,
) -> Result<(), ParameterError> {
    one_of(parameter, given, &[given.max(least)], unit)
}

/// Refuses a span that is not in one of the runs.
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

/// Refuses a number of bytes that is not one of `allowed`, in units of 1000 bytes.
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

/// The nearest of the allowed values, the lower of two; `None` when the value is one of them.
fn nearest(given: u64, allowed: impl Iterator<Item = u64>) -> Option<u64> {
    allowed
        .min_by_key(|&value| value.abs_diff(given))
        .filter(|&value| value != given)
}
