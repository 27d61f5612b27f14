//! Echo over UDP, with requests at a constant period and an answer to each.

use crate::countdown::Countdown;
use crate::registry::{Program, count, payload};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, span};
use fadeout_core::{Bytes, Protocol, Span, Time};

/// Shortest period, so that time always advances.
const SHORTEST: Span = Span::from_nanos(1_000);

fadeout_core::parameters! {
    /// Parameters for scenarios.
    #[derive(Debug, Clone, Copy)]
    struct EchoParameters {
        /// Time between two requests. It does not depend on answers.
        period: Span = span("100 ms"),
        /// Payload of a request, to which UDP and IP add 28 bytes. The default is the size that
        /// ping sends.
        size: Bytes = payload("56 B"),
        /// Payload of an answer. 0 means the size of the request.
        answer_size: Bytes = integer((0, 65_507, "bytes"), "0 B"),
        /// Number of requests. 0 means that requests continue to the end of the run.
        requests: Countdown = count("0"),
    }
}

/// Requests and their answers.
#[derive(Debug, Clone)]
pub struct Echo {
    period: Span,
    request: Bytes,
    answer: Bytes,
    /// Number of remaining requests.
    left: Countdown,
    next_at: Time,
}

impl Registered<Stream> for Echo {
    const ENTRY: Entry = Entry::new(
        "echo",
        "application",
        "Sends UDP datagrams at regular times, and the other end answers each of them at once.",
        "RFC 862",
    )
    .with_aliases(&["ping"])
    .with_parameters(EchoParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Stream) -> Self {
        let given = EchoParameters::read(settings);
        Echo {
            period: given.period.max(SHORTEST),
            request: given.size,
            answer: match given.answer_size {
                Bytes(0) => given.size,
                size => size,
            },
            left: given.requests,
            next_at: Time::NEVER,
        }
    }
}

impl Echo {
    fn ask(&mut self, now: Time, asks: &mut Vec<Ask>) {
        asks.push((FlowEnd::Sender, Request::Write(self.request)));
        debug_assert!(!self.left.is_over(), "it asks more often than it is to");
        self.left.use_one();
        self.next_at = if self.left.is_over() {
            Time::NEVER
        } else {
            now.saturating_add(self.period)
        };
        debug_assert!(self.next_at > now, "the next request is due in the past");
    }
}

impl Program for Echo {
    fn protocol(&self) -> Protocol {
        Protocol::Udp
    }

    fn largest_datagram(&self) -> Bytes {
        self.request.max(self.answer)
    }

    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        self.ask(now, asks);
    }

    fn on_delivered(&mut self, _: Time, at: FlowEnd, _: Bytes, asks: &mut Vec<Ask>) {
        if at == FlowEnd::Receiver {
            asks.push((FlowEnd::Receiver, Request::Write(self.answer)));
        }
    }

    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.next_at <= now {
            self.ask(now, asks);
        }
    }

    fn wake_at(&self) -> Time {
        self.next_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    #[test]
    fn each_request_is_answered_and_the_period_waits_for_none() {
        let given = Parameters(vec![
            ("requests".to_owned(), Value::Number(2.0)),
            ("answer-size".to_owned(), Value::Number(1000.0)),
        ]);
        let settings = Settings::new(&Echo::ENTRY, &given);
        let mut echo = Echo::from_settings(&settings, Stream::new(1, "application", 0));
        let mut asks = Vec::new();
        echo.on_start(Time::ZERO, &mut asks);
        assert_eq!(echo.wake_at(), Time::ZERO + Span::from_millis(100));
        echo.on_wake(echo.wake_at(), &mut asks);
        assert!(echo.wake_at().is_never());
        echo.on_delivered(Time::ZERO, FlowEnd::Receiver, Bytes(56), &mut asks);
        echo.on_delivered(Time::ZERO, FlowEnd::Sender, Bytes(1000), &mut asks);
        let expected = [
            (FlowEnd::Sender, Request::Write(Bytes(56))),
            (FlowEnd::Sender, Request::Write(Bytes(56))),
            (FlowEnd::Receiver, Request::Write(Bytes(1000))),
        ];
        assert_eq!(asks, expected);
    }
}
