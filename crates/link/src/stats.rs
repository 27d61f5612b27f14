//! Totals of a link.

use fadeout_core::{Bytes, DropCause};

/// Numbers of packets and bytes that a link has carried and lost since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets that arrived at the link, including dropped ones.
    pub packets_in: u64,
    /// Bytes that arrived at the link, including dropped ones.
    pub bytes_in: Bytes,
    /// Packets that reached the far end.
    pub packets_out: u64,
    /// Bytes that reached the far end.
    pub bytes_out: Bytes,
    /// Packets whose ECN field the queue set to Congestion Experienced.
    pub packets_marked: u64,
    /// Packets that were removed in order to take another path.
    pub packets_taken: u64,
    drops: [u64; DropCause::ALL.len()],
}

impl LinkStats {
    /// Returns the number of packets lost by `cause`.
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.drops[cause as usize]
    }
    /// Returns the number of packets lost by each cause, in the order of [`DropCause::ALL`].
    pub fn dropped_by_cause(&self) -> [u64; DropCause::ALL.len()] {
        self.drops
    }
    /// Returns the number of packets lost by any cause.
    pub fn dropped_total(&self) -> u64 {
        self.drops.iter().sum()
    }
    /// Returns the number of packets that are no longer inside.
    pub(crate) fn packets_gone(&self) -> u64 {
        self.packets_out + self.packets_taken + self.dropped_total()
    }
    pub(crate) fn count_in(&mut self, size: u32) {
        self.packets_in += 1;
        self.bytes_in.0 += u64::from(size);
    }
    pub(crate) fn count_out(&mut self, size: u32) {
        self.packets_out += 1;
        self.bytes_out.0 += u64::from(size);
        debug_assert!(
            self.bytes_out <= self.bytes_in || self.packets_in == 0,
            "more bytes came out than in"
        );
    }
    pub(crate) fn count_drop(&mut self, cause: DropCause) {
        self.drops[cause as usize] += 1;
    }
}
