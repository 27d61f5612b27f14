//! What a cell of every technology takes.

use super::Carrier;
use crate::config::{
    Adaptation, CellConfig, ConfiguredGrant, HarqConfig, ReportedAdaptation, UplinkPower,
};
use crate::mac::DrxConfig;
use crate::phy::cqi::CqiTable;
use crate::phy::harq::{Combining, FixedErrors};
use crate::phy::link_adaptation::{CsiReporting, OuterLoopConfig};
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, Numerology, resource_blocks};
use fadeout_core::registry::{choice, flag, integer, number, span};
use fadeout_core::{Dbm, Rate, Span};

fadeout_core::choices! {
    /// How the scheme is chosen.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum AdaptationKind {
        Reports = "reports",
        FixedMcs = "fixed-mcs",
        FixedRate = "fixed-rate",
    }
}

fadeout_core::choices! {
    /// How blocks fail.
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
    /// What a cell of every technology takes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Shared {
        /// Resource blocks of the carrier; 0 takes them from the standard's table. For an aggregate
        /// that the table does not list.
        pub(super) resource_blocks: u32 = integer((0, 10_000, ""), "0"),
        /// Spatial layers of a transmission.
        pub(super) layers: u32 = integer((1, 8, ""), "1"),
        /// How the scheme is chosen: from CQI reports, always `mcs`, or blocks of `downlink-rate`
        /// and `uplink-rate` with the fixed errors of `bler`.
        pub(super) adaptation: AdaptationKind = choice(AdaptationKind::NAMES, "reports"),
        /// The scheme of `fixed-mcs`.
        pub(super) mcs: u32 = integer((0, 28, ""), "10"),
        /// Downlink rate of the carrier with `fixed-rate`.
        pub(super) downlink_rate: Rate = number((1e3, 1e12, "bit/s"), "20000000"),
        /// Uplink rate of the carrier with `fixed-rate`.
        pub(super) uplink_rate: Rate = number((1e3, 1e12, "bit/s"), "20000000"),
        /// Whether blocks fail by the error model, or with the probabilities `bler` and
        /// `retransmission-bler`.
        pub(super) errors: ErrorKind = choice(ErrorKind::NAMES, "model"),
        /// Error rate of first transmissions, where errors are fixed.
        pub(super) bler: f64 = number((0.0, 1.0, ""), "0.1"),
        /// Error rate of every further transmission, where errors are fixed.
        pub(super) retransmission_bler: f64 = number((0.0, 1.0, ""), "0"),
        /// Error rate of first transmissions that schemes are chosen for.
        pub(super) target_bler: f64 = number((1e-6, 0.9, ""), "0.1"),
        /// Whether HARQ feedback corrects the reported quality.
        pub(super) outer_loop: bool = flag("true"),
        /// Use of earlier transmissions of a block.
        pub(super) harq_combining: CombiningKind = choice(CombiningKind::NAMES, "incremental-redundancy"),
        /// Most transmissions of a block; 1 switches HARQ off.
        pub(super) harq_transmissions: u8 = integer((1, 28, ""), "4"),
        /// Chance that a NACK is taken for an ACK.
        pub(super) nack_to_ack: f64 = number((0.0, 1.0, ""), "0"),
        /// Chance that an ACK is taken for a NACK.
        pub(super) ack_to_nack: f64 = number((0.0, 1.0, ""), "0"),
        /// Slot of a UE's first opportunity: drawn for each, or zero.
        pub(super) sr_offset: RequestOffset = choice(RequestOffset::NAMES, "random"),
        /// Least time between two requests of a UE (sr-ProhibitTimer).
        pub(super) sr_prohibit: Span = span("0 ms"),
        /// Size of the first grant after a request, when the buffer is not known yet.
        pub(super) first_grant: u32 = integer((16, 100_000, "bytes"), "256"),
        /// Slots between two uplink occasions that a UE may use without asking; 0 for none.
        pub(super) configured_grant_period: u32 = integer((0, 10_240, "slots"), "0"),
        /// Resource block groups of such an occasion, or symbols where one beam serves at a time.
        pub(super) configured_grant_size: u32 = integer((1, 275, ""), "1"),
        /// Long DRX cycle; zero for UEs that always listen.
        pub(super) drx_cycle: Span = span("0 ms"),
        /// How long a UE listens in each cycle.
        pub(super) drx_on: Span = span("10 ms"),
        /// How long a UE listens on after data.
        pub(super) drx_inactivity: Span = span("100 ms"),
        /// Power of UEs: open loop with P0 = -84 dBm and alpha = 0.8 (TS 36.213 clause 5.1.1.1), or
        /// all they have. The default is open loop below 6 GHz.
        pub(super) uplink_power: PowerKind = choice(PowerKind::NAMES, "default"),
        /// Age at which path loss, shadowing, blockage and beams are looked at again; fading always
        /// is.
        pub(super) gain_period: Span = span("1 ms"),
        /// How often a UE out of range that has data waiting is tried again.
        pub(super) recheck_period: Span = span("40 ms"),
        /// Time without service after a radio link failure (RLC's maxRetxThreshold).
        pub(super) reestablishment: Span = span("200 ms"),
    }
}

/// What both technologies take under one name, with other defaults.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    /// Slots between two CQI reports.
    pub(super) cqi_period: u32,
    /// Slots from a report to its first use.
    pub(super) cqi_delay: u32,
    pub(super) harq_processes: u8,
    /// Slots between two SR opportunities.
    pub(super) sr_period: u32,
    pub(super) cqi_table: CqiTable,
    pub(super) mcs_table: McsTable,
    /// Length of a slot.
    pub(super) slot: Span,
}

impl Shared {
    /// Resource blocks: those given, or the standard's for the bandwidth.
    pub(super) fn resource_blocks(
        &self,
        kind: ChannelKind,
        numerology: Numerology,
        carrier: &Carrier,
    ) -> Result<u32, String> {
        if self.resource_blocks > 0 {
            return Ok(self.resource_blocks);
        }
        let listed = resource_blocks(kind, numerology, carrier.bandwidth.0 / 1e6);
        listed.map_err(|error| format!("{error}; or give `resource-blocks` for an aggregate"))
    }

    /// The cell with everything that was said of it.
    pub(super) fn apply(&self, cell: CellConfig, own: &Own) -> CellConfig {
        let mut cell = cell;
        cell.layers = self.layers;
        cell.adaptation = self.adaptation(cell.adaptation, own);
        let is_fixed = self.errors == ErrorKind::Fixed;
        if is_fixed || matches!(cell.adaptation, Adaptation::FixedRate { .. }) {
            cell.fixed_errors = Some(FixedErrors {
                first: self.bler,
                retransmission: self.retransmission_bler,
            });
        }
        cell.harq = HarqConfig {
            downlink_processes: own.harq_processes,
            uplink_processes: own.harq_processes,
            most_transmissions: self.harq_transmissions,
            combining: match self.harq_combining {
                CombiningKind::IncrementalRedundancy => Combining::IncrementalRedundancy,
                CombiningKind::Chase => Combining::Chase,
                CombiningKind::None => Combining::None,
            },
            nack_to_ack: self.nack_to_ack,
            ack_to_nack: self.ack_to_nack,
        };
        cell.requests.period = own.sr_period;
        if self.sr_offset == RequestOffset::Zero {
            cell.requests.offset = Some(0);
        }
        cell.requests.prohibit = self.sr_prohibit;
        cell.requests.first_grant = self.first_grant;
        cell.configured_grant = (self.configured_grant_period > 0).then_some(ConfiguredGrant {
            period: self.configured_grant_period,
            units: self.configured_grant_size,
            scheme: self.mcs,
        });
        cell.drx = (!self.drx_cycle.is_zero()).then_some(DrxConfig {
            cycle: self.drx_cycle,
            on_duration: self.drx_on,
            inactivity: self.drx_inactivity,
        });
        cell.uplink_power = match self.uplink_power {
            PowerKind::Maximum => UplinkPower::Maximum,
            PowerKind::OpenLoop => UplinkPower::OpenLoop {
                p0: Dbm(-84.0),
                alpha: 0.8,
            },
            PowerKind::Default => cell.uplink_power,
        };
        cell.gain_period = self.gain_period;
        cell.recheck_after = self.recheck_period;
        cell.reestablish_after = self.reestablishment;
        cell
    }

    fn adaptation(&self, default: Adaptation, own: &Own) -> Adaptation {
        match (self.adaptation, default) {
            (AdaptationKind::FixedMcs, _) => Adaptation::FixedScheme {
                index: self.mcs,
                table: own.mcs_table,
            },
            (AdaptationKind::FixedRate, _) => Adaptation::FixedRate {
                downlink: self.downlink_rate,
                uplink: self.uplink_rate,
            },
            (AdaptationKind::Reports, Adaptation::Reports(reported)) => {
                Adaptation::Reports(ReportedAdaptation {
                    cqi_table: own.cqi_table,
                    mcs_table: own.mcs_table,
                    reporting: CsiReporting {
                        period: own.slot * u64::from(own.cqi_period),
                        offset: reported.reporting.offset,
                        delay: own.slot * u64::from(own.cqi_delay),
                    },
                    outer_loop: if self.outer_loop {
                        OuterLoopConfig {
                            target_error: self.target_bler,
                            ..reported.outer_loop
                        }
                    } else {
                        OuterLoopConfig::OFF
                    },
                    target_error: self.target_bler,
                })
            }
            (AdaptationKind::Reports, other) => other,
        }
    }
}
