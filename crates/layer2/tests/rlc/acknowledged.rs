//! The rules of NR acknowledged mode, one by one.

use crate::rig::{Source, am, at_ms, data, entity, pull, receive};
use fadeout_core::{Bytes, Span, Time};
use fadeout_layer2::rlc::{Nack, PduKind, RlcConfig};

/// Vector "RLC AM poll" of section F of the radio reference.
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

/// Vector "RLC AM RETX_COUNT" of section F of the radio reference.
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

/// SDU 1 loses its middle, SDUs 2 and 3 are lost whole.
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

    // The poll waits for t-Reassembly, which SDU 1's gap started and SDU 4 outlives.
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
