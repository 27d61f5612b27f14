//! The packets in flight, in recycled slots.

use crate::Packet;

/// A packet's slot in the pool, valid until it is freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketId(u32);

/// Recycled storage for every packet between two hosts. Grows to the largest number ever in
/// flight, then allocates nothing.
#[derive(Debug, Default)]
pub struct PacketPool {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl PacketPool {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = packet;
            return PacketId(slot);
        }
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets are in flight");
        self.slots.push(packet);
        PacketId(slot)
    }

    /// Frees a slot and returns its packet.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        self.free.push(id.0);
        self.slots[id.0 as usize]
    }

    /// Packets in flight.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::ops::Index<PacketId> for PacketPool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.slots[id.0 as usize]
    }
}
impl std::ops::IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowId;

    #[test]
    fn a_freed_slot_is_used_again() {
        let mut pool = PacketPool::new();
        let first = pool.insert(Packet {
            flow: FlowId(1),
            ..Packet::default()
        });
        assert_eq!(pool.take(first).flow, FlowId(1));
        assert!(pool.is_empty());
        assert_eq!(pool.insert(Packet::default()), first);
        assert_eq!(pool.len(), 1);
    }
}
