//! The smallest round-trip time, and PROBE_RTT to find it again.

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

    /// Four segments in flight for 200 ms and a round trip.
    fn probe_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        // Low rates of this phase say nothing about the path.
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

    /// After an idle period no ACK ends PROBE_RTT.
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
