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

use super::managed::{Managed, record_cell_event};
use crate::air::InstantCache;
use crate::air::measure::round_trip;
use crate::cell::CellMac;
use crate::config::{Env, LtmConfig, MOST_CANDIDATES, MobilityConfig, RadioError};
use crate::rrc::entry::is_to_candidate;
use crate::rrc::ltm::LevelReport;
use fadeout_core::{CellId, Direction, Motion, Probe, RrcEvent, Span, Time};

/// Checks that MAC may switch UEs among all cells.
///
/// Standard: TS 38.300 §9.2.3.5.1.
pub(crate) fn check(config: &MobilityConfig, cells: &[CellMac]) -> Result<(), RadioError> {
    if config.ltm().is_none() {
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

impl Managed<'_> {
    /// Runs the steps of L1/L2-triggered mobility that are due.
    pub(crate) fn proceed_ltm<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let config = self.config;
        let Some(config) = config.ltm().filter(|_| self.state.is_connected()) else {
            return;
        };
        let leaves = self.with_effects(env, |state, seen, effects| {
            let ltm = state.ltm.as_mut()?;
            Some(ltm.on_due(seen, effects))
        });
        if leaves == Some(false) {
            self.send_ordered_preamble(motion, env);
            self.report_levels(config, motion, env);
        }
    }

    /// Sends a report of the levels of the UE's cell and its candidates.
    fn report_levels<M: Motion>(
        &mut self,
        config: &LtmConfig,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (ue, now) = (self.ue, env.now);
        let is_idle = self.state.survey.conditions.is_idle();
        let ltm = self.state.ltm.as_mut();
        if is_idle || !ltm.is_some_and(|ltm| ltm.is_report_due(now, config.report_period)) {
            return;
        }
        let serving = self.service.stack.serving_cell(ue);
        let (Some(serving), Some(leg)) = (serving, self.leg()) else {
            return;
        };
        let error_db = self.config.measurement_error_db;
        let draws = &mut self.state.draws;
        let air = &mut self.service.stack.air;
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
        for &position in self.state.survey.conditions.candidates() {
            let cell = self.cells[position];
            if let Some(level_dbm) = level(cell).filter(|_| count < MOST_CANDIDATES) {
                levels[count] = (cell, level_dbm);
                count += 1;
            }
        }
        let least_db = self.config.monitoring.q_out.0;
        let is_heard = self.service.is_heard(leg, least_db, motion, now);
        if !is_heard[Direction::Uplink.index()] || self.state.network.is_busy() {
            return;
        }
        let change = self.state.record.change();
        let is_in_change = change.is_some_and(|change| !change.is_done);
        let Some(ltm) = &self.state.ltm else {
            return;
        };
        // The network must not order a new switch before the UE's complete message has arrived.
        // Until that time the network does not know which cells remain prepared.
        if is_in_change && !ltm.is_switching() {
            return;
        }
        let report = LevelReport {
            serving_dbm,
            candidates: &levels[..count],
            is_pdcch_heard: is_heard[Direction::Downlink.index()],
        };
        self.with_effects(env, |state, seen, effects| {
            if let Some(ltm) = &mut state.ltm {
                ltm.on_level_report(&report, seen, effects);
            }
        });
    }

    /// Orders a preamble in a candidate cell, at the first occasion from `at` on.
    pub(crate) fn order_preamble(&mut self, cell: CellId, at: Time) {
        let occasion = self.access_in(cell).occasion_from(at);
        if let Some(ltm) = &mut self.state.ltm {
            ltm.record_order(cell, occasion);
        }
    }

    /// Passes the cell switch command to the UE, which leaves after it has sent the HARQ feedback.
    pub(crate) fn on_switch_command(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let Some(cell) = self.service.stack.serving_cell(self.ue) else {
            return;
        };
        let plan = &self.service.cells[cell.index()].plan;
        let timing = &plan.config.timing;
        let ended_at = env.now.saturating_sub(timing.user_decoding);
        let within = ended_at.saturating_sub(Span::from_nanos(1));
        let slot = plan.frame.slot_at(within);
        let assigned = slot.saturating_sub(u64::from(timing.k0));
        let downlink = timing.downlink(&plan.frame, assigned, plan.frame.symbols());
        let confirmed_at = downlink.feedback_at.max(env.now);
        self.with_effects(env, |state, _, effects| {
            if let Some(ltm) = &mut state.ltm {
                ltm.on_command(target, confirmed_at, effects);
            }
        });
    }

    /// Sends the preamble that a PDCCH order requested, if the time of that preamble has come. The
    /// candidate cell measures the timing advance with the preamble.
    fn send_ordered_preamble<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let (ue, now) = (self.ue, env.now);
        let ltm = self.state.ltm.as_mut();
        let Some(cell) = ltm.and_then(|ltm| ltm.take_due_preamble(now)) else {
            return;
        };
        let serving = self.service.stack.serving_cell(ue);
        let Some(leg) = self.leg_in(cell).filter(|_| serving != Some(cell)) else {
            return;
        };
        record_cell_event((ue, cell), RrcEvent::PreambleSent, env);
        let least_db = self.config.monitoring.q_out.0;
        let is_heard = self.service.is_heard(leg, least_db, motion, now);
        self.service.leave_leg(leg);
        let is_held = self.state.network.candidacy.has_reservation(cell);
        if is_heard[Direction::Uplink.index()] && is_held {
            let air = &mut self.service.stack.air;
            let round_trip = round_trip(air, (ue, cell), now, motion);
            if let Some(ltm) = &mut self.state.ltm {
                ltm.on_preamble(now, cell, round_trip);
            }
            record_cell_event((ue, cell), RrcEvent::TimingAcquired, env);
        }
    }

    /// Updates the list of candidates in the new cell. The old cell is added, and the other
    /// candidates stay in the list.
    pub(crate) fn update_candidates(&mut self, cell: CellId, env: &Env<'_, impl Probe>) {
        let change = self.state.record.change();
        let change = change.filter(|change| is_to_candidate(change.procedure));
        let source = change.map(|change| change.source);
        let cells = self.cells;
        let place = |cell: CellId| cells.binary_search(&cell).ok();
        let survey = &mut self.state.survey;
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
}
