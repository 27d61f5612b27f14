//! Schemes for links that fail or lose without being congested. Each scheme has a file:
//!
//! - apparent loss: [`dcr`] waits, [`ncr`] needs more duplicates, [`casablanca`] separates the
//!   radio's losses from the queue's.
//! - outage: [`feedback`] sleeps until notified, and [`elfn`] probes. [`freeze`] obeys a window
//!   that the receiver closed in time, and [`hold`] waits out a short outage.
//!
//! This module holds their common parts: a suspended sender, and a sender that resumes with its old
//! window.

mod casablanca;
mod dcr;
mod elfn;
mod feedback;
mod freeze;
mod hold;
mod ncr;

use super::recovery::Reduction;
use super::{Sender, SenderContext, TimerKind};
use crate::congestion::{CongestionControl, RecoveryState};
use crate::tcp::config::OutageResponse;
use fadeout_core::{LinkInfo, Probe, Span, Time};

/// State of the schemes for failing links.
#[derive(Debug, Default)]
pub(super) struct Resilience {
    outage: Outage,
    /// Sequence number whose acknowledgment ends pacing after an outage. An unpaced window would
    /// overflow the queue of a link that has just come back.
    paced_until: u64,
    delay: dcr::LossDelay,
    pub(super) ncr: ncr::NonCongestion,
    /// True if the newest ACK reports that the radio lost the missing segments.
    is_radio_loss: bool,
}

/// State of the sender in an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Outage {
    /// No outage is known.
    #[default]
    None,
    /// The sender sends no segment, and only the timer of the outage scheme runs.
    Suspended {
        /// The timer that was running, and its remaining time. `None` if no timer ran.
        frozen: Option<(TimerKind, Span)>,
        /// True if a probe was sent (ELFN).
        has_probed: bool,
    },
    /// The sender waits after a timeout that was not answered (RTW-TCP).
    Held {
        /// Time at which the timer expired.
        since: Time,
    },
}

impl Sender {
    /// Passes information from a link on the path to the congestion control, in every state of the
    /// connection.
    pub(in crate::tcp) fn notify_congestion_control(&mut self, now: Time, info: &LinkInfo) {
        self.congestion.on_link_info(&mut self.window, now, info);
        self.update_pacing_rate();
    }

    /// Applies the notice of a link to an open connection.
    pub(in crate::tcp) fn on_link_info<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        info: &LinkInfo,
    ) {
        match (self.config.resilience.outage, info) {
            (OutageResponse::Feedback, LinkInfo::BlockageBegan) => self.begin_snooze(cx),
            (OutageResponse::Feedback, LinkInfo::BlockageEnded) => self.wake_from_snooze(cx),
            (OutageResponse::Elfn, LinkInfo::BlockageBegan) => self.begin_standby(cx),
            _ => {}
        }
        if *info == LinkInfo::BlockageEnded && self.end_hold(cx) {
            self.send_again(cx);
        }
    }

    pub(super) fn is_suspended(&self) -> bool {
        matches!(self.resilience.outage, Outage::Suspended { .. })
    }

    /// Returns true if a window that was kept through an outage is being filled again.
    pub(super) fn is_resuming(&self) -> bool {
        self.resilience.paced_until > self.snd_una
    }

    /// Suspends the sender. The running timer stops with its remaining time, and the scheme's own
    /// timer runs for `wait`. Has no effect on a suspended sender.
    fn suspend<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>, wait: Span) {
        if self.is_suspended() {
            return;
        }
        let frozen = self.timer.take().map(|(kind, at)| (kind, at.since(cx.now)));
        self.arm(TimerKind::Outage, cx.now.saturating_add(wait));
        self.pacer.wake_at = Time::NEVER;
        self.resilience.outage = Outage::Suspended {
            frozen,
            has_probed: false,
        };
        self.report(cx, "suspended");
    }

    /// Ends a suspension with the state before it. Sends nothing yet.
    fn end_suspension<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        let Outage::Suspended { frozen, .. } = self.resilience.outage else {
            return;
        };
        self.resilience.outage = Outage::None;
        self.timer = None;
        if let Some((kind, left)) = frozen
            && !self.board.is_empty()
        {
            self.arm_after(kind, cx.now, left);
        }
        self.resume(cx);
    }

    /// Prepares to resume after an outage with the present window. All outstanding segments count
    /// as lost to the outage, not to congestion. They will be retransmitted, paced.
    fn resume<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.resilience.outage = Outage::None;
        self.resilience.paced_until = self.snd_nxt + self.window_bytes();
        self.report(cx, "resumed");
        if !self.board.is_empty() {
            self.lose_everything();
            self.retransmit_hint = self.board.first();
            self.frto = false;
            self.begin_repair();
            self.state = if self.config.recovery.method.uses_sack() {
                RecoveryState::Recovery
            } else {
                RecoveryState::Loss // This state recovers losses and keeps the window.
            };
            if self.timer.is_none() {
                self.rearm_rto(cx.now);
            }
        }
    }

    /// Sends the data that an outage held back.
    fn send_again<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.retransmit_lost(cx);
        self.transmit(cx);
    }

    /// Checks if an acknowledgment shows that an outage is over, because it brought new data or
    /// opened the peer's window. Returns true if all outstanding data must be retransmitted.
    pub(super) fn ends_outage<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        is_news: bool,
        opens: bool,
    ) -> bool {
        (is_news && (self.leave_standby(cx) || self.end_hold(cx))) || (opens && self.thaw(cx))
    }

    fn window_bytes(&self) -> u64 {
        self.window.cwnd as u64 * u64::from(self.window.mss)
    }

    /// Begins a recovery that leaves the window unchanged. So no rate reduction runs, and nothing
    /// can be undone.
    pub(super) fn begin_repair(&mut self) {
        self.high_seq = self.snd_nxt;
        self.probe.high_seq = None;
        self.classic.recover = self.snd_nxt;
        self.undo.marker = None;
        self.undo.prior_ssthresh = None;
        self.recovery = Reduction::default();
    }

    /// Returns true if the present loss was not caused by congestion, as far as the scheme can
    /// detect.
    pub(super) fn spares_window(&self, now: Time) -> bool {
        self.resilience.is_radio_loss || self.congestion.holds(now, self.rtt.rto_without_backoff())
    }

    /// Handles an expiry of the scheme's own timer.
    pub(super) fn on_outage_timeout<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        match self.config.resilience.outage {
            OutageResponse::Elfn => self.probe_route(cx),
            _ => self.wake_from_snooze(cx),
        }
    }
}
