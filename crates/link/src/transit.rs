//! The packets inside a link: first those in the queue, then those in the delay line.

use fadeout_core::{PacketId, Ring, Time};

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

/// A ring of packets in order, with a cursor at the first that is still queued. Times never
/// decrease from one packet to the next.
#[derive(Debug, Default)]
pub(crate) struct Transit {
    ring: Ring<Carried>,
    first_queued: u64,
    queued_bytes: u64,
}

impl Transit {
    #[inline]
    pub(crate) fn push(&mut self, carried: Carried) {
        self.ring.push(carried);
        self.queued_bytes += u64::from(carried.size);
    }

    /// Moves the cursor over the packets that have left the queue by `now`.
    #[inline]
    pub(crate) fn leave_queue(&mut self, now: Time) {
        while self.first_queued < self.ring.end() {
            let carried = &self.ring[self.first_queued];
            if carried.leaves_queue_at > now {
                break;
            }
            self.queued_bytes -= u64::from(carried.size);
            self.first_queued += 1;
        }
    }

    /// Takes the first packet if it has reached the far end by `now`. Call
    /// [`leave_queue`](Self::leave_queue) for `now` first.
    #[inline]
    pub(crate) fn pop_arrived(&mut self, now: Time) -> Option<Carried> {
        if self.next_arrival_at() > now || self.ring.is_empty() {
            return None;
        }
        debug_assert!(
            self.first_queued > self.ring.first(),
            "what arrives has left the queue"
        );
        self.ring.pop()
    }

    /// When the first packet reaches the far end.
    #[inline]
    pub(crate) fn next_arrival_at(&self) -> Time {
        self.ring
            .front()
            .map_or(Time::NEVER, |carried| carried.arrives_at)
    }

    /// The newest packet.
    #[inline]
    pub(crate) fn back(&self) -> Option<&Carried> {
        self.ring.back()
    }

    #[inline]
    pub(crate) fn queued_packets(&self) -> u64 {
        self.ring.end() - self.first_queued
    }
    #[inline]
    pub(crate) fn queued_bytes(&self) -> u64 {
        self.queued_bytes
    }
    pub(crate) fn packets(&self) -> usize {
        self.ring.len()
    }
}
