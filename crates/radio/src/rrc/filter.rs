//! The layer 3 filter of measurements, also of levels that are not wholly known.

use fadeout_core::{Span, math};

/// Input period for which filterCoefficient is defined: a measurement period without DRX.
///
/// Standard: TS 36.133 §8.1.2.2.1; TS 38.133 Table 9.2.5.2-1.
pub(crate) const FILTER_PERIOD: Span = Span::from_millis(200);

/// The layer 3 filter, in dB.
///
/// Standard: TS 38.331 §5.5.3.2; TS 36.331 §5.5.3.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Filter {
    /// Weight of a new sample.
    weight: f64,
}

impl Filter {
    /// The filter with coefficient `k` for a sample each `period`, with the time characteristics
    /// that it has at the period it is defined for.
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

    /// Weight of a new sample.
    #[cfg(test)]
    pub(crate) fn weight(self) -> f64 {
        self.weight
    }

    /// The filtered value after a sample; the first sample is its own.
    pub(crate) fn next(self, before: Option<f64>, sample: f64) -> f64 {
        before.map_or(sample, |before| {
            (1.0 - self.weight) * before + self.weight * sample
        })
    }

    /// The same where not all is known: each step, with its rounding, is monotone in value and sample.
    pub(crate) fn next_level(self, before: Level, sample: Level) -> Level {
        if before.is_none() {
            return sample;
        }
        Level {
            low: self.next(Some(before.low), sample.low),
            high: self.next(Some(before.high), sample.high),
        }
    }

    /// What the filter with coefficient `k`, this one for samples `period` apart, makes of the last samples in dB, each with
    /// the period before it. So much is `known` of it.
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

    /// After how many samples nothing is left of what was before them, in the bits of a double: what is left
    /// of 2^11 dB falls below the last of 53 bits, and as many samples again let two values meet that differ in it.
    pub(crate) fn forgets_after(self) -> usize {
        let left = 1.0 - self.weight;
        let samples = 2.0 * 64.0 * std::f64::consts::LN_2 / -math::ln(left);
        samples.ceil().clamp(1.0, 1e9) as usize
    }
}

/// A level in dBm of which is known that it lies between two values: the same ones where it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub low: f64,
    pub high: f64,
}

/// What was before samples that are filtered anew.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Before {
    /// Nothing: the first of them was the first of all.
    Nothing,
    /// Nothing that the filter remembers.
    Forgotten,
    /// Something that it may remember: what follows is not wholly known.
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
    /// Nothing was measured yet.
    pub(crate) const NONE: Level = Level {
        low: f64::NAN,
        high: f64::NAN,
    };
    /// More and less than anything that is ever measured.
    pub(crate) const ANY: Level = Level {
        low: -1e4,
        high: 1e4,
    };

    /// What is known by both; one of which is none says nothing.
    fn within(self, other: Level) -> Level {
        let both = Level {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        };
        // Both bounds are rounded.
        debug_assert!(
            both.low <= both.high + 1e-6 || both.low.is_nan() || both.high.is_nan(),
            "bounds that exclude each other: {self:?} and {other:?}"
        );
        both
    }

    /// Whether it is known to the bit.
    pub(crate) fn is_known(self) -> bool {
        self.low == self.high
    }

    /// Whether nothing was measured yet.
    pub(crate) fn is_none(self) -> bool {
        self.low.is_nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::random::Stream;

    /// From no more than the latest samples follow bounds of what all of them say, which meet when there are enough.
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

    /// The trail of places relies on this.
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
