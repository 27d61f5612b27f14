//! Mobility management, and the ways of flows whose UEs change cells.

use super::{BuildError, ChoosePolicy};
use crate::routing::Topology;
use crate::world::{Interfaces, Parts, UePath, UePaths};
use fadeout_core::{DrbId, FlowId, NodeId, UeId};
use fadeout_radio::access::{
    AccessConfig, DataForwarding, EventKind, Interface, MeasurementEvent, MobilityConfig,
    Monitoring, Policy, ProcedureConfig, RadioError, Scope, Signalling,
};
use fadeout_scenario::{self as scenario, HandoverData, Named, Scenario};
use std::collections::BTreeSet;

/// Puts the UEs of a scenario under mobility management if it asks for that.
pub(super) fn add(
    scenario: &Scenario,
    mut topology: Topology,
    parts: &mut Parts,
    choose: ChoosePolicy<'_>,
) -> Result<(), BuildError> {
    let (Some(described), Some(radio)) = (&scenario.mobility, &mut parts.radio) else {
        return Ok(());
    };
    if let Some(ue) = scenario.ues.iter().find(|ue| ue.rrc_states.is_some()) {
        return Err(BuildError::Ue {
            ue: ue.name.clone(),
            reason: "`rrc-states` under mobility management, where idle UEs would select cells of \
                     their own; expected one of the two"
                .to_owned(),
        });
    }
    let bases: Vec<NodeId> = scenario.cells.iter().map(|cell| cell.node).collect();
    let interfaces = interfaces(scenario, described, &mut topology)?;
    let config = config(described, &bases, &interfaces);
    let Named { name, parameters } = &described.policy;
    let policy = choose(scenario).or_else(|| Policy::new(name, parameters));
    let policy = policy.ok_or_else(|| BuildError::Backhaul {
        reason: format!("there is no handover policy \"{name}\""),
    })?;
    let managed = radio.access.manage_mobility(config, policy);
    managed.map_err(|error| match error {
        RadioError::Ue { ue, .. } => BuildError::Ue {
            ue: scenario.ues[ue].name.clone(),
            reason: error.reason(),
        },
        _ => BuildError::Cell {
            cell: String::new(),
            reason: error.reason(),
        },
    })?;
    let mut ways = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        if let Some(way) = way(scenario, (index, flow), parts, &mut topology, &bases)? {
            ways.push(way);
        }
    }
    parts.paths = Some(UePaths::new(topology, ways, interfaces));
    Ok(())
}

/// The links between base stations and the core that carry messages, if links do.
fn interfaces(
    scenario: &Scenario,
    described: &scenario::MobilityManagement,
    topology: &mut Topology,
) -> Result<Interfaces, BuildError> {
    let Some(core) = described.core_of_links() else {
        return Ok(Interfaces::default());
    };
    let bases: BTreeSet<NodeId> = scenario.cells.iter().map(|cell| cell.node).collect();
    let is_direct = described.preparation.is_direct();
    let found = Interfaces::over_links(topology, core, &bases, is_direct);
    let name = |node: NodeId| scenario.nodes[node.index()].name.as_str();
    let interfaces = found.map_err(|base| BuildError::Backhaul {
        reason: format!(
            "no links connect base station \"{}\" with `core = \"{}\"`; expected a [link] between \
             them, or other nodes",
            name(base),
            name(core)
        ),
    })?;
    let pairs = bases.len() * (bases.len() - 1);
    if is_direct && pairs > 0 && interfaces.strangers().len() == pairs {
        return Err(BuildError::Backhaul {
            reason: format!(
                "`preparation = \"{}\"`, but no link connects two base stations except by way of \
                 \"{}\"; expected one, such as a [link] from \"{}\" to \"{}\", or \"s1\" (\"n2\")",
                described.preparation.word(),
                name(core),
                name(*bases.first().expect("two of them")),
                name(*bases.last().expect("two of them")),
            ),
        });
    }
    Ok(interfaces)
}

/// The way of a flow to its UE, if it has a managed one.
fn way(
    scenario: &Scenario,
    (index, flow): (usize, &scenario::Flow),
    parts: &Parts,
    topology: &mut Topology,
    bases: &[NodeId],
) -> Result<Option<UePath>, BuildError> {
    let of_node = |node| {
        let ues = scenario.ues.iter();
        ues.clone()
            .position(|ue| ue.node == node && ue.sinr.is_none())
    };
    let refuse = |reason: &str| {
        Err(BuildError::Immobile {
            flow: flow.name.clone(),
            reason: reason.to_owned(),
        })
    };
    let (ue, is_sender) = match (of_node(flow.from), of_node(flow.to)) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return refuse(
                "both ends are UEs under mobility management; expected one of them, and the other \
                 end behind the base stations",
            );
        }
        (Some(ue), None) => (ue, true),
        (None, Some(ue)) => (ue, false),
    };
    if flow.route.is_some() || flow.multipath.is_some() || flow.link_info.is_some() {
        return refuse(
            "a `route`, `multipath` or `link-info` over a UE under mobility management; expected none \
             of them, or a scenario without `mobility-management`",
        );
    }
    let far = if is_sender { flow.to } else { flow.from };
    if !crate::world::reaches_all(topology, bases, far) {
        return refuse(
            "no links connect some base station with its other end; under mobility management \
             expected links from every cell's node",
        );
    }
    let flow = FlowId(index as u32);
    let Some(entry) = parts.directory.flow(flow) else {
        return Ok(None);
    };
    let (near, other) = match is_sender {
        true => (entry.sender, entry.receiver),
        false => (entry.receiver, entry.sender),
    };
    Ok(Some(UePath {
        ue: UeId(ue as u32),
        flow,
        // A UE's default bearer has its number.
        bearer: DrbId(ue as u32),
        near,
        far: (other, far),
    }))
}

fn config(
    described: &scenario::MobilityManagement,
    bases: &[NodeId],
    interfaces: &Interfaces,
) -> MobilityConfig {
    let strangers = interfaces.strangers().iter();
    let strangers = strangers.map(|(one, other)| (one.0, other.0));
    MobilityConfig {
        events: described.events.iter().map(event).collect(),
        measurement_period: described.measurement_period,
        measurement_error_db: described.measurement_error.0,
        monitoring: Monitoring {
            q_out: described.q_out,
            q_in: described.q_in,
            n310: described.n310,
            n311: described.n311,
            t310: described.t310,
            t311: described.t311,
            t301: described.t301,
            cell_selection: described.cell_selection_delay,
            ..Monitoring::default()
        },
        access: AccessConfig {
            occasion_period: described.preamble_period,
            response_window: described.response_window,
            most_preambles: described.max_preambles,
            backoff: described.backoff,
            ..AccessConfig::default()
        },
        procedure: ProcedureConfig {
            station_delay: described.station_delay,
            core_delay: described.core_delay,
            admission: described.admission_delay,
            interruption: described.interruption,
            t304: described.t304,
            preparation: described.preparation_timeout,
            overall: described.overall_timeout,
            marker_timeout: described.end_marker_timeout,
        },
        data: match described.data {
            HandoverData::None => DataForwarding::Dropped,
            HandoverData::Forwarding => DataForwarding::Forwarded,
        },
        most_ues: described.max_ues,
        stations: bases.iter().map(|base| base.0).collect(),
        interface: match described.preparation.is_direct() {
            true => Interface::Direct,
            false => Interface::Core,
        },
        signalling: match described.core_of_links() {
            Some(_) => Signalling::Links {
                strangers: strangers.collect(),
            },
            None => Signalling::Given,
        },
    }
}

fn event(described: &scenario::MeasurementEvent) -> MeasurementEvent {
    // The reader asks for the levels that a kind needs.
    let level = |given: Option<fadeout_core::Dbm>| given.map_or(f64::NEG_INFINITY, |dbm| dbm.0);
    let threshold = level(described.threshold);
    MeasurementEvent {
        kind: match described.kind {
            scenario::EventKind::A1 => EventKind::A1 { threshold },
            scenario::EventKind::A2 => EventKind::A2 { threshold },
            scenario::EventKind::A3 => EventKind::A3 {
                offset: described.offset.0,
            },
            scenario::EventKind::A4 => EventKind::A4 { threshold },
            scenario::EventKind::A5 => EventKind::A5 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
        },
        hysteresis_db: described.hysteresis.0,
        time_to_trigger: described.time_to_trigger,
        filter: described.filter,
        report_interval: described.report_interval,
        report_amount: described.report_amount,
        scope: Scope::Any,
    }
}
