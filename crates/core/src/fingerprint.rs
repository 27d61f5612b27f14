//! A 64-bit digest of a run's trajectory.

use crate::Time;

/// Digest of all events in order. Two runs with equal fingerprints took the same trajectory, packet
/// by packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0x9e37_79b9_7f4a_7c15)
    }
}

impl Fingerprint {
    /// Mixes one event at `at` into the digest.
    #[inline]
    pub fn mix(&mut self, at: Time, what: u64) {
        // Two rounds of multiply and xor-shift are cheap, and depend on the order.
        let mut x = self.0 ^ at.as_nanos();
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= (x >> 29) ^ what;
        self.0 = x.wrapping_mul(0x94d0_49bb_1331_11eb).rotate_left(31);
    }

    /// Returns the digest.
    pub fn value(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_matters() {
        let digest = |events: &[u64]| {
            let mut print = Fingerprint::default();
            for &event in events {
                print.mix(Time::from_nanos(1), event);
            }
            print.value()
        };
        assert_ne!(digest(&[1, 2]), digest(&[2, 1]));
        assert_eq!(digest(&[1, 2]), digest(&[1, 2]));
    }
}
