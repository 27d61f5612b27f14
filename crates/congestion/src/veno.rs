//! Veno: a variant of Reno that separates random loss from congestion by the estimated queue.
//!
//! `N = cwnd (RTT - base) / RTT` segments are queued. If fewer than `beta` segments are queued, the
//! window grows as Reno's, and a loss counts as random and reduces the window by a fifth. Otherwise
//! the window grows every other round trip, and a loss halves it.
//!
//! Source: Fu and Liew, "TCP Veno", JSAC 21(2), 2003, in the integer arithmetic of
//! net/ipv4/tcp_veno.c (Linux 6.12). `N` is stored doubled. The round-trip time is the smallest
//! since the last ACK that could move the window.

use super::linux::{AckCounter, half, slow_start, whole};
use super::rounds::RoundRtt;
use super::{AckSample, CongestionControl, CongestionEvent, RecoveryState, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};
use fadeout_core::{Span, Time};

/// Veno congestion control.
#[derive(Debug, Clone)]
pub struct Veno {
    /// Queue limit `beta` in half segments.
    beta: u64,
    rtt: RoundRtt,
    /// Number of queued segments, doubled.
    queued: u64,
    /// True if the next acknowledged window raises the congestion window. Alternates with a long
    /// queue.
    is_turn: bool,
    state: RecoveryState,
    acked: AckCounter,
}

impl Registered<Stream> for Veno {
    const ENTRY: Entry = Entry {
        name: "veno",
        aliases: &[],
        family: "loss-based",
        summary: "Veno: Reno that reduces the window by only a fifth when the queue is short.",
        citation: "Fu, Liew, JSAC 21(2), 2003; Linux 6.12 net/ipv4/tcp_veno.c",
        parameters: &[integer(
            "beta",
            (0, 1_000, "segments"),
            "3",
            "Number of queued segments from which a loss counts as congestion.",
        )],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Veno {
            beta: u64::from(settings.integer("beta")) * 2,
            rtt: RoundRtt::new(),
            queued: 0,
            is_turn: true,
            state: RecoveryState::Open,
            acked: AckCounter::default(),
        }
    }
}

impl CongestionControl for Veno {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.rtt.sample(ack);
        if ack.state == RecoveryState::Open && self.state != RecoveryState::Open {
            self.rtt.min_us = RoundRtt::NONE_US;
        }
        self.state = ack.state;
        if !ack.may_grow {
            return;
        }
        if self.state != RecoveryState::Open {
            self.acked.reno(window, ack);
        } else if ack.is_cwnd_limited {
            if self.rtt.samples <= 2 {
                self.acked.reno(window, ack);
            } else {
                self.grow(window, ack);
            }
            self.rtt.min_us = RoundRtt::NONE_US;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        self.acked = AckCounter::default();
        window.ssthresh = if self.queued < self.beta {
            f64::from((whole(window) / 5 * 4 + whole(window) % 5 * 4 / 5).max(2))
        } else {
            half(window)
        };
    }

    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, _idle: Span) {
        self.rtt = RoundRtt {
            samples: self.rtt.samples,
            ..RoundRtt::new()
        };
        self.is_turn = true;
    }
}

impl Veno {
    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let cwnd = whole(window);
        let unqueued = 2 * u64::from(cwnd) * self.rtt.base_us / self.rtt.min_us;
        self.queued = 2 * u64::from(cwnd) - unqueued;
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
        }
        if left == 0 {
            return;
        }
        if self.queued < self.beta {
            self.acked.grow(window, cwnd, left);
        } else if self.acked.0 >= cwnd {
            if self.is_turn {
                window.cwnd += 1.0;
            }
            self.is_turn = !self.is_turn;
            self.acked.0 = 0;
        } else {
            self.acked.0 += left;
        }
        window.cwnd = window.cwnd.max(2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_with_rtt, at_ms, build, lose, window};
    use super::*;

    /// Returns Veno with a window of `cwnd` after samples of 100 ms and a last sample of `rtt_ms`.
    fn after(cwnd: f64, rtt_ms: f64) -> (Veno, Window) {
        let (mut veno, mut w) = (build::<Veno>(&[]), window(cwnd, 5.0));
        veno.rtt.base_us = 100_001;
        veno.rtt.samples = 3;
        veno.on_ack(&mut w, &ack_with_rtt(at_ms(0), 1, rtt_ms));
        (veno, w)
    }

    #[test]
    fn a_loss_with_a_short_queue_takes_a_fifth() {
        let (mut veno, mut w) = after(20.0, 110.0);
        assert_eq!((veno.queued, lose(&mut veno, &mut w, at_ms(1))), (4, 16.0));
    }

    #[test]
    fn a_loss_with_a_long_queue_takes_half() {
        let (mut veno, mut w) = after(20.0, 150.0);
        assert_eq!((veno.queued, lose(&mut veno, &mut w, at_ms(1))), (14, 10.0));
        // N is 2.83 segments, and the kernel's rounding makes it 3. So the loss halves the window.
        let (mut veno, mut w) = after(50.0, 106.0);
        assert_eq!((veno.queued, lose(&mut veno, &mut w, at_ms(1))), (6, 25.0));
    }

    #[test]
    fn a_long_queue_slows_the_growth() {
        for (rtt_ms, acks) in [(100.0, 10), (150.0, 20)] {
            let (mut veno, mut w) = after(10.0, rtt_ms);
            for _ in 1..acks {
                veno.on_ack(&mut w, &ack_with_rtt(at_ms(0), 1, rtt_ms));
            }
            assert_eq!(w.cwnd, 11.0, "after {acks} ACKs at {rtt_ms} ms");
        }
    }

    #[test]
    fn beta_is_in_segments() {
        // The queue has 20 * 12 / 112 segments, which the kernel rounds to 2.5. This is below beta,
        // three segments, so the loss reduces the window by a fifth.
        let (mut veno, mut w) = after(20.0, 112.0);
        assert_eq!((veno.queued, lose(&mut veno, &mut w, at_ms(1))), (5, 16.0));
    }

    #[test]
    fn four_fifths_are_kept_of_any_window() {
        for (cwnd, kept) in [
            (20.0, 16.0),
            (21.0, 16.0),
            (23.0, 18.0),
            (24.0, 19.0),
            (2.0, 2.0),
        ] {
            let mut veno = build::<Veno>(&[]);
            assert_eq!(lose(&mut veno, &mut window(cwnd, 5.0), at_ms(0)), kept);
        }
    }

    #[test]
    fn with_a_long_queue_every_other_window_grows() {
        // At 140 ms, 14 of the 20 half segments are in flight and 6 are queued, exactly beta. So
        // the window grows by a segment in the first acknowledged window, not in the second, and
        // again in the third.
        let (mut veno, mut w) = after(10.0, 140.0);
        let mut grown = vec![w.cwnd];
        for _ in 1..36 {
            veno.on_ack(&mut w, &ack_with_rtt(at_ms(0), 1, 150.0));
            grown.push(w.cwnd);
        }
        let acked_at = |cwnd| {
            grown
                .iter()
                .position(|&seen| seen == cwnd)
                .map(|index| index + 1)
        };
        assert_eq!(
            (acked_at(11.0), acked_at(12.0), w.cwnd),
            (Some(11), Some(35), 12.0)
        );
    }

    #[test]
    fn a_recovery_ends_without_a_round_trip_time_and_a_pause_forgets_all_but_their_number() {
        let (mut veno, mut w) = after(20.0, 110.0);
        let sample = |state| AckSample {
            state,
            may_grow: state == RecoveryState::Open,
            ..ack_with_rtt(at_ms(0), 1, 110.0)
        };
        veno.on_ack(&mut w, &sample(RecoveryState::Recovery));
        assert_eq!(veno.rtt.min_us, 110_001);
        veno.on_ack(&mut w, &sample(RecoveryState::Open));
        assert_eq!(veno.queued, 40);
        // The next ACK starts a new minimum of the round-trip time.
        veno.on_ack(&mut w, &sample(RecoveryState::Open));
        assert_eq!(veno.queued, 4);
        let samples = veno.rtt.samples;
        veno.is_turn = false;
        veno.on_idle_restart(&mut w, at_ms(0), Span::from_secs(9));
        assert_eq!(
            (veno.rtt.samples, veno.rtt.base_us),
            (samples, RoundRtt::NONE_US)
        );
        assert!(veno.is_turn);
    }
}
