//! Conditional handover: several cells are prepared, and the UE decides when it goes to which.

use super::MeasurementEvent;
use fadeout_core::Span;

/// The most cells that are prepared: maxNrofCondCells.
///
/// Standard: TS 38.331 §6.4.
pub const MOST_CANDIDATES: usize = 8;

/// Conditional handover.
///
/// Standard: TS 38.300 §9.2.3.4; TS 38.331 §5.3.5.13; TS 36.331 §5.3.5.9.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalConfig {
    /// The conditions, one or two, which must all be fulfilled; of kind A3, A4 or A5. Their reports mean nothing.
    pub conditions: Vec<MeasurementEvent>,
    /// The most candidates, up to [`MOST_CANDIDATES`].
    pub most_candidates: usize,
    /// How long a candidate holds room for a UE that does not come.
    pub hold: Span,
    /// Whether a UE whose link failed enters a candidate that it selects without re-establishment
    /// (attemptCondReconfig).
    pub recovers: bool,
    /// Whether the source sends prepared candidates copies of what it sends the UE, of bearers in acknowledged mode
    /// (early data forwarding).
    pub forwards_early: bool,
    /// Numbers of the events whose reports make the network command the UE, whatever is prepared.
    pub commanding: Vec<u16>,
}
