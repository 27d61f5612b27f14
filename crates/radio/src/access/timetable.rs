//! Handovers at given times.

use super::RadioAccess;
use crate::config::RadioError;
use crate::rrc::timetable::{Timetable, TimetableEntry};
use fadeout_core::UeId;
use std::collections::BTreeSet;

impl RadioAccess {
    /// Lets the network command handovers at given times, which increase for each UE. The UEs must
    /// be under mobility management.
    ///
    /// # Errors
    /// Returns an error for a UE whose cell cannot change, and for a target that the UE does not
    /// measure.
    pub fn follow_timetable(&mut self, entries: &[TimetableEntry]) -> Result<(), RadioError> {
        let ues: BTreeSet<UeId> = entries.iter().map(|it| it.ue).collect();
        for ue in ues {
            let error = |value: &str, expected: &str| RadioError::Ue {
                ue: ue.index(),
                what: "timetable",
                value: value.into(),
                expected: expected.into(),
            };
            if !self.is_managed(ue) {
                return Err(error(
                    "of a UE with given SINR, which stays in its cell",
                    "a UE with a channel, or with gains or received powers in [channel-file]",
                ));
            }
            let own = Timetable::of(ue, entries);
            let mut are_measured = false;
            self.with_managed(ue, |managed| {
                are_measured = own.targets().all(|it| managed.cells.contains(&it));
                managed.state.timetable = own;
            });
            if !are_measured {
                return Err(error(
                    "with a cell that the UE does not measure",
                    "cells of the generation of the UE's cell, or an event `b1`",
                ));
            }
        }
        Ok(())
    }
}
