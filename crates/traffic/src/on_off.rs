//! A source that sends at a constant rate for a while, pauses for a while, and so on.

use crate::registry::distribution;
use crate::{Ask, End, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Distribution, Rate, Span, Time};

/// Shortest on time that makes progress: a draw of zero must not stop the clock.
const SHORTEST: Span = Span::from_nanos(1_000);

/// A source in bursts.
#[derive(Debug, Clone)]
pub struct OnOff {
    rate: Rate,
    chunk: Bytes,
    on: Distribution,
    off: Distribution,
    random: Stream,
    /// The next write, and when this burst ends.
    next_at: Time,
    burst_ends_at: Time,
}

impl OnOff {
    pub(crate) fn new(given: &Parameters, random: Stream) -> OnOff {
        OnOff {
            rate: Rate::from_bits_per_sec(given.number("rate", 1e6) as u64),
            chunk: Bytes(given.number("chunk", 1448.0) as u64),
            on: distribution(given, "on", 1.0),
            off: distribution(given, "off", 1.0),
            random,
            next_at: Time::NEVER,
            burst_ends_at: Time::NEVER,
        }
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.next_at
    }

    pub(crate) fn on_start(&mut self, now: Time) {
        self.begin(now);
    }

    fn begin(&mut self, at: Time) {
        let lasts = Span::from_secs_f64(self.on.draw(&mut self.random)).max(SHORTEST);
        self.next_at = at;
        self.burst_ends_at = at.saturating_add(lasts);
    }

    /// Writes a chunk, and names the time of the next one: a chunk's time later, or after the
    /// pause when the burst is over by then.
    pub(crate) fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if now < self.next_at {
            return;
        }
        asks.push((End::Sender, Request::Write(self.chunk)));
        let next_at = self
            .next_at
            .saturating_add(self.rate.time_to_send(self.chunk).max(SHORTEST));
        if next_at < self.burst_ends_at {
            self.next_at = next_at;
        } else {
            let pause = Span::from_secs_f64(self.off.draw(&mut self.random));
            self.begin(self.burst_ends_at.max(now).saturating_add(pause));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_the_share_of_on_time() {
        // 1 Mbit/s for a second, silence for a second: 0.5 Mbit/s.
        let mut source = OnOff::new(&Parameters::default(), Stream::new(1, "application", 0));
        let (mut asks, mut bytes) = (Vec::new(), 0);
        source.on_start(Time::ZERO);
        let end = Time::ZERO + Span::from_secs(2000);
        while source.wake_at() < end {
            let now = source.wake_at();
            source.on_wake(now, &mut asks);
            for (_, request) in asks.drain(..) {
                if let Request::Write(Bytes(count)) = request {
                    bytes += count;
                }
            }
        }
        let mbps = bytes as f64 * 8.0 / 2000.0 / 1e6;
        // 1000 exponential periods each: five standard errors of the share are 0.06.
        assert!((mbps - 0.5).abs() < 0.06, "{mbps}");
    }
}
