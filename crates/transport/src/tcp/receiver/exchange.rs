//! Options of a SYN, and the result of processing a segment.

/// Options that the peer's SYN allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) struct SynTerms {
    pub(in crate::tcp) window_scaling: bool,
    pub(in crate::tcp) timestamps: bool,
    /// Payload of a full segment for this end's SYN-ACK. `None` if no SYN-ACK is sent.
    pub(in crate::tcp) answer_mss: Option<u32>,
}

/// Result of processing a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::tcp) struct Received {
    /// In-order bytes for the application.
    pub(in crate::tcp) bytes: u64,
    /// True if an acknowledgment must be sent now.
    pub(in crate::tcp) ack_now: bool,
    /// True if the peer's FIN is in order.
    pub(in crate::tcp) fin: bool,
}
