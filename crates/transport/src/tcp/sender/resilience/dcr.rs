//! TCP-DCR: fast retransmit waits, so that a link layer may repair the loss first (Bhandarkar,
//! Sadry, Reddy and Vaidya, IEEE Transactions on Mobile Computing 2005).
//!
//! The wait begins with the first duplicate ACK and lasts a multiple of the smoothed round-trip
//! time. Meanwhile the window stays, and each duplicate ACK releases a new segment. If the hole is
//! filled in time, the sender does not react to the loss.

use super::{Sender, SenderContext};
use crate::congestion::{CongestionControl, RecoveryState};
use crate::tcp::config::LossResponse;
use crate::tcp::sender::TimerKind;
use fadeout_core::{Probe, Span, Time};

/// Delay before a loss is repaired.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossDelay {
    /// Time of the first duplicate ACK. `None` if no response is delayed.
    since: Option<Time>,
}

impl Sender {
    /// Returns the time that a loss response waits. `None` if it does not wait.
    fn loss_delay(&self) -> Option<Span> {
        let of_scheme = match self.config.resilience.loss {
            LossResponse::Delayed => Some(self.config.resilience.loss_delay_rtts),
            _ => None,
        };
        let rtts = of_scheme.or(self.congestion.loss_delay_rtts())?;
        Some(Span::from_secs_f64(self.rtt.srtt().as_secs_f64() * rtts))
    }

    /// Returns true if loss detection waits now, and arms the timer that ends the wait.
    /// `is_missing`: true if a segment above SND.UNA has arrived.
    pub(in crate::tcp::sender) fn delays_losses(
        &mut self,
        now: Time,
        una_advanced: bool,
        is_missing: bool,
    ) -> bool {
        let Some(delay) = self.loss_delay() else {
            return false;
        };
        if una_advanced || !is_missing {
            self.resilience.delay.since = None;
        }
        let may_wait = matches!(self.state, RecoveryState::Open | RecoveryState::Disorder);
        if !is_missing || !may_wait {
            return false;
        }
        let until = *self.resilience.delay.since.get_or_insert(now) + delay;
        if now >= until {
            return false;
        }
        // The timer of a hole that was filled may still run, so the timer is set again.
        self.arm(TimerKind::LossDelay, until);
        true
    }

    /// Returns true if each duplicate ACK allows a new segment to be sent while the response waits.
    pub(in crate::tcp::sender) fn is_waiting_for_repair(&self) -> bool {
        self.resilience.delay.since.is_some()
    }

    /// Repairs the hole, because it is still open at the end of the delay.
    pub(in crate::tcp::sender) fn on_loss_delay_timeout<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
    ) {
        if self.config.recovery.method.uses_sack() {
            self.repair_what_is_late(cx);
        } else {
            self.retransmit_late_head(cx);
        }
        if self.pending().is_none() {
            self.rearm_rto(cx.now);
        }
    }
}
