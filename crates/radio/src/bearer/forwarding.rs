//! Downlink packets between two base stations, where links of the caller carry them.
//!
//! The source sends on what it has once the UE has left it. A packet that is away is no bearer's: a link may
//! drop it. What reaches a base station that the UE is not coming to goes on from there.

use super::compression::anew;
use super::generation::with_header;
use super::transfer::{Fresh, Transfer, Transfers, Travel};
use super::{Storage, split};
use crate::config::{Env, Fate, Way};
use crate::rlc::Sdu;
use fadeout_core::{
    Direction, DrbId, EndpointId, FlowId, Packet, PacketId, PacketPool, Probe, Time,
};
use std::collections::VecDeque;

/// A packet that leaves one base station for another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forwarded {
    pub bearer: DrbId,
    pub packet: PacketId,
    /// COUNT, if it has one.
    pub count: Option<u32>,
    /// Base stations.
    pub from: u32,
    pub to: u32,
}

/// A packet between two base stations. Links do not say what they drop, so that its id may be
/// another's by now.
#[derive(Debug)]
pub(super) struct Away {
    packet: PacketId,
    identity: Identity,
    /// With a COUNT (unacknowledged mode: to be numbered anew).
    numbered: Option<Sdu>,
}

/// Fields that tell a packet from another with a reused id.
pub(super) type Identity = (FlowId, EndpointId, Time, u64, u64);

pub(super) fn identity(packet: &Packet) -> Identity {
    let segment = &packet.segment;
    (
        packet.flow,
        packet.to,
        packet.sent_at,
        segment.seq,
        segment.ack,
    )
}

impl Transfer {
    /// A packet leaves base station `from` for `to`.
    pub(super) fn send_away(
        &mut self,
        (bearer, from, to): (DrbId, u32, u32),
        (packet, numbered): (PacketId, Option<Sdu>),
        pool: &PacketPool,
        storage: &mut Storage,
    ) {
        self.away.push_back(Away {
            packet,
            identity: identity(&pool.packet(packet)),
            numbered,
        });
        storage.forwarded.push(Forwarded {
            bearer,
            packet,
            count: numbered.map(|sdu| sdu.count),
            from,
            to,
        });
    }

    /// Counts the packets that were sent away and are no more: links have dropped them. Of those that are still
    /// under way nothing is known.
    pub(super) fn count_dropped(&mut self, pool: &PacketPool) {
        let before = self.away.len();
        self.away.retain(|away| {
            // A free slot has no packet to look at.
            pool.is_in_use(away.packet) && identity(&pool.packet(away.packet)) == away.identity
        });
        let dropped = (before - self.away.len()) as u64;
        self.counts.lost += dropped;
        self.dropped += dropped;
    }

    /// Removes the record of a packet that was sent away.
    fn take_away(&mut self, packet: PacketId, pool: &PacketPool) -> Option<Away> {
        let identity = identity(&pool.packet(packet));
        let is_it = |away: &Away| away.packet == packet && away.identity == identity;
        let place = self.away.iter().position(is_it)?;
        self.away.remove(place)
    }
}

impl Transfers {
    /// Packets that links between base stations have dropped since the start, as far as known.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.as_ref().map_or(0, |transfer| transfer.dropped)
    }

    /// Base stations between which links carry forwarded packets.
    pub(crate) fn stations(&self) -> Option<(u32, u32)> {
        let journey = self.0.as_ref()?.journey.as_ref()?;
        match journey.fate {
            Fate::Forwarded(Way::Links { to }) => Some((journey.source, to)),
            _ => None,
        }
    }
}

impl Travel<'_> {
    /// A packet with a COUNT goes to RLC again: as it is in acknowledged mode, unless the UE has it; with a
    /// new one where PDCP was set up anew.
    pub(super) fn send_again(&mut self, sdu: Sdu, has_left: bool, env: &Env<'_, impl Probe>) {
        let transfer = self.drb.transfer.0.as_ref();
        let is_anew = transfer.is_some_and(|transfer| transfer.is_anew);
        let is_kept = self.drb.config.is_acknowledged() && !is_anew;
        let sdu = match is_anew {
            true => with_header(&self.drb.config.pdcp, sdu, env.pool),
            false => sdu,
        };
        let is_there = has_left && is_kept && {
            let [_, uplink] = &self.drb.anchors;
            uplink.rx.has(sdu.count)
        };
        if !is_there && split::wait_again(self.drb, Direction::Downlink, sdu) {
            return;
        }
        let [downlink, _] = &mut self.drb.anchors;
        let rlc = &mut self.drb.legs.primary.sender(Direction::Downlink).rlc;
        let sdu = match has_left && !is_there {
            true => anew((&mut *downlink, &self.drb.config.pdcp), sdu, env),
            false => sdu,
        };
        match (has_left, is_kept) {
            (true, true) if is_there => {}
            (true, false) => downlink.tx.renumber(sdu, rlc),
            _ => rlc.push_again(sdu),
        }
    }

    /// The UE's unsent data goes back into its RLC.
    pub(super) fn push_uplink(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let is_kept = self.drb.config.is_acknowledged();
        (storage.again).retain(|&sdu| !split::wait_again(self.drb, Direction::Uplink, sdu));
        let rlc = &mut self.drb.legs.primary.sender(Direction::Uplink).rlc;
        let anchor = &mut self.drb.anchors[Direction::Uplink.index()];
        for sdu in storage.again.drain(..) {
            let sdu = anew((anchor, &self.drb.config.pdcp), sdu, env);
            match is_kept {
                true => rlc.push_again(sdu),
                false => anchor.tx.renumber(sdu, rlc),
            }
        }
    }

    /// Sends packets that wait at other base stations to the one that the UE comes to.
    pub(super) fn send_on(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let bearer = self.drb.id;
        let ledger = &mut self.drb.anchors[Direction::Downlink.index()].ledger;
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let Some(journey) = &mut transfer.journey else {
            return;
        };
        let Fate::Forwarded(Way::Links { to }) = journey.fate else {
            return;
        };
        let (mut numbered, mut fresh) = (VecDeque::new(), VecDeque::new());
        std::mem::swap(&mut numbered, &mut journey.numbered);
        std::mem::swap(&mut fresh, &mut journey.fresh);
        journey
            .numbered
            .extend(numbered.iter().filter(|(station, _)| *station == to));
        journey
            .fresh
            .extend(fresh.iter().filter(|waiting| waiting.station == to));
        for (station, sdu) in numbered.into_iter().filter(|(station, _)| *station != to) {
            if ledger.send_away(sdu.serial) {
                transfer.counts.numbered += 1;
                let packet = (sdu.packet, Some(sdu));
                transfer.send_away((bearer, station, to), packet, env.pool, storage);
            }
        }
        for waiting in fresh.into_iter().filter(|waiting| waiting.station != to) {
            transfer.counts.fresh += 1;
            let way = (bearer, waiting.station, to);
            transfer.send_away(way, (waiting.packet, None), env.pool, storage);
        }
    }

    /// What links have dropped of the packets between base stations is lost.
    pub(crate) fn count_dropped(&mut self, pool: &PacketPool) {
        if let Some(transfer) = &mut self.drb.transfer.0 {
            transfer.count_dropped(pool);
        }
    }

    /// A packet that was sent away is at a base station.
    pub(crate) fn on_forwarded(
        &mut self,
        station: u32,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let bearer = self.drb.id;
        let ledger = &mut self.drb.anchors[Direction::Downlink.index()].ledger;
        let transfer = self.drb.transfer.0.as_mut();
        let known = transfer.and_then(|transfer| {
            let numbered = transfer.take_away(packet, env.pool)?.numbered;
            Some((transfer, numbered))
        });
        let Some((transfer, numbered)) = known else {
            return self.lose_forwarded(packet, env, storage);
        };
        let fate = transfer.journey.as_ref().map(|journey| journey.fate);
        match fate {
            Some(Fate::Forwarded(Way::Links { to })) if to != station => {
                let way = (bearer, station, to);
                return transfer.send_away(way, (packet, numbered), env.pool, storage);
            }
            Some(Fate::Dropped) => return self.lose_forwarded(packet, env, storage),
            _ => {}
        }
        if numbered.is_some_and(|sdu| !ledger.bring_back(sdu.serial)) {
            return self.lose_forwarded(packet, env, storage);
        }
        match (&mut transfer.journey, numbered) {
            (Some(journey), Some(sdu)) if !journey.has_resumed => {
                journey.numbered.push_back((station, sdu));
            }
            (Some(journey), None) if !journey.has_resumed => journey.fresh.push_back(Fresh {
                at: Time::NEVER,
                packet,
                station,
            }),
            (_, Some(sdu)) => self.send_again(sdu, true, env),
            (_, None) => {
                self.drb.inlet.push((env.now, packet));
            }
        }
    }

    /// It comes too late: the connection was lost, or PDCP has passed it over.
    fn lose_forwarded(
        &mut self,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        storage.lost.push(packet);
        self.lose_at_source(Direction::Downlink, env, storage);
    }
}
