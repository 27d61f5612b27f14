//! A bearer whose PDUs go to both legs.

use super::split::{Walk, config};
use super::*;
use crate::bearer::{FrameKind, carried};
use crate::config::SplitConfig;
use crate::pdcp::Delivery;
use crate::user_plane::{DesiredBuffer, FlowControlConfig};
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

/// A rig whose other base station has asked for something, and a downlink packet or more at both.
fn with_packets(config: BearerConfig, count: usize) -> (Rig, Vec<PacketId>) {
    let mut rig = Rig::new(config);
    let first = rig.tell();
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
    let far = rig.block(1, UP, 5000);
    rig.arrive(1, UP, &far);
    let frames = rig.frames();
    rig.carry(&frames);
    assert_eq!(rig.out, packets, "the other leg has sent nothing");
    let near = rig.block(0, UP, 5000);
    rig.arrive(0, UP, &near);
    assert_eq!(rig.out, packets);
    assert_eq!(carried(&rig.drb, UP).expect("it is split")[0].useless, 3);
}

#[test]
fn what_one_leg_has_confirmed_the_other_discards_and_only_that() {
    let mut rig = Rig::new(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)));
    let packets: Vec<_> = (0..5).map(|_| rig.put(UP, 960).0).collect();
    let near = rig.block(0, UP, 3100);
    rig.arrive(0, UP, &near);
    assert_eq!(rig.out, packets[..3]);
    let begun = rig.block(1, UP, 500);
    let before = rig.drb.backlog(rig.now, 1, UP).total();
    // The receiver's status reaches the UE. A piece of the fourth was sent, which polls nothing.
    rig.now = millis(100);
    rig.with(|drb, env, storage| drb.on_timer(UP, env, storage));
    let poll = rig.block(0, UP, 3100);
    rig.arrive(0, UP, &poll);
    rig.now = millis(200);
    let status = rig.block(0, DOWN, 200);
    rig.arrive(0, DOWN, &status);
    assert!(rig.drb.backlog(rig.now, 1, UP).total() < before - 3000);
    let given = *carried(&rig.drb, UP).expect("it is split");
    // The first one has begun there and goes on.
    assert_eq!((given[0].discarded, given[1].discarded), (0, 4));
    rig.arrive(1, UP, &begun);
    let rest = rig.block(1, UP, 5000);
    assert_eq!(rest.pdus.len(), 1);
    rig.arrive(1, UP, &rest);
    let frames = rig.frames();
    rig.carry(&frames);
    assert_eq!(rig.out, packets);
}

#[test]
fn the_other_base_station_is_told_what_it_need_not_send() {
    let (mut rig, packets) = with_packets(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)), 4);
    let near = rig.block(0, DOWN, 5000);
    rig.arrive(0, DOWN, &near);
    assert_eq!(rig.out, packets);
    let status = rig.block(0, UP, 200);
    rig.arrive(0, UP, &status);
    rig.now = millis(10);
    let told = rig.tell();
    let discard = told.iter().filter(|frame| frame.kind == FrameKind::Discard);
    assert_eq!(
        discard
            .clone()
            .map(|frame| frame.number)
            .collect::<Vec<_>>(),
        [4]
    );
    assert!(rig.drb.backlog(rig.now, 1, DOWN).total() > 4000);
    rig.carry(&told);
    assert_eq!(rig.drb.backlog(rig.now, 1, DOWN).total(), 0);
    assert_eq!(
        carried(&rig.drb, DOWN).expect("it is split")[1].discarded,
        4
    );
    // The status that follows says that nothing is outstanding, and no more is told.
    rig.now = millis(20);
    let told = rig.tell();
    assert!(told.iter().all(|frame| frame.kind == FrameKind::Status));
    rig.carry(&told);
    rig.now = millis(40);
    assert!(rig.tell().is_empty());
}

#[test]
fn what_the_other_base_station_delivered_this_one_discards() {
    let (mut rig, packets) = with_packets(doubled(RlcConfig::NR_AM, Delivery::InOrder(None)), 4);
    let far = rig.block(1, DOWN, 5000);
    rig.arrive(1, DOWN, &far);
    assert_eq!(rig.out, packets);
    let status = rig.block(1, UP, 200);
    rig.arrive(1, UP, &status);
    assert!(
        rig.drb.backlog(rig.now, 0, DOWN).total() > 4000,
        "it does not know"
    );
    rig.now = millis(10);
    let told = rig.tell();
    rig.carry(&told);
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
            rig.with(|drb, env, storage| drb.reestablish((leg, millis(50)), env, storage));
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
        rig.with(|drb, env, storage| drb.lose((leg, DOWN), pdus, env, storage));
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
    rig.with(|drb, env, storage| drb.on_timer(UP, env, storage));
    // The second has begun on the first leg: some bytes of it were in the block.
    assert_eq!(block.pdus.len(), 2);
    assert!(rig.causes().is_empty());
    assert_eq!(rig.drb.backlog(rig.now, 1, UP).total(), 0);
    rig.put(UP, 960);
    rig.now = millis(100);
    rig.with(|drb, env, storage| drb.on_timer(UP, env, storage));
    assert_eq!(rig.causes(), [RadioDropCause::DiscardTimer]);
}

fn random_walk(seed: u64, rlc: [RlcConfig; 2], delivery: Delivery) -> Walk {
    let mut draws = Stream::new(seed, "duplication", 0);
    let (both, only) = (draws.below(3) == 0, draws.below(2) as usize);
    let own = doubled(rlc[0], delivery);
    let mut rig = Rig::new(BearerConfig {
        split: own.split.map(|split| SplitConfig {
            rlc: rlc[1],
            primary: draws.below(2) as u8,
            duplicates: [0, 1].map(|way| both || way == only),
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
    let links = (draws.below(8), Span::from_millis(draws.below(12)));
    for _ in 0..400 {
        walk.step(&mut draws, links, false);
    }
    // Twice t-Reordering, where there is one: what ends a wait begins the next.
    for _ in 0..6500 {
        walk.step(&mut draws, (0, links.1), true);
    }
    walk
}

#[test]
fn acknowledged_copies_over_legs_that_fail_at_any_moment_leave_once_and_in_order() {
    Cases::new(150).run(|seed| {
        let modes = [
            [RlcConfig::NR_AM, RlcConfig::NR_AM],
            [RlcConfig::LTE_AM, RlcConfig::NR_AM],
            [RlcConfig::NR_AM, RlcConfig::LTE_AM],
        ];
        let walk = random_walk(seed, modes[(seed % 3) as usize], Delivery::InOrder(None));
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
        let walk = random_walk(seed, modes[(seed % 3) as usize], patient);
        let mut missing = 0;
        for direction in [DOWN, UP] {
            let way = direction.index();
            let mut out = walk.out[way].iter().peekable();
            for packet in &walk.put[way] {
                if out.next_if_eq(&packet).is_some() {
                    continue;
                }
                missing += 1;
                if walk.rig.drb.config().split.expect("it is").duplicates[way] {
                    for leg in [0, 1] {
                        let could = !walk.cannot_come[leg][way].contains(packet);
                        assert!(!could, "{direction:?}: {packet:?} on leg {leg}");
                    }
                }
            }
            assert_eq!(out.next(), None, "in order");
        }
        assert_eq!(walk.rig.drops.0.len(), missing);
    });
}
