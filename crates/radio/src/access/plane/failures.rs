//! Failures of secondary legs that the network has not handled yet.

use crate::bearer::Finder;
use crate::config::LegId;
use fadeout_core::{Time, UeId};

/// Number of the first failure. Other RRC messages have smaller numbers.
pub(super) const FIRST_NUMBER: u64 = 1 << 63;

/// Returns true if a message with this number reports a failure.
pub(crate) fn is_report(number: u64) -> bool {
    number >= FIRST_NUMBER
}

/// Failure of a secondary leg of which the master's base station does not know yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnreportedFailure {
    pub number: u64,
    pub leg: LegId,
    pub ue: UeId,
    pub finder: Finder,
    pub found_at: Time,
    /// Time at which the master's base station learns of the failure without a report. The link of
    /// that base station has then failed too. `Time::NEVER` otherwise.
    pub known_at: Time,
}

/// Failures of secondary legs that the network has not handled yet.
#[derive(Debug, Default)]
pub(crate) struct SecondaryFailures {
    pub(super) unreported: Vec<UnreportedFailure>,
    pub next_number: u64,
    /// UEs with a failure that the network must handle, each with the time at which the failure was
    /// detected.
    pub known: Vec<(UeId, Time)>,
}

impl SecondaryFailures {
    /// Returns true if a leg has failed and the failure was not reported to the master's base
    /// station yet.
    pub(crate) fn is_unreported(&self, leg: LegId) -> bool {
        self.unreported.iter().any(|it| it.leg == leg)
    }

    /// Returns true if the network has failures to handle.
    #[inline]
    pub(crate) fn are_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// Removes the failure of a leg, because the leg is released.
    pub(crate) fn forget(&mut self, leg: LegId) {
        self.unreported.retain(|it| it.leg != leg);
    }

    pub(super) fn take_failure(&mut self, number: u64) -> Option<UnreportedFailure> {
        let place = self.unreported.iter().position(|it| it.number == number)?;
        Some(self.unreported.remove(place))
    }
}
