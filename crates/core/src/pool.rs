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

/// Slots that are allocated at once: a power of two. One list of all would be copied whenever it grows, with both
/// copies there at a time.
const PIECE: usize = 1024;

/// Recycled storage for every packet between two hosts. Grows to the largest number ever in
/// flight, then allocates nothing.
#[derive(Debug, Default)]
pub struct PacketPool {
    pieces: Vec<Box<[Packet; PIECE]>>,
    /// Slots that ever had a packet.
    slots: usize,
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
        let id = PacketId(slot);
        (id, &mut self[id])
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
        let slot = u32::try_from(self.slots).expect("fewer than 2^32 packets are in flight");
        if self.slots == self.pieces.len() * PIECE {
            let piece = vec![Packet::default(); PIECE].into_boxed_slice();
            self.pieces
                .push(piece.try_into().expect("it has as many slots as a piece"));
        }
        self.slots += 1;
        slot
    }

    /// Whether a slot has a packet in it. It looks through all that are free: not for every packet.
    pub fn is_in_use(&self, id: PacketId) -> bool {
        !self.free.contains(&id.0)
    }

    /// Packets in flight.
    pub fn len(&self) -> usize {
        self.slots - self.free.len()
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
        &self.pieces[id.index() / PIECE][id.index() % PIECE]
    }
}
impl std::ops::IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.pieces[id.index() / PIECE][id.index() % PIECE]
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

    #[test]
    fn packets_keep_their_place_however_many_there_are() {
        let mut pool = PacketPool::new();
        let count = 2 * PIECE as u32 + 1;
        let flow = |n| Packet {
            flow: FlowId(n),
            ..Packet::default()
        };
        let ids: Vec<PacketId> = (0..count).map(|n| pool.insert(flow(n))).collect();
        assert_eq!(pool.len(), ids.len());
        let dense = ids.iter().map(|id| id.index());
        assert!(dense.eq(0..ids.len()));
        for (n, &id) in (0..).zip(&ids) {
            assert_eq!(pool.take(id).flow, FlowId(n));
        }
        assert!(pool.is_empty());
    }
}
