//! Dual active protocol stack (DAPS) handover of one UE: the source serves the UE while it enters
//! the target.
//!
//! ```text
//! command ─► begin_copies: copies to the target ─► on_command: random access to the target
//!                                             │ T304: fall_back, the UE stays
//!                                             │ source link fails: a normal handover from here
//!                                             ▼
//!              on_complete ◄─ complete ◄─ move_to_target: uplink data goes there
//!                 │ success ─► source ─► SN Status Transfer
//!                 ▼                              │
//!              the target sends its copies       ▼
//!                                 release_source: the UE leaves the source
//! ```
//!
//! Standard: TS 38.300 §9.2.3.2; TS 38.331 §5.3.5.3, §5.3.5.8.3, §5.3.10.3.

use super::managed::{Managed, record_cell_event};
use super::random_access::advance_random_access;
use crate::access::plane::service::Service;
use crate::access::plane::stack::Stack;
use crate::bearer::daps::{Ends, SOURCE_LEG, daps};
use crate::cell::CellMac;
use crate::config::{CellConfig, Env, Fate, LegId, MobilityConfig, RadioError};
use crate::leg::{LegConfig, LogicalChannels};
use crate::pdcp::Delivery;
use crate::rlc::Mode;
use crate::rrc::granted::EntryAccess;
use crate::rrc::message::Message;
use crate::rrc::random_access::{Progress, RandomAccess};
use crate::rrc::record::seconds;
use crate::rrc::secondary_cells::SecondaryCellChange;
use crate::rrc::stage::{DapsStage, Entry, Stage};
use fadeout_core::{
    CellId, Direction, DrbId, HandoverOutcome, Hertz, Motion, Probe, Procedure, RrcEvent, UeId,
};

/// Lower edge of frequency range 2 (FR2).
///
/// Standard: TS 38.101-1 §5.1.
const RANGE_2: Hertz = Hertz(24.25e9);

/// Checks that a UE may be connected to two of these cells at once.
///
/// Standard: TS 38.300 §9.2.3.1.
pub(crate) fn check(config: &MobilityConfig, cells: &[CellMac]) -> Result<(), RadioError> {
    if !config.is_daps() {
        return Ok(());
    }
    let refuse = |cell: usize, value: String, expected: &str| {
        Err(RadioError::Cell {
            cell,
            what: "`procedure = \"daps\"`",
            value,
            expected: expected.into(),
        })
    };
    let configs = cells.iter().map(|cell| &cell.plan.config);
    if let Some(place) = configs.clone().position(|cell| !cell.is_nr()) {
        let expected = "cells of NR alone, or `procedure = \"plain\"`";
        return refuse(place, "with a cell of LTE".into(), expected);
    }
    let is_high = |cell: &&CellConfig| cell.carrier.0 >= RANGE_2.0;
    if configs.clone().filter(is_high).count() > 1 {
        let place = configs.clone().position(|cell| is_high(&cell));
        let value = "from one cell above 24.25 GHz (FR2) to another".into();
        let expected = "one such cell at most, or `procedure = \"plain\"` or \"conditional\"";
        return refuse(place.unwrap_or_default(), value, expected);
    }
    Ok(())
}

/// Checks if the UE's configuration allows a connection to two cells at once.
pub(crate) fn check_ue(service: &Service, ue: UeId) -> Result<(), RadioError> {
    let rrc = &service.stack.ues[ue.index()];
    let aggregation = &rrc.config().aggregation;
    if !aggregation.cells().is_empty() || aggregation.most > 0 {
        return Err(RadioError::Ue {
            ue: ue.index(),
            what: "`procedure = \"daps\"`",
            value: "with carrier aggregation".into(),
            expected: "no secondary cells, or `procedure = \"plain\"`".into(),
        });
    }
    let is_wrong = |bearer: &&DrbId| {
        let config = service.stack.bearers[bearer.index()].config();
        let keeps_order = matches!(config.pdcp.delivery, Delivery::FromRlc);
        keeps_order || matches!(config.rlc.mode, Mode::Tm)
    };
    if let Some(bearer) = rrc.bearers().iter().find(is_wrong) {
        return Err(RadioError::Bearer {
            bearer: bearer.index(),
            what: "`procedure = \"daps\"`",
            value: "with PDCP that leaves the order to RLC, or RLC in transparent mode".into(),
            expected: "t-Reordering, and acknowledged or unacknowledged mode",
        });
    }
    Ok(())
}

/// Mutable access to a UE's state, for DAPS handover.
pub(crate) struct DapsHandover<'m, 'a>(pub &'m mut Managed<'a>);

impl DapsHandover<'_, '_> {
    /// Starts the sending of copies to the target, after the source has sent the command. The
    /// source continues to serve the UE.
    pub(crate) fn begin_copies(
        &mut self,
        [source, target]: [CellId; 2],
        env: &mut Env<'_, impl Probe>,
    ) {
        let config = self.0.config;
        let ends = Ends {
            cells: [source, target],
            stations: [config.station(source), config.station(target)],
            delay: (!config.has_links()).then(|| config.station_delay(source, target)),
        };
        self.each_bearer(|bearer, stack| {
            daps(&mut stack.bearers[bearer.index()]).begin(ends, env, &mut stack.storage);
        });
    }

    /// Applies `action` to each data bearer.
    fn each_bearer(&mut self, mut action: impl FnMut(DrbId, &mut Stack)) {
        self.each_bearer_in_service(|bearer, service| action(bearer, &mut service.stack));
    }

    /// Applies `action` to each data bearer. `action` may also change the cells.
    fn each_bearer_in_service(&mut self, mut action: impl FnMut(DrbId, &mut Service)) {
        let (ue, service) = (self.0.ue.index(), &mut *self.0.service);
        let mut position = 0;
        while let Some(&bearer) = service.stack.ues[ue].bearers().get(position) {
            action(bearer, service);
            position += 1;
        }
    }

    /// Returns the source while both cells serve the UE. `None` at other times.
    fn source_cell(&self) -> Option<CellId> {
        match self.0.state.stage {
            Stage::Daps(DapsStage::Both { source }) => Some(source),
            _ => None,
        }
    }

    /// Releases the leg to the source, which served the UE together with the target.
    fn release_source_leg(&mut self, source: CellId, env: &mut Env<'_, impl Probe>) {
        record_cell_event((self.0.ue, source), RrcEvent::SourceReleased, env);
        self.0.leave_leg(source);
    }

    /// Handles the command at the UE, which starts random access in the target and stays connected
    /// to the source.
    pub(crate) fn on_command(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let procedure = &self.0.config.procedure;
        let ready_at = env.now.saturating_add(procedure.interruption);
        let until = env.now.saturating_add(procedure.t304);
        let access = RandomAccess::new(self.0.access_in(target), ready_at, true);
        if self.0.leg_in(target).is_some() {
            self.0.state.stage = Stage::Daps(DapsStage::Entering(Entry {
                cell: target,
                access: EntryAccess::Random(access),
                until,
                procedure: Procedure::Daps,
            }));
        }
    }

    /// Runs the next step of random access in the target.
    pub(crate) fn proceed<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let Stage::Daps(DapsStage::Entering(entering)) = self.0.state.stage else {
            return;
        };
        let Entry { cell, until, .. } = entering;
        let EntryAccess::Random(mut access) = entering.access else {
            return;
        };
        if until <= env.now {
            return self.fall_back(cell, env);
        }
        if access.wake_at() > env.now {
            return;
        }
        let Some(leg) = self.0.leg_of(cell) else {
            return;
        };
        match advance_random_access(self.0, (leg, &mut access), Procedure::Daps, motion, env) {
            Progress::Done => return self.move_to_target(cell, env),
            Progress::Problem => {
                access = RandomAccess::new(self.0.access_in(cell), env.now, true);
            }
            Progress::Running => {}
        }
        self.0.state.stage = Stage::Daps(DapsStage::Entering(Entry {
            access: EntryAccess::Random(access),
            ..entering
        }));
    }

    /// Handles the expiry of T304 while the link to the source still works. The UE stays in the
    /// source and reports the failure.
    ///
    /// Standard: TS 38.331 §5.3.5.8.3.
    fn fall_back(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        record_cell_event((self.0.ue, cell), RrcEvent::AccessFailure, env);
        self.0.leave_leg(cell);
        self.0.state.stage = Stage::Connected;
        self.0.send(Direction::Uplink, Message::AccessFailed, env);
    }

    /// Handles the UE's report that it stays in the source.
    pub(crate) fn on_fallen_back(&mut self, env: &mut Env<'_, impl Probe>) {
        self.0.state.network.cancel_handover();
        self.0.record_event(RrcEvent::SourceResumed, env);
        self.0.fail_row(HandoverOutcome::Failed, env);
        self.end_copies();
    }

    /// Ends the copies that the source sends to the target.
    pub(crate) fn end_copies(&mut self) {
        self.each_bearer(|bearer, stack| daps(&mut stack.bearers[bearer.index()]).end());
    }

    /// Handles the end of random access. Uplink data now goes to the target, and the source's leg
    /// becomes a second leg.
    fn move_to_target(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let ue = self.0.ue;
        record_cell_event((ue, target), RrcEvent::AccessDone, env);
        let Some(source) = self.0.leg() else {
            return;
        };
        self.0
            .state
            .record
            .update_row(|row| row.left_s = seconds(env.now));
        self.0.stop_beam_monitoring(env);
        self.0.state.messages.clear();
        self.0.state.secondary_cell_change = SecondaryCellChange::default();
        let monitoring = &self.0.config.monitoring;
        self.0.state.link.reset(env.now, monitoring);
        let stack = &mut self.0.service.stack;
        let LegConfig { number, cell, .. } = &mut stack.legs[source.index()].config;
        *number = SOURCE_LEG;
        let source_cell = *cell;
        let load = &mut self.0.loads[cell.index()];
        *load = load.saturating_sub(1);
        // RRC messages go to the target from now on.
        if let Some(bearer) = stack.ues[ue.index()].signalling() {
            let drb = &mut stack.bearers[bearer.index()];
            drb.reestablish((0, env.now), env, &mut stack.storage);
            drb.on_left();
        }
        stack.legs[source.index()].channels = LogicalChannels::default();
        self.each_bearer(|bearer, stack| {
            let drb = &mut stack.bearers[bearer.index()];
            let is_done = daps(drb).switch(env, &mut stack.storage);
            debug_assert!(is_done.is_ok(), "RLC had these parameters before");
            let channels = &mut stack.legs[source.index()].channels;
            channels.add(bearer, drb.config());
        });
        self.0.complete_entry(target, env);
        self.0.state.stage = Stage::Daps(DapsStage::Both {
            source: source_cell,
        });
        self.each_bearer(|bearer, stack| {
            stack.arm(env.now, bearer, Direction::Downlink);
            stack.arm(env.now, bearer, Direction::Uplink);
        });
    }

    /// Handles the UE's complete message at the target. Returns true for a DAPS handover. The
    /// target then reports to the source, and the target's downlink data waits for the source's
    /// answer.
    pub(crate) fn on_complete(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) -> bool {
        if self.0.state.record.procedure() != Some(Procedure::Daps) {
            return false;
        }
        let mut source = cell;
        self.0.state.record.update_row(|row| source = row.source);
        self.each_bearer(|bearer, stack| {
            daps(&mut stack.bearers[bearer.index()]).on_complete(env.now);
        });
        self.0.with_network(env, |network, step| {
            network.candidacy.set_source(source);
            network.candidacy.on_executed(cell, step);
        });
        self.each_bearer_in_service(|bearer, service| service.on_downlink_data(bearer, env));
        true
    }

    /// Handles the source's notice that the UE has entered the target. Returns true if both cells
    /// serve the UE.
    pub(crate) fn on_target_entered(&mut self, fate: Fate, env: &mut Env<'_, impl Probe>) -> bool {
        if self.source_cell().is_none() {
            return false;
        }
        self.0.record_event(RrcEvent::HandoverSuccess, env);
        self.each_bearer(|bearer, stack| {
            daps(&mut stack.bearers[bearer.index()]).end_numbering(fate, env, &mut stack.storage);
        });
        true
    }

    /// Sends the command to release the source, after the target has received the COUNT values of
    /// the source.
    pub(crate) fn send_release(&mut self, env: &mut Env<'_, impl Probe>) {
        if self.source_cell().is_some() {
            self.0
                .send(Direction::Downlink, Message::ReleaseSource, env);
        }
    }

    /// Releases the source. The network has commanded the release, or the source has stopped
    /// answering.
    pub(crate) fn release_source(&mut self, env: &mut Env<'_, impl Probe>) {
        let Some(source) = self.source_cell() else {
            return;
        };
        self.0.state.stage = Stage::Connected;
        self.release_source_leg(source, env);
        self.each_bearer(|bearer, stack| {
            let drb = &mut stack.bearers[bearer.index()];
            daps(drb).release(env, &mut stack.storage);
            for direction in [Direction::Downlink, Direction::Uplink] {
                stack.declare_lost(bearer, direction, env);
            }
        });
    }

    /// Handles the failure of a leg. If the target serves the UE and the leg is that of the source,
    /// releases the source and returns true.
    pub(crate) fn on_leg_failure(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) -> bool {
        let cell = self.0.service.stack.legs[leg.index()].config.cell;
        let is_source = self.source_cell() == Some(cell);
        if is_source {
            self.release_source(env);
        }
        is_source
    }

    /// Handles the failure of the serving cell's link. Returns true if the failed cell is the
    /// source of a DAPS handover. The UE then continues its entry into the target without the
    /// source.
    pub(crate) fn on_link_failure(&mut self, env: &mut Env<'_, impl Probe>) -> bool {
        let Stage::Daps(stage) = self.0.state.stage else {
            return false;
        };
        self.0.state.stage = Stage::Connected;
        match stage {
            DapsStage::Entering(entry) => {
                self.leave_failed_source(env);
                self.0.state.stage = Stage::Entering(entry);
                true
            }
            DapsStage::Both { source } => {
                self.release_source_leg(source, env);
                self.each_bearer(|bearer, stack| {
                    daps(&mut stack.bearers[bearer.index()]).on_target_failed(env.now);
                });
                false
            }
        }
    }

    /// Leaves the source after its link has failed. Downlink data waits at the source.
    pub(crate) fn leave_failed_source(&mut self, env: &mut Env<'_, impl Probe>) {
        self.0.stop_downlink(Fate::Kept, env);
        self.0.detach(None, env);
        self.each_bearer(|bearer, stack| {
            daps(&mut stack.bearers[bearer.index()]).on_source_failed(env.now);
        });
    }
}
