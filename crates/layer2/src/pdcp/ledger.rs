//! Who owns a packet on its way over a bearer.

use fadeout_core::{PacketId, Ring};

#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    packet: PacketId,
    is_resolved: bool,
}

/// The packets that entered a bearer and have not left it.
///
/// Copies of an SDU may be in a transmission buffer, in HARQ and at the receiver at once, and in
/// unacknowledged mode an SDU may vanish with nobody knowing. The ledger is the simulation's
/// book, outside the protocol: a packet enters once and leaves once, delivered or lost.
#[derive(Clone, Default, Debug)]
pub struct Ledger {
    entries: Ring<Entry>,
}

impl Ledger {
    /// No packet is under way.
    pub fn new() -> Ledger {
        Ledger::default()
    }
    /// The running number of the next packet.
    #[inline]
    pub fn next_serial(&self) -> u32 {
        self.entries.end() as u32
    }
    /// A packet enters.
    #[inline]
    pub fn enter(&mut self, packet: PacketId) -> u32 {
        self.entries.push(Entry {
            packet,
            is_resolved: false,
        }) as u32
    }
    /// A packet leaves, delivered or dropped. False when it has left before: a duplicate.
    #[inline]
    pub fn leave(&mut self, serial: u32) -> bool {
        let number = u64::from(serial);
        if !self.entries.contains(number) || self.entries[number].is_resolved {
            return false;
        }
        self.entries[number].is_resolved = true;
        while self.entries.front().is_some_and(|entry| entry.is_resolved) {
            self.entries.pop();
        }
        true
    }
    /// Nothing below `serial` is delivered any more ([`Rx::passed`](super::Rx::passed)): what has
    /// not left is lost.
    #[inline]
    pub fn pass(&mut self, serial: u32, lost: &mut Vec<PacketId>) {
        while self.entries.first() < u64::from(serial) {
            let Some(entry) = self.entries.pop() else {
                return;
            };
            if !entry.is_resolved {
                lost.push(entry.packet);
            }
        }
    }
    /// Every packet under way is lost.
    pub fn pass_all(&mut self, lost: &mut Vec<PacketId>) {
        self.pass(self.next_serial(), lost);
    }
    /// Whether this packet is under way: it has neither been delivered nor dropped.
    pub fn holds(&self, serial: u32) -> bool {
        let number = u64::from(serial);
        self.entries.contains(number) && !self.entries[number].is_resolved
    }
    /// Packets under way, and some that left after one that has not.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether no packet is under way.
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
}
