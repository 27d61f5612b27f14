//! The smallest round-trip time, and PROBE_RTT to find it again.

use super::super::super::{AckSample, Window};
use super::{BbrV1, HIGH_GAIN, MIN_WINDOW, Mode};
use fadeout_core::Time;

impl BbrV1 {
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, ack: &AckSample) {
        let has_expired = ack.now.since(self.min_rtt_at) > self.min_rtt_window;
        if let Some(rtt) = ack.rtt
            && (has_expired || self.min_rtt.is_none_or(|min| rtt < min))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = ack.now;
        }
        if has_expired && !self.is_restarting && self.mode != Mode::ProbeRtt {
            self.save_window(window.cwnd);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done_at = None;
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
        if self.probe_rtt_done_at.is_none() {
            if f64::from(ack.in_flight) <= MIN_WINDOW {
                self.probe_rtt_done_at = Some(ack.now.saturating_add(self.probe_rtt_duration));
                self.has_probe_rtt_round_passed = false;
                self.round.restart(ack.delivered);
            }
        } else {
            self.has_probe_rtt_round_passed |= self.round.is_start;
            if self.has_probe_rtt_round_passed {
                self.check_probe_rtt_done(window, ack.now);
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_pipe_full {
            self.start_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
            (self.pacing_gain, self.cwnd_gain) = (HIGH_GAIN, HIGH_GAIN);
        }
    }
}
