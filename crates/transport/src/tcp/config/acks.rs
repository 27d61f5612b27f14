//! Acknowledgments, and the ECN feedback that they carry.

use fadeout_core::Span;

/// Constants of acknowledgments, and of the ECN feedback that they carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckConfig {
    /// Rule for delayed ACKs.
    pub rule: AckRule,
    /// Longest delay of an ACK. With [`AckRule::Linux`] the shortest delay.
    pub delay: Span,
    /// True if ACKs of out-of-order data are thinned out (Linux `tcp_comp_sack_*`).
    pub sack_compression: bool,
    /// ECN feedback to negotiate.
    pub ecn: EcnMode,
    /// Settings of accurate ECN on the wire. `None` if segments carry complete counts instead of
    /// flags and option.
    pub accurate_ecn: Option<AccurateEcn>,
}

fadeout_core::choices! {
    /// Rule for the time at which the receiver acknowledges in-order data.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AckRule {
        /// An ACK for every second segment, with an adaptive timer, and quick ACKs while the sender
        /// starts (Linux).
        Linux = "linux",
        /// An ACK for every second segment or after a fixed time (RFC 1122 section 4.2.3.2, RFC
        /// 5681 section 4.2).
        EverySecond = "every-second",
        /// An ACK for every second segment, also if the segments fill a gap. RFC 5681 requires an
        /// immediate ACK for segments that fill a gap, and RFC 1122 does not.
        EverySecondInGaps = "every-second-in-gaps",
        /// An ACK for every segment at once.
        EverySegment = "every-segment",
    }
}

fadeout_core::choices! {
    /// ECN feedback to negotiate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EcnMode {
        /// The mode that the congestion control needs, or off.
        Automatic = "automatic",
        /// ECN is not negotiated.
        Off = "off",
        /// The echo of RFC 3168, until the sender reports that it reduced its window.
        Classic = "classic",
        /// The echo of DCTCP (RFC 8257 section 3.2): the mark of each segment. Both ends must be
        /// configured so, with the handshake of RFC 3168.
        Dctcp = "dctcp",
        /// Counts of marked packets (RFC 9768), or the classic echo with a peer that does not know
        /// them.
        Accurate = "accurate",
    }
}

/// Settings of accurate ECN on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    /// True if the option is sent (Linux `tcp_ecn_option`).
    pub sends_option: bool,
    /// True if the handshake's report of the IP field is checked (Linux `tcp_ecn_fallback`).
    pub validates: bool,
}
