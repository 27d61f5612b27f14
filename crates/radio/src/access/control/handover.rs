//! Handover of one UE, and its steps after a radio link failure.
//!
//! ```text
//! report ─► prepare_handover ─► request, answer ─► send_command ─► on_command: the UE leaves
//!                                                                           │ random access
//! failure ─► select a cell ─► random access ─► fetch the context ──► complete_entry
//!                                                                                    │
//!                      path switch, end marker ◄─ on_complete: the target sends ◄─ complete
//! ```

use super::managed::{Managed, leave_signalling};
use crate::access::plane::moves::Move;
use crate::access::plane::stack::Stack;
use crate::bearer::TransferCounts;
use crate::config::{Env, Fate, LegId};
use crate::rrc::attach::Attach;
use crate::rrc::effect::{Effects, Seen};
use crate::rrc::network::Network;
use crate::rrc::policy::HandoverPolicy;
use crate::rrc::record::{NewRow, RowTime};
use crate::rrc::secondary_cells::SecondaryCellChange;
use crate::rrc::secondary_node::SecondaryNode;
use crate::rrc::stage::{DueAction, Stage};
use fadeout_core::{CellId, Direction, HandoverOutcome, LinkInfo, Motion, Probe, RrcEvent, Span};

impl Managed<'_> {
    /// Prepares a handover to `target`, after the policy has chosen this cell from a measurement
    /// report.
    pub(crate) fn prepare_handover(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let Some(source) = self.service.stack.serving_cell(self.ue) else {
            return;
        };
        if self.is_busy() || target == source {
            return;
        }
        self.with_network(env, |network, step| network.prepare([source, target], step));
    }

    /// Prepares the handover that the timetable gives, if it is due and the UE is in another cell.
    /// If the UE has no connection or another change of its cell is under way, the handover begins
    /// afterwards.
    fn follow_timetable(&mut self, env: &mut Env<'_, impl Probe>) {
        let Some(target) = self.state.timetable.due(env.now) else {
            return;
        };
        if self.is_busy() || !self.state.is_connected() {
            return self.state.timetable.postpone(env.now);
        }
        self.state.timetable.finish();
        if self.service.stack.serving_cell(self.ue) != Some(target) {
            self.prepare_handover(target, env);
        }
    }

    /// Begins the row of a new cell change. If the row of the previous cell change is still
    /// pending, writes that row first.
    pub(crate) fn begin_row(&mut self, row: NewRow, env: &mut Env<'_, impl Probe>) {
        self.end_row(env);
        self.state.record.begin(self.ue, row);
    }

    /// Writes the pending row of a cell change, if there is one.
    fn end_row(&mut self, env: &mut Env<'_, impl Probe>) {
        let Some(mut row) = self.state.record.take_row(env.now) else {
            return;
        };
        // If the UE did not leave its cell, the bearers contain the gaps of an earlier change of
        // cell.
        if !row.left_s.is_nan() {
            let mut gaps = [f64::NAN; 2];
            let mut counts = TransferCounts::default();
            let stack = &mut self.service.stack;
            for bearer in stack.ues[self.ue.index()].bearers() {
                let drb = &mut stack.bearers[bearer.index()];
                drb.mobile().count_dropped(env.pool);
                let (of_bearer, some) = drb.transfers().report();
                for (gap, of_bearer) in gaps.iter_mut().zip(of_bearer) {
                    // The row reports the longest gap of all bearers. `f64::max` ignores NaN.
                    *gap = of_bearer.map_or(*gap, |span| gap.max(span.as_secs_f64()));
                }
                counts.numbered += some.numbered;
                counts.fresh += some.fresh;
                counts.lost += some.lost;
                counts.bicast += some.bicast;
                counts.doubled += some.doubled;
                counts.early += some.early;
                counts.useless += some.useless;
            }
            [row.downlink_gap_s, row.uplink_gap_s] = gaps;
            row.forwarded_numbered = counts.numbered as u32;
            row.forwarded_fresh = counts.fresh as u32;
            row.lost_packets = counts.lost as u32;
            row.bicast_packets = counts.bicast as u32;
            row.doubled_packets = counts.doubled as u32;
            row.early_copies = counts.early as u32;
            row.useless_copies = counts.useless as u32;
        }
        self.policy.on_handover(&row);
        env.probe.handover(row);
    }

    pub(crate) fn fail_row(&mut self, outcome: HandoverOutcome, env: &mut Env<'_, impl Probe>) {
        self.state.record.fail(outcome);
        self.end_row(env);
    }

    /// Runs all steps of the UE's procedures that are due.
    pub(crate) fn proceed<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let now = env.now;
        self.with_network(env, Network::on_source_due);
        match self.state.has_link() && self.state.link.has_failed(now) {
            true => self.fail_link(env),
            false => self.proceed_stage(Stage::on_due, motion, env),
        }
        self.with_attach(env, Attach::on_ue_due);
        self.with_attach(env, Attach::on_due);
        self.monitor_beams(motion, env);
        self.with_effects(env, |state, seen, effects| {
            state.secondary_cell_change.on_due(seen, effects);
        });
        self.proceed_stage(Stage::on_daps_due, motion, env);
        self.proceed_node(motion, env);
        self.proceed_ltm(motion, env);
        self.with_effects(env, |state, seen, effects| {
            state.survey.conditions.on_due(seen, effects);
        });
        self.follow_timetable(env);
        self.with_network(env, Network::on_due);
        self.service.expire_marker_waits(self.ue, env);
        if self.state.record.due_at() <= now {
            self.end_row(env);
        }
    }

    /// Runs a step of the UE's stage, and the action that the step needs.
    fn proceed_stage<M: Motion>(
        &mut self,
        step: fn(&mut Stage, &Seen<'_>, &mut Effects) -> Option<DueAction>,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let due = self.with_effects(env, |state, seen, effects| {
            step(&mut state.stage, seen, effects)
        });
        if let Some(action) = due {
            self.act(action, motion, env);
        }
    }

    /// Switches the path: the core now sends the UE's data to the base station of the UE's cell.
    pub(crate) fn switch_path(&mut self, env: &mut Env<'_, impl Probe>) {
        let Some(cell) = self.service.stack.serving_cell(self.ue) else {
            return;
        };
        let ue = self.ue;
        self.moves.push(Move::Path { ue, cell });
        self.record_event(RrcEvent::PathSwitched, env);
        self.state.record.stamp(RowTime::Switched, env.now);
        self.state.record.on_done(env.now);
    }

    /// Stops the downlink of the UE's bearers at the base station to which the core sends their
    /// packets.
    pub(crate) fn stop_downlink(&mut self, fate: Fate, env: &mut Env<'_, impl Probe>) {
        let stations = (self.state.network.home(), self.station());
        for bearer in self.service.stack.ues[self.ue.index()].bearers() {
            let drb = &mut self.service.stack.bearers[bearer.index()];
            drb.mobile()
                .stop(stations, fate, env, &mut self.service.stack.storage);
        }
    }

    /// Resumes the downlink of the UE's bearers at the base station of the serving cell.
    pub(crate) fn resume_downlink(&mut self, env: &mut Env<'_, impl Probe>) {
        let is_home = self
            .service
            .stack
            .serving_cell(self.ue)
            .is_some_and(|cell| self.state.network.is_home(self.config, cell));
        let station = self.station();
        self.each_bearer(|bearer, service| {
            let Stack {
                bearers, storage, ..
            } = &mut service.stack;
            let drb = &mut bearers[bearer.index()];
            drb.mobile().resume(station, env, storage);
            if is_home {
                drb.mobile().on_path_switch(env.now, 0, Span::ZERO);
            }
            service.on_downlink_data(bearer, env);
            let stack = &mut service.stack;
            stack.declare_lost(bearer, Direction::Downlink, env);
        });
    }

    /// Detaches the UE from its cell. MAC is reset, and RLC and PDCP are re-established. `target`
    /// is `None` if the next cell is unknown.
    pub(crate) fn detach(&mut self, target: Option<CellId>, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        let source = self.service.stack.serving_cell(ue);
        self.state.record.stamp(RowTime::Left, env.now);
        if !self.stop_beam_monitoring(env) {
            self.with_effects(env, |state, _, effects| state.rates.on_left(effects));
            self.notify_listeners(LinkInfo::BlockageBegan);
        }
        self.leave_utra();
        self.state.messages.clear();
        self.state.secondary_cell_change = SecondaryCellChange::default();
        self.state.link.reset(env.now, &self.config.monitoring);
        if let Some(ltm) = &mut self.state.ltm {
            ltm.on_left();
        }
        if let Some(leg) = self.leg() {
            self.release_secondary_cells(leg, env);
            let cell = self.service.stack.legs[leg.index()].config.cell;
            let load = &mut self.loads[cell.index()];
            *load = load.saturating_sub(1);
            self.service.leave_leg(leg);
        }
        if self.with_node(env, SecondaryNode::on_master_left).is_none() {
            self.drop_secondary_leg(env);
        }
        let station = self.station();
        let stays =
            (source.zip(target)).is_some_and(|(from, to)| self.config.is_one_station(from, to));
        let stack = &mut self.service.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            stack.bearers[bearer.index()].mobile().detach(
                (station, stays),
                env,
                &mut stack.storage,
            );
        }
        leave_signalling(self, env);
    }

    /// Returns the leg of the UE in a cell, and creates it if needed. `None` if the channel cannot
    /// be built.
    pub(crate) fn leg_in(&mut self, cell: CellId) -> Option<LegId> {
        if let Some(leg) = self.leg_of(cell) {
            // The leg had another number if it was a secondary leg in a DAPS handover or at a
            // secondary node.
            self.service.stack.legs[leg.index()].config.number = 0;
            self.service.stack.air.use_again(leg);
            return Some(leg);
        }
        let nth = self.state.legs.len() as u64;
        let leg = self.service.add_leg(self.ue, cell, (0, nth)).ok()?;
        self.state.legs.push((cell, leg));
        if let Some(gaps) = self
            .config
            .gaps
            .as_ref()
            .filter(|_| self.state.gap_carriers.is_some())
        {
            self.service.set_gaps(leg, gaps);
        }
        Some(leg)
    }

    /// Returns the base station of the UE's serving cell. If the UE has no serving cell, returns
    /// the base station of its last serving cell.
    pub(crate) fn station(&self) -> u32 {
        let serving = self.service.stack.serving_cell(self.ue);
        self.state.network.station(self.config, serving)
    }
}
