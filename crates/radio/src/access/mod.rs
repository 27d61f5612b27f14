//! The radio access of a scenario: all cells, UEs and bearers as one machine.
//!
//! ```text
//! on_packet ─► PDCP ─► RLC ─► MAC: a scheduler fills a slot ─► HARQ ─► channel: does it arrive?
//!                                                                          │
//!      out ◄─ PDCP ◄─ RLC ◄────────────────────────────────────────────────┘
//! ```
//!
//! A slot is looked at only if something may happen in it: data or a retransmission waits, an
//! uplink slot was granted, or may be. What the channel does is a function of time, asked for
//! when a transport block needs it. So a cell whose UEs have nothing to send has no events.
//!
//! [`RadioConfig`] says what there is, [`RadioAccess`] runs it. Uplink and downlink packets are
//! the caller's, in its pool: [`RadioAccess::on_packet`] takes one at one end of a bearer, and
//! [`RadioAccess::on_wake`] gives it back at the other, in order, or drops it and says so.

mod bearer;
mod capture;
mod cell;
mod content;
mod contest;
mod counters;
mod delivery;
mod downlink;
mod failure;
mod harq;
mod link;
mod report;
mod track;
mod ue;
mod uplink;
mod uplink_request;
mod uplink_scheme;

pub use crate::config::{
    Adaptation, AirInterface, BearerConfig, CellConfig, ConfiguredGrant, FixedSinr, HarqConfig,
    RadioConfig, RadioError, ReportedAdaptation, Serving, Sharing, UeConfig, UplinkPower,
};
pub use counters::{Counters, DirectionCounters};

use crate::config::{Shape, check};
use crate::rlc::Sdu;
use crate::wire::{BearerFormat, Encoder, Form};
use bearer::Bearer;
use cell::Cell;
use content::{ContentId, Contents};
use contest::Contest;
use fadeout_core::{
    BearerId, CellId, Direction, EventQueue, Motion, PacketId, PacketPool, Probe, Time, UeId,
};
use link::{Environments, Link};
use track::Tracks;
use ue::{NO_SLOT, Ue};

/// The radio access: cells, UEs, bearers, and the events between them.
#[derive(Debug)]
pub struct RadioAccess {
    cells: Vec<Cell>,
    ues: Vec<Ue>,
    bearers: Vec<Bearer>,
    events: EventQueue<Event>,
    contents: Contents,
    tracks: Tracks,
    scratch: Scratch,
    seed: u64,
    counters: Counters,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A slot of a cell that may have something to do.
    Slot(CellId, u32),
    /// The receiver has a transport block.
    Received(UeId, u8, Direction),
    /// A timer of one end of a bearer, the one that sends in this direction.
    Timer(BearerId, Direction, u32),
    /// A UE without a grant may ask again.
    Repeat(UeId, u32),
    /// A UE looks for its cell.
    Attach(UeId),
}

/// What every step needs beside the machine itself.
struct Env<'a, M, P> {
    now: Time,
    motion: &'a mut M,
    pool: &'a mut PacketPool,
    out: &'a mut Vec<PacketId>,
    probe: &'a mut P,
}

/// Lists that are used again and again.
#[derive(Debug, Default)]
struct Scratch {
    contest: Contest,
    sdus: Vec<Sdu>,
    ordered: Vec<Sdu>,
    dropped: Vec<Sdu>,
    lost: Vec<PacketId>,
    unconfirmed: Vec<Sdu>,
    contents: Vec<ContentId>,
    encoder: Encoder,
}

/// Packets that lists of the moment have room for from the start: what a repaired gap sets free.
const ROOM: usize = 1024;

impl Scratch {
    fn new() -> Scratch {
        Scratch {
            sdus: Vec::with_capacity(ROOM),
            ordered: Vec::with_capacity(ROOM),
            lost: Vec::with_capacity(ROOM),
            ..Scratch::default()
        }
    }
}

impl RadioAccess {
    /// Builds everything that `config` describes.
    ///
    /// # Errors
    /// What is wrong, where, and what was expected.
    pub fn new(config: RadioConfig, seed: u64) -> Result<RadioAccess, RadioError> {
        check(&config)?;
        let ues = config.ues.len();
        let cells = (0..).zip(config.cells);
        let cells = cells
            .map(|(index, cell)| Cell::new(index, cell, ues))
            .collect::<Result<Vec<_>, _>>()?;
        let block_of = |cell: &Cell| {
            let rate = cell.config.peak_rate().as_bytes_per_sec_f64();
            (rate * cell.frame.slot().as_secs_f64()) as u64
        };
        let largest_block = cells.iter().map(block_of).max().unwrap_or(0);
        let mut access = RadioAccess {
            ues: Vec::with_capacity(ues),
            bearers: Vec::with_capacity(config.bearers.len()),
            events: EventQueue::new(),
            contents: Contents::new(largest_block),
            tracks: Tracks::default(),
            scratch: Scratch::new(),
            seed,
            counters: Counters::default(),
            cells,
        };
        let mut environments = Environments::default();
        for (index, ue) in config.ues.into_iter().enumerate() {
            let link = Link::new(&access.cells, index, &ue, &mut environments, seed)?;
            access.ues.push(Ue::new(index, ue, link, seed));
            match ue.serving {
                Serving::Cell(cell) => access.attach(UeId(index as u32), cell),
                Serving::Strongest => {
                    let event = Event::Attach(UeId(index as u32));
                    access.events.schedule(Time::ZERO, event);
                }
            }
        }
        for (index, bearer) in config.bearers.into_iter().enumerate() {
            let error = |error| RadioError::Parameter {
                bearer: index,
                error,
            };
            let form = Form::of(&bearer.rlc);
            let own = access.ues[bearer.ue.index()].bearers.iter();
            let alike = own.filter(|id| access.bearers[id.index()].format.rlc == form);
            let nth = alike.count().min(u8::MAX.into()) as u8;
            access
                .bearers
                .push(Bearer::new((index, nth), bearer, seed).map_err(error)?);
            let of_ue = &mut access.ues[bearer.ue.index()].bearers;
            of_ue.push(BearerId(index as u32));
            let bearers = &access.bearers;
            of_ue.sort_by_key(|id| bearers[id.index()].config.channel.priority);
        }
        Ok(access)
    }

    /// When [`RadioAccess::on_wake`] wants to be called next.
    pub fn wake_at(&self) -> Time {
        self.events.next_at().unwrap_or(Time::NEVER)
    }

    /// The cell that serves a UE; none before it has looked for one.
    pub fn serving_cell(&self, ue: UeId) -> Option<CellId> {
        self.ues[ue.index()].cell
    }

    /// How the PDUs of each bearer look on the air.
    pub fn formats(&self) -> impl Iterator<Item = &BearerFormat> {
        self.bearers.iter().map(|bearer| &bearer.format)
    }

    /// What it has done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What a direction of a UE has done so far.
    pub fn counters_of(&self, ue: UeId, direction: Direction) -> DirectionCounters {
        self.ues[ue.index()].half(direction).counters
    }

    /// An IP packet enters a bearer: at the base station for the downlink, at the UE for the
    /// uplink. A packet that finds the buffer full is dropped.
    pub fn on_packet(
        &mut self,
        now: Time,
        bearer: BearerId,
        direction: Direction,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        if probe.wants_radio_delay(bearer) {
            self.tracks.enter(packet, bearer, direction, now);
        }
        let ue = self.bearers[bearer.index()].config.ue;
        match direction {
            Direction::Uplink => {
                if self.take_packet(now, bearer, direction, packet, pool, probe) {
                    self.arm(now, bearer, direction);
                    self.on_uplink_data(now, ue, probe);
                }
            }
            Direction::Downlink => {
                let cell = self.ues[ue.index()].cell.map(|id| &self.cells[id.index()]);
                let ready_at = cell.map_or(now, |cell| {
                    now.saturating_add(cell.config.timing.base_preparation)
                });
                let slot = cell.map_or(0, |cell| cell.frame.slot_from(ready_at));
                self.bearers[bearer.index()].inlet.push((ready_at, packet));
                self.drain_inlet(now, bearer, pool, probe);
                self.activate(now, ue, direction, slot);
            }
        }
    }

    /// Lets everything happen that is due. Packets that leave a bearer at its far end go to `out`.
    pub fn on_wake<M: Motion, P: Probe>(
        &mut self,
        now: Time,
        motion: &mut M,
        pool: &mut PacketPool,
        out: &mut Vec<PacketId>,
        probe: &mut P,
    ) {
        while self.events.next_at().is_some_and(|at| at <= now) {
            let Some((at, event)) = self.events.pop() else {
                return;
            };
            let mut env = Env {
                now: at,
                motion,
                pool,
                out,
                probe,
            };
            self.counters.events += 1;
            match event {
                Event::Slot(cell, generation) => {
                    if self.cells[cell.index()].wake.fire(generation) {
                        self.on_slot(cell, &mut env);
                    }
                }
                Event::Received(ue, process, Direction::Downlink) => {
                    self.on_downlink_received(ue, process, &mut env);
                }
                Event::Received(ue, process, Direction::Uplink) => {
                    self.on_uplink_received(ue, process, &mut env);
                }
                Event::Timer(bearer, direction, generation) => {
                    let end = self.bearers[bearer.index()].sender(direction);
                    if end.wake.fire(generation) {
                        self.on_timer(bearer, direction, &mut env);
                    }
                }
                Event::Repeat(ue, generation) => {
                    if self.ues[ue.index()].access.repeat.fire(generation) {
                        self.on_repeat(at, ue, env.probe);
                    }
                }
                Event::Attach(ue) => self.on_attach(ue, &mut env),
            }
        }
    }

    fn attach(&mut self, ue: UeId, id: CellId) {
        let cell = &mut self.cells[id.index()];
        let state = &mut self.ues[ue.index()];
        state.attach(ue.index(), id, &cell.config, self.seed);
        state.access.has_occasions = cell.reserve_occasion(state.access.occasion);
        state.link.keep_carrier(&self.cells, id);
    }

    fn on_attach<M: Motion, P: Probe>(&mut self, ue: UeId, env: &mut Env<'_, M, P>) {
        let strongest = self.strongest_cell(ue, env);
        self.attach(ue, strongest);
        // What came before waits already.
        let bearers = &self.ues[ue.index()].bearers;
        let waits = |id: &BearerId| !self.bearers[id.index()].inlet.is_empty();
        if bearers.iter().any(waits) {
            self.activate(env.now, ue, Direction::Downlink, 0);
        }
        self.on_uplink_data(env.now, ue, env.probe);
    }

    /// A slot begins that a cell wanted to look at.
    fn on_slot<M: Motion, P: Probe>(&mut self, id: CellId, env: &mut Env<'_, M, P>) {
        let cell = &mut self.cells[id.index()];
        let slot = cell.frame.slot_at(env.now);
        if slot < cell.first_slot {
            return;
        }
        cell.first_slot = slot + 1;
        self.counters.slots += 1;
        self.send_granted(id, slot, env);
        self.schedule_downlink(id, slot, env);
        self.schedule_uplink(id, slot, env);
        let next = self.next_slot(id);
        if next != NO_SLOT {
            self.need(id, next);
        }
    }

    /// The next slot that a cell has to look at, as far as it knows now.
    fn next_slot(&self, id: CellId) -> u64 {
        let cell = &self.cells[id.index()];
        let earliest = |direction| {
            let active = &cell.half(direction).active;
            let ready = active
                .iter()
                .map(|ue| self.ues[ue.index()].half(direction).ready);
            ready
                .min()
                .filter(|&slot| slot != NO_SLOT)
                .map(|slot| slot.max(cell.first_slot))
        };
        let down = earliest(Direction::Downlink).map(|slot| cell.downlink_from(slot));
        let up = earliest(Direction::Uplink).map(|slot| cell.granting_from(slot));
        let granted = cell.grants.front().map(|granted| granted.slot);
        let next = down.into_iter().chain(up).chain(granted).min();
        next.unwrap_or(NO_SLOT)
    }

    /// Makes a cell look at a slot.
    fn need(&mut self, id: CellId, slot: u64) {
        if let Some((at, generation)) = self.cells[id.index()].need(slot) {
            self.events.schedule(at, Event::Slot(id, generation));
        }
    }

    /// A UE may have something for `slot` or later.
    fn activate(&mut self, now: Time, ue: UeId, direction: Direction, slot: u64) {
        let state = &mut self.ues[ue.index()];
        let Some(id) = state.cell else { return };
        let cell = &self.cells[id.index()];
        let served_from = cell.frame.slot_from(now.max(state.unserved_until));
        let slot = slot.max(cell.first_slot).max(served_from);
        let half = state.half_mut(direction);
        half.is_stalled = false;
        if half.is_active && half.ready <= slot {
            return;
        }
        half.ready = slot;
        if !half.is_active {
            half.is_active = true;
            self.cells[id.index()].half_mut(direction).active.push(ue);
        }
        let cell = &self.cells[id.index()];
        let slot = match direction {
            Direction::Downlink => cell.downlink_from(slot),
            Direction::Uplink => cell.granting_from(slot),
        };
        self.need(id, slot);
    }

    /// Puts the list of active UEs back after a slot, without those that have nothing more.
    fn put_back_active(&mut self, id: CellId, direction: Direction, mut active: Vec<UeId>) {
        active.retain(|&ue| {
            let half = self.ues[ue.index()].half_mut(direction);
            half.is_active &= half.ready != NO_SLOT;
            half.is_active
        });
        self.cells[id.index()].half_mut(direction).active = active;
    }

    /// Arms the timer of one end of a bearer.
    fn arm(&mut self, now: Time, bearer: BearerId, direction: Direction) {
        let end = self.bearers[bearer.index()].sender(direction);
        let at = end.wake_at();
        if at.is_never() {
            return;
        }
        // A packet may be taken late, when its time is already up.
        let at = at.max(now);
        if let Some(generation) = end.wake.arm(at) {
            let event = Event::Timer(bearer, direction, generation);
            self.events.schedule(at, event);
        }
    }
}
