//! Conditional handover: the network prepares several cells, and the UE decides when to enter one.

use super::MeasurementEvent;
use fadeout_core::Span;

/// Maximum number of prepared cells (maxNrofCondCells).
///
/// Standard: TS 38.331 §6.4.
pub const MOST_CANDIDATES: usize = 8;

/// Configuration of conditional handover.
///
/// Standard: TS 38.300 §9.2.3.4; TS 38.331 §5.3.5.13; TS 36.331 §5.3.5.9.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalConfig {
    /// Execution conditions: one or two events of kind A3, A4 or A5. The UE leaves when all
    /// conditions are fulfilled. The report settings of these events are ignored.
    pub conditions: Vec<MeasurementEvent>,
    /// Maximum number of candidates, up to [`MOST_CANDIDATES`].
    pub most_candidates: usize,
    /// Time after which a candidate releases the resources that it reserved, if the UE has not
    /// arrived.
    pub hold: Span,
    /// True if a UE whose link failed may execute the conditional handover to the candidate that it
    /// selects, instead of re-establishment (attemptCondReconfig).
    pub recovers: bool,
    /// True if the source sends copies of downlink data to prepared candidates while it still
    /// serves the UE (early data forwarding). Early data forwarding applies to bearers in
    /// acknowledged mode only.
    pub forwards_early: bool,
    /// Numbers of measurement events whose reports cause an ordinary handover command, even if
    /// candidates are prepared.
    pub commanding: Vec<u16>,
}
