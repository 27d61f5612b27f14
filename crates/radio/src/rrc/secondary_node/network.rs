//! What base stations do about the secondary node of one UE, and what they tell each other.

use super::{NodeAct, NodeSignal, Order, Phase, Purpose, Remedy, Wish};
use crate::rrc::backhaul::Place;
use crate::rrc::network::{Act, Step};
use fadeout_core::{CellId, RrcEvent, SecondaryCause, Span, Time};

/// The network's part.
#[derive(Debug, Default)]
pub(crate) struct SecondaryNetwork {
    /// The cell of the secondary node, as the master's base station knows.
    pscell: Option<CellId>,
    phase: Phase,
    /// The leg has failed, as the master's base station knows, and what is to be done.
    failed: Option<Remedy>,
    /// Whether the master's cell changes, so that nothing may begin.
    pub is_barred: bool,
    orders: u32,
    /// When cells decide about a request, and who asks.
    deciding: Vec<(CellId, CellId, Time)>,
    /// Where cells hold room, until when.
    rooms: Vec<(CellId, Time)>,
    /// Messages where times are given.
    given: Vec<(Time, NodeSignal)>,
    /// Those on links, or lost there, by number.
    wired: Vec<(u64, NodeSignal)>,
}

impl SecondaryNetwork {
    /// The cell of the secondary node, if there is one and it has not failed.
    pub(crate) fn pscell(&self) -> Option<CellId> {
        self.pscell.filter(|_| self.failed.is_none())
    }

    /// The same, failed or not.
    pub(crate) fn cell(&self) -> Option<CellId> {
        self.pscell
    }

    /// The UE has a secondary node in this cell, or none.
    pub(crate) fn set_cell(&mut self, cell: Option<CellId>) {
        self.pscell = cell;
        self.failed = None;
    }

    /// Whether a procedure is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// The cell of the secondary node that a command to another master's cell names.
    pub(crate) fn planned(&self) -> Option<CellId> {
        match self.phase {
            Phase::Planned { cell, .. } => Some(cell),
            _ => None,
        }
    }

    /// When something is to be done next.
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
        let given = self.given.iter().map(|&(at, _)| at);
        let next = decisions.chain(rooms).chain(given).min();
        of_phase.min(next.unwrap_or(Time::NEVER))
    }

    /// Sends a message from the base station of one cell to that of another.
    fn post(&mut self, signal: NodeSignal, [from, to]: [CellId; 2], step: &mut Step<'_>) {
        if !step.config.speak_over_links(from, to) {
            let at = step.after(step.config.station_delay(from, to));
            self.given.push((at, signal));
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

    /// Sends one to the secondary node, or from it.
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

    /// The master's base station, or for a handover its target, asks a cell.
    fn ask(&mut self, target: CellId, purpose: Purpose, step: &mut Step<'_>) {
        let Some(serving) = step.serving else { return };
        let asker = match purpose {
            Purpose::Here(_) => serving,
            Purpose::Handover(master) => master,
        };
        let patience = step.config.procedure.preparation;
        // The target of a handover has to answer its source in time.
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

    /// A report names a cell that may be added.
    pub(crate) fn on_addable(&mut self, target: CellId, step: &mut Step<'_>) {
        if self.may_begin() && self.pscell.is_none() {
            self.ask(target, Purpose::Here(SecondaryCause::Measurement), step);
        }
    }

    /// A report is about the cell of the secondary node, which is to decide.
    pub(crate) fn on_report(&mut self, wish: Wish, step: &mut Step<'_>) {
        if self.may_begin() && self.pscell().is_some() {
            self.post_between(NodeSignal::Transfer(wish), false, step);
        }
    }

    /// The master is to change to another cell: on behalf of that, this cell of a secondary node is asked.
    pub(crate) fn plan(&mut self, master: CellId, cell: CellId, step: &mut Step<'_>) {
        self.ask(cell, Purpose::Handover(master), step);
    }

    /// The master's base station knows that the leg has failed.
    pub(crate) fn on_failure(&mut self, remedy: Remedy, step: &mut Step<'_>) {
        if self.pscell.is_some() {
            self.failed = Some(remedy);
            self.mend(step);
        }
    }

    /// Something may be done about a failed leg.
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

    /// The master's base station releases the secondary node.
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

    /// The UE is told.
    fn tell(&mut self, order: Order, step: &mut Step<'_>) {
        self.orders += 1;
        self.tell_again(order, step);
    }

    fn tell_again(&mut self, order: Order, step: &mut Step<'_>) {
        self.phase = Phase::Telling {
            order,
            until: step.after(step.config.procedure.overall),
        };
        let number = self.orders;
        step.act(Act::SecondaryNode(NodeAct::Tell { order, number }));
    }

    /// A message has come over links. Whether it is one of these.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) -> bool {
        let Some(place) = self.wired.iter().position(|&(known, _)| known == number) else {
            return false;
        };
        // Links keep the order between two base stations, but not among several.
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
                    self.tell(Order::Enter(cell), step);
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
                    self.tell(Order::Release, step);
                }
            }
            NodeSignal::Confirm(cell) => self.give_back(cell, step),
            NodeSignal::Complete(_) => {}
        }
    }

    /// The secondary node decides what is to be done about its cell.
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

    /// The master's base station hears what the secondary node wants.
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
                self.tell(Order::Enter(target), step);
            }
            Wish::Release => {
                step.act(Act::SecondaryNode(NodeAct::Began {
                    target: None,
                    purpose,
                }));
                self.post_between(NodeSignal::Confirm(cell), false, step);
                self.tell(Order::Release, step);
            }
        }
    }

    /// A cell does not take the UE, or does not answer.
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

    /// A cell holds room for the UE no longer: it has come, or will not.
    pub(crate) fn give_back(&mut self, cell: CellId, step: &mut Step<'_>) {
        self.rooms.retain(|&(held, _)| {
            if held == cell {
                let room = &mut step.held[cell.index()];
                *room = room.saturating_sub(1);
            }
            held != cell
        });
    }

    /// Time has come for whatever is due.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
        while let Some(place) = self.given.iter().position(|&(at, _)| at <= step.now) {
            let (_, signal) = self.given.remove(place);
            self.on_signal(signal, step);
        }
        while let Some(place) = self.deciding.iter().position(|&(.., at)| at <= step.now) {
            let (cell, asker, _) = self.deciding.remove(place);
            // A cell that the UE is in already has its room.
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
                // Should it hold room for the UE, it need not.
                if let Some(serving) = step.serving {
                    self.post(NodeSignal::Confirm(target), [serving, target], step);
                }
                self.fail(purpose, false, step);
            }
            Phase::Planned { cell, until } if until <= step.now => {
                self.give_back(cell, step);
                self.phase = Phase::Idle;
            }
            Phase::Releasing { until } if until <= step.now => self.tell(Order::Release, step),
            Phase::Telling { order, until } if until <= step.now => self.tell_again(order, step),
            _ => {}
        }
        self.mend(step);
        // What takes no time is there at once.
        if self.given.iter().any(|&(at, _)| at <= step.now) {
            self.on_due(step);
        }
    }

    /// The UE has answered an order. The cell that was the secondary node's before, if there was one.
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

    /// The handover for which a cell was asked does not come about.
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

    /// The UE has left its master's cell: what is under way means nothing any more. The cell of the secondary node
    /// that the command named keeps its room.
    pub(crate) fn leave(&mut self, step: &mut Step<'_>) {
        let planned = self.planned();
        let before = self.pscell;
        self.given.clear();
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
