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

use super::compression::{decompress_held, reset_unless_continued};
use super::copies::BicastCopies;
use super::daps::DapsState;
use super::early::{Early, EarlyCounts};
use super::forwarding::PacketOnLink;
use super::leaving::restart_pdcp;
use super::utra::UtraState;
use super::{Drb, Storage, split};
use crate::config::{BearerConfig, Env, Fate, Route};
use crate::rlc::{Generation, Sdu};
use fadeout_core::{Direction, PacketId, Probe, Ring, Span, Time};
use std::collections::VecDeque;

/// State of a bearer under mobility management.
#[derive(Debug, Default)]
pub(crate) struct Transfer {
    /// Downlink data of the running change of cell. `None` between changes of cell.
    pub(super) change: Option<CellChange>,
    /// Packets on links between base stations, oldest first. Links may have dropped some of them.
    pub(super) on_links: VecDeque<PacketOnLink>,
    /// Packets that the core also sends to the target, in the latest change of cell.
    pub(super) copies: Option<BicastCopies>,
    /// Configuration of the bearer in the generation of its first cell. `None` until the UE enters
    /// a cell of another generation.
    pub(super) own: Option<(Generation, BearerConfig)>,
    pub(super) utra: UtraState,
    /// True if PDCP was set up anew during this change of cell.
    pub(super) is_anew: bool,
    /// Time of the latest delivery, by direction. `None` before the first one.
    last_delivery: [Option<Time>; 2],
    /// Interruption since the UE left the source, by direction.
    pub(super) gaps: [Gap; 2],
    pub(super) counts: TransferCounts,
    /// Number of packets that links between base stations have dropped since the start.
    pub(super) dropped: u64,
    /// State of a DAPS handover. `None` if only one cell serves the bearer.
    pub(super) dual: Option<Box<DapsState>>,
    /// Number of SDUs that were copied to another base station since the start.
    pub(super) copied: u64,
    /// Uplink PDUs on links from a former secondary node, while the bearer is no longer split.
    pub(super) late: Ring<Sdu>,
    /// Number of PDUs that arrived over both cells in the latest change of cell.
    pub(super) received_twice: u64,
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
    /// Interruption that has not ended. It began with this delivery. `None` if there was none.
    Open(Option<Time>),
    /// The interruption has ended. Contains the length of the interruption.
    Closed(Span),
}

/// Downlink data of a bearer between two cells.
#[derive(Debug)]
pub(super) struct CellChange {
    /// Source base station, at the end of the old path.
    pub(super) source: u32,
    pub(super) fate: Fate,
    /// SDUs with a COUNT, oldest first, and the base station at which each SDU waits. In
    /// unacknowledged mode they get new COUNTs.
    pub(super) numbered: VecDeque<(u32, Sdu)>,
    /// Packets without a COUNT.
    pub(super) fresh: VecDeque<FreshPacket>,
    /// Packets that the core sent over the new path to the target.
    pub(super) direct: VecDeque<PacketId>,
    pub(super) has_left: bool,
    pub(super) has_resumed: bool,
    /// Number of end markers that the target still awaits. `None` before the path switch.
    pub(super) markers: Option<u32>,
    /// Time at which the target stops waiting for end markers.
    pub(super) guard_at: Time,
    /// Number of end markers that arrived at the source before the source knew the UE's new cell.
    pub(super) kept_markers: u32,
}

/// Packet without a COUNT.
#[derive(Debug, Clone, Copy)]
pub(super) struct FreshPacket {
    /// Time at which the packet arrives at the target. [`Time::NEVER`] while the time is unknown.
    pub(super) at: Time,
    pub(super) packet: PacketId,
    /// Base station at which the packet waits.
    pub(super) station: u32,
}

impl CellChange {
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

    pub(super) fn new(source: u32) -> CellChange {
        CellChange {
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
pub(crate) struct MobileBearer<'a> {
    pub(super) drb: &'a mut Drb,
}

impl Drb {
    /// Returns the state of the bearer's changes of cell, for reading.
    #[inline]
    pub(crate) fn transfers(&self) -> &Transfers {
        &self.transfer
    }

    /// Returns the operations on a bearer whose UE changes cells.
    pub(crate) fn mobile(&mut self) -> MobileBearer<'_> {
        MobileBearer { drb: self }
    }
}

/// State of a bearer's changes of cell. Empty without mobility management.
#[derive(Debug, Default)]
pub(crate) struct Transfers(pub(super) Option<Box<Transfer>>);

impl Transfers {
    /// Returns true if the bearer is between two cells. Its downlink packets then go to
    /// [`MobileBearer::on_downlink_packet`].
    #[inline]
    pub(crate) fn is_between_cells(&self) -> bool {
        let transfer = self.0.as_ref();
        transfer.is_some_and(|transfer| transfer.change.is_some())
    }

    /// Records the time of a delivery in a direction. A delivery ends an interruption.
    #[inline]
    pub(super) fn record_delivery(&mut self, direction: Direction, now: Time) {
        if let Some(transfer) = &mut self.0 {
            let gap = &mut transfer.gaps[direction.index()];
            if let Gap::Open(since) = *gap {
                *gap = since.map_or(Gap::None, |since| Gap::Closed(now.since(since)));
            }
            transfer.last_delivery[direction.index()] = Some(now);
        }
    }

    /// Returns the time at which the target stops waiting for end markers.
    pub(crate) fn guard_at(&self) -> Time {
        let change = self.0.as_ref().and_then(|it| it.change.as_ref());
        change.map_or(Time::NEVER, |change| change.guard_at)
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
        let bicast = transfer.copies.as_ref().map(BicastCopies::counts);
        let bicast = bicast.unwrap_or_default();
        let counts = TransferCounts {
            lost: transfer.counts.lost + bicast.lost,
            bicast: bicast.copied,
            doubled: bicast.doubled + transfer.received_twice,
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
        self.received_twice = 0;
        self.is_anew = false;
    }

    /// Begins the interruption of each direction. It lasts from the direction's latest delivery.
    pub(super) fn open_gaps(&mut self) {
        for (gap, last) in self.gaps.iter_mut().zip(self.last_delivery) {
            if !matches!(gap, Gap::Open(_)) {
                *gap = Gap::Open(last);
            }
        }
    }
}

impl MobileBearer<'_> {
    /// Puts the bearer under mobility management. Called if mobility management controls the UE.
    pub(crate) fn manage(&mut self) {
        self.drb.transfer = Transfers(Some(Box::default()));
    }

    pub(super) fn change(&mut self) -> Option<&mut CellChange> {
        self.drb.transfer.0.as_mut()?.change.as_mut()
    }

    /// Stops new data at the serving base station `station`. `source` is the end of the old path.
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
        if transfer.change.is_none() {
            transfer.begin_counts();
            if let Some(copies) = &mut transfer.copies {
                copies.begin_change();
            }
        }
        let new = || CellChange::new(source);
        let change = transfer.change.get_or_insert_with(new);
        // The UE may change cells again before this change ends. Then either the lists of waiting
        // packets or RLC's buffers are empty.
        change.has_resumed = false;
        let end = self.drb.legs.primary.sender(Direction::Downlink);
        end.catch_up(env.now);
        while let Some(sdu) = end.rlc.take_head(env.now) {
            change.numbered.push_back((station, sdu));
        }
        if self.drb.split.is_some() {
            self.stop_split(station);
        }
        let transfer = self.drb.transfer.0.as_mut();
        let Some(change) = transfer.and_then(|transfer| transfer.change.as_mut()) else {
            return;
        };
        while let Some((_, packet)) = self.drb.inlet.pop() {
            change.fresh.push_back(FreshPacket {
                at: Time::NEVER,
                packet,
                station,
            });
        }
        self.redirect(fate, env, storage);
    }

    /// Sets the fate of downlink packets at the source: kept, forwarded or dropped.
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
        let Some(change) = &mut transfer.change else {
            return;
        };
        let before = std::mem::replace(&mut change.fate, fate);
        match fate {
            Fate::Kept => {}
            Fate::Forwarded(Route::FixedDelay(delay)) => {
                if before == Fate::Kept {
                    transfer.counts.numbered += change.numbered.len() as u64;
                }
                for FreshPacket { at, .. } in &mut change.fresh {
                    if at.is_never() {
                        *at = now.saturating_add(delay);
                        transfer.counts.fresh += 1;
                    }
                }
            }
            Fate::Forwarded(Route::Links { .. }) => {
                if change.has_left {
                    self.forward_waiting(env, storage);
                }
            }
            Fate::Dropped => {
                let ledger = &mut self.drb.anchors[Direction::Downlink.index()].ledger;
                for (_, sdu) in change.numbered.drain(..) {
                    if ledger.leave(sdu.serial) {
                        storage.lost.push(sdu.packet);
                    }
                }
                storage
                    .lost
                    .extend(change.fresh.drain(..).map(|fresh| fresh.packet));
            }
        }
        self.lose_at_source(Direction::Downlink, env, storage);
    }

    /// Handles a downlink packet at a base station while the bearer is between two cells.
    pub(crate) fn on_downlink_packet(
        &mut self,
        (station, marker_timeout): (u32, Span),
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        self.drb.enter(Direction::Downlink, packet, env, storage);
        if self.accept_copy(station, packet, env) {
            return;
        }
        let now = env.now;
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let Some(change) = &mut transfer.change else {
            return;
        };
        let is_dual = (transfer.dual.as_ref()).is_some_and(|dual| dual.numbers_packets_at(station));
        if is_dual {
            self.drb.inlet.push((now, packet));
            return;
        }
        if station != change.source {
            if change.awaits_nothing() {
                let at = self.drb.inlet.back().map_or(now, |&(at, _)| at.max(now));
                self.drb.inlet.push((at, packet));
                return;
            }
            if change.guard_at.is_never() {
                change.guard_at = now.saturating_add(marker_timeout);
            }
            change.direct.push_back(packet);
            return;
        }
        let mut keep = |at| {
            let fresh = FreshPacket {
                at,
                packet,
                station,
            };
            change.fresh.push_back(fresh);
        };
        match change.fate {
            Fate::Kept => keep(Time::NEVER),
            Fate::Forwarded(Route::Links { to }) => match (change.has_left, change.has_resumed) {
                (true, _) if to != station => {
                    transfer.counts.fresh += 1;
                    let hop = (self.drb.id, station, to);
                    transfer.send_over_link(hop, (packet, None), env.pool, storage);
                }
                (_, true) => {
                    self.drb.inlet.push((now, packet));
                }
                _ => keep(Time::NEVER),
            },
            Fate::Forwarded(Route::FixedDelay(delay)) => {
                transfer.counts.fresh += 1;
                let at = now.saturating_add(delay);
                if change.has_resumed {
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
    /// acknowledged mode PDCP keeps its COUNTs, and resends packets that the status report of the
    /// other end lists as missing. In other modes PDCP restarts, and sent packets that did not
    /// arrive are lost. `keeps_station` is true if the target belongs to the same base station.
    pub(crate) fn detach(
        &mut self,
        (station, keeps_station): (u32, bool),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let is_kept = self.drb.config.is_acknowledged();
        let released = split::release(self.drb, env, storage);
        for direction in [Direction::Downlink, Direction::Uplink] {
            self.hand_up(direction, env, storage);
            // In the other modes, PDCP delivers all stored packets when it restarts.
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
        if let Some(released) = released {
            self.merge_released(released, station, env, storage);
        }
        reset_unless_continued(self.drb, keeps_station);
        self.push_uplink(env, storage);
        self.drb.on_left();
        if let Some(change) = self.change() {
            change.has_left = true;
        }
        self.forward_waiting(env, storage);
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
        self.drb.deliver_in_order(direction, env, storage);
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
        let counts_and_change = transfer.and_then(|transfer| {
            let change = transfer.change.as_mut()?;
            Some((&mut transfer.counts, change))
        });
        let Some((counts, change)) = counts_and_change else {
            storage.unconfirmed.clear();
            return;
        };
        match change.fate {
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
                    change.numbered.push_front((station, sdu));
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
        let change = self
            .drb
            .transfer
            .0
            .as_ref()
            .and_then(|it| it.change.as_ref());
        let waiting = change.filter(|_| is_downlink);
        let first = waiting.and_then(|change| change.numbered.front());
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
        restart_pdcp((self.drb, direction), env, storage);
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
        let Some(change) = self.change() else {
            return self.release_copies(station, env, storage);
        };
        change.has_resumed = true;
        let has_left = change.has_left;
        let mut numbered = std::mem::take(&mut change.numbered);
        let mut fresh = std::mem::take(&mut change.fresh);
        for FreshPacket { at, packet, .. } in fresh.drain(..) {
            let at = if at.is_never() { now } else { at.max(now) };
            self.drb.inlet.push((at, packet));
        }
        for (_, sdu) in numbered.drain(..) {
            self.send_again(sdu, has_left, env);
        }
        if let Some(change) = self.change()
            && change.awaits_nothing()
        {
            let mut direct = std::mem::take(&mut change.direct);
            let last = self.drb.inlet.back().map_or(now, |&(at, _)| at.max(now));
            for packet in direct.drain(..) {
                self.drb.inlet.push((last, packet));
            }
        }
        self.release_copies(station, env, storage);
        self.conclude(now);
    }
}
