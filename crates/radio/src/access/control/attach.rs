//! Attach of a UE that is idle at the start: cell selection, RRC setup, bearers and failed
//! attempts.

use super::backhaul::with_step;
use super::cell_entry::CellEntry;
use super::handover::{leave_signalling, seconds};
use super::managed::{Managed, record_cell_event};
use crate::bearer::Drb;
use crate::config::{Env, Fate, LegId};
use crate::rrc::attach::{Attach, Round};
use crate::rrc::mobility::{Message, Stage};
use crate::rrc::network::Act;
use crate::rrc::record::row_of;
use fadeout_core::{
    Direction, HandoverOutcome, HandoverRow, Motion, Probe, Procedure, RrcEvent, Time,
};

/// Mutable access to a UE's state, for the attach procedure.
pub(in crate::access) struct Attaching<'m, 'a>(pub &'m mut Managed<'a>);

impl Attaching<'_, '_> {
    /// Makes the UE idle. Its first attach attempt is at the time `at`.
    pub(in crate::access) fn begin(&mut self, at: Time, env: &mut Env<'_, impl Probe>) {
        let leg = self.0.service.stack.ues[self.0.ue.index()].legs().first();
        let Some(&leg) = leg else {
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
    pub(in crate::access) fn search<M: Motion>(
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
    pub(in crate::access) fn on_setup(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        let is_signalling = |drb: &Drb| drb.is_signalling;
        CellEntry(self.0).connect_bearers((leg, is_signalling), env);
        CellEntry(self.0).set_serving_leg(leg);
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
    pub(in crate::access) fn proceed(&mut self, env: &mut Env<'_, impl Probe>) {
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
        let is_due = |attach: &Attach| attach.wired_at() <= env.now;
        if self.0.state.attach.as_deref().is_some_and(is_due) {
            let arrived = with_step(self.0, env, |state, step| {
                state.attach.as_mut().and_then(|attach| attach.on_due(step))
            });
            self.on_core_message(arrived, env);
        }
    }

    /// Handles a message that links have carried between network nodes. Returns true if the message
    /// belongs to an attach procedure.
    pub(in crate::access) fn on_wired(
        &mut self,
        number: u64,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let attach = self.0.state.attach.as_mut();
        let arrived = attach.and_then(|attach| attach.on_message(number));
        self.on_core_message(arrived, env);
        arrived.is_some()
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
            CellEntry(self.0).connect_bearers((leg, is_data), env);
            CellEntry(self.0).start_monitoring(leg, env);
            self.0.record_event(RrcEvent::Attached, env);
        }
        self.0.send(Direction::Uplink, Message::Answer(round), env);
        self.0.service.on_uplink_data(Some(leg), env);
    }

    /// Handles a request of the network at the UE.
    pub(in crate::access) fn on_request(&mut self, round: Round, env: &Env<'_, impl Probe>) {
        if let (Stage::Attaching { .. }, Some(attach)) =
            (self.0.state.stage, &mut self.0.state.attach)
        {
            attach.on_question(round, env.now);
        }
    }

    /// Handles the UE's answer at the base station.
    pub(in crate::access) fn on_answer(&mut self, round: Round, env: &mut Env<'_, impl Probe>) {
        let Some(attach) = &self.0.state.attach else {
            return;
        };
        let standing = attach.registration();
        if round == Round::Setup {
            self.0.record_event(RrcEvent::SetupComplete, env);
        }
        let Some(next) = round.next(standing) else {
            return self.0.on_complete(env);
        };
        match next.is_of_core(standing) {
            true => self.exchange_with_core((round, true), env),
            false => self.send_request(next, env),
        }
    }

    /// Reports to the core that the UE has completed the last RRC procedure, which sets up its
    /// bearers. Returns false if the core does not wait for this report.
    pub(in crate::access) fn report_to_core(&mut self, env: &mut Env<'_, impl Probe>) -> bool {
        let attach = self.0.state.attach.as_ref();
        let is_awaited = attach.is_some_and(|attach| attach.is_path_awaited());
        if is_awaited {
            self.exchange_with_core((Round::Bearers, true), env);
        }
        is_awaited
    }

    fn exchange_with_core(&mut self, what: (Round, bool), env: &mut Env<'_, impl Probe>) {
        with_step(self.0, env, |state, step| {
            if let Some(attach) = &mut state.attach {
                attach.send(what, step);
            }
        });
    }

    /// Handles a message between the base station and the core at its destination.
    fn on_core_message(&mut self, arrived: Option<(Round, bool)>, env: &mut Env<'_, impl Probe>) {
        let (Some((round, is_answer)), Some(attach)) = (arrived, &mut self.0.state.attach) else {
            return;
        };
        if !is_answer {
            return self.send_request(round, env);
        }
        let (standing, cell) = (attach.registration(), attach.cell());
        let Some(next) = round.next(standing) else {
            attach.on_path();
            // If the UE is now at another base station, that base station has already requested the
            // path switch.
            if self.0.state.network.is_home(self.0.config, cell) {
                with_step(self.0, env, |_, step| step.act(Act::SwitchPath));
            }
            return;
        };
        let event = match next {
            Round::Authentication => RrcEvent::AuthenticationRequest,
            Round::NasSecurity => RrcEvent::NasSecurityCommand,
            Round::Security => RrcEvent::ContextSetupRequest,
            _ => RrcEvent::SessionSetupRequest,
        };
        record_cell_event((self.0.ue, cell), event, env);
        self.exchange_with_core((next, false), env);
    }

    /// Sends a request of the base station or the core to the UE.
    fn send_request(&mut self, round: Round, env: &mut Env<'_, impl Probe>) {
        let Some(attach) = &self.0.state.attach else {
            return;
        };
        let event = match round {
            Round::Security => Some(RrcEvent::SecurityCommand),
            Round::Acceptance => Some(RrcEvent::RegistrationAccept),
            Round::Bearers => {
                let home = self.0.config.station(attach.cell());
                self.0.state.network.set_home(home);
                Some(RrcEvent::ReconfigurationSent)
            }
            Round::Setup | Round::Authentication | Round::NasSecurity => None,
        };
        if let Some(event) = event {
            self.0.record_event(event, env);
        }
        let request = Message::Question(round);
        self.0.send(Direction::Downlink, request, env);
        let leg = self.0.service.stack.ues[self.0.ue.index()].legs().first();
        let leg = leg.copied();
        self.0
            .service
            .activate(env.now, leg, Direction::Downlink, 0);
    }

    /// Ends the attempt: T300 or T3410 has expired, or the link failed before bearers existed.
    pub(in crate::access) fn fail(&mut self, env: &mut Env<'_, impl Probe>) {
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
            .saturating_add(attach.fail(had_setup, super::failure::SEARCH_PERIOD));
        self.0.state.stage = Stage::Released { at };
        if is_first {
            self.0.fail_row(HandoverOutcome::Failed, env);
        }
    }
}
