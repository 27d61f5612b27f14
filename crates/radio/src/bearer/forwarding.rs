//! Downlink packets that are forwarded between two base stations over links of the caller.
//!
//! The source forwards its data after the UE has left. While a packet is on a link, the bearer does
//! not hold it, and the link may drop it. A base station that the UE does not come to forwards
//! arriving packets to the right one.

use super::compression::anew;
use super::generation::with_header;
use super::transfer::{Fresh, Transfer, Transfers, Travel};
use super::{Storage, split};
use crate::config::{Env, Fate, Route};
use crate::rlc::Sdu;
use fadeout_core::{
    Direction, DrbId, EndpointId, FlowId, Packet, PacketId, PacketPool, Probe, Time,
};
use std::collections::VecDeque;

/// Packet that one base station forwards to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forwarded {
    pub bearer: DrbId,
    pub packet: PacketId,
    /// COUNT of the packet. `None` if it has none.
    pub count: Option<u32>,
    /// Base station that sends the packet, then the one that receives it.
    pub from: u32,
    pub to: u32,
}

/// Packet on a link between two base stations. Links do not report drops, so the packet's id may
/// belong to another packet by now.
#[derive(Debug)]
pub(super) struct Away {
    packet: PacketId,
    identity: Identity,
    /// SDU of the packet if it has a COUNT. In unacknowledged mode it gets a new COUNT later.
    numbered: Option<Sdu>,
}

/// Fields that distinguish a packet from another packet with the same id.
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
    /// Sends a packet from base station `from` to `to`.
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

    /// Counts the forwarded packets that no longer exist, because links have dropped them. Packets
    /// that are still on a link are not counted.
    pub(super) fn count_dropped(&mut self, pool: &PacketPool) {
        let before = self.away.len();
        self.away.retain(|away| {
            // A pool slot that is not in use holds no packet, so it is tested first.
            pool.is_in_use(away.packet) && identity(&pool.packet(away.packet)) == away.identity
        });
        let dropped = (before - self.away.len()) as u64;
        self.counts.lost += dropped;
        self.dropped += dropped;
    }

    /// Removes and returns the record of a forwarded packet. `None` if there is none.
    fn take_away(&mut self, packet: PacketId, pool: &PacketPool) -> Option<Away> {
        let identity = identity(&pool.packet(packet));
        let is_it = |away: &Away| away.packet == packet && away.identity == identity;
        let place = self.away.iter().position(is_it)?;
        self.away.remove(place)
    }
}

impl Transfers {
    /// Returns the number of packets that links between base stations are known to have dropped
    /// since the start.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.as_ref().map_or(0, |transfer| transfer.dropped)
    }

    /// Returns the source and the target of forwarding over links. `None` if links do not carry the
    /// forwarded packets.
    pub(crate) fn stations(&self) -> Option<(u32, u32)> {
        let journey = self.0.as_ref()?.journey.as_ref()?;
        match journey.fate {
            Fate::Forwarded(Route::Links { to }) => Some((journey.source, to)),
            _ => None,
        }
    }
}

impl Travel<'_> {
    /// Hands a packet with a COUNT to RLC again. In acknowledged mode it keeps its COUNT and is
    /// omitted if the UE has it. It gets a new COUNT if PDCP was set up anew.
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

    /// Hands the UE's unsent uplink data to its RLC again.
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

    /// Forwards packets that wait at other base stations to the UE's new base station.
    pub(super) fn send_on(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let bearer = self.drb.id;
        let ledger = &mut self.drb.anchors[Direction::Downlink.index()].ledger;
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let Some(journey) = &mut transfer.journey else {
            return;
        };
        let Fate::Forwarded(Route::Links { to }) = journey.fate else {
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

    /// Counts the forwarded packets that links have dropped. They are lost.
    pub(crate) fn count_dropped(&mut self, pool: &PacketPool) {
        if let Some(transfer) = &mut self.drb.transfer.0 {
            transfer.count_dropped(pool);
        }
    }

    /// Handles the arrival of a forwarded packet at a base station.
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
            Some(Fate::Forwarded(Route::Links { to })) if to != station => {
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

    /// Drops a forwarded packet that comes too late. The connection was lost, or PDCP no longer
    /// waits for the packet.
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
