//! The parts of a world.

use crate::directory::Directory;
use crate::hop::Routes;
use crate::kernels::{KernelEnd, Kernels};
use crate::notices::Notices;
use crate::prediction::Forecast;
use crate::radio::Radio;
use crate::world::{Account, Crossings, Recipe, Tunnels, UePaths};
use fadeout_core::{EndpointId, FlowEnd, FlowId, LinkId, RouteId, Time, Wake};
use fadeout_link::{Link, RadioStates};
use fadeout_traffic::Application;
use fadeout_transport::multipath::{MultipathConnection, PathId};
use fadeout_transport::tcp::{ConnectionState, TcpEndpoint};
use fadeout_transport::udp::UdpEndpoint;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The transport protocol of an endpoint.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A TCP connection of its own, before its flow begins.
    Waiting(Arc<Recipe>),
    /// The same from then on. It takes some kilobytes, of which other ends have no need.
    Tcp(Box<TcpEndpoint>),
    /// The same once it is closed: it answers nothing and asks for nothing any more.
    Over(Box<Account>),
    /// A subflow of a multipath connection (RFC 8684 section 1.3).
    Subflow {
        /// Which, an index into the world's.
        connection: u32,
        /// Its path.
        path: PathId,
    },
    /// A socket of a kernel, outside the simulation.
    Kernel(Box<KernelEnd>),
    /// Datagrams, without a connection.
    Udp(Box<UdpEndpoint>),
    /// The end is in another world.
    Elsewhere,
}

/// One end of a connection at its node, or of one path of it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) transport: Transport,
    pub(crate) flow: FlowId,
    pub(crate) peer: EndpointId,
    /// The way of what it sends from now on.
    pub(crate) route: RouteId,
    pub(crate) wake: Wake,
}

impl Endpoint {
    pub(crate) fn new(
        transport: Transport,
        flow: FlowId,
        peer: EndpointId,
        route: RouteId,
    ) -> Endpoint {
        Endpoint {
            transport,
            flow,
            peer,
            route,
            wake: Wake::default(),
        }
    }

    /// Of a connection that is closed no more is kept than what is to be said of it.
    pub(super) fn keep_account(&mut self) {
        if let Transport::Tcp(tcp) = &self.transport
            && tcp.state() == ConnectionState::Closed
        {
            self.transport = Transport::Over(Box::new(Account::of(tcp)));
        }
    }
}

/// One end of a multipath connection.
#[derive(Debug)]
pub(crate) struct MultipathHost {
    pub(crate) connection: MultipathConnection,
    /// The endpoints of its paths. The first takes commands and wake-ups for all.
    pub(crate) endpoints: Box<[EndpointId]>,
    pub(crate) flow: FlowId,
}

/// The ends of all flows: endpoints, and the multipath connections that some are paths of.
#[derive(Debug)]
pub(crate) struct Endpoints {
    list: Vec<Endpoint>,
    connections: Vec<MultipathHost>,
}

impl Endpoints {
    pub(super) fn new(list: Vec<Endpoint>, connections: Vec<MultipathHost>) -> Endpoints {
        Endpoints { list, connections }
    }

    /// What is to be said of the TCP endpoint with this id, also where it is one path of a connection.
    /// None of a flow of datagrams, or of kernels.
    pub(crate) fn account(&self, id: EndpointId) -> Option<Account> {
        let endpoint = &self[id];
        match &endpoint.transport {
            Transport::Waiting(recipe) => {
                let unused = recipe.build(id, (endpoint.flow, FlowEnd::default()));
                Some(Account::of(&unused))
            }
            Transport::Tcp(tcp) => Some(Account::of(tcp)),
            Transport::Over(account) => Some(**account),
            Transport::Subflow { connection, path } => Some(Account::of(
                self.host(*connection).connection.subflow(*path),
            )),
            Transport::Udp(_) | Transport::Kernel(_) | Transport::Elsewhere => None,
        }
    }

    /// The flow of an endpoint begins, of which it is this end.
    pub(super) fn begin(&mut self, id: EndpointId, end: FlowEnd) {
        let endpoint = &mut self[id];
        if let Transport::Waiting(recipe) = &endpoint.transport {
            let tcp = recipe.build(id, (endpoint.flow, end));
            endpoint.transport = Transport::Tcp(Box::new(tcp));
        }
    }

    /// The multipath connection that an endpoint belongs to.
    pub(crate) fn connection(&self, id: EndpointId) -> Option<&MultipathConnection> {
        match &self[id].transport {
            Transport::Subflow { connection, .. } => Some(&self.host(*connection).connection),
            _ => None,
        }
    }

    /// The end of a flow of datagrams with this id; none of another flow.
    pub(crate) fn udp(&self, id: EndpointId) -> Option<&UdpEndpoint> {
        match &self[id].transport {
            Transport::Udp(udp) => Some(udp),
            _ => None,
        }
    }

    /// The end of a flow that is a socket of a kernel; none of other flows.
    pub(crate) fn kernel(&self, id: EndpointId) -> Option<&KernelEnd> {
        match &self[id].transport {
            Transport::Kernel(end) => Some(end),
            _ => None,
        }
    }

    /// The socket of a kernel with this id, and its flow, where it is one of `machine`: what a guest
    /// says is checked.
    pub(super) fn told_by(
        &mut self,
        machine: u32,
        id: EndpointId,
    ) -> Option<(&mut KernelEnd, FlowId)> {
        let endpoint = self.list.get_mut(id.index())?;
        match &mut endpoint.transport {
            Transport::Kernel(end) if end.machine == machine => Some((end, endpoint.flow)),
            _ => None,
        }
    }

    /// How many multipath connections have an end here.
    pub(super) fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Takes the multipath connections of another world, behind its own.
    pub(super) fn append(&mut self, other: &mut Endpoints) {
        self.connections.append(&mut other.connections);
    }

    #[inline]
    pub(super) fn host(&self, connection: u32) -> &MultipathHost {
        &self.connections[connection as usize]
    }

    #[inline]
    pub(super) fn host_mut(&mut self, connection: u32) -> &mut MultipathHost {
        &mut self.connections[connection as usize]
    }
}

impl Index<EndpointId> for Endpoints {
    type Output = Endpoint;

    #[inline]
    fn index(&self, id: EndpointId) -> &Endpoint {
        &self.list[id.index()]
    }
}

impl IndexMut<EndpointId> for Endpoints {
    #[inline]
    fn index_mut(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.list[id.index()]
    }
}

/// A connection with its application and how far it came.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) application: Application,
    pub(crate) sender: EndpointId,
    pub(crate) receiver: EndpointId,
    pub(crate) start: Time,
    pub(crate) delivered: u64,
    pub(crate) first_delivery_at: Option<Time>,
    pub(crate) established_at: Option<Time>,
    pub(crate) completed_at: Option<Time>,
    /// When its connection was given up, at the end that did so first.
    pub(crate) aborted_at: Option<Time>,
    pub(crate) wake: Wake,
    /// Whether links tell its ends of themselves, also before and after it.
    pub(crate) is_told: bool,
    /// Whether the end is in this world that the application wakes.
    pub(crate) is_woken: bool,
}

impl Flow {
    pub(crate) fn new(
        application: Application,
        (sender, receiver): (EndpointId, EndpointId),
        start: Time,
    ) -> Flow {
        Flow {
            application,
            sender,
            receiver,
            start,
            delivered: 0,
            first_delivery_at: None,
            established_at: None,
            completed_at: None,
            aborted_at: None,
            wake: Wake::default(),
            is_told: false,
            is_woken: true,
        }
    }

    /// Which of its ends an endpoint is.
    pub(crate) fn side_of(&self, endpoint: EndpointId) -> FlowEnd {
        if endpoint == self.receiver {
            FlowEnd::Receiver
        } else {
            FlowEnd::Sender
        }
    }
}

/// The parts of a world before it runs. Each list is in the order of the directory's ids.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) directory: Arc<Directory>,
    pub(crate) links: Vec<Link>,
    /// Of the bearers that have them, with the directions that they open.
    pub(crate) radio_states: Vec<([LinkId; 2], RadioStates)>,
    pub(crate) radio: Option<Radio>,
    pub(crate) paths: Option<UePaths>,
    pub(crate) crossings: Option<Crossings>,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) connections: Vec<MultipathHost>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) routes: Routes,
    pub(crate) notices: Vec<Notices>,
    pub(crate) forecast: Option<Forecast>,
    pub(crate) kernels: Option<Kernels>,
    /// Where a link is captured.
    pub(crate) tunnels: Option<Tunnels>,
    /// The links that lead into other worlds, with the number of each.
    pub(crate) ways_out: Vec<(LinkId, usize)>,
}
