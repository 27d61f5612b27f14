//! A sender that never runs out of data.

use crate::{Ask, End, Request};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Span, Time};

/// Always has data to send; never closes.
///
/// It can begin with a greeting, a first small write that stands alone for a while: iperf3 sends a
/// cookie of 37 bytes on each data connection and waits for its control connection. The greeting
/// is a round-trip time sample without the transmission time of a full segment, which algorithms
/// that keep a smallest round-trip time compare all later ones with.
#[derive(Debug, Clone, Copy)]
pub struct Bulk {
    greeting: Bytes,
    pause: Span,
    starts_at: Time,
}

impl Bulk {
    pub(crate) fn new(parameters: &Parameters) -> Bulk {
        Bulk {
            greeting: Bytes(parameters.number("greeting", 0.0) as u64),
            pause: parameters.span("pause", Span::ZERO),
            starts_at: Time::NEVER,
        }
    }

    pub(crate) fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.greeting.0 == 0 {
            asks.push((End::Sender, Request::WriteForever));
            return;
        }
        asks.push((End::Sender, Request::Write(self.greeting)));
        self.starts_at = now.saturating_add(self.pause);
    }

    pub(crate) fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.starts_at <= now {
            self.starts_at = Time::NEVER;
            asks.push((End::Sender, Request::WriteForever));
        }
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.starts_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Value;

    #[test]
    fn a_greeting_stands_alone_until_the_pause_is_over() {
        let pause = Span::from_millis(100);
        let given = Parameters(vec![
            ("greeting".to_owned(), Value::Number(37.0)),
            ("pause".to_owned(), Value::Span(pause)),
        ]);
        let mut bulk = Bulk::new(&given);
        let mut asks = Vec::new();
        bulk.on_start(Time::ZERO, &mut asks);
        assert_eq!(asks, [(End::Sender, Request::Write(Bytes(37)))]);
        assert_eq!(bulk.wake_at(), Time::ZERO + pause);
        bulk.on_wake(Time::ZERO + pause, &mut asks);
        assert_eq!(asks[1..], [(End::Sender, Request::WriteForever)]);
        assert!(bulk.wake_at().is_never());
    }
}
