//! The format in which a transport block is stored as a packet. The packet is an exported PDU
//! (LINKTYPE_WIRESHARK_UPPER_PDU). It begins with the name of a dissector of Wireshark, followed by
//! the context that this dissector expects (its framing).
//!
//! Both formats are defined by Wireshark and by no standard: the tags of exported PDUs, and the
//! framings of the dissectors MAC-LTE and MAC-NR. An exported PDU has no length field, so large
//! blocks fit. Wireshark needs no port or link type to find the dissector. The dissector of MAC-LTE
//! is called by its name. MAC-NR is found by a heuristic, which the user must switch on.

use fadeout_core::{Direction, MacPdu, Reception, SchedulingRequest, UeId};
use std::net::Ipv4Addr;

/// Tags of exported PDUs.
mod tag {
    pub(super) const END: u16 = 0;
    pub(super) const DISSECTOR: u16 = 12;
    pub(super) const HEURISTIC: u16 = 13;
    pub(super) const IPV4_SOURCE: u16 = 20;
    pub(super) const IPV4_DESTINATION: u16 = 21;
}

const LTE_DISSECTOR: &[u8] = b"mac-lte-framed";
pub(super) const NR_HEURISTIC: &str = "mac_nr_udp";
/// Signature that Wireshark's heuristic for MAC-NR looks for.
const NR_SIGNATURE: &[u8] = b"mac-nr";

/// Fields of both framings. A field whose number has one byte means the same in MAC-LTE and MAC-NR.
mod field {
    pub(super) const PAYLOAD: u8 = 0x01;
    pub(super) const RNTI: u8 = 0x02;
    pub(super) const UE_ID: u8 = 0x03;
    pub(super) const LTE_FRAME_SUBFRAME: u8 = 0x04;
    pub(super) const LTE_CRC: u8 = 0x07;
    pub(super) const LTE_PHY: u8 = 0x0b;
    pub(super) const LTE_REQUESTS: u8 = 0x11;
    pub(super) const NR_HARQ: u8 = 0x06;
    pub(super) const NR_FRAME_SLOT: u8 = 0x07;
}

const RETRANSMISSION_UNKNOWN: u8 = 2;
const NO_RNTI: u8 = 0;
const C_RNTI: u8 = 3;
const UPLINK: u8 = 0;
const DOWNLINK: u8 = 1;

/// C-RNTI of the first UE. The C-RNTI identifies a UE in a cell.
const FIRST_RNTI: u32 = 0x4601;
/// Number of different C-RNTIs. The largest is 0xfff2.
///
/// Standard: TS 38.321 Table 7.1-1.
const RNTIS: u32 = 0xfff3 - FIRST_RNTI;

/// Returns Wireshark's identifier of a UE, counted from 1.
fn ue_id(ue: UeId) -> [u8; 2] {
    ((ue.0 % 0xffff) as u16 + 1).to_be_bytes()
}

fn rnti(ue: UeId) -> [u8; 2] {
    ((FIRST_RNTI + ue.0 % RNTIS) as u16).to_be_bytes()
}

/// Addresses of the sender and the receiver of a transport block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses {
    pub(super) source: Ipv4Addr,
    pub(super) destination: Ipv4Addr,
}

/// Writes everything that precedes a block's MAC PDU. `is_new_data` is the new data indicator,
/// which toggles with each new transport block of a HARQ process.
pub(super) fn write_context(
    out: &mut Vec<u8>,
    pdu: &MacPdu<'_>,
    ends: Addresses,
    is_new_data: bool,
) {
    let direction = match pdu.direction {
        Direction::Uplink => UPLINK,
        Direction::Downlink => DOWNLINK,
    };
    write_envelope(out, pdu.is_nr, ends);
    out.extend([1 + u8::from(pdu.is_tdd), direction, C_RNTI]);
    write_ue(out, pdu.ue);
    if pdu.is_nr {
        out.push(field::NR_FRAME_SLOT);
        out.extend(pdu.frame.to_be_bytes());
        out.extend(pdu.slot.to_be_bytes());
        out.extend([field::NR_HARQ, pdu.process]);
    } else {
        write_lte_subframe(out, pdu.frame, pdu.slot);
        let is_decoded = pdu.reception != Reception::Failed;
        out.extend([field::LTE_CRC, u8::from(is_decoded)]);
        write_lte_phy(out, pdu, is_new_data);
    }
    out.push(field::PAYLOAD);
}

/// Writes a frame for a scheduling request of a UE. Only LTE has this frame, because Wireshark's
/// MAC-NR framing has none.
pub(super) fn write_request(out: &mut Vec<u8>, request: &SchedulingRequest, ends: Addresses) {
    write_envelope(out, false, ends);
    out.extend([1 + u8::from(request.is_tdd), UPLINK, NO_RNTI]);
    write_lte_subframe(out, request.frame, request.slot);
    out.extend([field::LTE_REQUESTS, 0, 1]);
    out.extend(ue_id(request.ue));
    out.extend(rnti(request.ue));
    out.push(field::PAYLOAD);
}

fn write_envelope(out: &mut Vec<u8>, is_nr: bool, ends: Addresses) {
    if is_nr {
        write_tag(out, tag::HEURISTIC, NR_HEURISTIC.as_bytes());
    } else {
        write_tag(out, tag::DISSECTOR, LTE_DISSECTOR);
    }
    write_tag(out, tag::IPV4_SOURCE, &ends.source.octets());
    write_tag(out, tag::IPV4_DESTINATION, &ends.destination.octets());
    write_tag(out, tag::END, &[]);
    if is_nr {
        out.extend(NR_SIGNATURE);
    }
}

fn write_tag(out: &mut Vec<u8>, tag: u16, value: &[u8]) {
    let length = value.len().next_multiple_of(4);
    out.extend(tag.to_be_bytes());
    out.extend((length as u16).to_be_bytes());
    out.extend(value);
    out.resize(out.len() + length - value.len(), 0);
}

fn write_ue(out: &mut Vec<u8>, ue: UeId) {
    out.push(field::RNTI);
    out.extend(rnti(ue));
    out.push(field::UE_ID);
    out.extend(ue_id(ue));
}

fn write_lte_subframe(out: &mut Vec<u8>, frame: u16, subframe: u16) {
    out.push(field::LTE_FRAME_SUBFRAME);
    out.extend((frame << 4 | subframe).to_be_bytes());
}

/// Writes the fields of the grant. Fields without a value in the simulation are zero: DCI format,
/// resource allocation type, aggregation level, and first resource block.
///
/// The frame does not mark retransmissions, although the framing has a field for them. Wireshark
/// would exclude marked blocks from its search for gaps in sequence numbers, even if the first
/// transmission failed.
fn write_lte_phy(out: &mut Vec<u8>, pdu: &MacPdu<'_>, is_new_data: bool) {
    let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
    let (mcs, blocks) = (byte(pdu.mcs), byte(pdu.n_prb));
    let new_data = u8::from(is_new_data);
    out.push(field::LTE_PHY);
    match pdu.direction {
        Direction::Uplink => {
            let modulation = byte(pdu.modulation_bits);
            out.push(6);
            out.extend([modulation, mcs, blocks, 0, pdu.process, new_data]);
        }
        Direction::Downlink => {
            // HARQ transmissions have redundancy versions in this order (TS 36.321 clause 5.4.2.2).
            let version = [0, 2, 3, 1][pdu.round as usize % 4];
            out.push(10);
            out.extend([0, 0, 0, mcs, version, blocks]);
            out.extend([pdu.process, new_data, 0, RETRANSMISSION_UNKNOWN]);
        }
    }
}
