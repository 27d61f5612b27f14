//! Beams in use at both ends of a link. They are the best beams of their last measurement.

use super::beams::Beams;
use fadeout_core::Time;

/// Number of stored measurements. It is sufficient unless the time from a beam's measurement to its
/// use exceeds three measurement periods.
pub(crate) const MEMORY: usize = 4;

/// Beams of a link, with the last measurements of the direct path.
#[derive(Debug, Default)]
pub(crate) struct Aim {
    /// Time of each of the last measurements, and the loss of the direct path by blockage at that
    /// time in dB. The newest measurement is last.
    measured: [(Time, f64); MEMORY],
    in_use: Option<(BeamKey, Beams)>,
}

/// Inputs from which beams are chosen. These are the map square of the UE's position, the blockage
/// of the direct path, and the power of LOS over NLOS. The last two are rounded to whole dB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BeamKey {
    pub(crate) cell: (i64, i64),
    pub(crate) blockage_db: i64,
    pub(crate) los_lead_db: i64,
}

impl Aim {
    /// Records the blockage loss of the direct path at a beam measurement.
    pub(crate) fn record_blockage(&mut self, at: Time, blockage_db: f64) {
        self.measured.rotate_left(1);
        self.measured[MEMORY - 1] = (at, blockage_db);
    }

    /// Returns the blockage loss of the direct path at a beam measurement, dB. If the measurement
    /// is no longer stored, returns the oldest stored value.
    pub(crate) fn blockage_db(&self, at: Time) -> f64 {
        let known = self.measured.iter().rev().find(|(time, _)| *time <= at);
        known.map_or(self.measured[0].1, |(_, blockage_db)| *blockage_db)
    }

    pub(crate) fn in_use(&self) -> Option<(BeamKey, Beams)> {
        self.in_use
    }

    pub(crate) fn restore(&mut self, in_use: Option<(BeamKey, Beams)>) {
        self.in_use = in_use;
    }

    /// Returns the beams in use. Calls `choose` if the inputs have changed.
    pub(crate) fn beams(&mut self, key: BeamKey, choose: impl FnOnce() -> Beams) -> Beams {
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
