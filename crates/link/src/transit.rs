//! Packets inside a link: in the queue first, then in the delay line.

use fadeout_core::{PacketId, Ring, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Packet inside a link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    /// Time at which the packet no longer counts against the queue's limit.
    pub(crate) leaves_queue_at: Time,
    /// Arrival at the far end.
    pub(crate) arrives_at: Time,
    pub(crate) packet: PacketId,
    pub(crate) size: u32,
    /// True if the packet was sent into a blockage and never reaches the far end.
    pub(crate) is_lost: bool,
}

/// Packets inside a link.
///
/// Values needed for every packet are stored outside the lines: the queued amount, and the time of
/// the next change.
#[derive(Debug)]
pub(crate) struct Transit {
    /// Time at which the next packet reaches the far end.
    next_arrival_at: Time,
    /// Time at which the next packet leaves the queue.
    next_leave_at: Time,
    queued_packets: u64,
    queued_bytes: u64,
    line: Line,
}

/// Delay line, by the order in which packets leave it.
#[derive(Debug)]
enum Line {
    InOrder(InOrder),
    Overtaking(Overtaking),
}

impl Transit {
    pub(crate) fn new(keeps_order: bool) -> Self {
        Transit {
            next_arrival_at: Time::NEVER,
            next_leave_at: Time::NEVER,
            queued_packets: 0,
            queued_bytes: 0,
            line: if keeps_order {
                Line::InOrder(InOrder::default())
            } else {
                Line::Overtaking(Overtaking::default())
            },
        }
    }

    /// Adds a packet. In an ordered line it leaves queue and delay line no earlier than the
    /// previous packet.
    #[inline(always)]
    pub(crate) fn push(&mut self, mut carried: Carried) {
        match &mut self.line {
            Line::InOrder(line) => line.push(&mut carried),
            Line::Overtaking(line) => line.push(carried),
        }
        self.count_in(&carried);
    }

    /// Adds a packet to an ordered line. It leaves queue and delay line no earlier than all before.
    #[inline(always)]
    pub(crate) fn append(&mut self, carried: Carried) {
        let Line::InOrder(line) = &mut self.line else {
            unreachable!("packets of this line may overtake")
        };
        debug_assert!(
            line.ring.back().is_none_or(|ahead| {
                ahead.leaves_queue_at <= carried.leaves_queue_at
                    && ahead.arrives_at <= carried.arrives_at
            }),
            "a packet overtakes the one ahead"
        );
        line.ring.push(carried);
        self.count_in(&carried);
    }

    /// Adds a packet of the lines to the values stored outside the lines.
    #[inline(always)]
    fn count_in(&mut self, carried: &Carried) {
        self.next_arrival_at = self.next_arrival_at.min(carried.arrives_at);
        self.next_leave_at = self.next_leave_at.min(carried.leaves_queue_at);
        self.queued_packets += 1;
        self.queued_bytes += u64::from(carried.size);
        debug_assert!(
            carried.leaves_queue_at <= carried.arrives_at,
            "a packet arrives before it leaves the queue"
        );
        self.assert_invariants();
    }

    /// Asserts that the values stored outside the lines agree with the lines.
    #[inline]
    fn assert_invariants(&self) {
        debug_assert!(
            self.queued_packets <= self.packets() as u64,
            "more packets are queued than are inside"
        );
        debug_assert!(
            self.queued_packets > 0 || self.next_leave_at.is_never(),
            "none is queued and one leaves"
        );
        debug_assert!(
            self.queued_packets > 0 || self.queued_bytes == 0,
            "bytes are queued in no packet"
        );
        debug_assert!(
            self.packets() > 0 || self.next_arrival_at.is_never(),
            "none is inside and one arrives"
        );
    }

    /// Removes the packets that have left the queue by `now` from the queued amount.
    #[inline]
    pub(crate) fn leave_queue(&mut self, now: Time) {
        if self.next_leave_at <= now {
            self.let_leave(now);
        }
    }

    #[inline]
    fn let_leave(&mut self, now: Time) {
        let left = match &mut self.line {
            Line::InOrder(line) => line.leave_queue(now),
            Line::Overtaking(line) => line.leave_queue(now),
        };
        self.queued_packets -= left.packets;
        self.queued_bytes -= left.bytes;
        debug_assert!(left.next_at > now, "what leaves by now is still queued");
        self.next_leave_at = left.next_at;
        self.assert_invariants();
    }

    /// Removes and returns the next packet that has reached the far end by `now`. `None` if there
    /// is none.
    #[inline]
    pub(crate) fn pop_arrived(&mut self, now: Time) -> Option<Carried> {
        if self.next_arrival_at > now {
            return None;
        }
        // Most packets have been removed from the queued amount at an arrival of another packet.
        if self.is_head_queued() {
            self.leave_queue(now);
        }
        let (carried, next_arrival_at) = match &mut self.line {
            Line::InOrder(line) => line.pop()?,
            Line::Overtaking(line) => line.pop()?,
        };
        debug_assert!(
            carried.leaves_queue_at <= now,
            "a packet arrives that is still queued"
        );
        debug_assert!(
            carried.arrives_at <= next_arrival_at,
            "a packet comes out after a later one"
        );
        self.next_arrival_at = next_arrival_at;
        self.assert_invariants();
        Some(carried)
    }

    /// Returns true if the next packet that reaches the far end is part of the queued amount. True
    /// as well if packets may overtake each other.
    #[inline]
    fn is_head_queued(&self) -> bool {
        match &self.line {
            Line::InOrder(line) => line.first_queued == line.ring.first(),
            Line::Overtaking(_) => true,
        }
    }

    /// Removes the packets that have not left the queue by `now`, the newest first.
    pub(crate) fn take_back(&mut self, now: Time, mut taken: impl FnMut(Carried)) {
        self.leave_queue(now);
        let next_arrival_at = match &mut self.line {
            Line::InOrder(line) => line.take_back(&mut taken),
            Line::Overtaking(line) => line.take_back(now, &mut taken),
        };
        (self.queued_packets, self.queued_bytes) = (0, 0);
        self.next_leave_at = Time::NEVER;
        self.next_arrival_at = next_arrival_at;
        self.assert_invariants();
    }

    /// Returns the time at which the next packet reaches the far end.
    #[inline]
    pub(crate) fn next_arrival_at(&self) -> Time {
        self.next_arrival_at
    }

    /// Returns the packet that reaches the far end after `ahead` others. `None` if there is no such
    /// packet, or if packets may overtake each other.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: u64) -> Option<PacketId> {
        match &self.line {
            Line::InOrder(line) => {
                let carried = line.ring.get(line.ring.first() + ahead)?;
                Some(carried.packet)
            }
            Line::Overtaking(_) => None,
        }
    }

    /// Returns packets and bytes in the queue.
    #[inline]
    pub(crate) fn queued(&self) -> (u64, u64) {
        (self.queued_packets, self.queued_bytes)
    }

    pub(crate) fn packets(&self) -> usize {
        match &self.line {
            Line::InOrder(line) => line.ring.len(),
            Line::Overtaking(line) => line.flying.len(),
        }
    }
}

/// Packet that has left a queue, and the time at which the next one leaves.
struct Left {
    packets: u64,
    bytes: u64,
    next_at: Time,
}

/// Ring of packets whose times never decrease, with a cursor at the first queued packet.
#[derive(Debug, Default)]
struct InOrder {
    ring: Ring<Carried>,
    first_queued: u64,
}

impl InOrder {
    #[inline]
    fn push(&mut self, carried: &mut Carried) {
        if let Some(ahead) = self.ring.back() {
            carried.leaves_queue_at = carried.leaves_queue_at.max(ahead.leaves_queue_at);
            carried.arrives_at = carried.arrives_at.max(ahead.arrives_at);
        }
        debug_assert!(
            self.first_queued >= self.ring.first(),
            "the first in the queue has arrived"
        );
        self.ring.push(*carried);
    }

    #[inline]
    fn leave_queue(&mut self, now: Time) -> Left {
        let before = self.first_queued;
        let (mut bytes, mut next_at) = (0, Time::NEVER);
        while self.first_queued < self.ring.end() {
            let carried = &self.ring[self.first_queued];
            if carried.leaves_queue_at > now {
                next_at = carried.leaves_queue_at;
                break;
            }
            bytes += u64::from(carried.size);
            self.first_queued += 1;
        }
        Left {
            packets: self.first_queued - before,
            bytes,
            next_at,
        }
    }

    /// Removes the queued packets, the newest first. Returns the time of the next arrival.
    fn take_back(&mut self, taken: &mut impl FnMut(Carried)) -> Time {
        while self.ring.end() > self.first_queued
            && let Some(carried) = self.ring.pop_back()
        {
            taken(carried);
        }
        let next = self.ring.front().map(|next| next.arrives_at);
        next.unwrap_or(Time::NEVER)
    }

    /// Removes the first packet. Returns it with the time of the next arrival.
    #[inline]
    fn pop(&mut self) -> Option<(Carried, Time)> {
        debug_assert!(
            self.ring.is_empty() || self.first_queued > self.ring.first(),
            "what arrives has left the queue"
        );
        let carried = self.ring.pop()?;
        let next = self.ring.front().map(|next| next.arrives_at);
        Some((carried, next.unwrap_or(Time::NEVER)))
    }
}

/// Two heaps by time, for packets that may overtake each other.
#[derive(Debug, Default)]
struct Overtaking {
    /// Time at which each packet leaves the queue, and its size.
    queued: BinaryHeap<Reverse<(Time, u32)>>,
    flying: BinaryHeap<Reverse<Flying>>,
    /// Number of packets so far. Packets with equal arrival times arrive in the order in which they
    /// were sent.
    sent: u64,
}

impl Overtaking {
    #[inline(never)]
    fn push(&mut self, carried: Carried) {
        self.queued
            .push(Reverse((carried.leaves_queue_at, carried.size)));
        self.flying.push(Reverse(Flying {
            arrives_at: carried.arrives_at,
            number: self.sent,
            carried,
        }));
        self.sent += 1;
    }

    #[inline(never)]
    fn leave_queue(&mut self, now: Time) -> Left {
        let (mut packets, mut bytes) = (0, 0);
        let mut next_at = Time::NEVER;
        while let Some(&Reverse((leaves_at, size))) = self.queued.peek() {
            if leaves_at > now {
                next_at = leaves_at;
                break;
            }
            self.queued.pop();
            packets += 1;
            bytes += u64::from(size);
        }
        Left {
            packets,
            bytes,
            next_at,
        }
    }

    /// Implements [`InOrder::take_back`] for this line.
    fn take_back(&mut self, now: Time, taken: &mut impl FnMut(Carried)) -> Time {
        self.queued.clear();
        let flying = std::mem::take(&mut self.flying).into_iter();
        let (queued, flying): (Vec<_>, Vec<_>) =
            flying.partition(|Reverse(it)| it.carried.leaves_queue_at > now);
        self.flying = flying.into();
        let mut queued: Vec<Flying> = queued.into_iter().map(|Reverse(it)| it).collect();
        queued.sort_by_key(|it| Reverse(it.number));
        queued.into_iter().for_each(|it| taken(it.carried));
        let next = self.flying.peek().map(|next| next.0.arrives_at);
        next.unwrap_or(Time::NEVER)
    }

    /// Implements [`InOrder::pop`] for this line.
    #[inline(never)]
    fn pop(&mut self) -> Option<(Carried, Time)> {
        let Reverse(first) = self.flying.pop()?;
        let next = self.flying.peek().map(|next| next.0.arrives_at);
        Some((first.carried, next.unwrap_or(Time::NEVER)))
    }
}

/// Packet in transit, ordered by its arrival.
#[derive(Debug)]
struct Flying {
    arrives_at: Time,
    number: u64,
    carried: Carried,
}

impl PartialEq for Flying {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Flying {}
impl PartialOrd for Flying {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Flying {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.arrives_at, self.number).cmp(&(other.arrives_at, other.number))
    }
}
