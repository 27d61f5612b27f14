//! Illinois: losses decide when the window shrinks. Delays decide how fast the window grows and how
//! much it shrinks.
//!
//! `da` is the mean and `dm` the largest queueing delay. While `da` is below 1 % of `dm` the
//! increase is 10 segments a round trip. It falls to 0.3 as `da` nears `dm`. The decrease is 1/8 if
//! `da` is below 10 % of `dm`, 1/2 above 80 %, and linear in between. Below 15 segments increase
//! and decrease are Reno's. After the delay was high, five low rounds must pass before the full
//! increase returns.
//!
//! Source: Liu, Basar and Srikant, "TCP-Illinois", Performance Evaluation 65, 2008, in the integer
//! arithmetic of net/ipv4/tcp_illinois.c (Linux 6.12): increase in 1/128, decrease in 1/64.

use super::linux::{TimeoutWatch, slow_start, whole};
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};

const ALPHA_SHIFT: u32 = 7;
const ALPHA_BASE: u64 = 1 << ALPHA_SHIFT;
const ALPHA_MIN: u64 = 3 * ALPHA_BASE / 10;
const ALPHA_MAX: u64 = 10 * ALPHA_BASE;
const BETA_SHIFT: u32 = 6;
const BETA_BASE: u64 = (1 << BETA_SHIFT) / 2;
const BETA_MIN: u64 = (1 << BETA_SHIFT) / 8;
const BETA_MAX: u64 = (1 << BETA_SHIFT) / 2;
/// Upper limit of round-trip time samples. Longer samples would overflow the product in the kernel.
const RTT_MAX_US: u64 = 0x7fff_ffff / ALPHA_MAX;

/// Illinois.
#[derive(Debug, Clone)]
pub struct Illinois {
    window_threshold: u32,
    theta: u32,
    alpha: u64,
    beta: u64,
    base_us: u64,
    max_us: u64,
    sum_us: u64,
    samples: u64,
    round_end: u64,
    /// Number of segments by which the last ACK raises the count.
    acked: u32,
    count: u64,
    has_been_above: bool,
    low_rounds: u32,
    timeouts: TimeoutWatch,
}

impl Registered<Stream> for Illinois {
    const ENTRY: Entry = Entry {
        name: "illinois",
        aliases: &[],
        family: "loss-based",
        summary: "Illinois: Reno with an increase and a decrease that depend on the queueing \
                  delay.",
        citation: "Liu, Basar, Srikant, Performance Evaluation 65, 2008; Linux 6.12 \
                   net/ipv4/tcp_illinois.c",
        parameters: &[
            integer(
                "window-threshold",
                (0, 1_000_000, "segments"),
                "15",
                "Window below which increase and decrease are those of Reno.",
            ),
            integer(
                "theta",
                (1, 1_000, "round trips"),
                "5",
                "Number of rounds of low delay, after a round of high delay, before the increase \
                 is again the largest.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Illinois {
            window_threshold: settings.integer("window-threshold"),
            theta: settings.integer("theta"),
            alpha: ALPHA_MAX,
            beta: BETA_BASE,
            base_us: 0x7fff_ffff,
            max_us: 0,
            sum_us: 0,
            samples: 0,
            round_end: 0,
            acked: 0,
            count: 0,
            has_been_above: false,
            low_rounds: 0,
            timeouts: TimeoutWatch::default(),
        }
    }
}

impl CongestionControl for Illinois {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if self.timeouts.on_ack(ack) {
            self.forget(ack.snd_nxt);
        }
        self.acked = ack.acked;
        if let Some(rtt) = ack.rtt {
            let us = rtt.as_micros().min(RTT_MAX_US);
            self.base_us = self.base_us.min(us);
            self.max_us = self.max_us.max(us);
            self.sum_us += us;
            self.samples += 1;
        }
        if !ack.may_grow {
            return;
        }
        if ack.snd_una > self.round_end {
            self.adapt(whole(window));
            self.start_round(ack.snd_nxt);
        }
        if !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            slow_start(window, ack.delivered_now);
            return;
        }
        self.count += u64::from(self.acked);
        let increase = (self.count * self.alpha) >> ALPHA_SHIFT;
        let cwnd = u64::from(whole(window));
        if increase >= cwnd {
            window.cwnd += (increase / cwnd) as f64;
            self.count = 0;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.count = 0;
        let cwnd = u64::from(whole(window));
        let cut = (cwnd * self.beta) >> BETA_SHIFT;
        window.ssthresh = (cwnd - cut).max(2) as f64;
        if event.kind == CongestionKind::Rto {
            self.timeouts.on_reported();
            self.forget(event.snd_nxt);
        }
    }
}

impl Illinois {
    /// Resets increase and decrease to Reno's after a timeout, until new delays are measured.
    fn forget(&mut self, snd_nxt: u64) {
        self.alpha = ALPHA_BASE;
        self.beta = BETA_BASE;
        self.has_been_above = false;
        self.low_rounds = 0;
        self.start_round(snd_nxt);
    }

    fn start_round(&mut self, snd_nxt: u64) {
        self.round_end = snd_nxt;
        self.sum_us = 0;
        self.samples = 0;
    }

    /// Computes increase and decrease from the delays of the round that ended.
    fn adapt(&mut self, cwnd: u32) {
        if cwnd < self.window_threshold {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_BASE;
        } else if let Some(mean_us) = self.sum_us.checked_div(self.samples) {
            debug_assert!(
                self.base_us <= self.max_us,
                "the smallest round-trip time is above the largest"
            );
            let largest = self.max_us - self.base_us;
            let mean = mean_us.saturating_sub(self.base_us);
            self.alpha = self.increase(mean, largest);
            self.beta = decrease(mean, largest);
        }
        debug_assert!(
            (ALPHA_MIN..=ALPHA_MAX).contains(&self.alpha),
            "an increase of {}",
            self.alpha
        );
        debug_assert!(
            (BETA_MIN..=BETA_MAX).contains(&self.beta),
            "a decrease of {}",
            self.beta
        );
    }

    fn increase(&mut self, mean: u64, largest: u64) -> u64 {
        let low = largest / 100;
        if mean <= low {
            if !self.has_been_above {
                return ALPHA_MAX;
            }
            self.low_rounds += 1;
            if self.low_rounds < self.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.has_been_above = false;
            return ALPHA_MAX;
        }
        self.has_been_above = true;
        let (largest, mean) = (largest - low, mean - low);
        largest * ALPHA_MAX / (largest + mean * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
    }
}

fn decrease(mean: u64, largest: u64) -> u64 {
    let (low, high) = (largest / 10, 8 * largest / 10);
    if mean <= low {
        BETA_MIN
    } else if mean >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high + (BETA_MAX - BETA_MIN) * mean - BETA_MAX * low) / (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_with_rtt, at_ms, build, congestion, lose, window};
    use super::*;
    use crate::RecoveryState;

    /// Returns Illinois after a round with the mean delay `mean_us`. The base is 100 ms and the
    /// largest round-trip time 200 ms.
    fn after(cwnd: u32, mean_us: u64) -> Illinois {
        let mut control = build::<Illinois>(&[]);
        (control.base_us, control.max_us) = (100_000, 200_000);
        (control.sum_us, control.samples) = (100_000 + mean_us, 1);
        control.adapt(cwnd);
        control
    }

    #[test]
    fn delay_sets_increase_and_decrease() {
        for (mean_us, alpha, beta, kept) in [
            (50_000, 74, 21, 68.0),
            (10_000, 322, 8, 88.0),
            (80_000, 47, 32, 50.0),
            (500, 1280, 8, 88.0),
        ] {
            let mut control = after(100, mean_us);
            assert_eq!(
                (control.alpha, control.beta),
                (alpha, beta),
                "da = {mean_us} us"
            );
            assert_eq!(lose(&mut control, &mut window(100.0, 1e9), at_ms(0)), kept);
        }
    }

    #[test]
    fn a_small_window_is_renos() {
        let control = after(14, 500);
        assert_eq!((control.alpha, control.beta), (ALPHA_BASE, BETA_BASE));
    }

    #[test]
    fn five_low_rounds_bring_the_full_increase_back() {
        let mut control = after(100, 50_000);
        let alphas = [(); 5].map(|()| {
            control.alpha = control.increase(500, 100_000);
            control.alpha
        });
        assert_eq!(alphas, [74, 74, 74, 74, ALPHA_MAX]);
    }

    /// Returns an ACK of 4 segments up to `una`. `nxt` is the next sequence number to send.
    fn heard(una: u64, nxt: u64, rtt_ms: f64) -> AckSample {
        AckSample {
            snd_una: una,
            snd_nxt: nxt,
            ..ack_with_rtt(at_ms(0), 4, rtt_ms)
        }
    }

    #[test]
    fn delays_are_those_of_a_round() {
        let (mut control, mut w) = (build::<Illinois>(&[]), window(10.0, 1e9));
        control.on_ack(&mut w, &heard(1, 100, 80.0));
        assert_eq!(
            (control.round_end, control.samples, control.sum_us),
            (100, 0, 0)
        );
        control.on_ack(&mut w, &heard(99, 150, 100.0));
        control.on_ack(&mut w, &heard(100, 150, 200.0));
        assert_eq!(
            (control.round_end, control.samples, control.sum_us),
            (100, 2, 300_000)
        );
        assert_eq!((control.base_us, control.max_us), (80_000, 200_000));
        control.on_ack(&mut w, &heard(101, 200, 120.0));
        assert_eq!(
            (control.round_end, control.samples, control.sum_us),
            (200, 0, 0)
        );
    }

    #[test]
    fn a_window_takes_as_many_segments_as_the_increase_goes_into_it() {
        // Each ACK acknowledges four segments. The window grows by alpha times the counted
        // segments, divided by the window.
        for (alpha, acks, grown) in [(1, 5, 21.0), (3, 2, 21.0), (10, 1, 22.0), (5, 1, 21.0)] {
            let (mut control, mut w) = (build::<Illinois>(&[]), window(20.0, 5.0));
            control.alpha = alpha * ALPHA_BASE;
            for n in 1..=acks {
                assert_eq!(w.cwnd, 20.0, "before ACK {n} with alpha {alpha}");
                control.on_ack(&mut w, &heard(0, 100, 100.0));
            }
            assert_eq!((w.cwnd, control.count), (grown, 0), "alpha {alpha}");
        }
    }

    #[test]
    fn only_a_timeout_forgets_the_delays() {
        for (kind, alpha, round_end) in [
            (CongestionKind::FastRecovery, 74, 0),
            (CongestionKind::Rto, ALPHA_BASE, 500),
        ] {
            let mut control = after(100, 50_000);
            let event = CongestionEvent {
                snd_nxt: 500,
                ..congestion(at_ms(0), kind, 100)
            };
            control.on_congestion(&mut window(100.0, 1e9), &event);
            assert_eq!((control.alpha, control.round_end), (alpha, round_end));
        }
        // A timeout during recovery is visible only in the state of the next ACK. It resets
        // increase and decrease once.
        let (mut control, mut w) = (after(100, 50_000), window(100.0, 50.0));
        let lost = AckSample {
            state: RecoveryState::Loss,
            may_grow: false,
            ..heard(0, 300, 100.0)
        };
        control.on_ack(&mut w, &lost);
        assert_eq!((control.alpha, control.beta), (ALPHA_BASE, BETA_BASE));
        assert_eq!((control.round_end, control.samples), (300, 1));
        control.alpha = 74;
        control.on_ack(&mut w, &lost);
        assert_eq!(control.alpha, 74);
    }

    #[test]
    fn the_bounds_of_increase_and_decrease() {
        // Delays count from a window of 15 segments on. Above 80 % of the largest delay a loss
        // halves the window.
        assert_eq!(after(15, 500).alpha, ALPHA_MAX);
        assert_eq!(after(100, 90_000).beta, BETA_MAX);
        assert_eq!((decrease(0, 0), decrease(1, 0)), (BETA_MIN, BETA_MAX));
    }
}
