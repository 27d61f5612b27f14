//! The downlink of a slot: retransmissions, then new data as the scheduler shares the rest.

use super::contest::Offer;
use super::harq::{Judgement, Outcome};
use super::track::BlockTimes;
use super::ue::NO_SLOT;
use super::{Adaptation, Env, RadioAccess, Shape, Sharing};
use crate::mac::scheduler::{Candidate, MacScheduler};
use crate::phy::frame::Duplex;
use fadeout_core::{CellId, Direction, Motion, Probe, Time, TransportBlockRow, UeId};

/// A block of so many bytes has room for part of any SDU, and for a whole one of usual size.
const LARGE_SDU: u64 = 1600;

/// What is left of a slot while it is given away.
struct Room {
    slot: u64,
    /// Symbols for data.
    symbols: u8,
    units: u32,
    ues: u32,
    /// Time sharing: the symbol that the next block starts at.
    next_symbol: u8,
}

impl RadioAccess {
    /// Sends what the base station has for `slot`, which begins now.
    pub(super) fn schedule_downlink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) {
        let cell = &mut self.cells[id.index()];
        if cell.down.active.is_empty() {
            return;
        }
        let symbols = cell.downlink_symbols(slot);
        let mut room = Room {
            slot,
            symbols,
            units: cell.down.resources.units(symbols),
            ues: cell.config.most_ues,
            next_symbol: cell.config.timing.control_symbols,
        };
        if room.units < cell.down.resources.least_units() {
            return;
        }
        // The list is taken out, so that UEs may be looked up beside it. Nothing that happens
        // within a slot adds to it.
        let active = std::mem::take(&mut cell.down.active);
        for &ue in &active {
            self.repeat_downlink(id, ue, &mut room);
        }
        self.share_downlink(id, &active, &mut room, env);
        self.put_back_active(id, Direction::Downlink, active);
    }

    /// Sends a block of `ue` again if one waits and fits.
    fn repeat_downlink(&mut self, id: CellId, ue: UeId, room: &mut Room) {
        let half = &mut self.ues[ue.index()].down;
        if half.ready > room.slot || room.ues == 0 {
            return;
        }
        let Some(process) = half.harq.waiting(room.slot) else {
            return;
        };
        let shape = half.harq.process(process).shape;
        let fits = shape.units <= room.units
            && (self.cells[id.index()].config.sharing == Sharing::Time
                || shape.symbols <= room.symbols);
        let blocked = &mut self.cells[id.index()].blocked_units;
        if !fits {
            *blocked = shape.units.max(*blocked);
            return;
        }
        *blocked = 0;
        half.harq.resume(process);
        self.send_downlink(id, ue, process, room);
    }

    /// Shares what is left among the UEs with new data.
    fn share_downlink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        active: &[UeId],
        room: &mut Room,
        env: &mut Env<'_, M, P>,
    ) {
        let slot = room.slot;
        let mut contest = std::mem::take(&mut self.scratch.contest);
        contest.clear();
        for &ue in active {
            if self.ues[ue.index()].down.ready > slot {
                continue;
            }
            let backlog = self.downlink_backlog(ue, env);
            let chosen = if backlog > 0 && self.may_send_new(ue, slot) {
                self.downlink_scheme(id, ue, slot, env)
            } else {
                None
            };
            let is_out_of_range = backlog > 0 && chosen.is_none() && self.may_send_new(ue, slot);
            self.set_downlink_ready(id, ue, slot, backlog, is_out_of_range);
            if let Some((scheme, cqi)) = chosen {
                let resources = &self.cells[id.index()].down.resources;
                let scheme_number = usize::from(scheme);
                let wanted = resources.units_for(room.symbols, scheme_number, backlog, room.units);
                let all = resources.units(room.symbols);
                let candidate = Candidate {
                    ue,
                    wanted,
                    rate: f64::from(resources.bytes(room.symbols, scheme_number, all)),
                };
                contest.enter(candidate, (scheme, cqi));
            }
        }
        let down = &mut self.cells[id.index()].down;
        let offer = Offer {
            slot,
            units: room.units,
            least: down.resources.least_units(),
            most_ues: room.ues,
        };
        contest.decide(&offer, &mut down.scheduler);
        for (ue, scheme, units) in contest.winners() {
            self.send_new_downlink(id, ue, scheme, units, room, env);
        }
        self.scratch.contest = contest;
    }

    /// What waits for a UE at the base station, with what has been processed by now.
    fn downlink_backlog<M: Motion, P: Probe>(&mut self, ue: UeId, env: &mut Env<'_, M, P>) -> u64 {
        for index in 0..self.ues[ue.index()].bearers.len() {
            let bearer = self.ues[ue.index()].bearers[index];
            if !self.bearers[bearer.index()].inlet.is_empty() {
                self.drain_inlet(env.now, bearer, env.pool, env.probe);
            }
        }
        self.backlog(env.now, ue, Direction::Downlink)
    }

    fn may_send_new(&self, ue: UeId, slot: u64) -> bool {
        let state = &self.ues[ue.index()];
        let half = &state.down;
        half.last_slot != slot
            && half.harq.free(slot).is_some()
            && state
                .cell
                .is_some_and(|id| state.listens_from(&self.cells[id.index()], slot) == slot)
    }

    /// Sets when a UE may next have something, given its backlog before this slot.
    fn set_downlink_ready(
        &mut self,
        id: CellId,
        ue: UeId,
        slot: u64,
        backlog: u64,
        is_out_of_range: bool,
    ) {
        let frame = &self.cells[id.index()].frame;
        let recheck = self.cells[id.index()].config.recheck_after;
        let state = &mut self.ues[ue.index()];
        let inlets = state
            .bearers
            .iter()
            .filter_map(|bearer| self.bearers[bearer.index()].inlet.front());
        let inlet = inlets.map(|&(at, _)| frame.slot_from(at)).min();
        let listens_from = state.listens_from(&self.cells[id.index()], slot + 1);
        let half = &mut state.down;
        let inlet = inlet.map(|inlet| inlet.max(listens_from));
        let mut ready = half.harq.waiting_from().into_iter().chain(inlet).min();
        half.is_stalled = false;
        if is_out_of_range {
            let slots = recheck.as_nanos().div_ceil(frame.slot().as_nanos());
            ready = Some(slot + slots.max(1));
        } else if backlog > 0 {
            match half.harq.free_from() {
                Some(from) => {
                    let from = from.max(listens_from);
                    ready = Some(ready.map_or(from, |ready| ready.min(from)));
                }
                None => half.is_stalled = true,
            }
        }
        half.ready = ready.map_or(NO_SLOT, |ready| ready.max(slot + 1));
    }

    /// The scheme for a UE and the report it follows from; none out of range.
    fn downlink_scheme<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) -> Option<(u8, u8)> {
        let cell = &self.cells[id.index()];
        let reports = match cell.config.adaptation {
            Adaptation::FixedRate { .. } => return Some((0, 0)),
            Adaptation::FixedScheme { .. } => {
                let resources = &cell.down.resources;
                let mcs = resources.adaptation()?.scheme(0, 0.0)?;
                return Some((resources.position(&mcs) as u8, 0));
            }
            Adaptation::Reports(reports) => reports,
        };
        let start = cell.frame.start_of(slot);
        // Before the first report is known, the channel as of now.
        let measured_at = reports.reporting.measured_at(start).unwrap_or(start);
        if self.ues[ue.index()].down.report.measured_at != measured_at {
            let measured_slot = cell.frame.slot_at(measured_at);
            let cqi = self.downlink_cqi(id, ue, measured_slot, env)?;
            let report = &mut self.ues[ue.index()].down.report;
            report.measured_at = measured_at;
            report.cqi = cqi;
        }
        let half = &self.ues[ue.index()].down;
        let resources = &self.cells[id.index()].down.resources;
        let offset_db = half.outer_loop.offset_db();
        let mcs = resources.adaptation()?.scheme(half.report.cqi, offset_db)?;
        Some((resources.position(&mcs) as u8, half.report.cqi))
    }

    fn send_new_downlink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        (scheme, cqi): (u8, u8),
        units: u32,
        room: &mut Room,
        env: &mut Env<'_, M, P>,
    ) {
        let resources = &self.cells[id.index()].down.resources;
        let shape = Shape {
            scheme,
            symbols: room.symbols,
            units,
            bytes: resources.bytes(room.symbols, usize::from(scheme), units),
        };
        let content = self.fill(ue, Direction::Downlink, shape.bytes, env);
        let Some(content) = content else {
            // Too small for anything, or a window is closed until something opens it.
            let backlog = self.backlog(env.now, ue, Direction::Downlink);
            let is_small = u64::from(shape.bytes) < backlog.min(LARGE_SDU);
            let half = &mut self.ues[ue.index()].down;
            half.ready = if is_small {
                room.slot + 1
            } else {
                half.harq.waiting_from().unwrap_or(NO_SLOT)
            };
            return;
        };
        self.sample(ue, Direction::Downlink, env);
        self.mark_first_parts(content, Direction::Downlink, env.now, None, env.probe);
        let half = &mut self.ues[ue.index()].down;
        let Some(process) = half.harq.free(room.slot) else {
            debug_assert!(false, "a candidate has a free process");
            return;
        };
        let started = half.harq.start(process, shape, env.now);
        started.content = Some(content);
        started.cqi = cqi;
        let cell = &mut self.cells[id.index()];
        cell.down.scheduler.on_served(room.slot, ue, shape.bytes);
        self.ues[ue.index()].stay_awake(&cell.config, env.now);
        self.send_downlink(id, ue, process, room);
        // The buffer may be empty now, and the next process be busy.
        let backlog = self.backlog(env.now, ue, Direction::Downlink);
        self.set_downlink_ready(id, ue, room.slot, backlog, false);
    }

    /// Puts a block on the air.
    fn send_downlink(&mut self, id: CellId, ue: UeId, process: u8, room: &mut Room) {
        let cell = &mut self.cells[id.index()];
        let half = &mut self.ues[ue.index()].down;
        let shape = half.harq.process(process).shape;
        let resources = &cell.down.resources;
        let all = resources.units(cell.frame.symbols()).max(1);
        let share = f64::from(shape.units) / f64::from(all);
        let end_symbol = match (&cell.config.duplex, cell.config.sharing) {
            (Duplex::Fdd, Sharing::Frequency) => cell.frame.symbols(),
            (_, Sharing::Frequency) => cell.frame.format(room.slot).downlink,
            (_, Sharing::Time) => room.next_symbol + shape.units as u8,
        };
        let times = cell
            .config
            .timing
            .downlink(&cell.frame, room.slot, end_symbol);
        half.harq.sent(process, room.slot, times.repetition_slot);
        half.count_block(process);
        half.last_slot = room.slot;
        room.units -= shape.units;
        room.ues -= 1;
        if cell.config.sharing == Sharing::Time {
            room.next_symbol = end_symbol;
            room.symbols -= shape.units as u8;
        }
        cell.downlink_shares.add(room.slot, share);
        let event = super::Event::Received(ue, process, Direction::Downlink);
        self.events.schedule(times.decoded_at, event);
    }

    /// The UE has tried to decode a block.
    pub(super) fn on_downlink_received<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        process: u8,
        env: &mut Env<'_, M, P>,
    ) {
        let Some(id) = self.ues[ue.index()].cell else {
            return;
        };
        let block = self.ues[ue.index()].down.harq.process(process);
        let sent = (block.slot, usize::from(block.shape.scheme));
        let sinr_db = match self.cells[id.index()].config.fixed_errors {
            Some(_) if !env.probe.wants_transport_blocks(id) => 0.0,
            _ => self.downlink_sinr_db(ue, sent, env),
        };
        let outcome = self.judge(id, ue, process, Direction::Downlink, sinr_db, env);
        let Some(outcome) = outcome else { return };
        self.settle(id, ue, process, Direction::Downlink, outcome, env);
        let half = &mut self.ues[ue.index()].down;
        let from = if half.harq.waiting_from().is_some() || half.is_stalled {
            let waiting = half.harq.waiting_from();
            let free = half.is_stalled.then(|| half.harq.free_from()).flatten();
            waiting.into_iter().chain(free).min()
        } else {
            None
        };
        if let Some(from) = from {
            self.activate(env.now, ue, Direction::Downlink, from);
        }
    }

    /// Decides whether a block was decoded.
    pub(super) fn judge<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        process: u8,
        direction: Direction,
        sinr_db: f64,
        env: &mut Env<'_, M, P>,
    ) -> Option<Outcome> {
        let cell = &self.cells[id.index()];
        let resources = &cell.half(direction).resources;
        let half = self.ues[ue.index()].half_mut(direction);
        let shape = half.harq.process(process).shape;
        let judgement = Judgement {
            harq: &cell.config.harq,
            fixed: cell.config.fixed_errors,
            sinr_db,
        };
        let code = || resources.code(usize::from(shape.scheme), shape.symbols, shape.units);
        let outcome = half
            .harq
            .decode(process, &judgement, code, &mut half.draws)?;
        if outcome.is_first
            && let Adaptation::Reports(reports) = &cell.config.adaptation
        {
            half.outer_loop
                .on_feedback(&reports.outer_loop, outcome.is_ok);
        }
        if env.probe.wants_transport_blocks(id) {
            let block = half.harq.process(process);
            let occupied = resources.occupied(shape.symbols, shape.units);
            env.probe.transport_block(TransportBlockRow {
                time_s: cell.frame.start_of(block.slot),
                cell: id,
                ue,
                direction,
                sinr_db,
                cqi: u32::from(block.cqi),
                mcs: resources.scheme(usize::from(shape.scheme)).index,
                size_bytes: shape.bytes,
                n_prb: occupied.resource_blocks,
                symbols: u32::from(occupied.symbols),
                process: u32::from(process),
                round: block.round(),
                is_ok: outcome.is_ok,
            });
        }
        if env.probe.wants_mac_pdus(id, ue) {
            self.show_mac_pdu((id, ue, process), direction, outcome, env);
        }
        Some(outcome)
    }

    /// Delivers a decoded block, or loses one that was given up.
    pub(super) fn settle<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        process: u8,
        direction: Direction,
        outcome: Outcome,
        env: &mut Env<'_, M, P>,
    ) {
        let start_of = |slot| self.cells[id.index()].frame.start_of(slot);
        let half = self.ues[ue.index()].half_mut(direction);
        let block = half.harq.process_mut(process);
        let times = BlockTimes {
            first_at: block.first_at,
            last_at: start_of(block.slot),
            decoded_at: env.now,
        };
        if outcome.is_new {
            if let Some(content) = block.content.take() {
                self.deliver(ue, direction, content, &times, env);
            }
        } else if outcome.is_lost {
            half.counters.lost_blocks += 1;
            if let Some(content) = block.content.take() {
                self.lose(direction, content, env);
            }
        }
        for index in 0..self.ues[ue.index()].bearers.len() {
            let bearer = self.ues[ue.index()].bearers[index];
            self.close_books(bearer, direction, env);
        }
    }

    /// Notes when packets are first on the air.
    pub(super) fn mark_first_parts(
        &mut self,
        content: super::ContentId,
        direction: Direction,
        at: Time,
        requested_at: Option<Time>,
        probe: &impl Probe,
    ) {
        let content = self.contents.content(content);
        let mut first = 0;
        for &(bearer, end) in &content.bearers {
            if probe.wants_radio_delay(bearer) {
                for pdu in &content.block.pdus[first as usize..end as usize] {
                    for part in content.block.data_parts(pdu) {
                        if part.is_first() {
                            let key = (part.sdu.packet, part.sdu.serial, bearer, direction);
                            self.tracks.first_part(key, at, requested_at);
                        }
                    }
                }
            }
            first = end;
        }
    }
}
