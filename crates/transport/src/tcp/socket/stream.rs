//! State of a sender that its socket uses.

/// Largest payload of one segmentation-offload packet (Linux `GSO_LEGACY_MAX_SIZE`).
pub(super) const LARGEST_BURST: u64 = 65_536;
/// Number of bytes that the kernel reserves for headers in such a packet (`MAX_TCP_HEADER` and one
/// byte).
const BURST_HEADERS: u64 = 321;

/// State of a sender that its socket uses.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct Stream {
    /// Next sequence number to be sent (SND.NXT).
    pub(in crate::tcp) next: u64,
    /// End of the data that the socket has accepted.
    pub(in crate::tcp) end: u64,
    /// Payload of a full segment, bytes.
    pub(in crate::tcp) mss: u64,
    /// Largest window that the peer advertised, bytes.
    pub(in crate::tcp) largest_window: u64,
    /// True if a multipath connection has more data than it offers this subflow.
    pub(in crate::tcp) holds_back: bool,
}

impl Stream {
    /// Returns the number of unsent bytes in the socket.
    #[inline]
    pub(in crate::tcp) fn unsent(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }

    /// Returns the size of the kernel's sk_buffs in bytes. The size is a number of whole segments,
    /// limited by the largest burst and by half of the peer's largest window (Linux
    /// `tcp_xmit_size_goal`).
    pub(in crate::tcp) fn piece(&self) -> u64 {
        let largest = (LARGEST_BURST - BURST_HEADERS).min(self.largest_window / 2);
        (largest / self.mss).max(1) * self.mss
    }
}

/// Unsent part of the first sk_buff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) struct Head {
    pub(in crate::tcp) bytes: u64,
    /// True if no sk_buff follows.
    pub(in crate::tcp) is_last: bool,
}
