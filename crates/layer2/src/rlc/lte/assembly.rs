//! Assembly of an LTE PDU's data field. SDUs are concatenated, and the last one may be segmented.
//!
//! Standard: TS 36.322 §6.2.1.

use crate::rlc::buffer::{QueueManagement, TxBuffer};
use crate::rlc::pull::Pull;
use crate::rlc::{Sdu, SduPart};

/// Largest data field in bytes that a 15-bit SO can address.
///
/// Standard: TS 36.322 §6.2.2.7.
pub const LONGEST_DATA_FIELD: u32 = 32_767;

/// Length of the LI fields. Every part except the last has one.
#[derive(Clone, Copy, Debug)]
pub(in crate::rlc) struct LengthIndicators {
    /// Bits of an LI with its E bit.
    bits: u32,
    /// Longest part that an LI can count, in bytes. A longer part must be the last one.
    longest: u32,
}

impl LengthIndicators {
    /// LI fields of 11 bits.
    pub(in crate::rlc) const SHORT: LengthIndicators = LengthIndicators {
        bits: 12,
        longest: 2047,
    };
    /// LI fields of 15 bits, used with the 16-bit SN.
    pub(in crate::rlc) const LONG: LengthIndicators = LengthIndicators {
        bits: 16,
        longest: LONGEST_DATA_FIELD,
    };

    /// Returns the bytes of the LI fields in a PDU of `parts` parts.
    #[inline]
    pub(in crate::rlc) fn size(self, parts: u32) -> u32 {
        (parts.saturating_sub(1) * self.bits).div_ceil(8)
    }
}

/// SDUs to send. One of them may be partly sent.
#[derive(Clone, Debug)]
pub(in crate::rlc) struct Assembly {
    pub(in crate::rlc) buffer: TxBuffer,
    pub(in crate::rlc) indicators: LengthIndicators,
    /// Bytes of the fixed part of the header.
    pub(in crate::rlc) header: u32,
    /// SDU that is partly sent, and the number of its bytes sent.
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

    /// Returns the bytes that wait, with a header for each SDU.
    pub(in crate::rlc) fn backlog(&self, subheader: u32) -> u64 {
        let each = u64::from(self.header + 2 + subheader);
        let rest = self
            .segmenting
            .map_or(0, |(sdu, sent)| u64::from(sdu.size - sent) + each);
        rest + self.buffer.bytes() + self.buffer.len() * each
    }

    /// Fills a PDU of at most `room` bytes, header included, and appends its parts to the block.
    /// Returns their number and bytes. Both are zero if not even one byte fits.
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

    /// Returns the SDU that is partly sent. `None` if there is none.
    pub(in crate::rlc) fn segmenting(&self) -> Option<&Sdu> {
        self.segmenting.as_ref().map(|(sdu, _)| sdu)
    }
}
