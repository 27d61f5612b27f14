//! Compact form of a packet in flight.

use crate::{Bytes, Ecn, EndpointId, Flags, FlowId, Packet, Protocol, RouteId, Segment, Time};

/// Packet in flight, in one cache line. It has the fields that links need, and all fields of a
/// usual segment. A segment with rarely used fields is stored whole in a separate list of the pool.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(64))]
pub struct UnderWay {
    /// Connection of the packet.
    pub flow: FlowId,
    /// Endpoint to which the packet goes.
    pub to: EndpointId,
    /// Route that the packet follows.
    pub route: RouteId,
    /// Position on the route, as the index of the packet's link.
    pub hop: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Protocol of the payload.
    pub protocol: Protocol,
    /// Bytes of the headers, options included.
    pub(crate) headers: u8,
    /// Time at which the sending host gave the packet to its first link.
    pub sent_at: Time,
    pub(crate) content: Content,
}

/// Segment of a packet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// Fields of a usual segment.
    Usual(Usual),
    /// Index of a segment in the separate list, and its payload bytes.
    Separate { at: u32, len: u32 },
    /// Index of a segment in the list of segments whose payload has bytes, and the number of these
    /// bytes.
    Loaded { at: u32, len: u32 },
}

impl Default for Content {
    fn default() -> Self {
        Content::Usual(Usual::default())
    }
}

/// Fields of usual segments.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Usual {
    seq: u64,
    ack: u64,
    window: u32,
    len: u32,
    ts_value: u32,
    ts_echo: u32,
    flags: Flags,
    has_timestamps: bool,
    is_expendable: bool,
    is_radio_loss: bool,
}

impl Usual {
    /// Returns the fields of a segment. `None` if the segment has other fields too.
    #[inline]
    pub(crate) fn from_segment(segment: &Segment) -> Option<Usual> {
        let &Segment {
            seq,
            ack,
            window,
            len,
            ts_value,
            ts_echo,
            ce_packets,
            flags,
            mss,
            window_scale,
            sack_permitted,
            has_cookie,
            has_timestamps,
            is_expendable,
            is_radio_loss,
            accurate,
            mptcp,
            ref sack,
        } = segment;
        let of_syn = mss != 0 || window_scale.is_some() || sack_permitted || has_cookie;
        let has_options = !sack.is_empty() || !mptcp.is_empty() || accurate.is_present();
        if of_syn || has_options || ce_packets != 0 || window > u64::from(u32::MAX) {
            return None;
        }
        Some(Usual {
            seq,
            ack,
            window: window as u32,
            len,
            ts_value,
            ts_echo,
            flags,
            has_timestamps,
            is_expendable,
            is_radio_loss,
        })
    }

    /// Returns the segment.
    #[inline]
    pub(crate) fn segment(&self) -> Segment {
        let &Usual {
            seq,
            ack,
            window,
            len,
            ts_value,
            ts_echo,
            flags,
            has_timestamps,
            is_expendable,
            is_radio_loss,
        } = self;
        Segment {
            seq,
            ack,
            window: u64::from(window),
            len,
            ts_value,
            ts_echo,
            flags,
            has_timestamps,
            is_expendable,
            is_radio_loss,
            ..Segment::default()
        }
    }
}

impl UnderWay {
    /// Returns the kept fields of a packet, without its segment.
    #[inline]
    pub(crate) fn without_segment(packet: &Packet) -> UnderWay {
        let &Packet {
            flow,
            to,
            route,
            hop,
            ecn,
            protocol,
            sent_at,
            ..
        } = packet;
        UnderWay {
            flow,
            to,
            route,
            hop,
            ecn,
            protocol,
            sent_at,
            ..UnderWay::default()
        }
    }

    /// Returns the packet with its segment.
    #[inline]
    pub(crate) fn packet(&self, segment: Segment) -> Packet {
        let &UnderWay {
            flow,
            to,
            route,
            hop,
            ecn,
            protocol,
            sent_at,
            ..
        } = self;
        Packet {
            flow,
            to,
            route,
            hop,
            ecn,
            protocol,
            sent_at,
            segment,
        }
    }

    /// Returns the size of the IPv4 packet in bytes. It includes headers, options and payload.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        let len = match self.content {
            Content::Usual(Usual { len, .. })
            | Content::Separate { len, .. }
            | Content::Loaded { len, .. } => len,
        };
        debug_assert!(
            u32::from(self.headers) >= crate::DATAGRAM_HEADERS,
            "a packet has {} bytes of headers",
            self.headers
        );
        u32::from(self.headers) + len
    }

    /// Returns the size of the IPv4 packet. It includes headers, options and payload.
    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes(u64::from(self.wire_len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_under_way_takes_a_cache_line() {
        assert_eq!(size_of::<UnderWay>(), 64);
    }
}
