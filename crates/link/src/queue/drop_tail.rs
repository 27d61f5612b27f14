//! Drop-tail drops packets that do not fit.

use super::Limit;

/// Limit of a queue, the admission rule of every discipline. The packets of a drop-tail queue are
/// in the link's [`Transit`](crate::transit::Transit), because their departures are known on
/// arrival.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DropTail {
    /// Number of packets before an arrival from which on the queue is full. `u64::MAX` without a
    /// limit of packets.
    full_packets: u64,
    /// Largest content in bytes. `u64::MAX` without a limit of bytes.
    most_bytes: u64,
}

impl DropTail {
    /// Returns a queue with a limit. `None` for a queue without a limit.
    pub(crate) fn new(limit: Option<Limit>) -> DropTail {
        let (full_packets, most_bytes) = match limit {
            None => (u64::MAX, u64::MAX),
            Some(Limit::Packets(most)) => (u64::from(most), u64::MAX),
            Some(Limit::Bytes(most)) => (u64::MAX, most.0),
        };
        DropTail {
            full_packets,
            most_bytes,
        }
    }

    /// Returns true if a packet of `size` bytes fits in addition to `packets` packets of `bytes`
    /// bytes.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, size: u32) -> bool {
        packets < self.full_packets && bytes + u64::from(size) <= self.most_bytes
    }

    /// Returns true if this amount is within the limit.
    pub(crate) fn holds(self, packets: u64, bytes: u64) -> bool {
        packets <= self.full_packets && bytes <= self.most_bytes
    }
}
