//! Entry of packets into a bearer. PDCP and RLC accept a packet or drop it.

use super::{Drb, Storage, daps, early};
use crate::config::Env;
use crate::rlc::Sdu;
use fadeout_core::{Direction, PacketId, Probe, RadioDropCause, Time};

/// Sends a copy of a downlink SDU to another base station.
#[cold]
fn send_copy(drb: &mut Drb, sdu: Sdu, env: &Env<'_, impl Probe>, storage: &mut Storage) {
    match drb.is_dual {
        true => daps::daps(drb).copy_sdu(sdu, env, storage),
        false => early::early(drb).copy_sdu(sdu, env, storage),
    }
}

impl Drb {
    /// Hands a packet to PDCP and RLC. Returns false if the packet was dropped without a COUNT. A
    /// packet is dropped if it is larger than any transport block, if the buffer is full, or by
    /// queue management.
    pub(crate) fn accept_packet(
        &mut self,
        at: Time,
        direction: Direction,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> bool {
        if let Some(split) = &mut self.split {
            let is_taken = split.queue_packet(at, direction, packet, (env.pool, &self.legs));
            if !is_taken {
                self.refuse(direction, packet, RadioDropCause::BufferFull, env);
            } else if split.duplicates(direction)
                && let Some(mut split) = super::split(self)
            {
                split.submit(direction, env, storage);
            }
            return is_taken;
        }
        if self.is_dual && direction == Direction::Downlink && daps::daps(self).uses_source_leg() {
            return daps::daps(self).accept_on_source_leg(at, packet, env, storage);
        }
        let size = env.pool[packet].wire_len();
        let (rlc, room) = self.legs.primary.sending(direction);
        if rlc.least_grant(size + self.config.pdcp.header()) > room {
            self.refuse(direction, packet, RadioDropCause::NoBlock, env);
            return false;
        }
        if self.legs.primary.sender(direction).has_aqm() && !self.admits(at, direction, packet, env)
        {
            return false;
        }
        let rlc = &mut self.legs.primary.ends[direction.index()].rlc;
        let anchor = &mut self.anchors[direction.index()];
        let size = match &mut anchor.rohc {
            Some(rohc) if rlc.has_room(size + self.config.pdcp.header()) => rohc.compress(
                env.now,
                &env.pool.packet(packet),
                anchor.ledger.first_serial(),
            ),
            // The header of a packet that does not fit into the buffer is not compressed.
            _ => size,
        };
        let taken = anchor
            .tx
            .on_packet(at, packet, size, rlc, &mut anchor.ledger);
        match taken {
            Ok(sdu) => {
                if self.wants_delay(env.probe) {
                    storage.tracks.number(packet, sdu.serial);
                }
                if (self.is_dual || self.has_candidates) && direction == Direction::Downlink {
                    send_copy(self, sdu, env, storage);
                }
                true
            }
            Err(packet) => {
                self.refuse(direction, packet, RadioDropCause::BufferFull, env);
                false
            }
        }
    }

    /// Drops an arriving packet. If the base station was still processing the packet, the drop
    /// takes place at the bearer's next update. The row of the drop contains the time of that
    /// update.
    pub(super) fn refuse(
        &mut self,
        direction: Direction,
        packet: PacketId,
        cause: RadioDropCause,
        env: &mut Env<'_, impl Probe>,
    ) {
        let loss = self.loss(env.now, direction, cause);
        loss.drop_packet(packet, env.pool, env.probe);
        self.counters[direction.index()].dropped_packets += 1;
    }

    /// Returns true if queue management accepts a packet. Queue management may mark an accepted
    /// packet. Other packets are dropped.
    fn admits(
        &mut self,
        at: Time,
        direction: Direction,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let size = env.pool[packet].wire_len() + self.config.pdcp.header();
        let mut marked = 0;
        let end = self.legs.primary.sender(direction);
        let is_taken = end.admits(at, size, &mut env.pool[packet].ecn, &mut marked);
        let counters = &mut self.counters[direction.index()];
        counters.marked_packets += marked;
        if !is_taken {
            counters.aqm_dropped_packets += 1;
            self.refuse(direction, packet, RadioDropCause::Aqm, env);
        }
        is_taken
    }

    /// Counts the packets that queue management has marked. Drops the SDUs that queue management
    /// removed from the head of a queue.
    #[cold]
    pub(super) fn on_managed(
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
                loss.drop_packet(sdu.packet, env.pool, env.probe);
            }
        }
    }
}
