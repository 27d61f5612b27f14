//! Executor of mobility: passes messages and reports to the procedures of a UE, and carries out
//! their effects.

use super::control::conditional::Conditional;
use super::control::daps::DapsHandover;
use super::control::managed::{Managed, record_cell_event};
use super::control::scg::Scg;
use super::plane::moves::Move;
use crate::config::Env;
use crate::rrc::attach::Attach;
use crate::rrc::effect::{Effect, Effects, Seen, Step};
use crate::rrc::message::Message;
use crate::rrc::mobility::UeMobility;
use crate::rrc::network::Network;
use crate::rrc::policy::{HandoverPolicy, Report};
use crate::rrc::random_access::CellAccess;
use crate::rrc::report::MeasurementReport;
use crate::rrc::stage::Stage;
use fadeout_core::{Direction, HandoverOutcome, Probe, RrcEvent};

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
        let stack = &self.service.stack;
        let mut effects = std::mem::take(self.effects);
        let mut step = Step {
            now: env.now,
            seed: self.service.seed,
            ue: self.ue,
            config: self.config,
            loads: self.loads,
            held: self.held,
            serving: stack.serving_cell(self.ue),
            is_connected: self.state.is_connected(),
            fetching,
            is_attaching: matches!(self.state.stage, Stage::Attaching),
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
        let access = serving.map(|cell| CellAccess {
            config: &self.config.access,
            frame: &self.service.cells[cell.index()].plan.frame,
        });
        let seen = Seen {
            now: env.now,
            config: self.config,
            is_connected: self.state.is_connected(),
            serving,
            access,
            secondaries: stack.ues[self.ue.index()].config().aggregation,
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
                self.on_command(target, env);
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
                Conditional(self).on_candidates(all, env);
            }
            (Direction::Uplink, Message::CandidatesReady) => {}
            (Direction::Uplink, Message::AccessFailed) => DapsHandover(self).on_fallen_back(env),
            (Direction::Downlink, Message::ReleaseSource) => DapsHandover(self).release_source(env),
            (_, Message::Node(message)) => Scg(self).on_message(message, env),
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
            return Conditional(self).on_report((event, report), env);
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
                if !Scg(self).request_for_handover(target, env) {
                    self.send_command(target, env);
                }
            }
            Effect::Refused(target) => {
                let what = (RrcEvent::HandoverRefused, HandoverOutcome::Refused);
                self.end_refused(target, what, env);
            }
            Effect::AnswerExpired(target) => {
                let what = (RrcEvent::PreparationExpired, HandoverOutcome::Cancelled);
                self.end_refused(target, what, env);
            }
            Effect::DepartureExpired => self.cancel_handover(env),
            Effect::StartBicast(target) => self.begin_bicasting(target, env),
            Effect::EndBicast => self.end_bicasting(env),
            Effect::SwitchPath => self.switch_path(env),
            Effect::SetHome(cell) => self.state.network.set_home(self.config.station(cell)),
            Effect::HasEntered => self.on_complete(env),
            Effect::WakeDownlink => self.wake_downlink(env.now),
            Effect::WakeUplink => self.wake_uplink(env),
            Effect::ConnectSignalling(cell) => self.connect_signalling(cell, env),
            Effect::ConnectData => self.connect_data(env),
            Effect::LeaveSignalling => self.disconnect_signalling(env),
            Effect::Release(at) => self.state.stage = Stage::Released { at },
            Effect::ForwardData { from, cell, delay } => {
                self.forward_data([from, self.config.station(cell)], delay, env);
            }
            Effect::SendCandidates => Conditional(self).configure(env),
            Effect::ResumeData => self.resume_downlink(env),
            Effect::HasStatus => DapsHandover(self).send_release(env),
            Effect::HasContext => self.finish_reestablishment(env),
            Effect::SecondaryNode(act) => Scg(self).carry_out(act, env),
            Effect::RecordEvent(Some(cell), event) => record_cell_event((ue, cell), event, env),
            Effect::RecordEvent(None, event) => self.record_event(event, env),
            Effect::Notify(info) => self.notify_listeners(info),
            Effect::SendMessage(direction, message) => self.send(direction, message, env),
            Effect::HoldBeams(are_held) => self.hold_beams(are_held, env.now),
            Effect::FailLink => self.fail_link(env),
            Effect::DropSecondaryCell(cell) => self.drop_secondary_cell(cell, env),
            Effect::SetSecondaryCells(all) => self.set_aggregation(all),
            Effect::AddSecondaryCells(all) => self.add_secondary_cells(all, env),
            Effect::BeginRow(row) => self.begin_row(row, env),
            Effect::FailRow(outcome) => self.fail_row(outcome, env),
            Effect::CancelCommand => self.state.messages.cancel_command(),
            Effect::ExecuteHandover(target) => Conditional(self).execute(target, env),
            Effect::OrderPreamble(cell, at) => self.order_preamble(cell, at),
            Effect::SwitchCell(target) => self.begin_switch(target, env),
        }
    }
}
