//! Undo of reductions that prove spurious: by timestamps (Eifel) or by DSACK, as in Linux.
//!
//! Standard: RFC 3522; RFC 3708.

use super::{Sender, SenderContext};
use crate::congestion::{CongestionControl, RecoveryState, Window};
use crate::tcp::sender::rack::PERSIST_RECOVERIES;
use fadeout_core::Probe;

/// State to restore if a window reduction proves spurious.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Undo {
    /// SND.UNA at the start of the reduction. `None` if there is nothing to undo.
    pub(super) marker: Option<u64>,
    pub(super) prior_cwnd: f64,
    /// Threshold to restore. `None` if the reduction cannot be undone (ECN).
    pub(super) prior_ssthresh: Option<f64>,
    /// Number of retransmissions since the marker that no DSACK has reported. `None` before the
    /// first.
    retransmissions: Option<u64>,
    /// Millisecond timestamp of the first retransmission.
    pub(super) first_retransmission: Option<u32>,
    /// Newest timestamp that the peer echoed.
    pub(super) latest_echo: Option<u32>,
}

impl Undo {
    /// Records that a DSACK reported retransmissions as unnecessary.
    pub(super) fn repay(&mut self, segments: u64) {
        if let Some(count) = &mut self.retransmissions {
            *count = count.saturating_sub(segments);
        }
    }

    /// Records that a segment is retransmitted with timestamp `stamp`.
    pub(super) fn on_retransmit(&mut self, stamp: u32) {
        self.first_retransmission.get_or_insert(stamp);
        self.retransmissions = Some(self.retransmissions.unwrap_or(0) + 1);
    }
}

impl Sender {
    /// Stores the state to restore at the start of a reduction.
    pub(super) fn begin_undo(&mut self) {
        self.undo.marker = Some(self.snd_una);
        // Retransmissions in flight, a probe among them, may be reported by DSACK later.
        let probe = self.probe.high_seq.is_some() && self.probe.is_retransmission;
        let outstanding = u64::from(self.board.retrans_out) + u64::from(probe);
        self.undo.retransmissions = (outstanding > 0).then_some(outstanding);
    }

    /// Returns true if the original, not its retransmission, caused this ACK.
    ///
    /// Standard: RFC 3522 step 5.
    fn is_original_delayed(&self) -> bool {
        match (self.undo.first_retransmission, self.undo.latest_echo) {
            (Some(first), Some(echo)) => (echo.wrapping_sub(first) as i32) < 0,
            _ => false,
        }
    }

    fn may_undo(&self) -> bool {
        self.config.recovery.undo
            && self.undo.marker.is_some()
            && (self.undo.retransmissions == Some(0) || self.is_original_delayed())
    }

    fn undo_reduction<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>, unmark_losses: bool) {
        if unmark_losses {
            self.board.unmark_losses();
            self.retransmit_hint = self.board.first();
        }
        if let Some(ssthresh) = self.undo.prior_ssthresh {
            let prior = Window {
                cwnd: self.undo.prior_cwnd,
                ssthresh,
                ..self.window
            };
            self.congestion
                .on_spurious(&mut self.window, &prior, cx.now);
            self.marks.on_undone();
        }
        self.usage.stamp(cx.now);
        self.undo.marker = None;
        self.rack.advanced = true; // RACK examines every segment again
        self.statistics.undos += 1;
        self.report(cx, "undo");
    }

    /// Undoes the reduction at the end of a recovery if the recovery was spurious.
    pub(super) fn undo_recovery<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if self.may_undo() {
            self.undo_reduction(cx, false);
        } else {
            self.rack.persist = self.rack.persist.saturating_sub(1);
        }
    }

    /// Undoes the reduction if DSACKs reported every retransmission as a duplicate. Returns true if
    /// undone.
    pub(super) fn undo_by_dsack<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let all_spurious = self.config.recovery.undo
            && self.undo.marker.is_some()
            && self.undo.retransmissions == Some(0);
        if all_spurious {
            self.rack.persist = (self.rack.persist + 1).min(PERSIST_RECOVERIES);
            self.undo_reduction(cx, false);
        }
        all_spurious
    }

    /// Undoes the reduction after a partial ACK if the delayed original filled the hole. Returns
    /// true if nothing may be retransmitted for now.
    pub(super) fn undo_partial<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        prior_una: u64,
    ) -> bool {
        if !self.config.recovery.undo || self.undo.marker.is_none() || !self.is_original_delayed() {
            return false;
        }
        self.note_reordering(prior_una);
        if self.board.retrans_out > 0 {
            return true;
        }
        if !self.any_retransmission_outstanding() {
            self.undo.first_retransmission = None;
        }
        self.undo_reduction(cx, true);
        self.try_keep_open();
        false
    }

    /// Undoes the reduction of a timeout that F-RTO (`by_frto`), timestamps or DSACKs prove
    /// spurious. Returns true if undone.
    pub(super) fn undo_loss<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        by_frto: bool,
    ) -> bool {
        if !by_frto && !self.may_undo() {
            return false;
        }
        self.undo_reduction(cx, true);
        self.retransmits = 0;
        if by_frto || self.config.recovery.method.uses_sack() {
            self.state = RecoveryState::Open;
        }
        true
    }
}
