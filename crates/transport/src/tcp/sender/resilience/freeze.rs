//! Freeze-TCP at the sender (Goff, Moronski, Phatak and Gupta, INFOCOM 2000). The receiver closes
//! its window before an outage, and the sender persists with its old window.
//!
//! A standard sender persists only if all data was acknowledged before the outage began. With a
//! late warning, its outstanding segments would time out. This sender's outstanding segments wait
//! too, because the window is closed.

use super::{Sender, SenderContext};
use crate::tcp::config::OutageResponse;
use crate::tcp::sender::TimerKind;
use fadeout_core::{Probe, RetransmitCause};

impl Sender {
    fn is_frozen(&self) -> bool {
        self.config.resilience.outage == OutageResponse::Freeze && self.snd_wnd == 0
    }

    /// Handles an expiry of the retransmission timer. If the window is closed, sends the oldest
    /// segment as a probe, backs the timer off, and returns true.
    pub(in crate::tcp::sender) fn persist_frozen<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
    ) -> bool {
        if !self.is_frozen() {
            return false;
        }
        let head = self.board.first();
        self.resend(cx, head, RetransmitCause::Rto);
        self.rtt.back_off();
        self.arm_after(TimerKind::Rto, cx.now, self.rtt.rto());
        true
    }

    /// Resumes after the window opened again. Returns true if Freeze-TCP is used.
    pub(super) fn thaw<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let thaws = self.config.resilience.outage == OutageResponse::Freeze;
        if thaws {
            self.timer = None;
            self.persist_backoff = 0;
            self.resume(cx);
        }
        thaws
    }
}
