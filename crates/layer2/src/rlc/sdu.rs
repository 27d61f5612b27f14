//! SDUs, and the parts of them that a PDU holds.

use fadeout_core::{PacketId, Time};

/// An RLC SDU, which is a PDCP PDU: one IP packet with the headers above RLC.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sdu {
    /// The packet inside.
    pub packet: PacketId,
    /// Bytes, PDCP and SDAP headers included. At most 65 535, as far as the SO field reaches.
    pub size: u32,
    /// COUNT of the PDCP PDU. Only its SN part is on the air; the rest is for the records.
    pub count: u32,
    /// Running number on the bearer, for the books of [`Ledger`](crate::pdcp::Ledger); not on the
    /// air.
    pub serial: u32,
    /// When PDCP took it; not on the air.
    pub entered_at: Time,
}

/// Some bytes of an SDU: `offset .. offset + len`.
///
/// A receiver learns from a part only the fields of a header. These are the offset, and whether the
/// part is the first or the last of its SDU. The size is not read before the last part is received.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SduPart {
    /// The SDU.
    pub sdu: Sdu,
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
}

impl SduPart {
    /// The whole of `sdu`.
    #[inline]
    pub fn whole(sdu: Sdu) -> SduPart {
        SduPart {
            sdu,
            offset: 0,
            len: sdu.size,
        }
    }
    /// One past the last byte.
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
