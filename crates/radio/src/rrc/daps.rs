//! State of a UE in a handover with DAPS. The source serves the UE while the UE enters the target,
//! and until the source is released.
//!
//! Standard: TS 38.331 §5.3.5.3, §7.1.1.

use super::random_access::RandomAccess;
use crate::config::LegId;
use fadeout_core::Time;

/// Stage of a handover with DAPS.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DapsStage {
    /// The UE is in the source and enters the target.
    Entering(DapsEntry),
    /// The UE has entered the target, and the leg to the source still serves the UE.
    Both { source: LegId },
}

/// Random access of the UE in the target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DapsEntry {
    pub leg: LegId,
    pub access: RandomAccess,
    /// Time at which T304 expires.
    pub until: Time,
}

impl DapsStage {
    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        match self {
            DapsStage::Entering(DapsEntry { access, until, .. }) => access.wake_at().min(*until),
            DapsStage::Both { .. } => Time::NEVER,
        }
    }
}
