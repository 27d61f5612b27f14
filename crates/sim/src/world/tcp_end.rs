//! An end of a TCP connection of its own before its flow begins and after it is over: it is built when the flow begins, and
//! of one that is closed no more is left than what the run's summary says of it.

use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{EndpointId, FlowEnd, FlowId};
use fadeout_transport::congestion::{Congestion, Window};
use fadeout_transport::tcp::{Calls, ConnectionState, SenderStatistics, TcpConfig, TcpEndpoint};
use std::sync::Arc;

/// The congestion control of an endpoint, by its name and its parameters; none where it is not a built-in one.
pub(crate) fn congestion(
    (name, given): (&str, &Parameters),
    seed: u64,
    endpoint: EndpointId,
) -> Option<Congestion> {
    let random = Stream::new(seed, "congestion", u64::from(endpoint.0));
    Congestion::new(name, given, random)
}

/// What ends of connections are built from. Those of all flows that are alike share it.
#[derive(Debug)]
pub(crate) struct Recipe {
    config: Arc<TcpConfig>,
    /// The congestion control, by its name, and its parameters.
    control: (String, Parameters),
    seed: u64,
    /// Whether the congestion control is a built-in one, not the user's own.
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

    /// The constants of the endpoints.
    pub(crate) fn config(&self) -> &TcpConfig {
        &self.config
    }

    fn congestion(&self, endpoint: EndpointId) -> Option<Congestion> {
        congestion((&self.control.0, &self.control.1), self.seed, endpoint)
    }

    /// One end of a flow, which is closed.
    ///
    /// # Panics
    /// Where the congestion control is not [known](Recipe::is_known).
    pub(crate) fn build(
        &self,
        endpoint: EndpointId,
        (flow, end): (FlowId, FlowEnd),
    ) -> TcpEndpoint {
        let congestion = self.congestion(endpoint);
        let congestion = congestion.expect("it is a built-in one");
        self.build_with(congestion, (flow, end))
    }

    /// The same with another congestion control.
    pub(crate) fn build_with(
        &self,
        congestion: Congestion,
        (flow, end): (FlowId, FlowEnd),
    ) -> TcpEndpoint {
        TcpEndpoint::sharing(&self.config, flow, congestion).at(end)
    }
}

/// What the summary of a run says of an end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) statistics: SenderStatistics,
    pub(crate) window: Window,
    pub(crate) calls: Option<Calls>,
    pub(crate) is_closed: bool,
}

impl Account {
    pub(crate) fn of(tcp: &TcpEndpoint) -> Account {
        Account {
            statistics: tcp.statistics(),
            window: *tcp.window(),
            calls: tcp.calls(),
            is_closed: tcp.state() == ConnectionState::Closed,
        }
    }
}
