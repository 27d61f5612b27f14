//! What of a scenario is of 3G under mobility management.

use fadeout_core::NodeId;
use fadeout_scenario::{self as scenario, Medium, Scenario};

/// Whether a cell is of 3G.
pub(crate) fn is_utra(cell: &scenario::Cell) -> bool {
    cell.radio.name == "utra"
}

/// The nodes of cells of 3G.
pub(crate) fn nodes(scenario: &Scenario) -> impl Iterator<Item = NodeId> + '_ {
    let cells = scenario.cells.iter().filter(|cell| is_utra(cell));
    cells.map(|cell| cell.node)
}

/// Whether a medium carries a UE's packets while it is in 3G, and no others.
pub(crate) fn is_of_cell(scenario: &Scenario, medium: Medium) -> bool {
    let Medium::Rab(rab) = medium else {
        return false;
    };
    let rab = &scenario.rabs[rab];
    let is_to_ue = scenario.ues.iter().any(|ue| ue.node == rab.to);
    is_to_ue && nodes(scenario).any(|node| node == rab.from)
}
