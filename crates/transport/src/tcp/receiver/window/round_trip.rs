//! Round-trip time at the receiver, which sets the times at which the buffer may grow.

use super::AdvertisedWindow;
use crate::tcp::config::BufferGrowth;
use fadeout_core::{Span, Time};

impl AdvertisedWindow {
    /// Measures the round-trip time at the receiver from a full segment's timestamp echo. The
    /// millisecond clock must have advanced (Linux `tcp_rcv_rtt_measure_ts`). In Linux 6.18 a
    /// larger sample does not count while the buffer has unread data, because the program is then
    /// slow.
    pub(crate) fn measure_rtt(&mut self, now: Time, echo: u32, is_full: bool, has_unread: bool) {
        if !self.is_autotuned || echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let millis = (now.as_millis() as u32).wrapping_sub(echo);
        if !is_full || millis == 0 {
            return;
        }
        let sample = Span::from_millis(u64::from(millis));
        let skips_larger = has_unread && self.growth_rule == BufferGrowth::Linux618;
        self.rtt = Some(match self.rtt {
            Some(rtt) if rtt < sample && skips_larger => rtt,
            // A smaller sample replaces the estimate at once, and a larger one is smoothed. So the
            // estimate follows a queue that drains without delay.
            Some(rtt) if rtt < sample => rtt - rtt / 8 + sample / 8,
            _ => sample,
        });
    }

    /// Returns the receiver's round-trip time. `None` before the first sample.
    pub(crate) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// Sets the round-trip time to a value measured by the connection.
    pub(crate) fn set_rtt(&mut self, rtt: Option<Span>) {
        self.rtt = rtt;
    }

    /// Measures the round-trip time at the receiver from the window. A whole window needs at least
    /// one round trip to arrive, so the shortest time counts (Linux `tcp_rcv_rtt_measure`).
    pub(crate) fn measure_round(&mut self, now: Time, next: u64) {
        if !self.is_autotuned || next < self.round.0 {
            return;
        }
        if self.round.0 > 0 {
            let sample = now.since(self.round.1);
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
        }
        self.round = (next + self.last, now);
    }

    /// Returns the smaller of the receiver's round-trip time and `srtt` of the sending half. A zero
    /// `srtt` is unknown and does not count. Returns `srtt` if the receiver has no sample.
    pub(crate) fn rtt_or(&self, srtt: Span) -> Span {
        match (self.rtt, srtt.is_zero()) {
            (Some(rtt), false) => rtt.min(srtt),
            (Some(rtt), true) => rtt,
            (None, _) => srtt,
        }
    }
}
