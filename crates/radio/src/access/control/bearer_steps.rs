//! Steps of a UE's data bearers in the procedures of mobility.

use super::managed::Managed;
use crate::access::plane::event::Event;
use crate::access::plane::moves::Move;
use crate::access::plane::service::Service;
use crate::bearer::daps::{Ends, daps};
use crate::bearer::early::{CopyCandidate, early};
use crate::config::{Env, Signalling};
use crate::rrc::candidates::Candidates;
use crate::rrc::effect::BearerStep;
use crate::rrc::entry::is_to_candidate;
use fadeout_core::{CellId, Direction, DrbId, Probe};

impl Managed<'_> {
    /// Applies `action` to each data bearer. `action` may also change the cells.
    pub(super) fn each_bearer(&mut self, mut action: impl FnMut(DrbId, &mut Service)) {
        let (ue, service) = (self.ue.index(), &mut *self.service);
        let mut position = 0;
        while let Some(&bearer) = service.stack.ues[ue].bearers().get(position) {
            action(bearer, service);
            position += 1;
        }
    }

    /// Carries out a step of each data bearer.
    pub(crate) fn step_bearers(&mut self, step: BearerStep, env: &mut Env<'_, impl Probe>) {
        match step {
            BearerStep::CopyEarly(all) => return self.copy_to(all, env),
            BearerStep::BeginDaps { source, target } => {
                return self.begin_daps([source, target], env);
            }
            _ => {}
        }
        self.each_bearer(|bearer, service| {
            let stack = &mut service.stack;
            let (drb, storage) = (&mut stack.bearers[bearer.index()], &mut stack.storage);
            match step {
                BearerStep::CopyEarly(_) | BearerStep::BeginDaps { .. } => {}
                BearerStep::Release => drb.mobile().release(env, storage),
                BearerStep::LeaveForCandidate(target) => early(drb).execute(target, env.now),
                BearerStep::CompleteEarly => early(drb).on_complete(env),
                BearerStep::EndEarly { is_there } => early(drb).end(is_there),
                BearerStep::CompleteDaps => daps(drb).on_complete(env.now),
                BearerStep::EndDapsNumbering(fate) => {
                    daps(drb).end_numbering(fate, env, storage);
                }
                BearerStep::ReleaseDaps => {
                    daps(drb).release(env, storage);
                    for direction in [Direction::Downlink, Direction::Uplink] {
                        stack.declare_lost(bearer, direction, env);
                    }
                }
                BearerStep::EndDaps => daps(drb).end(),
                BearerStep::DapsSourceFailed => daps(drb).on_source_failed(env.now),
                BearerStep::DapsTargetFailed => daps(drb).on_target_failed(env.now),
            }
        });
    }

    /// Starts the sending of copies from the source of a DAPS handover to the target.
    fn begin_daps(&mut self, [source, target]: [CellId; 2], env: &mut Env<'_, impl Probe>) {
        let config = self.config;
        let ends = Ends {
            cells: [source, target],
            stations: [config.station(source), config.station(target)],
            delay: (!config.has_links()).then(|| config.station_delay(source, target)),
        };
        self.each_bearer(|bearer, Service { stack, .. }| {
            daps(&mut stack.bearers[bearer.index()]).begin(ends, env, &mut stack.storage);
        });
    }

    /// Makes the source send copies of downlink packets to the base stations of candidates.
    fn copy_to(&mut self, all: Candidates, env: &mut Env<'_, impl Probe>) {
        let config = self.config;
        let Some(source) = self.service.stack.serving_cell(self.ue) else {
            return;
        };
        let others = (all.cells().iter()).filter(|&&cell| !config.is_one_station(source, cell));
        let candidates: Vec<CopyCandidate> = others
            .map(|&cell| CopyCandidate {
                cell,
                station: config.station(cell),
                delay: (!config.has_links()).then(|| config.station_delay(source, cell)),
            })
            .collect();
        let from = (source, config.station(source));
        self.each_bearer(|bearer, Service { stack, .. }| {
            let drb = &mut stack.bearers[bearer.index()];
            early(drb).set_candidates(from, &candidates, env, &mut stack.storage);
        });
    }

    /// Ends the sending of early copies, because the source knows the UE's cell.
    pub(crate) fn end_early_copies(&mut self, env: &mut Env<'_, impl Probe>) {
        let change = self.state.record.change();
        let is_there = self.state.is_connected()
            && change.is_some_and(|change| is_to_candidate(change.procedure));
        self.step_bearers(BearerStep::EndEarly { is_there }, env);
    }

    /// Sends downlink data that waits at the base station of the serving cell.
    pub(crate) fn send_downlink_data(&mut self, env: &mut Env<'_, impl Probe>) {
        self.each_bearer(|bearer, service| service.on_downlink_data(bearer, env));
    }

    /// Forwards the end markers that the source stored while the UE's cell was unknown.
    pub(crate) fn release_markers(&mut self, env: &mut Env<'_, impl Probe>) {
        let config = self.config;
        let stack = &mut self.service.stack;
        // The data of the source must be sent before the end markers.
        stack.send_forwarded(self.moves);
        for &bearer in stack.ues[self.ue.index()].bearers() {
            let drb = &mut stack.bearers[bearer.index()];
            for _ in 0..drb.mobile().take_markers() {
                match (&config.signalling, drb.transfers().stations()) {
                    (Signalling::Links { .. }, Some((from, to))) if from != to => {
                        self.moves.push(Move::ForwardedEnd { bearer, from, to });
                    }
                    (Signalling::Links { .. }, _) => {
                        stack.events.schedule(env.now, Event::EndMarker(bearer));
                    }
                    (Signalling::FixedDelays, _) => {
                        let at = env.now.saturating_add(config.fixed_delay());
                        stack.events.schedule(at, Event::EndMarker(bearer));
                    }
                }
            }
        }
    }
}
