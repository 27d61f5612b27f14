//! Procedures of the base stations about the secondary node of one UE, and their messages.

use super::message::{
    FailureReaction, NodeAct, NodeDecision, NodeSignal, Order, Phase, RequestReason,
};
use crate::rrc::backhaul::NetworkNode;
use crate::rrc::effect::{Effect, ReportEffect, Step};
use fadeout_core::{CellId, RrcEvent, SecondaryCause, Span, Time};

/// Network side of a UE's secondary node.
#[derive(Debug, Default)]
pub(crate) struct SecondaryNetwork {
    /// Cell of the secondary node according to the master's base station. `None` if there is none.
    pscell: Option<CellId>,
    phase: Phase,
    /// Planned reaction to a failure of the secondary leg. `None` if the master's base station
    /// knows of no failure.
    failed: Option<FailureReaction>,
    /// True if no procedure may begin, because the master node is being changed by a handover.
    pub is_barred: bool,
    orders: u32,
    /// Cells that decide about a request, each with the cell that sent the request and the time of
    /// the decision.
    deciding: Vec<(CellId, CellId, Time)>,
    /// Cells that reserve resources for the UE, each with the end of its reservation.
    reservations: Vec<(CellId, Time)>,
    /// Messages with a fixed delay, each with its arrival time.
    delayed: Vec<(Time, NodeSignal)>,
    /// Messages on simulated links, by number. Some of them may have been lost.
    wired: Vec<(u64, NodeSignal)>,
}

impl SecondaryNetwork {
    /// Returns the cell of the secondary node. `None` if there is none or its leg has failed.
    pub(crate) fn pscell(&self) -> Option<CellId> {
        self.pscell.filter(|_| self.failed.is_none())
    }

    /// Returns the cell of the secondary node, even if its leg has failed. `None` if there is none.
    pub(crate) fn cell(&self) -> Option<CellId> {
        self.pscell
    }

    /// Sets the cell of the secondary node, or removes the secondary node for `None`.
    pub(crate) fn set_cell(&mut self, cell: Option<CellId>) {
        self.pscell = cell;
        self.failed = None;
    }

    /// True if a procedure is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Returns the secondary cell that a handover command of the master node will name. `None` if
    /// there is none.
    pub(crate) fn planned(&self) -> Option<CellId> {
        match self.phase {
            Phase::Planned { cell, .. } => Some(cell),
            _ => None,
        }
    }

    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        let of_phase = match self.phase {
            Phase::Idle => Time::NEVER,
            Phase::Preparing { until, .. }
            | Phase::Planned { until, .. }
            | Phase::Releasing { until }
            | Phase::Ordered { until, .. } => until,
        };
        let decisions = self.deciding.iter().map(|&(.., at)| at);
        let reservations = self.reservations.iter().map(|&(_, at)| at);
        let delayed = self.delayed.iter().map(|&(at, _)| at);
        let next = decisions.chain(reservations).chain(delayed).min();
        of_phase.min(next.unwrap_or(Time::NEVER))
    }

    /// Sends a message from the base station of one cell to that of another.
    fn send(&mut self, signal: NodeSignal, [from, to]: [CellId; 2], step: &mut Step<'_>) {
        if !step.config.exchange_over_links(from, to) {
            let at = step.after(step.config.station_delay(from, to));
            self.delayed.push((at, signal));
            return;
        }
        let number = *step.next_message;
        *step.next_message += 1;
        self.wired.push((number, signal));
        let place = |cell| NetworkNode::Station(step.config.station(cell));
        let (from, to, size) = (place(from), place(to), signal.size());
        step.push(Effect::Send {
            number,
            from,
            to,
            size,
        });
    }

    /// Sends a message from the secondary node to the master if `is_up` is true, or else in the
    /// other direction.
    fn send_between_nodes(&mut self, signal: NodeSignal, is_up: bool, step: &mut Step<'_>) {
        if let (Some(master), Some(secondary)) = (step.serving, self.pscell) {
            let ends = match is_up {
                true => [secondary, master],
                false => [master, secondary],
            };
            self.send(signal, ends, step);
        }
    }

    fn may_begin(&self) -> bool {
        self.phase == Phase::Idle && !self.is_barred
    }

    /// Sends a request to a cell that should become the secondary cell. The master's base station
    /// sends the request. In a handover of the master node, the target's base station sends the
    /// request.
    fn request_cell(&mut self, target: CellId, reason: RequestReason, step: &mut Step<'_>) {
        let Some(serving) = step.serving else { return };
        let requester = match reason {
            RequestReason::Change(_) => serving,
            RequestReason::Handover(master) => master,
        };
        let patience = step.config.procedure.preparation;
        // The target of a handover must answer its source in time. The target therefore waits for
        // the secondary node for only half of the usual time.
        let patience = match reason {
            RequestReason::Change(_) => patience,
            RequestReason::Handover(_) => Span::from_nanos(patience.as_nanos() / 2),
        };
        self.phase = Phase::Preparing {
            target,
            reason,
            until: step.after(patience),
        };
        step.push(Effect::SecondaryNode(NodeAct::BeginChange {
            target: Some(target),
            reason,
        }));
        step.push(ReportEffect::RecordEvent(
            Some(target),
            RrcEvent::SecondaryRequest,
        ));
        self.send(NodeSignal::Request(target), [requester, target], step);
    }

    /// Handles a report about a cell that may be added.
    pub(crate) fn on_addable(&mut self, target: CellId, step: &mut Step<'_>) {
        if self.may_begin() && self.pscell.is_none() {
            self.request_cell(
                target,
                RequestReason::Change(SecondaryCause::Measurement),
                step,
            );
        }
    }

    /// Sends the secondary node a report about its cell. The secondary node then decides about a
    /// change or a release.
    pub(crate) fn on_report(&mut self, decision: NodeDecision, step: &mut Step<'_>) {
        if self.may_begin() && self.pscell().is_some() {
            self.send_between_nodes(NodeSignal::Transfer(decision), false, step);
        }
    }

    /// Requests a secondary cell for a handover of the master node to `master`.
    pub(crate) fn prepare_handover(&mut self, master: CellId, cell: CellId, step: &mut Step<'_>) {
        self.request_cell(cell, RequestReason::Handover(master), step);
    }

    /// Handles a failure of the secondary leg at the master's base station.
    pub(crate) fn on_failure(&mut self, reaction: FailureReaction, step: &mut Step<'_>) {
        if self.pscell.is_some() {
            self.failed = Some(reaction);
            self.react_to_failure(step);
        }
    }

    /// Begins the reaction to a failed leg, if no other procedure is under way.
    fn react_to_failure(&mut self, step: &mut Step<'_>) {
        let Some(reaction) = self.failed.filter(|_| self.may_begin()) else {
            return;
        };
        match reaction {
            FailureReaction::Release => self.release(SecondaryCause::Failure, step),
            FailureReaction::Enter(target) => {
                self.request_cell(target, RequestReason::Change(SecondaryCause::Failure), step);
            }
        }
    }

    /// Starts the release of the secondary node, by decision of the master's base station.
    fn release(&mut self, cause: SecondaryCause, step: &mut Step<'_>) {
        let Some(cell) = self.pscell else { return };
        step.push(Effect::SecondaryNode(NodeAct::BeginChange {
            target: None,
            reason: RequestReason::Change(cause),
        }));
        self.phase = Phase::Releasing {
            until: step.after(step.config.procedure.preparation),
        };
        self.send_between_nodes(NodeSignal::Release(cell), false, step);
    }

    /// Sends a new order to the UE.
    fn send_order(&mut self, order: Order, step: &mut Step<'_>) {
        self.orders += 1;
        self.repeat_order(order, step);
    }

    fn repeat_order(&mut self, order: Order, step: &mut Step<'_>) {
        self.phase = Phase::Ordered {
            order,
            until: step.after(step.config.procedure.overall),
        };
        let number = self.orders;
        step.push(Effect::SecondaryNode(NodeAct::SendOrder { order, number }));
    }

    /// Handles a message that has arrived over links. Returns false if the message is not about the
    /// secondary node.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) -> bool {
        let Some(place) = self.wired.iter().position(|&(known, _)| known == number) else {
            return false;
        };
        // Messages between two base stations arrive in order. Messages of several base stations may
        // not.
        let (_, signal) = self.wired.remove(place);
        self.on_signal(signal, step);
        self.react_to_failure(step);
        true
    }

    fn on_signal(&mut self, signal: NodeSignal, step: &mut Step<'_>) {
        let asked = match self.phase {
            Phase::Preparing { target, reason, .. } => Some((target, reason)),
            _ => None,
        };
        match signal {
            NodeSignal::Request(cell) => {
                let requester = match asked {
                    Some((_, RequestReason::Handover(master))) => master,
                    _ => step.serving.unwrap_or(cell),
                };
                let at = step.after(step.admission(cell));
                self.deciding.push((cell, requester, at));
            }
            NodeSignal::Accept(cell) => match asked.filter(|&(target, _)| target == cell) {
                Some((_, RequestReason::Handover(master))) => {
                    step.push(ReportEffect::RecordEvent(
                        Some(cell),
                        RrcEvent::SecondaryPrepared,
                    ));
                    self.phase = Phase::Planned {
                        cell,
                        until: step.after(step.config.procedure.overall * 2),
                    };
                    step.push(Effect::SecondaryNode(NodeAct::CommandHandover(master)));
                }
                Some(_) => {
                    step.push(ReportEffect::RecordEvent(
                        Some(cell),
                        RrcEvent::SecondaryPrepared,
                    ));
                    self.send_order(Order::Enter(cell), step);
                }
                None => {}
            },
            NodeSignal::Reject(cell) => {
                if let Some((target, reason)) = asked.filter(|&(target, _)| target == cell) {
                    step.push(ReportEffect::RecordEvent(
                        Some(target),
                        RrcEvent::SecondaryRefused,
                    ));
                    self.fail(reason, true, step);
                }
            }
            NodeSignal::Transfer(decision) => self.on_node_decision(decision, step),
            NodeSignal::Required(decision) => self.on_required(decision, step),
            NodeSignal::Release(cell) => {
                self.end_reservation(cell, step);
                self.send_between_nodes(NodeSignal::Released, true, step);
            }
            NodeSignal::Released => {
                if matches!(self.phase, Phase::Releasing { .. }) {
                    self.send_order(Order::Release, step);
                }
            }
            NodeSignal::Confirm(cell) => self.end_reservation(cell, step),
            NodeSignal::Complete(_) => {}
        }
    }

    /// Handles a decision of the secondary node at that node.
    fn on_node_decision(&mut self, decision: NodeDecision, step: &mut Step<'_>) {
        let Some(cell) = self.pscell else { return };
        if let NodeDecision::Change(target) = decision
            && step.config.is_one_station(cell, target)
        {
            self.end_reservation(target, step);
            if !step.has_room(target) {
                return step.push(ReportEffect::RecordEvent(
                    Some(target),
                    RrcEvent::SecondaryRefused,
                ));
            }
            self.reserve(target, step);
        }
        self.send_between_nodes(NodeSignal::Required(decision), true, step);
    }

    /// Handles the decision of the secondary node at the master's base station.
    fn on_required(&mut self, decision: NodeDecision, step: &mut Step<'_>) {
        let Some(cell) = self.pscell().filter(|_| self.may_begin()) else {
            return;
        };
        let reason = RequestReason::Change(SecondaryCause::Measurement);
        match decision {
            NodeDecision::Change(target) if !step.config.is_one_station(cell, target) => {
                self.request_cell(target, reason, step);
            }
            NodeDecision::Change(target) => {
                step.push(Effect::SecondaryNode(NodeAct::BeginChange {
                    target: Some(target),
                    reason,
                }));
                self.send_order(Order::Enter(target), step);
            }
            NodeDecision::Release => {
                step.push(Effect::SecondaryNode(NodeAct::BeginChange {
                    target: None,
                    reason,
                }));
                self.send_between_nodes(NodeSignal::Confirm(cell), false, step);
                self.send_order(Order::Release, step);
            }
        }
    }

    /// Ends a procedure whose request was refused or not answered.
    fn fail(&mut self, reason: RequestReason, is_refused: bool, step: &mut Step<'_>) {
        self.phase = Phase::Idle;
        step.push(Effect::SecondaryNode(NodeAct::Failed { is_refused }));
        if let RequestReason::Handover(master) = reason {
            step.push(Effect::SecondaryNode(NodeAct::CommandHandover(master)));
        }
        if self.failed.is_some() {
            self.failed = Some(FailureReaction::Release);
        }
    }

    fn reserve(&mut self, cell: CellId, step: &mut Step<'_>) {
        step.held[cell.index()] += 1;
        let until = step.after(step.config.procedure.overall * 2);
        self.reservations.push((cell, until));
    }

    /// Ends a cell's reservation, because the UE has arrived or will not arrive.
    pub(crate) fn end_reservation(&mut self, cell: CellId, step: &mut Step<'_>) {
        self.reservations.retain(|&(held, _)| {
            if held == cell {
                let held = &mut step.held[cell.index()];
                *held = held.saturating_sub(1);
            }
            held != cell
        });
    }

    /// Handles all actions that are due.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
        while let Some(place) = self.delayed.iter().position(|&(at, _)| at <= step.now) {
            let (_, signal) = self.delayed.remove(place);
            self.on_signal(signal, step);
        }
        while let Some(place) = self.deciding.iter().position(|&(.., at)| at <= step.now) {
            let (cell, requester, _) = self.deciding.remove(place);
            // The UE's present cell needs no reservation.
            let is_own = self.pscell == Some(cell);
            let answer = match is_own || step.has_room(cell) {
                true => NodeSignal::Accept(cell),
                false => NodeSignal::Reject(cell),
            };
            if answer == NodeSignal::Accept(cell) && !is_own {
                self.end_reservation(cell, step);
                self.reserve(cell, step);
            }
            self.send(answer, [cell, requester], step);
        }
        while let Some(&(cell, _)) = self
            .reservations
            .iter()
            .find(|&&(_, until)| until <= step.now)
        {
            self.end_reservation(cell, step);
        }
        match self.phase {
            Phase::Preparing {
                target,
                reason,
                until,
            } if until <= step.now => {
                step.push(ReportEffect::RecordEvent(
                    Some(target),
                    RrcEvent::SecondaryExpired,
                ));
                // The cell may have reserved resources for the UE. The Confirm message ends that
                // reservation.
                if let Some(serving) = step.serving {
                    self.send(NodeSignal::Confirm(target), [serving, target], step);
                }
                self.fail(reason, false, step);
            }
            Phase::Planned { cell, until } if until <= step.now => {
                self.end_reservation(cell, step);
                self.phase = Phase::Idle;
            }
            Phase::Releasing { until } if until <= step.now => {
                self.send_order(Order::Release, step);
            }
            Phase::Ordered { order, until } if until <= step.now => self.repeat_order(order, step),
            _ => {}
        }
        self.react_to_failure(step);
        // Messages with a delay of zero are handled at once.
        if self.delayed.iter().any(|&(at, _)| at <= step.now) {
            self.on_due(step);
        }
    }

    /// Handles the UE's answer to an order. Returns the order that the UE has carried out. `None`
    /// if no answer with this number is awaited.
    pub(crate) fn on_answer(&mut self, number: u32, step: &mut Step<'_>) -> Option<Order> {
        let Phase::Ordered { order, .. } = self.phase else {
            return None;
        };
        if number != self.orders {
            return None;
        }
        self.phase = Phase::Idle;
        let before = self.pscell;
        match order {
            Order::Enter(cell) => {
                if let (Some(master), Some(before)) = (step.serving, before)
                    && before != cell
                {
                    self.send(NodeSignal::Confirm(before), [master, before], step);
                }
                self.set_cell(Some(cell));
                self.send_between_nodes(NodeSignal::Complete(cell), false, step);
            }
            Order::Release => self.set_cell(None),
        }
        Some(order)
    }

    /// Cancels the secondary cell that was requested for a handover. Returns false if no secondary
    /// cell was requested.
    pub(crate) fn cancel(&mut self, step: &mut Step<'_>) -> bool {
        let cell = match self.phase {
            Phase::Preparing {
                target,
                reason: RequestReason::Handover(_),
                ..
            } => target,
            Phase::Planned { cell, .. } => cell,
            _ => return false,
        };
        self.phase = Phase::Idle;
        if let Some(serving) = step.serving {
            self.send(NodeSignal::Confirm(cell), [serving, cell], step);
        }
        true
    }

    /// Cancels all procedures, because the UE has left its master's cell. The secondary cell that
    /// the handover command named keeps its reservation.
    pub(crate) fn on_left(&mut self, step: &mut Step<'_>) {
        let planned = self.planned();
        let before = self.pscell;
        self.delayed.clear();
        self.wired.clear();
        self.deciding.clear();
        while let Some(&(cell, _)) = self
            .reservations
            .iter()
            .find(|&&(cell, _)| Some(cell) != planned)
        {
            self.end_reservation(cell, step);
        }
        if let (Some(cell), true) = (before, planned != before) {
            self.send_between_nodes(NodeSignal::Confirm(cell), false, step);
        }
        self.phase = Phase::Idle;
        self.set_cell(None);
    }
}

#[cfg(test)]
mod tests;
