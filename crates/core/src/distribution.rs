//! Distributions of sizes and times, given by their mean.

use crate::math;
use crate::random::Stream;

/// Upper limit of draws. Distributions with infinite variance stay within the range of times and
/// sizes.
const LARGEST: f64 = 1e15;

crate::choices! {
    /// Shape of a distribution.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DistributionKind {
        /// Always the mean.
        Constant = "constant",
        /// Exponential distribution.
        Exponential = "exponential",
        /// Uniform distribution from zero to twice the mean.
        Uniform = "uniform",
        /// Pareto distribution with tail index `shape`, above 1.
        Pareto = "pareto",
        /// Log-normal distribution. `shape` is the standard deviation of the logarithm.
        LogNormal = "log-normal",
    }
}

/// Distribution of numbers that are not negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// Shape of the distribution.
    pub kind: DistributionKind,
    /// Mean of the distribution.
    pub mean: f64,
    /// Tail index of Pareto, or standard deviation of the logarithm of log-normal. Other
    /// distributions ignore it.
    pub shape: f64,
}

impl Distribution {
    /// Draws a number. A constant draws nothing from the stream.
    pub fn draw(&self, random: &mut Stream) -> f64 {
        let mean = self.mean;
        debug_assert!(
            mean >= 0.0 && self.shape >= 0.0,
            "a distribution with a mean of {mean} and a shape of {}",
            self.shape
        );
        let value = match self.kind {
            DistributionKind::Constant => mean,
            DistributionKind::Exponential => random.exponential(mean),
            DistributionKind::Uniform => random.uniform_in(0.0, 2.0 * mean),
            DistributionKind::Pareto => {
                // A tail index of one or less has no mean, so the nearest index with a mean is
                // used.
                let index = self.shape.max(1.001);
                let least = mean * (index - 1.0) / index;
                least * math::pow(1.0 - random.uniform(), -1.0 / index)
            }
            DistributionKind::LogNormal => {
                let middle = math::ln(mean.max(f64::MIN_POSITIVE)) - self.shape * self.shape / 2.0;
                math::exp(middle + self.shape * random.normal())
            }
        };
        debug_assert!(!value.is_nan(), "{:?} drew no number", self.kind);
        value.clamp(0.0, LARGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distribution_has_the_mean_it_is_given() {
        let mut random = Stream::new(1, "distribution", 0);
        for name in DistributionKind::NAMES {
            let distribution = Distribution {
                kind: DistributionKind::from_name(name).expect("a listed name"),
                mean: 10.0,
                shape: if *name == "pareto" { 3.0 } else { 0.5 },
            };
            let n = 200_000;
            let sum: f64 = (0..n).map(|_| distribution.draw(&mut random)).sum();
            let mean = sum / f64::from(n);
            // The widest distribution has a standard deviation of 10, so five standard errors are
            // 0.11.
            assert!((mean - 10.0).abs() < 0.12, "{name}: {mean}");
        }
    }

    #[test]
    fn a_heavy_tail_stays_a_number() {
        let mut random = Stream::new(1, "distribution", 0);
        let distribution = Distribution {
            kind: DistributionKind::Pareto,
            mean: 1e12,
            shape: 0.0,
        };
        assert!((0..100_000).all(|_| distribution.draw(&mut random) <= LARGEST));
    }
}
