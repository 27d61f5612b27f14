//! Results of the handshake that the sending half needs.

use crate::congestion::EcnFeedback;
use fadeout_core::Span;

/// Options negotiated in the handshake.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct Agreed {
    /// Payload of a full segment.
    pub(in crate::tcp) mss: u32,
    pub(in crate::tcp) sack: bool,
    pub(in crate::tcp) timestamps: bool,
    pub(in crate::tcp) ecn: EcnFeedback,
    pub(in crate::tcp) peer_window: u64,
    pub(in crate::tcp) handshake_rtt: Option<Span>,
    /// True if SYNs were lost, so that the initial window is one segment.
    pub(in crate::tcp) starts_from_one: bool,
    /// True if both ends opened and their SYNs crossed.
    pub(in crate::tcp) is_crossed: bool,
}
