//! RTW-TCP's hold: a timeout during an outage that is shorter than the timeout changes nothing
//! (Na et al., "Congestion control vs. link failure", section 3.2.5).

use super::{Outage, Sender, SenderContext};
use crate::congestion::CongestionControl;
use crate::tcp::sender::TimerKind;
use fadeout_core::{Probe, RetransmitCause};

impl Sender {
    /// Handles an expiry of the retransmission timer. Returns true if the congestion control holds.
    /// In this case it retransmits the head, restarts the timer without backoff, and keeps the
    /// window.
    pub(in crate::tcp::sender) fn hold<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        if !self
            .congestion
            .holds(cx.now, self.rtt.rto_without_backoff())
        {
            return false;
        }
        if self.resilience.outage == Outage::None {
            self.resilience.outage = Outage::Held { since: cx.now };
            self.report(cx, "held");
        }
        let head = self.board.first();
        self.resend(cx, head, RetransmitCause::Rto);
        self.arm_after(TimerKind::Rto, cx.now, self.rtt.rto());
        true
    }

    /// Ends the hold, because the link is back or an acknowledgment shows that it is. The clock of
    /// the algorithm was stopped during the hold.
    pub(super) fn end_hold<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let Outage::Held { since } = self.resilience.outage else {
            return false;
        };
        let idle = cx.now.since(since);
        self.congestion
            .on_idle_restart(&mut self.window, cx.now, idle);
        self.resume(cx);
        true
    }
}
