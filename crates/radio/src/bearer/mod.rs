//! A data radio bearer: one PDCP anchor at each end, and RLC on one or more legs.
//!
//! ```text
//! take ─► PDCP ─► RLC of a leg ─► pull: a block of that leg
//!                                             │ decoded: on_pdus, given up: lose
//!  out ◄─ PDCP ◄─ RLC of the leg ◄────────────┘
//! ```
//!
//! A [`Drb`] knows neither cells nor HARQ: blocks are filled from it and handed to it, by the
//! number of the leg. The legs of a UE are numbered from 0. Its books close: each packet that it
//! took leaves once, delivered or lost.

mod rlc_leg;
mod storage;
#[cfg(test)]
mod tests;
mod track;

pub(crate) use storage::Storage;
pub(crate) use track::BlockTimes;

use crate::config::{BearerConfig, Env};
use crate::pdcp::{Ledger, Rx, Tx};
use crate::rlc::{Backlog, Mode, ParameterError, TransportBlock};
use crate::wire::BearerFormat;
use fadeout_core::random::Stream;
use fadeout_core::{
    BearerId, BearerRow, Direction, PacketId, PacketPool, Probe, RadioDropCause, RadioDropRow,
    Ring, Time, Wake,
};
use rlc_leg::{RlcEnd, RlcLeg};
use std::ops::Range;

/// A bearer: both ends, both directions.
#[derive(Debug)]
pub(crate) struct Drb {
    id: BearerId,
    config: BearerConfig,
    /// The base station's and the UE's, so that `anchors[direction.index()]` sends in a direction.
    anchors: [Anchor; 2],
    /// The first takes what is sent (primaryPath, TS 38.331 clause 6.3.2).
    legs: Vec<RlcLeg>,
    /// Packets that the base station processes before PDCP takes them, and until when.
    inlet: Ring<(Time, PacketId)>,
    counters: [BearerCounters; 2],
}

/// PDCP at one end.
#[derive(Debug)]
struct Anchor {
    tx: Tx,
    rx: Rx,
    /// The packets that this end sends.
    ledger: Ledger,
    wake: Wake,
}

/// What one direction of a bearer has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BearerCounters {
    /// Packets that left PDCP at the receiving end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets lost on the way.
    pub dropped_packets: u64,
    /// Those of them that queue management dropped.
    pub aqm_dropped_packets: u64,
    /// Packets that queue management marked.
    pub marked_packets: u64,
}

impl Drb {
    /// The bearer `id`, the UE's `nth` whose RLC PDUs have its form, on the legs with these numbers.
    ///
    /// # Errors
    /// A parameter of RLC or PDCP has a value that is not allowed.
    pub(crate) fn new(
        (id, nth): (BearerId, u8),
        config: BearerConfig,
        legs: &[u8],
        seed: u64,
    ) -> Result<Drb, ParameterError> {
        let anchor = || -> Result<Anchor, ParameterError> {
            Ok(Anchor {
                tx: Tx::new(&config.pdcp)?,
                rx: Rx::new(&config.pdcp)?,
                ledger: Ledger::new(),
                wake: Wake::default(),
            })
        };
        let end = |position: u64, direction: Direction| {
            let entity = (position << 40) + 2 * u64::from(id.0) + direction.index() as u64;
            RlcEnd::new(&config.rlc, Stream::new(seed, "radio.aqm", entity))
        };
        let leg = |(position, &leg)| -> Result<RlcLeg, ParameterError> {
            Ok(RlcLeg {
                leg,
                format: BearerFormat::new(&config.rlc, &config.pdcp, nth),
                ends: [
                    end(position, Direction::Downlink)?,
                    end(position, Direction::Uplink)?,
                ],
            })
        };
        Ok(Drb {
            id,
            config,
            legs: (0..).zip(legs).map(leg).collect::<Result<_, _>>()?,
            anchors: [anchor()?, anchor()?],
            inlet: Ring::new(),
            counters: [BearerCounters::default(); 2],
        })
    }

    pub(crate) fn config(&self) -> &BearerConfig {
        &self.config
    }

    /// How its PDUs look on the air.
    pub(crate) fn format(&self) -> &BearerFormat {
        &self.legs[0].format
    }

    /// The packets that are under way in a direction.
    pub(crate) fn ledger(&self, direction: Direction) -> &Ledger {
        &self.anchors[direction.index()].ledger
    }

    pub(crate) fn counters(&self, direction: Direction) -> &BearerCounters {
        &self.counters[direction.index()]
    }

    /// Numbers of the legs that it has RLC on.
    pub(crate) fn legs(&self) -> impl Iterator<Item = u8> + '_ {
        self.legs.iter().map(|leg| leg.leg)
    }

    #[inline]
    fn position(&self, leg: u8) -> usize {
        let found = self.legs.iter().position(|rlc| rlc.leg == leg);
        debug_assert!(found.is_some(), "the bearer has RLC on leg {leg}");
        found.unwrap_or(0)
    }

    /// What waits to be sent on a leg.
    #[inline]
    pub(crate) fn backlog(&self, now: Time, leg: u8, direction: Direction) -> Backlog {
        let rlc = &self.legs[self.position(leg)];
        rlc.ends[direction.index()].rlc.backlog(now)
    }

    /// A packet arrives at one end. Nothing becomes of it before [`Drb::take`].
    pub(crate) fn enter(
        &self,
        direction: Direction,
        packet: PacketId,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if env.probe.wants_radio_delay(self.id) {
            let tracks = &mut storage.tracks;
            tracks.enter(packet, self.id, direction, env.now);
        }
    }

    /// The base station is busy with a downlink packet until `ready_at`.
    pub(crate) fn hold(&mut self, ready_at: Time, packet: PacketId) {
        self.inlet.push((ready_at, packet));
    }

    /// When the base station is ready with the next packet that it is busy with.
    #[inline]
    pub(crate) fn inlet_at(&self) -> Option<Time> {
        self.inlet.front().map(|&(at, _)| at)
    }

    /// PDCP takes the packets that the base station is ready with by now. Whether it took any.
    pub(crate) fn drain_inlet(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> bool {
        let mut took_any = false;
        while let Some(&(ready_at, packet)) = self.inlet.front() {
            if ready_at > env.now {
                break;
            }
            self.inlet.pop();
            took_any |= self.take(ready_at, Direction::Downlink, packet, env, storage);
        }
        took_any
    }

    /// PDCP and RLC take a packet. False when it was dropped: the buffer was full, or queue
    /// management chose it. It then takes no COUNT.
    pub(crate) fn take(
        &mut self,
        at: Time,
        direction: Direction,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> bool {
        if self.legs[0].sender(direction).has_aqm() && !self.admits(at, direction, packet, env) {
            return false;
        }
        let size = env.pool[packet].segment.wire_len();
        let rlc = &mut self.legs[0].ends[direction.index()].rlc;
        let anchor = &mut self.anchors[direction.index()];
        let taken = anchor
            .tx
            .on_packet(at, packet, size, rlc, &mut anchor.ledger);
        match taken {
            Ok(sdu) => {
                if env.probe.wants_radio_delay(self.id) {
                    storage.tracks.number(packet, sdu.serial);
                }
                true
            }
            Err(packet) => {
                let loss = self.loss(at, direction, RadioDropCause::BufferFull);
                loss.of(packet, env.pool, env.probe);
                self.counters[direction.index()].dropped_packets += 1;
                false
            }
        }
    }

    /// Whether queue management takes a packet, which it may mark. One that it does not is dropped.
    fn admits(
        &mut self,
        at: Time,
        direction: Direction,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let size = env.pool[packet].segment.wire_len() + self.config.pdcp.header();
        let mut marked = 0;
        let end = self.legs[0].sender(direction);
        let is_taken = end.admits(at, size, &mut env.pool[packet].ecn, &mut marked);
        let counters = &mut self.counters[direction.index()];
        counters.marked_packets += marked;
        if !is_taken {
            counters.aqm_dropped_packets += 1;
            counters.dropped_packets += 1;
            let loss = self.loss(at, direction, RadioDropCause::Aqm);
            loss.of(packet, env.pool, env.probe);
        }
        is_taken
    }

    /// Fills up to `grant` bytes of a block of a leg. Returns the bytes used.
    #[inline]
    pub(crate) fn pull(
        &mut self,
        (leg, direction): (u8, Direction),
        grant: u32,
        block: &mut TransportBlock,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> u32 {
        let position = self.position(leg);
        let end = self.legs[position].sender(direction);
        let mut marked = 0;
        let marks = (&mut *env.pool, &mut marked);
        let used = end.pull(env.now, grant, block, marks, &mut storage.dropped);
        if marked > 0 || !storage.dropped.is_empty() {
            self.on_managed(direction, marked, env, storage);
        }
        used
    }

    /// Queue management has marked packets and dropped SDUs at the head of a queue.
    #[cold]
    fn on_managed(
        &mut self,
        direction: Direction,
        marked: u64,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let loss = self.loss(env.now, direction, RadioDropCause::Aqm);
        let ledger = &mut self.anchors[direction.index()].ledger;
        let counters = &mut self.counters[direction.index()];
        counters.marked_packets += marked;
        for sdu in storage.dropped.drain(..) {
            if ledger.leave(sdu.serial) {
                counters.aqm_dropped_packets += 1;
                counters.dropped_packets += 1;
                loss.of(sdu.packet, env.pool, env.probe);
            }
        }
    }

    /// Notes which packets are first on the air at `at` with these PDUs of a block. `requested_at`
    /// is when the UE sent the scheduling request that the block's grant answers.
    pub(crate) fn mark_first_parts(
        &self,
        direction: Direction,
        (block, pdus): (&TransportBlock, Range<usize>),
        (at, requested_at): (Time, Option<Time>),
        storage: &mut Storage,
    ) {
        for pdu in &block.pdus[pdus] {
            for part in block.data_parts(pdu) {
                if part.is_first() {
                    let key = (part.sdu.packet, part.sdu.serial, self.id, direction);
                    storage.tracks.first_part(key, at, requested_at);
                }
            }
        }
    }

    /// A block of a leg was decoded in which these PDUs are the bearer's.
    pub(crate) fn on_pdus(
        &mut self,
        (leg, direction): (u8, Direction),
        (block, pdus): (&TransportBlock, Range<usize>),
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if env.probe.wants_radio_delay(self.id) {
            for pdu in &block.pdus[pdus.clone()] {
                for part in block.data_parts(pdu) {
                    let key = (part.sdu.packet, part.sdu.serial, self.id, direction);
                    storage.tracks.decoded(key, times);
                }
            }
        }
        let position = self.position(leg);
        let receiver = &mut self.legs[position].receiver(direction).rlc;
        receiver.on_pdus(env.now, block, pdus, &mut storage.sdus);
        self.on_sdus(direction, env, storage);
    }

    /// SDUs that RLC has handed up go through PDCP.
    fn on_sdus(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let rx = &mut self.anchors[direction.opposite().index()].rx;
        for sdu in storage.sdus.drain(..) {
            rx.on_sdu(env.now, sdu, &mut storage.ordered);
        }
        self.hand_over(direction, env, storage);
    }

    /// SDUs in order leave the bearer; what PDCP has passed over is lost.
    fn hand_over(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let (mut packets, mut bytes) = (0, 0);
        let passed = self.anchors[direction.opposite().index()].rx.passed();
        let ledger = &mut self.anchors[direction.index()].ledger;
        for sdu in storage.ordered.drain(..) {
            if !ledger.leave(sdu.serial) {
                continue;
            }
            let size = env.pool[sdu.packet].segment.wire_len();
            if env.probe.wants_radio_delay(self.id) {
                let key = (sdu.packet, sdu.serial, self.id, direction);
                if let Some(mut row) = storage.tracks.row(key, env.now) {
                    row.flow = env.pool[sdu.packet].flow;
                    row.size_bytes = size;
                    env.probe.radio_delay(row);
                }
            }
            packets += 1;
            bytes += u64::from(size);
            env.out.push(sdu.packet);
        }
        ledger.pass(passed, &mut storage.lost);
        let counters = &mut self.counters[direction.index()];
        counters.delivered_packets += packets;
        counters.delivered_bytes += bytes;
        self.drop_lost(direction, RadioDropCause::Reordering, env, storage);
    }

    /// HARQ of a leg has given up a block in which these PDUs are the bearer's. A mode that does not
    /// repeat loses their packets.
    pub(crate) fn lose(
        &mut self,
        direction: Direction,
        (block, pdus): (&TransportBlock, Range<usize>),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.is_acknowledged() {
            return;
        }
        let ledger = &mut self.anchors[direction.index()].ledger;
        for pdu in &block.pdus[pdus] {
            for part in block.data_parts(pdu) {
                if ledger.leave(part.sdu.serial) {
                    storage.lost.push(part.sdu.packet);
                }
            }
        }
        self.drop_lost(direction, RadioDropCause::HarqFailure, env, storage);
    }

    /// Without acknowledgments, what the receiver discards vanishes without a word. When nothing
    /// of a bearer is under way any more, in its buffers or in HARQ, what has not left it is lost.
    pub(crate) fn close_books(
        &mut self,
        direction: Direction,
        is_harq_idle: impl FnOnce() -> bool,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.is_acknowledged() || self.ledger(direction).is_empty() {
            return;
        }
        let (from, to) = (direction.index(), direction.opposite().index());
        let is_waiting = |leg: &RlcLeg| !leg.ends[to].rlc.wake_at().is_never();
        if self.legs.iter().any(is_waiting) || self.anchors[to].rx.is_holding() {
            return;
        }
        let has_sent = |leg: &RlcLeg| leg.ends[from].rlc.backlog(env.now).is_empty();
        if self.legs.iter().all(has_sent) && is_harq_idle() {
            self.anchors[from].ledger.pass_all(&mut storage.lost);
            self.drop_lost(direction, RadioDropCause::Reordering, env, storage);
        }
    }

    /// A timer of the end that sends in `direction`. Its backlog may have grown.
    pub(crate) fn on_timer(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let anchor = &mut self.anchors[direction.index()];
        for leg in &mut self.legs {
            let end = leg.sender(direction);
            end.catch_up(env.now);
            anchor.tx.on_wake(env.now, &mut end.rlc, &mut storage.sdus);
        }
        for sdu in storage.sdus.drain(..) {
            if anchor.ledger.leave(sdu.serial) {
                storage.lost.push(sdu.packet);
            }
        }
        // LTE's RLC hands up what it has held back, in this end's receiving direction.
        for leg in &mut self.legs {
            let end = leg.sender(direction);
            end.rlc.on_wake(env.now, &mut storage.sdus);
        }
        self.drop_lost(direction, RadioDropCause::DiscardTimer, env, storage);
        let receiving = direction.opposite();
        self.on_sdus(receiving, env, storage);
        let rx = &mut self.anchors[direction.index()].rx;
        rx.on_wake(env.now, &mut storage.ordered);
        self.hand_over(receiving, env, storage);
    }

    /// When the end that sends in `direction` next has something to do by itself.
    fn wake_at(&self, direction: Direction) -> Time {
        let anchor = &self.anchors[direction.index()];
        let mut at = anchor.rx.wake_at();
        for leg in &self.legs {
            let rlc = &leg.ends[direction.index()].rlc;
            at = at.min(rlc.wake_at()).min(anchor.tx.wake_at(rlc));
        }
        at
    }

    /// When to call [`Drb::on_timer`] for the end that sends in `direction`, and the generation
    /// of that wake-up; none when an earlier one is pending.
    pub(crate) fn arm(&mut self, now: Time, direction: Direction) -> Option<(Time, u32)> {
        let at = self.wake_at(direction);
        if at.is_never() {
            return None;
        }
        // A packet may be taken late, when its time is already up.
        let at = at.max(now);
        let wake = &mut self.anchors[direction.index()].wake;
        wake.arm(at).map(|generation| (at, generation))
    }

    /// Whether a wake-up is the one that was armed last.
    pub(crate) fn fire(&mut self, direction: Direction, generation: u32) -> bool {
        self.anchors[direction.index()].wake.fire(generation)
    }

    /// The leg on which either end has repeated something as often as it may.
    #[inline]
    pub(crate) fn failed_leg(&self) -> Option<u8> {
        let has_failed = |leg: &&RlcLeg| leg.ends.iter().any(|end| end.rlc.has_failed());
        self.legs.iter().find(has_failed).map(|leg| leg.leg)
    }

    /// Whether RLC repeats what was lost.
    #[inline]
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(self.config.rlc.mode, Mode::Am(_))
    }

    /// RLC and PDCP start afresh at both ends: what the receivers hold goes up, everything else is
    /// lost.
    pub(crate) fn reestablish(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            for leg in &mut self.legs {
                let end = leg.sender(direction);
                end.catch_up(env.now);
                let tx = &mut self.anchors[direction.index()].tx;
                tx.reestablish(&mut end.rlc, &mut storage.unconfirmed);
            }
        }
        // The ledgers know all of them, and those that only a receiver knew of.
        storage.unconfirmed.clear();
        for direction in [Direction::Downlink, Direction::Uplink] {
            let receiver = &mut self.anchors[direction.opposite().index()];
            receiver.rx.flush(&mut storage.ordered);
            self.hand_over(direction, env, storage);
            let ledger = &mut self.anchors[direction.index()].ledger;
            ledger.pass_all(&mut storage.lost);
            self.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
        }
    }

    /// A row of what waits in a direction, when the probe wants one.
    pub(crate) fn sample(&self, direction: Direction, env: &mut Env<'_, impl Probe>) {
        if !env.probe.wants_bearer(env.now, self.id) {
            return;
        }
        let mut backlog = Backlog::default();
        for leg in &self.legs {
            let of_leg = leg.ends[direction.index()].rlc.backlog(env.now);
            backlog.new += of_leg.new;
            backlog.retransmission += of_leg.retransmission;
            backlog.status += of_leg.status;
        }
        env.probe.bearer(BearerRow {
            time_s: env.now,
            bearer: self.id,
            direction,
            rlc_new_bytes: backlog.new,
            rlc_retransmission_bytes: backlog.retransmission,
            rlc_status_bytes: backlog.status,
            packets: self.anchors[direction.index()].ledger.len() as u32,
            pdcp_held_packets: self.anchors[direction.opposite().index()].rx.held(),
        });
    }

    /// The packets in the list of lost ones are dropped.
    fn drop_lost(
        &mut self,
        direction: Direction,
        cause: RadioDropCause,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let loss = self.loss(env.now, direction, cause);
        self.counters[direction.index()].dropped_packets += storage.lost.len() as u64;
        for packet in storage.lost.drain(..) {
            loss.of(packet, env.pool, env.probe);
        }
    }

    fn loss(&self, now: Time, direction: Direction, cause: RadioDropCause) -> Loss {
        Loss {
            now,
            bearer: self.id,
            direction,
            cause,
        }
    }
}

/// A packet is dropped.
struct Loss {
    now: Time,
    bearer: BearerId,
    direction: Direction,
    cause: RadioDropCause,
}

impl Loss {
    /// Frees the packet and tells the probe.
    fn of(&self, packet: PacketId, pool: &mut PacketPool, probe: &mut impl Probe) {
        let packet = pool.take(packet);
        probe.radio_dropped(RadioDropRow {
            time_s: self.now,
            bearer: self.bearer,
            direction: self.direction,
            flow: packet.flow,
            size_bytes: packet.segment.wire_len(),
            cause: self.cause,
        });
    }
}
