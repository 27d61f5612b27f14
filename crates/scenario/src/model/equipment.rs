//! Delays of equipment: base station, core network and modem.

use super::Scenario;
use crate::keys::TIME;
use crate::shape::Presence::Default;
use crate::table::{key_table, nested};
use fadeout_core::{NodeId, Span};

key_table! {
    /// Delays of distributed and central unit, core network and modem that are neither in the
    /// radio nor in a link.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct EquipmentDelay {
        own {}
        /// Delay of each packet on the way to the UE.
        downlink: Span = TIME, Default("\"0 s\"");
        /// Delay of each packet on the way from the UE.
        uplink: Span = TIME, Default("\"0 s\"");
    }
}

nested!(EquipmentDelay);

impl Scenario {
    /// Returns the delays of the equipment at a node. All cells of the node share them. `None` if
    /// no cell of the node has any.
    pub fn equipment_delay(&self, node: NodeId) -> Option<EquipmentDelay> {
        let own = self.cells.iter().filter(|cell| cell.node == node);
        own.filter_map(|cell| cell.equipment_delay).next()
    }

    /// True if a cell belongs to the node.
    pub fn is_base_station(&self, node: NodeId) -> bool {
        self.cells.iter().any(|cell| cell.node == node)
    }
}
