//! TCP segments as metadata: no payload bytes, sequence numbers that do not wrap.

/// Most SACK blocks that fit a segment without timestamps (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// TCP header flags, bit for bit as on the wire (RFC 9293 section 3.1, RFC 3168 section 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN, the highest bit of the ACE field (RFC 9768 section 3.1).
    pub const AE: Flags = Flags(0x100);

    /// Whether every flag of `other` is set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
impl std::ops::BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}
impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letters = [
            (Flags::SYN, 'S'),
            (Flags::FIN, 'F'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::ACK, '.'),
            (Flags::ECE, 'E'),
            (Flags::CWR, 'W'),
            (Flags::AE, 'A'),
        ];
        letters
            .iter()
            .filter(|(flag, _)| self.has(*flag))
            .try_for_each(|(_, c)| write!(f, "{c}"))
    }
}

/// A half-open range of sequence numbers, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First sequence number inside.
    pub start: u64,
    /// First sequence number after.
    pub end: u64,
}

impl std::fmt::Debug for SackBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.start, self.end)
    }
}

/// Up to four SACK blocks, most recently received first (RFC 2018; a DSACK leads, RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackList {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    len: u8,
}

impl SackList {
    /// No blocks.
    pub const EMPTY: SackList = SackList {
        blocks: [SackBlock { start: 0, end: 0 }; MAX_SACK_BLOCKS],
        len: 0,
    };

    /// Appends a block; returns false when the list is full.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let room = self.as_slice().len() < MAX_SACK_BLOCKS;
        if room {
            self.blocks[usize::from(self.len)] = block;
            self.len += 1;
        }
        room
    }
    /// The blocks in order.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }
    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl std::fmt::Debug for SackList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// A TCP segment's header fields, scaled and unwrapped.
///
/// Sequence numbers are 64-bit offsets: the SYN is 0, the first data byte 1. They never wrap, so
/// PAWS (RFC 7323 section 5) has nothing to protect; captures write them modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Segment {
    /// First sequence number of the segment (SEG.SEQ).
    pub seq: u64,
    /// Next sequence number expected from the peer (SEG.ACK), when [`Flags::ACK`] is set.
    pub ack: u64,
    /// Receive window in bytes, already scaled (SEG.WND).
    pub window: u64,
    /// Payload bytes; SYN and FIN not counted.
    pub len: u32,
    /// Timestamp value in ms ticks (RFC 7323), when [`Segment::has_timestamps`].
    pub ts_value: u32,
    /// Timestamp echo reply in ms ticks.
    pub ts_echo: u32,
    /// Flags.
    pub flags: Flags,
    /// Maximum segment size option; zero when absent (on SYNs only).
    pub mss: u16,
    /// Window scale option; `None` when absent (on SYNs only).
    pub window_scale: Option<u8>,
    /// SACK-permitted option (on SYNs only).
    pub sack_permitted: bool,
    /// Whether the timestamps option is present.
    pub has_timestamps: bool,
    /// Packets marked congestion-experienced that the sender of this segment has received, with
    /// accurate ECN feedback (RFC 9768). The header has room for its three lowest bits; here it
    /// is whole, as the option carries it.
    pub ce_packets: u32,
    /// Whether a biased queue should drop this packet before others (TCP-Casablanca).
    pub is_expendable: bool,
    /// Explicit loss notification: what is missing was lost by the radio (TCP-Casablanca).
    pub is_radio_loss: bool,
    /// SACK blocks.
    pub sack: SackList,
}

impl Segment {
    /// Sequence numbers the segment occupies: payload plus one each for SYN and FIN (SEG.LEN).
    #[inline]
    pub fn seq_len(&self) -> u64 {
        u64::from(self.len)
            + u64::from(self.flags.has(Flags::SYN))
            + u64::from(self.flags.has(Flags::FIN))
    }
    /// First sequence number after the segment.
    #[inline]
    pub fn end_seq(&self) -> u64 {
        self.seq + self.seq_len()
    }
    /// Bytes of TCP options, laid out as Linux does: timestamps take 12 bytes with their padding
    /// and SACK blocks 4 + 8 each, but on a SYN the options stand close.
    pub fn options_len(&self) -> u32 {
        if self.flags.has(Flags::SYN) {
            let mss: u32 = if self.mss != 0 { 4 } else { 0 };
            let scale = if self.window_scale.is_some() { 3 } else { 0 };
            let sack = if self.sack_permitted { 2 } else { 0 };
            let timestamps = if self.has_timestamps { 10 } else { 0 };
            return (mss + scale + sack + timestamps).next_multiple_of(4);
        }
        let timestamps = if self.has_timestamps { 12 } else { 0 };
        let blocks = self.sack.as_slice().len() as u32;
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        timestamps + sack
    }
    /// Size on the wire as an IPv4 packet: 20 bytes of IP, 20 of TCP, options and payload.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        40 + self.options_len() + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_data_segment_with_timestamps_is_a_1500_byte_packet() {
        let segment = Segment {
            len: 1448,
            has_timestamps: true,
            ..Segment::default()
        };
        assert_eq!(segment.wire_len(), 1500);
    }

    #[test]
    fn options_take_what_they_take_in_linux() {
        let mut ack = Segment {
            has_timestamps: true,
            ..Segment::default()
        };
        (0..3).for_each(|n| {
            assert!(ack.sack.push(SackBlock {
                start: n,
                end: n + 1
            }))
        });
        assert_eq!(ack.options_len(), 40);
        let syn = Segment {
            flags: Flags::SYN,
            mss: 1460,
            window_scale: Some(7),
            sack_permitted: true,
            has_timestamps: true,
            ..Segment::default()
        };
        assert_eq!(syn.options_len(), 20);
    }

    #[test]
    fn syn_and_fin_occupy_sequence_space() {
        let segment = Segment {
            flags: Flags::SYN | Flags::ACK,
            ..Segment::default()
        };
        assert_eq!((segment.seq_len(), segment.end_seq()), (1, 1));
    }

    #[test]
    fn a_full_sack_list_refuses_more() {
        let mut list = SackList::EMPTY;
        assert!((0..4).all(|n| list.push(SackBlock {
            start: n,
            end: n + 1
        })));
        assert!(!list.push(SackBlock::default()));
    }
}
