//! Fast retransmit and fast recovery without SACK: Tahoe, Reno and NewReno, by duplicate ACKs and
//! window inflation.
//!
//! Standard: RFC 5681 §3.2; RFC 6582.

use super::ack::AckFlags;
use super::recovery::Repair;
use super::{Sender, SenderContext};
use crate::congestion::{CongestionControl, CongestionKind, RecoveryState};
use crate::tcp::config::{LossRecovery, NewRenoVariant, RecoverGuard};
use fadeout_core::Probe;

/// State of a recovery without SACK, which counts duplicate ACKs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Classic {
    duplicates: u32,
    /// Number of duplicate ACKs that count as delivered segments (Linux `sacked_out` without SACK).
    counted: u32,
    /// End of the data sent before the last fast retransmit or timeout (RFC 6582 `recover`).
    pub(super) recover: u64,
    /// True if a partial ACK has restarted the timer. In the "impatient" variant no other partial
    /// ACK may restart it (RFC 6582 section 3.2).
    pub(super) is_timer_settled: bool,
    /// True if this ACK ended the recovery. The same ACK must not grow the window too.
    pub(super) has_just_left: bool,
}

impl Sender {
    /// Processes one ACK of `acked` segments.
    #[inline(never)]
    pub(super) fn run_classic_recovery<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        acked: u32,
        flags: &mut AckFlags,
    ) -> Repair {
        self.classic.has_just_left = false;
        if flags.una_advanced {
            return self.take_new_ack(cx, acked, flags);
        }
        let is_duplicate = !flags.carries_data && !flags.window_update && !self.board.is_empty();
        if !is_duplicate {
            return Repair::None;
        }
        self.classic.duplicates += 1;
        if self.counts_duplicates() && self.classic.duplicates < self.board.packets_out() {
            self.classic.counted += 1;
            self.rate.delivered += 1;
        }
        if self.state == RecoveryState::Recovery {
            if !self.congestion.controls_window() {
                self.window.cwnd += 1.0; // a duplicate ACK shows that a segment left the network
            }
            return Repair::None;
        }
        if self.delays_losses(cx.now, false, true) {
            flags.set_timer = false;
            return Repair::None;
        }
        let threshold = self.loss_threshold();
        let is_enough = if self.is_waiting_for_repair() {
            self.classic.duplicates >= threshold
        } else {
            self.classic.duplicates == threshold
        };
        if is_enough && self.is_beyond_recover() {
            self.fast_retransmit(cx);
            return Repair::Lost;
        }
        Repair::None
    }

    /// Returns true if duplicates of the latest ACK can indicate a new loss.
    fn is_beyond_recover(&self) -> bool {
        match self.config.recovery.recover_guard {
            RecoverGuard::Above => self.snd_una > self.classic.recover,
            RecoverGuard::From => self.snd_una >= self.classic.recover,
            // After a timeout all outstanding data is retransmitted anyway, so duplicates do not
            // indicate a new loss.
            RecoverGuard::None => self.state != RecoveryState::Loss,
        }
    }

    /// Returns true if each duplicate ACK counts as a delivery, as in Linux. The segment then does
    /// not count again when it is acknowledged (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`).
    fn counts_duplicates(&self) -> bool {
        self.config.recovery.prr
    }

    fn fast_retransmit<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.statistics.recoveries += 1;
        self.high_seq = self.snd_nxt;
        if self.spares_window(cx.now) {
            self.window.ssthresh = self.window.cwnd;
        } else {
            self.congested(cx, CongestionKind::FastRecovery);
        }
        if self.config.recovery.method == LossRecovery::Tahoe {
            // Tahoe: slow start begins at the lost segment, and all outstanding data is
            // retransmitted.
            self.lose_everything();
            self.set_cwnd(1.0);
            self.state = RecoveryState::Loss;
        } else {
            self.lose(self.board.first());
            if !self.congestion.controls_window() {
                self.take_threshold(f64::from(self.config.recovery.duplicate_threshold));
            }
            self.state = RecoveryState::Recovery;
        }
        self.classic.recover = self.high_seq;
        self.classic.is_timer_settled = false;
        self.report(cx, "recovery");
    }

    /// Retransmits the oldest segment after the wait for the link layer (TCP-DCR).
    pub(super) fn retransmit_late_head<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        let is_due = self.state == RecoveryState::Open
            && self.classic.duplicates >= self.config.recovery.duplicate_threshold
            && self.is_beyond_recover();
        if is_due {
            self.fast_retransmit(cx);
            self.retransmit_lost(cx);
        }
    }

    fn take_new_ack<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        acked: u32,
        flags: &mut AckFlags,
    ) -> Repair {
        self.delays_losses(cx.now, true, false);
        // The segments that duplicate ACKs already counted are subtracted from the acknowledged
        // segments. At least one segment is new.
        let counted = std::mem::take(&mut self.classic.counted);
        self.rate.delivered -= u64::from(counted.min(acked.saturating_sub(1)));
        self.classic.duplicates = 0;
        let is_full = self.snd_una >= self.high_seq;
        match self.state {
            RecoveryState::Recovery if self.config.recovery.method == LossRecovery::Reno => {
                self.leave_classic(cx, self.window.ssthresh);
            }
            RecoveryState::Recovery if is_full => {
                let flight = f64::from(self.board.packets_out()).max(1.0);
                self.leave_classic(cx, self.window.ssthresh.min(flight + 1.0));
            }
            RecoveryState::Recovery => {
                self.lose(self.board.first());
                if !self.congestion.controls_window() {
                    let deflated = self.window.cwnd - f64::from(acked) + f64::from(acked.min(1));
                    self.set_cwnd(deflated);
                }
                flags.set_timer = !self.classic.is_timer_settled;
                self.classic.is_timer_settled =
                    self.config.recovery.newreno_variant == NewRenoVariant::Impatient;
                return Repair::Lost;
            }
            RecoveryState::Loss if is_full => self.state = RecoveryState::Open,
            RecoveryState::Loss => return Repair::Lost,
            _ => {
                if flags.ece {
                    self.enter_cwr(cx, CongestionKind::Ecn);
                } else if self.state == RecoveryState::Cwr && self.snd_una > self.high_seq {
                    self.state = RecoveryState::Open;
                }
            }
        }
        Repair::None
    }

    fn leave_classic<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>, cwnd: f64) {
        if !self.congestion.controls_window() && cwnd.is_finite() {
            self.set_cwnd(cwnd);
        }
        self.state = RecoveryState::Open;
        self.classic.has_just_left = true;
        self.congestion.on_recovered(&mut self.window, cx.now);
        self.report(cx, "recovered");
    }

    /// Marks all outstanding segments as lost, to restart from SND.UNA.
    pub(super) fn lose_everything(&mut self) {
        for number in self.board.first()..self.board.end() {
            self.lose(number);
        }
    }

    /// Returns the number of segments that limited transmit may send beyond the window.
    ///
    /// Standard: RFC 3042.
    pub(super) fn limited_transmit_allowance(&self) -> u32 {
        if self.config.recovery.limited_transmit
            && !self.config.recovery.method.uses_sack()
            && self.state == RecoveryState::Open
        {
            if self.is_waiting_for_repair() || self.uses_ncr() {
                self.classic.duplicates
            } else {
                self.classic.duplicates.min(2)
            }
        } else {
            0
        }
    }
}
