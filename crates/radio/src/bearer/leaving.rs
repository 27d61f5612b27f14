//! Exit of packets from a bearer: delivery or loss.

use super::compression::reset;
use super::transfer::MobileBearer;
use super::{Anchor, Drb, Storage, is_elsewhere, split};
use crate::bearer::rlc_leg::RlcLeg;
use crate::config::Env;
use crate::rlc::TransportBlock;
use fadeout_core::{
    Direction, DrbId, PacketId, PacketPool, Probe, RadioDropCause, RadioDropRow, Time,
};
use std::ops::Range;

impl Drb {
    /// Delivers the SDUs that are in order. Packets for which PDCP no longer waits are counted as
    /// lost.
    pub(super) fn deliver_in_order(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let (mut packets, mut bytes) = (0, 0);
        let passed = self.anchors[direction.opposite().index()].rx.passed();
        let wants_delay = self.wants_delay(env.probe);
        let Anchor { ledger, rohc, .. } = &mut self.anchors[direction.index()];
        for sdu in storage.ordered.drain(..) {
            if !ledger.leave(sdu.serial) {
                continue;
            }
            if let Some(rohc) = rohc
                && !rohc.decompress(sdu.serial)
            {
                self.counters[direction.index()].dropped_packets += 1;
                let loss = Loss {
                    now: env.now,
                    bearer: self.id,
                    direction,
                    cause: RadioDropCause::HeaderCompression,
                    is_signalling: self.is_signalling,
                };
                loss.drop_packet(sdu.packet, env.pool, env.probe);
                continue;
            }
            let size = env.pool[sdu.packet].wire_len();
            if wants_delay {
                let key = (sdu.packet, sdu.serial, self.id, direction);
                if let Some(mut row) = storage.tracks.row(key, env.now) {
                    row.flow = env.pool[sdu.packet].flow;
                    row.size_bytes = size;
                    env.probe.radio_delay(row);
                }
            }
            packets += 1;
            bytes += u64::from(size);
            match self.is_signalling {
                false => env.out.push(sdu.packet),
                true => storage.signalled.push((self.id, direction, sdu.packet)),
            }
        }
        ledger.pass(passed, &mut storage.lost);
        let counters = &mut self.counters[direction.index()];
        counters.delivered_packets += packets;
        counters.delivered_bytes += bytes;
        if packets > 0 {
            self.transfer.record_delivery(direction, env.now);
        }
        self.drop_lost(direction, RadioDropCause::Reordering, env, storage);
    }

    /// Handles a transport block of a leg that HARQ has given up. `pdus` are the bearer's PDUs in
    /// the block. In unacknowledged and transparent mode the packets of these PDUs are lost, unless
    /// another leg has a copy.
    pub(crate) fn on_harq_failure(
        &mut self,
        (leg, direction): (u8, Direction),
        (block, pdus): (&TransportBlock, Range<usize>),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.config.is_acknowledged() || is_elsewhere(self, leg) {
            return;
        }
        // In a DAPS handover the target gets a copy of each downlink packet, so no packet is lost.
        if self.is_dual && direction == Direction::Downlink {
            return;
        }
        let ledger = &mut self.anchors[direction.index()].ledger;
        for pdu in &block.pdus[pdus] {
            for part in block.data_parts(pdu) {
                let serial = part.sdu.serial;
                let is_lost = (self.split.as_mut())
                    .is_none_or(|split| split.is_lost(serial, (leg, direction)));
                if is_lost && ledger.leave(serial) {
                    storage.lost.push(part.sdu.packet);
                }
            }
        }
        self.drop_lost(direction, RadioDropCause::HarqFailure, env, storage);
    }

    /// Drops SDUs at the head of a leg's buffer that no transport block can carry. No block of the
    /// leg is larger than `room` bytes.
    pub(crate) fn drop_oversized(
        &mut self,
        (leg, direction): (u8, Direction),
        room: u32,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let end = self.legs.get_mut(leg).sender(direction);
        end.catch_up(env.now);
        let ledger = &mut self.anchors[direction.index()].ledger;
        let rlc = &mut end.rlc;
        while rlc
            .head()
            .is_some_and(|sdu| rlc.least_grant(sdu.size) > room)
        {
            let Some(sdu) = rlc.drop_head(env.now) else {
                break;
            };
            let is_lost = (self.split.as_mut())
                .is_none_or(|split| split.is_lost(sdu.serial, (leg, direction)));
            if is_lost && ledger.leave(sdu.serial) {
                storage.lost.push(sdu.packet);
            }
        }
        self.drop_lost(direction, RadioDropCause::NoBlock, env, storage);
    }

    /// Drops the packets of an idle bearer that were never delivered. Without acknowledgments, the
    /// sender does not learn which packets the receiver discards. The bearer is idle if nothing
    /// waits in its buffers or in HARQ.
    #[inline]
    pub(crate) fn drop_undelivered(
        &mut self,
        direction: Direction,
        is_harq_idle: impl FnOnce(&Drb) -> bool,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if !self.config.is_acknowledged() && !self.ledger(direction).is_empty() {
            self.drop_if_idle(direction, is_harq_idle, env, storage);
        }
    }

    #[inline(never)]
    fn drop_if_idle(
        &mut self,
        direction: Direction,
        is_harq_idle: impl FnOnce(&Drb) -> bool,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        // Packets between the two base stations of a handover are still in the bearer, so it is not
        // idle.
        if direction == Direction::Downlink && (self.transfer.is_between_cells() || self.is_dual) {
            return;
        }
        let (from, to) = (direction.index(), direction.opposite().index());
        if (self.split.as_ref()).is_some_and(|split| !split.is_settled(direction)) {
            return;
        }
        let is_waiting = |leg: &RlcLeg| !leg.ends[to].rlc.wake_at().is_never();
        if self.legs.iter().any(is_waiting) || self.anchors[to].rx.is_holding() {
            return;
        }
        let has_sent = |leg: &RlcLeg| leg.ends[from].rlc.backlog(env.now).is_empty();
        if self.legs.iter().all(has_sent) && is_harq_idle(self) {
            self.anchors[from].ledger.pass_all(&mut storage.lost);
            self.drop_lost(direction, RadioDropCause::Reordering, env, storage);
        }
    }

    /// Handles the failure of a leg, which carries nothing before `until`. RLC and PDCP are
    /// re-established at both ends, and COUNT restarts. Packets that the receivers hold are
    /// delivered, and all other packets are lost. A split bearer continues on its other legs.
    pub(crate) fn reestablish(
        &mut self,
        (leg, until): (u8, Time),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.split.is_some() {
            let both = [Direction::Downlink, Direction::Uplink];
            if let Some(split) = &mut self.split {
                split.suspend(leg, false);
            }
            fail_leg((self, leg, until), &both, env, storage);
            return;
        }
        for direction in [Direction::Downlink, Direction::Uplink] {
            for leg in self.legs.iter_mut() {
                let end = leg.sender(direction);
                end.catch_up(env.now);
                let tx = &mut self.anchors[direction.index()].tx;
                tx.reestablish(&mut end.rlc, &mut storage.unconfirmed);
            }
        }
        // The lost packets are taken from the ledgers below. The ledgers contain these SDUs and
        // also those that only a receiver had.
        storage.unconfirmed.clear();
        for direction in [Direction::Downlink, Direction::Uplink] {
            restart_pdcp((self, direction), env, storage);
            let ledger = &mut self.anchors[direction.index()].ledger;
            ledger.pass_all(&mut storage.lost);
            self.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
        }
        reset(self);
    }

    /// Drops the packets in the list of lost packets.
    #[inline]
    pub(super) fn drop_lost(
        &mut self,
        direction: Direction,
        cause: RadioDropCause,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if !storage.lost.is_empty() {
            self.counters[direction.index()].dropped_packets += storage.lost.len() as u64;
            let loss = self.loss(env.now, direction, cause);
            loss.drop_all(&mut storage.lost, env.pool, env.probe);
        }
    }

    pub(super) fn loss(&self, now: Time, direction: Direction, cause: RadioDropCause) -> Loss {
        Loss {
            now,
            bearer: self.id,
            direction,
            cause,
            is_signalling: self.is_signalling,
        }
    }
}

impl MobileBearer<'_> {
    /// Drops the packets in the list of lost packets, and counts them in the change of cell.
    pub(super) fn lose_at_source(
        &mut self,
        direction: Direction,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if let Some(transfer) = &mut self.drb.transfer.0 {
            match &mut transfer.copies {
                // The target may have copies of some of these packets.
                Some(copies) if direction == Direction::Downlink => {
                    let lost = storage.lost.iter();
                    lost.for_each(|&packet| copies.on_drop(&env.pool.packet(packet)));
                }
                _ => transfer.counts.lost += storage.lost.len() as u64,
            }
        }
        self.drb
            .drop_lost(direction, RadioDropCause::Handover, env, storage);
    }

    /// Handles the release of the UE's connection. All packets in the bearer are lost, and PDCP
    /// restarts.
    pub(crate) fn release(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        self.drop_copies(env, storage);
        let mut packets = Vec::new();
        if let Some(change) = self.change() {
            change.numbered.clear();
            packets.extend(change.fresh.drain(..).map(|fresh| fresh.packet));
            packets.append(&mut change.direct.drain(..).collect());
        }
        packets.extend(std::iter::from_fn(|| self.drb.inlet.pop()).map(|(_, packet)| packet));
        storage.lost.append(&mut packets);
        self.drb.drop_lost(
            Direction::Downlink,
            RadioDropCause::LinkFailure,
            env,
            storage,
        );
        if self.drb.split.is_some() {
            split::drop_all(self.drb, env, storage);
            for anchor in &mut self.drb.anchors {
                anchor.tx.restart();
                anchor.rx.restart();
            }
        } else {
            self.drb.reestablish((0, env.now), env, storage);
        }
        if let Some(transfer) = &mut self.drb.transfer.0 {
            transfer.change = None;
            // Links may still carry forwarded packets. These packets are lost when they arrive.
            transfer.count_dropped(env.pool);
            transfer.on_links.clear();
        }
    }
}

/// Re-establishes PDCP in a direction. Packets that the receiver holds are delivered. COUNT
/// restarts at both ends, because otherwise later packets would wait for lost packets.
///
/// Standard: TS 38.323 §5.1.2.
pub(super) fn restart_pdcp(
    (drb, direction): (&mut Drb, Direction),
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) {
    let receiver = direction.opposite().index();
    drb.anchors[receiver].rx.flush(&mut storage.ordered);
    drb.deliver_in_order(direction, env, storage);
    drb.anchors[receiver].rx.restart();
    drb.anchors[direction.index()].tx.restart();
}

/// Handles the failure of a split bearer's leg in the given directions. The leg carries nothing
/// before `until`.
pub(crate) fn fail_leg(
    (drb, leg, until): (&mut Drb, u8, Time),
    directions: &[Direction],
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) {
    for &direction in directions {
        if let Some(mut split) = split(drb) {
            split.hand_up((leg, direction), env, storage);
        }
        drb.deliver_in_order(direction, env, storage);
    }
    for &direction in directions {
        if let Some(mut split) = split(drb) {
            split.fail((leg, direction), until, storage);
        }
        drb.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
    }
}

impl MobileBearer<'_> {
    /// Drops a downlink packet at the core, because the UE has not attached.
    #[cold]
    pub(crate) fn refuse(&mut self, packet: PacketId, env: &mut Env<'_, impl Probe>) {
        self.drb.counters[Direction::Downlink.index()].dropped_packets += 1;
        let loss = Loss {
            now: env.now,
            bearer: self.drb.id,
            direction: Direction::Downlink,
            cause: RadioDropCause::NotAttached,
            is_signalling: false,
        };
        loss.drop_packet(packet, env.pool, env.probe);
    }
}

/// Circumstances of a packet's drop.
pub(super) struct Loss {
    now: Time,
    bearer: DrbId,
    direction: Direction,
    cause: RadioDropCause,
    is_signalling: bool,
}

impl Loss {
    /// Drops all packets of a list.
    #[cold]
    fn drop_all(&self, lost: &mut Vec<PacketId>, pool: &mut PacketPool, probe: &mut impl Probe) {
        for packet in lost.drain(..) {
            self.drop_packet(packet, pool, probe);
        }
    }

    /// Frees a dropped packet and reports it to the probe.
    pub(super) fn drop_packet(
        &self,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let packet = pool.remove(packet);
        if self.is_signalling {
            return;
        }
        probe.radio_dropped(RadioDropRow {
            time_s: self.now,
            bearer: self.bearer,
            direction: self.direction,
            flow: packet.flow,
            size_bytes: packet.wire_len(),
            cause: self.cause,
        });
    }
}
