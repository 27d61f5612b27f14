//! Tests of header compression over a bearer. The tests carry the transport blocks.

use super::*;
use crate::bearer::compressed;
use crate::config::{Fate, Route};
use crate::pdcp::{RohcConfig, RohcCounts};
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;

const STATION: u32 = 1;
const KEPT: Fate = Fate::Forwarded(Route::FixedDelay(Span::ZERO));
/// Bytes of an IR header for a segment without options and acknowledgment. These are 3 for type,
/// profile and CRC, 10 + 3 for IPv4, 4 + 12 for TCP, and 1 for the number of options.
const WHOLE: u32 = 3 + 13 + 16 + 1;
/// Bytes of an rnd_2 header with the TCP checksum.
const SHORT: u32 = 4;
const NR_PDCP_HEADER: u32 = 3;

fn compressing(bearer: BearerConfig, continues: bool) -> BearerConfig {
    let rohc = Some(RohcConfig {
        max_cid: 15,
        repetitions: 1,
        refresh: Span::from_millis(500),
        continues,
    });
    BearerConfig {
        pdcp: PdcpConfig {
            rohc,
            ..bearer.pdcp
        },
        ..bearer
    }
}

fn rig(config: BearerConfig, continues: bool) -> Rig {
    let mut rig = Rig::new(compressing(config, continues));
    rig.drb.mobile().manage();
    rig
}

fn compression(rig: &Rig, direction: Direction) -> RohcCounts {
    *compressed(&rig.drb, direction).expect("it compresses")
}

/// Puts a packet into the bearer. Returns the packet and its size in RLC in bytes.
fn size_of_next(rig: &mut Rig, direction: Direction) -> (PacketId, u32) {
    let before = rig.drb.backlog(rig.now, 0, direction).new;
    let (packet, _) = rig.put(direction, 1000);
    let after = rig.drb.backlog(rig.now, 0, direction).new;
    (packet, (after - before) as u32)
}

fn pass(rig: &mut Rig, direction: Direction) {
    let block = rig.block(0, direction, 100_000);
    rig.arrive(0, direction, &block);
}

fn hand_over(rig: &mut Rig, stays: bool) {
    rig.with_drb(|drb, env, storage| {
        let mut mobile = drb.mobile();
        mobile.stop((STATION, STATION), KEPT, env, storage);
        mobile.detach((STATION, stays), env, storage);
        mobile.resume(2, env, storage);
    });
}

#[test]
fn rlc_has_packets_with_short_headers_and_whole_ones_leave() {
    let mut rig = rig(unacknowledged(), false);
    // RLC's byte count includes its own header.
    let rlc = size_of_next(&mut rig, UP).1 - 1000 - NR_PDCP_HEADER - WHOLE;
    let (packet, short) = size_of_next(&mut rig, UP);
    assert_eq!(short, 1000 + NR_PDCP_HEADER + SHORT + rlc);
    pass(&mut rig, UP);
    assert_eq!(rig.out.last(), Some(&packet));
    assert_eq!(rig.pool[packet].wire_len(), 1040);
    assert_eq!(rig.drb.counters(UP).delivered_bytes, 2 * 1040);
    let counts = compression(&rig, UP);
    let bytes = (counts.header_bytes, counts.compressed_bytes);
    assert_eq!(bytes, (80, u64::from(WHOLE + SHORT)));
}

#[test]
fn without_acknowledgments_a_lost_context_loses_packets_until_it_is_sent_again() {
    let mut rig = rig(unacknowledged(), false);
    rig.put(DOWN, 1000);
    let first = rig.block(0, DOWN, 100_000);
    let pdus = (&first, 0..first.pdus.len());
    rig.with_drb(|drb, env, storage| drb.on_harq_failure((0, DOWN), pdus, env, storage));
    rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    rig.now += Span::from_millis(500);
    // The reordering timer of PDCP has expired, so PDCP gives up the first packet and delivers the
    // next.
    rig.with_drb(|drb, env, storage| drb.on_timer(UP, env, storage));
    let (refreshed, _) = rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    assert_eq!(
        rig.causes(),
        [
            RadioDropCause::HarqFailure,
            RadioDropCause::HeaderCompression
        ]
    );
    assert_eq!(rig.out, [refreshed]);
    assert!(rig.drb.ledger(DOWN).is_empty());
    assert_eq!(compression(&rig, DOWN).failures, 1);
}

#[test]
fn a_handover_begins_with_whole_headers_unless_contexts_continue() {
    let nr = BearerConfig::nr(UeId(0));
    for (config, continues, stays, whole) in [
        (nr, false, false, true),
        (nr, false, true, true),
        (nr, true, false, true),
        (nr, true, true, false),
        (unacknowledged(), true, true, false),
        (BearerConfig::lte(UeId(0)), true, true, true),
    ] {
        let mut rig = rig(config, continues);
        for direction in [DOWN, UP] {
            rig.put(direction, 1000);
            pass(&mut rig, direction);
        }
        // These packets wait during the handover and are sent in the target.
        let waiting = [DOWN, UP].map(|direction| rig.put(direction, 1000).0);
        hand_over(&mut rig, stays);
        let now = rig.now;
        rig.drb.on_connected(0, LegId(0), ROOMS);
        for direction in [DOWN, UP] {
            let backlog = rig.drb.backlog(now, 0, direction).new as u32;
            let header = if whole { WHOLE } else { SHORT };
            let least = 1000 + header + 2;
            let what = format!("{continues} {stays} {direction:?}");
            assert!((least..least + 8).contains(&backlog), "{backlog}: {what}");
            pass(&mut rig, direction);
            let irs = compression(&rig, direction).initialisations;
            assert_eq!(irs, 1 + u64::from(whole), "{what}");
        }
        assert_eq!(rig.out[2..], waiting);
        assert!(rig.causes().is_empty());
    }
}

#[test]
fn what_the_receiver_holds_is_decompressed_before_contexts_go() {
    let mut rig = rig(BearerConfig::nr(UeId(0)), false);
    let (first, _) = rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    let (missing, _) = rig.put(DOWN, 1000);
    rig.block(0, DOWN, 1100);
    let (held, _) = rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    assert_eq!(rig.out, [first]);
    hand_over(&mut rig, false);
    pass(&mut rig, DOWN);
    assert_eq!(rig.out, [first, missing, held]);
    let counts = compression(&rig, DOWN);
    assert_eq!(
        (counts.packets, counts.failures),
        (4, 0),
        "one was sent again"
    );
}

#[test]
fn what_is_held_without_its_context_has_not_arrived_and_is_sent_again() {
    let mut rig = rig(BearerConfig::nr(UeId(0)), false);
    let (first, _) = rig.put(DOWN, 1000);
    rig.block(0, DOWN, 1100);
    let (second, _) = rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    assert!(rig.out.is_empty());
    hand_over(&mut rig, false);
    pass(&mut rig, DOWN);
    assert_eq!(rig.out, [first, second]);
    let counts = compression(&rig, DOWN);
    assert_eq!((counts.packets, counts.failures), (4, 1));
    assert!(rig.causes().is_empty());
}

#[test]
fn a_link_failure_resets_contexts() {
    let mut rig = rig(unacknowledged(), true);
    rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    rig.with_drb(|drb, env, storage| drb.reestablish((0, env.now), env, storage));
    rig.put(DOWN, 1000);
    pass(&mut rig, DOWN);
    let counts = compression(&rig, DOWN);
    assert_eq!((counts.initialisations, counts.resets), (2, 1));
    assert_eq!(rig.out.len(), 2);
}

/// Loses transport blocks at random, in unacknowledged mode. Meanwhile the sequence numbers of the
/// flow grow, and the UE changes cells.
#[test]
fn every_packet_leaves_once_whole_or_with_a_cause() {
    let (mut unfound, mut whole) = (0, 0);
    let cases = Cases::new(300);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "bearer.compression", 0);
        let mut rig = rig(unacknowledged(), random.chance(0.5));
        let loss = random.uniform();
        let (mut put, mut seq) = (0, 1);
        for _ in 0..200 {
            rig.now += Span::from_micros(random.below(20_000));
            for _ in 0..random.below(12) {
                let packet = rig.pool.insert(Packet {
                    segment: Segment {
                        seq,
                        len: 1448,
                        ..Segment::default()
                    },
                    ..Packet::default()
                });
                seq += 1448;
                put += 1;
                let now = rig.now;
                rig.with_drb(|drb, env, storage| {
                    drb.accept_packet(now, DOWN, packet, env, storage)
                });
            }
            let block = rig.block(0, DOWN, 100_000);
            match random.chance(loss) {
                true => {
                    let pdus = (&block, 0..block.pdus.len());
                    rig.with_drb(|drb, env, storage| {
                        drb.on_harq_failure((0, DOWN), pdus, env, storage);
                    });
                }
                false => rig.arrive(0, DOWN, &block),
            }
            rig.with_drb(|drb, env, storage| drb.on_timer(UP, env, storage));
            if random.chance(0.02) {
                hand_over(&mut rig, random.chance(0.5));
            }
        }
        hand_over(&mut rig, false);
        pass(&mut rig, DOWN);
        assert!(rig.drb.ledger(DOWN).is_empty());
        assert_eq!(rig.out.len() + rig.drops.0.len(), put);
        let seqs: Vec<u64> = (rig.out.iter())
            .map(|&packet| rig.pool.segment(packet).seq)
            .collect();
        assert!(seqs.is_sorted_by(|one, next| one < next));
        let causes = rig.causes();
        let is_unfound = |&cause: &RadioDropCause| cause == RadioDropCause::HeaderCompression;
        let count = causes.iter().copied().filter(is_unfound).count();
        assert_eq!(compression(&rig, DOWN).failures, count as u64);
        unfound += count;
        whole += rig.out.len();
    });
    assert!(
        !cases.is_whole() || unfound > 1000 && whole > 1000,
        "{unfound} headers were not found, {whole} were"
    );
}
