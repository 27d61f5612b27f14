//! Hybla: a path with a long round-trip time gets the rate growth of a path with a short one.
//!
//! With `rho = max(RTT / RTT0, 1)`, a connection starts with a window of `rho` segments. Each ACK
//! adds `2^rho - 1` in slow start and `rho^2 / cwnd` in avoidance. So the rate of every path grows
//! as that of a path with the round-trip time RTT0. Outside the Open state the window grows as
//! Reno's. A loss halves the window. `rho` is from the smallest smoothed round-trip time.
//!
//! Source: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! International Journal of Satellite Communications and Networking 22, 2004. From
//! net/ipv4/tcp_hybla.c (Linux 6.12): the bounds, Reno outside the Open state and the arithmetic
//! (eighths of rho, 128ths of a segment). Not modelled: the paper's pacing and bandwidth estimate.

use super::linux::{AckCounter, half, whole};
use super::registry::constant;
use super::{AckSample, CongestionControl, CongestionEvent, RecoveryState, Window};
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, span};
use fadeout_core::{Span, Time};

/// Largest exponent of the growth in slow start, as in the kernel.
const EXPONENT_MAX: u64 = 16;
/// One segment in the fixed-point arithmetic of the growth.
const SEGMENT: u64 = 128;

/// Hybla.
#[derive(Debug, Clone)]
pub struct Hybla {
    reference: Span,
    max_window: f64,
    shortest: Span,
    /// Ratio of the round-trip times, in eighths.
    rho: u64,
    /// Growth not yet added to the window, in 128ths of a segment.
    rest: u64,
    /// Reno's counter of acknowledged segments. It also counts ACKs whose growth is less than one
    /// segment.
    acked: AckCounter,
}

impl Registered<Stream> for Hybla {
    const ENTRY: Entry = Entry {
        name: "hybla",
        aliases: &[],
        family: "loss-based",
        summary: "Hybla: the growth of the window does not depend on the round-trip time. For \
                  satellite paths.",
        citation: "Caini, Firrincieli, Int. J. Satellite Communications and Networking 22, 2004; \
                   Linux 6.12 net/ipv4/tcp_hybla.c",
        parameters: &[
            span(
                "rtt0",
                "25 ms",
                "Reference round-trip time RTT0. The window grows as on a path with this \
                 round-trip time.",
            ),
            integer(
                "max-window",
                (2, 1_000_000_000, "segments"),
                "65535",
                "Largest window. The kernel has this limit, too. Slow start on a long path has no \
                 other limit.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Hybla {
            reference: constant(settings, "rtt0").max(Span::from_micros(1)),
            max_window: f64::from(settings.integer("max-window")),
            shortest: Span::MAX,
            rho: 8,
            rest: 0,
            acked: AckCounter::default(),
        }
    }
}

impl CongestionControl for Hybla {
    fn on_established(&mut self, window: &mut Window, _now: Time, srtt: Option<Span>) {
        self.learn(srtt.unwrap_or(Span::ZERO));
        window.cwnd = (self.rho >> 3) as f64;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.learn(ack.srtt);
        if !ack.is_growth_due() || window.cwnd >= self.max_window {
            return;
        }
        if ack.state != RecoveryState::Open {
            self.acked.reno(window, ack);
            return;
        }
        let is_slow_start = window.in_slow_start();
        let increment = if is_slow_start {
            let fraction = math::exp2((self.rho & 7) as f64 / 8.0) * SEGMENT as f64;
            ((fraction as u64) << (self.rho >> 3).min(EXPONENT_MAX)) - SEGMENT
        } else {
            let increment = 2 * self.rho * self.rho / u64::from(whole(window));
            self.acked.0 += u32::from(increment < SEGMENT);
            increment
        };
        if self.rest + increment % SEGMENT >= SEGMENT {
            self.acked.0 = 0;
        }
        self.rest += increment;
        window.cwnd += (self.rest / SEGMENT) as f64;
        self.rest %= SEGMENT;
        debug_assert!(
            self.rho >= 8,
            "the window grows slower than on the reference path"
        );
        if increment == 0 && self.acked.0 >= whole(window) {
            window.cwnd += 1.0;
            self.acked.0 = 0;
        }
        if is_slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(self.max_window);
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        window.ssthresh = half(window);
    }
}

impl Hybla {
    fn learn(&mut self, srtt: Span) {
        if !srtt.is_zero() && srtt < self.shortest {
            self.shortest = srtt;
            self.rho = (srtt.as_micros() * 8 / self.reference.as_micros().max(1)).max(8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, build, window};
    use super::*;
    use fadeout_core::registry::Value;

    #[test]
    fn a_longer_path_grows_faster() {
        // In the test kit's samples the smoothed round-trip time is 100 ms, so rho is 4.
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(10.0, f64::INFINITY));
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(w.cwnd, 25.0);
        w.ssthresh = 5.0;
        // The growth is 16 / 25 of a segment, 81 whole 128ths.
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!((w.cwnd, hybla.rest), (25.0, 81));
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!((w.cwnd, hybla.rest), (26.0, 34));
    }

    #[test]
    fn a_connection_starts_with_rho_segments() {
        for (srtt_ms, segments) in [(5, 1.0), (49, 1.0), (60, 2.0), (600, 24.0)] {
            let (mut hybla, mut w) = (build::<Hybla>(&[]), window(10.0, f64::INFINITY));
            let srtt = Span::from_millis(srtt_ms);
            hybla.on_established(&mut w, at_ms(0), Some(srtt));
            assert_eq!(w.cwnd, segments, "{srtt_ms} ms");
        }
    }

    #[test]
    fn the_formulas_hold_for_any_rho() {
        // 2^rho - 1 in slow start, rho^2 / W in avoidance (as in tcp_hybla.c).
        for (srtt_ms, slow_start, avoidance) in [
            (50, 3.0, 4.0 / 20.0),
            (75, 7.0, 9.0 / 20.0),
            (500, 65_535.0, 400.0 / 20.0),
        ] {
            let sample = AckSample {
                srtt: Span::from_millis(srtt_ms),
                ..ack(at_ms(0), 1)
            };
            for (ssthresh, growth) in [(f64::INFINITY, slow_start), (5.0, avoidance)] {
                let mut hybla = build::<Hybla>(&[("max-window", Value::Number(1e6))]);
                let mut w = window(20.0, ssthresh);
                hybla.on_ack(&mut w, &sample);
                let grown = w.cwnd - 20.0 + hybla.rest as f64 / SEGMENT as f64;
                // The growth is rounded down to 1/128 of a segment.
                assert_eq!(f64::floor(growth * 128.0) / 128.0, grown, "{srtt_ms} ms");
            }
        }
    }

    #[test]
    fn outside_the_open_state_it_is_renos() {
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(10.0, f64::INFINITY));
        let sample = AckSample {
            state: RecoveryState::Loss,
            ..ack(at_ms(0), 1)
        };
        hybla.on_ack(&mut w, &sample);
        assert_eq!(w.cwnd, 11.0);
    }

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(10.0, 12.0));
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(w.cwnd, 12.0);
    }

    #[test]
    fn the_window_has_a_bound() {
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(65_534.0, f64::INFINITY));
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(w.cwnd, 65_535.0);
    }

    #[test]
    fn a_short_path_is_renos() {
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(10.0, f64::INFINITY));
        hybla.on_ack(
            &mut w,
            &AckSample {
                srtt: Span::from_millis(5),
                ..ack(at_ms(0), 1)
            },
        );
        assert_eq!(w.cwnd, 11.0);
    }

    /// Returns a sample with this smoothed round-trip time.
    fn at_rtt(srtt_ms: u64) -> AckSample {
        AckSample {
            srtt: Span::from_millis(srtt_ms),
            ..ack(at_ms(0), 1)
        }
    }

    #[test]
    fn rho_has_eighths() {
        // A round-trip time of 60 ms is 19 eighths of 25 ms. 2^(19/8) - 1 is 4.187 segments,
        // rounded down to a multiple of four 128ths.
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(20.0, f64::INFINITY));
        hybla.on_ack(&mut w, &at_rtt(60));
        assert_eq!((w.cwnd, hybla.rest), (24.0, 4 * 165 - 5 * 128));
    }

    #[test]
    fn only_the_shortest_round_trip_counts() {
        let mut hybla = build::<Hybla>(&[]);
        for (ms, rho) in [(0, 8), (50, 16), (100, 16), (0, 16), (49, 15)] {
            hybla.learn(Span::from_millis(ms));
            assert_eq!(hybla.rho, rho, "{ms} ms");
        }
    }

    #[test]
    fn nothing_grows_when_it_is_not_due() {
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(20.0, 5.0));
        let idle = AckSample {
            may_grow: false,
            ..at_rtt(100)
        };
        hybla.on_ack(&mut w, &idle);
        assert_eq!((w.cwnd, hybla.rest, hybla.rho), (20.0, 0, 32));
    }

    #[test]
    fn an_ack_worth_nothing_counts_as_renos() {
        // With a rho of 1 an ACK adds 128 / W parts of 1/128, which is zero for windows above 128.
        // Then the window grows after W ACKs, as Reno's.
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(200.0, 5.0));
        for n in 1..200 {
            hybla.on_ack(&mut w, &at_rtt(25));
            assert_eq!((w.cwnd, hybla.acked.0), (200.0, n));
        }
        hybla.on_ack(&mut w, &at_rtt(25));
        assert_eq!((w.cwnd, hybla.acked.0), (201.0, 0));
        // At a window of 100 each ACK adds 1/128, so the window grows after 128 ACKs and not after
        // 100.
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(100.0, 5.0));
        for n in 1..128 {
            hybla.on_ack(&mut w, &at_rtt(25));
            assert_eq!(
                (w.cwnd, hybla.rest, hybla.acked.0),
                (100.0, u64::from(n), n)
            );
        }
        hybla.on_ack(&mut w, &at_rtt(25));
        assert_eq!((w.cwnd, hybla.rest, hybla.acked.0), (101.0, 0, 0));
    }

    #[test]
    fn the_counter_begins_anew_where_parts_make_a_segment() {
        // With a rho of 4 an ACK adds 2 * 32 * 32 / 15 = 136 parts of 1/128 at a window of 15. At a
        // window of 16 it adds 128 parts. Only a sum without a remainder resets Reno's counter.
        for (cwnd, rest, after) in [
            (15.0, 100, 7),
            (15.0, 119, 7),
            (15.0, 120, 0),
            (16.0, 127, 7),
        ] {
            let (mut hybla, mut w) = (build::<Hybla>(&[]), window(cwnd, 5.0));
            (hybla.rest, hybla.acked.0) = (rest, 7);
            hybla.on_ack(&mut w, &at_rtt(100));
            let whole = rest + if cwnd == 15.0 { 136 } else { 128 };
            assert_eq!(
                (w.cwnd, hybla.rest),
                (cwnd + (whole / 128) as f64, whole % 128)
            );
            assert_eq!(hybla.acked.0, after, "{rest} before");
        }
    }
}
