//! Configuration of one end of a connection.

use super::profile::Profile;
use fadeout_core::registry::{Parameters, choice, integer, number, span};
use fadeout_core::{MptcpOption, Rate, Span};

/// Method of detecting and repairing losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossRecovery {
    /// Losses are detected by time, with RACK on the SACK scoreboard (RFC 8985), as in Linux.
    Rack,
    /// A segment is lost if enough segments above it are SACKed (RFC 6675).
    Sack,
    /// Duplicate ACKs indicate a loss, without SACK. Partial ACKs continue the recovery (RFC 6582).
    NewReno,
    /// Duplicate ACKs indicate a loss, without SACK. The first new ACK ends the recovery (RFC
    /// 5681).
    Reno,
    /// Duplicate ACKs trigger slow start from one segment (Jacobson 1988).
    Tahoe,
}

impl LossRecovery {
    /// Returns true if SACK blocks drive the scoreboard.
    pub fn uses_sack(self) -> bool {
        matches!(self, LossRecovery::Rack | LossRecovery::Sack)
    }
}

fadeout_core::choices! {
    /// Rule for partial acknowledgments that restart the retransmission timer.
    ///
    /// Standard: RFC 6582 §3.2, step 3; RFC 3782 §4.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NewRenoVariant {
        /// Only the first partial acknowledgment of a recovery restarts the timer. With many losses
        /// in a window the timer expires, and slow start repairs them.
        Impatient = "impatient",
        /// Each partial acknowledgment restarts the timer. One loss is repaired in each round trip,
        /// however many there are.
        SlowButSteady = "slow-but-steady",
    }
}

fadeout_core::choices! {
    /// Rule for the duplicate ACKs that may begin a fast retransmit without SACK. It compares them
    /// with RFC 6582's `recover`, the highest sequence number sent at the last fast retransmit or
    /// timeout. Duplicates at or below `recover` may come from unnecessary retransmissions.
    ///
    /// Standard: RFC 6582 §3.2, step 2.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RecoverGuard {
        /// Duplicate ACKs of a number above `recover`.
        Above = "above",
        /// Duplicate ACKs of `recover` or a number above it, as in ns-3.
        From = "from",
        /// All duplicate ACKs, except while a timeout is being repaired: RFC 5681 alone.
        None = "none",
    }
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

/// Rule for the size of the receive window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Linux's receive-buffer autotuning: from 64 kB up to `max_bytes` of window.
    Autotuned {
        /// Largest window (about half of `tcp_rmem[2]`), bytes.
        max_bytes: u64,
    },
    /// A window of constant size.
    Fixed {
        /// Size of the window, bytes.
        bytes: u64,
    },
    /// The window of the multipath connection that owns this subflow. The connection writes it into
    /// each segment to send.
    Shared,
}

fadeout_core::choices! {
    /// Rule by which an autotuned receive buffer follows the data that the application reads.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BufferGrowth {
        /// The rule of Linux 6.12. The buffer has room for 16 more segments than a round trip
        /// needs.
        Linux612 = "linux-6.12",
        /// The rule of Linux 6.18. The buffer has room for the data behind gaps. While the
        /// application is slow, a longer round trip does not count.
        Linux618 = "linux-6.18",
    }
}

fadeout_core::choices! {
    /// Rule for the amount of data that the socket accepts from the application.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SendBufferRule {
        /// The socket accepts all data at once.
        Unbounded = "unbounded",
        /// The socket accepts as much as fits into its memory, which grows with the window. A
        /// waiting writer continues when a third of the memory is free (Linux).
        Linux = "linux",
    }
}

/// Memory of a socket for written data that is not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendBufferConfig {
    /// Size before the handshake is complete, bytes (Linux `tcp_wmem[1]`).
    pub initial: u64,
    /// Largest size, bytes (`tcp_wmem[2]`).
    pub maximum: u64,
    /// Memory for the headers of one sk_buff, bytes (`MAX_TCP_HEADER`).
    pub header: u64,
    /// Headroom for headers in an allocated sk_buff, bytes (`SKB_SMALL_HEAD_HEADROOM`).
    pub head: u64,
}

impl Default for SendBufferConfig {
    /// Returns the buffer of Linux with wireless networks, without a limit.
    fn default() -> SendBufferConfig {
        SendBufferConfig {
            initial: 16_384,
            maximum: u64::MAX,
            header: 320,
            head: 320,
        }
    }
}

/// Memory of a received packet in addition to its payload, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketMemory {
    /// Memory of a packet that has its own sk_buff.
    pub alone: u64,
    /// Memory of a packet that is merged into the sk_buff before it.
    pub joined: u64,
}

impl PacketMemory {
    /// Returns the overhead of packets that carry `option` more bytes of options. The payload
    /// shrinks by the same amount, so the memory of the packet stays the same.
    pub(crate) fn with_option(self, option: u32) -> PacketMemory {
        let option = u64::from(option);
        let joined = match self.joined {
            0 => 0,
            joined => joined + option,
        };
        PacketMemory {
            alone: self.alone + option,
            joined,
        }
    }
}

impl Default for PacketMemory {
    /// Returns the overhead of a packet from software segmentation on 64-bit Linux. The descriptor
    /// (`sk_buff`) has 256 bytes and the small header buffer 640 bytes.
    fn default() -> PacketMemory {
        PacketMemory {
            alone: 896,
            joined: 0,
        }
    }
}

fadeout_core::choices! {
    /// Rule for the spacing of segments in time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Pacing {
        /// Segments are paced only if the congestion control asks for it.
        Automatic = "automatic",
        /// Segments are always paced, as with the fq queueing discipline of Linux.
        On = "on",
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

fadeout_core::choices! {
    /// A sender's response to an indication of loss.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LossResponse {
        /// The loss recovery responds at once.
        Standard = "standard",
        /// The response waits for the link layer first (TCP-DCR).
        Delayed = "dcr",
        /// The response waits for two thirds of a window of duplicates (RFC 4653, careful).
        NcrCareful = "ncr-careful",
        /// The response waits for half a window of duplicates (RFC 4653, aggressive).
        NcrAggressive = "ncr-aggressive",
        /// The window stays as it is if the receiver reports that the radio lost the segment
        /// (TCP-Casablanca).
        Casablanca = "casablanca",
    }
}

fadeout_core::choices! {
    /// Response of the ends to a notice of an outage.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OutageResponse {
        /// The sender does not react to outages.
        None = "none",
        /// The sender stops sending until it learns that the outage is over (TCP-Feedback).
        Feedback = "feedback",
        /// The sender stops sending and probes (ELFN).
        Elfn = "elfn",
        /// The receiver closes its window before an outage (Freeze-TCP).
        Freeze = "freeze",
    }
}

fadeout_core::parameters! {
    /// Schemes for links that fail or lose without being congested.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ResilienceConfig {
        /// Response to an indication of loss. TCP-DCR waits for the link layer to retransmit. NCR
        /// waits for duplicate ACKs of a share of the window (RFC 4653). TCP-Casablanca keeps the
        /// window if a loss is due to the radio and not to a `biased` queue.
        pub loss as "loss-response": LossResponse = choice(LossResponse::NAMES, "standard"),
        /// Time for which TCP-DCR waits before it responds to a loss, in smoothed round-trip times.
        /// The default is the value of the paper.
        pub loss_delay_rtts as "dcr-delay": f64 = number((0.0, 100.0, "round-trip times"), "1"),
        /// Period of expendable segments in TCP-Casablanca: one of this number of segments is
        /// expendable. The paper gives no pattern. If fewer than one in ten segments are
        /// expendable, a full queue may contain no expendable segment.
        pub expendable_every as "casablanca-period": u32 = integer((2, 1_000, "segments"), "5"),
        /// Response to an outage that `link-info` reports. With TCP-Feedback the sender stops. With
        /// ELFN the sender sends probes. With Freeze-TCP the receiver closes its window before the
        /// outage.
        pub outage as "outage-response": OutageResponse = choice(OutageResponse::NAMES, "none"),
        /// Longest time for which a sender with TCP-Feedback waits for the notice of a new route.
        /// It must exceed the longest outage. The paper gives no value.
        pub route_timeout as "feedback-timeout": Span = span("5 s"),
        /// Time between two probes of ELFN. After a shorter outage the sender still waits for the
        /// whole interval. The default is the paper's value for a radio of 2 Mbit/s.
        pub probe_interval as "elfn-probe-interval": Span = span("2 s"),
        /// Time before an outage at which the receiver of Freeze-TCP closes its window. In the
        /// paper, one round-trip time is the best value.
        pub freeze_lead_rtts as "freeze-lead": f64 = number((0.0, 100.0, "round-trip times"), "1"),
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

/// Constants of a TCP endpoint. [`TcpConfig::new`] builds them from a profile and the scenario's
/// overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpConfig {
    /// Method of detecting and repairing losses.
    pub recovery: LossRecovery,
    /// The variant of NewReno if the loss recovery is [`LossRecovery::NewReno`].
    pub newreno_variant: NewRenoVariant,
    /// Condition for duplicate ACKs to begin a fast retransmit without SACK.
    pub recover_guard: RecoverGuard,
    /// Largest payload of a segment without options (the MSS option), bytes.
    pub mss: u32,
    /// True if timestamps are offered (RFC 7323).
    pub timestamps: bool,
    /// Number of duplicate ACKs, or of segments SACKed above a hole, that indicate a loss
    /// (DupThresh).
    pub duplicate_threshold: u32,
    /// True if proportional rate reduction moves the window in recovery (RFC 6937, RFC 9937).
    /// Otherwise the window drops to the threshold at once.
    pub prr: bool,
    /// True if each of the first duplicate ACKs sends one new segment (RFC 3042).
    pub limited_transmit: bool,
    /// True if tail loss probes are sent (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// True if F-RTO detects spurious timeouts (RFC 5682).
    pub frto: bool,
    /// True if a reduction is undone once timestamps or DSACKs prove it spurious (RFC 3522, RFC
    /// 3708).
    pub undo: bool,
    /// Rule for the retransmission timeout.
    pub rto_rule: RtoRule,
    /// Minimum of the retransmission timeout. With [`RtoRule::Linux`] minimum of the variance term.
    pub minimum_rto: Span,
    /// Largest retransmission timeout.
    pub maximum_rto: Span,
    /// Timeout before the first round-trip time sample.
    pub initial_rto: Span,
    /// Granularity of the kernel's timers. Timeouts round up to it.
    pub timer_tick: Span,
    /// True if timers fire at the ticks of Linux's timer wheel. A timer fires at a tick after its
    /// deadline, and long timers have coarser ticks.
    pub timer_wheel: bool,
    /// Initial window, segments (RFC 6928).
    pub initial_window: u32,
    /// Initial slow-start threshold, segments. Infinite when there is no limit.
    pub initial_ssthresh: f64,
    /// True if the window shrinks after idle or application-limited periods (RFC 2861, as Linux).
    pub slow_start_after_idle: bool,
    /// Rule for delayed ACKs.
    pub ack_rule: AckRule,
    /// True if window scaling is offered (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Longest delay of an ACK. With [`AckRule::Linux`] the shortest delay.
    pub delayed_ack: Span,
    /// True if ACKs of out-of-order data are thinned out (Linux `tcp_comp_sack_*`).
    pub sack_compression: bool,
    /// Rule for the receive window.
    pub receive_window: ReceiveWindow,
    /// Initial memory of the receive buffer under autotuning, bytes (Linux `tcp_rmem[1]`).
    pub initial_receive_buffer: u64,
    /// Rule for the growth of the receive buffer under autotuning.
    pub receive_buffer_growth: BufferGrowth,
    /// Receive-buffer memory of a packet in addition to its payload, under autotuning.
    pub packet_memory: PacketMemory,
    /// Send buffer. `None` if the socket accepts every write at once.
    pub send_buffer: Option<SendBufferConfig>,
    /// ECN feedback to negotiate.
    pub ecn: EcnMode,
    /// Settings of accurate ECN on the wire. `None` if segments carry complete counts instead of
    /// flags and option.
    pub accurate_ecn: Option<AccurateEcn>,
    /// Schemes for links that fail.
    pub resilience: ResilienceConfig,
    /// True if small segments wait for outstanding data (Nagle, RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// True if an application that writes and closes before the connection is established does
    /// both in one call. The last data segment then carries the FIN.
    pub fin_with_data: bool,
    /// True if the connecting end opens the connection by Fast Open with a known cookie (RFC 7413).
    pub fast_open: bool,
    /// Rule for the spacing of segments in time.
    pub pacing: Pacing,
    /// Upper bound of the pacing rate (`SO_MAX_PACING_RATE`).
    pub maximum_pacing_rate: Rate,
    /// True if the sender gathers data for a segmentation-offload burst of about a millisecond
    /// (Linux `tcp_tso_should_defer`).
    pub tso_bursts: bool,
    /// True if segments carry Multipath TCP options. A mapping takes 24 bytes of each data segment,
    /// a DATA_ACK 12 bytes of each ACK.
    pub multipath: bool,
    /// True for a subflow of Linux. Rates then count the bytes of the MPTCP option, because
    /// `mss_cache` ignores the option. Rate samples are never marked as application-limited,
    /// because writes to subflows bypass `tcp_sendmsg`, which sets the mark.
    pub is_linux_subflow: bool,
    /// Smallest segmentation-offload burst, segments (Linux `tcp_min_tso_segs`).
    pub minimum_burst: u32,
    /// Divisor of the window. A sender stops gathering once this fraction of the window may be sent
    /// (Linux `tcp_tso_win_divisor`).
    pub burst_window_divisor: u32,
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

impl TcpConfig {
    /// Returns the configuration of profile `name` with the scenario's `overrides`. `None` if there
    /// is no such profile.
    pub fn new(name: &str, overrides: &Parameters) -> Option<TcpConfig> {
        Profile::new(name, overrides).map(Profile::config)
    }

    /// Returns the default configuration, which is that of Linux.
    pub fn linux() -> TcpConfig {
        TcpConfig::new("linux", Parameters::NONE).expect("the linux profile exists")
    }

    /// Returns the payload of a full segment with options, bytes.
    pub fn effective_mss(&self) -> u32 {
        let mapping = if self.multipath {
            MptcpOption::MAPPING_LEN
        } else {
            0
        };
        self.mss - if self.timestamps { 12 } else { 0 } - mapping
    }
}
