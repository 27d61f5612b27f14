//! The state of a connection as an outsider may look at it (Linux `struct tcp_info`).

use super::accurate::AccurateCounters;
use crate::congestion::RecoveryState;
use fadeout_core::{Rate, Span};

/// A snapshot of one end of a connection, by the names of Linux's `struct tcp_info`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpInfo {
    /// Recovery state.
    pub ca_state: RecoveryState,
    /// Timeouts in a row without progress.
    pub retransmits: u32,
    /// Zero-window probes sent without an answer.
    pub probes: u32,
    /// Doublings of the retransmission timeout.
    pub backoff: u32,
    /// Whether timestamps were agreed on.
    pub timestamps: bool,
    /// Whether SACK was agreed on.
    pub sack: bool,
    /// Whether ECN was agreed on.
    pub ecn: bool,
    /// Retransmission timeout, with backoff.
    pub rto: Span,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
    /// Mean deviation of the round-trip time.
    pub rttvar: Span,
    /// Smallest round-trip time of the last five minutes; `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// Payload of a full segment, bytes.
    pub snd_mss: u32,
    /// Segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Of those, SACKed.
    pub sacked: u32,
    /// Of those, believed lost.
    pub lost: u32,
    /// Retransmissions believed to be in the network.
    pub retrans: u32,
    /// Retransmissions so far.
    pub total_retrans: u64,
    /// Slow-start threshold, segments; infinite until the first congestion event.
    pub snd_ssthresh: f64,
    /// Congestion window, segments.
    pub snd_cwnd: f64,
    /// The peer's window, bytes.
    pub snd_wnd: u64,
    /// Segments that may be out of order before a loss is inferred.
    pub reordering: u32,
    /// Times that reordering was seen.
    pub reord_seen: u32,
    /// Duplicates that the peer reported by DSACK.
    pub dsack_dups: u64,
    /// Segments delivered, spurious copies included.
    pub delivered: u64,
    /// Of those, how many the peer reported as marked by ECN.
    pub delivered_ce: u64,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes written and not yet sent.
    pub notsent_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub data_segs_out: u64,
    /// Rate that is paced at, or that would be.
    pub pacing_rate: Rate,
    /// Payload of what this end takes for the peer's full segments, bytes.
    pub rcv_mss: u32,
    /// Whether data on the SYN was taken: the peer's here, or all of this end's there.
    pub has_taken_syn_data: bool,
    /// Counters of accurate ECN, where it is on the wire: what came, and what the peer says came
    /// there.
    pub accurate_ecn: Option<(AccurateCounters, AccurateCounters)>,
}
