//! RLC content of a transport block, in recycled storage.

use super::SduPart;
use std::ops::Range;

/// Kind of an RLC PDU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum PduKind {
    /// TMD PDU: an SDU without a header.
    #[default]
    Tmd,
    /// NR UMD PDU with a complete SDU and no SN.
    UmdComplete,
    /// UMD PDU with SN: a segment (NR), or parts of one or more SDUs (LTE).
    Umd,
    /// AMD PDU.
    Amd,
    /// LTE AMD PDU segment: a part of the data field of an AMD PDU that was too large to be
    /// retransmitted as a whole.
    AmdSegment,
    /// STATUS PDU.
    Status,
}

/// RLC PDU. Its parts or NACKs are in the [`TransportBlock`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pdu {
    /// Kind of the PDU.
    pub kind: PduKind,
    /// Poll bit of an AMD PDU.
    pub is_polling: bool,
    /// LSF of an AMD PDU segment. True if the segment reaches the end of the data field.
    pub is_last_segment: bool,
    /// SN, or ACK_SN of a STATUS PDU. It has as many bits as the SN field.
    pub sn: u32,
    /// SO of an AMD PDU segment: position of its first byte in the data field of the AMD PDU.
    pub segment_offset: u32,
    /// Bytes of the PDU with its RLC header, without the MAC subheader.
    pub size: u32,
    /// Index of its first part or NACK in the block.
    pub first: u32,
    /// Number of parts or NACKs.
    pub count: u32,
}

impl Pdu {
    #[inline]
    fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// NACK of a STATUS PDU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Nack {
    /// NACK_SN.
    pub sn: u32,
    /// Number of missing SNs from `sn` on: the NACK range field of NR, or 1 without it.
    pub range: u16,
    /// SOstart and SOend. `None` if all bytes are missing. SOend is the last missing byte, or
    /// [`Nack::TO_THE_END`] if the missing bytes reach the end.
    pub segment: Option<(u32, u32)>,
}

impl Nack {
    /// SOend of a NACK that reaches the end of the SDU, whose size the receiver does not know. All
    /// bits are ones.
    ///
    /// Standard: TS 38.322 §6.2.3.17; TS 36.322 §6.2.2.18.
    pub const TO_THE_END: u32 = u32::MAX;
}

/// RLC PDUs of one transport block, for one bearer or several. The PDUs of each bearer are
/// consecutive. The storage is cleared and reused, never freed.
#[derive(Clone, Default, Debug)]
pub struct TransportBlock {
    /// PDUs in the order of the block.
    pub pdus: Vec<Pdu>,
    /// Parts of SDUs that the PDUs refer to.
    pub parts: Vec<SduPart>,
    /// NACKs that the STATUS PDUs refer to.
    pub nacks: Vec<Nack>,
    /// Bytes of the PDUs with their headers and MAC subheaders.
    pub bytes: u32,
}

impl TransportBlock {
    /// Returns an empty block.
    pub fn new() -> Self {
        Self::default()
    }
    /// Empties the block and keeps its storage.
    pub fn clear(&mut self) {
        self.pdus.clear();
        self.parts.clear();
        self.nacks.clear();
        self.bytes = 0;
    }
    /// Returns true if the block is empty.
    pub fn is_empty(&self) -> bool {
        self.pdus.is_empty()
    }
    /// Returns the parts of a PDU.
    #[inline]
    pub fn parts_of(&self, pdu: &Pdu) -> &[SduPart] {
        &self.parts[pdu.range()]
    }
    /// Returns the parts of a PDU. A STATUS PDU has none.
    #[inline]
    pub fn data_parts(&self, pdu: &Pdu) -> &[SduPart] {
        match pdu.kind {
            PduKind::Status => &[],
            _ => self.parts_of(pdu),
        }
    }
    /// Returns the NACKs of a STATUS PDU.
    #[inline]
    pub fn nacks_of(&self, pdu: &Pdu) -> &[Nack] {
        &self.nacks[pdu.range()]
    }
    /// Adds a PDU with one part. `overhead` is the MAC subheader.
    #[inline]
    pub(super) fn push(&mut self, mut pdu: Pdu, part: SduPart, overhead: u32) {
        debug_assert!(
            part.len <= pdu.size,
            "{} bytes of an SDU in a PDU of {}",
            part.len,
            pdu.size
        );
        debug_assert!(
            part.offset + part.len <= part.sdu.size,
            "a PDU carries bytes {} to {} of an SDU of {}",
            part.offset,
            part.offset + part.len,
            part.sdu.size
        );
        pdu.first = self.parts.len() as u32;
        pdu.count = 1;
        self.parts.push(part);
        self.bytes += pdu.size + overhead;
        self.pdus.push(pdu);
    }
}

/// Bytes that wait at a transmitter, including headers and MAC subheaders. A grant of
/// [`Backlog::total`] bytes empties it unless the window stalls.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// A STATUS PDU.
    pub status: u64,
    /// Retransmissions.
    pub retransmission: u64,
    /// SDUs, or parts of an SDU, that were never sent.
    pub new: u64,
}

impl Backlog {
    /// Returns the sum of all parts.
    pub fn total(&self) -> u64 {
        self.status + self.retransmission + self.new
    }
    /// Returns true if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }
}

/// MAC subheader in front of each RLC PDU. Its bytes count toward the grant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum MacSubheader {
    /// No subheader, or one that is counted elsewhere.
    None,
    /// Subheader of NR: 2 bytes, or 3 for PDUs of 256 bytes and more (TS 38.321 clause 6.1.2).
    #[default]
    Nr,
    /// Subheader of LTE: 2 bytes, or 3 for PDUs of 128 bytes and more (TS 36.321 clause 6.2.1). The
    /// last subheader of a block has no length and would need 1 byte.
    Lte,
}

impl MacSubheader {
    #[inline]
    fn long_from(self) -> Option<u32> {
        match self {
            MacSubheader::None => None,
            MacSubheader::Nr => Some(256),
            MacSubheader::Lte => Some(128),
        }
    }
    /// Returns the size of the subheader for a PDU with `pdu` bytes.
    #[inline]
    pub fn size(self, pdu: u32) -> u32 {
        self.long_from()
            .map_or(0, |long| 2 + u32::from(pdu >= long))
    }
    /// Returns the size of the largest PDU that fits into `room` bytes together with its subheader.
    #[inline]
    pub fn largest_pdu(self, room: u32) -> u32 {
        let Some(long) = self.long_from() else {
            return room;
        };
        let short = room.saturating_sub(2);
        if short < long {
            short
        } else {
            // One byte stays unused if the PDU would fit only with the short form of the subheader.
            (room - 3).max(long - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleared_block_is_as_a_new_one() {
        let mut block = TransportBlock::new();
        block.push(Pdu::default(), SduPart::default(), 2);
        block.nacks.push(Nack::default());
        assert!(!block.is_empty() && block.bytes == 2);
        block.clear();
        assert!(block.is_empty() && block.parts.is_empty() && block.nacks.is_empty());
        assert_eq!(block.bytes, 0);
    }
}
