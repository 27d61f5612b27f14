//! Random access of a UE to a cell, with the levels of the channel and the preambles of other UEs.

use super::managed::{Managed, record_cell_event};
use crate::air::uplink_power;
use crate::config::{Env, LegId};
use crate::rrc::contention::{Contention, Contest, Drawn};
use crate::rrc::entry::is_to_candidate;
use crate::rrc::random_access::{AccessStep, CellAccess, Progress, RandomAccess};
use fadeout_core::{CellId, Direction, Motion, Probe, Procedure, RrcEvent};

impl Managed<'_> {
    /// Returns true if the base station of a cell would answer the UE's preambles.
    pub(crate) fn is_answered(&self, cell: CellId, procedure: Procedure) -> bool {
        !is_to_candidate(procedure) || self.state.network.candidacy.has_reservation(cell)
    }
}

/// Runs a step of random access on a leg and counts its preambles.
pub(crate) fn advance_random_access<M: Motion>(
    managed: &mut Managed<'_>,
    (leg, access): (LegId, &mut RandomAccess),
    procedure: Procedure,
    motion: &mut M,
    env: &mut Env<'_, impl Probe>,
) -> Progress {
    let cell = managed.service.stack.legs[leg.index()].config.cell;
    let is_answered = managed.is_answered(cell, procedure);
    let (progress, sent) = run_random_access(managed, (leg, access), is_answered, motion, env);
    managed.state.record.update_row(|row| row.preambles += sent);
    progress
}

/// Runs a step of random access on a leg. `is_answered` is false if the cell does not answer the
/// UE's preambles. Returns the progress and the number of preambles sent.
pub(crate) fn run_random_access<M: Motion>(
    managed: &mut Managed<'_>,
    (leg, access): (LegId, &mut RandomAccess),
    is_answered: bool,
    motion: &mut M,
    env: &mut Env<'_, impl Probe>,
) -> (Progress, u32) {
    let now = env.now;
    let cell = managed.service.stack.legs[leg.index()].config.cell;
    let config = &managed.config.access;
    let least_db = managed.config.monitoring.q_out.0;
    let in_cell = CellAccess {
        config,
        frame: &managed.service.cells[cell.index()].plan.frame,
    };
    let air = &mut managed.service.stack.air;
    air.refresh(leg, now, motion);
    let quality_db = air.quality_db(leg, now);
    let mut is_heard = quality_db.map(|sinr_db| sinr_db >= least_db);
    is_heard[Direction::Uplink.index()] &= is_answered;
    let [down, up] = is_heard;
    let up_db = quality_db[Direction::Uplink.index()];
    let contest = access.drawn_at().map_or(Contest::Won, |at| {
        managed.contention.outcome((managed.ue, cell), at, least_db)
    });
    let below_full_db = config.ramping.map_or(0.0, |ramping| {
        let full = uplink_power(&managed.service.stack.air, leg);
        full.map_or(0.0, |full| {
            ramping.below_full_db(access.number_at(now), full)
        })
    });
    let before = access.preambles();
    let (mut sent, mut has_lost) = (0, false);
    let mut preamble_arrives = || {
        sent += 1;
        up && up_db - below_full_db >= least_db
    };
    let mut arrives = |step| match step {
        AccessStep::Preamble => preamble_arrives(),
        AccessStep::Response => down,
        AccessStep::Message3 => up && contest != Contest::Nobody,
        AccessStep::Resolution => {
            has_lost = down && contest == Contest::Lost;
            down && contest == Contest::Won
        }
    };
    let draws = &mut managed.state.draws;
    let mut progress = access.on_wake(now, in_cell, draws, &mut arrives);
    if has_lost {
        access.lose(now);
        progress = access.on_wake(now, in_cell, draws, |step| match step {
            AccessStep::Preamble => preamble_arrives(),
            _ => false,
        });
    }
    debug_assert!(access.preambles() >= before, "preambles only add up");
    if sent > 0 && access.drawn_at().is_some() {
        let number = Contention::draw(managed.service.seed, managed.ue, now, config);
        let drawn = Drawn {
            at: now,
            cell,
            ue: managed.ue,
            number,
            sinr_db: up_db,
        };
        managed.contention.send(drawn, config);
    }
    if has_lost {
        record_cell_event((managed.ue, cell), RrcEvent::ContentionLost, env);
    }
    for _ in 0..sent {
        record_cell_event((managed.ue, cell), RrcEvent::PreambleSent, env);
    }
    (progress, sent)
}
