//! Random or listed loss, decided when a packet arrives at the link, before the queue.
//!
//! netem decides at the same point. A lost packet takes neither queue space nor transmission time.

mod arrivals;
mod gilbert_elliott;

pub use arrivals::Arrivals;
pub use gilbert_elliott::GilbertElliott;

use crate::LinkError;
use crate::streams::Streams;
use fadeout_core::random::Stream;

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
    /// Bursts of losses.
    GilbertElliott(GilbertElliott),
    /// Loss of listed arrivals only.
    Arrivals(Arrivals),
}

/// Loss process, which decides on one packet after the other.
#[derive(Debug, Clone)]
pub(crate) enum Loss {
    None,
    Independent { probability: f64, stream: Stream },
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
            LossConfig::GilbertElliott(chain) => {
                Loss::GilbertElliott(gilbert_elliott::Chain::new(chain, stream)?)
            }
            LossConfig::Arrivals(arrivals) => Loss::Arrivals(arrivals::Counted::new(arrivals)),
        })
    }

    /// Returns true if the next packet is lost.
    #[inline]
    pub(crate) fn is_lost(&mut self) -> bool {
        !matches!(self, Loss::None) && self.loses()
    }

    /// This function is out of line, so that a link without loss costs no call.
    #[inline(never)]
    fn loses(&mut self) -> bool {
        match self {
            Loss::None => false,
            Loss::Independent {
                probability,
                stream,
            } => stream.chance(*probability),
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
        let lost = (0..n).filter(|_| loss.is_lost()).count() as f64;
        // The limit is five standard errors of a binomial share.
        let error = (0.01 * 0.99 / f64::from(n)).sqrt();
        assert!((lost / f64::from(n) - 0.01).abs() < 5.0 * error, "{lost}");
    }

    #[test]
    fn a_probability_outside_zero_to_one_is_an_error() {
        for probability in [-0.1, 1.1, f64::NAN] {
            let config = LossConfig::Independent { probability };
            assert!(Loss::new(config, streams(1)).is_err());
        }
    }
}
