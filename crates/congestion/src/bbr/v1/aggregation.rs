//! ACK aggregation: the number of segments that burst ACKs deliver beyond the number that the
//! bandwidth explains.

use super::super::super::AckSample;
use super::sizes::rounded_down;
use fadeout_core::Time;

/// Number of rounds that each of the two slots covers.
const SLOT_ROUNDS: u32 = 5;
/// Count of acknowledged segments at which the epoch restarts, as in the kernel's bit field.
const LARGEST_COUNT: f64 = 1_048_576.0;

/// Estimator of the excess of acknowledged segments over the last 5 to 10 rounds.
#[derive(Debug, Clone, Default)]
pub(super) struct Aggregation {
    since: Time,
    acked: f64,
    slots: [f64; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn on_ack(
        &mut self,
        ack: &AckSample,
        bandwidth: f64,
        cwnd: f64,
        is_round_start: bool,
    ) {
        if ack.delivered_now == 0 {
            return;
        }
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= SLOT_ROUNDS {
                self.rounds = 0;
                self.slot = 1 - self.slot;
                self.slots[self.slot] = 0.0;
            }
        }
        let delivered = f64::from(ack.delivered_now);
        let mut expected = rounded_down(bandwidth * ack.now.since(self.since).as_secs_f64());
        if self.acked <= expected || self.acked + delivered >= LARGEST_COUNT {
            self.restart(ack.now);
            expected = 0.0;
        }
        self.acked += delivered;
        let excess = (self.acked - expected).min(cwnd);
        self.slots[self.slot] = self.slots[self.slot].max(excess);
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.since = now;
        self.acked = 0.0;
    }

    /// Returns the number of segments that the window should contain in addition to the
    /// bandwidth-delay product.
    pub(super) fn excess(&self) -> f64 {
        self.slots[0].max(self.slots[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, at_ms};

    /// Returns the excess after an ACK of `acked` segments, at a bandwidth of 100 a second and a
    /// window of 50.
    fn heard(aggregation: &mut Aggregation, ms: u64, acked: u32) -> f64 {
        aggregation.on_ack(&ack(at_ms(ms), acked), 100.0, 50.0, false);
        aggregation.slots[aggregation.slot]
    }

    #[test]
    fn the_excess_is_what_came_beyond_the_bandwidth() {
        let mut it = Aggregation::default();
        // The first ACK begins an epoch. The bandwidth explains none of its 10 segments yet, so the
        // excess is 10.
        assert_eq!(heard(&mut it, 1_000, 10), 10.0);
        // 15 segments arrived in 20 ms. The bandwidth explains two of them, so the excess is 13 and
        // stays the largest.
        assert_eq!(heard(&mut it, 1_020, 5), 13.0);
        assert_eq!(heard(&mut it, 1_100, 1), 13.0);
        assert_eq!(it.acked, 16.0);
        // The excess is at most one window.
        assert_eq!(heard(&mut it, 1_100, 60), 50.0);
        // At 1,750 ms, 76 segments have arrived in 750 ms, more than the bandwidth explains, so the
        // epoch continues. At 1,760 ms the bandwidth explains all 76, so a new epoch begins.
        let mut later = it.clone();
        heard(&mut it, 1_750, 1);
        assert_eq!((it.acked, it.since), (77.0, at_ms(1_000)));
        heard(&mut later, 1_760, 1);
        assert_eq!((later.acked, later.since), (1.0, at_ms(1_760)));
        // An ACK that delivers no segment does not change the epoch.
        heard(&mut later, 9_000, 0);
        assert_eq!((later.acked, later.since), (1.0, at_ms(1_760)));
    }

    #[test]
    fn the_count_begins_anew_at_its_bound() {
        for (acked, after) in [(1_048_570.0, 1_048_575.0), (1_048_571.0, 5.0)] {
            let mut it = Aggregation {
                acked,
                ..Aggregation::default()
            };
            heard(&mut it, 0, 5);
            assert_eq!(it.acked, after);
        }
    }

    #[test]
    fn what_is_older_than_two_slots_of_five_rounds_is_forgotten() {
        let mut it = Aggregation::default();
        heard(&mut it, 1_000, 30);
        let mut now = 1_000;
        let mut round = |it: &mut Aggregation| {
            // The bandwidth explains the segment, so the first 30 segments remain the largest
            // excess until their slot is discarded.
            now += 1_000;
            it.on_ack(&ack(at_ms(now), 1), 100.0, 50.0, true);
            it.excess()
        };
        let seen: Vec<f64> = (0..10).map(|_| round(&mut it)).collect();
        assert_eq!(seen[..9], [30.0; 9]);
        assert_eq!(seen[9], 1.0);
    }
}
