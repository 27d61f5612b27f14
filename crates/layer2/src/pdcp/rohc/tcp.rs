//! TCP/IP profile. Compressed headers assume an IP identification of zero, as in packets that are
//! not fragmented.
//!
//! Standard: RFC 6846 §7, §8.2.

use super::context::Reference;
use super::field::{Header, lsb};
use super::options::{Content, full_list_bytes};
use fadeout_core::Flags;

/// Format of a compressed base header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Format {
    Rnd1,
    Rnd2,
    Rnd3,
    Rnd5,
    Rnd6,
    Rnd7,
    Rnd8,
    #[default]
    Common,
}

/// Formats with their bytes, the shortest first. co_common has further fields.
const FORMATS: [(Format, u32); 7] = [
    (Format::Rnd2, 2),
    (Format::Rnd3, 3),
    (Format::Rnd1, 4),
    (Format::Rnd6, 4),
    (Format::Rnd5, 5),
    (Format::Rnd7, 6),
    (Format::Rnd8, 7),
];
const COMMON: u32 = 5;

/// Bytes of type, profile and CRC, and of the static and dynamic chains of IPv4 and TCP. The
/// acknowledgment number and the list of options are not included.
///
/// Standard: RFC 6846 §7.1, §8.2.
const INITIALISATION: u32 = 3 + (10 + 4) + (3 + 8 + 4);

/// Encoding of a header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct CompressedTcp {
    format: Format,
    options: Content,
    /// Bytes of the sequence number and of the acknowledgment number in co_common.
    numbers: [u8; 2],
    has_window: bool,
    has_ttl: bool,
}

/// Returns the bytes of an IR packet's header, without its CID.
pub(super) fn initialisation_bytes(new: &Reference) -> u32 {
    let acknowledgment = if new.header.ack() == 0 { 0 } else { 4 };
    INITIALISATION + acknowledgment + full_list_bytes(&new.header, &new.structure)
}

impl CompressedTcp {
    /// Returns the shortest header that a decompressor with any of `references` can decompress, and
    /// its bytes without a CID.
    ///
    /// Standard: RFC 6846 §5.2.
    pub(super) fn choose(new: &Reference, references: &[Reference]) -> (CompressedTcp, u32) {
        let header = &new.header;
        let known = references.iter().map(|it| (&it.structure, &it.known));
        let options = Content::choose(header, &new.structure, &known);
        let other_bytes = options.list_bytes(header, &new.structure)
            + options.irregular_bytes(header, &new.structure)
            + u32::from(new.uses_ecn)
            // The checksum of TCP has two bytes.
            + 2;
        let mut compressed = CompressedTcp {
            options,
            ..CompressedTcp::default()
        };
        for (format, bytes) in FORMATS {
            compressed.format = format;
            if references.iter().all(|it| compressed.carries(new, it)) {
                return (compressed, bytes + other_bytes);
            }
        }
        compressed.format = Format::Common;
        let all = |is_so: &dyn Fn(&Header) -> bool| references.iter().all(|it| is_so(&it.header));
        let number = |of: fn(&Header) -> u32| {
            let fits = |bytes: &u8| all(&|it| number(of(it), of(header), *bytes));
            [0, 1, 2].into_iter().find(fits).unwrap_or(4)
        };
        compressed.numbers = [number(Header::seq), number(Header::ack)];
        compressed.has_window = !all(&|it| it.window == header.window);
        compressed.has_ttl = !all(&|it| it.hop == header.hop);
        let fields = u32::from(compressed.numbers[0] + compressed.numbers[1])
            + 2 * u32::from(compressed.has_window)
            + u32::from(compressed.has_ttl);
        (compressed, COMMON + fields + other_bytes)
    }

    /// Returns true if a decompressor with this reference can decompress the header.
    pub(super) fn means(&self, new: &Reference, reference: &Reference) -> bool {
        let before = (&reference.structure, &reference.known);
        self.options.means(&new.header, &new.structure, before) && self.carries(new, reference)
    }

    /// Returns true if a decompressor with this reference can decompress the header without its
    /// options.
    ///
    /// Standard: RFC 6846 §8.2.
    fn carries(&self, new: &Reference, reference: &Reference) -> bool {
        let (now, before) = (&new.header, &reference.header);
        let seq = |bits, below| lsb(before.seq(), now.seq(), bits, below);
        let ack = |bits, below| has_ack(now) && lsb(before.ack(), now.ack(), bits, below);
        let same_seq = before.seq() == now.seq();
        let same_ack = before.ack() == now.ack();
        let same_window = before.window == now.window;
        let same_ttl = before.hop == now.hop;
        let same_other_fields = has_ack(before) == has_ack(now) && {
            let is_plain = !self.options.has_list && now.rsf() == 0;
            is_plain && same_ttl && reference.uses_ecn == new.uses_ecn
        };
        match self.format {
            Format::Rnd1 => same_other_fields && same_window && same_ack && seq(18, 65_535),
            Format::Rnd2 => same_other_fields && same_window && same_ack && scaled(before, now),
            Format::Rnd3 => same_other_fields && same_window && same_seq && ack(15, 8191),
            Format::Rnd5 => same_other_fields && same_window && seq(14, 8191) && ack(15, 8191),
            Format::Rnd6 => {
                same_other_fields && same_window && scaled(before, now) && ack(16, 16_383)
            }
            Format::Rnd7 => same_other_fields && same_seq && ack(18, 65_535),
            Format::Rnd8 => {
                let ttl = lsb(u32::from(now.hop), u32::from(before.hop), 3, 3);
                let same_flag = has_ack(before) == has_ack(now);
                let same_ack = lsb(before.ack(), now.ack(), 16, 16_383);
                same_flag && same_window && ttl && seq(16, 65_535) && same_ack
            }
            Format::Common => {
                let [seq, ack] = self.numbers;
                number(before.seq(), now.seq(), seq)
                    && number(before.ack(), now.ack(), ack)
                    && (self.has_window || same_window)
                    && (self.has_ttl || same_ttl)
            }
        }
    }
}

fn has_ack(header: &Header) -> bool {
    header.segment.flags.has(Flags::ACK)
}

/// Returns true if `bytes` bytes are enough to identify a number.
///
/// Standard: RFC 6846 §8.2.
fn number(before: u32, now: u32, bytes: u8) -> bool {
    match bytes {
        0 => before == now,
        1 => lsb(before, now, 8, 63),
        2 => lsb(before, now, 16, 16_383),
        _ => true,
    }
}

/// Returns true if 4 bits of the scaled sequence number are enough to identify it. It counts
/// payloads of this size.
///
/// Standard: RFC 6846 §8.2.
fn scaled(before: &Header, now: &Header) -> bool {
    let payload = now.segment.len;
    if payload == 0 || before.segment.len != payload {
        return false;
    }
    let distance = i64::from(now.seq().wrapping_sub(before.seq()) as i32);
    distance % i64::from(payload) == 0 && (-7..=8).contains(&(distance / i64::from(payload)))
}
