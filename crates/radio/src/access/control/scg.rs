//! The secondary node of a UE under mobility management: addition, change and release by the
//! network, and the UE's entry into its cell.
//!
//! ```text
//! report ─► on_addable ─► request, accept ─► SendOrder ─► on_order ─► begin_access ─► on_entered
//! report ─► transfer, required ─► …            │             │ leave_cell: UE's end of the old leg
//! failure ─► on_failed ─► …                    │ hold        └► answer ─► on_answer: other end
//! handover ─► request_for_handover ─► … ─► send_command ─► release_leg ─► enter_commanded
//! enter_commanded ─► begin_access
//! ```
//!
//! A secondary node without management is released when the UE leaves its master's cell.
//!
//! Standard: TS 37.340 §10.2, §10.4, §10.5, §10.7; TS 38.331 §5.3.5.4, §5.3.7.2.

mod leg;

use super::managed::{CellKind, Managed, is_changing, record_cell_event};
use crate::access::plane::service::Service;
use crate::access::plane::stack::Stack;
use crate::bearer::{hold_secondary, manage_secondary};
use crate::config::{
    Env, EventKind, LegId, MeasurementEvent, MobilityConfig, RadioError, SecondaryAfterFailure,
    SecondaryAtHandover,
};
use crate::rlc::Generation;
use crate::rrc::effect::Step;
use crate::rrc::message::Message;
use crate::rrc::mobility::UeMobility;
use crate::rrc::record::seconds;
use crate::rrc::report::MeasurementReport;
use crate::rrc::secondary_node::{
    FailureReaction, NodeAct, NodeDecision, NodeMessage, Order, RequestReason, ScgState,
    SecondaryNetwork, SecondaryNode,
};
use crate::rrc::survey::Survey;
use fadeout_core::{
    CellId, Direction, DrbId, HandoverOutcome, Motion, Probe, RrcEvent, SecondaryCause,
    SecondaryChange, SecondaryChangeRow, Span, Time, UeId,
};

/// Number of the secondary leg.
const SECONDARY_LEG: u8 = 1;

/// Checks that the configuration allows cell changes of a UE that has two legs.
pub(crate) fn check(
    service: &Service,
    ue: UeId,
    config: &MobilityConfig,
) -> Result<(), RadioError> {
    let rrc = &service.stack.ues[ue.index()];
    let is_managed = is_managed(service, ue, config);
    let over_carriers = rrc.bearers().iter().any(|bearer| {
        let split = service.stack.bearers[bearer.index()].config().split;
        split.is_some_and(|split| !split.carriers.cells().is_empty())
    });
    if over_carriers {
        return Err(RadioError::Ue {
            ue: ue.index(),
            what: "mobility management",
            value: "of a UE with PDCP duplication over carriers".into(),
            expected: "`split` without `carriers`: another cell may have others".into(),
        });
    }
    if rrc.config().pscell.is_none() && !is_managed {
        return Ok(());
    }
    let whose = match rrc.config().pscell {
        Some(_) => "a `pscell`",
        None => "a split bearer",
    };
    let refuse = |value: &str, expected: &str| {
        Err(RadioError::Ue {
            ue: ue.index(),
            what: "mobility management",
            value: format!("of a UE with {whose}, {value}"),
            expected: expected.into(),
        })
    };
    if config.is_daps() || config.conditional().is_some() || config.ltm().is_some() {
        return refuse("by another procedure", "`procedure = \"plain\"`");
    }
    if is_managed && config.rach_less.is_some() {
        return refuse(
            "without random access, and a `secondary-node` that comes and goes",
            "one of `rach-less` and `secondary-node`",
        );
    }
    if config.gaps.is_some() {
        return refuse("with measurement gaps", "none, or a UE with one cell");
    }
    let is_other = |event: &crate::config::MeasurementEvent| event.kind.is_inter_rat();
    if config.events.iter().any(is_other) {
        return refuse(
            "with events b1 or b2",
            "events about cells of the master's generation",
        );
    }
    let aggregation = &rrc.config().aggregation;
    if is_managed && (aggregation.most > 0 || !aggregation.cells().is_empty()) {
        return refuse(
            "with carrier aggregation and a `secondary-node` that comes and goes",
            "one of the two",
        );
    }
    for bearer in rrc.bearers() {
        let bearer = service.stack.bearers[bearer.index()].config();
        if bearer.split.is_some() && !bearer.is_acknowledged() {
            return refuse(
                "with a split bearer in unacknowledged mode",
                "acknowledged mode",
            );
        }
    }
    Ok(())
}

/// Returns true if the network manages the secondary node of a UE, which must have a split bearer.
pub(crate) fn is_managed(service: &Service, ue: UeId, config: &MobilityConfig) -> bool {
    let stack = &service.stack;
    let is_split = |bearer: &DrbId| stack.bearers[bearer.index()].config().split.is_some();
    config.secondary_node.is_some() && stack.ues[ue.index()].bearers().iter().any(is_split)
}

/// Puts the secondary node of a UE under management by the network. The UE may have a secondary
/// node already.
pub(crate) fn begin_management(
    service: &mut Service,
    (config, cells): (&MobilityConfig, usize),
    state: &mut UeMobility,
    (ue, loads): (UeId, &mut [u32]),
) {
    let Some(node) = &config.secondary_node else {
        return;
    };
    let stack = &mut service.stack;
    let rrc = &mut stack.ues[ue.index()];
    rrc.has_managed_node = true;
    let mut generation = Generation::Nr;
    for bearer in rrc.bearers() {
        let drb = &mut stack.bearers[bearer.index()];
        if let Some(split) = &drb.config().split {
            generation = split.rlc.generation;
        }
        manage_secondary(drb);
    }
    let leg = rrc.second_leg();
    let cell = leg.map(|leg| stack.legs[leg.index()].config.cell);
    let mut network = SecondaryNetwork::default();
    network.set_cell(cell);
    if let Some(cell) = cell {
        loads[cell.index()] += 1;
    }
    let period = config.measurement_period;
    let survey = |events: &[MeasurementEvent]| Survey::new((events, cells), Time::NEVER, period);
    // Every cell is measured each time, so past positions of the UE are not needed.
    state.places = None;
    state.secondary_node = Some(Box::new(SecondaryNode {
        addition_survey: survey(&node.addition_events),
        pscell_survey: survey(&node.pscell_events),
        config: node.clone(),
        generation,
        network,
        leg_state: match cell {
            Some(_) => ScgState::Serving,
            None => ScgState::Alone,
        },
        answer: None,
        last_order: 0,
        record: None,
        without_leg_since: None,
    }));
}

/// Mutable access to a UE's state, for the procedures of its secondary node.
pub(crate) struct Scg<'m, 'a>(pub &'m mut Managed<'a>);

impl Scg<'_, '_> {
    fn node(&mut self) -> Option<&mut SecondaryNode> {
        self.0.state.secondary_node.as_deref_mut()
    }

    /// Applies `action` to the network's state machine of the secondary node, then carries out the
    /// resulting decisions. `None` if the UE has no such state machine.
    fn with_node<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut SecondaryNetwork, &mut Step<'_>) -> R,
    ) -> Option<R> {
        let is_barred = is_changing(self.0);
        self.0.with_step(env, |state, step| {
            let node = state.secondary_node.as_mut()?;
            node.network.is_barred = is_barred;
            Some(action(&mut node.network, step))
        })
    }

    fn cell_of(&self, leg: LegId) -> CellId {
        self.0.service.stack.legs[leg.index()].config.cell
    }

    /// Applies `action` to each data bearer.
    fn each_bearer(&mut self, mut action: impl FnMut(DrbId, &mut Stack)) {
        let (ue, stack) = (self.0.ue.index(), &mut self.0.service.stack);
        let mut position = 0;
        while let Some(&bearer) = stack.ues[ue].bearers().get(position) {
            action(bearer, stack);
            position += 1;
        }
    }

    /// Starts transmission of waiting data, at both ends, on the legs that exist.
    fn send_waiting_data(&mut self, env: &mut Env<'_, impl Probe>) {
        self.each_bearer(|bearer, stack| {
            for direction in [Direction::Downlink, Direction::Uplink] {
                stack.arm(env.now, bearer, direction);
            }
        });
        let legs = self.0.service.stack.ues[self.0.ue.index()].legs();
        if let Some(&leg) = legs.first() {
            self.0.service.serve_split(leg, env);
        }
    }

    /// Returns true if a cell may become the cell of the UE's secondary node, with `master` as
    /// PCell. `position` is the cell's index among the UE's measured cells.
    fn may_be_secondary(&self, position: usize, master: CellId) -> bool {
        let Some(node) = &self.0.state.secondary_node else {
            return false;
        };
        is_usable(
            (self.0.cells, self.0.kinds),
            node.generation,
            (position, master),
        )
    }

    /// Returns the strongest measured cell that may become the cell of the secondary node, with
    /// `master` as PCell. `None` if there is no such cell.
    fn strongest_cell(&self, master: CellId) -> Option<CellId> {
        let node = self.0.state.secondary_node.as_ref()?;
        let mut best: Option<(f64, CellId)> = None;
        for (position, &cell) in self.0.cells.iter().enumerate() {
            let level = node
                .pscell_survey
                .filtered(position)
                .or(node.addition_survey.filtered(position));
            if let Some(level) = level
                && self.may_be_secondary(position, master)
                && best.is_none_or(|(before, _)| level > before)
            {
                best = Some((level, cell));
            }
        }
        best.map(|(_, cell)| cell)
    }

    /// Feeds measured levels to the secondary node's events, as [`Survey::on_samples`] does.
    pub(crate) fn on_samples(
        &mut self,
        (now, over): (Time, Span),
        serving: usize,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Managed {
            ue,
            cells,
            kinds,
            samples,
            visited,
            state,
            ..
        } = &mut *self.0;
        // A UE with a managed secondary node measures all its cells each time, without bounds.
        let all = (&visited[..], std::iter::empty());
        let Some(node) = state.secondary_node.as_deref_mut() else {
            return;
        };
        let generation = node.generation;
        let master = cells[serving];
        let offset = |_: &MeasurementEvent, position: usize| {
            is_usable((cells, kinds), generation, (position, master)).then_some(0.0)
        };
        let pscell = node.network.cell();
        let place = pscell.and_then(|cell| cells.binary_search(&cell).ok());
        let (meant, other, place) = match (node.leg_state, place) {
            (ScgState::Serving, Some(place)) => (
                Some(&mut node.pscell_survey),
                &mut node.addition_survey,
                place,
            ),
            (ScgState::Alone, _) => (
                Some(&mut node.addition_survey),
                &mut node.pscell_survey,
                serving,
            ),
            _ => (None, &mut node.pscell_survey, serving),
        };
        let feed = |survey: &mut Survey| {
            for (position, &sample) in samples.iter().enumerate() {
                if !sample.is_none() {
                    survey.on_sample(position, sample, over);
                }
            }
        };
        feed(other);
        match meant {
            Some(survey) => survey.on_samples(all, (now, over), (place, samples), offset, {
                |position, holds| {
                    let event = match holds {
                        true => RrcEvent::ConditionEntered,
                        false => RrcEvent::ConditionLeft,
                    };
                    record_cell_event((*ue, cells[position]), event, env);
                }
            }),
            None => feed(&mut node.addition_survey),
        }
    }

    /// Sends the UE's measurement reports that are due.
    fn report(&mut self, env: &mut Env<'_, impl Probe>) {
        let serving = self.0.service.stack.serving_cell(self.0.ue);
        let cells = self.0.cells;
        let here = serving.and_then(|cell| cells.binary_search(&cell).ok());
        let Some(here) = here.filter(|_| self.0.state.is_connected()) else {
            return;
        };
        let mut number = 0;
        while let Some(node) = self.node() {
            let pscell = node.network.cell();
            let place = pscell.and_then(|cell| cells.binary_search(&cell).ok());
            let (survey, place, is_pscell) = match (node.leg_state, place) {
                (ScgState::Serving, Some(place)) => (&mut node.pscell_survey, place, true),
                (ScgState::Alone, _) => (&mut node.addition_survey, here, false),
                _ => return,
            };
            if number == survey.events() {
                return;
            }
            let report = survey.report(number, env.now, (cells, place));
            number += 1;
            let Some(report) = report else { continue };
            let best = report.cells().first().unwrap_or(&report.serving).cell;
            record_cell_event((self.0.ue, best), RrcEvent::ReportSent, env);
            let message = NodeMessage::Report { is_pscell, report };
            self.0.send(Direction::Uplink, Message::Node(message), env);
        }
    }

    /// Handles an RRC message about the secondary node.
    pub(crate) fn on_message(&mut self, message: NodeMessage, env: &mut Env<'_, impl Probe>) {
        match message {
            NodeMessage::Report { is_pscell, report } => self.on_report(is_pscell, &report, env),
            NodeMessage::Order { order, number } => self.on_order(order, number, env),
            NodeMessage::Answer(number) => self.on_answer(number, env),
            NodeMessage::AccessFailed(cell) => {
                record_cell_event((self.0.ue, cell), RrcEvent::SecondaryFailureKnown, env);
                self.with_node(env, |network, step| {
                    network.on_failure(FailureReaction::Release, step);
                });
            }
        }
    }

    fn on_report(
        &mut self,
        is_pscell: bool,
        report: &MeasurementReport,
        env: &mut Env<'_, impl Probe>,
    ) {
        let best = report.cells().first().map(|reported| reported.cell);
        let about = best.unwrap_or(report.serving.cell);
        record_cell_event((self.0.ue, about), RrcEvent::ReportReceived, env);
        let Some(node) = self.node() else { return };
        if !is_pscell {
            if let Some(target) = best {
                self.with_node(env, |network, step| network.on_addable(target, step));
            }
            return;
        }
        // The reported cell is no longer the cell of the secondary node, so the report is obsolete.
        if node.network.pscell() != Some(report.serving.cell) {
            return;
        }
        let wish = match (node.pscell_survey.kind(report.event), best) {
            (Some(EventKind::A2 { .. }), _) => NodeDecision::Release,
            (_, Some(target)) => NodeDecision::Change(target),
            _ => return,
        };
        self.with_node(env, |network, step| network.on_report(wish, step));
    }

    /// Handles a message from a link. Returns true if the message is about the secondary node.
    pub(crate) fn on_wired(&mut self, number: u64, env: &mut Env<'_, impl Probe>) -> bool {
        let is_it = self.with_node(env, |network, step| network.on_message(number, step));
        is_it == Some(true)
    }

    /// Carries out a decision of the network's state machine.
    pub(crate) fn carry_out(&mut self, act: NodeAct, env: &mut Env<'_, impl Probe>) {
        match act {
            NodeAct::SendOrder { order, number } => {
                let cell = match order {
                    Order::Enter(cell) => Some(cell),
                    Order::Release => self.node().and_then(|node| node.network.cell()),
                };
                if let Some(cell) = cell {
                    record_cell_event((self.0.ue, cell), RrcEvent::ReconfigurationSent, env);
                }
                if let Some(node) = self.node() {
                    node.update_row(|row| row.commanded_s = seconds(env.now));
                }
                self.each_bearer(|bearer, stack| {
                    hold_secondary(&mut stack.bearers[bearer.index()]);
                });
                let message = NodeMessage::Order { order, number };
                self.0
                    .send(Direction::Downlink, Message::Node(message), env);
                self.send_waiting_data(env);
            }
            NodeAct::BeginChange { target, reason } => self.begin_row(target, reason, env),
            NodeAct::Failed { is_refused: true } => self.end_row(HandoverOutcome::Refused, env),
            NodeAct::Failed { is_refused: false } => {
                self.end_row(HandoverOutcome::Cancelled, env);
            }
            NodeAct::CommandHandover(master) => self.0.send_command(master, env),
        }
    }

    fn begin_row(
        &mut self,
        target: Option<CellId>,
        reason: RequestReason,
        env: &mut Env<'_, impl Probe>,
    ) {
        self.end_row(HandoverOutcome::Cancelled, env);
        let master = self
            .0
            .service
            .stack
            .serving_cell(self.0.ue)
            .unwrap_or_default();
        let (ue, config) = (self.0.ue, self.0.config);
        let Some(node) = self.node() else { return };
        let before = node.network.cell();
        let kind = match (before, target) {
            (_, None) => SecondaryChange::Release,
            (None, _) => SecondaryChange::Addition,
            (Some(before), Some(target)) if config.is_one_station(before, target) => {
                SecondaryChange::Modification
            }
            _ => SecondaryChange::Change,
        };
        let now_s = seconds(env.now);
        node.record = Some(SecondaryChangeRow {
            kind,
            cause: reason.cause(),
            target: target.or(before).unwrap_or(master),
            triggered_s: now_s,
            requested_s: if target.is_some() { now_s } else { f64::NAN },
            ..row_of(ue, before.unwrap_or(master))
        });
    }

    fn end_row(&mut self, outcome: HandoverOutcome, env: &mut Env<'_, impl Probe>) {
        if let Some(mut row) = self.node().and_then(|node| node.record.take()) {
            (row.time_s, row.outcome) = (env.now, outcome);
            env.probe.secondary_change(row);
        }
    }

    /// Runs the due steps of the secondary node's procedures.
    pub(crate) fn proceed<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        if self.node().is_none() {
            return;
        }
        self.with_node(env, SecondaryNetwork::on_due);
        self.advance_access(motion, env);
        let is_connected = self.0.state.is_connected();
        let answer = self.node().and_then(|node| {
            let is_due = |&mut (at, _): &mut (Time, u32)| is_connected && at <= env.now;
            node.answer.take_if(is_due)
        });
        if let Some((_, number)) = answer {
            let message = Message::Node(NodeMessage::Answer(number));
            self.0.send(Direction::Uplink, message, env);
        }
        self.report(env);
    }

    /// Handles the failure of the secondary leg at the network. `found_at` is the time at which the
    /// failure was detected.
    pub(crate) fn on_failed(&mut self, found_at: Time, env: &mut Env<'_, impl Probe>) {
        let master = self
            .0
            .service
            .stack
            .serving_cell(self.0.ue)
            .unwrap_or_default();
        let best = self.strongest_cell(master);
        let Some(node) = self.node() else { return };
        node.without_leg_since = Some(found_at);
        let Some(cell) = node.network.cell() else {
            return;
        };
        let remedy = match node.config.after_failure {
            SecondaryAfterFailure::Release => FailureReaction::Release,
            SecondaryAfterFailure::Restore => FailureReaction::Enter(cell),
            SecondaryAfterFailure::Strongest => FailureReaction::Enter(best.unwrap_or(cell)),
        };
        self.with_node(env, |network, step| network.on_failure(remedy, step));
    }

    /// Requests a secondary cell for the UE's handover to `target`, before the handover command is
    /// sent. Returns false if the target's base station plans no secondary node.
    pub(crate) fn request_for_handover(
        &mut self,
        target: CellId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let best = self.strongest_cell(target);
        let Some(node) = self.node() else {
            return false;
        };
        let is_there = matches!(node.leg_state, ScgState::Serving) && !node.network.is_busy();
        let Some(cell) = node.network.pscell().filter(|_| is_there) else {
            return false;
        };
        let wanted = match node.config.at_handover {
            SecondaryAtHandover::Release => None,
            SecondaryAtHandover::Keep => Some(cell),
            SecondaryAtHandover::Strongest => best,
        };
        let fits = |cell: &CellId| {
            let position = self.0.cells.binary_search(cell);
            position.is_ok_and(|position| self.may_be_secondary(position, target))
        };
        let Some(cell) = wanted.filter(fits) else {
            return false;
        };
        self.with_node(env, |network, step| {
            network.prepare_handover(target, cell, step);
        });
        true
    }

    /// Cancels the planned change of the secondary node after a handover was refused or cancelled.
    /// The present secondary node stays.
    pub(crate) fn cancel_request(&mut self, env: &mut Env<'_, impl Probe>) {
        if self.with_node(env, SecondaryNetwork::cancel) == Some(true) {
            self.end_row(HandoverOutcome::Cancelled, env);
        }
    }
}

/// Returns true if a cell may become the cell of a secondary node of `generation`, with `master` as
/// PCell. `position` is the cell's index among the measured cells.
fn is_usable(
    (cells, kinds): (&[CellId], &[CellKind]),
    generation: Generation,
    (position, master): (usize, CellId),
) -> bool {
    let kind = &kinds[position];
    let of_master = cells
        .binary_search(&master)
        .map(|place| kinds[place].carrier);
    !kind.is_utra && kind.generation == generation && of_master != Ok(kind.carrier)
}

/// Returns an empty row for a change of the secondary node in the cell `source`.
fn row_of(ue: UeId, source: CellId) -> SecondaryChangeRow {
    SecondaryChangeRow {
        time_s: Time::ZERO,
        ue,
        kind: SecondaryChange::default(),
        cause: SecondaryCause::default(),
        source,
        target: source,
        outcome: HandoverOutcome::Success,
        triggered_s: f64::NAN,
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
