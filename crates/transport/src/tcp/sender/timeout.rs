//! The retransmission timeout, its effect on the window, detection of spurious timeouts (F-RTO),
//! and zero-window probes.
//!
//! Standard: RFC 6298 §5; RFC 5681 §3.1; RFC 5682.

use super::ack::AckFlags;
use super::recovery::Repair;
use super::{Sender, SenderContext, TimerKind, TimerOutcome};
use crate::congestion::{CongestionControl, CongestionKind, RecoveryState};
use crate::tcp::config::LossRecovery;
use crate::tcp::outbox::Outgoing;
use crate::tcp::scoreboard::Tags;
use crate::tcp::socket::bursts::Place;
use fadeout_core::{Ecn, Flags, Probe, RetransmitCause, Segment, Span, TimeoutRow};

/// Shortest interval between zero-window probes (Linux `TCP_RTO_MIN`).
const MINIMUM_PERSIST: Span = Span::from_millis(200);

impl Sender {
    pub(super) fn on_retransmission_timeout<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
    ) -> TimerOutcome {
        if self.board.is_empty() {
            return TimerOutcome::Done;
        }
        if self.retransmits >= self.config.timers.maximum_retries {
            return TimerOutcome::GiveUp;
        }
        if self.retransmits == 0 {
            self.stalled_since = self.board.get(self.board.first()).sent_at;
        }
        let limit = self.config.timers.user_timeout;
        let left = limit.map(|limit| limit.saturating_sub(cx.now.since(self.stalled_since)));
        if left == Some(Span::ZERO) {
            return TimerOutcome::GiveUp;
        }
        if self.persist_frozen(cx) || self.hold(cx) {
            return TimerOutcome::Done;
        }
        self.statistics.timeouts += 1;
        cx.probe.timeout(TimeoutRow {
            time_s: cx.now,
            flow: self.flow,
            end: self.end,
            rto_s: self.rtt.rto(),
            backoff: self.rtt.backoff() + 1,
            cwnd_segments: self.window.cwnd,
            outstanding_segments: self.board.packets_out(),
        });
        self.enter_loss(cx);
        self.retransmits += 1;
        let head = self.board.first();
        self.board.mark_retransmitted(head);
        self.resend(cx, head, RetransmitCause::Rto);
        self.retransmit_hint = head;
        self.rtt.back_off();
        let wait = left.map_or(self.rtt.rto(), |left| left.min(self.rtt.rto()));
        self.arm_after(TimerKind::Rto, cx.now, wait);
        self.record_state(cx.now, cx.probe);
        TimerOutcome::Done
    }

    /// Marks all outstanding segments as lost and sets the window to the loss window (Linux
    /// `tcp_enter_loss`).
    fn enter_loss<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        let is_new_episode = !matches!(self.state, RecoveryState::Recovery | RecoveryState::Loss);
        self.mark_all_lost(cx);
        let reduces = matches!(self.state, RecoveryState::Open | RecoveryState::Disorder)
            || self.high_seq <= self.snd_una
            || (self.state == RecoveryState::Loss && self.retransmits == 0);
        if reduces {
            self.undo.prior_ssthresh = Some(self.current_ssthresh());
            self.undo.prior_cwnd = self.window.cwnd;
            self.congested(cx, CongestionKind::Rto);
            self.begin_undo();
        }
        self.set_cwnd(f64::from(self.in_flight() + 1));
        self.usage.stamp(cx.now);
        self.state = RecoveryState::Loss;
        self.congestion.on_timeout(cx.now, self.rate.lost);
        self.high_seq = self.snd_nxt;
        self.classic.recover = self.snd_nxt;
        self.probe.high_seq = None;
        self.marks.on_reduced();
        self.frto = self.config.recovery.frto
            && self.config.recovery.method.uses_sack()
            && (is_new_episode || self.retransmits > 0);
        self.report(cx, "loss");
    }

    fn mark_all_lost<P: Probe>(&mut self, cx: &SenderContext<'_, P>) {
        let head = self.board.first();
        let is_reneging = self.board.get(head).tags.has(Tags::SACKED);
        if is_reneging {
            self.board.forget_sacks();
            self.sack_cache = Default::default();
        }
        let spares_recent = self.config.recovery.method == LossRecovery::Rack;
        for number in head..self.board.end() {
            // RFC 8985 section 6.3: segments sent less than a round trip ago may still arrive.
            let sent_at = self.board.get(number).sent_at;
            if number != head
                && spares_recent
                && !is_reneging
                && !self.time_until_lost(cx.now, sent_at, Span::ZERO).is_zero()
            {
                continue;
            }
            let was_lost = self.board.get(number).tags.has(Tags::LOST);
            if self.config.recovery.method == LossRecovery::Sack && !was_lost {
                // A retransmission that was sent before its segment was marked lost is lost, too.
                self.board.clear_retransmitted(number);
            }
            self.lose(number);
        }
        self.retransmit_hint = head;
        self.next_seg.forget();
    }

    /// Processes one ACK in the Loss state (Linux `tcp_process_loss`), with the SACK version of
    /// F-RTO.
    ///
    /// Standard: RFC 5682 §3.1.
    pub(super) fn recover_from_timeout<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        flags: &AckFlags,
    ) -> Repair {
        let is_recovered = self.snd_una >= self.high_seq;
        if flags.una_advanced && self.undo_loss(cx, false) {
            return Repair::None;
        }
        if self.frto {
            // Step 3b: data that was never retransmitted was acknowledged, so the timeout was
            // spurious.
            if flags.original_acked && self.undo_loss(cx, true) {
                return Repair::None;
            }
            if self.snd_nxt > self.high_seq {
                if flags.data_sacked || !flags.una_advanced {
                    self.frto = false; // RFC 5682 step 3a: the loss was real
                }
            } else if flags.una_advanced && !is_recovered {
                self.high_seq = self.snd_nxt;
                if self.has_sendable_new_data() {
                    return Repair::NewDataFirst; // RFC 5682 step 2b
                }
                self.frto = false;
            }
        }
        if is_recovered {
            self.undo_recovery(cx);
            self.state = RecoveryState::Open;
            return Repair::None;
        }
        Repair::Lost
    }

    /// Sets the timer of a window probe, because the window is closed, nothing is outstanding and
    /// data waits. If the window stays closed, each probe waits longer than the one before.
    ///
    /// Standard: RFC 9293 §3.8.6.1.
    #[inline(never)]
    pub(super) fn arm_persist_timer(&mut self, now: fadeout_core::Time) {
        if self.timer.is_none() {
            let base = self.rtt.rto().max(MINIMUM_PERSIST);
            let doublings = self.persist_backoff.min(20);
            let wait = base
                .saturating_mul(1 << doublings)
                .min(self.config.timers.maximum_rto);
            self.arm_after(TimerKind::Persist, now, wait);
        }
    }

    /// Standard: RFC 9293 §3.8.6.1.
    pub(super) fn on_persist_timeout<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
    ) -> TimerOutcome {
        if self.has_sendable_new_data() || !self.board.is_empty() {
            let is_small = self.unsent() < u64::from(self.window.mss) && self.unsent() > 0;
            if is_small && self.board.is_empty() {
                // The probe timer ends the wait of corked data, which is then pushed (Linux
                // `tcp_write_wakeup`).
                let payload = self.next_payload() as u32;
                self.send_new_segment(cx, payload, Place::Pushed);
            }
            self.transmit(cx);
            return TimerOutcome::Done;
        }
        if !self.has_new_data() {
            return TimerOutcome::Done;
        }
        // A connection whose peer answers the probes is not given up, however long the window stays
        // closed (RFC 9293 section 3.8.6.1).
        if self.unanswered_probes >= self.config.timers.maximum_retries {
            return TimerOutcome::GiveUp;
        }
        let room = self.window_end().saturating_sub(self.snd_nxt);
        if room > 0 {
            self.send_new_segment(cx, room as u32, Place::Pushed);
            return TimerOutcome::Done;
        }
        self.persist_backoff += 1;
        self.unanswered_probes += 1;
        self.send_window_probe(cx);
        self.arm_persist_timer(cx.now);
        TimerOutcome::Done
    }

    /// Sends a segment with an old sequence number, which the peer answers with its window.
    pub(super) fn send_window_probe<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        let segment = Segment {
            seq: self.snd_una.saturating_sub(1),
            flags: Flags::ACK,
            ..Segment::default()
        };
        cx.out.segments.push(Outgoing {
            segment,
            ecn: Ecn::NotEct,
        });
    }

    /// Processes the peer's answer to a probe while no data was outstanding.
    #[inline]
    pub(super) fn after_probe_ack(&mut self) {
        self.unanswered_probes = 0;
        if !self.has_new_data() {
            return;
        }
        if self.pending() == Some(TimerKind::Persist) && self.has_sendable_new_data() {
            self.timer = None;
        }
        if self.has_sendable_new_data() {
            self.persist_backoff = 0;
        }
    }
}
