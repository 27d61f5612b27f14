//! Scalable TCP: increase and decrease in proportion to the window.
//!
//! Each acknowledged segment adds 1/100 of a segment. A loss reduces the window by 1/8. Below 100
//! segments the increase is Reno's. Source: Kelly, "Scalable TCP: improving performance in
//! highspeed wide area networks", CCR 33(2), 2003, in the integer arithmetic of
//! net/ipv4/tcp_scalable.c (Linux 6.12).

use super::linux::{AckCounter, slow_start, whole};
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};

/// Scalable TCP.
#[derive(Debug, Clone)]
pub struct Scalable {
    per: u32,
    acked: AckCounter,
}

impl Registered<Stream> for Scalable {
    const ENTRY: Entry = Entry {
        name: "scalable",
        aliases: &["stcp"],
        family: "loss-based",
        summary: "Scalable TCP: an increase by a hundredth of the acknowledged data, and a \
                  decrease by an eighth.",
        citation: "Kelly, CCR 33(2), 2003; Linux 6.12 net/ipv4/tcp_scalable.c",
        parameters: &[integer(
            "acks-per-segment",
            (1, 10_000, "segments"),
            "100",
            "Number of acknowledged segments for each segment of increase. Kernels before 5.11 had \
             50.",
        )],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Scalable {
            per: settings.integer("acks-per-segment"),
            acked: AckCounter::default(),
        }
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
            if left == 0 {
                return;
            }
        }
        self.acked.grow(window, whole(window).min(self.per), left);
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        self.acked = AckCounter::default();
        let cwnd = whole(window);
        window.ssthresh = f64::from((cwnd - (cwnd >> 3)).max(2));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, build, lose, window};
    use super::*;

    #[test]
    fn a_hundred_acknowledged_segments_add_one() {
        let (mut control, mut w) = (build::<Scalable>(&[]), window(200.0, 100.0));
        for _ in 0..100 {
            control.on_ack(&mut w, &ack(at_ms(0), 1));
        }
        assert_eq!(w.cwnd, 201.0);
    }

    #[test]
    fn a_loss_takes_an_eighth() {
        let mut control = build::<Scalable>(&[]);
        for (cwnd, kept) in [(200.0, 175.0), (100.0, 88.0), (10.0, 9.0)] {
            assert_eq!(lose(&mut control, &mut window(cwnd, 1e9), at_ms(0)), kept);
        }
    }
}
