//! Westwood: a loss sets the window to the product of the measured bandwidth and the smallest
//! round-trip time.
//!
//! Growth is Reno's. The threshold is `bandwidth * RTT_min`. It is applied at a timeout and at the
//! end of recovery. During recovery the stack reduces the window towards Reno's half. Three
//! filters:
//! - `linux`: a sample per round trip (at least 50 ms), through two filters of 7/8. Units are bytes
//!   per jiffy, with round-trip times rounded up to jiffies: net/ipv4/tcp_westwood.c (Linux 6.12).
//! - `westwood+`: a sample per round trip, `0.9 b + 0.1 sample` (Grieco and Mascolo, CCR 34(2),
//!   2004).
//! - `westwood`: a sample per ACK through a Tustin filter of 0.5 s (Mascolo et al., MobiCom 2001).
//!
//! Acknowledged bytes are those delivered, cumulatively or selectively. The kernel's counting of
//! duplicate ACKs estimates the same number. The two papers' filters end a recovery at their
//! threshold just as the kernel does.

use super::linux::{AckCounter, HZ, Jiffies, half};
use super::registry::constant;
use super::{AckArrival, AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice, span};
use fadeout_core::{Span, Time};

/// Westwood and Westwood+.
#[derive(Debug, Clone)]
pub struct Westwood {
    estimate: Estimate,
    acked: AckCounter,
    /// True if the present recovery began with a timeout, which has applied the threshold already.
    is_after_timeout: bool,
}

#[derive(Debug, Clone)]
enum Estimate {
    Kernel(Kernel),
    Paper(Paper),
}

fadeout_core::choices! {
    /// Source of the bandwidth estimate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Estimator {
        Linux = "linux",
        PerRound = "westwood+",
        PerAck = "westwood",
    }
}

impl Registered<Stream> for Westwood {
    const ENTRY: Entry = Entry {
        name: "westwood",
        aliases: &["westwood+", "westwood-plus"],
        family: "rate-based",
        summary: "Westwood: Reno with a window after a loss that is computed from the measured \
                  bandwidth.",
        citation: "Mascolo et al., MobiCom 2001; Grieco, Mascolo, CCR 34(2), 2004; Linux 6.12 \
                   net/ipv4/tcp_westwood.c",
        parameters: &[
            choice(
                "filter",
                Estimator::NAMES,
                "linux",
                "Filter for the bandwidth estimate: the kernel's filter, or the filter in one of \
                 the papers.",
            ),
            span(
                "tau",
                "500 ms",
                "Time constant of the filter `westwood`, as in the paper of 2001.",
            ),
            HZ,
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        let estimate = match settings.get("filter") {
            Estimator::PerRound => Estimate::Paper(Paper::new(Filter::PerRound)),
            Estimator::PerAck => {
                let tau = constant(settings, "tau").as_secs_f64();
                Estimate::Paper(Paper::new(Filter::PerAck { tau }))
            }
            Estimator::Linux => Estimate::Kernel(Kernel::new(settings.integer("hz"))),
        };
        Westwood {
            estimate,
            acked: AckCounter::default(),
            is_after_timeout: false,
        }
    }
}

impl CongestionControl for Westwood {
    fn on_established(&mut self, _window: &mut Window, now: Time, _srtt: Option<Span>) {
        if let Estimate::Kernel(kernel) = &mut self.estimate {
            kernel.window_start = kernel.jiffies.tick_at(now);
        }
    }

    fn on_ack_arrival(&mut self, arrival: &AckArrival) {
        if let Estimate::Kernel(kernel) = &mut self.estimate {
            kernel.on_ack(arrival);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if let Estimate::Paper(paper) = &mut self.estimate {
            let bytes = u64::from(ack.delivered_now) * u64::from(window.mss);
            paper.on_ack(ack, bytes);
        }
        if ack.may_grow {
            self.acked.reno(window, ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.acked = AckCounter::default();
        self.is_after_timeout = event.kind == CongestionKind::Rto;
        if self.is_after_timeout {
            window.ssthresh = self.pipe_size(window.mss);
            if let Estimate::Kernel(kernel) = &mut self.estimate {
                kernel.must_reset_min = true;
            }
        } else {
            window.ssthresh = half(window);
        }
    }

    fn on_recovered(&mut self, window: &mut Window, _now: Time) {
        if !self.is_after_timeout {
            window.ssthresh = self.pipe_size(window.mss);
            window.cwnd = window.ssthresh;
        }
        self.is_after_timeout = false;
    }
}

impl Westwood {
    /// Returns the number of segments that the measured bandwidth keeps in flight in the smallest
    /// round-trip time.
    fn pipe_size(&self, mss: u32) -> f64 {
        let bytes = match &self.estimate {
            Estimate::Kernel(kernel) => (kernel.bandwidth * kernel.rtt_min) as f64,
            Estimate::Paper(paper) => paper.bandwidth * paper.rtt_min.as_secs_f64(),
        };
        (bytes / f64::from(mss))
            .floor()
            .clamp(2.0, f64::from(u32::MAX))
    }
}

/// Bandwidth estimate of the kernel, in bytes per jiffy.
#[derive(Debug, Clone)]
struct Kernel {
    jiffies: Jiffies,
    /// Bandwidth after the first filter.
    coarse: u64,
    /// Bandwidth after both filters.
    bandwidth: u64,
    window_start: u64,
    bytes: u64,
    /// First byte not acknowledged, as of the last ACK. `None` before the first ACK.
    una: Option<u64>,
    /// Bytes that duplicate ACKs have counted. The next cumulative ACK must not count them again.
    accounted: u64,
    rtt: u64,
    rtt_min: u64,
    must_reset_min: bool,
}

impl Kernel {
    fn new(hz: u32) -> Self {
        let jiffies = Jiffies::new(hz);
        // This initial round-trip time is larger than any real one, so that the first sample
        // replaces it.
        let unknown = jiffies.ticks_in(Span::from_secs(20));
        Kernel {
            jiffies,
            coarse: 0,
            bandwidth: 0,
            window_start: 0,
            bytes: 0,
            una: None,
            accounted: 0,
            rtt: unknown,
            rtt_min: unknown,
            must_reset_min: true,
        }
    }

    /// Records the round-trip time and the bytes of this ACK. As in the kernel, this happens before
    /// the ACK can end a recovery.
    fn on_ack(&mut self, arrival: &AckArrival) {
        if let Some(rtt) = arrival.rtt {
            self.rtt = self.jiffies.ticks_in(rtt);
        }
        let now = self.jiffies.tick_at(arrival.now);
        let elapsed = now - self.window_start;
        if self.rtt > 0 && elapsed > self.rtt.max(self.jiffies.hz() / 20) {
            self.filter(elapsed);
            self.bytes = 0;
            self.window_start = now;
        }
        self.bytes += if arrival.is_plain {
            let before = self.una.replace(arrival.snd_una);
            arrival.snd_una - before.unwrap_or(arrival.snd_una)
        } else {
            self.count(arrival.snd_una, arrival.mss.into())
        };
        if self.must_reset_min {
            self.rtt_min = self.rtt;
            self.must_reset_min = false;
        } else {
            self.rtt_min = self.rtt_min.min(self.rtt);
        }
    }

    /// Returns the number of bytes that a non-plain ACK up to `una` reports. An ACK that does not
    /// advance `una` counts as one segment, even with SACK blocks.
    fn count(&mut self, una: u64, mss: u64) -> u64 {
        let before = self.una.replace(una).unwrap_or(una);
        debug_assert!(before <= una, "SND.UNA went back");
        let advanced = una - before;
        if advanced == 0 {
            self.accounted += mss;
            mss
        } else if advanced <= mss {
            advanced
        } else if self.accounted >= advanced {
            self.accounted -= advanced;
            mss
        } else {
            advanced - std::mem::take(&mut self.accounted)
        }
    }

    fn filter(&mut self, elapsed: u64) {
        debug_assert!(elapsed > 0, "bandwidth is measured over no time");
        let sample = self.bytes / elapsed;
        if self.coarse == 0 && self.bandwidth == 0 {
            self.coarse = sample;
            self.bandwidth = sample;
        } else {
            self.coarse = (7 * self.coarse + sample) >> 3;
            self.bandwidth = (7 * self.bandwidth + self.coarse) >> 3;
        }
    }
}

/// Bandwidth estimate of the papers, in bytes per second.
#[derive(Debug, Clone)]
struct Paper {
    filter: Filter,
    bandwidth: f64,
    last_sample: f64,
    since: Option<Time>,
    bytes: u64,
    rtt_min: Span,
}

#[derive(Debug, Clone, Copy)]
enum Filter {
    PerRound,
    PerAck { tau: f64 },
}

impl Paper {
    fn new(filter: Filter) -> Self {
        Paper {
            filter,
            bandwidth: 0.0,
            last_sample: 0.0,
            since: None,
            bytes: 0,
            rtt_min: Span::from_secs(20),
        }
    }

    fn on_ack(&mut self, ack: &AckSample, bytes: u64) {
        self.rtt_min = self.rtt_min.min(ack.rtt.unwrap_or(Span::MAX));
        let Some(since) = self.since else {
            self.since = Some(ack.now);
            return;
        };
        self.bytes += bytes;
        let elapsed = ack.now.since(since);
        let is_due = match self.filter {
            Filter::PerRound => elapsed >= ack.srtt && !elapsed.is_zero(),
            // ACKs that arrive at the same instant make one sample.
            Filter::PerAck { .. } => !elapsed.is_zero(),
        };
        if is_due {
            let sample = self.bytes as f64 / elapsed.as_secs_f64();
            self.add_sample(sample, elapsed.as_secs_f64());
            self.bytes = 0;
            self.since = Some(ack.now);
        }
    }

    fn add_sample(&mut self, sample: f64, elapsed: f64) {
        self.bandwidth = match self.filter {
            Filter::PerRound if self.bandwidth == 0.0 => sample,
            Filter::PerRound => 0.9 * self.bandwidth + 0.1 * sample,
            Filter::PerAck { tau } => {
                // For gaps above two time constants the weight of the old value would be negative.
                let ratio = (2.0 * tau / elapsed).max(1.0);
                ((ratio - 1.0) * self.bandwidth + sample + self.last_sample) / (ratio + 1.0)
            }
        };
        self.last_sample = sample;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_with_rtt, at_ms, build, choice, congestion, window};
    use super::*;

    #[test]
    fn the_threshold_is_the_bandwidth_delay_product() {
        let (mut control, mut w) = (build::<Westwood>(&[]), window(100.0, f64::INFINITY));
        let Estimate::Kernel(kernel) = &mut control.estimate else {
            panic!("the default filter is the kernel's");
        };
        (kernel.bandwidth, kernel.rtt_min) = (1250, 50);
        control.on_congestion(&mut w, &congestion(at_ms(0), CongestionKind::Rto, 100));
        assert_eq!(w.ssthresh, 43.0);
        control.on_congestion(
            &mut w,
            &congestion(at_ms(0), CongestionKind::FastRecovery, 100),
        );
        assert_eq!(w.ssthresh, 50.0);
        control.on_recovered(&mut w, at_ms(100));
        assert_eq!((w.cwnd, w.ssthresh), (43.0, 43.0));
    }

    #[test]
    fn two_filters_smooth_the_kernels_samples() {
        let mut kernel = Kernel::new(1000);
        (kernel.coarse, kernel.bandwidth, kernel.bytes) = (1000, 1000, 200_000);
        kernel.filter(100);
        assert_eq!((kernel.coarse, kernel.bandwidth), (1125, 1015));
    }

    #[test]
    fn a_sample_takes_at_least_50_ms() {
        let mut kernel = Kernel::new(1000);
        kernel.rtt = 20;
        kernel.on_ack(&arrival(0, 1, None, false));
        kernel.on_ack(&arrival(50, 2001, None, false));
        assert_eq!(kernel.bandwidth, 0);
        // The duplicate ACK at 51 ms ends the sample. The sample contains the 2000 bytes of the ACK
        // before it.
        kernel.on_ack(&arrival(51, 2001, None, false));
        assert_eq!(kernel.bandwidth, 2000 / 51);
    }

    #[test]
    fn a_duplicate_ack_counts_a_segment_that_the_next_advance_does_not() {
        let mut kernel = Kernel::new(1000);
        let counted = [1, 1, 1, 5001, 6001].map(|una| kernel.count(una, 1000));
        assert_eq!(counted, [1000, 1000, 1000, 2000, 1000]);
    }

    #[test]
    fn the_papers_filters_weigh_as_printed() {
        let mut plus = Paper::new(Filter::PerRound);
        plus.bandwidth = 8.0;
        plus.add_sample(10.0, 0.1);
        assert!((plus.bandwidth - 8.2).abs() < 1e-12);
        let mut original = Paper::new(Filter::PerAck { tau: 0.5 });
        (original.bandwidth, original.last_sample) = (8.0, 9.0);
        original.add_sample(10.0, 0.1);
        assert!((original.bandwidth - 8.272_727).abs() < 1e-6);
    }

    /// Returns Westwood with one of the papers' filters.
    fn of_the_papers(filter: &str) -> Westwood {
        build::<Westwood>(&[("filter", choice(filter))])
    }

    #[test]
    fn the_papers_estimates_are_bytes_over_time() {
        // The sender delivers ten segments of 1448 bytes every 100 ms. With a time constant of 500
        // ms, 2 * 500 / 100 = 10, so the filter of 2001 is (9 b + x + x') / 11.
        let x = 144_800.0;
        let smoothed = [0.0, x / 11.0, (9.0 / 11.0 + 2.0) * x / 11.0];
        for (filter, expected) in [("westwood+", [0.0, x, x]), ("westwood", smoothed)] {
            let (mut control, mut w) = (of_the_papers(filter), window(100.0, 50.0));
            for (n, expected) in (0..).zip(expected) {
                control.on_ack(&mut w, &ack_with_rtt(at_ms(100 * n), 10, 80.0));
                let Estimate::Paper(paper) = &control.estimate else {
                    panic!("{filter} is of a paper");
                };
                assert!((paper.bandwidth - expected).abs() < 1e-6, "{filter} {n}");
                assert_eq!(paper.rtt_min, Span::from_millis(80));
            }
        }
        // The rate is ten segments in 100 ms. In the smallest round-trip time of 80 ms it keeps
        // eight segments in flight.
        let (mut control, mut w) = (of_the_papers("westwood+"), window(100.0, 50.0));
        for n in 0..2 {
            control.on_ack(&mut w, &ack_with_rtt(at_ms(100 * n), 10, 80.0));
        }
        control.on_congestion(&mut w, &congestion(at_ms(200), CongestionKind::Rto, 100));
        assert_eq!(w.ssthresh, 8.0);
    }

    #[test]
    fn a_sample_takes_a_round_trip_or_an_instant() {
        for (filter, samples) in [
            ("westwood+", [false, false, true]),
            ("westwood", [false, true, true]),
        ] {
            let (mut control, mut w) = (of_the_papers(filter), window(100.0, 50.0));
            for (ms, is_sampled) in [0, 99, 100].into_iter().zip(samples) {
                // Only the first ACK of an instant makes a sample.
                control.on_ack(&mut w, &ack_with_rtt(at_ms(ms), 10, 80.0));
                let Estimate::Paper(paper) = &control.estimate else {
                    panic!("{filter} is of a paper");
                };
                let before = paper.bandwidth;
                assert_eq!(before > 0.0, is_sampled, "{filter} at {ms} ms");
                control.on_ack(&mut w, &ack_with_rtt(at_ms(ms), 10, 80.0));
                let Estimate::Paper(paper) = &control.estimate else {
                    panic!("{filter} is of a paper");
                };
                assert_eq!(paper.bandwidth, before);
            }
        }
    }

    fn arrival(ms: u64, snd_una: u64, rtt_ms: Option<u64>, is_plain: bool) -> AckArrival {
        AckArrival {
            now: at_ms(ms),
            snd_una,
            mss: 1000,
            rtt: rtt_ms.map(Span::from_millis),
            is_plain,
        }
    }

    #[test]
    fn the_kernel_counts_from_the_handshake_and_learns_before_it_counts() {
        let (mut control, mut w) = (build::<Westwood>(&[]), window(100.0, 50.0));
        control.on_established(&mut w, at_ms(1_000), None);
        control.on_ack_arrival(&arrival(1_000, 1, None, false));
        control.on_ack_arrival(&arrival(1_010, 10_001, None, false));
        control.on_ack_arrival(&arrival(1_051, 10_001, Some(20), false));
        let Estimate::Kernel(kernel) = &control.estimate else {
            panic!("the default is the kernel's");
        };
        // The sample lasts 51 ms. The first ACK counted one segment and the second the other 9,000
        // of 10,000 bytes.
        assert_eq!((kernel.bandwidth, kernel.rtt_min), (10_000 / 51, 20));
        assert_eq!((kernel.window_start, kernel.bytes), (1_051, 1_000));
    }

    #[test]
    fn a_plain_ack_counts_all_of_its_advance_whatever_duplicates_counted() {
        let mut kernel = Kernel::new(1000);
        for (una, is_plain) in [(1, true), (1, false), (3_001, true)] {
            kernel.on_ack(&arrival(1, una, Some(100), is_plain));
        }
        assert_eq!((kernel.bytes, kernel.accounted), (4_000, 1_000));
        kernel.on_ack(&arrival(1, 5_001, None, false));
        assert_eq!((kernel.bytes, kernel.accounted), (5_000, 0));
    }

    #[test]
    fn what_duplicates_counted_beyond_an_advance_is_kept_for_the_next() {
        let mut kernel = Kernel::new(1000);
        for una in [1, 1, 1, 1, 1] {
            kernel.count(una, 1000);
        }
        // Five duplicate ACKs counted 5000 bytes. An advance of 2000 bytes adds only one segment,
        // and 3000 bytes stay accounted for.
        assert_eq!((kernel.count(2001, 1000), kernel.accounted), (1000, 3000));
        assert_eq!((kernel.count(7001, 1000), kernel.accounted), (2000, 0));
    }
}
