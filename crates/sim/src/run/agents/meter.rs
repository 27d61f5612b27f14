//! Meter of a flow: measurements of one decision interval after another.

use super::features::{Measured, ratio};
use fadeout_core::Time;

/// Counters of a flow since its start, and its state, at one time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Time of the reading.
    pub at: Time,
    /// Data segments sent, retransmissions included.
    pub sent_segments: u64,
    /// Segments that the peer has acknowledged, cumulatively or selectively.
    pub delivered_segments: u64,
    /// Segments that the sender has marked lost.
    pub lost_segments: u64,
    /// Sum of the round-trip time samples, seconds.
    pub rtt_sum_s: f64,
    /// Number of round-trip time samples.
    pub rtt_samples: u64,
    /// Smallest round-trip time, seconds. Zero before the first sample.
    pub min_rtt_s: f64,
    /// Payload of a full segment, bytes.
    pub mss_bytes: f64,
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Segments in flight.
    pub in_flight: f64,
    /// Pacing rate, Mbit/s. Zero if the sender does not pace.
    pub pacing_mbps: f64,
    /// Smoothed round-trip time, seconds. Zero before the first sample.
    pub srtt_s: f64,
}

/// Meter that turns readings into measurements of intervals.
#[derive(Debug)]
pub(super) struct Meter {
    before: Reading,
    pub(super) measured: Measured,
}

impl Meter {
    /// Returns a meter whose first interval begins with a reading.
    pub(super) fn new(first: Reading) -> Meter {
        let mut meter = Meter {
            before: first,
            measured: Measured {
                rtt_s: first.srtt_s,
                least_rtt_s: first.srtt_s,
                ..Measured::default()
            },
        };
        meter.take_state(&first);
        meter
    }

    /// Ends an interval with a reading, and begins the next.
    pub(super) fn measure(&mut self, now: Reading) {
        let before = &self.before;
        debug_assert!(before.at <= now.at, "an interval ends before its begin");
        let it = &mut self.measured;
        it.interval_s = now.at.since(before.at).as_secs_f64();
        let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
        it.sent = since(now.sent_segments, before.sent_segments);
        it.acked = since(now.delivered_segments, before.delivered_segments);
        it.lost = since(now.lost_segments, before.lost_segments);
        let samples = since(now.rtt_samples, before.rtt_samples);
        let last_s = it.rtt_s;
        if samples > 0.0 {
            it.rtt_s = (now.rtt_sum_s - before.rtt_sum_s) / samples;
            it.least_rtt_s = it.least_rtt_s.min(it.rtt_s);
        }
        it.rtt_change_s = it.rtt_s - last_s;
        it.throughput_mbps = ratio(it.acked * now.mss_bytes * 8e-6, it.interval_s, 0.0);
        it.most_throughput_mbps = it.most_throughput_mbps.max(it.throughput_mbps);
        self.take_state(&now);
        self.before = now;
    }

    fn take_state(&mut self, now: &Reading) {
        let it = &mut self.measured;
        it.min_rtt_s = now.min_rtt_s;
        it.mss_bytes = now.mss_bytes;
        it.cwnd = now.cwnd;
        it.in_flight = now.in_flight;
        it.pacing_mbps = now.pacing_mbps;
        it.srtt_s = now.srtt_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Span;

    fn reading(ms: u64, delivered: u64) -> Reading {
        Reading {
            at: Time::ZERO + Span::from_millis(ms),
            sent_segments: delivered + 5,
            delivered_segments: delivered,
            rtt_sum_s: 0.03 * delivered as f64,
            rtt_samples: delivered,
            min_rtt_s: 0.02,
            mss_bytes: 1000.0,
            srtt_s: 0.025,
            ..Reading::default()
        }
    }

    #[test]
    fn an_interval_has_the_differences_of_the_counters() {
        let mut meter = Meter::new(reading(100, 50));
        meter.measure(reading(180, 60));
        let it = meter.measured;
        assert_eq!((it.sent, it.acked, it.lost), (10.0, 10.0, 0.0));
        // 10 segments of 8000 bits in 80 ms.
        assert!((it.throughput_mbps - 1.0).abs() < 1e-12);
        assert!((it.rtt_s - 0.03).abs() < 1e-12);
        // The mean before was the smoothed round-trip time.
        assert!((it.rtt_change_s - 0.005).abs() < 1e-12);
        assert_eq!(it.least_rtt_s, 0.025);
    }

    #[test]
    fn an_interval_without_a_sample_keeps_the_mean_before() {
        let mut meter = Meter::new(reading(100, 50));
        meter.measure(reading(180, 60));
        let before = meter.measured.rtt_s;
        meter.measure(reading(260, 60));
        let it = meter.measured;
        assert_eq!((it.rtt_s, it.rtt_change_s), (before, 0.0));
        assert_eq!((it.acked, it.throughput_mbps), (0.0, 0.0));
        assert!(it.most_throughput_mbps > 0.9);
    }
}
