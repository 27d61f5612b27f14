//! State of a connection that users can query (Linux `struct tcp_info`).

use super::accurate::AccurateCounters;
use crate::congestion::RecoveryState;
use fadeout_core::{Rate, Span};

/// Snapshot of one end of a connection, with the field names of Linux's `struct tcp_info`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpInfo {
    /// State of loss recovery.
    pub ca_state: RecoveryState,
    /// Number of timeouts in a row without progress.
    pub retransmits: u32,
    /// Number of zero-window probes sent without an answer.
    pub probes: u32,
    /// Number of times the retransmission timeout was doubled.
    pub backoff: u32,
    /// True if timestamps were agreed on.
    pub timestamps: bool,
    /// True if SACK was agreed on.
    pub sack: bool,
    /// True if ECN was agreed on.
    pub ecn: bool,
    /// Retransmission timeout, including the backoff.
    pub rto: Span,
    /// Smoothed round-trip time. Zero before the first sample.
    pub rtt: Span,
    /// Mean deviation of the round-trip time.
    pub rttvar: Span,
    /// Smallest round-trip time of the last five minutes. `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// Payload of a full segment, bytes.
    pub snd_mss: u32,
    /// Number of segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Number of unacknowledged segments that are SACKed.
    pub sacked: u32,
    /// Number of unacknowledged segments believed lost.
    pub lost: u32,
    /// Number of retransmissions believed to be in the network.
    pub retrans: u32,
    /// Number of retransmissions since the connection began.
    pub total_retrans: u64,
    /// Slow-start threshold, segments. Infinite until the first congestion event.
    pub snd_ssthresh: f64,
    /// Congestion window, segments.
    pub snd_cwnd: f64,
    /// Window that the peer advertises, bytes.
    pub snd_wnd: u64,
    /// Number of segments that may be out of order before a loss is inferred.
    pub reordering: u32,
    /// Number of times that reordering was detected.
    pub reord_seen: u32,
    /// Number of duplicates that the peer reported by DSACK.
    pub dsack_dups: u64,
    /// Number of segments delivered, including unnecessary copies.
    pub delivered: u64,
    /// Number of delivered segments that the peer reported as marked by ECN.
    pub delivered_ce: u64,
    /// Number of bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Number of bytes written and not yet sent.
    pub notsent_bytes: u64,
    /// Number of data segments sent, including retransmissions.
    pub data_segs_out: u64,
    /// Pacing rate, also if the sender does not pace.
    pub pacing_rate: Rate,
    /// Assumed payload of the peer's full segments, bytes.
    pub rcv_mss: u32,
    /// True if data on the SYN was accepted: the peer's data by this end, or all of this end's data
    /// by the peer.
    pub has_taken_syn_data: bool,
    /// Counters of accurate ECN: those of received packets, and those that the peer reports. `None`
    /// if accurate ECN is not on the wire.
    pub accurate_ecn: Option<(AccurateCounters, AccurateCounters)>,
}
