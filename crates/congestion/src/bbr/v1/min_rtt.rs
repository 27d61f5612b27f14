//! Minimum round-trip time, and the phase PROBE_RTT that measures it again.

use super::super::super::{AckSample, Window};
use super::{BbrV1, HIGH_GAIN, MIN_WINDOW, Mode};
use fadeout_core::Time;

impl BbrV1 {
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        let tick = self.jiffies.begin_of(ack.now);
        let has_expired = tick.since(self.min_rtt_at) > self.min_rtt_window;
        if let Some(rtt) = ack.rtt
            && (has_expired || self.min_rtt.is_none_or(|min| rtt < min))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = tick;
        }
        if has_expired && !self.is_restarting && self.mode != Mode::ProbeRtt {
            self.save_window(window.cwnd);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_timer.start();
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(window, ack);
        }
        if ack.rate.delivered > 0 {
            self.is_restarting = false;
        }
    }

    /// Runs PROBE_RTT: four segments in flight for 200 ms and at least one round trip.
    fn probe_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        // Delivery rates of PROBE_RTT are low by design, so they must not enter the bandwidth
        // estimate.
        self.limited_until = ack.delivered + u64::from(ack.in_flight);
        let duration = self.probe_rtt_duration;
        let timer = &mut self.probe_rtt_timer;
        let ticked = AckSample {
            now: self.jiffies.begin_of(ack.now),
            ..*ack
        };
        if timer.on_ack(&ticked, &mut self.round, MIN_WINDOW, duration) {
            self.leave_probe_rtt(window, ack.now);
        }
    }

    /// Ends PROBE_RTT after an idle period, in which no ACK could end it.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_timer.is_over(self.jiffies.begin_of(now)) {
            self.leave_probe_rtt(window, now);
        }
    }

    fn leave_probe_rtt(&mut self, window: &mut Window, now: Time) {
        self.min_rtt_at = self.jiffies.begin_of(now);
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_pipe_full {
            self.start_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
            (self.pacing_gain, self.cwnd_gain) = (HIGH_GAIN, HIGH_GAIN);
        }
    }
}
