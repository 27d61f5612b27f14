//! Outputs of a multipath connection.

use super::PathId;
use crate::tcp::{AppEvent, Outgoing};

/// Outputs of one step of a connection. The caller empties the outbox after each step and keeps its
/// memory.
#[derive(Debug, Default)]
pub struct PathOutbox {
    /// Segments in order of transmission, each with its path.
    pub segments: Vec<(PathId, Outgoing)>,
    /// Events of the connection, in the order in which they happened.
    pub events: Vec<AppEvent>,
    /// In-order bytes delivered to the receiving application in this step.
    pub delivered_bytes: u64,
    /// New bytes that each path delivered to the connection in this step, in subflow order.
    pub arrived: Vec<(PathId, u64)>,
}

impl PathOutbox {
    /// Empties the outbox and keeps its memory.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.events.clear();
        self.arrived.clear();
        self.delivered_bytes = 0;
    }
}
