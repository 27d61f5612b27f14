//! Network management of the secondary node of UEs with dual connectivity.

use super::MeasurementEvent;
use fadeout_core::Span;

/// Rules for the addition, change and release of the secondary node of UEs with a split bearer.
///
/// Standard: TS 37.340 §10.2, §10.3, §10.4, §10.5, §10.7.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondaryNodeConfig {
    /// Events A4 or B1, reported by UEs without a secondary node. The network then adds the
    /// strongest reported cell as PSCell.
    pub addition_events: Vec<MeasurementEvent>,
    /// Events about the PSCell, reported by UEs with a secondary node. After A2 the network
    /// releases the PSCell. After A3 or A5 the network changes the PSCell.
    pub pscell_events: Vec<MeasurementEvent>,
    /// Treatment of the secondary node in a handover of the master node's cell.
    pub at_handover: SecondaryAtHandover,
    /// Treatment of the secondary node after a failure of its link.
    pub after_failure: SecondaryAfterFailure,
    /// T304 of the secondary cell group.
    pub t304: Span,
}

/// Instruction about the secondary node in a handover command of the master node.
///
/// Standard: TS 37.340 §10.7, §10.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecondaryAtHandover {
    /// The secondary node is released.
    Release,
    /// The secondary node is kept, if both that node and the target accept.
    #[default]
    Keep,
    /// The cell with the best measurement becomes the PSCell, even if that cell is the present
    /// PSCell.
    Strongest,
}

/// Reaction of the network to the failure of a secondary leg.
///
/// Standard: TS 37.340 §7.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecondaryAfterFailure {
    /// The network releases the secondary node.
    #[default]
    Release,
    /// The UE enters the failed cell again.
    Restore,
    /// The UE enters the best cell of its failure report.
    Strongest,
}
