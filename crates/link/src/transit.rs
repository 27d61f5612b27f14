//! The packets inside a link: first those in the queue, then those in the delay line.

use fadeout_core::{PacketId, Ring, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// One packet inside a link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    /// When it no longer counts against the queue's limit.
    pub(crate) leaves_queue_at: Time,
    /// When it reaches the far end.
    pub(crate) arrives_at: Time,
    pub(crate) packet: PacketId,
    pub(crate) size: u32,
    /// Sent into a blockage: it never reaches the far end.
    pub(crate) is_lost: bool,
}

/// The packets inside a link: a ring of packets in order, with a cursor at the first that is still
/// queued, where times never decrease from one packet to the next; or two heaps by time where packets may
/// overtake each other.
#[derive(Debug)]
pub(crate) enum Transit {
    InOrder(InOrder),
    Overtaking(Overtaking),
}

impl Transit {
    pub(crate) fn new(keeps_order: bool) -> Self {
        if keeps_order {
            Transit::InOrder(InOrder::default())
        } else {
            Transit::Overtaking(Overtaking::default())
        }
    }

    /// Takes in a packet. Where the order is kept, it leaves queue and delay line no earlier than the
    /// packet before it.
    #[inline]
    pub(crate) fn push(&mut self, carried: Carried) {
        match self {
            Transit::InOrder(packets) => packets.push(carried),
            Transit::Overtaking(packets) => packets.push(carried),
        }
    }

    /// Counts off the packets that have left the queue by `now`.
    #[inline]
    pub(crate) fn leave_queue(&mut self, now: Time) {
        match self {
            Transit::InOrder(packets) => packets.leave_queue(now),
            Transit::Overtaking(packets) => packets.leave_queue(now),
        }
    }

    /// Takes the next packet if it has reached the far end by `now`. Call
    /// [`leave_queue`](Self::leave_queue) for `now` first.
    #[inline]
    pub(crate) fn pop_arrived(&mut self, now: Time) -> Option<Carried> {
        if self.next_arrival_at() > now {
            return None;
        }
        match self {
            Transit::InOrder(packets) => packets.pop(),
            Transit::Overtaking(packets) => packets.flying.pop().map(|next| next.0.carried),
        }
    }

    /// When the next packet reaches the far end.
    #[inline]
    pub(crate) fn next_arrival_at(&self) -> Time {
        match self {
            Transit::InOrder(packets) => packets.ring.front().map(|carried| carried.arrives_at),
            Transit::Overtaking(packets) => packets.flying.peek().map(|next| next.0.arrives_at),
        }
        .unwrap_or(Time::NEVER)
    }

    #[inline]
    pub(crate) fn queued_packets(&self) -> u64 {
        match self {
            Transit::InOrder(packets) => packets.ring.end() - packets.first_queued,
            Transit::Overtaking(packets) => packets.queued.len() as u64,
        }
    }
    #[inline]
    pub(crate) fn queued_bytes(&self) -> u64 {
        match self {
            Transit::InOrder(packets) => packets.queued_bytes,
            Transit::Overtaking(packets) => packets.queued_bytes,
        }
    }
    pub(crate) fn packets(&self) -> usize {
        match self {
            Transit::InOrder(packets) => packets.ring.len(),
            Transit::Overtaking(packets) => packets.flying.len(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct InOrder {
    ring: Ring<Carried>,
    first_queued: u64,
    queued_bytes: u64,
}

impl InOrder {
    #[inline]
    fn push(&mut self, mut carried: Carried) {
        if let Some(ahead) = self.ring.back() {
            carried.leaves_queue_at = carried.leaves_queue_at.max(ahead.leaves_queue_at);
            carried.arrives_at = carried.arrives_at.max(ahead.arrives_at);
        }
        self.ring.push(carried);
        self.queued_bytes += u64::from(carried.size);
    }

    #[inline]
    fn leave_queue(&mut self, now: Time) {
        while self.first_queued < self.ring.end() {
            let carried = &self.ring[self.first_queued];
            if carried.leaves_queue_at > now {
                break;
            }
            self.queued_bytes -= u64::from(carried.size);
            self.first_queued += 1;
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Carried> {
        debug_assert!(
            self.ring.is_empty() || self.first_queued > self.ring.first(),
            "what arrives has left the queue"
        );
        self.ring.pop()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Overtaking {
    /// When each packet leaves the queue, and its size.
    queued: BinaryHeap<Reverse<(Time, u32)>>,
    flying: BinaryHeap<Reverse<Flying>>,
    queued_bytes: u64,
    /// Packets so far; those that arrive at the same time do so in the order in which they were sent.
    sent: u64,
}

impl Overtaking {
    fn push(&mut self, carried: Carried) {
        self.queued
            .push(Reverse((carried.leaves_queue_at, carried.size)));
        self.queued_bytes += u64::from(carried.size);
        self.flying.push(Reverse(Flying {
            arrives_at: carried.arrives_at,
            number: self.sent,
            carried,
        }));
        self.sent += 1;
    }

    fn leave_queue(&mut self, now: Time) {
        while let Some(&Reverse((leaves_at, size))) = self.queued.peek()
            && leaves_at <= now
        {
            self.queued.pop();
            self.queued_bytes -= u64::from(size);
        }
    }
}

/// A packet on its way, by its arrival.
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
