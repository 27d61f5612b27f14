//! Beam failure of a UE under mobility management, and its recovery within the cell.
//!
//! ```text
//! check ─► instance ─► … ─► beamFailureInstanceMaxCount: beam failure ─► random access
//! random access ─┬─► response: new beams
//!                └─► no response: radio link failure
//! ```
//!
//! Standard: TS 38.321 §5.1.1, §5.1.2, §5.17; TS 38.213 §6; TS 38.331 §5.3.10.3.

use super::managed::{Managed, record_cell_event};
use crate::access::plane::service::Service;
use crate::air::beams::BeamView;
use crate::config::{Env, LegId};
use crate::rrc::beam_failure::BeamWatch;
use crate::rrc::pace;
use crate::rrc::random_access::{AccessStep, CellAccess, Progress};
use fadeout_core::{CellId, LinkInfo, Motion, Probe, RrcEvent, Span};

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
pub(in crate::access) fn check_interval(service: &Service, cell: CellId) -> Option<Span> {
    let config = &service.cells[cell.index()].plan.config;
    let beams = config.channel.beams.as_ref();
    let period = beams.map_or(SSB_INTERVAL, |beams| beams.tracking_period);
    config.is_nr().then_some(period.max(LEAST_INTERVAL))
}

/// Mutable access to a UE's state, for beam failure detection and recovery.
pub(in crate::access) struct Beams<'m, 'a>(pub &'m mut Managed<'a>);

impl Beams<'_, '_> {
    /// Starts beam monitoring in a new cell.
    pub(in crate::access) fn start_monitoring(
        &mut self,
        cell: CellId,
        env: &mut Env<'_, impl Probe>,
    ) {
        if let Some(watch) = &mut self.0.state.beams {
            watch.reset(env.now, check_interval(self.0.service, cell));
        }
    }

    /// Stops beam monitoring when the UE leaves its cell. Returns true if a beam failure recovery
    /// was running. Listeners of the UE's link have then already been told of the interruption.
    pub(in crate::access) fn stop_monitoring(&mut self, env: &mut Env<'_, impl Probe>) -> bool {
        let Some(watch) = &mut self.0.state.beams else {
            return false;
        };
        let was_recovering = watch.is_recovering();
        watch.reset(env.now, None);
        if let Some((leg, _)) = self.leg() {
            BeamView(&mut self.0.service.stack.air).hold_beams(leg, env.now, false);
        }
        was_recovering
    }

    /// Runs the steps of beam failure detection and recovery that are due.
    pub(in crate::access) fn proceed<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let is_due = |watch: &BeamWatch| watch.wake_at() <= env.now;
        let is_due = self.0.state.beams.as_deref().is_some_and(is_due);
        let leg = self.leg().filter(|_| self.0.state.is_connected());
        if let Some((leg, cell)) = leg.filter(|_| is_due) {
            self.check_beams((leg, cell), motion, env);
            self.run_recovery((leg, cell), motion, env);
        }
    }

    fn leg(&self) -> Option<(LegId, CellId)> {
        let stack = &self.0.service.stack;
        let leg = *stack.ues[self.0.ue.index()].legs().first()?;
        Some((leg, stack.legs[leg.index()].config.cell))
    }

    /// Checks if the UE would receive PDCCH on its beams. The threshold is Qout of radio link
    /// monitoring.
    fn check_beams<M: Motion>(
        &mut self,
        (leg, cell): (LegId, CellId),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Managed {
            service,
            ue,
            config,
            state,
            ..
        } = &mut *self.0;
        let (Some(watch), Some(monitoring), Some(period)) = (
            state.beams.as_deref_mut(),
            &config.beam_failure,
            check_interval(service, cell),
        ) else {
            return;
        };
        let period = pace::beam_period(period, service.sleep(*ue, env.now));
        if !watch.is_due(env.now, period) {
            return;
        }
        let q_out_db = config.monitoring.q_out.0;
        let [is_heard, _] = service.is_heard(leg, q_out_db, motion, env.now);
        let access = CellAccess {
            config: &config.access,
            frame: &service.cells[cell.index()].plan.frame,
        };
        let configs = (monitoring, access);
        let has_failed = watch.on_evaluation((env.now, period), configs, !is_heard);
        let is_held = !is_heard || watch.is_recovering();
        BeamView(&mut service.stack.air).hold_beams(leg, env.now, is_held);
        if has_failed {
            record_cell_event((*ue, cell), RrcEvent::BeamFailure, env);
            self.0.notify_listeners(LinkInfo::BlockageBegan);
        }
    }

    /// Runs the next step of the beam failure recovery.
    fn run_recovery<M: Motion>(
        &mut self,
        (leg, cell): (LegId, CellId),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Managed {
            service,
            ue,
            config,
            state,
            ..
        } = &mut *self.0;
        let recovery = state.beams.as_deref_mut().and_then(BeamWatch::recovery);
        let (Some(recovery), Some(monitoring)) = (recovery, &config.beam_failure) else {
            return;
        };
        if recovery.expires(env.now) {
            record_cell_event((*ue, cell), RrcEvent::BeamRecoveryExpired, env);
        }
        if recovery.access.wake_at() > env.now {
            return;
        }
        let air = &mut service.stack.air;
        air.refresh(leg, env.now, motion);
        let Some(candidate) = BeamView(air).best_candidate(leg, (env.now, false), motion) else {
            return;
        };
        let least_db = config.monitoring.q_out.0 - candidate.lead_db;
        let [down, up] = air.quality_db(leg, env.now).map(|sinr| sinr >= least_db);
        recovery.choose(monitoring, candidate.rsrp_dbm);
        let mut sent = 0;
        let arrives = |step| {
            sent += u32::from(step == AccessStep::Preamble);
            match step {
                AccessStep::Preamble | AccessStep::Message3 => up,
                AccessStep::Response | AccessStep::Resolution => down,
            }
        };
        let access = CellAccess {
            config: &config.access,
            frame: &service.cells[cell.index()].plan.frame,
        };
        let progress = recovery
            .access
            .on_wake(env.now, access, &mut state.draws, arrives);
        for _ in 0..sent {
            record_cell_event((*ue, cell), RrcEvent::PreambleSent, env);
        }
        match progress {
            Progress::Running => {}
            Progress::Done => {
                BeamView(air).hold_beams(leg, env.now, false);
                BeamView(air).best_candidate(leg, (env.now, true), motion);
                if let Some(watch) = &mut state.beams {
                    watch.on_recovered();
                }
                record_cell_event((*ue, cell), RrcEvent::BeamRecovered, env);
                self.0.notify_listeners(LinkInfo::BlockageEnded);
            }
            Progress::Problem => {
                record_cell_event((*ue, cell), RrcEvent::AccessProblem, env);
                self.0.fail_link(env);
            }
        }
    }
}
