//! An end of a single TCP connection. The connection is built when its flow starts. After its end
//! only the counters for the summary are kept.

use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{EndpointId, FlowEnd, FlowId};
use fadeout_transport::congestion::{Congestion, Window};
use fadeout_transport::tcp::{
    Calls, ConnectionState, Delivery, SenderStatistics, TcpConfig, TcpEndpoint,
};
use std::sync::Arc;

/// Returns the congestion control for a name and parameters. `None` if it is not a built-in one.
pub(crate) fn congestion(
    (name, given): (&str, &Parameters),
    seed: u64,
    endpoint: EndpointId,
) -> Option<Congestion> {
    let random = Stream::new(seed, "congestion", u64::from(endpoint.0));
    Congestion::new(name, given, random)
}

/// Configuration from which ends of connections are built. Flows with equal settings share it.
#[derive(Debug)]
pub(crate) struct Recipe {
    config: Arc<TcpConfig>,
    /// Name of the congestion control, and its parameters.
    control: (String, Parameters),
    seed: u64,
    /// True if the congestion control is a built-in one, and not the user's own.
    pub(crate) is_known: bool,
}

impl Recipe {
    pub(crate) fn new(config: TcpConfig, control: (&str, &Parameters), seed: u64) -> Recipe {
        let (name, given) = control;
        let mut recipe = Recipe {
            config: Arc::new(config),
            control: (name.to_owned(), given.clone()),
            seed,
            is_known: false,
        };
        recipe.is_known = recipe.congestion(EndpointId(0)).is_some();
        recipe
    }

    /// Returns the constants of the endpoints.
    pub(crate) fn config(&self) -> &TcpConfig {
        &self.config
    }

    fn congestion(&self, endpoint: EndpointId) -> Option<Congestion> {
        congestion((&self.control.0, &self.control.1), self.seed, endpoint)
    }

    /// Builds one end of a flow. Its connection is closed.
    ///
    /// # Panics
    /// Panics if the congestion control is not [known](Recipe::is_known).
    pub(crate) fn build(
        &self,
        endpoint: EndpointId,
        (flow, end): (FlowId, FlowEnd),
    ) -> TcpEndpoint {
        let congestion = self.congestion(endpoint);
        let congestion = congestion.expect("it is a built-in one");
        self.build_with(congestion, (flow, end))
    }

    /// Builds one end of a flow with another congestion control.
    pub(crate) fn build_with(
        &self,
        congestion: Congestion,
        (flow, end): (FlowId, FlowEnd),
    ) -> TcpEndpoint {
        TcpEndpoint::sharing(&self.config, flow, congestion).with_end(end)
    }
}

/// Counters of one end of a connection, for the summary of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) statistics: SenderStatistics,
    pub(crate) delivery: Delivery,
    pub(crate) window: Window,
    pub(crate) calls: Option<Calls>,
    pub(crate) is_closed: bool,
}

impl Account {
    pub(crate) fn from_tcp(tcp: &TcpEndpoint) -> Account {
        Account {
            statistics: tcp.statistics(),
            delivery: tcp.delivery(),
            window: *tcp.window(),
            calls: tcp.calls(),
            is_closed: tcp.state() == ConnectionState::Closed,
        }
    }
}
