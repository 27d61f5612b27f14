//! Effects of the network on one UE: bicast, data forwarding, and the end of a handover.

use super::conditional::Conditional;
use super::daps::DapsHandover;
use super::managed::{Managed, record_cell_event};
use super::scg::Scg;
use crate::access::plane::moves::Move;
use crate::config::Env;
use crate::rrc::record::seconds;
use crate::rrc::stage::Stage;
use fadeout_core::{CellId, HandoverOutcome, LinkInfo, Probe, RrcEvent, Span};

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
        self.state
            .record
            .update_row(|row| row.bicast_s = seconds(env.now));
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
        Conditional(self).end_copies(env);
        if !DapsHandover(self).on_target_entered(fate, env) {
            self.stop_downlink(fate, env);
        }
        if self.config.notifies_source() {
            Conditional(self).release_markers(env);
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

    /// Ends a handover that the target refused or did not answer in time. The UE stays in its cell.
    pub(crate) fn end_refused(
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
    pub(crate) fn finish_reestablishment(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Stage::Fetching { cell, .. } = self.state.stage {
            self.record_event(RrcEvent::Reestablished, env);
            self.complete_entry(cell, env);
        }
    }
}
