//! Conditional handover of one UE: its candidate cells, and the execution of a handover by the UE.
//!
//! ```text
//! report ─► on_report ─► requests, answers ─► configure ─► on_candidates
//!                                                               │ proceed: candidates in use
//!                              conditions met, or recovery after failure ─► enter: random access
//!                                                                                    │
//!            the source forwards, other candidates are cancelled ◄─ success ◄─ on_complete
//! ```
//!
//! A UE does not inform the source before it leaves. The source buffers downlink data for the UE,
//! as after a radio link failure.
//!
//! Standard: TS 38.300 §9.2.3.4; TS 38.331 §5.3.5.13; TS 36.331 §5.3.5.9.

use super::managed::{Managed, record_cell_event};
use super::random_access::is_to_candidate;
use crate::access::plane::event::Event;
use crate::access::plane::moves::Move;
use crate::bearer::early::{CopyCandidate, early};
use crate::bearer::{Drb, Storage};
use crate::config::{Env, EventKind, Fate, MOST_CANDIDATES, Signalling};
use crate::rrc::candidates::Candidates;
use crate::rrc::conditional::processing;
use crate::rrc::granted::EntryAccess;
use crate::rrc::message::Message;
use crate::rrc::policy::{HandoverPolicy, Report};
use crate::rrc::random_access::RandomAccess;
use crate::rrc::record::NewRow;
use crate::rrc::report::MeasurementReport;
use crate::rrc::stage::{Entry, Stage};
use fadeout_core::{CellId, Direction, HandoverOutcome, HandoverRow, Probe, Procedure, RrcEvent};

/// Mutable access to a UE's state, for conditional handover.
pub(crate) struct Conditional<'m, 'a>(pub &'m mut Managed<'a>);

impl Conditional<'_, '_> {
    /// Handles a measurement report at the source. The source prepares the cells that the policy
    /// chooses, one by one.
    pub(crate) fn on_report(
        &mut self,
        (event, report): (EventKind, &MeasurementReport),
        env: &mut Env<'_, impl Probe>,
    ) {
        let config = self.0.config;
        let source = report.serving.cell;
        let Some(conditional) = config.conditional() else {
            return;
        };
        let mut left = [report.serving; MOST_CANDIDATES];
        let mut count = report.cells().len().min(MOST_CANDIDATES);
        left[..count].copy_from_slice(&report.cells()[..count]);
        let mut wanted = Candidates::NONE;
        loop {
            let chosen = self.0.policy.choose(&Report {
                now: env.now,
                ue: self.0.ue,
                event,
                serving: report.serving,
                cells: &left[..count],
                measured: self.0.cells,
                loads: self.0.loads,
                most_ues: config.most_ues,
            });
            let Some(cell) = chosen else { break };
            if self.may_be_candidate(cell, source) && !wanted.cells().contains(&cell) {
                wanted.add(cell);
            }
            let mut remaining = left[..count].iter();
            let Some(place) = remaining.position(|reported| reported.cell == cell) else {
                break;
            };
            left.copy_within(place + 1..count, place);
            count -= 1;
            if count == 0 {
                break;
            }
        }
        if !wanted.cells().is_empty() {
            self.0.with_network(env, |network, step| {
                let wanted = wanted.cells();
                network
                    .candidacy
                    .request_candidates(source, wanted, conditional, step);
            });
        }
    }

    /// Returns true if a cell may be a candidate. A candidate is not the source and has the
    /// source's generation.
    fn may_be_candidate(&self, cell: CellId, source: CellId) -> bool {
        let kind = |cell| {
            let place = self.0.cells.binary_search(&cell).ok()?;
            Some(self.0.kinds[place].generation)
        };
        cell != source && kind(cell).is_some() && kind(cell) == kind(source)
    }

    /// Sends the candidates to the UE.
    pub(crate) fn configure(&mut self, env: &mut Env<'_, impl Probe>) {
        if !self.0.state.is_connected() {
            return;
        }
        let all = self.0.state.network.candidacy.prepared();
        self.copy_to(all, env);
        self.0.record_event(RrcEvent::CandidatesSent, env);
        self.0
            .send(Direction::Downlink, Message::Candidates(all), env);
    }

    /// Makes the source send copies of downlink packets to the base stations of candidates, if
    /// early data forwarding is on.
    fn copy_to(&mut self, all: Candidates, env: &mut Env<'_, impl Probe>) {
        let config = self.0.config;
        let forwards = config
            .conditional()
            .is_some_and(|config| config.forwards_early);
        let serving = self.0.service.stack.serving_cell(self.0.ue);
        let Some(source) = serving.filter(|_| forwards) else {
            return;
        };
        let others = (all.cells().iter()).filter(|&&cell| !config.is_one_station(source, cell));
        let candidates: Vec<CopyCandidate> = others
            .map(|&cell| CopyCandidate {
                cell,
                station: config.station(cell),
                delay: (!config.has_links()).then(|| config.station_delay(source, cell)),
            })
            .collect();
        let from = (source, config.station(source));
        self.each_bearer(
            |drb, env, storage| early(drb).set_candidates(from, &candidates, env, storage),
            env,
        );
    }

    /// Applies `action` to each data bearer.
    fn each_bearer<P: Probe>(
        &mut self,
        mut action: impl FnMut(&mut Drb, &mut Env<'_, P>, &mut Storage),
        env: &mut Env<'_, P>,
    ) {
        let stack = &mut self.0.service.stack;
        for bearer in stack.ues[self.0.ue.index()].bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            action(drb, env, &mut stack.storage);
        }
    }

    /// Ends the sending of early copies, because the source knows the UE's cell.
    pub(crate) fn end_copies(&mut self, env: &mut Env<'_, impl Probe>) {
        let procedure = self.0.state.record.procedure();
        let is_there = self.0.state.is_connected() && procedure.is_some_and(is_to_candidate);
        self.each_bearer(|drb, _, _| early(drb).end(is_there), env);
    }

    /// Handles the list of candidates at the UE.
    pub(crate) fn on_candidates(&mut self, all: Candidates, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.0.leg() else {
            return;
        };
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        self.0.record_event(RrcEvent::CandidatesReceived, env);
        let at = env.now.saturating_add(processing(generation));
        self.0.state.survey.conditions.on_received(at, all);
    }

    /// Carries out the UE's steps that are due and need no command of the network.
    pub(crate) fn proceed(&mut self, env: &mut Env<'_, impl Probe>) {
        if self.0.config.conditional().is_some() && self.0.state.is_connected() {
            let cells = self.0.cells;
            self.0.with_effects(env, |state, seen, effects| {
                state.survey.conditions.on_due(cells, seen, effects);
            });
        }
    }

    /// Starts the UE's handover to a candidate, because the execution conditions are met.
    pub(crate) fn execute(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let ue = self.0.ue;
        let Some(source) = self.0.service.stack.serving_cell(ue) else {
            return;
        };
        record_cell_event((ue, target), RrcEvent::ConditionsMet, env);
        let is_commanded = self.0.state.network.is_preparing();
        let candidacy = &self.0.state.network.candidacy;
        let row = NewRow {
            procedure: Procedure::Conditional,
            ends: [source, target],
            triggered_at: candidacy.asked_at(target),
            commanded_at: candidacy.list_sent_at(),
            left_at: None,
        };
        if is_commanded {
            // A handover command is under way or in preparation. The UE leaves before the command
            // arrives, so the commanded handover is cancelled.
            self.0.state.network.cancel_handover();
            self.0.fail_row(HandoverOutcome::Cancelled, env);
        }
        self.0.begin_row(row, env);
        // The source does not know that the UE left, so downlink data waits at the source.
        self.0.stop_downlink(Fate::Kept, env);
        self.0.detach(Some(target), env);
        self.each_bearer(|drb, env, _| early(drb).execute(target, env.now), env);
        match self.0.leg_in(target) {
            Some(_) => self.enter(target, Procedure::Conditional, env),
            None => self.0.reselect(env),
        }
    }

    /// Starts random access in a candidate cell.
    fn enter(&mut self, cell: CellId, procedure: Procedure, env: &Env<'_, impl Probe>) {
        let times = &self.0.config.procedure;
        let ready_at = env.now.saturating_add(times.interruption);
        let access = RandomAccess::new(self.0.access_in(cell), ready_at, true);
        self.0.state.stage = Stage::Entering(Entry {
            cell,
            access: EntryAccess::Random(access),
            until: env.now.saturating_add(times.t304),
            procedure,
        });
    }

    /// Starts a conditional handover to the cell that the UE selected after a failure, if the cell
    /// is a candidate. Returns false if the cell is no candidate.
    ///
    /// Standard: TS 38.331 §5.3.7.3.
    pub(crate) fn recover(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) -> bool {
        let may = self
            .0
            .config
            .conditional()
            .is_some_and(|config| config.recovers);
        let place = self.0.cells.binary_search(&cell).ok().filter(|_| may);
        let conditions = &mut self.0.state.survey.conditions;
        if !place.is_some_and(|place| conditions.recovers_in(place)) {
            return false;
        }
        let entered = |row: &mut HandoverRow| {
            (row.target, row.procedure) = (cell, Procedure::Recovery);
        };
        self.0.state.record.update_row(entered);
        self.each_bearer(|drb, env, _| early(drb).execute(cell, env.now), env);
        self.enter(cell, Procedure::Recovery, env);
        true
    }

    /// Handles the UE's complete message at the base station of a cell. Returns true if the target
    /// must not send downlink data before the source's data arrives.
    pub(crate) fn on_complete(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) -> bool {
        if self.0.config.conditional().is_none() {
            return false;
        }
        let is_candidate = (self.0.state.record.procedure()).is_some_and(is_to_candidate);
        if is_candidate && self.0.config.ltm().is_some() {
            self.0.on_switched(cell, env);
            return false;
        }
        self.0
            .with_network(env, |network, step| match is_candidate {
                true => network.candidacy.on_executed(cell, step),
                false => network.candidacy.cancel_all(step),
            });
        if is_candidate {
            self.each_bearer(|drb, env, _| early(drb).on_complete(env), env);
            let mut position = 0;
            while let Some(&bearer) =
                (self.0.service.stack.ues[self.0.ue.index()].bearers()).get(position)
            {
                self.0.service.on_downlink_data(bearer, env);
                position += 1;
            }
        }
        is_candidate
    }

    /// Drops all candidates when the UE loses its connection.
    pub(crate) fn drop_candidates(&mut self, env: &mut Env<'_, impl Probe>) {
        self.0.state.survey.conditions.clear();
        self.each_bearer(|drb, _, _| early(drb).end(false), env);
        self.0
            .with_network(env, |network, step| network.candidacy.cancel_all(step));
    }

    /// Forwards the end markers that the source stored while the UE's cell was unknown.
    pub(crate) fn release_markers(&mut self, env: &mut Env<'_, impl Probe>) {
        let config = self.0.config;
        let stack = &mut self.0.service.stack;
        // The data of the source must be sent before the end markers.
        stack.send_forwarded(self.0.moves);
        for &bearer in stack.ues[self.0.ue.index()].bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            for _ in 0..drb.mobile().take_markers() {
                match (&config.signalling, drb.transfers().stations()) {
                    (Signalling::Links { .. }, Some((from, to))) if from != to => {
                        self.0.moves.push(Move::ForwardedEnd { bearer, from, to });
                    }
                    (Signalling::Links { .. }, _) => {
                        stack.events.schedule(env.now, Event::EndMarker(bearer));
                    }
                    (Signalling::FixedDelays, _) => {
                        let at = env.now.saturating_add(config.fixed_delay());
                        stack.events.schedule(at, Event::EndMarker(bearer));
                    }
                }
            }
        }
    }
}
