//! Travel time of a packet, over time.

use crate::LinkError;
use crate::steps::Steps;
use fadeout_core::{Span, Time};

/// A link's propagation delay over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelayConfig {
    /// One delay for ever.
    Constant(Span),
    /// The delay changes at given times.
    Steps {
        /// The changes in order, the first at time zero. The last delay stays for ever.
        steps: Vec<DelayStep>,
        /// Start over after this time.
        repeat_every: Option<Span>,
    },
}

impl DelayConfig {
    /// The longest delay that there ever is.
    pub fn longest(&self) -> Span {
        match self {
            DelayConfig::Constant(delay) => *delay,
            DelayConfig::Steps { steps, .. } => {
                let delays = steps.iter().map(|step| step.delay);
                delays.max().unwrap_or(Span::ZERO)
            }
        }
    }

    /// The shortest delay that there ever is.
    pub fn shortest(&self) -> Span {
        match self {
            DelayConfig::Constant(delay) => *delay,
            DelayConfig::Steps { steps, .. } => {
                let delays = steps.iter().map(|step| step.delay);
                delays.min().unwrap_or(Span::ZERO)
            }
        }
    }
}

impl From<Span> for DelayConfig {
    fn from(delay: Span) -> Self {
        DelayConfig::Constant(delay)
    }
}

/// A change of delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayStep {
    /// When, from time zero or from the start of the repetition.
    pub at: Span,
    /// The delay from then on.
    pub delay: Span,
}

pub use fadeout_core::agreed::Changes;

/// Tells the delay of instants that never go back.
#[derive(Debug)]
pub(crate) enum Delay {
    Constant(Span),
    Steps(DelaySteps),
}

/// A delay that changes.
#[derive(Debug)]
pub(crate) struct DelaySteps {
    steps: Steps<Span>,
    delay: Span,
    until: Time,
}

impl Delay {
    pub(crate) fn new(config: &DelayConfig) -> Result<Self, LinkError> {
        Ok(match config {
            DelayConfig::Constant(delay) => Delay::Constant(*delay),
            DelayConfig::Steps {
                steps,
                repeat_every,
            } => {
                let list = steps.iter().map(|step| (step.at, step.delay));
                let mut steps = Steps::new(list, *repeat_every)?;
                let (until, delay) = steps.next_step();
                Delay::Steps(DelaySteps {
                    steps,
                    delay,
                    until,
                })
            }
        })
    }

    /// The delay at `at`, which is never before the last instant asked for.
    #[inline]
    pub(crate) fn at(&mut self, at: Time) -> Span {
        match self {
            Delay::Constant(delay) => *delay,
            Delay::Steps(steps) => steps.at(at),
        }
    }
}

impl DelaySteps {
    /// Out of line, so that a constant delay costs a look.
    #[inline(never)]
    fn at(&mut self, at: Time) -> Span {
        // A packet that never departs has no delay of its own.
        while self.until <= at && !at.is_never() {
            self.steps.skip_to(at);
            (self.until, self.delay) = self.steps.next_step();
        }
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_follows_its_steps_however_far_they_are() {
        let ms = Span::from_millis;
        let step = |at, delay| DelayStep {
            at: ms(at),
            delay: ms(delay),
        };
        let config = DelayConfig::Steps {
            steps: vec![step(0, 10), step(20, 50)],
            repeat_every: Some(ms(30)),
        };
        let mut delay = Delay::new(&config).expect("valid");
        let at = |at| Time::ZERO + ms(at);
        let delays: Vec<u64> = [0, 19, 20, 29, 30, 3_000_000_000_000, 3_000_000_000_020]
            .map(|t| delay.at(at(t)).as_millis())
            .into();
        assert_eq!(delays, [10, 10, 50, 50, 10, 10, 50]);
        assert_eq!(delay.at(Time::NEVER), ms(50));
    }
}
