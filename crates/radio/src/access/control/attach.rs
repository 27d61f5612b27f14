//! Attach of a UE that is idle at the start: cell selection, RRC setup, bearers and failed
//! attempts.

use super::managed::{Managed, leave_signalling, record_cell_event, seconds};
use crate::bearer::Drb;
use crate::config::{Env, Fate, LegId};
use crate::rrc::attach::{Attach, SEARCH_PERIOD};
use crate::rrc::effect::Step;
use crate::rrc::message::Message;
use crate::rrc::mobility::Stage;
use crate::rrc::record::row_of;
use crate::rrc::round::Round;
use fadeout_core::{
    Direction, HandoverOutcome, HandoverRow, Motion, Probe, Procedure, RrcEvent, Time,
};

/// Mutable access to a UE's state, for the attach procedure.
pub(crate) struct Attaching<'m, 'a>(pub &'m mut Managed<'a>);

impl Attaching<'_, '_> {
    /// Makes the UE idle. Its first attach attempt is at the time `at`.
    pub(crate) fn begin(&mut self, at: Time, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.0.leg() else {
            return;
        };
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        self.0.stop_downlink(Fate::Dropped, env);
        self.0.detach(None, env);
        self.0.state.attach = Some(Box::new(Attach::new(generation)));
        self.0.state.stage = Stage::Released { at };
    }

    /// Begins an attach attempt of an idle UE, or continues its cell selection. Returns false if
    /// the UE does not use the attach procedure, or is already registered.
    pub(crate) fn search<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let Some(attach) = &mut self.0.state.attach else {
            return false;
        };
        if attach.registration().is_registered {
            return false;
        }
        let takes = self.0.config.monitoring.cell_selection;
        if !attach.is_selecting {
            attach.is_selecting = true;
            if let Some(cell) = self.0.service.stack.serving_cell(self.0.ue) {
                let row = HandoverRow {
                    triggered_s: seconds(env.now),
                    ..row_of(self.0.ue, (cell, cell), Procedure::Attach)
                };
                self.0.begin_row(row, env);
                record_cell_event((self.0.ue, cell), RrcEvent::AttachBegun, env);
            }
        } else if self.0.select(Procedure::Attach, motion, env) {
            return true;
        }
        let at = env.now.saturating_add(takes);
        self.0.state.stage = Stage::Released { at };
        true
    }

    /// Handles the end of contention resolution, which carries the RRC setup message.
    pub(crate) fn on_setup(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        let is_signalling = |drb: &Drb| drb.is_signalling;
        self.0.connect_bearers((leg, is_signalling), env);
        self.0.set_serving_leg(leg);
        let state = &mut *self.0.state;
        state.stage = Stage::Attaching { leg };
        state.link.reset(env.now, &self.0.config.monitoring);
        let row_cell = |row: &mut HandoverRow| {
            row.entered_s = seconds(env.now);
            if row.procedure == Procedure::Attach {
                row.source = cell;
            }
        };
        state.record.update_row(row_cell);
        if let Some(attach) = &mut state.attach {
            attach.on_setup((cell, generation), env.now);
        }
    }

    /// Runs the steps of the attach procedure that are due.
    pub(crate) fn proceed(&mut self, env: &mut Env<'_, impl Probe>) {
        let Some(attach) = &mut self.0.state.attach else {
            return;
        };
        if let Stage::Attaching { leg } = self.0.state.stage {
            if attach.has_expired(env.now) {
                return self.fail(env);
            }
            if attach.is_answer_due(env.now) {
                self.send_answer(leg, env);
            }
        }
        self.with_attach(env, |attach, is_home, step| attach.on_due(is_home, step));
    }

    /// Runs a step of the network's side of the procedure. The action also learns whether the core
    /// sends the UE's data to the base station in which the UE attaches. `None` if the UE does not
    /// use the procedure.
    fn with_attach<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut Attach, bool, &mut Step<'_>) -> R,
    ) -> Option<R> {
        self.0.with_step(env, |state, step| {
            let attach = state.attach.as_mut()?;
            let is_home = state.network.is_home(step.config, attach.cell());
            Some(action(attach, is_home, step))
        })
    }

    /// Handles a message that links have carried between network nodes. Returns true if the message
    /// belongs to an attach procedure.
    pub(crate) fn on_wired(&mut self, number: u64, env: &mut Env<'_, impl Probe>) -> bool {
        let handled = self.with_attach(env, |attach, is_home, step| {
            attach.on_message(number, is_home, step)
        });
        handled == Some(true)
    }

    /// Sends the UE's answer to the last request of the network.
    fn send_answer(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let Some(attach) = &mut self.0.state.attach else {
            return;
        };
        let round = attach.round;
        if round == Round::Bearers {
            attach.on_bearers();
            let is_data = |drb: &Drb| !drb.is_signalling;
            self.0.connect_bearers((leg, is_data), env);
            self.0.start_monitoring(leg, env);
            self.0.record_event(RrcEvent::Attached, env);
        }
        self.0.send(Direction::Uplink, Message::Answer(round), env);
        self.0.service.on_uplink_data(Some(leg), env);
    }

    /// Handles a request of the network at the UE.
    pub(crate) fn on_request(&mut self, round: Round, env: &Env<'_, impl Probe>) {
        if let (Stage::Attaching { .. }, Some(attach)) =
            (self.0.state.stage, &mut self.0.state.attach)
        {
            attach.on_question(round, env.now);
        }
    }

    /// Handles the UE's answer at the base station.
    pub(crate) fn on_answer(&mut self, round: Round, env: &mut Env<'_, impl Probe>) {
        self.with_attach(env, |attach, _, step| attach.on_answer(round, step));
    }

    /// Reports to the core that the UE has completed the last RRC procedure, which sets up its
    /// bearers. Returns false if the core does not wait for this report.
    pub(crate) fn report_to_core(&mut self, env: &mut Env<'_, impl Probe>) -> bool {
        let reported = self.with_attach(env, |attach, _, step| attach.report_bearers(step));
        reported == Some(true)
    }

    /// Ends the attempt: T300 or T3410 has expired, or the link failed before bearers existed.
    pub(crate) fn fail(&mut self, env: &mut Env<'_, impl Probe>) {
        self.0.record_event(RrcEvent::AttachFailed, env);
        let had_setup = matches!(self.0.state.stage, Stage::Attaching { .. });
        if let Stage::Attaching { leg } = self.0.state.stage {
            let cell = self.0.service.stack.legs[leg.index()].config.cell;
            let load = &mut self.0.loads[cell.index()];
            *load = load.saturating_sub(1);
            self.0.state.messages.clear();
            self.0.service.leave_leg(leg);
            leave_signalling(self.0, env);
            let monitoring = &self.0.config.monitoring;
            self.0.state.link.reset(env.now, monitoring);
        }
        let Some(attach) = &mut self.0.state.attach else {
            return;
        };
        let is_first = !attach.registration().is_registered;
        let at = env
            .now
            .saturating_add(attach.fail(had_setup, SEARCH_PERIOD));
        self.0.state.stage = Stage::Released { at };
        if is_first {
            self.0.fail_row(HandoverOutcome::Failed, env);
        }
    }
}
