//! Steps of base stations in a handover: request, command, end without success, and completion.
//!
//! ```text
//! report ─► prepare ─► request, answer ─► command: the UE leaves ─► pass_data
//!                                                                      │
//!             path switch ◄─ on_complete: the target sends ◄─ complete ◄─ entry of the UE
//! ```

use super::Network;
use crate::rrc::effect::{BearerStep, Effect, ReportEffect, Step, UeEffect};
use crate::rrc::entry::is_to_candidate;
use crate::rrc::message::Message;
use crate::rrc::record::{NewRow, RowTime};
use fadeout_core::{CellId, Direction, HandoverOutcome, LinkInfo, Procedure, RrcEvent};

impl Network {
    /// Prepares a handover from a source to a target. Listeners of the UE's link learn of the
    /// interruption.
    pub(crate) fn prepare(&mut self, [source, target]: [CellId; 2], step: &mut Step<'_>) {
        let kind = step.config.procedure_kind();
        let row = NewRow::triggered(kind, [source, target], step.now);
        step.push(ReportEffect::BeginRow(row));
        step.push(ReportEffect::RecordEvent(
            Some(target),
            RrcEvent::HandoverRequest,
        ));
        self.request_handover((source, target), step);
        if !step.config.is_daps() {
            let config = step.config;
            step.push(ReportEffect::Notify(LinkInfo::BlockagePredicted {
                starts_at: step.after(config.usual_preparation()),
                lasts: config.procedure.interruption + config.access.predicted_duration(),
            }));
        }
    }

    /// Commands the UE to a target that has accepted it.
    pub(crate) fn command(&mut self, target: CellId, step: &mut Step<'_>) {
        self.on_command(target, step);
        step.push(ReportEffect::StampRow(RowTime::Commanded));
        step.push(ReportEffect::RecordEvent(
            Some(target),
            RrcEvent::CommandSent,
        ));
        let command = Message::Command(target);
        step.push(Effect::SendMessage(Direction::Downlink, command));
        step.push(Effect::RecallUtraPackets);
        step.push(Effect::PassData(target));
    }

    /// Passes the UE's data to the target, after the source has sent the command. With DAPS, the
    /// source sends copies and continues to serve the UE.
    pub(crate) fn pass_data(&mut self, target: CellId, step: &mut Step<'_>) {
        let Some(source) = step.serving else {
            return;
        };
        self.send_status_transfer((source, target), step);
        if step.config.is_daps() {
            let copies = BearerStep::BeginDaps { source, target };
            return step.push(UeEffect::Bearers(copies));
        }
        step.push(Effect::EndEarlyCopies);
        let fate = step.config.fate_between(source, target);
        step.push(UeEffect::StopDownlink(fate));
    }

    /// Ends a handover that the target refused (`RrcEvent::HandoverRefused`) or did not answer in
    /// time. The UE stays in its cell.
    pub(super) fn end_preparation(target: CellId, event: RrcEvent, step: &mut Step<'_>) {
        let outcome = match event {
            RrcEvent::HandoverRefused => HandoverOutcome::Refused,
            _ => HandoverOutcome::Cancelled,
        };
        step.push(ReportEffect::Notify(LinkInfo::BlockageEnded));
        step.push(ReportEffect::RecordEvent(Some(target), event));
        step.push(Effect::CancelNodeRequest);
        step.push(ReportEffect::FailRow(outcome));
    }

    /// Cancels a handover because the UE has not left the source in time. The source continues to
    /// serve the UE.
    pub(super) fn cancel_command(step: &mut Step<'_>) {
        if !step.is_connected || step.is_in_daps {
            return;
        }
        // A handover command that arrives later must have no effect.
        step.push(Effect::CancelCommand);
        step.push(ReportEffect::Notify(LinkInfo::BlockageEnded));
        step.push(ReportEffect::RecordEvent(None, RrcEvent::SourceResumed));
        step.push(ReportEffect::FailRow(HandoverOutcome::Cancelled));
        step.push(Effect::CancelNodeRequest);
        step.push(UeEffect::Bearers(BearerStep::EndDaps));
        step.push(Effect::ResumeData);
    }

    /// Handles the UE's report that it could not enter the target and stays in the source.
    pub(crate) fn on_fallen_back(&mut self, step: &mut Step<'_>) {
        self.cancel_handover();
        step.push(ReportEffect::RecordEvent(None, RrcEvent::SourceResumed));
        step.push(ReportEffect::FailRow(HandoverOutcome::Failed));
        step.push(UeEffect::Bearers(BearerStep::EndDaps));
    }

    /// Handles the departure of the UE for a candidate, of which the source does not know. A
    /// handover command that has not arrived at the UE has no effect, so the commanded handover is
    /// cancelled.
    pub(crate) fn on_departure(&mut self, target: CellId, step: &mut Step<'_>) {
        let Some(source) = step.serving else {
            return;
        };
        let row = NewRow {
            procedure: Procedure::Conditional,
            ends: [source, target],
            triggered_at: self.candidacy.asked_at(target),
            commanded_at: self.candidacy.list_sent_at(),
            left_at: None,
        };
        if self.is_preparing() {
            self.cancel_handover();
            step.push(ReportEffect::FailRow(HandoverOutcome::Cancelled));
        }
        step.push(ReportEffect::BeginRow(row));
    }

    /// Handles the UE's complete message at the base station. `lacks_candidates` is true if the UE
    /// left its former cell before it used the latest list of candidates.
    pub(crate) fn on_complete(&mut self, lacks_candidates: bool, step: &mut Step<'_>) {
        step.push(ReportEffect::RecordEvent(None, RrcEvent::CompleteReceived));
        if !step.is_in_daps {
            step.push(ReportEffect::Notify(LinkInfo::BlockageEnded));
        }
        step.push(ReportEffect::ReportRate);
        step.push(ReportEffect::StampRow(RowTime::Completed));
        let Some(cell) = step.serving else {
            return;
        };
        if !self.awaits_source(cell, lacks_candidates, step) {
            step.push(Effect::ResumeData);
        }
        match self.is_home(step.config, cell) {
            true => step.push(Effect::ReportBearers),
            false => self.request_path_switch(cell, step),
        }
        step.push(Effect::OfferSecondaryCells);
    }

    /// Informs the source or the candidates of the UE's entry into a cell. Returns true if the
    /// cell must not send downlink data before the source's data arrives.
    fn awaits_source(&mut self, cell: CellId, lacks_candidates: bool, step: &mut Step<'_>) -> bool {
        let procedure = step.change.map(|change| change.procedure);
        let source = step.change.map_or(cell, |change| change.source);
        if procedure == Some(Procedure::Daps) {
            step.push(UeEffect::Bearers(BearerStep::CompleteDaps));
            self.candidacy.set_source(source);
            self.candidacy.on_executed(cell, step);
            step.push(Effect::SendDownlinkData);
            return true;
        }
        if step.config.conditional().is_none() {
            return false;
        }
        let is_candidate = procedure.is_some_and(is_to_candidate);
        if is_candidate && step.config.ltm().is_some() {
            let ends = [source, cell];
            self.candidacy.on_switched(ends, lacks_candidates, step);
            return false;
        }
        if !is_candidate {
            self.candidacy.cancel_all(step);
            return false;
        }
        self.candidacy.on_executed(cell, step);
        step.push(UeEffect::Bearers(BearerStep::CompleteEarly));
        step.push(Effect::SendDownlinkData);
        true
    }
}

#[cfg(test)]
mod tests;
