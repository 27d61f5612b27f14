//! ACKs that arrive in bursts: how much more is delivered at once than the bandwidth explains.

use super::super::super::AckSample;
use super::sizes::rounded_down;
use fadeout_core::Time;

/// Rounds each of the two slots covers.
const SLOT_ROUNDS: u32 = 5;
/// An epoch's count starts anew here, as it does in the kernel's bit field.
const LARGEST_COUNT: f64 = 1_048_576.0;

/// The excess of the last 5 to 10 rounds, in segments.
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

    /// Segments the window should hold on top.
    pub(super) fn excess(&self) -> f64 {
        self.slots[0].max(self.slots[1])
    }
}
