//! Handover without random access.

use fadeout_core::Span;

/// Uplink access to the target cell in a handover without random access.
///
/// Standard: TS 36.331 §5.3.5.4; TS 38.300 §9.2.3.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RachLess {
    /// Timing advance that the UE uses in the target cell.
    pub timing: TargetTiming,
    /// Uplink grant that the UE uses first in the target cell.
    pub grant: FirstGrant,
}

/// Timing advance in the target cell (*targetTA*, *targetNTA*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetTiming {
    /// Timing advance of zero, for a small target cell (*ta0*, *zero*).
    Zero,
    /// Timing advance of the source cell, whose antenna is at the same site (*mcg-PTAG*, *source*).
    Source,
}

/// First uplink grant in the target cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstGrant {
    /// Grant in the handover command. The time is that between two transmission opportunities
    /// (*ul-SchedInterval*, or a configured grant).
    Preallocated(Span),
    /// Grant on PDCCH that the target cell repeats with this period until the UE arrives.
    Pdcch(Span),
}

impl FirstGrant {
    /// Grant on PDCCH with a period of 5 ms. The period is an assumption, because no standard gives
    /// a value.
    pub const ON_PDCCH: FirstGrant = FirstGrant::Pdcch(Span::from_millis(5));

    /// Returns the time between two opportunities for the first uplink transmission.
    pub(crate) fn interval(self) -> Span {
        match self {
            FirstGrant::Preallocated(interval) | FirstGrant::Pdcch(interval) => interval,
        }
    }
}
