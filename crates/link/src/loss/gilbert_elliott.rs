//! Bursty loss by a two-state Markov chain.
//!
//! E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960, and
//! E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", ibid. 42, 1963.

use super::is_probability;
use crate::LinkError;
use fadeout_core::random::Stream;

/// Parameters of the chain. The state may change once for each packet, after the loss decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GilbertElliott {
    /// Probability per packet of a transition from good to bad (p in the papers).
    pub good_to_bad: f64,
    /// Probability per packet of a transition from bad to good (r). Its inverse is the mean
    /// duration of the bad state, in packets.
    pub bad_to_good: f64,
    /// Probability that a packet is lost in the good state (1 - k). Zero in Gilbert's model.
    pub loss_good: f64,
    /// Probability that a packet is lost in the bad state (1 - h).
    pub loss_bad: f64,
}

impl GilbertElliott {
    /// Returns the long-run share of packets in the bad state, `p / (p + r)`.
    pub fn bad_share(&self) -> f64 {
        self.good_to_bad / (self.good_to_bad + self.bad_to_good)
    }
    /// Returns the long-run share of lost packets.
    pub fn loss_share(&self) -> f64 {
        let bad = self.bad_share();
        (1.0 - bad) * self.loss_good + bad * self.loss_bad
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Chain {
    parameters: GilbertElliott,
    is_bad: bool,
    stream: Stream,
}

impl Chain {
    /// Returns a chain that begins in its stationary distribution.
    pub(crate) fn new(parameters: GilbertElliott, mut stream: Stream) -> Result<Self, LinkError> {
        is_probability("good-to-bad", parameters.good_to_bad)?;
        is_probability("bad-to-good", parameters.bad_to_good)?;
        is_probability("loss-good", parameters.loss_good)?;
        is_probability("loss-bad", parameters.loss_bad)?;
        if parameters.good_to_bad + parameters.bad_to_good == 0.0 {
            return Err(LinkError::FrozenChain);
        }
        let is_bad = stream.chance(parameters.bad_share());
        Ok(Chain {
            parameters,
            is_bad,
            stream,
        })
    }

    #[inline]
    pub(crate) fn is_lost(&mut self) -> bool {
        let p = &self.parameters;
        let (loss, leave) = if self.is_bad {
            (p.loss_bad, p.bad_to_good)
        } else {
            (p.loss_good, p.good_to_bad)
        };
        debug_assert!(
            (0.0..=1.0).contains(&loss) && (0.0..=1.0).contains(&leave),
            "probabilities of {loss} and {leave}"
        );
        let lost = self.stream.chance(loss);
        self.is_bad ^= self.stream.chance(leave);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(parameters: GilbertElliott, n: usize) -> Vec<bool> {
        let stream = Stream::new(11, "link.loss", 0);
        let mut chain = Chain::new(parameters, stream).expect("valid parameters");
        (0..n).map(|_| chain.is_lost()).collect()
    }

    #[test]
    fn the_long_run_loss_is_the_closed_form() {
        let parameters = GilbertElliott {
            good_to_bad: 0.01,
            bad_to_good: 0.2,
            loss_good: 0.001,
            loss_bad: 0.7,
        };
        let n = 2_000_000;
        let share = losses(parameters, n).iter().filter(|&&lost| lost).count() as f64 / n as f64;
        // The correlation of the chain increases the variance of the mean by about (1 + c) / (1 -
        // c) with c = 1 - p - r. The limit is five standard errors with that factor.
        let (mean, c) = (parameters.loss_share(), 1.0 - 0.01 - 0.2);
        let error = (mean * (1.0 - mean) / n as f64 * (1.0 + c) / (1.0 - c)).sqrt();
        assert!((share - mean).abs() < 5.0 * error, "{share} beside {mean}");
    }

    #[test]
    fn bursts_of_gilberts_model_are_geometric() {
        let parameters = GilbertElliott {
            good_to_bad: 0.02,
            bad_to_good: 0.25,
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let lost = losses(parameters, 1_000_000);
        let bursts: Vec<f64> = lost
            .chunk_by(|a, b| a == b)
            .filter(|run| run[0])
            .map(|run| run.len() as f64)
            .collect();
        let count = bursts.len() as f64;
        let mean = bursts.iter().sum::<f64>() / count;
        // The lengths of bursts have a geometric distribution with mean 1/r = 4 and variance (1 -
        // r) / r^2 = 12. The limit is five standard errors.
        assert!((mean - 4.0).abs() < 5.0 * (12.0 / count).sqrt(), "{mean}");
    }

    #[test]
    fn a_chain_that_never_moves_is_an_error() {
        let frozen = GilbertElliott {
            good_to_bad: 0.0,
            bad_to_good: 0.0,
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let built = Chain::new(frozen, Stream::new(1, "link.loss", 0));
        assert_eq!(built.err(), Some(LinkError::FrozenChain));
    }
}
