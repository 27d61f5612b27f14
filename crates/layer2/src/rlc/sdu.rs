//! SDUs, and the parts of them in PDUs.

use fadeout_core::{PacketId, Time};

/// RLC SDU, which is a PDCP PDU: one IP packet with the headers above RLC.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sdu {
    /// Packet in the SDU.
    pub packet: PacketId,
    /// Bytes with PDCP and SDAP headers, at most 65 535 because of the SO field.
    pub size: u32,
    /// COUNT of the PDCP PDU. Only the SN part is transmitted. Records of the run use all bits.
    pub count: u32,
    /// Serial number on the bearer for the [`Ledger`](crate::pdcp::Ledger). It is not transmitted.
    pub serial: u32,
    /// Time at which PDCP received the packet. It is not transmitted.
    pub entered_at: Time,
}

/// Bytes `offset .. offset + len` of an SDU.
///
/// The receiver uses only header fields of a part. These are the offset, and whether the part is
/// the first or the last one. It reads the size only from the last part.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SduPart {
    /// SDU of the part.
    pub sdu: Sdu,
    /// Position of the first byte.
    pub offset: u32,
    /// Number of bytes.
    pub len: u32,
}

impl SduPart {
    /// Returns a part with all bytes of `sdu`.
    #[inline]
    pub fn whole(sdu: Sdu) -> SduPart {
        SduPart {
            sdu,
            offset: 0,
            len: sdu.size,
        }
    }
    /// Returns the position after the last byte.
    #[inline]
    pub fn end(&self) -> u32 {
        self.offset + self.len
    }
    /// Returns true if the part begins the SDU.
    #[inline]
    pub fn is_first(&self) -> bool {
        self.offset == 0
    }
    /// Returns true if the part ends the SDU.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.end() == self.sdu.size
    }
    /// Returns true if the part is the whole SDU.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.is_first() && self.is_last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_knows_its_place() {
        let sdu = Sdu {
            size: 100,
            ..Sdu::default()
        };
        let place = |offset, len| {
            let part = SduPart { sdu, offset, len };
            (part.is_first(), part.is_last(), part.is_whole())
        };
        assert_eq!(place(0, 100), (true, true, true));
        assert_eq!(place(0, 99), (true, false, false));
        assert_eq!(place(1, 99), (false, true, false));
        assert_eq!(place(1, 98), (false, false, false));
        assert!(SduPart::whole(sdu).is_whole());
    }
}
