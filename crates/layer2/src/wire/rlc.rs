//! RLC PDUs of NR and LTE.
//!
//! Standard: TS 38.322 §6.2.2; TS 36.322 §6.2.1.

use super::bits::Bits;
use super::{Encoder, Form, Load, Run, pdcp};
use crate::rlc::{Generation, Nack, Pdu, PduKind, SduPart};

/// Writes a PDU.
pub(super) fn write(out: &mut Encoder, load: &Load<'_>, run: &Run<'_>, pdu: &Pdu) {
    let start = out.bytes.len();
    let bytes = &mut out.bytes;
    let parts = load.block.data_parts(pdu);
    match (pdu.kind, run.format.generation, run.format.rlc) {
        (PduKind::Tmd, ..) => {}
        (PduKind::UmdComplete, ..) => bytes.push(0), // SI and reserved bits
        (PduKind::Status, Generation::Nr, Form::Am(bits)) => {
            write_nr_status(bytes, pdu, load.block.nacks_of(pdu), bits.into());
        }
        (PduKind::Status, Generation::Lte, Form::Am(bits)) => {
            write_lte_status(bytes, pdu, load.block.nacks_of(pdu), bits.into());
        }
        (_, Generation::Nr, form) => write_nr_header(bytes, pdu, form, parts),
        (_, Generation::Lte, form) => write_lte_header(bytes, pdu, form, parts),
    }
    for part in parts {
        pdcp::write_part(out, run, load.direction, part);
    }
    debug_assert_eq!(
        out.bytes.len() - start,
        pdu.size as usize,
        "a PDU has the bytes that its sender counted: {pdu:?}"
    );
}

/// Writes the header of a UMD PDU with an SN, or of an AMD PDU: clauses 6.2.2.3 and 6.2.2.4.
fn write_nr_header(bytes: &mut Vec<u8>, pdu: &Pdu, form: Form, parts: &[SduPart]) {
    let Some(part) = parts.first() else { return };
    let mut bits = Bits::new(bytes);
    if let Form::Am(_) = form {
        bits.flag(true).flag(pdu.is_polling); // D/C says data
    }
    // SI distinguishes a complete SDU, and the first, a middle and the last segment of an SDU.
    let segment = u32::from(!part.is_first()) << 1 | u32::from(!part.is_last());
    bits.put(segment, 2);
    match form {
        Form::Am(18) => bits.put(0, 2).put(pdu.sn, 18),
        Form::Am(_) => bits.put(pdu.sn, 12),
        Form::Um(12) => bits.put(0, 2).put(pdu.sn, 12),
        Form::Um(_) | Form::Tm => bits.put(pdu.sn, 6),
    };
    if !part.is_first() {
        bits.put(part.offset, 16);
    }
}

/// Writes a STATUS PDU: clause 6.2.2.5.
fn write_nr_status(bytes: &mut Vec<u8>, pdu: &Pdu, nacks: &[Nack], sn_bits: u32) {
    let mut bits = Bits::new(bytes);
    bits.flag(false).put(0, 3).put(pdu.sn, sn_bits); // D/C and CPT
    bits.flag(!nacks.is_empty()).pad();
    for (index, nack) in nacks.iter().enumerate() {
        bits.put(nack.sn, sn_bits).flag(index + 1 < nacks.len());
        bits.flag(nack.segment.is_some()).flag(nack.range > 1);
        bits.pad();
        if let Some((start, end)) = nack.segment {
            bits.put(start, 16).put(end.min(0xffff), 16);
        }
        if nack.range > 1 {
            bits.put(nack.range.into(), 8);
        }
    }
}

/// Writes the header of a UMD PDU, AMD PDU or AMD PDU segment: clauses 6.2.1.3, 6.2.1.4 and
/// 6.2.1.5.
fn write_lte_header(bytes: &mut Vec<u8>, pdu: &Pdu, form: Form, parts: &[SduPart]) {
    let (Some(first), Some((last, others))) = (parts.first(), parts.split_last()) else {
        return;
    };
    // FI: the first bit is set if the data field begins in the middle of an SDU. The second bit is
    // set if the data field ends in the middle of an SDU.
    let framing = u32::from(!first.is_first()) << 1 | u32::from(!last.is_last());
    let has_indicators = !others.is_empty();
    let is_segment = pdu.kind == PduKind::AmdSegment;
    let mut bits = Bits::new(bytes);
    match form {
        Form::Am(sn_bits) => {
            bits.flag(true).flag(is_segment).flag(pdu.is_polling);
            bits.put(framing, 2).flag(has_indicators);
            if sn_bits == 16 {
                bits.flag(is_segment && pdu.is_last_segment).flag(false);
                bits.put(pdu.sn, 16);
                if is_segment {
                    bits.put(pdu.segment_offset, 16);
                }
            } else {
                bits.put(pdu.sn, 10);
                if is_segment {
                    bits.flag(pdu.is_last_segment).put(pdu.segment_offset, 15);
                }
            }
        }
        Form::Um(10) => {
            bits.put(0, 3).put(framing, 2).flag(has_indicators);
            bits.put(pdu.sn, 10);
        }
        Form::Um(_) | Form::Tm => {
            bits.put(framing, 2).flag(has_indicators).put(pdu.sn, 5);
        }
    }
    // LI fields have 15 bits with the 16-bit SN.
    let indicator_bits = if form == Form::Am(16) { 15 } else { 11 };
    for (index, part) in others.iter().enumerate() {
        bits.flag(index + 1 < others.len());
        bits.put(part.len, indicator_bits);
    }
    bits.pad();
}

/// Writes a STATUS PDU: clause 6.2.1.6.
fn write_lte_status(bytes: &mut Vec<u8>, pdu: &Pdu, nacks: &[Nack], sn_bits: u32) {
    let offset_bits = if sn_bits == 16 { 16 } else { 15 };
    let longest = (1 << offset_bits) - 1;
    let mut bits = Bits::new(bytes);
    bits.flag(false).put(0, 3).put(pdu.sn, sn_bits); // D/C and CPT
    bits.flag(!nacks.is_empty());
    for (index, nack) in nacks.iter().enumerate() {
        bits.put(nack.sn, sn_bits).flag(index + 1 < nacks.len());
        bits.flag(nack.segment.is_some());
        if let Some((start, end)) = nack.segment {
            bits.put(start, offset_bits);
            bits.put(end.min(longest), offset_bits);
        }
    }
    bits.pad();
}
