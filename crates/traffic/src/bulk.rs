//! Sender that always has data.

use crate::registry::Program;
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, span};
use fadeout_core::{Bytes, Span, Time};

/// Sender that always has data and never closes.
///
/// The data can begin with a greeting, which is a small write before the other data. For example,
/// iperf3 sends a cookie of 37 bytes on each data connection and waits for its control connection.
/// The round-trip time sample of the greeting lacks the transmission time of a full segment.
/// Algorithms with a smallest round-trip time compare all later samples with it.
#[derive(Debug, Clone, Copy)]
pub struct Bulk {
    parameters: BulkParameters,
    starts_at: Time,
}

fadeout_core::parameters! {
    /// Parameters for scenarios.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct BulkParameters {
        /// Size of a small first write that the application sends in a packet of its own. The
        /// cookie of iperf3 has 37 bytes.
        greeting: Bytes = integer((0, 65_535, "bytes"), "0 B"),
        /// Time from the opening of the connection to the data after the greeting. Only used with
        /// a `greeting`.
        pause: Span = span("0 s"),
    }
}

impl Registered<Stream> for Bulk {
    const ENTRY: Entry = Entry::new(
        "bulk",
        "application",
        "Always has data to send, until the end of the run.",
        "",
    )
    .with_aliases(&["iperf", "greedy"])
    .with_parameters(BulkParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Stream) -> Self {
        Bulk {
            parameters: BulkParameters::read(settings),
            starts_at: Time::NEVER,
        }
    }
}

impl Program for Bulk {
    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        let BulkParameters { greeting, pause } = self.parameters;
        if greeting.0 == 0 {
            asks.push((FlowEnd::Sender, Request::WriteForever));
            return;
        }
        asks.push((FlowEnd::Sender, Request::Write(greeting)));
        self.starts_at = now.saturating_add(pause);
    }

    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.starts_at <= now {
            debug_assert!(self.parameters.greeting.0 > 0, "a pause after no greeting");
            self.starts_at = Time::NEVER;
            asks.push((FlowEnd::Sender, Request::WriteForever));
        }
    }

    fn wake_at(&self) -> Time {
        self.starts_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_stands_alone_until_the_pause_is_over() {
        let pause = Span::from_millis(100);
        let parameters = BulkParameters {
            greeting: Bytes(37),
            pause,
        };
        let mut bulk = Bulk {
            parameters,
            starts_at: Time::NEVER,
        };
        let mut asks = Vec::new();
        bulk.on_start(Time::ZERO, &mut asks);
        assert_eq!(asks, [(FlowEnd::Sender, Request::Write(Bytes(37)))]);
        assert_eq!(bulk.wake_at(), Time::ZERO + pause);
        bulk.on_wake(Time::ZERO + pause, &mut asks);
        assert_eq!(asks[1..], [(FlowEnd::Sender, Request::WriteForever)]);
        assert!(bulk.wake_at().is_never());
    }
}
