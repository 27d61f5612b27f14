//! 3G cells under mobility management, and the links that carry a UE's packets in each of them.

use super::BuildError;
use crate::directory::Directory;
use crate::utra::{is_of_cell, is_utra, nodes};
use crate::world::Utran;
use fadeout_core::{NodeId, UeId};
use fadeout_radio::access::{MobilityConfig, Signalling};
use fadeout_scenario::{self as scenario, EventKind, Scenario};
use std::collections::BTreeSet;

fn refuse(cell: &scenario::Cell, reason: impl Into<String>) -> BuildError {
    BuildError::Cell {
        cell: cell.name.clone(),
        reason: reason.into(),
    }
}

/// Returns the links that carry the packets of UEs in 3G cells.
///
/// # Errors
/// Returns an error if the scenario has a 3G cell but no UE can be handed over to it. A setting
/// that names a 3G cell in a role that a 3G cell cannot have is an error too.
pub(super) fn utran_links(scenario: &Scenario, directory: &Directory) -> Result<Utran, BuildError> {
    let mut utran = Utran::default();
    let events = scenario.mobility.iter().flat_map(|it| &it.events);
    let about = events.filter(|event| event.is_to_utra() || event.kind == EventKind::E3a);
    let Some(first) = scenario.cells.iter().find(|cell| is_utra(cell)) else {
        return match about.map(|event| event.kind.word()).next() {
            Some(word) => Err(BuildError::Backhaul {
                reason: format!(
                    "event {word} is about 3G cells, but there is none; expected a [cell.NAME] \
                     with `radio = \"utra\"`"
                ),
            }),
            None => Ok(utran),
        };
    };
    check(scenario, first)?;
    for cell in scenario.cells.iter().filter(|cell| is_utra(cell)) {
        check_cell(scenario, cell)?;
        for (index, ue) in scenario.ues.iter().enumerate() {
            let carries = |rab: &&scenario::Rab| rab.from == cell.node && rab.to == ue.node;
            let rabs = scenario.rabs.iter().enumerate();
            let mut rabs = rabs.filter(|(_, rab)| carries(rab));
            let Some((rab, _)) = rabs.next().filter(|_| ue.sinr.is_none()) else {
                if ue.sinr.is_some() {
                    continue;
                }
                let name = |node: NodeId| scenario.nodes[node.index()].name.as_str();
                let reason = format!(
                    "no [rab] carries packets of UE \"{0}\" in this 3G cell; expected a [rab.NAME] \
                     with `from = \"{1}\"` and `to = \"{0}\"`",
                    name(ue.node),
                    name(cell.node),
                );
                return Err(refuse(cell, reason));
            };
            let radio_path = (UeId(index as u32), cell.node);
            utran.add(radio_path, directory.rab(rab));
        }
    }
    Ok(utran)
}

fn check(scenario: &Scenario, first: &scenario::Cell) -> Result<(), BuildError> {
    let Some(mobility) = &scenario.mobility else {
        let reason = "a 3G cell without handovers to it; expected [mobility-management] with an \
            event b1 or b2 that has a `threshold-rscp`, or a [rab] alone";
        return Err(refuse(first, reason));
    };
    if !mobility.events.iter().any(|event| event.is_to_utra()) {
        let reason = "no event leads to this 3G cell; expected b1 or b2 with a `threshold-rscp`, \
            such as \"-100 dBm\"";
        return Err(refuse(first, reason));
    }
    let crossing = scenario.handovers.iter();
    let mut crossing = crossing.flat_map(|handover| [handover.from, handover.to]);
    if crossing.any(|medium| is_of_cell(scenario, medium)) {
        let reason =
            "its [rab] also has a [handover]; expected measurements or given times, not both";
        return Err(refuse(first, reason));
    }
    Ok(())
}

fn check_cell(scenario: &Scenario, cell: &scenario::Cell) -> Result<(), BuildError> {
    let mut others = scenario.cells.iter().filter(|cell| !is_utra(cell));
    if let Some(other) = others.clone().find(|other| other.node == cell.node) {
        let reason = format!(
            "its node is that of cell \"{}\"; expected a node of its own for the RNC, with links \
             to the core network",
            other.name
        );
        return Err(refuse(cell, reason));
    }
    if let Some(other) = others.find(|other| other.carrier == cell.carrier) {
        let reason = format!(
            "its `carrier` is that of cell \"{}\"; expected a carrier that no other technology \
             uses",
            other.name
        );
        return Err(refuse(cell, reason));
    }
    let index = scenario
        .cells
        .iter()
        .position(|other| other.name == cell.name);
    for ue in &scenario.ues {
        let mut named = ue.secondary_cells.iter().copied().map(Some);
        let keys = [("cell", ue.cell == index), ("pscell", ue.pscell == index)];
        let is_secondary = named.any(|cell| cell == index);
        let mut keys = keys.into_iter().chain([("secondary-cells", is_secondary)]);
        if let Some((key, _)) = keys.find(|(_, is_named)| *is_named) {
            return Err(BuildError::Ue {
                ue: ue.name.clone(),
                reason: format!(
                    "`{key}` names the 3G cell \"{}\"; expected an LTE or NR cell, from which the \
                     UE may be handed over to 3G",
                    cell.name
                ),
            });
        }
    }
    let names = |other: &&scenario::Cell| {
        other
            .secondary_cells
            .iter()
            .copied()
            .map(Some)
            .any(|it| it == index)
    };
    if let Some(other) = scenario.cells.iter().find(names) {
        let reason = format!("`secondary-cells` names the 3G cell \"{}\"", cell.name);
        return Err(refuse(other, reason));
    }
    Ok(())
}

/// Marks the base stations of 3G cells. A marked base station exchanges messages with other base
/// stations through the core, even if direct links exist.
///
/// Standard: TS 23.401 §5.5.2.1.
pub(super) fn mark(scenario: &Scenario, config: &mut MobilityConfig) {
    config.utra = nodes(scenario).map(|node| node.0).collect();
    let Signalling::Links { unconnected } = &mut config.signalling else {
        return;
    };
    let stations: BTreeSet<u32> = config.stations.iter().copied().collect();
    for &utra in &config.utra {
        for &other in stations.iter().filter(|&&other| other != utra) {
            unconnected.extend([(utra, other), (other, utra)]);
        }
    }
}
