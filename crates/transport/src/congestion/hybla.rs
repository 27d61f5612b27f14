//! Hybla: the rate of a short path on a long one.
//!
//! With `rho = max(RTT / RTT0, 1)`, each ACK adds `2^rho - 1` in slow start and `rho^2 / cwnd` in
//! avoidance, which gives every path the rate growth of one with the round-trip time RTT0. A loss
//! halves. `rho` is from the smallest smoothed round-trip time.
//!
//! Source: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! International Journal of Satellite Communications and Networking 22, 2004. Not modelled: the
//! scaled initial window, and the paper's pacing and bandwidth estimate.

use super::registry::Algorithm;
use super::settings::Settings;
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, integer, span};
use fadeout_core::{Span, Time};

/// Beyond this the growth of slow start has no meaning; the kernel's bound too.
const RHO_MAX: f64 = 16.0;

/// Hybla.
#[derive(Debug, Clone)]
pub struct Hybla {
    reference: Span,
    max_window: f64,
    shortest: Span,
    rho: f64,
}

impl Algorithm for Hybla {
    const ENTRY: Entry = Entry {
        name: "hybla",
        aliases: &[],
        family: "loss-based",
        summary: "Growth independent of the round-trip time, for satellite paths",
        citation: "Caini, Firrincieli, Int. J. Satellite Communications and Networking 22, 2004",
        parameters: &[
            span(
                "rtt0",
                "25 ms",
                "Round-trip time of the path whose growth is reproduced (RTT0).",
            ),
            integer(
                "max-window",
                (2, 1_000_000_000, "segments"),
                "65535",
                "Largest window, as in the kernel: slow start on a long path knows no other bound.",
            ),
        ],
    };

    fn with(settings: &Settings<'_>, _random: Stream) -> Self {
        Hybla {
            reference: settings.span("rtt0").max(Span::from_micros(1)),
            max_window: f64::from(settings.integer("max-window")),
            shortest: Span::MAX,
            rho: 1.0,
        }
    }
}

impl CongestionControl for Hybla {
    fn on_established(&mut self, _window: &mut Window, _now: Time, srtt: Option<Span>) {
        self.learn(srtt.unwrap_or(Span::ZERO));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.learn(ack.srtt);
        if !ack.is_growth_due() || window.cwnd >= self.max_window {
            return;
        }
        if window.in_slow_start() {
            let grown = window.cwnd + math::exp2(self.rho) - 1.0;
            window.cwnd = grown.min(window.ssthresh).min(self.max_window);
        } else {
            window.cwnd += self.rho * self.rho / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
    }
}

impl Hybla {
    fn learn(&mut self, srtt: Span) {
        if !srtt.is_zero() && srtt < self.shortest {
            self.shortest = srtt;
            let ratio = srtt.as_secs_f64() / self.reference.as_secs_f64();
            self.rho = ratio.clamp(1.0, RHO_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, build, window};
    use super::*;

    #[test]
    fn a_longer_path_grows_faster() {
        // Samples of the test kit have a smoothed round-trip time of 100 ms: rho is 4.
        let (mut hybla, mut w) = (build::<Hybla>(&[]), window(10.0, f64::INFINITY));
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(w.cwnd, 25.0);
        w.ssthresh = 5.0;
        hybla.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(w.cwnd, 25.64);
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
}
