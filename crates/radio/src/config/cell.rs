//! A cell: one carrier of one base station.

use crate::channel::{ChannelConfig, LinkKey};
use crate::mac::{DrxConfig, MacSchedulerKind, RequestConfig};
use crate::phy::cqi::CqiTable;
use crate::phy::effective_sinr::{EffectiveSinr, SinrRange};
use crate::phy::frame::Duplex;
use crate::phy::harq::{Combining, FixedErrors};
use crate::phy::link_adaptation::{CsiReporting, OuterLoopConfig};
use crate::phy::mcs::McsTable;
use crate::phy::mutual_information::Modulation;
use crate::phy::overhead::Overhead;
use crate::phy::tbs::{DOWNLINK_OVERHEAD, PeakRate};
use crate::phy::timing::Timing;
use crate::rlc::Generation;
use fadeout_core::{CellId, Dbm, Decibel, Direction, Hertz, Lattice, Point, Rate, Span, Vector};

/// One carrier of one base station.
#[derive(Debug, Clone, PartialEq)]
pub struct CellConfig {
    /// Place of its antenna.
    pub site: Point,
    /// Shifts after which the network repeats: a UE hears the image that is nearest to it.
    pub repeats: Option<Lattice>,
    /// Carrier frequency. Cells with the same carrier interfere.
    pub carrier: Hertz,
    /// LTE or NR.
    pub air: AirInterface,
    /// Power of the pilot (CPICH) over that of the carrier, of a cell of 3G: UEs measure it, and are handed over there
    /// and back; bearers go over links of the caller then. Else none.
    pub pilot: Option<Decibel>,
    /// Resource blocks of the carrier.
    pub resource_blocks: u32,
    /// How downlink and uplink share the carrier.
    pub duplex: Duplex,
    /// Division of flexible symbols between uplink and downlink.
    pub division: Division,
    /// Whether what crosses between the directions of cells on the carrier disturbs this one: other base
    /// stations its uplink, and UEs of other cells its UEs' downlink.
    pub cross_link: bool,
    /// Share of the band, up to one, that others hear of this cell's downlink without its UEs here: that of UEs
    /// which are not simulated.
    pub background_load: f64,
    /// How UEs share a slot.
    pub sharing: Sharing,
    /// Spatial layers of a downlink transmission, or the most of them. Layers share the power.
    pub layers: u32,
    /// The same of the uplink.
    pub uplink_layers: u32,
    /// How many of them a transmission has.
    pub rank: Rank,
    /// Transmitted power over the whole carrier.
    pub power: Dbm,
    /// Noise figure of the base station's receiver.
    pub noise_figure: Decibel,
    /// Downlink scheduler.
    pub downlink_scheduler: MacSchedulerKind,
    /// Uplink scheduler.
    pub uplink_scheduler: MacSchedulerKind,
    /// Most UEs that one slot serves in each direction: what the control channel has room for.
    pub most_ues: u32,
    /// Choice of the modulation and coding scheme.
    pub adaptation: Adaptation,
    /// Resource blocks of a sub-band, where UEs report the quality of each beside that of the band, and
    /// the downlink is scheduled by it.
    pub cqi_sub_band: Option<u32>,
    /// Error rates that do not depend on the SINR, instead of the error model.
    pub fixed_errors: Option<FixedErrors>,
    /// HARQ.
    pub harq: CellHarqConfig,
    /// Processing times.
    pub timing: Timing,
    /// Downlink resources of NR that are not data, beside control and DM-RS.
    pub overhead: Overhead,
    /// Scheduling requests.
    pub requests: RequestConfig,
    /// Resources that each UE may use without asking, when it has data.
    pub configured_grant: Option<ConfiguredGrant>,
    /// Discontinuous reception of its UEs; they always listen without it.
    pub drx: Option<DrxConfig>,
    /// Transmitted power of UEs.
    pub uplink_power: UplinkPower,
    /// The channel to its UEs. Carrier and bandwidth are the cell's, whatever they are here. Cells
    /// at one site share its maps of shadowing.
    pub channel: ChannelConfig,
    /// How the SINRs of sub-bands become one, where the fading differs over the band.
    pub effective_sinr: EffectiveSinr,
    /// Lowest and highest SINR that a receiver can have; a given SINR is taken as it is.
    pub sinr_range: SinrRange,
    /// Age at which a UE's path is looked at again where it is used: path loss, shadowing, blockage
    /// and beams; fading is always that of the slot.
    pub gain_period: Span,
    /// How often a UE with data that is out of range is tried again.
    pub recheck_after: Span,
    /// How long a UE is without service after RLC has given up repeating (radio link failure)
    /// until it is connected again.
    pub reestablish_after: Span,
}

/// How many layers a transmission has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Always all.
    Fixed,
    /// As many as carry most, by the reports. All, where the scheme is fixed.
    Adaptive,
}

/// Generation with its length of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AirInterface {
    /// LTE.
    Lte {
        /// Transmission time interval: 1 ms, or a divisor of it.
        tti: Span,
    },
    /// NR.
    Nr {
        /// Numerology: slots of 1 ms / 2^mu.
        mu: u8,
    },
}

/// Number of flexible symbols that grants of the uplink leave to the downlink, while that has data. The
/// downlink takes what it needs of those that the uplink was not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// Half of them.
    Halves,
    /// As many as it needed of late, half of them at most.
    Demand,
}

/// How the UEs of a cell share one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Resource block groups side by side.
    Frequency,
    /// Symbols one after the other, the whole band each: an analog beam points at one UE at a
    /// time.
    Time,
}

/// How the scheme of a transport block is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Adaptation {
    /// From reports of the channel's quality.
    Reports(ReportedAdaptation),
    /// Always the scheme with this index.
    FixedScheme {
        /// Index of the scheme in its table.
        index: u32,
        /// The table; LTE has its own.
        table: McsTable,
    },
    /// A rate instead of schemes: what all units of a slot carry. Errors must be fixed too; the
    /// channel is not looked at.
    FixedRate {
        /// Downlink rate of the whole carrier.
        downlink: Rate,
        /// Uplink rate of the whole carrier.
        uplink: Rate,
    },
}

/// Parameters of link adaptation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportedAdaptation {
    /// Table of the reports.
    pub cqi_table: CqiTable,
    /// Table of the schemes; LTE has its own.
    pub mcs_table: McsTable,
    /// When reports are measured and how late they are. The uplink is measured by the base
    /// station at the same instants.
    pub reporting: CsiReporting,
    /// Outer loop.
    pub outer_loop: OuterLoopConfig,
    /// Error rate of first transmissions that schemes are chosen for, in (0, 1).
    pub target_error: f64,
}

/// Parameters of HARQ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellHarqConfig {
    /// Downlink processes of each UE.
    pub downlink_processes: u8,
    /// Uplink processes of each UE.
    pub uplink_processes: u8,
    /// Most transmissions of a transport block, the first included; 1 switches HARQ off.
    pub most_transmissions: u8,
    /// Soft combining.
    pub combining: Combining,
    /// Chance that a NACK is taken for an ACK: the block is lost to HARQ.
    pub nack_to_ack: f64,
    /// Chance that an ACK is taken for a NACK: the block is sent once more for nothing.
    pub ack_to_nack: f64,
}

/// Uplink resources without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfiguredGrant {
    /// Slots between two occasions of a UE. Each UE has its offset, in the order of the UEs.
    pub period: u32,
    /// Units of an occasion: resource block groups, or symbols.
    pub units: u32,
    /// Position of the scheme in the cell's table of uplink schemes; ignored with a fixed scheme
    /// or rate.
    pub scheme: u32,
}

/// Power of a UE's transmissions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UplinkPower {
    /// All it has, over the resource blocks it is given.
    Maximum,
    /// Open loop (TS 36.213 clause 5.1.1.1, TS 38.213 clause 7.1.1): at most P_0 + alpha PL in
    /// each resource block, and no more resource blocks than the power suffices for.
    OpenLoop {
        /// P_0 of one resource block of 15 kHz; wider ones in proportion.
        p0: Dbm,
        /// Share of the path loss that is made up for, in [0, 1].
        alpha: f64,
    },
}

impl UplinkPower {
    /// The open loop of studies of macro cells, P_0 = -84 dBm and alpha = 0.8.
    pub const OPEN_LOOP: UplinkPower = UplinkPower::OpenLoop {
        p0: Dbm(-84.0),
        alpha: 0.8,
    };
}

impl CellConfig {
    /// How far the image of the cell that a UE at `ue` hears is shifted.
    pub(crate) fn shift_toward(&self, ue: Point) -> Vector {
        let shift = |lattice: Lattice| lattice.shift(self.site, ue);
        self.repeats.map_or(Vector::default(), shift)
    }

    /// Numerology; zero in LTE.
    pub(crate) fn mu(&self) -> u8 {
        match self.air {
            AirInterface::Lte { .. } => 0,
            AirInterface::Nr { mu } => mu,
        }
    }

    /// Spatial layers of a direction.
    pub(crate) fn layers(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Downlink => self.layers,
            Direction::Uplink => self.uplink_layers,
        }
    }

    /// Bandwidth of a resource block: twelve subcarriers.
    pub(crate) fn block(&self) -> Hertz {
        Hertz(12.0 * 15e3 * f64::from(1_u32 << self.mu()))
    }

    /// Bandwidth that all resource blocks occupy.
    pub(crate) fn occupied(&self) -> Hertz {
        Hertz(self.block().0 * f64::from(self.resource_blocks))
    }

    /// Its generation.
    pub(crate) fn generation(&self) -> Generation {
        match self.air {
            AirInterface::Lte { .. } => Generation::Lte,
            AirInterface::Nr { .. } => Generation::Nr,
        }
    }

    /// Whether it is a cell of NR.
    pub(crate) fn is_nr(&self) -> bool {
        matches!(self.air, AirInterface::Nr { .. })
    }

    /// The downlink rate that no UE exceeds: of the highest scheme on all resource blocks, or what
    /// a fixed rate says.
    ///
    /// Standard: TS 38.306 §4.1.2.
    pub fn peak_rate(&self) -> Rate {
        let table = match self.adaptation {
            Adaptation::FixedRate { downlink, .. } => return downlink,
            Adaptation::FixedScheme { table, .. } => table,
            Adaptation::Reports(reported) => reported.mcs_table,
        };
        let peak = PeakRate {
            layers: self.layers,
            modulation: match table {
                McsTable::Qam256 => Modulation::Qam256,
                McsTable::Qam64 | McsTable::Qam64LowSe => Modulation::Qam64,
            },
            scaling: 1.0,
            resource_blocks: self.resource_blocks,
            mu: self.mu(),
            overhead: DOWNLINK_OVERHEAD[usize::from(self.carrier.0 > 6e9)],
        };
        Rate::from_bits_per_sec(peak.bits_per_sec() as u64)
    }
}

/// The key of the channel between a UE and a cell; `sites` are those of all cells. Cells at one place are
/// one site, called by its first cell.
pub(super) fn link_key(
    sites: impl Iterator<Item = Point> + Clone,
    cell: CellId,
    ue: u32,
) -> LinkKey {
    let own = sites.clone().nth(cell.index());
    let mut sites = sites;
    let first = sites.position(|site| Some(site) == own);
    LinkKey {
        site: first.unwrap_or(cell.index()) as u32,
        cell: cell.0,
        ue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_at_one_place_are_one_site() {
        let places = [0.0, 500.0, 0.0].map(|x| Point::new(x, 0.0, 25.0));
        let site = |cell| link_key(places.iter().copied(), CellId(cell), 7).site;
        assert_eq!([site(0), site(1), site(2)], [0, 1, 0]);
    }
}
