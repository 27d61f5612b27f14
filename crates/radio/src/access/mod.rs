//! The radio access of a scenario: all cells, UEs and bearers.
//!
//! ```text
//! on_packet ─► bearer: PDCP ─► RLC ─► leg: HARQ of one UE in one cell ─► air: does it arrive?
//!                                      ▲                                   │
//!                      cell: who gets which slot                           │
//!                                                                          │
//!      out ◄─ bearer: PDCP ◄─ RLC ◄─ leg ◄─────────────────────────────────┘
//! ```
//!
//! Cells, legs, bearers and the air are machines of their own that know nothing of each other;
//! [`RadioAccess`] carries packets, blocks and wake-ups between them. What the channel does is a
//! function of time, asked for when a transport block needs it, and a cell whose UEs have nothing to
//! send has no events.
//!
//! [`RadioConfig`] says what there is. Uplink and downlink packets are the caller's, in its pool:
//! [`RadioAccess::on_packet`] takes one at one end of a bearer, and [`RadioAccess::on_wake`] gives it
//! back at the other, in order, or drops it and says so.

mod build;
mod capture;
mod counters;
mod failure;
mod handover;
mod managed;
mod mobility;
mod reception;
mod serving;
mod stack;
mod states;

pub use crate::air::{Geometry, geometry};
pub use crate::config::{
    AccessConfig, Adaptation, Aggregation, AirInterface, BearerConfig, CellConfig, CellHarqConfig,
    ConfiguredGrant, DataForwarding, Division, EventKind, FixedSinr, MOST_SECONDARY_CELLS,
    MeasurementEvent, MobilityConfig, Monitoring, ProcedureConfig, RadioConfig, RadioError, Rank,
    RecordedPath, ReleasedTo, ReportedAdaptation, Serving, Sharing, StatesConfig, UeConfig,
    UplinkPower,
};
pub use counters::{Counters, DirectionCounters};
pub use mobility::Move;

use crate::cell::{CellMac, Grant};
use crate::config::{Env, LegId};
use crate::leg::{LegConfig, Repeat};
use crate::rrc::CellSelection;
use fadeout_core::{
    CellId, Direction, DrbId, Motion, PacketId, PacketPool, Probe, RrcEvent, Time, UeId,
};
use stack::Stack;
use states::States;

/// The radio access: carries packets and events between cells, legs, bearers and the air.
#[derive(Debug)]
pub struct RadioAccess {
    cells: Vec<CellMac>,
    stack: Stack,
    mobility: Option<Box<mobility::Mobility>>,
    states: States,
    handled: u64,
    seed: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A slot of a cell that may have something to do.
    Slot(CellId, u32),
    /// The receiver has a transport block.
    Received(LegId, u8, Direction),
    /// A timer of one end of a bearer, the one that sends in this direction.
    Timer(DrbId, Direction, u32),
    /// A UE without a grant may ask again.
    Repeat(LegId, u32),
    /// The downlink of a leg was out of range for too long.
    OutOfRange(LegId),
    /// A UE looks for its cell.
    Attach(UeId),
    /// The mobility of a UE is due.
    Mobility(UeId, u32),
    /// An end marker of a bearer is at the target.
    Marker(DrbId),
    /// Nothing may have come to or from a UE for long.
    Quiet(UeId, u32),
    /// A UE is paged.
    Paged(UeId),
    /// A UE is connected again.
    Opened(UeId),
}

impl RadioAccess {
    /// When [`RadioAccess::on_wake`] wants to be called next.
    pub fn wake_at(&self) -> Time {
        self.stack.events.next_at().unwrap_or(Time::NEVER)
    }

    /// An IP packet enters a bearer: at the base station for the downlink, at the UE for the
    /// uplink. A packet that finds the buffer full is dropped, one whose UE is idle waits for it.
    pub fn on_packet(
        &mut self,
        now: Time,
        bearer: DrbId,
        direction: Direction,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let entering = (bearer, direction, packet);
        if self.states.admits(now, entering, &mut self.stack, probe) {
            self.admit(now, bearer, direction, packet, pool, probe);
        }
    }

    /// A packet enters a bearer of a UE that is connected.
    #[inline]
    fn admit(
        &mut self,
        now: Time,
        bearer: DrbId,
        direction: Direction,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let env = &mut Env {
            now,
            pool,
            // Nothing leaves a bearer before it was sent.
            out: &mut Vec::new(),
            probe,
        };
        let leg = self.stack.leg_of(bearer);
        match direction {
            Direction::Uplink => {
                if self.stack.take(now, bearer, packet, env) {
                    self.on_uplink_data(leg, env);
                }
            }
            Direction::Downlink => {
                let (mut ready_at, mut slot) = (now, 0);
                if let Some(leg) = leg {
                    let cell = self.stack.legs[leg.index()].config.cell;
                    let plan = &self.cells[cell.index()].plan;
                    ready_at = now.saturating_add(plan.config.timing.base_preparation);
                    slot = plan.frame.slot_from(ready_at);
                }
                self.stack.hold(ready_at, bearer, packet, env);
                self.stack.drain_inlet(bearer, env);
                self.activate(now, leg, direction, slot);
                self.activate_secondary(now, leg, ready_at);
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
        while self.wake_at() <= now {
            let Some((now, event)) = self.stack.events.pop() else {
                return;
            };
            self.handled += 1;
            let env = &mut Env {
                now,
                pool,
                out,
                probe,
            };
            match event {
                Event::Slot(cell, generation) => {
                    let state = &mut self.cells[cell.index()];
                    if state.fire(generation) {
                        let stack = &mut self.stack;
                        let mut served = serving::Serving {
                            cell,
                            stack,
                            motion,
                            env,
                        };
                        state.on_slot(now, &mut served);
                    }
                }
                Event::Received(leg, process, direction) => {
                    self.on_received((leg, direction, process), motion, env);
                }
                Event::Timer(bearer, direction, generation) => {
                    if self.stack.bearers[bearer.index()].fire(direction, generation) {
                        self.on_timer(bearer, direction, env);
                    }
                }
                Event::Repeat(leg, generation) => {
                    if self.stack.legs[leg.index()]
                        .requests
                        .fire_repeat(generation)
                    {
                        self.on_repeat(leg, env);
                    }
                }
                Event::OutOfRange(leg) => {
                    // Mobility management monitors links by itself.
                    let ue = self.stack.legs[leg.index()].config.ue;
                    let mobility = self.mobility.as_ref();
                    if !mobility.is_some_and(|it| it.is_managed(ue)) {
                        self.on_link_failure(leg, env);
                    }
                }
                Event::Attach(ue) => self.on_attach(ue, motion, env),
                Event::Mobility(ue, generation) => {
                    self.on_mobility((ue, generation), motion, env);
                }
                Event::Marker(bearer) => self.on_marker(bearer, env),
                Event::Quiet(ue, generation) => {
                    let quiet = (ue, generation);
                    self.states.on_quiet(now, quiet, &mut self.stack, env.probe);
                }
                Event::Paged(ue) => {
                    states::tell(now, (ue, RrcEvent::Paged), &self.stack, env.probe);
                }
                Event::Opened(ue) => self.on_opened(ue, env),
            }
            if !self.stack.storage.signalled.is_empty() {
                self.on_signalling(env);
            }
        }
    }

    /// A UE measures the cells, and connects to the one that it selects.
    fn on_attach<M: Motion>(&mut self, ue: UeId, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let mut selection = CellSelection::default();
        let report = |cell, value| selection.on_measured(cell, value);
        self.stack.air.measure_cells(ue, env.now, motion, report);
        let cell = selection.selected();
        let Some(leg) = cell.and_then(|cell| self.connect(ue, cell).ok()) else {
            return;
        };
        // What came before waits already. Only now is it known what fits into no block.
        let plan = &self.cells[self.stack.legs[leg.index()].config.cell.index()].plan;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let given_db = self.stack.air.given_sinr_db(leg, direction);
            let room = plan.largest_room(direction, given_db);
            self.stack.lose_unfit((leg, direction), room, env);
        }
        if self.stack.downlink_waiting(env.now, leg) != (0, None) {
            self.activate(env.now, Some(leg), Direction::Downlink, 0);
        }
        self.on_uplink_data(Some(leg), env);
    }

    /// A leg may have something for `slot` or later.
    fn activate(&mut self, now: Time, leg: Option<LegId>, direction: Direction, slot: u64) {
        let Some(leg) = leg.map(|leg| &mut self.stack.legs[leg.index()]) else {
            return;
        };
        let LegConfig { cell, rnti, .. } = leg.config;
        let state = &mut self.cells[cell.index()];
        let slot = leg.awaken(&state.plan, now, direction, slot);
        let needed = state.activate(rnti, direction, slot);
        self.stack.wake_cell(cell, needed);
    }

    /// The secondary cells beside a leg may have something from `ready_at` on.
    #[inline]
    fn activate_secondary(&mut self, now: Time, leg: Option<LegId>, ready_at: Time) {
        if let Some(leg) = leg.map(LegId::index)
            && !self.stack.legs[leg].carriers.secondary().is_empty()
        {
            self.activate_beside(now, leg, ready_at);
        }
    }

    #[inline(never)]
    fn activate_beside(&mut self, now: Time, leg: usize, ready_at: Time) {
        let mut position = 0;
        while let Some(&id) = self.stack.legs[leg].carriers.secondary().get(position) {
            let cell = self.stack.legs[id.index()].config.cell;
            let slot = self.cells[cell.index()].plan.frame.slot_from(ready_at);
            self.activate(now, Some(id), Direction::Downlink, slot);
            position += 1;
        }
    }

    /// A timer of the end of a bearer that sends in `direction`.
    fn on_timer(&mut self, bearer: DrbId, direction: Direction, env: &mut Env<'_, impl Probe>) {
        let Stack {
            bearers, storage, ..
        } = &mut self.stack;
        bearers[bearer.index()].on_timer(direction, env, storage);
        self.stack.close_books(bearer, direction.opposite(), env);
        self.stack.close_books(bearer, direction, env);
        self.check_failure(bearer, env);
        self.stack.arm(env.now, bearer, direction);
        self.on_backlog(self.stack.leg_of(bearer), direction, env);
    }

    /// A direction of a leg may have something to send that it did not have before.
    fn on_backlog(
        &mut self,
        leg: Option<LegId>,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
    ) {
        // Secondary cells have no uplink, and what waits for one leg waits for all.
        let leg = leg.map(|leg| {
            self.stack.legs[leg.index()]
                .carriers
                .primary()
                .unwrap_or(leg)
        });
        let backlog = leg.map_or(0, |leg| self.stack.backlog(env.now, leg, direction));
        match direction {
            _ if backlog == 0 => {}
            Direction::Uplink => self.on_uplink_data(leg, env),
            Direction::Downlink => {
                self.activate(env.now, leg, direction, 0);
                self.activate_secondary(env.now, leg, env.now);
            }
        }
    }

    /// Something waits at a UE. If it has no other way to tell, it asks.
    fn on_uplink_data(&mut self, leg: Option<LegId>, env: &mut Env<'_, impl Probe>) {
        let Some(id) = leg else { return };
        let is_heard = self.stack.legs[id.index()].requests.is_heard();
        if is_heard || self.stack.backlog(env.now, id, Direction::Uplink) == 0 {
            return;
        }
        let leg = &mut self.stack.legs[id.index()];
        let cell = &mut self.cells[leg.config.cell.index()];
        let first_slot = cell.first_slot();
        match leg.use_configured_grant(&cell.plan, env.now, first_slot) {
            None => self.request(id, env),
            Some((slot, process)) => {
                let leg = leg.config;
                let grant = Grant {
                    slot,
                    leg: leg.id,
                    process,
                };
                let needed = cell.keep(grant);
                self.stack.wake_cell(leg.cell, needed);
            }
        }
    }

    /// A UE sends a scheduling request.
    fn request(&mut self, id: LegId, env: &mut Env<'_, impl Probe>) {
        let leg = &mut self.stack.legs[id.index()];
        let LegConfig { cell, ue, .. } = leg.config;
        let plan = &self.cells[cell.index()].plan;
        let request = leg.request(plan, env.now);
        if env.probe.wants_mac_pdus(cell, ue) {
            capture::show_request(plan, leg, request.slot, env.probe);
        }
        self.activate(env.now, Some(id), Direction::Uplink, request.answered_from);
        self.stack.arm_repeat(id);
    }

    fn on_repeat(&mut self, id: LegId, env: &mut Env<'_, impl Probe>) {
        let leg = &mut self.stack.legs[id.index()];
        let plan = &self.cells[leg.config.cell.index()].plan;
        let repeat = leg.requests.on_repeat(plan, env.now);
        match repeat {
            Repeat::Later => self.stack.arm_repeat(id),
            Repeat::No => {}
            Repeat::Ask | Repeat::GiveUp
                if self.stack.backlog(env.now, id, Direction::Uplink) == 0 => {}
            Repeat::Ask => self.request(id, env),
            Repeat::GiveUp => self.on_link_failure(id, env),
        }
    }
}
