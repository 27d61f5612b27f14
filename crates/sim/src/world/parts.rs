//! The parts of a world.

use crate::directory::Directory;
use crate::hop::Routes;
use crate::kernels::{KernelEnd, Kernels};
use crate::notices::Notices;
use crate::radio::Radio;
use crate::world::{Crossings, Paths};
use fadeout_core::{EndpointId, FlowId, LinkId, RouteId, Time, Wake};
use fadeout_link::{Link, RadioStates};
use fadeout_traffic::{Application, End};
use fadeout_transport::multipath::{MultipathConnection, PathId};
use fadeout_transport::tcp::TcpEndpoint;
use fadeout_transport::udp::UdpEndpoint;

/// The transport protocol of an endpoint.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every endpoint is a single connection; a box would cost a pointer chase a packet"
)]
pub(crate) enum Transport {
    /// A TCP connection of its own.
    Tcp(TcpEndpoint),
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
    Udp(UdpEndpoint),
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
}

/// One end of a multipath connection.
#[derive(Debug)]
pub(crate) struct MultipathHost {
    pub(crate) connection: MultipathConnection,
    /// The endpoints of its paths. The first takes commands and wake-ups for all.
    pub(crate) endpoints: Box<[EndpointId]>,
    pub(crate) flow: FlowId,
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
            is_aborted: false,
            wake: Wake::default(),
        }
    }

    /// Which of its ends an endpoint is.
    pub(crate) fn side_of(&self, endpoint: EndpointId) -> End {
        if endpoint == self.receiver {
            End::Receiver
        } else {
            End::Sender
        }
    }
}

/// The parts of a world before it runs. Each list is in the order of the directory's ids.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) directory: Directory,
    pub(crate) links: Vec<Link>,
    /// Of the bearers that have them, with the directions that they open.
    pub(crate) radio_states: Vec<([LinkId; 2], RadioStates)>,
    pub(crate) radio: Option<Radio>,
    pub(crate) paths: Option<Paths>,
    pub(crate) crossings: Option<Crossings>,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) connections: Vec<MultipathHost>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) routes: Routes,
    pub(crate) notices: Vec<Notices>,
    pub(crate) kernels: Option<Kernels>,
}
