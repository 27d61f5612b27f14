//! Data radio bearer: a PDCP entity at each end, and RLC entities on one or more legs.
//!
//! ```text
//! take ─► PDCP ─► RLC of a leg ─► pull: a transport block of that leg
//!                                             │ decoded: on_pdus, given up: lose
//!  out ◄─ PDCP ◄─ RLC of the leg ◄────────────┘
//! ```
//!
//! A [`Drb`] knows neither cells nor HARQ. The caller fills transport blocks with data of the
//! bearer, and hands received blocks to the bearer with the number of their leg. The legs of a UE
//! are numbered from 0. Each packet that the bearer accepts leaves the bearer exactly once,
//! delivered or lost.

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
mod utra;

pub(crate) use compression::compressed;
pub(crate) use leaving::fail_leg;
pub(crate) use split::{
    Carried, Frame, FrameKind, SplitBearer, carried, close_secondary, hold_secondary,
    interface_frame, last_secondary, leave_secondary, leg_numbered, manage_secondary,
    may_use_other_legs, on_late_uplink, open_secondary, split,
};
pub(crate) use storage::Storage;
pub(crate) use track::BlockTimes;
pub(crate) use transfer::TransferCounts;
pub(crate) use utra::UtraBearer;

use crate::config::{BearerConfig, Env, LegId};
use crate::pdcp::{Ledger, Rohc, Rx, Tx};
use crate::rlc::{Backlog, Generation, ParameterError, TransportBlock};
use crate::wire::BearerFormat;
use daps::DapsBearer;
use fadeout_core::random::Stream;
use fadeout_core::{
    Direction, DrbId, PacketId, Probe, RadioDropCause, Ring, Time, Wake, prefetch_first,
};
use rlc_leg::{RlcEnd, RlcLeg, RlcLegs, nth_of_leg};
use split::Split;
use std::ops::Range;
use transfer::Transfers;

/// Number of bytes of a bearer that a cell reads in every slot.
const PREFETCHED_BYTES: usize = 384;

/// Radio bearer with both ends and both directions. Fields that a cell reads in every slot come
/// first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Drb {
    /// Packets that the base station is still processing before PDCP, each with the end time of its
    /// processing.
    inlet: Ring<(Time, PacketId)>,
    /// State of a split bearer. `None` if the bearer is not split.
    split: Option<Box<Split>>,
    /// True during a DAPS handover, in which both source and target serve the bearer.
    pub(crate) is_dual: bool,
    /// Index of the bearer among the UE's bearers with the same RLC PDU format.
    nth: u8,
    /// True if the bearer carries RRC messages. Such a bearer appears in no results table.
    pub(crate) is_signalling: bool,
    /// True if candidates of a conditional handover get copies of the downlink data.
    has_candidates: bool,
    id: DrbId,
    legs: RlcLegs,
    config: BearerConfig,
    /// Generation of the UE's cell. `None` without mobility management.
    generation: Option<Generation>,
    /// PDCP of the base station and of the UE. `anchors[direction.index()]` sends in `direction`.
    anchors: [Anchor; 2],
    counters: [BearerCounters; 2],
    /// State of changes of cell. Empty without mobility management.
    transfer: Transfers,
}

/// End that detects a failure of a link or of the link's RLC entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finder {
    Ue,
    Station,
}

/// PDCP at one end of a bearer.
#[derive(Debug)]
struct Anchor {
    tx: Tx,
    rx: Rx,
    /// Packets that this end sends and that are still in the bearer.
    ledger: Ledger,
    wake: Wake,
    /// Header compressor of this end with the decompressor of the other end. `None` without ROHC.
    rohc: Option<Box<Rohc>>,
}

/// Counters of one direction of a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BearerCounters {
    /// Number of packets that PDCP delivered at the receiving end.
    pub delivered_packets: u64,
    /// Bytes of the delivered packets.
    pub delivered_bytes: u64,
    /// Number of packets that were lost or dropped in the bearer.
    pub dropped_packets: u64,
    /// Number of packets that queue management dropped. They are included in `dropped_packets`.
    pub aqm_dropped_packets: u64,
    /// Number of packets that queue management marked.
    pub marked_packets: u64,
}

/// Returns true if RRC messages now use a leg other than `leg`. PDUs of `leg` are then ignored.
fn is_elsewhere(drb: &Drb, leg: u8) -> bool {
    drb.is_signalling && leg != drb.legs.primary.number
}

impl Drb {
    /// Creates bearer `id` on the leg or legs that `config` names. The bearer is the UE's `nth` one
    /// with its RLC PDU format. `drawn_as` selects the bearer's random numbers.
    ///
    /// # Errors
    ///
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
        let others = config.split.iter().flat_map(|split| {
            let secondary = split.leg.map(|number| (number, split.of_leg(split.rlc)));
            let rlc = split.of_leg(config.rlc);
            let carriers = split.carriers.numbers().map(move |number| (number, rlc));
            let legs = secondary.into_iter().chain(carriers);
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
                others: others.map(leg).collect::<Result<_, _>>()?,
            },
            split: (config.split).map(|split| Box::new(Split::new(&config, split))),
            anchors: [anchor()?, anchor()?],
            inlet: Ring::new(),
            counters: [BearerCounters::default(); 2],
            transfer: Transfers::default(),
            is_signalling: false,
            is_dual: false,
            has_candidates: false,
        })
    }

    /// Marks the bearer as a signalling radio bearer, which carries RRC messages.
    pub(crate) fn carry_signalling(&mut self) {
        self.is_signalling = true;
    }

    #[inline]
    fn wants_delay(&self, probe: &impl Probe) -> bool {
        probe.wants_radio_delay(self.id) && !self.is_signalling
    }

    /// Records that the UE has left the cell of the primary leg.
    pub(crate) fn on_left(&mut self) {
        self.legs.primary.leg = None;
    }

    /// Connects a leg of the bearer, by its number. `rooms` is the payload of the leg's largest
    /// transport block in bytes, by direction. Returns false if the bearer has no RLC on that leg.
    pub(crate) fn on_connected(&mut self, number: u8, leg: LegId, rooms: [u32; 2]) -> bool {
        let mut legs = self.legs.iter_mut();
        match legs.find(|rlc| rlc.number == number) {
            Some(rlc) => {
                rlc.leg = Some(leg);
                rlc.rooms = rooms;
                split::record_secondary(&mut self.split, number, leg);
                true
            }
            None => false,
        }
    }

    /// Returns the leg to which new data goes. `None` while it is not connected.
    #[inline]
    pub(crate) fn leg(&self) -> Option<LegId> {
        self.legs.primary.leg
    }

    /// Returns the connected legs that carry the bearer.
    pub(crate) fn legs(&self) -> impl Iterator<Item = LegId> + '_ {
        self.legs.iter().filter_map(|rlc| rlc.leg)
    }

    pub(crate) fn config(&self) -> &BearerConfig {
        &self.config
    }

    /// Returns the format of the bearer's PDUs on a leg.
    pub(crate) fn format(&self, leg: u8) -> &BearerFormat {
        let mut others = self.legs.others.iter();
        let other = others.find(|other| other.number == leg);
        &other.unwrap_or(&self.legs.primary).format
    }

    /// Returns the packets of a direction that have entered the bearer and not left it.
    pub(crate) fn ledger(&self, direction: Direction) -> &Ledger {
        &self.anchors[direction.index()].ledger
    }

    pub(crate) fn counters(&self, direction: Direction) -> &BearerCounters {
        &self.counters[direction.index()]
    }

    /// Returns the bytes that wait to be sent on a leg.
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

    /// Asks the processor for the fields that a cell reads in every slot.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_first(self, PREFETCHED_BYTES);
    }

    /// Returns the size in bytes of the smallest grant on a leg that can carry a part of the unsent
    /// data. Zero if no data is unsent.
    pub(crate) fn least_grant(&self, leg: u8, direction: Direction) -> u32 {
        let rlc = &self.legs.get(leg).ends[direction.index()].rlc;
        rlc.head().map_or(0, |head| rlc.least_grant(head.size))
    }

    /// Records the time at which a packet arrives at one end. [`Drb::take`] hands the packet to
    /// PDCP later.
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

    /// Holds a downlink packet until `ready_at`, while the base station processes it.
    #[inline]
    pub(crate) fn hold(&mut self, ready_at: Time, packet: PacketId) {
        self.inlet.push((ready_at, packet));
    }

    /// Returns the time at which the base station of a leg has processed its next packet. `None` if
    /// the base station is processing no packet.
    #[inline]
    pub(crate) fn inlet_at(&self, leg: u8) -> Option<Time> {
        match &self.split {
            Some(split) if split.is_secondary(leg) => split.arrival_at(),
            Some(_) if leg != self.legs.primary.number => None,
            _ => {
                let at = self.inlet.front().map(|&(at, _)| at);
                match self.is_dual.then(|| DapsBearer::pending_at(self)).flatten() {
                    Some(copy_at) => Some(at.map_or(copy_at, |at| at.min(copy_at))),
                    None => at,
                }
            }
        }
    }

    /// Returns the earliest time at which the downlink backlog on a leg may change by itself.
    /// Returns `None` if there is no such time.
    pub(crate) fn backlog_changes_at(&self, now: Time, leg: u8) -> Option<Time> {
        if self.split.is_some() || self.is_dual {
            // The backlog depends on the other leg, too.
            return Some(now);
        }
        let rlc = &self.legs.get(leg).ends[Direction::Downlink.index()].rlc;
        let times = self.inlet_at(leg).into_iter();
        times.chain(rlc.status_after(now)).min()
    }

    /// Hands the packets that the base station has processed by now to PDCP. Returns true if PDCP
    /// accepted at least one packet.
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
            took_any |= self.accept_packet(ready_at, Direction::Downlink, packet, env, storage);
        }
        took_any
    }

    /// Fills up to `grant` bytes of a leg's transport block. Returns the number of bytes used.
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

    /// Handles a decoded transport block of a leg, in which `pdus` are the bearer's PDUs.
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
            && split.is_secondary(leg)
        {
            split.send_up(env, storage);
            return;
        }
        self.on_sdus((leg, direction), env, storage);
    }

    /// Hands the SDUs that RLC of a leg has delivered to PDCP.
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
            split.record_useless((leg, direction), useless);
        }
        self.deliver_in_order(direction, env, storage);
    }

    /// Handles an expired timer of the end that sends in `direction`. The amount of waiting data at
    /// that end may have grown.
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
            // LTE's RLC delivers the SDUs that it held for reordering. They belong to the direction
            // that this end receives.
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
        self.deliver_in_order(receiving, env, storage);
    }

    /// Arms the timer of the end that sends in `direction`. Returns the time to call
    /// [`Drb::on_timer`] and the generation of the wake-up. `None` if an earlier wake-up is
    /// pending.
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
        // PDCP may accept a packet after the packet's discard timer has expired, so `at` may be in
        // the past.
        let at = at.max(now);
        anchor.wake.arm(at).map(|generation| (at, generation))
    }

    /// Returns true if `generation` belongs to the wake-up that was armed last.
    #[inline]
    pub(crate) fn fire(&mut self, direction: Direction, generation: u32) -> bool {
        self.anchors[direction.index()].wake.fire(generation)
    }

    /// Returns the leg on which RLC has reached its maximum number of retransmissions, and the end
    /// at which RLC has done so. `None` if no leg has failed.
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
