//! Builds the parts of a world, which is one simulation, from a scenario.

mod blockage;
mod channel_file;
#[cfg(test)]
mod defaults;
mod divided;
mod dual;
mod equipment;
mod findings;
mod flow;
mod handover;
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
pub(crate) use flow::{default_congestion_control, is_datagrams};
pub(crate) use outdoors::holds;
pub(crate) use quic::DEFAULT_CONTROL;
pub(crate) use radio::{Bounds, surroundings};

use crate::directory::Directory;
use crate::routing::Topology;
use crate::world::{Parts, Tunnels};
use fadeout_core::{CellId, FlowId, Time};
use fadeout_link::RadioStates;
use fadeout_radio::access::{Policy, RadioError, StretchedPeriod};
use fadeout_record::RadioInfo;
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::congestion::Congestion;
use flow::Flows;
use std::sync::Arc;

/// Mistakes in a scenario that passed the checks of the scenario reader. Only the simulator's
/// layers can find these mistakes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The parameters do not describe a valid link.
    #[error("link \"{link}\": {reason}")]
    Link {
        /// Name of the link.
        link: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid radio access bearer.
    #[error("RAB \"{rab}\": {reason}")]
    Rab {
        /// Name of the radio access bearer.
        rab: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid blockage.
    #[error("blockage \"{blockage}\": {reason}")]
    Blockage {
        /// Name of the blockage.
        blockage: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// A file does not describe channels of the scenario.
    #[error("channel-file \"{name}\": {reason}")]
    ChannelFile {
        /// Name of the scenario's table that names the file.
        name: String,
        /// Description of the mistake, with the file, the line and the expected value.
        reason: String,
    },
    /// A group of vehicles does not fit on its road, or its trace is not valid.
    #[error("vehicles \"{group}\": {reason}")]
    Vehicles {
        /// Name of the group.
        group: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid cell.
    #[error("cell \"{cell}\": {reason}")]
    Cell {
        /// Name of the cell.
        cell: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// No links can carry the messages or data of mobility management.
    #[error("mobility-management: {reason}")]
    Backhaul {
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid UE.
    #[error("UE \"{ue}\": {reason}")]
    Ue {
        /// Name of the UE.
        ue: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The catalog does not have a name that a flow uses.
    #[error("flow \"{flow}\": there is no {kind} \"{name}\"")]
    Unknown {
        /// Name of the flow that uses the unknown name.
        flow: String,
        /// Kind of the unknown name.
        kind: &'static str,
        /// Name that the catalog does not have.
        name: String,
    },
    /// No links connect the two ends of the flow.
    #[error("flow \"{0}\": no links connect its ends")]
    NoRoute(String),
    /// The flow uses notices from a link, UE or cell that its data does not cross.
    #[error(
        "flow \"{flow}\": `link-info` names \"{link}\", which its data does not cross; \
         expected a link, UE or cell of its path"
    )]
    ForeignLink {
        /// Name of the flow.
        flow: String,
        /// Name of the link, UE or cell.
        link: String,
    },
    /// The flow uses notices of blockages from a UE that is never blocked.
    #[error(
        "flow \"{flow}\": `link-info` names UE \"{ue}\", whose SINR or gain is given, so that nothing \
         is known to block it; expected a UE without `downlink-sinr`, `uplink-sinr` and `channel-file`"
    )]
    NeverBlocked {
        /// Name of the flow.
        flow: String,
        /// Name of the UE.
        ue: String,
    },
    /// A flow of datagrams has a key that only connections can have.
    #[error(
        "flow \"{flow}\": its application \"{application}\" sends UDP datagrams, for which there is no \
         `{key}`; expected a flow without it"
    )]
    Datagrams {
        /// Name of the flow.
        flow: String,
        /// Name of the flow's application.
        application: String,
        /// Key that only connections can have.
        key: &'static str,
    },
    /// A flow responds to outages, but no link or UE sends it notices of outages.
    #[error("flow \"{flow}\": its outage-response is never told of an outage; expected {expected}")]
    Uninformed {
        /// Name of the flow.
        flow: String,
        /// Setting that is missing.
        expected: &'static str,
    },
    /// Mobility management cannot change the routes of the flow.
    #[error("flow \"{flow}\": {reason}")]
    Immobile {
        /// Name of the flow.
        flow: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The flow has a setting that a Linux kernel at its ends does not support.
    #[error("flow \"{flow}\": {reason}")]
    Kernel {
        /// Name of the flow.
        flow: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The flow has a setting that QUIC does not support.
    #[error("flow \"{flow}\": {reason}")]
    Quic {
        /// Name of the flow.
        flow: String,
        /// Key of the setting.
        key: &'static str,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// A node has a setting that needs a Linux kernel.
    #[error("node \"{node}\": {reason}")]
    Node {
        /// Name of the node.
        node: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// A handover between links is not possible as the scenario describes it.
    #[error("handover \"{handover}\": {reason}")]
    Handover {
        /// Name of the handover.
        handover: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The scenario asks for several worlds, but it cannot be divided. The text is the reason.
    #[error("worlds: {0}")]
    Undivided(String),
    /// The route of a flow, which the value names, has too many hops.
    #[error("flow \"{0}\": its route has more than 255 links")]
    LongRoute(String),
    /// A flow's datagrams are larger than the largest SDU of PDCP.
    #[error(
        "flow \"{flow}\": its datagrams are IP packets of {size} B, and PDCP of UE \"{ue}\" takes {most} B at most; \
         expected a smaller {key}"
    )]
    LongDatagram {
        /// Name of the flow.
        flow: String,
        /// Name of the UE that receives the datagrams.
        ue: String,
        /// Size of the IP packets, bytes.
        size: u64,
        /// Size of the largest SDU of PDCP, bytes.
        most: u64,
        /// Key that determines the size.
        key: &'static str,
    },
    /// Several mistakes at once.
    #[error("{}", lines(.0))]
    Several(Vec<BuildError>),
}

impl BuildError {
    /// Converts an error of the radio access, and adds the name of the cell, UE or bearer.
    pub(crate) fn of_radio(scenario: &Scenario, error: &RadioError) -> BuildError {
        radio::named_error(scenario, error)
    }
}

/// Returns the texts of several mistakes, one a line.
fn lines(errors: &[BuildError]) -> String {
    let errors: Vec<String> = errors.iter().map(BuildError::to_string).collect();
    errors.join("\n")
}

/// Maximum number of mistakes in one error message. A scenario with a mistake in each UE would have
/// thousands.
const MAX_REPORTED_ERRORS: usize = 100;

/// Collects the values of all results. If there are errors, returns each different error once.
fn all<T>(built: impl Iterator<Item = Result<T, BuildError>>) -> Result<Vec<T>, BuildError> {
    let (mut good, mut wrong) = (Vec::new(), Vec::new());
    for one in built {
        match one {
            Ok(one) => good.push(one),
            // Each mistake is listed once. Both directions of a link report the same mistake, and
            // so do all UEs that one `count` creates.
            Err(error) if !wrong.contains(&error) => wrong.push(error),
            Err(_) => {}
        }
        if wrong.len() == MAX_REPORTED_ERRORS {
            break;
        }
    }
    match wrong.len() {
        0 => Ok(good),
        1 => Err(wrong.remove(0)),
        _ => Err(BuildError::Several(wrong)),
    }
}

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
