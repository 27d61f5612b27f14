//! Measurement of whether the window limits the sender (RFC 2861, Linux `tcp_cwnd_validate`), and
//! reduction of an unused window.

use super::Sender;
use crate::congestion::{CongestionControl, RecoveryState, Window};
use fadeout_core::{Span, Time};

/// Recent use of the window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    is_limited: bool,
    max_packets_out: u32,
    /// Sequence number that ends the observation when it is acknowledged.
    observed_until: u64,
    most_used: u32,
    stamp: Time,
    /// True if the last ACK measured a round-trip time.
    pub(super) rtt_is_fresh: bool,
}

impl Usage {
    pub(super) fn begin(&mut self, now: Time) {
        self.stamp = now;
    }
    /// Restarts the measurement after the window was set for another reason.
    pub(super) fn stamp(&mut self, now: Time) {
        self.stamp = now;
    }
    /// Returns true if the window may grow, because it was the limit. In slow start it must be less
    /// than twice the outstanding segments.
    pub(super) fn is_cwnd_limited(&self, window: &Window) -> bool {
        self.is_limited
            || (window.in_slow_start() && window.cwnd < 2.0 * f64::from(self.max_packets_out))
    }
}

impl Sender {
    /// Updates the measurement after sending.
    ///
    /// Standard: RFC 2861 §3.1.
    pub(super) fn validate_window(&mut self, now: Time, is_cwnd_limited: bool) {
        let packets_out = self.board.packets_out();
        let usage = &mut self.usage;
        if self.snd_una >= usage.observed_until
            || is_cwnd_limited
            || (!usage.is_limited && packets_out > usage.max_packets_out)
        {
            usage.is_limited = is_cwnd_limited;
            usage.max_packets_out = packets_out;
            usage.observed_until = self.snd_nxt;
        }
        if usage.is_cwnd_limited(&self.window) {
            usage.most_used = 0;
            usage.stamp = now;
            return;
        }
        usage.most_used = usage.most_used.max(packets_out);
        let is_stale = now.since(usage.stamp) >= self.rtt.rto();
        if self.config.slow_start_after_idle && is_stale && !self.congestion.controls_window() {
            self.shrink_to_usage(now);
        }
    }

    /// Removes half of the unused window after the application filled less than the window for a
    /// timeout. A sender whose writer waits for free space keeps its window
    /// (`tcp_cwnd_application_limited`).
    fn shrink_to_usage(&mut self, now: Time) {
        if self.state == RecoveryState::Open && !self.socket.has_waiting_writer() {
            let used = f64::from(self.usage.most_used.max(self.config.initial_window));
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = ((self.window.cwnd + used) / 2.0).floor();
            }
            self.usage.most_used = 0;
        }
        self.usage.stamp = now;
    }

    /// Halves the window for each timeout of idle time (RFC 2861 section 3.1, Linux
    /// `tcp_cwnd_restart`). Called when the application writes again after everything was
    /// acknowledged, or when the peer's window opens to waiting data.
    ///
    /// Standard: RFC 2861 §3.1.
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let idle = now.since(self.last_sent_at);
        if !self.config.slow_start_after_idle
            || self.congestion.controls_window()
            || idle <= self.rtt.rto()
            || self.snd_nxt == 1
        {
            return;
        }
        self.window.ssthresh = self.current_ssthresh();
        self.window.cwnd = window_after_idle(
            self.window.cwnd,
            self.config.initial_window,
            idle,
            self.rtt.rto(),
        );
        self.usage.stamp(now);
        self.usage.most_used = 0;
    }
}

fn window_after_idle(cwnd: f64, initial: u32, idle: Span, rto: Span) -> f64 {
    let floor = f64::from(initial).min(cwnd);
    let mut cwnd = cwnd;
    let mut left = idle;
    while left > rto && cwnd > floor {
        left -= rto;
        cwnd = (cwnd / 2.0).floor();
    }
    cwnd.max(floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_halves_for_each_idle_timeout() {
        // Reference vectors IDLE-1 and IDLE-2.
        let ms = Span::from_millis;
        assert_eq!(window_after_idle(80.0, 10, ms(700), ms(200)), 10.0);
        assert_eq!(window_after_idle(40.0, 10, ms(300), ms(200)), 20.0);
        // After exactly 400 ms the second timeout of 200 ms does not count yet, so the window is
        // halved once.
        assert_eq!(window_after_idle(40.0, 10, ms(400), ms(200)), 20.0);
    }
}
