//! Full buffer. The application always has data, and no transport protocol limits it.

use crate::registry::{Program, payload};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer};
use fadeout_core::{Bytes, Protocol, Span, Time};
use std::collections::VecDeque;

/// Time without arrivals after which one more datagram is sent. If all datagrams in flight are
/// lost, the arrival of this datagram shows the loss.
const PATIENCE: Span = Span::from_secs(1);

/// Initial backlog, if the scenario gives none.
const START: Bytes = Bytes(256_000);

/// Largest number of datagrams of a backlog that grows.
const MOST_DATAGRAMS: u64 = 700;

/// Delay above the smallest delay at which the backlog stops growing, because the datagram waited
/// behind enough others. LTE repeats a block after 8 ms, and all later blocks wait for it.
const ENOUGH: Span = Span::from_millis(10);

fadeout_core::parameters! {
    /// Parameters for scenarios.
    #[derive(Debug, Clone, Copy)]
    struct FullBufferParameters {
        /// Payload of a datagram, to which UDP and IP add 28 bytes.
        size: Bytes = payload("1472 B"),
        /// Payload that is kept in flight. Default: 256 kB, increased up to 1 MB while datagrams
        /// wait for less than 10 ms.
        backlog: Option<Bytes> = integer((1, 1 << 30, "bytes"), ""),
    }
}

/// Application that keeps a fixed amount in flight. The sender learns at once which datagrams have
/// arrived or are lost.
#[derive(Debug, Clone)]
pub struct FullBuffer {
    size: Bytes,
    /// Number of datagrams to keep in flight.
    kept: u64,
    /// Largest value of `kept`.
    most: u64,
    in_flight: u64,
    timeout_at: Time,
    /// Send times of the datagrams in flight, the oldest first. Empty if `kept` does not grow.
    sent: VecDeque<Burst>,
    /// Datagrams of the start that are still in flight. Their delays do not raise `kept`, because
    /// they wait for each other.
    of_start: u64,
    /// Smallest delay of a datagram so far.
    least: Span,
}

/// Datagrams that were sent at the same time.
#[derive(Debug, Clone, Copy)]
struct Burst {
    at: Time,
    datagrams: u64,
}

impl FullBuffer {
    /// Largest payload of a backlog that grows. Links hold 1,000 packets by default, and RLC 2 MB.
    pub const MOST: Bytes = Bytes(1_000_000);
}

impl Registered<Stream> for FullBuffer {
    const ENTRY: Entry = Entry::new(
        "full-buffer",
        "application",
        "Keeps enough UDP datagrams in flight for the bottleneck to have data to send at all \
         times.",
        "TR 36.814 clause A.2.1.3",
    )
    .with_parameters(FullBufferParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Stream) -> Self {
        let given = FullBufferParameters::read(settings);
        let datagrams = |bytes: Bytes| bytes.0.div_ceil(given.size.0.max(1)).max(1);
        let kept = datagrams(given.backlog.unwrap_or(START));
        FullBuffer {
            size: given.size,
            kept,
            most: match given.backlog {
                Some(_) => kept,
                None => datagrams(FullBuffer::MOST).min(MOST_DATAGRAMS).max(kept),
            },
            in_flight: 0,
            timeout_at: Time::NEVER,
            sent: VecDeque::new(),
            of_start: kept,
            least: Span::MAX,
        }
    }
}

impl FullBuffer {
    fn send(&mut self, now: Time, datagrams: u64, asks: &mut Vec<Ask>) {
        for _ in 0..datagrams {
            asks.push((FlowEnd::Sender, Request::Write(self.size)));
        }
        self.in_flight += datagrams;
        debug_assert!(
            !self.timeout_at.is_never(),
            "datagrams leave that nobody waits for"
        );
        if self.most == self.kept {
            self.sent.clear();
        } else if datagrams > 0 {
            self.sent.push_back(Burst { at: now, datagrams });
        }
    }

    /// Records that the oldest `settled` datagrams have arrived or are lost. The backlog grows if
    /// the latest of them did not wait long enough at the bottleneck.
    fn remove_settled(&mut self, now: Time, settled: u64) {
        self.in_flight = self.in_flight.saturating_sub(settled);
        let mut left = settled;
        let mut sent_at = None;
        while left > 0 {
            let Some(oldest) = self.sent.front_mut() else {
                break;
            };
            let of_burst = left.min(oldest.datagrams);
            left -= of_burst;
            oldest.datagrams -= of_burst;
            sent_at = Some(oldest.at);
            if oldest.datagrams == 0 {
                self.sent.pop_front();
            }
        }
        let Some(took) = sent_at.map(|at| now.since(at)) else {
            return;
        };
        self.least = self.least.min(took);
        let is_of_start = self.of_start > 0;
        self.of_start = self.of_start.saturating_sub(settled);
        if !is_of_start && took < self.least + ENOUGH {
            self.kept = (self.kept + settled).min(self.most);
        }
    }
}

impl Program for FullBuffer {
    fn protocol(&self) -> Protocol {
        Protocol::Udp
    }

    fn largest_datagram(&self) -> Bytes {
        self.size
    }

    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        self.timeout_at = now.saturating_add(PATIENCE);
        self.send(now, self.kept, asks);
    }

    fn on_datagram(&mut self, now: Time, at: FlowEnd, _: Bytes, settled: u64, asks: &mut Vec<Ask>) {
        if at != FlowEnd::Receiver {
            return;
        }
        self.timeout_at = now.saturating_add(PATIENCE);
        self.remove_settled(now, settled);
        self.send(now, self.kept.saturating_sub(self.in_flight), asks);
        debug_assert!(
            self.in_flight >= self.kept,
            "fewer datagrams are on the way than are to be kept there"
        );
    }

    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.timeout_at <= now {
            self.timeout_at = now.saturating_add(PATIENCE);
            self.send(now, 1, asks);
        }
    }

    fn wake_at(&self) -> Time {
        self.timeout_at
    }

    /// Returns true, because the sender learns at once which datagrams have arrived.
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
        let mut full = FullBuffer::from_settings(&settings, Stream::new(1, "application", 0));
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
        // All ten datagrams are lost. The arrival of one more datagram shows this, and ten new
        // datagrams are sent.
        assert_eq!(sends(&mut full, None), 1);
        assert_eq!(sends(&mut full, Some(11)), 10);
        assert_eq!(full.in_flight, 10);
    }

    /// Returns the number of datagrams that a bottleneck sent in the last 100 ms of half a second.
    /// The bottleneck sends `per_ms` in each millisecond, in order. Each is sent at least `delay`
    /// after the application sent it.
    fn carried(delay: Span, per_ms: u64) -> u64 {
        let settings = Settings::new(&FullBuffer::ENTRY, Parameters::NONE);
        let mut full = FullBuffer::from_settings(&settings, Stream::new(1, "application", 0));
        let mut asks = Vec::new();
        full.on_start(Time::ZERO, &mut asks);
        let mut waiting: VecDeque<Time> = vec![Time::ZERO + delay; asks.len()].into();
        let mut carried = 0;
        for ms in 1..=500 {
            let now = Time::ZERO + Span::from_millis(ms);
            asks.clear();
            for _ in 0..per_ms {
                if waiting.front().is_some_and(|&at| at <= now) {
                    waiting.pop_front();
                    full.on_datagram(now, FlowEnd::Receiver, Bytes(1472), 1, &mut asks);
                    carried += u64::from(ms > 400);
                }
            }
            waiting.extend(asks.iter().map(|_| now + delay));
            assert!(waiting.len() as u64 <= MOST_DATAGRAMS);
        }
        carried
    }

    #[test]
    fn the_backlog_grows_until_the_bottleneck_always_has_something() {
        // 174 datagrams are 256 kB. At 170 datagrams in each millisecond, or 2 Gbit/s, the initial
        // backlog is too small for the delay of 3 ms. The backlog grows until the bottleneck is
        // full.
        let slow = Span::from_millis(3);
        assert_eq!(carried(slow, 170), 17_000);
        assert_eq!(carried(Span::from_millis(20), 30), 3000);
    }

    #[test]
    fn a_backlog_that_suffices_or_is_given_stays() {
        // At 70 Mbit/s, or 6 datagrams in each millisecond, 256 kB wait for 29 ms. So the backlog
        // does not grow.
        let given = ("backlog".to_owned(), Value::Number(256_000.0));
        let given = Parameters(vec![given]);
        for (parameters, per_ms) in [(Parameters::NONE, 6), (&given, 170)] {
            let settings = Settings::new(&FullBuffer::ENTRY, parameters);
            let mut full = FullBuffer::from_settings(&settings, Stream::new(1, "application", 0));
            let mut asks = Vec::new();
            full.on_start(Time::ZERO, &mut asks);
            for ms in 1..=500 {
                let now = Time::ZERO + Span::from_millis(ms);
                for _ in 0..per_ms {
                    full.on_datagram(now, FlowEnd::Receiver, Bytes(1472), 1, &mut asks);
                }
            }
            assert_eq!(full.kept, 174);
        }
    }
}
