//! Packets as fixed-size metadata.

use crate::{Bytes, DATAGRAM_HEADERS, EndpointId, FlowId, RouteId, SEGMENT_HEADERS, Segment, Time};

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

impl Protocol {
    /// Bytes of the headers of a packet that carries it, options included.
    #[inline]
    pub(crate) fn headers_of(self, segment: &Segment) -> u32 {
        match self {
            Protocol::Tcp => SEGMENT_HEADERS + segment.options_len(),
            Protocol::Udp => DATAGRAM_HEADERS,
        }
    }
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

/// An IP packet that carries one TCP segment or one UDP datagram, whole.
///
/// While it is under way it is kept as [`UnderWay`](crate::UnderWay).
#[derive(Clone, Copy, Default, Debug)]
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
    /// When the sending host handed it to its first link.
    pub sent_at: Time,
    /// The segment inside; the fields of a [`Datagram`](crate::Datagram) where it carries one.
    pub segment: Segment,
}

impl Packet {
    /// Returns a packet of `size` bytes, and no fewer than its headers have. The packet carries a
    /// numbered message of a network's own and no data of a connection.
    #[inline]
    pub fn message(number: u64, size: u32) -> Packet {
        Packet {
            segment: Segment {
                seq: number,
                len: size.saturating_sub(SEGMENT_HEADERS),
                ..Segment::default()
            },
            ..Packet::default()
        }
    }

    /// Size on the wire as an IPv4 packet: headers, options and payload.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        self.protocol.headers_of(&self.segment) + self.segment.len
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

    #[test]
    fn a_message_has_its_size_or_that_of_its_headers() {
        assert_eq!(Segment::default().wire_len(), SEGMENT_HEADERS);
        let packet = Packet::message(5, 972);
        assert_eq!((packet.segment.seq, packet.wire_len()), (5, 972));
        assert_eq!(Packet::message(5, 3).wire_len(), SEGMENT_HEADERS);
    }

    #[test]
    fn a_datagram_has_other_headers_than_a_segment() {
        let mut packet = Packet::message(0, 1_040);
        assert_eq!(packet.size(), Bytes(1_040));
        packet.protocol = Protocol::Udp;
        assert_eq!(packet.size(), Bytes(1_028));
    }
}
