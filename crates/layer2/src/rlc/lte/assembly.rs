//! Assembly of the data field of an LTE PDU: SDUs are concatenated and the last one segmented.
//!
//! Standard: TS 36.322 §6.2.1.

use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::pull::Pull;
use crate::rlc::{Sdu, SduPart};

/// Most bytes of a data field that a 15-bit SO reaches.
///
/// Standard: TS 36.322 §6.2.2.7.
pub const LONGEST_DATA_FIELD: u32 = 32_767;

/// Length of the LI fields: one for every part but the last.
#[derive(Clone, Copy, Debug)]
pub(in crate::rlc) struct LengthIndicators {
    /// Bits of an LI with its E bit.
    bits: u32,
    /// Longest part that an LI can count; a longer one must be the last.
    longest: u32,
}

impl LengthIndicators {
    /// LI fields of 11 bits.
    pub(in crate::rlc) const SHORT: LengthIndicators = LengthIndicators {
        bits: 12,
        longest: 2047,
    };
    /// LI fields of 15 bits, which come with the 16-bit SN.
    pub(in crate::rlc) const LONG: LengthIndicators = LengthIndicators {
        bits: 16,
        longest: LONGEST_DATA_FIELD,
    };

    /// Bytes of the fields in a PDU of `parts` parts.
    #[inline]
    pub(in crate::rlc) fn size(self, parts: u32) -> u32 {
        (parts.saturating_sub(1) * self.bits).div_ceil(8)
    }
}

/// The SDUs to send, the one being segmented in front.
#[derive(Clone, Debug)]
pub(in crate::rlc) struct Assembly {
    pub(in crate::rlc) buffer: TxBuffer,
    pub(in crate::rlc) indicators: LengthIndicators,
    /// Fixed part of the header.
    pub(in crate::rlc) header: u32,
    /// The SDU being segmented and its bytes sent.
    segmenting: Option<(Sdu, u32)>,
}

impl Assembly {
    pub(in crate::rlc) fn new(
        buffer: TxBuffer,
        indicators: LengthIndicators,
        header: u32,
    ) -> Assembly {
        Assembly {
            buffer,
            indicators,
            header,
            segmenting: None,
        }
    }

    #[inline]
    pub(in crate::rlc) fn is_empty(&self) -> bool {
        self.segmenting.is_none() && self.buffer.is_empty()
    }

    /// Bytes that wait, with headers as if each SDU had its own.
    pub(in crate::rlc) fn backlog(&self, subheader: u32) -> u64 {
        let each = u64::from(self.header + 2 + subheader);
        let rest = self
            .segmenting
            .map_or(0, |(sdu, sent)| u64::from(sdu.size - sent) + each);
        rest + self.buffer.bytes() + self.buffer.len() * each
    }

    /// Fills a PDU of at most `room` bytes, header included. Appends the parts to the block and
    /// returns their number and bytes. Both are zero if not even one byte fits.
    pub(in crate::rlc) fn fill(
        &mut self,
        room: u32,
        pull: &mut Pull<'_, impl QueueManagement>,
    ) -> (u32, u32) {
        let (mut count, mut bytes) = (0, 0_u32);
        loop {
            let header = self.header + self.indicators.size(count + 1);
            let left = room
                .saturating_sub(header + bytes)
                .min(LONGEST_DATA_FIELD - bytes);
            if left == 0 {
                break;
            }
            let (sdu, offset) = match self.segmenting {
                Some(rest) => rest,
                None => match pull.next(&mut self.buffer) {
                    Some(_) => (self.buffer.pop().expect("the head was just seen"), 0),
                    None => break,
                },
            };
            let part = SduPart {
                sdu,
                offset,
                len: left.min(sdu.size - offset),
            };
            pull.block.parts.push(part);
            count += 1;
            bytes += part.len;
            self.segmenting = (!part.is_last()).then(|| (sdu, part.end()));
            if part.len > self.indicators.longest {
                break;
            }
        }
        (count, bytes)
    }

    pub(in crate::rlc) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        out.extend(self.segmenting.take().map(|(sdu, _)| sdu));
        self.buffer.flush(out)
    }

    /// The SDU being segmented.
    pub(in crate::rlc) fn segmenting(&self) -> Option<&Sdu> {
        self.segmenting.as_ref().map(|(sdu, _)| sdu)
    }
}
