//! CUBIC: a window that is a cubic function of the time since the last reduction.
//!
//! `W(t) = C (t - K)^3 + W_max` with `K = cbrt((W_max - cwnd) / C)`, never below Reno's window with
//! the same decrease. Three variants:
//! - `linux`: the integer arithmetic of net/ipv4/tcp_cubic.c (Linux 6.12), see [`integer`];
//! - `rfc9438`: RFC 9438 in real numbers, see [`real`];
//! - `2008`: Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", SIGOPS OSR
//!   42(5), 2008: keeps 0.8 of the window instead of 0.7.
//!
//! Slow start ends by HyStart or HyStart++ if it is on.

mod integer;
mod real;

use super::hystart::{self, HyStart};
use super::hystart_plus_plus::HyStartPlusPlus;
use super::linux::{self, HZ, TimeoutWatch};
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Parameter, Registered, Settings, choice, flag, number};
use fadeout_core::{Span, Time};
use integer::Integer;
use real::{Edition, Real};

/// CUBIC congestion control.
#[derive(Debug, Clone)]
pub struct Cubic {
    growth: Growth,
    exit: Exit,
    timeouts: TimeoutWatch,
}

#[derive(Debug, Clone)]
enum Growth {
    Integer(Integer),
    Real(Real),
}

/// Rule that ends slow start before the first loss.
#[derive(Debug, Clone)]
enum Exit {
    Loss,
    HyStart(HyStart),
    PlusPlus(HyStartPlusPlus),
}

fadeout_core::choices! {
    /// Source of the CUBIC variant.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Variant {
        Linux = "linux",
        Rfc9438 = "rfc9438",
        Paper2008 = "2008",
    }
}

fadeout_core::choices! {
    /// Method that ends slow start before a loss.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum EarlyEnd {
        Auto = "auto",
        HyStart = "hystart",
        PlusPlus = "hystart++",
        Off = "off",
    }
}

const VARIANT: Parameter = choice(
    "variant",
    Variant::NAMES,
    "linux",
    "Variant of CUBIC: the arithmetic of the kernel, the RFC, or the paper of 2008.",
);
const C: Parameter = number(
    "c",
    (0.001, 10.0, "segments/s^3"),
    "0.4",
    "Growth constant C, which sets the aggressiveness (RFC 9438 section 5).",
);
const BETA: Parameter = number(
    "beta",
    (0.1, 0.99, ""),
    "0.7",
    "Fraction of the window kept after a loss. Default: 0.7, but 0.8 with the variant `2008`.",
)
.depending();
const BETA_ECN: Parameter = number(
    "beta-ecn",
    (0.1, 0.99, ""),
    "0.7",
    "Fraction of the window kept after an ECN echo. RFC 8511 proposes 0.85. Default: the value of \
     `beta`.",
)
.depending();
const FAST_CONVERGENCE: Parameter = flag(
    "fast-convergence",
    "true",
    "True for fast convergence: after a loss below the last maximum, CUBIC takes less than the \
     window at the loss as the new maximum. This releases bandwidth to other flows.",
);
const FRIENDLINESS: Parameter = flag(
    "friendliness",
    "true",
    "True if the window of CUBIC is at least that of Reno with the same decrease (Reno-friendly \
     region).",
);
const HYSTART: Parameter = choice(
    "hystart",
    EarlyEnd::NAMES,
    "auto",
    "Early exit from slow start. `auto` means hystart with the variant `linux`, hystart++ with \
     `rfc9438`, and none with `2008`.",
);

const PARAMETERS: &[Parameter] = &[
    VARIANT,
    C,
    BETA,
    BETA_ECN,
    FAST_CONVERGENCE,
    FRIENDLINESS,
    HYSTART,
    hystart::PARAMETERS[0],
    hystart::PARAMETERS[1],
    hystart::PARAMETERS[2],
    hystart::PARAMETERS[3],
    HZ,
];

/// Constants of the algorithm that all variants share.
#[derive(Debug, Clone, Copy)]
struct Constants {
    c: f64,
    beta: f64,
    beta_ecn: f64,
    has_fast_convergence: bool,
    is_friendly: bool,
}

impl Registered<Stream> for Cubic {
    const ENTRY: Entry = Entry {
        name: "cubic",
        aliases: &["cubictcp"],
        family: "loss-based",
        summary: "CUBIC: a window that is a cubic function of the time since the last loss. This \
                  is the default of Linux.",
        citation: "RFC 9438; Linux 6.12 net/ipv4/tcp_cubic.c; Ha, Rhee, Xu 2008",
        parameters: PARAMETERS,
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        let variant: Variant = settings.get("variant");
        let beta = match variant {
            Variant::Paper2008 if !settings.is_given("beta") => 0.8,
            Variant::Paper2008 | Variant::Linux | Variant::Rfc9438 => settings.number("beta"),
        };
        let constants = Constants {
            c: settings.number("c"),
            beta,
            beta_ecn: if settings.is_given("beta-ecn") {
                settings.number("beta-ecn")
            } else {
                beta
            },
            has_fast_convergence: settings.flag("fast-convergence"),
            is_friendly: settings.flag("friendliness"),
        };
        let growth = match variant {
            Variant::Rfc9438 => Growth::Real(Real::new(constants, Edition::Rfc9438)),
            Variant::Paper2008 => Growth::Real(Real::new(constants, Edition::Paper2008)),
            Variant::Linux => Growth::Integer(Integer::new(constants, settings.integer("hz"))),
        };
        let exit = match (settings.get("hystart"), variant) {
            (EarlyEnd::HyStart, _) | (EarlyEnd::Auto, Variant::Linux) => {
                Exit::HyStart(HyStart::from_settings(settings))
            }
            (EarlyEnd::PlusPlus, _) | (EarlyEnd::Auto, Variant::Rfc9438) => {
                Exit::PlusPlus(HyStartPlusPlus::new())
            }
            (EarlyEnd::Off, _) | (EarlyEnd::Auto, Variant::Paper2008) => Exit::Loss,
        };
        Cubic {
            growth,
            exit,
            timeouts: TimeoutWatch::default(),
        }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if self.timeouts.on_ack(ack) {
            self.on_timeout(ack.now, ack.snd_nxt);
        }
        let delay = match &mut self.growth {
            Growth::Integer(integer) => integer.on_sample(ack),
            Growth::Real(real) => real.on_sample(ack),
        };
        let was_slow = window.in_slow_start();
        if let (true, Exit::HyStart(hystart), Some(delay)) = (was_slow, &mut self.exit, delay) {
            hystart.on_sample(window, ack, delay.rtt_us, delay.smallest_us);
        }
        if ack.is_growth_due() {
            self.grow(window, ack);
        }
        if let (true, Exit::PlusPlus(plus_plus)) = (was_slow, &mut self.exit) {
            plus_plus.on_ack(window, ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        match &mut self.growth {
            Growth::Integer(integer) => integer.on_congestion(window, event),
            Growth::Real(real) => real.on_congestion(window, event),
        }
        if let Exit::PlusPlus(plus_plus) = &mut self.exit {
            plus_plus.on_congestion();
        }
        if event.kind == CongestionKind::Rto {
            self.timeouts.on_reported();
            self.on_timeout(event.now, event.snd_nxt);
        }
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
        if let Growth::Real(real) = &mut self.growth {
            real.on_spurious();
        }
    }

    fn on_idle_restart(&mut self, _window: &mut Window, now: Time, idle: Span) {
        match &mut self.growth {
            Growth::Integer(integer) => integer.on_idle_restart(now, idle),
            Growth::Real(real) => real.on_idle_restart(now, idle),
        }
    }

    fn phase(&self) -> &'static str {
        match &self.exit {
            Exit::PlusPlus(plus_plus) => plus_plus.phase(),
            _ => "",
        }
    }
}

impl Cubic {
    fn on_timeout(&mut self, now: Time, snd_nxt: u64) {
        match &mut self.growth {
            Growth::Integer(integer) => integer.on_timeout(),
            Growth::Real(real) => real.on_timeout(),
        }
        if let Exit::HyStart(hystart) = &mut self.exit {
            hystart.on_timeout(now, snd_nxt);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            if let Exit::PlusPlus(plus_plus) = &self.exit {
                plus_plus.grow(window, ack);
                return;
            }
            left = linux::slow_start(window, left);
            if left == 0 {
                return;
            }
        }
        match &mut self.growth {
            Growth::Integer(integer) => integer.grow(window, ack.now, left),
            Growth::Real(real) => real.grow(window, ack, left),
        }
    }
}

/// Round-trip time of an ACK and smallest round-trip time of the connection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Delay {
    rtt_us: u64,
    smallest_us: u64,
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Pipe, ack, at_ms, build, choice, congestion, lose, window};
    use super::*;
    use fadeout_core::registry::Value;

    #[test]
    fn the_variant_decides_what_a_loss_leaves() {
        for (variant, expected) in [("linux", 70.0), ("rfc9438", 70.0), ("2008", 80.0)] {
            let mut cubic = build::<Cubic>(&[("variant", choice(variant))]);
            let mut w = window(100.0, f64::INFINITY);
            let kept = lose(&mut cubic, &mut w, at_ms(0));
            // 100 * 0.7 is not exact in binary, so the comparison allows a small error.
            assert!((kept - expected).abs() < 1e-9, "{variant}: {kept}");
        }
    }

    #[test]
    fn an_echo_may_cost_less_than_a_loss() {
        for variant in ["linux", "rfc9438"] {
            let mut cubic = build::<Cubic>(&[
                ("variant", choice(variant)),
                ("beta-ecn", Value::Number(0.85)),
            ]);
            let mut w = window(20.0, f64::INFINITY);
            cubic.on_congestion(&mut w, &congestion(at_ms(0), CongestionKind::Ecn, 20));
            // Linux rounds to whole segments and uses 870/1024 for 0.85. So 16.99 becomes 16.
            assert!(
                w.ssthresh == 17.0 || w.ssthresh == 16.0,
                "{variant}: {}",
                w.ssthresh
            );
        }
    }

    #[test]
    fn a_timeout_lets_hystart_watch_again() {
        let mut cubic = build::<Cubic>(&[]);
        let mut round = |w: &mut Window, number: u64, rtt_ms| {
            for n in 0..12 {
                let rtt = Some(Span::from_millis(rtt_ms));
                let now = at_ms(2_000 * number + 10 * n);
                let (snd_una, snd_nxt) = (1_000 * number + n + 1, 1_000 * (number + 1));
                cubic.on_ack(
                    w,
                    &AckSample {
                        rtt,
                        snd_una,
                        snd_nxt,
                        ..ack(now, 1)
                    },
                );
            }
            let left = w.ssthresh < f64::INFINITY;
            if left {
                cubic.on_congestion(
                    w,
                    &congestion(at_ms(2_000 * number), CongestionKind::Rto, 9),
                );
                w.ssthresh = f64::INFINITY;
            }
            left
        };
        let mut w = window(64.0, f64::INFINITY);
        assert!(!round(&mut w, 0, 40));
        assert!(round(&mut w, 1, 60), "the delay rose by half");
        assert!(
            !round(&mut w, 2, 60),
            "the timeout forgot the smaller delay"
        );
        assert!(round(&mut w, 3, 80));
    }

    #[test]
    fn early_exits_save_losses_in_a_deep_queue() {
        let pipe = Pipe {
            limit: 500,
            ..Pipe::clean_20m()
        };
        let lost = |variant, hystart| {
            let parameters = [("variant", choice(variant)), ("hystart", choice(hystart))];
            pipe.run(&mut build::<Cubic>(&parameters), Span::from_secs(10))
                .lost
        };
        for variant in ["linux", "rfc9438"] {
            let without = lost(variant, "off");
            for hystart in ["hystart", "hystart++"] {
                let with = lost(variant, hystart);
                assert!(
                    with * 4 < without,
                    "{variant}, {hystart}: {with} against {without}"
                );
            }
        }
    }
}
