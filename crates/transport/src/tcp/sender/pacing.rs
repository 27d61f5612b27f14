//! Departure clock of a paced sender, and its rate (Linux `tcp_update_pacing_rate`,
//! `tcp_update_skb_after_send`).

use super::Sender;
use crate::congestion::CongestionControl;
use crate::tcp::config::Pacing;
use fadeout_core::{Bytes, Rate, Time};

/// Departure clock of a paced sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pacer {
    /// Earliest departure of the next segment.
    pub(super) next_at: Time,
    /// Time of the next attempt to send. [`Time::NEVER`] if no segment waits for the clock.
    pub(super) wake_at: Time,
    /// Pacing rate, also if the sender does not pace (Linux `sk_pacing_rate`).
    pub(super) rate: Rate,
    /// Rate that the caller of the simulation has set. `None` if it has set none.
    pub(super) steered: Option<Rate>,
}

impl Default for Pacer {
    fn default() -> Self {
        Pacer {
            next_at: Time::ZERO,
            wake_at: Time::NEVER,
            rate: Rate::UNLIMITED,
            steered: None,
        }
    }
}

impl Pacer {
    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(self.rate > Rate::ZERO, "a paced sender would never send");
        debug_assert!(
            self.wake_at.is_never() || self.wake_at <= self.next_at,
            "the pacer wakes after the departure that it waits for"
        );
    }
}

/// Number of segments that are sent without pacing at the start of a connection, as in Linux and
/// sch_fq.
const UNPACED_SEGMENTS: u64 = 10;

impl Sender {
    #[inline]
    pub(super) fn is_pacing(&self) -> bool {
        self.config.host.pacing == Pacing::On
            || self.congestion.pacing_rate().is_some()
            || self.pacer.steered.is_some()
            || self.is_resuming()
    }

    /// Returns the size of a segment in bytes for rates and windows. The size includes an option
    /// that the socket counts.
    pub(super) fn counted_mss(&self) -> u64 {
        let option = self.socket.counted_option(self.long_ack_len);
        u64::from(self.window.mss + option)
    }

    /// Updates the pacing rate as Linux `tcp_update_pacing_rate`. In slow start the rate is twice
    /// the window per round trip, and later 1.2 times the window. A rate of the congestion control
    /// takes precedence, and a rate of the caller of the simulation over both.
    pub(super) fn update_pacing_rate(&mut self) {
        let mss = f64::from(self.window.mss);
        let counted = self.counted_mss() as f64;
        if let Some(mut rate) = self.pacer.steered.or(self.congestion.pacing_rate()) {
            if counted > mss {
                let bits = rate.as_bits_per_sec() as f64 * counted / mss;
                rate = Rate::from_bits_per_sec(bits as u64);
            }
            self.pacer.rate = rate.min(self.config.host.maximum_pacing_rate);
            return;
        }
        let srtt = self.rtt.srtt().as_nanos();
        if srtt == 0 {
            return;
        }
        let window = self.window.cwnd.max(f64::from(self.board.packets_out()));
        let ratio = if self.window.cwnd < self.window.ssthresh / 2.0 {
            2.0
        } else {
            1.2
        };
        let bits = ratio * window * counted * 8e9 / srtt as f64;
        self.pacer.rate =
            Rate::from_bits_per_sec(bits as u64).min(self.config.host.maximum_pacing_rate);
    }

    /// Advances the departure clock by the time that `bytes` take at the pacing rate. The clock
    /// starts with the sk_buff that completes the first ten segments. If the segment left late, the
    /// next wait is shortened by up to a half, as in the kernel.
    pub(super) fn pace(&mut self, now: Time, bytes: u64) {
        if !self.is_pacing() {
            return;
        }
        let late = now.since(self.pacer.next_at);
        self.pacer.next_at = now.max(self.pacer.next_at);
        if self.statistics.sent_segments >= UNPACED_SEGMENTS {
            let wait = self.pacer.rate.time_to_send(Bytes(bytes));
            let wait = wait.saturating_sub(late.min(wait / 2));
            self.pacer.next_at = self.pacer.next_at.saturating_add(wait);
        }
    }

    /// Returns true if the pacer delays the next segment. The pacer then wakes the sender.
    pub(super) fn waits_for_pacer(&mut self, now: Time) -> bool {
        let waits = self.is_pacing() && self.pacer.next_at > now;
        if waits {
            self.pacer.wake_at = self.pacer.next_at;
        }
        waits
    }
}
