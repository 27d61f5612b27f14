//! YeAH: growth as Scalable TCP while the queue is short, and as Reno otherwise.
//!
//! Each round trip estimates the queue `Q = cwnd (RTT - base) / RTT`. The algorithm is in slow mode
//! if more than 80 segments are queued, or if the delay is more than an eighth above the base. In
//! slow mode the window grows as Reno's. If more than 80 segments are queued, the window is reduced
//! by the queue at once. A loss reduces the window by the last queue, at least by an eighth and at
//! most by half. After 16 slow rounds, which indicate competition with Reno, a loss halves the
//! window.
//!
//! Source: Baiocchi, Castellani and Vacirca, "YeAH-TCP", PFLDnet 2007, in the integer arithmetic of
//! net/ipv4/tcp_yeah.c (Linux 6.12).

use super::linux::{AckCounter, slow_start, whole};
use super::rounds::Rounds;
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};
use fadeout_core::{Span, Time};

/// Number of acknowledged segments per segment of increase in fast mode.
const FAST_PER: u32 = 100;
/// Number of slow rounds from which the flow assumes competition with Reno (rho).
const RENO_ROUNDS: u32 = 16;
/// Number of fast rounds after which the estimate of Reno's window is reset (zeta).
const FAST_ROUNDS: u32 = 50;
/// Upper limit of the count of slow rounds.
const MANY_ROUNDS: u32 = 0xff_ffff;

/// YeAH.
#[derive(Debug, Clone)]
pub struct Yeah {
    /// Maximum number of queued segments in fast mode (alpha).
    queue_limit: u64,
    /// Divisor of the base that gives the maximum queueing delay in fast mode (phi).
    delay_divisor: u64,
    rounds: Rounds,
    acked: AckCounter,
    last_queue: u32,
    slow_rounds: u32,
    fast_rounds: u32,
    /// Estimate of the window that Reno would have.
    reno_window: u32,
}

impl Registered<Stream> for Yeah {
    const ENTRY: Entry = Entry {
        name: "yeah",
        aliases: &["yeah-tcp"],
        family: "loss-based",
        summary: "YeAH: Scalable TCP while the queue is short. With a long queue it behaves as \
                  Reno and empties the queue.",
        citation: "Baiocchi, Castellani, Vacirca, PFLDnet 2007; Linux 6.12 net/ipv4/tcp_yeah.c",
        parameters: &[
            integer(
                "alpha",
                (1, 1_000_000, "segments"),
                "80",
                "Largest number of queued segments in fast mode.",
            ),
            integer(
                "phi",
                (1, 1_000, ""),
                "8",
                "Divisor phi: fast mode tolerates a queueing delay of the smallest round-trip time \
                 divided by phi.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Yeah {
            queue_limit: settings.integer("alpha").into(),
            delay_divisor: settings.integer("phi").into(),
            rounds: Rounds::new(),
            acked: AckCounter::default(),
            last_queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_window: 2,
        }
    }
}

impl CongestionControl for Yeah {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.rounds.on_ack(ack);
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
        }
        if left > 0 {
            let cwnd = whole(window);
            let per = if self.slow_rounds == 0 {
                cwnd.min(FAST_PER)
            } else {
                cwnd
            };
            self.acked.grow(window, per, left);
        }
        if self.rounds.has_ended(ack) {
            if self.rounds.rtt.samples > 2 {
                self.adapt(window);
            }
            self.rounds.start(ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        self.acked = AckCounter::default();
        let cwnd = whole(window);
        let half = (cwnd >> 1).max(2);
        let cut = if self.slow_rounds < RENO_ROUNDS {
            self.last_queue.min(half).max(cwnd >> 3)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window >> 1).max(2);
        window.ssthresh = f64::from(cwnd.saturating_sub(cut).max(2));
    }

    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, _idle: Span) {
        self.rounds.forget();
    }
}

impl Yeah {
    /// Chooses the mode for the next round.
    fn adapt(&mut self, window: &mut Window) {
        let (base, rtt) = (self.rounds.rtt.base_us, self.rounds.rtt.min_us);
        let mut cwnd = whole(window);
        let queue = u64::from(cwnd) * (rtt - base) / rtt;
        if queue > self.queue_limit || rtt - base > base / self.delay_divisor {
            if queue > self.queue_limit && cwnd > self.reno_window {
                let cut = queue.min(u64::from(cwnd >> 1)) as u32;
                cwnd = (cwnd - cut).max(self.reno_window);
                window.cwnd = f64::from(cwnd);
                window.ssthresh = window.cwnd;
            }
            self.reno_window = if self.reno_window <= 2 {
                (cwnd >> 1).max(2)
            } else {
                self.reno_window + 1
            };
            self.slow_rounds = (self.slow_rounds + 1).min(MANY_ROUNDS);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > FAST_ROUNDS {
                self.reno_window = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
        self.last_queue = queue as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, ack_with_rtt, at_ms, build, lose, window};
    use super::*;
    use fadeout_core::registry::Value;

    /// Returns YeAH after a round at `rtt_ms` with a base of 50 ms.
    fn after(cwnd: f64, rtt_ms: u64) -> (Yeah, Window) {
        let (mut yeah, mut w) = (build::<Yeah>(&[]), window(cwnd, 10.0));
        (yeah.rounds.rtt.base_us, yeah.rounds.rtt.min_us) = (50_000, rtt_ms * 1_000);
        yeah.adapt(&mut w);
        (yeah, w)
    }

    #[test]
    fn a_delay_above_an_eighth_is_slow_mode_without_a_cut() {
        let (mut yeah, mut w) = after(200.0, 60);
        assert_eq!((w.cwnd, yeah.last_queue, yeah.slow_rounds), (200.0, 33, 1));
        assert_eq!(yeah.reno_window, 100);
        assert_eq!(lose(&mut yeah, &mut w, at_ms(0)), 167.0);
    }

    #[test]
    fn a_queue_over_80_segments_is_given_up() {
        let (yeah, w) = after(400.0, 70);
        assert_eq!((w.cwnd, w.ssthresh, yeah.reno_window), (286.0, 286.0, 143));
    }

    #[test]
    fn a_short_queue_is_fast_mode() {
        let (yeah, w) = after(200.0, 52);
        assert_eq!((w.cwnd, yeah.slow_rounds, yeah.fast_rounds), (200.0, 0, 1));
    }

    #[test]
    fn many_slow_rounds_make_a_loss_cost_half() {
        let (mut yeah, mut w) = after(200.0, 60);
        yeah.slow_rounds = 16;
        assert_eq!(lose(&mut yeah, &mut w, at_ms(0)), 100.0);
    }

    #[test]
    fn fast_mode_grows_by_a_segment_a_hundred_and_slow_mode_as_reno() {
        for (cwnd, slow_rounds, acked, grown) in [
            (200.0, 0, 100, 201.0),
            (200.0, 0, 99, 200.0),
            (200.0, 1, 199, 200.0),
            (200.0, 1, 200, 201.0),
            (50.0, 0, 50, 51.0),
            (50.0, 0, 49, 50.0),
        ] {
            let (mut yeah, mut w) = (build::<Yeah>(&[]), window(cwnd, 10.0));
            yeah.slow_rounds = slow_rounds;
            yeah.on_ack(&mut w, &ack(at_ms(0), acked));
            assert_eq!(
                w.cwnd, grown,
                "{acked} at {cwnd}, {slow_rounds} slow rounds"
            );
        }
        // In slow start all acknowledged segments raise the window, so the counter of avoidance
        // stays.
        let (mut yeah, mut w) = (build::<Yeah>(&[]), window(8.0, 64.0));
        yeah.acked.0 = 50;
        yeah.on_ack(&mut w, &ack(at_ms(0), 2));
        assert_eq!((w.cwnd, yeah.acked.0), (10.0, 50));
    }

    #[test]
    fn a_round_of_two_samples_says_nothing() {
        for (samples, fast_rounds) in [(2, 0), (3, 1)] {
            let (mut yeah, mut w) = (build::<Yeah>(&[]), window(20.0, 10.0));
            let heard = |una| AckSample {
                snd_una: una,
                snd_nxt: 100,
                ..ack_with_rtt(at_ms(0), 1, 50.0)
            };
            yeah.on_ack(&mut w, &heard(1));
            for _ in 1..samples {
                yeah.on_ack(&mut w, &heard(100));
            }
            assert_eq!(yeah.fast_rounds, 0);
            yeah.on_ack(&mut w, &heard(101));
            assert_eq!(
                (yeah.fast_rounds, yeah.rounds.rtt.samples),
                (fast_rounds, 0)
            );
        }
    }

    /// Returns YeAH with these parameters after a round at `rtt_us` with a base of 50 ms.
    fn adapted(alpha: f64, reno_window: u32, cwnd: f64, rtt_us: u64) -> (Yeah, Window) {
        let mut yeah = build::<Yeah>(&[("alpha", Value::Number(alpha))]);
        let mut w = window(cwnd, 10.0);
        yeah.reno_window = reno_window;
        (yeah.rounds.rtt.base_us, yeah.rounds.rtt.min_us) = (50_000, rtt_us);
        yeah.adapt(&mut w);
        (yeah, w)
    }

    #[test]
    fn the_bounds_of_queue_and_delay() {
        // Inputs: alpha, Reno's window, the window and the round-trip time. Outputs: the window,
        // the threshold, the slow rounds and Reno's window.
        for (given, expected) in [
            // A window of 200 has 200 * 2632 / 52632 = 10 segments queued, which alpha allows. A
            // window of 220 has 11 queued and is reduced by them.
            ((10.0, 2, 200.0, 52_632), (200.0, 10.0, 0, 2)),
            ((10.0, 2, 220.0, 52_632), (209.0, 209.0, 1, 104)),
            // A delay of an eighth above the base keeps the fast mode. One microsecond more ends
            // it.
            ((80.0, 2, 90.0, 56_250), (90.0, 10.0, 0, 2)),
            ((80.0, 2, 90.0, 56_251), (90.0, 10.0, 1, 45)),
            // The window is not reduced if the queue equals alpha, and never below Reno's window.
            ((80.0, 50, 400.0, 62_500), (400.0, 10.0, 1, 51)),
            ((80.0, 400, 400.0, 100_000), (400.0, 10.0, 1, 401)),
            ((80.0, 399, 400.0, 100_000), (399.0, 399.0, 1, 400)),
            // The window is at most halved, although the queue is three quarters of it.
            ((80.0, 2, 400.0, 200_000), (200.0, 200.0, 1, 100)),
        ] {
            let (alpha, reno_window, cwnd, rtt_us) = given;
            let (yeah, w) = adapted(alpha, reno_window, cwnd, rtt_us);
            let found = (w.cwnd, w.ssthresh, yeah.slow_rounds, yeah.reno_window);
            assert_eq!(found, expected, "{given:?}");
        }
    }

    #[test]
    fn fifty_fast_rounds_forget_renos_window() {
        let (mut yeah, mut w) = (build::<Yeah>(&[]), window(20.0, 10.0));
        yeah.reno_window = 60;
        (yeah.rounds.rtt.base_us, yeah.rounds.rtt.min_us) = (50_000, 50_000);
        for n in 1..=50 {
            yeah.adapt(&mut w);
            assert_eq!((yeah.fast_rounds, yeah.reno_window), (n, 60));
        }
        yeah.adapt(&mut w);
        assert_eq!((yeah.fast_rounds, yeah.reno_window), (0, 2));
    }

    #[test]
    fn a_loss_halves_renos_window_and_a_pause_forgets_the_base() {
        let (mut yeah, mut w) = adapted(80.0, 50, 200.0, 50_000);
        lose(&mut yeah, &mut w, at_ms(0));
        assert_eq!((yeah.reno_window, yeah.fast_rounds), (25, 0));
        yeah.on_idle_restart(&mut w, at_ms(0), Span::from_secs(9));
        assert!(yeah.rounds.rtt.base_us > 50_000);
    }
}
