//! What one end of a connection is configured to do.

use super::profile;
use fadeout_core::registry::Parameters;
use fadeout_core::{MptcpOption, Rate, Span};

/// How losses are found and repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossRecovery {
    /// RACK on the SACK scoreboard (RFC 8985), as Linux does it.
    Rack,
    /// SACK with a duplicate threshold (RFC 6675).
    Sack,
    /// Duplicate ACKs without SACK; partial ACKs keep recovery going (RFC 6582).
    NewReno,
    /// Duplicate ACKs without SACK; the first new ACK ends recovery (RFC 5681).
    Reno,
    /// Duplicate ACKs trigger slow start from one segment (Jacobson 1988).
    Tahoe,
}

impl LossRecovery {
    /// Whether the scoreboard is driven by SACK blocks.
    pub fn uses_sack(self) -> bool {
        matches!(self, LossRecovery::Rack | LossRecovery::Sack)
    }
}

/// When partial acknowledgments restart the retransmission timer.
///
/// Standard: RFC 6582 §4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewRenoVariant {
    /// Only the first of a recovery: with many losses in a window the timer expires, and slow start
    /// repairs them.
    Impatient,
    /// Each: one loss a round trip is repaired, however many there are.
    SlowButSteady,
}

/// How the retransmission timeout follows from round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RtoRule {
    /// SRTT plus a variance term that itself is never below the minimum (Linux).
    Linux,
    /// SRTT + 4 RTTVAR, the sum never below the minimum (RFC 6298 section 2).
    Rfc6298,
    /// Always the minimum, whatever the round-trip time.
    Fixed,
}

/// When the receiver acknowledges in-order data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckRule {
    /// Every second segment, an adaptive timer, and quick ACKs while the sender starts (Linux).
    Linux,
    /// Every second segment or after a fixed time (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).
    EverySecond,
    /// Every segment at once.
    EverySegment,
}

/// How the receive window is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Linux's receive-buffer autotuning: from 64 kB up to `max_bytes` of window.
    Autotuned {
        /// Largest window (about half of `tcp_rmem[2]`), bytes.
        max_bytes: u64,
    },
    /// A window of constant size.
    Fixed {
        /// Size, bytes.
        bytes: u64,
    },
    /// The window of the multipath connection that this endpoint is a subflow of; the
    /// connection writes it into what leaves.
    Shared,
}

/// When segments are spaced in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Only when the congestion control asks for it.
    Automatic,
    /// Always (as with Linux's fq queueing discipline).
    On,
}

/// Which ECN feedback is negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnMode {
    /// What the congestion control needs; off for one that needs none.
    Automatic,
    /// No ECN.
    Off,
    /// The echo of RFC 3168, until the sender says that it reduced.
    Classic,
    /// The echo of DCTCP (RFC 8257 section 3.2): the mark of each segment. Both ends must be so
    /// configured; the handshake is that of RFC 3168.
    Dctcp,
    /// Counts of marked packets (RFC 9768); classic with a peer that knows no other.
    Accurate,
}

/// What a sender does with an indication of loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossResponse {
    /// As the loss recovery says.
    Standard,
    /// Waits for the link layer first (TCP-DCR).
    Delayed,
    /// Waits for two thirds of a window of duplicates (RFC 4653, careful).
    NcrCareful,
    /// Waits for half a window of duplicates (RFC 4653, aggressive).
    NcrAggressive,
    /// Spares the window where the receiver says that the radio lost (TCP-Casablanca).
    Casablanca,
}

/// What the ends do about an outage that a link tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageResponse {
    /// Nothing.
    None,
    /// The sender snoozes until the end is told (TCP-Feedback).
    Feedback,
    /// The sender stands by and probes (ELFN).
    Elfn,
    /// The receiver closes its window before an outage (Freeze-TCP).
    Freeze,
}

/// Schemes for links that fail or lose without being congested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResilienceConfig {
    /// What looks like a loss.
    pub loss: LossResponse,
    /// Outages.
    pub outage: OutageResponse,
    /// TCP-DCR's wait, in smoothed round-trip times.
    pub loss_delay_rtts: f64,
    /// TCP-Casablanca: one segment of this many is expendable.
    pub expendable_every: u32,
    /// TCP-Feedback: longest snooze.
    pub route_timeout: Span,
    /// ELFN: distance between two probes.
    pub probe_interval: Span,
    /// Freeze-TCP: how long before an outage the window closes, in round-trip times.
    pub freeze_lead_rtts: f64,
}

/// How accurate ECN stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    /// Whether the option is sent (Linux `tcp_ecn_option`).
    pub sends_option: bool,
    /// Whether the handshake's report of the IP field is checked (Linux `tcp_ecn_fallback`).
    pub validates: bool,
}

/// Every constant of a TCP endpoint. Built from a profile and the scenario's overrides by
/// [`TcpConfig::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct TcpConfig {
    /// How losses are found and repaired.
    pub recovery: LossRecovery,
    /// Variant of [`LossRecovery::NewReno`].
    pub newreno_variant: NewRenoVariant,
    /// Largest payload of a segment without options (the MSS option), bytes.
    pub mss: u32,
    /// Whether timestamps are offered (RFC 7323).
    pub timestamps: bool,
    /// Duplicate ACKs, or segments SACKed above a hole, that mean a loss (DupThresh).
    pub duplicate_threshold: u32,
    /// Whether proportional rate reduction moves the window in recovery (RFC 6937, RFC 9937);
    /// otherwise it drops to the threshold at once.
    pub prr: bool,
    /// Whether one new segment is sent for each of the first duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Whether tail loss probes are sent (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Whether spurious timeouts are detected by F-RTO (RFC 5682).
    pub frto: bool,
    /// Whether a reduction that timestamps or DSACKs prove spurious is undone (RFC 3522, RFC 3708).
    pub undo: bool,
    /// Retransmission timeout rule.
    pub rto_rule: RtoRule,
    /// Smallest timeout (of the variance term with [`RtoRule::Linux`]).
    pub minimum_rto: Span,
    /// Largest timeout.
    pub maximum_rto: Span,
    /// Timeout before the first round-trip time sample.
    pub initial_rto: Span,
    /// Granularity of the kernel's timers; timeouts round up to it.
    pub timer_tick: Span,
    /// Whether timers fire at ticks, after the one they are set for, and the coarser the longer
    /// they run (Linux's timer wheel).
    pub timer_wheel: bool,
    /// Initial window, segments (RFC 6928).
    pub initial_window: u32,
    /// Initial slow-start threshold, segments; infinite when not limited.
    pub initial_ssthresh: f64,
    /// Whether the window shrinks after idle or application-limited periods (RFC 2861, as Linux).
    pub slow_start_after_idle: bool,
    /// Delayed-ACK rule.
    pub ack_rule: AckRule,
    /// Whether window scaling is offered (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Longest (with [`AckRule::Linux`], shortest) time an ACK is delayed.
    pub delayed_ack: Span,
    /// Whether ACKs of out-of-order data are thinned out (Linux `tcp_comp_sack_*`).
    pub sack_compression: bool,
    /// Receive window.
    pub receive_window: ReceiveWindow,
    /// Memory of the receive buffer under autotuning at first, bytes (Linux `tcp_rmem[1]`).
    pub initial_receive_buffer: u64,
    /// ECN.
    pub ecn: EcnMode,
    /// Accurate ECN by its flags and option; without it segments carry whole counts.
    pub accurate_ecn: Option<AccurateEcn>,
    /// Schemes for failing links.
    pub resilience: ResilienceConfig,
    /// Whether small segments wait for outstanding data (Nagle, RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Pacing.
    pub pacing: Pacing,
    /// Upper bound of the pacing rate (`SO_MAX_PACING_RATE`).
    pub maximum_pacing_rate: Rate,
    /// Whether sends gather to the size of a segmentation-offload burst, about a millisecond of
    /// data (Linux `tcp_tso_should_defer`).
    pub tso_bursts: bool,
    /// Whether segments carry Multipath TCP options: a mapping takes 24 bytes of each data
    /// segment, a DATA_ACK 12 of each ACK.
    pub multipath: bool,
    /// Fewest segments of such a burst (Linux `tcp_min_tso_segs`).
    pub minimum_burst: u32,
    /// A sender gathers no longer once this fraction of the window may be sent (Linux
    /// `tcp_tso_win_divisor`).
    pub burst_window_divisor: u32,
    /// Timeouts in a row after which the connection is given up (Linux `tcp_retries2`).
    pub maximum_retries: u32,
    /// SYNs sent before connecting is given up, those of `linear_syn_timeouts` aside (Linux
    /// `tcp_syn_retries` + 1).
    pub maximum_syns: u32,
    /// SYN-ACKs sent before the peer is given up (Linux `tcp_synack_retries` + 1).
    pub maximum_syn_acks: u32,
    /// Timeouts of a SYN before the first that doubles (Linux `tcp_syn_linear_timeouts`).
    pub linear_syn_timeouts: u32,
    /// SYNs that may be lost before the window begins with one segment (RFC 5681 section 3.1: none;
    /// Linux: one, and any number of SYN-ACKs).
    pub forgiven_syns: u32,
    /// How long data may stay unacknowledged once a timeout expired; `None` leaves it to the number
    /// of retries (`TCP_USER_TIMEOUT`).
    pub user_timeout: Option<Span>,
}

impl TcpConfig {
    /// The configuration of profile `name` with the scenario's `overrides`; `None` when there is
    /// no such profile.
    pub fn new(name: &str, overrides: &Parameters) -> Option<TcpConfig> {
        let mut config = profile::preset(name)?;
        profile::apply(&mut config, overrides);
        Some(config)
    }

    /// The default: Linux.
    pub fn linux() -> TcpConfig {
        profile::preset("linux").expect("the linux profile exists")
    }

    /// Payload of a full segment with options, bytes.
    pub fn effective_mss(&self) -> u32 {
        let mapping = if self.multipath {
            MptcpOption::MAPPING_LEN
        } else {
            0
        };
        self.mss - if self.timestamps { 12 } else { 0 } - mapping
    }
}
