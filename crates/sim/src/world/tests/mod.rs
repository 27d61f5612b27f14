//! Tests of the event handlers, with one event or one packet at a time.

mod backhaul;
mod crossings;
mod datagrams;
mod radio;
mod reroute;

use super::{Event, Transport, World};
use crate::hop::Hop;
use crate::{build, catalog};
use fadeout_core::{
    DropRow, EndpointId, FlowId, LinkHandoverRow, LinkId, Packet, PacketId, Probe, Span, Time,
    WholePacket,
};
use fadeout_scenario::Source;
use fadeout_transport::tcp::{AppCommand, AppEvent};

/// Packets that entered their first hop and packets that reached their endpoint, with the times.
///
/// The event loop is compiled once for each type of probe. So all unit tests use this type.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Flow whose hundredth received packet makes the probe panic. `None` if no packet does.
    fails_in: Option<FlowId>,
    sent: Vec<(Time, Packet)>,
    received: Vec<(Time, Packet)>,
    dropped: Vec<DropRow>,
    crossed: Vec<LinkHandoverRow>,
}

impl Seen {
    /// Returns a probe that panics at the hundredth received packet of `flow`.
    pub(crate) fn failing_in(flow: FlowId) -> Seen {
        Seen {
            fails_in: Some(flow),
            ..Seen::default()
        }
    }
}

impl Probe for Seen {
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        self.sent.push((now, *packet.packet));
    }
    fn received(&mut self, now: Time, packet: WholePacket<'_>) {
        self.received.push((now, *packet.packet));
        if let Some(flow) = self.fails_in {
            let of_flow = self.received.iter().filter(|(_, seen)| seen.flow == flow);
            assert!(of_flow.count() < 100, "a hundred packets");
        }
    }
    fn dropped(&mut self, row: DropRow) {
        self.dropped.push(row);
    }
    fn link_handover(&mut self, row: LinkHandoverRow) {
        self.crossed.push(row);
    }
}

fn world(text: &str) -> World<Seen> {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let scenario = fadeout_scenario::parse(text, &source, &[], catalog())
        .unwrap_or_else(|errors| panic!("{errors}"));
    build::build(&scenario, Seen::default()).expect("a checked scenario makes a world")
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A server and a client on both sides of a router, and a detour that no shortest route takes. The
/// links of the shortest route have directions 0 to 3. Those of the detour have 4 to 7.
const ROUTER: &str = r#"duration = "10 s"
[link.near]
from = "server"
to = "router"
delay = "1 ms"
rate = "12 Mbit/s"
[link.far]
from = "router"
to = "client"
delay = "2 ms"
rate = "12 Mbit/s"
[link.out]
from = "router"
to = "elsewhere"
delay = "10 ms"
rate = "12 Mbit/s"
[link.in]
from = "elsewhere"
to = "client"
delay = "10 ms"
rate = "12 Mbit/s"
[flow.bulk]
from = "server"
to = "client"
start = "5 ms"
"#;

const BULK: FlowId = FlowId(0);
const SENDER: EndpointId = EndpointId(0);
const RECEIVER: EndpointId = EndpointId(1);

/// Removes all events from the queue and returns them.
fn pending(world: &mut World<Seen>) -> Vec<(Time, Event)> {
    world.agenda.drain().collect()
}

/// Processes one event at its time.
fn happen(world: &mut World<Seen>, (at, event): (Time, Event)) {
    world.agenda.advance(at);
    world.handle(event);
}

/// Inserts a packet from the sender to the receiver at the hop of this position.
fn under_way(world: &mut World<Seen>, hop: u8) -> PacketId {
    let route = world.endpoints[SENDER].route;
    world.pool.insert(Packet {
        to: RECEIVER,
        route,
        hop,
        ..Packet::default()
    })
}

/// Delivers in-order bytes to one end of the flow.
fn deliver(world: &mut World<Seen>, at: EndpointId, bytes: u64) {
    let now = world.agenda.now();
    let flow = &mut world.flows[BULK.index()];
    flow.deliver((BULK, at), bytes, now, &mut world.asks, &mut world.probe);
}

fn inside(world: &World<Seen>, link: u32) -> usize {
    world.links.get(LinkId(link)).packets_inside()
}

fn packets_in(world: &World<Seen>, link: u32) -> u64 {
    world.links.get(LinkId(link)).stats().packets_in
}

#[test]
fn before_it_runs_a_world_has_the_starts_of_its_flows() {
    let mut world = world(ROUTER);
    assert_eq!(world.next_at(), Some(ms(5)));
    let events = pending(&mut world);
    assert!(
        matches!(events[..], [(at, Event::Start { flow: BULK })] if at == ms(5)),
        "{events:?}"
    );
}

#[test]
fn a_flow_that_starts_puts_its_syn_on_the_first_hop() {
    let mut world = world(ROUTER);
    pending(&mut world);
    world.handle(Event::Start { flow: BULK });
    let [(at, syn)] = &world.probe.sent[..] else {
        panic!("one SYN: {:?}", world.probe.sent);
    };
    assert_eq!((*at, syn.to, syn.hop), (Time::ZERO, RECEIVER, 0));
    assert_eq!((inside(&world, 0), inside(&world, 2)), (1, 0));
    // Two events follow: the SYN's arrival, after its delay and transmission time, and the
    // retransmission timer.
    let events = pending(&mut world);
    assert!(
        matches!(
            events[..],
            [
                (arrival, Event::Link { link: LinkId(0), .. }),
                (_, Event::Endpoint { endpoint: SENDER, .. }),
            ] if arrival > ms(1) && arrival < ms(2)
        ),
        "{events:?}"
    );
}

#[test]
fn a_packet_goes_from_hop_to_hop_and_then_to_its_endpoint() {
    let mut world = world(ROUTER);
    let packet = under_way(&mut world, 0);
    world.forward(packet);
    assert_eq!(world.pool[packet].hop, 1);
    assert_eq!((inside(&world, 0), inside(&world, 2)), (0, 1));
    assert_eq!(world.delivered_packets(), 0);
    let last = under_way(&mut world, 1);
    world.forward(last);
    assert_eq!(world.delivered_packets(), 1);
    assert_eq!(world.probe.received.len(), 1);
    // The slot of the received packet is free again. The other packet is still on its link.
    assert_eq!(world.pool.len(), 1);
}

#[test]
fn a_stale_wake_up_does_nothing() {
    let mut world = world(ROUTER);
    world.handle(Event::Start { flow: BULK });
    pending(&mut world);
    let stale = u32::MAX;
    for event in [
        Event::Link {
            link: LinkId(0),
            generation: stale,
        },
        Event::Endpoint {
            endpoint: SENDER,
            generation: stale,
        },
        Event::Application {
            flow: BULK,
            generation: stale,
        },
        Event::Radio { generation: stale },
    ] {
        world.agenda.advance(ms(100));
        world.handle(event);
    }
    assert!(pending(&mut world).is_empty());
    assert_eq!((world.probe.sent.len(), inside(&world, 0)), (1, 1));
}

#[test]
fn a_wake_up_of_a_link_takes_its_arrivals_on() {
    let mut world = world(ROUTER);
    world.handle(Event::Start { flow: BULK });
    let arrival = pending(&mut world)[0];
    world.agenda.advance(arrival.0);
    world.handle(arrival.1);
    assert_eq!((inside(&world, 0), inside(&world, 2)), (0, 1));
    let events = pending(&mut world);
    assert!(
        matches!(
            events[..],
            [(
                _,
                Event::Link {
                    link: LinkId(2),
                    ..
                }
            )]
        ),
        "{events:?}"
    );
}

#[test]
fn a_wake_up_of_an_endpoint_sends_what_is_due_and_arms_the_next() {
    let mut world = world(ROUTER);
    world.handle(Event::Start { flow: BULK });
    let events = pending(&mut world);
    let &(at, timer) = events.last().expect("the SYN's timer");
    world.agenda.advance(at);
    world.handle(timer);
    // The SYN is sent again after the initial timeout of one second (RFC 6298 section 2.1). The
    // kernel's timer wheel rounds it up: beyond 512 ms its ticks are 64 ms apart.
    assert_eq!(world.probe.sent.len(), 2);
    assert_eq!(world.probe.sent[1].0, ms(1_024));
    let events = pending(&mut world);
    let next = events
        .iter()
        .find(|(_, event)| matches!(event, Event::Endpoint { .. }));
    // The first timeouts of a SYN do not double in Linux (`tcp_syn_linear_timeouts`).
    assert_eq!(next.map(|(at, _)| *at), Some(ms(2_048)));
}

#[test]
fn a_receiver_closes_in_an_event_of_its_own_after_its_peer() {
    let mut world = world(ROUTER);
    pending(&mut world);
    world.agenda.advance(ms(7));
    world.flows[BULK.index()].on_app_event(AppEvent::PeerClosed, &mut world.agenda);
    let events = pending(&mut world);
    assert!(
        matches!(events[..], [(at, Event::Close { endpoint: RECEIVER })] if at == ms(7)),
        "{events:?}"
    );
}

#[test]
fn an_endpoint_is_built_as_its_flow_begins_and_its_account_stays_once_it_is_closed() {
    let text = ROUTER.replace(
        "start = \"5 ms\"",
        "start = \"5 ms\"\napplication = { kind = \"transfer\", size = \"20 kB\" }",
    );
    let mut world = world(&text);
    let stage = |world: &World<Seen>, id| match world.endpoints[id].transport {
        Transport::Waiting(_) => "waiting",
        Transport::Tcp(_) => "open",
        Transport::Over(_) => "over",
        _ => "another",
    };
    world.run(ms(4), u64::MAX);
    assert_eq!(
        [SENDER, RECEIVER].map(|id| stage(&world, id)),
        ["waiting"; 2]
    );
    let unused = world.endpoints.account(SENDER).expect("it is TCP");
    assert_eq!(
        (unused.statistics.sent_segments, unused.window.cwnd),
        (0, 10.0)
    );
    assert_eq!(unused.calls, None);
    world.run(ms(12), u64::MAX);
    assert_eq!([SENDER, RECEIVER].map(|id| stage(&world, id)), ["open"; 2]);
    world.run(ms(9_000), u64::MAX);
    // The endpoint of the end that closed first is kept, because its peer may retransmit the FIN.
    assert_eq!(
        [SENDER, RECEIVER].map(|id| stage(&world, id)),
        ["open", "over"]
    );
    let [sender, receiver] = [SENDER, RECEIVER].map(|id| world.endpoints.account(id));
    let (sender, receiver) = (sender.expect("it is TCP"), receiver.expect("it is TCP"));
    assert_eq!(sender.statistics.sent_segments, 14, "20 kB");
    assert!(receiver.is_closed && receiver.calls.is_some_and(|calls| calls.count == 1));
    // A closed endpoint ignores packets, so it causes no events.
    let events = world.agenda.drain().count();
    let late = under_way(&mut world, 1);
    world.receive(late);
    world.command(RECEIVER, AppCommand::Write(fadeout_core::Bytes(1)));
    world.wake_endpoint(RECEIVER);
    assert_eq!((pending(&mut world).len(), events), (0, 0));
}

/// Notices of links keep both ends alive. A closed end ignores them, as it does without notices.
#[test]
fn a_flow_that_hears_of_its_links_keeps_its_ends() {
    let text = ROUTER.replace(
        "start = \"5 ms\"",
        "application = { kind = \"transfer\", size = \"20 kB\" }\nlink-info = { link = \"far\" }",
    );
    let mut world = world(&text);
    let is_whole =
        |world: &World<Seen>, id| matches!(world.endpoints[id].transport, Transport::Tcp(_));
    assert!([SENDER, RECEIVER].iter().all(|&id| is_whole(&world, id)));
    world.run(ms(9_000), u64::MAX);
    assert!([SENDER, RECEIVER].iter().all(|&id| is_whole(&world, id)));
    let receiver = world.endpoints.account(RECEIVER).expect("it is TCP");
    assert!(receiver.is_closed);
}

#[test]
fn what_is_delivered_counts_for_the_flow_at_its_receiver_alone() {
    let text = ROUTER.to_owned() + "application = { kind = \"transfer\", size = \"2 kB\" }\n";
    let mut world = world(&text);
    world.agenda.advance(ms(8));
    deliver(&mut world, SENDER, 500);
    assert_eq!(world.machines().flows[0].delivered, 0);
    deliver(&mut world, RECEIVER, 1_500);
    let flow = &world.machines().flows[0];
    assert_eq!((flow.delivered, flow.completed_at), (1_500, None));
    world.agenda.advance(ms(9));
    deliver(&mut world, RECEIVER, 500);
    let flow = &world.machines().flows[0];
    assert_eq!(flow.first_delivery_at, Some(ms(8)));
    assert_eq!(flow.completed_at, Some(ms(9)));
}

#[test]
fn an_application_that_wants_to_be_woken_is() {
    let text = ROUTER.to_owned()
        + "application = { kind = \"on-off\", rate = \"1 Mbit/s\", on = \"20 ms\", \
           off = \"30 ms\" }\n";
    let mut world = world(&text);
    pending(&mut world);
    world.handle(Event::Start { flow: BULK });
    let events = pending(&mut world);
    let wake_up = events
        .iter()
        .find(|(_, event)| matches!(event, Event::Application { flow: BULK, .. }));
    let &(at, event) = wake_up.expect("the application asked for a time");
    world.agenda.advance(at);
    world.handle(event);
    let again = pending(&mut world);
    assert!(
        again
            .iter()
            .any(|(next, event)| matches!(event, Event::Application { .. }) && *next > at),
        "{again:?}"
    );
}

#[test]
fn a_notice_is_told_at_its_time_and_calls_the_next() {
    let blockage = "[blockage.bus]\nlink = \"far\"\neffect = \"held\"\n\
                    schedule = { intervals = [[\"1 s\", \"2 s\"]] }\n";
    let told = "tcp = { outage-response = \"feedback\" }\n\
                link-info = { link = \"far\", delay = \"3 ms\" }\n";
    let mut world = world(&format!("{ROUTER}{told}{blockage}"));
    let notices = pending(&mut world);
    // The first notice has the link's current rate, and comes after the signalling delay.
    assert!(
        matches!(notices[..], [(at, Event::Notice { index: 0 }), (_, Event::Start { .. })] if at == ms(3)),
        "{notices:?}"
    );
    let mut at = Vec::new();
    let mut event = notices[0];
    loop {
        world.agenda.advance(event.0);
        at.push(event.0);
        world.handle(event.1);
        match pending(&mut world)
            .into_iter()
            .find(|(_, event)| matches!(event, Event::Notice { .. }))
        {
            Some(next) => event = next,
            None => break,
        }
    }
    // The notices are the first rate, then the rate and the blockage at the start and at the end of
    // the blockage.
    assert_eq!(at, [ms(3), ms(1003), ms(1003), ms(2003), ms(2003)]);
}

/// Two paths from end to end. Link `a` has directions 0 and 1, link `b` has 2 and 3.
const TWO_PATHS: &str = r#"duration = "10 s"
[link.a]
from = "server"
to = "client"
delay = "1 ms"
rate = "12 Mbit/s"
[link.b]
from = "server"
to = "client"
delay = "1 ms"
rate = "12 Mbit/s"
[flow.both]
from = "server"
to = "client"
multipath = { paths = [["a"], ["b"]] }
"#;

#[test]
fn each_subflow_sends_over_its_own_path() {
    let mut world = world(TWO_PATHS);
    world.run(ms(500), u64::MAX);
    let [a, b] = [FlowId(1), FlowId(2)];
    for (flow, to, hop) in [(a, EndpointId(1), LinkId(0)), (b, EndpointId(3), LinkId(2))] {
        let mut sent = world.probe.sent.iter().map(|(_, packet)| packet);
        let data = sent.find(|packet| packet.flow == flow && packet.to == to);
        let route = data.expect("every path carries data").route;
        assert_eq!(world.routes.hops(route), [Hop::Link(hop)]);
    }
    assert!(
        world
            .machines()
            .endpoints
            .connection(EndpointId(2))
            .is_some()
    );
}

#[test]
fn a_command_to_a_multipath_flow_goes_to_its_connection() {
    let mut world = world(TWO_PATHS);
    pending(&mut world);
    world.command(RECEIVER, AppCommand::Listen);
    assert!(world.probe.sent.is_empty());
    world.command(SENDER, AppCommand::Connect);
    // Only the first path sends a SYN. The second path joins when the connection is established.
    let [(_, syn)] = &world.probe.sent[..] else {
        panic!("one SYN: {:?}", world.probe.sent);
    };
    assert_eq!(
        (syn.flow, inside(&world, 0), inside(&world, 2)),
        (FlowId(1), 1, 0)
    );
}

/// Two base stations with a link between them, as X2 or Xn. The second serves the phone. Link `s1`
/// has directions 0 and 1, link `x2` has 2 and 3.
const TWO_CELLS: &str = r#"duration = "10 s"
[link.s1]
from = "server"
to = "old"
delay = "1 ms"
rate = "1 Gbit/s"
[link.x2]
from = "old"
to = "new"
delay = "2 ms"
rate = "1 Gbit/s"
[link.s1-new]
from = "server"
to = "new"
delay = "1 ms"
rate = "1 Gbit/s"
[cell.old]
carrier = "2 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "umi" }
[cell.new]
carrier = "2 GHz"
bandwidth = "20 MHz"
position = ["300 m", "0 m"]
channel = { path-loss = "umi" }
[ue.phone]
cell = "new"
position = ["290 m", "0 m"]
[flow.bulk]
from = "server"
to = "phone"
"#;

#[test]
fn a_packet_on_a_bearer_waits_for_the_radio() {
    let mut world = world(TWO_CELLS);
    pending(&mut world);
    let packet = under_way(&mut world, 0);
    world.forward(packet);
    let events = pending(&mut world);
    assert!(
        matches!(events[..], [(_, Event::Radio { .. })]),
        "{events:?}"
    );
    assert_eq!(world.delivered_packets(), 0);
}

#[test]
fn in_steps_a_world_does_what_it_does_in_one_go() {
    let mut at_once = world(ROUTER);
    at_once.run(ms(2_000), u64::MAX);
    let mut in_steps = world(ROUTER);
    for step in 1..=400 {
        in_steps.run(ms(5 * step), u64::MAX);
        assert_eq!(in_steps.now(), ms(5 * step));
        assert!(in_steps.next_at().is_none_or(|at| at > ms(5 * step)));
    }
    assert_eq!(in_steps.fingerprint(), at_once.fingerprint());
    assert_eq!(in_steps.events(), at_once.events());
}
