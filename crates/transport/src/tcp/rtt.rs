//! Round-trip time estimation and the retransmission timeout.

use super::config::{RtoRule, TcpConfig};
use fadeout_core::min_filter::MinFilter;
use fadeout_core::{Span, Time};

/// Estimator of the smoothed round-trip time, its variation, and the retransmission timeout.
///
/// Linux's estimator keeps scaled integers in microseconds and tracks the largest deviation within
/// a round trip. It decays the deviation once a round trip, and damps the reaction to falling
/// round-trip times (kernel `tcp_rtt_estimator`). RFC 6298 keeps plain SRTT and RTTVAR.
///
/// Standard: RFC 6298.
#[derive(Debug, Clone)]
pub(super) struct RttEstimator {
    rule: RtoRule,
    minimum: Span,
    maximum: Span,
    tick: Span,
    /// 8 × SRTT, µs. Zero before the first sample.
    srtt8: u64,
    /// 4 × mean deviation, µs.
    mdev4: u64,
    /// Largest `mdev4` of the present round trip, µs.
    mdev_max4: u64,
    /// Variance term of the timeout, µs.
    rttvar4: u64,
    /// Sequence number whose acknowledgment ends the round trip.
    round_ends: u64,
    rto: Span,
    backoff: u32,
    latest: Span,
    min: MinFilter<Span>,
}

impl RttEstimator {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let rto = if config.timers.rto_rule == RtoRule::Fixed {
            config.timers.minimum_rto
        } else {
            config.timers.initial_rto
        };
        RttEstimator {
            rule: config.timers.rto_rule,
            minimum: config.timers.minimum_rto,
            maximum: config.timers.maximum_rto,
            tick: config.timers.tick,
            srtt8: 0,
            mdev4: 0,
            mdev_max4: 0,
            rttvar4: 0,
            round_ends: 0,
            rto,
            backoff: 0,
            latest: Span::ZERO,
            min: MinFilter::new(Span::MAX),
        }
    }

    /// Processes an unambiguous sample. `rtt` is for the estimator. `latest` is for the congestion
    /// control: the round trip of the segment that was acknowledged last.
    #[inline]
    pub(super) fn on_sample(&mut self, now: Time, rtt: Span, latest: Span, una: u64, nxt: u64) {
        self.latest = latest;
        self.min.update(now, latest, MIN_RTT_WINDOW);
        match self.rule {
            RtoRule::Linux => self.update_linux(rtt.as_micros().max(1), una, nxt),
            RtoRule::Rfc6298 | RtoRule::Fixed => self.update_rfc(rtt.as_micros().max(1)),
        }
        self.backoff = 0;
        self.rto = self.base_rto();
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(
            self.rto <= self.maximum.max(self.minimum) || !self.has_sample(),
            "a timeout of {:?} is over its maximum",
            self.rto
        );
        debug_assert!(
            !self.has_sample() || self.min.value() <= self.latest,
            "the smallest round-trip time is above the latest"
        );
        debug_assert!(
            self.has_sample() || self.rttvar4 == 0,
            "a variance without a sample"
        );
    }

    fn update_linux(&mut self, sample: u64, una: u64, nxt: u64) {
        let floor = self.minimum.as_micros();
        if self.srtt8 == 0 {
            self.srtt8 = sample * 8;
            self.mdev4 = sample * 2;
            self.rttvar4 = self.mdev4.max(floor);
            self.mdev_max4 = self.rttvar4;
            self.round_ends = nxt;
            return;
        }
        let error = sample as i64 - (self.srtt8 >> 3) as i64;
        debug_assert!(
            self.srtt8 as i64 + error > 0,
            "the smoothed round-trip time would be negative"
        );
        self.srtt8 = (self.srtt8 as i64 + error) as u64;
        let deviation = self.mdev4 as i64;
        let mut change = error.abs() - (deviation >> 2);
        if error < 0 && change > 0 {
            // A falling round-trip time does not indicate variance, so its weight is reduced to an
            // eighth.
            change >>= 3;
        }
        debug_assert!(
            deviation + change >= 0,
            "the mean deviation would be negative"
        );
        self.mdev4 = (deviation + change) as u64;
        if self.mdev4 > self.mdev_max4 {
            self.mdev_max4 = self.mdev4;
            self.rttvar4 = self.rttvar4.max(self.mdev_max4);
        }
        if una > self.round_ends {
            if self.mdev_max4 < self.rttvar4 {
                self.rttvar4 -= (self.rttvar4 - self.mdev_max4) >> 2;
            }
            self.round_ends = nxt;
            self.mdev_max4 = floor;
        }
    }

    /// Updates the estimator by RFC 6298, with gains of 1/8 for SRTT and 1/4 for RTTVAR.
    ///
    /// Standard: RFC 6298 §2.
    fn update_rfc(&mut self, sample: u64) {
        if self.srtt8 == 0 {
            self.srtt8 = sample * 8;
            self.rttvar4 = sample * 2;
            return;
        }
        // RTTVAR is updated first, with the old SRTT (RFC 6298 rule 2.3).
        let error = (self.srtt8 >> 3).abs_diff(sample);
        self.rttvar4 = self.rttvar4 - (self.rttvar4 >> 2) + error;
        self.srtt8 = self.srtt8 - (self.srtt8 >> 3) + sample;
    }

    fn base_rto(&self) -> Span {
        let micros = (self.srtt8 >> 3) + self.rttvar4;
        let rto = match self.rule {
            RtoRule::Fixed => return self.minimum,
            RtoRule::Linux => Span::from_micros(micros),
            RtoRule::Rfc6298 => Span::from_micros(micros).max(self.minimum),
        };
        round_up(rto, self.tick).min(self.maximum)
    }

    /// Doubles the timeout after the timer expired.
    ///
    /// Standard: RFC 6298 rule 5.5.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
        self.rto = self
            .rto
            .saturating_mul(2)
            .min(self.maximum.max(self.minimum));
    }

    /// Returns the mean deviation of the samples.
    pub(super) fn deviation(&self) -> Span {
        Span::from_nanos(match self.rule {
            RtoRule::Linux => self.mdev4 * 250,
            RtoRule::Rfc6298 | RtoRule::Fixed => self.rttvar4 * 250,
        })
    }
    /// Returns the number of timeouts since the last valid sample.
    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }
    /// Returns the timeout computed from the round-trip times, without backoff.
    pub(super) fn rto_without_backoff(&self) -> Span {
        if self.backoff == 0 {
            self.rto
        } else {
            self.base_rto()
        }
    }
    /// Returns the timeout, including the backoff.
    ///
    /// Standard: RFC 6298 §2, §5.
    pub(super) fn rto(&self) -> Span {
        self.rto
    }
    /// Returns the smallest timeout that is configured.
    pub(super) fn minimum_rto(&self) -> Span {
        self.minimum
    }
    /// Returns the smoothed round-trip time. Zero before the first sample.
    pub(super) fn srtt(&self) -> Span {
        Span::from_nanos(self.srtt8 * 125)
    }
    /// Returns the variance term of the timeout, four times RTTVAR in RFC 6298.
    ///
    /// Standard: RFC 6298 §2.
    pub(super) fn variance(&self) -> Span {
        Span::from_micros(self.rttvar4 / 4)
    }
    /// Returns true if a round-trip time was measured.
    pub(super) fn has_sample(&self) -> bool {
        self.srtt8 != 0
    }
    /// Returns the latest sample. Zero before the first sample.
    pub(super) fn latest(&self) -> Span {
        self.latest
    }
    /// Returns the smallest sample of the last five minutes. [`Span::MAX`] before the first sample.
    pub(super) fn min(&self) -> Span {
        self.min.value()
    }
}

fn round_up(span: Span, tick: Span) -> Span {
    if tick.is_zero() {
        return span;
    }
    Span::from_nanos(span.as_nanos().next_multiple_of(tick.as_nanos()))
}

/// Lifetime of the smallest round-trip time (Linux `tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Span = Span::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(rule: RtoRule, minimum_ms: u64) -> RttEstimator {
        RttEstimator::new(&TcpConfig::linux().changed(|tcp| {
            tcp.timers.rto_rule = rule;
            tcp.timers.minimum_rto = Span::from_millis(minimum_ms);
            tcp.timers.tick = Span::ZERO;
        }))
    }

    fn sample(estimator: &mut RttEstimator, ms: u64) -> f64 {
        let rtt = Span::from_millis(ms);
        estimator.on_sample(Time::ZERO, rtt, rtt, 0, 1);
        estimator.rto().as_nanos() as f64 / 1e6
    }

    #[test]
    fn rfc_6298_example_values_hold() {
        // Reference vectors RTO-1, RTO-2 and RTO-3: timeouts by RFC 6298.
        let mut rtt = estimator(RtoRule::Rfc6298, 0);
        assert_eq!(sample(&mut rtt, 100), 300.0);
        assert_eq!(sample(&mut rtt, 100), 250.0);
        assert_eq!(sample(&mut rtt, 300), 437.5);
        assert_eq!(rtt.srtt(), Span::from_millis(125));
        let mut rtt = estimator(RtoRule::Rfc6298, 0);
        sample(&mut rtt, 100);
        assert_eq!(sample(&mut rtt, 20), 320.0);
        assert_eq!(sample(&mut estimator(RtoRule::Rfc6298, 1000), 100), 1000.0);
    }

    #[test]
    fn the_linux_estimator_damps_falling_round_trips() {
        // Reference vectors RTO-4 and RTO-5: timeouts by Linux's rule.
        let mut rtt = estimator(RtoRule::Linux, 200);
        assert_eq!(sample(&mut rtt, 100), 300.0);
        assert_eq!((sample(&mut rtt, 100), rtt.mdev4), (300.0, 150_000));
        assert_eq!((sample(&mut rtt, 300), rtt.mdev4), (437.5, 312_500));
        let mut rtt = estimator(RtoRule::Linux, 200);
        sample(&mut rtt, 100);
        assert_eq!((sample(&mut rtt, 20), rtt.mdev4), (293.75, 203_750));
    }

    #[test]
    fn the_linux_variance_decays_once_a_round_trip() {
        // Reference vector RTO-6: timeouts by Linux's rule if each sample ends a round trip.
        let mut rtt = estimator(RtoRule::Linux, 200);
        let span = Span::from_millis(500);
        let mut rtos = Vec::new();
        for round in 0..4 {
            rtt.on_sample(Time::ZERO, span, span, 2 * round, 2 * round + 1);
            rtos.push(rtt.rto().as_nanos() as f64 / 1e6);
        }
        assert_eq!(rtos[..3], [1500.0, 1500.0, 1390.625]);
        // The estimator's scaled integers lose less than a microsecond.
        assert!((rtos[3] - 1273.438).abs() < 0.001, "{}", rtos[3]);
    }

    #[test]
    fn the_timeout_doubles_up_to_its_maximum() {
        let mut rtt = estimator(RtoRule::Linux, 200);
        sample(&mut rtt, 100);
        let mut waits = Vec::new();
        for _ in 0..4 {
            waits.push(rtt.rto().as_millis());
            rtt.back_off();
        }
        assert_eq!(waits, [300, 600, 1200, 2400]);
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_secs(120));
    }

    #[test]
    fn a_fixed_timeout_ignores_round_trips_and_still_backs_off() {
        let mut rtt = estimator(RtoRule::Fixed, 200);
        assert_eq!(sample(&mut rtt, 700), 200.0);
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_millis(400));
    }

    #[test]
    fn the_minimum_forgets_after_five_minutes() {
        let mut min = MinFilter::new(Span::MAX);
        min.update(Time::ZERO, Span::from_millis(10), MIN_RTT_WINDOW);
        for second in 1..310 {
            min.update(
                Time::ZERO + Span::from_secs(second),
                Span::from_millis(20),
                MIN_RTT_WINDOW,
            );
        }
        assert_eq!(min.value(), Span::from_millis(20));
    }

    #[test]
    fn a_round_trip_of_the_variance_ends_behind_what_was_sent_when_it_began() {
        let mut rtt = estimator(RtoRule::Linux, 200);
        let span = Span::from_millis(500);
        let mut rto_after = |una, nxt| {
            rtt.on_sample(Time::ZERO, span, span, una, nxt);
            rtt.rto()
        };
        let first = rto_after(0, 10);
        // The deviation is largest in the first round trip. It decays from the second round trip
        // on.
        assert_eq!(rto_after(11, 20), first);
        assert_eq!(rto_after(20, 30), first, "20 is still of the second");
        assert!(rto_after(21, 30) < first);
    }

    #[test]
    fn what_is_reported_of_the_samples_is_in_their_unit() {
        for rule in [RtoRule::Linux, RtoRule::Rfc6298] {
            let mut rtt = estimator(rule, 20);
            assert!(!rtt.has_sample());
            sample(&mut rtt, 100);
            assert!(rtt.has_sample());
            assert_eq!(rtt.deviation(), Span::from_millis(50), "half of the first");
            assert_eq!(rtt.variance(), Span::from_millis(50));
            assert_eq!(rtt.minimum_rto(), Span::from_millis(20));
        }
    }

    #[test]
    fn backoff_counts_timeouts_and_the_timeout_without_it_stays() {
        let mut rtt = estimator(RtoRule::Linux, 200);
        sample(&mut rtt, 100);
        for timeouts in 0..3 {
            assert_eq!(rtt.backoff(), timeouts);
            assert_eq!(rtt.rto_without_backoff(), Span::from_millis(300));
            rtt.back_off();
        }
        sample(&mut rtt, 100);
        assert_eq!(rtt.backoff(), 0, "a sample ends it");
    }

    /// Before the first sample no timeout can be computed.
    #[test]
    fn the_initial_timeout_stands_until_the_first_sample() {
        let rtt = estimator(RtoRule::Linux, 200);
        assert_eq!(
            rtt.rto_without_backoff(),
            TcpConfig::linux().timers.initial_rto
        );
    }
}
