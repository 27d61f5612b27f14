//! Context that is passed to state machines of the radio, and the ids that they share.

use crate::phy::sub_band::BandSet;
use fadeout_core::{PacketId, PacketPool, Time};

/// Id of a leg: one UE in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct LegId(pub u32);

impl LegId {
    /// Returns the id as an index into the table of legs.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a UE within its cell (C-RNTI), counted from 0 without gaps.
///
/// Standard: TS 38.321 §7.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rnti(pub u32);

impl Rnti {
    /// Returns the number as an index into the tables of the cell.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Slot number with the meaning "no slot is planned".
pub(crate) const NO_SLOT: u64 = u64::MAX;

/// Resources of a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// Index of the MCS.
    pub scheme: u8,
    /// Number of symbols for data in the slot.
    pub symbols: u8,
    /// Number of resource units: resource block groups, or symbols.
    pub units: u32,
    /// Size of the transport block in bytes.
    pub bytes: u32,
    /// Sub-bands of the transport block, if the cell schedules by sub-bands.
    pub bands: BandSet,
}

/// Context of a step of a state machine: the time, the packets, and the lists for its output.
#[derive(Debug)]
pub(crate) struct Env<'a, P> {
    pub now: Time,
    pub pool: &'a mut PacketPool,
    /// Packets that leave a bearer at its receiving end.
    pub out: &'a mut Vec<PacketId>,
    pub probe: &'a mut P,
}
