//! Minimum filter over a sliding window.

use crate::{Span, Time};
use std::ops::Div;

/// Unit of the window of a [`MinFilter`]: time or rounds.
pub trait Clock: Copy + PartialEq {
    /// Distance between two instants.
    type Length: Copy + PartialOrd + Div<u64, Output = Self::Length>;
    /// Start of the clock.
    const BEGIN: Self;
    /// Returns the distance from `earlier` to this instant.
    fn since(self, earlier: Self) -> Self::Length;
}

impl Clock for Time {
    type Length = Span;
    const BEGIN: Time = Time::ZERO;
    #[inline]
    fn since(self, earlier: Time) -> Span {
        Time::since(self, earlier)
    }
}

/// Clock that counts rounds.
impl Clock for u64 {
    type Length = u64;
    const BEGIN: u64 = 0;
    #[inline]
    fn since(self, earlier: u64) -> u64 {
        self - earlier
    }
}

/// Windowed minimum by the three-sample estimate of Kathleen Nichols, as in Linux
/// (lib/win_minmax.c). The filter stores the best sample, the best sample after it, and the best
/// sample after that one. It discards samples sooner than an exact window. The second choice is
/// replaced after a quarter of the window, the third after half of it. So earlier samples may be
/// missing when the best sample leaves the window. The minimum of [`std::cmp::Reverse`] is a
/// maximum.
#[derive(Debug, Clone, Copy)]
pub struct MinFilter<T, C = Time> {
    best: [(C, T); 3],
}

impl<T: Copy + Ord, C: Clock> MinFilter<T, C> {
    /// Returns a filter with the initial value `first`, which any sample should be below.
    pub fn new(first: T) -> Self {
        MinFilter {
            best: [(C::BEGIN, first); 3],
        }
    }

    /// Returns the smallest value in the window.
    #[inline]
    pub fn value(&self) -> T {
        self.best[0].1
    }

    /// Asserts that the second choice is not better than the best, and the third not better than
    /// the second.
    #[inline]
    fn assert_ordered(&self) {
        let [best, second, third] = self.best.map(|(_, value)| value);
        debug_assert!(
            best <= second && second <= third,
            "a later choice is smaller than the best"
        );
    }

    /// Adds `value`. Values that are older than `window` are discarded.
    #[inline]
    pub fn update(&mut self, now: C, value: T, window: C::Length) {
        let sample = (now, value);
        if value <= self.best[0].1 || now.since(self.best[2].0) > window {
            self.best = [sample; 3];
            return;
        }
        if value <= self.best[1].1 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value <= self.best[2].1 {
            self.best[2] = sample;
        }
        let age = now.since(self.best[0].0);
        if age > window {
            self.best = [self.best[1], self.best[2], sample];
            if now.since(self.best[0].0) > window {
                self.best = [self.best[1], sample, sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = sample;
        }
        self.assert_ordered();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_value_leaves_with_its_window() {
        let mut filter = MinFilter::new(u32::MAX);
        for (ms, value, smallest) in [(1, 5, 5), (2, 9, 5), (3, 3, 3), (10, 8, 3), (14, 7, 7)] {
            filter.update(time_at_ms(ms), value, Span::from_millis(10));
            assert_eq!(filter.value(), smallest, "at {ms} ms");
        }
    }

    #[test]
    fn reversed_values_give_the_largest() {
        let mut filter = MinFilter::new(Reverse(0));
        for (ms, value, largest) in [(1, 5, 5), (2, 3, 5), (3, 9, 9), (14, 4, 4)] {
            filter.update(time_at_ms(ms), Reverse(value), Span::from_millis(10));
            assert_eq!(filter.value().0, largest, "at {ms} ms");
        }
    }

    #[test]
    fn when_the_smallest_leaves_the_smallest_of_a_later_part_of_the_window_follows() {
        // In Kathleen Nichols' estimate the second choice is from the last three quarters of the
        // window, and the third from its second half. Values only grow here, so a new minimum comes
        // from age alone.
        let window = Span::from_millis(100);
        for (times, at_end) in [
            // At time 101 the first sample has left the window. The sample from time 26 follows,
            // because it came more than a quarter of the window after the first.
            (&[0, 26, 51, 101][..], 26),
            // The sample from time 25 came exactly a quarter after the first, so it was not stored.
            // At time 101 the sample from time 50 is the minimum.
            (&[0, 25, 50, 101], 50),
            // At time 100, exactly one window later, the first sample is still the minimum.
            (&[0, 26, 51, 100], 0),
            // At time 127 the second choice, from time 26, has left the window as well.
            (&[0, 26, 60, 127], 60),
            // At time 152 only the newest sample is in the window. At time 151 the sample from time
            // 51 is still in the window.
            (&[0, 26, 51, 152], 152),
            (&[0, 26, 51, 151], 51),
        ] {
            let mut filter = MinFilter::new(u64::MAX);
            for &ms in times {
                filter.update(time_at_ms(ms), ms, window);
            }
            assert_eq!(filter.value(), at_end, "{times:?}");
        }
    }

    #[test]
    fn equal_values_count_from_the_later_one() {
        // The newest of several equal values counts, because it stays longest. This holds for the
        // best, the second and the third choice.
        let window = Span::from_millis(100);
        for (values, at_end) in [
            (&[(0, 1), (90, 1), (150, 8)][..], 1),
            (&[(0, 1), (30, 5), (90, 5), (135, 9)], 5),
            (&[(0, 1), (30, 5), (60, 7), (95, 7), (140, 9)], 7),
        ] {
            let mut filter = MinFilter::new(u64::MAX);
            for &(ms, value) in values {
                filter.update(time_at_ms(ms), value, window);
            }
            assert_eq!(filter.value(), at_end, "{values:?}");
        }
    }

    #[test]
    fn a_window_of_rounds_slides_as_one_of_time() {
        let mut filter: MinFilter<u64, u64> = MinFilter::new(u64::MAX);
        for (round, value, smallest) in [(1, 5, 5), (4, 9, 5), (11, 8, 5), (12, 7, 7)] {
            filter.update(round, value, 10);
            assert_eq!(filter.value(), smallest, "{round}");
        }
    }

    #[test]
    fn a_small_value_replaces_later_choices() {
        let window = Span::from_millis(100);
        for (values, at_end) in [
            // The pairs are (time, value). The value 5 at time 60 is below the second choice, so it
            // replaces the second and the third choice.
            (&[(0, 1), (30, 9), (60, 5), (101, 8)][..], 5),
            // The value 7 at time 70 is below the third choice only, so it replaces only the third
            // choice.
            (&[(0, 1), (30, 5), (60, 9), (70, 7), (131, 8)], 7),
        ] {
            let mut filter = MinFilter::new(u64::MAX);
            for &(ms, value) in values {
                filter.update(time_at_ms(ms), value, window);
            }
            assert_eq!(filter.value(), at_end, "{values:?}");
        }
    }
}
