//! BBR version 3, as the Internet-Draft has it.
//!
//! The model consists of the largest bandwidth, the smallest round-trip time, and two kinds of
//! bounds. A short-term bound on rate and data in flight is lowered in every round with a loss. A
//! long-term bound on data in flight is found by probing until the loss rate exceeds 2 %. PROBE_BW
//! cycles through the states DOWN (pacing gain 0.9), CRUISE, REFILL and UP (gain 1.25). A cycle
//! takes 2 to 3 s, or at most 63 rounds.
//!
//! Source: draft-ietf-ccwg-bbr (a snapshot of 2026; gains that changed between revisions are
//! parameters). Windows are in segments, bandwidths in segments per second.
//!
//! The model differs from the draft in two points. A loss is judged by the record of the newest
//! segment that the same ACK acknowledges. STARTUP counts ACKs that report a loss instead of ranges
//! of lost data. Marks are ignored, as in the draft (Google's code reacts to marks on paths with a
//! round-trip time under 5 ms).

mod extra_acked;
mod losses;
mod min_rtt;
mod model;
mod pacing;
mod phases;
mod plateau;
mod probe_bw;
mod probe_rtt;
mod sizes;

use super::super::registry::constant;
use super::super::{
    AckSample, CongestionControl, CongestionEvent, CongestionKind, PathModel, RecoveryState, Window,
};
use super::{INITIAL_WINDOW, MIN_WINDOW, MaxFilter, ProbeRttTimer, RoundCounter, USEC};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number, span};
use fadeout_core::{Rate, Span, Time};
use model::Model;
use pacing::PacingRate;
use plateau::Plateau;
use probe_bw::Probe;

/// State of the state machine (section 5.3). DOWN, CRUISE, REFILL and UP make up PROBE_BW.
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
    model: Model,
    pacing: PacingRate,
    plateau: Plateau,
    is_pipe_full: bool,
    drain_start_round: u64,
    probe: Probe,
    probe_rtt_timer: ProbeRttTimer,
    /// State before the last loss ended it. `None` if no loss ended a state.
    saved_state: Option<State>,
    is_restarting: bool,
    recovery: RecoveryState,
    prior_cwnd: f64,
    mss: f64,
}

impl Registered<Stream> for BbrV3 {
    const ENTRY: Entry = Entry {
        name: "bbr3",
        aliases: &["bbrv3"],
        family: "model-based",
        summary: "BBR version 3: rate and window from a model of the path, with bounds from \
                  losses.",
        citation: "draft-ietf-ccwg-bbr",
        parameters: &[
            number(
                "startup-gain",
                (1.5, 4.0, ""),
                "2.77",
                "Pacing gain of STARTUP. The default is 4 ln 2.",
            ),
            number(
                "drain-gain",
                (0.1, 0.95, ""),
                "0.5",
                "Pacing gain of DRAIN. Earlier drafts have 0.35, and Google's code has 0.347.",
            ),
            number(
                "down-gain",
                (0.5, 0.99, ""),
                "0.9",
                "Pacing gain of PROBE_BW_DOWN. Google's code has 0.91.",
            ),
            number(
                "up-gain",
                (1.01, 3.0, ""),
                "1.25",
                "Pacing gain of PROBE_BW_UP.",
            ),
            number(
                "cwnd-gain",
                (1.0, 10.0, ""),
                "2",
                "Window in bandwidth-delay products.",
            ),
            number(
                "up-cwnd-gain",
                (1.0, 10.0, ""),
                "2.25",
                "Window in PROBE_BW_UP, in \
                bandwidth-delay products.",
            ),
            number(
                "probe-rtt-cwnd-gain",
                (0.1, 1.0, ""),
                "0.5",
                "Window in PROBE_RTT, in bandwidth-delay products.",
            ),
            number(
                "loss-threshold",
                (0.001, 0.5, ""),
                "0.02",
                "Loss rate that is considered too high.",
            ),
            number(
                "beta",
                (0.1, 0.99, ""),
                "0.7",
                "Fraction of a bound that remains after a round with loss.",
            ),
            number(
                "headroom",
                (0.0, 0.9, ""),
                "0.15",
                "Fraction of the long-term bound that is kept free as headroom.",
            ),
            number(
                "pacing-margin",
                (0.0, 0.5, ""),
                "0.01",
                "Fraction by which the pacing rate is smaller than the estimated bandwidth.",
            ),
            span(
                "min-rtt-window",
                "10 s",
                "Length of the filter of the smallest round-trip time.",
            ),
            span(
                "probe-rtt-interval",
                "5 s",
                "Interval between two PROBE_RTT phases. Each phase empties the queue.",
            ),
            span(
                "probe-rtt-duration",
                "200 ms",
                "Time for which PROBE_RTT keeps the queue short.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
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
            model: Model::new(),
            pacing: PacingRate::default(),
            plateau: Plateau::default(),
            is_pipe_full: false,
            drain_start_round: 0,
            probe: Probe::default(),
            probe_rtt_timer: ProbeRttTimer::default(),
            saved_state: None,
            is_restarting: false,
            recovery: RecoveryState::Open,
            prior_cwnd: 0.0,
            mss: 1448.0,
        }
    }
}

impl CongestionControl for BbrV3 {
    fn on_established(&mut self, window: &mut Window, now: Time, srtt: Option<Span>) {
        self.mss = f64::from(window.mss);
        self.model.start(now, srtt);
        self.start_pacing(window.cwnd, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.mss = f64::from(window.mss);
        if ack.lost_now > 0 {
            self.on_loss(window, ack);
        }
        self.update_model(window, ack);
        let (round, bandwidth) = (self.model.round.count, self.model.bandwidth());
        let extra = &mut self.model.extra;
        extra.on_ack(ack, round, bandwidth, window.cwnd);
        self.check_plateau(ack);
        self.check_startup(ack);
        self.check_drain(ack);
        self.update_probe_bw(window, ack);
        let Constants {
            probe_rtt_interval,
            min_rtt_window,
            ..
        } = self.constants;
        let min_rtt = &mut self.model.min_rtt;
        min_rtt.on_ack(ack, probe_rtt_interval, min_rtt_window);
        self.check_probe_rtt(window, ack);
        self.model.signals.advance(ack);
        if self.pacing.waits_for_rtt() && !ack.srtt.is_zero() {
            self.start_pacing(window.cwnd, Some(ack.srtt));
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(window, ack);
        self.model.assert_invariants();
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.save_window(window.cwnd);
        self.model.save_bounds();
        self.saved_state = None;
        match event.kind {
            CongestionKind::Rto => {
                self.recovery = RecoveryState::Loss;
                window.cwnd = f64::from(event.in_flight) + 1.0;
            }
            CongestionKind::FastRecovery => {
                self.model.signals.recovery_round = self.model.round.count;
            }
            CongestionKind::Ecn | CongestionKind::Local => {}
        }
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, now: Time) {
        window.cwnd = window.cwnd.max(prior.cwnd);
        self.model.restore_bounds();
        self.plateau = Plateau::default();
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
        // After a timeout no segment counts as in flight. This does not mean that the application
        // is idle.
        if self.recovery == RecoveryState::Loss {
            return;
        }
        self.is_restarting = true;
        self.model.extra.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, now);
        }
    }

    /// Returns three: the send buffer contains one window in flight, one for repairs and one for
    /// probing.
    fn buffered_windows(&self) -> u32 {
        3
    }

    fn controls_window(&self) -> bool {
        true
    }

    /// Returns the pacing rate, computed from payload bytes per second.
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing.rate()
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

    fn path_model(&self) -> Option<PathModel> {
        Some(PathModel {
            bandwidth: self.model.bandwidth(),
            min_rtt: self.model.min_rtt.get(),
            pacing_gain: self.pacing_gain(),
            cwnd_gain: self.cwnd_gain(),
        })
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
        let gain = self.constants.startup_gain;
        self.pacing.start(gain, (cwnd, self.mss), srtt);
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let margin = self.constants.pacing_margin;
        let rate = gain * self.model.bandwidth() * self.mss * (1.0 - margin);
        self.pacing.set(rate, self.is_pipe_full);
    }
}

#[cfg(test)]
mod tests;
