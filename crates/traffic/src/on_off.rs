//! Source that alternates between sending at a constant rate and pausing.

use crate::registry::{Program, bytes, kind, shape};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number, span};
use fadeout_core::{Bytes, Distribution, DistributionKind, Rate, Span, Time};

/// Shortest on time. A draw of zero must not stop the clock.
const SHORTEST: Span = Span::from_nanos(1_000);

fadeout_core::parameters! {
    /// Parameters for scenarios.
    #[derive(Debug, Clone, Copy)]
    struct OnOffParameters {
        /// Sending rate during an on time.
        rate: Rate = number((1.0, 1e13, "bit/s"), "1 Mbit/s"),
        /// Size of each write by the application. The default is a full segment.
        chunk: Bytes = bytes("1448 B"),
        /// Mean length of an on time.
        on: Span = span("1 s"),
        /// Distribution of the lengths of on times.
        on_distribution: DistributionKind = kind("exponential"),
        on_shape: f64 = shape(),
        /// Mean length of a pause.
        off: Span = span("1 s"),
        /// Distribution of the lengths of pauses.
        off_distribution: DistributionKind = kind("exponential"),
        off_shape: f64 = shape(),
    }
}

/// Source with bursts and pauses.
#[derive(Debug, Clone)]
pub struct OnOff {
    rate: Rate,
    chunk: Bytes,
    on: Distribution,
    off: Distribution,
    random: Stream,
    /// Time of the next write, and of the end of the burst.
    next_at: Time,
    burst_ends_at: Time,
}

impl Registered<Stream> for OnOff {
    const ENTRY: Entry = Entry::new(
        "on-off",
        "application",
        "Sends at a constant rate during on times, with pauses in between.",
        "",
    )
    .with_aliases(&["bursts"])
    .with_parameters(OnOffParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
        let given = OnOffParameters::read(settings);
        OnOff {
            rate: given.rate,
            chunk: given.chunk,
            on: Distribution {
                kind: given.on_distribution,
                mean: given.on.as_secs_f64(),
                shape: given.on_shape,
            },
            off: Distribution {
                kind: given.off_distribution,
                mean: given.off.as_secs_f64(),
                shape: given.off_shape,
            },
            random,
            next_at: Time::NEVER,
            burst_ends_at: Time::NEVER,
        }
    }
}

impl OnOff {
    fn begin(&mut self, at: Time) {
        let lasts = Span::from_secs_f64(self.on.draw(&mut self.random)).max(SHORTEST);
        debug_assert!(
            self.next_at.is_never() || at >= self.next_at,
            "a burst begins before the one before it ended"
        );
        self.next_at = at;
        self.burst_ends_at = at.saturating_add(lasts);
    }
}

impl Program for OnOff {
    fn on_start(&mut self, now: Time, _: &mut Vec<Ask>) {
        self.begin(now);
    }

    /// Writes a chunk and sets the time of the next chunk. It is one chunk later, or after the
    /// pause if the burst is over by then.
    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if now < self.next_at {
            return;
        }
        asks.push((FlowEnd::Sender, Request::Write(self.chunk)));
        let next_at = self
            .next_at
            .saturating_add(self.rate.time_to_send(self.chunk).max(SHORTEST));
        if next_at < self.burst_ends_at {
            self.next_at = next_at;
        } else {
            debug_assert!(
                self.next_at <= self.burst_ends_at,
                "a chunk left after its burst"
            );
            let pause = Span::from_secs_f64(self.off.draw(&mut self.random));
            self.begin(self.burst_ends_at.max(now).saturating_add(pause));
        }
        debug_assert!(self.burst_ends_at > self.next_at, "a burst is empty");
    }

    fn wake_at(&self) -> Time {
        self.next_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Parameters;

    #[test]
    fn the_mean_rate_is_the_share_of_on_time() {
        // 1 Mbit/s for a second and silence for a second make 0.5 Mbit/s.
        let settings = Settings::new(&OnOff::ENTRY, Parameters::NONE);
        let mut source = OnOff::from_settings(&settings, Stream::new(1, "application", 0));
        let (mut asks, mut bytes) = (Vec::new(), 0);
        source.on_start(Time::ZERO, &mut asks);
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
        // With 1000 exponential periods each, five standard errors of the share are 0.06.
        assert!((mbps - 0.5).abs() < 0.06, "{mbps}");
    }
}
