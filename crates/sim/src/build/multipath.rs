//! Multipath TCP connections: two hosts a path, one connection an end.

use super::{BuildError, ChooseCongestion, backward, default_congestion_control, route_over};
use crate::world::{End, Host, Multi, Parts};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{EndpointId, FlowId, Time};
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::multipath::coupling::Coupled;
use fadeout_transport::multipath::{
    MultipathConfig, MultipathConnection, PathConfig, PathId, PathScheduler, Scheduler, Subflow,
};
use fadeout_transport::tcp::TcpConfig;

/// Numbers the flows that the rows of paths carry. They come after all flows, in the order of the
/// file; so whoever asks goes through the flows in that order.
#[derive(Debug)]
pub(crate) struct PathFlows {
    next: u32,
}

impl PathFlows {
    pub(crate) fn new(scenario: &Scenario) -> PathFlows {
        PathFlows {
            next: scenario.flows.len() as u32,
        }
    }

    /// The flow of the first path of `flow`; those of its other paths follow.
    pub(crate) fn take(&mut self, flow: &scenario::Flow) -> FlowId {
        let first = FlowId(self.next);
        self.next += path_count(flow) as u32;
        first
    }
}

/// The flow of path number `path` of a connection whose first path has `first`.
pub(crate) fn path_flow(first: FlowId, path: usize) -> FlowId {
    FlowId(first.0 + path as u32)
}

/// Paths of a flow that have rows of their own.
pub(crate) fn path_count(flow: &scenario::Flow) -> usize {
    flow.multipath
        .as_ref()
        .map_or(0, |multipath| multipath.paths.len())
}

/// Adds the hosts and connections of flow `flow`: sender and receiver of each path in turn. The
/// rows of its first path carry `first_flow`.
pub(super) fn add(
    scenario: &Scenario,
    flow: &scenario::Flow,
    described: &scenario::Multipath,
    first_flow: FlowId,
    parts: &mut Parts,
    choose: ChooseCongestion<'_>,
) -> Result<(), BuildError> {
    let id = FlowId(parts.flows.len() as u32);
    let unknown = |kind, name: &str| BuildError::Unknown {
        flow: flow.name.clone(),
        kind,
        name: name.to_owned(),
    };
    let tcp = TcpConfig::new(&flow.profile, &flow.tcp)
        .ok_or_else(|| unknown("profile", &flow.profile))?;
    let named = &described.path_scheduler;
    let scheduler = Scheduler::new(&named.name, &named.parameters)
        .ok_or_else(|| unknown("path scheduler", &named.name))?;
    let is_papers = !scheduler.is_upstream();
    let config = MultipathConfig {
        tcp,
        scheduler,
        join_delay: described.join_delay,
        maximum_send_buffer: described.maximum_send_buffer,
        opportunistic_retransmission: described.opportunistic_retransmission.unwrap_or(is_papers),
        penalisation: described.penalisation.unwrap_or(is_papers),
    };
    let first_host = parts.hosts.len() as u32;
    let first_connection = parts.connections.len() as u32;
    for side in 0..2 {
        let mut subflows = Vec::new();
        for (number, path) in described.paths.iter().enumerate() {
            let endpoint = EndpointId(first_host + 2 * number as u32 + side);
            let congestion = match coupled(described).or_else(|| choose(flow)) {
                Some(congestion) => congestion,
                None => congestion(scenario, flow, &config, endpoint)?,
            };
            // The receiving end learns from the sender what comes and goes.
            let path = if side == 0 {
                PathConfig {
                    backup: path.backup,
                    backup_changes: path.backup_changes.clone(),
                    announced: path.announced,
                    from: path.from,
                    until: path.until.unwrap_or(Time::NEVER),
                }
            } else {
                PathConfig {
                    announced: path.announced,
                    from: path.from,
                    ..PathConfig::default()
                }
            };
            subflows.push(Subflow {
                flow: path_flow(first_flow, number),
                congestion,
                config: path,
            });
        }
        let connection = MultipathConnection::new(config.clone(), subflows);
        parts.connections.push(Multi {
            connection,
            anchor: EndpointId(first_host + side),
            flow: id,
        });
    }
    for (number, path) in described.paths.iter().enumerate() {
        let backward = backward(&path.hops);
        for (side, hops) in [(0, &path.hops), (1, &backward)] {
            let route = route_over(flow, hops, parts)?;
            let end = End::Subflow {
                connection: first_connection + side,
                path: PathId(number as u8),
            };
            let peer = EndpointId(first_host + 2 * number as u32 + (1 - side));
            let flow = path_flow(first_flow, number);
            parts.hosts.push(Host::new(end, flow, peer, route));
        }
    }
    Ok(())
}

fn coupled(described: &scenario::Multipath) -> Option<Congestion> {
    let coupling = &described.coupling;
    Coupled::new(&coupling.name, &coupling.parameters).map(Congestion::Coupled)
}

fn congestion(
    scenario: &Scenario,
    flow: &scenario::Flow,
    config: &MultipathConfig,
    endpoint: EndpointId,
) -> Result<Congestion, BuildError> {
    let none = Parameters::default();
    let (name, given) = match &flow.congestion_control {
        Some(named) => (named.name.as_str(), &named.parameters),
        None => (default_congestion_control(config.tcp.recovery), &none),
    };
    let random = Stream::new(scenario.seed, "congestion", u64::from(endpoint.0));
    Congestion::new(name, given, random).ok_or_else(|| BuildError::Unknown {
        flow: flow.name.clone(),
        kind: "congestion control",
        name: name.to_owned(),
    })
}
