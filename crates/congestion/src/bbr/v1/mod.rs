//! BBR version 1, as the Linux kernel has it.
//!
//! The bandwidth is the largest delivery rate of 10 rounds. The round-trip time is the smallest of
//! 10 s. STARTUP doubles the rate until the bandwidth stops growing, and DRAIN empties the queue.
//! PROBE_BW cycles the pacing gain through 1.25, 0.75 and six rounds of 1. PROBE_RTT empties the
//! queue every 10 s. The window is twice the bandwidth-delay product, plus an allowance for
//! aggregated ACKs. Losses do not lower the rate. A token-bucket policer is detected by its loss
//! pattern.
//!
//! Source: Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14(5), 2016, and
//! net/ipv4/tcp_bbr.c of Linux 6.12. Real numbers replace the kernel's fixed point. Time that the
//! kernel counts in jiffies is counted in ticks of `hz`. A possibly delayed ACK of a lone small
//! segment is not modelled.

mod aggregation;
mod min_rtt;
mod phases;
mod policer;
mod sizes;

use super::super::linux::{HZ, Jiffies};
use super::super::registry::constant;

use super::super::{
    AckSample, CongestionControl, CongestionEvent, CongestionKind, PathModel, RecoveryState, Window,
};
use super::{INITIAL_WINDOW, MIN_WINDOW, ProbeRttTimer, RoundCounter, USEC, WindowedMax};
use aggregation::Aggregation;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, number, span};
use fadeout_core::{Rate, Span, Time};
use policer::Policer;

/// Pacing gain of STARTUP, and gain of the window until the pipe is full: a little above 2/ln 2.
const HIGH_GAIN: f64 = 739.0 / 256.0;
const DRAIN_GAIN: f64 = 88.0 / 256.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR version 1. Bandwidths are in segments per second.
#[derive(Debug, Clone)]
pub struct BbrV1 {
    cwnd_gain_probe: f64,
    pacing_margin: f64,
    probe_rtt_duration: Span,
    min_rtt_window: Span,
    jiffies: Jiffies,
    random: Stream,

    mode: Mode,
    round: RoundCounter,
    bandwidth: WindowedMax,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    aggregation: Aggregation,
    policer: Policer,

    full_bandwidth: f64,
    full_bandwidth_rounds: u32,
    is_pipe_full: bool,

    cycle: usize,
    cycle_at: Time,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: f64,
    has_seen_rtt: bool,
    mss: f64,

    probe_rtt_timer: ProbeRttTimer,
    /// Delivered count up to which delivery-rate samples are limited by the application.
    limited_until: u64,
    is_restarting: bool,

    state: RecoveryState,
    is_conserving: bool,
    prior_cwnd: f64,
}

impl Registered<Stream> for BbrV1 {
    const ENTRY: Entry = Entry {
        name: "bbr",
        aliases: &["bbr1", "bbrv1"],
        family: "model-based",
        summary: "BBR version 1: rate and window computed from the bandwidth and the smallest \
                  round-trip time of the path.",
        citation: "Cardwell et al., ACM Queue 14(5), 2016; Linux 6.12 net/ipv4/tcp_bbr.c",
        parameters: &[
            number(
                "cwnd-gain",
                (1.0, 10.0, ""),
                "2",
                "Window in bandwidth-delay products.",
            ),
            number(
                "pacing-margin",
                (0.0, 0.5, ""),
                "0.01",
                "Fraction by which the pacing rate is smaller than the estimated bandwidth, to \
                 drain queues.",
            ),
            integer(
                "bandwidth-window",
                (1, 15, "rounds"),
                "10",
                "Length of the bandwidth filter.",
            ),
            span(
                "min-rtt-window",
                "10 s",
                "Length of the filter of the smallest round-trip time.",
            ),
            span(
                "probe-rtt-duration",
                "200 ms",
                "Time for which PROBE_RTT keeps the queue empty.",
            ),
            HZ,
        ],
    };

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
        BbrV1 {
            cwnd_gain_probe: settings.number("cwnd-gain"),
            pacing_margin: settings.number("pacing-margin"),
            probe_rtt_duration: constant(settings, "probe-rtt-duration"),
            min_rtt_window: constant(settings, "min-rtt-window"),
            jiffies: Jiffies::new(settings.integer("hz")),
            random,
            mode: Mode::Startup,
            round: RoundCounter::default(),
            bandwidth: WindowedMax::new(settings.integer("bandwidth-window").into()),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            full_bandwidth: 0.0,
            full_bandwidth_rounds: 0,
            is_pipe_full: false,
            cycle: 0,
            cycle_at: Time::ZERO,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_rate: 0.0,
            has_seen_rtt: false,
            mss: 1448.0,
            probe_rtt_timer: ProbeRttTimer::default(),
            limited_until: 0,
            is_restarting: false,
            state: RecoveryState::Open,
            is_conserving: false,
            prior_cwnd: 0.0,
        }
    }
}

impl CongestionControl for BbrV1 {
    fn on_established(&mut self, window: &mut Window, now: Time, srtt: Option<Span>) {
        self.mss = f64::from(window.mss);
        self.min_rtt = srtt;
        self.min_rtt_at = self.jiffies.begin_of(now);
        self.cycle_at = now;
        self.aggregation.restart(now);
        self.start_pacing(window.cwnd, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.mss = f64::from(window.mss);
        self.update_bandwidth(ack);
        self.update_aggregation(window, ack);
        self.update_cycle(ack);
        self.check_full_pipe(ack);
        self.check_drain(window, ack);
        self.update_min_rtt(window, ack);
        self.update_gains();
        if !self.has_seen_rtt && !ack.srtt.is_zero() {
            self.start_pacing(window.cwnd, Some(ack.srtt));
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_window(window, ack);
        self.assert_invariants();
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        // BBR does not use the slow-start threshold. The window is saved, and restored at the end
        // of recovery.
        self.save_window(window.cwnd);
        if event.kind == CongestionKind::Rto {
            window.cwnd = f64::from(event.in_flight) + 1.0;
        }
    }

    /// Resets the full-pipe estimate, as at the end of a round with a loss.
    fn on_timeout(&mut self, now: Time, lost: u64) {
        self.full_bandwidth = 0.0;
        self.round.is_start = true;
        self.state = RecoveryState::Loss;
        let is_probing = self.mode == Mode::ProbeBw;
        if self.policer.on_timeout(lost, self.mss, is_probing) {
            self.start_probe_bw(now);
        }
    }

    /// Resets the estimates after a spurious reduction without restoring the window. The ACK that
    /// ends recovery restores the window.
    fn on_spurious(&mut self, _window: &mut Window, _prior: &Window, _now: Time) {
        self.full_bandwidth = 0.0;
        self.full_bandwidth_rounds = 0;
        self.policer.forget();
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Time, _idle: Span) {
        // After a timeout no segment counts as in flight. This does not mean that the application
        // is idle.
        if self.state == RecoveryState::Loss {
            return;
        }
        self.is_restarting = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(window, now),
            Mode::Startup | Mode::Drain => {}
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
        (self.pacing_rate > 0.0).then(|| Rate::from_bits_per_sec((self.pacing_rate * 8.0) as u64))
    }

    fn phase(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBw => "probe-bw",
            Mode::ProbeRtt => "probe-rtt",
        }
    }

    fn path_model(&self) -> Option<PathModel> {
        Some(PathModel {
            bandwidth: self.bandwidth(),
            min_rtt: self.min_rtt,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
        })
    }
}

impl BbrV1 {
    /// Asserts the relations that hold after each ACK.
    fn assert_invariants(&self) {
        debug_assert!(
            self.pacing_rate.is_finite() && self.pacing_rate >= 0.0,
            "a pacing rate of {} bytes per second",
            self.pacing_rate
        );
        debug_assert!(
            self.pacing_gain > 0.0 && self.cwnd_gain > 0.0,
            "BBR would stop sending"
        );
        debug_assert!(
            self.bandwidth() >= 0.0 && self.bandwidth().is_finite(),
            "a bandwidth of {} segments per second",
            self.bandwidth()
        );
        debug_assert!(
            self.is_pipe_full
                || matches!(self.mode, Mode::Startup | Mode::ProbeRtt | Mode::ProbeBw),
            "the queue is drained before the pipe was full"
        );
    }

    /// Returns the bandwidth in use. A detected policer's rate replaces the measured bandwidth.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.max())
    }

    fn update_bandwidth(&mut self, ack: &AckSample) {
        self.round.on_ack(ack);
        if self.round.is_start {
            self.is_conserving = false;
        }
        let Some(rate) = ack.rate.segments_per_sec().map(sizes::in_units) else {
            return;
        };
        let is_limited = self.is_limited(ack);
        let input = policer::PolicerInput {
            mss: self.mss,
            is_round_start: self.round.is_start,
            is_probing: self.mode == Mode::ProbeBw,
            is_limited,
        };
        if self.policer.on_ack(ack, input) {
            self.start_probe_bw(ack.now);
        }
        if !is_limited || rate >= self.bandwidth.max() {
            self.bandwidth.update(self.round.count, rate);
        }
    }

    /// Returns the number of segments that will be in flight when the next segment departs.
    /// `in_flight` is the number now. Pacing delays the departure, and segments arrive meanwhile.
    fn in_network_at_departure(&self, ack: &AckSample, in_flight: u32) -> f64 {
        let wait_us = ack.departs_in.as_micros() as f64;
        let delivered = sizes::rounded_down(self.bandwidth() * wait_us / USEC);
        let burst = if self.pacing_gain > 1.0 {
            self.burst_goal()
        } else {
            0.0
        };
        (f64::from(in_flight) + burst - delivered).max(0.0)
    }

    fn is_limited(&self, ack: &AckSample) -> bool {
        ack.rate.is_app_limited || ack.rate.prior_delivered < self.limited_until
    }

    fn update_aggregation(&mut self, window: &Window, ack: &AckSample) {
        if ack.rate.segments_per_sec().is_some() {
            let bandwidth = self.bandwidth();
            self.aggregation
                .on_ack(ack, bandwidth, window.cwnd, self.round.is_start);
        }
    }

    fn start_pacing(&mut self, cwnd: f64, srtt: Option<Span>) {
        self.has_seen_rtt = srtt.is_some();
        let rtt = srtt.unwrap_or(Span::from_millis(1)).as_micros().max(1) as f64;
        self.pacing_rate = self.to_pacing_rate(cwnd * USEC / rtt, HIGH_GAIN);
    }

    /// Sets the pacing rate. Before the pipe is full the rate can only rise.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.to_pacing_rate(self.bandwidth(), gain);
        if self.is_pipe_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Converts a rate in segments per second, times `gain`, to bytes per second.
    fn to_pacing_rate(&self, segments_per_sec: f64, gain: f64) -> f64 {
        segments_per_sec * self.mss * gain * (1.0 - self.pacing_margin)
    }
}

/// Returns true if losses are under repair in this state, as BBR defines it.
fn is_recovering(state: RecoveryState) -> bool {
    matches!(state, RecoveryState::Recovery | RecoveryState::Loss)
}

#[cfg(test)]
mod tests;
