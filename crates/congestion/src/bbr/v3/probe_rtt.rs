//! PROBE_RTT: the phase that empties the queue to measure the smallest round-trip time (section
//! 5.3.4).

use super::super::super::{AckSample, Window};
use super::{BbrV3, State};
use fadeout_core::Time;

impl BbrV3 {
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        let is_due = self.model.min_rtt.has_expired();
        if self.state != State::ProbeRtt && is_due && !self.is_restarting {
            self.save_window(window.cwnd);
            self.state = State::ProbeRtt;
            self.probe_rtt_timer.start();
            self.probe.stop();
            self.model.round.restart(ack.delivered);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(window, ack);
        }
        if ack.rate.delivered > 0 {
            self.is_restarting = false;
        }
    }

    fn probe_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        // Delivery rates of PROBE_RTT are low by design, so they must not enter the bandwidth
        // estimate.
        self.model.limited_until = ack.delivered + u64::from(ack.in_flight);
        let duration = self.constants.probe_rtt_duration;
        let small = self.probe_rtt_window();
        let timer = &mut self.probe_rtt_timer;
        if timer.on_ack(ack, &mut self.model.round, small, duration) {
            self.leave_probe_rtt(window, ack.now);
        }
    }

    /// Ends PROBE_RTT after an idle period, in which no ACK could end it.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_timer.is_over(now) {
            self.leave_probe_rtt(window, now);
        }
    }

    fn leave_probe_rtt(&mut self, window: &mut Window, now: Time) {
        self.model.min_rtt.on_emptied(now);
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.model.bounds.lift_short_term();
        if self.is_pipe_full {
            self.start_down(now, self.model.limited_until);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
