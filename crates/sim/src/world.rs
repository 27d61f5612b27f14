//! The event loop: who is woken next, and where a packet goes when it leaves.

use crate::notices::Notices;
use crate::radio::{Radio, bearer_of};
use fadeout_core::Bytes;
use fadeout_core::{
    EndpointId, EventQueue, Fingerprint, FlowId, LinkId, Packet, PacketId, PacketPool, Probe,
    RouteId, Time, Wake,
};
use fadeout_link::{Link, RadioStates};
use fadeout_radio::access::RadioAccess;
use fadeout_traffic::{Application, Ask, End as Side, Request};
use fadeout_transport::multipath::{MultipathConnection, PathId, PathOutbox};
use fadeout_transport::tcp::{AppCommand, AppEvent, Outbox, Outgoing, TcpEndpoint};

/// What can happen. Events carry ids, never payloads.
#[derive(Debug, Clone, Copy)]
enum Event {
    Start {
        flow: FlowId,
    },
    Close {
        endpoint: EndpointId,
    },
    Application {
        flow: FlowId,
        generation: u32,
    },
    /// A link tells something; an index into the world's notices.
    Notice {
        index: u32,
    },
    Link {
        link: LinkId,
        generation: u32,
    },
    Radio {
        generation: u32,
    },
    Endpoint {
        endpoint: EndpointId,
        generation: u32,
    },
}

const _: () = assert!(size_of::<Event>() <= 16, "an event is at most 16 bytes");

/// What an endpoint is.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every endpoint is a single connection; a box would cost a pointer chase a packet"
)]
pub(crate) enum End {
    /// A TCP connection of its own.
    Single(TcpEndpoint),
    /// One path of a multipath connection.
    Subflow { connection: u32, path: PathId },
}

/// One end of a multipath connection.
#[derive(Debug)]
pub(crate) struct Multi {
    pub(crate) connection: MultipathConnection,
    /// The endpoint of its first path, which takes commands and wake-ups for all.
    pub(crate) anchor: EndpointId,
    pub(crate) flow: FlowId,
}

/// One end of a connection at its node, or of one path of it.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) end: End,
    pub(crate) flow: FlowId,
    pub(crate) peer: EndpointId,
    pub(crate) route: RouteId,
    wake: Wake,
}

impl Host {
    pub(crate) fn new(end: End, flow: FlowId, peer: EndpointId, route: RouteId) -> Host {
        Host {
            end,
            flow,
            peer,
            route,
            wake: Wake::default(),
        }
    }
}

/// A connection with its application and how far it came.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) application: Application,
    pub(crate) sender: EndpointId,
    pub(crate) receiver: EndpointId,
    pub(crate) start: Time,
    pub(crate) delivered: u64,
    pub(crate) first_delivery_at: Option<Time>,
    pub(crate) established_at: Option<Time>,
    pub(crate) completed_at: Option<Time>,
    pub(crate) is_aborted: bool,
    pub(crate) wake: Wake,
}

#[derive(Debug)]
struct Hop {
    link: Link,
    wake: Wake,
    /// The radio states of a bearer, an index into the world's.
    states: Option<u32>,
}

/// Everything that is simulated, generic over what looks at it.
#[derive(Debug)]
pub struct World<P> {
    now: Time,
    events: EventQueue<Event>,
    processed: u64,
    links: Vec<Hop>,
    /// Of each bearer that has them, for both directions.
    radio_states: Vec<RadioStates>,
    radio: Option<Box<Radio>>,
    hosts: Vec<Host>,
    connections: Vec<Multi>,
    flows: Vec<Flow>,
    routes: Vec<Vec<LinkId>>,
    notices: Vec<Notices>,
    pool: PacketPool,
    fingerprint: Fingerprint,
    delivered_packets: u64,
    outbox: Outbox,
    path_outbox: PathOutbox,
    arrivals: Vec<PacketId>,
    /// What applications asked for and was not yet passed on.
    asks: Vec<Ask>,
    probe: P,
}

/// The parts of a world before it runs.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) links: Vec<Link>,
    /// Of the bearers that have them, with the directions that they open.
    pub(crate) radio_states: Vec<([LinkId; 2], RadioStates)>,
    pub(crate) radio: Option<Radio>,
    /// The cell that serves each UE.
    pub(crate) serving: Vec<usize>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) connections: Vec<Multi>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) routes: Vec<Vec<LinkId>>,
    pub(crate) notices: Vec<Notices>,
}

impl<P: Probe> World<P> {
    pub(crate) fn new(parts: Parts, duration: Time, mut probe: P) -> World<P> {
        for link in &parts.links {
            link.report_blockages(duration, &mut probe);
        }
        let mut events = EventQueue::new();
        for (index, flow) in parts.flows.iter().enumerate() {
            events.schedule(
                flow.start,
                Event::Start {
                    flow: FlowId(index as u32),
                },
            );
        }
        for (index, notices) in parts.notices.iter().enumerate() {
            if let Some(at) = notices.next_at() {
                let index = index as u32;
                events.schedule(at, Event::Notice { index });
            }
        }
        let hop = |link| Hop {
            link,
            wake: Wake::default(),
            states: None,
        };
        let mut links: Vec<Hop> = parts.links.into_iter().map(hop).collect();
        for (index, (directions, _)) in parts.radio_states.iter().enumerate() {
            for direction in directions {
                links[direction.index()].states = Some(index as u32);
            }
        }
        let radio_states = parts.radio_states.into_iter().map(|(_, states)| states);
        World {
            now: Time::ZERO,
            events,
            processed: 0,
            links,
            radio_states: radio_states.collect(),
            radio: parts.radio.map(Box::new),
            hosts: parts.hosts,
            connections: parts.connections,
            flows: parts.flows,
            routes: parts.routes,
            notices: parts.notices,
            pool: PacketPool::new(),
            fingerprint: Fingerprint::default(),
            delivered_packets: 0,
            outbox: Outbox::default(),
            path_outbox: PathOutbox::default(),
            arrivals: Vec::new(),
            asks: Vec::new(),
            probe,
        }
    }

    /// Processes at most `limit` events up to and including `until`. Returns false when nothing
    /// is left to do before then.
    pub fn run(&mut self, until: Time, limit: u64) -> bool {
        self.run_unless(until, limit, || false)
    }

    /// Like [`World::run`], and returns true at once after an event that made `is_halted` true.
    #[inline]
    pub(crate) fn run_unless(
        &mut self,
        until: Time,
        limit: u64,
        is_halted: impl Fn() -> bool,
    ) -> bool {
        for _ in 0..limit {
            match self.events.next_at() {
                Some(at) if at <= until => {}
                _ => {
                    self.now = until;
                    return false;
                }
            }
            let (at, event) = self.events.pop().expect("the queue has an earliest event");
            debug_assert!(at >= self.now, "time does not go back");
            self.now = at;
            self.processed += 1;
            self.handle(event);
            if is_halted() {
                break;
            }
        }
        true
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Link { link, generation } => {
                if self.links[link.index()].wake.fire(generation) {
                    self.wake_link(link);
                }
            }
            Event::Radio { generation } => {
                if let Some(radio) = &mut self.radio
                    && radio.wake.fire(generation)
                {
                    self.wake_radio();
                }
            }
            Event::Endpoint {
                endpoint,
                generation,
            } => {
                let host = &mut self.hosts[endpoint.index()];
                if host.wake.fire(generation) {
                    self.wake_endpoint(endpoint);
                }
            }
            Event::Start { flow } => self.start_flow(flow),
            Event::Application { flow, generation } => {
                let woken = &mut self.flows[flow.index()];
                if woken.wake.fire(generation) {
                    woken.application.on_wake(self.now, &mut self.asks);
                    self.after_application(flow);
                }
            }
            Event::Notice { index } => self.tell(index),
            Event::Close { endpoint } => self.command(endpoint, AppCommand::Close),
        }
    }

    fn start_flow(&mut self, id: FlowId) {
        let flow = &self.flows[id.index()];
        let (opens, listens) = match flow.application.opener() {
            Side::Sender => (flow.sender, flow.receiver),
            Side::Receiver => (flow.receiver, flow.sender),
        };
        self.command(listens, AppCommand::Listen);
        self.command(opens, AppCommand::Connect);
        let application = &mut self.flows[id.index()].application;
        application.on_start(self.now, &mut self.asks);
        self.after_application(id);
    }

    /// Passes on what an application asked for, and arms its wake-up.
    fn after_application(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        let (sender, receiver) = (flow.sender, flow.receiver);
        let at = flow.application.wake_at();
        if !at.is_never()
            && let Some(generation) = flow.wake.arm(at)
        {
            let event = Event::Application {
                flow: id,
                generation,
            };
            self.events.schedule(at.max(self.now), event);
        }
        let mut asks = std::mem::take(&mut self.asks);
        for (end, request) in asks.drain(..) {
            let command = match request {
                Request::Write(bytes) => AppCommand::Write(bytes),
                Request::WriteForever => AppCommand::WriteForever,
                Request::Close => AppCommand::Close,
            };
            let endpoint = match end {
                Side::Sender => sender,
                Side::Receiver => receiver,
            };
            self.command(endpoint, command);
        }
        self.asks = asks;
    }

    /// A link tells both ends of a flow something.
    fn tell(&mut self, index: u32) {
        let notices = &mut self.notices[index as usize];
        let (flow, info) = (notices.flow, notices.take());
        if let Some(at) = notices.next_at() {
            self.events.schedule(at, Event::Notice { index });
        }
        let Flow {
            sender, receiver, ..
        } = &self.flows[flow.index()];
        let (sender, receiver) = (*sender, *receiver);
        for endpoint in [sender, receiver] {
            // The scenario reader gives notices to flows of one path alone.
            if let End::Single(tcp) = &mut self.hosts[endpoint.index()].end {
                tcp.on_link_info(self.now, &info, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
        }
    }

    fn command(&mut self, endpoint: EndpointId, command: AppCommand) {
        match &mut self.hosts[endpoint.index()].end {
            End::Single(tcp) => {
                tcp.on_app(self.now, command, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
            &mut End::Subflow { connection, .. } => {
                self.connections[connection as usize].connection.on_app(
                    self.now,
                    command,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.after_connection(connection);
            }
        }
    }

    fn wake_endpoint(&mut self, endpoint: EndpointId) {
        match &mut self.hosts[endpoint.index()].end {
            End::Single(tcp) => {
                tcp.on_wake(self.now, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
            &mut End::Subflow { connection, .. } => {
                self.connections[connection as usize].connection.on_wake(
                    self.now,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.after_connection(connection);
            }
        }
    }

    fn wake_link(&mut self, id: LinkId) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let hop = &mut self.links[id.index()];
        hop.link
            .on_wake(self.now, &mut self.pool, &mut arrivals, &mut self.probe);
        for packet in arrivals.drain(..) {
            self.forward(packet);
        }
        self.arrivals = arrivals;
        self.arm_link(id);
    }

    /// A packet left a link: onto the next, or to its endpoint.
    fn forward(&mut self, id: PacketId) {
        let packet = &mut self.pool[id];
        packet.hop += 1;
        let route = &self.routes[packet.route.index()];
        if let Some(&link) = route.get(usize::from(packet.hop)) {
            self.enter_link(link, id);
            return;
        }
        self.receive(id);
    }

    fn enter_link(&mut self, link: LinkId, packet: PacketId) {
        let Some(hop) = self.links.get_mut(link.index()) else {
            return self.enter_bearer(link, packet);
        };
        let states = hop.states;
        if let Some(states) = states {
            let states = &mut self.radio_states[states as usize];
            hop.link.open_at(states.on_packet(self.now));
        }
        hop.link
            .on_packet(self.now, packet, &mut self.pool, &mut self.probe);
        if let Some(states) = states {
            self.radio_states[states as usize].on_activity(hop.link.busy_until());
        }
        self.arm_link(link);
    }

    fn enter_bearer(&mut self, hop: LinkId, packet: PacketId) {
        let (bearer, direction) = bearer_of(hop, self.links.len());
        let radio = self.radio.as_mut().expect("a bearer is of a radio access");
        let (pool, probe) = (&mut self.pool, &mut self.probe);
        radio
            .access
            .on_packet(self.now, bearer, direction, packet, pool, probe);
        self.arm_radio();
    }

    fn wake_radio(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        if let Some(radio) = &mut self.radio {
            let Radio { access, places, .. } = &mut **radio;
            let (pool, probe) = (&mut self.pool, &mut self.probe);
            access.on_wake(self.now, places, pool, &mut arrivals, probe);
        }
        for packet in arrivals.drain(..) {
            self.forward(packet);
        }
        self.arrivals = arrivals;
        self.arm_radio();
    }

    #[inline]
    fn arm_radio(&mut self) {
        if let Some(radio) = &mut self.radio {
            let at = radio.access.wake_at();
            if !at.is_never()
                && let Some(generation) = radio.wake.arm(at)
            {
                self.events.schedule(at, Event::Radio { generation });
            }
        }
    }

    #[inline]
    fn arm_link(&mut self, id: LinkId) {
        let hop = &mut self.links[id.index()];
        let at = hop.link.wake_at();
        if !at.is_never()
            && let Some(generation) = hop.wake.arm(at)
        {
            self.events.schedule(
                at,
                Event::Link {
                    link: id,
                    generation,
                },
            );
        }
    }

    /// A packet reached its endpoint, which reads it where it lies: most are never all read.
    fn receive(&mut self, id: PacketId) {
        self.delivered_packets += 1;
        let packet = &self.pool[id];
        let segment = &packet.segment;
        self.fingerprint
            .mix(self.now, segment.seq ^ segment.ack.rotate_left(24));
        self.fingerprint.mix(
            packet.sent_at,
            u64::from(packet.to.0) ^ (segment.window << 16),
        );
        self.probe.received(self.now, packet);
        let (to, now) = (packet.to, self.now);
        match &mut self.hosts[to.index()].end {
            End::Single(tcp) => {
                tcp.on_segment(now, segment, packet.ecn, &mut self.outbox, &mut self.probe);
                self.pool.free(id);
                self.after_endpoint(to);
            }
            &mut End::Subflow { connection, path } => {
                self.connections[connection as usize].connection.on_segment(
                    now,
                    path,
                    segment,
                    packet.ecn,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.pool.free(id);
                self.after_connection(connection);
            }
        }
    }

    /// Carries out what a step of an endpoint put into the outbox.
    fn after_endpoint(&mut self, id: EndpointId) {
        let host = &self.hosts[id.index()];
        let (flow, to, route) = (host.flow, host.peer, host.route);
        let mut outbox = std::mem::take(&mut self.outbox);
        let delivered = outbox.delivered_bytes;
        self.pass_up(flow, id, delivered, &mut outbox.events);
        let first = self.routes[route.index()][0];
        for outgoing in &outbox.segments {
            self.put_on_wire(outgoing, flow, to, route, first);
        }
        outbox.clear();
        self.outbox = outbox;
        let at = match &self.hosts[id.index()].end {
            End::Single(tcp) => tcp.wake_at(),
            End::Subflow { .. } => Time::NEVER,
        };
        self.finish_step(flow, id, at, delivered);
    }

    /// Carries out what a step of a multipath connection put into the outbox.
    fn after_connection(&mut self, connection: u32) {
        let multi = &self.connections[connection as usize];
        let (anchor, flow) = (multi.anchor, multi.flow);
        let on_path = |path: PathId| EndpointId(anchor.0 + 2 * u32::from(path.0));
        let mut outbox = std::mem::take(&mut self.path_outbox);
        for &(path, bytes) in &outbox.arrived {
            let flow = self.hosts[on_path(path).index()].flow;
            self.probe.delivered(self.now, flow, bytes);
        }
        let delivered = outbox.delivered_bytes;
        self.pass_up(flow, anchor, delivered, &mut outbox.events);
        for (path, outgoing) in &outbox.segments {
            let host = &self.hosts[on_path(*path).index()];
            let (flow, to, route) = (host.flow, host.peer, host.route);
            let first = self.routes[route.index()][0];
            self.put_on_wire(outgoing, flow, to, route, first);
        }
        outbox.clear();
        self.path_outbox = outbox;
        let at = self.connections[connection as usize].connection.wake_at();
        self.finish_step(flow, anchor, at, delivered);
    }

    /// Hands the application what a step of a connection has for it; `at` is the endpoint that
    /// stands for the connection.
    #[inline]
    fn pass_up(
        &mut self,
        flow: FlowId,
        at: EndpointId,
        delivered: u64,
        events: &mut Vec<AppEvent>,
    ) {
        if delivered > 0 {
            self.deliver(flow, at, delivered);
        }
        for event in events.drain(..) {
            self.on_app_event(flow, event);
        }
    }

    /// Ends a step of a connection: its next wake-up, then what the application made of it.
    #[inline]
    fn finish_step(&mut self, flow: FlowId, at: EndpointId, wake_at: Time, delivered: u64) {
        self.arm_endpoint(at, wake_at);
        if !self.asks.is_empty() || delivered > 0 {
            self.after_application(flow);
        }
    }

    #[inline]
    fn put_on_wire(
        &mut self,
        outgoing: &Outgoing,
        flow: FlowId,
        to: EndpointId,
        route: RouteId,
        first: LinkId,
    ) {
        let (id, packet) = self.pool.claim();
        *packet = Packet {
            flow,
            to,
            route,
            hop: 0,
            ecn: outgoing.ecn,
            sent_at: self.now,
            segment: outgoing.segment,
        };
        self.probe.sent(self.now, packet);
        self.enter_link(first, id);
    }

    #[inline]
    fn arm_endpoint(&mut self, id: EndpointId, at: Time) {
        let host = &mut self.hosts[id.index()];
        if !at.is_never()
            && let Some(generation) = host.wake.arm(at)
        {
            self.events.schedule(
                at.max(self.now),
                Event::Endpoint {
                    endpoint: id,
                    generation,
                },
            );
        }
    }

    /// In-order bytes reached an endpoint. What the receiver gets is the flow's data; what the
    /// sender gets are requests for it.
    fn deliver(&mut self, id: FlowId, at: EndpointId, bytes: u64) {
        let flow = &mut self.flows[id.index()];
        let end = if at == flow.receiver {
            Side::Receiver
        } else {
            Side::Sender
        };
        flow.application
            .on_delivered(self.now, end, Bytes(bytes), &mut self.asks);
        if end == Side::Sender {
            return;
        }
        flow.delivered += bytes;
        flow.first_delivery_at.get_or_insert(self.now);
        if flow
            .application
            .size()
            .is_some_and(|size| flow.delivered >= size.0)
        {
            flow.completed_at.get_or_insert(self.now);
        }
        self.probe.delivered(self.now, id, bytes);
    }

    fn on_app_event(&mut self, id: FlowId, event: AppEvent) {
        let flow = &mut self.flows[id.index()];
        match event {
            AppEvent::Established => {
                flow.established_at.get_or_insert(self.now);
            }
            AppEvent::PeerClosed => {
                // Nothing more will come: a receiver closes its half too.
                let receiver = flow.receiver;
                self.events
                    .schedule(self.now, Event::Close { endpoint: receiver });
            }
            AppEvent::Aborted => flow.is_aborted = true,
            AppEvent::AllAcknowledged | AppEvent::Closed => {}
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// Events processed.
    pub fn events(&self) -> u64 {
        self.processed
    }
    /// Packets that reached an endpoint.
    pub fn delivered_packets(&self) -> u64 {
        self.delivered_packets
    }
    /// Digest of the trajectory so far.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
    /// The probe.
    pub fn probe(&self) -> &P {
        &self.probe
    }
    /// Ends the run.
    pub fn into_probe(self) -> P {
        self.probe
    }
    /// The TCP endpoint with this id, also where it is one path of a connection.
    pub(crate) fn endpoint(&self, id: EndpointId) -> &TcpEndpoint {
        match &self.hosts[id.index()].end {
            End::Single(tcp) => tcp,
            End::Subflow { connection, path } => self.connections[*connection as usize]
                .connection
                .subflow(*path),
        }
    }
    /// The multipath connection that an endpoint belongs to.
    pub(crate) fn connection(&self, id: EndpointId) -> Option<&MultipathConnection> {
        match &self.hosts[id.index()].end {
            End::Single(_) => None,
            End::Subflow { connection, .. } => {
                Some(&self.connections[*connection as usize].connection)
            }
        }
    }
    pub(crate) fn radio_access(&self) -> Option<&RadioAccess> {
        self.radio.as_ref().map(|radio| &radio.access)
    }
    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows
    }
    pub(crate) fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().map(|hop| &hop.link)
    }
}
