//! TCP-Feedback: after the notice of a route failure, a source snoozes until the notice of the new
//! route.
//!
//! Source: Chandran, Raghunathan, Venkatesan and Prakash, IEEE Personal Communications 2001.

use super::{Sender, SenderContext};
use fadeout_core::Probe;

impl Sender {
    /// Begins the snooze after a route failure notification. Sending stops, and timer and window
    /// are frozen. A separate timer limits the wait.
    pub(super) fn begin_snooze<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.suspend(cx, self.config.resilience.route_timeout);
    }

    /// Ends the snooze after a route re-establishment notification. The frozen state is restored,
    /// and all unacknowledged data is retransmitted.
    pub(super) fn wake_from_snooze<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        self.end_suspension(cx);
        self.send_again(cx);
    }
}
