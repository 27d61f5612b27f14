//! The queue of the sender's own host below TCP. TCP has little data in this queue, and a full
//! queue reduces the window without a loss (Linux `tcp_small_queue_check`, `__tcp_transmit_skb`).

use fadeout_core::SEGMENT_HEADERS;

/// State of the queue in front of a host's network device, for one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostQueue {
    /// Size of the connection's packets in the queue, bytes.
    pub own: u64,
    /// Number of packets that the queue still accepts.
    pub free: u64,
    /// True if the connection has only about a millisecond of data in the queue (TCP small
    /// queues).
    pub is_small: bool,
}

/// Space for new segments in a host's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// The queue accepts this many segments.
    For(u32),
    /// The connection has enough data in the queue.
    Crowded,
    /// The queue is full.
    Full,
}

/// Sender's view of its host's queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Below {
    queue: HostQueue,
    /// True if data waits until packets leave the queue.
    waits: bool,
}

impl Below {
    /// Returns the view of a queue. `before` is the view of the step before. `None` in the first
    /// step.
    pub(super) fn new(queue: HostQueue, before: Option<Below>) -> Below {
        let waits = before.is_some_and(|below| below.waits);
        Below { queue, waits }
    }

    /// Returns true if data waited for the queue. The data no longer waits.
    pub(super) fn take_wait(&mut self) -> bool {
        std::mem::take(&mut self.waits)
    }

    /// Counts a segment with `len` payload bytes that enters the queue.
    pub(super) fn count(&mut self, len: u32) {
        self.queue.own += u64::from(SEGMENT_HEADERS + len);
        self.queue.free = self.queue.free.saturating_sub(1);
    }

    /// Returns the space for a burst of `quota` segments with `burst` bytes. A connection may have
    /// two bursts in the queue, or `limit` bytes if that is more. `pieces` is the number of
    /// outstanding bursts. A single burst may always be outstanding.
    pub(super) fn space(&mut self, quota: u32, burst: u64, limit: u64, pieces: u32) -> Space {
        let HostQueue {
            own,
            free,
            is_small,
        } = self.queue;
        let space = match u32::try_from(free).unwrap_or(u32::MAX) {
            0 => Space::Full,
            _ if is_small && own > limit.max(2 * burst) && pieces > 1 => Space::Crowded,
            free => Space::For(quota.min(free)),
        };
        self.waits |= !matches!(space, Space::For(_));
        space
    }
}
