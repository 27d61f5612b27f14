//! Explicit link failure notification: in standby a sender probes the route at intervals until an
//! answer comes (Holland and Vaidya, MobiCom 1999).

use super::{Outage, Sender, SenderContext};
use crate::tcp::sender::TimerKind;
use fadeout_core::{Probe, RetransmitCause};

impl Sender {
    /// Enters standby after a notice of the failure. Stops the timers, keeps the window, and
    /// schedules the first probe after the interval.
    pub(super) fn begin_standby<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.suspend(cx, self.config.resilience.probe_interval);
    }

    /// Sends a probe: the first unacknowledged segment, or new data if all data is acknowledged. If
    /// the window is closed, the probe is a window probe.
    pub(super) fn probe_route<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        let Outage::Suspended { frozen, .. } = self.resilience.outage else {
            return;
        };
        self.resilience.outage = Outage::Suspended {
            frozen,
            has_probed: true,
        };
        if self.board.is_empty() {
            if !self.send_one_new(cx) && self.has_new_data() {
                // The peer's window is closed, and the persist timer does not run in standby. So a
                // window probe is sent here.
                self.send_window_probe(cx);
            }
        } else {
            let head = self.board.first();
            self.resend(cx, head, RetransmitCause::Rto);
        }
        let at = cx.now + self.config.resilience.probe_interval;
        self.arm(TimerKind::Outage, at);
    }

    /// Leaves standby after an acknowledgment with new information, if a probe was sent. Without a
    /// probe, the acknowledgment was in flight when the route failed. With a probe, it shows that
    /// the route is back. Returns true if standby ends.
    pub(super) fn leave_standby<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let is_answer = matches!(
            self.resilience.outage,
            Outage::Suspended {
                has_probed: true,
                ..
            }
        );
        if is_answer {
            self.end_suspension(cx);
        }
        is_answer
    }
}
