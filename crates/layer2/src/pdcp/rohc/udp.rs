//! Second profile of UDP/IP. With an IP identification of zero, only the compressor's own number
//! and the checksum of UDP change between packets.
//!
//! Standard: RFC 5225 §6.8.2.

use super::context::Reference;
use super::field::Header;

/// Bytes of an IR packet's header without its CID: type, profile and CRC, static and dynamic chains
/// of IPv4 and UDP.
///
/// Standard: RFC 5225 §6.8.1.
pub(super) const INITIALISATION_BYTES: u32 = 3 + (10 + 4) + (3 + 5);

/// Encoding of a header: pt_0_crc3, or co_common with one of these fields.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct CompressedUdp {
    has_tos: bool,
    has_ttl: bool,
}

impl CompressedUdp {
    /// Returns the shortest header that a decompressor with any of `references` can decompress, and
    /// its bytes without a CID.
    pub(super) fn choose(new: &Reference, references: &[Reference]) -> (CompressedUdp, u32) {
        let all = |is_so: &dyn Fn(&Header) -> bool| references.iter().all(|it| is_so(&it.header));
        let compressed = CompressedUdp {
            has_tos: !all(&|it| it.ecn == new.header.ecn),
            has_ttl: !all(&|it| it.hop == new.header.hop),
        };
        let fields = u32::from(compressed.has_tos) + u32::from(compressed.has_ttl);
        // co_common has flags, both CRCs and the low byte of the number.
        let base = if fields > 0 { 4 + fields } else { 1 };
        (compressed, base + 2)
    }

    /// Returns true if a decompressor with this reference can decompress the header.
    pub(super) fn means(&self, new: &Reference, reference: &Reference) -> bool {
        let (now, before) = (&new.header, &reference.header);
        (self.has_tos || before.ecn == now.ecn) && (self.has_ttl || before.hop == now.hop)
    }
}
