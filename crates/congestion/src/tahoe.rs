//! Tahoe: slow start after every loss.
//!
//! Growth and threshold are NewReno's. There is no fast recovery: the third duplicate ACK sets
//! the window to one segment, as the timeout does. Source: Jacobson, "Congestion avoidance and
//! control", SIGCOMM 1988.
//!
//! This module has only the window rule. The stack's profile `tahoe` retransmits from the first
//! unacknowledged segment in slow start instead of entering fast recovery.

use super::new_reno::NewReno;
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings};

/// Tahoe, Jacobson's congestion control of 1988.
#[derive(Debug, Clone)]
pub struct Tahoe(NewReno);

impl Registered<Stream> for Tahoe {
    const ENTRY: Entry = Entry {
        name: "tahoe",
        aliases: &[],
        family: "loss-based",
        summary: "Tahoe: slow start from one segment after every loss.",
        citation: "Jacobson, SIGCOMM 1988",
        parameters: NewReno::PARAMETERS,
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Tahoe(NewReno::from_settings(settings))
    }
}

impl CongestionControl for Tahoe {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.0.on_ack(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.0.on_congestion(window, event);
        if matches!(
            event.kind,
            CongestionKind::FastRecovery | CongestionKind::Rto
        ) {
            window.cwnd = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, build, lose, window};
    use super::*;
    use fadeout_core::Time;

    #[test]
    fn a_loss_means_slow_start_from_one_to_half_the_flight() {
        let (mut tahoe, mut w) = (build::<Tahoe>(&[]), window(20.0, f64::INFINITY));
        assert_eq!(lose(&mut tahoe, &mut w, Time::ZERO), 10.0);
        assert_eq!(w.cwnd, 1.0);
        for _ in 0..9 {
            tahoe.on_ack(&mut w, &ack(Time::ZERO, 1));
        }
        assert_eq!(w.cwnd, 10.0);
        tahoe.on_ack(&mut w, &ack(Time::ZERO, 1));
        assert_eq!(w.cwnd, 10.1);
    }
}
