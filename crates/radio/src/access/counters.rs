//! Counters of a radio access and of its UEs.

use super::RadioAccess;
use crate::bearer::{BearerCounters, compressed};
use crate::leg::BlockCounters;
use crate::pdcp::RohcCounts;
use fadeout_core::{CellId, Direction, DrbId, Span};

impl RadioAccess {
    /// Downlink packets that links between base stations have dropped on their way to another one.
    pub fn forwarded_drops(&self) -> u64 {
        let bearers = self.service.stack.bearers.iter();
        bearers.map(|drb| drb.transfers().dropped()).sum()
    }

    /// What header compression did in a direction of a bearer, if it has it.
    pub fn header_compression(&self, bearer: DrbId, direction: Direction) -> Option<&RohcCounts> {
        compressed(&self.service.stack.bearers[bearer.index()], direction)
    }
}

/// Counters of a radio access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Events handled: slots, blocks that arrived, timers.
    pub events: u64,
    /// Slots looked at.
    pub slots: u64,
    /// Scheduling requests sent.
    pub requests: u64,
    /// Radio link failures: RLC reached maxRetxThreshold.
    pub link_failures: u64,
}

/// Counters of one direction of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectionCounters {
    /// Packets that left PDCP at the receiving end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets lost on the way, from a full buffer to a radio link failure.
    pub dropped_packets: u64,
    /// Those of them that queue management dropped.
    pub aqm_dropped_packets: u64,
    /// Packets that queue management marked.
    pub marked_packets: u64,
    /// Transport blocks sent, retransmissions included.
    pub blocks: u64,
    /// Retransmissions of HARQ among them.
    pub retransmissions: u64,
    /// Transport blocks given up after their last transmission.
    pub lost_blocks: u64,
}

/// Counters of one direction of a leg of a split bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LegCounters {
    /// The leg's cell.
    pub cell: CellId,
    /// PDCP PDUs that the leg was given.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those of them that the other leg had first.
    pub copies: u64,
    /// PDUs that it discarded unsent, because the other leg had confirmed them or they were too old.
    pub discarded: u64,
    /// PDUs that arrived over it and were of no use.
    pub useless: u64,
    /// Transport blocks that the UE had on the leg, of all its bearers.
    pub blocks: u64,
    /// Retransmissions of HARQ among them.
    pub retransmissions: u64,
    /// For how long they would have taken the whole carrier.
    pub air_time: Span,
}

impl DirectionCounters {
    /// Adds what a leg has done.
    pub(super) fn add_leg(&mut self, leg: &BlockCounters) {
        self.blocks += leg.blocks;
        self.retransmissions += leg.retransmissions;
        self.lost_blocks += leg.lost_blocks;
    }

    /// Adds what a bearer has done.
    pub(super) fn add_bearer(&mut self, bearer: &BearerCounters) {
        self.delivered_packets += bearer.delivered_packets;
        self.delivered_bytes += bearer.delivered_bytes;
        self.dropped_packets += bearer.dropped_packets;
        self.aqm_dropped_packets += bearer.aqm_dropped_packets;
        self.marked_packets += bearer.marked_packets;
    }
}
