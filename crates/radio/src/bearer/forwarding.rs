//! Downlink packets that base stations forward to each other over links of the caller.
//!
//! The source forwards its data after the UE has left. While a packet is on a link, the bearer does
//! not hold the packet, and the link may drop it. If the UE is not at the base station where a
//! packet arrives, that base station forwards the packet again.

use super::compression::compress_again;
use super::generation::with_header;
use super::transfer::{FreshPacket, MobileBearer, Transfer, Transfers};
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
    /// COUNT of the packet. `None` if the packet has no COUNT.
    pub count: Option<u32>,
    /// Base station that sends the packet (`from`) and base station that receives it (`to`).
    pub from: u32,
    pub to: u32,
}

/// Packet on a link between two base stations. Links do not report drops, so the packet's id may
/// belong to another packet by now.
#[derive(Debug)]
pub(super) struct PacketOnLink {
    packet: PacketId,
    identity: Identity,
    /// SDU of the packet. `None` if the packet has no COUNT. In unacknowledged mode the SDU gets a
    /// new COUNT later.
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
    pub(super) fn send_over_link(
        &mut self,
        (bearer, from, to): (DrbId, u32, u32),
        (packet, numbered): (PacketId, Option<Sdu>),
        pool: &PacketPool,
        storage: &mut Storage,
    ) {
        self.on_links.push_back(PacketOnLink {
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

    /// Counts the forwarded packets that links have dropped, which no longer exist in the pool.
    /// Packets that are still on a link are not counted.
    pub(super) fn count_dropped(&mut self, pool: &PacketPool) {
        let before = self.on_links.len();
        self.on_links.retain(|on_link| {
            // A pool slot that is not in use contains no packet to compare, so the use is tested
            // first.
            pool.is_in_use(on_link.packet)
                && identity(&pool.packet(on_link.packet)) == on_link.identity
        });
        let dropped = (before - self.on_links.len()) as u64;
        self.counts.lost += dropped;
        self.dropped += dropped;
    }

    /// Removes and returns the record of a forwarded packet. `None` if the packet was not
    /// forwarded.
    fn take_from_link(&mut self, packet: PacketId, pool: &PacketPool) -> Option<PacketOnLink> {
        let identity = identity(&pool.packet(packet));
        let is_it =
            |on_link: &PacketOnLink| on_link.packet == packet && on_link.identity == identity;
        let place = self.on_links.iter().position(is_it)?;
        self.on_links.remove(place)
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
        let change = self.0.as_ref()?.change.as_ref()?;
        match change.fate {
            Fate::Forwarded(Route::Links { to }) => Some((change.source, to)),
            _ => None,
        }
    }
}

impl MobileBearer<'_> {
    /// Hands a packet with a COUNT to RLC again. In acknowledged mode the packet keeps its COUNT,
    /// and is omitted if the UE has it. The packet gets a new COUNT if PDCP was set up anew.
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
            true => compress_again((&mut *downlink, &self.drb.config.pdcp), sdu, env),
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
            let sdu = compress_again((anchor, &self.drb.config.pdcp), sdu, env);
            match is_kept {
                true => rlc.push_again(sdu),
                false => anchor.tx.renumber(sdu, rlc),
            }
        }
    }

    /// Forwards packets that wait at other base stations to the UE's new base station.
    pub(super) fn forward_waiting(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let bearer = self.drb.id;
        let ledger = &mut self.drb.anchors[Direction::Downlink.index()].ledger;
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let Some(change) = &mut transfer.change else {
            return;
        };
        let Fate::Forwarded(Route::Links { to }) = change.fate else {
            return;
        };
        let (mut numbered, mut fresh) = (VecDeque::new(), VecDeque::new());
        std::mem::swap(&mut numbered, &mut change.numbered);
        std::mem::swap(&mut fresh, &mut change.fresh);
        change
            .numbered
            .extend(numbered.iter().filter(|(station, _)| *station == to));
        change
            .fresh
            .extend(fresh.iter().filter(|waiting| waiting.station == to));
        for (station, sdu) in numbered.into_iter().filter(|(station, _)| *station != to) {
            if ledger.send_away(sdu.serial) {
                transfer.counts.numbered += 1;
                let packet = (sdu.packet, Some(sdu));
                transfer.send_over_link((bearer, station, to), packet, env.pool, storage);
            }
        }
        for waiting in fresh.into_iter().filter(|waiting| waiting.station != to) {
            transfer.counts.fresh += 1;
            let hop = (bearer, waiting.station, to);
            transfer.send_over_link(hop, (waiting.packet, None), env.pool, storage);
        }
    }

    /// Counts the forwarded packets that links have dropped as lost packets.
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
            let numbered = transfer.take_from_link(packet, env.pool)?.numbered;
            Some((transfer, numbered))
        });
        let Some((transfer, numbered)) = known else {
            return self.drop_forwarded(packet, env, storage);
        };
        let fate = transfer.change.as_ref().map(|change| change.fate);
        match fate {
            Some(Fate::Forwarded(Route::Links { to })) if to != station => {
                let hop = (bearer, station, to);
                return transfer.send_over_link(hop, (packet, numbered), env.pool, storage);
            }
            Some(Fate::Dropped) => return self.drop_forwarded(packet, env, storage),
            _ => {}
        }
        if numbered.is_some_and(|sdu| !ledger.bring_back(sdu.serial)) {
            return self.drop_forwarded(packet, env, storage);
        }
        match (&mut transfer.change, numbered) {
            (Some(change), Some(sdu)) if !change.has_resumed => {
                change.numbered.push_back((station, sdu));
            }
            (Some(change), None) if !change.has_resumed => change.fresh.push_back(FreshPacket {
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
    fn drop_forwarded(
        &mut self,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        storage.lost.push(packet);
        self.lose_at_source(Direction::Downlink, env, storage);
    }
}
