//! Applications for scenarios.

use crate::{Ask, FlowEnd};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameter, choice, integer, number};
use fadeout_core::{Bytes, DistributionKind, Protocol, Time};

fadeout_core::registry! {
    /// Applications that a scenario may name.
    pub static APPLICATIONS;

    /// Programs at both ends of a flow. `random` is the random stream of the flow.
    #[derive(Debug, Clone)]
    pub enum Application(random: Stream = Stream::new(1, "application", 0)) {
        Bulk(crate::bulk::Bulk),
        Transfer(crate::transfer::Transfer),
        Ftp(crate::download::Download),
        Web(crate::download::Download) = crate::download::WEB,
        OnOff(crate::on_off::OnOff),
        RequestResponse(crate::request_response::RequestResponse),
        PacketStream(crate::packet_stream::PacketStream),
        Echo(crate::echo::Echo),
        FullBuffer(crate::full_buffer::FullBuffer),
    }
    macro each;
}

/// Programs at both ends of a flow. The default program runs over TCP, and its sender opens the
/// connection. It ignores arrivals and never completes. Only start and wake-ups have no default.
pub(crate) trait Program {
    /// Returns the end that opens the connection. The other end listens.
    fn opener(&self) -> FlowEnd {
        FlowEnd::Sender
    }

    /// Returns the protocol. Over UDP each [`Request::Write`](crate::Request::Write) is a datagram.
    fn protocol(&self) -> Protocol {
        Protocol::Tcp
    }

    /// Starts the flow, whose connection is being opened. Data written before the connection is
    /// established is sent as soon as it is established.
    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>);

    /// Records that bytes reached an end in order.
    fn on_delivered(&mut self, _now: Time, _at: FlowEnd, _bytes: Bytes, _asks: &mut Vec<Ask>) {}

    /// Records that a datagram reached an end. `settled` is the number of datagrams whose fate is
    /// now known: this datagram, and those that should have arrived before it.
    fn on_datagram(&mut self, now: Time, at: FlowEnd, bytes: Bytes, _: u64, asks: &mut Vec<Ask>) {
        self.on_delivered(now, at, bytes, asks);
    }

    /// Acts at the time that [`Program::wake_at`] named.
    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>);

    /// Returns the time for [`Program::on_wake`]. [`Time::NEVER`] if only a delivery causes an
    /// action.
    fn wake_at(&self) -> Time;

    /// Returns the bytes at the receiver after which the flow is complete. `None` if it never
    /// completes.
    fn size(&self) -> Option<Bytes> {
        None
    }

    /// Returns the payload of the largest datagram, or zero over TCP.
    fn largest_datagram(&self) -> Bytes {
        Bytes(0)
    }

    /// Returns the end that acts on a wake-up.
    fn woken_end(&self) -> FlowEnd {
        FlowEnd::Sender
    }

    /// Returns true if an end acts on events at the other end. Then both ends must share one
    /// application.
    fn acts_as_one(&self) -> bool {
        false
    }
}

impl Application {
    /// Returns the end that opens the connection. The other end listens.
    pub fn opener(&self) -> FlowEnd {
        each!(self, program => program.opener())
    }

    /// Returns the protocol. Over UDP each [`Request::Write`](crate::Request::Write) is a datagram.
    pub fn protocol(&self) -> Protocol {
        each!(self, program => program.protocol())
    }

    /// Starts the flow, whose connection is being opened. Data written before the connection is
    /// established is sent as soon as it is established.
    pub fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        each!(self, program => program.on_start(now, asks));
        debug_assert!(
            self.wake_at() >= now,
            "an application wakes before it starts"
        );
    }

    /// Records that bytes reached an end in order.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, at: FlowEnd, bytes: Bytes, asks: &mut Vec<Ask>) {
        each!(self, program => program.on_delivered(now, at, bytes, asks));
    }

    /// Records that a datagram reached an end. `settled` is the number of datagrams whose fate is
    /// now known: this datagram, and those that should have arrived before it. Zero for a datagram
    /// that a later one overtook.
    pub fn on_datagram(
        &mut self,
        now: Time,
        at: FlowEnd,
        bytes: Bytes,
        settled: u64,
        asks: &mut Vec<Ask>,
    ) {
        debug_assert!(bytes.0 <= LARGEST_PAYLOAD, "a datagram of {bytes:?} bytes");
        each!(self, program => program.on_datagram(now, at, bytes, settled, asks));
    }

    /// Acts at the time that [`Application::wake_at`] named.
    pub fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        each!(self, program => program.on_wake(now, asks));
        debug_assert!(
            self.wake_at() > now,
            "an application that was woken at {now} left something undone"
        );
    }

    /// Returns the time for [`Application::on_wake`]. [`Time::NEVER`] if only a delivery causes an
    /// action.
    #[inline]
    pub fn wake_at(&self) -> Time {
        each!(self, program => program.wake_at())
    }

    /// Returns the bytes at the receiver after which the flow is complete. `None` if it never
    /// completes.
    #[inline]
    pub fn size(&self) -> Option<Bytes> {
        each!(self, program => program.size())
    }

    /// Returns the payload of the largest datagram, or zero over TCP.
    pub fn largest_datagram(&self) -> Bytes {
        each!(self, program => program.largest_datagram())
    }

    /// Returns the end that acts on a wake-up.
    pub fn woken_end(&self) -> FlowEnd {
        each!(self, program => program.woken_end())
    }

    /// Returns true if an end acts on events at the other end. Then both ends must share one
    /// application. Otherwise each end may have an application of its own, which only gets the
    /// events of its end.
    pub fn acts_as_one(&self) -> bool {
        each!(self, program => program.acts_as_one())
    }
}

/// Returns a parameter that is a number of bytes.
pub(crate) const fn bytes(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    integer(name, (1, 1 << 50, "bytes"), default, doc)
}

/// Largest payload of a datagram over IPv4 in bytes.
///
/// Standard: RFC 768.
const LARGEST_PAYLOAD: u64 = 65_507;

/// Returns a parameter that is the payload of a datagram.
pub(crate) const fn payload(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    integer(name, (1, LARGEST_PAYLOAD, "bytes"), default, doc)
}

/// Returns a parameter that is a count, where 0 is unlimited.
pub(crate) const fn count(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    integer(name, (0, 1 << 40, ""), default, doc)
}

/// Returns a parameter that is the kind of a distribution.
pub(crate) const fn kind(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    choice(name, DistributionKind::NAMES, default, doc)
}

/// Returns a parameter that is the shape of a distribution.
pub(crate) const fn shape(name: &'static str, _: &'static str) -> Parameter {
    number(
        name,
        (0.1, 10.0, ""),
        "1.5",
        "Shape of the distribution: tail index of a Pareto distribution, or standard deviation of \
         the logarithm of a log-normal distribution.",
    )
}
