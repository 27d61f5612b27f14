//! From a scenario to the parts of a world.

mod blockage;
mod channel_file;
#[cfg(test)]
mod defaults;
mod divided;
mod dual;
mod findings;
mod flow;
mod handover;
mod kernel;
pub(crate) mod link;
mod mobility;
mod multipath;
mod outdoors;
mod outlook;
mod prediction;
mod rab;
mod radio;
mod source_limit;
mod switching;
mod utra;
mod vehicles;

pub(crate) use channel_file::recorded as recordings;
pub(crate) use divided::{Divided, divided};
pub(crate) use flow::{default_congestion_control, is_datagrams};
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

/// Mistakes that a checked scenario can still have, as only the layers themselves see them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A link's parameters do not make a link.
    #[error("link \"{link}\": {reason}")]
    Link {
        /// Its name.
        link: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// The parameters of a radio access bearer do not make one.
    #[error("RAB \"{rab}\": {reason}")]
    Rab {
        /// Its name.
        rab: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A blockage's parameters do not make one.
    #[error("blockage \"{blockage}\": {reason}")]
    Blockage {
        /// Its name.
        blockage: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A file does not describe channels of this scenario.
    #[error("channel-file \"{name}\": {reason}")]
    ChannelFile {
        /// Name of its table.
        name: String,
        /// The file, the line, the mistake, and what was expected.
        reason: String,
    },
    /// A group of vehicles cannot be on its road, or its trace is none.
    #[error("vehicles \"{group}\": {reason}")]
    Vehicles {
        /// Its name.
        group: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A cell's parameters do not make one.
    #[error("cell \"{cell}\": {reason}")]
    Cell {
        /// Its name.
        cell: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// Links do not carry what mobility management sends.
    #[error("mobility-management: {reason}")]
    Backhaul {
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A UE's parameters do not make one.
    #[error("UE \"{ue}\": {reason}")]
    Ue {
        /// Its name.
        ue: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A name that the catalog does not have.
    #[error("flow \"{flow}\": there is no {kind} \"{name}\"")]
    Unknown {
        /// The flow.
        flow: String,
        /// Kind of name.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// No links connect the ends of a flow.
    #[error("flow \"{0}\": no links connect its ends")]
    NoRoute(String),
    /// A link, UE or cell that tells a flow whose data does not cross it.
    #[error(
        "flow \"{flow}\": `link-info` names \"{link}\", which its data does not cross; \
         expected a link, UE or cell of its path"
    )]
    ForeignLink {
        /// The flow.
        flow: String,
        /// The link, UE or cell.
        link: String,
    },
    /// A UE that tells a flow of blockages which it never has.
    #[error(
        "flow \"{flow}\": `link-info` names UE \"{ue}\", whose SINR or gain is given, so that nothing \
         is known to block it; expected a UE without `downlink-sinr`, `uplink-sinr` and `channel-file`"
    )]
    NeverBlocked {
        /// The flow.
        flow: String,
        /// The UE.
        ue: String,
    },
    /// A key of connections for a flow of datagrams.
    #[error(
        "flow \"{flow}\": its application \"{application}\" sends UDP datagrams, for which there is no \
         `{key}`; expected a flow without it"
    )]
    Datagrams {
        /// The flow.
        flow: String,
        /// Its application.
        application: String,
        /// The key.
        key: &'static str,
    },
    /// A response to outages that nobody tells of.
    #[error("flow \"{flow}\": its outage-response is never told of an outage; expected {expected}")]
    Uninformed {
        /// The flow.
        flow: String,
        /// The thing that is missing.
        expected: &'static str,
    },
    /// A flow that mobility management cannot move.
    #[error("flow \"{flow}\": {reason}")]
    Immobile {
        /// The flow.
        flow: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A flow that kernels cannot have.
    #[error("flow \"{flow}\": {reason}")]
    Kernel {
        /// The flow.
        flow: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A node asks for what a kernel alone can do.
    #[error("node \"{node}\": {reason}")]
    Node {
        /// Its name.
        node: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A handover between links that cannot be built.
    #[error("handover \"{handover}\": {reason}")]
    Handover {
        /// Its name.
        handover: String,
        /// The mistake, and what was expected.
        reason: String,
    },
    /// A scenario that is to be divided into worlds, and is of one piece.
    #[error("worlds: {0}")]
    Undivided(String),
    /// A route with too many hops.
    #[error("flow \"{0}\": its route has more than 255 links")]
    LongRoute(String),
    /// Datagrams that PDCP does not take.
    #[error(
        "flow \"{flow}\": its datagrams are IP packets of {size} B, and PDCP of UE \"{ue}\" takes {most} B at most; \
         expected a smaller size"
    )]
    LongDatagram {
        /// The flow.
        flow: String,
        /// The UE that they come to.
        ue: String,
        /// Size of the IP packets, bytes.
        size: u64,
        /// The largest SDU of PDCP, bytes.
        most: u64,
    },
    /// Several mistakes.
    #[error("{}", lines(.0))]
    Several(Vec<BuildError>),
}

impl BuildError {
    /// A mistake of the radio access, by the name of what it is about.
    pub(crate) fn of_radio(scenario: &Scenario, error: &RadioError) -> BuildError {
        radio::named_error(scenario, error)
    }
}

/// Mistakes one below the other.
fn lines(errors: &[BuildError]) -> String {
    let errors: Vec<String> = errors.iter().map(BuildError::to_string).collect();
    errors.join("\n")
}

/// Most mistakes that are told at once. A scenario with one in each UE has thousands.
const MOST_TOLD: usize = 100;

/// All that could be built, or each mistake once.
fn all<T>(built: impl Iterator<Item = Result<T, BuildError>>) -> Result<Vec<T>, BuildError> {
    let (mut good, mut wrong) = (Vec::new(), Vec::new());
    for one in built {
        match one {
            Ok(one) => good.push(one),
            // Two directions of a link, and UEs of a `count`, have the same mistake.
            Err(error) if !wrong.contains(&error) => wrong.push(error),
            Err(_) => {}
        }
        if wrong.len() == MOST_TOLD {
            break;
        }
    }
    match wrong.len() {
        0 => Ok(good),
        1 => Err(wrong.remove(0)),
        _ => Err(BuildError::Several(wrong)),
    }
}

/// Builds the parts of a world.
///
/// # Errors
/// [`BuildError`] where the scenario passed its own checks but a layer refuses it.
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
    let ways = (0..scenario.links.len()).flat_map(|index| [(index, false), (index, true)]);
    parts.links = all(ways.map(|(index, is_reverse)| {
        let id = directory.link(index)[usize::from(is_reverse)];
        let of_source = source_limit::of(scenario, topology, index)?;
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
    // Most have two ends.
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

/// Where the tunnels of the core network end.
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

/// The names and numbers that captures of the radio need.
pub(crate) fn radio_info(scenario: &Scenario, parts: &Parts) -> RadioInfo {
    radio::info(scenario, parts.radio.as_ref())
}

/// Bounds of a bearer's rate in a cell; `None` where that cannot be built.
pub(crate) fn bounds(
    scenario: &Scenario,
    bearer: &scenario::Bearer<'_>,
    cell: CellId,
) -> Option<Bounds> {
    radio::bounds(&scenario.cells[cell.index()], bearer)
}

/// Periods of uplink occasions of a cell that its duplex pattern stretches. None if the cell cannot
/// be built.
pub(crate) fn stretched(described: &scenario::Cell) -> Vec<StretchedPeriod> {
    let cell = radio::cell(described);
    cell.map_or_else(|_| Vec::new(), |cell| StretchedPeriod::of(&cell))
}

/// The cell that serves each UE at the start; none serves one that has a choice where the radio access cannot be built.
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

/// The same where a UE that names no cell has a choice, for which the radio access is built; none without.
fn chosen(scenario: &Scenario) -> Result<Option<Vec<Option<CellId>>>, BuildError> {
    let has_choice = scenario.cells.len() > 1 && scenario.ues.iter().any(|ue| ue.cell.is_none());
    if !has_choice {
        return Ok(None);
    }
    let radio = radio::build(scenario)?;
    Ok(Some(radio::serving(radio.as_ref(), scenario)))
}

/// Builds a world that `probe` looks at.
///
/// # Errors
/// As [`BuildError`] says.
pub fn build<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
) -> Result<crate::World<P>, BuildError> {
    build_with(scenario, probe, &mut |_| None)
}

/// Builds a world whose flows may run a congestion control of the user's own: `choose` is asked
/// for each end of each flow, on a multipath flow without coupling for each end of each path, and
/// what the scenario names holds where it answers `None`.
///
/// # Errors
/// As [`BuildError`] says.
pub fn build_with<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
    choose: ChooseCongestion<'_>,
) -> Result<crate::World<P>, BuildError> {
    let policy = &mut |_: &Scenario| None;
    let congestion = choose;
    build_with_own(scenario, probe, Own { congestion, policy })
}

/// As [`build_with`], and the policy of handover may be the user's own, too.
///
/// # Errors
/// As [`BuildError`] says.
pub fn build_with_own<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
    own: Own<'_>,
) -> Result<crate::World<P>, BuildError> {
    let end = Time::ZERO.saturating_add(scenario.duration);
    Ok(crate::World::new(parts(scenario, own)?, end, probe))
}

/// Checks that a scenario makes a world, or several if it is divided, without keeping it.
///
/// # Errors
/// [`BuildError`] for a scenario that a layer refuses.
pub fn check_with_own(scenario: &Scenario, own: Own<'_>) -> Result<(), BuildError> {
    match scenario.worlds {
        scenario::Worlds::One => parts(scenario, own).map(drop),
        scenario::Worlds::ByCarrier => divided(scenario, own.congestion).map(drop),
    }
}

/// Parts of a world that may be the user's own.
pub struct Own<'a> {
    /// Congestion controls.
    pub congestion: ChooseCongestion<'a>,
    /// The policy of handover.
    pub policy: ChoosePolicy<'a>,
}

impl std::fmt::Debug for Own<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own")
    }
}

/// Chooses the congestion control of an end of a flow; `None` for the scenario's.
pub type ChooseCongestion<'a> = &'a mut dyn FnMut(&scenario::Flow) -> Option<Congestion>;

/// Chooses the policy of handover of a scenario with mobility management; `None` for the one that it names.
pub type ChoosePolicy<'a> = &'a mut dyn FnMut(&Scenario) -> Option<Policy>;
