//! Bearer of a UE that changes from one cell to another.
//!
//! ```text
//! stop      The source sends nothing new. It keeps, forwards or drops all data.
//! detach    The UE has left the source. RLC is re-established, PDCP according to the RLC mode.
//! resume    The UE is in the target, which sends SDUs with a COUNT first.
//! conclude  The end marker has arrived. The target sends the packets of the new path.
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
use crate::config::{BearerConfig, Env, Fate, Route};
use crate::rlc::{Generation, Sdu};
use fadeout_core::{Direction, PacketId, Probe, Ring, Span, Time};
use std::collections::VecDeque;

/// State of a bearer under mobility management.
#[derive(Debug, Default)]
pub(crate) struct Transfer {
    /// Downlink data of the running change of cell. `None` between changes of cell.
    pub(super) journey: Option<Journey>,
    /// Packets on links between base stations, oldest first. Links may have dropped some of them.
    pub(super) away: VecDeque<Away>,
    /// Packets that the core also sends to the target, in the latest change of cell.
    pub(super) copies: Option<Copies>,
    /// Configuration of the bearer in the generation of its first cell. `None` until the UE enters
    /// a cell of another generation.
    pub(super) own: Option<(Generation, BearerConfig)>,
    pub(super) stay: Stay,
    /// True if PDCP was set up anew during this change of cell.
    pub(super) is_anew: bool,
    /// Time of the latest delivery, by direction. `None` before the first one.
    last_out: [Option<Time>; 2],
    /// Interruption since the UE left the source, by direction.
    pub(super) gaps: [Gap; 2],
    pub(super) counts: TransferCounts,
    /// Number of packets that links between base stations have dropped since the start.
    pub(super) dropped: u64,
    /// State of a DAPS handover. `None` if only one cell serves the bearer.
    pub(super) dual: Option<Box<Dual>>,
    /// Number of SDUs that were copied to another base station since the start.
    pub(super) copied: u64,
    /// Uplink PDUs on links from a former secondary node, which has no part of the bearer any more.
    pub(super) late: Ring<Sdu>,
    /// Number of PDUs that arrived over both cells in the latest change of cell.
    pub(super) twice: u64,
    /// Copies for candidates of a conditional handover. `None` if no candidate gets copies.
    pub(super) early: Option<Box<Early>>,
    /// Counts of copies for candidates since the latest change of cell.
    pub(super) early_counts: EarlyCounts,
}

/// Counts of downlink packets in a change of cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TransferCounts {
    /// Packets that were forwarded with their COUNT.
    pub numbered: u64,
    /// Packets that were forwarded without a COUNT.
    pub fresh: u64,
    /// Packets that were lost at the source in either direction, without a copy at the target.
    /// Includes packets that links between base stations dropped.
    pub lost: u64,
    /// Packets that the core sent to both base stations and the target accepted.
    pub bicast: u64,
    /// Packets that the target accepted and the source did not drop. Includes PDUs that arrived
    /// over both cells.
    pub doubled: u64,
    /// Copies that the source sent early to candidates of a conditional handover.
    pub early: u64,
    /// Early copies that were never sent to the UE.
    pub useless: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Gap {
    #[default]
    None,
    /// The open interruption began with this delivery. `None` if there was no delivery before.
    Open(Option<Time>),
    /// Length of the interruption, which has ended.
    Closed(Span),
}

/// Downlink data of a bearer between two cells.
#[derive(Debug)]
pub(super) struct Journey {
    /// Source base station, at the end of the old path.
    pub(super) source: u32,
    pub(super) fate: Fate,
    /// SDUs with a COUNT, oldest first, and the base station that holds each. In unacknowledged
    /// mode they get new COUNTs.
    pub(super) numbered: VecDeque<(u32, Sdu)>,
    /// Packets without a COUNT.
    pub(super) fresh: VecDeque<Fresh>,
    /// Packets that the core sent over the new path to the target.
    pub(super) direct: VecDeque<PacketId>,
    pub(super) has_left: bool,
    pub(super) has_resumed: bool,
    /// Number of end markers still awaited. `None` before the path switch.
    pub(super) markers: Option<u32>,
    /// Time at which the target stops waiting for end markers.
    pub(super) guard_at: Time,
    /// Number of end markers that came to the source before it knew the UE's new cell.
    pub(super) kept_markers: u32,
}

/// Packet without a COUNT.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    /// Time at which the packet arrives at the target. [`Time::NEVER`] while it is unknown.
    pub(super) at: Time,
    pub(super) packet: PacketId,
    /// Base station that holds the packet.
    pub(super) station: u32,
}

impl Journey {
    /// Returns true if packets of the new path may be sent at once. The UE is in the target, and
    /// the source forwards nothing.
    ///
    /// Standard: TS 36.300 §10.1.2.3.
    fn awaits_nothing(&self) -> bool {
        self.has_resumed && self.fate == Fate::Dropped
    }

    /// Sorts the SDUs with a COUNT by their COUNT.
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

/// Operations on a bearer whose UE changes cells.
#[derive(Debug)]
pub(crate) struct Travel<'a> {
    pub(super) drb: &'a mut Drb,
}

impl Drb {
    /// Returns the state of the bearer's changes of cell, for reading.
    #[inline]
    pub(crate) fn transfers(&self) -> &Transfers {
        &self.transfer
    }

    /// Returns the operations on a bearer whose UE changes cells.
    pub(crate) fn travel(&mut self) -> Travel<'_> {
        Travel { drb: self }
    }
}

/// State of a bearer's changes of cell. Empty without mobility management.
#[derive(Debug, Default)]
pub(crate) struct Transfers(pub(super) Option<Box<Transfer>>);

impl Transfers {
    /// Returns true if the bearer is between two cells. [`Travel::arrive`] then handles its
    /// downlink packets.
    #[inline]
    pub(crate) fn is_travelling(&self) -> bool {
        let transfer = self.0.as_ref();
        transfer.is_some_and(|transfer| transfer.journey.is_some())
    }

    /// Records that packets were delivered in a direction. The delivery ends an interruption.
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

    /// Returns the time at which the target stops waiting for end markers.
    pub(crate) fn guard_at(&self) -> Time {
        let journey = self.0.as_ref().and_then(|it| it.journey.as_ref());
        journey.map_or(Time::NEVER, |journey| journey.guard_at)
    }

    /// Returns the interruption of the latest change of cell by direction, and the counts of its
    /// packets. An interruption is `None` if it has not ended, or if there was none.
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
    /// Resets the counts for a new change of cell.
    pub(super) fn begin_counts(&mut self) {
        self.counts = TransferCounts::default();
        self.twice = 0;
        self.is_anew = false;
    }

    /// Begins the interruption, with the latest delivery of each direction. The UE has left a cell.
    pub(super) fn open_gaps(&mut self) {
        for (gap, last) in self.gaps.iter_mut().zip(self.last_out) {
            if !matches!(gap, Gap::Open(_)) {
                *gap = Gap::Open(last);
            }
        }
    }
}

impl Travel<'_> {
    /// Puts the bearer under mobility management, like its UE.
    pub(crate) fn manage(&mut self) {
        self.drb.transfer = Transfers(Some(Box::default()));
    }

    pub(super) fn journey(&mut self) -> Option<&mut Journey> {
        self.drb.transfer.0.as_mut()?.journey.as_mut()
    }

    /// Stops new data at base station `source` of the old path and at the serving `station`.
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
        // If the UE changes cells again before this change ends, either the lists or RLC's buffers
        // are empty.
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

    /// Changes the fate of downlink packets at the source: kept, forwarded or dropped.
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
            Fate::Forwarded(Route::FixedDelay(delay)) => {
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
            Fate::Forwarded(Route::Links { .. }) => {
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

    /// Handles a downlink packet at a base station while the bearer is between two cells.
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
            Fate::Forwarded(Route::Links { to }) => match (journey.has_left, journey.has_resumed) {
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
            Fate::Forwarded(Route::FixedDelay(delay)) => {
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

    /// Handles the UE's departure from a cell of `station`. RLC is re-established at both ends. In
    /// acknowledged mode PDCP keeps its COUNTs. It resends the packets that are missing in the
    /// status report of the other end. In other modes PDCP restarts, and sent packets that did not
    /// arrive are lost. PDCP `stays` if the target belongs to the same base station.
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
            // In other modes, PDCP delivers all packets that it holds.
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

    /// Delivers the complete SDUs that LTE's RLC holds.
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

    /// Takes unconfirmed SDUs of a direction out of RLC, except those that have arrived
    /// (acknowledged mode).
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
                if matches!(fate, Fate::Forwarded(Route::FixedDelay(_))) {
                    counts.numbered += storage.unconfirmed.len() as u64;
                }
                // Unconfirmed SDUs are older than unsent SDUs, so they go first.
                for sdu in storage.unconfirmed.drain(..).rev() {
                    journey.numbered.push_front((station, sdu));
                }
            }
        }
        self.lose_at_source(direction, env, storage);
    }

    /// Restarts PDCP in a direction (unacknowledged and transparent mode).
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

    /// Resumes sending in the target `station`, or in the source if the UE stays there. Forwarded
    /// data is sent first.
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
