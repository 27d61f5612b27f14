//! RACK: a segment is lost if a segment that was sent sufficiently later has been delivered.
//!
//! Standard: RFC 8985 §6.

use super::ack::AckFlags;
use super::{Sender, SenderContext, TimerKind};
use crate::congestion::{CongestionControl, RecoveryState};
use crate::tcp::config::LossRecovery;
use crate::tcp::scoreboard::{SentSegment, Tags};
use fadeout_core::{Probe, Segment, Span, Time};

/// Slack added to the reordering timer (Linux `TCP_TIMEOUT_MIN_US`).
pub(super) const TIMER_SLACK: Span = Span::from_millis(2);
/// Number of recoveries for which an enlarged reordering window is kept.
///
/// Standard: RFC 8985 §6.2, step 4.
pub(super) const PERSIST_RECOVERIES: u32 = 16;

/// RACK state of the newest delivered segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rack {
    pub(super) sent_at: Time,
    end_seq: u64,
    rtt: Span,
    pub(super) advanced: bool,
    /// Number of times that segments were reordered.
    pub(super) reorderings: u32,
    pub(super) dsack_seen: bool,
    last_delivered: u64,
    steps: u32,
    pub(super) persist: u32,
    /// Number of duplicate segments that DSACKs have reported.
    pub(super) duplicates_reported: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            sent_at: Time::ZERO,
            end_seq: 0,
            rtt: Span::ZERO,
            advanced: false,
            reorderings: 0,
            dsack_seen: false,
            last_delivered: 0,
            steps: 1,
            persist: 0,
            duplicates_reported: 0,
        }
    }
}

impl Rack {
    /// Returns true if the newest delivered segment was sent after the segment that was sent at
    /// `sent_at` and ends at `end_seq`.
    #[inline]
    fn is_after(&self, sent_at: Time, end_seq: u64) -> bool {
        (self.sent_at, self.end_seq) > (sent_at, end_seq)
    }
}

impl Sender {
    /// Records a delivered segment (step 2). An ambiguous round trip of a retransmission is
    /// ignored.
    #[inline]
    pub(super) fn advance_rack(&mut self, now: Time, segment: &SentSegment) {
        debug_assert!(
            segment.sent_at <= now,
            "a segment was delivered before it was sent"
        );
        let rtt = now.since(segment.sent_at);
        if segment.tags.has(Tags::EVER_RETRANSMITTED) && rtt < self.rtt.min() {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        if !self.rack.is_after(segment.sent_at, segment.end_seq()) {
            self.rack.sent_at = segment.sent_at;
            self.rack.end_seq = segment.end_seq();
        }
    }

    /// Returns true if the timestamp echo proves that an earlier copy caused the ACK.
    pub(super) fn is_spurious_retransmission(&self, segment: &SentSegment, ack: &Segment) -> bool {
        segment.tags.has(Tags::EVER_RETRANSMITTED)
            && ack.has_timestamps
            && u64::from(ack.ts_echo) < segment.sent_at.as_millis()
    }

    /// Adapts the reordering window to DSACKs, once a round trip (step 4).
    pub(super) fn adapt_reordering_window(&mut self) {
        let Some(prior_delivered) = self.rate.prior_delivered() else {
            return;
        };
        if prior_delivered < self.rack.last_delivered {
            self.rack.dsack_seen = false;
        }
        if self.rack.dsack_seen {
            self.rack.steps = (self.rack.steps + 1).min(255);
            self.rack.dsack_seen = false;
            self.rack.last_delivered = self.rate.delivered;
            self.rack.persist = PERSIST_RECOVERIES;
        } else if self.rack.persist == 0 {
            self.rack.steps = 1;
        }
    }

    /// Returns the reordering window, the time that a segment may arrive after its successor (step
    /// 4).
    fn reordering_window(&self) -> Span {
        // Linux waits for reordered segments only after reordering was detected (tcp_rack_reo_wnd).
        if self.rack.reorderings == 0
            && (matches!(self.state, RecoveryState::Recovery | RecoveryState::Loss)
                || self.board.sacked_out >= self.reordering)
        {
            return Span::ZERO;
        }
        let min_rtt = self.rtt.min();
        if min_rtt == Span::MAX {
            return Span::ZERO;
        }
        (min_rtt / 4 * u64::from(self.rack.steps)).min(self.rtt.srtt())
    }

    /// Returns the time until a segment sent at `sent_at` counts as lost under the reordering
    /// window `window`. Zero if the segment is lost.
    pub(super) fn time_until_lost(&self, now: Time, sent_at: Time, window: Span) -> Span {
        (sent_at + self.rack.rtt + window).since(now)
    }

    /// Marks the segments that are lost now (step 5). Returns the time until the next segment
    /// counts as lost.
    pub(super) fn detect_losses(&mut self, now: Time) -> Span {
        let window = self.reordering_window();
        let mut next_loss = Span::ZERO;
        let mut cursor = self.board.oldest_sent();
        while let Some(number) = cursor {
            cursor = self.board.sent_after(number);
            let segment = *self.board.get(number);
            if segment.tags.has(Tags::LOST) && !segment.tags.has(Tags::RETRANSMITTED) {
                continue;
            }
            if !self.rack.is_after(segment.sent_at, segment.end_seq()) {
                break;
            }
            let remaining = self.time_until_lost(now, segment.sent_at, window);
            if remaining.is_zero() {
                self.lose(number);
            } else {
                next_loss = next_loss.max(remaining);
            }
        }
        next_loss
    }

    /// Runs the loss detection of one ACK, by time or by counting (RFC 6675) as configured.
    ///
    /// Standard: RFC 8985 §6.2; RFC 6675 §4.
    pub(super) fn identify_losses(&mut self, now: Time, flags: &mut AckFlags) {
        if self.board.is_empty() {
            return;
        }
        let is_missing = self.board.sacked_out > 0;
        if self.delays_losses(now, flags.una_advanced, is_missing) {
            flags.set_timer = false;
            return;
        }
        let prior_retrans = self.board.retrans_out;
        if self.config.recovery.method == LossRecovery::Rack && !self.uses_ncr() {
            if self.rack.advanced {
                self.rack.advanced = false;
                let next_loss = self.detect_losses(now);
                if !next_loss.is_zero() {
                    self.arm_after(TimerKind::Reordering, now, next_loss + TIMER_SLACK);
                    flags.set_timer = false;
                }
            }
        } else {
            self.count_losses();
        }
        flags.lost_retransmission = self.board.retrans_out < prior_retrans;
    }

    /// Marks segments as lost by IsLost, if enough segments above them are SACKed. Only segments
    /// that were never retransmitted are marked. The timer detects the loss of a retransmission.
    ///
    /// Standard: RFC 6675 §4.
    fn count_losses(&mut self) {
        if self.board.sacked_out == 0 {
            return;
        }
        let threshold = self.loss_threshold();
        let (mut above, mut number) = (0, self.board.at_or_after(self.fack_or_una()));
        while number > self.board.first() && above < threshold {
            number -= 1;
            above += u32::from(self.board.get(number).tags.has(Tags::SACKED));
        }
        // All segments below `number` have at least the threshold of SACKed segments above them.
        // Segments below the settled number are already SACKed or marked, so the search stops
        // there.
        let (found, settled) = (number, self.board.settled());
        while number > settled {
            number -= 1;
            let tags = self.board.get(number).tags;
            if tags.has(Tags::LOST) {
                return;
            }
            if !tags.has(Tags::SACKED) {
                self.lose(number);
            }
        }
        self.board.advance_settled(found);
    }

    /// Handles an expiry of the reordering timer.
    pub(super) fn on_reordering_timeout<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.repair_what_is_late(cx);
        if self.pending() != Some(TimerKind::Rto) {
            self.rearm_rto(cx.now);
        }
    }

    /// Detects losses without an ACK, and retransmits the lost segments.
    pub(super) fn repair_what_is_late<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        let prior = self.in_flight();
        if self.config.recovery.method == LossRecovery::Rack {
            self.detect_losses(cx.now);
        } else {
            self.count_losses();
        }
        if prior != self.in_flight() {
            if self.state != RecoveryState::Recovery {
                self.enter_recovery(cx, false);
                if !self.congestion.controls_window() {
                    self.reduce_window(1, 0, false);
                }
            }
            self.retransmit_lost(cx);
        }
    }

    /// Marks one segment as lost.
    pub(super) fn lose(&mut self, number: u64) {
        if self.board.mark_lost(number) {
            debug_assert!(
                self.board.contains(number),
                "segment {number} is lost and not outstanding"
            );
            self.rate.lost += 1;
            self.retransmit_hint = self.retransmit_hint.min(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Congestion;
    use crate::tcp::config::TcpConfig;
    use crate::tcp::outbox::Outbox;
    use fadeout_core::random::Stream;
    use fadeout_core::registry::Parameters;
    use fadeout_core::{FlowId, NullProbe};
    use std::sync::Arc;

    #[test]
    fn an_enlarged_reordering_window_is_kept_for_sixteen_recoveries() {
        let random = Stream::new(1, "rack", 0);
        let reno = Congestion::new("reno", &Parameters::default(), random);
        let reno = reno.expect("reno is registered");
        let mut sender = Sender::new(&Arc::new(TcpConfig::linux()), FlowId(0), reno);
        let mut sent = SentSegment::default();
        sender.rate.on_send(Time::ZERO, true, 0, &mut sent);
        sender.rate.begin();
        sender.rate.on_delivered(Time::ZERO, &sent);
        sender.rack.dsack_seen = true;
        sender.adapt_reordering_window();
        assert_eq!((sender.rack.steps, sender.rack.persist), (2, 16));
        let mut cx = SenderContext {
            now: Time::ZERO,
            out: &mut Outbox::default(),
            probe: &mut NullProbe,
        };
        for recovery in 1..=16 {
            assert_eq!(sender.rack.steps, 2, "before recovery {recovery}");
            sender.undo_recovery(&mut cx);
            sender.adapt_reordering_window();
        }
        assert_eq!(sender.rack.steps, 1);
    }
}
