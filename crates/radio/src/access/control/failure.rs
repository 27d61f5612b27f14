//! Failure of a radio link, failure of an entry into a cell, and random access to a cell.

use super::conditional::Conditional;
use super::daps::DapsHandover;
use super::managed::{Managed, record_cell_event};
use super::random_access::advance_random_access;
use super::scg::Scg;
use crate::config::{Env, Fate};
use crate::rrc::attach::{Attach, SEARCH_PERIOD, Unsuited};
use crate::rrc::granted::EntryAccess;
use crate::rrc::random_access::{Progress, RandomAccess};
use crate::rrc::record::NewRow;
use crate::rrc::stage::{Entry, Stage};
use fadeout_core::{CellId, HandoverOutcome, Motion, Probe, Procedure, RrcEvent, Span, Time};

/// Returns true if the procedure enters a prepared cell. A prepared cell offers the UE a dedicated
/// preamble and secondary cells.
fn is_prepared(procedure: Procedure) -> bool {
    use Procedure::{Conditional, Daps, Handover, Ltm, Recovery};
    matches!(procedure, Handover | Conditional | Daps | Ltm | Recovery)
}

impl Managed<'_> {
    /// Handles the failure of the UE's link, or of its entry into a cell.
    pub(crate) fn fail_link(&mut self, env: &mut Env<'_, impl Probe>) {
        if matches!(self.state.stage, Stage::Attaching) {
            self.with_attach(env, Attach::fail);
            return;
        }
        if !self.state.is_connected() {
            return;
        }
        self.record_event(RrcEvent::LinkFailure, env);
        self.service.stack.ues[self.ue.index()].on_link_failure(env.now, Span::ZERO);
        if self.config.is_daps() && DapsHandover(self).on_link_failure(env) {
            return;
        }
        if !self.state.record.is_done() {
            self.fail_row(HandoverOutcome::Failed, env);
        }
        self.state.network.on_link_lost();
        // Downlink data waits at the base station until the UE's new cell is known.
        match self.config.is_daps() {
            true => DapsHandover(self).leave_failed_source(env),
            false => {
                self.stop_downlink(Fate::Kept, env);
                self.detach(None, env);
            }
        }
        self.reselect(env);
    }

    /// Starts cell selection after a failure.
    pub(crate) fn reselect(&mut self, env: &mut Env<'_, impl Probe>) {
        let monitoring = &self.config.monitoring;
        self.state.network.cancel_handover();
        Scg(self).drop_commanded(env);
        self.state.stage = Stage::Selecting {
            at: env.now.saturating_add(monitoring.cell_selection),
            until: env.now.saturating_add(monitoring.t311),
        };
        if let Some(cell) = self.service.stack.serving_cell(self.ue) {
            self.begin_failure_row(Procedure::Reestablishment, cell, env);
        }
    }

    /// Begins the row of a procedure after the loss of the link to a cell.
    fn begin_failure_row(
        &mut self,
        procedure: Procedure,
        cell: CellId,
        env: &mut Env<'_, impl Probe>,
    ) {
        let row = NewRow::triggered(procedure, [cell; 2], env.now);
        let left_at = Some(env.now);
        self.begin_row(NewRow { left_at, ..row }, env);
    }

    /// Selects the strongest cell if that cell is suitable. A cell is suitable if the UE can read
    /// its system information and its RSRP exceeds q-RxLevMin. Returns false if the cell is not
    /// suitable. The quality of the uplink is not checked, because the UE cannot know it before
    /// random access.
    ///
    /// Standard: TS 38.304 §5.2.3.2; TS 36.304 §5.2.3.2.
    pub(crate) fn select<M: Motion>(
        &mut self,
        procedure: Procedure,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        // A UE that keeps its connection must select a cell of the same generation.
        let is_back = procedure == Procedure::Reestablishment;
        let Some((cell, level_dbm)) = self.best_cell(!is_back, motion, env.now) else {
            self.state.unsuited = Some(Unsuited::Nothing);
            return false;
        };
        let Some(leg) = self.leg_in(cell) else {
            return false;
        };
        let monitoring = &self.config.monitoring;
        let (least_db, t300, t301) = (monitoring.q_in.0, monitoring.t300, monitoring.t301);
        let [is_readable, _] = self.service.is_heard(leg, least_db, motion, env.now);
        let is_strong = level_dbm > monitoring.q_rx_lev_min.0;
        self.state.unsuited = match (is_strong, is_readable) {
            (true, true) => None,
            (true, false) => Some(Unsuited::Unread(cell)),
            (false, _) => Some(Unsuited::Weak(cell, level_dbm)),
        };
        if self.state.unsuited.is_some() {
            self.service.leave_leg(leg);
            return false;
        }
        let attach = self.state.attach.as_mut().filter(|_| !is_back);
        let until = env.now.saturating_add(match attach {
            Some(attach) => {
                attach.on_selected(env.now);
                t300
            }
            None => t301,
        });
        record_cell_event((self.ue, cell), RrcEvent::CellSelected, env);
        if is_back && Conditional(self).recover(cell, env) {
            return true;
        }
        self.state
            .record
            .update_row(|row| (row.target, row.procedure) = (cell, procedure));
        let access = RandomAccess::new(self.access_in(cell), env.now, false);
        let access = EntryAccess::Random(access);
        self.state.stage = Stage::Entering(Entry {
            cell,
            access,
            until,
            procedure,
        });
        true
    }

    /// Runs the next step of the entry into a cell.
    pub(crate) fn advance_entry<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let now = env.now;
        let Stage::Entering(entry) = self.state.stage else {
            return;
        };
        let Entry {
            cell,
            mut access,
            until,
            procedure,
        } = entry;
        if until <= now {
            return self.fail_access(cell, procedure, env);
        }
        let Some(leg) = self.leg_of(cell) else {
            return;
        };
        if access.wake_at() > now {
            return;
        }
        let progress = match &mut access {
            EntryAccess::Random(access) => {
                advance_random_access(self, (leg, access), procedure, motion, env)
            }
            EntryAccess::Granted(access) => {
                self.advance_granted_entry((leg, access), procedure, motion, env)
            }
        };
        match progress {
            Progress::Running => {}
            // Only the timer of the RRC procedure (T304, T301 or T300) ends the entry. Until it
            // expires, MAC starts random access again.
            Progress::Problem => {
                let is_free = is_prepared(procedure);
                access = EntryAccess::Random(RandomAccess::new(self.access_in(cell), now, is_free));
            }
            Progress::Done => {
                let has_completed = matches!(access, EntryAccess::Granted(_));
                return self.on_access(cell, (procedure, until, has_completed), env);
            }
        }
        self.state.stage = Stage::Entering(Entry { access, ..entry });
    }

    /// Handles the expiry of T304, T301 or T300.
    fn fail_access(&mut self, cell: CellId, procedure: Procedure, env: &mut Env<'_, impl Probe>) {
        record_cell_event((self.ue, cell), RrcEvent::AccessFailure, env);
        self.leave_leg(cell);
        match procedure {
            Procedure::Handover
            | Procedure::Conditional
            | Procedure::Daps
            | Procedure::Ltm
            | Procedure::Recovery => {
                self.fail_row(HandoverOutcome::Failed, env);
                self.reselect(env);
            }
            Procedure::Reestablishment => self.lose_connection(env),
            Procedure::Attach | Procedure::Setup => {
                if self.with_attach(env, Attach::fail).is_none() {
                    let at = env.now.saturating_add(SEARCH_PERIOD);
                    self.state.stage = Stage::Released { at };
                }
            }
        }
    }

    /// Handles the end of random access. `has_completed` is true if the cell has already received
    /// the UE's RRC complete message.
    fn on_access(
        &mut self,
        cell: CellId,
        (procedure, until, has_completed): (Procedure, Time, bool),
        env: &mut Env<'_, impl Probe>,
    ) {
        record_cell_event((self.ue, cell), RrcEvent::AccessDone, env);
        let is_idle = matches!(procedure, Procedure::Attach | Procedure::Setup);
        if is_idle && self.state.attach.is_some() {
            let generation = self.service.cells[cell.index()].plan.config.generation();
            self.with_attach(env, |attach, step| attach.on_setup(cell, generation, step));
            return;
        }
        if procedure != Procedure::Reestablishment {
            self.enter_cell(cell, env);
            if !has_completed {
                self.send_complete(env);
            }
            if is_prepared(procedure) {
                self.add_commanded_cells(env);
                Scg(self).enter_commanded(env);
            }
            if has_completed {
                self.on_complete(env);
                self.wake_uplink(env);
            }
            return;
        }
        let at = self.with_network(env, |network, step| network.fetch_context(cell, step));
        self.state.stage = Stage::Fetching { cell, at, until };
    }

    /// Releases the UE's connection. All data under way is lost.
    pub(crate) fn lose_connection(&mut self, env: &mut Env<'_, impl Probe>) {
        self.record_event(RrcEvent::Released, env);
        self.fail_row(HandoverOutcome::Failed, env);
        self.state.network.cancel_handover();
        if let Some(attach) = &mut self.state.attach {
            attach.stop();
        }
        Conditional(self).drop_candidates(env);
        let stack = &mut self.service.stack;
        for bearer in stack.ues[self.ue.index()].bearers() {
            stack.bearers[bearer.index()]
                .mobile()
                .release(env, &mut stack.storage);
        }
        self.stop_downlink(Fate::Dropped, env);
        if let Some(cell) = self.service.stack.serving_cell(self.ue) {
            self.begin_failure_row(Procedure::Setup, cell, env);
        }
        self.state.stage = Stage::Released {
            at: env.now.saturating_add(SEARCH_PERIOD),
        };
    }

    /// Begins an attach attempt of an idle UE, or selects a cell. If no cell is suitable, schedules
    /// another search.
    pub(crate) fn search<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let attach = self.state.attach.as_ref();
        let (procedure, wait) = match attach {
            Some(attach) if !attach.registration().is_registered => {
                (Procedure::Attach, self.config.monitoring.cell_selection)
            }
            _ => (Procedure::Setup, SEARCH_PERIOD),
        };
        let begins = self.with_attach(env, Attach::begin_attempt) == Some(true);
        if begins || !self.select(procedure, motion, env) {
            let at = env.now.saturating_add(wait);
            self.state.stage = Stage::Released { at };
        }
    }
}
