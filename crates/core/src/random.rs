//! Named random streams.
//!
//! A stream is a function of (seed, domain, entity). The loss process of link 3 draws the same
//! numbers in any scenario. So congestion controls can be compared on the same channel, and an
//! additional flow does not change the draws of others.

use crate::math;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Independent stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Pcg64Mcg,
}

impl Stream {
    /// Returns the stream of `entity` within `domain` (for example `"link.loss"`) for the run's
    /// `seed`.
    pub fn new(seed: u64, domain: &str, entity: u64) -> Stream {
        // FNV-1a over the name separates domains. SplitMix64 then spreads all three inputs over the
        // generator's 128 bits of state.
        let name = fnv_1a(domain.bytes());
        let low = split_mix(seed ^ split_mix(name ^ split_mix(entity)));
        let high = split_mix(low ^ name.rotate_left(32) ^ entity);
        let mut state = [0; 16];
        state[..8].copy_from_slice(&low.to_le_bytes());
        state[8..].copy_from_slice(&high.to_le_bytes());
        Stream {
            generator: Pcg64Mcg::from_seed(state),
        }
    }

    /// Draws 64 uniformly random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Draws a uniform number in `[0, 1)`, with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Draws a uniform number in `[low, high)`.
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        debug_assert!(
            low <= high,
            "a uniform number needs a range: {low} to {high}"
        );
        low + (high - low) * self.uniform()
    }

    /// Draws a uniform integer in `[0, n)`, by multiply-shift with a bias below n / 2^64. `n` must
    /// be positive.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "a uniform integer needs a non-empty range");
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Draws an event of probability `p`. Returns true if it happens.
    pub fn chance(&mut self, p: f64) -> bool {
        debug_assert!(!p.is_nan(), "a probability is a number");
        self.uniform() < p
    }

    /// Draws an exponential number with this mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        debug_assert!(mean >= 0.0, "an exponential number has a mean of {mean}");
        -mean * math::ln(1.0 - self.uniform())
    }

    /// Draws a standard normal number by the Box–Muller transform. The second number of the pair is
    /// discarded, so that the state of a stream is a plain counter of draws.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * math::ln(1.0 - self.uniform())).sqrt();
        radius * math::cos(2.0 * std::f64::consts::PI * self.uniform())
    }
}

/// Returns the FNV-1a hash of bytes. The hash only distinguishes names. It is no protection against
/// attackers.
pub fn fnv_1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let bytes = bytes.into_iter();
    bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn split_mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_a_function_of_seed_domain_and_entity() {
        let mut same = (
            Stream::new(7, "link.loss", 3),
            Stream::new(7, "link.loss", 3),
        );
        assert_eq!(same.0.bits(), same.1.bits());
        let first = Stream::new(7, "link.loss", 3).bits();
        assert_ne!(first, Stream::new(8, "link.loss", 3).bits());
        assert_ne!(first, Stream::new(7, "link.jitter", 3).bits());
        assert_ne!(first, Stream::new(7, "link.loss", 4).bits());
    }

    #[test]
    fn the_first_draw_of_a_known_stream_never_changes() {
        // The value is pinned, because another generator or seeding would change every published
        // result.
        assert_eq!(Stream::new(1, "test", 0).bits(), 8_895_705_499_710_358_634);
    }

    #[test]
    fn moments_match_the_distributions() {
        let mut stream = Stream::new(1, "moments", 0);
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        // The limit is five standard errors of the mean at n = 200 000.
        assert!((mean(&mut || stream.uniform()) - 0.5).abs() < 5.0 * 0.2887 / 447.0);
        assert!((mean(&mut || stream.exponential(2.0)) - 2.0).abs() < 5.0 * 2.0 / 447.0);
        assert!(mean(&mut || stream.normal()).abs() < 5.0 / 447.0);
        assert!((mean(&mut || stream.normal().abs()) - 0.797_88).abs() < 5.0 * 0.603 / 447.0);
    }

    #[test]
    fn integers_stay_below_their_bound() {
        let mut stream = Stream::new(1, "below", 0);
        assert!((0..1000).all(|_| stream.below(7) < 7));
    }
}
