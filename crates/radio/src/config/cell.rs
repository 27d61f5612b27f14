//! Configuration of a cell: one carrier of one base station.

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

/// Configuration of a cell: one carrier of one base station.
#[derive(Debug, Clone, PartialEq)]
pub struct CellConfig {
    /// Position of the cell's antenna.
    pub site: Point,
    /// Spatial period of a network that repeats in space (wrap-around). A UE receives the image of
    /// the cell that is nearest to the UE. `None` without wrap-around.
    pub repeats: Option<Lattice>,
    /// Carrier frequency. Cells with the same carrier interfere.
    pub carrier: Hertz,
    /// Radio technology, LTE or NR.
    pub air: AirInterface,
    /// For a 3G cell, power of the pilot (CPICH) relative to the carrier's power. UEs measure the
    /// pilot, and handovers to and from the cell are simulated. In the cell, links of the caller
    /// carry a UE's bearers. `None` for other cells.
    pub pilot: Option<Decibel>,
    /// Number of resource blocks of the carrier.
    pub resource_blocks: u32,
    /// Number of resource blocks of the uplink that carry PUCCH and no data, fewer than
    /// `resource_blocks`. Only LTE has such resource blocks. In NR, PUCCH has symbols of a slot.
    pub pucch_blocks: u32,
    /// Duplex mode of downlink and uplink.
    pub duplex: Duplex,
    /// Division of flexible symbols between uplink and downlink.
    pub division: Division,
    /// True if interference between downlink and uplink of cells on the same carrier affects this
    /// cell. Other base stations then interfere with its uplink, and UEs of other cells with its
    /// downlink.
    pub cross_link: bool,
    /// Share of the downlink band (0 to 1) on which this cell always interferes with other cells.
    /// The share represents UEs that are not simulated.
    pub background_load: f64,
    /// Division of a slot among UEs.
    pub sharing: Sharing,
    /// Number of spatial layers of a downlink transmission. With adaptive rank, the maximum number
    /// of layers. The power is divided among the layers.
    pub layers: u32,
    /// Number of spatial layers of an uplink transmission. With adaptive rank, the maximum number
    /// of layers.
    pub uplink_layers: u32,
    /// Choice of a transmission's number of layers.
    pub rank: Rank,
    /// Transmit power over the whole carrier.
    pub power: Dbm,
    /// Noise figure of the base station's receiver.
    pub noise_figure: Decibel,
    /// Downlink scheduler.
    pub downlink_scheduler: MacSchedulerKind,
    /// Uplink scheduler.
    pub uplink_scheduler: MacSchedulerKind,
    /// Maximum number of UEs served in one slot and direction, limited by the control channel.
    pub most_ues: u32,
    /// Choice of the modulation and coding scheme.
    pub adaptation: Adaptation,
    /// Number of resource blocks of a sub-band. UEs then report the quality of each sub-band, and
    /// the downlink scheduler uses these reports. `None` if UEs report one value for the band.
    pub cqi_sub_band: Option<u32>,
    /// Error rates that replace the error model and do not depend on the SINR. `None` if the model
    /// applies.
    pub fixed_errors: Option<FixedErrors>,
    /// HARQ parameters.
    pub harq: CellHarqConfig,
    /// Processing times.
    pub timing: Timing,
    /// Overhead of NR's downlink resources, in addition to control symbols and DM-RS.
    pub overhead: Overhead,
    /// Parameters of scheduling requests.
    pub requests: RequestConfig,
    /// Uplink resources that each UE with data may use without a scheduling request. `None` without
    /// configured grants.
    pub configured_grant: Option<ConfiguredGrant>,
    /// Discontinuous reception (DRX) of the cell's UEs. `None` if UEs always listen.
    pub drx: Option<DrxConfig>,
    /// Power control of UEs.
    pub uplink_power: UplinkPower,
    /// Channel between the cell and its UEs. The cell's carrier and bandwidth replace those in the
    /// channel. Cells at one site share maps of shadowing.
    pub channel: ChannelConfig,
    /// Mapping from the SINRs of sub-bands to one effective SINR, for fading that varies over the
    /// band.
    pub effective_sinr: EffectiveSinr,
    /// Lowest and highest SINR that a receiver can have. The range does not apply to a fixed SINR.
    pub sinr_range: SinrRange,
    /// Time after which path loss, shadowing, blockage and beams of a UE's path are computed again.
    /// Fading is computed in every slot.
    pub gain_period: Span,
    /// Time after which the scheduler again considers a UE that has data but was out of range.
    pub recheck_after: Span,
    /// Time without service after a radio link failure. RLC declares the failure after its last
    /// retransmission.
    pub reestablish_after: Span,
}

/// Rule for the number of layers of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Always the maximum number of layers.
    Fixed,
    /// The number of layers that carries the most data according to the UE's reports. With a fixed
    /// MCS, the maximum number of layers is used.
    Adaptive,
}

/// Radio technology and slot length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AirInterface {
    /// LTE.
    Lte {
        /// Transmission time interval (TTI): 1 ms or a divisor of it.
        tti: Span,
    },
    /// NR.
    Nr {
        /// Numerology mu. A slot lasts 1 ms / 2^mu.
        mu: u8,
    },
}

/// Rule for the number of flexible symbols that the uplink leaves to the downlink if the downlink
/// has data. The downlink may also use flexible symbols that were not granted to the uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// The uplink leaves half of the flexible symbols.
    Halves,
    /// The uplink leaves as many flexible symbols as the downlink needed in its latest slots, but
    /// at most half.
    Demand,
}

/// Division of one slot among the UEs of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// UEs use different resource block groups of the same slot.
    Frequency,
    /// UEs use different symbols of the slot. Each UE uses the whole band, because an analog beam
    /// points at one UE at a time.
    Time,
}

/// Rule for the modulation and coding scheme (MCS) of a transport block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Adaptation {
    /// The MCS is chosen from CQI reports.
    Reports(ReportedAdaptation),
    /// The MCS with this index is always used.
    FixedScheme {
        /// Index of the MCS in its table.
        index: u32,
        /// MCS table of NR. LTE has a table of its own.
        table: McsTable,
    },
    /// A fixed data rate replaces the MCS. All resource units of a slot together carry that rate.
    /// Block error rates must be fixed too, and the channel is not evaluated.
    FixedRate {
        /// Downlink rate of the whole carrier.
        downlink: Rate,
        /// Uplink rate of the whole carrier.
        uplink: Rate,
    },
}

impl Adaptation {
    /// Returns true if the MCS or the rate does not depend on the channel.
    pub(crate) fn is_fixed(&self) -> bool {
        !matches!(self, Adaptation::Reports(_))
    }
}

/// Parameters of link adaptation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportedAdaptation {
    /// CQI table of the reports.
    pub cqi_table: CqiTable,
    /// MCS table of NR. LTE has a table of its own.
    pub mcs_table: McsTable,
    /// Period and delay of CQI reports. The base station measures the uplink with the same period
    /// and delay.
    pub reporting: CsiReporting,
    /// Outer loop of link adaptation.
    pub outer_loop: OuterLoopConfig,
    /// Target error rate of first transmissions, in (0, 1). Link adaptation chooses the MCS that
    /// meets this target.
    pub target_error: f64,
}

/// Parameters of HARQ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellHarqConfig {
    /// Number of downlink HARQ processes of each UE.
    pub downlink_processes: u8,
    /// Number of uplink HARQ processes of each UE.
    pub uplink_processes: u8,
    /// Maximum number of transmissions of a transport block, including the first. 1 disables HARQ.
    pub most_transmissions: u8,
    /// Soft combining.
    pub combining: Combining,
    /// Probability that a NACK is decoded as an ACK. HARQ then loses the block.
    pub nack_to_ack: f64,
    /// Probability that an ACK is decoded as a NACK. The block is then retransmitted needlessly.
    pub ack_to_nack: f64,
}

/// Configured grant: uplink resources that need no scheduling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfiguredGrant {
    /// Number of slots between two occasions of a UE. Each UE has its own offset, assigned in the
    /// order of the UEs.
    pub period: u32,
    /// Size of an occasion in units. A unit is a resource block group. With time sharing, a unit is
    /// a symbol.
    pub units: u32,
    /// Index of the MCS in the cell's MCS table for the uplink. The index is ignored if the cell
    /// has a fixed MCS or rate.
    pub scheme: u32,
}

/// Rule for a UE's transmit power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UplinkPower {
    /// The UE's maximum power, over the resource blocks of its grant.
    Maximum,
    /// Open-loop power control (TS 36.213 clause 5.1.1.1, TS 38.213 clause 7.1.1). The power is at
    /// most P_0 + alpha PL in each resource block, where PL is the path loss. The scheduler gives
    /// the UE no more resource blocks than the UE's power allows.
    OpenLoop {
        /// P_0 of a resource block with 15 kHz subcarriers. P_0 scales with the width of the
        /// resource block.
        p0: Dbm,
        /// Share of the path loss that is compensated, in [0, 1].
        alpha: f64,
    },
}

impl UplinkPower {
    /// Open-loop power control with values of macro cell studies: P_0 = -84 dBm and alpha = 0.8.
    pub const OPEN_LOOP: UplinkPower = UplinkPower::OpenLoop {
        p0: Dbm(-84.0),
        alpha: 0.8,
    };
}

impl CellConfig {
    /// Returns the shift from the cell to its image that a UE at `ue` receives.
    pub(crate) fn shift_toward(&self, ue: Point) -> Vector {
        let shift = |lattice: Lattice| lattice.shift(self.site, ue);
        self.repeats.map_or(Vector::default(), shift)
    }

    /// Returns the numerology, which is zero in LTE.
    pub(crate) fn mu(&self) -> u8 {
        match self.air {
            AirInterface::Lte { .. } => 0,
            AirInterface::Nr { mu } => mu,
        }
    }

    /// Returns the maximum number of spatial layers in a direction.
    pub(crate) fn layers(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Downlink => self.layers,
            Direction::Uplink => self.uplink_layers,
        }
    }

    /// Returns the bandwidth of a resource block, which has twelve subcarriers.
    pub(crate) fn block(&self) -> Hertz {
        Hertz(12.0 * 15e3 * f64::from(1_u32 << self.mu()))
    }

    /// Returns the bandwidth that all resource blocks occupy.
    pub(crate) fn occupied(&self) -> Hertz {
        Hertz(self.block().0 * f64::from(self.resource_blocks))
    }

    /// Returns the generation of the cell's technology.
    pub(crate) fn generation(&self) -> Generation {
        match self.air {
            AirInterface::Lte { .. } => Generation::Lte,
            AirInterface::Nr { .. } => Generation::Nr,
        }
    }

    /// True if the cell is an NR cell.
    pub(crate) fn is_nr(&self) -> bool {
        matches!(self.air, AirInterface::Nr { .. })
    }

    /// Returns the downlink rate that no UE exceeds: the rate of the highest MCS on all resource
    /// blocks, or the configured fixed rate.
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

/// Returns the key of the channel between a UE and a cell. `sites` must contain the positions of
/// all cells. Cells at one position form one site, numbered by its first cell.
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
