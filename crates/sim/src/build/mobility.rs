//! Mobility management, and the routes of flows whose UEs change cells.

mod config;

use super::{BuildError, ChoosePolicy, dual, named_error, utra};
use crate::directory::{Directory, FlowEntry};
use crate::hop::Hop;
use crate::routing::{Topology, backward};
use crate::world::{Interfaces, Parts, UePath, UePaths};
use config::USUAL_GAP;
pub(super) use config::config;
use fadeout_core::{CellId, DrbId, FlowId, NodeId, Span, UeId};
use fadeout_radio::access::{
    BeamMonitoring, MeasurementGaps, MobilityConfig, Policy, RadioAccess, TimetableEntry,
};
use fadeout_scenario::{self as scenario, HandoverData, Named, Scenario};
use std::collections::BTreeSet;

/// Puts the UEs of a scenario under mobility management, if the scenario asks for it.
pub(super) fn add(
    scenario: &Scenario,
    mut topology: Topology,
    parts: &mut Parts,
    choose: ChoosePolicy<'_>,
) -> Result<(), BuildError> {
    let utran = utra::utran_links(scenario, &parts.directory)?;
    let wants_rates = |flow: &&scenario::Flow| flow.link_info.is_some_and(|info| info.rates);
    if let Some(flow) = scenario
        .flows
        .iter()
        .find(wants_rates)
        .filter(|_| scenario.mobility.is_none())
    {
        return Err(BuildError::Immobile {
            flow: flow.name.clone(),
            reason: "`link-info.rates` needs mobility management; expected [mobility-management], \
                or no `rates`: links and [blockage-prediction] always report rates"
                .to_owned(),
        });
    }
    if scenario.mobility.is_none() || parts.radio.is_none() {
        return dual::add(scenario, topology, parts);
    }
    dual::check_links(scenario, &mut topology, parts)?;
    dual::check_nodes(scenario, &mut topology, parts)?;
    let (Some(described), Some(radio)) = (&scenario.mobility, &mut parts.radio) else {
        return Ok(());
    };
    if let Some(ue) = scenario.ues.iter().find(|ue| ue.rrc_states.is_some()) {
        return Err(BuildError::Ue {
            ue: ue.name.clone(),
            reason: "`rrc-states` with mobility management, where idle UEs would have to select \
                cells; expected one of the two"
                .to_owned(),
        });
    }
    let bases: Vec<NodeId> = scenario.cells.iter().map(|cell| cell.node).collect();
    let interfaces = interfaces(scenario, described, &mut topology)?;
    let mut config = config(described, &bases, &interfaces);
    config.secondaries = secondaries(scenario, &radio.access);
    utra::mark(scenario, &mut config);
    start(scenario, config, described, choose, &mut radio.access)?;
    let ue_paths = ue_paths(scenario, parts, &mut topology)?;
    let wants_rates = |path: &&UePath| {
        let flow = scenario.flows.get(path.flow.index());
        let info = flow.and_then(|flow| flow.link_info);
        info.is_some_and(|info| info.rates)
    };
    if let Some(radio) = &mut parts.radio {
        for path in ue_paths.iter().filter(wants_rates) {
            radio.access.report_rates_of(path.ue);
        }
    }
    let mut paths = UePaths::new(topology, ue_paths, interfaces);
    paths.add_utran(utran);
    let idle = |ue: &scenario::Ue| ue.attach_at.is_some();
    for (ue, _) in (0..)
        .map(UeId)
        .zip(&scenario.ues)
        .filter(|(_, ue)| idle(ue))
    {
        paths.end_downlink_at_core(ue, (described.core, &bases), parts);
    }
    parts.paths = Some(paths);
    Ok(())
}

/// Returns the timetable of handovers, with the ids of UEs and cells.
fn timetable(
    scenario: &Scenario,
    described: &scenario::MobilityManagement,
) -> Result<Vec<TimetableEntry>, BuildError> {
    let find = |kind: &str, name: &str, names: Vec<&str>| {
        let position = names.iter().position(|known| *known == name);
        position.map(|index| index as u32).ok_or_else(|| {
            let near = match scenario::nearest(name, names.iter().copied()) {
                Some(near) => format!("`{near}`"),
                None => format!("one of {}", names.join(", ")),
            };
            BuildError::Backhaul {
                reason: format!("`timetable` names the {kind} `{name}`; expected {near}"),
            }
        })
    };
    let entries = described.timetable.iter().flatten();
    let found = entries.map(|entry| {
        let ues = scenario.ues.iter().map(|ue| ue.name.as_str()).collect();
        let cells = scenario.cells.iter().map(|it| it.name.as_str()).collect();
        Ok(TimetableEntry {
            at: entry.at,
            ue: UeId(find("UE", &entry.ue, ues)?),
            target: CellId(find("cell", &entry.to, cells)?),
        })
    });
    found.collect()
}

/// Starts mobility management with the handover policy that `choose` returns. If `choose` returns
/// `None`, the policy is the one in the scenario.
fn start(
    scenario: &Scenario,
    config: MobilityConfig,
    described: &scenario::MobilityManagement,
    choose: ChoosePolicy<'_>,
    access: &mut RadioAccess,
) -> Result<(), BuildError> {
    check_gaps(scenario, config.gaps.as_ref())?;
    check_beams(scenario, config.beam_failure.as_ref())?;
    let Named { name, parameters } = &described.policy;
    let policy = choose(scenario).or_else(|| Policy::new(name, parameters));
    let policy = policy.ok_or_else(|| BuildError::Backhaul {
        reason: format!("there is no handover policy \"{name}\""),
    })?;
    let entries = timetable(scenario, described)?;
    let managed = access
        .manage_mobility(config, policy)
        .and_then(|()| access.follow_timetable(&entries));
    managed.map_err(|error| named_error(scenario, &error))
}

/// Returns the routes of all flows and paths that have a UE under mobility management at one end.
fn ue_paths(
    scenario: &Scenario,
    parts: &Parts,
    topology: &mut Topology,
) -> Result<Vec<UePath>, BuildError> {
    let mut ue_paths = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let id = FlowId(index as u32);
        match &flow.multipath {
            None => {
                let hops = topology.route_of(flow).unwrap_or_default();
                let kept = flow.route.is_some();
                ue_paths.extend(ue_path(
                    scenario,
                    (id, flow),
                    (&hops, kept),
                    parts,
                    topology,
                )?);
            }
            Some(described) => {
                let paths = parts.directory.flow(id).map(FlowEntry::paths);
                for (path, described) in paths.into_iter().flatten().zip(&described.paths) {
                    let hops = (&described.hops[..], true);
                    ue_paths.extend(ue_path(scenario, (path, flow), hops, parts, topology)?);
                }
            }
        }
    }
    Ok(ue_paths)
}

/// Returns for each cell the cells that may be its secondary cells. These are the cells that the
/// scenario names, or the other cells of the same site. All lists are empty if no UE uses secondary
/// cells.
fn secondaries(scenario: &Scenario, access: &RadioAccess) -> Vec<Vec<CellId>> {
    let takes_some =
        |ue: &scenario::Ue| !ue.secondary_cells.is_empty() || ue.max_secondary_cells.is_some();
    if !scenario.ues.iter().any(takes_some) {
        return Vec::new();
    }
    let cells = (0..).map(CellId).zip(&scenario.cells);
    let cells = cells.map(|(id, cell)| match &cell.secondary_cells[..] {
        [] => access.co_sited(id),
        named => named.iter().map(|&cell| CellId(cell as u32)).collect(),
    });
    cells.collect()
}

/// Returns the routes for messages between base stations and the core, if links carry messages.
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
             them, or another `core`",
            name(base),
            name(core)
        ),
    })?;
    // Base stations of 3G exchange messages through the core, even if direct links exist.
    let cells = scenario
        .cells
        .iter()
        .filter(|cell| !crate::utra::is_utra(cell));
    let bases: BTreeSet<NodeId> = cells.map(|cell| cell.node).collect();
    let pairs = bases.len() * bases.len().saturating_sub(1);
    let among = |(one, other): &&(NodeId, NodeId)| bases.contains(one) && bases.contains(other);
    let strangers = interfaces.strangers().iter().filter(among).count();
    if is_direct && pairs > 0 && strangers == pairs {
        return Err(BuildError::Backhaul {
            reason: format!(
                "`preparation = \"{}\"`, but base stations are only connected by way of \"{}\"; \
                 expected a direct link, such as a [link] from \"{}\" to \"{}\", or \"s1\" \
                 (\"n2\")",
                described.preparation.word(),
                name(core),
                name(*bases.first().expect("two of them")),
                name(*bases.last().expect("two of them")),
            ),
        });
    }
    Ok(interfaces)
}

/// Returns the route of a flow, or of one of its paths, to its UE. If the scenario names the hops,
/// all cells use the same hops up to the last link. `None` if the UE is not under mobility
/// management.
fn ue_path(
    scenario: &Scenario,
    (id, flow): (FlowId, &scenario::Flow),
    (hops, is_kept): (&[scenario::Hop], bool),
    parts: &Parts,
    topology: &mut Topology,
) -> Result<Option<UePath>, BuildError> {
    let directory = &parts.directory;
    let refuse = |reason: &str| Err(immobile(flow, reason));
    let Some((ue, bearer, is_sender)) = managed_end(scenario, flow, hops, directory)? else {
        return Ok(None);
    };
    let (Some(entry), is_down) = (directory.flow(id), !is_sender) else {
        return Ok(None);
    };
    if takes_link_notices(flow, directory) {
        return refuse(
            "a `link-info` of a link over a UE under mobility management, whose links change with \
             its cell; expected the name of the UE",
        );
    }
    let down = match is_down {
        true => hops.to_vec(),
        false => backward(hops),
    };
    let kept = match is_kept {
        true => down[..down.len().saturating_sub(2)].iter(),
        false => [].iter(),
    };
    let kept: Vec<Hop> = kept.map(|&hop| directory.hop(hop)).collect();
    let far = if is_sender { flow.to } else { flow.from };
    let anchor = match kept.last() {
        Some(&Hop::Link(link)) => directory.end_of(link),
        _ => far,
    };
    let bases: Vec<NodeId> = scenario.cells.iter().map(|cell| cell.node).collect();
    if !crate::world::reaches_all(topology, &bases, anchor) {
        return refuse(
            "no links connect some base station with its other end; expected links from the node \
             of every cell, under mobility management",
        );
    }
    check_copies(scenario, flow, &kept, anchor, far, directory, topology)?;
    if is_sender && flow.link_info.is_some_and(|info| info.rates) {
        return refuse(
            "`link-info.rates` of a flow in the uplink, but a UE reports its downlink rate; \
             expected a flow to the UE, or no `rates`",
        );
    }
    let (near, far) = match is_sender {
        true => (entry.sender, entry.receiver),
        false => (entry.receiver, entry.sender),
    };
    Ok(Some(UePath {
        ue,
        flow: id,
        bearer,
        near,
        far,
        kept,
        anchor,
    }))
}

fn immobile(flow: &scenario::Flow, reason: &str) -> BuildError {
    BuildError::Immobile {
        flow: flow.name.clone(),
        reason: reason.to_owned(),
    }
}

/// Returns the UE under mobility management at one end of a flow's hops, and its bearer. The third
/// value is true if the UE is the sender. `None` if neither end is such a UE.
fn managed_end(
    scenario: &Scenario,
    flow: &scenario::Flow,
    hops: &[scenario::Hop],
    directory: &Directory,
) -> Result<Option<(UeId, DrbId, bool)>, BuildError> {
    let managed = |hop: Option<&scenario::Hop>| match directory.hop(*hop?) {
        Hop::Bearer { bearer, .. } => {
            let ue = directory.ue_of(bearer);
            let is_managed = scenario.ues[ue.index()].sinr.is_none();
            is_managed.then_some((ue, bearer))
        }
        _ => None,
    };
    Ok(match (managed(hops.first()), managed(hops.last())) {
        (None, None) => None,
        (Some(_), Some(_)) if hops.len() > 1 => {
            return Err(immobile(
                flow,
                "both ends are UEs under mobility management; expected one of them, and the other \
                 end behind the base stations",
            ));
        }
        (Some((ue, bearer)), _) if flow.from == scenario.ues[ue.index()].node => {
            Some((ue, bearer, true))
        }
        (_, Some((ue, bearer))) | (Some((ue, bearer)), None) => Some((ue, bearer, false)),
    })
}

/// True if a flow uses notices about the rate of a link that is not a radio bearer.
fn takes_link_notices(flow: &scenario::Flow, directory: &Directory) -> bool {
    match flow.link_info.map(|info| info.source) {
        Some(scenario::LinkInfoSource::Medium(medium)) => {
            let is_reverse = false;
            let hop = directory.hop(scenario::Hop { medium, is_reverse });
            !matches!(hop, Hop::Bearer { .. })
        }
        Some(scenario::LinkInfoSource::Cell(_)) | None => false,
    }
}

/// Checks that the route of a flow crosses the node that sends copies to two base stations, if
/// there is such a node.
fn check_copies(
    scenario: &Scenario,
    flow: &scenario::Flow,
    kept: &[Hop],
    anchor: NodeId,
    far: NodeId,
    directory: &Directory,
    topology: &mut Topology,
) -> Result<(), BuildError> {
    let mut bases = scenario.cells.iter().map(|cell| cell.node);
    let keeps = |core| {
        let links = kept.iter();
        let mut ends = links.filter_map(|&hop| match hop {
            Hop::Link(link) => Some(directory.end_of(link)),
            _ => None,
        });
        far == core || ends.any(|end| end == core)
    };
    if let Some(core) = core_of_copies(scenario)
        && let Some(base) =
            bases.find(|&base| !keeps(core) && !topology.passes((anchor, base), core))
    {
        let name = |node: NodeId| scenario.nodes[node.index()].name.as_str();
        let reason = format!(
            "`data = \"bicasting\"`, but its way to base station \"{}\" does not pass the anchor, `core = \"{}\"`; \
             expected links that make it, or \"forwarding\"",
            name(base),
            name(core),
        );
        return Err(immobile(flow, &reason));
    }
    Ok(())
}

/// Returns the node that sends copies to two base stations. `None` without bicasting.
fn core_of_copies(scenario: &Scenario) -> Option<NodeId> {
    let mobility = scenario.mobility.as_ref()?;
    let is_bicast = mobility.data == HandoverData::Bicasting;
    mobility.core.filter(|_| is_bicast)
}

/// Checks that at least one cell has beams to monitor. LTE cells have no beams.
fn check_beams(scenario: &Scenario, watched: Option<&BeamMonitoring>) -> Result<(), BuildError> {
    let is_nr = |cell: &scenario::Cell| cell.radio.name == "nr";
    match watched {
        Some(_) if !scenario.cells.iter().any(is_nr) => Err(BuildError::Backhaul {
            reason:
                "`beam-failure-instance-max-count`, but all cells are LTE cells without beams; \
                expected a cell with `radio = \"nr\"`, or no such key"
                    .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Checks that the measurement gaps of LTE UEs are among those that LTE defines.
///
/// Standard: TS 36.331 §6.3.5.
fn check_gaps(scenario: &Scenario, gaps: Option<&MeasurementGaps>) -> Result<(), BuildError> {
    let has_lte = scenario.cells.iter().any(|cell| cell.radio.name == "lte");
    let Some(gaps) = gaps.filter(|_| has_lte) else {
        return Ok(());
    };
    let ms = |span: Span| span.as_secs_f64() * 1e3;
    let refuse = |key: &str, given: Span, expected: &str| {
        Err(BuildError::Backhaul {
            reason: format!(
                "`{key} = \"{} ms\"` with LTE cells; expected {expected}",
                ms(given)
            ),
        })
    };
    if gaps.length != USUAL_GAP {
        return refuse("measurement-gap-length", gaps.length, "\"6 ms\"");
    }
    match gaps.period.as_nanos() / 1_000_000 {
        40 | 80 => Ok(()),
        other => {
            let nearest = if other < 60 { 40 } else { 80 };
            let expected = format!("\"40 ms\" or \"80 ms\"; the nearest is \"{nearest} ms\"");
            refuse("measurement-gap-period", gaps.period, &expected)
        }
    }
}
