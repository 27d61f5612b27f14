//! Beams of serving paths, for UEs that detect beam failure and recover from it.

use super::ue::latest;
use super::{Air, SinrSource};
use crate::config::LegId;
use fadeout_core::{Motion, Time, UeId};

/// Beam that a beam failure recovery may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BeamCandidate {
    /// RSRP of the beam in dBm.
    pub rsrp_dbm: f64,
    /// Advantage over the beam in use, dB.
    pub lead_db: f64,
}

/// Access to the air for beam failure detection.
pub(crate) struct BeamView<'a>(pub &'a mut Air);

impl BeamView<'_> {
    /// Disables the channels' own beam failure model on the paths of a UE, because the UE detects
    /// beam failures itself.
    pub(crate) fn disable_beam_failure_model(&mut self, ue: UeId) {
        let air = &mut *self.0;
        for index in air.ues[ue.index()].carriers.iter().cloned().flatten() {
            air.channels[index].disable_beam_failure_model();
        }
    }

    /// Keeps the present beams of a leg in use while they fail (`is_failing`). The UE cannot report
    /// better beams during that time.
    pub(crate) fn hold_beams(&mut self, leg: LegId, now: Time, is_failing: bool) {
        if let &SinrSource::Paths(serving, _) = &self.0.legs[leg.index()].signal {
            self.0.channels[serving].hold_beams(now, is_failing);
        }
    }

    /// Returns the best beam of a leg's cell other than the beam in use. If `is_taken` is true, the
    /// UE uses the returned beam from now on. `None` if the leg has no path.
    pub(crate) fn best_candidate<M: Motion>(
        &mut self,
        leg: LegId,
        (now, is_taken): (Time, bool),
        motion: &mut M,
    ) -> Option<BeamCandidate> {
        let air = &mut *self.0;
        let leg = &air.legs[leg.index()];
        let &SinrSource::Paths(serving, _) = &leg.signal else {
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
            // The stored gain is that of the old beam, so the path must be evaluated again.
            air.paths[serving].due_at = Time::ZERO;
        }
        Some(BeamCandidate {
            rsrp_dbm: cell.levels.element_dbm + found_db,
            lead_db: found_db - in_use_db,
        })
    }
}
