//! Execution conditions of conditional handover at the UE. The conditions determine when the UE
//! leaves its cell, and for which candidate.
//!
//! [`Conditions`] receives samples and times. The radio channel, the clock and signalling are
//! outside this module.
//!
//! Standard: TS 38.331 §5.3.5.13; TS 36.331 §5.3.5.9.

use super::candidates::Candidates;
use super::effect::{
    BearerStep, Effect, Effects, EntryMethod, EntryStart, ReportEffect, Seen, UeEffect,
};
use super::filter::{Before, Filter, Level};
use super::message::Message;
use crate::config::{Fate, MeasurementEvent};
use crate::rlc::Generation;
use fadeout_core::{CellId, Direction, LinkInfo, Procedure, RrcEvent, Span, Time};

/// Returns the time that a UE takes to process a reconfiguration.
///
/// Standard: TS 38.331 §12; TS 36.331 §11.2.
fn processing(generation: Generation) -> Span {
    Span::from_millis(match generation {
        Generation::Lte => 15,
        Generation::Nr => 10,
    })
}

/// State of all execution conditions of a UE, over the cells that it measures.
#[derive(Debug)]
pub(crate) struct Conditions {
    conditions: Vec<Condition>,
    /// Positions of the candidates in the UE's list of cells, in order.
    candidates: Vec<usize>,
    /// Candidates that the UE has received, and the time from which it uses them. `None` if there
    /// is no new list.
    received: Option<(Time, Candidates)>,
    /// True if the UE has recovered from a link failure by a candidate.
    has_recovered: bool,
    /// Time at which all conditions of some candidate will be fulfilled, unless a later sample
    /// changes that.
    departure_at: Time,
    /// Value of `departure_at` at the last call of [`Conditions::take_changed_departure`].
    last_departure: Time,
}

/// Execution condition with its layer 3 filter, and its state for each cell.
#[derive(Debug)]
struct Condition {
    event: MeasurementEvent,
    filter: Filter,
    /// Sample period that the filter is computed for.
    period: Span,
    cells: Vec<(Level, ConditionState)>,
}

/// Starts the UE's handover to a candidate, because the execution conditions are met. The source
/// does not know that the UE left, so downlink data waits at the source.
fn leave_for(target: CellId, seen: &Seen<'_>, effects: &mut Effects) {
    let times = &seen.config.procedure;
    effects.push_back(Effect::Report(ReportEffect::RecordEvent(
        Some(target),
        RrcEvent::ConditionsMet,
    )));
    effects.push_back(Effect::Report(ReportEffect::BeginCandidateRow(target)));
    effects.push_back(Effect::Ue(UeEffect::StopDownlink(Fate::Kept)));
    effects.push_back(Effect::Ue(UeEffect::Detach(Some(target))));
    effects.push_back(Effect::Ue(UeEffect::Bearers(
        BearerStep::LeaveForCandidate(target),
    )));
    effects.push_back(Effect::Ue(UeEffect::StartEntry(EntryStart {
        cell: target,
        procedure: Procedure::Conditional,
        ready_at: seen.after(times.interruption),
        until: seen.after(times.t304),
        method: EntryMethod::Random,
    })));
}

/// State of an execution condition for one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionState {
    Out,
    /// The entering condition holds. The condition is fulfilled from this time on.
    Entering(Time),
    Fulfilled,
    /// The leaving condition holds. The condition is fulfilled until this time.
    Leaving(Time),
}

impl ConditionState {
    /// Returns the earliest time at which the condition is fulfilled, or `now` if the condition is
    /// already fulfilled.
    fn fulfilled_at(self, now: Time) -> Time {
        match self {
            ConditionState::Out => Time::NEVER,
            ConditionState::Entering(at) => at.max(now),
            ConditionState::Fulfilled => now,
            ConditionState::Leaving(until) if now < until => now,
            ConditionState::Leaving(_) => Time::NEVER,
        }
    }

    /// Returns the state after all timers that expire before `now`. A sample at the expiry of a
    /// timer is handled before the timer.
    fn settled(self, now: Time) -> ConditionState {
        match self {
            ConditionState::Entering(at) if at < now => ConditionState::Fulfilled,
            ConditionState::Leaving(until) if until < now => ConditionState::Out,
            state => state,
        }
    }
}

impl Condition {
    fn new(event: MeasurementEvent, period: Span, cells: usize) -> Condition {
        Condition {
            filter: Filter::new(event.filter, period),
            period,
            cells: vec![(Level::NONE, ConditionState::Out); cells],
            event,
        }
    }

    /// Evaluates the condition of a neighbour. The filtered values of both cells must be exact.
    fn evaluate(&mut self, now: Time, [serving, position]: [usize; 2]) {
        let [of_serving, value] = [serving, position].map(|cell| self.cells[cell].0.low);
        let (kind, hysteresis) = (self.event.kind, self.event.hysteresis_db);
        let state = &mut self.cells[position].1;
        let ends_at = now.saturating_add(self.event.time_to_trigger);
        let enters = || kind.enters(of_serving, value, hysteresis);
        let leaves = || kind.leaves(of_serving, value, hysteresis);
        *state = match state.settled(now) {
            ConditionState::Out if enters() => ConditionState::Entering(ends_at),
            ConditionState::Entering(_) if !enters() => ConditionState::Out,
            ConditionState::Fulfilled if leaves() => ConditionState::Leaving(ends_at),
            ConditionState::Leaving(_) if !leaves() => ConditionState::Fulfilled,
            state => state,
        };
    }
}

impl Conditions {
    /// Returns the state of a UE without candidates. The UE measures `cells` cells each `period`.
    pub(crate) fn new(events: &[MeasurementEvent], period: Span, cells: usize) -> Conditions {
        let condition = |&event| Condition::new(event, period, cells);
        Conditions {
            conditions: events.iter().map(condition).collect(),
            candidates: Vec::new(),
            received: None,
            has_recovered: false,
            departure_at: Time::NEVER,
            last_departure: Time::NEVER,
        }
    }

    /// Handles the list of candidates at the UE, which uses them after its processing time.
    pub(crate) fn on_candidates(
        &mut self,
        candidates: Candidates,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        if let Some(generation) = seen.generation {
            let received = RrcEvent::CandidatesReceived;
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(None, received)));
            self.received = Some((seen.after(processing(generation)), candidates));
        }
    }

    /// Runs the steps of a connected UE that are due. The UE begins to use received candidates, or
    /// leaves for a candidate whose conditions are met. Listeners of its link learn of an expected
    /// departure.
    pub(crate) fn on_due(&mut self, seen: &Seen<'_>, effects: &mut Effects) {
        if !seen.is_connected || seen.config.conditional().is_none() {
            return;
        }
        let cells = seen.measured;
        if let Some(all) = self.take_received(seen.now) {
            let places = all.cells().iter();
            let places = places.filter_map(|cell| cells.binary_search(cell).ok());
            self.set_candidates(seen.now, places);
            let ready = Message::CandidatesReady;
            effects.push_back(Effect::SendMessage(Direction::Uplink, ready));
        }
        if let Some(starts_at) = self.take_changed_departure() {
            effects.push_back(Effect::Report(ReportEffect::Notify(
                match starts_at.is_never() {
                    true => LinkInfo::BlockageEnded,
                    false => LinkInfo::BlockagePredicted {
                        starts_at,
                        lasts: seen.config.procedure.interruption
                            + seen.config.access.predicted_duration(),
                    },
                },
            )));
        }
        if let Some(position) = self.take_departure(seen.now) {
            leave_for(cells[position], seen, effects);
        }
    }

    /// Returns the received candidates once, when the UE begins to use them. `None` before.
    fn take_received(&mut self, now: Time) -> Option<Candidates> {
        let received = self.received.take_if(|(at, _)| *at <= now);
        received.map(|(_, candidates)| candidates)
    }

    /// Sets the candidates, by position in the UE's list of cells. Cells that were candidates
    /// before keep the states of their conditions.
    pub(crate) fn set_candidates(&mut self, now: Time, candidates: impl Iterator<Item = usize>) {
        self.candidates.clear();
        self.candidates.extend(candidates);
        self.candidates.sort_unstable();
        for condition in &mut self.conditions {
            for (position, (_, state)) in condition.cells.iter_mut().enumerate() {
                if !self.candidates.contains(&position) {
                    *state = ConditionState::Out;
                }
            }
        }
        self.update_departure(now);
    }

    /// Removes all candidates, because the UE has another serving cell or none.
    pub(crate) fn clear(&mut self) {
        self.received = None;
        self.has_recovered = false;
        self.set_candidates(Time::ZERO, std::iter::empty());
        self.last_departure = Time::NEVER;
    }

    /// Returns the positions of the candidates in the UE's list of cells.
    pub(crate) fn candidates(&self) -> &[usize] {
        &self.candidates
    }

    /// True if the UE has received candidates that it does not use yet.
    pub(crate) fn has_received(&self) -> bool {
        self.received.is_some()
    }

    /// True if there are no candidates.
    pub(crate) fn is_idle(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns true if a UE with a failed link may enter a cell without re-establishment. The cell
    /// must be a candidate. In each serving cell the function returns true at most once.
    ///
    /// Standard: TS 38.331 §5.3.7.3.
    pub(crate) fn recovers_in(&mut self, cell: CellId, seen: &Seen<'_>) -> bool {
        let conditional = seen.config.conditional();
        let may = conditional.is_some_and(|config| config.recovers) && !self.has_recovered;
        let position = seen.measured.binary_search(&cell);
        let may = may && position.is_ok_and(|position| self.candidates.contains(&position));
        self.has_recovered |= may;
        may
    }

    /// True if the filtered level of the serving cell or of a candidate would be inexact after
    /// `samples`.
    pub(crate) fn needs_exact_level(
        &self,
        (serving, samples): (usize, &[Level]),
        position: usize,
    ) -> bool {
        let is_meant = position == serving || self.candidates.contains(&position);
        let is_unknown = |condition: &Condition| {
            let before = condition.cells[position].0;
            let next = condition.filter.next_level(before, samples[position]);
            !next.is_known()
        };
        !self.is_idle() && is_meant && self.conditions.iter().any(is_unknown)
    }

    /// Adapts the filters to samples that follow the previous samples after the time `over`.
    pub(crate) fn set_period(&mut self, over: Span) {
        for condition in self.conditions.iter_mut().filter(|it| it.period != over) {
            condition.period = over;
            condition.filter = Filter::new(condition.event.filter, over);
        }
    }

    /// Filters the last samples of a cell again. See
    /// [`EventState::replay`](super::measure::EventState::replay).
    pub(crate) fn replay(&mut self, position: usize, samples: (&[(Span, f64)], Before)) {
        for condition in &mut self.conditions {
            let filtered = &mut condition.cells[position].0;
            let defined_for = (condition.event.filter, condition.period);
            *filtered = condition.filter.replay(defined_for, samples, *filtered);
        }
    }

    /// Handles a sample of one cell, taken the time `over` after the cell's previous sample.
    pub(crate) fn on_sample(&mut self, position: usize, sample: Level, over: Span) {
        for condition in &mut self.conditions {
            let filtered = &mut condition.cells[position].0;
            *filtered = Filter::new(condition.event.filter, over).next_level(*filtered, sample);
        }
    }

    /// Handles samples of all cells in dBm. A cell without a sample keeps its value.
    pub(crate) fn on_samples(&mut self, now: Time, serving: usize, samples: &[Level]) {
        for condition in &mut self.conditions {
            let known = condition.cells.iter_mut().zip(samples);
            for ((filtered, _), &sample) in known.filter(|(_, sample)| !sample.is_none()) {
                *filtered = condition.filter.next_level(*filtered, sample);
            }
            for &position in self.candidates.iter().filter(|&&it| it != serving) {
                condition.evaluate(now, [serving, position]);
            }
        }
        self.update_departure(now);
    }

    fn update_departure(&mut self, now: Time) {
        let all = self.candidates.iter();
        let all = all.map(|&position| self.departure_at_of(position, now));
        self.departure_at = all.min().unwrap_or(Time::NEVER);
    }

    /// Returns the time at which all conditions of a candidate will be fulfilled, unless a later
    /// sample changes that.
    fn departure_at_of(&self, position: usize, now: Time) -> Time {
        let states = || self.conditions.iter().map(|it| it.cells[position].1);
        let at = states().map(|state| state.fulfilled_at(now)).max();
        let at = at.unwrap_or(Time::NEVER);
        let lasts = states().all(|state| state.fulfilled_at(at) <= at);
        if lasts { at } else { Time::NEVER }
    }

    /// Returns the time of the next action: the use of received candidates, or the departure to a
    /// candidate.
    pub(crate) fn wake_at(&self) -> Time {
        let received_at = self.received.map_or(Time::NEVER, |(at, _)| at);
        received_at.min(self.departure_at)
    }

    /// Returns the expected time of departure, if it has changed since the last call.
    /// [`Time::NEVER`] if no departure is expected. `None` without a change.
    fn take_changed_departure(&mut self) -> Option<Time> {
        let is_new =
            std::mem::replace(&mut self.last_departure, self.departure_at) != self.departure_at;
        is_new.then_some(self.departure_at)
    }

    /// Returns the strongest candidate whose conditions are all fulfilled. Among equally strong
    /// candidates the first one is returned. `None` if no departure is due, or if the candidate was
    /// returned before.
    fn take_departure(&mut self, now: Time) -> Option<usize> {
        if self.departure_at > now {
            return None;
        }
        self.departure_at = Time::NEVER;
        let met = self.candidates.iter().copied();
        let met = met.filter(|&position| self.departure_at_of(position, now) <= now);
        let level = |position: usize| self.conditions[0].cells[position].0.low;
        met.fold(None, |best, position| match best {
            Some(best) if level(best) >= level(position) => Some(best),
            _ => Some(position),
        })
    }
}

#[cfg(test)]
mod tests;
