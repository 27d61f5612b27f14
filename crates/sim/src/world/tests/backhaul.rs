//! Tests of UEs that change cells: the routes of packets, messages and markers after each action of
//! the radio access.

use super::*;
use crate::world::UePaths;
use fadeout_core::{CellId, Direction, DrbId, RouteId, UeId};
use fadeout_radio::access::{Backhaul, Move, NetworkNode};

const PHONE: UeId = UeId(0);
const BEARER: DrbId = DrbId(0);
const OLD: CellId = CellId(0);
const NEW: CellId = CellId(1);

/// Returns [`TWO_CELLS`] under mobility management, with messages over links. Messages between base
/// stations take the direct link (X2), or pass the server, which represents the core.
fn managed(preparation: &str) -> World<Seen> {
    let management = format!(
        "[mobility-management]\nsignalling = \"links\"\ncore = \"server\"\n\
         preparation = \"{preparation}\"\n"
    );
    let mut world = world(&format!("{TWO_CELLS}{management}"));
    pending(&mut world);
    world
}

/// Lets the routes follow one action of the radio access.
fn follow(world: &mut World<Seen>, one: Move) {
    let mut paths = world.paths.take().expect("UEs that change cells");
    UePaths::carry_out(&mut paths, world, one);
    world.paths = Some(paths);
}

fn station(world: &World<Seen>, cell: CellId) -> u32 {
    world.directory.base(cell).0
}

fn bearer(direction: Direction) -> Hop {
    Hop::Bearer {
        bearer: BEARER,
        direction,
    }
}

/// Returns the numbers of packets on the links S1 of the old cell, X2 and S1 of the new cell, in
/// both directions.
fn under_way_on(world: &World<Seen>) -> [usize; 6] {
    [0, 1, 2, 3, 4, 5].map(|link| inside(world, link))
}

/// Returns the only packet of a pool that was empty before. It is in the first slot.
fn only(world: &World<Seen>) -> PacketId {
    assert_eq!(world.pool.len(), 1);
    PacketId::default()
}

/// Returns the hops of the only packet.
fn hops_of_the_packet(world: &World<Seen>) -> Vec<Hop> {
    let packet = &world.pool[only(world)];
    world.routes.hops(packet.route).to_vec()
}

fn message(world: &World<Seen>, from: CellId, to: NetworkNode) -> Move {
    Move::Message {
        ue: PHONE,
        number: 7,
        from: NetworkNode::Station(station(world, from)),
        to,
        size: 600,
    }
}

#[test]
fn a_message_takes_the_link_between_base_stations_or_goes_by_way_of_the_core() {
    for (preparation, expected) in [("x2", &[2][..]), ("s1", &[1, 4])] {
        let mut world = managed(preparation);
        let to = NetworkNode::Station(station(&world, NEW));
        let one = message(&world, OLD, to);
        follow(&mut world, one);
        let mut hops: Vec<Hop> = expected.iter().map(|&id| Hop::Link(LinkId(id))).collect();
        hops.push(Hop::Backhaul(Backhaul::Message { ue: PHONE }));
        assert_eq!(hops_of_the_packet(&world), hops, "{preparation}");
        assert_eq!(inside(&world, expected[0]), 1);
        let packet = world.pool.packet(only(&world));
        assert_eq!((packet.segment.seq, packet.wire_len()), (7, 600));
    }
    let mut world = managed("x2");
    let one = message(&world, NEW, NetworkNode::Core);
    follow(&mut world, one);
    assert_eq!(under_way_on(&world), [0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_message_within_a_node_arrives_at_once_and_one_that_nobody_waits_for_is_freed() {
    let mut world = managed("x2");
    let to = NetworkNode::Station(station(&world, OLD));
    let one = message(&world, OLD, to);
    follow(&mut world, one);
    assert_eq!(under_way_on(&world), [0; 6]);
    assert!(world.pool.is_empty());
}

#[test]
fn uplink_packets_leave_at_the_new_cell_and_so_do_those_that_have_not_left_the_phone() {
    let mut world = managed("x2");
    let up = |world: &World<Seen>| {
        let route = world.endpoints[RECEIVER].route;
        world.routes.hops(route).to_vec()
    };
    let [old, new] = [1, 5].map(|link| vec![bearer(Direction::Uplink), Hop::Link(LinkId(link))]);
    assert_eq!(up(&world), new);
    let packet = world.pool.insert(Packet {
        to: SENDER,
        route: world.endpoints[RECEIVER].route,
        ..Packet::default()
    });
    follow(
        &mut world,
        Move::Uplink {
            ue: PHONE,
            cell: OLD,
        },
    );
    assert_eq!(up(&world), old);
    // The packet is about to leave the bearer, where the two routes part. So the packet enters the
    // link S1 of the old cell.
    world.forward(packet);
    assert_eq!(under_way_on(&world), [0, 1, 0, 0, 0, 0]);
    // The UE moves back, and the first route applies again.
    follow(
        &mut world,
        Move::Uplink {
            ue: PHONE,
            cell: NEW,
        },
    );
    assert_eq!(up(&world), new);
    let packet = world.pool.insert(Packet {
        to: SENDER,
        route: world.endpoints[RECEIVER].route,
        ..Packet::default()
    });
    world.forward(packet);
    assert_eq!(under_way_on(&world), [0, 1, 0, 0, 0, 1]);
    assert_eq!(
        world.endpoints[SENDER].route,
        RouteId(0),
        "the core is not told yet"
    );
}

#[test]
fn at_a_path_switch_the_core_sends_to_the_new_cell_and_a_marker_over_the_old_way() {
    let mut world = managed("x2");
    follow(
        &mut world,
        Move::Path {
            ue: PHONE,
            cell: OLD,
        },
    );
    let route = world.endpoints[SENDER].route;
    let expected = [Hop::Link(LinkId(0)), bearer(Direction::Downlink)];
    assert_eq!(world.routes.hops(route), expected);
    // The marker takes the old link to the base station and ends there.
    assert_eq!(under_way_on(&world), [0, 0, 0, 0, 1, 0]);
    let marker = Backhaul::EndMarker { bearer: BEARER };
    assert_eq!(
        hops_of_the_packet(&world),
        [Hop::Link(LinkId(4)), Hop::Backhaul(marker)]
    );
    let marker = only(&world);
    world.forward(marker);
    assert!(world.pool.is_empty(), "read at the base station");
}

#[test]
fn a_switch_to_the_cell_that_the_core_sends_to_sends_no_marker() {
    let mut world = managed("x2");
    let before = world.endpoints[SENDER].route;
    follow(
        &mut world,
        Move::Path {
            ue: PHONE,
            cell: NEW,
        },
    );
    assert_eq!(world.endpoints[SENDER].route, before);
    assert!(world.pool.is_empty());
}

#[test]
fn a_forwarded_packet_takes_x2_and_enters_the_radio_at_its_end() {
    let mut world = managed("x2");
    let packet = under_way(&mut world, 1);
    let [from, to] = [OLD, NEW].map(|cell| station(&world, cell));
    let one = Move::Forwarded {
        bearer: BEARER,
        packet,
        number: None,
        from,
        to,
    };
    follow(&mut world, one);
    assert_eq!(under_way_on(&world), [0, 0, 1, 0, 0, 0]);
    assert_eq!(world.pool[packet].hop, 0);
    world.agenda.advance(ms(3));
    world.forward(packet);
    // The radio drops the packet, because no handover is in progress.
    assert!(world.pool.is_empty());
    assert_eq!(world.delivered_packets(), 0);
    let end = Move::ForwardedEnd {
        bearer: BEARER,
        from,
        to,
    };
    follow(&mut world, end);
    // The old link still counts the packet, because the test moved it without the link.
    assert_eq!(under_way_on(&world), [0, 0, 2, 0, 0, 0]);
}

#[test]
fn without_mobility_management_what_comes_over_the_backhaul_moves_nothing() {
    let mut world = world(TWO_CELLS);
    pending(&mut world);
    let packet = world.pool.insert(Packet::message(0, 0));
    let marker = Backhaul::EndMarker { bearer: BEARER };
    world.enter(Hop::Backhaul(marker), packet);
    assert!(world.pool.is_empty());
    assert_eq!(under_way_on(&world), [0; 6]);
}
