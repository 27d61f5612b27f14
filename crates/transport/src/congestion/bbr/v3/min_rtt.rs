//! The smallest round-trip time and PROBE_RTT (section 5.3.4).

use super::super::super::{AckSample, Window};
use super::{BbrV3, State};
use fadeout_core::Time;

impl BbrV3 {
    pub(super) fn update_min_rtt(&mut self, ack: &AckSample) {
        let age = ack.now.since(self.probe_rtt_min_at);
        self.has_probe_rtt_expired = age > self.constants.probe_rtt_interval;
        if let Some(rtt) = ack.rtt
            && (self.has_probe_rtt_expired || self.probe_rtt_min.is_none_or(|min| rtt < min))
        {
            self.probe_rtt_min = Some(rtt);
            self.probe_rtt_min_at = ack.now;
        }
        let has_expired = ack.now.since(self.min_rtt_at) > self.constants.min_rtt_window;
        if let Some(recent) = self.probe_rtt_min
            && (has_expired || self.min_rtt.is_none_or(|min| recent < min))
        {
            self.min_rtt = Some(recent);
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        if self.state != State::ProbeRtt && self.has_probe_rtt_expired && !self.is_restarting {
            self.save_window(window.cwnd);
            self.state = State::ProbeRtt;
            self.probe_rtt_timer.start();
            self.probe.stop();
            self.round.restart(ack.delivered);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(window, ack);
        }
        if ack.rate.delivered > 0 {
            self.is_restarting = false;
        }
    }

    fn probe_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        // Low rates of this phase say nothing about the path.
        self.limited_until = ack.delivered + u64::from(ack.in_flight);
        let duration = self.constants.probe_rtt_duration;
        let small = self.probe_rtt_window();
        let timer = &mut self.probe_rtt_timer;
        if timer.on_ack(ack, &mut self.round, small, duration) {
            self.leave_probe_rtt(window, ack.now);
        }
    }

    /// After an idle period no ACK ends PROBE_RTT.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_timer.is_over(now) {
            self.leave_probe_rtt(window, now);
        }
    }

    fn leave_probe_rtt(&mut self, window: &mut Window, now: Time) {
        self.probe_rtt_min_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds.lift_short_term();
        if self.is_pipe_full {
            self.start_down(now, self.limited_until);
            self.start_cruise();
        } else {
            self.start_startup();
        }
    }
}
