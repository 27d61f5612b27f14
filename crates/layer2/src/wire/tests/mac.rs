//! Tests of MAC PDUs against bytes worked out by hand.

use super::*;

/// Returns a block of TMD PDUs of these sizes, for which RLC adds no header.
fn block(sizes: &[u32]) -> TransportBlock {
    let mut block = TransportBlock::new();
    for (index, &size) in (0..).zip(sizes) {
        let sdu = Sdu {
            size,
            serial: 1,
            ..Sdu::default()
        };
        block.parts.push(SduPart::whole(sdu));
        block.pdus.push(Pdu {
            kind: PduKind::Tmd,
            size,
            first: index,
            count: 1,
            ..Pdu::default()
        });
    }
    block
}

/// Returns the MAC PDU of `size` bytes with these SDUs.
fn mac_pdu(rlc: RlcConfig, size: u32, sizes: &[u32], status: Option<u8>) -> Vec<u8> {
    let block = block(sizes);
    let pdcp = SHORT_PDCP;
    let mut format = BearerFormat::new(&rlc, &pdcp, 0);
    format.rlc = Form::Tm;
    let ledger = Ledger::new();
    let load = Load {
        is_nr: rlc.generation == crate::rlc::Generation::Nr,
        direction: if status.is_some() {
            Direction::Uplink
        } else {
            Direction::Downlink
        },
        size,
        block: &block,
        status,
    };
    let run = Run {
        format: &format,
        ledger: &ledger,
        pdus: &block.pdus,
    };
    let mut encoder = Encoder::new();
    encoder.write(&load, std::iter::once(run));
    let bytes = encoder.bytes();
    assert_eq!(bytes.len(), size as usize, "as long as its block");
    bytes.to_vec()
}

/// Returns the PDCP PDU of COUNT 0 in `size` bytes.
fn sdu_bytes(size: usize) -> Vec<u8> {
    with_zeros(&[0x80], size - 1)
}

#[test]
fn nr_sub_pdus_follow_each_other() {
    // Each subheader of an SDU has R, F, LCID 4 and an L of 8 or 16 bits. The subheader of padding
    // has no L (TS 38.321 Figures 6.1.2-1 and 6.1.2-2).
    let bytes = mac_pdu(
        RlcConfig::NR_AM,
        2 + 255 + 3 + 256 + 1 + 2,
        &[255, 256],
        None,
    );
    let mut expected = vec![4, 255];
    expected.extend(sdu_bytes(255));
    expected.extend([0x44, 1, 0]);
    expected.extend(sdu_bytes(256));
    expected.extend([63, 0, 0]);
    assert_eq!(bytes, expected);
    assert_eq!(mac_pdu(RlcConfig::NR_AM, 2 + 5, &[5], None)[..2], [4, 5]);
}

#[test]
fn an_nr_report_stands_behind_the_sdus() {
    // The long BSR has LCID 62 and two bytes. The first byte says that LCG 0 is present, and the
    // second byte is the index of its buffer size.
    let bytes = mac_pdu(RlcConfig::NR_AM, 2 + 3 + 4 + 1, &[3], Some(77));
    assert_eq!(bytes, [4, 3, 0x80, 0, 0, 62, 2, 1, 77, 63]);
    assert_eq!(
        mac_pdu(RlcConfig::NR_AM, 6, &[], Some(9)),
        [62, 2, 1, 9, 63, 0]
    );
}

#[test]
fn lte_subheaders_stand_in_front() {
    // Each subheader has R, F2, E and LCID 3, then F and an L of 7 or 15 bits (TS 36.321 Figures
    // 6.1.2-1 and 6.1.2-2). The last subheader has no L.
    let size = (2 + 3 + 1) + 127 + 128 + 200;
    let bytes = mac_pdu(RlcConfig::LTE_AM, size as u32, &[127, 128, 200], None);
    let mut expected = vec![0x23, 127, 0x23, 0x80, 128, 3];
    expected.extend(sdu_bytes(127));
    expected.extend(sdu_bytes(128));
    expected.extend(sdu_bytes(200));
    assert_eq!(bytes, expected, "the last has neither E nor length");
}

#[test]
fn one_or_two_bytes_of_lte_padding_are_subheaders_in_front() {
    let pdu_bytes = |size| mac_pdu(RlcConfig::LTE_AM, size, &[4], None);
    assert_eq!(pdu_bytes(1 + 4), [3, 0x80, 0, 0, 0]);
    assert_eq!(pdu_bytes(1 + 5), [0x3f, 3, 0x80, 0, 0, 0]);
    assert_eq!(pdu_bytes(1 + 6), [0x3f, 0x3f, 3, 0x80, 0, 0, 0]);
    // Three bytes remain. The length field of the SDU takes the first, and the subheader of the
    // padding takes the second. The third is zero.
    assert_eq!(pdu_bytes(1 + 7), [0x23, 4, 0x1f, 0x80, 0, 0, 0, 0]);
    // The length of 15 bits takes two of three bytes. The subheader of the padding takes the third.
    let bytes = mac_pdu(RlcConfig::LTE_AM, 1 + 300 + 3, &[300], None);
    assert_eq!(bytes[..5], [0x23, 0x81, 0x2c, 0x1f, 0x80]);
}

#[test]
fn an_lte_report_comes_first() {
    // The short BSR has LCID 29. Its byte contains LCG 0 and an index of six bits.
    let pdu_bytes = |size, sdus: &[u32]| mac_pdu(RlcConfig::LTE_AM, size, sdus, Some(33));
    assert_eq!(pdu_bytes(1 + 1 + 1 + 2, &[2]), [0x3d, 3, 33, 0x80, 0]);
    assert_eq!(pdu_bytes(2, &[]), [0x1d, 33]);
    assert_eq!(pdu_bytes(3, &[]), [0x3f, 0x1d, 33]);
    assert_eq!(pdu_bytes(6, &[]), [0x3d, 0x1f, 33, 0, 0, 0]);
}

#[test]
fn a_long_lte_sdu_has_a_length_of_16_bits() {
    let bytes = mac_pdu(RlcConfig::LTE_AM, 40_010, &[32_800], None);
    assert_eq!(bytes[..4], [0x63, 0x80, 0x20, 0x1f]);
}

#[test]
fn an_encoder_forgets_the_block_before() {
    let block = block(&[7]);
    let format = BearerFormat::new(&RlcConfig::TM, &SHORT_PDCP, 0);
    let mut ledger = Ledger::new();
    let mut pool = PacketPool::new();
    for _ in 0..2 {
        ledger.enter(pool.insert(Packet::default()));
    }
    let load = Load {
        is_nr: true,
        direction: Direction::Downlink,
        size: 9,
        block: &block,
        status: None,
    };
    let run = Run {
        format: &format,
        ledger: &ledger,
        pdus: &block.pdus,
    };
    let mut encoder = Encoder::new();
    encoder.write(&load, std::iter::once(run));
    let first = (encoder.bytes().to_vec(), encoder.packets().to_vec());
    encoder.write(&load, std::iter::once(run));
    assert_eq!(
        (encoder.bytes(), encoder.packets()),
        (&first.0[..], &first.1[..])
    );
    assert_eq!(encoder.packets().len(), 1);
}
