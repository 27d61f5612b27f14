//! MAC PDUs of NR and LTE.
//!
//! Standard: TS 38.321 §6.1.2; TS 36.321 §6.1.2.

use super::{Encoder, Load, Run, rlc};

/// LCIDs of TS 38.321 Tables 6.2.1-1 and 6.2.1-2.
mod nr {
    pub(super) const LONG_BSR: u8 = 62;
    pub(super) const PADDING: u8 = 63;
}

/// LCIDs of TS 36.321 Tables 6.2.1-1 and 6.2.1-2.
mod lte {
    pub(super) const SHORT_BSR: u8 = 0b11101;
    pub(super) const PADDING: u8 = 0b11111;
    /// E bit: another subheader follows.
    pub(super) const MORE: u8 = 0x20;
}

/// Writes subPDUs one after the other: SDUs, the control element of the uplink, padding (clause
/// 6.1.2). The long BSR is in clause 6.1.3.1.
pub(super) fn write_nr<'a>(
    out: &mut Encoder,
    load: &Load<'_>,
    runs: impl Iterator<Item = Run<'a>>,
) {
    for run in runs {
        for pdu in run.pdus {
            // The subheader has the fields R, F, LCID and L.
            match u8::try_from(pdu.size) {
                Ok(short) => out.bytes.extend([run.format.lcid, short]),
                Err(_) => {
                    let long = u16::try_from(pdu.size).unwrap_or(u16::MAX);
                    out.bytes.push(0x40 | run.format.lcid);
                    out.bytes.extend(long.to_be_bytes());
                }
            }
            rlc::write(out, load, &run, pdu);
        }
    }
    if let Some(index) = load.status {
        // The report has one logical channel group, number 0.
        out.bytes.extend([nr::LONG_BSR, 2, 0b1, index]);
    }
    let size = load.size as usize;
    debug_assert!(
        size == 0 || out.bytes.len() <= size,
        "{} bytes are written into a transport block of {size}",
        out.bytes.len()
    );
    if out.bytes.len() < size {
        out.bytes.push(nr::PADDING);
        out.bytes.resize(size, 0);
    }
}

/// Writes all subheaders first: the control element of the uplink, SDUs, padding. Their contents
/// follow (clause 6.1.2). The short BSR is in clause 6.1.3.1.
pub(super) fn write_lte<'a>(
    out: &mut Encoder,
    load: &Load<'_>,
    runs: impl Iterator<Item = Run<'a>> + Clone,
) {
    let size = load.size as usize;
    let sizes = || runs.clone().flat_map(|run| run.pdus).map(|pdu| pdu.size);
    let sdus: usize = sizes().map(|pdu| pdu as usize).sum();
    let subheaders: usize = sizes().map(|pdu| 1 + length_field(pdu)).sum();
    let report = 2 * usize::from(load.status.is_some());
    // The last subheader has no length field.
    let spared = sizes().last().map_or(0, length_field);
    let padding = size.saturating_sub(report + subheaders + sdus - spared);
    // Padding of one or two bytes consists of subheaders at the beginning. Longer padding is at the
    // end, with a subheader after the others.
    let is_padded_behind = padding > 2;
    for _ in 0..if is_padded_behind { 0 } else { padding } {
        out.bytes.push(lte::MORE | lte::PADDING);
    }
    if load.status.is_some() {
        out.bytes.push(lte::MORE | lte::SHORT_BSR);
    }
    let mut last = out.bytes.len().checked_sub(1);
    for run in runs.clone() {
        for pdu in run.pdus {
            last = Some(out.bytes.len());
            write_lte_subheader(&mut out.bytes, run.format.lcid, pdu.size);
        }
    }
    if is_padded_behind {
        out.bytes.push(lte::PADDING);
    } else if let Some(last) = last {
        out.bytes[last] &= !lte::MORE;
        if spared > 0 {
            // Only the fields F2, E and LCID of the last subheader remain.
            out.bytes.truncate(last + 1);
            out.bytes[last] &= 0x1f;
        }
    }
    if let Some(index) = load.status {
        out.bytes.push(index); // LCG 0
    }
    for run in runs {
        for pdu in run.pdus {
            rlc::write(out, load, &run, pdu);
        }
    }
    debug_assert!(
        size == 0 || out.bytes.len() <= size,
        "{} bytes are written into a transport block of {size}",
        out.bytes.len()
    );
    if out.bytes.len() < size {
        out.bytes.resize(size, 0);
    }
}

/// Returns the bytes of the F and L fields of an SDU.
fn length_field(sdu: u32) -> usize {
    if sdu < 128 { 1 } else { 2 }
}

/// Writes R, F2, E and LCID, then F with an L of 7 or 15 bits, or an L of 16 bits.
fn write_lte_subheader(bytes: &mut Vec<u8>, lcid: u8, sdu: u32) {
    let first = lte::MORE | lcid;
    match sdu {
        0..128 => bytes.extend([first, sdu as u8]),
        128..0x8000 => {
            bytes.push(first);
            bytes.extend((0x8000 | sdu as u16).to_be_bytes());
        }
        _ => {
            bytes.push(0x40 | first);
            let length = u16::try_from(sdu).unwrap_or(u16::MAX);
            bytes.extend(length.to_be_bytes());
        }
    }
}
