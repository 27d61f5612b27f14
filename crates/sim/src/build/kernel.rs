//! Flows whose ends are Linux kernels.

use super::BuildError;
use super::flow::{Flows, default_congestion_control};
use crate::directory::FlowEntry;
use crate::kernels::{KernelEnd, KernelPath, Kernels, linux_name};
use crate::routing::backward;
use crate::world::{Endpoint, Parts, Transport};
use fadeout_core::registry::Parameters;
use fadeout_core::{FlowEnd, FlowId, NodeId, Time};
use fadeout_guest::agent::Address;
use fadeout_scenario::{self as scenario, PathManager};
use fadeout_transport::tcp::{EcnMode, TcpConfig};

/// Port of both ends of the first flow. Each later flow uses the next port.
const FIRST_PORT: u32 = 10_000;

/// True if a node at an end of the flow has a kernel. Then [`add`] builds the flow.
pub(super) fn has_kernel(scenario: &scenario::Scenario, flow: &scenario::Flow) -> bool {
    [flow.from, flow.to].map(|node| scenario.nodes[node.index()].kernel.is_some()) != [false; 2]
}

/// Checks each node with settings for kernels. The node must have a kernel, and a route for the
/// packets of its programs.
pub(super) fn check_nodes(scenario: &scenario::Scenario, parts: &Parts) -> Result<(), BuildError> {
    for node in &scenario.nodes {
        let kernels = parts.kernels.as_ref();
        let is_machine = kernels.is_some_and(|it| it.machine_of(&node.name).is_some());
        let is_userspace = node.path_manager == PathManager::Userspace;
        let reason = match (&node.kernel, &node.command) {
            (None, _) if is_userspace => "`path-manager` needs a `kernel`; expected both keys",
            (None, Some(_)) => "`command` needs a `kernel`; expected both keys",
            (Some(_), Some(_)) if !is_machine => {
                "`command` sends over the routes of flows, but this node has none; expected a TCP \
                 flow between this node and another with a kernel (its `start` may be after the \
                 end of the run)"
            }
            _ => continue,
        };
        return Err(BuildError::Node {
            node: node.name.clone(),
            reason: reason.to_owned(),
        });
    }
    Ok(())
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
        if node.kernel.is_none() {
            let reason = format!(
                "node \"{}\" has no `kernel`, but the other end has",
                node.name
            );
            return Err(refused(reason + "; expected a kernel at both ends"));
        }
        let kernels = flows.parts.kernels.get_or_insert_default();
        let known = kernels.machine_of(&node.name);
        Ok(known.unwrap_or_else(|| kernels.add(node)))
    };
    let (sender, receiver) = (machine_of(flows, flow.from)?, machine_of(flows, flow.to)?);
    if flow.link_info.is_some() {
        let reason = "a kernel takes no notices of links; expected no `link-info`";
        return Err(refused(reason.to_owned()));
    }
    let port = port_of(id).map_err(refused)?;
    let config = TcpConfig::new(&flow.profile, &flow.tcp);
    if let Some(config) = &config {
        check_settings(flow, config)?;
        let kernels = flows.parts.kernels.get_or_insert_default();
        add_settings(kernels, [sender, receiver], config, &flow.tcp).map_err(refused)?;
    }
    let congestion = congestion_of(flow, config.as_ref()).map_err(refused)?;
    if let Some(described) = &flow.multipath {
        let machines = [sender, receiver];
        return add_paths(
            flows,
            (id, entry),
            flow,
            described,
            machines,
            port,
            congestion,
        );
    }
    for (end, own, peer, route) in flows.ends(entry, flow)? {
        let machines = match end {
            FlowEnd::Sender => [sender, receiver],
            FlowEnd::Receiver => [receiver, sender],
        };
        let kernels = flows.parts.kernels.get_or_insert_default();
        kernels.assign(machines, port, own);
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

/// Refuses settings that a kernel does not have. The program in a kernel connects before it writes,
/// so it has no Fast Open.
fn check_settings(flow: &scenario::Flow, config: &TcpConfig) -> Result<(), BuildError> {
    let flow = flow.name.clone();
    if config.acks.ecn == EcnMode::Accurate {
        let reason = "a kernel has no accurate ECN; expected `ecn = \"classic\"`".to_owned();
        return Err(BuildError::Kernel { flow, reason });
    }
    if config.host.fast_open {
        let reason = "the program in a kernel connects before it writes, so it has no \
                      `fast-open`; expected no `fast-open`, or nodes without `kernel`";
        return Err(BuildError::FastOpen { flow, reason });
    }
    Ok(())
}

/// Adds the settings that a flow needs to the kernels at its ends. `given` has the keys of `tcp`
/// that the scenario gives.
///
/// # Errors
/// Returns the reason if an earlier flow gives another value of a setting.
fn add_settings(
    kernels: &mut Kernels,
    machines: [u32; 2],
    config: &TcpConfig,
    given: &Parameters,
) -> Result<(), String> {
    for machine in machines {
        let included = kernels.settings(machine).include(config, given);
        included.map_err(|key| {
            format!(
                "an earlier flow of this kernel gives `{key}` another value; expected one value \
                 for all flows of a kernel"
            )
        })?;
    }
    Ok(())
}

/// Returns the port that both ends of a flow use.
fn port_of(flow: FlowId) -> Result<u16, String> {
    let port = u16::try_from(FIRST_PORT + flow.0);
    port.map_err(|_| format!("more flows between kernels than ports above {FIRST_PORT}"))
}

/// Returns the name that Linux gives to a flow's congestion control.
fn congestion_of(
    flow: &scenario::Flow,
    config: Option<&TcpConfig>,
) -> Result<&'static str, String> {
    let name = match (&flow.congestion_control, config) {
        (Some(named), _) => named.name.as_str(),
        (None, Some(config)) => default_congestion_control(config.recovery.method),
        (None, None) => "cubic",
    };
    linux_name(name).ok_or_else(|| {
        format!(
            "Linux has no congestion control `{name}`; expected one that it has, such as `cubic`, \
             `newreno`, `bbr` or `vegas`"
        )
    })
}

/// Adds the endpoints of a multipath connection: sender and receiver of the first path, then of the
/// second path, and so on. The connecting end has an address for each path, the other end has one
/// address.
fn add_paths(
    flows: &mut Flows<'_>,
    (id, entry): (FlowId, &FlowEntry),
    flow: &scenario::Flow,
    described: &scenario::Multipath,
    machines: [u32; 2],
    port: u16,
    congestion: &'static str,
) -> Result<(), BuildError> {
    check_paths(described).map_err(|reason| BuildError::Kernel {
        flow: flow.name.clone(),
        reason: reason.to_owned(),
    })?;
    let kernels = flows.parts.kernels.get_or_insert_default();
    for machine in machines {
        let settings = kernels.settings(machine);
        settings.include_path(described.maximum_send_buffer.0);
    }
    let directory = flows.directory;
    let of_path = |path| {
        let entry = directory.flow(path);
        entry.expect("the directory has every path")
    };
    for ((number, path_id), path) in (0..).zip(entry.paths()).zip(&described.paths) {
        let ends = of_path(path_id);
        let socket = of_path(entry.paths().next().unwrap_or(path_id));
        let backward = backward(&path.hops);
        for (side, hops) in [(0, &path.hops), (1, &backward)] {
            let [machine, other] = [machines[side], machines[1 - side]];
            let own = [ends.sender, ends.receiver][side];
            let peer = [ends.sender, ends.receiver][1 - side];
            let end = [FlowEnd::Sender, FlowEnd::Receiver][side];
            let route = flows.route_over(flow, hops)?;
            let kernels = flows.parts.kernels.get_or_insert_default();
            let (first, away) = (kernels.address(machine), kernels.address(other));
            // The receiver may be the connecting end, too.
            let as_client = [kernels.address_on(machine, number), away];
            let as_server = [first, kernels.address_on(other, number)];
            for pair in [as_client, as_server] {
                kernels.assign_path(machine, pair, port, own);
            }
            let others = described.paths.iter().zip(0..).skip(1);
            let others =
                others.map(|(path, other)| (kernels.address_on(machine, other), path.backup));
            let path = KernelPath {
                others: if number == 0 {
                    others.collect()
                } else {
                    Vec::new()
                },
                whole: id,
            };
            let addresses = [first, away].map(|ip| Address { ip, port });
            let socket = (machine, [socket.sender, socket.receiver][side].0);
            let kernel = KernelEnd::new(socket, path_id, end, addresses, congestion).on_path(path);
            let transport = Transport::Kernel(Box::new(kernel));
            flows
                .parts
                .endpoints
                .push(Endpoint::new(transport, path_id, peer, route));
        }
    }
    Ok(())
}

/// Checks that a kernel supports the paths of a flow.
fn check_paths(described: &scenario::Multipath) -> Result<(), &'static str> {
    let comes_or_goes = |path: &scenario::FlowPath| {
        path.announced || path.from > Time::ZERO || path.until.is_some()
    };
    if described.path_scheduler.name != "linux" {
        Err("a kernel has Linux's path scheduler alone; expected `path-scheduler = \"linux\"`")
    } else if described.coupling.name != "uncoupled" {
        Err("a kernel couples no windows; expected `coupling = \"uncoupled\"`")
    } else if described.paths.iter().any(comes_or_goes) {
        Err(
            "the paths of a kernel are there from the beginning to the end; expected no \
             `announced`, `from` or `until`",
        )
    } else {
        Ok(())
    }
}
