//! Merging of segments before TCP processes them, as by a network card (generic receive offload,
//! Linux `tcp_gro_receive`).

use fadeout_core::{Ecn, Flags, MptcpOption, Segment};

/// Largest size of a merged IP packet, bytes (Linux `GRO_LEGACY_MAX_SIZE`).
const LARGEST: u32 = 65_536;

/// Packets from which a segment was merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Number of packets.
    pub packets: u32,
    /// Payload of each packet except the last, bytes. The last may be shorter.
    pub size: u32,
}

/// Consecutive data segments of one connection that TCP processes as one segment.
#[derive(Debug, Clone, Copy)]
pub struct Coalesced {
    segment: Segment,
    ecn: Ecn,
    parts: Parts,
    is_complete: bool,
}

impl Coalesced {
    /// Returns the beginning of a merged segment. `None` for segments that are never merged:
    /// segments without data, SYNs and resets.
    pub fn begin(segment: &Segment, ecn: Ecn) -> Option<Coalesced> {
        let is_merged =
            segment.len > 0 && !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::RST);
        is_merged.then(|| Coalesced {
            segment: *segment,
            ecn,
            parts: Parts {
                packets: 1,
                size: segment.len,
            },
            is_complete: ends_merging(segment),
        })
    }

    /// Appends the next segment. Returns false if the segment cannot be merged. It must then be
    /// processed after this one. Merged segments have equal ECN fields, acknowledgments, windows
    /// and options, and the sequence numbers continue.
    pub fn append(&mut self, next: &Segment, ecn: Ecn) -> bool {
        let merged = &self.segment;
        let size = self.parts.size;
        let fits = (1..=size).contains(&next.len) && merged.wire_len() + next.len < LARGEST;
        let continues = next.seq == merged.seq + u64::from(merged.len);
        if self.is_complete
            || !fits
            || !continues
            || ecn != self.ecn
            || !has_equal_header(merged, next)
        {
            return false;
        }
        self.is_complete = next.len < size || ends_merging(next);
        self.segment.len += next.len;
        self.segment.flags |= next.flags;
        self.parts.packets += 1;
        true
    }

    /// True if no segment can be appended, because the last one is shorter or ends a burst of the
    /// sender.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
    /// Returns the merged segment.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }
    /// Returns the ECN field of all merged packets.
    pub fn ecn(&self) -> Ecn {
        self.ecn
    }
    /// Returns the packets that were merged.
    pub fn parts(&self) -> Parts {
        self.parts
    }
}

/// Returns true if a segment is the last of a merged segment. Its flags end a burst.
fn ends_merging(segment: &Segment) -> bool {
    segment.flags.has(Flags::PSH) || segment.flags.has(Flags::FIN)
}

/// Returns true if the headers differ only in sequence number, length, PSH and FIN. CWR is only
/// allowed in the first segment.
fn has_equal_header(first: &Segment, next: &Segment) -> bool {
    let free = Flags::PSH.0 | Flags::FIN.0;
    let flags = |segment: &Segment| segment.flags.0 & !free;
    let unlike = flags(first) & !Flags::CWR.0 != flags(next);
    if unlike || !continues_mapping(first, next) {
        return false;
    }
    let common = Segment {
        seq: first.seq,
        len: first.len,
        flags: first.flags,
        mptcp: first.mptcp,
        ..*next
    };
    common == *first
}

/// Returns true if both segments belong to one mapping of Multipath TCP, or to none. Linux writes
/// the same option into all segments of a mapping.
fn continues_mapping(first: &Segment, next: &Segment) -> bool {
    let (MptcpOption::Dss(one), MptcpOption::Dss(other)) = (first.mptcp, next.mptcp) else {
        return first.mptcp == next.mptcp && first.mptcp.is_empty();
    };
    let end = |data_seq: u64, data_len: u16| data_seq + u64::from(data_len);
    other.data_seq.wrapping_sub(one.data_seq) == next.seq - first.seq
        && end(one.data_seq, one.data_len) == end(other.data_seq, other.data_len)
        && one.data_ack == other.data_ack
        && one.has_long_ack == other.has_long_ack
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Dss;

    /// Returns data segment `number` of a burst.
    fn data(number: u64) -> Segment {
        Segment {
            seq: 1 + number * 1_000,
            ack: 5,
            window: 30_000,
            len: 1_000,
            ts_value: 7,
            has_timestamps: true,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    /// Returns the beginning of a merged segment with data segment 0.
    fn begun() -> Coalesced {
        Coalesced::begin(&data(0), Ecn::Ect0).expect("it has data")
    }

    /// Returns true if `next` is merged with data segment 0.
    fn joins(next: Segment) -> bool {
        begun().append(&next, Ecn::Ect0)
    }

    #[test]
    fn consecutive_segments_become_one_with_their_bytes_and_flags() {
        let mut merged = begun();
        assert!(merged.append(&data(1), Ecn::Ect0));
        let last = Segment {
            len: 400,
            flags: Flags::ACK | Flags::PSH,
            ..data(2)
        };
        assert!(merged.append(&last, Ecn::Ect0));
        let segment = merged.segment();
        assert_eq!((segment.seq, segment.len), (1, 2_400));
        assert!(segment.flags.has(Flags::PSH));
        let parts = Parts {
            packets: 3,
            size: 1_000,
        };
        assert_eq!(merged.parts(), parts);
        assert!(merged.is_complete());
        assert!(!merged.append(&data(3), Ecn::Ect0));
    }

    #[test]
    fn segments_with_other_headers_are_not_merged() {
        assert!(joins(data(1)));
        assert!(!joins(data(2)), "a gap");
        assert!(!joins(data(0)), "a repetition");
        assert!(!joins(Segment { ack: 6, ..data(1) }));
        let others = [
            Segment {
                window: 1,
                ..data(1)
            },
            Segment {
                ts_value: 8,
                ..data(1)
            },
            Segment {
                flags: Flags::ACK | Flags::CWR,
                ..data(1)
            },
            Segment {
                flags: Flags::ACK | Flags::ECE,
                ..data(1)
            },
            Segment { len: 0, ..data(1) },
            Segment {
                len: 1_001,
                ..data(1)
            },
        ];
        for other in others {
            assert!(!joins(other), "{other:?}");
        }
    }

    #[test]
    fn a_marked_segment_is_not_merged_with_an_unmarked_one() {
        assert!(!begun().append(&data(1), Ecn::Ce));
        let mut marked = Coalesced::begin(&data(0), Ecn::Ce).expect("it has data");
        assert!(!marked.append(&data(1), Ecn::Ect0));
        assert!(marked.append(&data(1), Ecn::Ce));
    }

    #[test]
    fn only_the_first_segment_may_carry_cwr() {
        let first = Segment {
            flags: Flags::ACK | Flags::CWR,
            ..data(0)
        };
        let mut merged = Coalesced::begin(&first, Ecn::Ect0).expect("it has data");
        assert!(merged.append(&data(1), Ecn::Ect0));
        assert!(merged.segment().flags.has(Flags::CWR));
    }

    #[test]
    fn segments_without_data_syns_and_resets_are_never_merged() {
        for flags in [Flags::SYN, Flags::RST] {
            let segment = Segment { flags, ..data(0) };
            assert!(Coalesced::begin(&segment, Ecn::NotEct).is_none());
        }
        let bare = Segment { len: 0, ..data(0) };
        assert!(Coalesced::begin(&bare, Ecn::NotEct).is_none());
    }

    #[test]
    fn a_merged_packet_has_less_than_64_kib() {
        let mut merged = begun();
        let appended = (1..)
            .take_while(|&n| merged.append(&data(n), Ecn::Ect0))
            .count();
        assert_eq!(appended, 64);
        assert_eq!(merged.segment().len, 65_000);
    }

    #[test]
    fn segments_of_two_mappings_are_not_merged() {
        let mapped = |number: u64, data_seq: u64, data_len: u16| Segment {
            mptcp: MptcpOption::Dss(Dss {
                data_ack: 1,
                data_seq,
                data_len,
                ..Dss::default()
            }),
            ..data(number)
        };
        let first = mapped(0, 501, 2_000);
        let begin = || Coalesced::begin(&first, Ecn::NotEct).expect("it has data");
        assert!(begin().append(&mapped(1, 1_501, 1_000), Ecn::NotEct));
        assert!(!begin().append(&mapped(1, 1_501, 2_000), Ecn::NotEct));
        assert!(!begin().append(&mapped(1, 9_501, 1_000), Ecn::NotEct));
        assert!(!begin().append(&data(1), Ecn::NotEct));
    }
}
