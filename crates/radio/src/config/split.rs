//! A bearer on legs of two base stations.

use crate::rlc::RlcConfig;
use crate::user_plane::FlowControlConfig;
use fadeout_core::Bytes;

/// A split bearer: RLC on a further leg beside that of the bearer, whose base station hosts PDCP.
///
/// Standard: TS 37.340 §3.1, §4.2.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitConfig {
    /// Number of the further leg among those of its UE.
    pub leg: u8,
    /// RLC there at both ends, of the generation of its cell; in the same mode as on the first. Both legs share the
    /// first one's buffer, at PDCP.
    pub rlc: RlcConfig,
    /// pdcp-SN-Size for the further leg: that of the bearer.
    pub pdcp_sn_bits: u8,
    /// Number of the leg of primaryPath.
    ///
    /// Standard: TS 38.331 §6.3.2.
    pub primary: u8,
    /// What has to wait for the leg to be used that is not the primary one: ul-DataSplitThreshold, and the same for
    /// the downlink, which is the base station's choice. By direction; `None` is infinity.
    ///
    /// Standard: TS 38.323 §5.2.1.
    pub thresholds: [Option<Bytes>; 2],
    /// Directions in which each PDU goes to both legs (pdcp-Duplication). Nothing waits for a threshold in these.
    ///
    /// Standard: TS 38.331 §6.3.2; TS 38.323 §5.11.
    pub duplicates: [bool; 2],
    /// Flow control between the base stations.
    pub flow_control: FlowControlConfig,
}

impl SplitConfig {
    /// RLC of a leg: what waits does so at PDCP, and COUNTs go to both legs, so that no gap can be closed.
    pub(crate) fn of_leg(&self, rlc: RlcConfig) -> RlcConfig {
        RlcConfig {
            buffer: Bytes(u64::MAX),
            closes_count_gaps: false,
            ..rlc
        }
    }
}
