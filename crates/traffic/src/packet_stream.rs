//! Stream of packets at a constant rate over UDP, to measure delay, loss and interruptions.

use crate::countdown::Countdown;
use crate::registry::{Program, count, kind, payload, shape};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number};
use fadeout_core::{Bytes, Distribution, DistributionKind, Protocol, Rate, Span, Time};

/// Shortest time between two packets. A draw of zero must not stop the clock.
const SHORTEST: Span = Span::from_nanos(1);

fadeout_core::parameters! {
    /// Parameters for scenarios.
    #[derive(Debug, Clone, Copy)]
    struct PacketStreamParameters {
        /// Mean rate of the payload, as in the option `-b` of `iperf3 -u`.
        rate: Rate = number((1.0, 1e13, "bit/s"), "1 Mbit/s"),
        /// Payload of a datagram, to which UDP and IP add 28 bytes.
        size: Bytes = payload("1200 B"),
        /// Number of datagrams. 0 means that datagrams are sent to the end of the run.
        packets: Countdown = count("0"),
        /// Distribution of the time between two datagrams.
        spacing_distribution: DistributionKind = kind("constant"),
        spacing_shape: f64 = shape(),
    }
}

/// Stream of packets.
#[derive(Debug, Clone)]
pub struct PacketStream {
    size: Bytes,
    /// Seconds between two packets.
    spacing: Distribution,
    /// Start of the stream. With a constant spacing, times are computed from it, so that rounding
    /// does not add up.
    start: Time,
    sent: u64,
    /// Number of remaining packets.
    left: Countdown,
    random: Stream,
    next_at: Time,
}

impl Registered<Stream> for PacketStream {
    const ENTRY: Entry = Entry::new(
        "packet-stream",
        "application",
        "Sends UDP datagrams at a constant mean rate, whether they arrive or not.",
        "RFC 768",
    )
    .with_aliases(&["cbr", "udp"])
    .with_parameters(PacketStreamParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
        let given = PacketStreamParameters::read(settings);
        let bits = given.size.0 as f64 * 8.0;
        PacketStream {
            size: given.size,
            spacing: Distribution {
                kind: given.spacing_distribution,
                mean: bits / given.rate.as_bits_per_sec().max(1) as f64,
                shape: given.spacing_shape,
            },
            start: Time::NEVER,
            sent: 0,
            left: given.packets,
            random,
            next_at: Time::NEVER,
        }
    }
}

impl PacketStream {
    fn send(&mut self, now: Time, asks: &mut Vec<Ask>) {
        asks.push((FlowEnd::Sender, Request::Write(self.size)));
        self.sent += 1;
        self.left.use_one();
        if self.left.is_over() {
            self.next_at = Time::NEVER;
            return;
        }
        self.next_at = if self.spacing.kind == DistributionKind::Constant {
            let since_start = Span::from_secs_f64(self.spacing.mean * self.sent as f64);
            self.start.saturating_add(since_start)
        } else {
            let spacing = Span::from_secs_f64(self.spacing.draw(&mut self.random));
            now.saturating_add(spacing)
        }
        .max(now + SHORTEST);
        debug_assert!(self.next_at > now, "the next datagram is due in the past");
        debug_assert!(
            self.start <= now,
            "a datagram leaves before the stream began"
        );
    }
}

impl Program for PacketStream {
    fn protocol(&self) -> Protocol {
        Protocol::Udp
    }

    fn largest_datagram(&self) -> Bytes {
        self.size
    }

    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        debug_assert!(
            self.spacing.mean > 0.0 && self.spacing.mean.is_finite(),
            "datagrams {} s apart",
            self.spacing.mean
        );
        self.start = now;
        self.send(now, asks);
    }

    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        if self.next_at <= now {
            self.send(now, asks);
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

    fn stream(given: &[(&str, Value)]) -> PacketStream {
        let given = given.iter().cloned();
        let given = Parameters(
            given
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        );
        PacketStream::from_settings(
            &Settings::new(&PacketStream::ENTRY, &given),
            Stream::new(1, "application", 0),
        )
    }

    /// Returns the times of the packets, at most the first hundred thousand.
    fn times(mut stream: PacketStream) -> Vec<Time> {
        let (mut asks, mut times) = (Vec::new(), vec![Time::ZERO]);
        stream.on_start(Time::ZERO, &mut asks);
        while !stream.wake_at().is_never() && times.len() < 100_000 {
            times.push(stream.wake_at());
            stream.on_wake(stream.wake_at(), &mut asks);
        }
        assert_eq!(asks.len(), times.len());
        times
    }

    #[test]
    fn packets_leave_at_the_rate_and_no_rounding_adds_up() {
        let rate = Value::Number(3e6);
        let (size, packets) = (Value::Number(125.0), Value::Number(30_001.0));
        let sent = times(stream(&[
            ("rate", rate),
            ("size", size),
            ("packets", packets),
        ]));
        assert_eq!(sent.len(), 30_001);
        // A packet of 1000 bits at 3 Mbit/s takes a third of a millisecond. Packet 30,000 leaves at
        // 10 s exactly, because rounding errors do not add up.
        assert_eq!(sent[30_000], Time::ZERO + Span::from_secs(10));
    }

    #[test]
    fn random_spacings_have_the_same_mean() {
        let kind = Value::Choice("exponential".to_owned());
        let sent = times(stream(&[("spacing-distribution", kind)]));
        let mean = sent[99_999].as_secs_f64() / 99_999.0;
        // The limit is five standard errors of an exponential mean over 10^5 draws.
        assert!((mean / 9.6e-3 - 1.0).abs() < 0.016, "{mean}");
    }
}
