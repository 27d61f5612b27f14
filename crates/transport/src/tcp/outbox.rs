//! Outputs of an endpoint: segments and events.

use fadeout_core::{Ecn, Segment};

/// Segment that the endpoint sends.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing {
    /// The segment to send.
    pub segment: Segment,
    /// ECN field of the IP packet that carries the segment.
    pub ecn: Ecn,
}

/// Event for the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppEvent {
    /// The handshake is complete.
    Established,
    /// All data written so far was acknowledged.
    AllAcknowledged,
    /// The peer will send no more data.
    PeerClosed,
    /// Both directions are closed.
    Closed,
    /// The connection was given up or reset.
    Aborted,
}

/// Outputs of one step of an endpoint. The caller empties the outbox after each step and keeps its
/// memory, so that a running connection allocates nothing.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Segments in order of transmission.
    pub segments: Vec<Outgoing>,
    /// Events in the order in which they happened.
    pub events: Vec<AppEvent>,
    /// In-order bytes delivered to the receiving application in this step.
    pub delivered_bytes: u64,
}

impl Outbox {
    /// Adds a segment that is not ECN-capable.
    pub(super) fn push(&mut self, segment: Segment) {
        self.segments.push(Outgoing {
            segment,
            ecn: Ecn::NotEct,
        });
    }

    /// Empties the outbox and keeps its memory.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.events.clear();
        self.delivered_bytes = 0;
    }
}
