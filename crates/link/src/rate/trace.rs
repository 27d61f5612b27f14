//! Recorded capacity of a real link, in mahimahi's trace format.
//!
//! Each line of the text is a time in milliseconds, never decreasing. A line is an opportunity to
//! send [`OPPORTUNITY`] bytes at that time. The trace starts over at its end, so its last time is
//! its period. A trace that is played [once](Trace::once) has no opportunity after its end.
//!
//! Source: R. Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015,
//! section 4 (mm-link).

use crate::TraceError;
use fadeout_core::{Rate, Span, Time};
use std::sync::Arc;

/// Bytes of one delivery opportunity.
pub const OPPORTUNITY: u32 = 1500;

const NANOS_PER_MS: u64 = 1_000_000;

/// List of delivery opportunities that repeats for ever or ends. Clones share the list.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Times in milliseconds. Never empty, never decreasing, and the last is above zero.
    times_ms: Arc<[u32]>,
    repeats: bool,
}

impl Trace {
    /// Reads a trace with one time in whole milliseconds in each line. Times never decrease, and
    /// the last is at least 1. Spaces around the number are ignored.
    ///
    /// # Errors
    /// Returns an error with the number of the first wrong line.
    pub fn parse(text: &[u8]) -> Result<Trace, TraceError> {
        let mut times_ms = Vec::new();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return Err(TraceError::Empty);
        }
        let mut previous_ms = 0;
        for (index, raw) in text.split(|&byte| byte == b'\n').enumerate() {
            let line = index + 1;
            let word = raw.trim_ascii();
            let time_ms = number(word).ok_or_else(|| TraceError::NotANumber {
                line,
                found: String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned(),
            })?;
            if time_ms < previous_ms {
                return Err(TraceError::Backwards {
                    line,
                    time_ms,
                    previous_ms,
                });
            }
            previous_ms = time_ms;
            times_ms.push(time_ms);
        }
        if previous_ms == 0 {
            return Err(TraceError::NoDuration {
                line: times_ms.len(),
            });
        }
        Ok(Trace {
            times_ms: times_ms.into(),
            repeats: true,
        })
    }

    /// Returns the trace without opportunities after its end, as with mahimahi's `--once`.
    #[must_use]
    pub fn once(self) -> Trace {
        Trace {
            repeats: false,
            ..self
        }
    }

    /// Returns the number of opportunities in one period.
    pub fn opportunities(&self) -> usize {
        self.times_ms.len()
    }

    /// Returns the time after which the trace repeats or ends.
    pub fn period(&self) -> Span {
        Span::from_nanos(self.period_ms() * NANOS_PER_MS)
    }

    /// Returns the mean capacity over one period, rounded down to the bit per second.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times_ms.len() as u64 * u64::from(OPPORTUNITY) * 8;
        Rate::from_bits_per_sec(bits * 1000 / self.period_ms())
    }

    fn period_ms(&self) -> u64 {
        self.times_ms.last().map_or(1, |&last| u64::from(last))
    }

    /// Returns the first opportunity later than `t`.
    pub(crate) fn after(&self, t: Time) -> Opportunity {
        let (cycle, offset) = (
            t.as_millis() / self.period_ms(),
            t.as_millis() % self.period_ms(),
        );
        let index = self
            .times_ms
            .partition_point(|&time_ms| u64::from(time_ms) <= offset);
        Opportunity { cycle, index }
    }

    /// Returns the time of `opportunity`. Never if the trace ends before.
    #[inline]
    pub(crate) fn time_of(&self, opportunity: Opportunity) -> Time {
        if opportunity.cycle > 0 && !self.repeats {
            return Time::NEVER;
        }
        let base_ms = opportunity.cycle.saturating_mul(self.period_ms());
        let time_ms = base_ms.saturating_add(u64::from(self.times_ms[opportunity.index]));
        Time::from_nanos(time_ms.saturating_mul(NANOS_PER_MS))
    }

    /// Returns the next opportunity after `opportunity`.
    #[inline]
    pub(crate) fn next(&self, opportunity: Opportunity) -> Opportunity {
        let Opportunity { cycle, index } = opportunity;
        if index + 1 < self.times_ms.len() {
            Opportunity {
                cycle,
                index: index + 1,
            }
        } else {
            Opportunity {
                cycle: cycle + 1,
                index: 0,
            }
        }
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace")
            .field("opportunities", &self.opportunities())
            .field("period", &self.period())
            .field("repeats", &self.repeats)
            .finish()
    }
}

/// Opportunity of a trace, with the number of its repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Opportunity {
    cycle: u64,
    index: usize,
}

/// Parses a number of decimal digits without sign or separator, at most 2^32 - 1 ms (49 days).
fn number(word: &[u8]) -> Option<u32> {
    if !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Trace::parse(text.as_bytes())
            .expect_err("a wrong trace")
            .to_string()
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        assert_eq!(
            error(""),
            "the trace is empty; expected one time in milliseconds per line"
        );
        assert_eq!(
            error("1\n2\nx3\n"),
            "line 3: found \"x3\"; expected a time in whole milliseconds"
        );
        assert_eq!(
            error("5\n4\n"),
            "line 2: 4 ms comes after 5 ms; expected times in order"
        );
        assert!(error("0\n0\n").starts_with("line 2: the trace ends at 0 ms"));
        assert!(error("1\n\n2\n").starts_with("line 2: found \"\""));
        assert!(error("1\n-2").starts_with("line 2"));
        assert!(error("4294967296").starts_with("line 1"));
        assert!(error("\u{fffd}\u{fffd}").starts_with("line 1"));
    }

    #[test]
    fn carriage_returns_and_a_missing_last_newline_are_read() {
        let trace = Trace::parse(b"1\r\n 2\r\n3").expect("a trace");
        assert_eq!(
            (trace.opportunities(), trace.period()),
            (3, Span::from_millis(3))
        );
    }

    #[test]
    fn a_trace_that_holds_just_1_is_12_megabit_per_second() {
        let trace = Trace::parse(b"1").expect("a trace");
        assert_eq!(trace.mean_rate(), Rate::from_bits_per_sec(12_000_000));
    }

    #[test]
    fn opportunities_follow_one_another_across_repetitions() {
        let trace = Trace::parse(b"0\n3\n3\n5\n").expect("a trace");
        let mut opportunity = trace.after(Time::ZERO);
        let mut times = Vec::new();
        for _ in 0..8 {
            times.push(trace.time_of(opportunity).as_millis());
            opportunity = trace.next(opportunity);
        }
        // The time 0 of the second repetition coincides with the time 5 of the first repetition.
        assert_eq!(times, [3, 3, 5, 5, 8, 8, 10, 10]);
        let just_before = Time::from_nanos(8_000_000 - 1);
        assert_eq!(trace.time_of(trace.after(just_before)).as_millis(), 8);
        assert_eq!(
            trace
                .time_of(trace.after(Time::from_nanos(8_000_000)))
                .as_millis(),
            10
        );
    }

    #[test]
    fn a_trace_played_once_has_no_opportunity_after_its_end() {
        let trace = Trace::parse(b"0\n3\n5\n").expect("a trace").once();
        let last = trace.after(Time::from_nanos(3_000_000));
        assert_eq!(trace.time_of(last).as_millis(), 5);
        assert!(trace.time_of(trace.next(last)).is_never());
        for later_ms in [5, 6, 1_000] {
            let after = trace.after(Time::from_nanos(later_ms * 1_000_000));
            assert!(trace.time_of(after).is_never(), "after {later_ms} ms");
        }
    }
}
