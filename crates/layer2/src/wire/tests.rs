//! Tests of headers against bytes worked out by hand from the clauses. The PDUs of the entities are
//! also checked by a small decoder that shares no code with the encoder.

use super::*;
use crate::pdcp::PdcpConfig;
use crate::rlc::{AmConfig, Mode, Nack, PduKind, RlcConfig, Sdu, SduPart, UmConfig};
use fadeout_core::{Packet, PacketPool, Span};

mod decode;
mod exchange;
mod mac;

const NR_UM6: RlcConfig = um(RlcConfig::NR_UM, 6);
const LTE_UM5: RlcConfig = um(RlcConfig::LTE_UM, 5);
const NR_AM12: RlcConfig = am(RlcConfig::NR_AM, 12);
const LTE_AM16: RlcConfig = am(RlcConfig::LTE_AM, 16);

const fn um(config: RlcConfig, sn_bits: u8) -> RlcConfig {
    let um = UmConfig {
        sn_bits,
        t_reassembly: Span::from_millis(35),
    };
    RlcConfig {
        mode: Mode::Um(um),
        ..config
    }
}

const fn am(config: RlcConfig, sn_bits: u8) -> RlcConfig {
    let Mode::Am(am) = config.mode else {
        panic!("acknowledged mode");
    };
    RlcConfig {
        mode: Mode::Am(AmConfig { sn_bits, ..am }),
        ..config
    }
}

const LONG_PDCP: PdcpConfig = PdcpConfig::NR;
const SHORT_PDCP: PdcpConfig = PdcpConfig::LTE;

/// Returns a packet of 10 bytes with a PDCP header, COUNT 5 and serial 0.
fn sdu(pdcp: &PdcpConfig) -> Sdu {
    Sdu {
        size: 10 + pdcp.header(),
        count: 5,
        ..Sdu::default()
    }
}

/// Writes a downlink block with one PDU, as large as needed.
fn written(
    rlc: RlcConfig,
    pdcp: PdcpConfig,
    pdu: Pdu,
    parts: &[SduPart],
    nacks: &[Nack],
) -> Encoder {
    let block = TransportBlock {
        parts: parts.to_vec(),
        nacks: nacks.to_vec(),
        ..TransportBlock::new()
    };
    let count = if pdu.kind == PduKind::Status {
        nacks.len()
    } else {
        parts.len()
    };
    let pdu = Pdu {
        count: count as u32,
        ..pdu
    };
    let format = BearerFormat::new(&rlc, &pdcp, 0);
    let mut ledger = Ledger::new();
    ledger.enter(PacketPool::new().insert(Packet::default()));
    let load = Load {
        is_nr: rlc.generation == crate::rlc::Generation::Nr,
        direction: Direction::Downlink,
        size: 0,
        block: &block,
        status: None,
    };
    let run = Run {
        format: &format,
        ledger: &ledger,
        pdus: &[pdu],
    };
    let mut encoder = Encoder::new();
    encoder.write(&load, std::iter::once(run));
    encoder
}

/// Returns the RLC PDU without its MAC subheader. NR's subheader has two bytes, and LTE's single
/// one has one.
fn rlc_pdu(rlc: RlcConfig, pdcp: PdcpConfig, pdu: Pdu, parts: &[SduPart]) -> Vec<u8> {
    let encoder = written(rlc, pdcp, pdu, parts, &[]);
    let subheader = if rlc.generation == crate::rlc::Generation::Nr {
        2
    } else {
        1
    };
    encoder.bytes()[subheader..].to_vec()
}

fn status(rlc: RlcConfig, size: u32, ack: u32, nacks: &[Nack]) -> Vec<u8> {
    let pdu = Pdu {
        kind: PduKind::Status,
        sn: ack,
        size,
        ..Pdu::default()
    };
    let encoder = written(rlc, SHORT_PDCP, pdu, &[], nacks);
    encoder.bytes()[encoder.bytes().len() - size as usize..].to_vec()
}

fn data(kind: PduKind, sn: u32, size: u32) -> Pdu {
    Pdu {
        kind,
        sn,
        size,
        ..Pdu::default()
    }
}

fn with_zeros(header: &[u8], zeros: usize) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(header.len() + zeros, 0);
    bytes
}

#[test]
fn nr_amd_pdus_have_si_sn_and_so() {
    // The header has the fields D/C, P, SI, R, R and an SN of 18 bits (TS 38.322 Figure 6.2.2.4-2).
    let sdu = sdu(&LONG_PDCP);
    let polling = Pdu {
        is_polling: true,
        ..data(PduKind::Amd, 0x2_0401, 3 + 13)
    };
    let bytes = rlc_pdu(RlcConfig::NR_AM, LONG_PDCP, polling, &[SduPart::whole(sdu)]);
    // The PDCP header follows, with D/C, five reserved bits and SN 5.
    assert_eq!(bytes, with_zeros(&[0b1100_0010, 4, 1, 0x80, 0, 5], 10));

    let part = |offset, len| SduPart { sdu, offset, len };
    let first = rlc_pdu(
        RlcConfig::NR_AM,
        LONG_PDCP,
        data(PduKind::Amd, 1, 3 + 4),
        &[part(0, 4)],
    );
    assert_eq!(first, [0b1001_0000, 0, 1, 0x80, 0, 5, 0]);
    let middle = rlc_pdu(
        RlcConfig::NR_AM,
        LONG_PDCP,
        data(PduKind::Amd, 1, 5 + 2),
        &[part(4, 2)],
    );
    assert_eq!(middle, [0b1011_0000, 0, 1, 0, 4, 0, 0]);
    let last = rlc_pdu(
        RlcConfig::NR_AM,
        LONG_PDCP,
        data(PduKind::Amd, 1, 5 + 7),
        &[part(6, 7)],
    );
    assert_eq!(last, with_zeros(&[0b1010_0000, 0, 1, 0, 6], 7));

    // The SN 0x801 of 12 bits begins in the first byte (Figure 6.2.2.4-1).
    let short = rlc_pdu(
        NR_AM12,
        LONG_PDCP,
        data(PduKind::Amd, 0x801, 2 + 13),
        &[part(0, 13)],
    );
    assert_eq!(short, with_zeros(&[0b1000_1000, 1, 0x80, 0, 5], 10));
}

#[test]
fn nr_umd_pdus_have_an_sn_only_in_segments() {
    let sdu = sdu(&SHORT_PDCP);
    let part = |offset, len| SduPart { sdu, offset, len };
    let pdu_bytes = |rlc, pdu, part| rlc_pdu(rlc, SHORT_PDCP, pdu, &[part]);
    // The PDUs have the formats of TS 38.322 Figures 6.2.2.3-1 to 6.2.2.3-5.
    let whole = pdu_bytes(
        RlcConfig::NR_UM,
        data(PduKind::UmdComplete, 0, 1 + 12),
        part(0, 12),
    );
    assert_eq!(whole, with_zeros(&[0, 0x80, 5], 10));
    let first = pdu_bytes(
        RlcConfig::NR_UM,
        data(PduKind::Umd, 0x923, 2 + 3),
        part(0, 3),
    );
    assert_eq!(first, [0b0100_1001, 0x23, 0x80, 5, 0]);
    let last = pdu_bytes(
        RlcConfig::NR_UM,
        data(PduKind::Umd, 0x923, 4 + 9),
        part(3, 9),
    );
    assert_eq!(last, with_zeros(&[0b1000_1001, 0x23, 0, 3], 9));
    let first = pdu_bytes(NR_UM6, data(PduKind::Umd, 0x2a, 1 + 3), part(0, 3));
    assert_eq!(first, [0b0110_1010, 0x80, 5, 0]);
    let middle = pdu_bytes(NR_UM6, data(PduKind::Umd, 0x2a, 3 + 1), part(3, 1));
    assert_eq!(middle, [0b1110_1010, 0, 3, 0]);
}

#[test]
fn a_pdcp_header_may_be_cut() {
    let sdu = sdu(&LONG_PDCP);
    let part = |offset, len| SduPart { sdu, offset, len };
    let pdu = |kind, size| data(kind, 0, size);
    let pdu_bytes = |pdu, part| written(RlcConfig::NR_UM, LONG_PDCP, pdu, &[part], &[]);
    let first = pdu_bytes(pdu(PduKind::Umd, 2 + 2), part(0, 2));
    assert_eq!(
        (&first.bytes()[4..], first.packets()),
        (&[0x80, 0][..], &[][..])
    );
    let second = pdu_bytes(pdu(PduKind::Umd, 4 + 3), part(2, 3));
    assert_eq!(second.bytes()[6..], [5, 0, 0]);
    let bytes = PacketBytes {
        at: 7,
        packet: sdu.packet,
        offset: 0,
        len: 2,
    };
    assert_eq!(second.packets(), [bytes]);
    let third = pdu_bytes(pdu(PduKind::Umd, 4 + 8), part(5, 8));
    let bytes = PacketBytes {
        at: 6,
        packet: sdu.packet,
        offset: 2,
        len: 8,
    };
    assert_eq!(third.packets(), [bytes]);
}

#[test]
fn a_packet_that_has_left_the_bearer_is_not_named() {
    let gone = Sdu {
        serial: 1,
        ..sdu(&SHORT_PDCP)
    };
    let pdu = data(PduKind::UmdComplete, 0, 1 + 12);
    let encoder = written(
        RlcConfig::NR_UM,
        SHORT_PDCP,
        pdu,
        &[SduPart::whole(gone)],
        &[],
    );
    assert!(encoder.packets().is_empty());
    assert_eq!(encoder.bytes()[2..], with_zeros(&[0, 0x80, 5], 10));
}

#[test]
fn sdap_headers_follow_pdcps() {
    let with_sdap = PdcpConfig {
        has_sdap_header: true,
        ..LONG_PDCP
    };
    let sdu = sdu(&with_sdap);
    let pdu = data(PduKind::UmdComplete, 0, 1 + 14);
    let bytes = rlc_pdu(RlcConfig::NR_UM, with_sdap, pdu, &[SduPart::whole(sdu)]);
    assert_eq!(bytes, with_zeros(&[0, 0x80, 0, 5, 1], 10));
}

#[test]
fn nr_status_pdus_name_sns_ranges_and_bytes() {
    let whole = |sn, range| Nack {
        sn,
        range,
        segment: None,
    };
    let some = |sn, start, end| Nack {
        sn,
        range: 1,
        segment: Some((start, end)),
    };
    // The report has the fields D/C, CPT, ACK_SN of 18 bits, E1 and R (TS 38.322 Figure 6.2.2.5-2).
    assert_eq!(status(RlcConfig::NR_AM, 3, 7, &[]), [0, 0, 7 << 2]);
    // Each NACK consists of NACK_SN, E1, E2, E3 and three reserved bits. SOstart, SOend and the
    // NACK range follow if the NACK has them.
    let nacks = [whole(3, 1), some(4, 100, Nack::TO_THE_END), whole(5, 2)];
    assert_eq!(
        status(RlcConfig::NR_AM, 3 + 3 + 7 + 4, 7, &nacks),
        [
            0,
            0,
            7 << 2 | 2, // E1
            0,
            0,
            3 << 6 | 0b10_0000,
            0,
            1,
            0b11_0000,
            0,
            100,
            0xff,
            0xff,
            0,
            1,
            1 << 6 | 0b00_1000,
            2,
        ]
    );
    // ACK_SN and NACK_SN have 12 bits in this report (Figure 6.2.2.5-1).
    assert_eq!(
        status(NR_AM12, 3 + 6, 0x123, &[some(0x122, 1, 2)]),
        [0x01, 0x23, 0x80, 0x12, 0b0010_0100, 0, 1, 0, 2]
    );
}

#[test]
fn lte_amd_pdus_have_framing_info_and_length_indicators() {
    let sdu = sdu(&SHORT_PDCP);
    let part = |offset, len| SduPart { sdu, offset, len };
    let pdu_bytes = |rlc, pdu, parts: &[SduPart]| rlc_pdu(rlc, SHORT_PDCP, pdu, parts);
    // The header has the fields D/C, RF, P, FI, E and an SN of 10 bits (TS 36.322 Figure
    // 6.2.1.4-1).
    let polling = Pdu {
        is_polling: true,
        ..data(PduKind::Amd, 0x201, 2 + 12)
    };
    let bytes = pdu_bytes(RlcConfig::LTE_AM, polling, &[part(0, 12)]);
    assert_eq!(bytes, with_zeros(&[0b1010_0010, 1, 0x80, 5], 10));

    // The PDU has two LIs. The parts are the end of one SDU, a complete SDU, and the beginning of a
    // third. The bits of E and LI are 1 000 0000 1000 and 0 000 0000 1100.
    let bytes = pdu_bytes(
        RlcConfig::LTE_AM,
        data(PduKind::Amd, 1, 2 + 3 + 8 + 12 + 2),
        &[part(4, 8), part(0, 12), part(0, 2)],
    );
    let mut expected = with_zeros(&[0b1001_1100, 1, 0x80, 0x80, 0x0c], 8);
    expected.extend(with_zeros(&[0x80, 5], 10));
    expected.extend([0x80, 5]);
    assert_eq!(bytes, expected);

    // A single LI with its E bit takes 12 bits, so four bits of padding follow.
    let bytes = pdu_bytes(
        RlcConfig::LTE_AM,
        data(PduKind::Amd, 1, 2 + 2 + 2 + 1),
        &[part(10, 2), part(0, 1)],
    );
    assert_eq!(bytes, [0b1001_1100, 1, 0, 0x20, 0, 0, 0x80]);

    // The 16-bit SN (Rel-13) follows two reserved bits, and each LI has 15 bits.
    let bytes = pdu_bytes(
        LTE_AM16,
        data(PduKind::Amd, 0x8001, 3 + 2 + 2 + 1),
        &[part(10, 2), part(0, 1)],
    );
    assert_eq!(bytes, [0b1001_1100, 0x80, 1, 0, 2, 0, 0, 0x80]);
}

#[test]
fn lte_amd_pdu_segments_have_lsf_and_so() {
    let sdu = sdu(&SHORT_PDCP);
    let parts = [SduPart {
        sdu,
        offset: 8,
        len: 4,
    }];
    let segment = |size| Pdu {
        is_last_segment: true,
        segment_offset: 0x108,
        ..data(PduKind::AmdSegment, 2, size)
    };
    // The header has D/C, RF = 1, P, FI = 10, E and SN (TS 36.322 Figure 6.2.1.5-1). LSF and an SO
    // of 15 bits follow.
    let bytes = rlc_pdu(RlcConfig::LTE_AM, SHORT_PDCP, segment(4 + 4), &parts);
    assert_eq!(bytes, [0b1101_0000, 2, 0x81, 8, 0, 0, 0, 0]);
    // With the 16-bit SN, LSF is in the first byte, and SO has 16 bits.
    let bytes = rlc_pdu(LTE_AM16, SHORT_PDCP, segment(5 + 4), &parts);
    assert_eq!(bytes, [0b1101_0010, 0, 2, 1, 8, 0, 0, 0, 0]);
}

#[test]
fn lte_umd_pdus_have_5_or_10_bits_of_sn() {
    let sdu = sdu(&SHORT_PDCP);
    let part = |offset, len| SduPart { sdu, offset, len };
    // The PDUs have the formats of TS 36.322 Figures 6.2.1.3-1 and 6.2.1.3-2.
    let pdu_bytes = |rlc, pdu, parts: &[SduPart]| rlc_pdu(rlc, SHORT_PDCP, pdu, parts);
    let bytes = pdu_bytes(LTE_UM5, data(PduKind::Umd, 0b10101, 1 + 4), &[part(0, 4)]);
    assert_eq!(bytes, [0b0101_0101, 0x80, 5, 0, 0]);
    let bytes = pdu_bytes(
        RlcConfig::LTE_UM,
        data(PduKind::Umd, 0x201, 2 + 8),
        &[part(4, 8)],
    );
    assert_eq!(bytes, with_zeros(&[0b0001_0010, 1], 8));
}

#[test]
fn lte_status_pdus_are_a_string_of_bits() {
    let nack = |sn, segment| Nack {
        sn,
        range: 1,
        segment,
    };
    // D/C, CPT, ACK_SN 7 and E1 have the bits 0 000 0000000111 0. One bit of padding follows (TS
    // 36.322 Figure 6.2.1.6-1).
    assert_eq!(status(RlcConfig::LTE_AM, 2, 7, &[]), [0, 0b0001_1100]);
    // The bits are 0 000 0000000111 1 for the header, and 0000000011 1 0 for the first NACK. The
    // second NACK has 0000000100 0 1, an SOstart of 1, and an SOend of 15 ones.
    let nacks = [nack(3, None), nack(4, Some((1, Nack::TO_THE_END)))];
    assert_eq!(
        status(
            RlcConfig::LTE_AM,
            (15_u32 + 12 + 12 + 30).div_ceil(8),
            7,
            &nacks
        ),
        [
            0b0000_0000,
            0b0001_1110,
            0b0000_0001,
            0b1100_0000,
            0b0010_0010,
            0b0000_0000,
            0b0000_0111,
            0b1111_1111,
            0b1111_1000,
        ]
    );
    // With the 16-bit SN the header is 0 000, 0x8001 and 1. The NACK is 0x8000, 0 and 1, with 16
    // bits each of SOstart 1 and SOend 2. One bit of padding follows.
    assert_eq!(
        status(
            LTE_AM16,
            (21_u32 + 18 + 32).div_ceil(8),
            0x8001,
            &[nack(0x8000, Some((1, 2)))]
        ),
        [0x08, 0x00, 0b0001_1100, 0x00, 2, 0, 2, 0, 4]
    );
}

/// LTE has no SDAP. A configuration that counts its byte leaves that byte empty.
#[test]
fn lte_leaves_the_byte_of_sdap_empty() {
    let pdcp = PdcpConfig {
        has_sdap_header: true,
        ..SHORT_PDCP
    };
    let sdu = sdu(&pdcp);
    assert_eq!(sdu.size, 10 + 3);
    let pdu = data(PduKind::Tmd, 0, 13);
    let rlc = RlcConfig {
        generation: crate::rlc::Generation::Lte,
        ..RlcConfig::TM
    };
    let bytes = rlc_pdu(rlc, pdcp, pdu, &[SduPart::whole(sdu)]);
    assert_eq!(bytes, with_zeros(&[0x80, 5, 0], 10));
}
