//! Packets in flight, in recycled slots.

use crate::payloads::{PayloadId, Payloads};
use crate::under_way::{Content, UnderWay, Usual};
use crate::{Ecn, EndpointId, FlowId, Packet, RouteId, Segment, Time, WholePacket};
use std::borrow::Cow;

/// Slot of a packet in the pool, valid until it is freed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PacketId(u32);

impl PacketId {
    /// Returns the index of the slot, dense from zero. Other tables may be indexed by it.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Recycled storage. It grows to the largest number of items ever stored, and then allocates
/// nothing.
///
/// Memory is allocated for `PIECE` items at once, a power of two. A single list would be copied
/// when it grows, with both copies in memory.
#[derive(Debug)]
struct Recycled<T, const PIECE: usize> {
    pieces: Vec<Box<[T; PIECE]>>,
    /// Number of slots that have contained an item.
    slots: usize,
    free: Vec<u32>,
    /// True for each slot in use. Used to detect a slot that is freed twice, or read after it was
    /// freed.
    #[cfg(debug_assertions)]
    is_used: Vec<bool>,
}

impl<T, const PIECE: usize> Default for Recycled<T, PIECE> {
    fn default() -> Self {
        Recycled {
            pieces: Vec::new(),
            slots: 0,
            free: Vec::new(),
            #[cfg(debug_assertions)]
            is_used: Vec::new(),
        }
    }
}

impl<T: Copy + Default + std::fmt::Debug, const PIECE: usize> Recycled<T, PIECE> {
    /// Returns a free slot for a new item. The slot still contains its former item.
    #[inline]
    fn claim(&mut self) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        #[cfg(debug_assertions)]
        self.set_used(slot, true);
        slot
    }

    #[inline]
    fn free(&mut self, slot: u32) {
        #[cfg(debug_assertions)]
        self.set_used(slot, false);
        self.free.push(slot);
        debug_assert!(
            self.free.len() <= self.slots,
            "more slots are free than there are"
        );
    }

    /// Records whether a slot is in use. The state must change.
    #[cfg(debug_assertions)]
    fn set_used(&mut self, slot: u32, is_used: bool) {
        let before = std::mem::replace(&mut self.is_used[slot as usize], is_used);
        debug_assert!(before || is_used, "slot {slot} is freed a second time");
        debug_assert!(
            !before || !is_used,
            "slot {slot} is given out a second time"
        );
    }

    /// Asserts that a slot is in use.
    #[inline]
    fn assert_used(&self, slot: u32) {
        #[cfg(debug_assertions)]
        debug_assert!(
            self.is_used[slot as usize],
            "slot {slot} was freed and is looked at"
        );
        let _ = slot;
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let slot = u32::try_from(self.slots).expect("fewer than 2^32 packets are in flight");
        if self.slots == self.pieces.len() * PIECE {
            let piece = vec![T::default(); PIECE].into_boxed_slice();
            self.pieces
                .push(piece.try_into().expect("it has as many slots as a piece"));
        }
        self.slots += 1;
        #[cfg(debug_assertions)]
        self.is_used.push(false);
        slot
    }

    fn len(&self) -> usize {
        self.slots - self.free.len()
    }

    #[inline]
    fn item(&self, slot: u32) -> &T {
        self.assert_used(slot);
        &self.pieces[slot as usize / PIECE][slot as usize % PIECE]
    }

    #[inline]
    fn item_mut(&mut self, slot: u32) -> &mut T {
        self.assert_used(slot);
        &mut self.pieces[slot as usize / PIECE][slot as usize % PIECE]
    }
}

/// All packets between hosts, in recycled slots.
#[derive(Debug, Default)]
pub struct PacketPool {
    packets: Recycled<UnderWay, 1024>,
    /// Segments whose rarely used fields are set.
    separate: Recycled<Segment, 64>,
    /// Segments whose payload has bytes.
    loaded: Recycled<Loaded, 64>,
    payloads: Payloads,
}

/// Segment whose payload has bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Loaded {
    segment: Segment,
    payload: PayloadId,
}

impl PacketPool {
    /// Returns an empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        self.store(UnderWay::without_segment(&packet), &packet.segment)
    }

    /// Stores a packet with the bytes of its payload. Other bytes, such as headers, may precede the
    /// payload.
    pub fn insert_with_bytes(&mut self, packet: &Packet, bytes: Vec<u8>) -> PacketId {
        let payload = self.payloads.insert(bytes);
        self.store_loaded(packet, payload)
    }

    /// Stores a copy of a packet that follows another route. Both packets share their bytes.
    pub fn copy_to(&mut self, id: PacketId, route: RouteId) -> PacketId {
        let copy = Packet {
            route,
            ..self.packet(id)
        };
        match self.payload_of(id) {
            Some(payload) => {
                self.payloads.share(payload);
                self.store_loaded(&copy, payload)
            }
            None => self.insert(copy),
        }
    }

    fn store_loaded(&mut self, packet: &Packet, payload: PayloadId) -> PacketId {
        let segment = packet.segment;
        let at = self.loaded.claim();
        *self.loaded.item_mut(at) = Loaded { segment, payload };
        let slot = self.packets.claim();
        *self.packets.item_mut(slot) = UnderWay {
            headers: packet.protocol.headers_of(&segment) as u8,
            content: Content::Loaded {
                at,
                len: segment.len,
            },
            ..UnderWay::without_segment(packet)
        };
        PacketId(slot)
    }

    fn payload_of(&self, id: PacketId) -> Option<PayloadId> {
        match self[id].content {
            Content::Loaded { at, .. } => Some(self.loaded.item(at).payload),
            Content::Usual(_) | Content::Separate { .. } => None,
        }
    }

    /// Returns the bytes with which a packet was stored. `None` if it was stored without bytes.
    pub fn bytes(&self, id: PacketId) -> Option<&[u8]> {
        self.payload_of(id).map(|it| self.payloads.bytes(it))
    }

    /// Returns the payload of a packet: the last of its bytes, as many as its length says. Empty if
    /// the packet was stored without bytes.
    pub fn payload(&self, id: PacketId) -> &[u8] {
        let bytes = self.bytes(id).unwrap_or_default();
        let Content::Loaded { len, .. } = self[id].content else {
            return bytes;
        };
        &bytes[bytes.len().saturating_sub(len as usize)..]
    }

    /// Returns a packet with its payload. `packet` is the packet in the slot `id`.
    pub fn whole<'a>(&'a self, id: PacketId, packet: &'a Packet) -> WholePacket<'a> {
        let payload = self.payload(id);
        WholePacket { packet, payload }
    }

    /// Returns the table of payload bytes.
    pub fn payloads(&self) -> &Payloads {
        &self.payloads
    }

    /// Returns the table of payload bytes.
    pub fn payloads_mut(&mut self) -> &mut Payloads {
        &mut self.payloads
    }

    /// Stores a new packet with a segment.
    #[inline]
    pub fn send(
        &mut self,
        (flow, to, route): (FlowId, EndpointId, RouteId),
        now: Time,
        ecn: Ecn,
        segment: &Segment,
    ) -> PacketId {
        let under_way = UnderWay {
            flow,
            to,
            route,
            ecn,
            sent_at: now,
            ..UnderWay::default()
        };
        self.store(under_way, segment)
    }

    /// Stores a new packet with the numbered message [`Packet::message`] of the network.
    pub fn send_message(
        &mut self,
        (flow, route): (FlowId, RouteId),
        now: Time,
        (number, size): (u64, u32),
    ) -> PacketId {
        self.insert(Packet {
            flow,
            route,
            sent_at: now,
            ..Packet::message(number, size)
        })
    }

    #[inline(always)]
    fn store(&mut self, under_way: UnderWay, segment: &Segment) -> PacketId {
        let content = match Usual::from_segment(segment) {
            Some(usual) => Content::Usual(usual),
            None => self.store_separately(segment),
        };
        let slot = self.packets.claim();
        *self.packets.item_mut(slot) = UnderWay {
            headers: under_way.protocol.headers_of(segment) as u8,
            content,
            ..under_way
        };
        PacketId(slot)
    }

    #[inline(never)]
    fn store_separately(&mut self, segment: &Segment) -> Content {
        let at = self.separate.claim();
        *self.separate.item_mut(at) = *segment;
        Content::Separate {
            at,
            len: segment.len,
        }
    }

    /// Returns the segment of a packet.
    #[inline]
    pub fn segment(&self, id: PacketId) -> Cow<'_, Segment> {
        self.segment_of(&self[id])
    }

    /// Returns the segment of a packet that is already looked up in this pool.
    #[inline]
    pub fn segment_of<'a>(&'a self, packet: &'a UnderWay) -> Cow<'a, Segment> {
        match &packet.content {
            Content::Usual(usual) => Cow::Owned(usual.segment()),
            Content::Separate { at, .. } => Cow::Borrowed(self.separate.item(*at)),
            Content::Loaded { at, .. } => Cow::Borrowed(&self.loaded.item(*at).segment),
        }
    }

    /// Returns a packet with its segment.
    pub fn packet(&self, id: PacketId) -> Packet {
        self[id].packet(*self.segment(id))
    }

    /// Frees a slot.
    #[inline]
    pub fn free(&mut self, id: PacketId) {
        match self[id].content {
            Content::Usual(_) => {}
            Content::Separate { at, .. } => self.separate.free(at),
            Content::Loaded { at, .. } => self.free_bytes(at),
        }
        self.packets.free(id.0);
        debug_assert!(
            self.separate.len() + self.loaded.len() <= self.packets.len(),
            "a segment is left without its packet"
        );
    }

    /// Frees a slot of a segment whose payload has bytes, and the bytes if no copy has them.
    #[cold]
    fn free_bytes(&mut self, at: u32) {
        let payload = self.loaded.item(at).payload;
        self.payloads.release(payload);
        self.loaded.free(at);
    }

    /// Frees a slot and returns its packet.
    pub fn remove(&mut self, id: PacketId) -> Packet {
        let packet = self.packet(id);
        self.free(id);
        packet
    }

    /// Frees a slot and returns its packet, with its entry in the table of payload bytes. The
    /// caller becomes a holder of the entry. `None` if the packet was stored without bytes.
    pub fn remove_with_bytes(&mut self, id: PacketId) -> (Packet, Option<PayloadId>) {
        let payload = self.payload_of(id);
        if let Some(payload) = payload {
            self.payloads.share(payload);
        }
        (self.remove(id), payload)
    }

    /// Returns true if a slot has a packet in it. The search covers all free slots, so it must not
    /// run for every packet.
    pub fn is_in_use(&self, id: PacketId) -> bool {
        !self.packets.free.contains(&id.0)
    }

    /// Returns the number of packets in flight.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns true if no packet is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::ops::Index<PacketId> for PacketPool {
    type Output = UnderWay;
    #[inline]
    fn index(&self, id: PacketId) -> &UnderWay {
        self.packets.item(id.0)
    }
}
impl std::ops::IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut UnderWay {
        self.packets.item_mut(id.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccurateEcnOption, Dss, Flags, MptcpOption, Protocol, SackBlock, SackList};

    #[test]
    fn a_freed_slot_is_used_again() {
        let mut pool = PacketPool::new();
        let first = pool.insert(Packet {
            flow: FlowId(1),
            ..Packet::default()
        });
        assert!(pool.is_in_use(first));
        assert_eq!(pool.remove(first).flow, FlowId(1));
        assert!(pool.is_empty() && !pool.is_in_use(first));
        assert_eq!(pool.insert(Packet::default()), first);
        assert_eq!(pool.len(), 1);
    }

    #[test]
    fn packets_keep_their_place_however_many_there_are() {
        let mut pool = PacketPool::new();
        let count = 2 * 1024 + 1;
        let flow = |n| Packet {
            flow: FlowId(n),
            ..Packet::default()
        };
        let ids: Vec<PacketId> = (0..count).map(|n| pool.insert(flow(n))).collect();
        assert_eq!(pool.len(), ids.len());
        let dense = ids.iter().map(|id| id.index());
        assert!(dense.eq(0..ids.len()));
        for (n, &id) in (0..).zip(&ids) {
            assert_eq!(pool.remove(id).flow, FlowId(n));
        }
        assert!(pool.is_empty());
    }

    fn in_pool(segment: Segment) -> (PacketPool, PacketId) {
        let mut pool = PacketPool::new();
        let ids = (FlowId(1), EndpointId(2), RouteId(3));
        let id = pool.send(ids, Time::from_nanos(4), Ecn::Ect0, &segment);
        (pool, id)
    }

    fn assert_kept(segment: Segment, separate: usize) {
        let (mut pool, id) = in_pool(segment);
        assert_eq!(pool.separate.len(), separate, "{segment:?}");
        assert_eq!(*pool.segment(id), segment);
        assert_eq!(pool[id].wire_len(), segment.wire_len());
        let packet = pool.remove(id);
        let expected = Packet {
            flow: FlowId(1),
            to: EndpointId(2),
            route: RouteId(3),
            sent_at: Time::from_nanos(4),
            ecn: Ecn::Ect0,
            segment,
            ..Packet::default()
        };
        assert_eq!(format!("{packet:?}"), format!("{expected:?}"));
        assert!(pool.is_empty() && pool.separate.len() == 0);
    }

    #[test]
    fn a_usual_segment_comes_out_as_it_went_in() {
        let usual = Segment {
            seq: 1 << 40,
            ack: u64::MAX,
            window: u64::from(u32::MAX),
            len: 1_448,
            ts_value: 5,
            ts_echo: 6,
            flags: Flags::ACK | Flags::FIN,
            ..Segment::default()
        };
        assert_kept(usual, 0);
        for bits in 1..8 {
            let segment = Segment {
                has_timestamps: bits & 1 > 0,
                is_expendable: bits & 2 > 0,
                is_radio_loss: bits & 4 > 0,
                ..usual
            };
            assert_kept(segment, 0);
        }
    }

    #[test]
    fn a_segment_with_what_few_have_comes_out_as_it_went_in() {
        let segment = Segment {
            len: 100,
            has_timestamps: true,
            ..Segment::default()
        };
        let mut sack = SackList::EMPTY;
        assert!(sack.push(SackBlock { start: 1, end: 2 }));
        for rare in [
            Segment { sack, ..segment },
            Segment {
                mptcp: MptcpOption::Dss(Dss::default()),
                ..segment
            },
            Segment {
                accurate: AccurateEcnOption::new([1, 2, 3], 0, false),
                ..segment
            },
            Segment {
                ce_packets: 1,
                ..segment
            },
            Segment { mss: 1, ..segment },
            Segment {
                window_scale: Some(0),
                ..segment
            },
            Segment {
                sack_permitted: true,
                ..segment
            },
            Segment {
                window: 1 << 32,
                ..segment
            },
        ] {
            assert_kept(rare, 1);
        }
    }

    #[test]
    fn copies_share_bytes_and_free_them_together() {
        let mut pool = PacketPool::new();
        let segment = Segment {
            len: 3,
            mss: 1,
            ..Segment::default()
        };
        let packet = Packet {
            hop: 2,
            segment,
            ..Packet::default()
        };
        let first = pool.insert_with_bytes(&packet, b"head and end".to_vec());
        let copy = pool.copy_to(first, RouteId(5));
        assert_eq!(pool[copy].route, RouteId(5));
        assert_eq!(*pool.segment(copy), segment);
        assert_eq!((pool[copy].hop, pool[copy].wire_len()), (2, 43));
        assert_eq!(
            (pool.payload(copy), pool.payload(first)),
            (&b"end"[..], &b"end"[..])
        );
        assert_eq!(pool.payloads().held(), 12 + Payloads::OVERHEAD);
        pool.free(first);
        let (_, payload) = pool.remove_with_bytes(copy);
        assert!(pool.is_empty() && pool.loaded.len() == 0);
        let payload = payload.expect("it was stored with bytes");
        assert_eq!(pool.payloads_mut().take(payload), b"head and end");
        assert_eq!(pool.payloads().held(), 0);
    }

    #[test]
    fn a_packet_without_bytes_has_no_payload_and_nor_has_its_copy() {
        let (mut pool, id) = in_pool(Segment {
            len: 100,
            ..Segment::default()
        });
        let copy = pool.copy_to(id, RouteId(5));
        assert_eq!((pool.bytes(copy), pool.payload(id)), (None, &[][..]));
        assert_eq!(pool.remove_with_bytes(copy).1, None);
    }

    #[test]
    fn a_message_has_nothing_of_what_was_in_its_slot() {
        let (mut pool, id) = in_pool(Segment {
            mss: 1,
            ..Segment::default()
        });
        pool[id].hop = 3;
        pool[id].protocol = Protocol::Udp;
        pool.free(id);
        let ids = (FlowId(1), RouteId(2));
        let message = pool.send_message(ids, Time::from_nanos(4), (5, 972));
        assert_eq!((message, pool[message].wire_len()), (id, 972));
        let expected = Packet {
            flow: FlowId(1),
            route: RouteId(2),
            sent_at: Time::from_nanos(4),
            ..Packet::message(5, 972)
        };
        assert_eq!(
            format!("{:?}", pool.packet(message)),
            format!("{expected:?}")
        );
    }
}
