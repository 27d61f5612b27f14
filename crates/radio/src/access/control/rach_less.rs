//! Entry of one UE into a cell without random access. Determines the pairs of cells that allow such
//! an entry, and the uplink timing in the target.
//!
//! Standard: TS 36.331 §5.3.5.4; TS 38.300 §9.2.3.6.

use super::managed::{Managed, record_cell_event};
use crate::air::measure::round_trip;
use crate::cell::CellMac;
use crate::config::{AirInterface, Env, FirstGrant, LegId, MobilityConfig, RadioError};
use crate::config::{RachLess, TargetTiming};
use crate::rrc::granted::{EntryAccess, GrantStep, GrantTimes, GrantedAccess};
use crate::rrc::random_access::{Progress, RandomAccess};
use crate::rrc::record::seconds;
use fadeout_core::{CellId, Direction, Motion, Probe, Procedure, RrcEvent, Span, Time};

/// Normal cyclic prefix at 15 kHz subcarrier spacing, in nanoseconds. The cyclic prefix of the
/// first symbol of a slot is longer.
///
/// Standard: TS 36.211 §6.12; TS 38.211 §5.3.1.
const CYCLIC_PREFIX_NS: u64 = 4_687;

/// Returns true if a UE may change between two cells without random access. Both cells must be of
/// one generation, and the timing advance of the target must be known. NR cells must also share a
/// base station.
///
/// Standard: TS 38.300 §9.2.3.6; TS 36.300 §10.1.2.1.
fn may_skip(
    rach_less: &RachLess,
    config: &MobilityConfig,
    cells: &[CellMac],
    ends: [CellId; 2],
) -> bool {
    let [source, target] = ends.map(|cell| &cells[cell.index()].plan.config);
    let is_utra = ends.iter().any(|&cell| config.is_utra(cell));
    let is_one_kind = source.is_nr() == target.is_nr() && !is_utra;
    let is_near = !target.is_nr() || config.is_one_station(ends[0], ends[1]);
    let is_known = match rach_less.timing {
        TargetTiming::Zero => true,
        TargetTiming::Source => source.site == target.site,
    };
    is_one_kind && is_near && is_known
}

/// Checks that at least one pair of cells allows entry without random access, if such entry is
/// configured.
pub(crate) fn check(config: &MobilityConfig, cells: &[CellMac]) -> Result<(), RadioError> {
    let Some(rach_less) = &config.rach_less else {
        return Ok(());
    };
    let ids = || (0..cells.len() as u32).map(CellId);
    let mut pairs = ids().flat_map(|one| ids().map(move |other| [one, other]));
    let fits = |ends: [CellId; 2]| ends[0] != ends[1] && may_skip(rach_less, config, cells, ends);
    if pairs.any(fits) {
        return Ok(());
    }
    let is_source = rach_less.timing == TargetTiming::Source;
    Err(RadioError::Cell {
        cell: 0,
        what: "`rach-less`",
        value: match is_source {
            true => {
                "with the source's timing advance, but no other cell stands where it does".into()
            }
            false => "but no other cell may be entered without random access".into(),
        },
        expected: match is_source {
            true => "two cells at one place, of NR with one `node`, or \"zero\" for small cells",
            false => "two cells of LTE, or two of NR with one `node`",
        }
        .into(),
    })
}

impl Managed<'_> {
    /// Returns how the UE enters the target of a handover command. The entry may start at
    /// `ready_at`.
    pub(crate) fn entry_access(&self, ends: [CellId; 2], ready_at: Time) -> EntryAccess {
        let skips =
            |rach_less: &&RachLess| may_skip(rach_less, self.config, &self.service.cells, ends);
        match self.config.rach_less.as_ref().filter(skips) {
            None => EntryAccess::Random(RandomAccess::new(self.access_in(ends[1]), ready_at, true)),
            Some(&RachLess { timing, grant }) => {
                let advance = match timing {
                    TargetTiming::Zero => Some(Span::ZERO),
                    TargetTiming::Source => None,
                };
                let frame = self.access_in(ends[1]).frame;
                EntryAccess::Granted(GrantedAccess::new((grant, advance), ready_at, frame))
            }
        }
    }

    /// Returns an entry without random access. The UE already has the timing advance of the cell,
    /// and the cell sends the first grant on PDCCH.
    pub(crate) fn granted_entry(&self, cell: CellId, advance: Span, ready_at: Time) -> EntryAccess {
        let grant = (FirstGrant::ON_PDCCH, Some(advance));
        let frame = self.access_in(cell).frame;
        EntryAccess::Granted(GrantedAccess::new(grant, ready_at, frame))
    }

    /// Runs the steps of an entry without random access that are due on a leg.
    pub(crate) fn advance_granted_entry<M: Motion>(
        &mut self,
        (leg, access): (LegId, &mut GrantedAccess),
        procedure: Procedure,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) -> Progress {
        let now = env.now;
        let cell = self.service.stack.legs[leg.index()].config.cell;
        let least_db = self.config.monitoring.q_out.0;
        let mut is_heard = self.service.is_heard(leg, least_db, motion, now);
        if !self.is_answered(cell, procedure) {
            is_heard = [false; 2];
        }
        let is_timed = self.is_in_time((cell, access.advance()), motion, now);
        let times = self.grant_times(cell);
        let (mut sent, mut heard_at) = (0, None);
        let progress = access.on_wake(now, &times, |step| match step {
            GrantStep::Data => {
                sent += 1;
                let is_there = is_heard[Direction::Uplink.index()] && is_timed;
                heard_at = is_there.then_some(now);
                is_there
            }
            GrantStep::Grant | GrantStep::Answer => is_heard[Direction::Downlink.index()],
        });
        for _ in 0..sent {
            record_cell_event((self.ue, cell), RrcEvent::FirstUplink, env);
        }
        if let Some(at) = heard_at {
            self.state
                .record
                .update_row(|row| row.completed_s = seconds(at));
        }
        progress
    }

    /// Returns true if the UE's uplink arrives within a cyclic prefix of its nominal time. If
    /// `advance` is `None`, the UE has the correct timing advance and the result is true.
    fn is_in_time<M: Motion>(
        &mut self,
        (cell, advance): (CellId, Option<Span>),
        motion: &mut M,
        now: Time,
    ) -> bool {
        let Some(advance) = advance else {
            return true;
        };
        let air = &mut self.service.stack.air;
        let round_trip = round_trip(air, (self.ue, cell), now, motion);
        let mu = match self.service.cells[cell.index()].plan.config.air {
            AirInterface::Lte { .. } => 0,
            AirInterface::Nr { mu } => mu,
        };
        let off_ns = round_trip.as_nanos().abs_diff(advance.as_nanos());
        off_ns <= CYCLIC_PREFIX_NS >> mu
    }

    /// Returns the times between the steps of an entry in a cell.
    fn grant_times(&self, cell: CellId) -> GrantTimes<'_> {
        let plan = &self.service.cells[cell.index()].plan;
        let (timing, slot) = (&plan.config.timing, plan.frame.slot());
        GrantTimes {
            frame: &plan.frame,
            data_after: (slot * u64::from(timing.k2)).max(timing.user_preparation),
            answer_after: slot + timing.base_decoding.max(timing.base_reaction) + slot,
        }
    }
}
