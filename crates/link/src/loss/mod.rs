//! Random or listed loss, decided when a packet arrives at the link, before the queue.
//!
//! netem decides at the same point. A lost packet takes neither queue space nor transmission time.

mod arrivals;
mod gilbert_elliott;

pub use arrivals::Arrivals;
pub use gilbert_elliott::GilbertElliott;

use crate::LinkError;
use crate::steps::{Follower, Steps};
use crate::streams::Streams;
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time};

/// Loss of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum LossConfig {
    /// No loss.
    #[default]
    None,
    /// Each packet is lost with this probability, independently of the others.
    Independent {
        /// Probability in [0, 1].
        probability: f64,
    },
    /// Each packet is lost independently of the others, with a probability that changes at given
    /// times.
    Steps {
        /// Changes in order, the first at time zero. The last probability applies for ever.
        steps: Vec<LossStep>,
        /// Time after which the steps repeat. `None` if they do not.
        repeat_every: Option<Span>,
    },
    /// Bursts of losses.
    GilbertElliott(GilbertElliott),
    /// Loss of listed arrivals only.
    Arrivals(Arrivals),
}

/// Change of the probability of loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossStep {
    /// Time of the change, from time zero or from the start of the repetition.
    pub at: Span,
    /// Probability from that time on, in [0, 1].
    pub probability: f64,
}

/// Loss process, which decides on one packet after the other.
#[derive(Debug, Clone)]
pub(crate) enum Loss {
    None,
    Independent {
        probability: f64,
        stream: Stream,
    },
    Steps {
        probability: Follower<f64>,
        stream: Stream,
    },
    GilbertElliott(gilbert_elliott::Chain),
    Arrivals(arrivals::Counted),
}

impl Loss {
    pub(crate) fn new(config: LossConfig, streams: Streams) -> Result<Self, LinkError> {
        let stream = streams.stream("link.loss");
        Ok(match config {
            LossConfig::None => Loss::None,
            LossConfig::Independent { probability } => {
                is_probability("loss", probability)?;
                Loss::Independent {
                    probability,
                    stream,
                }
            }
            LossConfig::Steps {
                steps,
                repeat_every,
            } => {
                for step in &steps {
                    is_probability("loss", step.probability)?;
                }
                let list = steps.iter().map(|step| (step.at, step.probability));
                let probability = Follower::new(Steps::new(list, repeat_every)?);
                Loss::Steps {
                    probability,
                    stream,
                }
            }
            LossConfig::GilbertElliott(chain) => {
                Loss::GilbertElliott(gilbert_elliott::Chain::new(chain, stream)?)
            }
            LossConfig::Arrivals(arrivals) => Loss::Arrivals(arrivals::Counted::new(arrivals)),
        })
    }

    /// Returns true if the link may lose packets at random.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Loss::None)
    }

    /// Returns true if the next packet is lost, which arrives at `now`.
    #[inline]
    pub(crate) fn is_lost(&mut self, now: Time) -> bool {
        self.is_on() && self.loses(now)
    }

    /// This function is out of line, so that a link without loss costs no call.
    #[inline(never)]
    fn loses(&mut self, now: Time) -> bool {
        match self {
            Loss::None => false,
            Loss::Independent {
                probability,
                stream,
            } => stream.chance(*probability),
            Loss::Steps {
                probability,
                stream,
            } => stream.chance(probability.value_at(now)),
            Loss::GilbertElliott(chain) => chain.is_lost(),
            Loss::Arrivals(counted) => counted.is_lost(),
        }
    }
}

fn is_probability(name: &'static str, value: f64) -> Result<(), LinkError> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(LinkError::Probability { name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(seed: u64) -> Streams {
        Streams { seed, entity: 0 }
    }

    #[test]
    fn independent_loss_has_its_rate() {
        let config = LossConfig::Independent { probability: 0.01 };
        let mut loss = Loss::new(config, streams(3)).expect("a probability");
        let n = 400_000;
        let lost = (0..n).filter(|_| loss.is_lost(Time::ZERO)).count() as f64;
        // The limit is five standard errors of a binomial share.
        let error = (0.01 * 0.99 / f64::from(n)).sqrt();
        assert!((lost / f64::from(n) - 0.01).abs() < 5.0 * error, "{lost}");
    }

    #[test]
    fn the_loss_follows_its_steps() {
        let step = |at_s, probability| LossStep {
            at: Span::from_secs(at_s),
            probability,
        };
        let config = LossConfig::Steps {
            steps: vec![step(0, 0.0), step(2, 1.0), step(3, 0.0)],
            repeat_every: Some(Span::from_secs(5)),
        };
        let mut loss = Loss::new(config, streams(3)).expect("probabilities");
        let seconds = (0..12).map(|second| Time::ZERO + Span::from_secs(second));
        let lost: Vec<bool> = seconds.map(|now| loss.is_lost(now)).collect();
        let expected: Vec<bool> = (0..12).map(|second| second % 5 == 2).collect();
        assert_eq!(lost, expected);
    }

    #[test]
    fn a_probability_outside_zero_to_one_is_an_error() {
        for probability in [-0.1, 1.1, f64::NAN] {
            let config = LossConfig::Independent { probability };
            assert!(Loss::new(config, streams(1)).is_err());
            let at = Span::ZERO;
            let config = LossConfig::Steps {
                steps: vec![LossStep { at, probability }],
                repeat_every: None,
            };
            assert!(Loss::new(config, streams(1)).is_err());
        }
    }
}
