//! The uplink: what UEs are granted, and what they send.

use super::cell::Granted;
use super::contest::Offer;
use super::ue::NO_SLOT;
use super::{AirInterface, Env, Event, RadioAccess, Shape};
use crate::mac::scheduler::{Candidate, MacScheduler};
use crate::wire::BufferStatus;
use fadeout_core::{CellId, Direction, Motion, Probe, UeId};

impl RadioAccess {
    /// Gives away the uplink slots that are granted in `slot`, which begins now.
    pub(super) fn schedule_uplink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) {
        if self.cells[id.index()].up.active.is_empty() {
            return;
        }
        for target in self.cells[id.index()].targets(slot) {
            let active = std::mem::take(&mut self.cells[id.index()].up.active);
            self.share_uplink(id, slot, target, &active, env);
            self.put_back_active(id, Direction::Uplink, active);
        }
    }

    fn share_uplink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        slot: u64,
        target: u64,
        active: &[UeId],
        env: &mut Env<'_, M, P>,
    ) {
        let mut ues = self.cells[id.index()].config.most_ues;
        for &ue in active {
            ues -= u32::from(ues > 0 && self.repeat_uplink(id, ue, slot, target));
        }
        let mut contest = std::mem::take(&mut self.scratch.contest);
        contest.clear();
        let units = self.cells[id.index()].uplink_units_left(target);
        let symbols = self.cells[id.index()].uplink_symbols(target);
        let least = self.cells[id.index()].up.resources.least_units();
        for &ue in active {
            if self.ues[ue.index()].up.ready > slot {
                continue;
            }
            let wanted_bytes = self.uplink_wanted(id, ue);
            let half = &self.ues[ue.index()].up;
            let may_send = half.last_slot != target && half.harq.free(slot).is_some();
            let chosen = if wanted_bytes > 0 && may_send && units >= least {
                Some(self.uplink_scheme(id, ue, slot, (symbols, units, wanted_bytes), env))
            } else {
                None
            };
            let is_out_of_range = matches!(chosen, Some(None));
            self.set_uplink_ready(id, ue, slot, is_out_of_range);
            if let Some(Some(choice)) = chosen {
                let candidate = Candidate {
                    ue,
                    wanted: choice.units,
                    rate: choice.rate,
                };
                contest.enter(candidate, (choice.scheme, choice.cqi));
            }
        }
        let up = &mut self.cells[id.index()].up;
        let offer = Offer {
            slot: target,
            units,
            least,
            most_ues: ues,
        };
        contest.decide(&offer, &mut up.scheduler);
        for (ue, (scheme, cqi), units) in contest.winners() {
            let Some(process) = self.ues[ue.index()].up.harq.free(slot) else {
                continue;
            };
            let bytes =
                self.cells[id.index()]
                    .up
                    .resources
                    .bytes(symbols, usize::from(scheme), units);
            let shape = Shape {
                scheme,
                symbols,
                units,
                bytes,
            };
            self.cells[id.index()].use_uplink(target, units);
            self.grant(id, ue, process, shape, target, cqi);
            let up = &mut self.cells[id.index()].up;
            up.scheduler.on_served(target, ue, bytes);
            self.set_uplink_ready(id, ue, slot, false);
        }
        self.scratch.contest = contest;
    }

    /// Grants a waiting block of `ue` another transmission if it fits. Whether it did.
    fn repeat_uplink(&mut self, id: CellId, ue: UeId, slot: u64, target: u64) -> bool {
        let half = &mut self.ues[ue.index()].up;
        if half.ready > slot || half.last_slot == target {
            return false;
        }
        let Some(process) = half.harq.waiting(slot) else {
            return false;
        };
        let shape = half.harq.process(process).shape;
        let cell = &mut self.cells[id.index()];
        if shape.units > cell.uplink_units_for_repetition(target)
            || shape.symbols > cell.uplink_symbols(target)
        {
            half.ready = slot + 1;
            return false;
        }
        half.harq.resume(process);
        half.last_slot = target;
        cell.use_uplink(target, shape.units);
        cell.push_grant(Granted {
            slot: target,
            ue,
            process,
        });
        true
    }

    /// Bytes that the base station means to grant a UE.
    fn uplink_wanted(&self, id: CellId, ue: UeId) -> u64 {
        let config = &self.cells[id.index()].config;
        let access = &self.ues[ue.index()].access;
        if access.known > 0 {
            access.known + u64::from(status_format(config.air).size())
        } else if access.is_asked {
            u64::from(config.requests.first_grant)
        } else {
            0
        }
    }

    /// Sets when a UE may next be granted something.
    fn set_uplink_ready(&mut self, id: CellId, ue: UeId, slot: u64, is_out_of_range: bool) {
        let wants = self.uplink_wanted(id, ue) > 0;
        let cell = &self.cells[id.index()];
        let recheck = cell.config.recheck_after.as_nanos();
        let half = &mut self.ues[ue.index()].up;
        let mut ready = half.harq.waiting_from();
        half.is_stalled = false;
        if is_out_of_range {
            let slots = recheck.div_ceil(cell.frame.slot().as_nanos());
            ready = Some(slot + slots.max(1));
        } else if wants {
            match half.harq.free_from() {
                Some(from) => ready = Some(ready.map_or(from, |ready| ready.min(from))),
                None => half.is_stalled = true,
            }
        }
        half.ready = ready.map_or(NO_SLOT, |ready| ready.max(slot + 1));
    }

    /// Books a new block for a slot to come.
    pub(super) fn grant(
        &mut self,
        id: CellId,
        ue: UeId,
        process: u8,
        shape: Shape,
        slot: u64,
        cqi: u8,
    ) {
        let cell = &self.cells[id.index()];
        let first_at = cell.frame.start_of(slot);
        let state = &mut self.ues[ue.index()];
        state.stay_awake(&cell.config, first_at);
        let access = &mut state.access;
        access.is_asked = false;
        access.outstanding += 1;
        access.known = access.known.saturating_sub(u64::from(shape.bytes));
        access.granted += u64::from(shape.bytes);
        let block = state.up.harq.start(process, shape, first_at);
        block.granted = access.granted;
        block.cqi = cqi;
        state.up.last_slot = slot;
        let granted = Granted { slot, ue, process };
        self.cells[id.index()].push_grant(granted);
        self.need(id, slot);
    }

    /// UEs send what they were granted for `slot`, which begins now.
    pub(super) fn send_granted<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) {
        while let Some(&granted) = self.cells[id.index()].grants.front() {
            if granted.slot > slot {
                return;
            }
            self.cells[id.index()].grants.pop_front();
            self.send_uplink(id, granted, env);
        }
    }

    fn send_uplink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        granted: Granted,
        env: &mut Env<'_, M, P>,
    ) {
        let Granted { slot, ue, process } = granted;
        let shape = self.ues[ue.index()].up.harq.process(process).shape;
        let is_new = self.ues[ue.index()].up.harq.process(process).is_unsent();
        if is_new && !self.fill_uplink(id, ue, process, shape, env) {
            self.ues[ue.index()].up.harq.skip(process, slot);
            self.ues[ue.index()].access.known = 0;
            return;
        }
        self.refresh_paths(ue, env);
        let power = self.uplink_block_power(id, ue, shape);
        let cell = &mut self.cells[id.index()];
        let timing = &cell.config.timing;
        let end_at = cell.frame.start_of(slot + 1);
        let again_from = timing.reaction_slot(&cell.frame, end_at);
        let half = &mut self.ues[ue.index()].up;
        half.harq.sent(process, slot, again_from);
        half.count_block(process);
        half.harq.process_mut(process).block_power_dbm = power;
        let all = cell.up.resources.units(cell.frame.symbols()).max(1);
        let share = f64::from(shape.units) / f64::from(all);
        let decoded_at = end_at.saturating_add(timing.base_decoding);
        self.on_uplink_power(id, ue, slot, power, share);
        let event = Event::Received(ue, process, Direction::Uplink);
        self.events.schedule(decoded_at, event);
    }

    /// Fills a new block and puts a buffer status report into it. False when there is nothing to
    /// send.
    fn fill_uplink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        process: u8,
        shape: Shape,
        env: &mut Env<'_, M, P>,
    ) -> bool {
        let status = status_format(self.cells[id.index()].config.air);
        let room = shape.bytes.saturating_sub(status.size());
        let content = self.fill(ue, Direction::Uplink, room, env);
        let left = self.backlog(env.now, ue, Direction::Uplink);
        let repeat_after = self.cells[id.index()].config.requests.repeat_after;
        let access = &mut self.ues[ue.index()].access;
        let requested_at = access.is_requested.then_some(access.requested_at);
        access.outstanding -= 1;
        access.is_requested = false;
        access.reported = left;
        if left > 0 {
            access.repeat_at = env.now.saturating_add(repeat_after);
            self.arm_repeat(ue);
        }
        let block = self.ues[ue.index()].up.harq.process_mut(process);
        block.status = status.reported(left);
        let Some(content) = content else {
            // A report alone says that there is something.
            return left > 0 && room > 0;
        };
        self.sample(ue, Direction::Uplink, env);
        self.mark_first_parts(content, Direction::Uplink, env.now, requested_at, env.probe);
        let block = self.ues[ue.index()].up.harq.process_mut(process);
        block.content = Some(content);
        true
    }

    /// The base station has tried to decode a block.
    pub(super) fn on_uplink_received<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        process: u8,
        env: &mut Env<'_, M, P>,
    ) {
        let Some(id) = self.ues[ue.index()].cell else {
            return;
        };
        let block = self.ues[ue.index()].up.harq.process(process);
        let sent = (block.slot, usize::from(block.shape.scheme));
        let power = block.block_power_dbm;
        let sinr_db = match self.cells[id.index()].config.fixed_errors {
            Some(_) if !env.probe.wants_transport_blocks(id) => 0.0,
            _ => self.uplink_sinr_db(ue, sent, power, env),
        };
        let outcome = self.judge(id, ue, process, Direction::Uplink, sinr_db, env);
        let Some(outcome) = outcome else { return };
        if outcome.is_new {
            let state = &mut self.ues[ue.index()];
            let block = state.up.harq.process(process);
            let access = &mut state.access;
            if block.granted > access.reported_granted {
                access.reported_granted = block.granted;
                let granted_since = access.granted - block.granted;
                access.known = block.status.saturating_sub(granted_since);
            }
        }
        self.settle(id, ue, process, Direction::Uplink, outcome, env);
        let wants = self.uplink_wanted(id, ue) > 0;
        let half = &self.ues[ue.index()].up;
        // What follows from the block may be granted no earlier than its repetition.
        let again_from = half.harq.process(process).again_from();
        let free = if wants { half.harq.free_from() } else { None };
        let from = half
            .harq
            .waiting_from()
            .into_iter()
            .chain(free.map(|from| from.max(again_from)))
            .min();
        if let Some(from) = from {
            self.activate(env.now, ue, Direction::Uplink, from);
        }
    }
}

/// The reports of a generation.
pub(super) fn status_format(air: AirInterface) -> BufferStatus {
    match air {
        AirInterface::Lte { .. } => BufferStatus::Lte,
        AirInterface::Nr { .. } => BufferStatus::Nr,
    }
}
