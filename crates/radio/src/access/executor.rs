//! Executor of mobility: passes messages and reports to the procedures of a UE, and carries out
//! their effects.

use super::control::managed::{Managed, is_changing, record_cell_event};
use super::plane::moves::Move;
use crate::config::{Env, EventKind};
use crate::rrc::attach::Attach;
use crate::rrc::candidates::choose_candidates;
use crate::rrc::effect::{Effect, Effects, ReportEffect, Seen, Step, UeEffect};
use crate::rrc::message::Message;
use crate::rrc::mobility::UeMobility;
use crate::rrc::network::Network;
use crate::rrc::policy::{HandoverPolicy, Report, ReportedCell};
use crate::rrc::random_access::CellAccess;
use crate::rrc::report::MeasurementReport;
use crate::rrc::secondary_node::SecondaryNode;
use crate::rrc::stage::Stage;
use fadeout_core::{CellId, Direction, HandoverRow, Probe, RrcEvent, Span};

impl Managed<'_> {
    /// Runs a step of a network procedure of the UE, then carries out the effects of the step.
    pub(crate) fn with_step<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut UeMobility, &mut Step<'_>) -> R,
    ) -> R {
        let fetching = match self.state.stage {
            Stage::Fetching { cell, .. } => Some(cell),
            _ => None,
        };
        let serving = self.service.stack.serving_cell(self.ue);
        let mut effects = std::mem::take(self.effects);
        let mut step = Step {
            now: env.now,
            seed: self.service.seed,
            ue: self.ue,
            config: self.config,
            loads: self.loads,
            held: self.held,
            serving,
            generation: serving.map(|cell| {
                let plan = &self.service.cells[cell.index()].plan;
                plan.config.generation()
            }),
            is_connected: self.state.is_connected(),
            fetching,
            is_attaching: matches!(self.state.stage, Stage::Attaching),
            is_in_daps: matches!(self.state.stage, Stage::Daps(_)),
            change: self.state.record.change(),
            home: self.state.network.home(),
            next_message: self.next_message,
            effects: &mut effects,
        };
        let outcome = action(self.state, &mut step);
        self.carry_out_all(effects, env);
        outcome
    }

    /// Runs a step of a procedure of the UE, then carries out the effects of the step.
    pub(crate) fn with_effects<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut UeMobility, &Seen<'_>, &mut Effects) -> R,
    ) -> R {
        let stack = &self.service.stack;
        let serving = stack.serving_cell(self.ue);
        let plan = |cell: CellId| &self.service.cells[cell.index()].plan;
        let access = |cell| CellAccess {
            config: &self.config.access,
            frame: &plan(cell).frame,
        };
        let state = &*self.state;
        let has_received = state.survey.conditions.has_received();
        let seen = Seen {
            now: env.now,
            config: self.config,
            is_connected: self.state.is_connected(),
            serving,
            access: serving.map(access),
            generation: serving.map(|cell| plan(cell).config.generation()),
            entering: state.stage.entry().map(|entry| access(entry.cell)),
            secondaries: stack.ues[self.ue.index()].config().aggregation,
            measured: self.cells,
            change: state.record.change(),
            may_attach: state.attach.is_some(),
            lacks_candidates: has_received || state.messages.has_candidates(),
        };
        let mut effects = std::mem::take(self.effects);
        let outcome = action(self.state, &seen, &mut effects);
        self.carry_out_all(effects, env);
        outcome
    }

    /// Carries out effects in their order. The effects of a step that an effect causes are carried
    /// out before the next effect.
    fn carry_out_all(&mut self, mut effects: Effects, env: &mut Env<'_, impl Probe>) {
        while let Some(effect) = effects.pop_front() {
            self.carry_out(effect, env);
        }
        // The next step uses the memory of this list.
        *self.effects = effects;
    }

    /// Applies `action` to the network's state machine of the UE, then carries out the decisions
    /// that result from `action`.
    pub(crate) fn with_network<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut Network, &mut Step<'_>) -> R,
    ) -> R {
        self.with_step(env, |state, step| action(&mut state.network, step))
    }

    /// Applies `action` to the attach procedure of the UE, then carries out the effects. `None` if
    /// the UE does not use the procedure.
    pub(crate) fn with_attach<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut Attach, &mut Step<'_>) -> R,
    ) -> Option<R> {
        self.with_step(env, |state, step| {
            Some(action(state.attach.as_mut()?, step))
        })
    }

    /// Applies `action` to the secondary node of the UE, then carries out the effects. `None` if
    /// the network does not manage a secondary node of the UE.
    pub(crate) fn with_node<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut SecondaryNode, &mut Step<'_>) -> R,
    ) -> Option<R> {
        let is_barred = is_changing(self);
        self.with_step(env, |state, step| {
            let node = state.secondary_node.as_deref_mut()?;
            node.network.is_barred = is_barred;
            Some(action(node, step))
        })
    }

    /// Handles the arrival of a numbered RRC message, unless the message was cancelled.
    pub(super) fn on_arrived(
        &mut self,
        direction: Direction,
        number: u64,
        env: &mut Env<'_, impl Probe>,
    ) {
        if let Some(message) = self.state.messages.take_arrived(number) {
            self.on_message(direction, message, env);
        }
    }

    /// Passes a message to the procedure at its receiver.
    fn on_message(
        &mut self,
        direction: Direction,
        message: Message,
        env: &mut Env<'_, impl Probe>,
    ) {
        match (direction, message) {
            (Direction::Uplink, Message::Report(report)) => self.on_report(&report, env),
            (Direction::Downlink, Message::Command(target)) => {
                self.with_effects(env, |state, seen, effects| {
                    state.stage.on_command(target, seen, effects);
                });
            }
            (Direction::Uplink, Message::Complete) => self.on_complete(env),
            (Direction::Downlink, Message::Secondaries(all)) => {
                self.reconfigure_secondary_cells(&all, env);
            }
            (Direction::Uplink, Message::SecondariesReady) => {
                self.with_effects(env, |state, _, effects| {
                    state.secondary_cell_change.on_answer(effects);
                });
            }
            (Direction::Downlink, Message::Candidates(all)) => {
                self.with_effects(env, |state, seen, effects| {
                    state.survey.conditions.on_candidates(all, seen, effects);
                });
            }
            (Direction::Uplink, Message::CandidatesReady) => {}
            (Direction::Uplink, Message::AccessFailed) => {
                self.with_network(env, Network::on_fallen_back);
            }
            (Direction::Downlink, Message::ReleaseSource) => {
                self.with_effects(env, |state, _, effects| state.stage.release_source(effects));
            }
            (_, Message::Node(message)) => {
                self.with_node(env, |node, step| node.on_message(message, step));
            }
            (Direction::Downlink, Message::Switch(target)) => {
                self.on_switch_command(target, env);
            }
            (Direction::Downlink, Message::Question(round)) => {
                self.with_attach(env, |attach, step| attach.on_request(round, step));
            }
            (Direction::Uplink, Message::Answer(round)) => {
                self.with_attach(env, |attach, step| attach.on_answer(round, step));
            }
            _ => debug_assert!(false, "{message:?} does not go {}", direction.name()),
        }
    }

    /// Handles a measurement report at the source: the policy chooses the target.
    fn on_report(&mut self, report: &MeasurementReport, env: &mut Env<'_, impl Probe>) {
        let best = report.cells().first().unwrap_or(&report.serving).cell;
        record_cell_event((self.ue, best), RrcEvent::ReportReceived, env);
        let serving = self.service.stack.serving_cell(self.ue);
        let event = self.state.survey.kind(report.event);
        // The reported serving cell is no longer the UE's serving cell, so the report is obsolete.
        let Some(event) = event.filter(|_| serving == Some(report.serving.cell)) else {
            return;
        };
        if self.is_busy() {
            return;
        }
        if event.is_about_secondaries() {
            return self.report_secondary_cells(report, env);
        }
        let prepares = self
            .config
            .conditional()
            .is_some_and(|config| !config.commanding.contains(&report.event));
        if prepares {
            return self.request_candidates((event, report), env);
        }
        let target = self.policy.choose(&Report {
            now: env.now,
            ue: self.ue,
            event,
            serving: report.serving,
            cells: report.cells(),
            measured: self.cells,
            loads: self.loads,
            most_ues: self.config.most_ues,
        });
        if let Some(target) = target.filter(|target| self.cells.binary_search(target).is_ok()) {
            self.prepare_handover(target, env);
        }
    }

    /// Requests the cells that the policy chooses from a report as candidates, one by one. A
    /// candidate is not the source and has the source's generation.
    fn request_candidates(
        &mut self,
        (event, report): (EventKind, &MeasurementReport),
        env: &mut Env<'_, impl Probe>,
    ) {
        let source = report.serving.cell;
        let Some(conditional) = self.config.conditional() else {
            return;
        };
        let generation = |cell| {
            let place = self.cells.binary_search(&cell).ok()?;
            Some(self.kinds[place].generation)
        };
        let may_be = |cell| {
            let own = generation(cell);
            cell != source && own.is_some() && own == generation(source)
        };
        let choose = |cells: &[ReportedCell]| {
            self.policy.choose(&Report {
                now: env.now,
                ue: self.ue,
                event,
                serving: report.serving,
                cells,
                measured: self.cells,
                loads: self.loads,
                most_ues: self.config.most_ues,
            })
        };
        let wanted = choose_candidates(report, choose, may_be);
        if !wanted.cells().is_empty() {
            self.with_network(env, |network, step| {
                let wanted = wanted.cells();
                network
                    .candidacy
                    .request_candidates(source, wanted, conditional, step);
            });
        }
    }

    /// Carries out an effect at the base stations or in the core.
    fn carry_out(&mut self, effect: Effect, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        match effect {
            Effect::Send {
                number,
                from,
                to,
                size,
            } => self.moves.push(Move::Message {
                ue,
                number,
                from,
                to,
                size,
            }),
            Effect::Accepted(target) => {
                if !self.request_node_for_handover(target, env) {
                    self.send_command(target, env);
                }
            }
            Effect::StartBicast(target) => self.begin_bicasting(target, env),
            Effect::EndBicast => self.end_bicasting(env),
            Effect::SwitchPath => self.switch_path(env),
            Effect::SetHome(cell) => self.state.network.set_home(self.config.station(cell)),
            Effect::HasEntered => self.on_complete(env),
            Effect::WakeDownlink => self.wake_downlink(env.now),
            Effect::ForwardData { from, cell, delay } => {
                self.forward_data([from, self.config.station(cell)], delay, env);
            }
            Effect::SendCandidates => {
                self.with_network(env, |network, step| network.candidacy.configure(step));
            }
            Effect::ResumeData => self.resume_downlink(env),
            Effect::HasStatus => {
                self.with_effects(env, |state, _, effects| state.stage.on_status(effects));
            }
            Effect::SecondaryNode(act) => {
                self.with_node(env, |node, step| node.on_act(act, step));
            }
            Effect::CommandUe(target) => self.send_command(target, env),
            Effect::SendMessage(direction, message) => self.send(direction, message, env),
            Effect::CancelCommand => self.state.messages.cancel_command(),
            Effect::DropCommandedNode => {
                self.with_node(env, SecondaryNode::drop_commanded);
            }
            Effect::CancelNodeRequest => {
                self.with_node(env, SecondaryNode::cancel_request);
            }
            Effect::CancelHandover => self.state.network.cancel_handover(),
            Effect::StopPathSwitch => self.state.network.on_link_lost(),
            Effect::RecallUtraPackets => self.recall_utra_packets(),
            Effect::PassData(target) => {
                self.with_network(env, |network, step| network.pass_data(target, step));
            }
            Effect::EndEarlyCopies => self.end_early_copies(env),
            Effect::SendDownlinkData => self.send_downlink_data(env),
            Effect::ReportBearers => self.report_bearers(env),
            Effect::OfferSecondaryCells => self.offer_secondary_cells(env),
            Effect::Ue(effect) => self.carry_out_at_ue(effect, env),
            Effect::Report(effect) => self.report_effect(effect, env),
        }
    }

    /// Carries out an effect at the UE and on its legs and bearers.
    fn carry_out_at_ue(&mut self, effect: UeEffect, env: &mut Env<'_, impl Probe>) {
        match effect {
            UeEffect::WakeUplink => self.wake_uplink(env),
            UeEffect::ConnectSignalling(cell) => self.connect_signalling(cell, env),
            UeEffect::ConnectData => self.connect_data(env),
            UeEffect::LeaveSignalling => self.disconnect_signalling(env),
            UeEffect::Release(at) => self.state.stage = Stage::Released { at },
            UeEffect::HasContext => {
                self.with_effects(env, |state, _, effects| state.stage.on_context(effects));
            }
            UeEffect::SecondaryLeg(step) => self.step_secondary_leg(step, env),
            UeEffect::HoldBeams(are_held) => self.hold_beams(are_held, env.now),
            UeEffect::FailLink => self.fail_link(env),
            UeEffect::DropSecondaryCell(cell) => self.drop_secondary_cell(cell, env),
            UeEffect::SetSecondaryCells(all) => self.set_aggregation(all),
            UeEffect::AddSecondaryCells(all) => self.add_secondary_cells(all, env),
            UeEffect::OrderPreamble(cell, at) => self.order_preamble(cell, at),
            UeEffect::StopDownlink(fate) => self.stop_downlink(fate, env),
            UeEffect::Detach(target) => self.detach(target, env),
            UeEffect::StartEntry(start) => self.start_entry(start, env),
            UeEffect::ArriveInUtra(target) => self.start_utra_change(target, env),
            UeEffect::LeaveLeg(cell) => self.leave_leg(cell),
            UeEffect::EnterCell(cell) => self.enter_cell(cell, env),
            UeEffect::EnterDapsTarget(cell) => self.enter_daps_target(cell, env),
            UeEffect::SendComplete => self.send_complete(env),
            UeEffect::SetUp(cell) => self.set_up(cell, env),
            UeEffect::FetchContext { cell, until } => self.fetch_context(cell, until, env),
            UeEffect::AddCommandedCells => self.add_commanded_cells(env),
            UeEffect::EnterCommandedNode => {
                self.with_node(env, SecondaryNode::enter_commanded);
            }
            UeEffect::FailAttach => {
                self.with_attach(env, Attach::fail);
            }
            UeEffect::StopAttach => {
                self.with_attach(env, |attach, _| attach.stop());
            }
            UeEffect::DropCandidates => self.drop_candidates(env),
            UeEffect::Bearers(step) => self.step_bearers(step, env),
        }
    }

    /// Carries out an effect on result rows, counters and listeners.
    fn report_effect(&mut self, effect: ReportEffect, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        match effect {
            ReportEffect::BeginNodeRow(row) => {
                if let Some(node) = &mut self.state.secondary_node {
                    node.record = Some(row);
                }
            }
            ReportEffect::StampNodeRow(what) => {
                if let Some(node) = &mut self.state.secondary_node {
                    node.stamp_row(what, env.now);
                }
            }
            ReportEffect::EndNodeRow(outcome) => self.end_node_row(outcome, env),
            ReportEffect::RecordEvent(Some(cell), event) => {
                record_cell_event((ue, cell), event, env);
            }
            ReportEffect::RecordEvent(None, event) => self.record_event(event, env),
            ReportEffect::Notify(info) => self.notify_listeners(info),
            ReportEffect::BeginRow(row) => self.begin_row(row, env),
            ReportEffect::FailRow(outcome) => self.fail_row(outcome, env),
            ReportEffect::BeginCandidateRow(target) => {
                self.with_network(env, |network, step| network.on_departure(target, step));
            }
            ReportEffect::RetargetRow(cell, procedure) => {
                let retarget = |row: &mut HandoverRow| {
                    (row.target, row.procedure) = (cell, procedure);
                };
                self.state.record.update_row(retarget);
            }
            ReportEffect::StampRow(what) => self.state.record.stamp(what, env.now),
            ReportEffect::CountLinkFailure => {
                self.service.stack.ues[ue.index()].on_link_failure(env.now, Span::ZERO);
            }
            ReportEffect::ReportRate => self.report_rate(env),
        }
    }
}
