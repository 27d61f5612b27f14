//! L1/L2-triggered mobility (LTM) of one UE: candidates, L1 reports, and the MAC command.
//!
//! ```text
//! RRC report ─► candidates, as in conditional handover ─► proceed: reports of L1-RSRP
//! L1 report ─► send_switch_command (MAC, over HARQ only) ─► on_command, begin_switch
//! begin_switch ─► random access, or none
//! on_complete: the candidates stay prepared, and the source becomes one
//! ```
//!
//! Standard: TS 38.300 §9.2.3.5; TS 38.321 §5.18.35; TS 38.331 §5.3.5.18.

use super::handover::seconds;
use super::managed::{Managed, record_cell_event};
use super::rach_less::RachLessEntry;
use crate::air::InstantCache;
use crate::air::measure::round_trip;
use crate::cell::CellMac;
use crate::config::{EarlySync, Env, LtmConfig, MOST_CANDIDATES, MobilityConfig, RadioError};
use crate::rrc::granted::EntryAccess;
use crate::rrc::ltm::Decision;
use crate::rrc::mobility::{Message, Stage};
use crate::rrc::random_access::RandomAccess;
use crate::rrc::record::row_of;
use fadeout_core::{
    CellId, Direction, HandoverOutcome, HandoverRow, LinkInfo, Motion, Probe, Procedure, RrcEvent,
    Span,
};

/// Checks that MAC may switch UEs among all cells.
///
/// Standard: TS 38.300 §9.2.3.5.1.
pub(in crate::access) fn check(
    config: &MobilityConfig,
    cells: &[CellMac],
) -> Result<(), RadioError> {
    if config.ltm.is_none() {
        return Ok(());
    }
    let refuse = |cell: usize, value: &str, expected: &str| {
        Err(RadioError::Cell {
            cell,
            what: "`procedure = \"ltm\"`",
            value: value.into(),
            expected: expected.into(),
        })
    };
    if let Some(place) = (cells.iter()).position(|cell| !cell.plan.config.is_nr()) {
        let expected = "cells of NR alone, or `procedure = \"plain\"`";
        return refuse(place, "with a cell of LTE", expected);
    }
    let home = config.stations.first();
    if let Some(place) = (config.stations.iter()).position(|station| Some(station) != home) {
        let value = "with a cell of another base station, whose central unit is another";
        let expected = "one `node` for all cells, or `procedure = \"plain\"` or \"conditional\"";
        return refuse(place, value, expected);
    }
    Ok(())
}

/// Mutable access to a UE's state, for L1/L2-triggered mobility.
pub(in crate::access) struct Switched<'m, 'a>(pub &'m mut Managed<'a>);

impl Switched<'_, '_> {
    /// Runs the steps of L1/L2-triggered mobility that are due.
    pub(in crate::access) fn proceed<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let config = self.0.config;
        let Some(config) = config.ltm.as_ref().filter(|_| self.0.state.is_connected()) else {
            return;
        };
        let now = env.now;
        let Some(ltm) = &mut self.0.state.ltm else {
            return;
        };
        if let Some(target) = ltm.take_leaving(now) {
            return self.begin_switch(target, config, env);
        }
        if ltm.take_expired(now).is_some() {
            // A switch command that arrives later must have no effect.
            self.0.state.messages.cancel_command();
            self.0.notify_listeners(LinkInfo::BlockageEnded);
            self.0.fail_row(HandoverOutcome::Cancelled, env);
        }
        self.send_ordered_preamble(motion, env);
        self.report_levels(config, motion, env);
    }

    /// Sends a report of the levels of the UE's cell and its candidates. If the report arrives, the
    /// network decides on a cell switch.
    fn report_levels<M: Motion>(
        &mut self,
        config: &LtmConfig,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (ue, now) = (self.0.ue, env.now);
        let is_idle = self.0.state.survey.conditions.is_idle();
        let ltm = self.0.state.ltm.as_mut();
        if is_idle || !ltm.is_some_and(|ltm| ltm.is_report_due(now, config.report_period)) {
            return;
        }
        let stack = &mut self.0.service.stack;
        let (Some(serving), Some(&leg)) =
            (stack.serving_cell(ue), stack.ues[ue.index()].legs().first())
        else {
            return;
        };
        let error_db = self.0.config.measurement_error_db;
        let draws = &mut self.0.state.draws;
        let air = &mut stack.air;
        let cache = &mut InstantCache::default();
        let mut level = |cell| {
            let level = air.measure_level((ue, cell), (now, cache), motion)?;
            Some(match error_db > 0.0 {
                true => level + error_db * draws.normal(),
                false => level,
            })
        };
        let Some(serving_dbm) = level(serving) else {
            return;
        };
        let mut levels = [(serving, 0.0); MOST_CANDIDATES];
        let mut count = 0;
        for &position in self.0.state.survey.conditions.candidates() {
            let cell = self.0.cells[position];
            if let Some(level_dbm) = level(cell).filter(|_| count < MOST_CANDIDATES) {
                levels[count] = (cell, level_dbm);
                count += 1;
            }
        }
        let least_db = self.0.config.monitoring.q_out.0;
        let is_heard = self.0.service.is_heard(leg, least_db, motion, now);
        if !is_heard[Direction::Uplink.index()] || self.0.state.network.is_busy() {
            return;
        }
        let record = &self.0.state.record;
        let is_in_change = record.procedure().is_some() && !record.is_done();
        let Some(ltm) = &mut self.0.state.ltm else {
            return;
        };
        // The network must not order a new switch before the UE's complete message has arrived.
        // Until that time the network does not know which cells remain prepared.
        if is_in_change && !ltm.is_switching() {
            return;
        }
        match ltm.on_report(now, serving_dbm, &levels[..count], config) {
            Decision::Stay => {}
            Decision::Switch(target) => self.send_switch_command([serving, target], config, env),
            // PDCCH carries the order for a preamble, so the UE must be able to receive the
            // downlink.
            Decision::Order(cell, at) if is_heard[Direction::Downlink.index()] => {
                let occasion = self.0.access_in(cell).occasion_from(at);
                if let Some(ltm) = &mut self.0.state.ltm {
                    ltm.record_order(cell, occasion);
                }
            }
            Decision::Order(..) => {}
        }
    }

    /// Sends the cell switch command to the UE.
    fn send_switch_command(
        &mut self,
        [source, target]: [CellId; 2],
        config: &LtmConfig,
        env: &mut Env<'_, impl Probe>,
    ) {
        let row = HandoverRow {
            triggered_s: seconds(env.now),
            commanded_s: seconds(env.now),
            ..row_of(self.0.ue, (source, target), Procedure::Ltm)
        };
        self.0.begin_row(row, env);
        record_cell_event((self.0.ue, target), RrcEvent::CommandSent, env);
        let access = &self.0.config.access;
        self.0.notify_listeners(LinkInfo::BlockagePredicted {
            starts_at: env.now,
            lasts: config.interruption() + access.occasion_period + access.response_delay,
        });
        self.0
            .send(Direction::Downlink, Message::Switch(target), env);
    }

    /// Handles the cell switch command at the UE, which leaves after it has sent the HARQ feedback.
    pub(in crate::access) fn on_command(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let stack = &self.0.service.stack;
        let Some(leg) = stack.ues[self.0.ue.index()].legs().first() else {
            return;
        };
        let cell = stack.legs[leg.index()].config.cell;
        let plan = &self.0.service.cells[cell.index()].plan;
        let confirmed_at = {
            let timing = &plan.config.timing;
            let ended_at = env.now.saturating_sub(timing.user_decoding);
            let within = ended_at.saturating_sub(Span::from_nanos(1));
            let slot = plan.frame.slot_at(within);
            let assigned = slot.saturating_sub(u64::from(timing.k0));
            let symbols = plan.frame.symbols();
            timing.downlink(&plan.frame, assigned, symbols).feedback_at
        };
        record_cell_event((self.0.ue, target), RrcEvent::CommandReceived, env);
        if let Some(ltm) = &mut self.0.state.ltm {
            ltm.on_command(target, confirmed_at.max(env.now));
        }
    }

    /// Starts the UE's switch to a candidate.
    fn begin_switch(&mut self, target: CellId, config: &LtmConfig, env: &mut Env<'_, impl Probe>) {
        let now = env.now;
        let Some(source) = self.0.service.stack.serving_cell(self.0.ue) else {
            return;
        };
        let (conditions, messages) = (&self.0.state.survey.conditions, &self.0.state.messages);
        let lacks_candidates = conditions.has_received() || messages.has_candidates();
        let timing = self.0.state.ltm.as_mut().and_then(|ltm| {
            ltm.set_lacks_candidates(lacks_candidates);
            ltm.timing(target, now)
        });
        let fate = self.0.config.fate_between(source, target);
        self.0.stop_downlink(fate, env);
        self.0.detach(Some(target), env);
        let Some(leg) = self.0.leg_in(target) else {
            return self.0.reselect(env);
        };
        let ready_at = now.saturating_add(config.interruption());
        let access = match timing.filter(|_| config.early == EarlySync::Both) {
            Some(timing) => {
                RachLessEntry(self.0).granted_entry(target, timing.round_trip, ready_at)
            }
            None => {
                EntryAccess::Random(RandomAccess::new(self.0.access_in(target), ready_at, true))
            }
        };
        self.0.state.stage = Stage::Entering {
            leg,
            access,
            until: now.saturating_add(self.0.config.procedure.t304),
            procedure: Procedure::Ltm,
        };
    }

    /// Sends the preamble that a PDCCH order requested, if the time of that preamble has come. The
    /// candidate cell measures the timing advance with the preamble.
    fn send_ordered_preamble<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let (ue, now) = (self.0.ue, env.now);
        let ordered = self
            .0
            .state
            .ltm
            .as_mut()
            .and_then(|ltm| ltm.take_due_preamble(now));
        let Some(cell) = ordered else { return };
        let serving = self.0.service.stack.serving_cell(ue);
        let Some(leg) = self.0.leg_in(cell).filter(|_| serving != Some(cell)) else {
            return;
        };
        record_cell_event((ue, cell), RrcEvent::PreambleSent, env);
        let least_db = self.0.config.monitoring.q_out.0;
        let is_heard = self.0.service.is_heard(leg, least_db, motion, now);
        self.0.service.leave_leg(leg);
        let is_held = self.0.state.network.candidacy.has_reservation(cell);
        if is_heard[Direction::Uplink.index()] && is_held {
            let air = &mut self.0.service.stack.air;
            let round_trip = round_trip(air, (ue, cell), now, motion);
            if let Some(ltm) = &mut self.0.state.ltm {
                ltm.on_preamble(now, cell, round_trip);
            }
            record_cell_event((ue, cell), RrcEvent::TimingAcquired, env);
        }
    }

    /// Updates the list of candidates in the new cell. The old cell is added, and the other
    /// candidates stay in the list.
    pub(in crate::access) fn on_new_serving_cell(
        &mut self,
        cell: CellId,
        env: &Env<'_, impl Probe>,
    ) {
        let mut source = None;
        self.0.state.record.update_row(|row| {
            source = Some(row.source).filter(|_| is_to_candidate(row.procedure));
        });
        let cells = self.0.cells;
        let place = |cell: CellId| cells.binary_search(&cell).ok();
        let survey = &mut self.0.state.survey;
        let here = place(cell);
        let kept = survey.conditions.candidates().iter().copied();
        let kept = kept.filter(|&position| Some(position) != here);
        let back = source.filter(|&source| source != cell).and_then(place);
        let all: Vec<usize> = kept.chain(back).collect();
        survey.on_new_serving_cell();
        if source.is_some() {
            survey.conditions.set_candidates(env.now, all.into_iter());
        }
    }

    /// Handles the UE's complete message at the target. The candidates stay prepared.
    pub(in crate::access) fn on_complete(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let mut source = cell;
        self.0.state.record.update_row(|row| source = row.source);
        let ltm = self.0.state.ltm.as_mut();
        let lacks_candidates = ltm.is_some_and(|ltm| ltm.take_lacks_candidates());
        self.0.with_network(env, |network, step| {
            network
                .candidacy
                .on_switched([source, cell], lacks_candidates, step);
        });
    }
}

/// Returns true if the procedure enters one of the candidates that stay prepared.
pub(in crate::access) fn is_to_candidate(procedure: Procedure) -> bool {
    matches!(procedure, Procedure::Ltm | Procedure::Recovery)
}
