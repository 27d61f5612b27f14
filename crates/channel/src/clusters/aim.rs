//! Beams in use: the best ones at their last measurement.

use super::beams::Beams;
use fadeout_core::Time;

/// Number of stored measurements. Fewer are made between a measurement and the use of its beam,
/// unless switching takes longer than three periods.
pub(crate) const MEMORY: usize = 4;

/// Beams of a link.
#[derive(Debug, Default)]
pub(crate) struct Aim {
    /// Times of the last measurements and the direct path's loss by blockage, dB, the newest last.
    measured: [(Time, f64); MEMORY],
    in_use: Option<(Key, Beams)>,
}

/// Inputs of the choice of beams: the square of the UE's place, the blockage of the direct path,
/// and the power of LOS over NLOS. Both powers are in whole dB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Key {
    pub(crate) cell: (i64, i64),
    pub(crate) blockage_db: i64,
    pub(crate) los_lead_db: i64,
}

impl Aim {
    /// Records the blockage of the direct path at a measurement.
    pub(crate) fn record_blockage(&mut self, at: Time, blockage_db: f64) {
        self.measured.rotate_left(1);
        self.measured[MEMORY - 1] = (at, blockage_db);
    }

    /// Returns the blockage at a measurement, dB. If that is no longer stored, the oldest stored
    /// value.
    pub(crate) fn blockage_db(&self, at: Time) -> f64 {
        let known = self.measured.iter().rev().find(|(time, _)| *time <= at);
        known.map_or(self.measured[0].1, |(_, blockage_db)| *blockage_db)
    }

    pub(crate) fn in_use(&self) -> Option<(Key, Beams)> {
        self.in_use
    }

    pub(crate) fn restore(&mut self, in_use: Option<(Key, Beams)>) {
        self.in_use = in_use;
    }

    /// Returns the beams in use. Calls `choose` if the inputs have changed.
    pub(crate) fn beams(&mut self, key: Key, choose: impl FnOnce() -> Beams) -> Beams {
        match self.in_use {
            Some((known, beams)) if known == key => beams,
            _ => {
                let beams = choose();
                self.in_use = Some((key, beams));
                beams
            }
        }
    }
}
