//! Socket of a subflow in Linux's Multipath TCP. The connection has the send buffer, and offers the
//! subflow one sk_buff at a time.

/// State of a subflow that its connection uses.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tcp) struct LinuxSubflow {
    /// True if an sk_buff was sent and the window had space left, since the connection last asked.
    pub(in crate::tcp) had_room: bool,
    /// True if new data waits until the connection has bound more.
    pub(in crate::tcp) binds_first: bool,
    /// True if the connection's writer waits for space in the send buffer.
    pub(in crate::tcp) writer_waits: bool,
    /// Sequence number at which the mapping of the offered data begins. `None` if the offer
    /// continues a mapping.
    pub(in crate::tcp) begins_at: Option<u64>,
}
