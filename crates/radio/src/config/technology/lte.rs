//! Cells of LTE.

use super::Carrier;
use super::shared::{Own, Shared};
use crate::channel::ChannelConfig;
use crate::channel::path_loss::{PathLoss, UrbanMacro};
use crate::config::{AirInterface, CellConfig, Division, Sharing, UplinkPower};
use crate::phy::cqi::CqiTable;
use crate::phy::frame::Duplex;
use crate::phy::lte_tdd::{LTE_FDD_PROCESSES, LteTdd};
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, Numerology};
use crate::phy::overhead::Overhead;
use crate::phy::sub_band::lte_size;
use crate::phy::timing::Timing;
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer};
use fadeout_core::{Dbm, Hertz, Point, Span};

fadeout_core::choices! {
    /// Transmission time interval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Tti {
        Whole = "1 ms",
        Half = "0.5 ms",
        Tenth = "0.1 ms",
    }
}

fadeout_core::choices! {
    /// Duplex mode: the division of the carrier between uplink and downlink.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum LteDuplex {
        Fdd = "fdd",
        Tdd = "tdd",
    }
}

fadeout_core::parameters! {
    /// The parameters of a cell of LTE.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Lte {
        /// Transmission time interval (TTI). Processing times are proportional to it.
        tti: Tti = choice(Tti::NAMES, "1 ms"),
        /// Number of TTIs between two CQI reports.
        cqi_period: u32 = integer((1, 640, "slots"), "5"),
        /// Age of a CQI report at its first use, in TTIs.
        cqi_delay: u32 = integer((0, 640, "slots"), "6"),
        /// Duplex mode: FDD, or TDD with the configuration `tdd-configuration`. TDD needs a `tti`
        /// of 1 ms.
        duplex: LteDuplex = choice(LteDuplex::NAMES, "fdd"),
        /// Uplink-downlink configuration of TDD (TS 36.211 Table 4.2-2).
        tdd_configuration: u8 = integer((0, 6, ""), "1"),
        /// Special subframe configuration of TDD (TS 36.211 Table 4.2-1).
        special_subframe: u8 = integer((0, 10, ""), "7"),
        /// Number of HARQ processes in each direction. Default: 8 in FDD. In TDD the default
        /// depends on `tdd-configuration` (TS 36.213 Tables 7-1 and 8-1).
        harq_processes: Option<u8> = integer((1, 32, ""), "by duplex"),
        /// Number of TTIs between two SR opportunities. Opportunities outside uplink subframes are
        /// not used.
        sr_period: u32 = integer((1, 640, "slots"), "10"),
        /// Number of resource blocks at the edges of the uplink band for PUCCH (TS 36.211 clause
        /// 5.4.3). They carry no data. Feedback and requests never wait for them.
        pucch_resource_blocks: u32 = integer((0, 98, "resource blocks"), "0"),
        /// Parameters of every cell.
        shared: Shared = group(),
    }
}

impl Registered for Lte {
    const ENTRY: Entry = Entry::new(
        "lte",
        "3GPP",
        "LTE with FDD or TDD. With FDD the transmission time interval may also be one of the \
         shorter intervals of 3GPP's latency study.",
        "TS 36.211, 36.213, 36.321; R2-153493 Appendix A for short intervals",
    )
    .with_parameters(Lte::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Lte::read(settings)
    }
}

impl Lte {
    pub(super) fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        let blocks = self
            .shared
            .resource_blocks(ChannelKind::Lte, Numerology::KHZ_15, carrier)?;
        if self.pucch_resource_blocks >= blocks {
            return Err(format!(
                "`pucch-resource-blocks` takes all {blocks} resource blocks of the uplink; \
                 expected at most {}",
                blocks - 1
            ));
        }
        let cell = self.with_blocks(carrier.site, carrier.carrier, blocks);
        let cell = self.shared.with_sub_bands(cell, lte_size)?;
        if self.duplex == LteDuplex::Fdd {
            return Ok(cell);
        }
        if self.tti != Tti::Whole {
            return Err("TDD takes a `tti` of 1 ms".to_owned());
        }
        let tdd = LteTdd::new(self.tdd_configuration).map_err(|error| error.to_string())?;
        let pattern = tdd.pattern(self.special_subframe);
        let mut cell = CellConfig {
            duplex: Duplex::Tdd(pattern.map_err(|error| error.to_string())?),
            timing: Timing::lte_tdd(tdd),
            ..cell
        };
        if self.harq_processes.is_none() {
            (cell.harq.downlink_processes, cell.harq.uplink_processes) = tdd.processes();
        }
        Ok(cell)
    }

    pub(super) fn with_blocks(&self, site: Point, carrier: Hertz, blocks: u32) -> CellConfig {
        let tti = Span::from_micros(match self.tti {
            Tti::Whole => 1000,
            Tti::Half => 500,
            Tti::Tenth => 100,
        });
        let processes = self.harq_processes.unwrap_or(LTE_FDD_PROCESSES);
        let own = Own {
            air: AirInterface::Lte { tti },
            slot: tti,
            timing: Timing::lte(tti),
            overhead: Overhead::default(),
            duplex: Duplex::Fdd,
            division: Division::Halves,
            sharing: Sharing::Frequency,
            most_ues: 16,
            uplink_power: UplinkPower::OPEN_LOOP,
            channel: ChannelConfig {
                path_loss: PathLoss::UrbanMacro(UrbanMacro),
                ..ChannelConfig::default()
            },
            // The number of TTIs between reports is the same for every length of the TTI.
            cqi_period: self.cqi_period,
            cqi_delay: self.cqi_delay,
            harq_processes: (processes, processes),
            sr_period: self.sr_period,
            cqi_table: CqiTable::Qam64,
            mcs_table: McsTable::Qam64,
        };
        CellConfig {
            pucch_blocks: self.pucch_resource_blocks,
            ..self.shared.cell((site, carrier, blocks), own)
        }
    }
}

impl CellConfig {
    /// Returns an LTE FDD cell as in TR 36.814: 46 dBm transmit power, a noise figure of 5 dB and
    /// an urban macro channel. All other values are the defaults of an LTE cell in a scenario.
    pub fn lte(site: Point, carrier: Hertz, resource_blocks: u32) -> CellConfig {
        CellConfig {
            power: Dbm(46.0),
            ..Lte::default().with_blocks(site, carrier, resource_blocks)
        }
    }

    /// Scales all times of an LTE cell to a TTI of `tti`, as the 3GPP study of latency reduction
    /// does.
    pub fn with_tti(self, tti: Span) -> CellConfig {
        CellConfig {
            air: AirInterface::Lte { tti },
            timing: Timing::lte(tti),
            ..self
        }
    }
}
