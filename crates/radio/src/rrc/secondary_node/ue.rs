//! Secondary node of one UE, at the UE and at the master's base station: orders, the UE's entry
//! into the cell, failures, and result rows.
//!
//! Standard: TS 37.340 §10.2, §10.4, §10.5, §10.7; TS 38.331 §5.3.5.4, §5.3.7.2.

use super::{
    FailureReaction, NodeAct, NodeDecision, NodeMessage, Order, RequestReason, ScgState,
    SecondaryNode,
};
use crate::config::{EventKind, SecondaryAfterFailure, SecondaryAtHandover};
use crate::rrc::effect::{Effect, LegStep, NodeRowTime, ReportEffect, Step, UeEffect};
use crate::rrc::message::Message;
use crate::rrc::random_access::{Progress, RandomAccess};
use crate::rrc::record::seconds;
use crate::rrc::report::MeasurementReport;
use crate::rrc::secondary_cells::secondary_processing;
use fadeout_core::{
    CellId, Direction, HandoverOutcome, Procedure, RrcEvent, SecondaryCause, SecondaryChange,
    SecondaryChangeRow, Time, UeId,
};

impl SecondaryNode {
    /// Handles an RRC message about the secondary node.
    pub(crate) fn on_message(&mut self, message: NodeMessage, step: &mut Step<'_>) {
        match message {
            NodeMessage::Report { is_pscell, report } => self.on_report(is_pscell, &report, step),
            NodeMessage::Order { order, number } => self.on_order(order, number, step),
            NodeMessage::Answer(number) => self.on_answer(number, step),
            NodeMessage::AccessFailed(cell) => {
                let known = RrcEvent::SecondaryFailureKnown;
                step.push(ReportEffect::RecordEvent(Some(cell), known));
                self.network.on_failure(FailureReaction::Release, step);
            }
        }
    }

    /// Handles a measurement report at the master's base station.
    fn on_report(&mut self, is_pscell: bool, report: &MeasurementReport, step: &mut Step<'_>) {
        let best = report.cells().first().map(|reported| reported.cell);
        let about = best.unwrap_or(report.serving.cell);
        step.push(ReportEffect::RecordEvent(
            Some(about),
            RrcEvent::ReportReceived,
        ));
        if !is_pscell {
            if let Some(target) = best {
                self.network.on_addable(target, step);
            }
            return;
        }
        // The reported cell is no longer the cell of the secondary node, so the report is obsolete.
        if self.network.pscell() != Some(report.serving.cell) {
            return;
        }
        let decision = match (self.pscell_survey.kind(report.event), best) {
            (Some(EventKind::A2 { .. }), _) => NodeDecision::Release,
            (_, Some(target)) => NodeDecision::Change(target),
            _ => return,
        };
        self.network.on_report(decision, step);
    }

    /// Handles the network's order about the secondary node at the UE.
    fn on_order(&mut self, order: Order, number: u32, step: &mut Step<'_>) {
        let (Some(master), Some(generation)) = (step.serving, step.generation) else {
            return;
        };
        if !step.is_connected {
            return;
        }
        self.answer = Some((step.after(secondary_processing(generation)), number));
        // The network may repeat an order. The UE carries out each order once.
        if std::mem::replace(&mut self.last_order, number) == number {
            return;
        }
        let cell = match order {
            Order::Enter(cell) => Some(cell),
            Order::Release => self.network.cell(),
        };
        let about = cell.unwrap_or(master);
        step.push(ReportEffect::RecordEvent(
            Some(about),
            RrcEvent::SecondaryCommand,
        ));
        self.end_entry(step);
        let enters = matches!(order, Order::Enter(_));
        step.push(UeEffect::SecondaryLeg(LegStep::Leave { enters }));
        match order {
            Order::Enter(cell) => {
                let ready_at = step.after(step.config.procedure.interruption);
                step.push(UeEffect::SecondaryLeg(LegStep::Enter { cell, ready_at }));
            }
            Order::Release => {
                self.leg_state = ScgState::Alone;
                self.without_leg_since = None;
                self.addition_survey.on_new_serving_cell();
            }
        }
    }

    /// Ends the UE's entry into a cell, if an entry is under way.
    fn end_entry(&self, step: &mut Step<'_>) {
        if let ScgState::Entering { cell, .. } = self.leg_state {
            step.push(UeEffect::LeaveLeg(cell));
        }
    }

    /// Records that the UE enters a cell by random access. T304 of the secondary cell group runs
    /// from now on.
    pub(crate) fn on_access_begun(&mut self, cell: CellId, access: RandomAccess, now: Time) {
        self.leg_state = ScgState::Entering {
            cell,
            access,
            until: now.saturating_add(self.config.t304),
        };
    }

    /// Handles the expiry of T304 of the secondary cell group, or returns true if a step of random
    /// access is due. After the expiry the UE reports the failure and waits for an order.
    ///
    /// Standard: TS 38.331 §5.3.5.8.3, §5.7.3.
    pub(crate) fn on_access_due(&mut self, step: &mut Step<'_>) -> bool {
        let ScgState::Entering {
            cell,
            access,
            until,
        } = self.leg_state
        else {
            return false;
        };
        if step.now < until {
            return access.wake_at() <= step.now;
        }
        self.leg_state = ScgState::Lost;
        step.push(UeEffect::LeaveLeg(cell));
        step.push(ReportEffect::RecordEvent(
            Some(cell),
            RrcEvent::AccessFailure,
        ));
        step.push(ReportEffect::RecordEvent(
            Some(cell),
            RrcEvent::SecondaryFailed,
        ));
        step.push(ReportEffect::EndNodeRow(HandoverOutcome::Failed));
        let report = Message::Node(NodeMessage::AccessFailed(cell));
        step.push(Effect::SendMessage(Direction::Uplink, report));
        false
    }

    /// Handles a step of random access with its result. `access` is the state after the step. If
    /// too many preambles were sent, `access` is a new random access, because only T304 ends the
    /// entry.
    pub(crate) fn on_access_step(
        &mut self,
        access: RandomAccess,
        progress: Progress,
        step: &mut Step<'_>,
    ) {
        let ScgState::Entering { cell, until, .. } = self.leg_state else {
            return;
        };
        if progress == Progress::Done {
            return self.on_entered(cell, step);
        }
        self.leg_state = ScgState::Entering {
            cell,
            access,
            until,
        };
    }

    /// Handles the end of random access to the cell of the secondary node. The secondary leg now
    /// carries data.
    fn on_entered(&mut self, cell: CellId, step: &mut Step<'_>) {
        let is_confirmed = !self.network.is_busy();
        let silent_since = self.without_leg_since.take();
        self.leg_state = ScgState::Serving;
        self.pscell_survey.on_new_serving_cell();
        step.push(ReportEffect::RecordEvent(Some(cell), RrcEvent::AccessDone));
        let entered = NodeRowTime::Entered { silent_since };
        step.push(ReportEffect::StampNodeRow(entered));
        step.push(UeEffect::SecondaryLeg(LegStep::Open { cell, is_confirmed }));
        self.network.end_reservation(cell, step);
        step.push(ReportEffect::RecordEvent(
            Some(cell),
            RrcEvent::SecondaryAdded,
        ));
        if is_confirmed {
            step.push(ReportEffect::EndNodeRow(HandoverOutcome::Success));
        }
        step.push(UeEffect::SecondaryLeg(LegStep::SendData));
    }

    /// Handles the UE's answer at the master's base station.
    fn on_answer(&mut self, number: u32, step: &mut Step<'_>) {
        let Some(order) = self.network.on_answer(number, step) else {
            return;
        };
        step.push(UeEffect::SecondaryLeg(LegStep::Close));
        step.push(ReportEffect::StampNodeRow(NodeRowTime::Completed));
        if order == Order::Release || matches!(self.leg_state, ScgState::Serving) {
            step.push(ReportEffect::EndNodeRow(HandoverOutcome::Success));
        }
        step.push(UeEffect::SecondaryLeg(LegStep::SendData));
    }

    /// Releases the secondary leg, because the UE leaves its master's cell. If the handover command
    /// names a secondary cell, the UE enters that cell later.
    pub(crate) fn on_master_left(&mut self, step: &mut Step<'_>) {
        self.end_entry(step);
        step.push(UeEffect::SecondaryLeg(LegStep::Release));
        let (planned, had) = (self.network.planned(), self.network.cell());
        self.leg_state = planned.map_or(ScgState::Alone, ScgState::Waiting);
        self.answer = None;
        self.on_new_master();
        if planned.is_some() {
            self.without_leg_since.get_or_insert(step.now);
            step.push(ReportEffect::StampNodeRow(NodeRowTime::Left));
        } else {
            self.without_leg_since = None;
            step.push(ReportEffect::EndNodeRow(HandoverOutcome::Cancelled));
            if had.is_some() {
                let is_commanded = step.change.is_some_and(|change| {
                    change.procedure == Procedure::Handover && !change.is_done
                });
                let cause = match is_commanded {
                    true => SecondaryCause::Handover,
                    false => SecondaryCause::Failure,
                };
                self.begin_row(None, RequestReason::Change(cause), step);
                step.push(ReportEffect::StampNodeRow(NodeRowTime::Left));
                step.push(ReportEffect::EndNodeRow(HandoverOutcome::Success));
            }
        }
        self.network.on_left(step);
    }

    /// Clears the entered cells and the time to trigger of the measurement events, because the UE
    /// has a new master cell. The filtered levels are kept.
    pub(crate) fn on_new_master(&mut self) {
        self.addition_survey.on_new_serving_cell();
        self.pscell_survey.on_new_serving_cell();
    }

    /// Enters the secondary cell that the handover command named, after the UE has entered the
    /// master's target.
    pub(crate) fn enter_commanded(&mut self, step: &mut Step<'_>) {
        if let ScgState::Waiting(cell) = self.leg_state {
            self.network.set_cell(Some(cell));
            let ready_at = step.now;
            step.push(UeEffect::SecondaryLeg(LegStep::Enter { cell, ready_at }));
        }
    }

    /// Drops the secondary cell that a handover command named, because the UE must select a new
    /// cell.
    pub(crate) fn drop_commanded(&mut self, step: &mut Step<'_>) {
        if let ScgState::Waiting(cell) = self.leg_state {
            self.leg_state = ScgState::Alone;
            self.without_leg_since = None;
            self.network.end_reservation(cell, step);
            step.push(ReportEffect::EndNodeRow(HandoverOutcome::Failed));
        }
    }

    /// Handles the failure of the secondary leg at the network. `found_at` is the time at which the
    /// failure was detected. `strongest` is the strongest cell that may replace the failed cell, or
    /// `None` if there is none.
    pub(crate) fn on_leg_failed(
        &mut self,
        found_at: Time,
        strongest: Option<CellId>,
        step: &mut Step<'_>,
    ) {
        self.without_leg_since = Some(found_at);
        let Some(cell) = self.network.cell() else {
            return;
        };
        let reaction = match self.config.after_failure {
            SecondaryAfterFailure::Release => FailureReaction::Release,
            SecondaryAfterFailure::Restore => FailureReaction::Enter(cell),
            SecondaryAfterFailure::Strongest => FailureReaction::Enter(strongest.unwrap_or(cell)),
        };
        self.network.on_failure(reaction, step);
    }

    /// Requests a secondary cell for the UE's handover to `target`, before the handover command is
    /// sent. `strongest` is the strongest cell that may be used with `target`, and `may_be` is true
    /// for each such cell. Returns false if the target's base station plans no secondary node.
    pub(crate) fn request_for_handover(
        &mut self,
        target: CellId,
        strongest: Option<CellId>,
        may_be: impl Fn(CellId) -> bool,
        step: &mut Step<'_>,
    ) -> bool {
        let is_there = matches!(self.leg_state, ScgState::Serving) && !self.network.is_busy();
        let Some(cell) = self.network.pscell().filter(|_| is_there) else {
            return false;
        };
        let wanted = match self.config.at_handover {
            SecondaryAtHandover::Release => None,
            SecondaryAtHandover::Keep => Some(cell),
            SecondaryAtHandover::Strongest => strongest,
        };
        let Some(cell) = wanted.filter(|&cell| may_be(cell)) else {
            return false;
        };
        self.network.prepare_handover(target, cell, step);
        true
    }

    /// Cancels the planned change of the secondary node after a handover was refused or cancelled.
    /// The present secondary node stays.
    pub(crate) fn cancel_request(&mut self, step: &mut Step<'_>) {
        if self.network.cancel(step) {
            step.push(ReportEffect::EndNodeRow(HandoverOutcome::Cancelled));
        }
    }

    /// Sends the UE's answer and its measurement reports that are due. `cells` are the cells that
    /// the UE measures, in the order of their ids.
    pub(crate) fn send_messages(&mut self, cells: &[CellId], step: &mut Step<'_>) {
        if !step.is_connected {
            return;
        }
        let is_due = |&mut (at, _): &mut (Time, u32)| at <= step.now;
        if let Some((_, number)) = self.answer.take_if(is_due) {
            let answer = Message::Node(NodeMessage::Answer(number));
            step.push(Effect::SendMessage(Direction::Uplink, answer));
        }
        let here = step.serving;
        let Some(here) = here.and_then(|cell| cells.binary_search(&cell).ok()) else {
            return;
        };
        let pscell = self.network.cell();
        let place = pscell.and_then(|cell| cells.binary_search(&cell).ok());
        let (survey, place, is_pscell) = match (self.leg_state, place) {
            (ScgState::Serving, Some(place)) => (&mut self.pscell_survey, place, true),
            (ScgState::Alone, _) => (&mut self.addition_survey, here, false),
            _ => return,
        };
        for number in 0..survey.events() {
            let Some(report) = survey.report(number, step.now, (cells, place)) else {
                continue;
            };
            let best = report.cells().first().unwrap_or(&report.serving).cell;
            step.push(ReportEffect::RecordEvent(Some(best), RrcEvent::ReportSent));
            let message = Message::Node(NodeMessage::Report { is_pscell, report });
            step.push(Effect::SendMessage(Direction::Uplink, message));
        }
    }

    /// Returns the strongest measured cell for which `may_be` returns true. `None` if there is no
    /// such cell.
    pub(crate) fn strongest_cell(
        &self,
        cells: &[CellId],
        may_be: impl Fn(CellId) -> bool,
    ) -> Option<CellId> {
        let mut best: Option<(f64, CellId)> = None;
        for (position, &cell) in cells.iter().enumerate() {
            let level =
                (self.pscell_survey.filtered(position)).or(self.addition_survey.filtered(position));
            if let Some(level) = level
                && may_be(cell)
                && best.is_none_or(|(before, _)| level > before)
            {
                best = Some((level, cell));
            }
        }
        best.map(|(_, cell)| cell)
    }

    /// Handles an act of the network's procedures.
    pub(crate) fn on_act(&mut self, act: NodeAct, step: &mut Step<'_>) {
        match act {
            NodeAct::SendOrder { order, number } => {
                let cell = match order {
                    Order::Enter(cell) => Some(cell),
                    Order::Release => self.network.cell(),
                };
                if cell.is_some() {
                    step.push(ReportEffect::RecordEvent(
                        cell,
                        RrcEvent::ReconfigurationSent,
                    ));
                }
                step.push(ReportEffect::StampNodeRow(NodeRowTime::Commanded));
                step.push(UeEffect::SecondaryLeg(LegStep::Hold));
                let message = Message::Node(NodeMessage::Order { order, number });
                step.push(Effect::SendMessage(Direction::Downlink, message));
                step.push(UeEffect::SecondaryLeg(LegStep::SendData));
            }
            NodeAct::BeginChange { target, reason } => self.begin_row(target, reason, step),
            NodeAct::Failed { is_refused: true } => {
                step.push(ReportEffect::EndNodeRow(HandoverOutcome::Refused));
            }
            NodeAct::Failed { is_refused: false } => {
                step.push(ReportEffect::EndNodeRow(HandoverOutcome::Cancelled));
            }
            NodeAct::CommandHandover(master) => step.push(Effect::CommandUe(master)),
        }
    }

    /// Begins the result row of a change to `target`, or of a release for `None`. A change under
    /// way is cancelled.
    fn begin_row(&self, target: Option<CellId>, reason: RequestReason, step: &mut Step<'_>) {
        step.push(ReportEffect::EndNodeRow(HandoverOutcome::Cancelled));
        let before = self.network.cell();
        let kind = match (before, target) {
            (_, None) => SecondaryChange::Release,
            (None, _) => SecondaryChange::Addition,
            (Some(before), Some(target)) if step.config.is_one_station(before, target) => {
                SecondaryChange::Modification
            }
            _ => SecondaryChange::Change,
        };
        let source = before.or(step.serving).unwrap_or_default();
        let row = row_of(step.ue, source, step.now);
        step.push(ReportEffect::BeginNodeRow(SecondaryChangeRow {
            kind,
            cause: reason.cause(),
            target: target.unwrap_or(source),
            requested_s: match target {
                Some(_) => row.triggered_s,
                None => f64::NAN,
            },
            ..row
        }));
    }

    /// Changes the result row of the secondary node's change, if a change is under way.
    pub(crate) fn update_row(&mut self, step: impl FnOnce(&mut SecondaryChangeRow)) {
        if let Some(row) = &mut self.record {
            step(row);
        }
    }

    /// Sets a time of the result row to `now`, if a change is under way.
    pub(crate) fn stamp_row(&mut self, what: NodeRowTime, now: Time) {
        let now_s = seconds(now);
        self.update_row(|row| match what {
            NodeRowTime::Commanded => row.commanded_s = now_s,
            NodeRowTime::Left => row.left_s = now_s,
            NodeRowTime::Entered { silent_since } => {
                row.entered_s = now_s;
                row.gap_s = silent_since.map_or(f64::NAN, |at| now.since(at).as_secs_f64());
            }
            NodeRowTime::Completed => row.completed_s = now_s,
        });
    }
}

/// Returns the row of a change of the secondary node in the cell `source` that is triggered now.
fn row_of(ue: UeId, source: CellId, now: Time) -> SecondaryChangeRow {
    SecondaryChangeRow {
        time_s: Time::ZERO,
        ue,
        kind: SecondaryChange::default(),
        cause: SecondaryCause::default(),
        source,
        target: source,
        outcome: HandoverOutcome::Success,
        triggered_s: seconds(now),
        requested_s: f64::NAN,
        commanded_s: f64::NAN,
        left_s: f64::NAN,
        entered_s: f64::NAN,
        completed_s: f64::NAN,
        gap_s: f64::NAN,
        preambles: 0,
        downlink_again: 0,
        uplink_again: 0,
    }
}

#[cfg(test)]
mod tests;
