//! A data radio bearer.

use super::SplitConfig;
use crate::mac::LogicalChannel;
use crate::pdcp::{Delivery, PdcpConfig};
use crate::rlc::{AqmConfig, Mode, RlcConfig};
use fadeout_core::{CellId, Span, UeId};

/// A data radio bearer (DRB) of a UE, for both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BearerConfig {
    /// UE of the bearer.
    pub ue: UeId,
    /// Number of the UE's leg that carries the bearer: 0 for the first leg, 1 for the second.
    pub leg: u8,
    /// Logical channel of the bearer. Channels of equal priority are served in the order of their
    /// ids.
    pub channel: LogicalChannel,
    /// RLC configuration of both ends.
    pub rlc: RlcConfig,
    /// PDCP configuration of both ends.
    pub pdcp: PdcpConfig,
    /// Configuration of additional RLC legs, for a split bearer or duplication. `None` if the
    /// bearer has one leg.
    pub split: Option<SplitConfig>,
}

impl BearerConfig {
    /// Returns the number of the leg whose RLC entity is restricted to this secondary cell. `None`
    /// if the cell carries data of the primary cell's RLC entity.
    ///
    /// Standard: TS 38.321 §5.4.3.1.2.
    pub(crate) fn kept_to(&self, cell: CellId) -> Option<u8> {
        self.split?.carriers.rlc_in(cell)
    }

    /// True if RLC retransmits lost data (acknowledged mode).
    #[inline]
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(self.rlc.mode, Mode::Am(_))
    }

    /// True if a new packet may change the time at which the bearer must be woken. The only timer
    /// that a packet starts is discardTimer. Queue management may drop a packet whose timer is
    /// running.
    #[inline]
    pub(crate) fn wakes_for_packets(&self) -> bool {
        self.pdcp.discard_timer.is_some() || !matches!(self.rlc.aqm, AqmConfig::DropTail(_))
    }

    /// Returns a bearer of `ue` in acknowledged mode of NR.
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

    /// Returns a bearer of `ue` in acknowledged mode of LTE.
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

    /// Returns a bearer that models the MAC control elements of `ue` in NR. MAC control elements
    /// are served before all data. Only HARQ retransmits them.
    pub(crate) fn control(ue: UeId) -> BearerConfig {
        let signalling = BearerConfig::signalling(ue, true);
        BearerConfig {
            rlc: RlcConfig::NR_UM,
            pdcp: PdcpConfig {
                // Control elements have no order, so each one is delivered when it arrives.
                delivery: Delivery::OutOfOrder(Some(Span::ZERO)),
                discard_timer: None,
                has_sdap_header: false,
                ..PdcpConfig::NR
            },
            ..signalling
        }
    }

    /// Returns signalling radio bearer 1 of `ue`, in acknowledged mode of NR or LTE. The bearer is
    /// served before all data.
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
