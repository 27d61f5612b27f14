//! Duration of PROBE_RTT.

use super::super::AckSample;
use super::round::RoundCounter;
use fadeout_core::{Span, Time};

/// Timer of PROBE_RTT. The timer starts once few segments are in flight, and runs for a fixed time
/// and then to the end of a round. Sources: draft-ietf-ccwg-bbr section 5.3.4 and Linux
/// `bbr_update_min_rtt`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProbeRttTimer {
    done_at: Option<Time>,
    has_round_passed: bool,
}

impl ProbeRttTimer {
    /// Starts the timer at the beginning of PROBE_RTT, while many segments are still in flight.
    pub(super) fn start(&mut self) {
        *self = ProbeRttTimer::default();
    }

    /// Processes an ACK in PROBE_RTT. Returns true if this ACK ends PROBE_RTT. The phase lasts for
    /// `duration` from the time when no more than `window` segments are in flight.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckSample,
        round: &mut RoundCounter,
        window: f64,
        duration: Span,
    ) -> bool {
        if self.done_at.is_none() {
            if f64::from(ack.in_flight) <= window {
                self.done_at = Some(ack.now.saturating_add(duration));
                self.has_round_passed = false;
                round.restart(ack.delivered);
            }
            return false;
        }
        self.has_round_passed |= round.is_start;
        self.has_round_passed && self.is_over(ack.now)
    }

    /// Returns true if the time of PROBE_RTT is over. Used when a sender restarts after an idle
    /// period.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.done_at.is_some_and(|done_at| now > done_at)
    }
}
