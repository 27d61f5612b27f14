//! Packets with received data, and their memory.
//!
//! Linux merges a segment into the packet before it if the segment begins where the packet ends
//! (`tcp_try_coalesce`). The merged segment uses memory for its payload alone. The application
//! reads the packet as a whole.

use crate::tcp::config::PacketMemory;
use std::collections::VecDeque;
use std::ops::Range;

/// Largest number of fragments of a packet (`MAX_SKB_FRAGS`).
pub(crate) const MOST_FRAGMENTS: u64 = 17;
/// Size of the memory blocks in which the sender stores written data (`SKB_FRAG_PAGE_ORDER`). A
/// segment is one fragment, or two if it crosses the end of a block.
pub(crate) const PAGE: u64 = 32_768;
/// Initial capacity of the list of out-of-order packets.
const FIRST_PACKETS: usize = 16;

/// Amount of data in a receive buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Payload, for a buffer that counts payload.
    Payload(u64),
    /// Memory, including the packets' overhead.
    Memory(u64),
}

impl From<u64> for Held {
    fn from(payload: u64) -> Held {
        Held::Payload(payload)
    }
}

/// Properties of a segment that decide into which packet it is merged and how much memory it uses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kind {
    /// End of the connection-level mapping. Segments of a subflow are merged only within one
    /// mapping (`mptcp_skb_can_collapse`).
    pub(crate) mapping_end: u64,
    /// Payload of a full segment less the payload of this one. In the fixed buffer of a network
    /// device these bytes are overhead.
    pub(crate) lacking: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Packet {
    start: u64,
    end: u64,
    fragments: u64,
    /// Memory in addition to the payload, bytes.
    overhead: u64,
    mapping_end: u64,
}

impl Packet {
    #[inline]
    fn new(start: u64, end: u64, kind: Kind, memory: PacketMemory) -> Packet {
        let (mut fragments, mut lacking) = (1, kind.lacking);
        if memory.joined == 0 {
            lacking = 0;
            fragments += end.saturating_sub(2) / PAGE - start.saturating_sub(1) / PAGE;
        }
        Packet {
            start,
            end,
            fragments,
            overhead: memory.alone + lacking,
            mapping_end: kind.mapping_end,
        }
    }

    fn memory(&self) -> u64 {
        self.end - self.start + self.overhead
    }

    /// Merges `next` into this packet if `next` begins where this packet ends and the packet has a
    /// free fragment. Returns the memory that the merge saves. `None` if the packets are not
    /// merged.
    #[inline]
    fn join(&mut self, next: &Packet, memory: PacketMemory) -> Option<u64> {
        let fragments = self.fragments + next.fragments;
        // The device's own buffer of a packet does not count as a fragment.
        let most = MOST_FRAGMENTS + u64::from(memory.joined > 0);
        if self.end != next.start || fragments > most || self.mapping_end != next.mapping_end {
            return None;
        }
        let saved = memory.alone - memory.joined;
        self.end = next.end;
        self.fragments = fragments;
        self.overhead += next.overhead - saved;
        Some(saved)
    }
}

/// Data behind a gap (Linux `out_of_order_queue`).
#[derive(Debug, Clone, Default, PartialEq)]
struct OutOfOrder {
    packets: VecDeque<Packet>,
    memory: u64,
}

impl OutOfOrder {
    /// Returns the index at which a packet that begins at `start` is inserted.
    fn place_of(&self, start: u64) -> usize {
        let mut at = self.packets.len();
        while at > 0 && self.packets[at - 1].start > start {
            at -= 1;
        }
        at
    }

    /// Returns the memory that a segment uses if it is merged into a packet. `None` if it is not
    /// merged.
    fn joined(&self, packet: Packet, of_packets: PacketMemory) -> Option<u64> {
        let before = self.place_of(packet.start).checked_sub(1)?;
        let saved = self.packets[before].clone().join(&packet, of_packets)?;
        Some(packet.memory() - saved)
    }

    /// Inserts a segment. Returns true if it was merged into a packet.
    fn insert(&mut self, packet: Packet, of_packets: PacketMemory) -> bool {
        let mut at = self.place_of(packet.start);
        if let Some(before) = at.checked_sub(1) {
            let before = &mut self.packets[before];
            if packet.end <= before.end {
                return false;
            }
            if let Some(saved) = before.join(&packet, of_packets) {
                self.memory += packet.memory() - saved;
                return true;
            }
            if before.start == packet.start {
                at -= 1;
            }
        } else if self.packets.is_empty() {
            self.packets.reserve(FIRST_PACKETS);
        }
        while let Some(covered) = self.packets.get(at) {
            if covered.end > packet.end {
                break;
            }
            self.memory -= covered.memory();
            self.packets.remove(at);
        }
        self.memory += packet.memory();
        self.packets.insert(at, packet);
        false
    }

    /// Removes and returns the first packet, if it begins at `next` or below.
    fn pop_up_to(&mut self, next: u64) -> Option<Packet> {
        let packet = *self.packets.front()?;
        if packet.start > next {
            return None;
        }
        debug_assert!(
            packet.start < packet.end,
            "an empty packet waited behind a gap"
        );
        self.packets.pop_front();
        self.memory -= packet.memory();
        Some(packet)
    }
}

/// Unread data in order (Linux `sk_receive_queue`).
#[derive(Debug, Clone, Default, PartialEq)]
struct Unread {
    bytes: u64,
    memory: u64,
    /// Payload of the first packet. With a single packet, the payload of all data.
    first: u64,
    /// Last packet. Only valid if there is unread data.
    last: Packet,
}

impl Unread {
    #[inline]
    fn push(&mut self, packet: Packet, of_packets: PacketMemory) {
        let len = packet.end - packet.start;
        let is_one = self.first == self.bytes;
        self.bytes += len;
        self.memory += packet.memory();
        if self.bytes > len
            && let Some(saved) = self.last.join(&packet, of_packets)
        {
            self.memory -= saved;
            self.first += if is_one { len } else { 0 };
            return;
        }
        self.last = packet;
        if self.bytes == len {
            self.first = len;
        }
    }
}

/// Received and unread data of a subflow, or of a connection with several subflows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Packets {
    of_packets: PacketMemory,
    out_of_order: OutOfOrder,
    unread: Unread,
}

impl Packets {
    /// Returns a store without packets.
    pub(crate) fn new(of_packets: PacketMemory) -> Packets {
        Packets {
            of_packets,
            ..Packets::default()
        }
    }

    /// Inserts an out-of-order segment. Returns true if it was merged into a packet.
    pub(crate) fn insert(&mut self, start: u64, end: u64, kind: Kind) -> bool {
        let packet = Packet::new(start, end, kind, self.of_packets);
        self.out_of_order.insert(packet, self.of_packets)
    }

    /// Appends a segment that begins at RCV.NXT. Data behind a filled gap becomes readable only
    /// with `put_in_order`.
    #[inline]
    pub(crate) fn push(&mut self, start: u64, end: u64, kind: Kind) {
        let packet = Packet::new(start, end, kind, self.of_packets);
        self.unread.push(packet, self.of_packets);
    }

    /// Stores the data of a packet, in order or behind a gap. Returns true if data behind a gap was
    /// merged into a packet.
    #[inline]
    pub(crate) fn store_one(&mut self, range: Range<u64>, is_in_order: bool, kind: Kind) -> bool {
        if is_in_order {
            self.push(range.start, range.end, kind);
            return false;
        }
        self.insert(range.start, range.end, kind)
    }

    /// Stores the data of a segment in `range`, in order or behind a gap. A merged segment with
    /// packets of `size` bytes begins at `first`, and its packets are stored one by one. `kind`
    /// returns the properties of a packet by its payload. Returns true if the last packet was
    /// merged into one behind a gap.
    pub(crate) fn store_parts(
        &mut self,
        range: Range<u64>,
        first: u64,
        size: u32,
        is_in_order: bool,
        kind: impl Fn(u32) -> Kind,
    ) -> bool {
        let size = u64::from(size);
        let mut from = range.start;
        let mut is_merged = false;
        while from < range.end {
            let to = range.end.min(from + size - (from - first) % size);
            is_merged = self.store_one(from..to, is_in_order, kind((to - from) as u32));
            from = to;
        }
        is_merged
    }

    /// Makes out-of-order data readable after RCV.NXT has reached `next`.
    #[inline]
    pub(crate) fn put_in_order(&mut self, mut next: u64) {
        while let Some(mut packet) = self.out_of_order.pop_up_to(next) {
            if packet.end > next {
                // Data that was received twice is read only once.
                let again = next - packet.start;
                let end = packet.end;
                packet.start += again;
                self.unread.push(packet, self.of_packets);
                next = end;
            }
        }
    }

    /// Asserts the relations that hold after each event. Checks all packets only if the queue is
    /// short.
    #[inline]
    pub(crate) fn assert_invariants(&self) {
        let (waiting, unread) = (&self.out_of_order, &self.unread);
        debug_assert!(
            waiting.packets.len() > FIRST_PACKETS
                || waiting.memory == waiting.packets.iter().map(Packet::memory).sum(),
            "the memory behind a gap is not that of its packets"
        );
        debug_assert!(
            waiting.packets.is_empty() == (waiting.memory == 0),
            "memory is taken behind no gap"
        );
        debug_assert!(
            unread.memory >= unread.bytes,
            "unread data takes less memory than it has bytes"
        );
        debug_assert!(
            unread.first <= unread.bytes,
            "the first packet has more than all of them"
        );
    }

    /// Records that the application read `bytes`. Returns how many of these bytes came from the
    /// first packet. A partly read packet releases a proportional share of its memory.
    #[inline]
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let unread = &mut self.unread;
        let bytes = bytes.min(unread.bytes);
        let first = unread.first.min(bytes);
        if bytes == unread.bytes {
            unread.bytes = 0;
            unread.memory = 0;
            unread.first = 0;
        } else {
            unread.memory -=
                (u128::from(unread.memory) * u128::from(bytes) / u128::from(unread.bytes)) as u64;
            unread.bytes -= bytes;
            unread.first = unread.bytes.min(unread.first);
        }
        first
    }

    /// Returns the number of unread bytes in order.
    pub(crate) fn unread(&self) -> u64 {
        self.unread.bytes
    }

    /// Returns the memory that an out-of-order segment uses at once because it is merged into a
    /// packet. A separate packet is charged only after the window is computed (Linux
    /// `skb_set_owner_r`).
    pub(crate) fn joined(&self, start: u64, end: u64, kind: Kind) -> u64 {
        let packet = Packet::new(start, end, kind, self.of_packets);
        let joined = self.out_of_order.joined(packet, self.of_packets);
        joined.unwrap_or_default()
    }

    /// Returns the memory of a separate packet of `len` bytes.
    pub(crate) fn alone(&self, len: u32) -> u64 {
        self.of_packets.alone + u64::from(len)
    }

    /// Returns the memory of all received data.
    pub(crate) fn memory(&self) -> u64 {
        self.out_of_order.memory + self.unread.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 1_000;
    const PACKET_OVERHEAD: u64 = 896;

    /// Returns the range of segment `number` in a stream whose first byte is 1.
    fn segment(number: u64) -> (u64, u64) {
        (1 + number * LEN, 1 + (number + 1) * LEN)
    }

    fn held(numbers: impl IntoIterator<Item = u64>) -> Packets {
        held_in(PacketMemory::default(), numbers)
    }

    fn held_in(memory: PacketMemory, numbers: impl IntoIterator<Item = u64>) -> Packets {
        let mut packets = Packets::new(memory);
        for number in numbers {
            let (start, end) = segment(number);
            packets.insert(start, end, Kind::default());
        }
        packets
    }

    fn push(packets: &mut Packets, start: u64, end: u64) {
        packets.push(start, end, Kind::default());
        packets.put_in_order(end);
    }

    #[test]
    fn segments_that_touch_cost_one_overhead() {
        assert_eq!(held([1, 2, 3]).memory(), 3 * LEN + PACKET_OVERHEAD);
        assert_eq!(held([1, 3]).memory(), 2 * (LEN + PACKET_OVERHEAD));
        // Segment 2 fills a gap and is merged only into the packet before it, so two packets
        // remain.
        assert_eq!(held([1, 3, 2]).memory(), 3 * LEN + 2 * PACKET_OVERHEAD);
    }

    #[test]
    fn a_packet_has_seventeen_fragments_and_a_segment_across_two_pages_has_two() {
        assert_eq!(held(1..18).memory(), 17 * LEN + PACKET_OVERHEAD);
        assert_eq!(held(1..19).memory(), 18 * LEN + 2 * PACKET_OVERHEAD);
        // Segment 32 crosses byte 32,768, the end of a memory block, so it counts as two fragments.
        assert_eq!(held(20..36).memory(), 16 * LEN + PACKET_OVERHEAD);
        assert_eq!(held(20..37).memory(), 17 * LEN + 2 * PACKET_OVERHEAD);
    }

    #[test]
    fn buffers_of_a_device_stay_as_they_are_when_packets_are_joined() {
        let memory = PacketMemory {
            alone: 728,
            joined: 472,
        };
        assert_eq!(held_in(memory, [1, 3]).memory(), 2 * (LEN + 728));
        assert_eq!(held_in(memory, [1, 2, 3]).memory(), 3 * (LEN + 472) + 256);
        // A packet of a device has seventeen fragments in addition to the first. The sender's
        // memory blocks do not matter.
        assert_eq!(held_in(memory, 20..38).memory(), 18 * (LEN + 472) + 256);
        let two = held_in(memory, 20..39);
        assert_eq!(two.memory(), 19 * (LEN + 472) + 2 * 256);
        // In-order data is merged into the last unread packet. The memory of the merged packets is
        // released.
        let mut packets = held_in(memory, [1, 2, 4]);
        let (start, end) = segment(0);
        push(&mut packets, start, end);
        assert_eq!(packets.out_of_order.memory, LEN + 728);
        assert_eq!(packets.memory(), 3 * (LEN + 472) + 256 + LEN + 728);
        packets.read(3 * LEN);
        assert_eq!(packets.memory(), LEN + 728);
    }

    #[test]
    fn what_a_repair_puts_in_order_is_read_as_one_packet() {
        let mut packets = held([1, 2, 4]);
        let (start, end) = segment(0);
        push(&mut packets, start, end);
        assert_eq!(packets.unread(), 3 * LEN);
        assert_eq!(packets.memory(), 4 * LEN + 2 * PACKET_OVERHEAD);
        assert_eq!(packets.read(3 * LEN), 3 * LEN);
        assert_eq!(packets.memory(), LEN + PACKET_OVERHEAD);
        let mut long = held(1..30);
        push(&mut long, start, end);
        assert_eq!(long.read(30 * LEN), LEN, "a full packet takes no more");
    }

    #[test]
    fn what_comes_twice_is_held_once() {
        let mut packets = held([2, 2, 4, 5]);
        assert_eq!(packets.memory(), 3 * LEN + 2 * PACKET_OVERHEAD);
        // The segment covers all of packet 2 and overlaps the start of the next packet. So packet 2
        // is discarded.
        packets.insert(1 + LEN, 1 + 4 * LEN + LEN / 2, Kind::default());
        let covers = 3 * LEN + LEN / 2 + 2 * LEN + 2 * PACKET_OVERHEAD;
        assert_eq!(packets.memory(), covers);
        push(&mut packets, 1, 1 + LEN);
        assert_eq!(packets.unread(), 6 * LEN);
        packets.read(6 * LEN);
        assert_eq!(packets.memory(), 0);
    }

    #[test]
    fn a_part_that_is_read_frees_its_part_of_the_memory() {
        let mut packets = Packets::default();
        push(&mut packets, 1, 1 + LEN);
        push(&mut packets, 1 + LEN, 1 + 2 * LEN);
        assert_eq!(packets.read(LEN), LEN);
        assert_eq!(packets.unread(), LEN);
        assert_eq!(packets.memory(), (2 * LEN + PACKET_OVERHEAD) / 2);
        packets.read(2 * LEN);
        assert_eq!(packets.memory(), 0);
    }

    #[test]
    fn of_two_that_begin_alike_the_longer_is_held() {
        let (start, end) = segment(2);
        // Both segments begin at the same number, and the longer segment is kept. This holds with
        // and without a packet before them.
        for first in [false, true] {
            let mut packets = held(first.then_some(0));
            let before = packets.memory();
            packets.insert(start, end, Kind::default());
            packets.insert(start, end - LEN / 2, Kind::default());
            assert_eq!(packets.memory() - before, LEN + PACKET_OVERHEAD);
            packets.insert(start, end + LEN / 2, Kind::default());
            assert_eq!(packets.memory() - before, LEN + LEN / 2 + PACKET_OVERHEAD);
        }
    }

    #[test]
    fn a_packet_that_is_covered_to_its_end_is_held_no_more() {
        let mut packets = held([3]);
        packets.insert(segment(2).0, segment(3).1, Kind::default());
        assert_eq!(packets.memory(), 2 * LEN + PACKET_OVERHEAD);
    }

    #[test]
    fn what_the_repair_itself_brought_again_takes_no_packet() {
        // Sixteen fragments are in order, and one is behind a gap. The seventeenth fragment fills
        // the gap and repeats the data behind it. No out-of-order data is left.
        let mut packets = Packets::default();
        for (start, end) in (0..16).map(segment) {
            push(&mut packets, start, end);
        }
        packets.insert(segment(17).0, segment(17).1, Kind::default());
        assert_eq!(packets.out_of_order.memory, LEN + PACKET_OVERHEAD);
        push(&mut packets, segment(16).0, segment(17).1);
        assert_eq!(packets.memory(), 18 * LEN + PACKET_OVERHEAD);
        assert_eq!(
            (packets.out_of_order.memory, packets.unread()),
            (0, 18 * LEN)
        );
    }

    #[test]
    fn what_joins_the_last_of_several_packets_leaves_the_first_as_it_was() {
        let mut packets = Packets::default();
        for (start, end) in (0..19).map(segment) {
            push(&mut packets, start, end);
        }
        assert_eq!(packets.memory(), 19 * LEN + 2 * PACKET_OVERHEAD);
        assert_eq!(packets.read(19 * LEN), 17 * LEN);
    }
}
