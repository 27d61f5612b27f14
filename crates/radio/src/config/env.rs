//! Arguments that machines take beside their own state, and the ids of what they share.

use crate::phy::sub_band::BandSet;
use fadeout_core::{PacketId, PacketPool, Time};

/// A leg: one UE in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct LegId(pub u32);

impl LegId {
    /// The id as an index into the table of legs.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A UE as its cell counts it (C-RNTI), from 0 without gaps.
///
/// Standard: TS 38.321 §7.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rnti(pub u32);

impl Rnti {
    /// The id as an index into the tables of its cell.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// No slot: something has to happen first.
pub(crate) const NO_SLOT: u64 = u64::MAX;

/// Resources of a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// Number of the scheme.
    pub scheme: u8,
    /// Symbols for data of its slot.
    pub symbols: u8,
    /// Units.
    pub units: u32,
    /// Bytes.
    pub bytes: u32,
    /// The sub-bands that it lies in, where the cell schedules by them.
    pub bands: BandSet,
}

/// The time of a step, the packets, and where what a step brings forth goes.
#[derive(Debug)]
pub(crate) struct Env<'a, P> {
    pub now: Time,
    pub pool: &'a mut PacketPool,
    /// Packets that leave a bearer at its far end.
    pub out: &'a mut Vec<PacketId>,
    pub probe: &'a mut P,
}
