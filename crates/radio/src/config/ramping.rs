//! Transmit power of preambles.

use fadeout_core::{Dbm, Decibel};

/// Power ramping of preambles: the UE sends each preamble with more power than the previous
/// preamble, until the base station answers.
///
/// Standard: TS 38.321 §5.1.3; TS 36.321 §5.1.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerRamping {
    /// Target of the power with which the base station receives the first preamble
    /// (preambleReceivedTargetPower).
    pub target: Dbm,
    /// Power increase from one preamble to the next (powerRampingStep).
    pub step: Decibel,
}

impl PowerRamping {
    /// Default of [`PowerRamping::step`].
    pub const STEP: Decibel = Decibel(2.0);

    /// Returns the reduction of a preamble's power below the UE's maximum power, in dB. `number` is
    /// the number of the preamble, counted from 1. `full` is the power that the base station
    /// receives if the UE sends with maximum power.
    pub(crate) fn below_full_db(&self, number: u32, full: Dbm) -> f64 {
        let arrives_dbm = self.target.0 + f64::from(number.saturating_sub(1)) * self.step.0;
        (full.0 - arrives_dbm).max(0.0)
    }
}
