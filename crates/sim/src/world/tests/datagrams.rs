//! Tests of datagrams: the packets that each event sends, and the effect of each arrival.

use super::*;
use fadeout_core::{Bytes, Protocol};

/// Returns [`ROUTER`] with an application over UDP.
fn world_with(application: &str) -> World<Seen> {
    let mut world = world(&format!("{ROUTER}application = {{ {application} }}\n"));
    pending(&mut world);
    world.agenda.advance(ms(5));
    world.handle(Event::Start { flow: BULK });
    world
}

const STREAM: &str = "kind = \"packet-stream\", size = \"972 B\", rate = \"777600 bit/s\"";
const ECHO: &str = "kind = \"echo\", period = \"50 ms\", size = \"56 B\", answer-size = \"100 B\"";

/// Hands the last sent datagram to its endpoint without the links.
fn arrive(world: &mut World<Seen>, at: Time) {
    let (_, packet) = *world.probe.sent.last().expect("a datagram was sent");
    let last = world.routes.hops(packet.route).len() as u8 - 1;
    let id = world.pool.insert(Packet {
        hop: last,
        ..packet
    });
    world.agenda.advance(at);
    world.forward(id);
}

fn received(world: &World<Seen>, endpoint: EndpointId) -> u64 {
    let udp = world.endpoints.udp(endpoint).expect("an end over UDP");
    udp.reception().received()
}

#[test]
fn a_stream_sends_at_its_start_and_at_each_wake_up_of_its_application() {
    let mut world = world_with(STREAM);
    for number in 0..3_u64 {
        let (at, packet) = *world.probe.sent.last().expect("a datagram");
        assert_eq!(at, ms(5 + 10 * number));
        assert_eq!((packet.protocol, packet.to), (Protocol::Udp, RECEIVER));
        assert_eq!((packet.segment.seq, packet.segment.len), (number, 972));
        let events = pending(&mut world);
        // There is no handshake and no timer, so only the application and the link have events.
        let mut of_ends = events
            .iter()
            .filter(|(_, event)| !matches!(event, Event::Link { .. }));
        let &next = of_ends.next().expect("the next datagram");
        assert!(of_ends.next().is_none(), "{events:?}");
        assert!(
            matches!(next.1, Event::Application { flow: BULK, .. }),
            "{events:?}"
        );
        happen(&mut world, next);
    }
}

#[test]
fn a_datagram_that_arrives_counts_at_its_end_and_frees_its_slot() {
    let mut world = world_with(STREAM);
    let slots = world.pool.len();
    arrive(&mut world, ms(33));
    assert_eq!(world.pool.len(), slots);
    assert_eq!(
        (received(&world, RECEIVER), received(&world, SENDER)),
        (1, 0)
    );
    let flow = &world.machines().flows[0];
    assert_eq!(
        (flow.delivered, flow.first_delivery_at),
        (972, Some(ms(33)))
    );
    assert_eq!(world.delivered_packets(), 1);
    // The receiver of a stream sends nothing.
    assert_eq!(world.probe.sent.len(), 1);
}

#[test]
fn an_echo_is_answered_at_once_and_the_answer_is_not_counted_as_delivered() {
    let mut world = world_with(ECHO);
    arrive(&mut world, ms(9));
    let (at, answer) = *world.probe.sent.last().expect("an answer");
    assert_eq!((at, answer.to, answer.segment.len), (ms(9), SENDER, 100));
    assert_eq!(answer.route, world.endpoints[RECEIVER].route);
    arrive(&mut world, ms(12));
    assert_eq!(
        (received(&world, RECEIVER), received(&world, SENDER)),
        (1, 1)
    );
    assert_eq!(world.machines().flows[0].delivered, 56);
    assert_eq!(world.probe.sent.len(), 2);
    let udp = world.endpoints.udp(SENDER).expect("an end over UDP");
    let trips = udp.reception().round_trips().expect("an answer came");
    assert_eq!(trips.smallest(), Some(Span::from_millis(7)));
}

#[test]
fn an_end_over_udp_has_no_connection_to_open_or_to_close_and_no_timer() {
    let mut world = world_with(STREAM);
    pending(&mut world);
    for command in [AppCommand::Connect, AppCommand::Listen, AppCommand::Close] {
        world.command(SENDER, command);
    }
    world.wake_endpoint(SENDER);
    assert!(pending(&mut world).is_empty());
    assert_eq!(world.probe.sent.len(), 1);
    world.command(SENDER, AppCommand::Write(Bytes(10)));
    assert_eq!(world.probe.sent.len(), 2);
}

#[test]
fn an_end_over_tcp_sends_no_datagram() {
    let mut world = world(ROUTER);
    world.send_datagram(SENDER, Bytes(10));
    assert!(world.probe.sent.is_empty() && world.pool.is_empty());
}
