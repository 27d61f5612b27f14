//! The recovery state machine (Linux `tcp_fastretrans_alert`) and proportional rate reduction.
//!
//! Standard: RFC 6937; RFC 9937.

use super::ack::AckFlags;
use super::{Sender, SenderContext};
use crate::congestion::{
    CongestionControl, CongestionEvent, CongestionKind, RecoveryState, Window,
};
use crate::tcp::scoreboard::Tags;
use fadeout_core::Probe;

/// Segments to retransmit or send after an ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repair {
    /// No segment is retransmitted.
    None,
    /// The segments marked as lost are retransmitted.
    Lost,
    /// New data is sent first, to detect whether a timeout was spurious (RFC 5682 step 2b).
    NewDataFirst,
}

/// State of proportional rate reduction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reduction {
    /// Window at the beginning of the reduction (Linux uses it as RecoverFS).
    prior_cwnd: f64,
    delivered: u32,
    out: u32,
}

impl Reduction {
    /// Records that `segments` segments were sent during the reduction.
    pub(super) fn on_sent(&mut self, segments: u32) {
        self.out += segments;
    }

    /// Returns true if no segment has been sent during the reduction.
    pub(super) fn has_sent_nothing(&self) -> bool {
        self.out == 0
    }

    /// Returns the number of segments that may be sent now, with the slow-start reduction bound.
    ///
    /// Standard: RFC 6937 §3.1.
    fn allowance(&mut self, pipe: u32, target: f64, delivered: u32, is_safe: bool) -> u32 {
        self.delivered += delivered;
        let target = target as i64;
        let room = target - i64::from(pipe);
        let out = i64::from(self.out);
        let count = if room < 0 {
            let prior = (self.prior_cwnd as i64).max(1);
            (target * i64::from(self.delivered) + prior - 1) / prior - out
        } else {
            let bound = (i64::from(self.delivered) - out).max(i64::from(delivered));
            room.min(bound + i64::from(is_safe))
        };
        debug_assert!(
            count <= i64::from(u32::MAX),
            "a rate reduction lets {count} segments leave"
        );
        // At least one segment may be sent at the start of a reduction, for the first
        // retransmission.
        count.max(i64::from(self.out == 0)) as u32
    }
}

impl Sender {
    /// Sets the congestion window to at least one segment and at most [`Window::LARGEST`].
    pub(super) fn set_cwnd(&mut self, segments: f64) {
        debug_assert!(segments.is_finite(), "a window of {segments} segments");
        self.window.cwnd = segments.clamp(1.0, Window::LARGEST);
    }

    /// Sets the window to the threshold plus `more` segments. An infinite threshold leaves the
    /// window unchanged, because a custom congestion control need not set one.
    pub(super) fn take_threshold(&mut self, more: f64) {
        if self.window.ssthresh.is_finite() {
            self.set_cwnd(self.window.ssthresh + more);
        }
    }

    /// Runs the recovery state machine for an ACK. Not called for ACKs of new data in the Open
    /// state.
    pub(super) fn run_recovery<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        prior_una: u64,
        flags: &mut AckFlags,
    ) -> Repair {
        if flags.ece {
            self.undo.prior_ssthresh = None;
        }
        if self.is_reneging(cx, flags) {
            return Repair::None;
        }
        if self.state == RecoveryState::Open {
            self.undo.first_retransmission = None;
        } else if self.snd_una >= self.high_seq {
            match self.state {
                // CWR ends only with an ACK above its `high_seq`, one window after its start.
                RecoveryState::Cwr if self.snd_una != self.high_seq => {
                    self.end_reduction(cx);
                    self.state = RecoveryState::Open;
                }
                RecoveryState::Recovery => {
                    self.leave_recovery(cx);
                    self.end_reduction(cx);
                }
                _ => {}
            }
        }
        match self.state {
            RecoveryState::Recovery => {
                if flags.una_advanced && self.undo_partial(cx, prior_una) {
                    return Repair::None;
                }
                if self.undo_by_dsack(cx) {
                    self.try_to_open(cx, flags);
                }
                self.identify_losses(cx.now, flags);
                if self.state != RecoveryState::Recovery {
                    if self.board.lost_out == 0 {
                        return Repair::None;
                    }
                    self.enter_recovery(cx, flags.ece);
                }
                Repair::Lost
            }
            RecoveryState::Loss => {
                let repair = self.recover_from_timeout(cx, flags);
                self.identify_losses(cx.now, flags);
                if self.state != RecoveryState::Open && !flags.lost_retransmission {
                    return repair;
                }
                // The reduction was undone, or retransmissions were lost, too. So a new recovery
                // may have to begin.
                self.suspect(cx, flags, repair)
            }
            _ => {
                if matches!(self.state, RecoveryState::Open | RecoveryState::Disorder) {
                    self.undo_by_dsack(cx);
                }
                self.identify_losses(cx.now, flags);
                self.suspect(cx, flags, Repair::None)
            }
        }
    }

    /// Enters recovery if a segment is believed lost. Otherwise changes between Open and Disorder.
    fn suspect<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        flags: &AckFlags,
        otherwise: Repair,
    ) -> Repair {
        if self.board.lost_out == 0 {
            self.try_to_open(cx, flags);
            return otherwise;
        }
        self.enter_recovery(cx, flags.ece);
        Repair::Lost
    }

    /// Starts fast recovery.
    ///
    /// Standard: RFC 6675 §5, step 4.
    pub(super) fn enter_recovery<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        for_ecn: bool,
    ) {
        self.statistics.recoveries += 1;
        self.undo.prior_ssthresh = None;
        self.begin_undo();
        if self.spares_window(cx.now) && !for_ecn && !self.in_reduction() {
            self.begin_repair();
        } else if !self.in_reduction() {
            if !for_ecn {
                self.undo.prior_ssthresh = Some(self.current_ssthresh());
            }
            self.begin_reduction(cx, CongestionKind::FastRecovery);
        }
        self.state = RecoveryState::Recovery;
        self.next_seg.begin(self.board.head());
        self.report(cx, "recovery");
    }

    /// Reduces the window if no loss must be repaired: after an ECN echo, or after a tail loss that
    /// the probe repaired.
    pub(super) fn enter_cwr<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        kind: CongestionKind,
    ) {
        self.undo.prior_ssthresh = None;
        if matches!(self.state, RecoveryState::Open | RecoveryState::Disorder) {
            self.undo.marker = None;
            self.begin_reduction(cx, kind);
            self.state = RecoveryState::Cwr;
            self.report(cx, "cwr");
        }
    }

    pub(super) fn begin_reduction<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        kind: CongestionKind,
    ) {
        self.high_seq = self.snd_nxt;
        self.probe.high_seq = None;
        self.undo.prior_cwnd = self.window.cwnd;
        self.recovery = Reduction {
            prior_cwnd: self.window.cwnd,
            delivered: 0,
            out: 0,
        };
        self.congested(cx, kind);
        self.marks.on_reduced();
        if !self.config.recovery.prr && !self.congestion.controls_window() {
            self.take_threshold(0.0);
        }
    }

    /// Reports congestion to the congestion control, which sets the threshold.
    pub(super) fn congested<P: Probe>(&mut self, cx: &SenderContext<'_, P>, kind: CongestionKind) {
        let event = CongestionEvent {
            now: cx.now,
            kind,
            flight_size: self.board.packets_out(),
            in_flight: self.in_flight(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
        };
        self.congestion.on_congestion(&mut self.window, &event);
    }

    /// Moves the window toward the threshold for `delivered` newly delivered segments.
    #[inline(never)]
    pub(super) fn reduce_window(&mut self, delivered: u32, lost: u32, una_advanced: bool) {
        if delivered == 0 || self.recovery.prior_cwnd == 0.0 {
            return;
        }
        if !self.config.recovery.prr {
            return;
        }
        let pipe = self.in_flight();
        let is_safe = una_advanced && lost == 0;
        let allowance = self
            .recovery
            .allowance(pipe, self.window.ssthresh, delivered, is_safe);
        self.set_cwnd(f64::from(pipe + allowance));
    }

    /// Ends the reduction. The window becomes the threshold, unless the reduction was undone.
    pub(super) fn end_reduction<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if self.congestion.controls_window() {
            self.congestion.on_recovered(&mut self.window, cx.now);
            return;
        }
        let was_cwr = self.state == RecoveryState::Cwr;
        if self.window.ssthresh.is_finite() && (was_cwr || self.undo.marker.is_some()) {
            self.take_threshold(0.0);
            self.usage.stamp(cx.now);
        }
        self.congestion.on_recovered(&mut self.window, cx.now);
        self.report(cx, "recovered");
    }

    /// Leaves recovery after all data outstanding at its start is acknowledged.
    fn leave_recovery<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.undo_recovery(cx);
        self.state = RecoveryState::Open;
    }

    pub(super) fn try_to_open<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        flags: &AckFlags,
    ) {
        if !self.any_retransmission_outstanding() {
            self.undo.first_retransmission = None;
        }
        if flags.ece {
            self.enter_cwr(cx, CongestionKind::Ecn);
        }
        if self.state != RecoveryState::Cwr {
            self.try_keep_open();
        }
    }

    /// Sets the state to Open if no segment is missing, and to Disorder otherwise.
    pub(super) fn try_keep_open(&mut self) {
        let missing = self.board.left_out() > 0 || self.any_retransmission_outstanding();
        let state = if missing {
            RecoveryState::Disorder
        } else {
            RecoveryState::Open
        };
        if self.state != state {
            self.state = state;
            self.high_seq = self.snd_nxt;
        }
    }

    pub(super) fn any_retransmission_outstanding(&self) -> bool {
        self.board.retrans_out > 0
            || self
                .board
                .head()
                .is_some_and(|head| head.tags.has(Tags::EVER_RETRANSMITTED))
    }

    /// Returns the threshold to restore when a reduction proves spurious (Linux
    /// `tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> f64 {
        if self.in_reduction() {
            return self.window.ssthresh;
        }
        self.window.ssthresh.max((self.window.cwnd * 0.75).floor())
    }

    /// Returns true if the receiver discarded data that it had SACKed (reneging). The oldest
    /// segment is then SACKed but not acknowledged. Linux waits half a round trip for the ACK. Here
    /// the retransmission timer detects the reneging, and the timeout removes the SACK tags.
    ///
    /// Standard: RFC 2018 §8.
    fn is_reneging<P: Probe>(&mut self, _cx: &SenderContext<'_, P>, flags: &AckFlags) -> bool {
        flags.una_advanced
            && self
                .board
                .head()
                .is_some_and(|head| head.tags.has(Tags::SACKED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_reduction_sends_one_segment_for_two_delivered() {
        // Reference vector PRR-1: each delivered segment allows half a segment.
        let mut prr = Reduction {
            prior_cwnd: 20.0,
            ..Reduction::default()
        };
        let mut pipe = 19;
        let mut sent = Vec::new();
        for _ in 0..8 {
            pipe -= 1;
            let count = prr.allowance(pipe, 10.0, 1, false);
            prr.on_sent(count);
            pipe += count;
            sent.push(count);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn rate_reduction_grows_back_as_in_slow_start_below_the_threshold() {
        // Reference vectors PRR-2 and PRR-3.
        let prr = |delivered, out| Reduction {
            prior_cwnd: 20.0,
            delivered,
            out,
        };
        assert_eq!(prr(5, 5).allowance(4, 10.0, 1, false), 1);
        assert_eq!(prr(5, 5).allowance(4, 10.0, 1, true), 2);
        assert_eq!(prr(9, 5).allowance(9, 10.0, 3, true), 1);
        // If the pipe reaches the threshold, no segment may be sent, even if few segments were sent
        // before.
        assert_eq!(prr(9, 4).allowance(10, 10.0, 1, true), 0);
    }
}
