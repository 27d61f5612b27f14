//! Value that changes at given times: the rate, delay or loss of a link.

use crate::LinkError;
use crate::schedule::at_least;
use fadeout_core::{Span, Time};
use std::sync::Arc;

/// Sequence of values, the first from time zero on, which may repeat. Clones share the list.
#[derive(Debug, Clone)]
pub(crate) struct Steps<T> {
    steps: Arc<[(Span, T)]>,
    repeat_every: Option<Span>,
    next: usize,
    /// Start of the current repetition.
    base: Time,
}

impl<T: Copy> Steps<T> {
    pub(crate) fn new(
        steps: impl Iterator<Item = (Span, T)>,
        repeat_every: Option<Span>,
    ) -> Result<Self, LinkError> {
        let steps: Arc<[(Span, T)]> = steps.collect();
        let first = steps.first().map(|step| step.0);
        if first != Some(Span::ZERO) {
            return Err(LinkError::FirstStep(first));
        }
        for pair in steps.windows(2) {
            at_least("a step", pair[1].0.saturating_sub(pair[0].0))?;
        }
        if let (Some(period), Some(last)) = (repeat_every, steps.last()) {
            at_least("the last step", period.saturating_sub(last.0))?;
        }
        Ok(Steps {
            steps,
            repeat_every,
            next: 0,
            base: Time::ZERO,
        })
    }

    /// Returns the next step, and its end.
    pub(crate) fn next_step(&mut self) -> (Time, T) {
        debug_assert!(
            self.next < self.steps.len(),
            "the last step was passed for good"
        );
        let value = self.steps[self.next].1;
        self.next += 1;
        if let Some(step) = self.steps.get(self.next) {
            return (self.base.saturating_add(step.0), value);
        }
        self.next = 0;
        let until = match self.repeat_every {
            Some(period) => {
                self.base = self.base.saturating_add(period);
                self.base
            }
            None => Time::NEVER,
        };
        (until, value)
    }

    /// Skips repetitions that end by `at`, which is not [`Time::NEVER`]. So the step of a distant
    /// instant is found within one repetition.
    pub(crate) fn skip_to(&mut self, at: Time) {
        if let (0, Some(period)) = (self.next, self.repeat_every) {
            let whole = at.since(self.base).as_nanos() / period.as_nanos();
            self.base = self.base.saturating_add(period.saturating_mul(whole));
            debug_assert!(self.base <= at, "a repetition is passed over that goes on");
        }
    }
}

/// Value of the step at a time. Times must not decrease.
#[derive(Debug, Clone)]
pub(crate) struct Follower<T> {
    steps: Steps<T>,
    value: T,
    until: Time,
}

impl<T: Copy> Follower<T> {
    pub(crate) fn new(mut steps: Steps<T>) -> Self {
        let (until, value) = steps.next_step();
        Follower {
            steps,
            value,
            until,
        }
    }

    /// Returns the value at `at`, which must not be before the last requested time.
    pub(crate) fn value_at(&mut self, at: Time) -> T {
        // The value for a packet that never departs does not matter.
        while self.until <= at && !at.is_never() {
            self.steps.skip_to(at);
            (self.until, self.value) = self.steps.next_step();
        }
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(list: &[(u64, u8)], repeat_ms: Option<u64>) -> Result<Steps<u8>, LinkError> {
        let list = list
            .iter()
            .map(|&(ms, value)| (Span::from_millis(ms), value));
        Steps::new(list, repeat_ms.map(Span::from_millis))
    }

    #[test]
    fn steps_repeat_from_their_first() {
        let mut steps = steps(&[(0, 10), (4, 2)], Some(5)).expect("valid");
        let found: Vec<_> = (0..4)
            .map(|_| steps.next_step())
            .map(|(until, value)| (until.as_millis(), value))
            .collect();
        assert_eq!(found, [(4, 10), (5, 2), (9, 10), (10, 2)]);
    }

    #[test]
    fn whole_repetitions_are_passed_over() {
        let mut steps = steps(&[(0, 10), (4, 2)], Some(5)).expect("valid");
        let at = Time::from_nanos(1_000_003_000_000);
        steps.skip_to(at);
        assert_eq!(steps.next_step().0.as_millis(), 1_000_004);
        // The next step is in the middle of a repetition, so nothing is skipped.
        steps.skip_to(Time::from_nanos(u64::MAX / 2));
        assert_eq!(steps.next_step().0.as_millis(), 1_000_005);
    }

    #[test]
    fn the_last_of_steps_that_do_not_repeat_stays() {
        let mut steps = steps(&[(0, 10), (4, 2)], None).expect("valid");
        steps.next_step();
        assert_eq!(steps.next_step().0, Time::NEVER);
    }

    #[test]
    fn steps_out_of_order_or_late_are_errors() {
        assert!(steps(&[], None).is_err());
        assert!(steps(&[(1, 1)], None).is_err());
        assert!(steps(&[(0, 1), (2, 1), (1, 1)], None).is_err());
        assert!(steps(&[(0, 1), (2, 1)], Some(2)).is_err());
    }
}
