//! TCP-Feedback: after the notice of a route failure, a source snoozes until the notice of the new
//! route.
//!
//! Source: Chandran, Raghunathan, Venkatesan and Prakash, IEEE Personal Communications 2001.

use super::{Sender, Step};
use fadeout_core::Probe;

impl Sender {
    /// Route failure notification: stop sending, freeze timer and window. A timer of the scheme's
    /// own limits the wait.
    pub(super) fn begin_snooze<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        self.suspend(cx, self.config.resilience.route_timeout);
    }

    /// Route re-establishment notification: the same state, and everything unacknowledged again.
    pub(super) fn wake_from_snooze<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        self.end_suspension(cx);
        self.send_again(cx);
    }
}
