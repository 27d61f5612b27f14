//! Handover without random access.

use fadeout_core::Span;

/// How a UE gets at the uplink of its target where it skips random access.
///
/// Standard: TS 36.331 §5.3.5.4; TS 38.300 §9.2.3.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RachLess {
    /// The timing advance that it uses there.
    pub timing: TargetTiming,
    /// The uplink grant that it takes.
    pub grant: FirstGrant,
}

/// The timing advance in the target (*targetTA*, *targetNTA*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetTiming {
    /// None: the target is small (*ta0*, *zero*).
    Zero,
    /// That of the source, which stands at the same place (*mcg-PTAG*, *source*).
    Source,
}

/// The first uplink grant in the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstGrant {
    /// One with the command, from one opportunity to the next (*ul-SchedInterval*; a configured grant).
    Preallocated(Span),
    /// One that the target sends over and over while it expects the UE.
    Pdcch(Span),
}

impl FirstGrant {
    /// On PDCCH, as often as a target may well send it. No standard has a value.
    pub const ON_PDCCH: FirstGrant = FirstGrant::Pdcch(Span::from_millis(5));

    /// From one opportunity to the next.
    pub(crate) fn interval(self) -> Span {
        match self {
            FirstGrant::Preallocated(interval) | FirstGrant::Pdcch(interval) => interval,
        }
    }
}
