//! The applications that a scenario can name.

use crate::{Ask, FlowEnd};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameter, choice, integer, number};
use fadeout_core::{Bytes, DistributionKind, Protocol, Time};

fadeout_core::registry! {
    /// The applications a scenario may name.
    pub static APPLICATIONS;

    /// The programs at both ends of a flow. `random` is the flow's own stream.
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

/// The programs at both ends of a flow. A program says what it does itself: without a word it runs
/// over TCP, its sender opens, and it takes no notice of what arrives and never completes. Whether it is
/// woken it must say.
pub(crate) trait Program {
    /// The end that opens the connection; the other one listens.
    fn opener(&self) -> FlowEnd {
        FlowEnd::Sender
    }

    /// Protocol that it runs over. Over UDP each [`Request::Write`](crate::Request::Write) is a datagram.
    fn protocol(&self) -> Protocol {
        Protocol::Tcp
    }

    /// The flow starts; the connection is being opened. A connection sends what was written
    /// before it was established as soon as it is.
    fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>);

    /// In-order bytes reached an end.
    fn on_delivered(&mut self, _now: Time, _at: FlowEnd, _bytes: Bytes, _asks: &mut Vec<Ask>) {}

    /// A datagram reached an end, and the fate of `settled` is known now: its own, and that of those
    /// which should have come before it.
    fn on_datagram(&mut self, now: Time, at: FlowEnd, bytes: Bytes, _: u64, asks: &mut Vec<Ask>) {
        self.on_delivered(now, at, bytes, asks);
    }

    /// The time that [`Program::wake_at`] named has come.
    fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>);

    /// When it wants [`Program::on_wake`]; [`Time::NEVER`] when only a delivery can move it.
    fn wake_at(&self) -> Time;

    /// Bytes at the receiver after which the flow is complete; `None` when it never is.
    fn size(&self) -> Option<Bytes> {
        None
    }

    /// Payload of its largest datagram; nothing over TCP.
    fn largest_datagram(&self) -> Bytes {
        Bytes(0)
    }

    /// The end that does something when it is woken.
    fn woken_end(&self) -> FlowEnd {
        FlowEnd::Sender
    }

    /// Whether an end acts on what only the other has been told, so that the two cannot be parted.
    fn acts_as_one(&self) -> bool {
        false
    }
}

impl Application {
    /// The end that opens the connection; the other one listens.
    pub fn opener(&self) -> FlowEnd {
        each!(self, program => program.opener())
    }

    /// Protocol that it runs over. Over UDP each [`Request::Write`](crate::Request::Write) is a datagram.
    pub fn protocol(&self) -> Protocol {
        each!(self, program => program.protocol())
    }

    /// The flow starts; the connection is being opened. A connection sends what was written
    /// before it was established as soon as it is.
    pub fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        each!(self, program => program.on_start(now, asks));
        debug_assert!(
            self.wake_at() >= now,
            "an application wakes before it starts"
        );
    }

    /// In-order bytes reached an end.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, at: FlowEnd, bytes: Bytes, asks: &mut Vec<Ask>) {
        each!(self, program => program.on_delivered(now, at, bytes, asks));
    }

    /// A datagram reached an end, and the fate of `settled` is known now: its own, and that of those
    /// which should have come before it. It is 0 for a datagram that a later one overtook.
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

    /// The time that [`Application::wake_at`] named has come.
    pub fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        each!(self, program => program.on_wake(now, asks));
        debug_assert!(
            self.wake_at() > now,
            "an application that was woken at {now} left something undone"
        );
    }

    /// When it wants [`Application::on_wake`]; [`Time::NEVER`] when only a delivery can move it.
    #[inline]
    pub fn wake_at(&self) -> Time {
        each!(self, program => program.wake_at())
    }

    /// Bytes at the receiver after which the flow is complete; `None` when it never is.
    #[inline]
    pub fn size(&self) -> Option<Bytes> {
        each!(self, program => program.size())
    }

    /// Payload of its largest datagram; nothing over TCP.
    pub fn largest_datagram(&self) -> Bytes {
        each!(self, program => program.largest_datagram())
    }

    /// The end that does something when it is woken.
    pub fn woken_end(&self) -> FlowEnd {
        each!(self, program => program.woken_end())
    }

    /// Whether an end acts on what only the other has been told: the two cannot be parted then, each with an
    /// application of its own that hears of its own end alone.
    pub fn acts_as_one(&self) -> bool {
        each!(self, program => program.acts_as_one())
    }
}

/// A number of bytes.
pub(crate) const fn bytes(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    integer(name, (1, 1 << 50, "bytes"), default, doc)
}

/// Largest payload of a datagram over IPv4, bytes.
///
/// Standard: RFC 768.
const LARGEST_PAYLOAD: u64 = 65_507;

/// The payload of a datagram: what IPv4 has room for.
pub(crate) const fn payload(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    integer(name, (1, LARGEST_PAYLOAD, "bytes"), default, doc)
}

/// How many of something; 0 for no end.
pub(crate) const fn count(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    integer(name, (0, 1 << 40, ""), default, doc)
}

/// The kind of a distribution.
pub(crate) const fn kind(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    choice(name, DistributionKind::NAMES, default, doc)
}

/// The shape of a distribution.
pub(crate) const fn shape(name: &'static str, _: &'static str) -> Parameter {
    number(
        name,
        (0.1, 10.0, ""),
        "1.5",
        "Tail index of a Pareto distribution, or standard deviation of the logarithm of a \
         log-normal one.",
    )
}
