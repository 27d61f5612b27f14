//! Dual connectivity: links between the base stations of split bearers.

use super::BuildError;
use crate::routing::Topology;
use crate::world::{Interfaces, Parts, UePaths};
use fadeout_core::{CellId, NodeId};
use fadeout_radio::rlc::Generation;
use fadeout_scenario::{Scenario, Ue};

/// Lets links carry the messages and data between the base stations of split bearers, in scenarios
/// without mobility management.
pub(super) fn add(
    scenario: &Scenario,
    mut topology: Topology,
    parts: &mut Parts,
) -> Result<(), BuildError> {
    check_links(scenario, &mut topology, parts)?;
    if scenario.bearers().any(|bearer| bearer.split().is_some()) {
        let interfaces = Interfaces::default();
        parts.paths = Some(UePaths::new(topology, Vec::new(), interfaces));
    }
    Ok(())
}

/// Checks that links connect the base stations of split bearers.
pub(super) fn check_links(
    scenario: &Scenario,
    topology: &mut Topology,
    parts: &Parts,
) -> Result<(), BuildError> {
    for bearer in scenario.bearers().filter(|bearer| bearer.split().is_some()) {
        let (Some(master), Some(secondary)) = (bearer.described.cell, bearer.described.pscell)
        else {
            continue;
        };
        let base = |cell: usize| parts.directory.base(CellId(cell as u32));
        let (master, secondary) = (base(master), base(secondary));
        if topology.wired((master, secondary)).is_none() {
            let name = |node: fadeout_core::NodeId| scenario.nodes[node.index()].name.as_str();
            return Err(BuildError::Ue {
                ue: bearer.name(),
                reason: format!(
                    "no links connect base station \"{}\" of its `cell` with \"{}\" of its \
                     `pscell`; expected a [link] between them, such as X2 or Xn",
                    name(master),
                    name(secondary)
                ),
            });
        }
    }
    Ok(())
}

/// True if the network may give the UE a secondary node.
pub(super) fn takes_secondary(scenario: &Scenario, ue: &Ue) -> bool {
    let mobility = scenario.mobility.as_ref();
    let is_managed = mobility.is_some_and(|mobility| mobility.secondary_node.is_some());
    is_managed && (ue.split.is_some() || ue.drbs.iter().any(|drb| drb.split.is_some()))
}

/// Returns the technology of the secondary node's cells. `None` if the UE gets no secondary node.
/// `first` is the technology of the master node. `second` is the technology of the UE's `pscell`,
/// and `None` without a `pscell`.
pub(super) fn generation_of(
    scenario: &Scenario,
    (first, second): (Generation, Option<Generation>),
) -> Result<Option<Generation>, String> {
    let mobility = scenario.mobility.as_ref();
    let node = mobility.and_then(|mobility| mobility.secondary_node.as_ref());
    let other = match first {
        Generation::Lte => Generation::Nr,
        Generation::Nr => Generation::Lte,
    };
    let added = match node.and_then(|node| node.adds_other_generation()) {
        Some(true) => other,
        Some(false) if first == Generation::Nr => first,
        Some(false) => {
            return Err(
                "event a4 of `secondary-node` with an LTE cell as master, whose secondary \
                nodes are NR cells; expected b1"
                    .to_owned(),
            );
        }
        None if node.is_some() && second.is_none() => other,
        None => return Ok(second),
    };
    match second {
        Some(second) if second != added => Err(
            "its `pscell` has another generation than the cells that `secondary-node` adds; \
             expected b1 for a `pscell` of the other generation than its `cell`, a4 for one of the \
             same"
                .to_owned(),
        ),
        _ => Ok(Some(added)),
    }
}

/// Checks that at least one UE can get a secondary node, and that links connect the base stations.
pub(super) fn check_nodes(
    scenario: &Scenario,
    topology: &mut Topology,
    parts: &Parts,
) -> Result<(), BuildError> {
    let mobility = scenario.mobility.as_ref();
    if mobility.is_none_or(|mobility| mobility.secondary_node.is_none()) {
        return Ok(());
    }
    if !scenario.ues.iter().any(|ue| takes_secondary(scenario, ue)) {
        return Err(BuildError::Backhaul {
            reason: "`secondary-node`, but no UE has a `split` bearer; expected one, such as \
                `split = {}` of a [ue.NAME], or no `secondary-node`"
                .to_owned(),
        });
    }
    let base = |cell: usize| parts.directory.base(CellId(cell as u32));
    let name = |node: NodeId| scenario.nodes[node.index()].name.as_str();
    for one in 0..scenario.cells.len() {
        for other in 0..one {
            let (master, secondary) = (base(one), base(other));
            let may_be_both = scenario.cells[one].carrier != scenario.cells[other].carrier;
            if may_be_both && topology.wired((master, secondary)).is_none() {
                return Err(BuildError::Backhaul {
                    reason: format!(
                        "`secondary-node`, but no links connect base station \"{}\" with \"{}\"; expected a [link] \
                         between them, such as X2 or Xn",
                        name(master),
                        name(secondary)
                    ),
                });
            }
        }
    }
    Ok(())
}
