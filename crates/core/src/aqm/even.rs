//! Conversion of a probability to evenly spread signals.

/// Converter of a probability to signals without random draws. Each packet adds the probability to
/// a sum, and each signal subtracts one (RFC 9332 appendix A.1, `recur`).
#[derive(Debug, Clone, Copy, Default)]
pub struct Even {
    /// Sum of probabilities not yet converted to a signal.
    owed: f64,
}

impl Even {
    /// Returns true if this packet gets a signal. In the long run the share of packets with a
    /// signal is `probability`.
    #[inline]
    pub fn is_due(&mut self, probability: f64) -> bool {
        debug_assert!(
            (0.0..=1.0).contains(&probability),
            "a share of {probability} of the packets"
        );
        self.owed += probability;
        let is_due = self.owed > 1.0;
        if is_due {
            self.owed -= 1.0;
        }
        debug_assert!(
            (0.0..=1.0).contains(&self.owed),
            "{} signals are owed",
            self.owed
        );
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_packets_gets_a_signal_at_even_distances() {
        let mut even = Even::default();
        let due: Vec<u32> = (0..100).filter(|_| even.is_due(0.125)).collect();
        assert_eq!(due.len(), 12);
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 8), "{due:?}");
    }
}
