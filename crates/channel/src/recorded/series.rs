//! Quantity over time, known at some instants.

use fadeout_core::{Span, Time};
use std::sync::Arc;

pub use fadeout_core::agreed::Interpolation;

/// Quantity in dB over time, known at one or more instants. Clones share the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    rows: Arc<[(Time, f64)]>,
    /// Time of the rows that corresponds to the start of the run.
    start: Span,
    interpolation: Interpolation,
}

impl Series {
    /// Returns the quantity with these rows. `start` is the time of the rows at which the run
    /// begins. `None` if there are no rows, if times do not increase, or if a value is not finite.
    pub fn new(
        rows: impl Into<Arc<[(Time, f64)]>>,
        start: Span,
        interpolation: Interpolation,
    ) -> Option<Series> {
        let rows = rows.into();
        let is_in_order = rows.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_finite = rows.iter().all(|row| row.1.is_finite());
        (!rows.is_empty() && is_in_order && is_finite).then_some(Series {
            rows,
            start,
            interpolation,
        })
    }

    /// Returns the value in dB at a time of the run. Before the first row and after the last, the
    /// value of that row is returned.
    pub fn value_at(&self, now: Time) -> f64 {
        let t = now.saturating_add(self.start);
        let after = self.rows.partition_point(|row| row.0 <= t);
        let (_, last) = self.rows[self.rows.len() - 1];
        if after == 0 {
            return self.rows[0].1;
        }
        let (from, value) = self.rows[after - 1];
        match (self.rows.get(after), self.interpolation) {
            (None, _) => last,
            (_, Interpolation::Step) => value,
            (Some(&(until, next)), Interpolation::Linear) => {
                let share = t.since(from).as_secs_f64() / until.since(from).as_secs_f64();
                value + share * (next - value)
            }
        }
    }

    /// Returns the rows. Each row contains the time in the file and the value in dB.
    pub fn rows(&self) -> &[(Time, f64)] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn interpolated_at(interpolation: Interpolation, start_ms: u64, now_ms: u64) -> f64 {
        let rows = vec![(ms(100), -80.0), (ms(200), -90.0), (ms(400), -70.0)];
        let series = Series::new(rows, Span::from_millis(start_ms), interpolation);
        series.expect("rows in order").value_at(ms(now_ms))
    }

    #[test]
    fn a_value_lies_on_the_line_between_its_rows() {
        for (now_ms, expected) in [(0, -80.0), (100, -80.0), (150, -85.0), (350, -75.0)] {
            assert_eq!(interpolated_at(Interpolation::Linear, 0, now_ms), expected);
        }
        assert_eq!(interpolated_at(Interpolation::Linear, 0, 9_000), -70.0);
        assert_eq!(interpolated_at(Interpolation::Linear, 300, 0), -80.0);
    }

    #[test]
    fn a_step_is_taken_where_its_row_is() {
        for (now_ms, expected) in [(0, -80.0), (199, -80.0), (200, -90.0), (399, -90.0)] {
            assert_eq!(interpolated_at(Interpolation::Step, 0, now_ms), expected);
        }
        assert_eq!(interpolated_at(Interpolation::Step, 0, 400), -70.0);
    }

    #[test]
    fn rows_out_of_order_or_without_a_value_make_no_series() {
        let series = |rows: &[(Time, f64)]| Series::new(rows, Span::ZERO, Interpolation::Step);
        assert_eq!(series(&[]), None);
        assert_eq!(series(&[(ms(1), 0.0), (ms(1), 0.0)]), None);
        assert_eq!(series(&[(ms(1), f64::NAN)]), None);
    }
}
