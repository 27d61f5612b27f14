//! A bearer on its way from one cell to another.
//!
//! ```text
//! stop      the source sends nothing new: SDUs with a COUNT and packets without wait, or travel
//! detach    the UE has left: RLC starts afresh, PDCP as its mode says
//! resume    the UE is in the target: first what has a COUNT, then what was forwarded without
//! conclude  the end marker is there: then what came over the new path
//! ```
//!
//! Standard: TS 38.300 §9.2.3.2; TS 36.300 §10.1.2; TS 38.323 §5.1.2; TS 36.323 §5.2.

use super::abroad::Stay;
use super::compression::{decompress_held, reset_unless_continued};
use super::copies::Copies;
use super::daps::Dual;
use super::early::{Early, EarlyCounts};
use super::forwarding::Away;
use super::leaving::count_anew;
use super::{Drb, Storage, split};
use crate::config::{BearerConfig, Env, Fate, Way};
use crate::rlc::{Generation, Sdu};
use fadeout_core::{Direction, PacketId, Probe, Ring, Span, Time};
use std::collections::VecDeque;

/// The part of a bearer that only UEs under mobility management have.
#[derive(Debug, Default)]
pub(crate) struct Transfer {
    /// Of the latest change of cell; none while the bearer is at rest.
    pub(super) journey: Option<Journey>,
    /// Packets on links between base stations, and those that were dropped there, by when they left.
    pub(super) away: VecDeque<Away>,
    /// Packets that the core sends to the target too, of the latest change of cell.
    pub(super) copies: Option<Copies>,
    /// Its configuration in the generation that it began in, once it was in another.
    pub(super) own: Option<(Generation, BearerConfig)>,
    pub(super) stay: Stay,
    /// Whether PDCP was set up anew since the bearer began to travel.
    pub(super) is_anew: bool,
    /// When a packet last left, by direction.
    last_out: [Option<Time>; 2],
    /// Whether none has since the UE left the source, and how long that was.
    pub(super) gaps: [Gap; 2],
    pub(super) counts: TransferCounts,
    /// Packets that links between base stations have dropped since the start.
    pub(super) dropped: u64,
    /// While two cells serve the bearer, or are about to.
    pub(super) dual: Option<Box<Dual>>,
    /// Copies that two base stations have made.
    pub(super) copied: u64,
    /// Uplink PDUs on their way from a secondary base station that has none of the bearer any more.
    pub(super) late: Ring<Sdu>,
    /// PDUs that came over both cells, of the latest change of cell.
    pub(super) twice: u64,
    /// While candidates of a conditional handover get copies.
    pub(super) early: Option<Box<Early>>,
    /// Copies for candidates since the latest change of cell.
    pub(super) early_counts: EarlyCounts,
}

/// Counts of the downlink packets of a change of cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TransferCounts {
    /// Forwarded with their COUNT.
    pub numbered: u64,
    /// Forwarded without one.
    pub fresh: u64,
    /// Lost at the source, in both directions, without a copy at the target, or by links between base stations.
    pub lost: u64,
    /// That the target took beside the source.
    pub bicast: u64,
    /// Those of them that the source did not drop.
    pub doubled: u64,
    /// Copies that the source has sent to candidates ahead of time.
    pub early: u64,
    /// Those of them that nobody needed.
    pub useless: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Gap {
    #[default]
    None,
    /// The last packet left then; the gap is still open.
    Open(Option<Time>),
    /// Length of the closed gap.
    Closed(Span),
}

/// Downlink data between two cells.
#[derive(Debug)]
pub(super) struct Journey {
    /// Base station that the old path leads to.
    pub(super) source: u32,
    pub(super) fate: Fate,
    /// With a COUNT (unacknowledged mode: to be numbered anew), oldest first, and the base station that
    /// has it.
    pub(super) numbered: VecDeque<(u32, Sdu)>,
    /// Packets without a COUNT.
    pub(super) fresh: VecDeque<Fresh>,
    /// Came over the new path.
    pub(super) direct: VecDeque<PacketId>,
    pub(super) has_left: bool,
    pub(super) has_resumed: bool,
    /// End markers to come; none before the path is switched.
    pub(super) markers: Option<u32>,
    /// When the target stops waiting for them.
    pub(super) guard_at: Time,
    /// Those that came to the source before it knew where the UE is.
    pub(super) kept_markers: u32,
}

/// A packet without a COUNT.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    /// When it is at the target; never while that is not known.
    pub(super) at: Time,
    pub(super) packet: PacketId,
    /// The base station that has it.
    pub(super) station: u32,
}

impl Journey {
    /// Whether what comes over the new path may be sent: the UE is there, and the source forwards nothing.
    ///
    /// Standard: TS 36.300 §10.1.2.3.
    fn awaits_nothing(&self) -> bool {
        self.has_resumed && self.fate == Fate::Dropped
    }

    /// What has a COUNT, by COUNT.
    pub(super) fn put_in_order(&mut self) {
        let numbered = self.numbered.make_contiguous();
        numbered.sort_unstable_by_key(|(_, sdu)| sdu.serial);
    }

    pub(super) fn new(source: u32) -> Journey {
        Journey {
            source,
            fate: Fate::Kept,
            numbered: VecDeque::new(),
            fresh: VecDeque::new(),
            direct: VecDeque::new(),
            has_left: false,
            has_resumed: false,
            markers: None,
            guard_at: Time::NEVER,
            kept_markers: 0,
        }
    }
}

/// A bearer on its way: what is done with it there.
#[derive(Debug)]
pub(crate) struct Travel<'a> {
    pub(super) drb: &'a mut Drb,
}

impl Drb {
    /// Its changes of cell, to be read.
    #[inline]
    pub(crate) fn transfers(&self) -> &Transfers {
        &self.transfer
    }

    /// Its way from one cell to another, to be acted on.
    pub(crate) fn travel(&mut self) -> Travel<'_> {
        Travel { drb: self }
    }
}

/// The changes of cell of a bearer; nothing unless its UE is under mobility management.
#[derive(Debug, Default)]
pub(crate) struct Transfers(pub(super) Option<Box<Transfer>>);

impl Transfers {
    /// Whether the bearer is between two cells, so that [`Travel::arrive`] takes downlink packets.
    #[inline]
    pub(crate) fn is_travelling(&self) -> bool {
        let transfer = self.0.as_ref();
        transfer.is_some_and(|transfer| transfer.journey.is_some())
    }

    /// Packets have left in a direction.
    #[inline]
    pub(super) fn note_out(&mut self, direction: Direction, now: Time) {
        if let Some(transfer) = &mut self.0 {
            let gap = &mut transfer.gaps[direction.index()];
            if let Gap::Open(since) = *gap {
                *gap = since.map_or(Gap::None, |since| Gap::Closed(now.since(since)));
            }
            transfer.last_out[direction.index()] = Some(now);
        }
    }

    /// When the target stops waiting for end markers.
    pub(crate) fn guard_at(&self) -> Time {
        let journey = self.0.as_ref().and_then(|it| it.journey.as_ref());
        journey.map_or(Time::NEVER, |journey| journey.guard_at)
    }

    /// The longest time without a packet of the latest change of cell, by direction, and what became
    /// of packets.
    pub(crate) fn report(&self) -> ([Option<Span>; 2], TransferCounts) {
        let Some(transfer) = &self.0 else {
            return ([None; 2], TransferCounts::default());
        };
        let span = |gap| match gap {
            Gap::Closed(span) => Some(span),
            Gap::None | Gap::Open(_) => None,
        };
        let twins = transfer.copies.as_ref().map(Copies::counts);
        let twins = twins.unwrap_or_default();
        let counts = TransferCounts {
            lost: transfer.counts.lost + twins.lost,
            bicast: twins.copied,
            doubled: twins.doubled + transfer.twice,
            early: transfer.early_counts.sent,
            useless: transfer.early_counts.sent - transfer.early_counts.used,
            ..transfer.counts
        };
        (transfer.gaps.map(span), counts)
    }
}

impl Transfer {
    /// A change of cell begins.
    pub(super) fn begin_counts(&mut self) {
        self.counts = TransferCounts::default();
        self.twice = 0;
        self.is_anew = false;
    }

    /// The UE is served from elsewhere: the time without a packet counts from the last one on.
    pub(super) fn open_gaps(&mut self) {
        for (gap, last) in self.gaps.iter_mut().zip(self.last_out) {
            if !matches!(gap, Gap::Open(_)) {
                *gap = Gap::Open(last);
            }
        }
    }
}

impl Travel<'_> {
    /// The bearer's UE is under mobility management.
    pub(crate) fn manage(&mut self) {
        self.drb.transfer = Transfers(Some(Box::default()));
    }

    pub(super) fn journey(&mut self) -> Option<&mut Journey> {
        self.drb.transfer.0.as_mut()?.journey.as_mut()
    }

    /// The base station `source` of the old path, and `station`, which serves the UE, send nothing new
    /// from now on.
    pub(crate) fn stop(
        &mut self,
        (source, station): (u32, u32),
        fate: Fate,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        if transfer.journey.is_none() {
            transfer.begin_counts();
            if let Some(copies) = &mut transfer.copies {
                copies.begin_journey();
            }
        }
        let journey = transfer.journey.get_or_insert_with(|| Journey::new(source));
        // Of a journey that goes on elsewhere before its end, either lists or buffers are empty.
        journey.has_resumed = false;
        let end = self.drb.legs.primary.sender(Direction::Downlink);
        end.catch_up(env.now);
        while let Some(sdu) = end.rlc.take_head(env.now) {
            journey.numbered.push_back((station, sdu));
        }
        if self.drb.split.is_some() {
            self.stop_split(station);
        }
        let transfer = self.drb.transfer.0.as_mut();
        let Some(journey) = transfer.and_then(|transfer| transfer.journey.as_mut()) else {
            return;
        };
        while let Some((_, packet)) = self.drb.inlet.pop() {
            journey.fresh.push_back(Fresh {
                at: Time::NEVER,
                packet,
                station,
            });
        }
        self.redirect(fate, env, storage);
    }

    /// Changes the fate of downlink packets that wait at the source.
    pub(crate) fn redirect(
        &mut self,
        fate: Fate,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let now = env.now;
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let Some(journey) = &mut transfer.journey else {
            return;
        };
        let before = std::mem::replace(&mut journey.fate, fate);
        match fate {
            Fate::Kept => {}
            Fate::Forwarded(Way::After(delay)) => {
                if before == Fate::Kept {
                    transfer.counts.numbered += journey.numbered.len() as u64;
                }
                for Fresh { at, .. } in &mut journey.fresh {
                    if at.is_never() {
                        *at = now.saturating_add(delay);
                        transfer.counts.fresh += 1;
                    }
                }
            }
            Fate::Forwarded(Way::Links { .. }) => {
                if journey.has_left {
                    self.send_on(env, storage);
                }
            }
            Fate::Dropped => {
                let ledger = &mut self.drb.anchors[Direction::Downlink.index()].ledger;
                for (_, sdu) in journey.numbered.drain(..) {
                    if ledger.leave(sdu.serial) {
                        storage.lost.push(sdu.packet);
                    }
                }
                storage
                    .lost
                    .extend(journey.fresh.drain(..).map(|fresh| fresh.packet));
            }
        }
        self.lose_at_source(Direction::Downlink, env, storage);
    }

    /// A downlink packet arrives at a base station while the bearer is between two cells.
    pub(crate) fn arrive(
        &mut self,
        (station, marker_timeout): (u32, Span),
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        self.drb.enter(Direction::Downlink, packet, env, storage);
        if self.take_copy(station, packet, env) {
            return;
        }
        let now = env.now;
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let Some(journey) = &mut transfer.journey else {
            return;
        };
        let is_dual = (transfer.dual.as_ref()).is_some_and(|dual| dual.takes_at(station));
        if is_dual {
            self.drb.inlet.push((now, packet));
            return;
        }
        if station != journey.source {
            if journey.awaits_nothing() {
                let at = self.drb.inlet.back().map_or(now, |&(at, _)| at.max(now));
                self.drb.inlet.push((at, packet));
                return;
            }
            if journey.guard_at.is_never() {
                journey.guard_at = now.saturating_add(marker_timeout);
            }
            journey.direct.push_back(packet);
            return;
        }
        let mut keep = |at| {
            let fresh = Fresh {
                at,
                packet,
                station,
            };
            journey.fresh.push_back(fresh);
        };
        match journey.fate {
            Fate::Kept => keep(Time::NEVER),
            Fate::Forwarded(Way::Links { to }) => match (journey.has_left, journey.has_resumed) {
                (true, _) if to != station => {
                    transfer.counts.fresh += 1;
                    let way = (self.drb.id, station, to);
                    transfer.send_away(way, (packet, None), env.pool, storage);
                }
                (_, true) => {
                    self.drb.inlet.push((now, packet));
                }
                _ => keep(Time::NEVER),
            },
            Fate::Forwarded(Way::After(delay)) => {
                transfer.counts.fresh += 1;
                let at = now.saturating_add(delay);
                if journey.has_resumed {
                    self.drb.inlet.push((at, packet));
                } else {
                    keep(at);
                }
            }
            Fate::Dropped => {
                storage.lost.push(packet);
                self.lose_at_source(Direction::Downlink, env, storage);
            }
        }
    }

    /// The UE has left a cell of `station`: RLC starts afresh at both ends. In acknowledged mode PDCP keeps its
    /// COUNTs and sends again what the other end's status report does not have; otherwise it starts
    /// afresh too, and what was sent is lost if it did not arrive. It `stays` where the target is of the same base station.
    pub(crate) fn detach(
        &mut self,
        (station, stays): (u32, bool),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let is_kept = self.drb.config.is_acknowledged();
        let left = split::release(self.drb, env, storage);
        for direction in [Direction::Downlink, Direction::Uplink] {
            self.hand_up(direction, env, storage);
            // In other modes all of it leaves.
            if is_kept {
                decompress_held(self.drb, direction);
            }
        }
        for direction in [Direction::Downlink, Direction::Uplink] {
            match is_kept {
                true => self.recover((direction, station), env, storage),
                false => self.restart(direction, env, storage),
            }
        }
        if let Some(transfer) = &mut self.drb.transfer.0 {
            transfer.open_gaps();
        }
        if let Some(left) = left {
            self.take_left(left, station, env, storage);
        }
        reset_unless_continued(self.drb, stays);
        self.push_uplink(env, storage);
        self.drb.on_left();
        if let Some(journey) = self.journey() {
            journey.has_left = true;
        }
        self.send_on(env, storage);
    }

    /// Complete SDUs that LTE's RLC holds go up.
    fn hand_up(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let receiver = self.drb.legs.primary.receiver(direction);
        receiver.rlc.hand_up(&mut storage.sdus);
        let rx = &mut self.drb.anchors[direction.opposite().index()].rx;
        for sdu in storage.sdus.drain(..) {
            rx.on_held(env.now, sdu, &mut storage.ordered);
        }
        self.drb.hand_over(direction, env, storage);
    }

    /// Takes what a direction has not confirmed out of RLC, but for what arrived (acknowledged mode).
    fn recover(
        &mut self,
        (direction, station): (Direction, u32),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let end = self.drb.legs.primary.sender(direction);
        end.catch_up(env.now);
        let tx = &mut self.drb.anchors[direction.index()].tx;
        tx.reestablish(&mut end.rlc, &mut storage.unconfirmed);
        let rx = &self.drb.anchors[direction.opposite().index()].rx;
        storage.unconfirmed.retain(|sdu| !rx.has(sdu.count));
        if direction == Direction::Uplink {
            storage.again.append(&mut storage.unconfirmed);
            return;
        }
        let ledger = &mut self.drb.anchors[direction.index()].ledger;
        let transfer = self.drb.transfer.0.as_mut();
        let counts_and_journey = transfer.and_then(|transfer| {
            let journey = transfer.journey.as_mut()?;
            Some((&mut transfer.counts, journey))
        });
        let Some((counts, journey)) = counts_and_journey else {
            storage.unconfirmed.clear();
            return;
        };
        match journey.fate {
            Fate::Dropped => {
                for sdu in storage.unconfirmed.drain(..) {
                    if ledger.leave(sdu.serial) {
                        storage.lost.push(sdu.packet);
                    }
                }
            }
            fate => {
                if matches!(fate, Fate::Forwarded(Way::After(_))) {
                    counts.numbered += storage.unconfirmed.len() as u64;
                }
                // They are older than what had not been sent.
                for sdu in storage.unconfirmed.drain(..).rev() {
                    journey.numbered.push_front((station, sdu));
                }
            }
        }
        self.lose_at_source(direction, env, storage);
    }

    /// PDCP starts afresh in a direction (unacknowledged and transparent mode).
    fn restart(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let is_downlink = direction == Direction::Downlink;
        let end = self.drb.legs.primary.sender(direction);
        end.catch_up(env.now);
        let head = end.rlc.head().map(|sdu| sdu.serial);
        let journey = self
            .drb
            .transfer
            .0
            .as_ref()
            .and_then(|it| it.journey.as_ref());
        let waiting = journey.filter(|_| is_downlink);
        let first = waiting.and_then(|journey| journey.numbered.front());
        let unsent = head.or(first.map(|(_, sdu)| sdu.serial));
        let tx = &mut self.drb.anchors[direction.index()].tx;
        tx.reestablish(&mut end.rlc, &mut storage.unconfirmed);
        let ledger = &mut self.drb.anchors[direction.index()].ledger;
        let unsent = unsent.unwrap_or_else(|| ledger.next_serial());
        if !is_downlink {
            let again = storage.unconfirmed.drain(..);
            storage
                .again
                .extend(again.filter(|sdu| sdu.serial >= unsent));
        }
        storage.unconfirmed.clear();
        count_anew((self.drb, direction), env, storage);
        let ledger = &mut self.drb.anchors[direction.index()].ledger;
        ledger.pass(unsent, &mut storage.lost);
        self.lose_at_source(direction, env, storage);
    }

    /// The UE is in the target `station`, or the source goes on: what was forwarded is sent.
    pub(crate) fn resume(
        &mut self,
        station: u32,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let now = env.now;
        let Some(journey) = self.journey() else {
            return self.release_copies(station, env, storage);
        };
        journey.has_resumed = true;
        let has_left = journey.has_left;
        let mut numbered = std::mem::take(&mut journey.numbered);
        let mut fresh = std::mem::take(&mut journey.fresh);
        for Fresh { at, packet, .. } in fresh.drain(..) {
            let at = if at.is_never() { now } else { at.max(now) };
            self.drb.inlet.push((at, packet));
        }
        for (_, sdu) in numbered.drain(..) {
            self.send_again(sdu, has_left, env);
        }
        if let Some(journey) = self.journey()
            && journey.awaits_nothing()
        {
            let mut direct = std::mem::take(&mut journey.direct);
            let last = self.drb.inlet.back().map_or(now, |&(at, _)| at.max(now));
            for packet in direct.drain(..) {
                self.drb.inlet.push((last, packet));
            }
        }
        self.release_copies(station, env, storage);
        self.conclude(now);
    }
}
