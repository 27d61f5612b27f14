//! Counters of a radio access and of its UEs.

use crate::bearer::BearerCounters;
use crate::leg::BlockCounters;
use fadeout_core::{CellId, Span};

/// Counters of a radio access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Events handled: slots, received blocks and timers.
    pub events: u64,
    /// Slots in which a cell ran its scheduler.
    pub slots: u64,
    /// Scheduling requests sent.
    pub requests: u64,
    /// Radio link failures.
    pub link_failures: u64,
}

/// Counters of one direction of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectionCounters {
    /// Packets that left PDCP at the receiving end.
    pub delivered_packets: u64,
    /// Bytes of the packets that left PDCP at the receiving end.
    pub delivered_bytes: u64,
    /// Packets lost for any reason, from a full buffer to a radio link failure.
    pub dropped_packets: u64,
    /// Packets among `dropped_packets` that queue management dropped.
    pub aqm_dropped_packets: u64,
    /// Packets that queue management marked.
    pub marked_packets: u64,
    /// Transport blocks sent, retransmissions included.
    pub blocks: u64,
    /// HARQ retransmissions among `blocks`.
    pub retransmissions: u64,
    /// Transport blocks abandoned after their last HARQ transmission.
    pub lost_blocks: u64,
}

/// Counters of a split bearer's leg in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LegCounters {
    /// Cell of the leg.
    pub cell: CellId,
    /// PDCP PDUs submitted to the leg.
    pub packets: u64,
    /// Bytes of the PDCP PDUs submitted to the leg.
    pub bytes: u64,
    /// PDCP PDUs among `packets` that were submitted to another leg before.
    pub copies: u64,
    /// PDUs that the leg discarded unsent, because another leg had delivered them or they were too
    /// old.
    pub discarded: u64,
    /// PDUs received over the leg that were duplicates or came too late.
    pub useless: u64,
    /// Transport blocks of the UE on the leg, for all its bearers.
    pub blocks: u64,
    /// HARQ retransmissions among `blocks`.
    pub retransmissions: u64,
    /// Total air time of the transport blocks, as if each block had occupied the whole carrier.
    pub air_time: Span,
}

impl DirectionCounters {
    /// Adds the counters of a leg.
    pub(crate) fn add_leg(&mut self, leg: &BlockCounters) {
        self.blocks += leg.blocks;
        self.retransmissions += leg.retransmissions;
        self.lost_blocks += leg.lost_blocks;
    }

    /// Adds the counters of a bearer.
    pub(crate) fn add_bearer(&mut self, bearer: &BearerCounters) {
        self.delivered_packets += bearer.delivered_packets;
        self.delivered_bytes += bearer.delivered_bytes;
        self.dropped_packets += bearer.dropped_packets;
        self.aqm_dropped_packets += bearer.aqm_dropped_packets;
        self.marked_packets += bearer.marked_packets;
    }
}
