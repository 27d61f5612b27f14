//! Packets without payload, of a fixed size in memory. A [`WholePacket`] has its payload.

use crate::{Bytes, DATAGRAM_HEADERS, EndpointId, FlowId, RouteId, SEGMENT_HEADERS, Segment, Time};

/// Protocol of an IP packet's content.
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
    /// Returns the bytes of the headers of a packet with this segment, including options.
    #[inline]
    pub(crate) fn headers_of(self, segment: &Segment) -> u32 {
        match self {
            Protocol::Tcp => SEGMENT_HEADERS + segment.options_len(),
            Protocol::Udp => DATAGRAM_HEADERS,
        }
    }
}

/// ECN field of the IP header.
///
/// Standard: RFC 3168 §5.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, ECT(1), used by L4S (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable, ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Returns the ECN field with the value `bits`. `None` if `bits` is larger than 3.
    pub fn from_bits(bits: u8) -> Option<Ecn> {
        match bits {
            0b00 => Some(Ecn::NotEct),
            0b01 => Some(Ecn::Ect1),
            0b10 => Some(Ecn::Ect0),
            0b11 => Some(Ecn::Ce),
            _ => None,
        }
    }

    /// Sets Congestion Experienced and counts the mark. Returns false if the packet is not
    /// ECN-capable.
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

/// IP packet with one complete TCP segment or UDP datagram.
///
/// Packets in transit are stored as [`UnderWay`](crate::UnderWay).
#[derive(Clone, Copy, Default, Debug)]
pub struct Packet {
    /// Connection of the packet.
    pub flow: FlowId,
    /// Destination endpoint.
    pub to: EndpointId,
    /// Route of links that the packet follows.
    pub route: RouteId,
    /// Position on the route: index of the current link.
    pub hop: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Protocol of the content.
    pub protocol: Protocol,
    /// Time at which the sending host passed it to its first link.
    pub sent_at: Time,
    /// Segment of the packet, or the fields of a [`Datagram`](crate::Datagram).
    pub segment: Segment,
}

impl Packet {
    /// Returns a numbered message of the network itself, without data of a connection. It has
    /// `size` bytes, but no fewer than its headers.
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

    /// Returns the size on the wire as an IPv4 packet: headers, options and payload.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        self.protocol.headers_of(&self.segment) + self.segment.len
    }
    /// Returns the size on the wire as an IPv4 packet: headers, options and payload.
    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes(u64::from(self.wire_len()))
    }
}

/// Packet with its payload, for captures.
#[derive(Debug, Clone, Copy)]
pub struct WholePacket<'a> {
    /// Packet.
    pub packet: &'a Packet,
    /// Payload bytes, as many as the packet's length says. Empty if the simulation has no bytes for
    /// the payload, which then consists of zeros.
    pub payload: &'a [u8],
}

impl<'a> WholePacket<'a> {
    /// Returns a packet whose payload consists of zeros.
    pub fn of_zeros(packet: &'a Packet) -> WholePacket<'a> {
        let payload = &[];
        WholePacket { packet, payload }
    }
}

impl std::ops::Deref for WholePacket<'_> {
    type Target = Packet;
    fn deref(&self) -> &Packet {
        self.packet
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
