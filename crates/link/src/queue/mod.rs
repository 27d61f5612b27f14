//! What waits for the transmitter, and how much of it.
//!
//! A discipline that decides on arrival alone, as [`drop_tail`] does, needs no event of its own:
//! the link computes the departure at once. One that decides when a packet leaves the queue
//! (CoDel, RFC 8289; DualPI2, RFC 9332) keeps its packets here and hands the next one to the
//! transmitter each time that falls free; everything after the transmitter stays the same. Such
//! a packet was waiting, so the transmitter must carry its remainder of the last nanosecond, or
//! of the last opportunity, over to it.

mod drop_tail;

pub(crate) use drop_tail::DropTail;

use crate::LinkError;
use fadeout_core::Bytes;

/// A link's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueConfig {
    /// First in, first out; an arrival that does not fit is dropped (`queue-full`).
    DropTail {
        /// Most that the queue holds, the packet in transmission included; `None` for no limit.
        limit: Option<Limit>,
        /// Whether the limit also counts packets in the delay line, as netem's does.
        counts_delay_line: bool,
    },
}

/// A limit on packets or on bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes; a packet that would exceed it does not fit.
    Bytes(Bytes),
}

impl Limit {
    /// Whether a packet of `size` bytes fits beside `packets` packets of `bytes` bytes.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, size: u32) -> bool {
        match self {
            Limit::Packets(most) => packets < u64::from(most),
            Limit::Bytes(most) => bytes + u64::from(size) <= most.0,
        }
    }

    pub(crate) fn check(self, name: &'static str) -> Result<(), LinkError> {
        match self {
            Limit::Packets(0) | Limit::Bytes(Bytes(0)) => Err(LinkError::ZeroLimit(name)),
            _ => Ok(()),
        }
    }
}
