//! Tests of handovers between links: the effect of each event and each message.

use super::*;
use crate::crossing::Signal;
use fadeout_core::{DropCause, HandoverOutcome};

/// Returns a server behind an anchor, two base stations and one phone. Directions: `near` 0 and 1,
/// `s1` 2 and 3, `iu` 4 and 5, `x` 6 and 7, `lte` 8 and 9, `umts` 10 and 11.
fn network(rest: &str) -> World<Seen> {
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"12 Mbit/s\"\n\
             delay = \"1 ms\"\nreverse = {{ rate = \"12 Mbit/s\" }}\n"
        )
    };
    world(&format!(
        "duration = \"12 s\"\n{}{}{}{}{}{}[handover.move]\nfrom = \"lte\"\nto = \"umts\"\n\
         at = \"6 s\"\n{rest}\n[flow.bulk]\nfrom = \"server\"\nto = \"phone\"\nstart = \"7 s\"\n",
        link("near", "server", "anchor"),
        link("s1", "anchor", "enb"),
        link("iu", "anchor", "rnc"),
        link("x", "enb", "rnc"),
        link("lte", "enb", "phone"),
        link("umts", "rnc", "phone"),
    ))
}

const S1: u32 = 2;
const IU: u32 = 4;
const X: u32 = 6;
const LTE: u32 = 8;
const UMTS: u32 = 10;
const UP: u32 = 1;

/// Returns the next event of the handover in the queue. `None` if there is none.
fn crossing(world: &mut World<Seen>) -> Option<(Time, Event)> {
    let is_crossing = |(_, event): &(Time, Event)| matches!(event, Event::Crossing { .. });
    let mut events = pending(world).into_iter().filter(is_crossing);
    let event = events.next();
    assert!(events.next().is_none(), "one wake-up of the handover");
    event
}

/// Processes the handover's next event. Returns its time.
fn run_next_event(world: &mut World<Seen>) -> Time {
    let next = crossing(world).expect("the handover has something to do");
    happen(world, next);
    next.0
}

/// Lets a downlink packet enter the hop at this position of the sender's route.
fn enter(world: &mut World<Seen>, hop: u8) -> PacketId {
    let packet = under_way(world, hop);
    let at = world.routes.hop_at(world.pool[packet].route, hop);
    world.enter(at.expect("a hop"), packet);
    packet
}

fn route(world: &World<Seen>, endpoint: EndpointId) -> Vec<Hop> {
    world.routes.hops(world.endpoints[endpoint].route).to_vec()
}

fn links<const N: usize>(ids: [u32; N]) -> Vec<Hop> {
    ids.map(|id| Hop::Link(LinkId(id))).to_vec()
}

fn last_hop(world: &World<Seen>, packet: PacketId) -> Option<Hop> {
    world.routes.hops(world.pool[packet].route).last().copied()
}

#[test]
fn a_stale_wake_up_of_a_handover_does_nothing() {
    let mut world = network("data = \"none\"");
    let (at, event) = crossing(&mut world).expect("the command");
    assert_eq!(at, ms(6_000));
    let Event::Crossing { index, generation } = event else {
        panic!("{event:?}")
    };
    let generation = generation.wrapping_add(1);
    happen(&mut world, (at, Event::Crossing { index, generation }));
    assert!(pending(&mut world).is_empty());
    assert_eq!(route(&world, RECEIVER), links([LTE + UP, S1 + UP, 1]));
    happen(&mut world, (at, event));
    assert_eq!(route(&world, RECEIVER), links([UMTS + UP, IU + UP, 1]));
}

#[test]
fn the_command_turns_what_waits_and_what_comes_onto_the_way_to_the_target() {
    let mut world = network("data = \"forwarding\"");
    world.agenda.advance(ms(6_000));
    let [first, waits] = [0; 2].map(|_| enter(&mut world, 2));
    assert_eq!(inside(&world, LTE), 2);
    assert_eq!(run_next_event(&mut world), ms(6_000));
    // Neither packet has left the source, because the transmission of the first one is interrupted.
    // So the source forwards both packets over link X.
    assert_eq!((inside(&world, LTE), inside(&world, X)), (0, 2));
    let target = Some(Hop::Target { handover: 0 });
    assert_eq!(
        [first, waits].map(|packet| last_hop(&world, packet)),
        [target; 2]
    );
    let later = enter(&mut world, 2);
    assert_eq!((inside(&world, X), last_hop(&world, later)), (3, target));
    // Only the phone knows of the handover, so the anchor still sends to the source.
    assert_eq!(route(&world, SENDER), links([0, S1, LTE]));
    assert_eq!(route(&world, RECEIVER), links([UMTS + UP, IU + UP, 1]));
    // Packets that arrive at the target wait until the target sends.
    world.forward(first);
    assert_eq!(inside(&world, UMTS), 1);
    let of_the_target = |(_, event): &(Time, Event)| matches!(event, Event::Link { link, .. } if *link == LinkId(UMTS));
    assert!(!pending(&mut world).iter().any(of_the_target));
    assert!(world.probe.dropped.is_empty());
}

#[test]
fn without_forwarding_what_waits_and_what_comes_is_dropped() {
    let mut world = network("data = \"none\"");
    world.agenda.advance(ms(6_000));
    enter(&mut world, 2);
    run_next_event(&mut world);
    enter(&mut world, 2);
    let causes = world.probe.dropped.iter().map(|row| (row.link, row.cause));
    let dropped = (LinkId(LTE), DropCause::Handover);
    assert_eq!(causes.collect::<Vec<_>>(), [dropped; 2]);
    assert_eq!(world.pool.len(), 0);
    for _ in 0..2 {
        run_next_event(&mut world);
    }
    let [row] = world.probe.crossed[..] else {
        panic!("{:?}", world.probe.crossed)
    };
    assert_eq!((row.lost_waiting, row.lost_later), (1, 1));
    assert_eq!(row.forwarded_waiting + row.forwarded_later, 0);
}

#[test]
fn an_uplink_packet_that_waits_at_the_phone_takes_the_target() {
    let mut world = network("data = \"none\"");
    let packet = world.pool.insert(Packet {
        to: SENDER,
        route: world.endpoints[RECEIVER].route,
        ..Packet::default()
    });
    world.agenda.advance(ms(6_000));
    world.depart(packet);
    assert_eq!(inside(&world, LTE + UP), 1);
    run_next_event(&mut world);
    assert_eq!(
        (inside(&world, LTE + UP), inside(&world, UMTS + UP)),
        (0, 1)
    );
    assert_eq!(world.pool[packet].route, world.endpoints[RECEIVER].route);
    assert!(world.probe.dropped.is_empty());
}

#[test]
fn the_switch_turns_the_anchor_and_sends_a_marker_behind_the_last_packet() {
    let mut world = network("data = \"forwarding\"");
    let before = under_way(&mut world, 0);
    run_next_event(&mut world);
    assert_eq!(run_next_event(&mut world), ms(6_100));
    assert_eq!(route(&world, SENDER), links([0, IU, UMTS]));
    // The marker takes the old route. A packet that has not passed the anchor takes the new route.
    assert_eq!((inside(&world, S1), inside(&world, IU)), (1, 0));
    world.forward(before);
    assert_eq!((inside(&world, S1), inside(&world, IU)), (1, 1));
    let events = pending(&mut world);
    let last = events.last().expect("the row");
    assert!(
        matches!(last, (at, Event::Crossing { .. }) if *at == ms(7_100)),
        "{events:?}"
    );
    happen(&mut world, *last);
    let [row] = world.probe.crossed[..] else {
        panic!("{:?}", world.probe.crossed)
    };
    assert_eq!(row.outcome, HandoverOutcome::Success);
    assert_eq!(
        (row.commanded_s, row.resumed_s, row.switched_s),
        (6.0, 6.1, 6.1)
    );
    assert!(row.end_marker_s.is_nan(), "no event has carried it on");
    assert!(crossing(&mut world).is_none());
}

#[test]
fn a_marker_at_the_source_follows_what_is_forwarded_and_ends_at_the_target() {
    let mut world = network("data = \"forwarding\"");
    run_next_event(&mut world);
    let free = world.pool.len();
    for signal in [Signal::OldPathEnd, Signal::ForwardingEnd] {
        let packet = world.pool.insert(Packet::message(0, signal.size()));
        world.agenda.advance(ms(6_150));
        world.enter(
            Hop::Signal {
                handover: 0,
                signal,
            },
            packet,
        );
        assert_eq!(inside(&world, X), 1, "{signal:?}");
        // The only packet is the marker, which continues to the target.
        assert_eq!(world.pool.len(), free + 1);
    }
    for _ in 0..2 {
        run_next_event(&mut world);
    }
    assert_eq!(world.probe.crossed[0].end_marker_s, 6.15);
}

#[test]
fn an_anchor_that_bicasts_copies_what_passes_it_and_the_target_keeps_the_copies() {
    let mut world = network("data = \"bicasting\"");
    assert_eq!(run_next_event(&mut world), ms(5_990));
    let packet = under_way(&mut world, 0);
    world.forward(packet);
    assert_eq!((inside(&world, S1), inside(&world, IU)), (1, 1));
    // The source drops the packet, but a copy is on the way to the target. So the packet does not
    // count as lost.
    world.agenda.advance(ms(6_000));
    world.forward(packet);
    assert_eq!(inside(&world, LTE), 1);
    run_next_event(&mut world);
    assert_eq!(world.probe.dropped.len(), 1);
    for _ in 0..2 {
        run_next_event(&mut world);
    }
    let row = &world.probe.crossed[0];
    assert_eq!((row.bicast, row.lost_waiting, row.lost_later), (1, 0, 0));
    // After the switch no packet is copied.
    let after = under_way(&mut world, 0);
    world.forward(after);
    assert_eq!((inside(&world, S1), inside(&world, IU)), (2, 2));
}

/// Moves the only message on a link to the end of the link.
fn carry(world: &mut World<Seen>, link: u32, now: Time) {
    assert_eq!(inside(world, link), 1, "a message on {link}");
    world.agenda.advance(now);
    let wake = pending(world)
        .into_iter()
        .find(|(_, event)| matches!(event, Event::Link { link: of, .. } if *of == LinkId(link)));
    happen(world, wake.expect("its arrival"));
}

#[test]
fn over_links_each_message_calls_the_next() {
    let mut world = network("data = \"forwarding\"\nsignalling = \"links\"");
    assert_eq!(run_next_event(&mut world), ms(6_000));
    // The messages Required, Request, Answer and Order go from source to anchor, target, anchor and
    // source.
    for link in [S1 + UP, IU, IU + UP, S1] {
        assert_eq!(route(&world, RECEIVER), links([LTE + UP, S1 + UP, 1]));
        carry(&mut world, link, ms(6_000));
    }
    assert_eq!(route(&world, RECEIVER), links([UMTS + UP, IU + UP, 1]));
    let commanded = world.now();
    // Four messages of 200 bytes take four times 1 ms and their time at 12 Mbit/s.
    let expected = (Span::from_millis(1) + Span::from_nanos(200 * 8 * 1_000 / 12)) * 4;
    let off = commanded.since(ms(6_000)).as_secs_f64() - expected.as_secs_f64();
    assert!(off.abs() < 1e-7, "{off}");
    // The target resumes and sends Relocation Complete to the anchor, which switches the path.
    assert_eq!(
        run_next_event(&mut world),
        commanded.saturating_add(Span::from_millis(100))
    );
    assert_eq!(route(&world, SENDER), links([0, S1, LTE]));
    carry(&mut world, IU + UP, ms(6_200));
    assert_eq!(route(&world, SENDER), links([0, IU, UMTS]));
}

#[test]
fn a_preparation_without_an_answer_is_given_up_and_a_late_answer_does_nothing() {
    let mut world = network("data = \"none\"\nsignalling = \"links\"");
    run_next_event(&mut world);
    assert_eq!(run_next_event(&mut world), ms(11_000));
    let [row] = world.probe.crossed[..] else {
        panic!("{:?}", world.probe.crossed)
    };
    assert_eq!(row.outcome, HandoverOutcome::Cancelled);
    let slots = world.pool.len();
    for signal in [Signal::Required, Signal::Answer, Signal::Order] {
        let packet = world.pool.insert(Packet::message(0, signal.size()));
        world.enter(
            Hop::Signal {
                handover: 0,
                signal,
            },
            packet,
        );
    }
    assert_eq!(world.pool.len(), slots, "read and freed");
    assert_eq!(route(&world, RECEIVER), links([LTE + UP, S1 + UP, 1]));
    assert!(crossing(&mut world).is_none());
}

#[test]
fn a_handover_of_a_phone_that_has_left_is_cancelled() {
    let mut world = network("data = \"none\"");
    let elsewhere = world.routes.over(&links([0, IU, UMTS]));
    for endpoint in [SENDER, RECEIVER] {
        world.endpoints[endpoint].route = elsewhere;
    }
    run_next_event(&mut world);
    let outcomes = world.probe.crossed.iter().map(|row| row.outcome);
    assert_eq!(outcomes.collect::<Vec<_>>(), [HandoverOutcome::Cancelled]);
    assert!(crossing(&mut world).is_none());
}
