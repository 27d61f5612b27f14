//! Changes of window and pacing rate by the caller of a simulation.

use super::Sender;
use crate::congestion::{Congestion, Held};
use fadeout_core::{Bytes, Rate, Time};

/// Change of a sender by the caller of a simulation. Windows are in segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steering {
    /// Congestion window from now on. The congestion control continues from it.
    Window(f64),
    /// Congestion window that neither ACKs nor losses change. It replaces the congestion control
    /// for the rest of the connection.
    HeldWindow(f64),
    /// Slow-start threshold from now on. The congestion control continues from it.
    Threshold(f64),
    /// Pacing rate in place of the rate of the connection's profile or congestion control. `None`
    /// ends this.
    Pacing(Option<Rate>),
}

impl Sender {
    /// Applies a change. The caller then sends the data that the change allows.
    pub(in crate::tcp) fn steer(&mut self, now: Time, steering: Steering) {
        match steering {
            Steering::Window(segments) => self.set_cwnd(segments),
            Steering::HeldWindow(segments) => {
                self.set_cwnd(segments);
                let held = Held {
                    cwnd: self.window.cwnd,
                };
                // The ECN feedback that both ends agreed on stays.
                self.congestion = Congestion::Held(held);
            }
            Steering::Threshold(segments) => self.window.ssthresh = segments,
            Steering::Pacing(rate) => self.steer_pacing(now, rate),
        }
        self.statistics.max_cwnd = self.statistics.max_cwnd.max(self.window.cwnd);
        self.update_pacing_rate();
    }

    fn steer_pacing(&mut self, now: Time, rate: Option<Rate>) {
        self.pacer.steered = rate;
        if let Some(rate) = rate {
            // The departure clock was set at the old rate. A segment does not wait longer than a
            // segment takes at the new rate.
            let one = rate.time_to_send(Bytes(self.counted_mss()));
            self.pacer.next_at = self.pacer.next_at.min(now.saturating_add(one));
        } else if !self.is_pacing() {
            self.pacer.next_at = self.pacer.next_at.min(now);
        }
    }
}
