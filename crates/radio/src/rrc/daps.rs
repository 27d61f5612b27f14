//! Dual active protocol stack (DAPS) handover of one UE: the source serves the UE while it enters
//! the target.
//!
//! ```text
//! command ─► copies to the target, and on_command: random access to the target
//!                                             │ T304: the UE stays in the source
//!                                             │ source link fails: a normal handover from here
//!                                             ▼
//!                  on_complete ◄─ complete ◄─ EnterDapsTarget: uplink data goes there
//!                      │ success ─► on_target_entered ─► SN Status Transfer ─► on_status
//!                      ▼                                                          │
//!        the target sends its copies                                              ▼
//!                                                   release_source: the UE leaves the source
//! ```
//!
//! Standard: TS 38.300 §9.2.3.2; TS 38.331 §5.3.5.3, §5.3.5.8.3, §5.3.10.3.

use super::effect::{BearerStep, Effect, Effects, ReportEffect, Seen, UeEffect};
use super::message::Message;
use super::stage::{DapsStage, DueAction, Stage};
use crate::config::Fate;
use fadeout_core::{CellId, Direction, RrcEvent};

impl Stage {
    /// Returns the source while both cells serve the UE. `None` at other times.
    fn daps_source(&self) -> Option<CellId> {
        match *self {
            Stage::Daps(DapsStage::Both { source }) => Some(source),
            _ => None,
        }
    }

    /// Handles the expiry of T304 while the link to the source works, or asks for the step of
    /// random access that is due. After the expiry the UE stays in the source and reports the
    /// failure.
    ///
    /// Standard: TS 38.331 §5.3.5.8.3.
    pub(crate) fn on_daps_due(
        &mut self,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) -> Option<DueAction> {
        let Stage::Daps(DapsStage::Entering(entry)) = *self else {
            return None;
        };
        if seen.now < entry.until {
            return (entry.wake_at() <= seen.now).then_some(DueAction::StepOfAccess);
        }
        *self = Stage::Connected;
        let failure = RrcEvent::AccessFailure;
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            Some(entry.cell),
            failure,
        )));
        effects.push_back(Effect::Ue(UeEffect::LeaveLeg(entry.cell)));
        let report = Message::AccessFailed;
        effects.push_back(Effect::SendMessage(Direction::Uplink, report));
        None
    }

    /// Handles the source's notice that the UE has entered the target. The source stops the
    /// numbering of packets. Returns false if only one cell serves the UE.
    pub(crate) fn on_target_entered(&self, fate: Fate, effects: &mut Effects) -> bool {
        let is_in_both = self.daps_source().is_some();
        if is_in_both {
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                None,
                RrcEvent::HandoverSuccess,
            )));
            effects.push_back(Effect::Ue(UeEffect::Bearers(BearerStep::EndDapsNumbering(
                fate,
            ))));
        }
        is_in_both
    }

    /// Sends the command to release the source, after the target has received the COUNT values of
    /// the source.
    pub(crate) fn on_status(&self, effects: &mut Effects) {
        if self.daps_source().is_some() {
            let release = Message::ReleaseSource;
            effects.push_back(Effect::SendMessage(Direction::Downlink, release));
        }
    }

    /// Releases the source. The network has commanded the release, or the source has stopped
    /// answering.
    pub(crate) fn release_source(&mut self, effects: &mut Effects) {
        if let Some(source) = self.daps_source() {
            *self = Stage::Connected;
            leave_source(source, effects);
            effects.push_back(Effect::Ue(UeEffect::Bearers(BearerStep::ReleaseDaps)));
        }
    }

    /// Handles the failure of the UE's leg in a cell. The failure of the source only releases the
    /// source, if the target serves the UE too.
    pub(crate) fn on_leg_failure(&mut self, cell: CellId, effects: &mut Effects) {
        match self.daps_source() == Some(cell) {
            true => self.release_source(effects),
            false => effects.push_back(Effect::Ue(UeEffect::FailLink)),
        }
    }

    /// Handles the failure of the serving cell's link in a DAPS handover. Returns true if the
    /// failed cell is the source. The UE then enters the target without the source.
    pub(super) fn continues_without_source(&mut self, effects: &mut Effects) -> bool {
        match *self {
            Stage::Daps(DapsStage::Entering(entry)) => {
                *self = Stage::Entering(entry);
                leave_failed_cell(true, effects);
                true
            }
            Stage::Daps(DapsStage::Both { source }) => {
                leave_source(source, effects);
                effects.push_back(Effect::Ue(UeEffect::Bearers(BearerStep::DapsTargetFailed)));
                false
            }
            _ => false,
        }
    }
}

/// Leaves the cell of a failed link. Downlink data waits at the base station until the UE's new
/// cell is known.
pub(super) fn leave_failed_cell(is_daps: bool, effects: &mut Effects) {
    effects.push_back(Effect::Ue(UeEffect::StopDownlink(Fate::Kept)));
    effects.push_back(Effect::Ue(UeEffect::Detach(None)));
    if is_daps {
        effects.push_back(Effect::Ue(UeEffect::Bearers(BearerStep::DapsSourceFailed)));
    }
}

/// Leaves the source, which served the UE together with the target.
fn leave_source(source: CellId, effects: &mut Effects) {
    effects.push_back(Effect::Report(ReportEffect::RecordEvent(
        Some(source),
        RrcEvent::SourceReleased,
    )));
    effects.push_back(Effect::Ue(UeEffect::LeaveLeg(source)));
}

#[cfg(test)]
mod tests;
