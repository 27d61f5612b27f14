//! Counters of an end and of its paths.

use fadeout_core::Span;

/// State of an end's sending direction on a path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sending {
    /// Congestion window, bytes. Zero before the path has opened.
    pub cwnd_bytes: u64,
    /// Largest congestion window, in datagrams of the largest size at that time.
    pub max_cwnd_datagrams: f64,
    /// Largest payload of UDP that the path carries, as far as the end knows, bytes.
    pub mtu_bytes: u64,
    /// Slow-start threshold, bytes. `None` before the first congestion event, or if the congestion
    /// control has no threshold.
    pub ssthresh_bytes: Option<u64>,
    /// Bytes in flight after the last ACK.
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time. Zero before the first sample.
    pub srtt: Span,
    /// Latest round-trip time sample. Zero before the first.
    pub rtt: Span,
    /// Probe timeout of application data without backoff (RFC 9002 section 6.2.1).
    pub probe_timeout: Span,
    /// Pacing rate that the congestion control sets, bytes per second. `None` if the stack paces by
    /// the window.
    pub pacing_bytes_per_s: Option<u64>,
}

impl Sending {
    /// Returns a number of bytes in datagrams of the largest size.
    pub fn datagrams(&self, bytes: u64) -> f64 {
        bytes as f64 / self.mtu_bytes.max(1) as f64
    }
}

/// Counters of an end, for the summary of a run.
#[derive(Debug, Clone, Default)]
pub struct QuicStatistics {
    /// Streams that the end has opened.
    pub streams: u64,
    /// Number of open streams whose data are not all acknowledged.
    pub open_streams: u64,
    /// Reason for which the connection was given up. `None` if it was not.
    pub failure: Option<String>,
    /// True if this end opened the connection.
    pub is_client: bool,
}

/// Counters of a path at one end, or the sums over several paths.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathStatistics {
    /// QUIC packets sent. A datagram may contain several packets of the handshake.
    pub sent_packets: u64,
    /// Bytes of sent packets that elicit an ACK, without headers of UDP and IP.
    pub sent_bytes: u64,
    /// Bytes of acknowledged packets.
    pub acked_bytes: u64,
    /// Bytes of received payloads of UDP.
    pub received_bytes: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Bytes of lost packets.
    pub lost_bytes: u64,
    /// Number of losses and marks to which the congestion control could respond.
    pub congestion_events: u64,
    /// Number of times that all packets declared lost arrived after all.
    pub spurious_events: u64,
    /// Number of times that an end gave up the path.
    pub failures: u64,
    /// Smallest round-trip time sample. `None` without a sample.
    pub min_rtt: Option<Span>,
    /// Sum of all round-trip time samples, seconds.
    pub rtt_sum_s: f64,
    /// Number of round-trip time samples.
    pub rtt_samples: u64,
    /// Integral of the smoothed round-trip time over time, s².
    pub srtt_integral: f64,
    /// Time over which the smoothed round-trip time is integrated, seconds.
    pub srtt_time_s: f64,
}

impl PathStatistics {
    /// Returns the sums over two paths. The smallest round-trip time is that of both.
    #[must_use]
    pub(crate) fn plus(&self, other: &PathStatistics) -> PathStatistics {
        // Without `..`, so that a new counter does not compile until it is added here.
        PathStatistics {
            sent_packets: self.sent_packets + other.sent_packets,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            acked_bytes: self.acked_bytes + other.acked_bytes,
            received_bytes: self.received_bytes + other.received_bytes,
            lost_packets: self.lost_packets + other.lost_packets,
            lost_bytes: self.lost_bytes + other.lost_bytes,
            congestion_events: self.congestion_events + other.congestion_events,
            spurious_events: self.spurious_events + other.spurious_events,
            failures: self.failures + other.failures,
            min_rtt: [self.min_rtt, other.min_rtt].into_iter().flatten().min(),
            rtt_sum_s: self.rtt_sum_s + other.rtt_sum_s,
            rtt_samples: self.rtt_samples + other.rtt_samples,
            srtt_integral: self.srtt_integral + other.srtt_integral,
            srtt_time_s: self.srtt_time_s + other.srtt_time_s,
        }
    }
}
