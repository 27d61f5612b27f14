//! Conditional handover of one UE between base stations. The source sends requests to candidate
//! cells, which reserve resources for the UE. The candidate that the UE enters notifies the source.
//!
//! ```text
//! source ─ Request ─► candidate        target ─ Success ─► source ─ StatusTransfer ─► target
//!        ◄─ Acknowledge, Refuse ─                          source ─ Cancel ─► the other candidates
//!        ◄─ Withdraw ─ candidate whose reservation ends
//! ```
//!
//! [`Candidacy`] receives messages and times and returns [`Effect`]s, as
//! [`Network`](super::network::Network) does.
//!
//! Standard: TS 38.300 §9.2.3.4; TS 38.423 §8.2.1, §8.2.3, §8.2.8, §8.2.9.

use super::backhaul::{NetworkMessages, NetworkNode, NetworkSignal};
use super::candidates::Candidates;
use super::effect::{BearerStep, Effect, REPEAT, ReportEffect, Step, UeEffect};
use super::message::Message;
use crate::config::ConditionalConfig;
use fadeout_core::{CellId, Direction, RrcEvent, Span, Time};

/// Network side of a UE's conditional handovers.
#[derive(Debug, Default)]
pub(crate) struct Candidacy {
    /// Cell whose base station prepares the candidates.
    source: CellId,
    /// Candidates to which the source has sent a request, the oldest first.
    candidates: Vec<SourceCandidate>,
    /// True if the UE does not know the present list of candidates yet.
    is_list_outdated: bool,
    /// Time at which the latest list of candidates was sent to the UE. `None` if no list was sent.
    list_sent_at: Option<Time>,
    /// Reservations of candidates for the UE.
    reservations: Vec<Reservation>,
    /// Cells that decide about a request, each with the time of its decision.
    deciding: Vec<(CellId, Time)>,
    /// Messages with a fixed delay, each with its arrival time. They are not sorted.
    delayed: Vec<(Time, NetworkSignal)>,
    success: Option<SuccessNotification>,
    /// Time at which the target has the forwarded data. Used only if no simulated link carries the
    /// data.
    resumes_at: Time,
    wire: NetworkMessages,
}

/// State of a candidate at its source.
#[derive(Debug, Clone, Copy)]
struct SourceCandidate {
    cell: CellId,
    /// Time of the source's request.
    asked_at: Time,
    /// Time until which the source waits for the candidate's answer. [`Time::NEVER`] after the
    /// answer.
    answer_by: Time,
    /// True if the candidate receives copies of the source's data.
    has_copies: bool,
}

impl SourceCandidate {
    fn is_prepared(&self) -> bool {
        self.answer_by.is_never()
    }
}

/// Notification (Handover Success) that the UE has entered a candidate. It is repeated until the
/// source answers.
#[derive(Debug, Clone, Copy)]
struct SuccessNotification {
    cell: CellId,
    /// Time of the next repetition.
    again_at: Time,
    /// True if the target knows that the source has received the notification.
    is_known: bool,
}

/// Reservation of a candidate for the UE.
#[derive(Debug, Clone, Copy)]
struct Reservation {
    source: CellId,
    cell: CellId,
    until: Time,
}

impl Candidacy {
    pub(crate) fn new() -> Candidacy {
        Candidacy {
            resumes_at: Time::NEVER,
            ..Candidacy::default()
        }
    }

    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        let answers = self.candidates.iter().map(|candidate| candidate.answer_by);
        let reservations = self
            .reservations
            .iter()
            .map(|reservation| reservation.until);
        let decisions = self.deciding.iter().map(|&(_, at)| at);
        let delayed = self.delayed.iter().map(|&(at, _)| at);
        let again = self.success.iter().map(|success| success.again_at);
        let times = answers.chain(reservations).chain(decisions).chain(delayed);
        let next = times.chain(again).min().unwrap_or(Time::NEVER);
        next.min(self.resumes_at)
    }

    /// True if a target waits for the source's answer or for the forwarded data.
    pub(crate) fn is_finishing(&self) -> bool {
        self.success.is_some() || !self.resumes_at.is_never()
    }

    /// Returns the candidates that have accepted the UE.
    fn prepared(&self) -> Candidates {
        let mut all = Candidates::NONE;
        let prepared = self
            .candidates
            .iter()
            .filter(|candidate| candidate.is_prepared());
        prepared.for_each(|candidate| all.add(candidate.cell));
        all
    }

    /// Returns the time at which the latest list of candidates was sent to the UE. `None` if no
    /// list was sent.
    pub(crate) fn list_sent_at(&self) -> Option<Time> {
        self.list_sent_at
    }

    /// Returns the time at which the source sent its request to a candidate. `None` if the cell is
    /// no candidate.
    pub(crate) fn asked_at(&self, cell: CellId) -> Option<Time> {
        let candidate = self
            .candidates
            .iter()
            .find(|candidate| candidate.cell == cell);
        candidate.map(|candidate| candidate.asked_at)
    }

    /// True if a cell reserves resources for the UE.
    pub(crate) fn has_reservation(&self, cell: CellId) -> bool {
        self.reservations
            .iter()
            .any(|reservation| reservation.cell == cell)
    }

    /// Sends requests to the cells in `wanted`, the best first. If the maximum number of candidates
    /// is reached, older candidates that are not in `wanted` are cancelled.
    pub(crate) fn request_candidates(
        &mut self,
        source: CellId,
        wanted: &[CellId],
        config: &ConditionalConfig,
        step: &mut Step<'_>,
    ) {
        if self.source != source {
            self.cancel_all(step);
            self.source = source;
        }
        let wanted = &wanted[..wanted.len().min(config.most_candidates)];
        for &cell in wanted {
            if self
                .candidates
                .iter()
                .any(|candidate| candidate.cell == cell)
            {
                continue;
            }
            if self.candidates.len() >= config.most_candidates {
                let is_other = |candidate: &SourceCandidate| !wanted.contains(&candidate.cell);
                let Some(place) = self.candidates.iter().position(is_other) else {
                    return;
                };
                let left = self.candidates.remove(place);
                self.cancel(left.cell, step);
                self.is_list_outdated |= left.is_prepared();
            }
            step.push(ReportEffect::RecordEvent(
                Some(cell),
                RrcEvent::HandoverRequest,
            ));
            self.candidates.push(SourceCandidate {
                cell,
                asked_at: step.now,
                answer_by: step.after(step.config.procedure.preparation),
                has_copies: false,
            });
            self.send(NetworkSignal::Request(cell), [source, cell], step);
        }
        self.send_candidates(step);
    }

    /// Sets the source of an ordinary handover, whose only candidate is its target.
    pub(crate) fn set_source(&mut self, source: CellId) {
        self.source = source;
    }

    /// Handles the UE's entry into a candidate. The reservation of that cell ends, and its base
    /// station notifies the source.
    pub(crate) fn on_executed(&mut self, cell: CellId, step: &mut Step<'_>) {
        self.end_reservations(|reservation| reservation.cell == cell, step);
        self.success = Some(SuccessNotification {
            cell,
            again_at: step.after(REPEAT),
            is_known: false,
        });
        self.send(NetworkSignal::Success(cell), [cell, self.source], step);
    }

    /// Handles a UE's switch to a candidate of the same base station. The other candidates stay
    /// prepared, and the cell that the UE left becomes a candidate. `lacks_candidates` is true if
    /// the UE does not know the latest list of candidates.
    ///
    /// Standard: TS 38.300 §9.2.3.5.2.
    pub(crate) fn on_switched(
        &mut self,
        [source, cell]: [CellId; 2],
        lacks_candidates: bool,
        step: &mut Step<'_>,
    ) {
        self.end_reservations(|reservation| reservation.cell == cell, step);
        self.candidates.retain(|candidate| candidate.cell != cell);
        self.source = cell;
        for reservation in &mut self.reservations {
            reservation.source = cell;
        }
        let is_known = self
            .candidates
            .iter()
            .any(|candidate| candidate.cell == source);
        if let Some(config) = step.config.conditional()
            && source != cell
            && !is_known
        {
            self.candidates.push(SourceCandidate {
                cell: source,
                asked_at: step.now,
                answer_by: Time::NEVER,
                has_copies: false,
            });
            step.held[source.index()] += 1;
            self.reservations.push(Reservation {
                source: cell,
                cell: source,
                until: step.after(config.hold),
            });
        }
        self.is_list_outdated |= lacks_candidates;
        self.send_candidates(step);
    }

    /// Stops repeating the notification of the source, because the link to the UE is lost.
    pub(crate) fn on_link_lost(&mut self) {
        self.success = None;
        self.resumes_at = Time::NEVER;
    }

    /// Cancels all candidates, because the UE has left the source for another cell.
    pub(crate) fn cancel_all(&mut self, step: &mut Step<'_>) {
        self.is_list_outdated = false;
        while let Some(candidate) = self.candidates.pop() {
            self.cancel(candidate.cell, step);
        }
    }

    fn cancel(&mut self, cell: CellId, step: &mut Step<'_>) {
        let source = self.source;
        let signal = NetworkSignal::Cancel { source, cell };
        self.send(signal, [source, cell], step);
    }

    /// Ends the reservations for which `is_it` returns true. Returns true if there were any.
    fn end_reservations(
        &mut self,
        is_it: impl Fn(&Reservation) -> bool,
        step: &mut Step<'_>,
    ) -> bool {
        let before = self.reservations.len();
        for reservation in self
            .reservations
            .iter()
            .filter(|reservation| is_it(reservation))
        {
            let held = &mut step.held[reservation.cell.index()];
            *held = held.saturating_sub(1);
        }
        self.reservations.retain(|reservation| !is_it(reservation));
        self.reservations.len() < before
    }

    /// Sends the list of candidates to the UE if the list has changed and all candidates have
    /// answered.
    fn send_candidates(&mut self, step: &mut Step<'_>) {
        if self.is_list_outdated && self.candidates.iter().all(SourceCandidate::is_prepared) {
            self.is_list_outdated = false;
            self.list_sent_at = Some(step.now);
            self.announce_copies(step);
            step.push(Effect::SendCandidates);
        }
    }

    /// Sends the list of candidates to a connected UE. With early data forwarding, the source sends
    /// copies of downlink packets to the candidates from now on.
    pub(crate) fn configure(&self, step: &mut Step<'_>) {
        if !step.is_connected {
            return;
        }
        let all = self.prepared();
        let config = step.config.conditional();
        if config.is_some_and(|config| config.forwards_early) {
            step.push(UeEffect::Bearers(BearerStep::CopyEarly(all)));
        }
        step.push(ReportEffect::RecordEvent(None, RrcEvent::CandidatesSent));
        let list = Message::Candidates(all);
        step.push(Effect::SendMessage(Direction::Downlink, list));
    }

    /// Sends Early Status Transfer, with the COUNT value of the first copy, to candidates that will
    /// receive copies.
    ///
    /// Standard: TS 38.423 §8.2.12.
    fn announce_copies(&mut self, step: &mut Step<'_>) {
        let config = step.config.conditional();
        if !config.is_some_and(|config| config.forwards_early) {
            return;
        }
        let source = self.source;
        for place in 0..self.candidates.len() {
            let candidate = &mut self.candidates[place];
            let is_near = step.config.is_one_station(source, candidate.cell);
            if !std::mem::replace(&mut candidate.has_copies, true) && !is_near {
                let ends = [source, candidate.cell];
                self.send(NetworkSignal::EarlyStatus, ends, step);
            }
        }
    }

    /// Handles all actions that are due.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
        while let Some(place) = self.delayed.iter().position(|(at, _)| *at <= step.now) {
            let (_, signal) = self.delayed.remove(place);
            self.on_signal(signal, step);
        }
        while let Some(place) = self.deciding.iter().position(|(_, at)| *at <= step.now) {
            let (cell, _) = self.deciding.remove(place);
            self.decide_request(cell, step);
        }
        while let Some(place) =
            (self.candidates.iter()).position(|candidate| candidate.answer_by <= step.now)
        {
            let cell = self.candidates.remove(place).cell;
            step.push(ReportEffect::RecordEvent(
                Some(cell),
                RrcEvent::PreparationExpired,
            ));
            self.cancel(cell, step);
            self.send_candidates(step);
        }
        while let Some(place) = self
            .reservations
            .iter()
            .position(|reservation| reservation.until <= step.now)
        {
            let Reservation { source, cell, .. } = self.reservations[place];
            self.end_reservations(
                |reservation| (reservation.source, reservation.cell) == (source, cell),
                step,
            );
            step.push(ReportEffect::RecordEvent(
                Some(cell),
                RrcEvent::CandidateCancelled,
            ));
            let signal = NetworkSignal::Withdraw { source, cell };
            self.send(signal, [cell, source], step);
        }
        if let Some(success) = self.success.as_mut().filter(|it| it.again_at <= step.now) {
            success.again_at = step.after(REPEAT);
            let cell = success.cell;
            self.send(NetworkSignal::Success(cell), [cell, self.source], step);
        }
        if self.resumes_at <= step.now {
            self.resumes_at = Time::NEVER;
            step.push(Effect::ResumeData);
        }
    }

    /// Handles a message that has arrived over links, if the message is about conditional handover.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) {
        let Some(message) = self.wire.take_arrived(number) else {
            return;
        };
        if message.next != message.to {
            // The message has reached the core, which forwards it to its destination.
            return self
                .wire
                .send_hop(message.signal, message.next, [message.to; 2], step);
        }
        self.on_signal(message.signal, step);
    }

    /// Handles a candidate's decision about a request.
    fn decide_request(&mut self, cell: CellId, step: &mut Step<'_>) {
        let source = self.source;
        let has_room = step.has_room(cell);
        let answer = match (has_room, step.config.conditional()) {
            (true, Some(config)) => {
                self.end_reservations(|reservation| reservation.cell == cell, step);
                step.held[cell.index()] += 1;
                self.reservations.push(Reservation {
                    source,
                    cell,
                    until: step.after(config.hold),
                });
                NetworkSignal::Acknowledge(cell)
            }
            _ => NetworkSignal::Refuse(cell),
        };
        self.send(answer, [cell, source], step);
    }

    fn on_signal(&mut self, signal: NetworkSignal, step: &mut Step<'_>) {
        match signal {
            NetworkSignal::Request(cell) => {
                let at = step.after(step.admission(cell));
                self.deciding.push((cell, at));
            }
            NetworkSignal::Acknowledge(cell) => {
                let mut candidates = self.candidates.iter_mut();
                match candidates.find(|candidate| candidate.cell == cell) {
                    Some(candidate) => {
                        candidate.answer_by = Time::NEVER;
                        self.is_list_outdated = true;
                        step.push(ReportEffect::RecordEvent(
                            Some(cell),
                            RrcEvent::CandidatePrepared,
                        ));
                        self.send_candidates(step);
                    }
                    // The source has stopped waiting for this candidate.
                    None => self.cancel(cell, step),
                }
            }
            NetworkSignal::Refuse(cell) => {
                self.candidates.retain(|candidate| candidate.cell != cell);
                step.push(ReportEffect::RecordEvent(
                    Some(cell),
                    RrcEvent::HandoverRefused,
                ));
                self.send_candidates(step);
            }
            NetworkSignal::Cancel { source, cell } => {
                self.deciding.retain(|&(other, _)| other != cell);
                if self.end_reservations(
                    |reservation| (reservation.source, reservation.cell) == (source, cell),
                    step,
                ) {
                    step.push(ReportEffect::RecordEvent(
                        Some(cell),
                        RrcEvent::CandidateCancelled,
                    ));
                }
            }
            NetworkSignal::Withdraw { source, cell } if source == self.source => {
                let before = self.candidates.len();
                self.candidates.retain(|candidate| candidate.cell != cell);
                self.is_list_outdated |= self.candidates.len() < before;
                self.send_candidates(step);
            }
            NetworkSignal::Success(cell) => self.on_success(cell, step),
            NetworkSignal::StatusTransfer => {
                let was_awaited = self.success.take().is_some();
                if was_awaited && step.config.is_daps() {
                    step.push(Effect::HasStatus);
                }
            }
            _ => {}
        }
    }

    /// Handles a candidate's notification at the source: the source forwards its data and cancels
    /// the other candidates.
    fn on_success(&mut self, cell: CellId, step: &mut Step<'_>) {
        let source = self.source;
        if self
            .candidates
            .iter()
            .any(|candidate| candidate.cell == cell)
        {
            step.push(ReportEffect::RecordEvent(
                Some(cell),
                RrcEvent::HandoverSuccess,
            ));
            self.candidates.retain(|candidate| candidate.cell != cell);
            self.cancel_all(step);
        }
        // The notification may be a repetition after a lost answer, or the UE may have left that
        // cell.
        let is_there = step.is_connected && step.serving == Some(cell);
        let mut awaited = self.success.iter_mut();
        let first = awaited.find(|success| success.cell == cell && !success.is_known);
        if let Some(success) = first.filter(|_| is_there) {
            success.is_known = true;
            let delay = match step.config.exchange_over_links(source, cell) {
                true => Span::ZERO,
                false => step.config.station_delay(source, cell),
            };
            let from = step.config.station(source);
            step.push(Effect::ForwardData { from, cell, delay });
            match delay == Span::ZERO {
                true => step.push(Effect::ResumeData),
                false => self.resumes_at = step.after(delay),
            }
        }
        self.send(NetworkSignal::StatusTransfer, [source, cell], step);
    }

    /// Sends a message from the base station of one cell to that of another.
    fn send(&mut self, signal: NetworkSignal, [from, to]: [CellId; 2], step: &mut Step<'_>) {
        if step.config.exchange_over_links(from, to) {
            let ends = [from, to].map(|cell| NetworkNode::Station(step.config.station(cell)));
            self.wire.send_between(signal, ends, step);
        } else {
            let at = step.after(step.config.station_delay(from, to));
            self.delayed.push((at, signal));
        }
    }
}

#[cfg(test)]
mod tests;
