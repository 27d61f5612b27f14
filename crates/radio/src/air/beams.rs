//! Beams of the paths that serve, for UEs that detect their failure and recover from it.

use super::ue::latest;
use super::{Air, Signal};
use crate::config::LegId;
use fadeout_core::{Motion, Time, UeId};

/// The beam that recovery may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// RSRP by it.
    pub rsrp_dbm: f64,
    /// By how much it is stronger than the beam in use, dB.
    pub lead_db: f64,
}

/// The air with its beams.
pub(crate) struct Beamed<'a>(pub &'a mut Air);

impl Beamed<'_> {
    /// The UE itself finds out that beams of its paths have failed.
    pub(crate) fn tell_of_beams(&mut self, ue: UeId) {
        let air = &mut *self.0;
        for index in air.ues[ue.index()].carriers.iter().cloned().flatten() {
            air.channels[index].tell_of_beams();
        }
    }

    /// While the beams of a leg fail, nobody hears of better ones.
    pub(crate) fn hold_beams(&mut self, leg: LegId, now: Time, is_failing: bool) {
        if let &Signal::Paths(serving, _) = &self.0.legs[leg.index()].signal {
            self.0.channels[serving].hold_beams(now, is_failing);
        }
    }

    /// What a UE finds of other beams of a leg's cell, which it uses from now on if `is_taken`. None of a leg without
    /// paths.
    pub(crate) fn candidate<M: Motion>(
        &mut self,
        leg: LegId,
        (now, is_taken): (Time, bool),
        motion: &mut M,
    ) -> Option<Candidate> {
        let air = &mut *self.0;
        let leg = &air.legs[leg.index()];
        let &Signal::Paths(serving, _) = &leg.signal else {
            return None;
        };
        let cell = &air.cells[leg.cell.index()];
        let at = latest(now, cell.config.gain_period);
        let ue = &mut air.ues[leg.ue.index()];
        let placement = ue.place(at, motion);
        let ends = cell.config.ends((placement.node, at), placement.ue, motion);
        let channel = &mut air.channels[serving];
        let in_use_db = channel.gain_db;
        let found_db = channel.candidate_db(at, &ends, is_taken);
        if is_taken {
            // The gain in use is of other beams.
            air.paths[serving].due_at = Time::ZERO;
        }
        Some(Candidate {
            rsrp_dbm: cell.levels.element_dbm + found_db,
            lead_db: found_db - in_use_db,
        })
    }
}
