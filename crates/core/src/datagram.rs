//! UDP datagrams as metadata.

use crate::{Segment, Time};

/// Bytes of an IPv4 header and of a UDP header.
///
/// Standard: RFC 768.
pub const DATAGRAM_HEADERS: u32 = 28;

/// A UDP datagram: what the programs at both ends write into it to measure with, as `ping` and
/// `iperf3 -u` do. It takes the place of the segment in a [`Packet`](crate::Packet).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Datagram {
    /// Its number among those of its end, from 0 on.
    pub number: u64,
    /// Payload bytes.
    pub len: u32,
    /// The datagram that it answers, and when that was sent; none of what answers nothing.
    pub answers: Option<(u64, Time)>,
}

impl Datagram {
    /// The datagram in the fields of a segment: a packet has room for one of the two.
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

    /// The datagram that stands in a segment's fields.
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
