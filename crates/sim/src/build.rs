//! Builds the parts of a world, which is one simulation, from a scenario.

mod blockage;
mod channel_file;
#[cfg(test)]
mod defaults;
mod divided;
mod dual;
mod equipment;
mod error;
mod findings;
mod flow;
mod handover;
mod host;
mod kernel;
pub(crate) mod link;
mod mobility;
mod multipath;
mod outdoors;
mod outlook;
mod overlap;
mod prediction;
mod quic;
mod rab;
mod radio;
mod source_limit;
mod switching;
mod utra;
mod vehicles;

pub(crate) use channel_file::recorded as recordings;
pub(crate) use divided::{Divided, divided};
pub use error::BuildError;
pub(crate) use flow::{default_congestion_control, has_bbr, is_datagrams};
pub(crate) use outdoors::holds;
pub(crate) use quic::DEFAULT_CONTROL;
pub(crate) use radio::{Bounds, named_error, surroundings};

use crate::directory::Directory;
use crate::routing::Topology;
use crate::world::{Parts, Tunnels};
use error::all;
use fadeout_core::{CellId, FlowId, Time};
use fadeout_link::RadioStates;
use fadeout_radio::access::{Policy, StretchedPeriod};
use fadeout_record::RadioInfo;
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::congestion::Congestion;
use flow::Flows;
use std::sync::Arc;

/// Builds the parts of a world, which is one simulation.
///
/// # Errors
/// Returns a [`BuildError`] if the scenario passed its own checks but a layer refuses it.
pub(crate) fn parts(scenario: &Scenario, own: Own<'_>) -> Result<Parts, BuildError> {
    let Own { congestion, policy } = own;
    if scenario.worlds != scenario::Worlds::One {
        let reason = "a run of one world, such as one in steps; expected `worlds = \"one\"`";
        return Err(BuildError::Undivided(reason.to_owned()));
    }
    let directory = Directory::new(scenario);
    let radio = radio::build(scenario)?;
    let mut topology = Topology::new(scenario, &radio::serving(radio.as_ref(), scenario));
    let mut parts = Parts {
        radio,
        tunnels: (!scenario.probe.link_capture.is_empty()).then(|| tunnels(scenario)),
        ..Parts::default()
    };
    wires(scenario, (directory, &mut topology), &mut parts, congestion)?;
    parts.hosts = host::hosts(scenario, &parts);
    prediction::add(scenario, &mut parts)?;
    handover::add(scenario, &topology, &mut parts)?;
    mobility::add(scenario, topology, &mut parts, policy)?;
    Ok(parts)
}

/// Adds links and flows to the parts of a world.
fn wires(
    scenario: &Scenario,
    (directory, topology): (Directory, &mut Topology),
    parts: &mut Parts,
    congestion: ChooseCongestion<'_>,
) -> Result<(), BuildError> {
    let directions = (0..scenario.links.len()).flat_map(|index| [(index, false), (index, true)]);
    parts.links = all(directions.map(|(index, is_reverse)| {
        let id = directory.link(index)[usize::from(is_reverse)];
        let of_source = source_limit::find(scenario, topology, index)?;
        let named = (id, directory.link_name(id));
        link::build_link(scenario, (index, is_reverse), of_source, named)
    }))?;
    for index in 0..scenario.rabs.len() {
        let ids = directory.rab(index);
        debug_assert_eq!(
            ids[0].index(),
            parts.links.len(),
            "bearers come after links"
        );
        let (directions, states) = rab::build_rab(scenario, index, ids)?;
        if let Some(config) = states {
            let states = RadioStates::new(config);
            parts.radio_states.push((ids, states));
        }
        parts.links.extend(directions);
    }
    // Most flows have two ends, so the list of endpoints gets memory for two per flow.
    parts.flows.reserve_exact(scenario.flows.len());
    parts.endpoints.reserve_exact(2 * scenario.flows.len());
    let mut builder = Flows {
        scenario,
        directory: &directory,
        topology,
        parts,
        outlook: None,
        latest: None,
    };
    for (index, flow) in scenario.flows.iter().enumerate() {
        builder.add(FlowId(index as u32), flow, congestion)?;
    }
    kernel::check_nodes(scenario, parts)?;
    host::check(scenario, directory.endpoints(), parts)?;
    parts.directory = Arc::new(directory);
    Ok(())
}

/// Returns the nodes at which tunnels of the core network end.
fn tunnels(scenario: &Scenario) -> Tunnels {
    let core = scenario
        .mobility
        .as_ref()
        .and_then(|mobility| mobility.core);
    let of_nr = scenario.cells.iter().filter(|cell| cell.radio.name == "nr");
    let of_utra = scenario
        .cells
        .iter()
        .filter(|cell| crate::utra::is_utra(cell));
    let [of_nr, of_utra] = [of_nr.collect(), of_utra.collect()].map(|cells: Vec<_>| {
        let nodes = cells.into_iter().map(|cell| cell.node);
        nodes.collect()
    });
    Tunnels::new(core, of_nr, of_utra)
}

/// Returns the names and numbers that captures of the radio need.
pub(crate) fn radio_info(scenario: &Scenario, parts: &Parts) -> RadioInfo {
    radio::info(scenario, parts.radio.as_ref())
}

/// Returns bounds of a bearer's rate in a cell. `None` if the cell or the bearer cannot be built.
pub(crate) fn bounds(
    scenario: &Scenario,
    bearer: &scenario::Bearer<'_>,
    cell: CellId,
) -> Option<Bounds> {
    radio::bounds(&scenario.cells[cell.index()], bearer)
}

/// Returns the periods of uplink occasions of a cell that its duplex pattern stretches. The list is
/// empty if the cell cannot be built.
pub(crate) fn stretched(described: &scenario::Cell) -> Vec<StretchedPeriod> {
    let cell = radio::cell(described);
    cell.map_or_else(|_| Vec::new(), |cell| StretchedPeriod::find_all(&cell))
}

/// Returns the serving cell of each UE at the start. `None` for each UE that may choose its cell,
/// if the radio access cannot be built.
pub(crate) fn serving(scenario: &Scenario) -> Vec<Option<CellId>> {
    let cells = || {
        let only = (scenario.cells.len() == 1).then_some(0);
        let cells = scenario.ues.iter().map(|ue| ue.cell.or(only));
        cells
            .map(|cell| cell.map(|cell| CellId(cell as u32)))
            .collect()
    };
    chosen(scenario).unwrap_or_default().unwrap_or_else(cells)
}

/// Returns the serving cell of each UE at the start if at least one UE may choose its cell. The
/// function builds the radio access. `None` if no UE may choose its cell.
fn chosen(scenario: &Scenario) -> Result<Option<Vec<Option<CellId>>>, BuildError> {
    let has_choice = scenario.cells.len() > 1 && scenario.ues.iter().any(|ue| ue.cell.is_none());
    if !has_choice {
        return Ok(None);
    }
    let radio = radio::build(scenario)?;
    Ok(Some(radio::serving(radio.as_ref(), scenario)))
}

/// Builds the simulation of a scenario. `probe` records it.
///
/// # Errors
/// Returns a [`BuildError`] if a layer refuses the scenario.
pub fn build<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
) -> Result<crate::World<P>, BuildError> {
    build_with(scenario, probe, &mut |_| None)
}

/// Builds the simulation of a scenario whose flows may use congestion controls of the caller.
/// `choose` is called once for each end of each flow. For a multipath flow without coupling, it is
/// called once for each end of each path. If `choose` returns `None`, the flow uses the congestion
/// control of the scenario.
///
/// # Errors
/// Returns a [`BuildError`] if a layer refuses the scenario.
pub fn build_with<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
    choose: ChooseCongestion<'_>,
) -> Result<crate::World<P>, BuildError> {
    let policy = &mut |_: &Scenario| None;
    let congestion = choose;
    build_with_own(scenario, probe, Own { congestion, policy })
}

/// Builds a simulation as [`build_with`] does. The caller may also supply the handover policy.
///
/// # Errors
/// Returns a [`BuildError`] if a layer refuses the scenario.
pub fn build_with_own<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
    own: Own<'_>,
) -> Result<crate::World<P>, BuildError> {
    let end = Time::ZERO.saturating_add(scenario.duration);
    Ok(crate::World::new(parts(scenario, own)?, end, probe))
}

/// Algorithms of the caller that replace those of the scenario.
pub struct Own<'a> {
    /// Chooses congestion controls.
    pub congestion: ChooseCongestion<'a>,
    /// Chooses the handover policy.
    pub policy: ChoosePolicy<'a>,
}

impl std::fmt::Debug for Own<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own")
    }
}

/// Function that returns the congestion control of one end of a flow. `None` selects the congestion
/// control of the scenario.
pub type ChooseCongestion<'a> = &'a mut dyn FnMut(&scenario::Flow) -> Option<Congestion>;

/// Function that returns the handover policy of a scenario with mobility management. `None` selects
/// the policy that the scenario names.
pub type ChoosePolicy<'a> = &'a mut dyn FnMut(&Scenario) -> Option<Policy>;
