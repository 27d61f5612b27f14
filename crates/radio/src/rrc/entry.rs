//! Handover command, link failure, cell selection and entry into a cell, at the UE.
//!
//! ```text
//! command ─► on_command: the UE leaves ─► StartEntry ─► on_due, on_access_step ─► EnterCell
//! failure ─► on_link_failure ─► on_due: SelectCell ─► on_selection ─► StartEntry ─► FetchContext
//! T304 ─► reselect          T301, T311 ─► lose_connection ─► on_due: SearchCell
//! ```
//!
//! [`Stage`] is the state of the UE. The radio channel and signalling are outside this module.
//! Handover with DAPS has further steps in [`daps`](super::daps).
//!
//! Standard: TS 38.331 §5.3.5.5.2, §5.3.5.8.3, §5.3.7; TS 36.331 §5.3.5.4, §5.3.5.6, §5.3.7.

use super::attach::SEARCH_PERIOD;
use super::daps::leave_failed_cell;
use super::effect::{
    BearerStep, Effect, Effects, EntryMethod, EntryStart, ReportEffect, Seen, UeEffect,
};
use super::granted::EntryAccess;
use super::random_access::{Progress, RandomAccess};
use super::record::NewRow;
use super::stage::{DapsStage, DueAction, Entry, Stage};
use crate::config::Fate;
use fadeout_core::{CellId, HandoverOutcome, Procedure, RrcEvent};

/// Returns true if the procedure enters a candidate cell, which was prepared in advance.
pub(crate) fn is_to_candidate(procedure: Procedure) -> bool {
    use Procedure::{Conditional, Ltm, Recovery};
    matches!(procedure, Conditional | Ltm | Recovery)
}

/// Returns true if the procedure enters a prepared cell. A prepared cell offers the UE a dedicated
/// preamble and secondary cells.
pub(crate) fn is_prepared(procedure: Procedure) -> bool {
    is_to_candidate(procedure) || matches!(procedure, Procedure::Handover | Procedure::Daps)
}

impl Stage {
    /// Handles the handover command at the UE. The UE leaves the source for the target, or enters
    /// the target before it leaves the source (DAPS).
    pub(crate) fn on_command(&self, target: CellId, seen: &Seen<'_>, effects: &mut Effects) {
        if !seen.is_connected {
            return;
        }
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            Some(target),
            RrcEvent::CommandReceived,
        )));
        let times = &seen.config.procedure;
        let start = EntryStart {
            cell: target,
            procedure: seen.config.procedure_kind(),
            ready_at: seen.after(match seen.is_in_utra() {
                true => times.from_utra,
                false => times.interruption,
            }),
            until: seen.after(times.t304),
            method: EntryMethod::Random,
        };
        if seen.config.is_daps() {
            return effects.push_back(Effect::Ue(UeEffect::StartEntry(start)));
        }
        effects.push_back(Effect::Ue(UeEffect::Detach(Some(target))));
        effects.push_back(match seen.config.is_utra(target) {
            true => Effect::Ue(UeEffect::ArriveInUtra(target)),
            false => Effect::Ue(UeEffect::StartEntry(EntryStart {
                procedure: Procedure::Handover,
                method: EntryMethod::Configured(seen.serving.unwrap_or(target)),
                ..start
            })),
        });
    }

    /// Handles a failure of the UE's link.
    pub(crate) fn on_link_failure(&mut self, seen: &Seen<'_>, effects: &mut Effects) {
        if matches!(self, Stage::Attaching) {
            return effects.push_back(Effect::Ue(UeEffect::FailAttach));
        }
        if !seen.is_connected {
            return;
        }
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            None,
            RrcEvent::LinkFailure,
        )));
        effects.push_back(Effect::Report(ReportEffect::CountLinkFailure));
        if self.continues_without_source(effects) {
            return;
        }
        if !seen.change.is_some_and(|change| change.is_done) {
            effects.push_back(Effect::Report(ReportEffect::FailRow(
                HandoverOutcome::Failed,
            )));
        }
        effects.push_back(Effect::StopPathSwitch);
        leave_failed_cell(seen.config.is_daps(), effects);
        self.reselect(seen, effects);
    }

    /// Starts cell selection after a failure.
    pub(crate) fn reselect(&mut self, seen: &Seen<'_>, effects: &mut Effects) {
        let monitoring = &seen.config.monitoring;
        *self = Stage::Selecting {
            at: seen.after(monitoring.cell_selection),
            until: seen.after(monitoring.t311),
        };
        effects.push_back(Effect::CancelHandover);
        effects.push_back(Effect::DropCommandedNode);
        begin_failure_row(Procedure::Reestablishment, seen, effects);
    }

    /// Releases the UE's connection. All data under way is lost.
    fn lose_connection(&mut self, seen: &Seen<'_>, effects: &mut Effects) {
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            None,
            RrcEvent::Released,
        )));
        effects.push_back(Effect::Report(ReportEffect::FailRow(
            HandoverOutcome::Failed,
        )));
        effects.push_back(Effect::CancelHandover);
        effects.push_back(Effect::Ue(UeEffect::StopAttach));
        effects.push_back(Effect::Ue(UeEffect::DropCandidates));
        effects.push_back(Effect::Ue(UeEffect::Bearers(BearerStep::Release)));
        effects.push_back(Effect::Ue(UeEffect::StopDownlink(Fate::Dropped)));
        begin_failure_row(Procedure::Setup, seen, effects);
        *self = Stage::Released {
            at: seen.after(SEARCH_PERIOD),
        };
    }

    /// Handles expired timers. Returns an action that needs the radio channel. `None` if no such
    /// action is due.
    pub(crate) fn on_due(&mut self, seen: &Seen<'_>, effects: &mut Effects) -> Option<DueAction> {
        let now = seen.now;
        match *self {
            Stage::Selecting { until, .. } if until <= now => self.lose_connection(seen, effects),
            Stage::Selecting { at, .. } if at <= now => return Some(DueAction::SelectCell),
            Stage::Released { at } if at <= now => return Some(DueAction::SearchCell),
            Stage::Arriving { cell, at } if at <= now => return Some(DueAction::EnterUtra(cell)),
            Stage::Fetching { at, .. } if at <= now => self.on_context(effects),
            Stage::Fetching { cell, until, .. } if until <= now => {
                effects.push_back(Effect::Ue(UeEffect::LeaveLeg(cell)));
                effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                    None,
                    RrcEvent::AccessFailure,
                )));
                self.lose_connection(seen, effects);
            }
            Stage::Entering(entry) => return self.on_entry_due(entry, seen, effects),
            _ => {}
        }
        None
    }

    /// Handles the context of the UE at the cell that has fetched it. The cell completes the
    /// re-establishment.
    pub(crate) fn on_context(&self, effects: &mut Effects) {
        if let Stage::Fetching { cell, .. } = *self {
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                None,
                RrcEvent::Reestablished,
            )));
            effects.push_back(Effect::Ue(UeEffect::EnterCell(cell)));
            effects.push_back(Effect::Ue(UeEffect::SendComplete));
        }
    }

    /// Handles the expiry of the entry's timer (T304, T301 or T300), or asks for the step of access
    /// that is due.
    fn on_entry_due(
        &mut self,
        entry: Entry,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) -> Option<DueAction> {
        if seen.now < entry.until {
            return (entry.wake_at() <= seen.now).then_some(DueAction::StepOfAccess);
        }
        let cell = entry.cell;
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            Some(cell),
            RrcEvent::AccessFailure,
        )));
        effects.push_back(Effect::Ue(UeEffect::LeaveLeg(cell)));
        match entry.procedure {
            Procedure::Reestablishment => self.lose_connection(seen, effects),
            Procedure::Attach | Procedure::Setup if seen.may_attach => {
                effects.push_back(Effect::Ue(UeEffect::FailAttach));
            }
            Procedure::Attach | Procedure::Setup => {
                *self = Stage::Released {
                    at: seen.after(SEARCH_PERIOD),
                };
            }
            Procedure::Handover
            | Procedure::Conditional
            | Procedure::Daps
            | Procedure::Ltm
            | Procedure::Recovery => {
                effects.push_back(Effect::Report(ReportEffect::FailRow(
                    HandoverOutcome::Failed,
                )));
                self.reselect(seen, effects);
            }
        }
        None
    }

    /// Handles the result of a cell selection. `found` is the suitable cell, or `None` if no cell
    /// is suitable. `procedure` is the procedure by which the UE enters the cell.
    pub(crate) fn on_selection(
        &mut self,
        found: Option<CellId>,
        procedure: Procedure,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        let monitoring = &seen.config.monitoring;
        let Some(cell) = found else {
            match (&mut *self, procedure) {
                (Stage::Selecting { at, .. }, _) | (Stage::Released { at }, Procedure::Attach) => {
                    *at = seen.after(monitoring.cell_selection);
                }
                (Stage::Released { at }, _) => *at = seen.after(SEARCH_PERIOD),
                _ => debug_assert!(false, "a UE with a link selects no cell"),
            }
            return;
        };
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            Some(cell),
            RrcEvent::CellSelected,
        )));
        effects.push_back(Effect::Report(ReportEffect::RetargetRow(cell, procedure)));
        let times = &seen.config.procedure;
        let (ready_at, timer) = match procedure {
            Procedure::Recovery => (seen.after(times.interruption), times.t304),
            Procedure::Attach | Procedure::Setup if seen.may_attach => (seen.now, monitoring.t300),
            _ => (seen.now, monitoring.t301),
        };
        if procedure == Procedure::Recovery {
            effects.push_back(Effect::Ue(UeEffect::Bearers(
                BearerStep::LeaveForCandidate(cell),
            )));
        }
        effects.push_back(Effect::Ue(UeEffect::StartEntry(EntryStart {
            cell,
            procedure,
            ready_at,
            until: seen.after(timer),
            method: EntryMethod::Random,
        })));
    }

    /// Handles a step of the entry into a cell, with its result. `access` is the state after the
    /// step.
    pub(crate) fn on_access_step(
        &mut self,
        access: EntryAccess,
        progress: Progress,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        let (entry, is_in_source) = match self {
            Stage::Entering(entry) => (entry, false),
            Stage::Daps(DapsStage::Entering(entry)) => (entry, true),
            _ => return,
        };
        entry.access = access;
        match (progress, seen.entering) {
            // Only the timer of the RRC procedure (T304, T301 or T300) ends the entry. Until it
            // expires, MAC starts random access again.
            (Progress::Problem, Some(in_cell)) => {
                let is_free = is_prepared(entry.procedure);
                entry.access = EntryAccess::Random(RandomAccess::new(in_cell, seen.now, is_free));
            }
            (Progress::Done, _) => {
                let done = RrcEvent::AccessDone;
                effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                    Some(entry.cell),
                    done,
                )));
                match is_in_source {
                    true => effects.push_back(Effect::Ue(UeEffect::EnterDapsTarget(entry.cell))),
                    false => on_access_done(entry, seen.may_attach, effects),
                }
            }
            (Progress::Problem, None) | (Progress::Running, _) => {}
        }
    }
}

/// Handles the end of an entry. In a prepared cell the UE gets the secondary cells of the command.
fn on_access_done(entry: &Entry, may_attach: bool, effects: &mut Effects) {
    let Entry {
        cell, procedure, ..
    } = *entry;
    // Without random access, the cell has already received the RRC complete message.
    let has_completed = matches!(entry.access, EntryAccess::Granted(_));
    match procedure {
        Procedure::Attach | Procedure::Setup if may_attach => {
            return effects.push_back(Effect::Ue(UeEffect::SetUp(cell)));
        }
        Procedure::Reestablishment => {
            let until = entry.until;
            return effects.push_back(Effect::Ue(UeEffect::FetchContext { cell, until }));
        }
        _ => effects.push_back(Effect::Ue(UeEffect::EnterCell(cell))),
    }
    if !has_completed {
        effects.push_back(Effect::Ue(UeEffect::SendComplete));
    }
    if is_prepared(procedure) {
        effects.push_back(Effect::Ue(UeEffect::AddCommandedCells));
        effects.push_back(Effect::Ue(UeEffect::EnterCommandedNode));
    }
    if has_completed {
        effects.push_back(Effect::HasEntered);
        effects.push_back(Effect::Ue(UeEffect::WakeUplink));
    }
}

/// Begins the row of a procedure after the loss of the link to the serving cell.
fn begin_failure_row(procedure: Procedure, seen: &Seen<'_>, effects: &mut Effects) {
    if let Some(cell) = seen.serving {
        effects.push_back(Effect::Report(ReportEffect::BeginRow(NewRow {
            left_at: Some(seen.now),
            ..NewRow::triggered(procedure, [cell; 2], seen.now)
        })));
    }
}

#[cfg(test)]
mod tests;
