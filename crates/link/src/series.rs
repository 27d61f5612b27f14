//! Measured rate, delay and loss over time, as a text table.
//!
//! The first line has the names of the columns, separated by commas: `time_s`, and at least one of
//! `rate_mbps`, `delay_ms` and `loss_share`. Each other line applies from its time until that of
//! the next line. The first time is 0.

use crate::lines::{meaningful, shown};
use crate::loss::LossStep;
use crate::rate::RateStep;
use crate::{DelayStep, SeriesError};
use fadeout_core::{Rate, Span};

/// Largest time in seconds, rate in Mbit/s and delay in ms, far above the values of any simulation.
const LARGEST: f64 = 1e9;

/// Returns the rates of a series.
///
/// # Errors
/// Returns an error with the number of the first wrong line.
pub fn rates(text: &[u8]) -> Result<Vec<RateStep>, SeriesError> {
    column(text, ("rate_mbps", LARGEST), |at, mbps| RateStep {
        at,
        rate: Rate::from_bits_per_sec((mbps * 1e6).round() as u64),
    })
}

/// Returns the delays of a series.
///
/// # Errors
/// Returns an error with the number of the first wrong line.
pub fn delays(text: &[u8]) -> Result<Vec<DelayStep>, SeriesError> {
    column(text, ("delay_ms", LARGEST), |at, ms| DelayStep {
        at,
        delay: Span::from_secs_f64(ms / 1e3),
    })
}

/// Returns the shares of lost packets of a series.
///
/// # Errors
/// Returns an error with the number of the first wrong line.
pub fn losses(text: &[u8]) -> Result<Vec<LossStep>, SeriesError> {
    column(text, ("loss_share", 1.0), |at, probability| LossStep {
        at,
        probability,
    })
}

/// Returns the steps of a column, which has a name and a largest value.
fn column<T>(
    text: &[u8],
    (name, largest): (&'static str, f64),
    step: impl Fn(Span, f64) -> T,
) -> Result<Vec<T>, SeriesError> {
    let mut lines = meaningful(text);
    let (line, header) = lines.next().ok_or(SeriesError::Empty)?;
    let find = |name: &'static str| {
        let columns = cells(header).enumerate();
        let mut columns = columns.filter(|(_, cell)| *cell == name.as_bytes());
        let (column, _) = columns.next().ok_or_else(|| SeriesError::NoColumn {
            line,
            name,
            found: shown(header),
        })?;
        match columns.next() {
            Some(_) => Err(SeriesError::TwoColumns { line, name }),
            None => Ok(column),
        }
    };
    let (time, value) = (find("time_s")?, find(name)?);
    let count = cells(header).count();
    let mut steps = Vec::new();
    let mut previous: Option<f64> = None;
    for (line, row) in lines {
        if cells(row).count() != count {
            return Err(SeriesError::Columns {
                line,
                found: cells(row).count(),
                expected: count,
            });
        }
        let cell = |index, name, largest| {
            let cell = cells(row).nth(index).unwrap_or_default();
            number(cell, largest).ok_or_else(|| SeriesError::NotANumber {
                line,
                name,
                largest,
                found: shown(cell),
            })
        };
        let (time_s, value) = (cell(time, "time_s", LARGEST)?, cell(value, name, largest)?);
        if previous.map_or(time_s != 0.0, |previous| time_s <= previous) {
            return Err(SeriesError::Time {
                line,
                time_s,
                previous,
            });
        }
        previous = Some(time_s);
        steps.push(step(Span::from_secs_f64(time_s), value));
    }
    if steps.is_empty() {
        return Err(SeriesError::Empty);
    }
    Ok(steps)
}

fn cells(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|&byte| byte == b',')
        .map(|cell| cell.trim_ascii())
}

fn number(cell: &[u8], largest: f64) -> Option<f64> {
    let number: f64 = std::str::from_utf8(cell).ok()?.parse().ok()?;
    (0.0..=largest).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str =
        "# a drive\ntime_s,rate_mbps,delay_ms\n0,10.5,20\n0.25,0,35.5\r\n\n1e0,40,20\n";

    #[test]
    fn one_file_gives_rates_and_delays() {
        let rates = rates(BOTH.as_bytes()).expect("a series");
        let bits: Vec<u64> = rates.iter().map(|s| s.rate.as_bits_per_sec()).collect();
        assert_eq!(bits, [10_500_000, 0, 40_000_000]);
        let delays = delays(BOTH.as_bytes()).expect("a series");
        let micros: Vec<(u64, u64)> = delays
            .iter()
            .map(|s| (s.at.as_millis(), s.delay.as_micros()))
            .collect();
        assert_eq!(micros, [(0, 20_000), (250, 35_500), (1000, 20_000)]);
    }

    #[test]
    fn a_loss_is_a_share_of_the_packets() {
        let steps = losses(b"time_s,loss_share\n0,0.25\n2,1").expect("a series");
        let step = |at, probability| LossStep {
            at: Span::from_secs(at),
            probability,
        };
        assert_eq!(steps, [step(0, 0.25), step(2, 1.0)]);
        let error = losses(b"time_s,loss_share\n0,1.5").expect_err("above one");
        let expected = "line 2: loss_share is \"1.5\"; expected a number from 0 to 1e0";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let error = |text: &str| {
            delays(text.as_bytes())
                .expect_err("a wrong series")
                .to_string()
        };
        assert_eq!(
            error("# nothing\n"),
            "the series is empty; expected a line of column names and at least one row"
        );
        assert!(error("time_s,delay_ms\n").starts_with("the series is empty"));
        assert_eq!(
            error("\ntime_s,delay\n0,1"),
            "line 2: no column `delay_ms` in \"time_s,delay\"; expected `time_s` and at least one \
             of `rate_mbps`, `delay_ms` and `loss_share`"
        );
        assert_eq!(
            error("time_s,delay_ms,delay_ms\n0,1,2"),
            "line 1: two columns are called `delay_ms`; expected one"
        );
        assert_eq!(
            error("time_s,delay_ms\n0,1\n1"),
            "line 3: 1 columns; expected 2, as in the first line"
        );
        assert_eq!(
            error("time_s,delay_ms\n0,-1"),
            "line 2: delay_ms is \"-1\"; expected a number from 0 to 1e9"
        );
        for wrong in ["nan", "inf", "1e300", "", "1,2", "\u{fffd}"] {
            assert!(error(&format!("time_s,delay_ms\n0,{wrong}")).starts_with("line 2"));
        }
        assert_eq!(
            error("time_s,delay_ms\n0.5,1"),
            "line 2: the first row is at 0.5 s; expected 0"
        );
        assert_eq!(
            error("time_s,delay_ms\n0,1\n1,2\n1,2"),
            "line 4: 1 s comes after 1 s; expected increasing times"
        );
    }
}
