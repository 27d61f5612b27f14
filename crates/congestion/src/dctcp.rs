//! DCTCP: the window is reduced in proportion to the share of marked segments.
//!
//! Once a window, with M the marked fraction of the delivered segments: `alpha = (1 - g) alpha + g
//! M`. An ECN echo reduces the window by the share `alpha / 2`, a loss by half. Growth is Reno's.
//! `arithmetic = "linux"` is net/ipv4/tcp_dctcp.c (Linux 6.12), where alpha is in 1/1024.
//! `"rfc8257"` computes in real numbers.
//!
//! The TCP stack implements the receiver's echo of every change of the mark (section 3.2).
//!
//! Standard: RFC 8257 §3.3.

use super::linux::{AckCounter, half, whole};
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, EcnFeedback, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer, number};

/// Value of the kernel's alpha that stands for one.
const ALPHA_ONE: u32 = 1024;
const ALPHA_SHIFT: u32 = 10;

/// DCTCP congestion control.
#[derive(Debug, Clone)]
pub struct Dctcp {
    shift_g: u32,
    alpha: Alpha,
    acked: AckCounter,
    window_end: u64,
    delivered: u64,
    marked: u64,
}

#[derive(Debug, Clone, Copy)]
enum Alpha {
    Integer(u32),
    Real(f64),
}

fadeout_core::choices! {
    /// Arithmetic of the algorithm.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Arithmetic {
        Linux = "linux",
        Rfc8257 = "rfc8257",
    }
}

impl Registered<Stream> for Dctcp {
    const ENTRY: Entry = Entry {
        name: "dctcp",
        aliases: &["data-center-tcp"],
        family: "ecn",
        summary: "DCTCP: reduces the window in proportion to the share of marked segments.",
        citation: "RFC 8257; Linux 6.12 net/ipv4/tcp_dctcp.c",
        parameters: &[
            integer(
                "shift-g",
                (0, 10, ""),
                "4",
                "Shift of the filter of marks. The weight g is 2 to the power of minus this value.",
            ),
            number(
                "initial-alpha",
                (0.0, 1.0, ""),
                "1",
                "Initial value of alpha, the estimated share of marked segments.",
            ),
            choice(
                "arithmetic",
                Arithmetic::NAMES,
                "linux",
                "Arithmetic of the filter: the kernel's integers or real numbers.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        let initial = settings.number("initial-alpha");
        Dctcp {
            shift_g: settings.integer("shift-g"),
            alpha: match settings.get("arithmetic") {
                Arithmetic::Linux => Alpha::Integer((initial * f64::from(ALPHA_ONE)) as u32),
                Arithmetic::Rfc8257 => Alpha::Real(initial),
            },
            acked: AckCounter::default(),
            window_end: 0,
            delivered: 0,
            marked: 0,
        }
    }
}

impl CongestionControl for Dctcp {
    fn needs_ecn(&self) -> EcnFeedback {
        EcnFeedback::Dctcp
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.delivered += u64::from(ack.delivered_now);
        self.marked += u64::from(ack.delivered_ce_now);
        if ack.snd_una >= self.window_end {
            self.update_alpha();
            self.window_end = ack.snd_nxt;
            self.delivered = 0;
            self.marked = 0;
        }
        if ack.may_grow {
            self.acked.reno(window, ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.acked = AckCounter::default();
        window.ssthresh = match (event.kind, self.alpha) {
            (CongestionKind::FastRecovery | CongestionKind::Rto, _) => half(window),
            (_, Alpha::Integer(alpha)) => {
                let cwnd = u64::from(whole(window));
                (cwnd - ((cwnd * u64::from(alpha)) >> (ALPHA_SHIFT + 1))).max(2) as f64
            }
            (_, Alpha::Real(alpha)) => (window.cwnd * (1.0 - alpha / 2.0)).max(2.0),
        };
    }
}

impl Dctcp {
    fn update_alpha(&mut self) {
        let (marked, delivered) = (self.marked, self.delivered.max(1));
        match &mut self.alpha {
            Alpha::Integer(alpha) => {
                // If alpha is so small that the shift gives zero, alpha becomes zero at once, as in
                // the kernel.
                let decay = *alpha >> self.shift_g;
                *alpha -= if decay == 0 { *alpha } else { decay };
                let share = (marked << (ALPHA_SHIFT - self.shift_g)) / delivered;
                *alpha = (u64::from(*alpha) + share).min(u64::from(ALPHA_ONE)) as u32;
                debug_assert!(*alpha <= ALPHA_ONE, "a share of marks over one");
            }
            Alpha::Real(alpha) => {
                let g = 1.0 / f64::from(1_u32 << self.shift_g);
                let fraction = (marked as f64 / delivered as f64).min(1.0);
                *alpha = (1.0 - g) * *alpha + g * fraction;
                debug_assert!((0.0..=1.0).contains(alpha), "a share of marks of {alpha}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Pipe, at_ms, build, choice, congestion, window};
    use super::*;
    use fadeout_core::Span;
    use fadeout_core::registry::Value;

    /// Returns DCTCP after one window in which `marked` of 100 segments were marked.
    fn after(parameters: &[(&str, Value)], marked: u64) -> Dctcp {
        let mut dctcp = build::<Dctcp>(parameters);
        (dctcp.marked, dctcp.delivered) = (marked, 100);
        dctcp.update_alpha();
        dctcp
    }

    fn echo(dctcp: &mut Dctcp, cwnd: f64) -> f64 {
        let mut w = window(cwnd, f64::INFINITY);
        dctcp.on_congestion(&mut w, &congestion(at_ms(0), CongestionKind::Ecn, 100));
        w.ssthresh
    }

    #[test]
    fn alpha_follows_the_marked_fraction() {
        let mut kernel = after(&[], 25);
        assert!(matches!(kernel.alpha, Alpha::Integer(976)));
        assert_eq!(echo(&mut kernel, 100.0), 53.0);
        let mut real = after(&[("arithmetic", choice("rfc8257"))], 25);
        assert!(matches!(real.alpha, Alpha::Real(alpha) if alpha == 0.953_125));
        assert_eq!(echo(&mut real, 100.0), 52.343_75);
    }

    #[test]
    fn a_small_alpha_costs_little() {
        let real = [
            ("arithmetic", choice("rfc8257")),
            ("initial-alpha", Value::Number(0.1)),
        ];
        assert_eq!(echo(&mut build::<Dctcp>(&real), 100.0), 95.0);
    }

    #[test]
    fn without_marks_alpha_fades_away() {
        let real = after(&[("arithmetic", choice("rfc8257"))], 0);
        assert!(matches!(real.alpha, Alpha::Real(alpha) if alpha == 15.0 / 16.0));
        let mut kernel = build::<Dctcp>(&[]);
        for _ in 0..200 {
            kernel.update_alpha();
        }
        assert!(matches!(kernel.alpha, Alpha::Integer(0)));
    }

    #[test]
    fn a_loss_still_halves() {
        let mut dctcp = after(&[], 0);
        let mut w = window(100.0, f64::INFINITY);
        dctcp.on_congestion(
            &mut w,
            &congestion(at_ms(0), CongestionKind::FastRecovery, 100),
        );
        assert_eq!(w.ssthresh, 50.0);
    }

    #[test]
    fn a_marking_queue_stays_short_and_loses_nothing() {
        let pipe = Pipe {
            mark_above: 15,
            limit: 300,
            ..Pipe::clean_20m()
        };
        let mut dctcp = build::<Dctcp>(&[]);
        let report = pipe.run(&mut dctcp, Span::from_secs(20));
        assert_eq!(report.lost, 0, "{report:?}");
        assert!(report.received_mbps > 18.0, "{report:?}");
        // The marking threshold of 15 segments adds 9 ms to the base of 50.6 ms. The queue varies
        // around it, so the mean stays below 65 ms.
        assert!(report.mean_rtt_ms < 65.0, "{report:?}");
    }
}
