//! Configuration of a UE: one radio interface of a node.

use super::StatesConfig;
use crate::channel::penetration::Penetration;
use crate::phy::mutual_information::Modulation;
use fadeout_core::math::to_db;
use fadeout_core::registry::{Parameter, number};
use fadeout_core::{CellId, Dbm, Decibel, NodeId, Span, Time, UeId};

/// Configuration of a UE: one radio interface of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UeConfig {
    /// Node that contains the UE. The node's motion gives the UE's position.
    pub node: NodeId,
    /// Cell of the first leg.
    pub serving: Serving,
    /// Cell of the UE's second leg (PSCell of dual connectivity, TS 37.340 clause 3.1). It may be
    /// of another generation than the first leg's cell. `None` if the UE has one leg.
    pub pscell: Option<CellId>,
    /// True if the network may add a second leg, so that bearers may be split although `pscell` is
    /// `None`.
    pub takes_secondary: bool,
    /// Cells that the UE uses in addition to the cell of its first leg.
    pub aggregation: Aggregation,
    /// Maximum transmit power.
    pub power: Dbm,
    /// Noise figure of the UE's receiver.
    pub noise_figure: Decibel,
    /// Penetration loss of building or vehicle walls between the UE and outdoor base stations.
    pub penetration: Penetration,
    /// Highest modulation orders of the UE.
    pub modulation: HighestModulation,
    /// Fixed SINR in place of a channel model. `None` if the channel gives the SINR.
    pub fixed_sinr: Option<FixedSinr>,
    /// Number of this UE in the whole radio access, if this radio access is only a part of a larger
    /// one. The number selects the UE's random streams. `None` if the UE has the same number in
    /// both.
    pub drawn_as: Option<UeId>,
    /// RRC states: rules for the release of the connection. `None` if the connection is never
    /// released.
    pub states: Option<StatesConfig>,
    /// Time at which an idle UE begins to attach. `None` if the UE is connected from the start.
    /// Used with mobility management only.
    pub attaches_at: Option<Time>,
}

pub use fadeout_core::agreed::MOST_SECONDARY_CELLS;

/// Secondary cells of a UE (carrier aggregation). One RLC entity and one MAC entity use the
/// transport blocks of several cells of one technology. Secondary cells carry downlink data, and
/// uplink data if `has_uplink` is set. The UE then divides its power evenly among the secondary
/// cells and the primary cell.
///
/// Standard: TS 38.300 §6.7; TS 36.300 §7.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    cells: [CellId; MOST_SECONDARY_CELLS],
    count: u8,
    /// Maximum number of secondary cells that mobility management may configure.
    pub most: u8,
    /// Activation delay: time from the data that causes the activation of a secondary cell to the
    /// first block that the cell can carry.
    ///
    /// Standard: TS 36.133 §7.7.2; TS 38.133 §8.3.2.
    pub activation: Span,
    /// Time without data after which a secondary cell is deactivated (sCellDeactivationTimer).
    /// `None` if secondary cells are never deactivated.
    ///
    /// Standard: TS 38.321 §5.9; TS 36.321 §5.13.
    pub deactivation: Option<Span>,
    /// True if secondary cells carry uplink data too.
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

    /// Returns an aggregation of these secondary cells, with an activation delay of 24 ms and
    /// without deactivation. `None` if there are more than [`MOST_SECONDARY_CELLS`] cells.
    pub fn new(cells: &[CellId]) -> Option<Aggregation> {
        let all = Aggregation::NONE.with_cells(cells)?;
        Some(Aggregation {
            most: all.count,
            ..all
        })
    }

    /// Returns this aggregation with `cells` as its secondary cells. `None` if there are more than
    /// [`MOST_SECONDARY_CELLS`] cells.
    pub(crate) fn with_cells(mut self, cells: &[CellId]) -> Option<Aggregation> {
        self.cells.get_mut(..cells.len())?.copy_from_slice(cells);
        self.count = cells.len() as u8;
        Some(self)
    }

    /// Returns this aggregation without secondary cells. All other values are kept.
    pub(crate) fn without_cells(mut self) -> Aggregation {
        self.count = 0;
        self
    }

    /// Adds a secondary cell, unless the maximum number is reached.
    pub(crate) fn add(&mut self, cell: CellId) {
        if self.count < self.most
            && let Some(place) = self.cells.get_mut(usize::from(self.count))
        {
            *place = cell;
            self.count += 1;
        }
    }

    /// Replaces the secondary cell `old` by `new`.
    pub(crate) fn replace(&mut self, old: CellId, new: CellId) {
        let count = usize::from(self.count);
        for cell in self.cells[..count].iter_mut().filter(|cell| **cell == old) {
            *cell = new;
        }
    }

    /// Returns the secondary cells.
    pub fn cells(&self) -> &[CellId] {
        &self.cells[..usize::from(self.count)]
    }
}

/// Highest modulation order of a UE in each direction. A cell with link adaptation chooses no
/// scheme with a higher order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HighestModulation {
    /// Order of the downlink.
    pub downlink: Modulation,
    /// Order of the uplink.
    pub uplink: Modulation,
}

impl Default for HighestModulation {
    /// Returns 256QAM in both directions.
    fn default() -> Self {
        HighestModulation {
            downlink: Modulation::Qam256,
            uplink: Modulation::Qam256,
        }
    }
}

/// Choice of the cell that serves a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    /// The cell with this id.
    Cell(CellId),
    /// The cell that the UE receives with the highest power at the start of the run.
    Strongest,
    /// The cell that the UE receives with the highest power among all cells on the carrier of the
    /// named cell. Cells on other carriers are known to be weaker and are not evaluated.
    StrongestOnCarrier(CellId),
}

/// Fixed SINR, equal over the whole bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedSinr {
    /// Downlink SINR.
    pub downlink: Decibel,
    /// Uplink SINR.
    pub uplink: Decibel,
}

fadeout_core::parameters! {
    /// Default parameters of a UE.
    struct UeKeys {
        /// Maximum transmit power (power class 3, TS 36.101 and 38.101-1).
        tx_power: f64 = number((-200.0, 200.0, "dBm"), "23"),
        /// Noise figure of the UE's receiver (TR 36.942).
        noise_figure: f64 = number((0.0, 50.0, "dB"), "9"),
    }
}

impl UeConfig {
    /// Returns the number of the UE that selects its random streams. `id` is the UE's number in
    /// this radio access.
    pub(crate) fn draws_of(&self, id: UeId) -> UeId {
        self.drawn_as.unwrap_or(id)
    }

    /// Returns the maximum transmit power on one carrier. The UE's power is divided evenly among
    /// all carriers with uplink.
    pub(crate) fn power_of_carrier(&self) -> Dbm {
        if !self.aggregation.has_uplink {
            return self.power;
        }
        let carriers = 1 + self.aggregation.cells().len();
        Dbm(self.power.0 - to_db(carriers as f64))
    }

    /// Parameters that a scenario may give as keys of a UE.
    pub const PARAMETERS: &'static [Parameter] = UeKeys::PARAMETERS;

    /// Returns a UE with default parameters, served by the strongest cell.
    pub fn new(node: NodeId) -> UeConfig {
        let keys = UeKeys::default();
        UeConfig {
            node,
            serving: Serving::Strongest,
            pscell: None,
            takes_secondary: false,
            aggregation: Aggregation::NONE,
            power: Dbm(keys.tx_power),
            noise_figure: Decibel(keys.noise_figure),
            penetration: Penetration::None,
            modulation: HighestModulation::default(),
            fixed_sinr: None,
            drawn_as: None,
            states: None,
            attaches_at: None,
        }
    }
}
