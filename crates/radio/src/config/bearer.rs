//! A data radio bearer.

use super::SplitConfig;
use crate::mac::LogicalChannel;
use crate::pdcp::{Delivery, PdcpConfig};
use crate::rlc::{AqmConfig, Mode, RlcConfig};
use fadeout_core::{CellId, Span, UeId};

/// A data radio bearer (DRB) of a UE: both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BearerConfig {
    /// UE.
    pub ue: UeId,
    /// Which of its legs carries the bearer: 0 for the first, 1 for the second.
    pub leg: u8,
    /// Its logical channel; those of one priority are served by id.
    pub channel: LogicalChannel,
    /// RLC at both ends.
    pub rlc: RlcConfig,
    /// PDCP at both ends.
    pub pdcp: PdcpConfig,
    /// RLC on a further leg, of a split bearer.
    pub split: Option<SplitConfig>,
}

impl BearerConfig {
    /// The number of the RLC entity that is kept to a secondary cell; none where the cell carries what the primary one
    /// does.
    ///
    /// Standard: TS 38.321 §5.4.3.1.2.
    pub(crate) fn kept_to(&self, cell: CellId) -> Option<u8> {
        self.split?.carriers.rlc_in(cell)
    }

    /// Whether RLC repeats what was lost.
    #[inline]
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(self.rlc.mode, Mode::Am(_))
    }

    /// Whether a packet that the bearer takes may change when it is to be woken: of all timers only
    /// discardTimer starts then, and queue management may have dropped what a timer was about.
    #[inline]
    pub(crate) fn wakes_for_packets(&self) -> bool {
        self.pdcp.discard_timer.is_some() || !matches!(self.rlc.aqm, AqmConfig::DropTail(_))
    }

    /// A bearer of `ue` in NR acknowledged mode.
    pub fn nr(ue: UeId) -> BearerConfig {
        BearerConfig {
            ue,
            leg: 0,
            channel: LogicalChannel::default(),
            rlc: RlcConfig::NR_AM,
            pdcp: PdcpConfig::NR,
            split: None,
        }
    }

    /// A bearer of `ue` in LTE acknowledged mode.
    pub fn lte(ue: UeId) -> BearerConfig {
        BearerConfig {
            ue,
            leg: 0,
            channel: LogicalChannel::default(),
            rlc: RlcConfig::LTE_AM,
            pdcp: PdcpConfig::LTE,
            split: None,
        }
    }

    /// What stands for control elements of MAC of `ue` in NR: served before all data, and repeated by HARQ alone.
    pub(crate) fn control(ue: UeId) -> BearerConfig {
        let signalling = BearerConfig::signalling(ue, true);
        BearerConfig {
            rlc: RlcConfig::NR_UM,
            pdcp: PdcpConfig {
                // Each is read as it comes.
                delivery: Delivery::OutOfOrder(Some(Span::ZERO)),
                discard_timer: None,
                has_sdap_header: false,
                ..PdcpConfig::NR
            },
            ..signalling
        }
    }

    /// Signalling radio bearer 1 of `ue`, with the acknowledged mode of its generation, served before all
    /// data.
    ///
    /// Standard: TS 38.331 §9.2.1; TS 36.331 §9.2.1.1.
    pub(crate) fn signalling(ue: UeId, is_nr: bool) -> BearerConfig {
        let bearer = match is_nr {
            true => BearerConfig::nr(ue),
            false => BearerConfig::lte(ue),
        };
        BearerConfig {
            channel: LogicalChannel {
                priority: 1,
                ..LogicalChannel::default()
            },
            ..bearer
        }
    }
}
