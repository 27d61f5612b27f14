//! Vegas: congestion control that keeps a few segments in the queue.
//!
//! Once a round trip, `diff = cwnd (RTT - base) / base` segments are queued. If `diff` is below
//! `alpha`, the window grows by one segment. If `diff` is above `beta`, the window shrinks by one
//! segment. Slow start ends when `diff` exceeds `gamma`. The base is the smallest round-trip time
//! of the connection. Outside the Open state, and after a round with at most two samples, the
//! window grows as Reno's. A loss halves the window.
//!
//! Source: Brakmo and Peterson, "TCP Vegas", JSAC 13(8), 1995, as in net/ipv4/tcp_vegas.c (Linux
//! 6.12). Not modelled: the paper's doubling every other round and its fine-grained timeout.

use super::linux::{AckCounter, half, slow_start, whole};
use super::rounds::Rounds;
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};
use fadeout_core::{Span, Time};

/// Vegas congestion control.
#[derive(Debug, Clone)]
pub struct Vegas {
    alpha: u64,
    beta: u64,
    gamma: u64,
    rounds: Rounds,
    acked: AckCounter,
}

impl Registered<Stream> for Vegas {
    const ENTRY: Entry = Entry {
        name: "vegas",
        aliases: &[],
        family: "delay-based",
        summary: "Vegas: keeps two to four segments in the queue, which it estimates from the \
                  round-trip time.",
        citation: "Brakmo, Peterson, JSAC 13(8), 1995; Linux 6.12 net/ipv4/tcp_vegas.c",
        parameters: &[
            integer(
                "alpha",
                (0, 1_000, "segments"),
                "2",
                "Number of queued segments below which the window grows.",
            ),
            integer(
                "beta",
                (0, 1_000, "segments"),
                "4",
                "Number of queued segments above which the window shrinks.",
            ),
            integer(
                "gamma",
                (0, 1_000, "segments"),
                "1",
                "Number of queued segments above which slow start ends.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Vegas {
            alpha: settings.integer("alpha").into(),
            beta: settings.integer("beta").into(),
            gamma: settings.integer("gamma").into(),
            rounds: Rounds::new(),
            acked: AckCounter::default(),
        }
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.rounds.on_ack(ack);
        if !ack.may_grow {
            return;
        }
        if !self.rounds.is_active() {
            self.acked.reno(window, ack);
        } else if self.rounds.has_ended(ack) {
            if self.rounds.rtt.samples <= 2 {
                self.acked.reno(window, ack);
            } else {
                self.adjust(window, ack);
            }
            self.rounds.start(ack);
        } else if window.in_slow_start() {
            slow_start(window, ack.delivered_now);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        self.acked = AckCounter::default();
        window.ssthresh = half(window);
    }

    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, _idle: Span) {
        self.rounds.forget();
    }
}

impl Vegas {
    /// Adjusts the window at the end of a round.
    fn adjust(&self, window: &mut Window, ack: &AckSample) {
        let cwnd = u64::from(whole(window));
        let (base, rtt) = (self.rounds.rtt.base_us, self.rounds.rtt.min_us);
        let diff = cwnd * (rtt - base) / base;
        if window.in_slow_start() {
            if diff > self.gamma {
                // The new window is the amount that the path contains without a queue, plus one
                // segment for rounding.
                let target = cwnd * base / rtt;
                window.cwnd = cwnd.min(target + 1) as f64;
                window.ssthresh = window.ssthresh.min(window.cwnd - 1.0);
            } else {
                slow_start(window, ack.delivered_now);
            }
        } else if diff > self.beta {
            window.cwnd = (cwnd - 1) as f64;
            window.ssthresh = window.ssthresh.min(window.cwnd - 1.0);
        } else if diff < self.alpha {
            window.cwnd += 1.0;
        }
        window.cwnd = window.cwnd.max(2.0);
        let cwnd = whole(window);
        window.ssthresh = window
            .ssthresh
            .max(f64::from((cwnd >> 1) + (cwnd >> 2)))
            .max(2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, ack_with_rtt, at_ms, build, window};
    use super::*;

    /// Returns the window and the threshold after one round at `rtt_ms` with a base of 100 ms.
    fn after_a_round(cwnd: f64, ssthresh: f64, rtt_ms: u64) -> (f64, f64) {
        let (mut vegas, mut w) = (build::<Vegas>(&[]), window(cwnd, ssthresh));
        vegas.rounds.rtt.base_us = 100_000;
        vegas.rounds.rtt.min_us = rtt_ms * 1_000;
        vegas.rounds.rtt.samples = 3;
        vegas.on_ack(
            &mut w,
            &AckSample {
                snd_una: 1,
                ..ack(at_ms(0), 1)
            },
        );
        (w.cwnd, w.ssthresh)
    }

    #[test]
    fn avoidance_keeps_two_to_four_segments_queued() {
        assert_eq!(after_a_round(20.0, 15.0, 120), (20.0, 15.0));
        assert_eq!(after_a_round(20.0, 15.0, 130), (19.0, 15.0));
        assert_eq!(after_a_round(20.0, 20.0, 130), (19.0, 18.0));
        assert_eq!(after_a_round(20.0, 5.0, 130), (19.0, 13.0));
        assert_eq!(after_a_round(20.0, 15.0, 105), (21.0, 15.0));
    }

    #[test]
    fn slow_start_ends_at_the_rate_of_the_path() {
        assert_eq!(after_a_round(16.0, 100.0, 115), (14.0, 13.0));
    }

    #[test]
    fn a_round_with_two_samples_is_renos() {
        let (mut vegas, mut w) = (build::<Vegas>(&[]), window(20.0, 20.0));
        vegas.acked.0 = 19;
        vegas.on_ack(
            &mut w,
            &AckSample {
                snd_una: 1,
                ..ack_with_rtt(at_ms(0), 1, 100.0)
            },
        );
        assert_eq!(w.cwnd, 21.0);
    }
}
