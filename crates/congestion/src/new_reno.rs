//! NewReno's window by the RFCs, in fractions of a segment.
//!
//! Slow start: `cwnd += min(N, L SMSS)` for N newly acknowledged bytes. Avoidance with
//! `counting = "acks"`: `cwnd += 1 / cwnd` for each ACK. With `counting = "bytes"`: one segment
//! when a whole window has been acknowledged. Congestion: `ssthresh = max(beta FlightSize, 2)`.
//!
//! The TCP stack, not this algorithm, inflates and deflates the window during fast recovery.
//!
//! Standard: RFC 5681 §3.1, equation 4; RFC 3465; RFC 6582.

use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Parameter, Registered, Settings, choice, number};

/// Window rule of RFC 5681 and RFC 6582.
#[derive(Debug, Clone)]
pub struct NewReno {
    beta: f64,
    beta_ecn: f64,
    slow_start_limit: f64,
    counts_bytes: bool,
    /// Number of acknowledged segments that count towards the next segment of the window.
    acked: f64,
}

/// Fraction of the flight size kept on loss.
const BETA: Parameter = number(
    "beta",
    (0.01, 1.0, ""),
    "0.5",
    "Fraction of the flight size kept after a loss (RFC 5681 equation 4).",
);
/// Fraction of the flight size kept after an ECN echo.
const BETA_ECN: Parameter = number(
    "beta-ecn",
    (0.01, 1.0, ""),
    "0.5",
    "Fraction of the flight size kept after an ECN echo. RFC 8511 proposes 0.8.",
);
const SLOW_START_LIMIT: Parameter = number(
    "slow-start-limit",
    (1.0, 1e6, "segments"),
    "1",
    "Largest increase per ACK in slow start (L): 1 in RFC 5681, 2 in RFC 3465.",
);
fadeout_core::choices! {
    /// Unit in which congestion avoidance counts acknowledgments.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Counting {
        Acks = "acks",
        Bytes = "bytes",
    }
}

const COUNTING: Parameter = choice(
    "counting",
    Counting::NAMES,
    "acks",
    "Counting in congestion avoidance: each ACK adds 1/cwnd (RFC 5681, as in older studies), or a \
     window of acknowledged bytes adds one segment (RFC 3465).",
);

impl NewReno {
    /// The parameters of this window rule.
    pub(super) const PARAMETERS: &[Parameter] = &[BETA, BETA_ECN, SLOW_START_LIMIT, COUNTING];

    /// Creates the window rule from the values of [`NewReno::PARAMETERS`].
    pub(super) fn from_settings(settings: &Settings<'_>) -> Self {
        NewReno {
            beta: settings.number("beta"),
            beta_ecn: settings.number("beta-ecn"),
            slow_start_limit: settings.number("slow-start-limit"),
            counts_bytes: settings.get::<Counting>("counting") == Counting::Bytes,
            acked: 0.0,
        }
    }
}

impl Registered<Stream> for NewReno {
    const ENTRY: Entry = Entry {
        name: "newreno",
        aliases: &["new-reno", "rfc5681"],
        family: "loss-based",
        summary: "Reno as in the RFCs: additive increase, and half of the flight size after a \
                  loss.",
        citation: "RFC 5681 section 3.1; RFC 6582; RFC 3465",
        parameters: NewReno::PARAMETERS,
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        NewReno::from_settings(settings)
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if !ack.is_growth_due() || ack.acked == 0 {
            return;
        }
        let acked = f64::from(ack.acked);
        if window.in_slow_start() {
            window.cwnd += acked.min(self.slow_start_limit);
        } else if self.counts_bytes {
            self.acked += acked;
            if self.acked >= window.cwnd {
                self.acked -= window.cwnd;
                window.cwnd += 1.0;
            }
        } else {
            window.cwnd += 1.0 / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.acked = 0.0;
        let beta = if event.kind == CongestionKind::Ecn {
            self.beta_ecn
        } else {
            self.beta
        };
        window.ssthresh = (event.flight_within(window) * beta).max(2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, build, choice, congestion, lose, window};
    use super::*;
    use fadeout_core::Time;
    use fadeout_core::registry::Value;

    #[test]
    fn each_ack_adds_its_share_of_a_segment() {
        let (mut control, mut w) = (build::<NewReno>(&[]), window(10.0, 5.0));
        control.on_ack(&mut w, &ack(Time::ZERO, 2));
        assert_eq!(w.cwnd, 10.1);
    }

    #[test]
    fn a_window_of_bytes_adds_a_segment() {
        let mut control = build::<NewReno>(&[("counting", choice("bytes"))]);
        let mut w = window(10.0, 5.0);
        for _ in 0..5 {
            control.on_ack(&mut w, &ack(Time::ZERO, 2));
        }
        assert_eq!(w.cwnd, 11.0);
    }

    #[test]
    fn slow_start_is_limited_per_ack() {
        let mut control = build::<NewReno>(&[("slow-start-limit", Value::Number(2.0))]);
        let mut w = window(10.0, f64::INFINITY);
        control.on_ack(&mut w, &ack(Time::ZERO, 4));
        assert_eq!(w.cwnd, 12.0);
    }

    #[test]
    fn the_threshold_is_half_the_flight_and_at_least_two() {
        let (mut control, mut w) = (build::<NewReno>(&[]), window(20.0, f64::INFINITY));
        assert_eq!(lose(&mut control, &mut w, Time::ZERO), 10.0);
        control.on_congestion(&mut w, &congestion(Time::ZERO, CongestionKind::Rto, 3));
        assert_eq!(w.ssthresh, 2.0);
        w.cwnd = 40.0;
        control.on_congestion(&mut w, &congestion(Time::ZERO, CongestionKind::Rto, 20));
        assert_eq!(w.ssthresh, 10.0);
    }

    #[test]
    fn what_limited_transmit_sent_does_not_raise_the_threshold() {
        let (mut control, mut w) = (build::<NewReno>(&[]), window(20.0, f64::INFINITY));
        let event = congestion(Time::ZERO, CongestionKind::FastRecovery, 23);
        control.on_congestion(&mut w, &event);
        assert_eq!(w.ssthresh, 10.0);
    }

    #[test]
    fn an_echo_may_cost_less_than_a_loss() {
        let mut control = build::<NewReno>(&[("beta-ecn", Value::Number(0.8))]);
        let mut w = window(20.0, f64::INFINITY);
        control.on_congestion(&mut w, &congestion(Time::ZERO, CongestionKind::Ecn, 20));
        assert_eq!(w.ssthresh, 16.0);
    }

    #[test]
    fn nothing_grows_when_it_is_not_due_or_nothing_was_acknowledged() {
        for idle in [
            AckSample {
                may_grow: false,
                ..ack(Time::ZERO, 2)
            },
            ack(Time::ZERO, 0),
        ] {
            let (mut control, mut w) = (build::<NewReno>(&[]), window(10.0, 5.0));
            control.on_ack(&mut w, &idle);
            assert_eq!(w.cwnd, 10.0);
        }
    }

    #[test]
    fn what_is_beyond_a_window_of_bytes_counts_for_the_next() {
        let mut control = build::<NewReno>(&[("counting", choice("bytes"))]);
        let mut w = window(10.0, 5.0);
        control.on_ack(&mut w, &ack(Time::ZERO, 13));
        assert_eq!((w.cwnd, control.acked), (11.0, 3.0));
        control.on_ack(&mut w, &ack(Time::ZERO, 8));
        assert_eq!((w.cwnd, control.acked), (12.0, 0.0));
    }
}
