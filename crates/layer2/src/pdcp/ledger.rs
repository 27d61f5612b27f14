//! Ownership of packets on a bearer.

use fadeout_core::{PacketId, Ring};

#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    packet: PacketId,
    place: Place,
}

/// Location of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Place {
    #[default]
    Inside,
    /// On a link between two base stations. The link owns the packet.
    Away,
    /// Delivered or dropped.
    Gone,
}

/// Record of the packets that entered a bearer and have not left it.
///
/// Copies of an SDU may be in a transmission buffer, in HARQ and at the receiver at once. In
/// unacknowledged mode an SDU may be lost without notice. The ledger belongs to the simulation and
/// not to the protocol. Each packet enters once and leaves once, delivered or lost.
#[derive(Clone, Default, Debug)]
pub struct Ledger {
    entries: Ring<Entry>,
}

impl Ledger {
    /// Returns a ledger without packets.
    pub fn new() -> Ledger {
        Ledger::default()
    }
    /// Returns the serial number of the next packet.
    #[inline]
    pub fn next_serial(&self) -> u32 {
        self.entries.end() as u32
    }
    /// Returns the serial number below which all packets have left the bearer.
    #[inline]
    pub fn first_serial(&self) -> u32 {
        self.entries.first() as u32
    }
    /// Records that a packet enters. Returns its serial number.
    #[inline]
    pub fn enter(&mut self, packet: PacketId) -> u32 {
        self.entries.push(Entry {
            packet,
            place: Place::Inside,
        }) as u32
    }
    /// Records that a packet leaves, delivered or dropped. Returns false if it left before, as a
    /// duplicate.
    #[inline]
    pub fn leave(&mut self, serial: u32) -> bool {
        if !self.holds(serial) {
            return false;
        }
        self.entries[u64::from(serial)].place = Place::Gone;
        while (self.entries.front()).is_some_and(|entry| entry.place == Place::Gone) {
            self.entries.pop();
        }
        debug_assert!(
            !self.holds(serial),
            "packet {serial} left and is still inside"
        );
        true
    }
    /// Records that a packet goes to another base station over links that may drop it. Returns
    /// false if the packet has left before.
    pub fn send_away(&mut self, serial: u32) -> bool {
        let is_here = self.holds(serial);
        if is_here {
            self.entries[u64::from(serial)].place = Place::Away;
        }
        is_here
    }
    /// Records that a packet arrived at the other base station. Returns false if the packet counts
    /// as lost, because later packets were delivered meanwhile.
    pub fn bring_back(&mut self, serial: u32) -> bool {
        let number = u64::from(serial);
        let is_missed = self.entries.contains(number) && self.entries[number].place == Place::Away;
        if is_missed {
            self.entries[number].place = Place::Inside;
        }
        is_missed
    }
    /// Records that packets below `serial` can no longer be delivered
    /// ([`Rx::passed`](super::Rx::passed)). Packets that have not left are lost. Packets on the way
    /// to another base station are not lost here.
    #[inline]
    pub fn pass(&mut self, serial: u32, lost: &mut Vec<PacketId>) {
        while self.entries.first() < u64::from(serial) {
            let Some(entry) = self.entries.pop() else {
                return;
            };
            if entry.place == Place::Inside {
                lost.push(entry.packet);
            }
        }
        debug_assert!(
            u64::from(serial) <= self.entries.first(),
            "a packet before {serial} was not passed"
        );
    }
    /// Records that all packets on the bearer are lost.
    pub fn pass_all(&mut self, lost: &mut Vec<PacketId>) {
        self.pass(self.next_serial(), lost);
    }
    /// Returns true if the packet is on the bearer: not delivered, not dropped, and not on the way
    /// to another base station.
    #[inline]
    pub fn holds(&self, serial: u32) -> bool {
        let number = u64::from(serial);
        self.entries.contains(number) && self.entries[number].place == Place::Inside
    }
    /// Returns true if this packet has been delivered or dropped. False for a packet on a link
    /// between base stations.
    #[inline]
    pub fn has_left(&self, serial: u32) -> bool {
        let number = u64::from(serial);
        !self.entries.contains(number) || self.entries[number].place == Place::Gone
    }
    /// Returns the number of packets since the oldest one on the bearer. It includes packets that
    /// left after the oldest one entered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Returns true if no packet is on the bearer.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::{Packet, PacketPool};

    #[test]
    fn a_packet_leaves_once() {
        let mut pool = PacketPool::new();
        let ids: Vec<_> = (0..4).map(|_| pool.insert(Packet::default())).collect();
        let mut ledger = Ledger::new();
        let mut lost = Vec::new();
        let serials: Vec<_> = ids.iter().map(|&id| ledger.enter(id)).collect();
        assert!(ledger.leave(serials[1]));
        assert!(!ledger.leave(serials[1]), "a duplicate");
        ledger.pass(serials[3], &mut lost);
        assert_eq!(lost, [ids[0], ids[2]]);
        assert!(!ledger.leave(serials[0]), "lost before");
        assert!(!ledger.is_empty());
        assert!(ledger.leave(serials[3]));
        assert!(ledger.is_empty());
    }

    #[test]
    fn what_left_behind_one_that_has_not_is_counted_and_not_held() {
        let mut pool = PacketPool::new();
        let ids: Vec<_> = (0..3).map(|_| pool.insert(Packet::default())).collect();
        let mut ledger = Ledger::new();
        for &id in &ids {
            ledger.enter(id);
        }
        assert!(ledger.leave(1));
        assert_eq!(ledger.len(), 3);
        assert_eq!(
            [0, 1, 2, 3].map(|serial| ledger.holds(serial)),
            [true, false, true, false]
        );
        assert!(ledger.leave(0));
        assert_eq!(ledger.len(), 1, "those that left before it go with it");
        let mut lost = Vec::new();
        ledger.pass_all(&mut lost);
        assert_eq!((lost, ledger.len()), (vec![ids[2]], 0));
    }

    #[test]
    fn what_is_away_is_neither_delivered_nor_lost() {
        let mut pool = PacketPool::new();
        let ids: Vec<_> = (0..3).map(|_| pool.insert(Packet::default())).collect();
        let mut ledger = Ledger::new();
        for &id in &ids {
            ledger.enter(id);
        }
        assert!(ledger.send_away(0) && ledger.send_away(1));
        assert!(!ledger.send_away(0), "it is away");
        assert!(!ledger.holds(0) && !ledger.has_left(0));
        assert!(!ledger.leave(0), "no copy of it is delivered");
        assert!(ledger.bring_back(0));
        assert!(!ledger.bring_back(0), "it is here");
        let mut lost = Vec::new();
        ledger.pass(3, &mut lost);
        assert_eq!(lost, [ids[0], ids[2]]);
        assert!(!ledger.bring_back(1), "passed over");
        assert!(ledger.has_left(0) && ledger.has_left(1));
    }
}
