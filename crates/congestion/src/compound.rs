//! Compound TCP: a loss window and a delay window, added.
//!
//! `win = cwnd + dwnd`. The loss window is Reno's, `cwnd += 1 / win` an ACK. Once a round trip,
//! `diff = win (1 - base / RTT)` segments are queued, with RTT the smallest of the round. Then
//! `dwnd += max(alpha win^k - 1, 0)` while `diff < gamma`, else `dwnd -= zeta diff`. A loss scales
//! both by `1 - beta`. A timeout and an idle period reset the delay window, and below 38 segments
//! there is none. At each loss `gamma` moves towards three quarters of the queue that the loss
//! window alone would cause.
//!
//! Source: Tan, Song, Zhang and Sridharan, "A Compound TCP approach for high-speed and long
//! distance networks", INFOCOM 2006, and draft-sridharan-tcpm-ctcp. The pacing of the increase over
//! a round and the tuning of gamma are as in Andrew's module for Linux. Windows ships a different,
//! unpublished one.

use super::linux::slow_start;
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, integer, number};
use fadeout_core::{Span, Time, math};

const GAMMA_MIN: f64 = 5.0;
/// Share of Reno's queue that the threshold gamma is adapted to.
const GAMMA_SHARE: f64 = 0.75;

/// Compound TCP congestion control.
#[derive(Debug, Clone)]
pub struct Compound {
    constants: Constants,
    gamma: f64,
    /// Delay window, in segments.
    dwnd: f64,
    /// Window as this algorithm last set it. A different window means that the TCP stack changed
    /// it.
    left: f64,
    /// Amount that this round must still add to the delay window, in segments.
    owed: f64,
    /// Part of `owed` that each acknowledged segment adds.
    owed_per_segment: f64,
    base: Span,
    round_min: Span,
    samples: u32,
    round_end: u64,
    /// Queue that the loss window alone would have caused in the last round. `None` if unknown.
    reno_queue: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Constants {
    alpha: f64,
    beta: f64,
    k: f64,
    zeta: f64,
    gamma_max: f64,
    lambda: f64,
    low_window: f64,
    tunes_gamma: bool,
}

impl Registered<Stream> for Compound {
    const ENTRY: Entry = Entry {
        name: "compound",
        aliases: &["ctcp"],
        family: "loss-based",
        summary: "Compound TCP: a loss window plus a delay window, which fills an unused path.",
        citation: "Tan, Song, Zhang, Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp",
        parameters: &[
            number(
                "alpha",
                (0.0, 10.0, ""),
                "0.125",
                "Factor alpha of the increase alpha win^k, where win is the window.",
            ),
            number(
                "beta",
                (0.01, 0.99, ""),
                "0.5",
                "Fraction of the window that a loss takes away.",
            ),
            number(
                "k",
                (0.0, 1.0, ""),
                "0.75",
                "Exponent k of the increase alpha win^k, where win is the window.",
            ),
            number(
                "zeta",
                (0.0, 100.0, ""),
                "1",
                "Share zeta of the queue length by which the delay window shrinks.",
            ),
            number(
                "gamma",
                (5.0, 1e6, "segments"),
                "30",
                "Queue length gamma above which the delay window shrinks.",
            ),
            flag(
                "gamma-tuning",
                "true",
                "True if gamma is lowered, down to 5, on shallow buffers.",
            ),
            number(
                "lambda",
                (0.0, 1.0, ""),
                "0.25",
                "Weight lambda of a loss in the tuning of gamma.",
            ),
            integer(
                "low-window",
                (0, 1_000_000, "segments"),
                "38",
                "Window below which there is no delay window.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        let gamma = settings.number("gamma");
        Compound {
            constants: Constants {
                alpha: settings.number("alpha"),
                beta: settings.number("beta"),
                k: settings.number("k"),
                zeta: settings.number("zeta"),
                gamma_max: gamma,
                lambda: settings.number("lambda"),
                low_window: f64::from(settings.integer("low-window")),
                tunes_gamma: settings.flag("gamma-tuning"),
            },
            gamma,
            dwnd: 0.0,
            left: 0.0,
            owed: 0.0,
            owed_per_segment: 0.0,
            base: Span::MAX,
            round_min: Span::MAX,
            samples: 0,
            round_end: 0,
            reno_queue: None,
        }
    }
}

impl CongestionControl for Compound {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.follow_the_stack(window);
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.round_min = self.round_min.min(rtt);
            self.samples += 1;
        }
        if ack.snd_una > self.round_end {
            self.end_round(window, ack);
        }
        if ack.is_growth_due() {
            self.grow(window, ack.delivered_now);
        }
        debug_assert!(
            self.dwnd >= 0.0 && self.dwnd < window.cwnd,
            "a delay window of {} in one of {}",
            self.dwnd,
            window.cwnd
        );
        debug_assert!(self.owed >= 0.0, "the delay window owes {}", self.owed);
        self.left = window.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.follow_the_stack(window);
        if event.kind == CongestionKind::Rto {
            self.dwnd = 0.0;
        } else if let (true, Some(queue)) = (self.constants.tunes_gamma, self.reno_queue) {
            self.tune_gamma(queue);
        }
        self.owed = 0.0;
        window.ssthresh = (window.cwnd * (1.0 - self.constants.beta)).max(2.0);
        self.left = window.cwnd;
    }

    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, _idle: Span) {
        self.dwnd = 0.0;
        self.owed = 0.0;
    }
}

impl Compound {
    /// Scales the loss window and the delay window after the stack changed their sum.
    fn follow_the_stack(&mut self, window: &Window) {
        if self.left > 0.0 && window.cwnd != self.left {
            self.dwnd *= window.cwnd / self.left;
        }
        self.dwnd = self.dwnd.min(window.cwnd - 1.0).max(0.0);
    }

    fn grow(&mut self, window: &mut Window, acked: u32) {
        let mut left = acked;
        if window.in_slow_start() {
            window.cwnd -= self.dwnd;
            self.dwnd = 0.0;
            left = slow_start(window, left);
        }
        let left = f64::from(left);
        let paid = (self.owed_per_segment * left).min(self.owed);
        self.owed -= paid;
        self.dwnd += paid;
        window.cwnd += left / window.cwnd + paid;
    }

    fn end_round(&mut self, window: &mut Window, ack: &AckSample) {
        if self.samples > 2 {
            let (base, rtt) = (self.base.as_secs_f64(), self.round_min.as_secs_f64());
            // If no time passes, the round-trip time and the base are zero and no segment is
            // queued.
            let queued = if rtt > 0.0 { 1.0 - base / rtt } else { 0.0 };
            debug_assert!(
                (0.0..1.0).contains(&queued),
                "{queued} of the window are in the queue"
            );
            self.reno_queue = Some((window.cwnd - self.dwnd) * queued);
            if !window.in_slow_start() {
                self.adjust(window, queued);
            }
        }
        self.round_end = ack.snd_nxt;
        self.round_min = Span::MAX;
        self.samples = 0;
    }

    /// Updates the delay window. `queued` is the fraction of the window that is in the queue.
    fn adjust(&mut self, window: &mut Window, queued: f64) {
        let target = self.next_dwnd(window.cwnd, queued);
        if target > self.dwnd {
            // The increase is spread over the round, so that it does not cause a burst.
            self.owed = target - self.dwnd;
            self.owed_per_segment = self.owed / window.cwnd;
        } else {
            self.owed = 0.0;
            window.cwnd = (window.cwnd - (self.dwnd - target)).max(2.0);
            self.dwnd = target;
        }
    }

    fn next_dwnd(&self, win: f64, queued: f64) -> f64 {
        let Constants {
            alpha,
            k,
            zeta,
            low_window,
            ..
        } = self.constants;
        let diff = win * queued;
        if win < low_window {
            0.0
        } else if diff < self.gamma {
            self.dwnd + (alpha * math::pow(win, k) - 1.0).max(0.0)
        } else {
            (self.dwnd - zeta * diff).max(0.0)
        }
    }

    fn tune_gamma(&mut self, reno_queue: f64) {
        let Constants {
            lambda, gamma_max, ..
        } = self.constants;
        let moved = self.gamma + lambda * (GAMMA_SHARE * reno_queue - self.gamma);
        self.gamma = moved.clamp(GAMMA_MIN, gamma_max);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, build, congestion, window};
    use super::*;

    fn with_dwnd(dwnd: f64) -> Compound {
        Compound {
            dwnd,
            ..build::<Compound>(&[])
        }
    }

    /// The reference values are printed with six decimals.
    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-6,
            "{value} instead of {expected}"
        );
    }

    #[test]
    fn a_short_queue_lets_the_delay_window_grow() {
        assert_near(
            with_dwnd(40.0).next_dwnd(100.0, 1.0 - 100.0 / 110.0),
            42.952_847,
        );
        assert_near(with_dwnd(0.0).next_dwnd(200.0, 0.0), 5.647_870);
    }

    #[test]
    fn a_long_queue_is_given_up() {
        assert_near(with_dwnd(40.0).next_dwnd(100.0, 0.5), 0.0);
    }

    #[test]
    fn a_small_window_is_renos() {
        assert_near(with_dwnd(5.0).next_dwnd(30.0, 0.0), 0.0);
    }

    #[test]
    fn a_loss_halves_both_windows() {
        let (mut compound, mut w) = (with_dwnd(40.0), window(100.0, 50.0));
        compound.on_congestion(
            &mut w,
            &congestion(at_ms(0), CongestionKind::FastRecovery, 100),
        );
        assert_eq!(w.ssthresh, 50.0);
        w.cwnd = 50.0;
        compound.follow_the_stack(&w);
        assert_near(compound.dwnd, 20.0);
    }

    #[test]
    fn a_round_pays_the_increase_out() {
        let (mut compound, mut w) = (with_dwnd(40.0), window(100.0, 50.0));
        compound.adjust(&mut w, 0.0);
        for _ in 0..100 {
            compound.on_ack(&mut w, &ack(at_ms(0), 1));
        }
        // The window grows during the round, so Reno's increase is a little below one segment.
        assert!(
            (compound.dwnd - 42.952_847).abs() < 1e-6,
            "{}",
            compound.dwnd
        );
        assert!((w.cwnd - 103.95).abs() < 0.02, "{}", w.cwnd);
    }

    #[test]
    fn gamma_follows_the_queue_that_reno_would_have_had() {
        let mut compound = build::<Compound>(&[]);
        for expected in [24.0, 19.5] {
            compound.tune_gamma(8.0);
            assert_near(compound.gamma, expected);
        }
        for _ in 0..50 {
            compound.tune_gamma(0.0);
        }
        assert_near(compound.gamma, 5.0);
    }
}
