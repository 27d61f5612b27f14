//! H-TCP: an increase that grows with the time since the last congestion.
//!
//! With `D` seconds since the last congestion ended, a round trip adds `alpha` segments: 1 while
//! `D <= D_L`, then `1 + 10 (D - D_L) + ((D - D_L) / 2)^2`, scaled by the round-trip time over
//! 100 ms, no less than 1, all times `2 (1 - beta)`. A loss keeps `beta = RTT_min / RTT_max` of the window, between 0.5 and 0.8, or
//! half when the throughput before this loss differs by more than a fifth from that before the last.
//!
//! Source: Shorten and Leith, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet
//! 2004, with the details of net/ipv4/tcp_htcp.c (Linux 6.12): the throughput filter of 3/4 over a
//! window, anew in the first three round trips of an epoch; the largest round-trip time, which rises by
//! at most 20 ms at once and loses 5 % of its distance from the smallest with each congestion; half
//! instead of the ratio up to 10 ms. Real numbers where the kernel has fixed point and jiffies.

use super::linux::slow_start;
use super::registry::constant;
use super::{AckSample, CongestionControl, CongestionEvent, RecoveryState, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, number, span};
use fadeout_core::{Span, Time};

/// Round-trip time at which the increase is not scaled, and the scale's bounds.
const REFERENCE_RTT: f64 = 0.1;
const SCALE_MIN: f64 = 0.1;
const SCALE_MAX: f64 = 2.0;
/// Change of throughput between epochs from which the ratio is not trusted.
const SWITCH: f64 = 0.2;
/// Up to this round-trip time a loss halves.
const SHORTEST: Span = Span::from_millis(10);
const LARGEST_RISE: Span = Span::from_millis(20);
/// Rounds of an epoch before delays and throughput count.
const SETTLING_ROUNDS: f64 = 3.0;

/// H-TCP.
#[derive(Debug, Clone)]
pub struct Htcp {
    delta_l: f64,
    scales_by_rtt: bool,
    watches_throughput: bool,
    beta_min: f64,
    beta_max: f64,
    epoch: Epoch,
    /// The epoch before the last congestion, in case that was spurious.
    saved: Epoch,
    rtt_min: Span,
    /// Throughput filter, in segments per second.
    throughput: f64,
    interval_start: Time,
    interval_segments: f64,
    beta: f64,
}

#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// The end of the last congestion, or its begin while it lasts.
    start: Time,
    rtt_max: Span,
    max_throughput: f64,
    last_max_throughput: f64,
    /// Whether an epoch has passed since the ratio was last distrusted.
    trusts_ratio: bool,
}

impl Registered<Stream> for Htcp {
    const ENTRY: Entry = Entry {
        name: "htcp",
        aliases: &["h-tcp"],
        family: "loss-based",
        summary: "Increase that grows with the time since the last loss",
        citation: "Shorten, Leith, PFLDnet 2004; Linux 6.12 net/ipv4/tcp_htcp.c",
        parameters: &[
            span(
                "delta-l",
                "1 s",
                "Time after a loss in which the increase stays Reno's.",
            ),
            flag(
                "rtt-scaling",
                "true",
                "Scale the increase by the round-trip time over 100 ms.",
            ),
            flag(
                "bandwidth-switch",
                "true",
                "Halve when the throughput changed by more than a fifth between losses.",
            ),
            number(
                "beta-min",
                (0.1, 0.95, ""),
                "0.5",
                "Smallest fraction kept after a loss.",
            ),
            number(
                "beta-max",
                (0.1, 0.95, ""),
                "0.8",
                "Largest fraction kept after a loss.",
            ),
        ],
    };

    fn with(settings: &Settings<'_>, _random: Stream) -> Self {
        let beta_min = settings.number("beta-min");
        let epoch = Epoch {
            start: Time::ZERO,
            rtt_max: Span::ZERO,
            max_throughput: 0.0,
            last_max_throughput: 0.0,
            trusts_ratio: false,
        };
        Htcp {
            delta_l: constant(settings, "delta-l").as_secs_f64(),
            scales_by_rtt: settings.flag("rtt-scaling"),
            watches_throughput: settings.flag("bandwidth-switch"),
            beta_min,
            beta_max: settings.number("beta-max").max(beta_min),
            epoch,
            saved: epoch,
            rtt_min: Span::MAX,
            throughput: 0.0,
            interval_start: Time::ZERO,
            interval_segments: 0.0,
            beta: beta_min,
        }
    }
}

impl CongestionControl for Htcp {
    fn on_established(&mut self, _window: &mut Window, now: Time, _srtt: Option<Span>) {
        self.epoch.start = now;
        self.interval_start = now;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.measure(window, ack);
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
        }
        if left > 0 {
            window.cwnd += self.alpha(ack.now) * f64::from(left) / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.saved = self.epoch;
        self.beta = self.kept();
        let floor = self.rtt_min.min(self.epoch.rtt_max);
        let queue = self.epoch.rtt_max.saturating_sub(floor);
        self.epoch.rtt_max = floor + Span::from_nanos(queue.as_nanos() / 20 * 19);
        self.epoch.last_max_throughput = self.epoch.max_throughput;
        self.epoch.start = event.now;
        window.ssthresh = (window.cwnd * self.beta).max(2.0);
    }

    fn on_recovered(&mut self, _window: &mut Window, now: Time) {
        self.epoch.start = now;
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        self.epoch = self.saved;
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }
}

impl Htcp {
    /// Segments that a round trip adds.
    fn alpha(&self, now: Time) -> f64 {
        let beyond = now.since(self.epoch.start).as_secs_f64() - self.delta_l;
        let mut alpha = 1.0;
        if beyond > 0.0 {
            alpha += 10.0 * beyond + (beyond / 2.0) * (beyond / 2.0);
        }
        if self.scales_by_rtt && self.rtt_min < Span::MAX {
            let scale = self.rtt_min.as_secs_f64() / REFERENCE_RTT;
            alpha *= scale.clamp(SCALE_MIN, SCALE_MAX);
        }
        2.0 * (1.0 - self.beta) * alpha.max(1.0)
    }

    /// The fraction of the window that a loss now leaves.
    fn kept(&mut self) -> f64 {
        let Epoch {
            rtt_max,
            max_throughput,
            last_max_throughput,
            ..
        } = self.epoch;
        let change = (max_throughput - last_max_throughput).abs();
        if self.watches_throughput && change > SWITCH * last_max_throughput {
            self.epoch.trusts_ratio = false;
            return self.beta_min;
        }
        let trusted = std::mem::replace(&mut self.epoch.trusts_ratio, true);
        if trusted && self.rtt_min > SHORTEST && self.rtt_min < Span::MAX && !rtt_max.is_zero() {
            let ratio = self.rtt_min.as_secs_f64() / rtt_max.as_secs_f64();
            ratio.clamp(self.beta_min, self.beta_max)
        } else {
            self.beta_min
        }
    }

    fn measure(&mut self, window: &Window, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.rtt_min = self.rtt_min.min(rtt);
            if ack.state == RecoveryState::Open {
                let largest = self.epoch.rtt_max.max(self.rtt_min);
                // A longer jump is not this path's queue.
                self.epoch.rtt_max = if rtt <= largest + LARGEST_RISE {
                    largest.max(rtt)
                } else {
                    largest
                };
            }
        }
        let is_calm = matches!(ack.state, RecoveryState::Open | RecoveryState::Disorder);
        if !is_calm || self.rtt_min == Span::MAX {
            self.interval_start = ack.now;
            self.interval_segments = 0.0;
            return;
        }
        self.interval_segments += f64::from(ack.delivered_now);
        let elapsed = ack.now.since(self.interval_start);
        let has_window_passed =
            self.interval_segments >= window.cwnd - self.alpha(ack.now).max(1.0);
        if has_window_passed && elapsed >= self.rtt_min && !elapsed.is_zero() {
            self.sample_throughput(ack.now, elapsed);
        }
    }

    fn sample_throughput(&mut self, now: Time, elapsed: Span) {
        let sample = self.interval_segments / elapsed.as_secs_f64();
        let in_epoch = now.since(self.epoch.start).as_secs_f64();
        if in_epoch <= SETTLING_ROUNDS * self.rtt_min.as_secs_f64() {
            self.throughput = sample;
            self.epoch.max_throughput = sample;
        } else {
            self.throughput = 0.75 * self.throughput + 0.25 * sample;
            self.epoch.max_throughput = self.epoch.max_throughput.max(self.throughput);
        }
        self.interval_start = now;
        self.interval_segments = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_with_rtt, at_ms, build, lose, window};
    use super::*;
    use fadeout_core::registry::Value;

    fn unscaled() -> Htcp {
        build::<Htcp>(&[("rtt-scaling", Value::Bool(false))])
    }

    #[test]
    fn the_increase_grows_with_the_time_since_the_loss() {
        let htcp = unscaled();
        for (ms, alpha) in [(500, 1.0), (1_000, 1.0), (2_000, 11.25), (3_000, 22.0)] {
            assert!(
                (htcp.alpha(at_ms(ms)) - alpha).abs() < 1e-12,
                "after {ms} ms"
            );
        }
    }

    #[test]
    fn a_gentler_decrease_pays_with_a_smaller_increase() {
        let mut htcp = unscaled();
        htcp.beta = 0.8;
        assert!((htcp.alpha(at_ms(2_000)) - 4.5).abs() < 1e-12);
    }

    #[test]
    fn a_short_path_or_a_young_epoch_adds_no_less_than_the_scaled_one() {
        // tcp_htcp.c: factor is at least one before 2 (1 - beta).
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = Span::from_millis(20);
        assert_eq!(htcp.alpha(at_ms(500)), 1.0);
        htcp.beta = 0.8;
        assert!((htcp.alpha(at_ms(500)) - 0.4).abs() < 1e-12);
    }

    #[test]
    fn the_largest_round_trip_time_follows_rises_of_20_ms_and_forgets_slowly() {
        let (mut htcp, mut w) = (build::<Htcp>(&[]), window(100.0, 50.0));
        for (rtt_ms, largest_ms) in [(60.0, 60), (80.0, 80), (101.0, 80), (100.0, 100)] {
            htcp.on_ack(&mut w, &ack_with_rtt(at_ms(0), 1, rtt_ms));
            assert_eq!(
                htcp.epoch.rtt_max,
                Span::from_millis(largest_ms),
                "{rtt_ms}"
            );
        }
        // 60 + 0.95 * 40 ms.
        lose(&mut htcp, &mut w, at_ms(0));
        assert_eq!(htcp.epoch.rtt_max, Span::from_millis(98));
    }

    #[test]
    fn the_time_counts_from_the_end_of_the_recovery() {
        let (mut htcp, mut w) = (unscaled(), window(100.0, 50.0));
        lose(&mut htcp, &mut w, at_ms(1_000));
        htcp.on_recovered(&mut w, at_ms(1_100));
        assert!((htcp.alpha(at_ms(3_100)) - 11.25).abs() < 1e-12);
    }

    #[test]
    fn the_increase_is_scaled_by_the_round_trip_time() {
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = Span::from_millis(200);
        assert!((htcp.alpha(at_ms(2_000)) - 22.5).abs() < 1e-12);
    }

    #[test]
    fn steady_throughput_makes_the_delay_ratio_count() {
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = Span::from_millis(60);
        for expected in [50.0, 50.0, 75.0] {
            htcp.epoch.rtt_max = Span::from_millis(80);
            htcp.epoch.max_throughput = 1000.0;
            assert_eq!(
                lose(&mut htcp, &mut window(100.0, 50.0), at_ms(0)),
                expected
            );
        }
        htcp.epoch.max_throughput = 1300.0;
        assert_eq!(lose(&mut htcp, &mut window(100.0, 50.0), at_ms(0)), 50.0);
    }
}
