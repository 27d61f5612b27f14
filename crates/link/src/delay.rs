//! Propagation delay of packets over time.

use crate::LinkError;
use crate::steps::{Follower, Steps};
use fadeout_core::{Span, Time};

/// Propagation delay of a link over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelayConfig {
    /// A constant delay.
    Constant(Span),
    /// The delay changes at given times.
    Steps {
        /// Changes in order, the first at time zero. The last delay applies for ever.
        steps: Vec<DelayStep>,
        /// Time after which the steps repeat. `None` if they do not.
        repeat_every: Option<Span>,
    },
}

impl DelayConfig {
    /// Returns the delay that is longer by `more` at all times.
    #[must_use]
    pub fn plus(mut self, more: Span) -> DelayConfig {
        match &mut self {
            DelayConfig::Constant(delay) => *delay = delay.saturating_add(more),
            DelayConfig::Steps { steps, .. } => {
                for step in steps {
                    step.delay = step.delay.saturating_add(more);
                }
            }
        }
        self
    }

    /// Returns the longest delay.
    pub fn longest(&self) -> Span {
        match self {
            DelayConfig::Constant(delay) => *delay,
            DelayConfig::Steps { steps, .. } => {
                let delays = steps.iter().map(|step| step.delay);
                delays.max().unwrap_or(Span::ZERO)
            }
        }
    }

    /// Returns the shortest delay.
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

/// Change of delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayStep {
    /// Time of the change, from time zero or from the start of the repetition.
    pub at: Span,
    /// Delay from that time on.
    pub delay: Span,
}

pub use fadeout_core::agreed::Changes;

/// Delay as a function of time. Times must not decrease.
#[derive(Debug)]
pub(crate) enum Delay {
    Constant(Span),
    Steps(Follower<Span>),
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
                Delay::Steps(Follower::new(Steps::new(list, *repeat_every)?))
            }
        })
    }

    /// Returns the delay if it never changes. `None` if it may change.
    pub(crate) fn constant(&self) -> Option<Span> {
        match self {
            Delay::Constant(delay) => Some(*delay),
            Delay::Steps(_) => None,
        }
    }

    /// Returns the delay at `at`, which must not be before the last requested time.
    #[inline]
    pub(crate) fn delay_at(&mut self, at: Time) -> Span {
        match self {
            Delay::Constant(delay) => *delay,
            Delay::Steps(steps) => stepped(steps, at),
        }
    }
}

/// This function is out of line, so that a constant delay costs only a comparison.
#[inline(never)]
fn stepped(steps: &mut Follower<Span>, at: Time) -> Span {
    steps.value_at(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_delay_is_added_to_every_step() {
        let ms = Span::from_millis;
        let delay_step = |at, delay| DelayStep {
            at: ms(at),
            delay: ms(delay),
        };
        let steps = |delays: [u64; 2]| DelayConfig::Steps {
            steps: vec![delay_step(0, delays[0]), delay_step(20, delays[1])],
            repeat_every: None,
        };
        assert_eq!(steps([10, 50]).plus(ms(3)), steps([13, 53]));
        assert_eq!(DelayConfig::from(ms(10)).plus(ms(3)), ms(13).into());
    }

    #[test]
    fn the_delay_follows_its_steps_however_far_they_are() {
        let ms = Span::from_millis;
        let delay_step = |at, delay| DelayStep {
            at: ms(at),
            delay: ms(delay),
        };
        let config = DelayConfig::Steps {
            steps: vec![delay_step(0, 10), delay_step(20, 50)],
            repeat_every: Some(ms(30)),
        };
        let mut delay = Delay::new(&config).expect("valid");
        let time_at_ms = |at| Time::ZERO + ms(at);
        let delays: Vec<u64> = [0, 19, 20, 29, 30, 3_000_000_000_000, 3_000_000_000_020]
            .map(|t| delay.delay_at(time_at_ms(t)).as_millis())
            .into();
        assert_eq!(delays, [10, 10, 50, 50, 10, 10, 50]);
        assert_eq!(delay.delay_at(Time::NEVER), ms(50));
    }
}
