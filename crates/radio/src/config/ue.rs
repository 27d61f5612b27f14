//! A UE's radio interface.

use super::StatesConfig;
use crate::channel::penetration::Penetration;
use fadeout_core::{CellId, Dbm, Decibel, NodeId};

/// A UE's radio interface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UeConfig {
    /// Node it is part of; motion is asked for its place.
    pub node: NodeId,
    /// The cell of its first leg.
    pub serving: Serving,
    /// The cell of its second leg, which it has beside the first, if it has one (PSCell of dual
    /// connectivity, TS 37.340 clause 3.1). It may be of another generation.
    pub secondary: Option<CellId>,
    /// Most transmitted power.
    pub power: Dbm,
    /// Noise figure of its receiver.
    pub noise_figure: Decibel,
    /// What stands between it and base stations outdoors.
    pub penetration: Penetration,
    /// A given SINR instead of a channel.
    pub fixed_sinr: Option<FixedSinr>,
    /// When its connection is released; never without.
    pub states: Option<StatesConfig>,
}

/// The cell that serves a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    /// This one.
    Cell(CellId),
    /// The one whose power is received best at the start.
    Strongest,
}

/// SINR over the whole band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedSinr {
    /// Downlink.
    pub downlink: Decibel,
    /// Uplink.
    pub uplink: Decibel,
}

impl UeConfig {
    /// A UE of 23 dBm and noise figure 9 dB, served by the strongest cell.
    ///
    /// Standard: TR 36.814.
    pub fn new(node: NodeId) -> UeConfig {
        UeConfig {
            node,
            serving: Serving::Strongest,
            secondary: None,
            power: Dbm(23.0),
            noise_figure: Decibel(9.0),
            penetration: Penetration::None,
            fixed_sinr: None,
            states: None,
        }
    }
}
