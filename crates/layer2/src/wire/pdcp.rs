//! PDCP data PDUs with their SDAP header.

use super::bits::Bits;
use super::{BearerFormat, Encoder, Run};
use crate::pdcp::PdcpConfig;
use crate::rlc::{Generation, SduPart};
use fadeout_core::{Direction, PacketBytes};

/// QoS flow identifier in SDAP headers.
const QFI: u32 = 1;

/// Writes the header: TS 38.323 clauses 6.2.2.2 and 6.2.2.3, TS 37.324 clause 6.2.2. LTE's 12 and
/// 18 bits (TS 36.323 clauses 6.2.3 and 6.2.9) are the same.
fn write_header(
    bytes: &mut Vec<u8>,
    pdcp: &PdcpConfig,
    generation: Generation,
    direction: Direction,
    count: u32,
) {
    let sn = count & ((1 << pdcp.sn_bits) - 1);
    let mut bits = Bits::new(bytes);
    // D/C is 1 for data. The remaining bits up to whole bytes are reserved.
    let reserved = if pdcp.sn_bits == 18 { 5 } else { 3 };
    bits.flag(true)
        .put(0, reserved)
        .put(sn, pdcp.sn_bits.into());
    if pdcp.has_sdap_header && generation == Generation::Nr {
        match direction {
            // RDI and RQI are 0, because the UE has no mapping to learn.
            Direction::Downlink => bits.put(0, 2).put(QFI, 6),
            // D/C is 1 for data, and one bit is reserved.
            Direction::Uplink => bits.put(0b10, 2).put(QFI, 6),
        };
    } else if pdcp.has_sdap_header {
        bits.put(0, 8);
    }
}

/// Returns the header of a PDCP PDU, including that of SDAP.
///
/// Standard: TS 38.323 §6.2.2; TS 36.323 §6.2; TS 37.324 §6.2.
pub fn pdcp_header(format: &BearerFormat, direction: Direction, count: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_header(
        &mut bytes,
        &format.pdcp,
        format.generation,
        direction,
        count,
    );
    bytes
}

/// Writes a part of a PDCP PDU.
///
/// Standard: TS 38.323 §6.2.2; TS 36.323 §6.2.
pub(super) fn write_part(out: &mut Encoder, run: &Run<'_>, direction: Direction, part: &SduPart) {
    let BearerFormat {
        generation, pdcp, ..
    } = run.format;
    let header = pdcp.header();
    if part.offset < header {
        let at = out.bytes.len();
        write_header(&mut out.bytes, pdcp, *generation, direction, part.sdu.count);
        // A segment may contain only a part of the header.
        out.bytes.truncate(at + part.end().min(header) as usize);
        out.bytes.drain(at..at + part.offset as usize);
    }
    let first = part.offset.max(header);
    let len = part.end().saturating_sub(first);
    if len == 0 {
        return;
    }
    if run.ledger.holds(part.sdu.serial) {
        out.packets.push(PacketBytes {
            at: out.bytes.len() as u32,
            packet: part.sdu.packet,
            offset: first - header,
            len,
        });
    }
    out.bytes.resize(out.bytes.len() + len as usize, 0);
}
