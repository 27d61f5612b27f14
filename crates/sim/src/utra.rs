//! Cells and bearers of 3G in a scenario with mobility management.

use fadeout_core::NodeId;
use fadeout_scenario::{self as scenario, Medium, Scenario};

/// True if a cell is a 3G cell.
pub(crate) fn is_utra(cell: &scenario::Cell) -> bool {
    cell.radio.name == "utra"
}

/// Returns the nodes of 3G cells.
pub(crate) fn nodes(scenario: &Scenario) -> impl Iterator<Item = NodeId> + '_ {
    let cells = scenario.cells.iter().filter(|cell| is_utra(cell));
    cells.map(|cell| cell.node)
}

/// True if the link or bearer carries packets of a UE only while the UE is in a 3G cell.
pub(crate) fn is_of_cell(scenario: &Scenario, medium: Medium) -> bool {
    let Medium::Rab(rab) = medium else {
        return false;
    };
    let rab = &scenario.rabs[rab];
    let is_to_ue = scenario.ues.iter().any(|ue| ue.node == rab.to);
    is_to_ue && nodes(scenario).any(|node| node == rab.from)
}
