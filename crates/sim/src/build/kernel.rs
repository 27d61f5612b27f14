//! Flows whose ends are kernels.

use super::BuildError;
use super::flow::{Flows, default_congestion_control};
use crate::directory::FlowEntry;
use crate::kernels::{KernelEnd, linux_name};
use crate::world::{Endpoint, Transport};
use fadeout_core::{FlowEnd, FlowId, NodeId};
use fadeout_guest::agent::Address;
use fadeout_scenario as scenario;
use fadeout_transport::tcp::TcpConfig;

/// The port of the first flow's ends; those of the others follow.
const FIRST_PORT: u32 = 10_000;

/// Whether a node of the flow has a kernel, so that this is for [`add`].
pub(super) fn has_kernel(scenario: &scenario::Scenario, flow: &scenario::Flow) -> bool {
    [flow.from, flow.to].map(|node| scenario.nodes[node.index()].kernel.is_some()) != [false; 2]
}

/// Adds the endpoints of a flow between kernels.
pub(super) fn add(
    flows: &mut Flows<'_>,
    (id, entry): (FlowId, &FlowEntry),
    flow: &scenario::Flow,
) -> Result<(), BuildError> {
    let refused = |reason: String| BuildError::Kernel {
        flow: flow.name.clone(),
        reason,
    };
    let machine_of = |flows: &mut Flows<'_>, node: NodeId| {
        let node = &flows.scenario.nodes[node.index()];
        let Some(version) = &node.kernel else {
            let reason = format!("node \"{}\" has no `kernel`, its other end does", node.name);
            return Err(refused(reason + "; expected one at both ends"));
        };
        let kernels = flows.parts.kernels.get_or_insert_default();
        let known = kernels.machine_of(&node.name);
        Ok(known.unwrap_or_else(|| kernels.add(&node.name, version)))
    };
    let (sender, receiver) = (machine_of(flows, flow.from)?, machine_of(flows, flow.to)?);
    if flow.multipath.is_some() {
        let reason = "a kernel at its ends and `multipath`; expected one of the two";
        return Err(refused(reason.to_owned()));
    }
    if flow.link_info.is_some() {
        let reason = "a kernel cannot be told of links; expected no `link-info`";
        return Err(refused(reason.to_owned()));
    }
    let port = u16::try_from(FIRST_PORT + id.0).map_err(|_| {
        refused(format!(
            "more flows between kernels than ports above {FIRST_PORT}"
        ))
    })?;
    let config = TcpConfig::new(&flow.profile, &flow.tcp);
    let name = match (&flow.congestion_control, &config) {
        (Some(named), _) => named.name.as_str(),
        (None, Some(config)) => default_congestion_control(config.recovery),
        (None, None) => "cubic",
    };
    let congestion = linux_name(name).ok_or_else(|| {
        refused(format!(
            "Linux has no congestion control `{name}`; expected one that it has, such as `cubic`, \
             `newreno`, `bbr` or `vegas`"
        ))
    })?;
    for (end, own, peer, route) in flows.ends(entry, flow)? {
        let machines = match end {
            FlowEnd::Sender => [sender, receiver],
            FlowEnd::Receiver => [receiver, sender],
        };
        let kernels = flows.parts.kernels.get_or_insert_default();
        kernels.assign(machines[0], port, own);
        let addresses = machines.map(|machine| Address {
            ip: kernels.address(machine),
            port,
        });
        let socket = (machines[0], own.0);
        let kernel = KernelEnd::new(socket, id, end, addresses, congestion);
        let transport = Transport::Kernel(Box::new(kernel));
        let endpoint = Endpoint::new(transport, id, peer, route);
        flows.parts.endpoints.push(endpoint);
    }
    Ok(())
}
