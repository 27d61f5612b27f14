//! The parts that a world is built from.

use crate::directory::Directory;
use crate::hop::Routes;
use crate::host::Hosts;
use crate::kernels::{KernelEnd, Kernels};
use crate::notices::Notices;
use crate::prediction::Forecast;
use crate::radio::Radio;
use crate::world::{Account, Crossings, PortState, QuicSocket, Recipe, Tunnels, UePaths};
use fadeout_core::{EndpointId, FlowEnd, FlowId, LinkId, RouteId, Time, Wake};
use fadeout_link::{Link, RadioStates};
use fadeout_quic::QuicEnd;
use fadeout_traffic::Application;
use fadeout_transport::multipath::{MultipathConnection, PathId};
use fadeout_transport::tcp::{ConnectionState, TcpEndpoint};
use fadeout_transport::udp::UdpEndpoint;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The transport protocol of an endpoint.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A single TCP connection before the start of its flow.
    Waiting(Arc<Recipe>),
    /// A single TCP connection after the start of its flow. It is boxed, because it takes some
    /// kilobytes that other variants do not need.
    Tcp(Box<TcpEndpoint>),
    /// A single TCP connection after its end. It neither sends nor responds to packets.
    Over(Box<Account>),
    /// A subflow of a multipath connection (RFC 8684 section 1.3).
    Subflow {
        /// Index of the connection among those of the world.
        connection: u32,
        /// Number of the path.
        path: PathId,
    },
    /// A socket of a Linux kernel, which runs outside the simulation.
    Kernel(Box<KernelEnd>),
    /// A sender or receiver of datagrams, without a connection.
    Udp(Box<UdpEndpoint>),
    /// An end of a QUIC connection, at the endpoint of its first path.
    Quic(Box<QuicSocket>),
    /// A further path of a QUIC connection.
    QuicPath {
        /// Endpoint of the first path.
        first: EndpointId,
        /// Number of the path.
        path: u8,
    },
    /// An end whose datagrams come from and go to the caller of the simulation.
    Port(Box<PortState>),
    /// An endpoint in another world.
    Elsewhere,
}

/// An end of a connection, or of one path of a multipath connection.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) transport: Transport,
    pub(crate) flow: FlowId,
    pub(crate) peer: EndpointId,
    /// Route of the packets that the endpoint will send.
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

    /// True if the application of the endpoint runs in this world. The application of other ends is
    /// in another world, or outside of the simulation.
    pub(super) fn has_application(&self) -> bool {
        !matches!(self.transport, Transport::Elsewhere | Transport::Port(_))
    }

    /// Replaces a closed connection by its account, which the summary needs. This frees memory.
    pub(super) fn keep_account(&mut self) {
        if let Transport::Tcp(tcp) = &self.transport
            && tcp.state() == ConnectionState::Closed
        {
            self.transport = Transport::Over(Box::new(Account::from_tcp(tcp)));
        }
    }
}

/// An end of a multipath connection.
#[derive(Debug)]
pub(crate) struct MultipathHost {
    pub(crate) connection: MultipathConnection,
    /// Endpoints of the paths. The first receives commands and wake-ups for all paths.
    pub(crate) endpoints: Box<[EndpointId]>,
    pub(crate) flow: FlowId,
}

/// Number of endpoints whose state fits into the second-level cache of a core.
const CACHED_ENDPOINTS: usize = 64;

/// The ends of all flows: endpoints, and the multipath connections that some of them belong to.
#[derive(Debug)]
pub(crate) struct Endpoints {
    list: Vec<Endpoint>,
    connections: Vec<MultipathHost>,
}

impl Endpoints {
    pub(super) fn new(list: Vec<Endpoint>, connections: Vec<MultipathHost>) -> Endpoints {
        Endpoints { list, connections }
    }

    /// Returns true if the connections take more memory than a core's caches have.
    #[inline]
    pub(super) fn exceed_caches(&self) -> bool {
        self.list.len() > CACHED_ENDPOINTS
    }

    /// Asks the processor for the memory of an endpoint.
    #[inline]
    pub(super) fn prefetch(&self, id: EndpointId) {
        fadeout_core::prefetch(&self.list[id.index()]);
    }

    /// Asks the processor for the memory of the TCP connection of an endpoint.
    #[inline]
    pub(super) fn prefetch_connection(&self, id: EndpointId) {
        if let Transport::Tcp(tcp) = &self.list[id.index()].transport {
            fadeout_core::prefetch(&**tcp);
        }
    }

    /// Returns the counters of a TCP endpoint for the summary. This includes subflows. `None` for
    /// datagrams, for QUIC and for Linux kernels.
    pub(crate) fn account(&self, id: EndpointId) -> Option<Account> {
        let endpoint = &self[id];
        match &endpoint.transport {
            Transport::Waiting(recipe) => {
                let unused = recipe.build(id, (endpoint.flow, FlowEnd::default()));
                Some(Account::from_tcp(&unused))
            }
            Transport::Tcp(tcp) => Some(Account::from_tcp(tcp)),
            Transport::Over(account) => Some(**account),
            Transport::Subflow { connection, path } => Some(Account::from_tcp(
                self.host(*connection).connection.subflow(*path),
            )),
            Transport::Udp(_)
            | Transport::Quic(_)
            | Transport::QuicPath { .. }
            | Transport::Port(_)
            | Transport::Kernel(_)
            | Transport::Elsewhere => None,
        }
    }

    /// Builds the TCP connection of an endpoint when its flow starts. `end` is the endpoint's side
    /// of the flow.
    pub(super) fn begin(&mut self, id: EndpointId, end: FlowEnd) {
        let endpoint = &mut self[id];
        if let Transport::Waiting(recipe) = &endpoint.transport {
            let tcp = recipe.build(id, (endpoint.flow, end));
            endpoint.transport = Transport::Tcp(Box::new(tcp));
        }
    }

    /// True if the endpoint opens its connection by Fast Open.
    pub(super) fn opens_fast(&self, id: EndpointId) -> bool {
        matches!(&self[id].transport, Transport::Tcp(tcp) if tcp.opens_fast())
    }

    /// Returns the multipath connection of an endpoint. `None` if the endpoint has a single path.
    pub(crate) fn connection(&self, id: EndpointId) -> Option<&MultipathConnection> {
        match &self[id].transport {
            Transport::Subflow { connection, .. } => Some(&self.host(*connection).connection),
            _ => None,
        }
    }

    /// Returns an end of a flow of datagrams. `None` for other flows.
    pub(crate) fn udp(&self, id: EndpointId) -> Option<&UdpEndpoint> {
        match &self[id].transport {
            Transport::Udp(udp) => Some(udp),
            Transport::Port(port) => Some(&port.udp),
            _ => None,
        }
    }

    /// Returns an end of a QUIC connection. `None` for other flows.
    pub(crate) fn quic(&self, id: EndpointId) -> Option<&QuicEnd> {
        match &self[id].transport {
            Transport::Quic(socket) => Some(&socket.quic),
            _ => None,
        }
    }

    /// Returns an end of a flow that is a socket of a Linux kernel. `None` for other flows.
    pub(crate) fn kernel(&self, id: EndpointId) -> Option<&KernelEnd> {
        match &self[id].transport {
            Transport::Kernel(end) => Some(end),
            _ => None,
        }
    }

    /// Returns the socket with number `id` of the kernel `machine`, and its flow. The id comes from
    /// the guest, so it is checked. `None` if the id belongs to another endpoint.
    pub(super) fn socket_of(
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

    /// Returns an endpoint. `None` if there is no endpoint with this number.
    pub(super) fn get(&self, id: EndpointId) -> Option<&Endpoint> {
        self.list.get(id.index())
    }

    /// Returns an endpoint. `None` if there is no endpoint with this number.
    pub(super) fn get_mut(&mut self, id: EndpointId) -> Option<&mut Endpoint> {
        self.list.get_mut(id.index())
    }

    /// Returns the number of multipath connections.
    pub(super) fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Appends the multipath connections of another world.
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

/// A flow with its application and its progress.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    /// Application of the flow. A flow with a port has one that never starts.
    pub(crate) application: Application,
    pub(crate) sender: EndpointId,
    pub(crate) receiver: EndpointId,
    pub(crate) start: Time,
    pub(crate) delivered: u64,
    pub(crate) first_delivery_at: Option<Time>,
    pub(crate) established_at: Option<Time>,
    pub(crate) completed_at: Option<Time>,
    /// Time at which the first end gave the connection up. `None` if no end did.
    pub(crate) aborted_at: Option<Time>,
    pub(crate) wake: Wake,
    /// True if links send notices to the ends, even before the start and after the completion of
    /// the flow.
    pub(crate) takes_notices: bool,
    /// True if this world contains the end that the application's timer belongs to.
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
            takes_notices: false,
            is_woken: true,
        }
    }

    /// Returns the endpoints of the flow with their sides, the sender first.
    pub(crate) fn ends(&self) -> [(EndpointId, FlowEnd); 2] {
        [
            (self.sender, FlowEnd::Sender),
            (self.receiver, FlowEnd::Receiver),
        ]
    }

    /// Returns the side of the flow that an endpoint is on.
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
    /// Radio states of the 2G and 3G bearers that have them, each with the two directions that it
    /// opens.
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
    pub(crate) hosts: Option<Hosts>,
    /// Tunnels of the core network. `None` if no link is captured.
    pub(crate) tunnels: Option<Tunnels>,
    /// Links into other worlds, each with the number of the other world.
    pub(crate) outgoing_links: Vec<(LinkId, usize)>,
}
