//! Where a UE stands that its source serves on while it enters the target, or until it is told to leave it.
//!
//! Standard: TS 38.331 §5.3.5.3, §7.1.1.

use super::random_access::RandomAccess;
use crate::config::LegId;
use fadeout_core::Time;

/// The second cell of a UE.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dual {
    /// It is in the source, and enters the target.
    Entering(Entering),
    /// It is in the target, and the source's leg serves it on.
    Both { source: LegId },
}

/// Random access in the target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entering {
    pub leg: LegId,
    pub access: RandomAccess,
    /// When T304 expires.
    pub until: Time,
}

impl Dual {
    /// When something is to be done next.
    pub(crate) fn wake_at(&self) -> Time {
        match self {
            Dual::Entering(Entering { access, until, .. }) => access.wake_at().min(*until),
            Dual::Both { .. } => Time::NEVER,
        }
    }
}
