//! Procedures of the base stations about the secondary node of one UE, and their messages.

use super::{NodeAct, NodeSignal, Order, Phase, Purpose, Remedy, Wish};
use crate::rrc::backhaul::Place;
use crate::rrc::network::{Act, Step};
use fadeout_core::{CellId, RrcEvent, SecondaryCause, Span, Time};

/// Network side of a UE's secondary node.
#[derive(Debug, Default)]
pub(crate) struct SecondaryNetwork {
    /// Cell of the secondary node according to the master's base station. `None` if there is none.
    pscell: Option<CellId>,
    phase: Phase,
    /// Reaction to a failure of the secondary leg that the master's base station knows. `None`
    /// without a failure.
    failed: Option<Remedy>,
    /// True if no procedure may begin because of a handover of the master node.
    pub is_barred: bool,
    orders: u32,
    /// Cells that decide about a request, each with the requesting cell and the time of its
    /// decision.
    deciding: Vec<(CellId, CellId, Time)>,
    /// Cells that reserve resources for the UE, each with the end of its reservation.
    rooms: Vec<(CellId, Time)>,
    /// Messages with a fixed delay, each with its arrival time.
    delayed: Vec<(Time, NodeSignal)>,
    /// Messages on simulated links, or lost there, by number.
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
            | Phase::Telling { until, .. } => until,
        };
        let decisions = self.deciding.iter().map(|&(.., at)| at);
        let rooms = self.rooms.iter().map(|&(_, at)| at);
        let delayed = self.delayed.iter().map(|&(at, _)| at);
        let next = decisions.chain(rooms).chain(delayed).min();
        of_phase.min(next.unwrap_or(Time::NEVER))
    }

    /// Sends a message from the base station of one cell to that of another.
    fn post(&mut self, signal: NodeSignal, [from, to]: [CellId; 2], step: &mut Step<'_>) {
        if !step.config.speak_over_links(from, to) {
            let at = step.after(step.config.station_delay(from, to));
            self.delayed.push((at, signal));
            return;
        }
        let number = *step.next_message;
        *step.next_message += 1;
        self.wired.push((number, signal));
        let place = |cell| Place::Station(step.config.station(cell));
        let (from, to, size) = (place(from), place(to), signal.size());
        step.act(Act::Send {
            number,
            from,
            to,
            size,
        });
    }

    /// Sends a message from the secondary node to the master if `is_up` is true, or else in the
    /// other direction.
    fn post_between(&mut self, signal: NodeSignal, is_up: bool, step: &mut Step<'_>) {
        if let (Some(master), Some(secondary)) = (step.serving, self.pscell) {
            let ends = match is_up {
                true => [secondary, master],
                false => [master, secondary],
            };
            self.post(signal, ends, step);
        }
    }

    fn may_begin(&self) -> bool {
        self.phase == Phase::Idle && !self.is_barred
    }

    /// Requests a cell. The master's base station sends the request, or for a handover its target
    /// does.
    fn ask(&mut self, target: CellId, purpose: Purpose, step: &mut Step<'_>) {
        let Some(serving) = step.serving else { return };
        let asker = match purpose {
            Purpose::Here(_) => serving,
            Purpose::Handover(master) => master,
        };
        let patience = step.config.procedure.preparation;
        // The target of a handover must answer its source in time, so it waits for half as long.
        let patience = match purpose {
            Purpose::Here(_) => patience,
            Purpose::Handover(_) => Span::from_nanos(patience.as_nanos() / 2),
        };
        self.phase = Phase::Preparing {
            target,
            purpose,
            until: step.after(patience),
        };
        step.act(Act::SecondaryNode(NodeAct::Began {
            target: Some(target),
            purpose,
        }));
        step.act(Act::Note(Some(target), RrcEvent::SecondaryRequest));
        self.post(NodeSignal::Ask(target), [asker, target], step);
    }

    /// Handles a report about a cell that may be added.
    pub(crate) fn on_addable(&mut self, target: CellId, step: &mut Step<'_>) {
        if self.may_begin() && self.pscell.is_none() {
            self.ask(target, Purpose::Here(SecondaryCause::Measurement), step);
        }
    }

    /// Handles a report about the secondary node's cell. The secondary node decides about it.
    pub(crate) fn on_report(&mut self, wish: Wish, step: &mut Step<'_>) {
        if self.may_begin() && self.pscell().is_some() {
            self.post_between(NodeSignal::Transfer(wish), false, step);
        }
    }

    /// Requests a secondary cell for a handover of the master node to `master`.
    pub(crate) fn plan(&mut self, master: CellId, cell: CellId, step: &mut Step<'_>) {
        self.ask(cell, Purpose::Handover(master), step);
    }

    /// Handles a failure of the secondary leg at the master's base station.
    pub(crate) fn on_failure(&mut self, remedy: Remedy, step: &mut Step<'_>) {
        if self.pscell.is_some() {
            self.failed = Some(remedy);
            self.mend(step);
        }
    }

    /// Begins the reaction to a failed leg, if no other procedure is under way.
    fn mend(&mut self, step: &mut Step<'_>) {
        let Some(remedy) = self.failed.filter(|_| self.may_begin()) else {
            return;
        };
        match remedy {
            Remedy::Release => self.release(SecondaryCause::Failure, step),
            Remedy::Enter(target) => {
                self.ask(target, Purpose::Here(SecondaryCause::Failure), step);
            }
        }
    }

    /// Releases the secondary node, by decision of the master's base station.
    fn release(&mut self, cause: SecondaryCause, step: &mut Step<'_>) {
        let Some(cell) = self.pscell else { return };
        step.act(Act::SecondaryNode(NodeAct::Began {
            target: None,
            purpose: Purpose::Here(cause),
        }));
        self.phase = Phase::Releasing {
            until: step.after(step.config.procedure.preparation),
        };
        self.post_between(NodeSignal::Release(cell), false, step);
    }

    /// Sends a new order to the UE.
    fn send_order(&mut self, order: Order, step: &mut Step<'_>) {
        self.orders += 1;
        self.repeat_order(order, step);
    }

    fn repeat_order(&mut self, order: Order, step: &mut Step<'_>) {
        self.phase = Phase::Telling {
            order,
            until: step.after(step.config.procedure.overall),
        };
        let number = self.orders;
        step.act(Act::SecondaryNode(NodeAct::Tell { order, number }));
    }

    /// Handles a message that has arrived over links. Returns false if it is not about the
    /// secondary node.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) -> bool {
        let Some(place) = self.wired.iter().position(|&(known, _)| known == number) else {
            return false;
        };
        // Links keep the order of messages between two base stations, but not among several.
        let (_, signal) = self.wired.remove(place);
        self.on_signal(signal, step);
        self.mend(step);
        true
    }

    fn on_signal(&mut self, signal: NodeSignal, step: &mut Step<'_>) {
        let asked = match self.phase {
            Phase::Preparing {
                target, purpose, ..
            } => Some((target, purpose)),
            _ => None,
        };
        match signal {
            NodeSignal::Ask(cell) => {
                let asker = match asked {
                    Some((_, Purpose::Handover(master))) => master,
                    _ => step.serving.unwrap_or(cell),
                };
                let at = step.after(step.config.procedure.admission);
                self.deciding.push((cell, asker, at));
            }
            NodeSignal::Accept(cell) => match asked.filter(|&(target, _)| target == cell) {
                Some((_, Purpose::Handover(master))) => {
                    step.act(Act::Note(Some(cell), RrcEvent::SecondaryPrepared));
                    self.phase = Phase::Planned {
                        cell,
                        until: step.after(step.config.procedure.overall * 2),
                    };
                    step.act(Act::SecondaryNode(NodeAct::GoOn(master)));
                }
                Some(_) => {
                    step.act(Act::Note(Some(cell), RrcEvent::SecondaryPrepared));
                    self.send_order(Order::Enter(cell), step);
                }
                None => {}
            },
            NodeSignal::Reject(cell) => {
                if let Some((target, purpose)) = asked.filter(|&(target, _)| target == cell) {
                    step.act(Act::Note(Some(target), RrcEvent::SecondaryRefused));
                    self.fail(purpose, true, step);
                }
            }
            NodeSignal::Transfer(wish) => self.wish(wish, step),
            NodeSignal::Required(wish) => self.on_required(wish, step),
            NodeSignal::Release(cell) => {
                self.give_back(cell, step);
                self.post_between(NodeSignal::Released, true, step);
            }
            NodeSignal::Released => {
                if matches!(self.phase, Phase::Releasing { .. }) {
                    self.send_order(Order::Release, step);
                }
            }
            NodeSignal::Confirm(cell) => self.give_back(cell, step),
            NodeSignal::Complete(_) => {}
        }
    }

    /// Handles the decision of the secondary node about its cell.
    fn wish(&mut self, wish: Wish, step: &mut Step<'_>) {
        let Some(cell) = self.pscell else { return };
        if let Wish::Change(target) = wish
            && step.config.is_one_station(cell, target)
        {
            self.give_back(target, step);
            if !step.has_room(target) {
                return step.act(Act::Note(Some(target), RrcEvent::SecondaryRefused));
            }
            self.hold(target, step);
        }
        self.post_between(NodeSignal::Required(wish), true, step);
    }

    /// Handles the decision of the secondary node at the master's base station.
    fn on_required(&mut self, wish: Wish, step: &mut Step<'_>) {
        let Some(cell) = self.pscell().filter(|_| self.may_begin()) else {
            return;
        };
        let purpose = Purpose::Here(SecondaryCause::Measurement);
        match wish {
            Wish::Change(target) if !step.config.is_one_station(cell, target) => {
                self.ask(target, purpose, step);
            }
            Wish::Change(target) => {
                step.act(Act::SecondaryNode(NodeAct::Began {
                    target: Some(target),
                    purpose,
                }));
                self.send_order(Order::Enter(target), step);
            }
            Wish::Release => {
                step.act(Act::SecondaryNode(NodeAct::Began {
                    target: None,
                    purpose,
                }));
                self.post_between(NodeSignal::Confirm(cell), false, step);
                self.send_order(Order::Release, step);
            }
        }
    }

    /// Ends a request that was refused or not answered.
    fn fail(&mut self, purpose: Purpose, is_refused: bool, step: &mut Step<'_>) {
        self.phase = Phase::Idle;
        step.act(Act::SecondaryNode(NodeAct::Ended { is_refused }));
        if let Purpose::Handover(master) = purpose {
            step.act(Act::SecondaryNode(NodeAct::GoOn(master)));
        }
        if self.failed.is_some() {
            self.failed = Some(Remedy::Release);
        }
    }

    fn hold(&mut self, cell: CellId, step: &mut Step<'_>) {
        step.held[cell.index()] += 1;
        let until = step.after(step.config.procedure.overall * 2);
        self.rooms.push((cell, until));
    }

    /// Ends a cell's reservation, because the UE has arrived or will not arrive.
    pub(crate) fn give_back(&mut self, cell: CellId, step: &mut Step<'_>) {
        self.rooms.retain(|&(held, _)| {
            if held == cell {
                let room = &mut step.held[cell.index()];
                *room = room.saturating_sub(1);
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
            let (cell, asker, _) = self.deciding.remove(place);
            // The UE's present cell needs no reservation.
            let is_own = self.pscell == Some(cell);
            let answer = match is_own || step.has_room(cell) {
                true => NodeSignal::Accept(cell),
                false => NodeSignal::Reject(cell),
            };
            if answer == NodeSignal::Accept(cell) && !is_own {
                self.give_back(cell, step);
                self.hold(cell, step);
            }
            self.post(answer, [cell, asker], step);
        }
        while let Some(&(cell, _)) = self.rooms.iter().find(|&&(_, until)| until <= step.now) {
            self.give_back(cell, step);
        }
        match self.phase {
            Phase::Preparing {
                target,
                purpose,
                until,
            } if until <= step.now => {
                step.act(Act::Note(Some(target), RrcEvent::SecondaryExpired));
                // The cell may have a reservation for the UE, which ends now.
                if let Some(serving) = step.serving {
                    self.post(NodeSignal::Confirm(target), [serving, target], step);
                }
                self.fail(purpose, false, step);
            }
            Phase::Planned { cell, until } if until <= step.now => {
                self.give_back(cell, step);
                self.phase = Phase::Idle;
            }
            Phase::Releasing { until } if until <= step.now => {
                self.send_order(Order::Release, step)
            }
            Phase::Telling { order, until } if until <= step.now => self.repeat_order(order, step),
            _ => {}
        }
        self.mend(step);
        // Messages without delay arrive at once.
        if self.delayed.iter().any(|&(at, _)| at <= step.now) {
            self.on_due(step);
        }
    }

    /// Handles the UE's answer to an order. Returns the order that the UE has carried out. `None`
    /// if no answer with this number is awaited.
    pub(crate) fn on_answer(&mut self, number: u32, step: &mut Step<'_>) -> Option<Order> {
        let Phase::Telling { order, .. } = self.phase else {
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
                    self.post(NodeSignal::Confirm(before), [master, before], step);
                }
                self.set_cell(Some(cell));
                self.post_between(NodeSignal::Complete(cell), false, step);
            }
            Order::Release => self.set_cell(None),
        }
        Some(order)
    }

    /// Cancels the secondary cell that was requested for a handover. Returns false if there was
    /// none.
    pub(crate) fn cancel(&mut self, step: &mut Step<'_>) -> bool {
        let cell = match self.phase {
            Phase::Preparing {
                target,
                purpose: Purpose::Handover(_),
                ..
            } => target,
            Phase::Planned { cell, .. } => cell,
            _ => return false,
        };
        self.phase = Phase::Idle;
        if let Some(serving) = step.serving {
            self.post(NodeSignal::Confirm(cell), [serving, cell], step);
        }
        true
    }

    /// Cancels all procedures, because the UE has left its master's cell. The secondary cell that
    /// the handover command named keeps its reservation.
    pub(crate) fn leave(&mut self, step: &mut Step<'_>) {
        let planned = self.planned();
        let before = self.pscell;
        self.delayed.clear();
        self.wired.clear();
        self.deciding.clear();
        while let Some(&(cell, _)) = self.rooms.iter().find(|&&(cell, _)| Some(cell) != planned) {
            self.give_back(cell, step);
        }
        if let (Some(cell), true) = (before, planned != before) {
            self.post_between(NodeSignal::Confirm(cell), false, step);
        }
        self.phase = Phase::Idle;
        self.set_cell(None);
    }
}

#[cfg(test)]
mod tests;
