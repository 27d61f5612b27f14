//! Tests of the radio access in the event loop: its wake-ups, and the packets that leave it.

use super::*;
use fadeout_core::{Direction, DrbId};

/// Returns the radio's current wake-up. If there are several, the last one makes the others stale.
fn armed(world: &mut World<Seen>) -> Option<(Time, Event)> {
    let events = pending(world);
    assert!(
        events
            .iter()
            .all(|(_, event)| matches!(event, Event::Radio { .. } | Event::Link { .. })),
        "{events:?}"
    );
    let generation = |event: &Event| match event {
        Event::Radio { generation } => Some(*generation),
        _ => None,
    };
    let of_radio = events
        .into_iter()
        .filter(|(_, event)| generation(event).is_some());
    of_radio.max_by_key(|(_, event)| generation(event))
}

/// Processes wake-ups of the radio until `has_left` is true. Returns the time.
fn until_it_leaves(world: &mut World<Seen>, has_left: impl Fn(&World<Seen>) -> bool) -> Time {
    while !has_left(world) {
        let next = armed(world).expect("the radio has a packet");
        assert!(next.0 >= world.now() && next.0 < ms(1_000), "{next:?}");
        happen(world, next);
    }
    world.now()
}

fn enter(world: &mut World<Seen>, direction: Direction) -> PacketId {
    let (to, from) = match direction {
        Direction::Downlink => (RECEIVER, SENDER),
        Direction::Uplink => (SENDER, RECEIVER),
    };
    let route = world.endpoints[from].route;
    let hop = Hop::Bearer {
        bearer: DrbId(0),
        direction,
    };
    let hops = world.routes.hops(route);
    let position = hops
        .iter()
        .position(|&other| other == hop)
        .expect("a bearer");
    let packet = world.pool.insert(Packet {
        to,
        route,
        hop: position as u8,
        ..Packet::default()
    });
    world.enter(hop, packet);
    packet
}

#[test]
fn a_downlink_packet_leaves_the_radio_at_a_wake_up_and_reaches_its_end() {
    let mut world = world(TWO_CELLS);
    pending(&mut world);
    enter(&mut world, Direction::Downlink);
    let at = until_it_leaves(&mut world, |world| world.delivered_packets() > 0);
    // The packet needs at least one slot. Without a retransmission it arrives within 40 ms.
    assert!(at > ms(0) && at < ms(40), "{at:?}");
    assert_eq!((world.delivered_packets(), world.pool.len()), (1, 0));
}

#[test]
fn an_uplink_packet_leaves_the_radio_for_the_link_behind_the_cell() {
    let mut world = world(TWO_CELLS);
    pending(&mut world);
    enter(&mut world, Direction::Uplink);
    assert_eq!(inside(&world, 5), 0);
    until_it_leaves(&mut world, |world| inside(world, 5) > 0);
    // The packet is on link 5. Links 1 and 3 begin at the cell that does not serve the phone.
    assert_eq!([1, 3, 5].map(|link| inside(&world, link)), [0, 0, 1]);
    assert_eq!(world.delivered_packets(), 0);
}

#[test]
fn a_wake_up_that_an_earlier_one_replaced_does_nothing() {
    let mut world = world(TWO_CELLS);
    pending(&mut world);
    enter(&mut world, Direction::Downlink);
    let (at, event) = armed(&mut world).expect("the radio asks to be woken");
    let Event::Radio { generation } = event else {
        panic!("{event:?}")
    };
    world.agenda.advance(at);
    world.handle(Event::Radio {
        generation: generation.wrapping_sub(1),
    });
    assert!(pending(&mut world).is_empty(), "the armed one still is");
    world.handle(event);
    assert!(armed(&mut world).is_some_and(|(next, _)| next > at));
    // A repeated event is stale and has no effect.
    world.handle(event);
    assert!(pending(&mut world).is_empty());
}
