//! Tail loss probe: one segment that is sent before the retransmission timer expires. Its ACK shows
//! whether the last segments were lost.
//!
//! Standard: RFC 8985 §7.

use super::ack::AckFlags;
use super::rack::TIMER_SLACK;
use super::{Sender, SenderContext, TimerKind};
use crate::congestion::{CongestionKind, RecoveryState};
use crate::tcp::scoreboard::Tags;
use fadeout_core::{Probe, RetransmitCause, Span, Time};

/// Tail loss probe that is not yet acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossProbe {
    /// SND.NXT when the probe was sent. `None` if no probe is outstanding.
    pub(super) high_seq: Option<u64>,
    /// True if the probe was a retransmission.
    pub(super) is_retransmission: bool,
}

impl Sender {
    /// Starts the probe timer in place of the retransmission timer (section 7.2). `advancing` is
    /// true if the retransmission timer would be restarted now. Returns true if the probe timer was
    /// started.
    pub(super) fn schedule_loss_probe(&mut self, now: Time, advancing: bool) -> bool {
        let may_probe = self.config.recovery.tail_loss_probe
            && self.config.recovery.method.uses_sack()
            && !self.board.is_empty()
            && !self.is_suspended()
            && self.pending() != Some(TimerKind::LossDelay)
            && matches!(self.state, RecoveryState::Open | RecoveryState::Cwr);
        if !may_probe {
            return false;
        }
        let mut timeout = if self.rtt.has_sample() {
            // The ACK of a single outstanding segment may be delayed by the receiver's delayed-ACK
            // timer.
            let single = self.board.packets_out() == 1;
            let extra = if single {
                self.rtt.minimum_rto()
            } else {
                TIMER_SLACK
            };
            self.rtt.srtt() * 2 + extra
        } else {
            self.config.timers.initial_rto
        };
        let until_rto = if advancing {
            self.rtt.rto()
        } else {
            let head = self.board.head().map_or(now, |head| head.sent_at);
            (head + self.rtt.rto()).since(now)
        };
        if until_rto > Span::ZERO {
            timeout = timeout.min(until_rto);
        }
        self.arm_after(TimerKind::LossProbe, now, timeout);
        true
    }

    /// Handles an expiry of the probe timer (section 7.3). Sends a new segment if there is one.
    /// Otherwise retransmits the last segment.
    pub(super) fn on_probe_timeout<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if self.board.is_empty() {
            return;
        }
        if self.probe.high_seq.is_none() {
            let sent = if self.send_one_new(cx) {
                self.probe.is_retransmission = false;
                true
            } else {
                // If the last segment was SACKed, the tail was not lost. Segments missing below it
                // are detected by SACK.
                let last = self.board.end() - 1;
                self.probe.is_retransmission = !self.board.get(last).tags.has(Tags::SACKED)
                    && self.resend(cx, last, RetransmitCause::TailLossProbe);
                self.probe.is_retransmission
            };
            if sent {
                self.probe.high_seq = Some(self.snd_nxt);
                self.statistics.loss_probes += 1;
                // The retransmission timer restarts after the probe.
                self.arm_after(TimerKind::Rto, cx.now, self.rtt.rto());
                return;
            }
        }
        self.arm(TimerKind::LossProbe, cx.now); // The time already waited counts.
        self.rearm_rto(cx.now);
    }

    /// Determines from an ACK whether the probe or the original arrived (section 7.4).
    pub(super) fn take_probe_ack<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        ack: u64,
        flags: &AckFlags,
    ) {
        let Some(high_seq) = self.probe.high_seq else {
            return;
        };
        if ack < high_seq {
            return;
        }
        if !self.probe.is_retransmission || flags.dsack_for_probe {
            self.probe.high_seq = None;
        } else if ack > high_seq {
            // The probe repaired a loss that no other ACK will report, so the sender reduces its
            // window once.
            self.begin_reduction(cx, CongestionKind::Local);
            self.state = RecoveryState::Cwr;
            self.end_reduction(cx);
            self.try_keep_open();
        } else if !flags.una_advanced
            && !flags.carries_data
            && !flags.window_update
            && !flags.data_sacked
        {
            self.probe.high_seq = None; // a duplicate ACK shows that both copies arrived
        }
    }
}
