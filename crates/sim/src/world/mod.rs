//! The event loop: it wakes the parts of a simulation in the order of time and moves packets
//! between them.
//!
//! Each layer has a file with its handlers. A handler processes one event or one packet.

mod agenda;
mod applications;
mod backhaul;
mod border;
mod crossings;
mod datagrams;
mod endpoints;
mod gathering;
mod hosts;
mod invariants;
mod kernels;
mod links;
mod notices;
mod observed;
mod parts;
mod paths;
mod port_state;
mod ports;
mod predictions;
mod quic;
mod quic_socket;
mod radio;
mod reroute;
mod steered;
mod tcp_end;
#[cfg(test)]
pub(crate) mod tests;
mod tunnels;
mod utran;

pub(crate) use backhaul::Interfaces;
pub(crate) use border::{Mail, hand_over, probe_of, take_over, work};
pub(crate) use crossings::Crossings;
pub(crate) use gathering::gathered;
pub(crate) use parts::{Endpoint, Endpoints, Flow, MultipathHost, Parts, Transport};
pub(crate) use paths::{UePath, UePaths, reaches_all};
pub(crate) use port_state::PortState;
pub use port_state::{Arrival, PortEnd, PortError};
pub(crate) use quic_socket::QuicSocket;
pub use reroute::RouteError;
pub(crate) use tcp_end::{Account, Recipe, congestion};
pub(crate) use tunnels::Tunnels;
pub(crate) use utran::Utran;

use crate::directory::Directory;
use crate::hop::Routes;
use crate::host::Hosts;
use crate::kernels::Kernels;
use crate::notices::Notices;
use crate::prediction::Forecast;
use crate::radio::{Accesses, Radio};
use agenda::Agenda;
use fadeout_core::{EndpointId, Fingerprint, FlowId, LinkId, PacketId, PacketPool, Probe, Time};
use fadeout_traffic::Ask;
use fadeout_transport::multipath::PathOutbox;
use fadeout_transport::tcp::{AppCommand, Outbox};
use links::Links;
use predictions::Predictions;
use std::sync::Arc;

/// An event of a simulation. Events carry ids and no data.
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
    /// A notice to the ends of a flow is due. The number is an index into the notices of the world.
    Notice {
        index: u32,
    },
    /// Vehicles report their measurements.
    Reports,
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
    Kernel {
        machine: u32,
        generation: u32,
    },
    Crossing {
        index: u32,
        generation: u32,
    },
    /// A host passes received segments to TCP.
    Host {
        path: u32,
        generation: u32,
    },
    /// A host reads the buffer of its network device again.
    HostQueue {
        queue: u32,
        generation: u32,
    },
}

const _: () = assert!(size_of::<Event>() <= 16, "an event is at most 16 bytes");

/// The complete state of a simulation. `P` is the probe that records it.
#[derive(Debug)]
pub struct World<P> {
    agenda: Agenda,
    links: Links,
    radio: Option<Box<Radio>>,
    /// Routes to UEs that change cells. `None` without mobility management.
    paths: Option<Box<UePaths>>,
    /// Handovers of phones between links. `None` if the scenario has none.
    crossings: Option<Box<Crossings>>,
    endpoints: Endpoints,
    flows: Vec<Flow>,
    routes: Routes,
    notices: Vec<Notices>,
    predictions: Option<Box<Predictions>>,
    kernels: Option<Box<Kernels>>,
    /// Hosts with a receive path or a queue of their own. `None` if there are none.
    hosts: Option<Box<Hosts>>,
    /// Tunnels of the core network and their contents. `None` if no link is captured.
    tunnels: Option<Box<Tunnels>>,
    pool: PacketPool,
    fingerprint: Fingerprint,
    delivered_packets: u64,
    outbox: Outbox,
    path_outbox: PathOutbox,
    arrivals: Vec<PacketId>,
    from_backhaul: Vec<PacketId>,
    /// Requests of applications that are not carried out yet.
    asks: Vec<Ask>,
    /// True if a datagram has arrived at a port since the caller began to wait for one.
    has_new_arrival: bool,
    directory: Arc<Directory>,
    /// Links into other worlds, each with the number of the other world.
    outgoing_links: Vec<(LinkId, usize)>,
    probe: P,
}

/// Read access to the parts of a world, for the summary of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machines<'a> {
    pub(crate) flows: &'a [Flow],
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) links: &'a Links,
    pub(crate) routes: &'a Routes,
    pub(crate) radio: Option<Accesses<'a>>,
    pub(crate) forecast: Option<&'a Forecast>,
    /// Numbers and names of the parts.
    pub(crate) directory: &'a Directory,
}

impl<P: Probe> World<P> {
    pub(crate) fn new(parts: Parts, duration: Time, mut probe: P) -> World<P> {
        for link in &parts.links {
            link.report_blockages(duration, &mut probe);
        }
        let mut agenda = Agenda::new();
        let has_application = |id: EndpointId| parts.endpoints[id.index()].has_application();
        for (index, flow) in parts.flows.iter().enumerate() {
            if !has_application(flow.sender) && !has_application(flow.receiver) {
                continue;
            }
            agenda.schedule(
                flow.start,
                Event::Start {
                    flow: FlowId(index as u32),
                },
            );
        }
        for (index, notices) in parts.notices.iter().enumerate() {
            if let Some(at) = notices.next_at() {
                let index = index as u32;
                agenda.schedule(at, Event::Notice { index });
            }
        }
        if parts.forecast.is_some() {
            agenda.schedule(Time::ZERO, Event::Reports);
        }
        let mut crossings = parts.crossings.map(Box::new);
        for (at, index, generation) in crossings.iter_mut().flat_map(|it| it.starts()) {
            agenda.schedule(at, Event::Crossing { index, generation });
        }
        let mut radio = parts.radio.map(Box::new);
        // UEs under mobility management measure cells before they have data to send.
        if let Some(radio) = radio.as_mut().filter(|_| parts.paths.is_some()) {
            radio.arm(&mut agenda);
        }
        let mut links = Links::new(parts.links, parts.radio_states);
        for &(link, _) in &parts.outgoing_links {
            links.lead_out(link);
        }
        World {
            agenda,
            links,
            radio,
            paths: parts.paths.map(Box::new),
            crossings,
            endpoints: Endpoints::new(parts.endpoints, parts.connections),
            flows: parts.flows,
            routes: parts.routes,
            notices: parts.notices,
            predictions: parts.forecast.map(Predictions::new).map(Box::new),
            kernels: parts.kernels.map(Box::new),
            hosts: parts.hosts.map(Box::new),
            tunnels: parts.tunnels.map(Box::new),
            pool: PacketPool::new(),
            fingerprint: Fingerprint::default(),
            delivered_packets: 0,
            outbox: Outbox::default(),
            path_outbox: PathOutbox::default(),
            // A bearer delivers many packets at once when a gap in their numbers closes.
            arrivals: Vec::with_capacity(4096),
            from_backhaul: Vec::new(),
            asks: Vec::new(),
            has_new_arrival: false,
            directory: parts.directory,
            outgoing_links: parts.outgoing_links,
            probe,
        }
    }

    /// Processes at most `limit` events up to and including `until`. Returns false if no event is
    /// left before that time.
    pub fn run(&mut self, until: Time, limit: u64) -> bool {
        self.run_unless(until, limit, |_| false)
    }

    /// Processes events as [`World::run`] does. Returns true at once after an event that made
    /// `is_halted` true for this world.
    #[inline]
    pub(crate) fn run_unless(
        &mut self,
        until: Time,
        limit: u64,
        is_halted: impl Fn(&Self) -> bool,
    ) -> bool {
        for _ in 0..limit {
            let Some(event) = self.agenda.next_event(until) else {
                self.assert_conserved();
                return false;
            };
            self.handle(event);
            self.assert_settled();
            if is_halted(self) {
                break;
            }
        }
        true
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Link { link, generation } => {
                if self.links.fire(link, generation) {
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
                let woken = &mut self.endpoints[endpoint];
                if woken.wake.fire(generation) {
                    self.wake_endpoint(endpoint);
                }
            }
            Event::Crossing { index, generation } => {
                self.cross(|it| it.wake(index as u16, generation));
            }
            Event::Start { flow } => self.start_flow(flow),
            Event::Application { flow, generation } => {
                let woken = &mut self.flows[flow.index()];
                if woken.wake.fire(generation) {
                    woken.application.on_wake(self.agenda.now(), &mut self.asks);
                    self.after_application(flow);
                }
            }
            Event::Kernel {
                machine,
                generation,
            } => self.wake_kernel(machine, generation),
            Event::Host { path, generation } => self.wake_host(path, generation),
            Event::HostQueue { queue, generation } => self.wake_host_queue(queue, generation),
            Event::Notice { index } => self.deliver_notice(index),
            Event::Reports => predictions::take_reports(self),
            Event::Close { endpoint } => self.command(endpoint, AppCommand::Close),
        }
    }

    /// Returns the time of the next event. `None` if no event is left.
    pub fn next_at(&self) -> Option<Time> {
        self.agenda.next_at()
    }
    /// Returns the simulated time.
    pub fn now(&self) -> Time {
        self.agenda.now()
    }
    /// Returns the number of events processed.
    pub fn events(&self) -> u64 {
        self.agenda.processed()
    }
    /// Returns the number of packets that reached an endpoint.
    pub fn delivered_packets(&self) -> u64 {
        self.delivered_packets
    }
    /// Returns the digest of the trajectory so far.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
    /// Returns the probe that records the simulation.
    pub fn probe(&self) -> &P {
        &self.probe
    }
    pub(crate) fn probe_mut(&mut self) -> &mut P {
        &mut self.probe
    }
    /// Ends the run and returns the probe.
    pub fn into_probe(self) -> P {
        self.probe
    }
    /// Returns read access to the parts of the world.
    pub(crate) fn machines(&self) -> Machines<'_> {
        Machines {
            flows: &self.flows,
            endpoints: &self.endpoints,
            links: &self.links,
            routes: &self.routes,
            radio: self.radio.as_deref().map(Accesses::starting_with),
            forecast: self.predictions.as_deref().map(|it| &it.forecast),
            directory: &self.directory,
        }
    }
}
