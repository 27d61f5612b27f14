//! Multipath TCP connections, with one endpoint for each path at each end.

use super::flow::{Flows, unknown};
use super::{BuildError, ChooseCongestion};
use crate::directory::FlowEntry;
use crate::routing::backward;
use crate::world::{Endpoint, MultipathHost, Transport};
use fadeout_core::{FlowEnd, FlowId, Time};
use fadeout_scenario as scenario;
use fadeout_transport::congestion::Congestion;
use fadeout_transport::multipath::coupling::Coupled;
use fadeout_transport::multipath::{
    MultipathConfig, MultipathConnection, PathConfig, PathId, PathScheduler, PathSchedulerKind,
    Subflow,
};
use fadeout_transport::tcp::TcpConfig;

/// Returns the configuration of a path at the end that opens it.
pub(super) fn own_path(path: &scenario::FlowPath) -> PathConfig {
    PathConfig {
        backup: path.backup,
        backup_changes: path.backup_changes.clone(),
        announced: path.announced,
        from: path.from,
        until: path.until.unwrap_or(Time::NEVER),
    }
}

/// Adds the connections and endpoints of a flow. The endpoints are the sender and the receiver of
/// the first path, then of the second path, and so on.
pub(super) fn add(
    flows: &mut Flows<'_>,
    (id, entry): (FlowId, &FlowEntry),
    flow: &scenario::Flow,
    (described, opener): (&scenario::Multipath, FlowEnd),
    choose: ChooseCongestion<'_>,
) -> Result<(), BuildError> {
    let config = config(flow, described)?;
    let first_connection = flows.parts.connections.len() as u32;
    let directory = flows.directory;
    let path_entry = |path| {
        let entry = directory.flow(path);
        entry.expect("the directory has every path")
    };
    for end in [FlowEnd::Sender, FlowEnd::Receiver] {
        let is_sender = end == FlowEnd::Sender;
        let mut subflows = Vec::new();
        let mut endpoints = Vec::new();
        for (path_id, path) in entry.paths().zip(&described.paths) {
            let ends = path_entry(path_id);
            let endpoint = if is_sender {
                ends.sender
            } else {
                ends.receiver
            };
            let congestion = match coupled(described).or_else(|| choose(flow)) {
                Some(congestion) => congestion,
                None => flows.congestion(flow, config.tcp.recovery.method, endpoint)?,
            };
            // The opening end decides which paths are added and removed, and the other end follows.
            let path = if end == opener {
                own_path(path)
            } else {
                PathConfig {
                    announced: path.announced,
                    from: path.from,
                    ..PathConfig::default()
                }
            };
            subflows.push(Subflow {
                flow: path_id,
                congestion,
                config: path,
            });
            endpoints.push(endpoint);
        }
        let connection = MultipathConnection::new(config.clone(), end, subflows);
        flows.parts.connections.push(MultipathHost {
            connection,
            endpoints: endpoints.into(),
            flow: id,
        });
    }
    for ((number, path_id), path) in (0..).zip(entry.paths()).zip(&described.paths) {
        let ends = path_entry(path_id);
        let backward = backward(&path.hops);
        for (side, hops, peer) in [(0, &path.hops, ends.receiver), (1, &backward, ends.sender)] {
            let route = flows.route_over(flow, hops)?;
            let transport = Transport::Subflow {
                connection: first_connection + side,
                path: PathId(number),
            };
            let endpoint = Endpoint::new(transport, path_id, peer, route);
            flows.parts.endpoints.push(endpoint);
        }
    }
    Ok(())
}

fn config(
    flow: &scenario::Flow,
    described: &scenario::Multipath,
) -> Result<MultipathConfig, BuildError> {
    let tcp = TcpConfig::new(&flow.profile, &flow.tcp)
        .ok_or_else(|| unknown(flow, "profile", &flow.profile))?;
    if tcp.host.fast_open {
        return Err(BuildError::FastOpen {
            flow: flow.name.clone(),
            reason: "`fast-open` together with Multipath TCP is not supported; expected a flow \
                     with one path, or no `fast-open`",
        });
    }
    let named = &described.path_scheduler;
    let path_scheduler = PathSchedulerKind::new(&named.name, &named.parameters)
        .ok_or_else(|| unknown(flow, "path scheduler", &named.name))?;
    let is_papers = !path_scheduler.is_upstream();
    Ok(MultipathConfig {
        tcp,
        path_scheduler,
        join_delay: described.join_delay,
        signal_repeats: described.signal_repeats,
        maximum_send_buffer: described.maximum_send_buffer,
        opportunistic_retransmission: described.opportunistic_retransmission.unwrap_or(is_papers),
        penalisation: described.penalisation.unwrap_or(is_papers),
    })
}

fn coupled(described: &scenario::Multipath) -> Option<Congestion> {
    let coupling = &described.coupling;
    let coupled = Coupled::new(&coupling.name, &coupling.parameters);
    coupled.map(|coupled| Congestion::Coupled(Box::new(coupled)))
}
