//! Reno as the Linux kernel has it.
//!
//! In slow start each acknowledged segment adds one segment to the window. Acknowledged segments
//! beyond `ssthresh` count in congestion avoidance, which adds one segment per acknowledged window.
//! Congestion sets `ssthresh = cwnd / 2` in whole segments, at least 2. RFC 5681 uses the flight
//! size instead of `cwnd`.
//!
//! Source: net/ipv4/tcp_cong.c of Linux 6.12. The TCP stack implements recovery, undo and pacing.

use super::linux::{AckCounter, half, whole};
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number};

/// Linux's Reno.
#[derive(Debug, Clone)]
pub struct Reno {
    acked: AckCounter,
    beta_ecn: f64,
}

impl Registered<Stream> for Reno {
    const ENTRY: Entry = Entry {
        name: "reno",
        aliases: &["linux-reno"],
        family: "loss-based",
        summary: "Reno: additive increase, and half of the window after a loss, in Linux's integer \
                  arithmetic.",
        citation: "Linux 6.12 net/ipv4/tcp_cong.c; RFC 5681",
        parameters: &[number(
            "beta-ecn",
            (0.5, 0.95, ""),
            "0.5",
            "Fraction of the window kept after an ECN echo. The kernel halves the window. RFC 8511 \
             (ABE) proposes 0.8, because queues that mark packets are short.",
        )],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Reno {
            acked: AckCounter::default(),
            beta_ecn: settings.number("beta-ecn"),
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.may_grow {
            self.acked.reno(window, ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.acked = AckCounter::default();
        window.ssthresh = match event.kind {
            CongestionKind::Ecn => (f64::from(whole(window)) * self.beta_ecn).floor().max(2.0),
            _ => half(window),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, build, congestion, lose, window};
    use super::*;
    use crate::CongestionKind;
    use fadeout_core::Time;
    use fadeout_core::registry::Value;

    #[test]
    fn slow_start_doubles_in_a_round() {
        let (mut reno, mut w) = (build::<Reno>(&[]), window(10.0, f64::INFINITY));
        for _ in 0..10 {
            reno.on_ack(&mut w, &ack(Time::ZERO, 1));
        }
        assert_eq!(w.cwnd, 20.0);
    }

    #[test]
    fn what_slow_start_leaves_counts_for_avoidance() {
        let (mut reno, mut w) = (build::<Reno>(&[]), window(14.0, 16.0));
        reno.on_ack(&mut w, &ack(Time::ZERO, 4));
        assert_eq!((w.cwnd, reno.acked.0), (16.0, 2));
    }

    #[test]
    fn avoidance_adds_a_segment_a_window() {
        let (mut reno, mut w) = (build::<Reno>(&[]), window(10.0, 5.0));
        for _ in 0..10 {
            reno.on_ack(&mut w, &ack(Time::ZERO, 1));
        }
        assert_eq!((w.cwnd, reno.acked.0), (11.0, 0));
    }

    #[test]
    fn the_threshold_is_half_the_window_whatever_the_flight() {
        let (mut reno, mut w) = (build::<Reno>(&[]), window(40.0, f64::INFINITY));
        reno.on_congestion(&mut w, &congestion(Time::ZERO, CongestionKind::Rto, 20));
        assert_eq!(w.ssthresh, 20.0);
        w.cwnd = 3.0;
        assert_eq!(lose(&mut reno, &mut w, Time::ZERO), 2.0);
    }

    #[test]
    fn a_mark_may_cost_less_than_a_loss() {
        let abe = [("beta-ecn", Value::Number(0.8))];
        let (mut reno, mut w) = (build::<Reno>(&abe), window(41.0, f64::INFINITY));
        reno.on_congestion(&mut w, &congestion(Time::ZERO, CongestionKind::Ecn, 41));
        assert_eq!(w.ssthresh, 32.0);
        assert_eq!(lose(&mut reno, &mut w, Time::ZERO), 20.0);
    }

    #[test]
    fn an_idle_window_does_not_grow() {
        let (mut reno, mut w) = (build::<Reno>(&[]), window(10.0, f64::INFINITY));
        reno.on_ack(
            &mut w,
            &AckSample {
                is_cwnd_limited: false,
                ..ack(Time::ZERO, 1)
            },
        );
        assert_eq!(w.cwnd, 10.0);
    }
}
