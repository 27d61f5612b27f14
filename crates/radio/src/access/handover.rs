//! Handover, radio link failure and what follows, of one UE.
//!
//! ```text
//! report ─► prepare ─► request, answer ─► command ─► on_command: the UE leaves ─► random access
//!                                                                                    │
//! failure ─► select a cell ─► random access ─► fetch the context ────────────────► enter
//!                                                                                    │
//!                      path switch, end marker ◄─ on_complete: the target sends ◄─ complete
//! ```

use super::RadioAccess;
use super::mobility::{Managed, Move};
use crate::bearer::{Fate, TransferCounts};
use crate::config::{Env, LegId};
use crate::rrc::measure::EventState;
use crate::rrc::mobility::{Message, Preparation, Stage};
use crate::rrc::monitor::{LinkMonitor, Quality};
use crate::rrc::random_access::{Progress, RandomAccess, Step};
use fadeout_core::{
    CellId, Direction, HandoverRow, Motion, Outcome, Probe, Procedure, RrcEvent, Span, Time,
};

/// From the end of a change of cell to its row: the first packets pass in this time.
const ROW_DELAY: Span = Span::from_millis(100);

/// How long a UE without connection waits before it looks for a cell again.
const SEARCH_PERIOD: Span = Span::from_millis(1000);

/// Time and NaN, as the row has them.
fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}

impl RadioAccess {
    /// The source has a report that makes `target` a better cell.
    pub(super) fn prepare(
        &mut self,
        managed: &mut Managed<'_>,
        target: CellId,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(source) = self.serving_cell(managed.ue) else {
            return;
        };
        if self.is_busy(managed) || target == source {
            return;
        }
        let row = HandoverRow {
            triggered_s: seconds(env.now),
            ..Self::row(managed, (source, target), Procedure::Handover)
        };
        self.begin_row(managed, row, env);
        self.note_cell((managed.ue, target), RrcEvent::HandoverRequest, env);
        let there_and_back = self.station_delay(managed, source, target) * 2;
        let answer = there_and_back + managed.config.procedure.admission;
        managed.state.preparation = Preparation::Requested {
            target,
            at: env.now.saturating_add(answer),
        };
    }

    fn row(
        managed: &Managed<'_>,
        (source, target): (CellId, CellId),
        procedure: Procedure,
    ) -> HandoverRow {
        HandoverRow {
            time_s: Time::ZERO,
            ue: managed.ue,
            source,
            target,
            procedure,
            outcome: Outcome::Success,
            triggered_s: f64::NAN,
            commanded_s: f64::NAN,
            left_s: f64::NAN,
            entered_s: f64::NAN,
            completed_s: f64::NAN,
            switched_s: f64::NAN,
            downlink_gap_s: f64::NAN,
            uplink_gap_s: f64::NAN,
            preambles: 0,
            forwarded_numbered: 0,
            forwarded_fresh: 0,
            lost_packets: 0,
        }
    }

    /// A change of cell begins; one that ended and waited for its row ends now.
    fn begin_row(
        &mut self,
        managed: &mut Managed<'_>,
        row: HandoverRow,
        env: &mut Env<'_, impl Probe>,
    ) {
        self.end_row(managed, env);
        managed.state.row = Some(row);
    }

    /// The row of a change of cell, if one waits.
    fn end_row(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        managed.state.row_at = Time::NEVER;
        let Some(mut row) = managed.state.row.take() else {
            return;
        };
        row.time_s = env.now;
        // Of a UE that did not leave the gaps are those of an earlier change.
        if !row.left_s.is_nan() {
            let mut gaps = [f64::NAN; 2];
            let mut counts = TransferCounts::default();
            for bearer in self.stack.ues[managed.ue.index()].bearers() {
                let (of_bearer, some) = self.stack.bearers[bearer.index()].journey_report();
                for (gap, of_bearer) in gaps.iter_mut().zip(of_bearer) {
                    // The longest; NaN is no number to be longer than.
                    *gap = of_bearer.map_or(*gap, |span| gap.max(span.as_secs_f64()));
                }
                counts.numbered += some.numbered;
                counts.fresh += some.fresh;
                counts.lost += some.lost;
            }
            [row.downlink_gap_s, row.uplink_gap_s] = gaps;
            row.forwarded_numbered = counts.numbered as u32;
            row.forwarded_fresh = counts.fresh as u32;
            row.lost_packets = counts.lost as u32;
        }
        env.probe.handover(row);
    }

    fn fail_row(
        &mut self,
        managed: &mut Managed<'_>,
        outcome: Outcome,
        env: &mut Env<'_, impl Probe>,
    ) {
        if let Some(row) = &mut managed.state.row
            && managed.state.row_at.is_never()
        {
            row.outcome = outcome;
        }
        self.end_row(managed, env);
    }

    /// One way between the base stations of two cells.
    fn station_delay(&self, managed: &Managed<'_>, one: CellId, other: CellId) -> Span {
        let stations = &managed.config.stations;
        match stations[one.index()] == stations[other.index()] {
            true => Span::ZERO,
            false => managed.config.procedure.station_delay,
        }
    }

    /// Whatever is due happens.
    pub(super) fn proceed<M: Motion>(
        &mut self,
        managed: &mut Managed<'_>,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let now = env.now;
        match managed.state.preparation {
            Preparation::Requested { target, at } if at <= now => {
                self.on_answer(managed, target, env);
            }
            Preparation::Commanded { until } if until <= now => self.give_up(managed, env),
            _ => {}
        }
        match managed.state.stage {
            Stage::Connected => {
                if managed.state.monitor.has_expired(now) {
                    self.fail_link(managed, env);
                }
            }
            Stage::Selecting { until, .. } if until <= now => self.lose_connection(managed, env),
            Stage::Selecting { at, until } if at <= now => {
                let again = managed.config.monitoring.cell_selection;
                if !self.select(managed, Procedure::Reestablishment, motion, env) {
                    let at = now.saturating_add(again);
                    managed.state.stage = Stage::Selecting { at, until };
                }
            }
            Stage::Entering { .. } => self.access(managed, motion, env),
            Stage::Fetching { leg, at, .. } if at <= now => {
                self.note(managed.ue, RrcEvent::Reestablished, env);
                self.enter(managed, leg, env);
            }
            Stage::Fetching { leg, until, .. } if until <= now => {
                self.leave_leg(managed, leg);
                self.note(managed.ue, RrcEvent::AccessFailure, env);
                self.lose_connection(managed, env);
            }
            Stage::Released { at } if at <= now => {
                if !self.select(managed, Procedure::Setup, motion, env) {
                    let at = now.saturating_add(SEARCH_PERIOD);
                    managed.state.stage = Stage::Released { at };
                }
            }
            _ => {}
        }
        if managed.state.switch_at <= now {
            managed.state.switch_at = Time::NEVER;
            if let Some(cell) = self.serving_cell(managed.ue) {
                managed.state.home = managed.config.stations[cell.index()];
                let ue = managed.ue;
                managed.moves.push(Move::Path { ue, cell });
                self.note(ue, RrcEvent::PathSwitched, env);
                if let Some(row) = &mut managed.state.row {
                    row.switched_s = seconds(now);
                }
                managed.state.row_at = now.saturating_add(ROW_DELAY);
            }
        }
        let mut position = 0;
        while let Some(&bearer) = self.stack.ues[managed.ue.index()].bearers().get(position) {
            if self.stack.bearers[bearer.index()].guard_at() <= now {
                self.stack.bearers[bearer.index()].on_guard(now);
                self.flow_on(bearer, env);
                self.stack.close_books(bearer, Direction::Downlink, env);
            }
            position += 1;
        }
        if managed.state.row_at <= now {
            self.end_row(managed, env);
        }
    }

    /// The target answers: it takes the UE, or has no room.
    fn on_answer(
        &mut self,
        managed: &mut Managed<'_>,
        target: CellId,
        env: &mut Env<'_, impl Probe>,
    ) {
        let load = managed.loads[target.index()];
        if managed.config.most_ues.is_some_and(|most| load >= most) {
            managed.state.preparation = Preparation::Idle;
            self.note_cell((managed.ue, target), RrcEvent::HandoverRefused, env);
            self.fail_row(managed, Outcome::Refused, env);
            return;
        }
        managed.state.preparation = Preparation::Commanded {
            until: env.now.saturating_add(managed.config.procedure.overall),
        };
        if let Some(row) = &mut managed.state.row {
            row.commanded_s = seconds(env.now);
        }
        self.note_cell((managed.ue, target), RrcEvent::CommandSent, env);
        self.send(managed, Direction::Downlink, Message::Command(target), env);
        let Some(source) = self.serving_cell(managed.ue) else {
            return;
        };
        let is_one_station = self.is_one_station(managed, source, target);
        let fate = match is_one_station || Self::forwards(managed) {
            true => Fate::Forwarded(self.station_delay(managed, source, target)),
            false => Fate::Dropped,
        };
        self.stop(managed, fate, env);
    }

    fn is_one_station(&self, managed: &Managed<'_>, one: CellId, other: CellId) -> bool {
        let stations = &managed.config.stations;
        stations[one.index()] == stations[other.index()]
    }

    /// The base station that the core's path leads to stops the downlink of the UE's bearers.
    fn stop(&mut self, managed: &Managed<'_>, fate: Fate, env: &mut Env<'_, impl Probe>) {
        let home = managed.state.home;
        for bearer in self.stack.ues[managed.ue.index()].bearers() {
            let drb = &mut self.stack.bearers[bearer.index()];
            drb.stop(home, fate, env, &mut self.stack.storage);
        }
    }

    /// The source has waited long enough for a UE that is still there: it goes on.
    fn give_up(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        managed.state.preparation = Preparation::Idle;
        if !managed.state.is_connected() {
            return;
        }
        // The command is void, should it arrive after all.
        let messages = &mut managed.state.messages;
        messages.retain(|(_, message)| !matches!(message, Message::Command(_)));
        self.note(managed.ue, RrcEvent::SourceResumed, env);
        self.fail_row(managed, Outcome::Cancelled, env);
        self.resume(managed, env);
    }

    /// The base station sends downlink data again.
    fn resume(&mut self, managed: &Managed<'_>, env: &mut Env<'_, impl Probe>) {
        let is_home = self
            .serving_cell(managed.ue)
            .is_some_and(|cell| managed.config.stations[cell.index()] == managed.state.home);
        let mut position = 0;
        while let Some(&bearer) = self.stack.ues[managed.ue.index()].bearers().get(position) {
            let drb = &mut self.stack.bearers[bearer.index()];
            drb.resume(env.now);
            if is_home {
                drb.on_path_switch(env.now, 0, Span::ZERO);
            }
            self.flow_on(bearer, env);
            self.stack.close_books(bearer, Direction::Downlink, env);
            position += 1;
        }
    }

    /// The UE has the command: it leaves the source for the target.
    pub(super) fn on_command(
        &mut self,
        managed: &mut Managed<'_>,
        target: CellId,
        env: &mut Env<'_, impl Probe>,
    ) {
        if !managed.state.is_connected() {
            return;
        }
        self.note_cell((managed.ue, target), RrcEvent::CommandReceived, env);
        self.detach(managed, env);
        let procedure = &managed.config.procedure;
        let ready_at = env.now.saturating_add(procedure.interruption);
        let until = env.now.saturating_add(procedure.t304);
        let access = RandomAccess::new(&managed.config.access, ready_at, true);
        let Some(leg) = self.join(managed, target) else {
            return self.reselect(managed, env);
        };
        managed.state.stage = Stage::Entering {
            leg,
            access,
            until,
            procedure: Procedure::Handover,
        };
    }

    /// The UE's link to its cell has failed, or it could not enter one.
    pub(super) fn fail_link(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        if !managed.state.is_connected() {
            return;
        }
        self.note(managed.ue, RrcEvent::LinkFailure, env);
        self.stack.ues[managed.ue.index()].on_link_failure(env.now, Span::ZERO);
        if managed.state.row_at.is_never() {
            self.fail_row(managed, Outcome::Failed, env);
        }
        managed.state.switch_at = Time::NEVER;
        // Downlink data waits at the base station until it is known where the UE is.
        self.stop(managed, Fate::Kept, env);
        self.detach(managed, env);
        self.reselect(managed, env);
    }

    /// The UE looks for a cell.
    fn reselect(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        let monitoring = &managed.config.monitoring;
        managed.state.preparation = Preparation::Idle;
        managed.state.stage = Stage::Selecting {
            at: env.now.saturating_add(monitoring.cell_selection),
            until: env.now.saturating_add(monitoring.t311),
        };
        if let Some(cell) = self.serving_cell(managed.ue) {
            let row = HandoverRow {
                triggered_s: seconds(env.now),
                left_s: seconds(env.now),
                ..Self::row(managed, (cell, cell), Procedure::Reestablishment)
            };
            self.begin_row(managed, row, env);
        }
    }

    /// The UE leaves its cell: MAC is reset, RLC re-established.
    fn detach(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        let ue = managed.ue;
        if let Some(row) = &mut managed.state.row {
            row.left_s = seconds(env.now);
        }
        managed.state.messages.clear();
        managed.state.monitor = LinkMonitor::new();
        managed.state.quality = Quality::new();
        let leg = self.stack.ues[ue.index()].legs().first().copied();
        if let Some(leg) = leg {
            let cell = self.stack.legs[leg.index()].config.cell;
            let load = &mut managed.loads[cell.index()];
            *load = load.saturating_sub(1);
            self.leave_leg(managed, leg);
        }
        let stack = &mut self.stack;
        for bearer in stack.ues[ue.index()].bearers() {
            stack.bearers[bearer.index()].detach(env, &mut stack.storage);
        }
        if let Some(bearer) = stack.ues[ue.index()].signalling() {
            let drb = &mut stack.bearers[bearer.index()];
            drb.reestablish(env, &mut stack.storage);
            drb.on_left();
        }
    }

    /// A leg carries nothing any more.
    fn leave_leg(&mut self, _managed: &Managed<'_>, id: LegId) {
        let stack = &mut self.stack;
        let leg = &mut stack.legs[id.index()];
        let cell = &mut self.cells[leg.config.cell.index()];
        cell.forget_grants(id);
        if leg.has_occasions() {
            cell.release_occasion(leg.occasion());
        }
        leg.reset(&mut stack.lost);
        for lost in &mut stack.lost {
            for content in lost.drain(..) {
                stack.contents.free(content);
            }
        }
        stack.air.leave(id);
    }

    /// The leg of the UE in a cell, which is made if it is not there.
    fn join(&mut self, managed: &mut Managed<'_>, cell: CellId) -> Option<LegId> {
        let known = managed.state.legs.iter().find(|(known, _)| *known == cell);
        if let Some(&(_, leg)) = known {
            self.stack.air.rejoin(leg);
            return Some(leg);
        }
        let nth = managed.state.legs.len() as u64;
        let leg = self.add_leg(managed.ue, cell, (0, nth)).ok()?;
        managed.state.legs.push((cell, leg));
        Some(leg)
    }

    /// The UE looks for a cell that it can enter. Whether there is one.
    fn select<M: Motion>(
        &mut self,
        managed: &mut Managed<'_>,
        procedure: Procedure,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let Some(cell) = self.best_cell(managed, motion, env.now) else {
            return false;
        };
        let Some(leg) = self.join(managed, cell) else {
            return false;
        };
        let least_db = managed.config.monitoring.q_in.0;
        if self.is_heard(leg, least_db, motion, env.now) != [true; 2] {
            self.leave_leg(managed, leg);
            return false;
        }
        self.note_cell((managed.ue, cell), RrcEvent::CellSelected, env);
        if let Some(row) = &mut managed.state.row {
            (row.target, row.procedure) = (cell, procedure);
        }
        let access = RandomAccess::new(&managed.config.access, env.now, false);
        managed.state.stage = Stage::Entering {
            leg,
            access,
            until: env.now.saturating_add(managed.config.monitoring.t301),
            procedure,
        };
        true
    }

    /// Random access goes on.
    fn access<M: Motion>(
        &mut self,
        managed: &mut Managed<'_>,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let now = env.now;
        let Stage::Entering {
            leg,
            mut access,
            until,
            procedure,
        } = managed.state.stage
        else {
            return;
        };
        if until <= now {
            return self.fail_access(managed, leg, procedure, env);
        }
        if access.wake_at() > now {
            return;
        }
        let cell = self.stack.legs[leg.index()].config.cell;
        let least_db = managed.config.monitoring.q_out.0;
        let is_heard = self.is_heard(leg, least_db, motion, now);
        let before = access.preambles();
        let mut sent = 0;
        let progress = access.on_wake(now, &managed.config.access, &mut managed.state.draws, {
            |step| match step {
                Step::Preamble => {
                    sent += 1;
                    is_heard[Direction::Uplink.index()]
                }
                Step::Message3 => is_heard[Direction::Uplink.index()],
                Step::Response | Step::Resolution => is_heard[Direction::Downlink.index()],
            }
        });
        debug_assert!(access.preambles() >= before, "preambles only add up");
        for _ in 0..sent {
            self.note_cell((managed.ue, cell), RrcEvent::PreambleSent, env);
        }
        if let Some(row) = &mut managed.state.row {
            row.preambles += sent;
        }
        match progress {
            Progress::Running => {}
            // The timer of the procedure governs: MAC starts anew.
            Progress::Problem => {
                let is_free = procedure == Procedure::Handover;
                access = RandomAccess::new(&managed.config.access, now, is_free);
            }
            Progress::Done => return self.on_access(managed, leg, (procedure, until), env),
        }
        managed.state.stage = Stage::Entering {
            leg,
            access,
            until,
            procedure,
        };
    }

    /// T304 or T301 has expired.
    fn fail_access(
        &mut self,
        managed: &mut Managed<'_>,
        leg: LegId,
        procedure: Procedure,
        env: &mut Env<'_, impl Probe>,
    ) {
        let cell = self.stack.legs[leg.index()].config.cell;
        self.note_cell((managed.ue, cell), RrcEvent::AccessFailure, env);
        self.leave_leg(managed, leg);
        match procedure {
            Procedure::Handover => {
                self.fail_row(managed, Outcome::Failed, env);
                self.reselect(managed, env);
            }
            Procedure::Reestablishment => self.lose_connection(managed, env),
            Procedure::Setup => {
                let at = env.now.saturating_add(SEARCH_PERIOD);
                managed.state.stage = Stage::Released { at };
            }
        }
    }

    /// Random access is done.
    fn on_access(
        &mut self,
        managed: &mut Managed<'_>,
        leg: LegId,
        (procedure, until): (Procedure, Time),
        env: &mut Env<'_, impl Probe>,
    ) {
        let cell = self.stack.legs[leg.index()].config.cell;
        self.note_cell((managed.ue, cell), RrcEvent::AccessDone, env);
        if procedure != Procedure::Reestablishment {
            return self.enter(managed, leg, env);
        }
        // The context comes from the base station that had the UE.
        let is_home = managed.config.stations[cell.index()] == managed.state.home;
        let fetch = match is_home {
            true => Span::ZERO,
            false => managed.config.procedure.station_delay * 2,
        };
        let fate = match is_home || Self::forwards(managed) {
            true => Fate::Forwarded(fetch),
            false => Fate::Dropped,
        };
        self.stop(managed, fate, env);
        managed.state.stage = Stage::Fetching {
            leg,
            at: env.now.saturating_add(fetch),
            until,
        };
    }

    /// The UE is in a cell: its bearers are on the leg there, and it says so.
    fn enter(&mut self, managed: &mut Managed<'_>, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let ue = managed.ue;
        let cell = self.stack.legs[leg.index()].config.cell;
        self.carry(ue, leg);
        self.stack.ues[ue.index()].on_moved(leg);
        managed.loads[cell.index()] += 1;
        managed.state.stage = Stage::Connected;
        managed.state.preparation = Preparation::Idle;
        managed
            .state
            .events
            .iter_mut()
            .for_each(EventState::on_new_serving_cell);
        managed.moves.push(Move::Uplink { ue, cell });
        if let Some(row) = &mut managed.state.row {
            row.entered_s = seconds(env.now);
        }
        self.send(managed, Direction::Uplink, Message::Complete, env);
        self.on_uplink_data(Some(leg), env);
    }

    /// The base station knows that the UE is there.
    pub(super) fn on_complete(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        self.note(managed.ue, RrcEvent::CompleteReceived, env);
        if let Some(row) = &mut managed.state.row {
            row.completed_s = seconds(env.now);
        }
        self.resume(managed, env);
        let Some(cell) = self.serving_cell(managed.ue) else {
            return;
        };
        if managed.config.stations[cell.index()] == managed.state.home {
            managed.state.row_at = env.now.saturating_add(ROW_DELAY);
        } else {
            let delay = managed.config.procedure.core_delay;
            managed.state.switch_at = env.now.saturating_add(delay);
        }
    }

    /// The UE has no connection any more: everything under way is lost.
    fn lose_connection(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        self.note(managed.ue, RrcEvent::Released, env);
        self.fail_row(managed, Outcome::Failed, env);
        let stack = &mut self.stack;
        for bearer in stack.ues[managed.ue.index()].bearers() {
            stack.bearers[bearer.index()].release(env, &mut stack.storage);
        }
        self.stop(managed, Fate::Dropped, env);
        if let Some(cell) = self.serving_cell(managed.ue) {
            let row = HandoverRow {
                triggered_s: seconds(env.now),
                left_s: seconds(env.now),
                ..Self::row(managed, (cell, cell), Procedure::Setup)
            };
            self.begin_row(managed, row, env);
        }
        managed.state.stage = Stage::Released {
            at: env.now.saturating_add(SEARCH_PERIOD),
        };
    }
}
