//! The packets in flight, in recycled slots.

use crate::Packet;

/// A packet's slot in the pool, valid until it is freed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PacketId(u32);

impl PacketId {
    /// The slot's index, dense from zero: for tables beside the pool.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

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
        let (id, slot) = self.claim();
        *slot = packet;
        id
    }

    /// A slot to write a packet into; it still holds what was there before.
    #[inline]
    pub fn claim(&mut self) -> (PacketId, &mut Packet) {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        (PacketId(slot), &mut self.slots[slot as usize])
    }

    /// Frees a slot.
    #[inline]
    pub fn free(&mut self, id: PacketId) {
        self.free.push(id.0);
    }

    /// Frees a slot and returns its packet.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        self.free(id);
        self[id]
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets are in flight");
        self.slots.push(Packet::default());
        slot
    }

    /// Whether a slot has a packet in it. It looks through all that are free: not for every packet.
    pub fn is_in_use(&self, id: PacketId) -> bool {
        !self.free.contains(&id.0)
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
        assert!(pool.is_in_use(first));
        assert_eq!(pool.take(first).flow, FlowId(1));
        assert!(pool.is_empty() && !pool.is_in_use(first));
        assert_eq!(pool.insert(Packet::default()), first);
        assert_eq!(pool.len(), 1);
    }
}
