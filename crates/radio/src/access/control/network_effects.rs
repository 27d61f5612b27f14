//! Effects of the network on one UE: bicast, data forwarding, and the end of a handover.

use super::managed::{Managed, record_cell_event};
use crate::access::plane::moves::Move;
use crate::config::Env;
use crate::rrc::attach::Attach;
use crate::rrc::effect::BearerStep;
use crate::rrc::entry::is_to_candidate;
use crate::rrc::record::RowTime;
use fadeout_core::{CellId, Probe, RrcEvent, Span};

impl Managed<'_> {
    /// Starts bicasting: the core also sends the UE's packets to the base station of `target`. The
    /// packets wait there until the UE arrives.
    pub(crate) fn begin_bicasting(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
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
        self.state.record.stamp(RowTime::Bicast, env.now);
    }

    /// Forwards the UE's data from the first of two base stations to the second, after the network
    /// has learned of the UE's cell.
    pub(crate) fn forward_data(
        &mut self,
        ends: [u32; 2],
        delay: Span,
        env: &mut Env<'_, impl Probe>,
    ) {
        let fate = self.config.fate(ends, delay);
        self.end_early_copies(env);
        let is_in_both = self.with_effects(env, |state, _, effects| {
            state.stage.on_target_entered(fate, effects)
        });
        if !is_in_both {
            self.stop_downlink(fate, env);
        }
        if self.config.notifies_source() {
            self.release_markers(env);
        }
    }

    /// Ends bicasting: the core sends to one base station again.
    pub(crate) fn end_bicasting(&mut self, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            drb.mobile().end_copies(env, &mut stack.storage);
        }
        self.moves.push(Move::BicastEnd { ue });
        self.record_event(RrcEvent::BicastEnded, env);
    }

    /// Sends the handover command, after the target has accepted the UE.
    pub(crate) fn send_command(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        self.with_network(env, |network, step| network.command(target, step));
    }

    /// Handles the UE's complete message at the base station.
    pub(crate) fn on_complete(&mut self, env: &mut Env<'_, impl Probe>) {
        let change = self.state.record.change();
        let is_switch = change.is_some_and(|change| is_to_candidate(change.procedure));
        let ltm = self.state.ltm.as_mut().filter(|_| is_switch);
        let lacks_candidates = ltm.is_some_and(|ltm| ltm.take_lacks_candidates());
        self.with_network(env, |network, step| {
            network.on_complete(lacks_candidates, step);
        });
    }

    /// Reports the UE's bearers to a core that waits for them. Otherwise the handover is done.
    pub(crate) fn report_bearers(&mut self, env: &mut Env<'_, impl Probe>) {
        if self.with_attach(env, Attach::report_bearers) != Some(true) {
            self.state.record.on_done(env.now);
        }
    }

    /// Drops all candidates, because the UE has lost its connection.
    pub(crate) fn drop_candidates(&mut self, env: &mut Env<'_, impl Probe>) {
        self.state.survey.conditions.clear();
        self.step_bearers(BearerStep::EndEarly { is_there: false }, env);
        self.with_network(env, |network, step| network.candidacy.cancel_all(step));
    }
}
