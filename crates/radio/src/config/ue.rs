//! A UE's radio interface.

use super::StatesConfig;
use crate::channel::penetration::Penetration;
use fadeout_core::math::to_db;
use fadeout_core::registry::{Parameter, number};
use fadeout_core::{CellId, Dbm, Decibel, NodeId, Span, Time, UeId};

/// A UE's radio interface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UeConfig {
    /// Node it is part of; motion is asked for its place.
    pub node: NodeId,
    /// The cell of its first leg.
    pub serving: Serving,
    /// The cell of its second leg, which it has beside the first, if it has one (PSCell of dual
    /// connectivity, TS 37.340 clause 3.1). It may be of another generation.
    pub pscell: Option<CellId>,
    /// Whether the network may give it a second leg, so that its bearers may be split without one.
    pub takes_secondary: bool,
    /// Cells that it uses beside that of its first leg.
    pub aggregation: Aggregation,
    /// Most transmitted power.
    pub power: Dbm,
    /// Noise figure of its receiver.
    pub noise_figure: Decibel,
    /// Penetration loss toward base stations outdoors.
    pub penetration: Penetration,
    /// A given SINR instead of a channel.
    pub fixed_sinr: Option<FixedSinr>,
    /// The UE whose random draws it has, where it is one of a part of a larger radio access and has another number
    /// there; its own without.
    pub drawn_as: Option<UeId>,
    /// When its connection is released; never without.
    pub states: Option<StatesConfig>,
    /// It is idle at the start, and begins to attach then; connected without. Under mobility management alone.
    pub attaches_at: Option<Time>,
}

pub use fadeout_core::agreed::MOST_SECONDARY_CELLS;

/// Secondary cells of a UE (carrier aggregation): one RLC and MAC over the transport blocks of several cells
/// of one technology. They carry downlink data; uplink data where they are said to, for which the UE
/// divides its power evenly among them and the primary cell.
///
/// Standard: TS 38.300 §6.7; TS 36.300 §7.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    cells: [CellId; MOST_SECONDARY_CELLS],
    count: u8,
    /// Most secondary cells that mobility management lets it have.
    pub most: u8,
    /// From the data that a secondary cell is activated for to the first block that it can carry.
    ///
    /// Standard: TS 36.133 §7.7.2; TS 38.133 §8.3.2.
    pub activation: Span,
    /// Time without data after which a secondary cell is deactivated (sCellDeactivationTimer).
    ///
    /// Standard: TS 38.321 §5.9; TS 36.321 §5.13.
    pub deactivation: Option<Span>,
    /// Whether secondary cells have uplink too.
    pub has_uplink: bool,
}

impl Aggregation {
    /// No secondary cells.
    pub const NONE: Aggregation = Aggregation {
        cells: [CellId(0); MOST_SECONDARY_CELLS],
        count: 0,
        most: 0,
        activation: Span::from_millis(24),
        deactivation: None,
        has_uplink: false,
    };

    /// These secondary cells, activated within 24 ms and never deactivated; none when they are more than
    /// [`MOST_SECONDARY_CELLS`].
    pub fn of(cells: &[CellId]) -> Option<Aggregation> {
        let all = Aggregation::NONE.with(cells)?;
        Some(Aggregation {
            most: all.count,
            ..all
        })
    }

    /// The same with these cells instead; none when they are more than [`MOST_SECONDARY_CELLS`].
    pub(crate) fn with(mut self, cells: &[CellId]) -> Option<Aggregation> {
        self.cells.get_mut(..cells.len())?.copy_from_slice(cells);
        self.count = cells.len() as u8;
        Some(self)
    }

    /// The same without cells.
    pub(crate) fn without_cells(mut self) -> Aggregation {
        self.count = 0;
        self
    }

    /// One more cell, if there may be one.
    pub(crate) fn add(&mut self, cell: CellId) {
        if self.count < self.most
            && let Some(place) = self.cells.get_mut(usize::from(self.count))
        {
            *place = cell;
            self.count += 1;
        }
    }

    /// A cell takes the place of another.
    pub(crate) fn replace(&mut self, old: CellId, new: CellId) {
        let count = usize::from(self.count);
        for cell in self.cells[..count].iter_mut().filter(|cell| **cell == old) {
            *cell = new;
        }
    }

    /// The secondary cells.
    pub fn cells(&self) -> &[CellId] {
        &self.cells[..usize::from(self.count)]
    }
}

/// The cell that serves a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    /// This one.
    Cell(CellId),
    /// The one whose power is received best at the start.
    Strongest,
    /// The same among the cells on the carrier of this one, as the others are known to be weaker: they are not
    /// looked at.
    StrongestBeside(CellId),
}

/// SINR over the whole band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedSinr {
    /// Downlink.
    pub downlink: Decibel,
    /// Uplink.
    pub uplink: Decibel,
}

fadeout_core::parameters! {
    /// The defaults of a UE.
    struct Keys {
        /// Maximum transmit power (power class 3, TS 36.101 and 38.101-1).
        tx_power: f64 = number((-200.0, 200.0, "dBm"), "23"),
        /// Noise figure of the UE's receiver (TR 36.942).
        noise_figure: f64 = number((0.0, 50.0, "dB"), "9"),
    }
}

impl UeConfig {
    /// The UE whose random draws it has, as the one with this number.
    pub(crate) fn draws_of(&self, id: UeId) -> UeId {
        self.drawn_as.unwrap_or(id)
    }

    /// Its most transmitted power on a carrier: the same on all that it sends on.
    pub(crate) fn power_of_carrier(&self) -> Dbm {
        if !self.aggregation.has_uplink {
            return self.power;
        }
        let carriers = 1 + self.aggregation.cells().len();
        Dbm(self.power.0 - to_db(carriers as f64))
    }

    /// The parameters that a scenario may give, as keys of a UE.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;

    /// A UE with the defaults of its parameters, served by the strongest cell.
    pub fn new(node: NodeId) -> UeConfig {
        let keys = Keys::default();
        UeConfig {
            node,
            serving: Serving::Strongest,
            pscell: None,
            takes_secondary: false,
            aggregation: Aggregation::NONE,
            power: Dbm(keys.tx_power),
            noise_figure: Decibel(keys.noise_figure),
            penetration: Penetration::None,
            fixed_sinr: None,
            drawn_as: None,
            states: None,
            attaches_at: None,
        }
    }
}
