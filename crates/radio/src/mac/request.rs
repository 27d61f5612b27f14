//! How a UE asks for the uplink: scheduling requests. What a buffer status report says is
//! [`BufferStatus`](crate::wire::BufferStatus).

use fadeout_core::{Span, data};

/// When UEs may send scheduling requests, and what follows one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestConfig {
    /// Slots between two opportunities (SR periodicity).
    pub period: u32,
    /// Slot of the first opportunity, below the period; without it each UE draws its own from
    /// its random stream, uniformly. In TDD it is the first slot from there on with PUCCH symbols.
    pub offset: Option<u32>,
    /// Least time between two requests that a UE sends (sr-ProhibitTimer).
    pub prohibit: Span,
    /// Time without a grant after which a UE with data asks again (retxBSR-Timer).
    pub repeat_after: Span,
    /// Requests in a row without a grant that takes anything, after which the radio link has failed
    /// (sr-TransMax; random access, which would follow, is taken to fail too).
    ///
    /// Standard: TS 38.321 §5.4.4; TS 36.321 §5.4.4; TS 38.331 §5.3.10.3.
    pub most: u32,
    /// Bytes that the first grant after a request has room for, as the base station does not know
    /// yet what waits.
    pub first_grant: u32,
}

/// SR periodicities in slots: of LTE in subframes, and of NR at each spacing as
/// SchedulingRequestResourceConfig has them, the periods below a slot aside.
///
/// Standard: TS 36.213 Table 10.1.5-1; TS 38.331 §6.3.2.
const LTE_PERIODS: [[u32; 7]; 1] = data::words(PERIODS, "lte", 2);
const NR_PERIODS: [[u32; 10]; 4] = data::words(PERIODS, "nr", 2);
const PERIODS: &str = include_str!("../../../../data/sr_periods.csv");

/// The SR periodicities in slots that LTE (`None`) and NR's numerology `mu` have.
pub fn request_periods(mu: Option<u8>) -> &'static [u32] {
    match mu {
        None => &LTE_PERIODS[0],
        Some(mu) => &NR_PERIODS[usize::from(mu.min(3))],
    }
}
