//! Written data in the socket. The data is stored in fragments on pages of memory, and whole
//! fragments are bound to paths (Linux 6.12 `mptcp_sendmsg`).
//!
//! A write first fills the page of the last fragment. If that fragment is not bound to a path, the
//! write extends it. Otherwise the write begins another fragment. So the size of each write decides
//! at which byte the path changes and how long the last segment before it is.

use crate::tcp::receiver::packets::PAGE;
use crate::tcp::socket::memory::BLOCK;
use std::collections::VecDeque;

/// Memory of a fragment's descriptor (`struct mptcp_data_frag`).
const HEAD: u64 = 40;
/// Smallest space on a page in which a fragment begins, bytes.
const LEAST_ROOM: u64 = 32;

/// Unacknowledged fragments of a connection.
#[derive(Debug)]
pub(super) struct Written {
    /// End of each fragment, oldest first.
    ends: VecDeque<u64>,
    /// First data sequence number that the socket has not accepted.
    taken: u64,
    /// Free bytes on the last page.
    room: u64,
    /// Number of bytes that the present write has not copied yet.
    call: u64,
    /// True if the writer waits until a third of the buffer is free.
    is_waiting: bool,
}

impl Default for Written {
    fn default() -> Written {
        Written {
            ends: VecDeque::new(),
            taken: 1,
            room: 0,
            call: 0,
            is_waiting: false,
        }
    }
}

impl Written {
    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(self.call <= BLOCK, "a call of {} bytes", self.call);
        debug_assert!(self.room <= PAGE, "a page has room for {} bytes", self.room);
        debug_assert!(
            self.ends.back().is_none_or(|&end| end == self.taken),
            "the last fragment does not end where the writer stands"
        );
        debug_assert!(
            self.ends.front() <= self.ends.back(),
            "the fragments are not in order"
        );
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Returns the ends of the fragments with data beyond `from`.
    pub(super) fn ends_beyond(&self, from: u64) -> impl Iterator<Item = u64> {
        let first = self.ends.partition_point(|&end| end <= from);
        self.ends.range(first..).copied()
    }

    /// Removes acknowledged data below `una`. `buffer` is the limit of memory in bytes. Returns
    /// true if the writer may continue.
    pub(super) fn on_acknowledged(&mut self, una: u64, buffer: u64) -> bool {
        while self.ends.front().is_some_and(|&end| end <= una) {
            self.ends.pop_front();
        }
        if 3 * self.memory(una) <= 2 * buffer {
            self.is_waiting = false;
        }
        !self.is_waiting
    }

    /// Wakes the writer. The writer continues if the buffer has any free space.
    pub(super) fn wake(&mut self, una: u64, buffer: u64) {
        self.is_waiting &= self.memory(una) >= buffer;
    }

    /// Returns the memory of unacknowledged data (`sk_wmem_queued`).
    fn memory(&self, una: u64) -> u64 {
        self.taken - una + self.ends.len() as u64 * HEAD
    }

    /// Copies one write into the send buffer, until the write is complete or the memory `buffer` is
    /// used up. The application's data ends at `end`. `is_open`: true if the last fragment is not
    /// bound to a path. Returns true if another write may follow.
    pub(super) fn write(&mut self, una: u64, end: u64, buffer: u64, mut is_open: bool) -> bool {
        if self.call == 0 {
            self.call = BLOCK.min(end - self.taken);
        }
        while self.call > 0 {
            if self.memory(una) >= buffer {
                self.is_waiting = true;
                return false;
            }
            if !is_open || self.room == 0 {
                // A page whose data was acknowledged is used again from its start
                // (skb_page_frag_refill).
                if self.ends.is_empty() || self.room < HEAD + LEAST_ROOM {
                    self.room = PAGE;
                }
                self.room -= HEAD;
                self.ends.push_back(self.taken);
                is_open = true;
            }
            let bytes = self.call.min(self.room);
            self.call -= bytes;
            self.room -= bytes;
            self.taken += bytes;
            if let Some(last) = self.ends.back_mut() {
                *last = self.taken;
            }
        }
        self.taken < end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(written: &Written) -> Vec<u64> {
        written.ends_beyond(1).collect()
    }

    #[test]
    fn calls_fill_pages_and_begin_a_fragment_unless_one_is_open() {
        let mut written = Written::default();
        assert!(written.write(1, 1_000_000, 1 << 30, false));
        let whole = PAGE - HEAD;
        let fifth = 1 + BLOCK;
        assert_eq!(
            ends(&written),
            [
                1 + whole,
                1 + 2 * whole,
                1 + 3 * whole,
                1 + 4 * whole,
                fifth
            ]
        );
        let mut open = Written::default();
        open.write(1, 1_000_000, 1 << 30, false);
        written.write(1, 1_000_000, 1 << 30, false);
        open.write(1, 1_000_000, 1 << 30, true);
        // A closed fragment leaves the rest of the fifth page to a new fragment with its own
        // descriptor. An open fragment is extended to the end of the page.
        assert_eq!(ends(&written)[5], fifth + whole - 160 - HEAD);
        assert_eq!(ends(&open)[4], 1 + 5 * whole);
    }

    #[test]
    fn a_writer_waits_where_the_buffer_is_full_and_ends_its_call_later() {
        let mut written = Written::default();
        assert!(!written.write(1, 1_000_000, 50_000, false));
        // The second fragment began while the buffer had free space and is completed, although it
        // exceeds the buffer.
        assert_eq!(written.taken(), 1 + 2 * (PAGE - HEAD));
        assert!(written.is_waiting());
        let third_free = 1 + 2 * PAGE - 50_000 * 2 / 3;
        assert!(!written.on_acknowledged(third_free - 2, 50_000));
        assert!(written.on_acknowledged(third_free + 2, 50_000));
        assert!(!written.write(third_free, 1_000_000, 50_000, false));
        assert_eq!(written.taken(), 1 + 3 * (PAGE - HEAD));
        // The writer waits again. After a wake-up it continues only if the buffer has free space.
        let memory = written.memory(third_free);
        written.wake(third_free, memory);
        assert!(written.is_waiting());
        written.wake(third_free, memory + 1);
        assert!(!written.is_waiting());
    }

    #[test]
    fn a_page_whose_data_was_acknowledged_is_used_again_from_its_start() {
        let whole = PAGE - HEAD;
        for (una, first) in [(501, whole), (1, whole - 500 - HEAD)] {
            let mut written = Written::default();
            written.write(1, 501, 1 << 30, false);
            written.on_acknowledged(una, 1 << 30);
            written.write(una, 100_001, 1 << 30, false);
            assert_eq!(written.ends_beyond(501).next(), Some(501 + first));
        }
    }

    #[test]
    fn a_small_rest_is_written_and_nothing_follows() {
        let mut written = Written::default();
        assert!(!written.write(1, 501, 50_000, false));
        assert_eq!((written.taken(), ends(&written)), (501, vec![501]));
        assert!(written.on_acknowledged(501, 50_000));
        assert_eq!(ends(&written), []);
    }
}
