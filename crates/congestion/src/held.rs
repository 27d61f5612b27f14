//! Window that the caller of a simulation holds.

use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::{Span, Time};

/// Congestion control that keeps a window. ACKs and losses do not change the window. The stack
/// reduces it after a timeout, and the next ACK restores it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Window in segments.
    pub cwnd: f64,
}

impl CongestionControl for Held {
    fn on_established(&mut self, window: &mut Window, _now: Time, _srtt: Option<Span>) {
        window.cwnd = self.cwnd;
    }

    fn on_ack(&mut self, window: &mut Window, _ack: &AckSample) {
        window.cwnd = self.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        window.ssthresh = self.cwnd.max(2.0);
    }

    fn controls_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, lose, window};
    use super::*;

    #[test]
    fn neither_acks_nor_losses_move_a_held_window() {
        let (mut held, mut w) = (Held { cwnd: 25.0 }, window(3.0, f64::INFINITY));
        held.on_established(&mut w, at_ms(0), None);
        assert_eq!(w.cwnd, 25.0);
        lose(&mut held, &mut w, at_ms(1));
        assert_eq!((w.cwnd, w.ssthresh), (25.0, 25.0));
        // The stack has set the window to one segment after a timeout.
        w.cwnd = 1.0;
        held.on_ack(&mut w, &ack(at_ms(2), 1));
        assert_eq!(w.cwnd, 25.0);
    }
}
