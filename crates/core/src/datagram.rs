//! UDP datagrams without payload.

use crate::{Segment, Time};

/// Bytes of the headers of IPv4 and UDP.
///
/// Standard: RFC 768.
pub const DATAGRAM_HEADERS: u32 = 28;

/// UDP datagram with the fields that measuring programs at both ends use, such as `ping` and
/// `iperf3 -u`. It takes the place of the segment in a [`Packet`](crate::Packet).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Datagram {
    /// Number of the datagram among those of its sender, from 0 on.
    pub number: u64,
    /// Payload bytes.
    pub len: u32,
    /// Number and sending time of the datagram that this one answers. `None` if it answers none.
    pub answers: Option<(u64, Time)>,
}

impl Datagram {
    /// Writes the datagram into the fields of a segment, because a packet stores only a segment.
    #[inline]
    pub fn to_segment(self) -> Segment {
        let (answered, asked_at) = self.answers.map_or((0, 0), |(number, at)| {
            (number.saturating_add(1), at.as_nanos())
        });
        Segment {
            seq: self.number,
            ack: answered,
            window: asked_at,
            len: self.len,
            ..Segment::default()
        }
    }

    /// Reads the datagram in the fields of a segment.
    #[inline]
    pub fn from_segment(segment: &Segment) -> Datagram {
        debug_assert!(segment.sack.is_empty(), "a datagram has no SACK blocks");
        let answered = segment.ack.checked_sub(1);
        Datagram {
            number: segment.seq,
            len: segment.len,
            answers: answered.map(|number| (number, Time::from_nanos(segment.window))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_the_same_after_it_stood_in_a_segment() {
        for answers in [None, Some((0, Time::ZERO)), Some((7, Time::from_nanos(5)))] {
            let datagram = Datagram {
                number: 9,
                len: 1200,
                answers,
            };
            assert_eq!(Datagram::from_segment(&datagram.to_segment()), datagram);
        }
    }
}
