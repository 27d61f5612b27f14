//! Probe timeout of a connection, computed because the QUIC stack does not report it.

use fadeout_core::Span;

/// Resolution of the stack's timers (kGranularity).
///
/// Standard: RFC 9002 §6.1.2.
const GRANULARITY: Span = Span::from_millis(1);
/// Longest time by which a receiver delays an ACK, by default.
///
/// Standard: RFC 9000 §18.2.
const MAX_ACK_DELAY: Span = Span::from_millis(25);

/// Smoothed round-trip time of a path, and its variation.
///
/// The stack reports the smoothed time, from which each sample follows. A sample is within eight
/// nanoseconds of the stack's.
///
/// Standard: RFC 9002 §5.3.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimator {
    smoothed: Option<Span>,
    variation: Span,
    initial: Span,
}

impl Estimator {
    pub(crate) fn new(initial: Span) -> Estimator {
        Estimator {
            smoothed: None,
            variation: initial / 2,
            initial,
        }
    }

    /// Processes a sample after which the stack's smoothed time is `smoothed`.
    pub(crate) fn on_sample(&mut self, smoothed: Span) {
        match self.smoothed {
            None => self.variation = smoothed / 2,
            Some(before) => {
                let nanos = |span: Span| i128::from(span.as_nanos());
                let sample = 8 * nanos(smoothed) - 7 * nanos(before);
                let difference = (nanos(before) - sample).unsigned_abs();
                let difference = u64::try_from(difference).unwrap_or(u64::MAX);
                let sum = 3 * u128::from(self.variation.as_nanos()) + u128::from(difference);
                let variation = u64::try_from(sum / 4).unwrap_or(u64::MAX);
                self.variation = Span::from_nanos(variation);
            }
        }
        self.smoothed = Some(smoothed);
    }

    /// Returns the smoothed round-trip time. Zero before the first sample.
    pub(crate) fn smoothed(&self) -> Span {
        self.smoothed.unwrap_or(Span::ZERO)
    }

    /// Returns the probe timeout of application data, without backoff.
    ///
    /// Standard: RFC 9002 §6.2.1.
    pub(crate) fn probe_timeout(&self) -> Span {
        let smoothed = self.smoothed.unwrap_or(self.initial);
        let variation = self.variation.saturating_mul(4).max(GRANULARITY);
        smoothed
            .saturating_add(variation)
            .saturating_add(MAX_ACK_DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_before_a_sample_is_one_second_with_the_rfcs_initial_time() {
        let estimator = Estimator::new(Span::from_millis(333));
        // 333 ms + 4 · 166.5 ms, as in RFC 9002 section 6.2.2, and 25 ms for a delayed ACK.
        assert_eq!(estimator.probe_timeout(), Span::from_millis(999 + 25));
    }

    #[test]
    fn the_variation_of_constant_samples_falls_by_a_quarter_each_time() {
        let mut estimator = Estimator::new(Span::from_millis(333));
        let rtt = Span::from_millis(40);
        for _ in 0..3 {
            estimator.on_sample(rtt);
        }
        // The variation is 20 ms after the first sample, then 15 ms and 11.25 ms.
        let expected = Span::from_micros(40_000 + 4 * 11_250 + 25_000);
        assert_eq!(estimator.probe_timeout(), expected);
        for _ in 0..60 {
            estimator.on_sample(rtt);
        }
        assert_eq!(estimator.probe_timeout(), Span::from_millis(40 + 1 + 25));
    }

    #[test]
    fn a_sample_follows_from_two_smoothed_times() {
        let mut estimator = Estimator::new(Span::from_millis(333));
        estimator.on_sample(Span::from_millis(40));
        // A sample of 80 ms: 7/8 · 40 ms + 1/8 · 80 ms, and a variation of (3 · 20 + 40) / 4 ms.
        estimator.on_sample(Span::from_millis(45));
        assert_eq!(estimator.smoothed(), Span::from_millis(45));
        assert_eq!(estimator.probe_timeout(), Span::from_millis(45 + 100 + 25));
    }
}
