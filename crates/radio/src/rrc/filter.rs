//! Layer 3 filter of measurements. The filter also applies to lower and upper bounds of levels that
//! are not exactly known.

use fadeout_core::{Span, math};

/// Sample period for which filterCoefficient is defined: the measurement period without DRX.
///
/// Standard: TS 36.133 §8.1.2.2.1; TS 38.133 Table 9.2.5.2-1.
pub(crate) const FILTER_PERIOD: Span = Span::from_millis(200);

/// Layer 3 filter in dB.
///
/// Standard: TS 38.331 §5.5.3.2; TS 36.331 §5.5.3.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Filter {
    /// Weight of a new sample.
    weight: f64,
}

impl Filter {
    /// Returns the filter with coefficient `k` for one sample in each `period`. The weight is
    /// adapted so that the filter reacts as fast as with one sample in each [`FILTER_PERIOD`].
    pub(crate) fn new(k: u8, period: Span) -> Filter {
        let left = 1.0 - math::exp2(-f64::from(k) / 4.0);
        let samples = period.as_secs_f64() / FILTER_PERIOD.as_secs_f64();
        let weight = 1.0 - math::pow(left, samples);
        debug_assert!(
            weight > 0.0 && weight <= 1.0,
            "a sample each {period:?} has a weight of {weight}"
        );
        Filter { weight }
    }

    /// Returns the weight of a new sample.
    #[cfg(test)]
    pub(crate) fn weight(self) -> f64 {
        self.weight
    }

    /// Returns the filtered value after a sample. `before` is the filtered value before the sample.
    /// The first sample is not filtered.
    pub(crate) fn next(self, before: Option<f64>, sample: f64) -> f64 {
        before.map_or(sample, |before| {
            (1.0 - self.weight) * before + self.weight * sample
        })
    }

    /// Returns the bounds of the filtered value after a sample. Rounding does not invalidate the
    /// bounds, because the filtered value increases monotonically with `before` and `sample`.
    pub(crate) fn next_level(self, before: Level, sample: Level) -> Level {
        if before.is_none() {
            return sample;
        }
        Level {
            low: self.next(Some(before.low), sample.low),
            high: self.next(Some(before.high), sample.high),
        }
    }

    /// Computes the filtered value from the last samples in dB, each with the time since the
    /// previous sample. The filter has coefficient `k`. At first it is set up for samples `period`
    /// apart. `known` is an interval that contains the result.
    pub(crate) fn replay(
        self,
        (k, mut period): (u8, Span),
        (samples, before): (&[(Span, f64)], Before),
        known: Level,
    ) -> Level {
        let mut filter = self;
        let mut filtered = match before {
            Before::Nothing => Level::NONE,
            Before::Forgotten | Before::Unknown => Level::ANY,
        };
        for &(over, sample) in samples {
            if over != period {
                (period, filter) = (over, Filter::new(k, over));
            }
            filtered = filter.next_level(filtered, sample.into());
        }
        match before {
            Before::Nothing | Before::Forgotten => filtered.low.into(),
            Before::Unknown => filtered.within(known),
        }
    }

    /// Returns the number of samples after which earlier samples do not affect any bit of the
    /// filtered value. The first half of these samples reduces a difference of 2^11 dB below the
    /// last of 53 bits. The second half removes differences in the last bit.
    pub(crate) fn forgets_after(self) -> usize {
        let left = 1.0 - self.weight;
        let samples = 2.0 * 64.0 * std::f64::consts::LN_2 / -math::ln(left);
        samples.ceil().clamp(1.0, 1e9) as usize
    }
}

/// Interval that contains a level in dBm. Both bounds are equal if the level is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub low: f64,
    pub high: f64,
}

/// Influence of earlier measurements on samples that are filtered again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Before {
    /// There was no earlier measurement.
    Nothing,
    /// Earlier measurements no longer influence the filtered value.
    Forgotten,
    /// Earlier measurements may influence the filtered value, so only bounds of that value are
    /// known.
    Unknown,
}

impl From<f64> for Level {
    fn from(level: f64) -> Level {
        Level {
            low: level,
            high: level,
        }
    }
}

impl Level {
    /// Level of a cell without a measurement.
    pub(crate) const NONE: Level = Level {
        low: f64::NAN,
        high: f64::NAN,
    };
    /// Interval that contains every possible measurement.
    pub(crate) const ANY: Level = Level {
        low: -1e4,
        high: 1e4,
    };

    /// Returns the intersection of two intervals. A bound that is NaN is ignored.
    fn within(self, other: Level) -> Level {
        let both = Level {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        };
        // The tolerance covers the rounding of both intervals' bounds.
        debug_assert!(
            both.low <= both.high + 1e-6 || both.low.is_nan() || both.high.is_nan(),
            "bounds that exclude each other: {self:?} and {other:?}"
        );
        both
    }

    /// True if the level is known exactly.
    pub(crate) fn is_known(self) -> bool {
        self.low == self.high
    }

    /// True if there was no measurement.
    pub(crate) fn is_none(self) -> bool {
        self.low.is_nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::random::Stream;

    /// Replays only the latest samples. The result must bound the filtered value of all samples.
    /// With enough samples, both bounds must be equal.
    #[test]
    fn the_latest_samples_bound_what_all_of_them_say() {
        for (k, ms) in [(0, 200), (4, 40), (4, 200), (8, 320)] {
            let period = Span::from_millis(ms);
            let filter = Filter::new(k, period);
            let enough = filter.forgets_after();
            for case in 0..50 {
                let mut draw = Stream::new(case, "filter.replay", u64::from(k));
                let samples: Vec<(Span, f64)> = (0..enough + 10)
                    .map(|_| {
                        let over = period * (1 + draw.below(2));
                        (over, draw.uniform_in(-150.0, -40.0))
                    })
                    .collect();
                let replay = |from: usize, before, known| {
                    filter.replay((k, period), (&samples[from..], before), known)
                };
                let all = replay(0, Before::Nothing, Level::ANY);
                assert!(all.is_known());
                let known = Level {
                    low: all.low - draw.uniform_in(0.0, 9.0),
                    high: all.high + draw.uniform_in(0.0, 9.0),
                };
                let mut width = f64::INFINITY;
                for latest in [1, enough.div_ceil(8), enough.div_ceil(2), enough] {
                    let found = replay(samples.len() - latest, Before::Unknown, known);
                    assert!(found.low <= all.low && all.high <= found.high);
                    assert!(known.low <= found.low && found.high <= known.high);
                    assert!(found.high - found.low <= width, "{k} {latest}");
                    width = found.high - found.low;
                }
                assert_eq!(width, 0.0);
                let found = replay(samples.len() - enough, Before::Forgotten, Level::ANY);
                assert_eq!(found, all);
            }
        }
    }

    /// After [`Filter::forgets_after`] samples the filtered value must not depend on its start.
    /// `MeasurementPlaces` relies on this property.
    #[test]
    fn after_as_many_samples_as_a_filter_remembers_nothing_is_left_of_what_was_before() {
        for (k, ms) in [(0, 200), (1, 40), (4, 40), (4, 200), (8, 200), (11, 320)] {
            let filter = Filter::new(k, Span::from_millis(ms));
            for case in 0..50 {
                let mut draw = Stream::new(case, "filter", u64::from(k));
                let mut level = Level::ANY;
                let mut known = Level::from(draw.uniform_in(-150.0, 30.0));
                for _ in 0..filter.forgets_after() {
                    let sample = Level::from(draw.uniform_in(-150.0, -40.0));
                    level = filter.next_level(level, sample);
                    known = filter.next_level(known, sample);
                    assert!(level.low <= known.low && known.low <= level.high);
                }
                assert!(level.is_known() && level == known, "{k} {level:?}");
            }
        }
        assert_eq!(Filter::new(0, FILTER_PERIOD).forgets_after(), 1);
    }
}
