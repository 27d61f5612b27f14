//! Schemes for links that fail or lose without being congested. A file a scheme:
//!
//! - what looks like a loss: [`dcr`] waits, [`ncr`] counts further, [`casablanca`] tells the
//!   radio's losses from the queue's;
//! - an outage: [`feedback`] sleeps until told, [`elfn`] probes, [`freeze`] obeys a window that
//!   the receiver closed in time, [`hold`] sits a short one out.
//!
//! Here is what they share: a sender that is suspended, and one that goes on with the window it
//! had.

mod casablanca;
mod dcr;
mod elfn;
mod feedback;
mod freeze;
mod hold;
mod ncr;

use super::recovery::Reduction;
use super::{Sender, Step, TimerKind};
use crate::congestion::{CongestionControl, RecoveryState};
use crate::tcp::config::OutageResponse;
use fadeout_core::{LinkInfo, Probe, Span, Time};

/// State of the schemes for failing links.
#[derive(Debug, Default)]
pub(super) struct Resilience {
    outage: Outage,
    /// The sender paces until this is acknowledged: a whole window at once, into a link that just
    /// came back, would overflow its queue.
    paced_until: u64,
    delay: dcr::LossDelay,
    pub(super) ncr: ncr::NonCongestion,
    /// The newest ACK says that the radio lost what is missing.
    is_radio_loss: bool,
}

/// Where the sender is in an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Outage {
    /// Nothing is wrong, as far as it knows.
    #[default]
    None,
    /// Silent: nothing is sent and no timer runs but the scheme's own.
    Suspended {
        /// The timer that was running, and how much of it was left.
        frozen: Option<(TimerKind, Span)>,
        /// A probe was sent (ELFN).
        has_probed: bool,
    },
    /// A timeout came and was not answered (RTW-TCP).
    Held {
        /// When.
        since: Time,
    },
}

impl Sender {
    /// A link on the path tells something of itself; the congestion control is told in every
    /// state of the connection.
    pub(in crate::tcp) fn tell_congestion_control(&mut self, now: Time, info: &LinkInfo) {
        self.congestion.on_link_info(&mut self.window, now, info);
        self.update_pacing_rate();
    }

    /// Effect of the notice on an open connection.
    pub(in crate::tcp) fn on_link_info<P: Probe>(&mut self, cx: &mut Step<'_, P>, info: &LinkInfo) {
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

    /// Whether a window that was kept through an outage is being filled again.
    pub(super) fn is_resuming(&self) -> bool {
        self.resilience.paced_until > self.snd_una
    }

    /// Falls silent: the running timer stops with what is left of it, and the scheme's own runs
    /// for `wait`. Does nothing when already silent.
    fn suspend<P: Probe>(&mut self, cx: &mut Step<'_, P>, wait: Span) {
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

    /// Ends a suspension with the state that it began with. Sends nothing yet.
    fn end_suspension<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
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

    /// Gets ready to go on after an outage with the window as it is: everything outstanding is
    /// taken as lost to the outage, not to congestion, and will be sent again, paced.
    fn resume<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        self.resilience.outage = Outage::None;
        self.resilience.paced_until = self.snd_nxt + self.window_bytes();
        self.report(cx, "resumed");
        if !self.board.is_empty() {
            self.lose_everything();
            self.retransmit_hint = self.board.first();
            self.frto = false;
            self.begin_repair();
            self.state = if self.config.recovery.uses_sack() {
                RecoveryState::Recovery
            } else {
                RecoveryState::Loss // recovers without moving the window
            };
            if self.timer.is_none() {
                self.rearm_rto(cx.now);
            }
        }
    }

    /// Sends what an outage kept back.
    fn send_again<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        self.retransmit_lost(cx);
        self.transmit(cx);
    }

    /// An acknowledgment may show that an outage is over: it brought something new, or the peer's
    /// window opened. Returns whether everything outstanding must go again.
    pub(super) fn ends_outage<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
        is_news: bool,
        opens: bool,
    ) -> bool {
        (is_news && (self.leave_standby(cx) || self.end_hold(cx))) || (opens && self.thaw(cx))
    }

    fn window_bytes(&self) -> u64 {
        self.window.cwnd as u64 * u64::from(self.window.mss)
    }

    /// Begins a recovery that leaves the window alone: no rate reduction runs without a window to
    /// reduce from, and there is nothing to undo.
    pub(super) fn begin_repair(&mut self) {
        self.high_seq = self.snd_nxt;
        self.probe.high_seq = None;
        self.classic.recover = self.snd_nxt;
        self.undo.marker = None;
        self.undo.prior_ssthresh = None;
        self.recovery = Reduction::default();
    }

    /// Whether the loss that is about to be answered was no congestion, as far as the scheme can
    /// tell.
    pub(super) fn spares_window(&self, now: Time) -> bool {
        self.resilience.is_radio_loss || self.congestion.holds(now, self.rtt.rto_without_backoff())
    }

    /// The scheme's own timer expired.
    pub(super) fn on_outage_timeout<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        match self.config.resilience.outage {
            OutageResponse::Elfn => self.probe_route(cx),
            _ => self.wake_from_snooze(cx),
        }
    }
}
