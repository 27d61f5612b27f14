//! Execution of the decisions that the network's state machines make about one UE.

use super::conditional::Conditional;
use super::daps::DapsHandover;
use super::handover::seconds;
use super::managed::{Managed, record_cell_event};
use super::scg::Scg;
use crate::access::plane::moves::Move;
use crate::config::Env;
use crate::rrc::mobility::{Stage, UeMobility};
use crate::rrc::network::{Act, Network, Step};
use fadeout_core::{CellId, HandoverOutcome, LinkInfo, Probe, RrcEvent};

/// Applies `action` to a part of a UE's mobility state, then carries out the network decisions that
/// result from `action`.
pub(in crate::access) fn with_step<R>(
    managed: &mut Managed<'_>,
    env: &mut Env<'_, impl Probe>,
    action: impl FnOnce(&mut UeMobility, &mut Step<'_>) -> R,
) -> R {
    let fetching = match managed.state.stage {
        Stage::Fetching { leg, .. } => Some(leg),
        _ => None,
    };
    let stack = &managed.service.stack;
    let mut step = Step {
        now: env.now,
        seed: managed.service.seed,
        ue: managed.ue,
        config: managed.config,
        loads: managed.loads,
        held: managed.held,
        serving: stack.serving_cell(managed.ue),
        is_connected: managed.state.is_connected(),
        fetching: fetching.map(|leg| stack.legs[leg.index()].config.cell),
        next_message: managed.next_message,
        acts: managed.acts,
    };
    let outcome = action(managed.state, &mut step);
    while let Some(act) = managed.acts.pop_front() {
        managed.carry_out(act, env);
    }
    outcome
}

impl Managed<'_> {
    /// Passes `info` to listeners of the UE's link.
    pub(in crate::access) fn notify_listeners(&mut self, info: LinkInfo) {
        let ue = self.ue;
        self.moves.push(Move::LinkNotice { ue, info });
    }

    /// Applies `action` to the network's state machine of the UE, then carries out the decisions
    /// that result from `action`.
    pub(in crate::access) fn with_network<R>(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        action: impl FnOnce(&mut Network, &mut Step<'_>) -> R,
    ) -> R {
        with_step(self, env, |state, step| action(&mut state.network, step))
    }

    fn carry_out(&mut self, act: Act, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        match act {
            Act::Send {
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
            Act::Accepted(target) => {
                if !Scg(self).request_for_handover(target, env) {
                    self.send_command(target, env);
                }
            }
            Act::Refused(target) => {
                let what = (RrcEvent::HandoverRefused, HandoverOutcome::Refused);
                self.end_refused(target, what, env);
            }
            Act::AnswerExpired(target) => {
                let what = (RrcEvent::PreparationExpired, HandoverOutcome::Cancelled);
                self.end_refused(target, what, env);
            }
            Act::DepartureExpired => self.cancel_handover(env),
            Act::StartBicast(target) => self.begin_bicasting(target, env),
            Act::EndBicast => self.end_bicasting(env),
            Act::SwitchPath => self.switch_path(env),
            Act::ForwardData { from, cell, delay } => {
                let to = self.config.station(cell);
                let fate = self.config.fate([from, to], delay);
                Conditional(self).end_copies(env);
                if !DapsHandover(self).on_target_entered(fate, env) {
                    self.stop_downlink(fate, env);
                }
                if self.config.notifies_source() {
                    Conditional(self).release_markers(env);
                }
            }
            Act::SendCandidates => Conditional(self).configure(env),
            Act::ResumeData => self.resume_downlink(env),
            Act::HasStatus => DapsHandover(self).send_release(env),
            Act::HasContext => self.finish_reestablishment(env),
            Act::SecondaryNode(act) => Scg(self).carry_out(act, env),
            Act::RecordEvent(Some(cell), event) => record_cell_event((ue, cell), event, env),
            Act::RecordEvent(None, event) => self.record_event(event, env),
        }
    }

    /// Starts bicasting: the core also sends the UE's packets to the base station of `target`. The
    /// packets wait there until the UE arrives.
    fn begin_bicasting(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let (ue, stations) = (self.ue, (self.config.station(target), self.station()));
        let most = self.config.procedure.target_buffer;
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            drb.mobile()
                .expect_copies(stations, most, env, &mut stack.storage);
        }
        self.moves.push(Move::Bicast { ue, cell: target });
        record_cell_event((ue, target), RrcEvent::BicastBegan, env);
        self.state
            .record
            .update_row(|row| row.bicast_s = seconds(env.now));
    }

    fn end_bicasting(&mut self, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            drb.mobile().end_copies(env, &mut stack.storage);
        }
        self.moves.push(Move::BicastEnd { ue });
        self.record_event(RrcEvent::BicastEnded, env);
    }

    /// Ends a handover that the target refused or did not answer in time. The UE stays in its cell.
    fn end_refused(
        &mut self,
        target: CellId,
        (event, outcome): (RrcEvent, HandoverOutcome),
        env: &mut Env<'_, impl Probe>,
    ) {
        self.notify_listeners(LinkInfo::BlockageEnded);
        record_cell_event((self.ue, target), event, env);
        Scg(self).cancel_request(env);
        self.fail_row(outcome, env);
    }

    /// Completes re-establishment in the cell that has fetched the context of the UE.
    pub(in crate::access) fn finish_reestablishment(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Stage::Fetching { leg, .. } = self.state.stage {
            self.record_event(RrcEvent::Reestablished, env);
            self.complete_entry(leg, env);
        }
    }
}
