//! The event loop: who is woken next, and where a packet goes when it leaves.

use crate::notices::Notices;
use fadeout_core::{
    EndpointId, EventQueue, Fingerprint, FlowId, LinkId, Packet, PacketId, PacketPool, Probe,
    RouteId, Time, Wake,
};
use fadeout_link::Link;
use fadeout_traffic::{Application, Request};
use fadeout_transport::tcp::{AppCommand, AppEvent, Outbox, TcpEndpoint};

/// What can happen. Events carry ids, never payloads.
#[derive(Debug, Clone, Copy)]
enum Event {
    Start {
        flow: FlowId,
    },
    Close {
        endpoint: EndpointId,
    },
    /// A link tells something; an index into the world's notices.
    Notice {
        index: u32,
    },
    Link {
        link: LinkId,
        generation: u32,
    },
    Endpoint {
        endpoint: EndpointId,
        generation: u32,
    },
}

const _: () = assert!(size_of::<Event>() <= 16, "an event is at most 16 bytes");

/// One end of a connection at its node.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) tcp: TcpEndpoint,
    pub(crate) flow: FlowId,
    pub(crate) peer: EndpointId,
    pub(crate) route: RouteId,
    wake: Wake,
}

impl Host {
    pub(crate) fn new(tcp: TcpEndpoint, flow: FlowId, peer: EndpointId, route: RouteId) -> Host {
        Host {
            tcp,
            flow,
            peer,
            route,
            wake: Wake::default(),
        }
    }
}

/// A connection with its application and how far it came.
#[derive(Debug, Clone, Copy)]
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
}

#[derive(Debug)]
struct Hop {
    link: Link,
    wake: Wake,
}

/// Everything that is simulated, generic over what looks at it.
#[derive(Debug)]
pub struct World<P> {
    now: Time,
    events: EventQueue<Event>,
    processed: u64,
    links: Vec<Hop>,
    hosts: Vec<Host>,
    flows: Vec<Flow>,
    routes: Vec<Vec<LinkId>>,
    notices: Vec<Notices>,
    pool: PacketPool,
    fingerprint: Fingerprint,
    delivered_packets: u64,
    outbox: Outbox,
    arrivals: Vec<PacketId>,
    probe: P,
}

/// The parts of a world before it runs.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) links: Vec<Link>,
    pub(crate) hosts: Vec<Host>,
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
        World {
            now: Time::ZERO,
            events,
            processed: 0,
            links: parts
                .links
                .into_iter()
                .map(|link| Hop {
                    link,
                    wake: Wake::default(),
                })
                .collect(),
            hosts: parts.hosts,
            flows: parts.flows,
            routes: parts.routes,
            notices: parts.notices,
            pool: PacketPool::new(),
            fingerprint: Fingerprint::default(),
            delivered_packets: 0,
            outbox: Outbox::default(),
            arrivals: Vec::new(),
            probe,
        }
    }

    /// Processes at most `limit` events up to and including `until`. Returns false when nothing
    /// is left to do before then.
    pub fn run(&mut self, until: Time, limit: u64) -> bool {
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
            Event::Endpoint {
                endpoint,
                generation,
            } => {
                let host = &mut self.hosts[endpoint.index()];
                if host.wake.fire(generation) {
                    host.tcp
                        .on_wake(self.now, &mut self.outbox, &mut self.probe);
                    self.after_endpoint(endpoint);
                }
            }
            Event::Start { flow } => self.start_flow(flow),
            Event::Notice { index } => self.tell(index),
            Event::Close { endpoint } => self.command(endpoint, AppCommand::Close),
        }
    }

    fn start_flow(&mut self, id: FlowId) {
        let flow = self.flows[id.index()];
        self.command(flow.receiver, AppCommand::Listen);
        self.command(flow.sender, AppCommand::Connect);
        for request in self.flows[id.index()].application.on_start() {
            let command = match request {
                Request::Write(bytes) => AppCommand::Write(bytes),
                Request::WriteForever => AppCommand::WriteForever,
                Request::Close => AppCommand::Close,
            };
            self.command(flow.sender, command);
        }
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
        } = self.flows[flow.index()];
        for endpoint in [sender, receiver] {
            let tcp = &mut self.hosts[endpoint.index()].tcp;
            tcp.on_link_info(self.now, &info, &mut self.outbox, &mut self.probe);
            self.after_endpoint(endpoint);
        }
    }

    fn command(&mut self, endpoint: EndpointId, command: AppCommand) {
        let host = &mut self.hosts[endpoint.index()];
        host.tcp
            .on_app(self.now, command, &mut self.outbox, &mut self.probe);
        self.after_endpoint(endpoint);
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
        let hop = &mut self.links[link.index()];
        hop.link
            .on_packet(self.now, packet, &mut self.pool, &mut self.probe);
        self.arm_link(link);
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
        let to = packet.to;
        self.hosts[to.index()].tcp.on_segment(
            self.now,
            segment,
            packet.ecn,
            &mut self.outbox,
            &mut self.probe,
        );
        self.pool.free(id);
        self.after_endpoint(to);
    }

    /// Carries out what a step of an endpoint put into the outbox.
    fn after_endpoint(&mut self, id: EndpointId) {
        let host = &self.hosts[id.index()];
        let (flow, to, route) = (host.flow, host.peer, host.route);
        let mut outbox = std::mem::take(&mut self.outbox);
        if outbox.delivered_bytes > 0 {
            self.deliver(flow, outbox.delivered_bytes);
        }
        for event in outbox.events.drain(..) {
            self.on_app_event(flow, event);
        }
        let first = self.routes[route.index()][0];
        for outgoing in &outbox.segments {
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
        outbox.clear();
        self.outbox = outbox;
        let host = &mut self.hosts[id.index()];
        let at = host.tcp.wake_at();
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

    fn deliver(&mut self, id: FlowId, bytes: u64) {
        let flow = &mut self.flows[id.index()];
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
    /// State of the sender of flow number `flow` now.
    pub fn sender_row(&self, flow: usize) -> fadeout_core::CongestionRow {
        self.hosts[self.flows[flow].sender.index()]
            .tcp
            .congestion_row(self.now)
    }
    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows
    }
    pub(crate) fn host(&self, id: EndpointId) -> &Host {
        &self.hosts[id.index()]
    }
    pub(crate) fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().map(|hop| &hop.link)
    }
}
