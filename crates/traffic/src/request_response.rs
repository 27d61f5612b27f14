//! A dialogue: the receiver asks, gets an answer, thinks, and asks again.

use crate::registry::distribution;
use crate::{Ask, End, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Distribution, Span, Time};

/// A dialogue.
#[derive(Debug, Clone)]
pub struct RequestResponse {
    request: u64,
    response: Distribution,
    think: Distribution,
    random: Stream,
    /// Requests still to be made; `None` for no end.
    left: Option<u64>,
    /// Bytes still missing at the sender of the request, and at the receiver of the answer.
    missing_request: u64,
    missing_response: u64,
    think_until: Time,
    /// Bytes of all answers, when that is known in advance.
    size: Option<u64>,
}

impl RequestResponse {
    pub(crate) fn new(given: &Parameters, random: Stream) -> RequestResponse {
        let count = given.number("requests", 0.0) as u64;
        let response = distribution(given, "size", 100_000.0);
        let is_constant = response.kind == fadeout_core::DistributionKind::Constant;
        let known = is_constant && count > 0;
        RequestResponse {
            request: given.number("request-size", 400.0) as u64,
            response,
            think: distribution(given, "think", 1.0),
            random,
            left: (count > 0).then_some(count),
            missing_request: 0,
            missing_response: 0,
            think_until: Time::NEVER,
            size: known.then(|| count.saturating_mul((response.mean as u64).max(1))),
        }
    }

    pub(crate) fn size(&self) -> Option<Bytes> {
        self.size.map(Bytes)
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.think_until
    }

    /// The receiver makes its next request, or closes after the last.
    pub(crate) fn ask(&mut self, asks: &mut Vec<Ask>) {
        if let Some(left) = &mut self.left {
            if *left == 0 {
                asks.push((End::Sender, Request::Close));
                return;
            }
            *left -= 1;
        }
        self.missing_request = self.request;
        asks.push((End::Receiver, Request::Write(Bytes(self.request))));
    }

    pub(crate) fn on_delivered(&mut self, now: Time, at: End, bytes: Bytes, asks: &mut Vec<Ask>) {
        if at == End::Sender && self.missing_request > 0 {
            self.missing_request = self.missing_request.saturating_sub(bytes.0);
            if self.missing_request == 0 {
                let answer = (self.response.draw(&mut self.random) as u64).max(1);
                self.missing_response = answer;
                asks.push((End::Sender, Request::Write(Bytes(answer))));
            }
        } else if at == End::Receiver && self.missing_response > 0 {
            self.missing_response = self.missing_response.saturating_sub(bytes.0);
            if self.missing_response == 0 {
                let pause = Span::from_secs_f64(self.think.draw(&mut self.random));
                self.think_until = now.saturating_add(pause);
            }
        }
    }

    pub(crate) fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.think_until <= now {
            self.think_until = Time::NEVER;
            self.ask(asks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Value;

    #[test]
    fn a_dialogue_takes_turns_and_ends() {
        let given = Parameters(vec![
            ("requests".to_owned(), Value::Number(1.0)),
            ("size".to_owned(), Value::Number(1000.0)),
        ]);
        let mut dialogue = RequestResponse::new(&given, Stream::new(1, "application", 0));
        assert_eq!(dialogue.size(), Some(Bytes(1000)));
        let mut asks = Vec::new();
        dialogue.ask(&mut asks);
        dialogue.on_delivered(Time::ZERO, End::Sender, Bytes(400), &mut asks);
        dialogue.on_delivered(Time::ZERO, End::Receiver, Bytes(1000), &mut asks);
        let thinks_until = dialogue.wake_at();
        assert!(!thinks_until.is_never());
        dialogue.on_wake(thinks_until, &mut asks);
        let expected = [
            (End::Receiver, Request::Write(Bytes(400))),
            (End::Sender, Request::Write(Bytes(1000))),
            (End::Sender, Request::Close),
        ];
        assert_eq!(asks, expected);
        assert!(dialogue.wake_at().is_never());
    }
}
