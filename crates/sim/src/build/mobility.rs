//! Mobility management, and the ways of flows whose UEs change cells.

use super::{BuildError, ChoosePolicy, dual, switching, utra};
use crate::directory::FlowEntry;
use crate::hop::Hop;
use crate::routing::{Topology, backward};
use crate::world::{Interfaces, Parts, UePath, UePaths};
use fadeout_core::{Bytes, CellId, FlowId, NodeId, Span, UeId};
use fadeout_radio::access::{
    AccessConfig, BeamMonitoring, BicastStart, ConditionalConfig, DataForwarding,
    DedicatedRecovery, EventKind, Interface, MOST_CANDIDATES, MeasurementEvent, MeasurementGaps,
    MobilityConfig, Monitoring, Policy, PowerRamping, ProcedureConfig, RadioAccess, RadioError,
    Sampling, Scope, SecondaryAfterFailure, SecondaryAtHandover, SecondaryNodeConfig, Signalling,
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
    let utran = utra::of(scenario, &parts.directory)?;
    let tells = |flow: &&scenario::Flow| flow.link_info.is_some_and(|info| info.rates);
    if let Some(flow) = scenario
        .flows
        .iter()
        .find(tells)
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
    check_gaps(scenario, config.gaps.as_ref())?;
    check_beams(scenario, config.beam_failure.as_ref())?;
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
        RadioError::Cell { cell, .. } => BuildError::Cell {
            cell: scenario.cells[cell].name.clone(),
            reason: error.reason(),
        },
        _ => BuildError::Cell {
            cell: String::new(),
            reason: error.reason(),
        },
    })?;
    let mut ways = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let id = FlowId(index as u32);
        match &flow.multipath {
            None => {
                let hops = topology.route_of(flow).unwrap_or_default();
                let kept = flow.route.is_some();
                ways.extend(way(
                    scenario,
                    (id, flow),
                    (&hops, kept),
                    parts,
                    &mut topology,
                )?);
            }
            Some(described) => {
                let paths = parts.directory.flow(id).map(FlowEntry::paths);
                for (path, described) in paths.into_iter().flatten().zip(&described.paths) {
                    let hops = (&described.hops[..], true);
                    ways.extend(way(scenario, (path, flow), hops, parts, &mut topology)?);
                }
            }
        }
    }
    let tells = |way: &&UePath| {
        let flow = scenario.flows.get(way.flow.index());
        let info = flow.and_then(|flow| flow.link_info);
        info.is_some_and(|info| info.rates)
    };
    if let Some(radio) = &mut parts.radio {
        for way in ways.iter().filter(tells) {
            radio.access.tell_rates_of(way.ue);
        }
    }
    let mut paths = UePaths::new(topology, ways, interfaces);
    paths.add_utran(utran);
    let idle = |ue: &scenario::Ue| ue.attach_at.is_some();
    for (ue, _) in (0..)
        .map(UeId)
        .zip(&scenario.ues)
        .filter(|(_, ue)| idle(ue))
    {
        paths.hold_back(ue, (described.core, &bases), parts);
    }
    parts.paths = Some(paths);
    Ok(())
}

/// The cells that may be secondary ones beside each: those that it names, else those at its place. None where no UE
/// has any.
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
             them, or another `core`",
            name(base),
            name(core)
        ),
    })?;
    // Those of 3G speak by way of the core in any case.
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

/// The way of a flow, or of a path of one, to its UE, if it has a managed one. Of hops that it names those
/// before the last link stay whatever the cell.
fn way(
    scenario: &Scenario,
    (id, flow): (FlowId, &scenario::Flow),
    (hops, is_kept): (&[scenario::Hop], bool),
    parts: &Parts,
    topology: &mut Topology,
) -> Result<Option<UePath>, BuildError> {
    let directory = &parts.directory;
    let refuse = |reason: &str| {
        Err(BuildError::Immobile {
            flow: flow.name.clone(),
            reason: reason.to_owned(),
        })
    };
    let managed = |hop: Option<&scenario::Hop>| match directory.hop(*hop?) {
        Hop::Bearer { bearer, .. } => {
            let ue = directory.ue_of(bearer);
            scenario.ues[ue.index()]
                .sinr
                .is_none()
                .then_some((ue, bearer))
        }
        _ => None,
    };
    let ((ue, bearer), is_sender) = match (managed(hops.first()), managed(hops.last())) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) if hops.len() > 1 => {
            return refuse(
                "both ends are UEs under mobility management; expected one end behind the base \
                 stations",
            );
        }
        (Some(of), _) if flow.from == scenario.ues[of.0.index()].node => (of, true),
        (_, Some(of)) | (Some(of), None) => (of, false),
    };
    let (Some(entry), is_down) = (directory.flow(id), !is_sender) else {
        return Ok(None);
    };
    let told_by = flow.link_info.map(|info| info.source);
    let is_of_radio = match told_by {
        Some(scenario::LinkInfoSource::Medium(medium)) => {
            let is_reverse = false;
            let hop = directory.hop(scenario::Hop { medium, is_reverse });
            matches!(hop, Hop::Bearer { .. })
        }
        Some(scenario::LinkInfoSource::Cell(_)) | None => true,
    };
    if !is_of_radio {
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
    let keeps = |core| {
        let links = kept.iter();
        let mut ends = links.filter_map(|&hop| match hop {
            Hop::Link(link) => Some(directory.end_of(link)),
            _ => None,
        });
        far == core || ends.any(|end| end == core)
    };
    if let Some(core) = core_of_copies(scenario)
        && let Some(&base) = bases
            .iter()
            .find(|&&base| !keeps(core) && !topology.passes((anchor, base), core))
    {
        let name = |node: NodeId| scenario.nodes[node.index()].name.as_str();
        return refuse(&format!(
            "`data = \"bicasting\"`, but the route to base station \"{}\" does not pass `core = \
             \"{}\"`; expected links over it, or \"forwarding\"",
            name(base),
            name(core),
        ));
    }
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

/// The node that sends to two base stations, if one does.
fn core_of_copies(scenario: &Scenario) -> Option<NodeId> {
    let mobility = scenario.mobility.as_ref()?;
    let is_bicast = mobility.data == HandoverData::Bicasting;
    mobility.core.filter(|_| is_bicast)
}

pub(super) fn config(
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
        sampling: Sampling::default(),
        gaps: gaps(described),
        monitoring: Monitoring {
            q_out: described.q_out,
            q_in: described.q_in,
            n310: described.n310,
            n311: described.n311,
            t310: described.t310,
            t312: described.t312,
            t311: described.t311,
            t301: described.t301,
            cell_selection: described.cell_selection_delay,
            t300: described.t300,
            q_rx_lev_min: described.q_rx_lev_min,
            ..Monitoring::default()
        },
        beam_failure: beam_failure(described),
        access: AccessConfig {
            occasion_period: described.preamble_period,
            response_window: described.response_window,
            most_preambles: described.max_preambles,
            drawn_preambles: described.contention_preambles,
            ramping: described.preamble_target_power.map(|target| PowerRamping {
                target,
                step: described.power_ramping_step.unwrap_or(PowerRamping::STEP),
            }),
            backoff: described.backoff,
            ..AccessConfig::default()
        },
        procedure: ProcedureConfig {
            station_delay: described.station_delay,
            core_delay: described.core_delay,
            admission: described.admission_delay,
            interruption: described.interruption,
            utra_interruption: described.utra_interruption,
            t304: described.t304,
            preparation: described.preparation_timeout,
            overall: described.overall_timeout,
            marker_timeout: described.end_marker_timeout,
            target_buffer: described.target_buffer.unwrap_or(Bytes(u64::MAX)),
            ..ProcedureConfig::default()
        },
        data: match described.data {
            HandoverData::None => DataForwarding::Dropped,
            HandoverData::Forwarding => DataForwarding::Forwarded,
            HandoverData::Bicasting => DataForwarding::Bicast(match described.bicast_after {
                Some(span) => BicastStart::After(span),
                None => BicastStart::Before(described.bicast_before.unwrap_or_default()),
            }),
        },
        conditional: conditional(described),
        ltm: switching::ltm(described),
        rach_less: switching::rach_less(described),
        daps: described.procedure == scenario::HandoverProcedure::Daps,
        most_ues: described.max_ues,
        secondaries: Vec::new(),
        secondary_node: described.secondary_node.as_ref().map(secondary_node),
        stations: bases.iter().map(|base| base.0).collect(),
        utra: BTreeSet::new(),
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

/// How long a candidate holds room where nothing is said: no standard has a value.
const USUAL_HOLD: Span = Span::from_secs(10);

fn conditional(described: &scenario::MobilityManagement) -> Option<ConditionalConfig> {
    if described.procedure == scenario::HandoverProcedure::Ltm {
        return Some(switching::candidates(described));
    }
    let conditions = match &described.conditions {
        Some(given) => given.iter().map(condition).collect(),
        None => vec![condition(&scenario::ExecutionCondition::USUAL)],
    };
    let most = described.max_candidates.map(|most| most as usize);
    let is_conditional = described.procedure == scenario::HandoverProcedure::Conditional;
    is_conditional.then_some(ConditionalConfig {
        conditions,
        most_candidates: most.unwrap_or(MOST_CANDIDATES),
        hold: described.candidate_timeout.unwrap_or(USUAL_HOLD),
        recovers: described.conditional_recovery.unwrap_or(true),
        forwards_early: described.early_forwarding.unwrap_or(false),
        commanding: (0..)
            .zip(&described.events)
            .filter(|(_, event)| event.command)
            .map(|(number, _)| number)
            .collect(),
    })
}

fn secondary_node(described: &scenario::SecondaryNode) -> SecondaryNodeConfig {
    let adds = |event: &&scenario::MeasurementEvent| {
        matches!(
            event.kind,
            scenario::EventKind::A4 | scenario::EventKind::B1
        )
    };
    let (adding, about): (Vec<_>, Vec<_>) = described.events.iter().partition(adds);
    SecondaryNodeConfig {
        adding: adding.into_iter().map(event).collect(),
        about: about.into_iter().map(event).collect(),
        at_handover: match described.at_handover {
            scenario::SecondaryAtHandover::Release => SecondaryAtHandover::Release,
            scenario::SecondaryAtHandover::Keep => SecondaryAtHandover::Keep,
            scenario::SecondaryAtHandover::Strongest => SecondaryAtHandover::Strongest,
        },
        after_failure: match described.after_failure {
            scenario::SecondaryAfterFailure::Release => SecondaryAfterFailure::Release,
            scenario::SecondaryAfterFailure::Restore => SecondaryAfterFailure::Restore,
            scenario::SecondaryAfterFailure::Strongest => SecondaryAfterFailure::Strongest,
        },
        t304: described.t304,
    }
}

fn gaps(described: &scenario::MobilityManagement) -> Option<MeasurementGaps> {
    Some(MeasurementGaps {
        period: described.measurement_gap_period?,
        length: described.measurement_gap_length.unwrap_or(USUAL_GAP),
        offset: described.measurement_gap_offset,
    })
}

fn beam_failure(described: &scenario::MobilityManagement) -> Option<BeamMonitoring> {
    let threshold = described.rsrp_threshold_ssb;
    Some(BeamMonitoring {
        most_instances: described.beam_failure_instance_max_count?,
        detection_periods: described.beam_failure_detection_timer?,
        dedicated: threshold.map(|threshold| DedicatedRecovery {
            threshold,
            timer: described.beam_failure_recovery_timer,
        }),
    })
}

/// Checks that there is a cell with beams to look at: LTE has none.
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

/// Of pattern 0.
///
/// Standard: TS 36.133 Table 8.1.2.1-1; TS 38.133 Table 9.1.2-1.
const USUAL_GAP: Span = Span::from_millis(6);

/// Checks that gaps of UEs of LTE are those that LTE has.
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

/// A level, for which the reader asks where a kind needs it.
fn level(given: Option<fadeout_core::Dbm>) -> f64 {
    given.map_or(f64::NEG_INFINITY, |dbm| dbm.0)
}

fn condition(described: &scenario::ExecutionCondition) -> MeasurementEvent {
    let threshold = level(described.threshold);
    MeasurementEvent {
        kind: match described.kind {
            scenario::ConditionKind::A3 => EventKind::A3 {
                offset: described.offset.0,
            },
            scenario::ConditionKind::A4 => EventKind::A4 { threshold },
            scenario::ConditionKind::A5 => EventKind::A5 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
        },
        hysteresis_db: described.hysteresis.0,
        time_to_trigger: described.time_to_trigger,
        filter: described.filter,
        // It is not reported.
        report_interval: Span::MAX,
        report_amount: None,
        scope: Scope::Any,
    }
}

fn event(described: &scenario::MeasurementEvent) -> MeasurementEvent {
    let threshold = level(described.threshold.or(described.threshold_rscp));
    let hysteresis_db = described.hysteresis.0;
    MeasurementEvent {
        kind: match described.kind {
            scenario::EventKind::A1 => EventKind::A1 { threshold },
            scenario::EventKind::A2 => EventKind::A2 { threshold },
            scenario::EventKind::A3 => EventKind::A3 {
                offset: described.offset.0,
            },
            scenario::EventKind::A6 => EventKind::A6 {
                offset: described.offset.0,
            },
            scenario::EventKind::A4 => EventKind::A4 { threshold },
            scenario::EventKind::B1 => EventKind::B1 { threshold },
            scenario::EventKind::B2 => EventKind::B2 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
            // Its conditions are those of b2, with half the hysteresis (TS 25.331 clause 14.3.1.1).
            scenario::EventKind::E3a => EventKind::B2 {
                serving: level(described.serving_threshold_rscp),
                neighbour: threshold,
            },
            scenario::EventKind::A5 => EventKind::A5 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
        },
        hysteresis_db: match described.kind {
            scenario::EventKind::E3a => hysteresis_db / 2.0,
            _ => hysteresis_db,
        },
        time_to_trigger: described.time_to_trigger,
        filter: described.filter,
        report_interval: described.report_interval,
        report_amount: described.report_amount,
        scope: match described.kind {
            scenario::EventKind::E3a => Scope::FromUtra,
            _ if described.is_to_utra() => Scope::ToUtra,
            _ => Scope::Any,
        },
    }
}
