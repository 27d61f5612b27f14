//! Biased queue of TCP-Casablanca. When it overflows, it drops an expendable packet before any
//! other. So a receiver that knows the expendable packets can distinguish this queue's losses from
//! those of a radio link.
//!
//! The paper leaves open which expendable packet is dropped. Here it is the newest, because the
//! oldest has used most resources. Without an expendable packet the arrival is dropped, as in
//! drop-tail.
//!
//! Source: Biaz and Vaidya, IEEE/ACM Transactions on Networking 13(3), 2005.

use super::discipline::{ManagedQueue, Start};
use super::fifo::Queued;
use super::{Effects, Limit};
use crate::LinkError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings};
use fadeout_core::{PacketId, Rate, Ring, Time};

/// First-in, first-out queue that drops expendable packets first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BiasedConfig;

impl Registered<Rate> for BiasedConfig {
    const ENTRY: Entry = Entry::new(
        "biased",
        "passive",
        "First in, first out. A full queue first drops packets that are marked as expendable, for \
         TCP-Casablanca.",
        "Biaz, Vaidya, IEEE/ACM ToN 13(3), 2005",
    );

    fn from_settings(_: &Settings<'_>, _: Rate) -> Self {
        BiasedConfig
    }
}

impl Start for BiasedConfig {
    type Queue = Biased;

    fn start(self, _: Option<Limit>, _: Stream) -> Result<Option<Biased>, LinkError> {
        Ok(Some(Biased::default()))
    }
}

/// First-in, first-out queue with drops from within.
#[derive(Debug, Default)]
pub(crate) struct Biased {
    ring: Ring<Slot>,
    /// Positions of the waiting expendable packets in the ring, oldest first.
    expendable: Ring<u64>,
    packets: u64,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    queued: Queued,
    /// True if the packet was dropped while it waited.
    is_gone: bool,
}

impl ManagedQueue for Biased {
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool {
        let number = self.ring.push(Slot {
            queued: arrival,
            is_gone: false,
        });
        if effects.pool.segment(arrival.packet).is_expendable {
            self.expendable.push(number);
        }
        self.packets += 1;
        self.bytes += u64::from(arrival.size);
        true
    }

    fn dequeue(&mut self, _: Time, _: &mut Effects<'_>) -> Option<Queued> {
        loop {
            let number = self.ring.first();
            let slot = self.ring.pop()?;
            if slot.is_gone {
                continue;
            }
            if self.expendable.front() == Some(&number) {
                self.expendable.pop();
            }
            self.packets -= 1;
            self.bytes -= u64::from(slot.queued.size);
            return Some(slot.queued);
        }
    }

    fn makes_room(&self) -> bool {
        true
    }

    /// Drops the newest expendable packet, or the newest of all if there is none.
    fn make_room(&mut self, dropped: &mut Vec<PacketId>) -> bool {
        if self.packets == 0 {
            return false;
        }
        let newest = || self.ring.end() - 1;
        let mut number = self.expendable.pop_back().unwrap_or_else(newest);
        while self.ring[number].is_gone {
            number -= 1; // The newest packet was dropped before.
        }
        let slot = &mut self.ring[number];
        slot.is_gone = true;
        self.packets -= 1;
        self.bytes -= u64::from(slot.queued.size);
        dropped.push(slot.queued.packet);
        true
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, ms};
    use super::*;

    /// Returns a queue with packets that are expendable or not.
    fn queue(rig: &mut Rig, kinds: &[bool]) -> (Biased, Vec<PacketId>) {
        let mut biased = Biased::default();
        let mut packets = Vec::new();
        for &is_expendable in kinds {
            let mut queued = rig.full(ms(0));
            let mut packet = rig.pool.remove(queued.packet);
            packet.segment.is_expendable = is_expendable;
            queued.packet = rig.pool.insert(packet);
            packets.push(queued.packet);
            biased.enqueue(queued, &mut rig.effects());
        }
        (biased, packets)
    }

    #[test]
    fn the_newest_expendable_packet_goes_first_and_then_the_newest() {
        let mut rig = Rig::default();
        let (mut biased, packets) = queue(&mut rig, &[true, false, true, false]);
        let mut dropped = Vec::new();
        for _ in 0..4 {
            assert!(biased.make_room(&mut dropped));
        }
        assert!(!biased.make_room(&mut dropped));
        assert_eq!(dropped, [packets[2], packets[0], packets[3], packets[1]]);
        assert_eq!((biased.packets(), biased.bytes()), (0, 0));
        assert!(biased.dequeue(ms(0), &mut rig.effects()).is_none());
    }

    #[test]
    fn what_stays_leaves_in_order_and_what_left_is_not_dropped() {
        let mut rig = Rig::default();
        let (mut biased, packets) = queue(&mut rig, &[true, false, true, false]);
        assert_eq!(
            biased
                .dequeue(ms(0), &mut rig.effects())
                .map(|queued| queued.packet),
            Some(packets[0])
        );
        let mut dropped = Vec::new();
        biased.make_room(&mut dropped);
        biased.make_room(&mut dropped);
        assert_eq!(dropped, [packets[2], packets[3]]);
        assert_eq!(
            biased
                .dequeue(ms(0), &mut rig.effects())
                .map(|queued| queued.packet),
            Some(packets[1])
        );
        assert!(biased.dequeue(ms(0), &mut rig.effects()).is_none());
    }
}
