//! Packets as fixed-size metadata.

use crate::{Bytes, DATAGRAM_HEADERS, EndpointId, FlowId, RouteId, SEGMENT_HEADERS, Segment, Time};
use std::num::NonZero;

/// Protocol inside an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum Protocol {
    /// A TCP segment.
    #[default]
    Tcp = 6,
    /// A UDP datagram.
    Udp = 17,
}

/// The ECN field of the IP header.
///
/// Standard: RFC 3168 §5.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, L4S (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Sets Congestion Experienced and counts it; false when the packet is not ECN-capable.
    ///
    /// Standard: RFC 3168 §5.
    #[inline]
    pub fn mark(&mut self, marked: &mut u64) -> bool {
        match *self {
            Ecn::NotEct => return false,
            Ecn::Ect0 | Ecn::Ect1 => {
                *self = Ecn::Ce;
                *marked += 1;
            }
            Ecn::Ce => {}
        }
        true
    }
}

/// An IP packet that carries one TCP segment or one UDP datagram.
///
/// Fields stand in the order in which they are needed: all that links ask for is in the first cache line, all
/// that an endpoint reads of a usual segment in the first two.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Connection it belongs to.
    pub flow: FlowId,
    /// Endpoint it goes to.
    pub to: EndpointId,
    /// Links it follows.
    pub route: RouteId,
    /// Position on the route: index of the link it is on.
    pub hop: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Protocol that it carries.
    pub protocol: Protocol,
    /// Its [`Packet::wire_len`], bytes, where the host has noted it as it sent the packet.
    pub noted_len: Option<NonZero<u32>>,
    /// When the sending host handed it to its first link.
    pub sent_at: Time,
    /// The segment inside; the fields of a [`Datagram`](crate::Datagram) where it carries one.
    pub segment: Segment,
}

impl Packet {
    /// A packet of `size` bytes, and no fewer than its headers have, that carries a numbered message of a
    /// network's own and no data of a connection.
    #[inline]
    pub fn message(number: u64, size: u32) -> Packet {
        let mut packet = Packet::default();
        packet.send_message(Default::default(), Time::ZERO, (number, size));
        packet
    }

    /// Becomes one that sets out with a [`Packet::message`] of the network. Written in place, as a slot of the pool may be
    /// as it was left.
    #[inline]
    pub fn send_message(
        &mut self,
        (flow, route): (FlowId, RouteId),
        now: Time,
        (number, size): (u64, u32),
    ) {
        let Packet {
            flow: its_flow,
            to,
            route: its_route,
            hop,
            ecn,
            protocol,
            noted_len,
            sent_at,
            segment,
        } = self;
        (*its_flow, *to, *its_route, *hop) = (flow, EndpointId::default(), route, 0);
        (*ecn, *protocol, *sent_at) = (Ecn::NotEct, Protocol::Tcp, now);
        *noted_len = NonZero::new(size.max(SEGMENT_HEADERS));
        *segment = Segment {
            seq: number,
            len: size.saturating_sub(SEGMENT_HEADERS),
            ..Segment::default()
        };
    }

    /// Becomes one that sets out with a segment. Written in place: a segment is copied once.
    #[inline]
    pub fn send(
        &mut self,
        (flow, to, route): (FlowId, EndpointId, RouteId),
        now: Time,
        ecn: Ecn,
        content: &Segment,
    ) {
        let Packet {
            flow: its_flow,
            to: its_end,
            route: its_route,
            hop,
            ecn: its_ecn,
            protocol,
            noted_len,
            sent_at,
            segment,
        } = self;
        (*its_flow, *its_end, *its_route, *hop) = (flow, to, route, 0);
        (*its_ecn, *protocol, *sent_at) = (ecn, Protocol::Tcp, now);
        *noted_len = NonZero::new(content.wire_len());
        *segment = *content;
    }

    /// Size on the wire as an IPv4 packet: headers, options and payload.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        match self.noted_len {
            Some(len) => len.get(),
            None => self.len_of_content(),
        }
    }
    #[inline]
    fn len_of_content(&self) -> u32 {
        match self.protocol {
            Protocol::Tcp => self.segment.wire_len(),
            Protocol::Udp => DATAGRAM_HEADERS + self.segment.len,
        }
    }
    /// Size on the wire as an IPv4 packet: headers, options and payload.
    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes(u64::from(self.wire_len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SackBlock;

    #[test]
    fn a_packet_takes_three_cache_lines_and_what_links_ask_for_one() {
        assert_eq!(size_of::<Packet>(), 3 * 64);
        assert!(std::mem::offset_of!(Packet, segment) <= 32);
        let options = std::mem::offset_of!(Segment, sack) + std::mem::offset_of!(Packet, segment);
        assert!(options < 2 * 64, "{options}");
    }

    #[test]
    fn a_message_has_the_size_it_was_sent_with_and_nothing_of_what_was_in_its_slot() {
        assert_eq!(Segment::default().wire_len(), SEGMENT_HEADERS);
        let mut packet = Packet {
            to: EndpointId(7),
            hop: 3,
            protocol: Protocol::Udp,
            ecn: Ecn::Ce,
            ..Packet::default()
        };
        packet.segment.mss = 1;
        packet.send_message((FlowId(1), RouteId(2)), Time::from_nanos(4), (5, 972));
        let expected = Packet {
            flow: FlowId(1),
            route: RouteId(2),
            sent_at: Time::from_nanos(4),
            ..Packet::message(5, 972)
        };
        assert_eq!(format!("{packet:?}"), format!("{expected:?}"));
        assert_eq!((packet.segment.seq, packet.wire_len()), (5, 972));
        assert_eq!(packet.len_of_content(), 972);
        assert_eq!(Packet::message(5, 3).wire_len(), SEGMENT_HEADERS);
    }

    #[test]
    fn a_noted_size_is_that_of_the_content() {
        let mut segment = Segment {
            len: 100,
            has_timestamps: true,
            ..Segment::default()
        };
        assert!(segment.sack.push(SackBlock { start: 1, end: 2 }));
        let unnoted = Packet {
            segment,
            ..Packet::default()
        };
        // The slot held something else before.
        let mut packet = Packet {
            hop: 3,
            protocol: Protocol::Udp,
            noted_len: NonZero::new(1),
            ..Packet::default()
        };
        let way = (FlowId(1), EndpointId(2), RouteId(3));
        packet.send(way, Time::from_nanos(4), Ecn::Ect0, &segment);
        assert_eq!((unnoted.wire_len(), packet.wire_len()), (164, 164));
        let expected = Packet {
            flow: FlowId(1),
            to: EndpointId(2),
            route: RouteId(3),
            sent_at: Time::from_nanos(4),
            ecn: Ecn::Ect0,
            noted_len: NonZero::new(164),
            ..unnoted
        };
        assert_eq!(format!("{packet:?}"), format!("{expected:?}"));
    }
}
