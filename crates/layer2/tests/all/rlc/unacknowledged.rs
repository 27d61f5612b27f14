//! Tests of unacknowledged and transparent mode, discard, and queue management.

use crate::rlc::rig::{Source, am, at_ms, data, entity, pull, receive};
use fadeout_core::{Bytes, Span, Time};
use fadeout_layer2::pdcp::{Ledger, PdcpConfig, Tx};
use fadeout_layer2::rlc::{
    Generation, MacSubheader, Mode, QueueManagement, RlcConfig, SduQueue, TransportBlock, UmConfig,
};

fn um(generation: Generation, sn_bits: u8) -> RlcConfig {
    RlcConfig {
        generation,
        mode: Mode::Um(UmConfig {
            sn_bits,
            t_reassembly: Span::from_millis(35),
        }),
        subheader: MacSubheader::None,
        ..RlcConfig::NR_UM
    }
}

#[test]
fn nr_headers_have_one_byte_for_a_whole_sdu_and_the_sn_for_a_segment() {
    for (bits, header) in [(6, 1), (12, 2)] {
        let (mut tx, mut source) = (entity(&um(Generation::Nr, bits)), Source::default());
        source.push(&mut tx, Time::ZERO, &[100, 300]);
        let first = pull(&mut tx, Time::ZERO, 101 + header + 50);
        assert_eq!(
            data(&first).iter().map(|p| p.size).collect::<Vec<_>>(),
            [101, header + 50]
        );
        let rest = pull(&mut tx, Time::ZERO, 1000);
        assert_eq!(rest.bytes, header + 2 + 250, "with SO");
    }
}

/// Three SDUs in one PDU have two LI fields of 12 bits, which take three bytes.
#[test]
fn lte_concatenates_with_length_indicators() {
    for (bits, header) in [(5, 1), (10, 2)] {
        let (mut tx, mut source) = (entity(&um(Generation::Lte, bits)), Source::default());
        source.push(&mut tx, Time::ZERO, &[100, 200, 300]);
        let block = pull(&mut tx, Time::ZERO, 1000);
        assert_eq!((block.pdus.len(), block.bytes), (1, header + 3 + 600));
    }
}

#[test]
fn a_lost_segment_loses_its_sdu_and_no_other() {
    let config = um(Generation::Nr, 6);
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[100, 100, 100, 100]);
    let blocks = [152, 50, 100, 200].map(|grant| pull(&mut tx, Time::ZERO, grant));
    assert_eq!(receive(&mut rx, Time::ZERO, &blocks[0]), [0]);
    // Block 1 is lost, with the remainder of SDU 1 or a part of it.
    let mut got = receive(&mut rx, Time::ZERO, &blocks[2]);
    got.extend(receive(&mut rx, Time::ZERO, &blocks[3]));
    assert_eq!(got, [2, 3]);
    assert_eq!(rx.wake_at(), at_ms(35));
    rx.on_wake(at_ms(35), &mut Vec::new());
    assert_eq!(
        receive(&mut rx, at_ms(35), &blocks[1]),
        [0_u32; 0],
        "too late"
    );
}

#[test]
fn lte_delivers_in_order_after_t_reordering() {
    let config = um(Generation::Lte, 10);
    let (mut tx, mut rx) = (entity(&config), entity(&config));
    let mut source = Source::default();
    source.push(&mut tx, Time::ZERO, &[100; 4]);
    let blocks = [150, 100, 90, 1000].map(|grant| pull(&mut tx, Time::ZERO, grant));
    assert_eq!(receive(&mut rx, Time::ZERO, &blocks[0]), [0]);
    assert_eq!(receive(&mut rx, Time::ZERO, &blocks[2]), [0_u32; 0]);
    assert_eq!(receive(&mut rx, Time::ZERO, &blocks[3]), [0_u32; 0]);
    let mut out = Vec::new();
    rx.on_wake(at_ms(35), &mut out);
    // The end of SDU 1 and the beginning of SDU 2 were lost with block 1.
    assert_eq!(out.iter().map(|sdu| sdu.count).collect::<Vec<_>>(), [3]);
}

#[test]
fn transparent_mode_neither_adds_nor_cuts() {
    let config = RlcConfig {
        subheader: MacSubheader::None,
        ..RlcConfig::TM
    };
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[100, 200]);
    let block = pull(&mut tx, Time::ZERO, 299);
    assert_eq!(block.bytes, 100);
    assert_eq!(receive(&mut entity(&config), Time::ZERO, &block), [0]);
    assert_eq!(tx.backlog(Time::ZERO).total(), 200);
    assert_eq!(pull(&mut tx, Time::ZERO, 200).bytes, 200, "it just fits");
}

#[test]
fn only_transparent_mode_asks_for_a_grant_that_takes_an_sdu_whole() {
    let (mut tx, mut source) = (entity(&RlcConfig::TM), Source::default());
    source.push(&mut tx, Time::ZERO, &[255]);
    source.push(&mut tx, Time::ZERO, &[256]);
    for size in [255, 256] {
        let least = tx.least_grant(size);
        assert_eq!(least, size + if size < 256 { 2 } else { 3 });
        assert_eq!(pull(&mut tx, Time::ZERO, least - 1).bytes, 0);
        assert_eq!(pull(&mut tx, Time::ZERO, least).bytes, least);
    }
    for config in [RlcConfig::NR_UM, RlcConfig::NR_AM, RlcConfig::LTE_UM] {
        assert_eq!(entity(&config).least_grant(1500), 1);
    }
}

#[test]
fn what_waits_in_transparent_mode_is_counted_with_its_subheaders() {
    let (mut tx, mut source) = (entity(&RlcConfig::TM), Source::default());
    source.push(&mut tx, Time::ZERO, &[100, 200]);
    assert_eq!(tx.backlog(Time::ZERO).total(), 300 + 2 * 3);
}

#[test]
fn an_expired_sdu_is_discarded_unless_a_segment_of_it_was_sent() {
    let config = am(RlcConfig::NR_AM, |_| {});
    let (mut rlc, mut source) = (entity(&config), Source::default());
    let mut tx = Tx::new(&PdcpConfig {
        discard_timer: Some(Span::from_millis(50)),
        ..PdcpConfig::NR
    })
    .expect("allowed parameters");
    let mut ledger = Ledger::new();
    for ms in [0, 1, 20] {
        let id = source.sdu(Time::ZERO, 1).packet;
        tx.on_packet(at_ms(ms), id, 100, &mut rlc, &mut ledger)
            .expect("the buffer has room");
    }
    assert_eq!(rlc.queued(), Bytes(3 * 103));
    pull(&mut rlc, at_ms(30), 60);
    assert_eq!(tx.wake_at(&rlc), at_ms(51));
    let mut dropped = Vec::new();
    tx.on_wake(at_ms(51), &mut rlc, &mut dropped);
    assert_eq!(dropped.iter().map(|sdu| sdu.count).collect::<Vec<_>>(), [1]);
    assert_eq!(tx.wake_at(&rlc), at_ms(70));
    let block = pull(&mut rlc, at_ms(52), 1000);
    let counts: Vec<_> = block
        .parts
        .iter()
        .map(|p| (p.sdu.count, p.sdu.serial))
        .collect();
    assert_eq!(
        counts,
        [(0, 0), (1, 2)],
        "the COUNT of the discarded one is used again"
    );
}

/// Queue management that drops every second head.
struct EverySecond(bool);

impl QueueManagement for EverySecond {
    fn drop_or_mark_head(&mut self, _now: Time, queue: &mut SduQueue<'_>) {
        while queue.head().is_some() {
            self.0 = !self.0;
            if !self.0 {
                return;
            }
            queue.drop_head();
        }
    }
}

#[test]
fn queue_management_drops_at_the_head_and_the_tail_is_still_acknowledged() {
    for (config, t_poll_retransmit) in [(RlcConfig::NR_AM, 45), (RlcConfig::LTE_AM, 80)] {
        let config = am(config, |am| am.poll_pdu = None);
        let (mut tx, mut source) = (entity(&config), Source::default());
        source.push(&mut tx, Time::ZERO, &[2100; 3]);
        let (mut block, mut dropped) = (TransportBlock::new(), Vec::new());
        tx.pull_managed(
            Time::ZERO,
            10_000,
            &mut block,
            &mut EverySecond(false),
            &mut dropped,
        );
        assert_eq!(
            dropped.iter().map(|sdu| sdu.serial).collect::<Vec<_>>(),
            [0, 2]
        );
        assert_eq!(block.parts.len(), 1);
        // The last SDU was dropped after the only PDU had been made without a poll.
        assert!(!block.pdus[0].is_polling);
        assert_eq!(tx.wake_at(), at_ms(t_poll_retransmit));
    }
}

#[test]
fn a_drop_of_the_last_sdu_asks_for_an_answer_to_what_was_sent() {
    for (config, t_poll_retransmit) in [(RlcConfig::NR_AM, 45), (RlcConfig::LTE_AM, 80)] {
        let config = am(config, |am| am.poll_pdu = None);
        let (mut tx, mut source) = (entity(&config), Source::default());
        source.push(&mut tx, Time::ZERO, &[100, 100]);
        assert!(!pull(&mut tx, Time::ZERO, 103).is_empty());
        assert!(tx.wake_at().is_never(), "the next PDU will poll");
        assert!(tx.drop_head(at_ms(1)).is_some());
        assert_eq!(tx.wake_at(), at_ms(1 + t_poll_retransmit));
    }
}

#[test]
fn reestablishment_gives_back_what_is_not_acknowledged_in_order() {
    for config in [
        RlcConfig::NR_AM,
        RlcConfig::LTE_AM,
        RlcConfig::NR_UM,
        RlcConfig::LTE_UM,
    ] {
        let is_acknowledged = matches!(config.mode, Mode::Am(_));
        let (mut tx, mut source) = (entity(&config), Source::default());
        source.push(&mut tx, Time::ZERO, &[1000; 5]);
        pull(&mut tx, Time::ZERO, 2500);
        let mut back = Vec::new();
        tx.reestablish(&mut back);
        let expected: &[u32] = if is_acknowledged {
            &[0, 1, 2, 3, 4]
        } else {
            &[2, 3, 4]
        };
        assert_eq!(
            back.iter().map(|sdu| sdu.count).collect::<Vec<_>>(),
            expected
        );
        assert!(tx.backlog(Time::ZERO).is_empty() && tx.wake_at().is_never());
    }
}

#[test]
fn what_waits_is_counted_with_the_longest_header_and_subheader() {
    let config = RlcConfig {
        subheader: MacSubheader::Nr,
        ..um(Generation::Nr, 6)
    };
    let (mut tx, mut source) = (entity(&config), Source::default());
    source.push(&mut tx, Time::ZERO, &[100, 200, 300]);
    let (whole, segment) = (1 + 3, 1 + 2 + 3);
    assert_eq!(tx.backlog(Time::ZERO).total(), 600 + 3 * whole);
    assert_eq!(pull(&mut tx, Time::ZERO, 2 + 1 + 50).parts[0].len, 50);
    assert_eq!(
        tx.backlog(Time::ZERO).total(),
        50 + segment + 500 + 2 * whole
    );
    let grant = tx.backlog(Time::ZERO).total();
    pull(&mut tx, Time::ZERO, grant as u32);
    assert!(tx.backlog(Time::ZERO).is_empty());
}
