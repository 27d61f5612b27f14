//! A cell: one carrier of one base station.

use crate::channel::ChannelConfig;
use crate::channel::path_loss::{PathLoss, UrbanMacro};
use crate::mac::scheduler::{ProportionalFairConfig, RoundRobinConfig};
use crate::mac::{DrxConfig, RequestConfig, SchedulerKind};
use crate::phy::PhyError;
use crate::phy::cqi::CqiTable;
use crate::phy::effective_sinr::{EffectiveSinr, SinrRange};
use crate::phy::frame::Duplex;
use crate::phy::harq::{Combining, FixedErrors};
use crate::phy::link_adaptation::{CsiReporting, OuterLoopConfig};
use crate::phy::mcs::McsTable;
use crate::phy::mutual_information::Modulation;
use crate::phy::numerology::{CyclicPrefix, Numerology};
use crate::phy::tbs::PeakRate;
use crate::phy::timing::{NrTimingConfig, Timing};
use fadeout_core::{Dbm, Decibel, Hertz, Point, Rate, Span};

/// One carrier of one base station.
#[derive(Debug, Clone, PartialEq)]
pub struct CellConfig {
    /// Place of its antenna.
    pub site: Point,
    /// Carrier frequency. Cells with the same carrier interfere.
    pub carrier: Hertz,
    /// LTE or NR.
    pub air: AirInterface,
    /// Resource blocks of the carrier.
    pub resource_blocks: u32,
    /// How downlink and uplink share the carrier.
    pub duplex: Duplex,
    /// How UEs share a slot.
    pub sharing: Sharing,
    /// Spatial layers of a transmission. Layers carry data in parallel at the SINR of one.
    pub layers: u32,
    /// Transmitted power over the whole carrier.
    pub power: Dbm,
    /// Noise figure of the base station's receiver.
    pub noise_figure: Decibel,
    /// Downlink scheduler.
    pub downlink_scheduler: SchedulerKind,
    /// Uplink scheduler.
    pub uplink_scheduler: SchedulerKind,
    /// Most UEs that one slot serves in each direction: what the control channel has room for.
    pub most_ues: u32,
    /// Choice of the modulation and coding scheme.
    pub adaptation: Adaptation,
    /// Error rates that do not depend on the SINR, instead of the error model.
    pub fixed_errors: Option<FixedErrors>,
    /// HARQ.
    pub harq: HarqConfig,
    /// Processing times.
    pub timing: Timing,
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
    /// What receivers make of an SINR at best and at worst; a given SINR is taken as it is.
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
pub struct HarqConfig {
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

impl CellConfig {
    /// An LTE FDD cell as of TR 36.814: 46 dBm, noise figure 5 dB, 8 HARQ processes and at most 4
    /// transmissions, SR every 10 ms, reports every 5 ms that are 6 ms old at their first use; an
    /// urban macro channel.
    pub fn lte(site: Point, carrier: Hertz, resource_blocks: u32) -> CellConfig {
        let tti = Span::from_millis(1);
        CellConfig {
            site,
            carrier,
            air: AirInterface::Lte { tti },
            resource_blocks,
            duplex: Duplex::Fdd,
            sharing: Sharing::Frequency,
            layers: 1,
            power: Dbm(46.0),
            noise_figure: Decibel(5.0),
            downlink_scheduler: SchedulerKind::ProportionalFair(ProportionalFairConfig::default()),
            uplink_scheduler: SchedulerKind::RoundRobin(RoundRobinConfig),
            most_ues: 16,
            adaptation: Adaptation::Reports(ReportedAdaptation::every(tti * 5, tti * 6)),
            fixed_errors: None,
            harq: HarqConfig::default(),
            timing: Timing::lte(tti),
            requests: RequestConfig::every(10),
            configured_grant: None,
            drx: None,
            uplink_power: UplinkPower::OpenLoop {
                p0: Dbm(-84.0),
                alpha: 0.8,
            },
            channel: ChannelConfig {
                path_loss: PathLoss::UrbanMacro(UrbanMacro),
                ..ChannelConfig::default()
            },
            effective_sinr: EffectiveSinr::default(),
            sinr_range: SinrRange::default(),
            gain_period: Span::from_millis(1),
            recheck_after: Span::from_millis(40),
            reestablish_after: Span::from_millis(200),
        }
    }

    /// A cell of LTE's timing scaled to a transmission time interval of `tti`, as the latency
    /// reduction study has it.
    pub fn with_tti(self, tti: Span) -> CellConfig {
        CellConfig {
            air: AirInterface::Lte { tti },
            timing: Timing::lte(tti),
            ..self
        }
    }

    /// An NR cell: 16 HARQ processes, SR every 8 slots, reports every 10 slots that are 4 slots
    /// old. Above 6 GHz (frequency range 2): 40 dBm, one UE at a time, slots that the scheduler
    /// divides; below: 46 dBm, FDD. The channel is a street canyon's.
    ///
    /// # Errors
    /// There is no such numerology for data.
    pub fn nr(
        site: Point,
        carrier: Hertz,
        mu: u8,
        resource_blocks: u32,
    ) -> Result<CellConfig, PhyError> {
        let numerology = Numerology::new(mu, CyclicPrefix::Normal)?;
        let slot = numerology.slot();
        let is_fr2 = carrier.0 > 6e9;
        let uplink_power = if is_fr2 {
            UplinkPower::Maximum
        } else {
            UplinkPower::OpenLoop {
                p0: Dbm(-84.0),
                alpha: 0.8,
            }
        };
        Ok(CellConfig {
            air: AirInterface::Nr { mu },
            duplex: if is_fr2 {
                Duplex::Flexible { guard: 0 }
            } else {
                Duplex::Fdd
            },
            sharing: if is_fr2 {
                Sharing::Time
            } else {
                Sharing::Frequency
            },
            power: Dbm(if is_fr2 { 40.0 } else { 46.0 }),
            noise_figure: Decibel(if is_fr2 { 7.0 } else { 5.0 }),
            most_ues: if is_fr2 { 4 } else { 16 },
            adaptation: Adaptation::Reports(ReportedAdaptation::every(slot * 10, slot * 4)),
            harq: HarqConfig {
                downlink_processes: 16,
                uplink_processes: 16,
                ..HarqConfig::default()
            },
            timing: Timing::nr(numerology, &NrTimingConfig::default())?,
            requests: RequestConfig::every(8),
            uplink_power,
            channel: ChannelConfig::default(),
            ..CellConfig::lte(site, carrier, resource_blocks)
        })
    }
}

impl CellConfig {
    /// Numerology; zero in LTE.
    pub(crate) fn mu(&self) -> u8 {
        match self.air {
            AirInterface::Lte { .. } => 0,
            AirInterface::Nr { mu } => mu,
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
            overhead: if self.carrier.0 > 6e9 { 0.18 } else { 0.14 },
        };
        Rate::from_bits_per_sec(peak.bits_per_sec() as u64)
    }
}

impl ReportedAdaptation {
    /// 64QAM tables, reports every `period` that are `delay` old when first used, an outer loop to
    /// 10 % errors.
    pub fn every(period: Span, delay: Span) -> ReportedAdaptation {
        ReportedAdaptation {
            cqi_table: CqiTable::Qam64,
            mcs_table: McsTable::Qam64,
            reporting: CsiReporting {
                period,
                offset: Span::ZERO,
                delay,
            },
            outer_loop: OuterLoopConfig::default(),
            target_error: 0.1,
        }
    }
}

impl Default for HarqConfig {
    /// 8 processes, 4 transmissions, incremental redundancy, feedback without errors.
    fn default() -> Self {
        HarqConfig {
            downlink_processes: 8,
            uplink_processes: 8,
            most_transmissions: 4,
            combining: Combining::IncrementalRedundancy,
            nack_to_ack: 0.0,
            ack_to_nack: 0.0,
        }
    }
}
