//! Marking by a threshold of the delay, as scalable congestion controls (DCTCP, Prague) expect of a
//! queue.
//!
//! The marking probability is a step, or a ramp if it has a range. The algorithm never drops, so
//! packets that are not ECN-capable pass.
//!
//! Standard: RFC 9332 §4.2; RFC 8257 §3.1.

use super::{Even, Heads, Threshold, ThresholdError};
use crate::registry::{Entry, Registered, Settings, choice, span};
use crate::{Ecn, Span, Time};

crate::parameters! {
    /// A probability that rises with the delay.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Ramp {
        /// Delay at which marking begins. No source gives a value for radio bearers. RFC 9332 has
        /// 800 us for links. The threshold must exceed the time for which bursts of ACKs wait for a
        /// scheduling request. LTE sends these requests every 10 ms by default.
        pub threshold: Span = span("10 ms"),
        /// Range of delay above the threshold over which the share of marked packets grows linearly
        /// from zero to one. With 0 the share jumps to one at the threshold (RFC 9332 appendix
        /// A.1).
        pub range: Span = span("0 ms"),
    }
}

impl Ramp {
    /// Returns the probability at a delay (RFC 9332 appendix A.1, `laqm`).
    #[inline]
    pub fn probability(self, delay: Span) -> f64 {
        let Ramp { threshold, range } = self;
        if delay < threshold {
            0.0
        } else if delay - threshold >= range {
            1.0
        } else {
            (delay - threshold).as_secs_f64() / range.as_secs_f64()
        }
    }
}

crate::choices! {
    /// Which packets are marked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Marks {
        /// All ECN-capable packets: ECT(0), as DCTCP sends, and ECT(1).
        Ect = "ect",
        /// Packets of L4S traffic, with ECT(1) (RFC 9331 section 5.1).
        Ect1 = "ect-1",
    }
}

crate::parameters! {
    /// Parameters of the step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct EcnStepConfig {
        /// Threshold and range of the marking.
        pub ramp: Ramp = group(),
        /// Packets that are marked. `ect`: all ECN-capable packets, which is suitable for DCTCP but
        /// not for classic ECN. `ect-1`: only packets with ECT(1) (L4S, RFC 9331 section 5.1).
        pub marks: Marks = choice(Marks::NAMES, "ect"),
    }
}

impl<Context> Registered<Context> for EcnStepConfig {
    const ENTRY: Entry = Entry::new(
        "ecn-step",
        "active",
        "Marks ECN-capable packets if the delay exceeds a threshold, for DCTCP and Prague. Drops \
         no packets.",
        "RFC 9332 section 4.2; RFC 8257 section 3.1",
    )
    .with_parameters(EcnStepConfig::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Context) -> Self {
        EcnStepConfig::read(settings)
    }
}

/// State of the algorithm for one queue.
#[derive(Debug, Clone)]
pub struct EcnStep {
    config: EcnStepConfig,
    even: Even,
}

impl EcnStep {
    /// Returns the state before the first packet.
    pub fn new(config: EcnStepConfig) -> EcnStep {
        EcnStep {
            config,
            even: Even::default(),
        }
    }

    /// Changes the delay from which on packets are marked. The range above it stays.
    ///
    /// # Errors
    /// Returns [`ThresholdError::Absent`] for another threshold.
    pub fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        let Threshold::Marking(delay) = threshold else {
            return Err(ThresholdError::Absent);
        };
        self.config.ramp.threshold = delay;
        Ok(())
    }

    /// Processes the head, which leaves at `now`, and marks it if a mark is due. A head without
    /// packets behind it is never marked.
    ///
    /// Standard: RFC 9332 §A.1.
    pub fn drop_or_mark_head(&mut self, now: Time, queue: &mut impl Heads) {
        let Some(head) = queue.head() else { return };
        let is_eligible = match self.config.marks {
            Marks::Ect => queue.ecn() != Some(Ecn::NotEct),
            Marks::Ect1 => matches!(queue.ecn(), Some(Ecn::Ect1 | Ecn::Ce)),
        };
        if !is_eligible || head.behind == 0 {
            return;
        }
        debug_assert!(head.entered_at <= now, "the head comes from the future");
        let delay = now.since(head.entered_at);
        if self.even.is_due(self.config.ramp.probability(delay)) {
            queue.mark_head();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Queue, ms};
    use super::*;

    fn ramp(threshold_us: u64, range_us: u64) -> Ramp {
        Ramp {
            threshold: Span::from_micros(threshold_us),
            range: Span::from_micros(range_us),
        }
    }

    #[test]
    fn the_probability_is_a_ramp_or_a_step() {
        let probability_at = |ramp: Ramp, micros| ramp.probability(Span::from_micros(micros));
        assert_eq!(probability_at(ramp(800, 400), 799), 0.0);
        assert!((probability_at(ramp(800, 400), 900) - 0.25).abs() < 1e-12);
        assert_eq!(probability_at(ramp(800, 400), 1_200), 1.0);
        let step = ramp(1_000, 0);
        assert_eq!(
            (probability_at(step, 999), probability_at(step, 1_000)),
            (0.0, 1.0)
        );
    }

    /// Returns the number of marks among 100 heads that have waited `delay_ms`, with `behind`
    /// packets behind them.
    fn marks(config: EcnStepConfig, delay_ms: u64, behind: usize, ecn: Ecn) -> usize {
        let mut law = EcnStep::new(config);
        let mut queue = Queue::default();
        for n in 0..100 {
            queue.stand(1 + behind, ms(n + 100), Span::from_millis(delay_ms), ecn);
            law.drop_or_mark_head(ms(n + 100), &mut queue);
        }
        assert_eq!(queue.dropped, 0, "it never drops");
        queue.marked
    }

    #[test]
    fn every_capable_head_above_the_threshold_is_marked_unless_it_is_alone() {
        let config = EcnStepConfig::default();
        // The first packet raises the sum of probabilities to one, which does not exceed one. So 99
        // of 100 packets are marked.
        assert_eq!(marks(config, 10, 1, Ecn::Ect1), 99);
        assert_eq!(marks(config, 10, 1, Ecn::Ect0), 99);
        assert_eq!(marks(config, 9, 1, Ecn::Ect1), 0);
        assert_eq!(marks(config, 10, 0, Ecn::Ect1), 0);
        assert_eq!(marks(config, 500, 1, Ecn::NotEct), 0);
    }

    #[test]
    fn l4s_marking_leaves_classic_ecn_alone() {
        let config = EcnStepConfig {
            marks: Marks::Ect1,
            ..EcnStepConfig::default()
        };
        assert_eq!(marks(config, 10, 1, Ecn::Ect1), 99);
        assert_eq!(marks(config, 10, 1, Ecn::Ect0), 0);
    }

    #[test]
    fn a_range_marks_a_share() {
        let config = EcnStepConfig {
            ramp: ramp(5_000, 20_000),
            ..EcnStepConfig::default()
        };
        // At a quarter of the range every fourth packet is marked, except the first time, so 24 of
        // 100.
        assert_eq!(marks(config, 10, 1, Ecn::Ect1), 24);
    }
}
