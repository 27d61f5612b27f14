//! Check that movement traces overlap with the run.

use fadeout_core::{Span, Time};

/// Checks that a trace overlaps with the run, whose start in the trace and duration are `run`.
///
/// # Errors
/// Returns the times of both, and the `start` with which they would overlap.
pub(super) fn overlap((first, last): (Time, Time), run: (Span, Span)) -> Result<(), String> {
    let from = Time::ZERO.saturating_add(run.0);
    let until = from.saturating_add(run.1);
    // A node that never moves has one time, at which it is placed.
    if first <= until && (last >= from || first == last) {
        return Ok(());
    }
    let seconds = |time: Time| time.as_secs_f64();
    Err(format!(
        "moves from {} s to {} s of the trace, but the run covers {} s to {} s; expected \
         `start = \"{} s\"` or another time within the trace",
        seconds(first),
        seconds(last),
        seconds(from),
        seconds(until),
        seconds(first)
    ))
}
