//! Tests of PDCP duplication, in which the bearer's PDUs go to several legs.

use super::split::{Walk, config};
use super::*;
use crate::bearer::{FrameKind, carried, split};
use crate::config::{CarrierLegs, SplitConfig};
use crate::pdcp::Delivery;
use crate::user_plane::{DesiredBuffer, FlowControlConfig};
use fadeout_core::CellId;
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;

fn doubled(rlc: RlcConfig, delivery: Delivery) -> BearerConfig {
    BearerConfig {
        rlc,
        pdcp: PdcpConfig {
            delivery,
            ..PdcpConfig::NR
        },
        split: config().split.map(|split| SplitConfig {
            rlc,
            duplicates: [true; 2],
            flow_control: FlowControlConfig {
                desired: DesiredBuffer::Fixed(Bytes(100_000)),
                ..split.flow_control
            },
            ..split
        }),
        ..config()
    }
}

/// Returns a test bench with `count` downlink packets on both legs. The secondary node has
/// requested and received its copies.
fn with_packets(config: BearerConfig, count: usize) -> (Rig, Vec<PacketId>) {
    let mut rig = Rig::new(config);
    let first = rig.frames_after_wake();
    rig.carry(&first);
    let packets = rig.fill(count);
    let sent = rig.frames();
    assert_eq!(sent.len(), count, "the copies are on their way at once");
    rig.carry(&sent);
    (rig, packets)
}

#[test]
fn each_packet_goes_over_both_legs_and_leaves_once() {
    for rlc in [RlcConfig::NR_AM, RlcConfig::NR_UM] {
        let (mut rig, packets) = with_packets(doubled(rlc, Delivery::InOrder(None)), 3);
        for leg in [0, 1] {
            let block = rig.block(leg, DOWN, 5000);
            assert_eq!(block.pdus.len(), 3);
            rig.arrive(leg, DOWN, &block);
        }
        assert_eq!(rig.out, packets);
        let given = carried(&rig.drb, DOWN).expect("it is split");
        assert_eq!(given[0].packets + given[1].packets, 6);
        assert_eq!(given[0].copies + given[1].copies, 3);
        assert_eq!((given[0].useless, given[1].useless), (0, 3));
        assert!(rig.drb.ledger(DOWN).is_empty());
    }
}

#[test]
fn uplink_packets_are_told_to_both_cells_and_go_over_both() {
    let mut rig = Rig::new(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)));
    let packets: Vec<_> = (0..3).map(|_| rig.put(UP, 960).0).collect();
    for leg in [0, 1] {
        assert!(rig.drb.backlog(rig.now, leg, UP).total() > 3000);
    }
    let secondary = rig.block(1, UP, 5000);
    rig.arrive(1, UP, &secondary);
    let frames = rig.frames();
    rig.carry(&frames);
    assert_eq!(rig.out, packets, "the other leg has sent nothing");
    let local = rig.block(0, UP, 5000);
    rig.arrive(0, UP, &local);
    assert_eq!(rig.out, packets);
    assert_eq!(carried(&rig.drb, UP).expect("it is split")[0].useless, 3);
}

#[test]
fn what_one_leg_has_confirmed_the_other_discards_and_only_that() {
    let mut rig = Rig::new(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)));
    let packets: Vec<_> = (0..5).map(|_| rig.put(UP, 960).0).collect();
    let local = rig.block(0, UP, 3100);
    rig.arrive(0, UP, &local);
    assert_eq!(rig.out, packets[..3]);
    let begun = rig.block(1, UP, 500);
    let before = rig.drb.backlog(rig.now, 1, UP).total();
    // The sent part of the fourth packet had no poll bit. The next block contains all remaining
    // data and a poll bit. The receiver's status then confirms all packets on the first leg.
    rig.now = millis(100);
    rig.with_drb(|drb, env, storage| drb.on_timer(UP, env, storage));
    let poll = rig.block(0, UP, 3100);
    rig.arrive(0, UP, &poll);
    rig.now = millis(200);
    let status = rig.block(0, DOWN, 200);
    rig.arrive(0, DOWN, &status);
    assert!(rig.drb.backlog(rig.now, 1, UP).total() < before - 3000);
    let given = *carried(&rig.drb, UP).expect("it is split");
    // The second leg has begun to send its first packet, so it discards only the other four
    // packets.
    assert_eq!((given[0].discarded, given[1].discarded), (0, 4));
    rig.arrive(1, UP, &begun);
    let remainder = rig.block(1, UP, 5000);
    assert_eq!(remainder.pdus.len(), 1);
    rig.arrive(1, UP, &remainder);
    let frames = rig.frames();
    rig.carry(&frames);
    assert_eq!(rig.out, packets);
}

#[test]
fn the_other_base_station_is_told_what_it_need_not_send() {
    let (mut rig, packets) = with_packets(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)), 4);
    let local = rig.block(0, DOWN, 5000);
    rig.arrive(0, DOWN, &local);
    assert_eq!(rig.out, packets);
    let status = rig.block(0, UP, 200);
    rig.arrive(0, UP, &status);
    rig.now = millis(10);
    let frames = rig.frames_after_wake();
    let discard = frames
        .iter()
        .filter(|frame| frame.kind == FrameKind::Discard);
    assert_eq!(
        discard
            .clone()
            .map(|frame| frame.number)
            .collect::<Vec<_>>(),
        [4]
    );
    assert!(rig.drb.backlog(rig.now, 1, DOWN).total() > 4000);
    rig.carry(&frames);
    assert_eq!(rig.drb.backlog(rig.now, 1, DOWN).total(), 0);
    assert_eq!(
        carried(&rig.drb, DOWN).expect("it is split")[1].discarded,
        4
    );
    // The next status reports no outstanding data, so the base stations send no other frame.
    rig.now = millis(20);
    let frames = rig.frames_after_wake();
    assert!(frames.iter().all(|frame| frame.kind == FrameKind::Status));
    rig.carry(&frames);
    rig.now = millis(40);
    assert!(rig.frames_after_wake().is_empty());
}

#[test]
fn what_the_other_base_station_delivered_this_one_discards() {
    let (mut rig, packets) = with_packets(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)), 4);
    let secondary = rig.block(1, DOWN, 5000);
    rig.arrive(1, DOWN, &secondary);
    assert_eq!(rig.out, packets);
    let status = rig.block(1, UP, 200);
    rig.arrive(1, UP, &status);
    assert!(
        rig.drb.backlog(rig.now, 0, DOWN).total() > 4000,
        "it does not know"
    );
    rig.now = millis(10);
    let frames = rig.frames_after_wake();
    rig.carry(&frames);
    assert_eq!(rig.drb.backlog(rig.now, 0, DOWN).total(), 0);
    assert_eq!(
        carried(&rig.drb, DOWN).expect("it is split")[0].discarded,
        4
    );
}

#[test]
fn a_leg_that_fails_costs_no_time_where_the_other_has_copies() {
    for rlc in [RlcConfig::NR_AM, RlcConfig::NR_UM] {
        for leg in [0, 1] {
            let (mut rig, packets) = with_packets(doubled(rlc, Delivery::InOrder(None)), 4);
            rig.with_drb(|drb, env, storage| drb.reestablish((leg, millis(50)), env, storage));
            assert!(rig.causes().is_empty(), "{leg}");
            let block = rig.block(1 - leg, DOWN, 5000);
            rig.arrive(1 - leg, DOWN, &block);
            assert_eq!(rig.out, packets);
        }
    }
}

#[test]
fn a_packet_that_both_legs_lost_is_lost_once() {
    let (mut rig, _) = with_packets(doubled(RlcConfig::NR_UM, Delivery::InOrder(None)), 1);
    for (leg, lost) in [(0, 0), (1, 1)] {
        let block = rig.block(leg, DOWN, 5000);
        let pdus = (&block, 0..block.pdus.len());
        rig.with_drb(|drb, env, storage| drb.on_harq_failure((leg, DOWN), pdus, env, storage));
        assert_eq!(rig.causes().len(), lost);
    }
    assert_eq!(rig.causes(), [RadioDropCause::HarqFailure]);
}

#[test]
fn a_leg_that_has_stalled_holds_nobody_up_and_its_copies_are_bounded() {
    let mut config = doubled(RlcConfig::NR_UM, Delivery::InOrder(None));
    config.rlc.buffer = Bytes(5000);
    let mut rig = Rig::new(config);
    let mut packets = Vec::new();
    for _ in 0..20 {
        let (packet, is_taken) = rig.put(UP, 960);
        assert!(is_taken);
        packets.push(packet);
        let block = rig.block(0, UP, 1100);
        rig.arrive(0, UP, &block);
    }
    assert_eq!(rig.out, packets);
    let waiting = rig.drb.backlog(rig.now, 1, UP).new;
    assert!((4000..5200).contains(&waiting), "{waiting}");
}

#[test]
fn the_discard_timer_drops_a_packet_when_no_leg_has_begun_it() {
    let mut config = doubled(RlcConfig::NR_UM, Delivery::InOrder(None));
    config.pdcp.discard_timer = Some(Span::from_millis(50));
    let mut rig = Rig::new(config);
    rig.put(UP, 960);
    rig.put(UP, 960);
    let block = rig.block(0, UP, 1100);
    let (at, generation) = rig.drb.arm(rig.now, UP).expect("a timer runs");
    assert_eq!(at, millis(50));
    assert!(rig.drb.fire(UP, generation));
    rig.now = at;
    rig.with_drb(|drb, env, storage| drb.on_timer(UP, env, storage));
    // The block contains a part of the second packet, so the first leg has begun to send that
    // packet.
    assert_eq!(block.pdus.len(), 2);
    assert!(rig.causes().is_empty());
    assert_eq!(rig.drb.backlog(rig.now, 1, UP).total(), 0);
    rig.put(UP, 960);
    rig.now = millis(100);
    rig.with_drb(|drb, env, storage| drb.on_timer(UP, env, storage));
    assert_eq!(rig.causes(), [RadioDropCause::DiscardTimer]);
}

fn over_carriers(rlc: RlcConfig, cells: &[CellId], has_far: bool) -> BearerConfig {
    let own = doubled(rlc, Delivery::InOrder(None));
    BearerConfig {
        split: own.split.map(|split| SplitConfig {
            leg: has_far.then_some(1),
            carriers: CarrierLegs::new(cells).expect("few enough"),
            ..split
        }),
        ..own
    }
}

#[test]
fn a_packet_goes_over_four_legs_and_leaves_once() {
    for (has_far, legs) in [(true, [0, 1, 2, 3]), (false, [0, 2, 3, 4])] {
        let cells = [CellId(4), CellId(5), CellId(6)];
        let cells = if has_far { &cells[..2] } else { &cells[..] };
        for rlc in [RlcConfig::NR_AM, RlcConfig::NR_UM] {
            let mut rig = Rig::new(over_carriers(rlc, cells, has_far));
            let packets: Vec<_> = (0..3).map(|_| rig.put(UP, 960).0).collect();
            let (last, before) = legs.split_last().expect("four");
            for &leg in before {
                let block = rig.block(leg, UP, 5000);
                assert_eq!(block.pdus.len(), 3, "{leg}");
                let pdus = (&block, 0..block.pdus.len());
                rig.with_drb(|drb, env, storage| {
                    drb.on_harq_failure((leg, UP), pdus, env, storage);
                });
            }
            assert!(rig.causes().is_empty(), "the last leg has them");
            let block = rig.block(*last, UP, 5000);
            rig.arrive(*last, UP, &block);
            let frames = rig.frames();
            rig.carry(&frames);
            assert_eq!(rig.out, packets);
            let given = carried(&rig.drb, UP).expect("it has legs");
            assert_eq!(given.iter().map(|it| it.packets).sum::<u64>(), 12);
            assert_eq!(given.iter().map(|it| it.copies).sum::<u64>(), 9);
        }
    }
}

/// Vector `dup_discard` of handover_vectors.csv: the second of three RLC entities confirms a PDU.
#[test]
fn what_one_of_three_legs_has_confirmed_the_two_others_discard() {
    let cells = [CellId(4), CellId(5)];
    let mut rig = Rig::new(over_carriers(RlcConfig::NR_AM, &cells, false));
    let packets: Vec<_> = (0..4).map(|_| rig.put(DOWN, 960).0).collect();
    let block = rig.block(2, DOWN, 5000);
    rig.arrive(2, DOWN, &block);
    assert_eq!(rig.out, packets);
    assert!(rig.frames().is_empty(), "there is no other base station");
    let status = rig.block(2, UP, 200);
    rig.arrive(2, UP, &status);
    let given = *carried(&rig.drb, DOWN).expect("it has legs");
    assert_eq!([0, 2, 3].map(|leg| given[leg].discarded), [4, 0, 4]);
    assert_eq!(rig.drb.backlog(rig.now, 0, DOWN).new, 0);
    assert_eq!(rig.drb.backlog(rig.now, 3, DOWN).new, 0);
}

#[test]
fn a_deactivated_leg_discards_what_others_have_and_gets_no_copies() {
    let cells = [CellId(4), CellId(5)];
    let mut rig = Rig::new(over_carriers(RlcConfig::NR_UM, &cells, false));
    rig.put(UP, 960);
    let activate = |rig: &mut Rig, legs: &[u8]| {
        rig.with_drb(|drb, env, _| {
            let mut bearer = split(drb).expect("it has legs");
            for leg in 0..5 {
                bearer.activate((leg, UP), legs.contains(&leg), env.now);
            }
        });
        let given = *carried(&rig.drb, UP).expect("it has legs");
        [0, 2, 3].map(|leg| given[leg].packets)
    };
    assert_eq!(activate(&mut rig, &[3]), [1, 1, 1]);
    assert_eq!(rig.drb.backlog(rig.now, 2, UP).total(), 0);
    let given = *carried(&rig.drb, UP).expect("it has legs");
    assert_eq!([0, 2, 3].map(|leg| given[leg].discarded), [0, 1, 0]);
    rig.put(UP, 960);
    // Duplication is always active on the primary path. Here the primary path is the only active
    // leg, so no copies are sent.
    assert_eq!(activate(&mut rig, &[]), [2, 1, 2]);
    rig.put(UP, 960);
    assert_eq!(activate(&mut rig, &[2, 3]), [3, 1, 2]);
    rig.put(UP, 960);
    assert_eq!(activate(&mut rig, &[2, 3]), [4, 2, 3]);
}

/// Runs a random walk of a bearer with a secondary leg and one more leg in each cell of `cells`.
fn random_walk(seed: u64, rlc: [RlcConfig; 2], delivery: Delivery, cells: &[CellId]) -> Walk {
    let mut draws = Stream::new(seed, "duplication", cells.len() as u64);
    let (both, only) = (draws.below(3) == 0, draws.below(2) as usize);
    let own = doubled(rlc[0], delivery);
    let has_far = cells.is_empty() || draws.below(3) > 0;
    let changes = !cells.is_empty() && draws.below(2) == 0;
    let mut rig = Rig::new(BearerConfig {
        split: own.split.map(|split| SplitConfig {
            rlc: rlc[1],
            leg: has_far.then_some(1),
            carriers: CarrierLegs::new(cells).expect("few enough"),
            primary: if has_far { draws.below(2) as u8 } else { 0 },
            duplicates: [0, 1].map(|direction| both || direction == only),
            thresholds: [Some(Bytes(0)), Some(Bytes(0))],
            flow_control: FlowControlConfig {
                desired: match draws.below(2) {
                    0 => DesiredBuffer::Fixed(Bytes(8000 + draws.below(40_000))),
                    _ => DesiredBuffer::Lasting(Span::from_millis(30), Bytes(8000)),
                },
                ..split.flow_control
            },
            ..split
        }),
        ..own
    });
    rig.now = millis(1);
    let mut walk = Walk::new(rig);
    walk.changes = changes;
    let links = (draws.below(8), Span::from_millis(draws.below(12)));
    for _ in 0..400 {
        walk.advance(&mut draws, links, false);
    }
    // The run continues for more than twice t-Reordering, because the end of one wait for a packet
    // may start another wait.
    for _ in 0..6500 {
        walk.advance(&mut draws, (0, links.1), true);
    }
    walk
}

/// Returns the cells of a walk's additional legs. Half of the walks have two legs, and the others
/// have three or four legs.
fn legs_of(seed: u64) -> &'static [CellId] {
    const CELLS: [CellId; 2] = [CellId(4), CellId(5)];
    match (seed / 3) % 4 {
        0 | 1 => &[],
        2 => &CELLS[..1],
        _ => &CELLS,
    }
}

#[test]
fn acknowledged_copies_over_legs_that_fail_at_any_moment_leave_once_and_in_order() {
    Cases::new(150).run(|seed| {
        let modes = [
            [RlcConfig::NR_AM, RlcConfig::NR_AM],
            [RlcConfig::LTE_AM, RlcConfig::NR_AM],
            [RlcConfig::NR_AM, RlcConfig::LTE_AM],
        ];
        let walk = random_walk(
            seed,
            modes[(seed % 3) as usize],
            Delivery::InOrder(None),
            legs_of(seed),
        );
        for direction in [DOWN, UP] {
            assert_eq!(walk.out[direction.index()], walk.put[direction.index()]);
            assert!(walk.rig.drb.ledger(direction).is_empty());
        }
        assert!(walk.rig.drops.0.is_empty());
    });
}

#[test]
fn unacknowledged_copies_are_lost_only_where_both_legs_lost_them() {
    Cases::new(150).run(|seed| {
        let modes = [
            [RlcConfig::NR_UM, RlcConfig::NR_UM],
            [RlcConfig::LTE_UM, RlcConfig::NR_UM],
            [RlcConfig::NR_UM, RlcConfig::LTE_UM],
        ];
        let patient = Delivery::InOrder(Some(Span::from_millis(2500)));
        let walk = random_walk(seed, modes[(seed % 3) as usize], patient, legs_of(seed));
        let mut missing = 0;
        for direction in [DOWN, UP] {
            let index = direction.index();
            let mut out = walk.out[index].iter().peekable();
            for packet in &walk.put[index] {
                if out.next_if_eq(&packet).is_some() {
                    continue;
                }
                missing += 1;
                if walk.rig.drb.config().split.expect("it is").duplicates[index] {
                    for leg in walk.legs().into_iter().map(usize::from) {
                        let could = !walk.cannot_come[leg][index].contains(packet);
                        assert!(!could, "{direction:?}: {packet:?} on leg {leg}");
                    }
                }
            }
            assert_eq!(out.next(), None, "in order");
        }
        assert_eq!(walk.rig.drops.0.len(), missing);
    });
}
