//! Times of the next samples of flows or links.

use fadeout_core::{Sampling, Span, Time};

/// Time of the next sample of each flow or link. All times are multiples of an interval.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Span,
    due: Vec<Time>,
}

impl Sampler {
    pub(crate) fn new(sampling: Sampling, entities: usize) -> Self {
        let (interval, first) = match sampling {
            Sampling::Off => (Span::MAX, Time::NEVER),
            Sampling::Every(interval) => (interval, Time::ZERO),
            Sampling::All => (Span::ZERO, Time::ZERO),
        };
        Sampler {
            interval,
            due: vec![first; entities],
        }
    }

    /// True if a sample of `entity` is due.
    #[inline]
    pub(crate) fn is_due(&self, now: Time, entity: usize) -> bool {
        now >= self.due[entity]
    }

    /// Records a sample of `entity`. The next sample is due at the next multiple of the interval.
    #[inline]
    pub(crate) fn on_sample(&mut self, now: Time, entity: usize) {
        if !self.interval.is_zero() {
            let passed = now.as_nanos() / self.interval.as_nanos();
            self.due[entity] =
                Time::ZERO.saturating_add(self.interval.saturating_mul(passed.saturating_add(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(sampling: Sampling) -> usize {
        let mut sampler = Sampler::new(sampling, 1);
        let instants = (0..1000).map(|n| Time::ZERO + Span::from_micros(70) * n);
        instants
            .filter(|&now| {
                let due = sampler.is_due(now, 0);
                if due {
                    sampler.on_sample(now, 0);
                }
                due
            })
            .count()
    }

    #[test]
    fn one_sample_is_taken_in_each_interval() {
        // 1,000 calls at intervals of 70 us span 69.93 ms. Seven intervals of 10 ms begin in this
        // time.
        assert_eq!(taken(Sampling::Every(Span::from_millis(10))), 7);
        assert_eq!(taken(Sampling::All), 1000);
        assert_eq!(taken(Sampling::Off), 0);
    }

    #[test]
    fn entities_are_sampled_apart() {
        let mut sampler = Sampler::new(Sampling::Every(Span::from_secs(1)), 2);
        sampler.on_sample(Time::ZERO, 0);
        assert!(!sampler.is_due(Time::ZERO, 0));
        assert!(sampler.is_due(Time::ZERO, 1));
    }
}
