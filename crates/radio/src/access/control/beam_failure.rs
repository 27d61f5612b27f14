//! Evaluation of a UE's beams, for the detection and recovery of `rrc/beam_failure.rs`.
//!
//! Standard: TS 38.213 §6.

use super::managed::Managed;
use crate::access::plane::service::Service;
use crate::air::beams::BeamView;
use crate::config::{Env, LegId};
use crate::rrc::beam_failure::{BeamEvaluation, CandidateBeam};
use crate::rrc::pace;
use crate::rrc::random_access::Progress;
use fadeout_core::{CellId, Motion, Probe, Span, Time};

/// Interval between two SS/PBCH blocks, assumed in cells whose scenario configures no beam
/// measurements.
///
/// Standard: TS 38.213 §4.1.
const SSB_INTERVAL: Span = Span::from_millis(20);

/// Shortest indication interval of beam failure instances.
///
/// Standard: TS 38.213 §6.
const LEAST_INTERVAL: Span = Span::from_millis(2);

/// Returns the interval between two beam checks in a cell. `None` in LTE.
pub(crate) fn check_interval(service: &Service, cell: CellId) -> Option<Span> {
    let config = &service.cells[cell.index()].plan.config;
    let beams = config.channel.beams.as_ref();
    let period = beams.map_or(SSB_INTERVAL, |beams| beams.tracking_period);
    config.is_nr().then_some(period.max(LEAST_INTERVAL))
}

impl Managed<'_> {
    /// Starts beam monitoring in a new cell.
    pub(crate) fn start_beam_monitoring(&mut self, cell: CellId, now: Time) {
        if let Some(watch) = &mut self.state.beams {
            watch.on_entered(now, check_interval(self.service, cell));
        }
    }

    /// Stops beam monitoring when the UE leaves its cell. Returns true if a beam failure recovery
    /// was running.
    pub(crate) fn stop_beam_monitoring(&mut self, env: &mut Env<'_, impl Probe>) -> bool {
        self.with_effects(env, |state, _, effects| {
            let watch = state.beams.as_mut();
            watch.is_some_and(|watch| watch.on_left(effects))
        })
    }

    /// Runs the steps of beam failure detection and recovery that are due.
    pub(crate) fn monitor_beams<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let watch = self.state.beams.as_ref();
        let is_due = watch.is_some_and(|watch| watch.wake_at() <= env.now);
        let is_due = is_due && self.state.is_connected();
        let Some(leg) = self.leg().filter(|_| is_due) else {
            return;
        };
        let evaluation = self.evaluate_beams(leg, motion, env.now);
        let is_step_due = self.with_effects(env, |state, seen, effects| {
            let Some(watch) = &mut state.beams else {
                return false;
            };
            if let Some(evaluation) = evaluation {
                watch.on_evaluation(evaluation, seen, effects);
            }
            watch.on_due(seen.now, effects)
        });
        if !is_step_due {
            return;
        }
        let Some(candidate) = self.candidate_beam(leg, motion, env.now) else {
            return;
        };
        let progress = self.with_effects(env, |state, seen, effects| {
            let watch = state.beams.as_mut()?;
            Some(watch.on_candidate(candidate, seen, &mut state.draws, effects))
        });
        if progress == Some(Progress::Done) {
            let air = &mut self.service.stack.air;
            BeamView(air).best_candidate(leg, (env.now, true), motion);
        }
    }

    /// Keeps the UE's beams, or lets them follow the channel.
    pub(crate) fn hold_beams(&mut self, are_held: bool, now: Time) {
        if let Some(leg) = self.leg() {
            BeamView(&mut self.service.stack.air).hold_beams(leg, now, are_held);
        }
    }

    /// Evaluates the beams in use, if that is due. The threshold is Qout of radio link monitoring.
    fn evaluate_beams<M: Motion>(
        &mut self,
        leg: LegId,
        motion: &mut M,
        now: Time,
    ) -> Option<BeamEvaluation> {
        let cell = self.service.stack.legs[leg.index()].config.cell;
        let period = check_interval(self.service, cell)?;
        let period = pace::beam_period(period, self.service.sleep(self.ue, now));
        let is_due = self.state.beams.as_mut()?.is_due(now, period);
        let q_out_db = self.config.monitoring.q_out.0;
        is_due.then(|| BeamEvaluation {
            period,
            is_heard: self.service.is_heard(leg, q_out_db, motion, now)[0],
        })
    }

    /// Returns the best beam of the UE's cell. `None` if the cell has no beams.
    fn candidate_beam<M: Motion>(
        &mut self,
        leg: LegId,
        motion: &mut M,
        now: Time,
    ) -> Option<CandidateBeam> {
        let air = &mut self.service.stack.air;
        air.refresh(leg, now, motion);
        let candidate = BeamView(air).best_candidate(leg, (now, false), motion)?;
        let least_db = self.config.monitoring.q_out.0 - candidate.lead_db;
        Some(CandidateBeam {
            rsrp_dbm: candidate.rsrp_dbm,
            is_heard: air.quality_db(leg, now).map(|sinr| sinr >= least_db),
        })
    }
}
