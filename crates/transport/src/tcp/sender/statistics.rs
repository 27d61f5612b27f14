//! Counters of a sender, and their sum over the subflows of a connection.

use fadeout_core::Span;
use std::iter::Sum;

/// Counters for the summary of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SenderStatistics {
    /// Data segments sent, retransmissions included.
    pub sent_segments: u64,
    /// Number of retransmitted data segments.
    pub retransmitted_segments: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Number of fast recovery episodes.
    pub recoveries: u64,
    /// Number of reductions that were undone as spurious.
    pub undos: u64,
    /// Number of tail loss probes that were sent.
    pub loss_probes: u64,
    /// Largest congestion window, segments.
    pub max_cwnd: f64,
    /// Sum of round-trip time samples, seconds.
    pub rtt_sum_s: f64,
    /// Number of round-trip time samples.
    pub rtt_samples: u64,
    /// Smallest round-trip time sample. `None` without a sample.
    pub min_rtt: Option<Span>,
    /// Integral of SRTT over time, s². Divided by `srtt_time_s`, the mean SRTT.
    pub srtt_integral: f64,
    /// Time over which `srtt_integral` is computed, s.
    pub srtt_time_s: f64,
}

/// Segments that a connection has delivered and lost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Segments that the peer has acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Segments that the sender has marked lost.
    pub lost: u64,
}

impl Sum for SenderStatistics {
    /// Returns the sums of the counters, and the smallest round-trip time.
    fn sum<I: Iterator<Item = Self>>(subflows: I) -> Self {
        let mut sum = Self::default();
        for subflow in subflows {
            // Without `..`, so that a new counter does not compile until it is summed.
            let Self {
                sent_segments,
                retransmitted_segments,
                timeouts,
                recoveries,
                undos,
                loss_probes,
                max_cwnd,
                rtt_sum_s,
                rtt_samples,
                min_rtt,
                srtt_integral,
                srtt_time_s,
            } = subflow;
            sum.sent_segments += sent_segments;
            sum.retransmitted_segments += retransmitted_segments;
            sum.timeouts += timeouts;
            sum.recoveries += recoveries;
            sum.undos += undos;
            sum.loss_probes += loss_probes;
            sum.max_cwnd += max_cwnd;
            sum.rtt_sum_s += rtt_sum_s;
            sum.rtt_samples += rtt_samples;
            sum.min_rtt = sum.min_rtt.into_iter().chain(min_rtt).min();
            sum.srtt_integral += srtt_integral;
            sum.srtt_time_s += srtt_time_s;
        }
        sum
    }
}
