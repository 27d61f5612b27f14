//! Legs, bearers, the air, and the packets between them. These are all state machines of the radio
//! access except the cells.

use super::changes::Changes;
use super::event::Event;
use crate::air::{Air, Extent};
use crate::bearer::{BlockTimes, Drb, Storage, leg_numbered};
use crate::config::{Env, LegId};
use crate::leg::{
    Carriers, Content, ContentId, Contents, Leg, LegConfig, RlcQueues, UplinkRequests,
    control_bytes, requesting_leg, rlc_of,
};
use crate::plan::CellPlan;
use crate::rlc::{Generation, TransportBlock};
use crate::rrc::UeRrc;
use crate::wire::Encoder;
use fadeout_core::{Agenda, CellId, Direction, DrbId, Motion, PacketId, Probe, Time, UeId};

/// State machines other than cells, and the storage that they share.
#[derive(Debug)]
pub(crate) struct Stack {
    pub ues: Vec<UeRrc>,
    pub legs: Vec<Leg>,
    /// Uplink requests by [`LegId`], for the cell of the leg and its secondary cells.
    pub requests: Vec<UplinkRequests>,
    pub bearers: Vec<Drb>,
    pub air: Air,
    pub contents: Contents,
    pub storage: Storage,
    pub events: Agenda<Event>,
    pub encoder: Encoder,
    pub changes: Changes,
    /// HARQ contents of a failed leg, by direction. Empty between two events.
    pub lost: [Vec<ContentId>; 2],
}

/// RLC entities that send in one direction of a leg.
struct Queues<'a, 'b, P> {
    number: u8,
    direction: Direction,
    bearers: &'a mut [Drb],
    storage: &'a mut Storage,
    env: &'a mut Env<'b, P>,
}

impl<P: Probe> RlcQueues for Queues<'_, '_, P> {
    fn status(&self, bearer: DrbId, rlc: Option<u8>) -> u64 {
        let bearer = &self.bearers[bearer.index()];
        let number = rlc.unwrap_or(self.number);
        let backlog = bearer.backlog(self.env.now, number, self.direction);
        backlog.status
    }

    #[inline]
    fn pull(
        &mut self,
        bearer: DrbId,
        rlc: Option<u8>,
        grant: u32,
        block: &mut TransportBlock,
    ) -> u32 {
        let rlc = (rlc.unwrap_or(self.number), self.direction);
        self.bearers[bearer.index()].pull(rlc, grant, block, self.env, self.storage)
    }
}

impl Stack {
    /// Returns the cell of a UE's first leg. `None` before the UE has selected a cell.
    pub(crate) fn serving_cell(&self, ue: UeId) -> Option<CellId> {
        self.serving_cells(ue).next()
    }

    /// Returns the serving cells of a UE in the order of its legs. The secondary cells of each leg
    /// follow the leg's primary cell.
    pub(crate) fn serving_cells(&self, ue: UeId) -> impl Iterator<Item = CellId> + '_ {
        let legs = self.ues[ue.index()].legs().iter();
        legs.flat_map(|&leg| self.carriers_of(leg))
            .map(|leg| self.legs[leg.index()].config.cell)
    }

    /// Returns a leg and the UE's legs in the secondary cells of that leg.
    pub(crate) fn carriers_of(&self, leg: LegId) -> impl Iterator<Item = LegId> + '_ {
        let scells = self.legs[leg.index()].carriers.scells();
        std::iter::once(leg).chain(scells.iter().copied())
    }

    /// Returns a leg and the uplink requests that its UE uses for the leg's carrier.
    #[inline]
    pub(crate) fn leg_and_requests(&mut self, leg: LegId) -> (&mut Leg, &mut UplinkRequests) {
        let state = &mut self.legs[leg.index()];
        let requests = &mut self.requests[requesting_leg(state).index()];
        (state, requests)
    }

    /// Returns the leg in the secondary cell with index `position` in the list of a primary leg.
    /// `None` if the primary leg has fewer secondary cells.
    #[inline]
    pub(crate) fn scell(&self, leg: LegId, position: usize) -> Option<LegId> {
        let scells = self.legs[leg.index()].carriers.scells();
        scells.get(position).copied()
    }

    /// Adds a secondary cell to a primary leg. Its leg, `leg`, then carries the bearers of the
    /// primary leg too.
    pub(crate) fn aggregate(&mut self, primary: LegId, leg: LegId) {
        let LegConfig { ue, number, .. } = self.legs[primary.index()].config;
        let rrc = &self.ues[ue.index()];
        let aggregation = &rrc.config().aggregation;
        self.legs[leg.index()].carriers = Carriers::for_secondary(primary, aggregation);
        let carriers = &mut self.legs[primary.index()].carriers;
        carriers.add(leg, aggregation.has_uplink);
        if aggregation.has_uplink {
            self.requests[primary.index()].aggregate();
        }
        let listening = self.legs[primary.index()].listening();
        self.legs[leg.index()].listen_as(listening);
        for bearer in rrc.all_bearers() {
            let drb = &mut self.bearers[bearer.index()];
            if drb.config().leg == number {
                add_to_secondary_cell(&mut self.legs, (bearer, drb), leg, [u32::MAX; 2]);
            }
        }
    }

    /// Makes the UE listen on all its carriers while it listens on the carrier of `leg`. New data
    /// on `leg` may have extended the time for which the UE listens.
    #[inline]
    pub(crate) fn align_listening(&mut self, leg: LegId) {
        let state = &self.legs[leg.index()];
        let (primary, listening) = (state.primary(), state.listening());
        if primary != leg {
            self.legs[primary.index()].listen_as(listening);
        }
        let mut position = 0;
        while let Some(secondary) = self.scell(primary, position) {
            self.legs[secondary.index()].listen_as(listening);
            position += 1;
        }
    }

    /// Returns true if data of a UE waits in RLC in either direction.
    pub(crate) fn is_busy(&self, now: Time, ue: UeId) -> bool {
        let legs = self.ues[ue.index()].legs();
        let directions = [Direction::Downlink, Direction::Uplink];
        legs.iter().any(|&leg| {
            let waits = |direction| self.backlog(now, leg, direction) > 0;
            directions.into_iter().any(waits)
        })
    }

    /// Schedules the slot for which a cell has requested a wake-up.
    pub(crate) fn wake_cell(&mut self, cell: CellId, needed: Option<(Time, u32)>) {
        if let Some((at, generation)) = needed {
            let event = Event::Slot(cell, generation);
            self.events.schedule(at, event);
        }
    }

    /// Puts a UE with data bearers under mobility management in a cell of this generation.
    /// `signalling` is the bearer of RRC messages. `control` is the bearer of MAC control elements.
    /// `None` if MAC control elements are not simulated.
    pub(crate) fn manage(
        &mut self,
        ue: UeId,
        (signalling, control): (DrbId, Option<DrbId>),
        generation: Generation,
    ) {
        let rrc = &mut self.ues[ue.index()];
        if let Some(control) = control {
            self.bearers[control.index()].carry_signalling();
            rrc.on_control_bearer();
        }
        self.bearers[signalling.index()].carry_signalling();
        rrc.on_signalling_bearer();
        for bearer in rrc.bearers() {
            self.bearers[bearer.index()].mobile().manage();
        }
        for bearer in rrc.all_bearers() {
            self.bearers[bearer.index()].mobile().begin_in(generation);
        }
    }

    /// Returns the leg on which a bearer sends. `None` while its UE is not connected.
    #[inline]
    pub(crate) fn leg_of(&self, bearer: DrbId) -> Option<LegId> {
        self.bearers[bearer.index()].leg()
    }

    /// Arms the timer at the end of a bearer that sends in this direction.
    pub(crate) fn arm(&mut self, now: Time, bearer: DrbId, direction: Direction) {
        let armed = self.bearers[bearer.index()].arm(now, direction);
        if let Some((at, generation)) = armed {
            let event = Event::Timer(bearer, direction, generation);
            self.events.schedule(at, event);
        }
    }

    /// Arms the timer for a UE's next scheduling request.
    pub(crate) fn arm_repeat(&mut self, leg: LegId) {
        let leg = requesting_leg(&self.legs[leg.index()]);
        if let Some((at, generation)) = self.requests[leg.index()].arm_repeat() {
            self.events
                .schedule(at, Event::RepeatRequest(leg, generation));
        }
    }

    /// Passes an uplink packet to PDCP. Returns false if the packet was dropped.
    #[inline]
    pub(crate) fn accept_uplink(
        &mut self,
        now: Time,
        bearer: DrbId,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let (direction, storage) = (Direction::Uplink, &mut self.storage);
        let drb = &mut self.bearers[bearer.index()];
        drb.enter(direction, packet, env, storage);
        let is_taken = drb.accept_packet(now, direction, packet, env, storage);
        if is_taken && drb.config().wakes_for_packets() {
            self.arm(now, bearer, direction);
        }
        is_taken
    }

    /// Holds a downlink packet for the processing time of the base station, until `ready_at`.
    #[inline]
    pub(crate) fn hold_downlink(
        &mut self,
        ready_at: Time,
        bearer: DrbId,
        packet: PacketId,
        env: &Env<'_, impl Probe>,
    ) {
        let drb = &mut self.bearers[bearer.index()];
        drb.enter(Direction::Downlink, packet, env, &mut self.storage);
        drb.hold(ready_at, packet);
    }

    /// Moves downlink packets that the base station has processed into PDCP. For a split bearer,
    /// also moves frames that the other base station has processed into its RLC.
    #[inline]
    pub(crate) fn drain_inlet(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let drb = &mut self.bearers[bearer.index()];
        if drb.config().split.is_some() {
            self.drain_split(bearer, env);
            return;
        }
        if drb.drain_inlet(env, &mut self.storage) && drb.config().wakes_for_packets() {
            self.arm(env.now, bearer, Direction::Downlink);
        }
    }

    /// Returns the bytes that wait in one direction of a leg. Uplink data waits at the UE, and
    /// downlink data waits at the base station.
    #[inline]
    pub(crate) fn backlog(&self, now: Time, leg: LegId, direction: Direction) -> u64 {
        let leg = &self.legs[leg.index()];
        let mut bytes = match direction {
            Direction::Downlink => control_bytes(leg),
            Direction::Uplink => 0,
        };
        for id in leg.channels.bearers() {
            let bearer = &self.bearers[id.index()];
            bytes += bearer.backlog(now, rlc_of(leg, id), direction).total();
        }
        bytes
    }

    /// Returns the bytes of the smallest block that can carry a part of the waiting data in one
    /// direction of a leg. Zero if no data waits.
    pub(crate) fn least_block(&self, leg: LegId, direction: Direction) -> u32 {
        let leg = &self.legs[leg.index()];
        let of_bearer =
            |id: DrbId| self.bearers[id.index()].least_grant(rlc_of(leg, id), direction);
        let least = leg.channels.bearers().map(of_bearer);
        least.filter(|&bytes| bytes > 0).min().unwrap_or(0)
    }

    /// Drops waiting data that fits into no block of at most `room` bytes, if the UE's SINR is
    /// given. A given SINR never changes, so blocks will never be larger. Returns true if the SINR
    /// is given.
    pub(crate) fn drop_oversized(
        &mut self,
        (leg, direction): (LegId, Direction),
        room: u32,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let is_secondary = self.legs[leg.index()].carriers.primary().is_some();
        let is_given = !is_secondary && self.air.given_sinr_db(leg, direction).is_some();
        if is_given {
            self.lose_unfit((leg, direction), room, env);
        }
        is_given
    }

    /// Drops SDUs that fit into no block of a leg. Blocks of the leg contain at most `room` bytes
    /// of data. SDUs are examined from the head of each bearer's buffer up to the first SDU that
    /// fits.
    pub(crate) fn lose_unfit(
        &mut self,
        (leg, direction): (LegId, Direction),
        room: u32,
        env: &mut Env<'_, impl Probe>,
    ) {
        let leg = &self.legs[leg.index()];
        for id in leg.channels.bearers() {
            let drb = &mut self.bearers[id.index()];
            let rlc = (rlc_of(leg, id), direction);
            drb.drop_oversized(rlc, room, env, &mut self.storage);
        }
    }

    /// Returns the bytes that the base station has to send on a leg, and the end of processing of
    /// the next packet. `None` as end if the base station is processing no packet.
    #[inline]
    pub(crate) fn downlink_waiting(&self, now: Time, leg: LegId) -> (u64, Option<Time>) {
        let leg = &self.legs[leg.index()];
        let (mut bytes, mut inlet_at) = (control_bytes(leg), None);
        for id in leg.channels.bearers() {
            let number = rlc_of(leg, id);
            let bearer = &self.bearers[id.index()];
            bytes += bearer.backlog(now, number, Direction::Downlink).total();
            inlet_at = match (inlet_at, bearer.inlet_at(number)) {
                (Some(one), Some(other)) => Some(Time::min(one, other)),
                (one, other) => one.or(other),
            };
        }
        (bytes, inlet_at)
    }

    /// Fills a transport block of `bytes` bytes. `None` if no data or control element fits.
    pub(crate) fn fill(
        &mut self,
        leg: LegId,
        direction: Direction,
        bytes: u32,
        env: &mut Env<'_, impl Probe>,
    ) -> Option<ContentId> {
        let id = self.contents.claim();
        let leg = &mut self.legs[leg.index()];
        let now = env.now;
        let mut queues = Queues {
            number: leg.config.number,
            direction,
            bearers: &mut self.bearers,
            storage: &mut self.storage,
            env,
        };
        let content = self.contents.content_mut(id);
        let mut room = bytes;
        if direction == Direction::Downlink && !leg.controls.is_empty() {
            leg.controls.retain(|control| {
                let fits = control.size() <= room;
                if fits {
                    room -= control.size();
                    content.controls.push(*control);
                }
                !fits
            });
        }
        leg.channels
            .fill(now, direction, room, content, &mut queues);
        if content.bearers.is_empty() && content.controls.is_empty() {
            self.contents.free(id);
            return None;
        }
        // RLC starts a timer when it sends a poll.
        for index in 0..self.contents.content(id).bearers.len() {
            let (bearer, _) = self.contents.content(id).bearers[index];
            self.arm(now, bearer, direction);
        }
        Some(id)
    }

    /// Reports the queue sizes to the probe when a new block is sent. Also records the send time of
    /// packets whose first part is in the block.
    pub(crate) fn on_new_block(
        &mut self,
        leg: LegId,
        direction: Direction,
        content: ContentId,
        requested_at: Option<Time>,
        env: &mut Env<'_, impl Probe>,
    ) {
        for bearer in self.legs[leg.index()].channels.bearers() {
            self.bearers[bearer.index()].sample(direction, env);
        }
        let content = self.contents.content(content);
        for (bearer, pdus) in content.runs() {
            if env.probe.wants_radio_delay(bearer) {
                let times = (env.now, requested_at);
                let pdus = (&content.block, pdus);
                let storage = &mut self.storage;
                self.bearers[bearer.index()].mark_first_parts(direction, pdus, times, storage);
            }
        }
    }

    /// Returns the SINR in dB of a received block. Returns 0 if neither decoding nor the probe
    /// needs it.
    pub(crate) fn sinr_db<M: Motion>(
        &mut self,
        plan: &CellPlan,
        (id, direction, process): (LegId, Direction, u8),
        motion: &mut M,
        env: &Env<'_, impl Probe>,
    ) -> f64 {
        if plan.config.fixed_errors.is_some() && !env.probe.wants_transport_blocks(plan.id) {
            return 0.0;
        }
        let block = self.legs[id.index()].half(direction).block(process);
        let scheme = usize::from(block.shape.scheme);
        let scheme = plan.resources(direction).scheme(scheme);
        self.air.refresh(id, env.now, motion);
        match direction {
            Direction::Downlink => {
                let extent = match &plan.sub_bands {
                    Some(sub_bands) if !block.shape.bands.is_empty() => {
                        Extent::Part(block.shape.bands, sub_bands)
                    }
                    _ => Extent::Whole,
                };
                self.air.downlink_sinr_db(id, block.slot, (scheme, extent))
            }
            Direction::Uplink => {
                let sent = (block.slot, scheme);
                self.air.uplink_sinr_db(id, sent, block.block_power_dbm)
            }
        }
    }

    /// Passes the PDUs of one bearer in a decoded block to RLC.
    pub(crate) fn on_pdus(
        &mut self,
        (leg, direction): (LegId, Direction),
        bearer: DrbId,
        (content, pdus): (&Content, std::ops::Range<usize>),
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
    ) {
        let rlc = (rlc_of(&self.legs[leg.index()], bearer), direction);
        let drb = &mut self.bearers[bearer.index()];
        drb.on_pdus(rlc, (&content.block, pdus), times, env, &mut self.storage);
    }

    /// Reports the loss of the content of a block that HARQ abandoned.
    pub(crate) fn report_lost_block(
        &mut self,
        (leg, direction): (LegId, Direction),
        id: ContentId,
        env: &mut Env<'_, impl Probe>,
    ) {
        let content = self.contents.take_content(id);
        // The base station repeats control elements that the UE has not received.
        let controls = &mut self.legs[leg.index()].controls;
        controls.extend_from_slice(&content.controls);
        for (bearer, pdus) in content.runs() {
            let rlc = (rlc_of(&self.legs[leg.index()], bearer), direction);
            let drb = &mut self.bearers[bearer.index()];
            drb.on_harq_failure(rlc, (&content.block, pdus), env, &mut self.storage);
        }
        self.contents.put_back(id, content);
    }

    /// Declares missing packets of a receiver lost, if they can no longer arrive.
    #[inline]
    pub(crate) fn declare_lost(
        &mut self,
        bearer: DrbId,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
    ) {
        let drb = &mut self.bearers[bearer.index()];
        let legs = &self.legs;
        let is_idle = |drb: &Drb| {
            drb.legs().all(|leg| {
                let leg = &legs[leg.index()];
                let mut scells = leg.carriers.scells().iter();
                leg.half(direction).is_idle()
                    && scells.all(|leg| legs[leg.index()].half(direction).is_idle())
            })
        };
        drb.drop_undelivered(direction, is_idle, env, &mut self.storage);
    }

    /// Reports the loss of the content of a leg's HARQ processes, which are empty now.
    #[cold]
    pub(crate) fn lose_content(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mut contents = std::mem::take(&mut self.lost[direction.index()]);
            for content in contents.drain(..) {
                self.report_lost_block((leg, direction), content, env);
            }
            self.lost[direction.index()] = contents;
        }
    }

    /// Reports the loss of a failed leg's HARQ content, and re-establishes its bearers.
    #[cold]
    pub(crate) fn fail_bearers(
        &mut self,
        (leg, until): (LegId, Time),
        env: &mut Env<'_, impl Probe>,
    ) {
        self.lose_content(leg, env);
        let mut position = 0;
        while let Some(bearer) = self.legs[leg.index()].channels.bearer(position) {
            position += 1;
            if !fails_with(self, leg, bearer) {
                continue;
            }
            let drb = &mut self.bearers[bearer.index()];
            let number = rlc_of(&self.legs[leg.index()], bearer);
            drb.reestablish((number, until), env, &mut self.storage);
            self.arm_interface(env.now, bearer);
        }
    }
}

/// Adds a bearer of the primary cell to a leg in a secondary cell. If an RLC entity of the bearer
/// is restricted to that cell, only this entity is added. `capacities` is the payload bytes of the
/// leg's largest blocks, by direction.
pub(crate) fn add_to_secondary_cell(
    legs: &mut [Leg],
    (bearer, drb): (DrbId, &mut Drb),
    leg: LegId,
    capacities: [u32; 2],
) {
    let state = &mut legs[leg.index()];
    let config = drb.config();
    match config.kept_to(state.config.cell) {
        None => state.channels.add(bearer, config),
        Some(rlc) => {
            state.channels.add_restricted(bearer, config, rlc);
            state.carriers.request_on_own_leg();
            drb.on_connected(rlc, leg, capacities);
        }
    }
}

/// Returns true if a bearer has an RLC entity that fails with this leg. On a leg in a secondary
/// cell, only an RLC entity that is restricted to that cell fails.
pub(crate) fn fails_with(stack: &Stack, leg: LegId, bearer: DrbId) -> bool {
    let state = &stack.legs[leg.index()];
    let is_secondary = state.carriers.primary().is_some();
    let number = rlc_of(state, bearer);
    !is_secondary || leg_numbered(&stack.bearers[bearer.index()], number) == Some(leg)
}
