//! Storage that all bearers share.

use super::forwarding::Forwarded;
use super::split::Frame;
use super::track::Tracks;
use crate::rlc::Sdu;
use fadeout_core::{Direction, DrbId, PacketId};

/// Tracks beside the packet pool, and lists that are used again and again. Every list is empty
/// between two steps.
#[derive(Debug)]
pub(crate) struct Storage {
    pub tracks: Tracks,
    /// From RLC to PDCP.
    pub(super) sdus: Vec<Sdu>,
    /// From PDCP to the far end.
    pub(super) ordered: Vec<Sdu>,
    /// By queue management.
    pub(super) dropped: Vec<Sdu>,
    pub(super) lost: Vec<PacketId>,
    pub(super) unconfirmed: Vec<Sdu>,
    /// Those that are sent again.
    pub(super) again: Vec<Sdu>,
    /// Packets that have left signalling radio bearers: their bearer and direction.
    pub signalled: Vec<(DrbId, Direction, PacketId)>,
    /// Packets that leave one base station for another.
    pub forwarded: Vec<Forwarded>,
    /// What the base stations of split bearers send each other.
    pub frames: Vec<Frame>,
}

/// Packets that lists of the moment have room for from the start: what a repaired gap sets free.
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
