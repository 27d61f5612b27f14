//! Transmit power of preambles.

use fadeout_core::{Dbm, Decibel};

/// Power ramping of preambles: the UE sends each preamble with more power than the preamble before
/// it, until one is answered.
///
/// Standard: TS 38.321 §5.1.3; TS 36.321 §5.1.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerRamping {
    /// Received power that the first preamble aims at (preambleReceivedTargetPower).
    pub target: Dbm,
    /// Power increase from one preamble to the next (powerRampingStep).
    pub step: Decibel,
}

impl PowerRamping {
    /// Default of the step.
    pub const STEP: Decibel = Decibel(2.0);

    /// Returns the number of decibels by which a preamble's power is below the UE's maximum power.
    /// `number` counts preambles from 1. `full` is the received power if the UE sends with maximum
    /// power.
    pub(crate) fn below_full_db(&self, number: u32, full: Dbm) -> f64 {
        let arrives_dbm = self.target.0 + f64::from(number.saturating_sub(1)) * self.step.0;
        (full.0 - arrives_dbm).max(0.0)
    }
}
