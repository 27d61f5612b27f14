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

mod abroad;
mod compression;
mod copies;
pub(crate) mod daps;
pub(crate) mod early;
mod entering;
mod forwarding;
mod generation;
mod leaving;
mod markers;
mod rlc_leg;
mod split;
mod storage;
#[cfg(test)]
mod tests;
mod track;
mod transfer;

pub(crate) use abroad::Stays;
pub(crate) use compression::compressed;
pub(crate) use leaving::fail_leg;
pub(crate) use split::{
    Carried, Frame, FrameKind, SplitBearer, carried, close_secondary, hold_secondary, last_far,
    leave_secondary, leg_numbered, manage_secondary, on_late_uplink, open_secondary, shown, split,
    uses_further_legs,
};
pub(crate) use storage::Storage;
pub(crate) use track::BlockTimes;
pub(crate) use transfer::TransferCounts;

use crate::config::{BearerConfig, Env, LegId};
use crate::pdcp::{Ledger, Rohc, Rx, Tx};
use crate::rlc::{Backlog, Generation, ParameterError, TransportBlock};
use crate::wire::BearerFormat;
use daps::Daps;
use fadeout_core::random::Stream;
use fadeout_core::{Direction, DrbId, PacketId, Probe, RadioDropCause, Ring, Time, Wake};
use rlc_leg::{RlcEnd, RlcLeg, RlcLegs, nth_of_leg};
use split::Split;
use std::ops::Range;
use transfer::Transfers;

/// A bearer: both ends, both directions. What a cell asks in every slot stands first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Drb {
    /// Packets that the base station processes before PDCP takes them, and until when.
    inlet: Ring<(Time, PacketId)>,
    /// Of one that is split.
    split: Option<Box<Split>>,
    /// Whether a source serves it on while its UE enters the target, or after.
    pub(crate) is_dual: bool,
    /// Its number among those of its UE whose RLC PDUs have its form.
    nth: u8,
    /// Whether it carries RRC's messages: it is in no table.
    pub(crate) is_signalling: bool,
    /// Whether candidates of its UE get copies of what is sent down.
    has_takers: bool,
    id: DrbId,
    legs: RlcLegs,
    config: BearerConfig,
    /// That of its UE's cell, under mobility management.
    generation: Option<Generation>,
    /// The base station's and the UE's, so that `anchors[direction.index()]` sends in a direction.
    anchors: [Anchor; 2],
    counters: [BearerCounters; 2],
    /// Of a UE under mobility management.
    transfer: Transfers,
}

/// The side that finds that a link, or RLC on it, has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finder {
    Ue,
    Station,
}

/// PDCP at one end.
#[derive(Debug)]
struct Anchor {
    tx: Tx,
    rx: Rx,
    /// The packets that this end sends.
    ledger: Ledger,
    wake: Wake,
    /// Of the packets that this end sends: its compressor, and the other end's decompressor.
    rohc: Option<Box<Rohc>>,
}

/// Counters of one direction of a bearer.
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

/// Whether RRC's messages go over another leg of the UE: what came over this one is void.
fn is_elsewhere(drb: &Drb, leg: u8) -> bool {
    drb.is_signalling && leg != drb.legs.primary.number
}

impl Drb {
    /// The bearer `id`, the UE's `nth` whose RLC PDUs have its form, on the leg or legs that `config` names, with the random
    /// draws of bearer `drawn_as`.
    ///
    /// # Errors
    /// A parameter of RLC or PDCP has a value that is not allowed.
    pub(crate) fn new(
        (id, drawn_as, nth): (DrbId, DrbId, u8),
        config: BearerConfig,
        seed: u64,
    ) -> Result<Drb, ParameterError> {
        let anchor = || -> Result<Anchor, ParameterError> {
            Ok(Anchor {
                tx: Tx::new(&config.pdcp)?,
                rx: Rx::new(&config.pdcp)?,
                ledger: Ledger::new(),
                wake: Wake::default(),
                rohc: config.pdcp.rohc.map(|rohc| Box::new(Rohc::new(&rohc))),
            })
        };
        let leg = |(position, number, rlc): (u64, u8, _)| -> Result<RlcLeg, ParameterError> {
            let end = |direction: Direction| {
                let entity =
                    (position << 40) + 2 * u64::from(drawn_as.0) + direction.index() as u64;
                RlcEnd::new(&rlc, Stream::new(seed, "radio.aqm", entity))
            };
            Ok(RlcLeg {
                number,
                leg: None,
                rooms: [u32::MAX; 2],
                format: BearerFormat::new(&rlc, &config.pdcp, nth_of_leg(nth, number)),
                ends: [end(Direction::Downlink)?, end(Direction::Uplink)?],
            })
        };
        let further = config.split.iter().flat_map(|split| {
            let far = split.leg.map(|number| (number, split.of_leg(split.rlc)));
            let near = split.of_leg(config.rlc);
            let carriers = split.carriers.numbers().map(move |number| (number, near));
            let legs = far.into_iter().chain(carriers);
            legs.map(|(number, rlc)| (u64::from(number), number, rlc))
        });
        let rlc = config
            .split
            .map_or(config.rlc, |split| split.of_leg(config.rlc));
        Ok(Drb {
            id,
            nth,
            config,
            generation: None,
            legs: RlcLegs {
                primary: leg((0, config.leg, rlc))?,
                others: further.map(leg).collect::<Result<_, _>>()?,
            },
            split: (config.split).map(|split| Box::new(Split::new(&config, split))),
            anchors: [anchor()?, anchor()?],
            inlet: Ring::new(),
            counters: [BearerCounters::default(); 2],
            transfer: Transfers::default(),
            is_signalling: false,
            is_dual: false,
            has_takers: false,
        })
    }

    /// It carries RRC's messages.
    pub(crate) fn carry_signalling(&mut self) {
        self.is_signalling = true;
    }

    #[inline]
    fn wants_delay(&self, probe: &impl Probe) -> bool {
        probe.wants_radio_delay(self.id) && !self.is_signalling
    }

    /// The leg that carried it is left.
    pub(crate) fn on_left(&mut self) {
        self.legs.primary.leg = None;
    }

    /// The leg with a number is connected; the largest blocks on it have so many bytes for data, by
    /// direction. Whether the bearer has RLC on it.
    pub(crate) fn on_connected(&mut self, number: u8, leg: LegId, rooms: [u32; 2]) -> bool {
        let mut legs = self.legs.iter_mut();
        match legs.find(|rlc| rlc.number == number) {
            Some(rlc) => {
                rlc.leg = Some(leg);
                rlc.rooms = rooms;
                split::note_far(&mut self.split, number, leg);
                true
            }
            None => false,
        }
    }

    /// The leg that what is sent goes to, once it is connected.
    #[inline]
    pub(crate) fn leg(&self) -> Option<LegId> {
        self.legs.primary.leg
    }

    /// The legs that carry it and are connected.
    pub(crate) fn legs(&self) -> impl Iterator<Item = LegId> + '_ {
        self.legs.iter().filter_map(|rlc| rlc.leg)
    }

    pub(crate) fn config(&self) -> &BearerConfig {
        &self.config
    }

    /// How its PDUs look on the air of a leg.
    pub(crate) fn format(&self, leg: u8) -> &BearerFormat {
        let mut others = self.legs.others.iter();
        let other = others.find(|other| other.number == leg);
        &other.unwrap_or(&self.legs.primary).format
    }

    /// The packets that are under way in a direction.
    pub(crate) fn ledger(&self, direction: Direction) -> &Ledger {
        &self.anchors[direction.index()].ledger
    }

    pub(crate) fn counters(&self, direction: Direction) -> &BearerCounters {
        &self.counters[direction.index()]
    }

    /// The bytes that wait to be sent on a leg.
    #[inline]
    pub(crate) fn backlog(&self, now: Time, leg: u8, direction: Direction) -> Backlog {
        let rlc = &self.legs.get(leg).ends[direction.index()].rlc;
        let mut backlog = rlc.backlog(now);
        if let Some(split) = &self.split {
            if split.is_suspended(leg) {
                return Backlog::default();
            }
            backlog.new += split.backlog(now, leg, direction, &self.legs);
        }
        backlog
    }

    /// Bytes of the smallest grant on a leg that takes anything of what was not sent yet; zero when
    /// there is nothing.
    pub(crate) fn least_grant(&self, leg: u8, direction: Direction) -> u32 {
        let rlc = &self.legs.get(leg).ends[direction.index()].rlc;
        rlc.head().map_or(0, |head| rlc.least_grant(head.size))
    }

    /// A packet arrives at one end. Nothing becomes of it before [`Drb::take`].
    #[inline]
    pub(crate) fn enter(
        &self,
        direction: Direction,
        packet: PacketId,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.wants_delay(env.probe) {
            let tracks = &mut storage.tracks;
            tracks.enter(packet, self.id, direction, env.now);
        }
    }

    /// The base station is busy with a downlink packet until `ready_at`.
    #[inline]
    pub(crate) fn hold(&mut self, ready_at: Time, packet: PacketId) {
        self.inlet.push((ready_at, packet));
    }

    /// When the base station of a leg is ready with the next packet that it is busy with.
    #[inline]
    pub(crate) fn inlet_at(&self, leg: u8) -> Option<Time> {
        match &self.split {
            Some(split) if split.is_far(leg) => split.arrival_at(),
            Some(_) if leg != self.legs.primary.number => None,
            _ => {
                let at = self.inlet.front().map(|&(at, _)| at);
                match self.is_dual.then(|| Daps::pending_at(self)).flatten() {
                    Some(copy_at) => Some(at.map_or(copy_at, |at| at.min(copy_at))),
                    None => at,
                }
            }
        }
    }

    /// PDCP takes the packets that the base station is ready with by now. Whether it took any.
    #[inline]
    pub(crate) fn drain_inlet(
        &mut self,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> bool {
        let mut took_any = false;
        if self.is_dual {
            daps::daps(self).drain(env.now);
        }
        while let Some(&(ready_at, packet)) = self.inlet.front() {
            if ready_at > env.now {
                break;
            }
            self.inlet.pop();
            took_any |= self.take(ready_at, Direction::Downlink, packet, env, storage);
        }
        took_any
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
        if let Some(mut split) = split(self) {
            split.top_up((leg, direction), grant, env, storage);
        }
        let end = self.legs.get_mut(leg).sender(direction);
        let mut marked = 0;
        let marks = (&mut *env.pool, &mut marked);
        let used = end.pull(env.now, grant, block, marks, &mut storage.dropped);
        debug_assert!(used <= grant, "{used} bytes are taken of {grant}");
        if direction == Direction::Downlink
            && let Some(split) = &mut self.split
        {
            split.on_block(env.now, leg, used, &self.legs);
        }
        if marked > 0 || !storage.dropped.is_empty() {
            self.on_managed(direction, marked, env, storage);
        }
        used
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
        if self.wants_delay(env.probe) {
            for pdu in &block.pdus[pdus.clone()] {
                for part in block.data_parts(pdu) {
                    let key = (part.sdu.packet, part.sdu.serial, self.id, direction);
                    storage.tracks.decoded(key, times);
                }
            }
        }
        if is_elsewhere(self, leg) {
            return;
        }
        let receiver = &mut self.legs.get_mut(leg).receiver(direction).rlc;
        receiver.on_pdus(env.now, block, pdus, &mut storage.sdus);
        if let Some(mut split) = split(self) {
            split.confirm((leg, direction.opposite()), env.now);
        }
        if direction == Direction::Uplink
            && let Some(mut split) = split(self)
            && split.is_far(leg)
        {
            split.send_up(env, storage);
            return;
        }
        self.on_sdus((leg, direction), env, storage);
    }

    /// SDUs that RLC of a leg has handed up go through PDCP.
    pub(crate) fn on_sdus(
        &mut self,
        (leg, direction): (u8, Direction),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let rx = &mut self.anchors[direction.opposite().index()].rx;
        let before = rx.useless();
        for sdu in storage.sdus.drain(..) {
            rx.on_sdu(env.now, sdu, &mut storage.ordered);
        }
        debug_assert!(before <= rx.useless(), "useless packets became useful");
        let useless = rx.useless() - before;
        if let Some(split) = &mut self.split {
            split.note_useless((leg, direction), useless);
        }
        self.hand_over(direction, env, storage);
    }

    /// A timer of the end that sends in `direction`. Its backlog may have grown.
    pub(crate) fn on_timer(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if let Some(mut split) = split(self) {
            split.on_timer(direction, env, storage);
        } else {
            let anchor = &mut self.anchors[direction.index()];
            let end = self.legs.primary.sender(direction);
            end.catch_up(env.now);
            anchor.tx.on_wake(env.now, &mut end.rlc, &mut storage.sdus);
            for sdu in storage.sdus.drain(..) {
                if anchor.ledger.leave(sdu.serial) {
                    storage.lost.push(sdu.packet);
                }
            }
            // LTE's RLC hands up what it has held back, in this end's receiving direction.
            end.rlc.on_wake(env.now, &mut storage.sdus);
            for source in &mut self.legs.others {
                let end = source.sender(direction);
                end.rlc.on_wake(env.now, &mut storage.sdus);
            }
        }
        self.drop_lost(direction, RadioDropCause::DiscardTimer, env, storage);
        let receiving = direction.opposite();
        self.on_sdus((self.legs.primary.number, receiving), env, storage);
        let rx = &mut self.anchors[direction.index()].rx;
        rx.on_wake(env.now, &mut storage.ordered);
        debug_assert!(
            rx.wake_at() > env.now,
            "reordering is left running at {}",
            env.now
        );
        self.hand_over(receiving, env, storage);
    }

    /// When to call [`Drb::on_timer`] for the end that sends in `direction`, and the generation
    /// of that wake-up; none when an earlier one is pending.
    #[inline]
    pub(crate) fn arm(&mut self, now: Time, direction: Direction) -> Option<(Time, u32)> {
        let anchor = &mut self.anchors[direction.index()];
        let rlc = &self.legs.primary.ends[direction.index()].rlc;
        let mut at = rlc.wake_at().min(anchor.rx.wake_at());
        for leg in &self.legs.others {
            at = at.min(leg.ends[direction.index()].rlc.wake_at());
        }
        at = at.min(match &self.split {
            None => anchor.tx.wake_at(rlc),
            Some(split) => split.discard_at(direction, &self.legs),
        });
        if at.is_never() {
            return None;
        }
        // A packet may be taken late, when its time is already up.
        let at = at.max(now);
        anchor.wake.arm(at).map(|generation| (at, generation))
    }

    /// Whether a wake-up is the one that was armed last.
    #[inline]
    pub(crate) fn fire(&mut self, direction: Direction, generation: u32) -> bool {
        self.anchors[direction.index()].wake.fire(generation)
    }

    /// The leg on which either end has repeated something as often as it may, and which.
    #[inline]
    pub(crate) fn failed_leg(&self) -> Option<(LegId, Finder)> {
        let has_failed = |leg: &&RlcLeg| {
            let [base, ue] = &leg.ends;
            base.rlc.has_failed() || ue.rlc.has_failed()
        };
        let failed = if has_failed(&&self.legs.primary) {
            Some(&self.legs.primary)
        } else {
            self.legs.others.iter().find(has_failed)
        };
        let rlc = failed?;
        let finder = match rlc.ends[Direction::Downlink.index()].rlc.has_failed() {
            true => Finder::Station,
            false => Finder::Ue,
        };
        rlc.leg.map(|leg| (leg, finder))
    }
}
