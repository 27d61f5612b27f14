//! A rate that changes at given times.

use super::Piece;
use crate::LinkError;
use crate::schedule::at_least;
use fadeout_core::{Rate, Span, Time};
use std::sync::Arc;

/// A change of rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateStep {
    /// When, from time zero or from the start of the repetition.
    pub at: Span,
    /// The rate from then on.
    pub rate: Rate,
}

#[derive(Debug, Clone)]
pub(crate) struct Steps {
    steps: Arc<[RateStep]>,
    repeat_every: Option<Span>,
    next: usize,
    /// Start of the current repetition.
    base: Time,
}

impl Steps {
    pub(crate) fn new(steps: &[RateStep], repeat_every: Option<Span>) -> Result<Self, LinkError> {
        let first = steps.first().map(|step| step.at);
        if first != Some(Span::ZERO) {
            return Err(LinkError::FirstStep(first));
        }
        for pair in steps.windows(2) {
            at_least("a rate step", pair[1].at.saturating_sub(pair[0].at))?;
        }
        if let (Some(period), Some(last)) = (repeat_every, steps.last()) {
            at_least("the last rate step", period.saturating_sub(last.at))?;
        }
        Ok(Steps {
            steps: steps.into(),
            repeat_every,
            next: 0,
            base: Time::ZERO,
        })
    }

    pub(crate) fn next_piece(&mut self) -> Piece {
        let rate = self.steps[self.next].rate;
        self.next += 1;
        if let Some(step) = self.steps.get(self.next) {
            return Piece {
                until: self.base.saturating_add(step.at),
                rate,
            };
        }
        self.next = 0;
        match self.repeat_every {
            Some(period) => {
                self.base = self.base.saturating_add(period);
                Piece {
                    until: self.base,
                    rate,
                }
            }
            None => Piece {
                until: Time::NEVER,
                rate,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(ms: u64, mbps: u64) -> RateStep {
        RateStep {
            at: Span::from_millis(ms),
            rate: Rate::from_bits_per_sec(mbps * 1_000_000),
        }
    }

    #[test]
    fn steps_repeat_from_their_first() {
        let mut steps =
            Steps::new(&[step(0, 10), step(4, 2)], Some(Span::from_millis(5))).expect("valid");
        let pieces: Vec<_> = (0..4)
            .map(|_| steps.next_piece())
            .map(|piece| (piece.until.as_millis(), piece.rate.as_mbps() as u64))
            .collect();
        assert_eq!(pieces, [(4, 10), (5, 2), (9, 10), (10, 2)]);
    }

    #[test]
    fn the_last_of_steps_that_do_not_repeat_stays() {
        let mut steps = Steps::new(&[step(0, 10), step(4, 2)], None).expect("valid");
        steps.next_piece();
        assert_eq!(steps.next_piece().until, Time::NEVER);
    }

    #[test]
    fn steps_out_of_order_or_late_are_errors() {
        assert!(Steps::new(&[], None).is_err());
        assert!(Steps::new(&[step(1, 1)], None).is_err());
        assert!(Steps::new(&[step(0, 1), step(2, 1), step(1, 1)], None).is_err());
        assert!(Steps::new(&[step(0, 1), step(2, 1)], Some(Span::from_millis(2))).is_err());
    }
}
