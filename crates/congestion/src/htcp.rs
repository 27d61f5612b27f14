//! H-TCP: an increase that grows with the time since the last congestion.
//!
//! `D` is the number of seconds since the last congestion ended. A round trip adds `alpha`
//! segments, which is 1 while `D <= D_L`. Then `alpha` is `1 + 10 (D - D_L) + ((D - D_L) / 2)^2`,
//! scaled by the round-trip time over 100 ms. The result is at least 1, and is multiplied by
//! `2 (1 - beta)`. A loss reduces the window to the share `beta = RTT_min / RTT_max`, between 0.5
//! and 0.8. The share is a half if the throughput before this loss differs by more than a fifth
//! from the throughput before the last loss.
//!
//! Source: Shorten and Leith, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004,
//! in the arithmetic of net/ipv4/tcp_htcp.c (Linux 6.12). Round trips are in whole jiffies, `alpha`
//! and `beta` in 128ths, and `alpha` is set anew when the window grows. The throughput filter of
//! 3/4 runs over a window, and starts anew in the first three round trips of an epoch. The largest
//! round-trip time rises by at most 20 ms at once. With each congestion it loses 5 % of its
//! distance from the smallest. If the smallest round-trip time is at most 10 ms, a loss halves the
//! window.

use super::linux::{HZ, Jiffies, slow_start, whole};
use super::registry::constant;
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, RecoveryState, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, number, span};
use fadeout_core::{Span, Time};

/// One, in the fixed point of `alpha` and `beta`.
const ONE: u64 = 128;
/// Smallest round-trip time up to which a loss halves the window.
const SHORTEST: Span = Span::from_millis(10);
const LARGEST_RISE: Span = Span::from_millis(20);
/// Number of rounds at the start of an epoch in which throughput samples are not filtered.
const SETTLING_ROUNDS: u64 = 3;

/// H-TCP.
#[derive(Debug, Clone)]
pub struct Htcp {
    jiffies: Jiffies,
    /// Time `D_L`, jiffies.
    delta_l: u64,
    scales_by_rtt: bool,
    watches_throughput: bool,
    beta_min: u64,
    beta_max: u64,

    alpha: u64,
    beta: u64,
    /// True if the delay ratio sets the next reduction. False after the throughput changed by more
    /// than a fifth.
    trusts_ratio: bool,
    epoch: Epoch,
    /// Epoch before the present congestion, in case it is spurious. `None` outside congestion.
    saved: Option<Epoch>,
    /// Smallest round-trip time in jiffies, 0 before the first.
    rtt_min: u64,
    state: RecoveryState,
    /// Number of segments by which the next ACK raises the count.
    acked: u64,
    /// Number of segments counted since the window last grew.
    count: u64,
    meter: Meter,
}

#[derive(Debug, Clone, Copy, Default)]
struct Epoch {
    /// End of the last congestion, in jiffies. During a congestion its beginning.
    start: u64,
    /// Largest round-trip time, in jiffies.
    rtt_max: u64,
    last_max_throughput: u64,
}

/// Filter of the throughput, in segments per second.
#[derive(Debug, Clone, Copy, Default)]
struct Meter {
    filtered: u64,
    max: u64,
    /// Start of the counting, in jiffies. `None` before the first window.
    since: Option<u64>,
    segments: u64,
}

impl Registered<Stream> for Htcp {
    const ENTRY: Entry = Entry {
        name: "htcp",
        aliases: &["h-tcp"],
        family: "loss-based",
        summary: "H-TCP: an increase that grows with the time since the last loss.",
        citation: "Shorten, Leith, PFLDnet 2004; Linux 6.12 net/ipv4/tcp_htcp.c",
        parameters: &[
            span(
                "delta-l",
                "1 s",
                "Time after a loss during which the increase is that of Reno.",
            ),
            flag(
                "rtt-scaling",
                "true",
                "True if the increase is scaled by the round-trip time over 100 ms.",
            ),
            flag(
                "bandwidth-switch",
                "true",
                "True if the window is halved when the throughput changed by more than a fifth \
                 between two losses.",
            ),
            number(
                "beta-min",
                (0.1, 0.95, ""),
                "0.5",
                "Smallest fraction of the window kept after a loss.",
            ),
            number(
                "beta-max",
                (0.1, 0.95, ""),
                "0.8",
                "Largest fraction of the window kept after a loss.",
            ),
            HZ,
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        let jiffies = Jiffies::new(settings.integer("hz"));
        let fixed = |name| (settings.number(name) * ONE as f64) as u64;
        let beta_min = fixed("beta-min");
        Htcp {
            jiffies,
            delta_l: jiffies.ticks_in(constant(settings, "delta-l")),
            scales_by_rtt: settings.flag("rtt-scaling"),
            watches_throughput: settings.flag("bandwidth-switch"),
            beta_min,
            beta_max: fixed("beta-max").max(beta_min),
            alpha: ONE,
            beta: beta_min,
            trusts_ratio: false,
            epoch: Epoch::default(),
            saved: None,
            rtt_min: 0,
            state: RecoveryState::Open,
            acked: 1,
            count: 0,
            meter: Meter::default(),
        }
    }
}

impl CongestionControl for Htcp {
    fn on_established(&mut self, _window: &mut Window, now: Time, _srtt: Option<Span>) {
        self.epoch.start = self.jiffies.tick_at(now);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.measure(window, ack);
        self.state = ack.state;
        if !ack.is_growth_due() {
            return;
        }
        if window.in_slow_start() {
            slow_start(window, ack.delivered_now);
            return;
        }
        if (self.count * self.alpha) >> 7 >= u64::from(whole(window)) {
            window.cwnd += 1.0;
            self.count = 0;
            self.alpha = self.alpha_at(self.jiffies.tick_at(ack.now));
        } else {
            self.count += self.acked;
        }
        self.acked = 1;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        // A reduction of the window ends the count (tcp_init_cwnd_reduction).
        self.count = 0;
        self.beta = self.kept();
        self.alpha = self.alpha_at(self.jiffies.tick_at(event.now));
        let Epoch { rtt_max, .. } = self.epoch;
        if self.rtt_min > 0 && rtt_max > self.rtt_min {
            self.epoch.rtt_max = self.rtt_min + (rtt_max - self.rtt_min) * 95 / 100;
        }
        if event.kind != CongestionKind::Rto {
            self.begin_congestion(event.now);
        }
        debug_assert!(
            (self.beta_min..=self.beta_max.max(self.beta_min)).contains(&self.beta),
            "a loss leaves {} 128ths of the window",
            self.beta
        );
        debug_assert!(self.alpha > 0, "the window never grows");
        let kept = (u64::from(whole(window)) * self.beta) >> 7;
        window.ssthresh = kept.max(2) as f64;
    }

    fn on_timeout(&mut self, now: Time, _lost: u64) {
        // A timeout ends the count, too (tcp_enter_loss).
        self.count = 0;
        self.begin_congestion(now);
        self.state = RecoveryState::Loss;
    }

    fn on_recovered(&mut self, _window: &mut Window, now: Time) {
        if self.saved.take().is_some() {
            self.epoch.start = self.jiffies.tick_at(now);
        }
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        if let Some(saved) = self.saved.take() {
            self.epoch = saved;
        }
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }
}

impl Htcp {
    fn begin_congestion(&mut self, now: Time) {
        self.saved = Some(self.epoch);
        self.epoch.start = self.jiffies.tick_at(now);
    }

    /// Returns the increase per round trip from `now` on, in 128ths of a segment.
    fn alpha_at(&self, now: u64) -> u64 {
        let hz = self.jiffies.hz();
        let mut factor = 1;
        let since = now.saturating_sub(self.epoch.start);
        if since > self.delta_l {
            let beyond = since - self.delta_l;
            let square = (beyond / 2) * (beyond / 2) / hz;
            factor = 1 + (10 * beyond + square) / hz;
        }
        if self.scales_by_rtt && self.rtt_min > 0 {
            // The factor is in eighths and is limited to between a half and ten.
            let scale = ((hz << 3) / (10 * self.rtt_min)).clamp(4, 80);
            factor = ((factor << 3) / scale).max(1);
        }
        match 2 * factor * (ONE - self.beta.min(ONE)) {
            0 => ONE,
            alpha => alpha,
        }
    }

    /// Returns the share of the window that remains after a loss, in 128ths.
    fn kept(&mut self) -> u64 {
        if self.watches_throughput {
            let (max, last) = (self.meter.max, self.epoch.last_max_throughput);
            self.epoch.last_max_throughput = max;
            if !(4 * last..=6 * last).contains(&(5 * max)) {
                self.trusts_ratio = false;
                return self.beta_min;
            }
        }
        let trusted = std::mem::replace(&mut self.trusts_ratio, true);
        let rtt_max = self.epoch.rtt_max;
        if trusted && self.rtt_min > self.jiffies.ticks_in(SHORTEST) && rtt_max > 0 {
            (self.rtt_min * ONE / rtt_max).clamp(self.beta_min, self.beta_max)
        } else {
            self.beta_min
        }
    }

    /// Measures the round-trip time and the throughput from an ACK. `self.state` is the recovery
    /// state before the ACK.
    fn measure(&mut self, window: &Window, ack: &AckSample) {
        let is_open = self.state == RecoveryState::Open;
        if is_open {
            self.acked = ack.acked.into();
        }
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(self.jiffies.ticks_in(rtt), is_open);
        }
        if !self.watches_throughput {
            return;
        }
        let now = self.jiffies.tick_at(ack.now);
        if !is_open && self.state != RecoveryState::Disorder {
            self.meter.segments = 0;
            self.meter.since = Some(now);
            return;
        }
        self.meter.segments += u64::from(ack.acked);
        let least = u64::from(whole(window)).saturating_sub((self.alpha >> 7).max(1));
        let elapsed = self.meter.since.map_or(u64::MAX, |since| now - since);
        if self.meter.segments >= least && elapsed >= self.rtt_min && self.rtt_min > 0 {
            let sample = self.meter.segments * self.jiffies.hz() / elapsed;
            let rounds = now.saturating_sub(self.epoch.start) / self.rtt_min;
            self.meter.add_sample(sample, rounds <= SETTLING_ROUNDS);
            self.meter.segments = 0;
            self.meter.since = Some(now);
        }
    }

    fn measure_rtt(&mut self, rtt: u64, is_open: bool) {
        if self.rtt_min > rtt || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if is_open {
            let largest = self.epoch.rtt_max.max(self.rtt_min);
            // A larger jump of the round-trip time is not caused by the queue of this path, so the
            // largest value stays.
            let may_rise = rtt <= largest + self.jiffies.ticks_in(LARGEST_RISE);
            self.epoch.rtt_max = if may_rise { largest.max(rtt) } else { largest };
        }
    }
}

impl Meter {
    fn add_sample(&mut self, sample: u64, is_settling: bool) {
        if is_settling {
            (self.filtered, self.max) = (sample, sample);
        } else {
            self.filtered = (3 * self.filtered + sample) / 4;
            self.max = self.max.max(self.filtered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, ack_with_rtt, at_ms, build, lose, window};
    use super::*;
    use fadeout_core::registry::Value;

    fn unscaled() -> Htcp {
        build::<Htcp>(&[("rtt-scaling", Value::Bool(false))])
    }

    /// Returns the increase at `ms` in segments per round trip.
    fn alpha(htcp: &Htcp, ms: u64) -> f64 {
        htcp.alpha_at(htcp.jiffies.tick_at(at_ms(ms))) as f64 / ONE as f64
    }

    #[test]
    fn the_increase_grows_with_the_time_since_the_loss() {
        let htcp = unscaled();
        // Linux rounds down to whole segments, for example 11.25 to 11.
        for (ms, segments) in [(500, 1.0), (1_000, 1.0), (2_000, 11.0), (3_000, 22.0)] {
            assert_eq!(alpha(&htcp, ms), segments, "after {ms} ms");
        }
    }

    #[test]
    fn a_gentler_decrease_pays_with_a_smaller_increase() {
        let mut htcp = unscaled();
        htcp.beta = 102;
        assert_eq!(alpha(&htcp, 2_000), 2.0 * 11.0 * 26.0 / 128.0);
    }

    #[test]
    fn a_short_path_or_a_young_epoch_adds_no_less_than_the_scaled_one() {
        // The kernel (tcp_htcp.c) limits the factor to at least one before it multiplies by 2 (1 -
        // beta).
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = 20;
        assert_eq!(alpha(&htcp, 500), 1.0);
        htcp.beta = 102;
        assert_eq!(alpha(&htcp, 500), 52.0 / 128.0);
    }

    #[test]
    fn the_largest_round_trip_time_follows_rises_of_20_ms_and_forgets_slowly() {
        let (mut htcp, mut w) = (build::<Htcp>(&[]), window(100.0, 50.0));
        for (rtt_ms, largest_ms) in [(60.0, 60), (80.0, 80), (101.0, 80), (100.0, 100)] {
            htcp.on_ack(&mut w, &ack_with_rtt(at_ms(0), 1, rtt_ms));
            assert_eq!(htcp.epoch.rtt_max, largest_ms, "{rtt_ms}");
        }
        // The new largest round-trip time is 60 + 0.95 * 40 ms.
        lose(&mut htcp, &mut w, at_ms(0));
        assert_eq!(htcp.epoch.rtt_max, 98);
    }

    #[test]
    fn a_coarse_clock_rounds_round_trips_up() {
        let (mut htcp, mut w) = (
            build::<Htcp>(&[("hz", Value::Number(100.0))]),
            window(100.0, 50.0),
        );
        htcp.on_ack(&mut w, &ack_with_rtt(at_ms(0), 1, 40.02));
        assert_eq!((htcp.rtt_min, htcp.epoch.rtt_max), (5, 5));
    }

    #[test]
    fn the_time_counts_from_the_end_of_the_recovery() {
        let (mut htcp, mut w) = (unscaled(), window(100.0, 50.0));
        lose(&mut htcp, &mut w, at_ms(1_000));
        htcp.on_recovered(&mut w, at_ms(1_100));
        assert_eq!(alpha(&htcp, 3_100), 11.0);
    }

    #[test]
    fn a_loss_and_a_timeout_end_the_count_towards_the_next_increase() {
        let (mut htcp, mut w) = (unscaled(), window(100.0, 50.0));
        htcp.on_ack(&mut w, &ack(at_ms(0), 3));
        assert_eq!(htcp.count, 3);
        lose(&mut htcp, &mut w, at_ms(10));
        assert_eq!(htcp.count, 0);
        htcp.state = RecoveryState::Open;
        w.cwnd = 100.0;
        htcp.on_ack(&mut w, &ack(at_ms(20), 2));
        assert_eq!(htcp.count, 2);
        htcp.on_timeout(at_ms(30), 1);
        assert_eq!(htcp.count, 0);
    }

    #[test]
    fn the_increase_is_scaled_by_the_round_trip_time() {
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = 200;
        assert_eq!(alpha(&htcp, 2_000), 22.0);
    }

    #[test]
    fn steady_throughput_makes_the_delay_ratio_count() {
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = 60;
        for expected in [50.0, 50.0, 75.0] {
            htcp.epoch.rtt_max = 80;
            htcp.meter.max = 1000;
            assert_eq!(
                lose(&mut htcp, &mut window(100.0, 50.0), at_ms(0)),
                expected
            );
        }
        htcp.meter.max = 1300;
        assert_eq!(lose(&mut htcp, &mut window(100.0, 50.0), at_ms(0)), 50.0);
    }

    #[test]
    fn the_time_counts_from_the_handshake_and_from_a_timeout() {
        let (mut htcp, mut w) = (unscaled(), window(100.0, 50.0));
        htcp.on_established(&mut w, at_ms(1_000), None);
        assert_eq!(alpha(&htcp, 3_000), 11.0);
        htcp.on_timeout(at_ms(5_000), 1);
        assert_eq!(
            (alpha(&htcp, 7_000), htcp.state),
            (11.0, RecoveryState::Loss)
        );
        // After an undo the increase continues from the time before the loss.
        htcp.on_spurious(&mut w, &window(100.0, 50.0), at_ms(5_100));
        assert_eq!(alpha(&htcp, 3_000), 11.0);
    }

    #[test]
    fn a_window_takes_as_many_segments_as_alpha_goes_into_it() {
        // Each ACK raises the count by the segments that it acknowledged. When the count reaches a
        // whole window, the window grows by one segment and alpha is updated.
        for (alpha, acks) in [(ONE, 6), (2 * ONE, 4), (ONE / 2, 11)] {
            let (mut htcp, mut w) = (unscaled(), window(10.0, 5.0));
            htcp.alpha = alpha;
            for n in 1..=acks {
                assert_eq!(w.cwnd, 10.0, "before ACK {n} with alpha {alpha}");
                htcp.on_ack(&mut w, &ack(at_ms(2_000), 2));
            }
            assert_eq!((w.cwnd, htcp.count, htcp.alpha), (11.0, 0, 11 * ONE));
        }
    }

    #[test]
    fn a_throughput_within_a_fifth_keeps_the_ratio_trusted() {
        for (max, is_trusted) in [
            (500, false),
            (799, false),
            (800, true),
            (1_200, true),
            (1_201, false),
        ] {
            let mut htcp = build::<Htcp>(&[]);
            htcp.epoch.last_max_throughput = 1_000;
            htcp.meter.max = max;
            assert_eq!((htcp.kept(), htcp.trusts_ratio), (64, is_trusted), "{max}");
        }
    }

    #[test]
    fn up_to_ten_milliseconds_a_loss_halves() {
        for (rtt_min, rtt_max, kept) in [
            (10, 15, 64),
            (11, 15, 93),
            (60, 0, 64),
            (11, 11, 102),
            (11, 40, 64),
        ] {
            let mut htcp = build::<Htcp>(&[("bandwidth-switch", Value::Bool(false))]);
            htcp.trusts_ratio = true;
            (htcp.rtt_min, htcp.epoch.rtt_max) = (rtt_min, rtt_max);
            assert_eq!(htcp.kept(), kept, "{rtt_min} of {rtt_max} ms");
        }
    }

    /// Returns H-TCP with a smallest round-trip time of 100 ms. Throughput is measured from time
    /// zero.
    fn counting() -> Htcp {
        let mut htcp = build::<Htcp>(&[]);
        htcp.rtt_min = 100;
        htcp.meter.since = Some(0);
        htcp
    }

    #[test]
    fn throughput_is_measured_over_a_window_and_a_round_trip() {
        let (mut htcp, w) = (counting(), window(12.0, 5.0));
        let mut heard = |ms, acked| {
            htcp.measure(&w, &ack(at_ms(ms), acked));
            (htcp.meter.filtered, htcp.meter.max, htcp.meter.segments)
        };
        assert_eq!(heard(99, 10), (0, 0, 10));
        // The sample is 12 segments in 100 ms. The first rounds of an epoch use the sample without
        // a filter.
        assert_eq!(heard(100, 2), (120, 120, 0));
        assert_eq!(heard(350, 25), (100, 100, 0));
        // Ten segments are less than a window less alpha, so they are no sample yet.
        assert_eq!(heard(500, 10), (100, 100, 10));
        // From the fourth round on a new sample has a weight of a quarter. This sample has 40
        // segments in 200 ms.
        assert_eq!(heard(550, 30), (125, 125, 0));
        // The filtered rate is (3 * 125 + 50) / 4 = 106. The largest rate stays at 125.
        assert_eq!(heard(950, 20), (106, 125, 0));
        // A sample needs a window less alpha. With an alpha of two, 10 of 12 segments are enough.
        htcp.alpha = 2 * ONE;
        htcp.measure(&w, &ack(at_ms(1_050), 10));
        assert_eq!((htcp.meter.filtered, htcp.meter.segments), (104, 0));
    }

    #[test]
    fn throughput_is_counted_anew_after_a_recovery() {
        for (state, segments, since) in [
            (RecoveryState::Open, 7, 0),
            (RecoveryState::Disorder, 7, 0),
            (RecoveryState::Recovery, 0, 50),
            (RecoveryState::Loss, 0, 50),
        ] {
            let mut htcp = counting();
            htcp.meter.segments = 3;
            htcp.state = state;
            htcp.measure(&window(100.0, 5.0), &ack(at_ms(50), 4));
            assert_eq!(
                (htcp.meter.segments, htcp.meter.since),
                (segments, Some(since))
            );
            // Only in the Open state an ACK counts for the segments that it acknowledged. In other
            // states the count stays at one.
            assert_eq!(htcp.acked, if state == RecoveryState::Open { 4 } else { 1 });
        }
        let mut unwatched = build::<Htcp>(&[("bandwidth-switch", Value::Bool(false))]);
        unwatched.measure(&window(100.0, 5.0), &ack(at_ms(50), 4));
        assert_eq!((unwatched.meter.segments, unwatched.meter.since), (0, None));
    }

    #[test]
    fn the_smallest_round_trip_time_only_falls() {
        let mut htcp = build::<Htcp>(&[]);
        for (rtt, smallest) in [(60, 60), (50, 50), (70, 50)] {
            htcp.measure_rtt(rtt, true);
            assert_eq!(htcp.rtt_min, smallest);
        }
    }
}
