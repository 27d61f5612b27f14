//! Timers of a connection, and the expiries after which it is given up.

use fadeout_core::Span;

/// Constants of timers, and numbers of expiries after which the connection is given up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimerConfig {
    /// Rule for the retransmission timeout.
    pub rto_rule: RtoRule,
    /// Minimum of the retransmission timeout. With [`RtoRule::Linux`] minimum of the variance term.
    pub minimum_rto: Span,
    /// Largest retransmission timeout.
    pub maximum_rto: Span,
    /// Timeout before the first round-trip time sample.
    pub initial_rto: Span,
    /// Granularity of the kernel's timers. Timeouts round up to it.
    pub tick: Span,
    /// True if timers fire at the ticks of Linux's timer wheel. A timer fires at a tick after its
    /// deadline, and long timers have coarser ticks.
    pub wheel: bool,
    /// Consecutive timeouts after which the connection is given up (Linux `tcp_retries2`).
    pub maximum_retries: u32,
    /// SYNs sent before connecting is given up, not counting those of `linear_syn_timeouts` (Linux
    /// `tcp_syn_retries` + 1).
    pub maximum_syns: u32,
    /// SYN-ACKs sent before the peer is given up (Linux `tcp_synack_retries` + 1).
    pub maximum_syn_acks: u32,
    /// Timeouts of a SYN before the first that doubles (Linux `tcp_syn_linear_timeouts`).
    pub linear_syn_timeouts: u32,
    /// Number of SYNs that may be lost before the initial window is reduced to one segment. RFC
    /// 5681 section 3.1 allows none. Linux allows one SYN, and any number of SYN-ACKs.
    pub forgiven_syns: u32,
    /// Longest time that data may stay unacknowledged once a timeout expired (`TCP_USER_TIMEOUT`).
    /// `None` if the number of retries decides.
    pub user_timeout: Option<Span>,
}

fadeout_core::choices! {
    /// Rule by which the retransmission timeout is computed from round-trip times.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RtoRule {
        /// SRTT plus a variance term that is never below the minimum (Linux).
        Linux = "linux",
        /// SRTT + 4 RTTVAR, where the sum is never below the minimum (RFC 6298 section 2).
        Rfc6298 = "rfc6298",
        /// Always the minimum, independent of the round-trip time.
        Fixed = "fixed",
    }
}
