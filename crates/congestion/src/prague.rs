//! TCP Prague: scalable congestion control for low-latency queues (L4S).
//!
//! Alpha is DCTCP's moving average of the marked fraction. It is updated once a round trip, from
//! the first mark on. A mark reduces the fractional window by the share `alpha / 2`, at most once a
//! round trip. Every unmarked acknowledged segment adds `increase / cwnd`, also during a reduction,
//! but not during the recovery of losses. A loss halves the window. The window follows the
//! fractional window by at most one segment per ACK. The sender paces at the window per round trip,
//! and at twice that in the first half of slow start.
//!
//! After 500 rounds paths shorter than 25 ms behave as if their round-trip time were 25 ms. The
//! increase is scaled by `(srtt / 25 ms)^2`, and a reduction happens once in 25 ms.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control and the L4S team's tcp_prague.c 0.6.
//! Prague asks for accurate ECN feedback and ECT(1). If the peer gives only classic feedback, an
//! echo halves the window, as in Reno. Detection of queues with classic ECN marking is not
//! modelled.

use super::registry::constant;
use super::{
    AckSample, CongestionControl, CongestionEvent, CongestionKind, EcnFeedback, RecoveryState,
    Window,
};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, number, span};
use fadeout_core::{Rate, Span, Time};

const MIN_WINDOW: f64 = 2.0;

/// TCP Prague.
#[derive(Debug, Clone)]
pub struct Prague {
    g: f64,
    target_rtt: Span,
    settling_rounds: u32,
    alpha: f64,
    /// Window, including the fraction of a segment.
    fraction: f64,
    has_seen_mark: bool,
    rounds: u32,
    round_end: u64,
    delivered: u64,
    marked: u64,
    /// End of the data sent before the last reduction. No second reduction follows until this data
    /// is acknowledged. On a scaled path `reduced_at` decides instead.
    reduced_until: u64,
    reduced_at: Option<Time>,
    prior_fraction: f64,
    pacing_rate: f64,
    /// True if the peer gives only classic ECN feedback.
    is_classic: bool,
}

impl Registered<Stream> for Prague {
    const ENTRY: Entry = Entry {
        name: "prague",
        aliases: &["tcp-prague"],
        family: "ecn",
        summary: "Prague: scalable response to accurate ECN, for low-latency queues (L4S).",
        citation: "draft-briscoe-iccrg-prague-congestion-control; RFC 9330",
        parameters: &[
            number(
                "gain",
                (0.001, 1.0, ""),
                "0.0625",
                "Weight g of a round in the filter of the marks.",
            ),
            span(
                "target-rtt",
                "25 ms",
                "Smallest effective round-trip time. On a shorter path the window grows as with \
                 this round-trip time.",
            ),
            integer(
                "settling-rounds",
                (0, 1_000_000, "round trips"),
                "500",
                "Number of rounds after which a path with a shorter round-trip time than \
                 `target-rtt` behaves as if it had `target-rtt`.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Prague {
            g: settings.number("gain"),
            target_rtt: constant(settings, "target-rtt"),
            settling_rounds: settings.integer("settling-rounds"),
            alpha: 1.0,
            fraction: 0.0,
            has_seen_mark: false,
            rounds: 0,
            round_end: 0,
            delivered: 0,
            marked: 0,
            reduced_until: 0,
            reduced_at: None,
            prior_fraction: 0.0,
            pacing_rate: 0.0,
            is_classic: false,
        }
    }
}

impl CongestionControl for Prague {
    fn needs_ecn(&self) -> EcnFeedback {
        EcnFeedback::Accurate
    }

    fn on_ecn_agreed(&mut self, feedback: EcnFeedback) {
        self.is_classic = feedback == EcnFeedback::Classic;
    }

    fn on_established(&mut self, window: &mut Window, _now: Time, srtt: Option<Span>) {
        self.fraction = window.cwnd;
        self.pace(window, srtt.unwrap_or(Span::from_millis(1)));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let is_repairing = matches!(ack.state, RecoveryState::Recovery | RecoveryState::Loss);
        self.delivered += u64::from(ack.delivered_now);
        self.marked += u64::from(ack.delivered_ce_now);
        self.has_seen_mark |= ack.delivered_ce_now > 0;
        if ack.snd_una >= self.round_end {
            self.end_round(ack);
        }
        if ack.delivered_ce_now > 0 && !self.is_classic {
            self.react(window, ack);
        }
        // After a timeout slow start restores the window.
        let may_grow = ack.is_cwnd_limited && (!is_repairing || ack.state == RecoveryState::Loss);
        if may_grow {
            let unmarked = ack.delivered_now.saturating_sub(ack.delivered_ce_now);
            self.grow(window, f64::from(unmarked), ack.srtt);
        }
        self.fraction = self.fraction.max(MIN_WINDOW);
        debug_assert!(
            self.fraction.is_finite(),
            "a window of {} segments",
            self.fraction
        );
        self.follow(window);
        self.pace(window, ack.srtt);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        match event.kind {
            // Marks of accurate feedback are processed with each ACK, so this event is ignored.
            CongestionKind::Ecn if !self.is_classic => {
                window.ssthresh = window.ssthresh.max(2.0);
            }
            CongestionKind::Ecn
            | CongestionKind::FastRecovery
            | CongestionKind::Local
            | CongestionKind::Rto => {
                self.prior_fraction = self.fraction;
                window.ssthresh = (self.fraction / 2.0).max(2.0);
                if event.kind == CongestionKind::Rto {
                    self.fraction = MIN_WINDOW;
                    window.cwnd = 1.0;
                } else {
                    self.fraction = window.ssthresh;
                    window.cwnd = window.ssthresh.ceil();
                }
            }
        }
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        self.fraction = self.fraction.max(self.prior_fraction);
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }

    fn controls_window(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.pacing_rate > 0.0).then(|| Rate::from_bits_per_sec((self.pacing_rate * 8.0) as u64))
    }
}

impl Prague {
    fn end_round(&mut self, ack: &AckSample) {
        if self.has_seen_mark && self.delivered > 0 {
            let share = (self.marked as f64 / self.delivered as f64).min(1.0);
            self.alpha += self.g * (share - self.alpha);
        }
        debug_assert!(
            (0.0..=1.0).contains(&self.alpha),
            "a share of marks of {}",
            self.alpha
        );
        self.rounds = self.rounds.saturating_add(1);
        self.round_end = ack.snd_nxt;
        self.delivered = 0;
        self.marked = 0;
    }

    /// Returns true if the path is short and the flow is old enough to behave as on a path with a
    /// longer round-trip time.
    fn is_scaled(&self, srtt: Span) -> bool {
        self.rounds >= self.settling_rounds && srtt < self.target_rtt
    }

    fn react(&mut self, window: &mut Window, ack: &AckSample) {
        let is_too_soon = if self.is_scaled(ack.srtt) {
            self.reduced_at
                .is_some_and(|at| ack.now.since(at) < self.target_rtt)
        } else {
            ack.snd_una < self.reduced_until
        };
        if is_too_soon {
            return;
        }
        self.reduced_until = ack.snd_nxt;
        self.reduced_at = Some(ack.now);
        self.fraction = (self.fraction * (1.0 - self.alpha / 2.0)).max(MIN_WINDOW);
        window.ssthresh = self.fraction;
    }

    fn grow(&mut self, window: &Window, unmarked: f64, srtt: Span) {
        if self.fraction < window.ssthresh {
            self.fraction = (self.fraction + unmarked).min(window.ssthresh);
            return;
        }
        let mut increase = 1.0;
        if self.is_scaled(srtt) {
            let ratio = srtt.as_secs_f64() / self.target_rtt.as_secs_f64();
            increase = ratio * ratio;
        }
        self.fraction += unmarked * increase / self.fraction;
    }

    /// Moves the window by at most one segment per ACK towards the fractional window, in whole
    /// segments. In slow start the window follows at once.
    fn follow(&self, window: &mut Window) {
        let target = self.fraction.ceil();
        let is_slow = window.in_slow_start();
        if target > window.cwnd {
            window.cwnd = if is_slow {
                target
            } else {
                (window.cwnd + 1.0).min(target)
            };
        } else if target < window.cwnd {
            window.cwnd = (window.cwnd - 1.0).max(target);
        }
    }

    fn pace(&mut self, window: &Window, srtt: Span) {
        if srtt.is_zero() {
            return;
        }
        let gain = if window.cwnd < window.ssthresh / 2.0 {
            2.0
        } else {
            1.0
        };
        self.pacing_rate = gain * window.cwnd * f64::from(window.mss) / srtt.as_secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Pipe, ack, at_ms, build, congestion, window};
    use super::*;

    fn prague_with(fraction: f64, alpha: f64) -> Prague {
        Prague {
            fraction,
            alpha,
            ..build::<Prague>(&[])
        }
    }

    #[test]
    fn a_mark_takes_half_of_alpha() {
        let (mut prague, mut w) = (prague_with(100.0, 0.1), window(100.0, 50.0));
        prague.react(&mut w, &ack(at_ms(0), 1));
        assert_eq!((prague.fraction, w.ssthresh), (95.0, 95.0));
    }

    #[test]
    fn unmarked_segments_add_their_share() {
        let w = window(95.0, 50.0);
        let grown = |prague: &mut Prague, srtt| {
            prague.grow(&w, 10.0, srtt);
            prague.fraction - 95.0
        };
        let (short, long) = (Span::from_micros(12_500), Span::from_millis(25));
        assert!((grown(&mut prague_with(95.0, 0.1), long) - 0.105_263).abs() < 1e-6);
        assert!((grown(&mut prague_with(95.0, 0.1), short) - 0.105_263).abs() < 1e-6);
        let mut settled = prague_with(95.0, 0.1);
        settled.rounds = 500;
        assert!((grown(&mut settled, short) - 0.026_316).abs() < 1e-6);
    }

    #[test]
    fn alpha_moves_by_a_sixteenth_after_the_first_mark() {
        let mut prague = prague_with(100.0, 1.0);
        prague.delivered = 100;
        prague.end_round(&ack(at_ms(0), 1));
        assert_eq!(prague.alpha, 1.0);
        prague.has_seen_mark = true;
        (prague.delivered, prague.marked) = (100, 10);
        prague.end_round(&ack(at_ms(0), 1));
        assert!((prague.alpha - 0.943_75).abs() < 1e-12);
    }

    #[test]
    fn a_classic_echo_costs_half_and_the_marked_share_nothing() {
        let (mut prague, mut w) = (prague_with(100.0, 0.1), window(100.0, 50.0));
        prague.on_ecn_agreed(EcnFeedback::Classic);
        let marked = AckSample {
            delivered_ce_now: 10,
            ..ack(at_ms(0), 10)
        };
        prague.on_ack(&mut w, &marked);
        assert!(prague.fraction >= 100.0, "{}", prague.fraction);
        prague.fraction = 100.0;
        prague.on_congestion(&mut w, &congestion(at_ms(0), CongestionKind::Ecn, 100));
        assert_eq!((w.ssthresh, prague.fraction), (50.0, 50.0));
    }

    #[test]
    fn the_window_follows_by_a_segment_an_ack() {
        let mut w = window(100.0, 50.0);
        prague_with(95.0, 0.1).follow(&mut w);
        assert_eq!(w.cwnd, 99.0);
        prague_with(104.2, 0.1).follow(&mut w);
        assert_eq!(w.cwnd, 100.0);
    }

    #[test]
    fn a_shallow_marking_threshold_keeps_the_queue_short() {
        let pipe = Pipe {
            mark_above: 5,
            limit: 300,
            ..Pipe::clean_20m()
        };
        let mut prague = build::<Prague>(&[]);
        let report = pipe.run(&mut prague, Span::from_secs(20));
        assert_eq!(report.lost, 0, "{report:?}");
        assert!(report.received_mbps > 17.5, "{report:?}");
        // The marking threshold of five segments adds 3 ms to the base of 50.6 ms, so the mean
        // round-trip time stays below 56 ms.
        assert!(report.mean_rtt_ms < 56.0, "{report:?}");
    }

    #[test]
    fn it_asks_for_accurate_marks_and_sets_window_and_rate_itself() {
        let mut prague = build::<Prague>(&[]);
        assert_eq!(prague.needs_ecn(), EcnFeedback::Accurate);
        assert!(prague.controls_window());
        assert_eq!(prague.pacing_rate(), None);
        // The pacing rate is 10 segments of 1448 bytes in 10 ms. If the window is below half of the
        // threshold, the rate is twice as large.
        for (ssthresh, megabits) in [(20.0, 11.584), (20.1, 23.168), (5.0, 11.584)] {
            prague.pace(&window(10.0, ssthresh), Span::from_millis(10));
            let rate = prague.pacing_rate().expect("it paces");
            assert_eq!(rate, Rate::from_bits_per_sec((megabits * 1e6) as u64));
        }
        // An unknown round-trip time leaves the pacing rate unchanged.
        prague.pace(&window(20.0, 5.0), Span::ZERO);
        assert_eq!(
            prague.pacing_rate(),
            Some(Rate::from_bits_per_sec(11_584_000))
        );
    }

    #[test]
    fn marks_are_counted_by_the_round() {
        let (mut prague, mut w) = (prague_with(100.0, 0.5), window(100.0, 50.0));
        let heard = |una, marked| AckSample {
            snd_una: una,
            snd_nxt: 200,
            delivered_ce_now: marked,
            ..ack(at_ms(0), 4)
        };
        prague.round_end = 100;
        prague.on_ack(&mut w, &heard(98, 0));
        assert!(!prague.has_seen_mark);
        prague.on_ack(&mut w, &heard(99, 3));
        assert_eq!(
            (prague.delivered, prague.marked, prague.has_seen_mark),
            (8, 3, true)
        );
        // Alpha moves from a half by a sixteenth of its distance to 5 / 12.
        prague.on_ack(&mut w, &heard(100, 2));
        assert!((prague.alpha - (0.5 + (5.0 / 12.0 - 0.5) / 16.0)).abs() < 1e-12);
        assert_eq!(
            (prague.delivered, prague.marked, prague.round_end),
            (0, 0, 200)
        );
        assert_eq!(prague.rounds, 1);
    }

    #[test]
    fn only_slow_start_after_a_timeout_grows_while_losses_are_repaired() {
        for (state, is_cwnd_limited, grown) in [
            (RecoveryState::Open, true, 14.0),
            (RecoveryState::Open, false, 10.0),
            (RecoveryState::Cwr, true, 14.0),
            (RecoveryState::Recovery, true, 10.0),
            (RecoveryState::Loss, true, 14.0),
            (RecoveryState::Loss, false, 10.0),
        ] {
            let (mut prague, mut w) = (prague_with(10.0, 0.5), window(10.0, 50.0));
            let ack = AckSample {
                state,
                is_cwnd_limited,
                ..ack(at_ms(0), 4)
            };
            prague.on_ack(&mut w, &ack);
            assert_eq!(prague.fraction, grown, "{state:?}");
        }
    }

    #[test]
    fn a_short_path_reacts_once_in_25_ms() {
        // After 500 rounds at 10 ms, a reduction is possible 25 ms after the last one. In the other
        // rows the data sent before the last reduction must be acknowledged first.
        for (rounds, srtt_ms, ms, una, has_reacted) in [
            (500, 10, 24, 999, false),
            (500, 10, 25, 0, true),
            (499, 10, 25, 0, false),
            (499, 10, 24, 200, true),
            (500, 25, 60, 199, false),
            (500, 25, 1, 200, true),
        ] {
            let (mut prague, mut w) = (prague_with(100.0, 1.0), window(100.0, 50.0));
            prague.rounds = rounds;
            let heard = |ms, una| AckSample {
                snd_una: una,
                snd_nxt: 200,
                srtt: Span::from_millis(srtt_ms),
                ..ack(at_ms(ms), 1)
            };
            prague.react(&mut w, &heard(0, 0));
            assert_eq!(prague.fraction, 50.0);
            prague.react(&mut w, &heard(ms, una));
            assert_eq!(
                prague.fraction == 25.0,
                has_reacted,
                "{rounds} {srtt_ms} {ms} {una}"
            );
        }
    }
}
