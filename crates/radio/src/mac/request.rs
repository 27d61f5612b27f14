//! Scheduling requests, by which a UE asks for an uplink grant. The content of a buffer status
//! report is in [`BufferStatus`](crate::wire::BufferStatus).

use fadeout_core::{Span, data};

/// Configuration of scheduling requests and of the base station's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestConfig {
    /// Slots between two opportunities (SR periodicity).
    pub period: u32,
    /// Slot of the first opportunity, below the period. In TDD the first opportunity is the next
    /// slot with PUCCH symbols. `None` if each UE draws its own offset uniformly from its random
    /// stream.
    pub offset: Option<u32>,
    /// Minimum time between two requests of a UE (sr-ProhibitTimer).
    pub prohibit: Span,
    /// Time after which a UE with data sends another request, if it got no grant (retxBSR-Timer).
    pub repeat_after: Span,
    /// Number of consecutive requests without a used grant, after which the radio link fails
    /// (sr-TransMax). In the standards the UE first attempts random access, which is assumed to
    /// fail here.
    ///
    /// Standard: TS 38.321 §5.4.4; TS 36.321 §5.4.4; TS 38.331 §5.3.10.3.
    pub most: u32,
    /// Bytes of the first grant after a request. The base station does not know yet how much data
    /// waits.
    pub first_grant: u32,
}

/// SR periodicities in slots. LTE's periodicities are in subframes. NR's periodicities follow
/// SchedulingRequestResourceConfig at each subcarrier spacing, without periods below a slot.
///
/// Standard: TS 36.213 Table 10.1.5-1; TS 38.331 §6.3.2.
const LTE_PERIODS: [[u32; 7]; 1] = data::words(PERIODS, "lte", 2);
const NR_PERIODS: [[u32; 10]; 4] = data::words(PERIODS, "nr", 2);
const PERIODS: &str = include_str!("../../data/sr_periods.csv");

/// Returns the SR periodicities in slots. `mu` is NR's numerology, or `None` for LTE.
pub fn request_periods(mu: Option<u8>) -> &'static [u32] {
    match mu {
        None => &LTE_PERIODS[0],
        Some(mu) => &NR_PERIODS[usize::from(mu.min(3))],
    }
}
