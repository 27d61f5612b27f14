//! Dual connectivity: links between the base stations of split bearers.

use super::BuildError;
use crate::routing::Topology;
use crate::world::{Interfaces, Parts, UePaths};
use fadeout_core::CellId;
use fadeout_scenario::Scenario;

/// Lets links carry what the base stations of split bearers send each other, without mobility management.
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
        if topology.shortest(master, secondary).is_none() {
            let name = |node: fadeout_core::NodeId| scenario.nodes[node.index()].name.as_str();
            return Err(BuildError::Ue {
                ue: bearer.name(),
                reason: format!(
                    "no links connect base station \"{}\" of its `cell` with \"{}\" of its `pscell`; \
                     expected a [link] between them, such as X2 or Xn",
                    name(master),
                    name(secondary)
                ),
            });
        }
    }
    Ok(())
}
