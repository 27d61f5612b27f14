//! The power of preambles.

use fadeout_core::{Dbm, Decibel};

/// The power that a UE sends preambles with: each one that brings no answer is followed by a stronger one.
///
/// Standard: TS 38.321 §5.1.3; TS 36.321 §5.1.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerRamping {
    /// preambleReceivedTargetPower: what the first one is to arrive with.
    pub target: Dbm,
    /// powerRampingStep.
    pub step: Decibel,
}

impl PowerRamping {
    /// The step where none is said.
    pub const STEP: Decibel = Decibel(2.0);

    /// How far below its full power a UE sends the preamble with this number, from 1 on, which with full power would
    /// arrive with `full`.
    pub(crate) fn below_full_db(&self, number: u32, full: Dbm) -> f64 {
        let arrives_dbm = self.target.0 + f64::from(number.saturating_sub(1)) * self.step.0;
        (full.0 - arrives_dbm).max(0.0)
    }
}
