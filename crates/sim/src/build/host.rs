//! Hosts with a path of their own for received segments, or with a queue of their own.

use super::BuildError;
use crate::host::{HostParts, Hosts};
use crate::world::{Endpoint, Parts, Transport};
use fadeout_core::NodeId;
use fadeout_record::EndpointInfo;
use fadeout_scenario::{Node, Scenario};

/// Returns the hosts of a scenario. `None` if no node has a key of a host. `parts` has the
/// endpoints of all flows.
pub(super) fn hosts(scenario: &Scenario, parts: &Parts) -> Option<Hosts> {
    if !scenario.nodes.iter().any(is_host) {
        return None;
    }
    let mut hosts = Hosts::default();
    let mut of_nodes: Vec<Option<HostParts>> = vec![None; scenario.nodes.len()];
    let ends = parts.directory.endpoints().iter().zip(&parts.endpoints);
    for (info, endpoint) in ends {
        let node = &scenario.nodes[info.node.index()];
        let of_node = &mut of_nodes[info.node.index()];
        let of_node = of_node.get_or_insert_with(|| match is_host(node) {
            true => hosts.add_node(node),
            false => HostParts::default(),
        });
        hosts.add_endpoint(*of_node, is_tcp(endpoint));
    }
    Some(hosts)
}

/// Checks that a flow ends at each node with a key of a host. Keys of the receive path need a TCP
/// flow.
pub(super) fn check(
    scenario: &Scenario,
    infos: &[EndpointInfo],
    parts: &Parts,
) -> Result<(), BuildError> {
    let ends = || infos.iter().zip(&parts.endpoints);
    for (id, node) in (0..).map(NodeId).zip(&scenario.nodes) {
        if !is_host(node) {
            continue;
        }
        let mut own = ends().filter(|(info, _)| info.node == id);
        let key = match (node.receive_offload, node.receive_rate) {
            (true, _) => "receive-offload",
            (false, Some(_)) => "receive-rate",
            (false, None) if node.has_receive_path() => "receive-delay",
            (false, None) => "send-queue",
        };
        let (is_used, what) = match node.has_receive_path() {
            true => (own.any(|(_, endpoint)| is_tcp(endpoint)), "TCP flow"),
            false => (own.next().is_some(), "flow"),
        };
        if !is_used {
            return Err(BuildError::Node {
                node: node.name.clone(),
                reason: format!(
                    "`{key}` has no effect, because no {what} begins or ends at this node; \
                     expected a {what} from or to the node, or no `{key}`"
                ),
            });
        }
    }
    Ok(())
}

/// True if the node has a key of a host. A kernel has its own receive path and queue.
fn is_host(node: &Node) -> bool {
    node.kernel.is_none() && (node.has_receive_path() || node.send_queue.is_some())
}

/// True for an end of a TCP connection, or of a path of one, in fadeout's own TCP.
fn is_tcp(endpoint: &Endpoint) -> bool {
    matches!(
        endpoint.transport,
        Transport::Waiting(_) | Transport::Tcp(_) | Transport::Subflow { .. }
    )
}
