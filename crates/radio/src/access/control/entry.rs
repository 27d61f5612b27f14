//! Cell selection of a UE, and its entry into a cell over the radio channel. The decisions are in
//! `rrc/entry.rs` and `rrc/daps.rs`.

use super::managed::Managed;
use super::random_access::advance_random_access;
use crate::access::plane::stack::Stack;
use crate::bearer::daps::{SOURCE_LEG, daps};
use crate::config::{Env, LegId};
use crate::leg::{LegConfig, LogicalChannels};
use crate::rrc::attach::{Attach, Unsuited};
use crate::rrc::effect::{EntryMethod, EntryStart};
use crate::rrc::entry::is_prepared;
use crate::rrc::granted::EntryAccess;
use crate::rrc::random_access::RandomAccess;
use crate::rrc::record::RowTime;
use crate::rrc::secondary_cells::SecondaryCellChange;
use crate::rrc::stage::{DapsStage, DueAction, Entry, Stage};
use fadeout_core::{CellId, Direction, Motion, Probe, Procedure, Time};

impl Managed<'_> {
    /// Handles the failure of the UE's link, or of its entry into a cell.
    pub(crate) fn fail_link(&mut self, env: &mut Env<'_, impl Probe>) {
        self.with_effects(env, |state, seen, effects| {
            state.stage.on_link_failure(seen, effects);
        });
    }

    /// Starts cell selection after a failure.
    pub(crate) fn reselect(&mut self, env: &mut Env<'_, impl Probe>) {
        self.with_effects(env, |state, seen, effects| {
            state.stage.reselect(seen, effects);
        });
    }

    /// Carries out an action of the UE that needs the radio channel.
    pub(crate) fn act<M: Motion>(
        &mut self,
        action: DueAction,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        match action {
            DueAction::SelectCell => self.select(Procedure::Reestablishment, motion, env),
            DueAction::SearchCell => self.search(motion, env),
            DueAction::StepOfAccess => self.advance_entry(motion, env),
            DueAction::EnterUtra(cell) => self.enter_utra(cell, env),
        }
    }

    /// Begins an attach attempt of an idle UE, or selects a cell.
    fn search<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let attach = self.state.attach.as_ref();
        let procedure = match attach.is_some_and(|it| !it.registration().is_registered) {
            true => Procedure::Attach,
            false => Procedure::Setup,
        };
        if self.with_attach(env, Attach::begin_attempt) != Some(true) {
            return self.select(procedure, motion, env);
        }
        self.with_effects(env, |state, seen, effects| {
            state.stage.on_selection(None, procedure, seen, effects);
        });
    }

    /// Selects a cell and starts the UE's entry into the cell.
    fn select<M: Motion>(
        &mut self,
        procedure: Procedure,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        // A UE that keeps its connection must select a cell of the same generation.
        let is_back = procedure == Procedure::Reestablishment;
        let found = self.suitable_cell(!is_back, motion, env.now);
        self.with_effects(env, |state, seen, effects| {
            if let Some(attach) = state
                .attach
                .as_mut()
                .filter(|_| found.is_some() && !is_back)
            {
                attach.on_selected(seen.now);
            }
            let conditions = &mut state.survey.conditions;
            let recovers = |cell| is_back && conditions.recovers_in(cell, seen);
            let procedure = match found.is_some_and(recovers) {
                true => Procedure::Recovery,
                false => procedure,
            };
            state.stage.on_selection(found, procedure, seen, effects);
        });
    }

    /// Returns the strongest cell if that cell is suitable. A cell is suitable if the UE can read
    /// its system information and its RSRP exceeds q-RxLevMin. `None` if the cell is not suitable.
    /// The quality of the uplink is not checked, because the UE cannot know it before random
    /// access.
    ///
    /// Standard: TS 38.304 §5.2.3.2; TS 36.304 §5.2.3.2.
    fn suitable_cell<M: Motion>(
        &mut self,
        is_any: bool,
        motion: &mut M,
        now: Time,
    ) -> Option<CellId> {
        let Some((cell, level_dbm)) = self.best_cell(is_any, motion, now) else {
            self.state.unsuited = Some(Unsuited::Nothing);
            return None;
        };
        let leg = self.leg_in(cell)?;
        let monitoring = &self.config.monitoring;
        let (q_in_db, is_strong) = (monitoring.q_in.0, level_dbm > monitoring.q_rx_lev_min.0);
        let [is_readable, _] = self.service.is_heard(leg, q_in_db, motion, now);
        self.state.unsuited = match (is_strong, is_readable) {
            (true, true) => None,
            (true, false) => Some(Unsuited::Unread(cell)),
            (false, _) => Some(Unsuited::Weak(cell, level_dbm)),
        };
        if self.state.unsuited.is_some() {
            self.service.leave_leg(leg);
            return None;
        }
        Some(cell)
    }

    /// Starts the UE's entry into a cell. If the channel of the cell cannot be built, a UE that has
    /// left its cell selects another one.
    pub(crate) fn start_entry(&mut self, start: EntryStart, env: &mut Env<'_, impl Probe>) {
        let EntryStart {
            cell,
            procedure,
            ready_at,
            until,
            method,
        } = start;
        let is_daps = procedure == Procedure::Daps;
        if self.leg_in(cell).is_none() {
            return match is_daps {
                true => {}
                false => self.reselect(env),
            };
        }
        let access = match method {
            EntryMethod::Random => {
                let is_free = is_prepared(procedure);
                EntryAccess::Random(RandomAccess::new(self.access_in(cell), ready_at, is_free))
            }
            EntryMethod::Configured(source) => self.entry_access([source, cell], ready_at),
            EntryMethod::Timed(advance) => self.granted_entry(cell, advance, ready_at),
        };
        let entry = Entry {
            cell,
            access,
            until,
            procedure,
        };
        self.state.stage = match is_daps {
            true => Stage::Daps(DapsStage::Entering(entry)),
            false => Stage::Entering(entry),
        };
    }

    /// Runs the next step of the entry into a cell.
    fn advance_entry<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let Some(entry) = self.state.stage.entry() else {
            return;
        };
        let Some(leg) = self.leg_of(entry.cell) else {
            return;
        };
        let (mut access, procedure) = (entry.access, entry.procedure);
        let progress = match &mut access {
            EntryAccess::Random(access) => {
                advance_random_access(self, (leg, access), procedure, motion, env)
            }
            EntryAccess::Granted(access) => {
                self.advance_granted_entry((leg, access), procedure, motion, env)
            }
        };
        self.with_effects(env, |state, seen, effects| {
            state.stage.on_access_step(access, progress, seen, effects);
        });
    }

    /// Begins the attach procedure in a cell, after contention resolution.
    pub(crate) fn set_up(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let generation = self.service.cells[cell.index()].plan.config.generation();
        self.with_attach(env, |attach, step| attach.on_setup(cell, generation, step));
    }

    /// Fetches the context of the UE for a cell that the UE has selected after a failure.
    pub(crate) fn fetch_context(
        &mut self,
        cell: CellId,
        until: Time,
        env: &mut Env<'_, impl Probe>,
    ) {
        let at = self.with_network(env, |network, step| network.fetch_context(cell, step));
        self.state.stage = Stage::Fetching { cell, at, until };
    }

    /// Moves the UE to the target of a DAPS handover. Uplink data now goes to the target, and the
    /// source's leg becomes a second leg.
    pub(crate) fn enter_daps_target(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let ue = self.ue;
        let Some(leg) = self.leg() else {
            return;
        };
        self.state.record.stamp(RowTime::Left, env.now);
        self.stop_beam_monitoring(env);
        self.state.messages.clear();
        self.state.secondary_cell_change = SecondaryCellChange::default();
        self.state.link.reset(env.now, &self.config.monitoring);
        let stack = &mut self.service.stack;
        let LegConfig { number, cell, .. } = &mut stack.legs[leg.index()].config;
        *number = SOURCE_LEG;
        let source = *cell;
        let load = &mut self.loads[source.index()];
        *load = load.saturating_sub(1);
        // RRC messages go to the target from now on.
        if let Some(bearer) = stack.ues[ue.index()].signalling() {
            let drb = &mut stack.bearers[bearer.index()];
            drb.reestablish((0, env.now), env, &mut stack.storage);
            drb.on_left();
        }
        stack.legs[leg.index()].channels = LogicalChannels::default();
        self.each_bearer(|bearer, service| switch_bearer((bearer, leg), &mut service.stack, env));
        self.enter_cell(target, env);
        self.send_complete(env);
        self.state.stage = Stage::Daps(DapsStage::Both { source });
        self.each_bearer(|bearer, service| {
            service.stack.arm(env.now, bearer, Direction::Downlink);
            service.stack.arm(env.now, bearer, Direction::Uplink);
        });
    }
}

/// Switches a bearer to the target of a DAPS handover. The leg to the source stays.
fn switch_bearer(
    (bearer, source): (fadeout_core::DrbId, LegId),
    stack: &mut Stack,
    env: &Env<'_, impl Probe>,
) {
    let drb = &mut stack.bearers[bearer.index()];
    let is_done = daps(drb).switch(env, &mut stack.storage);
    debug_assert!(is_done.is_ok(), "RLC had these parameters before");
    let channels = &mut stack.legs[source.index()].channels;
    channels.add(bearer, drb.config());
}
