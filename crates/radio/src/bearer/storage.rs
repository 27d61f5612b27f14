//! Storage that all bearers share.

use super::forwarding::Forwarded;
use super::split::Frame;
use super::track::Tracks;
use crate::rlc::Sdu;
use fadeout_core::{Direction, DrbId, PacketId};

/// Delay records of packets, and lists that bearers reuse to avoid allocations. Every list is empty
/// between two events.
#[derive(Debug)]
pub(crate) struct Storage {
    pub tracks: Tracks,
    /// SDUs that RLC hands to PDCP.
    pub(super) sdus: Vec<Sdu>,
    /// SDUs that PDCP delivers in order at the receiving end.
    pub(super) ordered: Vec<Sdu>,
    /// SDUs that queue management dropped.
    pub(super) dropped: Vec<Sdu>,
    pub(super) lost: Vec<PacketId>,
    pub(super) unconfirmed: Vec<Sdu>,
    /// SDUs that are to be sent again.
    pub(super) again: Vec<Sdu>,
    /// Packets that signalling radio bearers delivered, with their bearer and direction.
    pub signalled: Vec<(DrbId, Direction, PacketId)>,
    /// Packets that one base station forwards to another.
    pub forwarded: Vec<Forwarded>,
    /// Frames between the base stations of split bearers.
    pub frames: Vec<Frame>,
}

/// Initial capacity of lists, in packets. When a missing packet arrives, the receiver may deliver
/// this many packets at once.
const ROOM: usize = 1024;

impl Storage {
    pub(crate) fn new() -> Storage {
        Storage {
            tracks: Tracks::default(),
            sdus: Vec::with_capacity(ROOM),
            ordered: Vec::with_capacity(ROOM),
            dropped: Vec::new(),
            lost: Vec::with_capacity(ROOM),
            unconfirmed: Vec::new(),
            again: Vec::new(),
            signalled: Vec::new(),
            forwarded: Vec::new(),
            frames: Vec::new(),
        }
    }
}
