//! Copa: congestion control whose target rate is inversely proportional to the queueing delay.
//!
//! The queueing delay `dq` is the standing round-trip time less the smallest round-trip time of 10
//! s. The standing round-trip time is the smallest sample within the last half of a smoothed
//! round-trip time. The target is `1 / (delta dq)` segments per second. Each segment acknowledged
//! moves the window by `v / (delta cwnd)`. The rate is the window divided by the standing
//! round-trip time. The window rises while the rate is at most the target, and falls otherwise. The
//! velocity `v` starts at one. After three rounds in one direction it doubles every round, until
//! the direction changes. The direction changes at the end of a round, or at once where the rate
//! crosses the target, as in mvfst. The paper checks only once a round. Slow start lasts until the
//! rate exceeds the target. Segments are paced at twice the rate. A loss changes nothing.
//!
//! With only Copa senders the queue is nearly empty once in five round trips. The queue is nearly
//! empty if `dq` is below a tenth of the variation. The variation is the largest round-trip time of
//! the last four round trips less the smallest. If the queue is never nearly empty, another sender
//! fills it, and Copa enters its competitive mode. In this mode `1 / delta` grows by one a round
//! and is halved by a loss, but is never below its default.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018, sections 2.1 and 2.2. The paper leaves some rules open. Here a round trip
//! of the mode's clock is a smoothed one. The velocity at most doubles the window in a round. The
//! window is at least two segments. A timeout starts over with slow start. The window grows only
//! when it limits the sender. Delays count in the mode from the end of slow start on. Without any
//! variation the queue counts as empty.

use super::registry::constant;
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::min_filter::MinFilter;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, integer, number, span};
use fadeout_core::{Rate, Span, Time};
use std::cmp::Reverse;

/// Minimum window, in segments.
const MIN_WINDOW: f64 = 2.0;
/// Number of rounds in one direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Number of round trips over which the largest delay is measured, and the share of the variation
/// below which the queue is nearly empty.
const VARIATION_OVER: u64 = 4;
const NEARLY_EMPTY: f64 = 0.1;

/// Copa congestion control.
#[derive(Debug, Clone)]
pub struct Copa {
    default_delta: f64,
    may_compete: bool,
    empty_within: u64,
    min_rtt_window: Span,

    delta: f64,
    is_competing: bool,
    is_starting: bool,
    was_starting: bool,
    min_rtt: MinFilter<Span>,
    standing_rtt: MinFilter<Span>,
    max_rtt: MinFilter<Reverse<Span>>,
    nearly_empty_at: Time,

    velocity: f64,
    is_rising: bool,
    rounds_in_direction: u32,
    round_end: u64,
    round_cwnd: f64,
    mss: f64,
    /// Pacing rate, in bytes of payload per second.
    pacing_rate: f64,
}

impl Registered<Stream> for Copa {
    const ENTRY: Entry = Entry {
        name: "copa",
        aliases: &[],
        family: "delay-based",
        summary: "Copa: a rate in inverse proportion to the queueing delay. Copa becomes more \
                  aggressive if other flows fill the queue.",
        citation: "Arun, Balakrishnan, NSDI 2018",
        parameters: &[
            number(
                "delta",
                (0.001, 10.0, "1/segments"),
                "0.5",
                "Weight delta of delay against throughput. A single sender keeps 1 / delta \
                 segments in the queue. The default is the value of the paper.",
            ),
            flag(
                "competes",
                "true",
                "True if delta adapts to competing flows when the queue does not become empty \
                 (section 2.2 of the paper).",
            ),
            integer(
                "empty-within",
                (1, 1_000, "round-trip times"),
                "5",
                "Time without a nearly empty queue after which Copa competes with other flows, in \
                 round-trip times. The paper has five, because senders of Copa alone empty the \
                 queue within this time.",
            ),
            span(
                "min-rtt-window",
                "10 s",
                "Length of the window over which the smallest round-trip time is determined.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        let delta = settings.number("delta");
        Copa {
            default_delta: delta,
            may_compete: settings.flag("competes"),
            empty_within: settings.integer("empty-within").into(),
            min_rtt_window: constant(settings, "min-rtt-window"),
            delta,
            is_competing: false,
            is_starting: true,
            was_starting: true,
            min_rtt: MinFilter::new(Span::MAX),
            standing_rtt: MinFilter::new(Span::MAX),
            max_rtt: MinFilter::new(Reverse(Span::ZERO)),
            nearly_empty_at: Time::ZERO,
            velocity: 1.0,
            is_rising: true,
            rounds_in_direction: 0,
            round_end: 0,
            round_cwnd: 0.0,
            mss: 1448.0,
            pacing_rate: 0.0,
        }
    }
}

impl CongestionControl for Copa {
    fn on_established(&mut self, window: &mut Window, _now: Time, srtt: Option<Span>) {
        if let Some(rtt) = srtt {
            self.pace(window, rtt);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let Some(queueing) = self.queueing_delay(ack) else {
            return;
        };
        let standing = self.standing_rtt.value().as_secs_f64();
        // Tests that the rate is at most the target, multiplied out to avoid a division by a delay.
        let is_below = window.cwnd * self.delta * queueing <= standing;
        let has_round_ended = ack.snd_una > self.round_end;
        if self.is_starting {
            if is_below {
                if ack.is_cwnd_limited {
                    window.cwnd += f64::from(ack.delivered_now);
                }
            } else {
                self.leave_slow_start(window, ack.now);
            }
        }
        if !self.is_starting {
            self.choose_mode(ack, queueing, has_round_ended);
            if has_round_ended {
                self.turn(window);
            }
            self.move_window(window, ack, is_below);
        }
        if has_round_ended {
            self.round_end = ack.snd_nxt;
            self.round_cwnd = window.cwnd;
        }
        self.pace(window, self.standing_rtt.value());
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.was_starting = self.is_starting;
        if event.kind == CongestionKind::Rto {
            self.is_starting = true;
            window.ssthresh = f64::INFINITY;
        }
        if self.is_competing {
            self.set_inverse_delta(0.5 / self.delta);
        }
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = prior.ssthresh;
        self.is_starting = self.was_starting;
    }

    fn controls_window(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.pacing_rate > 0.0).then(|| Rate::from_bits_per_sec((self.pacing_rate * 8.0) as u64))
    }

    fn phase(&self) -> &'static str {
        match (self.is_starting, self.is_competing) {
            (true, _) => "slow-start",
            (false, false) => "default",
            (false, true) => "competitive",
        }
    }
}

impl Copa {
    /// Adds the round-trip time of the ACK to the filters. Returns the queueing delay in seconds.
    /// `None` before the first sample.
    fn queueing_delay(&mut self, ack: &AckSample) -> Option<f64> {
        if let Some(rtt) = ack.rtt {
            self.min_rtt.update(ack.now, rtt, self.min_rtt_window);
            self.standing_rtt.update(ack.now, rtt, ack.srtt / 2);
            let over = ack.srtt.saturating_mul(VARIATION_OVER);
            self.max_rtt.update(ack.now, Reverse(rtt), over);
        }
        let (standing, min) = (self.standing_rtt.value(), self.min_rtt.value());
        (min < Span::MAX).then(|| standing.saturating_sub(min).as_secs_f64())
    }

    fn leave_slow_start(&mut self, window: &mut Window, now: Time) {
        self.is_starting = false;
        // The slow-start threshold is lowered, so that other code no longer treats the sender as in
        // slow start.
        window.ssthresh = MIN_WINDOW;
        self.nearly_empty_at = now;
        self.velocity = 1.0;
        self.rounds_in_direction = 0;
    }

    fn choose_mode(&mut self, ack: &AckSample, queueing: f64, has_round_ended: bool) {
        let min = self.min_rtt.value();
        let variation = self.max_rtt.value().0.saturating_sub(min).as_secs_f64();
        if queueing <= NEARLY_EMPTY * variation {
            self.nearly_empty_at = ack.now;
        }
        let patience = ack.srtt.saturating_mul(self.empty_within);
        let was_competing = self.is_competing;
        self.is_competing = self.may_compete && ack.now.since(self.nearly_empty_at) > patience;
        if !self.is_competing {
            self.delta = self.default_delta;
        } else if was_competing && has_round_ended {
            self.set_inverse_delta(1.0 / self.delta + 1.0);
        }
    }

    /// Sets `1 / delta` to `inverse`, but at least to its default.
    fn set_inverse_delta(&mut self, inverse: f64) {
        debug_assert!(inverse > 0.0, "a delta of one over {inverse}");
        self.delta = (1.0 / inverse).min(self.default_delta);
    }

    /// Updates the velocity once a round, by the direction of the window.
    fn turn(&mut self, window: &Window) {
        if window.cwnd == self.round_cwnd {
            return;
        }
        let is_rising = window.cwnd > self.round_cwnd;
        if is_rising != self.is_rising {
            self.is_rising = is_rising;
            self.rounds_in_direction = 1;
            self.velocity = 1.0;
            return;
        }
        self.rounds_in_direction = self.rounds_in_direction.saturating_add(1);
        if self.rounds_in_direction > STEADY_ROUNDS {
            self.velocity *= 2.0;
        }
    }

    /// Moves the window for the segments that the ACK delivers. `is_below`: true if the rate is at
    /// most the target.
    fn move_window(&mut self, window: &mut Window, ack: &AckSample, is_below: bool) {
        // The rate has crossed the target. With the accumulated velocity the window would overshoot
        // the target until the queue shows the change, a round trip later. So the velocity is
        // reset.
        if is_below != self.is_rising && self.velocity > 1.0 {
            self.is_rising = is_below;
            self.rounds_in_direction = 0;
            self.velocity = 1.0;
        }
        self.velocity = self.velocity.min(self.delta * window.cwnd).max(1.0);
        debug_assert!(self.velocity.is_finite(), "a velocity of {}", self.velocity);
        let delivered = f64::from(ack.delivered_now);
        let step = (self.velocity * delivered / (self.delta * window.cwnd)).min(delivered);
        if !is_below {
            window.cwnd = (window.cwnd - step).max(MIN_WINDOW);
        } else if ack.is_cwnd_limited {
            window.cwnd += step;
        }
    }

    /// Paces at twice the window per round trip. The pacing breaks up bursts and never limits the
    /// rate.
    fn pace(&mut self, window: &Window, rtt: Span) {
        self.mss = f64::from(window.mss);
        let rtt = rtt.max(Span::from_micros(1)).as_secs_f64();
        self.pacing_rate = 2.0 * window.cwnd * self.mss / rtt;
        debug_assert!(
            self.pacing_rate.is_finite() && self.pacing_rate > 0.0,
            "a pacing rate of {} bytes per second",
            self.pacing_rate
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Pipe, ack_with_rtt, at_ms, build, congestion, window};
    use super::*;
    use fadeout_core::registry::Value;

    /// Returns a sender past slow start. The smallest round-trip time is 100 ms, measured at time
    /// zero.
    fn settled(parameters: &[(&str, Value)], cwnd: f64) -> (Copa, Window) {
        let (mut copa, mut w) = (build::<Copa>(parameters), window(cwnd, f64::INFINITY));
        let start = AckSample {
            is_cwnd_limited: false,
            ..ack_with_rtt(at_ms(0), 1, 100.0)
        };
        copa.on_ack(&mut w, &start);
        copa.leave_slow_start(&mut w, at_ms(0));
        (copa, w)
    }

    /// Passes an ACK of one segment with this round-trip time, more than half a smoothed round-trip
    /// time after the last ACK.
    fn process_ack(copa: &mut Copa, w: &mut Window, ms: u64, rtt_ms: f64) {
        copa.on_ack(w, &ack_with_rtt(at_ms(ms), 1, rtt_ms));
    }

    #[test]
    fn the_target_is_one_over_delta_times_the_queueing_delay() {
        // Section 2.1: with a queueing delay of 20 ms and a delta of 0.5 the target is 100 segments
        // per second. At a round-trip time of 120 ms this is a window of 12. A smaller window
        // rises, a larger one falls.
        for (cwnd, change) in [(11.9, 1.0 / (0.5 * 11.9)), (12.1, -1.0 / (0.5 * 12.1))] {
            let (mut copa, mut w) = settled(&[], cwnd);
            process_ack(&mut copa, &mut w, 1_000, 120.0);
            assert!((w.cwnd - cwnd - change).abs() < 1e-12, "{}", w.cwnd);
        }
    }

    #[test]
    fn the_standing_delay_is_the_smallest_of_half_a_round_trip() {
        let (mut copa, mut w) = settled(&[], 12.1);
        process_ack(&mut copa, &mut w, 1_000, 110.0);
        process_ack(&mut copa, &mut w, 1_040, 150.0);
        // The standing delay is still 110 ms, so the window increased twice.
        assert!(w.cwnd > 12.1 + 0.3, "{}", w.cwnd);
        let before = w.cwnd;
        process_ack(&mut copa, &mut w, 1_200, 150.0);
        assert!(w.cwnd < before);
    }

    #[test]
    fn the_velocity_doubles_after_three_rounds_in_one_direction() {
        let (mut copa, mut w) = settled(&[], 100.0);
        let velocities: Vec<f64> = (0..7)
            .map(|_| {
                w.cwnd += 1.0;
                copa.turn(&w);
                copa.round_cwnd = w.cwnd;
                copa.velocity
            })
            .collect();
        assert_eq!(velocities, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        w.cwnd -= 1.0;
        copa.turn(&w);
        assert_eq!(copa.velocity, 1.0);
    }

    #[test]
    fn velocity_gathered_towards_the_target_is_not_taken_beyond_it() {
        let (mut copa, mut w) = settled(&[], 100.0);
        // The window fell for six rounds, in the last three of which the velocity doubled. One
        // sample below the target resets the velocity to 1.
        (copa.velocity, copa.is_rising, copa.rounds_in_direction) = (8.0, false, 6);
        process_ack(&mut copa, &mut w, 1_000, 100.01);
        assert_eq!(copa.velocity, 1.0);
        assert!((w.cwnd - 100.0 - 1.0 / (0.5 * 100.0)).abs() < 1e-12);
    }

    #[test]
    fn slow_start_ends_where_the_rate_exceeds_the_target() {
        let (mut copa, mut w) = (build::<Copa>(&[]), window(10.0, f64::INFINITY));
        process_ack(&mut copa, &mut w, 0, 100.0);
        assert_eq!((w.cwnd, copa.phase()), (11.0, "slow-start"));
        // A window of 11 segments in 120 ms stays below the target of 100 per second. In 122 ms it
        // exceeds the target 1 / (0.5 · 22 ms) = 91 per second, and slow start ends.
        process_ack(&mut copa, &mut w, 1_000, 120.0);
        assert_eq!((w.cwnd, copa.phase()), (12.0, "slow-start"));
        process_ack(&mut copa, &mut w, 2_000, 122.0);
        assert_eq!(copa.phase(), "default");
        assert!(w.cwnd < 12.0 && !w.in_slow_start());
    }

    #[test]
    fn segments_are_paced_at_twice_the_rate() {
        let (mut copa, mut w) = settled(&[], 20.0);
        process_ack(&mut copa, &mut w, 1_000, 100.0);
        let rate = copa.pacing_rate().expect("a rate").as_bits_per_sec() as f64;
        let expected = 2.0 * w.cwnd * 1448.0 * 8.0 / 0.1;
        assert!((rate / expected - 1.0).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn a_loss_alone_changes_nothing_and_a_timeout_starts_over() {
        let (mut copa, mut w) = settled(&[], 20.0);
        let loss = congestion(at_ms(1), CongestionKind::FastRecovery, 20);
        copa.on_congestion(&mut w, &loss);
        assert_eq!((w.cwnd, copa.delta, copa.phase()), (20.0, 0.5, "default"));
        copa.on_congestion(&mut w, &congestion(at_ms(2), CongestionKind::Rto, 20));
        assert_eq!(copa.phase(), "slow-start");
    }

    #[test]
    fn a_queue_that_never_empties_is_competed_for() {
        let (mut copa, mut w) = settled(&[], 20.0);
        // The queue delays by 50 ms and varies little. The smoothed round-trip time is 100 ms, so
        // after 500 ms, five round trips, Copa enters competitive mode.
        let mut una = 1;
        let mut round = |copa: &mut Copa, w: &mut Window, ms: u64, rtt_ms: f64| {
            let ack = AckSample {
                snd_una: una + 1,
                snd_nxt: una + 1,
                ..ack_with_rtt(at_ms(ms), 1, rtt_ms)
            };
            una += 1;
            copa.on_ack(w, &ack);
        };
        for ms in [100, 200, 300, 400, 500] {
            round(&mut copa, &mut w, ms, 150.0);
            assert_eq!(copa.phase(), "default", "{ms} ms");
        }
        round(&mut copa, &mut w, 600, 150.0);
        assert_eq!((copa.phase(), 1.0 / copa.delta), ("competitive", 2.0));
        for ms in [700, 800, 900, 1_000, 1_100, 1_200] {
            round(&mut copa, &mut w, ms, 150.0);
        }
        assert!((1.0 / copa.delta - 8.0).abs() < 1e-9);
        let loss = congestion(at_ms(1_210), CongestionKind::FastRecovery, 20);
        copa.on_congestion(&mut w, &loss);
        assert!((1.0 / copa.delta - 4.0).abs() < 1e-9);
        // An empty queue ends the competitive mode.
        round(&mut copa, &mut w, 1_300, 101.0);
        assert_eq!((copa.phase(), copa.delta), ("default", 0.5));
    }

    #[test]
    fn alone_it_keeps_about_one_over_delta_segments_queued() {
        // At the link's rate `dq` is 1 / (delta rate), so the queue has 1 / delta segments and
        // varies around this. At 20 Mbit/s a segment takes 0.61 ms to transmit.
        for (delta, low, high) in [(0.5, 0.5, 6.0), (0.1, 5.0, 20.0), (0.05, 10.0, 40.0)] {
            let mut copa = build::<Copa>(&[("delta", Value::Number(delta))]);
            let pipe = Pipe {
                limit: 1_000,
                ..Pipe::clean_20m()
            };
            let report = pipe.run(&mut copa, Span::from_secs(60));
            let queued = (report.mean_rtt_ms - 50.0 - 0.61) / 0.61;
            assert!(
                (low..high).contains(&queued),
                "{delta}: {queued} {report:?}"
            );
            assert!(report.received_mbps > 18.5, "{delta}: {report:?}");
            assert_eq!(report.lost, 0, "{delta}: {report:?}");
        }
    }
}
