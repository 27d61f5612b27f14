//! The secondary node of UEs with dual connectivity, as the network manages it.

use super::MeasurementEvent;
use fadeout_core::Span;

/// Addition, change and release of the secondary node of UEs that have a split bearer.
///
/// Standard: TS 37.340 §10.2, §10.3, §10.4, §10.5, §10.7.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondaryNodeConfig {
    /// What UEs without a secondary node report, A4 or B1: the strongest of these cells is added.
    pub adding: Vec<MeasurementEvent>,
    /// What those with one report about its cell: A2 releases it, A3 and A5 change it.
    pub about: Vec<MeasurementEvent>,
    /// What becomes of it when the master's cell changes.
    pub at_handover: SecondaryAtHandover,
    /// What becomes of it when its link has failed.
    pub after_failure: SecondaryAfterFailure,
    /// T304 of the secondary cell group.
    pub t304: Span,
}

/// What a command to another master's cell says of the secondary node.
///
/// Standard: TS 37.340 §10.7, §10.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecondaryAtHandover {
    /// It is released.
    Release,
    /// It stays, if the target and it agree.
    #[default]
    Keep,
    /// The cell that is measured best takes its place, which may be the same.
    Strongest,
}

/// What the network does about a secondary leg that has failed.
///
/// Standard: TS 37.340 §7.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecondaryAfterFailure {
    /// The secondary node is released.
    #[default]
    Release,
    /// The UE enters its cell again.
    Restore,
    /// It enters the cell that its report says to be the best.
    Strongest,
}
