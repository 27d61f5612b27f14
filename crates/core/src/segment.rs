//! TCP segments without payload. Sequence numbers do not wrap.

use std::num::NonZero;

/// Largest number of SACK blocks in a segment without timestamps.
///
/// Standard: RFC 2018 §3.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Flags of the TCP header, with their bits on the wire.
///
/// Standard: RFC 9293 §3.1; RFC 3168 §6.1.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// FIN: no more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// SYN: synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// RST: reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// PSH: push.
    pub const PSH: Flags = Flags(0x08);
    /// ACK: the acknowledgment field is valid.
    pub const ACK: Flags = Flags(0x10);
    /// ECE: ECN echo.
    pub const ECE: Flags = Flags(0x40);
    /// CWR: congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// AE: highest bit of the ACE field of accurate ECN.
    ///
    /// Standard: RFC 9768 §3.1.
    pub const AE: Flags = Flags(0x100);

    /// Returns true if every flag of `other` is set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if the segment has an acknowledgment, and no other flag except PSH.
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.0 | Flags::PSH.0 == Flags::ACK.0 | Flags::PSH.0
    }

    /// Returns true if the segment has an acknowledgment and neither resets nor opens a connection.
    #[inline]
    pub const fn is_acknowledgment(self) -> bool {
        self.0 & (Flags::ACK.0 | Flags::RST.0 | Flags::SYN.0) == Flags::ACK.0
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

/// Half-open range of sequence numbers, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First sequence number in the range.
    pub start: u64,
    /// First sequence number after the range.
    pub end: u64,
}

impl std::fmt::Debug for SackBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.start, self.end)
    }
}

/// Up to four SACK blocks, the most recently received first. A DSACK is the first block. Most
/// segments have an empty list, which is stored in one word.
///
/// Standard: RFC 2018; RFC 2883.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackList(Option<Blocks>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Blocks {
    len: NonZero<u64>,
    blocks: [SackBlock; MAX_SACK_BLOCKS],
}

impl SackList {
    /// List without blocks.
    pub const EMPTY: SackList = SackList(None);

    /// Appends a block. Returns false if the list is full.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let len = self.as_slice().len();
        let has_room = len < MAX_SACK_BLOCKS;
        if has_room {
            let blocks = self.0.map_or_else(Default::default, |it| it.blocks);
            self.set(len + 1, blocks);
            if let Some(Blocks { blocks, .. }) = &mut self.0 {
                blocks[len] = block;
            }
        }
        has_room
    }
    /// Keeps the first `len` blocks.
    pub fn truncate(&mut self, len: usize) {
        if let Some(Blocks { mut blocks, .. }) = self.0
            && len < self.as_slice().len()
        {
            blocks[len..].fill(SackBlock::default());
            self.set(len, blocks);
        }
    }
    fn set(&mut self, len: usize, blocks: [SackBlock; MAX_SACK_BLOCKS]) {
        let len = NonZero::new(len as u64);
        self.0 = len.map(|len| Blocks { len, blocks });
    }
    /// Returns the blocks in order.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        match &self.0 {
            Some(Blocks { len, blocks }) => &blocks[..len.get() as usize],
            None => &[],
        }
    }
    /// Returns true if there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl std::fmt::Debug for SackList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// Multipath TCP option of a segment.
///
/// Data sequence numbers are offsets, like subflow sequence numbers. The handshake has 0, and the
/// first data byte 1. Keys, tokens and HMACs are not stored, because a capture derives them.
///
/// Standard: RFC 8684 §3.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum MptcpOption {
    /// No option: plain TCP.
    #[default]
    None,
    /// MP_CAPABLE, on the three packets that open the first subflow.
    Capable,
    /// MP_JOIN, on the three packets that open a further subflow.
    Join {
        /// True if the subflow is used only if no other works (the B flag).
        backup: bool,
    },
    /// Data sequence signal.
    Dss(Dss),
    /// ADD_ADDR: the path with this number can be joined. The echo acknowledges the announcement.
    AddAddress {
        /// Number of the path.
        path: u8,
        /// True for the echo.
        is_echo: bool,
    },
    /// REMOVE_ADDR: the path with this number was removed.
    RemoveAddress {
        /// Number of the path.
        path: u8,
    },
    /// MP_PRIO: the priority of the subflow that carries it.
    Priority {
        /// True if the subflow is used only if no other works (the B flag).
        backup: bool,
    },
    /// MP_FASTCLOSE, on resets: the whole connection ends.
    FastClose,
    /// MP_TCPRST, on resets of a single subflow: the reason for the reset.
    Reset {
        /// Reason code (RFC 8684 section 3.6).
        reason: u8,
    },
}

/// Data sequence signal.
///
/// Standard: RFC 8684 §3.3.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dss {
    /// Next data sequence number expected (DATA_ACK).
    pub data_ack: u64,
    /// Data sequence number of the segment's first byte. Valid if `data_len` is not zero.
    pub data_seq: u64,
    /// Number of mapped data sequence numbers: the payload, plus one for a DATA_FIN. Zero without a
    /// mapping.
    pub data_len: u16,
    /// True if the mapping ends with the DATA_FIN.
    pub data_fin: bool,
    /// True if the DATA_ACK has 64 bits, false if it has 32 bits.
    pub has_long_ack: bool,
}

impl MptcpOption {
    /// Bytes of the data sequence signal option of a data segment, which reduce the maximum segment
    /// size. The option has a header of 4 bytes, a DATA_ACK of 4 bytes and a data sequence number
    /// of 8 bytes. A subflow sequence number, a length and padding have 8 bytes together.
    pub const MAPPING_LEN: u32 = 24;
    /// Bytes of an ACK's data sequence signal, with an 8-byte DATA_ACK.
    pub const DATA_ACK_LEN: u32 = 12;
    /// Bytes by which a DATA_ACK of 64 bits is longer than one of 32 bits.
    pub const LONG_ACK_LEN: u32 = 4;

    /// Returns the bytes of the option in a segment with these flags, padded to words.
    ///
    /// Standard: RFC 8684 §3.1 to 3.6.
    #[inline]
    pub fn len(self, flags: Flags) -> u32 {
        let is_syn = flags.has(Flags::SYN);
        let is_reply = flags.has(Flags::ACK);
        match self {
            MptcpOption::None => 0,
            MptcpOption::Capable if !is_syn => 20,
            MptcpOption::Capable => 4 + 8 * u32::from(is_reply),
            MptcpOption::Join { .. } if !is_syn => 24,
            MptcpOption::Join { .. } => 12 + 4 * u32::from(is_reply),
            MptcpOption::Dss(dss) => {
                let short = match dss.data_len {
                    0 => MptcpOption::DATA_ACK_LEN - MptcpOption::LONG_ACK_LEN,
                    _ => MptcpOption::MAPPING_LEN,
                };
                short + MptcpOption::LONG_ACK_LEN * u32::from(dss.has_long_ack)
            }
            MptcpOption::AddAddress { is_echo: false, .. } => 16,
            MptcpOption::AddAddress { is_echo: true, .. } => 8,
            MptcpOption::RemoveAddress { .. }
            | MptcpOption::Priority { .. }
            | MptcpOption::Reset { .. } => 4,
            MptcpOption::FastClose => 12,
        }
    }

    /// Returns true if there is no option.
    #[inline]
    pub fn is_empty(self) -> bool {
        self == MptcpOption::None
    }
}

/// Byte counters of accurate ECN in an option, modulo 2^24.
///
/// Standard: RFC 9768 §3.2.3.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AccurateEcnOption {
    /// Counters of ECT(1), CE and ECT(0), big-endian.
    counters: [[u8; 3]; 3],
    /// Zero without the option. Otherwise one more than the number of fields, with the highest bit
    /// set if ECT(0) leads.
    layout: u8,
}

impl AccurateEcnOption {
    const ECT0_LEADS: u8 = 0x80;

    /// Returns an option with the first `fields` of the counters of ECT(1), CE and ECT(0). The
    /// order is reversed if ECT(0) leads.
    pub fn new(counters: [u32; 3], fields: u8, ect0_leads: bool) -> AccurateEcnOption {
        let bytes = |counter: u32| {
            let [_, a, b, c] = counter.to_be_bytes();
            [a, b, c]
        };
        let leads = if ect0_leads {
            AccurateEcnOption::ECT0_LEADS
        } else {
            0
        };
        AccurateEcnOption {
            counters: counters.map(bytes),
            layout: (1 + fields.min(3)) | leads,
        }
    }
    /// Returns true if the segment carries the option.
    #[inline]
    pub fn is_present(&self) -> bool {
        self.layout != 0
    }
    /// Returns the number of counters in the option.
    pub fn fields(&self) -> u8 {
        (self.layout & !AccurateEcnOption::ECT0_LEADS).saturating_sub(1)
    }
    /// Returns true if ECT(0) is the first counter.
    pub fn ect0_leads(&self) -> bool {
        self.layout & AccurateEcnOption::ECT0_LEADS != 0
    }
    /// Returns the counter of ECT(1), CE or ECT(0), for 0, 1 or 2. `None` if it is left out.
    pub fn counter(&self, index: usize) -> Option<u32> {
        let place = if self.ect0_leads() {
            2usize.checked_sub(index)?
        } else {
            index
        };
        let [a, b, c] = *self.counters.get(index)?;
        (place < usize::from(self.fields())).then(|| u32::from_be_bytes([0, a, b, c]))
    }
    /// Returns the bytes in the header, padded to words.
    #[inline]
    pub fn len(&self) -> u32 {
        if self.is_present() {
            (2 + 3 * u32::from(self.fields())).next_multiple_of(4)
        } else {
            0
        }
    }
    /// Returns true if there is no option.
    pub fn is_empty(&self) -> bool {
        !self.is_present()
    }
}

/// Bytes of the Fast Open option with a cookie of 8 bytes, padded to words.
///
/// Standard: RFC 7413 §4.1.1.
const COOKIE_OPTION: u32 = 12;
/// Bytes of the headers of IPv4 and TCP without options.
pub const SEGMENT_HEADERS: u32 = 40;

/// Header fields of a TCP segment, scaled and unwrapped.
///
/// Sequence numbers are 64-bit offsets: the SYN is 0, and the first data byte 1. They never wrap,
/// so PAWS (RFC 7323 section 5) is not needed. Captures write them modulo 2^32.
///
/// Fields are in the order in which they are accessed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub struct Segment {
    /// First sequence number of the segment (SEG.SEQ).
    pub seq: u64,
    /// Next sequence number expected from the peer (SEG.ACK). Valid if [`Flags::ACK`] is set.
    pub ack: u64,
    /// Receive window in bytes, already scaled (SEG.WND).
    pub window: u64,
    /// Payload bytes, without SYN and FIN.
    pub len: u32,
    /// Timestamp value in ms ticks (RFC 7323). Valid if [`Segment::has_timestamps`].
    pub ts_value: u32,
    /// Timestamp echo reply in ms ticks.
    pub ts_echo: u32,
    /// Number of CE-marked packets that the sender of this segment has received, for accurate ECN
    /// feedback (RFC 9768). The header has only the three lowest bits. The number here is complete,
    /// as in the option.
    pub ce_packets: u32,
    /// Flags.
    pub flags: Flags,
    /// Maximum segment size option (on SYNs only). Zero when absent.
    pub mss: u16,
    /// Window scale option (on SYNs only). `None` when absent.
    pub window_scale: Option<u8>,
    /// True if the SACK-permitted option is present (on SYNs only).
    pub sack_permitted: bool,
    /// True if the Fast Open option with a cookie of 8 bytes is present (on SYNs only, RFC 7413).
    pub has_cookie: bool,
    /// True if the timestamps option is present.
    pub has_timestamps: bool,
    /// True if a biased queue should drop this packet before others (TCP-Casablanca).
    pub is_expendable: bool,
    /// True for an explicit loss notification: the radio lost the missing data (TCP-Casablanca).
    pub is_radio_loss: bool,
    /// Option of accurate ECN.
    pub accurate: AccurateEcnOption,
    /// Multipath TCP option.
    pub mptcp: MptcpOption,
    /// SACK blocks.
    pub sack: SackList,
}

impl Segment {
    /// Returns the sequence numbers that the segment occupies: payload plus one each for SYN and
    /// FIN (SEG.LEN).
    #[inline]
    pub fn seq_len(&self) -> u64 {
        u64::from(self.len)
            + u64::from(self.flags.has(Flags::SYN))
            + u64::from(self.flags.has(Flags::FIN))
    }
    /// Returns the first sequence number after the segment.
    #[inline]
    pub fn end_seq(&self) -> u64 {
        self.seq + self.seq_len()
    }
    /// Returns the bytes of TCP options in Linux's layout. Timestamps take 12 bytes with their
    /// padding and SACK blocks 4 + 8 each, but on a SYN the options have no padding.
    #[inline]
    pub fn options_len(&self) -> u32 {
        if self.flags.has(Flags::SYN) {
            return self.syn_options_len();
        }
        let timestamps = if self.has_timestamps { 12 } else { 0 };
        let blocks = self.sack.as_slice().len() as u32;
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        timestamps + sack + self.mptcp.len(self.flags) + self.accurate.len()
    }
    #[cold]
    fn syn_options_len(&self) -> u32 {
        let mss: u32 = if self.mss != 0 { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 3 } else { 0 };
        let sack = if self.sack_permitted { 2 } else { 0 };
        let timestamps = if self.has_timestamps { 10 } else { 0 };
        let multipath = self.mptcp.len(self.flags);
        let cookie = if self.has_cookie { COOKIE_OPTION } else { 0 };
        let usual = (mss + scale + sack + timestamps).next_multiple_of(4);
        usual + cookie + multipath + self.accurate.len()
    }
    /// Returns the size on the wire as an IPv4 packet: 20 bytes of IP, 20 of TCP, options and
    /// payload.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        SEGMENT_HEADERS + self.options_len() + self.len
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
            }));
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
        let fast = Segment {
            has_cookie: true,
            ..syn
        };
        assert_eq!(fast.options_len(), 32);
    }

    #[test]
    fn a_mapped_segment_leaves_room_for_one_sack_block_on_its_ack() {
        let mut ack = Segment {
            has_timestamps: true,
            mptcp: MptcpOption::Dss(Dss {
                has_long_ack: true,
                ..Dss::default()
            }),
            ..Segment::default()
        };
        assert!(ack.sack.push(SackBlock { start: 1, end: 2 }));
        assert_eq!(ack.options_len(), 36);
        let data = Segment {
            len: 1424,
            has_timestamps: true,
            mptcp: MptcpOption::Dss(Dss {
                data_len: 1424,
                ..Dss::default()
            }),
            ..Segment::default()
        };
        assert_eq!(data.wire_len(), 1500);
        let MptcpOption::Dss(dss) = data.mptcp else {
            unreachable!("it was set");
        };
        // An end that has received data acknowledges it with 64 bits in its own data segments.
        let answer = Segment {
            len: 1420,
            mptcp: MptcpOption::Dss(Dss {
                has_long_ack: true,
                ..dss
            }),
            ..data
        };
        assert_eq!(answer.wire_len(), 1500);
        assert!(size_of::<MptcpOption>() <= 24);
    }

    #[test]
    fn counters_of_accurate_ecn_stand_in_either_order() {
        let counters = [0x100_0001, 2, 3];
        let option = AccurateEcnOption::new(counters, 2, false);
        let all = |option: &AccurateEcnOption| [0, 1, 2].map(|index| option.counter(index));
        assert_eq!(all(&option), [Some(1), Some(2), None]);
        assert_eq!(option.len(), 8);
        let option = AccurateEcnOption::new(counters, 2, true);
        assert_eq!(all(&option), [None, Some(2), Some(3)]);
        assert_eq!(AccurateEcnOption::new(counters, 3, true).len(), 12);
        assert!(AccurateEcnOption::default().is_empty());
        assert!(size_of::<Segment>() <= 160);
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
