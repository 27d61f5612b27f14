//! Tests of the rules of NR acknowledged mode, one by one.

use crate::rlc::rig::{Source, am, at_ms, data, entity, pull, receive};
use fadeout_core::{Bytes, Span, Time};
use fadeout_layer2::rlc::{MacSubheader, Nack, PduKind, RlcConfig, TransportBlock};

/// Reference example of polling in acknowledged mode, with pollPDU 4 and no pollByte.
#[test]
fn the_fourth_pdu_polls_by_the_counter_and_the_last_by_the_empty_buffer() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.poll_pdu = Some(4);
        am.poll_byte = None;
    });
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[100; 6]);
    let block = pull(&mut tx, Time::ZERO, 10_000);
    let polls: Vec<_> = block.pdus.iter().map(|pdu| pdu.is_polling).collect();
    assert_eq!(polls, [false, false, false, true, false, true]);
}

#[test]
fn a_poll_comes_after_poll_byte_bytes() {
    let config = am(RlcConfig::NR_AM, |am| am.poll_byte = Some(Bytes(2500)));
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[1000; 7]);
    let block = pull(&mut tx, Time::ZERO, 6 * 1003);
    let polls: Vec<_> = block.pdus.iter().map(|pdu| pdu.is_polling).collect();
    assert_eq!(polls, [false, false, true, false, false, true]);
}

/// Reference example of RETX_COUNT in acknowledged mode, with maxRetxThreshold 4.
#[test]
fn the_fifth_retransmission_of_an_sdu_is_a_failure_when_the_threshold_is_four() {
    let config = am(RlcConfig::NR_AM, |am| am.max_retx_threshold = 4);
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[100]);
    pull(&mut tx, Time::ZERO, 1000);
    for retransmission in 1..=5 {
        assert!(!tx.has_failed());
        let now = tx.wake_at();
        tx.on_wake(now, &mut Vec::new());
        assert_eq!(tx.has_failed(), retransmission == 5);
        let block = pull(&mut tx, now, 1000);
        assert!(block.pdus[0].is_polling && block.pdus[0].sn == 0);
    }
}

#[test]
fn headers_have_the_standards_bytes() {
    for (bits, header) in [(12, 2), (18, 3)] {
        let config = am(RlcConfig::NR_AM, |am| am.sn_bits = bits);
        let (mut tx, mut source) = (entity(&config), Source::default());
        source.push(&mut tx, Time::ZERO, &[500]);
        let first = pull(&mut tx, Time::ZERO, 200);
        assert_eq!(first.bytes, 200);
        assert_eq!(first.parts[0].len, 200 - header);
        let rest = pull(&mut tx, Time::ZERO, 1000);
        assert_eq!(rest.bytes, 500 - (200 - header) + header + 2, "with SO");
        assert!(rest.parts[0].is_last());
    }
}

#[test]
fn the_window_stalls_and_polls() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.sn_bits = 12;
        am.poll_pdu = None;
        am.poll_byte = None;
    });
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[10; 3000]);
    let block = pull(&mut tx, Time::ZERO, 1_000_000);
    assert_eq!(block.pdus.len(), 2048);
    assert!(block.pdus[2047].is_polling);
    assert_eq!(block.pdus.iter().filter(|pdu| pdu.is_polling).count(), 1);
    assert!(pull(&mut tx, Time::ZERO, 1_000_000).is_empty());
    assert_eq!(tx.backlog(Time::ZERO).new, 0);
}

#[test]
fn a_stalled_window_asks_again_when_no_answer_comes() {
    for (config, bits) in [(RlcConfig::NR_AM, 12), (RlcConfig::LTE_AM, 10)] {
        let config = am(config, |am| am.sn_bits = bits);
        let (mut tx, mut source) = (entity(&config), Source::default());
        source.push(&mut tx, Time::ZERO, &[10; 3000]);
        while tx.backlog(Time::ZERO).new > 0 {
            assert!(!pull(&mut tx, Time::ZERO, 12).is_empty());
        }
        assert!(tx.queued().0 > 0, "more waits behind the window");
        let now = tx.wake_at();
        tx.on_wake(now, &mut Vec::new());
        let again = pull(&mut tx, now, 1000);
        assert_eq!(again.pdus.len(), 1);
        assert_eq!(again.pdus[0].sn, (1 << (bits - 1)) - 1, "the highest");
        assert!(again.pdus[0].is_polling);
    }
}

/// SDU 1 loses its middle, and SDUs 2 and 3 are lost completely.
#[test]
fn a_status_names_ranges_and_segments_and_only_they_are_sent_again() {
    let config = am(RlcConfig::NR_AM, |am| am.poll_pdu = None);
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[300; 5]);
    let now = Time::ZERO;
    let head = pull(&mut tx, now, 303 + 3 + 100);
    let middle = pull(&mut tx, now, 5 + 100);
    let tail = pull(&mut tx, now, 5 + 100);
    let lost = pull(&mut tx, now, 606);
    let last = pull(&mut tx, now, 1000);
    assert_eq!(receive(&mut rx, now, &head), [0]);
    assert_eq!(middle.parts[0].offset, 100);
    assert_eq!(receive(&mut rx, now, &tail), [0_u32; 0]);
    assert_eq!(lost.pdus.len(), 2);
    assert_eq!(receive(&mut rx, now, &last), [4]);
    assert!(last.pdus[0].is_polling, "the buffer is empty");

    // The poll waits for t-Reassembly. The gap of SDU 1 started the timer, so its expiry does not
    // decide SDU 4, and the timer runs again.
    assert!(rx.backlog(now).is_empty());
    assert_eq!(rx.wake_at(), at_ms(35));
    rx.on_wake(at_ms(35), &mut Vec::new());
    rx.on_wake(at_ms(70), &mut Vec::new());
    let status = pull(&mut rx, at_ms(70), 1000);
    assert_eq!(status.pdus[0].kind, PduKind::Status);
    assert_eq!(status.pdus[0].sn, 5, "ACK_SN");
    let nack = |sn, range, segment| Nack { sn, range, segment };
    assert_eq!(
        status.nacks,
        [nack(1, 1, Some((100, 199))), nack(2, 2, None)]
    );
    assert_eq!(status.bytes, 3 + (3 + 4) + (3 + 1));

    assert_eq!(receive(&mut tx, at_ms(70), &status), [0_u32; 0]);
    assert!(tx.wake_at().is_never(), "the poll is answered");
    let again = pull(&mut tx, at_ms(70), 1000);
    let parts: Vec<_> = again
        .parts
        .iter()
        .map(|part| (part.sdu.count, part.offset, part.len))
        .collect();
    assert_eq!(parts, [(1, 100, 100), (2, 0, 300), (3, 0, 300)]);
    assert!(again.pdus[2].is_polling);
    assert_eq!(receive(&mut rx, at_ms(70), &again), [1, 2, 3]);
    let status = pull(&mut rx, at_ms(80), 1000);
    assert_eq!((status.pdus[0].sn, status.nacks.len()), (5, 0));
}

#[test]
fn a_retransmission_is_cut_to_the_grant() {
    let config = am(RlcConfig::NR_AM, |am| am.poll_pdu = None);
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[300]);
    pull(&mut tx, Time::ZERO, 1000);
    let now = tx.wake_at();
    assert_eq!(now, at_ms(45));
    tx.on_wake(now, &mut Vec::new());
    assert_eq!(tx.backlog(now).retransmission, 300 + 5);
    let first = pull(&mut tx, now, 103);
    let second = pull(&mut tx, now, 1000);
    assert_eq!((first.bytes, second.bytes), (103, 205));
    assert!(!first.pdus[0].is_polling || data(&first).len() == 1);
    assert_eq!(receive(&mut rx, now, &second), [0_u32; 0]);
    assert_eq!(receive(&mut rx, now, &first), [0]);
}

#[test]
fn a_status_waits_for_t_status_prohibit() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.t_status_prohibit = Span::from_millis(10);
    });
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    for ms in [0, 4] {
        source.push(&mut tx, at_ms(ms), &[100]);
        let block = pull(&mut tx, at_ms(ms), 1000);
        receive(&mut rx, at_ms(ms), &block);
        let due = rx.backlog(at_ms(ms)).status;
        assert_eq!(due, if ms == 0 { 3 } else { 0 });
        pull(&mut rx, at_ms(ms), 1000);
    }
    assert_eq!(rx.wake_at(), at_ms(10));
    rx.on_wake(at_ms(10), &mut Vec::new());
    assert!(rx.wake_at().is_never());
    assert_eq!(rx.backlog(at_ms(10)).status, 3);
}

#[test]
fn a_full_buffer_gives_the_sdu_back() {
    let config = RlcConfig {
        buffer: Bytes(1000),
        ..RlcConfig::NR_AM
    };
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[600]);
    assert!(tx.has_room(400) && !tx.has_room(401));
    let sdu = source.sdu(Time::ZERO, 401);
    assert_eq!(tx.push_sdu(sdu), Err(sdu));
    assert_eq!(tx.queued(), Bytes(600));
}

/// SDUs 0, 2 and 4 of five are lost. Each NACK has two bytes, and the header of the STATUS PDU
/// three.
#[test]
fn a_status_is_cut_to_the_grant_and_acknowledges_up_to_what_it_does_not_name() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.sn_bits = 12;
        am.poll_pdu = None;
        am.t_status_prohibit = Span::ZERO;
    });
    for (grant, ack, nacked) in [
        (2, None, vec![]),
        (3, Some(0), vec![]),
        (4, Some(0), vec![]),
        (5, Some(2), vec![0]),
        (6, Some(2), vec![0]),
        (7, Some(4), vec![0, 2]),
        (9, Some(6), vec![0, 2, 4]),
    ] {
        let (mut tx, mut rx) = (entity(&config), entity(&config));
        let mut source = Source::default();
        source.push(&mut tx, Time::ZERO, &[100; 6]);
        for sdu in 0..6 {
            let block = pull(&mut tx, Time::ZERO, 102);
            if sdu % 2 == 1 {
                receive(&mut rx, Time::ZERO, &block);
            }
        }
        while !rx.wake_at().is_never() {
            let now = rx.wake_at();
            rx.on_wake(now, &mut Vec::new());
        }
        let status = pull(&mut rx, at_ms(500), grant);
        assert_eq!(status.pdus.first().map(|pdu| pdu.sn), ack, "{grant} bytes");
        let sns: Vec<_> = status.nacks.iter().map(|nack| nack.sn).collect();
        assert_eq!(sns, nacked, "{grant} bytes");
        assert!(ack.is_none() || status.bytes == 3 + 2 * nacked.len() as u32);
    }
}

/// SDU 0 has two gaps, and the grant has room for the NACK of the first only.
#[test]
fn a_status_cut_within_an_sdu_acknowledges_up_to_the_next_that_is_missing() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.sn_bits = 12;
        am.poll_pdu = None;
    });
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[500, 100, 100]);
    let blocks = [102, 104, 104, 104, 1000].map(|grant| pull(&mut tx, Time::ZERO, grant));
    for kept in [0, 2, 4] {
        receive(&mut rx, Time::ZERO, &blocks[kept]);
    }
    while !rx.wake_at().is_never() {
        let now = rx.wake_at();
        rx.on_wake(now, &mut Vec::new());
    }
    let status = pull(&mut rx, at_ms(500), 3 + 2 + 4);
    assert_eq!(status.nacks.len(), 1);
    assert_eq!(status.nacks[0].segment, Some((100, 199)));
    assert_eq!(status.pdus[0].sn, 3, "the others are here");
}

/// Each entity counts its own bytes, and each STATUS PDU uses its own NACKs.
#[test]
fn two_entities_share_a_block() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.sn_bits = 12;
        am.poll_pdu = None;
    });
    let mut block = TransportBlock::new();
    for lost in [1, 2] {
        let (mut tx, mut rx) = (entity(&config), entity(&config));
        let mut source = Source::default();
        source.push(&mut tx, Time::ZERO, &[100; 4]);
        for sdu in 0..4 {
            let block = pull(&mut tx, Time::ZERO, 102);
            if sdu != lost {
                receive(&mut rx, Time::ZERO, &block);
            }
        }
        rx.on_wake(at_ms(35), &mut Vec::new());
        assert_eq!(rx.pull(at_ms(35), 1000, &mut block), 3 + 2);
    }
    assert_eq!(block.bytes, 2 * (3 + 2));
    let named: Vec<Vec<u32>> = block
        .pdus
        .iter()
        .map(|pdu| block.nacks_of(pdu).iter().map(|nack| nack.sn).collect())
        .collect();
    assert_eq!(named, [[1], [2]]);
}

#[test]
fn what_waits_is_counted_with_the_longest_header_and_subheader() {
    let config = RlcConfig {
        subheader: MacSubheader::Nr,
        ..am(RlcConfig::NR_AM, |_| {})
    };
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[1000, 100, 100]);
    let (whole, segment) = (3 + 3, 3 + 2 + 3);
    assert_eq!(tx.backlog(Time::ZERO).new, 1200 + 3 * whole);
    assert_eq!(pull(&mut tx, Time::ZERO, 3 + 3 + 400).parts[0].len, 400);
    assert_eq!(tx.backlog(Time::ZERO).new, 600 + segment + 200 + 2 * whole);
    let grant = tx.backlog(Time::ZERO).total();
    pull(&mut tx, Time::ZERO, grant as u32);
    assert!(tx.backlog(Time::ZERO).is_empty());
}

#[test]
fn one_byte_needs_a_header_too() {
    let (config, mut source) = (am(RlcConfig::NR_AM, |_| {}), Source::default());
    let mut tx = entity(&config);
    source.push(&mut tx, Time::ZERO, &[1]);
    assert!(pull(&mut tx, Time::ZERO, 3).is_empty());
    assert_eq!(pull(&mut tx, Time::ZERO, 4).bytes, 4);
}

/// The PDU with SN 0 arrives again when RX_Next has advanced by half of all SNs. The receiver must
/// drop the PDU, although SN 0 also fits a number one above the window.
#[test]
fn the_oldest_duplicate_is_not_taken_for_a_new_pdu() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.sn_bits = 12;
        am.poll_pdu = None;
        am.poll_byte = None;
    });
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[10; 2048]);
    let first = pull(&mut tx, Time::ZERO, 12);
    receive(&mut rx, Time::ZERO, &first);
    let rest = pull(&mut tx, Time::ZERO, 100_000);
    assert_eq!(receive(&mut rx, Time::ZERO, &rest).len(), 2047);
    assert_eq!(receive(&mut rx, at_ms(1), &first), [0_u32; 0]);
    assert!(rx.wake_at().is_never(), "no gap");
}

/// The NACK range field has eight bits (TS 38.322 clause 6.2.3.18).
#[test]
fn a_nack_names_255_sns_at_most() {
    let config = am(RlcConfig::NR_AM, |am| {
        am.poll_pdu = None;
        am.poll_byte = None;
    });
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[10; 301]);
    pull(&mut tx, Time::ZERO, 300 * 13);
    let last = pull(&mut tx, Time::ZERO, 100);
    assert_eq!(receive(&mut rx, Time::ZERO, &last), [300]);
    rx.on_wake(at_ms(35), &mut Vec::new());
    let status = pull(&mut rx, at_ms(35), 1000);
    let ranges: Vec<_> = status.nacks.iter().map(|n| (n.sn, n.range)).collect();
    assert_eq!(ranges, [(0, 255), (255, 45)]);
    assert_eq!(receive(&mut tx, at_ms(35), &status), [0_u32; 0]);
    assert_eq!(pull(&mut tx, at_ms(35), 10_000).pdus.len(), 300);
}
