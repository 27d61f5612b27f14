//! Tests of the rules of LTE, whose PDUs hold parts of several SDUs, one by one.

use crate::rlc::rig::{Source, am, at_ms, data, entity, missing, pull, receive, status};
use fadeout_core::{Span, Time};
use fadeout_layer2::rlc::{Generation, MacSubheader, Mode, PduKind, RlcConfig, UmConfig};

fn um(sn_bits: u8) -> RlcConfig {
    RlcConfig {
        generation: Generation::Lte,
        mode: Mode::Um(UmConfig {
            sn_bits,
            t_reassembly: Span::from_millis(35),
        }),
        subheader: MacSubheader::None,
        ..RlcConfig::LTE_UM
    }
}

/// Returns acknowledged mode that polls only at the end.
fn quiet(sn_bits: u8) -> RlcConfig {
    am(RlcConfig::LTE_AM, |am| {
        am.sn_bits = sn_bits;
        am.poll_pdu = None;
        am.poll_byte = None;
    })
}

/// An LI field has 11 bits (TS 36.322 clause 6.2.2.5).
#[test]
fn a_part_that_an_li_field_cannot_count_is_the_last_of_its_pdu() {
    for (size, pdus) in [(2047, 1), (2048, 2)] {
        let (mut tx, mut source) = (entity(&um(10)), Source::default());
        source.push(&mut tx, Time::ZERO, &[size, 10]);
        let block = pull(&mut tx, Time::ZERO, 10_000);
        assert_eq!(block.pdus.len(), pdus, "{size} bytes");
        assert_eq!(receive(&mut entity(&um(10)), Time::ZERO, &block), [0, 1]);
    }
}

#[test]
fn a_data_field_is_no_longer_than_a_segment_offset_reaches() {
    let (mut tx, mut source) = (entity(&quiet(16)), Source::default());
    source.push(&mut tx, Time::ZERO, &[20_000, 20_000]);
    let block = pull(&mut tx, Time::ZERO, 50_000);
    let sizes: Vec<_> = block.pdus.iter().map(|pdu| pdu.size).collect();
    // Two parts have one LI field of two bytes.
    assert_eq!(sizes, [3 + 2 + 32_767, 3 + 7233]);
}

#[test]
fn what_waits_is_counted_with_a_header_an_li_field_and_a_subheader_each() {
    let config = RlcConfig {
        subheader: MacSubheader::Lte,
        ..um(5)
    };
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[100, 200, 300]);
    let each = 1 + 2 + 3;
    assert_eq!(tx.backlog(Time::ZERO).total(), 600 + 3 * each);
    assert_eq!(pull(&mut tx, Time::ZERO, 2 + 1 + 50).parts[0].len, 50);
    assert_eq!(tx.backlog(Time::ZERO).total(), 550 + 3 * each);
    let grant = tx.backlog(Time::ZERO).total();
    pull(&mut tx, Time::ZERO, grant as u32);
    assert!(tx.backlog(Time::ZERO).is_empty());
}

#[test]
fn what_is_to_be_sent_again_is_counted_with_the_fields_of_a_segment() {
    let config = RlcConfig {
        subheader: MacSubheader::Lte,
        ..quiet(16)
    };
    let (mut tx, mut source) = (entity(&config), Source::default());
    let now = Time::ZERO;
    source.push(&mut tx, now, &[300, 100]);
    pull(&mut tx, now, 3 + 3 + 2 + 400);
    source.push(&mut tx, now, &[70]);
    pull(&mut tx, now, 1000);
    assert!(tx.backlog(now).is_empty());
    receive(&mut tx, now, &status(1, &[missing(0)]));
    // The backlog contains the header with LSF and SO, a subheader, and LI fields for as many parts
    // as are stored.
    let backlog = tx.backlog(now);
    assert_eq!(backlog.retransmission, 400 + (3 + 2 + 3) + 3 * 2);
    assert_eq!(pull(&mut tx, now, backlog.total() as u32).parts.len(), 2);
    assert!(tx.backlog(now).is_empty());
    // After SN 0 is acknowledged, its two parts are no longer stored.
    receive(&mut tx, now, &status(2, &[missing(1)]));
    assert_eq!(tx.backlog(now).retransmission, 70 + (3 + 2 + 3) + 2);
}

#[test]
fn the_last_pdu_polls_and_one_with_bytes_behind_it_does_not() {
    let (mut tx, mut source) = (entity(&quiet(10)), Source::default());
    source.push(&mut tx, Time::ZERO, &[100, 100]);
    // The grants take all of the first SDU, half of the second, and the remainder.
    let polls = [102, 52, 100].map(|grant| pull(&mut tx, Time::ZERO, grant).pdus[0].is_polling);
    assert_eq!(polls, [false, false, true]);
}

#[test]
fn a_pdu_is_sent_again_whole_where_it_fits_and_in_segments_where_not() {
    // In the first case the PDU has one SDU. In the second case it has two SDUs with an LI field.
    for (sizes, whole) in [(&[300][..], 302), (&[100, 200], 304)] {
        for (grant, kind, is_last) in [
            (whole, PduKind::Amd, true),
            (whole - 1, PduKind::AmdSegment, false),
            (100, PduKind::AmdSegment, false),
        ] {
            let (mut tx, mut source) = (entity(&quiet(10)), Source::default());
            source.push(&mut tx, Time::ZERO, sizes);
            assert_eq!(pull(&mut tx, Time::ZERO, 1000).pdus[0].size, whole);
            receive(&mut tx, Time::ZERO, &status(1, &[missing(0)]));
            let block = pull(&mut tx, Time::ZERO, grant);
            let pdu = data(&block)[0];
            assert_eq!((pdu.kind, pdu.is_last_segment), (kind, is_last), "{grant}");
        }
    }
}

/// The first transmission and four retransmissions are no failure, as in NR.
#[test]
fn the_fifth_retransmission_of_a_pdu_is_a_failure_when_the_threshold_is_four() {
    let config = am(RlcConfig::LTE_AM, |am| am.max_retx_threshold = 4);
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[100]);
    pull(&mut tx, Time::ZERO, 1000);
    for retransmission in 1..=5 {
        assert!(!tx.has_failed());
        let now = tx.wake_at();
        tx.on_wake(now, &mut Vec::new());
        assert_eq!(tx.has_failed(), retransmission == 5);
        assert!(pull(&mut tx, now, 1000).pdus[0].is_polling);
    }
}

/// The PDU with SN 0 arrives again when VR(R) has advanced by half of all SNs. The receiver must
/// drop the PDU, although SN 0 also fits a number one above the window.
#[test]
fn the_oldest_duplicate_is_not_taken_for_a_new_pdu() {
    let (mut tx, mut rx) = (entity(&quiet(10)), entity(&quiet(10)));
    let mut source = Source::default();
    let mut blocks = Vec::new();
    for sn in 0..512 {
        source.push(&mut tx, Time::ZERO, &[10]);
        let block = pull(&mut tx, Time::ZERO, 1000);
        assert_eq!(receive(&mut rx, Time::ZERO, &block), [sn]);
        blocks.push(block);
    }
    assert_eq!(receive(&mut rx, at_ms(1), &blocks[0]), [0_u32; 0]);
    assert!(rx.wake_at().is_never() || rx.wake_at() < at_ms(1), "no gap");
}
