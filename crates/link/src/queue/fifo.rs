//! First-in, first-out queue of waiting packets.

use fadeout_core::{PacketId, Ring, Span, Time};

/// Packet that waits for the transmitter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Queued {
    /// Arrival at the link.
    pub(crate) arrived_at: Time,
    pub(crate) packet: PacketId,
    /// Size in bytes, framing included.
    pub(crate) size: u32,
}

/// First-in, first-out queue that counts its bytes.
#[derive(Debug, Default)]
pub(crate) struct Fifo {
    ring: Ring<Queued>,
    bytes: u64,
}

impl Fifo {
    #[inline]
    pub(crate) fn push(&mut self, queued: Queued) {
        debug_assert!(
            self.ring
                .back()
                .is_none_or(|last| last.arrived_at <= queued.arrived_at),
            "a packet is put behind one that came later"
        );
        self.bytes += u64::from(queued.size);
        self.ring.push(queued);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let queued = self.ring.pop()?;
        self.bytes -= u64::from(queued.size);
        debug_assert!(
            !self.ring.is_empty() || self.bytes == 0,
            "bytes wait in no packet"
        );
        Some(queued)
    }

    pub(crate) fn front(&self) -> Option<&Queued> {
        self.ring.front()
    }

    /// Returns the time for which the head has waited at `at`. Zero if the queue is empty.
    pub(crate) fn age(&self, at: Time) -> Span {
        self.front()
            .map_or(Span::ZERO, |head| at.since(head.arrived_at))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    pub(crate) fn packets(&self) -> u64 {
        self.ring.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
