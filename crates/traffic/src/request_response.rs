//! Dialogue in which the receiver asks, gets an answer, thinks, and asks again.

use crate::countdown::Countdown;
use crate::registry::{Program, bytes, count, kind, shape};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, span};
use fadeout_core::{Bytes, Distribution, DistributionKind, Span, Time};

fadeout_core::parameters! {
    /// Parameters for scenarios.
    #[derive(Debug, Clone, Copy)]
    struct DialogueParameters {
        /// Number of requests. 0 means that requests continue to the end of the run.
        requests: Countdown = count("0"),
        /// Size of a request.
        request_size: Bytes = bytes("400 B"),
        /// Mean size of an answer.
        size: Bytes = bytes("100 kB"),
        /// Distribution of the sizes of answers.
        size_distribution: DistributionKind = kind("constant"),
        size_shape: f64 = shape(),
        /// Mean time between an answer and the next request (think time).
        think: Span = span("1 s"),
        /// Distribution of the think times.
        think_distribution: DistributionKind = kind("exponential"),
        think_shape: f64 = shape(),
    }
}

/// Dialogue of requests and answers.
#[derive(Debug, Clone)]
pub struct RequestResponse {
    request: u64,
    response: Distribution,
    think: Distribution,
    random: Stream,
    /// Number of remaining requests.
    left: Countdown,
    /// Missing bytes of the current request at the sender, and of the current answer at the
    /// receiver.
    missing_request: u64,
    missing_response: u64,
    think_until: Time,
    /// Bytes of all answers. `None` if they are not known in advance.
    size: Option<u64>,
}

impl Registered<Stream> for RequestResponse {
    const ENTRY: Entry = Entry::new(
        "request-response",
        "application",
        "The receiver sends a request and waits for the answer. After a think time it sends the \
         next request on the same connection.",
        "",
    )
    .with_aliases(&["dialogue", "rpc"])
    .with_parameters(DialogueParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
        let given = DialogueParameters::read(settings);
        let response = Distribution {
            kind: given.size_distribution,
            mean: given.size.0 as f64,
            shape: given.size_shape,
        };
        let is_known = response.kind == DistributionKind::Constant;
        let count = given.requests.left().filter(|_| is_known);
        RequestResponse {
            request: given.request_size.0,
            response,
            think: Distribution {
                kind: given.think_distribution,
                mean: given.think.as_secs_f64(),
                shape: given.think_shape,
            },
            random,
            left: given.requests,
            missing_request: 0,
            missing_response: 0,
            think_until: Time::NEVER,
            size: count.map(|count| count.saturating_mul((response.mean as u64).max(1))),
        }
    }
}

impl RequestResponse {
    /// Makes the receiver's next request, or closes after the last.
    fn ask(&mut self, asks: &mut Vec<Ask>) {
        if !self.left.use_one() {
            asks.push((FlowEnd::Sender, Request::Close));
            return;
        }
        debug_assert!(
            self.missing_request == 0 && self.missing_response == 0,
            "it asks again before the answer is there"
        );
        self.missing_request = self.request;
        asks.push((FlowEnd::Receiver, Request::Write(Bytes(self.request))));
    }
}

impl Program for RequestResponse {
    fn opener(&self) -> FlowEnd {
        FlowEnd::Receiver
    }

    fn on_start(&mut self, _: Time, asks: &mut Vec<Ask>) {
        self.ask(asks);
    }

    fn on_delivered(&mut self, now: Time, at: FlowEnd, bytes: Bytes, asks: &mut Vec<Ask>) {
        if at == FlowEnd::Sender && self.missing_request > 0 {
            self.missing_request = self.missing_request.saturating_sub(bytes.0);
            if self.missing_request == 0 {
                let answer = (self.response.draw(&mut self.random) as u64).max(1);
                debug_assert!(self.missing_response == 0, "two answers are under way");
                self.missing_response = answer;
                asks.push((FlowEnd::Sender, Request::Write(Bytes(answer))));
            }
        } else if at == FlowEnd::Receiver && self.missing_response > 0 {
            self.missing_response = self.missing_response.saturating_sub(bytes.0);
            if self.missing_response == 0 {
                let pause = Span::from_secs_f64(self.think.draw(&mut self.random));
                debug_assert!(self.think_until.is_never(), "it thinks about two answers");
                self.think_until = now.saturating_add(pause);
            }
        }
    }

    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.think_until <= now {
            self.think_until = Time::NEVER;
            self.ask(asks);
        }
    }

    fn wake_at(&self) -> Time {
        self.think_until
    }

    fn size(&self) -> Option<Bytes> {
        self.size.map(Bytes)
    }

    fn woken_end(&self) -> FlowEnd {
        FlowEnd::Receiver
    }

    /// Returns true, because the receiver knows the length of an answer that the sender draws.
    fn acts_as_one(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    #[test]
    fn a_dialogue_takes_turns_and_ends() {
        let given = Parameters(vec![
            ("requests".to_owned(), Value::Number(1.0)),
            ("size".to_owned(), Value::Number(1000.0)),
        ]);
        let mut dialogue = RequestResponse::from_settings(
            &Settings::new(&RequestResponse::ENTRY, &given),
            Stream::new(1, "application", 0),
        );
        assert_eq!(dialogue.size(), Some(Bytes(1000)));
        let mut asks = Vec::new();
        dialogue.ask(&mut asks);
        dialogue.on_delivered(Time::ZERO, FlowEnd::Sender, Bytes(400), &mut asks);
        dialogue.on_delivered(Time::ZERO, FlowEnd::Receiver, Bytes(1000), &mut asks);
        let thinks_until = dialogue.wake_at();
        assert!(!thinks_until.is_never());
        dialogue.on_wake(thinks_until, &mut asks);
        let expected = [
            (FlowEnd::Receiver, Request::Write(Bytes(400))),
            (FlowEnd::Sender, Request::Write(Bytes(1000))),
            (FlowEnd::Sender, Request::Close),
        ];
        assert_eq!(asks, expected);
        assert!(dialogue.wake_at().is_never());
    }
}
