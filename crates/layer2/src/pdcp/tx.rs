//! Transmitting PDCP entity.
//!
//! Standard: TS 38.323 §5.2.1, §5.3.

use super::{Ledger, PdcpConfig};
use crate::rlc::{Entity, ParameterError, Sdu};
use fadeout_core::{PacketId, Span, Time};

/// Transmitting PDCP entity. It numbers packets, hands them to RLC, and discards packets that
/// waited too long.
#[derive(Clone, Debug)]
pub struct Tx {
    header: u32,
    discard_timer: Option<Span>,
    tx_next: u32,
}

impl Tx {
    /// Returns an entity as after establishment.
    ///
    /// # Errors
    /// Returns an error if a parameter has a value that is not allowed.
    pub fn new(config: &PdcpConfig) -> Result<Tx, ParameterError> {
        config.check()?;
        Ok(Tx {
            header: config.header(),
            discard_timer: config.discard_timer,
            tx_next: 0,
        })
    }

    /// Returns the COUNT of the next packet.
    pub fn tx_next(&self) -> u32 {
        self.tx_next
    }

    /// Restarts COUNT at zero (re-establishment in unacknowledged mode).
    ///
    /// Standard: TS 38.323 §5.1.2.
    pub fn restart(&mut self) {
        self.tx_next = 0;
    }

    /// Lowers the next COUNT by `closed`, the number of COUNTs freed by drops. RLC has lowered the
    /// COUNTs of its unsent SDUs by the same number.
    pub fn close_gaps(&mut self, closed: u32) {
        self.tx_next = self.tx_next.wrapping_sub(closed);
    }

    /// Hands an SDU to RLC again with a new COUNT. Its discardTimer keeps running.
    ///
    /// Standard: TS 38.323 §5.1.2.
    pub fn renumber(&mut self, sdu: Sdu, rlc: &mut Entity) {
        rlc.push_again(Sdu {
            count: self.tx_next,
            ..sdu
        });
        self.tx_next = self.tx_next.wrapping_add(1);
    }

    /// Gives a packet of `size` bytes a COUNT and hands it to RLC. If the buffer of RLC is full,
    /// the packet is returned and uses no COUNT.
    #[inline]
    pub fn on_packet(
        &mut self,
        now: Time,
        packet: PacketId,
        size: u32,
        rlc: &mut Entity,
        ledger: &mut Ledger,
    ) -> Result<Sdu, PacketId> {
        let sdu = Sdu {
            packet,
            size: size + self.header,
            count: self.tx_next,
            serial: ledger.next_serial(),
            entered_at: now,
        };
        if rlc.push_sdu(sdu).is_err() {
            return Err(packet);
        }
        let serial = ledger.enter(packet);
        debug_assert!(
            serial == sdu.serial,
            "an SDU has number {}, and its packet {serial}",
            sdu.serial
        );
        self.tx_next = self.tx_next.wrapping_add(1);
        Ok(sdu)
    }

    /// Gives a packet of `size` bytes its COUNT, for any RLC entity. The packet has waited since
    /// `entered_at`.
    ///
    /// Standard: TS 38.323 §5.2.1.
    #[inline]
    pub fn number(
        &mut self,
        entered_at: Time,
        packet: PacketId,
        size: u32,
        ledger: &mut Ledger,
    ) -> Sdu {
        let count = self.tx_next;
        self.tx_next = count.wrapping_add(1);
        Sdu {
            packet,
            size: size + self.header,
            count,
            serial: ledger.enter(packet),
            entered_at,
        }
    }

    /// Discards SDUs that waited for discardTimer, if RLC has not sent any part of them. The timers
    /// of a bearer expire in the order of its queue, so only that of the head is checked.
    pub fn on_wake(&mut self, now: Time, rlc: &mut Entity, dropped: &mut Vec<Sdu>) {
        while self.wake_at(rlc) <= now {
            dropped.extend(rlc.drop_head(now));
        }
        debug_assert!(
            self.wake_at(rlc) > now,
            "an SDU is kept beyond its discard timer"
        );
    }

    /// Returns the expiry of the next discardTimer.
    #[inline]
    pub fn wake_at(&self, rlc: &Entity) -> Time {
        match (self.discard_timer, rlc.head()) {
            (Some(timer), Some(head)) => head.entered_at.saturating_add(timer),
            _ => Time::NEVER,
        }
    }

    /// Re-establishes RLC. Unconfirmed SDUs go to `unconfirmed` in the order of COUNT. The caller
    /// passes them to [`Entity::push_sdu`] again (data recovery, TS 38.323 clause 5.5) or drops
    /// them.
    ///
    /// Standard: TS 38.323 §5.5.
    pub fn reestablish(&mut self, rlc: &mut Entity, unconfirmed: &mut Vec<Sdu>) {
        self.tx_next = self.tx_next.wrapping_sub(rlc.reestablish(unconfirmed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlc::RlcConfig;
    use fadeout_core::{Packet, PacketPool};

    #[test]
    fn counts_go_on_after_reestablishment_where_those_of_dropped_packets_ended() {
        let mut tx = Tx::new(&PdcpConfig::NR).expect("allowed");
        let mut rlc = Entity::new(&RlcConfig::NR_AM).expect("allowed");
        let (mut ledger, mut pool) = (Ledger::new(), PacketPool::new());
        for _ in 0..3 {
            let packet = pool.insert(Packet::default());
            let taken = tx.on_packet(Time::ZERO, packet, 100, &mut rlc, &mut ledger);
            assert!(taken.is_ok());
        }
        assert_eq!(tx.tx_next(), 3);
        assert!(rlc.drop_head(Time::ZERO).is_some());
        let mut unconfirmed = Vec::new();
        tx.reestablish(&mut rlc, &mut unconfirmed);
        let counts: Vec<_> = unconfirmed.iter().map(|sdu| sdu.count).collect();
        assert_eq!(counts, [0, 1], "the gap is closed");
        assert_eq!(tx.tx_next(), 2);
    }

    /// COUNTs do not change after another base station has stored SDUs under them.
    #[test]
    fn settled_counts_stay_whatever_is_dropped() {
        let mut tx = Tx::new(&PdcpConfig::NR).expect("allowed");
        let mut rlc = Entity::new(&RlcConfig::NR_AM).expect("allowed");
        let (mut ledger, mut pool) = (Ledger::new(), PacketPool::new());
        let mut put = |tx: &mut Tx, rlc: &mut Entity| {
            let packet = pool.insert(Packet::default());
            tx.on_packet(Time::ZERO, packet, 100, rlc, &mut ledger)
                .expect("room")
                .count
        };
        (0..4).for_each(|count| assert_eq!(put(&mut tx, &mut rlc), count));
        rlc.drop_head(Time::ZERO).expect("count 0");
        tx.close_gaps(rlc.settle_counts());
        let mut all = Vec::new();
        rlc.list_unconfirmed(&mut all);
        let counts: Vec<_> = all.iter().map(|sdu| sdu.count).collect();
        assert_eq!(counts, [0, 1, 2], "the gap was closed before");
        assert_eq!(put(&mut tx, &mut rlc), 3);
        rlc.drop_head(Time::ZERO).expect("count 0");
        assert_eq!(rlc.take_head(Time::ZERO).map(|sdu| sdu.count), Some(1));
    }
}
