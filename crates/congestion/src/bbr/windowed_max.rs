//! Maximum filter of the Linux kernel over a window of rounds.

use fadeout_core::min_filter::MinFilter;
use std::cmp::Ordering;

/// Filter for the largest value of the last rounds (Linux `lib/win_minmax.c`).
#[derive(Debug, Clone)]
pub(in super::super) struct WindowedMax {
    filter: MinFilter<Largest, u64>,
    length: u64,
}

/// Number with reversed order, so that the minimum filter finds the largest value.
#[derive(Debug, Clone, Copy)]
struct Largest(f64);

impl Ord for Largest {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}

impl PartialOrd for Largest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Largest {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Largest {}

impl WindowedMax {
    /// Returns a filter over `length` rounds.
    pub(in super::super) fn new(length: u64) -> Self {
        WindowedMax {
            filter: MinFilter::new(Largest(0.0)),
            length,
        }
    }

    /// Adds `value`, measured in `round`. The round number never decreases.
    pub(in super::super) fn update(&mut self, round: u64, value: f64) {
        debug_assert!(
            value >= 0.0 && value.is_finite(),
            "a rate of {value} segments per second"
        );
        self.filter.update(round, Largest(value), self.length);
    }

    /// Returns the largest value in the window. Zero before the first value.
    pub(in super::super) fn max(&self) -> f64 {
        self.filter.value().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_leaves_with_its_window_and_the_second_follows() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100.0);
        for round in 1..=10 {
            filter.update(round, 50.0);
            assert_eq!(filter.max(), 100.0);
        }
        filter.update(11, 40.0);
        assert_eq!(filter.max(), 50.0);
        filter.update(1000, 1.0);
        assert_eq!(filter.max(), 1.0);
    }

    #[test]
    fn what_came_before_the_second_choice_is_forgotten() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100.0);
        // Less than a quarter of the window has passed, so 90 does not become the second choice.
        // The best value is also the second choice.
        filter.update(1, 90.0);
        filter.update(3, 60.0);
        filter.update(6, 70.0);
        assert_eq!(filter.max(), 100.0);
        filter.update(11, 50.0);
        assert_eq!(filter.max(), 70.0);
    }

    #[test]
    fn choices_are_renewed_after_a_quarter_and_a_half_of_the_window() {
        // The values only fall, so the maximum changes only when an old value leaves the window.
        // Each row has the rounds of the values, and the round of the resulting maximum.
        for (rounds, left) in [
            (&[0, 26, 51, 101][..], 26),
            (&[0, 25, 50, 101], 50),
            (&[0, 26, 51, 100], 0),
            (&[0, 26, 60, 127], 60),
            (&[0, 26, 51, 152], 152),
            (&[0, 26, 51, 151], 51),
        ] {
            let mut filter = WindowedMax::new(100);
            for &round in rounds {
                filter.update(round, (1_000 - round) as f64);
            }
            assert_eq!(filter.max(), (1_000 - left) as f64, "{rounds:?}");
        }
    }
}
