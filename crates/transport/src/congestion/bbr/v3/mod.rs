//! BBR version 3, as the Internet-Draft has it.
//!
//! Beside the largest bandwidth and the smallest round-trip time the model has bounds: a
//! short-term one on rate and data in flight, lowered in every round with a loss, and a long-term
//! one on data in flight, found by probing until the loss rate exceeds 2 %. PROBE_BW goes DOWN
//! (0.9), CRUISE, REFILL, UP (1.25), at an interval of 2 to 3 s or 63 rounds.
//!
//! Source: draft-ietf-ccwg-bbr (a snapshot of 2026; gains that changed between revisions are
//! parameters). Windows are in segments, bandwidths in segments per second.
//!
//! Not modelled: the loss of a segment is judged by the newest segment that the same ACK
//! acknowledges, not by the lost one's own record; ranges of loss in STARTUP are counted as ACKs
//! that report one; marks are ignored, as in the draft (Google's code answers them on paths
//! under 5 ms).

mod min_rtt;
mod model;
mod phases;
mod probe_bw;
mod sizes;

use super::super::registry::constant;
use super::super::{
    AckSample, CongestionControl, CongestionEvent, CongestionKind, RecoveryState, Window,
};
use super::{MaxFilter, ProbeRttTimer, Round};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number, span};
use fadeout_core::{Rate, Span, Time};
use model::{Bounds, Signals};
use probe_bw::Probe;

/// Smallest window, in segments.
const MIN_WINDOW: f64 = 4.0;
const INITIAL_WINDOW: f64 = 10.0;

/// Where the state machine is (section 5.3); the last four but one make up PROBE_BW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

#[derive(Debug, Clone, Copy)]
struct Constants {
    startup_gain: f64,
    drain_gain: f64,
    down_gain: f64,
    up_gain: f64,
    cwnd_gain: f64,
    up_cwnd_gain: f64,
    probe_rtt_gain: f64,
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    pacing_margin: f64,
    min_rtt_window: Span,
    probe_rtt_interval: Span,
    probe_rtt_duration: Span,
}

/// BBR version 3.
#[derive(Debug, Clone)]
pub struct BbrV3 {
    constants: Constants,
    random: Stream,
    state: State,
    round: Round,
    /// Largest rate of this PROBE_BW cycle and the last.
    max_bandwidth: MaxFilter,
    cycles: u64,
    signals: Signals,
    bounds: Bounds,
    /// What the bounds were before the last loss, and the state it ended.
    saved: Bounds,
    saved_state: Option<State>,
    probe: Probe,

    full_bandwidth: f64,
    full_rounds: u32,
    is_full_now: bool,
    is_pipe_full: bool,
    drain_start_round: u64,

    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_min: Option<Span>,
    probe_rtt_min_at: Time,
    has_probe_rtt_expired: bool,
    probe_rtt_timer: ProbeRttTimer,
    /// Samples of segments sent up to this count of deliveries are the application's rate.
    limited_until: u64,
    is_restarting: bool,

    extra: MaxFilter,
    extra_since: Time,
    extra_delivered: f64,

    recovery: RecoveryState,
    prior_cwnd: f64,
    pacing_rate: f64,
    has_seen_rtt: bool,
    mss: f64,
}

impl Registered<Stream> for BbrV3 {
    const ENTRY: Entry = Entry {
        name: "bbr3",
        aliases: &["bbrv3"],
        family: "model-based",
        summary: "BBR with bounds from loss: rate and window from a model of the path",
        citation: "draft-ietf-ccwg-bbr",
        parameters: &[
            number(
                "startup-gain",
                (1.5, 4.0, ""),
                "2.77",
                "Pacing gain of STARTUP, 4 ln 2.",
            ),
            number(
                "drain-gain",
                (0.1, 0.95, ""),
                "0.5",
                "Pacing gain of DRAIN; 0.35 in earlier drafts, 0.347 in Google's code.",
            ),
            number(
                "down-gain",
                (0.5, 0.99, ""),
                "0.9",
                "Pacing gain of DOWN; 0.91 in Google's code.",
            ),
            number("up-gain", (1.01, 3.0, ""), "1.25", "Pacing gain of UP."),
            number(
                "cwnd-gain",
                (1.0, 10.0, ""),
                "2",
                "Window in bandwidth-delay products.",
            ),
            number("up-cwnd-gain", (1.0, 10.0, ""), "2.25", "The same in UP."),
            number(
                "probe-rtt-cwnd-gain",
                (0.1, 1.0, ""),
                "0.5",
                "The same in PROBE_RTT.",
            ),
            number(
                "loss-threshold",
                (0.001, 0.5, ""),
                "0.02",
                "Loss rate held too high.",
            ),
            number(
                "beta",
                (0.1, 0.99, ""),
                "0.7",
                "What a round with loss leaves of a bound.",
            ),
            number(
                "headroom",
                (0.0, 0.9, ""),
                "0.15",
                "Part of the long-term bound left free.",
            ),
            number(
                "pacing-margin",
                (0.0, 0.5, ""),
                "0.01",
                "Pacing stays below the bandwidth.",
            ),
            span(
                "min-rtt-window",
                "10 s",
                "Window of the round-trip time filter.",
            ),
            span(
                "probe-rtt-interval",
                "5 s",
                "Time between emptyings of the queue.",
            ),
            span(
                "probe-rtt-duration",
                "200 ms",
                "How long the queue is kept short.",
            ),
        ],
    };

    fn with(settings: &Settings<'_>, random: Stream) -> Self {
        BbrV3 {
            constants: Constants {
                startup_gain: settings.number("startup-gain"),
                drain_gain: settings.number("drain-gain"),
                down_gain: settings.number("down-gain"),
                up_gain: settings.number("up-gain"),
                cwnd_gain: settings.number("cwnd-gain"),
                up_cwnd_gain: settings.number("up-cwnd-gain"),
                probe_rtt_gain: settings.number("probe-rtt-cwnd-gain"),
                loss_threshold: settings.number("loss-threshold"),
                beta: settings.number("beta"),
                headroom: settings.number("headroom"),
                pacing_margin: settings.number("pacing-margin"),
                min_rtt_window: constant(settings, "min-rtt-window"),
                probe_rtt_interval: constant(settings, "probe-rtt-interval"),
                probe_rtt_duration: constant(settings, "probe-rtt-duration"),
            },
            random,
            state: State::Startup,
            round: Round::default(),
            max_bandwidth: MaxFilter::new(1),
            cycles: 0,
            signals: Signals::default(),
            bounds: Bounds::NONE,
            saved: Bounds::NONE,
            saved_state: None,
            probe: Probe::default(),
            full_bandwidth: 0.0,
            full_rounds: 0,
            is_full_now: false,
            is_pipe_full: false,
            drain_start_round: 0,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_min: None,
            probe_rtt_min_at: Time::ZERO,
            has_probe_rtt_expired: false,
            probe_rtt_timer: ProbeRttTimer::default(),
            limited_until: 0,
            is_restarting: false,
            extra: MaxFilter::new(9),
            extra_since: Time::ZERO,
            extra_delivered: 0.0,
            recovery: RecoveryState::Open,
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            has_seen_rtt: false,
            mss: 1448.0,
        }
    }
}

impl CongestionControl for BbrV3 {
    fn on_established(&mut self, window: &mut Window, now: Time, srtt: Option<Span>) {
        self.mss = f64::from(window.mss);
        self.min_rtt = srtt;
        self.min_rtt_at = now;
        self.probe_rtt_min = srtt;
        self.probe_rtt_min_at = now;
        self.extra_since = now;
        self.start_pacing(window.cwnd, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.mss = f64::from(window.mss);
        if ack.lost_now > 0 {
            self.on_loss(window, ack);
        }
        self.update_signals(window, ack);
        self.update_extra_acked(window, ack);
        self.check_plateau(ack);
        self.check_startup(ack);
        self.check_drain(ack);
        self.update_probe_bw(window, ack);
        self.update_min_rtt(ack);
        self.check_probe_rtt(window, ack);
        self.signals.advance(ack);
        if !self.has_seen_rtt && !ack.srtt.is_zero() {
            self.start_pacing(window.cwnd, Some(ack.srtt));
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.save_window(window.cwnd);
        self.save_bounds();
        match event.kind {
            CongestionKind::Rto => {
                self.recovery = RecoveryState::Loss;
                window.cwnd = f64::from(event.in_flight) + 1.0;
            }
            CongestionKind::FastRecovery => self.signals.recovery_round = self.round.count,
            CongestionKind::Ecn | CongestionKind::Local => {}
        }
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, now: Time) {
        window.cwnd = window.cwnd.max(prior.cwnd);
        self.bounds.restore(&self.saved);
        self.reset_plateau(0.0);
        match self.saved_state.take() {
            Some(State::Startup) => {
                self.is_pipe_full = false;
                self.state = State::Startup;
            }
            Some(State::Up) if self.state.is_probe_bw() => self.start_refill(now),
            _ => {}
        }
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Time, _idle: Span) {
        // Nothing in flight after a timeout is no sign of an idle application.
        if self.recovery == RecoveryState::Loss {
            return;
        }
        self.is_restarting = true;
        self.extra_since = now;
        self.extra_delivered = 0.0;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, now);
        }
    }

    fn controls_window(&self) -> bool {
        true
    }

    /// In bytes of payload per second.
    fn pacing_rate(&self) -> Option<Rate> {
        (self.pacing_rate > 0.0).then(|| Rate::from_bits_per_sec((self.pacing_rate * 8.0) as u64))
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::Down => "probe-bw-down",
            State::Cruise => "probe-bw-cruise",
            State::Refill => "probe-bw-refill",
            State::Up => "probe-bw-up",
            State::ProbeRtt => "probe-rtt",
        }
    }
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(
            self,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }
}

impl BbrV3 {
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.constants.startup_gain,
            State::Drain => self.constants.drain_gain,
            State::Down => self.constants.down_gain,
            State::Up => self.constants.up_gain,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn start_pacing(&mut self, cwnd: f64, srtt: Option<Span>) {
        self.has_seen_rtt = srtt.is_some();
        let rtt = srtt
            .unwrap_or(Span::from_millis(1))
            .max(Span::from_micros(1));
        self.pacing_rate = self.constants.startup_gain * cwnd * self.mss / rtt.as_secs_f64();
    }

    /// The rate only rises until the pipe is full (section 5.6.2).
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth() * self.mss * (1.0 - self.constants.pacing_margin);
        if self.is_pipe_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }
}

#[cfg(test)]
mod tests;
