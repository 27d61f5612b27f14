//! Which beams are in use: those that were best when they were last measured.

use super::beams::Beams;
use fadeout_core::Time;

/// Measurements that are remembered: more than lie between one and the use of its beam, unless
/// switching takes longer than three of them.
pub(crate) const MEMORY: usize = 4;

/// The beams of a link.
#[derive(Debug, Default)]
pub(crate) struct Aim {
    /// Loss of the direct path by blockage at the last measurements, dB, the newest last.
    measured: [(Time, f64); MEMORY],
    in_use: Option<(Key, Beams)>,
}

/// The best beams depend on the cell of places where the UE was, and in whole decibels on the direct
/// path's blockage and on what the channel in sight has before the one out of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Key {
    pub(crate) cell: (i64, i64),
    pub(crate) blockage_db: i64,
    pub(crate) los_lead_db: i64,
}

impl Aim {
    /// A measurement finds a blockage of the direct path.
    pub(crate) fn note(&mut self, at: Time, blockage_db: f64) {
        self.measured.rotate_left(1);
        self.measured[MEMORY - 1] = (at, blockage_db);
    }

    /// The blockage that a measurement found, dB; the oldest one's, when it is forgotten.
    pub(crate) fn blockage_db(&self, at: Time) -> f64 {
        let known = self.measured.iter().rev().find(|(time, _)| *time <= at);
        known.map_or(self.measured[0].1, |(_, blockage_db)| *blockage_db)
    }

    pub(crate) fn in_use(&self) -> Option<(Key, Beams)> {
        self.in_use
    }

    pub(crate) fn put_back(&mut self, in_use: Option<(Key, Beams)>) {
        self.in_use = in_use;
    }

    /// The beams in use, which `choose` finds where others are needed.
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
