//! A full buffer: there is always something to send, and no transport protocol that could hold it back.

use crate::registry::{Program, payload};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};
use fadeout_core::{Bytes, Protocol, Span, Time};

/// How long nothing may arrive before one more datagram is sent, lest all that were on the way are lost
/// and nobody learns of it.
const PATIENCE: Span = Span::from_secs(1);

fadeout_core::parameters! {
    /// The parameters that a scenario may give.
    #[derive(Debug, Clone, Copy)]
    struct FullBufferParameters {
        /// Payload of a datagram, to which UDP and IP add 28 bytes.
        size: Bytes = payload("1472 B"),
        /// Payload kept under way. A value above the data of a slot and its retransmissions keeps
        /// the buffer full.
        backlog: Bytes = integer((1, 1 << 30, "bytes"), "256 kB"),
    }
}

/// Keeps so much on the way: the sender knows at once what has arrived and what is lost.
#[derive(Debug, Clone)]
pub struct FullBuffer {
    size: Bytes,
    /// Datagrams to keep on the way.
    kept: u64,
    on_the_way: u64,
    patient_until: Time,
}

impl Registered<Stream> for FullBuffer {
    const ENTRY: Entry = Entry::new(
        "full-buffer",
        "application",
        "Keeps so many UDP datagrams under way that the bottleneck always has data to send.",
        "TR 36.814 clause A.2.1.3",
    )
    .with_parameters(FullBufferParameters::PARAMETERS);

    fn with(settings: &Settings<'_>, _: Stream) -> Self {
        let given = FullBufferParameters::read(settings);
        FullBuffer {
            size: given.size,
            kept: given.backlog.0.div_ceil(given.size.0.max(1)).max(1),
            on_the_way: 0,
            patient_until: Time::NEVER,
        }
    }
}

impl FullBuffer {
    fn send(&mut self, datagrams: u64, asks: &mut Vec<Ask>) {
        for _ in 0..datagrams {
            asks.push((FlowEnd::Sender, Request::Write(self.size)));
        }
        self.on_the_way += datagrams;
    }
}

impl Program for FullBuffer {
    fn protocol(&self) -> Protocol {
        Protocol::Udp
    }

    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        self.patient_until = now.saturating_add(PATIENCE);
        self.send(self.kept, asks);
    }

    fn on_datagram(&mut self, now: Time, at: FlowEnd, _: Bytes, settled: u64, asks: &mut Vec<Ask>) {
        if at != FlowEnd::Receiver {
            return;
        }
        self.patient_until = now.saturating_add(PATIENCE);
        self.on_the_way = self.on_the_way.saturating_sub(settled);
        self.send(self.kept.saturating_sub(self.on_the_way), asks);
    }

    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.patient_until <= now {
            self.patient_until = now.saturating_add(PATIENCE);
            self.send(1, asks);
        }
    }

    fn wake_at(&self) -> Time {
        self.patient_until
    }

    /// The sender knows at once what has arrived.
    fn acts_as_one(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    #[test]
    fn as_much_is_on_the_way_whatever_arrives_and_whatever_is_lost() {
        let backlog = ("backlog".to_owned(), Value::Number(14_720.0));
        let given = Parameters(vec![backlog]);
        let settings = Settings::new(&FullBuffer::ENTRY, &given);
        let mut full = FullBuffer::with(&settings, Stream::new(1, "application", 0));
        let mut asks = Vec::new();
        let mut sends = |full: &mut FullBuffer, settled: Option<u64>| {
            asks.clear();
            match settled {
                None => full.on_wake(full.wake_at(), &mut asks),
                Some(0) => full.on_start(Time::ZERO, &mut asks),
                Some(n) => {
                    let (at, size) = (FlowEnd::Receiver, Bytes(1472));
                    full.on_datagram(Time::ZERO, at, size, n, &mut asks);
                }
            }
            asks.len()
        };
        assert_eq!(sends(&mut full, Some(0)), 10);
        assert_eq!(sends(&mut full, Some(1)), 1);
        assert_eq!(sends(&mut full, Some(4)), 4);
        // All ten are lost: one more, whose arrival tells of them.
        assert_eq!(sends(&mut full, None), 1);
        assert_eq!(sends(&mut full, Some(11)), 10);
        assert_eq!(full.on_the_way, 10);
    }
}
