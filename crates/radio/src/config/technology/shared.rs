//! Parameters of a cell, common to all technologies.

use super::Carrier;
use crate::channel::ChannelConfig;
use crate::config::{
    Adaptation, AirInterface, CellConfig, CellHarqConfig, ConfiguredGrant, Division, Rank,
    ReportedAdaptation, Sharing, UplinkPower,
};
use crate::mac::scheduler::MAC_SCHEDULERS;
use crate::mac::{DrxConfig, MacSchedulerKind, RequestConfig};
use crate::phy::PhyError;
use crate::phy::cqi::CqiTable;
use crate::phy::effective_sinr::{EffectiveSinr, SinrRange};
use crate::phy::frame::Duplex;
use crate::phy::harq::{Combining, FixedErrors};
use crate::phy::link_adaptation::{CsiReporting, OuterLoopConfig};
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, Numerology, check_blocks, resource_blocks};
use crate::phy::overhead::Overhead;
use crate::phy::timing::Timing;
use fadeout_core::registry::{Parameter, Parameters, choice, flag, integer, number, span};
use fadeout_core::{Dbm, Decibel, Hertz, Point, Rate, Span};

fadeout_core::choices! {
    /// Choice of the MCS.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum AdaptationKind {
        Reports = "reports",
        FixedMcs = "fixed-mcs",
        FixedRate = "fixed-rate",
    }
}

fadeout_core::choices! {
    /// Frequency granularity of CQI reports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum CqiFormat {
        Wideband = "wideband",
        SubBand = "sub-band",
    }
}

fadeout_core::choices! {
    /// Choice of a transmission's number of layers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum RankKind {
        Adaptive = "adaptive",
        Fixed = "fixed",
    }
}

fadeout_core::choices! {
    /// Source of block errors.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum ErrorKind {
        Model = "model",
        Fixed = "fixed",
    }
}

fadeout_core::choices! {
    /// Use of earlier transmissions of a block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum CombiningKind {
        IncrementalRedundancy = "incremental-redundancy",
        Chase = "chase",
        None = "none",
    }
}

fadeout_core::choices! {
    /// Slot of the first opportunity for a request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum RequestOffset {
        Random = "random",
        Zero = "zero",
    }
}

fadeout_core::choices! {
    /// Power of UEs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum PowerKind {
        Default = "default",
        OpenLoop = "open-loop",
        Maximum = "maximum",
    }
}

fadeout_core::parameters! {
    /// The parameters of a cell of every technology.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Shared {
        /// Number of resource blocks of the carrier. The bandwidth limits this number. Needed if
        /// the carrier uses only a part of a channel, or if the standard's table does not list the
        /// bandwidth. 0 means the number in the table.
        pub(super) resource_blocks: u32 = integer((0, 10_000, ""), "0"),
        /// Largest number of spatial layers of a downlink transmission. Each antenna element
        /// supports two layers. The layers share the transmit power.
        pub(super) layers: u32 = integer((1, 8, ""), "1"),
        /// Largest number of spatial layers of an uplink transmission. Default: the value of
        /// `layers`, but at most 4.
        pub(super) uplink_layers: Option<u32> = integer((1, 4, ""), "by layers"),
        /// Rule for the number of layers of a transmission: the number that carries the most data
        /// according to the reports, or always the largest number.
        pub(super) rank: RankKind = choice(RankKind::NAMES, "adaptive"),
        /// Link adaptation. It chooses the MCS from CQI reports, or always uses the MCS `mcs`, or
        /// sends blocks at `downlink-rate` and `uplink-rate` with the error probability `bler`.
        pub(super) adaptation: AdaptationKind = choice(AdaptationKind::NAMES, "reports"),
        /// Content of CQI reports: one value for the whole band, or an additional value for each
        /// sub-band. With sub-bands the downlink gives each UE the sub-bands that the UE receives
        /// best. Sub-bands need a carrier on which UEs share a slot in frequency.
        pub(super) cqi_format: CqiFormat = choice(CqiFormat::NAMES, "wideband"),
        /// MCS index of the adaptation `fixed-mcs`.
        pub(super) mcs: u32 = integer((0, 28, ""), "10"),
        /// Downlink rate of the carrier with the adaptation `fixed-rate`.
        pub(super) downlink_rate: Rate = number((1e3, 1e12, "bit/s"), "20000000"),
        /// Uplink rate of the carrier with the adaptation `fixed-rate`.
        pub(super) uplink_rate: Rate = number((1e3, 1e12, "bit/s"), "20000000"),
        /// Source of block errors: the error model, or the fixed probabilities `bler` and
        /// `retransmission-bler`.
        pub(super) errors: ErrorKind = choice(ErrorKind::NAMES, "model"),
        /// Error probability of the first transmission of a block, with `errors` set to fixed
        /// probabilities.
        pub(super) bler: f64 = number((0.0, 1.0, ""), "0.1"),
        /// Error probability of each retransmission of a block, with `errors` set to fixed
        /// probabilities.
        pub(super) retransmission_bler: f64 = number((0.0, 1.0, ""), "0"),
        /// Error probability of first transmissions for which link adaptation chooses the MCS.
        pub(super) target_bler: f64 = number((1e-6, 0.9, ""), "0.1"),
        /// True if HARQ feedback corrects the reported channel quality (outer loop).
        pub(super) outer_loop: bool = flag("true"),
        /// HARQ combining: the way in which the receiver uses earlier transmissions of a block.
        pub(super) harq_combining: CombiningKind = choice(CombiningKind::NAMES, "incremental-redundancy"),
        /// Largest number of transmissions of a block. 1 switches HARQ off.
        pub(super) harq_transmissions: u8 = integer((1, 28, ""), "4"),
        /// Probability that a NACK is decoded as an ACK.
        pub(super) nack_to_ack: f64 = number((0.0, 1.0, ""), "0"),
        /// Probability that an ACK is decoded as a NACK.
        pub(super) ack_to_nack: f64 = number((0.0, 1.0, ""), "0"),
        /// Slot of a UE's first opportunity for a scheduling request: random for each UE, or zero.
        /// In TDD, if some slots have PUCCH symbols in every period, only these slots are used.
        /// Zero then means the first of these slots.
        pub(super) sr_offset: RequestOffset = choice(RequestOffset::NAMES, "random"),
        /// Smallest time between two scheduling requests of a UE (sr-ProhibitTimer).
        pub(super) sr_prohibit: Span = span("0 ms"),
        /// Size of the first grant after a scheduling request. The base station does not know the
        /// size of the UE's buffer yet.
        pub(super) first_grant: u32 = integer((16, 100_000, "bytes"), "256"),
        /// Number of slots between two uplink occasions that a UE may use without a scheduling
        /// request (configured grant). 0 means no such occasions. In TDD the occasions are in
        /// uplink symbols, and a UE waits for its next occasion.
        pub(super) configured_grant_period: u32 = integer((0, 10_240, "slots"), "0"),
        /// Size of a configured grant in resource block groups. If a cell serves with one beam at a
        /// time, it is a number of symbols.
        pub(super) configured_grant_size: u32 = integer((1, 275, ""), "1"),
        /// Length of the long DRX cycle. Zero if UEs always listen (no DRX).
        pub(super) drx_cycle: Span = span("0 ms"),
        /// Time for which a UE listens in each DRX cycle (drx-onDurationTimer).
        pub(super) drx_on: Span = span("10 ms"),
        /// Time for which a UE continues to listen after it has received or sent data
        /// (drx-InactivityTimer).
        pub(super) drx_inactivity: Span = span("100 ms"),
        /// Uplink power of UEs: open-loop power control with P0 = -84 dBm and alpha = 0.8 (TS
        /// 36.213 clause 5.1.1.1), or full power. Default: open loop below 6 GHz, full power above
        /// 6 GHz.
        pub(super) uplink_power: PowerKind = choice(PowerKind::NAMES, "default"),
        /// Time between two updates of path loss, shadowing, blockage and beams. Fading is updated
        /// for every block.
        pub(super) gain_period: Span = span("1 ms"),
        /// True if cells on the same carrier that divide downlink and uplink differently interfere
        /// across directions. The base stations of such cells then interfere with this cell's
        /// uplink, and their UEs with this cell's UEs. Cross-link interference needs TDD or
        /// flexible slots.
        pub(super) cross_link_interference: bool = flag("false"),
        /// Share of the downlink band on which this cell always interferes with other cells, in
        /// addition to the data of its UEs. The share represents UEs that are not simulated. It
        /// takes no resources from simulated UEs.
        pub(super) background_load: f64 = number((0.0, 1.0, ""), "0"),
        /// Time after which the cell again tries to serve a UE that was out of range and has
        /// waiting data.
        pub(super) recheck_period: Span = span("40 ms"),
        /// Time for which a UE has no service after a radio link failure. RLC declares the failure
        /// after the maximum number of retransmissions (maxRetxThreshold).
        pub(super) reestablishment: Span = span("200 ms"),
    }
}

fadeout_core::parameters! {
    /// Default values of a cell, for all technologies.
    struct CellKeys {
        /// Transmit power over the whole bandwidth.
        tx_power: f64 = number((-200.0, 200.0, "dBm"), "30"),
        /// Noise figure of the base station's receiver (TR 36.942).
        noise_figure: Decibel = number((0.0, 50.0, "dB"), "5"),
    }
}

impl CellConfig {
    /// Parameters that a scenario may give as keys of a cell.
    pub const PARAMETERS: &'static [Parameter] = CellKeys::PARAMETERS;
}

/// Values of a cell that depend on its technology.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) air: AirInterface,
    /// Length of a slot.
    pub(super) slot: Span,
    pub(super) timing: Timing,
    pub(super) overhead: Overhead,
    pub(super) duplex: Duplex,
    pub(super) division: Division,
    pub(super) sharing: Sharing,
    pub(super) most_ues: u32,
    /// Default power control of UEs.
    pub(super) uplink_power: UplinkPower,
    pub(super) channel: ChannelConfig,
    /// Number of slots between two CQI reports.
    pub(super) cqi_period: u32,
    /// Number of slots from a CQI report to its first use.
    pub(super) cqi_delay: u32,
    /// Number of HARQ processes of downlink and uplink.
    pub(super) harq_processes: (u8, u8),
    /// Number of slots between two SR opportunities.
    pub(super) sr_period: u32,
    pub(super) cqi_table: CqiTable,
    pub(super) mcs_table: McsTable,
}

impl Shared {
    /// Returns the configured number of resource blocks, which must fit into the bandwidth. Without
    /// a configured number, returns the standard's number for the bandwidth.
    pub(super) fn resource_blocks(
        &self,
        kind: ChannelKind,
        numerology: Numerology,
        carrier: &Carrier,
    ) -> Result<u32, String> {
        let bandwidth_mhz = carrier.bandwidth.0 / 1e6;
        if self.resource_blocks > 0 {
            let configured = self.resource_blocks;
            let checked = check_blocks(kind, numerology, bandwidth_mhz, configured);
            return checked
                .map(|()| configured)
                .map_err(|error| format!("`resource-blocks`: {error}"));
        }
        let listed = resource_blocks(kind, numerology, bandwidth_mhz);
        listed.map_err(|error| format!("{error}; or give `resource-blocks` for an aggregate"))
    }

    /// Returns a cell at a site, on a carrier with this number of resource blocks.
    pub(super) fn cell(
        &self,
        (site, carrier, resource_blocks): (Point, Hertz, u32),
        own: Own,
    ) -> CellConfig {
        let adaptation = self.adaptation(&own);
        let has_fixed_errors =
            self.errors == ErrorKind::Fixed || matches!(adaptation, Adaptation::FixedRate { .. });
        // The default of a scenario is the first scheduler of the list.
        let scheduler = MacSchedulerKind::new(MAC_SCHEDULERS[0].name, Parameters::NONE);
        let scheduler = scheduler.expect("the list has its own names");
        let of_all = CellKeys::default();
        CellConfig {
            site,
            repeats: None,
            carrier,
            air: own.air,
            pilot: None,
            resource_blocks,
            pucch_blocks: 0,
            duplex: own.duplex,
            division: own.division,
            cross_link: self.cross_link_interference,
            background_load: self.background_load,
            sharing: own.sharing,
            layers: self.layers,
            uplink_layers: self.uplink_layers.unwrap_or(self.layers.min(4)),
            rank: match self.rank {
                RankKind::Adaptive => Rank::Adaptive,
                RankKind::Fixed => Rank::Fixed,
            },
            power: Dbm(of_all.tx_power),
            noise_figure: of_all.noise_figure,
            downlink_scheduler: scheduler,
            uplink_scheduler: scheduler,
            most_ues: own.most_ues,
            adaptation,
            cqi_sub_band: None,
            fixed_errors: has_fixed_errors.then_some(FixedErrors {
                first: self.bler,
                retransmission: self.retransmission_bler,
            }),
            harq: self.harq(own.harq_processes),
            timing: own.timing,
            overhead: own.overhead,
            requests: self.requests(own.sr_period),
            configured_grant: (self.configured_grant_period > 0).then_some(ConfiguredGrant {
                period: self.configured_grant_period,
                units: self.configured_grant_size,
                scheme: self.mcs,
            }),
            drx: (!self.drx_cycle.is_zero()).then_some(DrxConfig {
                cycle: self.drx_cycle,
                on_duration: self.drx_on,
                inactivity: self.drx_inactivity,
            }),
            uplink_power: match self.uplink_power {
                PowerKind::Maximum => UplinkPower::Maximum,
                PowerKind::OpenLoop => UplinkPower::OPEN_LOOP,
                PowerKind::Default => own.uplink_power,
            },
            channel: own.channel,
            effective_sinr: EffectiveSinr::default(),
            sinr_range: SinrRange::default(),
            gain_period: self.gain_period,
            recheck_after: self.recheck_period,
            reestablish_after: self.reestablishment,
        }
    }

    /// Adds sub-bands to a cell if its UEs report the quality of sub-bands. `size` gives the
    /// resource blocks of a sub-band from those of the cell.
    pub(super) fn with_sub_bands(
        &self,
        cell: CellConfig,
        size: impl FnOnce(u32) -> Result<u32, PhyError>,
    ) -> Result<CellConfig, String> {
        if self.cqi_format == CqiFormat::Wideband {
            return Ok(cell);
        }
        let error = |problem: String| format!("`cqi-format` \"sub-band\": {problem}");
        if cell.sharing == Sharing::Time {
            let problem = "above 6 GHz a beam serves one UE at a time with the whole band";
            return Err(error(problem.to_owned()));
        }
        if !matches!(cell.adaptation, Adaptation::Reports(_)) {
            return Err(error("`adaptation` is not \"reports\"".to_owned()));
        }
        let size = size(cell.resource_blocks).map_err(|found| error(found.to_string()))?;
        Ok(CellConfig {
            cqi_sub_band: Some(size),
            ..cell
        })
    }

    fn harq(&self, (downlink, uplink): (u8, u8)) -> CellHarqConfig {
        CellHarqConfig {
            downlink_processes: downlink,
            uplink_processes: uplink,
            most_transmissions: self.harq_transmissions,
            combining: match self.harq_combining {
                CombiningKind::IncrementalRedundancy => Combining::IncrementalRedundancy,
                CombiningKind::Chase => Combining::Chase,
                CombiningKind::None => Combining::None,
            },
            nack_to_ack: self.nack_to_ack,
            ack_to_nack: self.ack_to_nack,
        }
    }

    fn requests(&self, period: u32) -> RequestConfig {
        RequestConfig {
            period,
            offset: (self.sr_offset == RequestOffset::Zero).then_some(0),
            prohibit: self.sr_prohibit,
            repeat_after: Span::from_millis(100),
            most: 64,
            first_grant: self.first_grant,
        }
    }

    fn adaptation(&self, own: &Own) -> Adaptation {
        match self.adaptation {
            AdaptationKind::FixedMcs => Adaptation::FixedScheme {
                index: self.mcs,
                table: own.mcs_table,
            },
            AdaptationKind::FixedRate => Adaptation::FixedRate {
                downlink: self.downlink_rate,
                uplink: self.uplink_rate,
            },
            AdaptationKind::Reports => Adaptation::Reports(ReportedAdaptation {
                cqi_table: own.cqi_table,
                mcs_table: own.mcs_table,
                ..self.reports(
                    own.slot * u64::from(own.cqi_period),
                    own.slot * u64::from(own.cqi_delay),
                )
            }),
        }
    }

    fn reports(&self, period: Span, delay: Span) -> ReportedAdaptation {
        ReportedAdaptation {
            cqi_table: CqiTable::Qam64,
            mcs_table: McsTable::Qam64,
            reporting: CsiReporting {
                period,
                offset: Span::ZERO,
                delay,
            },
            outer_loop: if self.outer_loop {
                OuterLoopConfig {
                    target_error: self.target_bler,
                    ..OuterLoopConfig::default()
                }
            } else {
                OuterLoopConfig::OFF
            },
            target_error: self.target_bler,
        }
    }
}

impl ReportedAdaptation {
    /// Returns a link adaptation with 64QAM tables. UEs report every `period`, and a report has the
    /// age `delay` at its first use. Target error rate and outer loop have the default values of a
    /// cell.
    pub fn every(period: Span, delay: Span) -> ReportedAdaptation {
        Shared::default().reports(period, delay)
    }
}

impl RequestConfig {
    /// Returns the configuration of scheduling requests with an opportunity every `period` slots.
    /// All other values are the defaults of a cell. The offset is random, and the first grant
    /// suffices for a few TCP acknowledgments. A request is repeated after 100 ms (retxBSR-Timer),
    /// at most 64 times (sr-TransMax).
    pub fn every(period: u32) -> RequestConfig {
        Shared::default().requests(period)
    }
}

impl CellHarqConfig {
    /// Returns a HARQ configuration with this number of processes in each direction. All other
    /// values are the defaults of a cell: incremental redundancy, and feedback without errors.
    pub fn with_processes(processes: u8) -> CellHarqConfig {
        Shared::default().harq((processes, processes))
    }
}
