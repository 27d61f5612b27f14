//! Random early detection (RED): drops arrivals with a probability that grows with the average
//! queue. The source is S. Floyd and V. Jacobson, "Random early detection gateways for congestion
//! avoidance", IEEE/ACM Transactions on Networking 1(4), 1993.

use super::discipline::{ManagedQueue, Start};
use super::fifo::{Fifo, Queued};
use super::{Effects, Limit};
use crate::LinkError;
use fadeout_core::aqm::{Threshold, ThresholdError, next_on_grid};
use fadeout_core::random::Stream;
use fadeout_core::registry::{
    Entry, OutOfRange, Parameter, Registered, Settings, flag, in_range, integer, number,
};
use fadeout_core::{Bytes, Rate, Span, Time, math};

/// Average queue length below which the average is set to zero.
const LEAST_AVERAGE: f64 = 1e-6;

/// Interval at which adaptive RED changes the maximum probability, and the bounds of that
/// probability (Floyd, Gummadi, Shenker 2001, section 4).
const ADAPT_EVERY: Span = Span::from_millis(500);
const ADAPTED: (f64, f64) = (0.01, 0.5);

const fn packets(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    number(name, (0.0, 1e6, "packets"), default, doc)
}

const fn share(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    number(name, (0.0, 1.0, ""), default, doc)
}

fadeout_core::parameters! {
    /// The parameters that a scenario may give.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RedParameters {
        /// Average queue length below which RED drops no packet (Floyd and Jacobson 1993, section
        /// 4).
        pub min_threshold: f64 = packets("5"),
        /// Average queue length at which the drop probability has its maximum. Three times the
        /// minimum threshold is usual (Floyd 1997).
        pub max_threshold: f64 = packets("15"),
        /// Weight with which the queue length at an arrival enters the average (Floyd and Jacobson
        /// 1993, section 4).
        pub weight: f64 = share("0.002"),
        /// Drop probability at the maximum threshold. The paper of 1993 has 0.02. The
        /// recommendation since 1997 is 0.1.
        pub max_probability: f64 = share("0.1"),
        /// True if the drop probability grows from `max-probability` to one between the maximum
        /// threshold and twice this threshold. If false, it jumps to one at the maximum threshold
        /// (Floyd 2000).
        pub is_gentle as "gentle": bool = flag("true"),
        /// True if RED adapts `max-probability` to the load, twice a second (Floyd, Gummadi,
        /// Shenker 2001).
        pub is_adaptive as "adaptive": bool = flag("false"),
        /// Size of a typical packet. While the link is idle, RED decreases the average as if such
        /// packets arrived at the link's mean rate and found an empty queue.
        pub mean_packet: Bytes = integer((64, 65_535, "bytes"), "1000"),
        /// True if ECN-capable packets are marked in place of being dropped (RFC 3168).
        pub ecn: bool = flag("true"),
    }
}

/// RED on a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RedConfig {
    /// Parameters of RED.
    pub parameters: RedParameters,
    /// Transmission time of a typical packet. It sets how fast the average falls while the queue is
    /// empty.
    pub packet_time: Span,
}

impl RedConfig {
    /// Returns RED with these parameters on a link with this mean rate.
    pub fn on(rate: Rate, parameters: RedParameters) -> RedConfig {
        RedConfig {
            parameters,
            packet_time: rate.time_to_send(parameters.mean_packet),
        }
    }
}

impl Registered<Rate> for RedConfig {
    const ENTRY: Entry = Entry::new(
        "red",
        "active",
        "Random early detection (RED). Drops arriving packets with a probability that grows with \
         the average queue length.",
        "Floyd, Jacobson, IEEE/ACM ToN 1(4), 1993; adaptive: Floyd, Gummadi, Shenker, 2001",
    )
    .with_parameters(RedParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, rate: Rate) -> Self {
        RedConfig::on(rate, RedParameters::read(settings))
    }
}

impl Start for RedConfig {
    type Queue = Red;

    fn start(self, _: Option<Limit>, stream: Stream) -> Result<Option<Red>, LinkError> {
        Red::new(self, stream).map(Some)
    }
}

/// First-in, first-out queue with RED.
#[derive(Debug)]
pub(crate) struct Red {
    config: RedParameters,
    packet_time: Span,
    queue: Fifo,
    average: f64,
    max_probability: f64,
    /// Packets since the last drop. `None` below the minimum threshold.
    count: Option<u32>,
    /// Time since which the queue is empty.
    empty_since: Time,
    adapt_at: Time,
    stream: Stream,
}

/// Decision on an arrival by the average length.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Admit,
    /// Congestion is signalled with this probability.
    Early(f64),
    Drop,
}

impl Red {
    pub(crate) fn new(config: RedConfig, stream: Stream) -> Result<Self, LinkError> {
        let RedConfig {
            parameters: config,
            packet_time,
        } = config;
        check_thresholds(config.min_threshold, config.max_threshold)?;
        in_range("weight", config.weight, 0.0..=1.0)?;
        in_range("max-probability", config.max_probability, 0.0..=1.0)?;
        Ok(Red {
            max_probability: config.max_probability,
            config,
            packet_time,
            queue: Fifo::default(),
            average: 0.0,
            count: None,
            empty_since: Time::ZERO,
            adapt_at: Time::ZERO + ADAPT_EVERY,
            stream,
        })
    }

    /// Updates the average with the queue length at an arrival.
    fn average(&mut self, now: Time) {
        let weight = self.config.weight;
        if self.queue.is_empty() {
            // The idle time counts like arrivals of small packets to an empty queue.
            let idle = now.since(self.empty_since).as_secs_f64();
            let packets = idle / self.packet_time.as_secs_f64();
            // With an unlimited rate the packet time is zero, and 0/0 means no idle time. A lightly
            // loaded link has an average of zero, and needs no power.
            if packets > 0.0 && self.average > 0.0 {
                self.average *= math::pow(1.0 - weight, packets);
                if self.average < LEAST_AVERAGE {
                    self.average = 0.0;
                }
            }
            debug_assert!(self.empty_since <= now, "the queue will be empty");
            self.empty_since = now;
        } else {
            self.average += weight * (self.queue.packets() as f64 - self.average);
        }
    }

    fn verdict(&self) -> Verdict {
        debug_assert!(
            self.average >= 0.0 && self.average.is_finite(),
            "an average queue of {} packets",
            self.average
        );
        debug_assert!(
            (0.0..=1.0).contains(&self.max_probability),
            "a maximum probability of {}",
            self.max_probability
        );
        let RedParameters {
            min_threshold: min,
            max_threshold: max,
            is_gentle,
            ..
        } = self.config;
        let average = self.average;
        if average < min {
            Verdict::Admit
        } else if average < max {
            Verdict::Early(self.max_probability * (average - min) / (max - min))
        } else if is_gentle && average < 2.0 * max {
            let rest = 1.0 - self.max_probability;
            Verdict::Early(self.max_probability + rest * (average - max) / max)
        } else {
            Verdict::Drop
        }
    }

    /// Changes the maximum probability so that the average stays in the middle fifth between the
    /// thresholds. The average does not change between arrivals, so all steps due since the last
    /// one are made now.
    fn adapt(&mut self, now: Time) {
        let RedParameters {
            min_threshold: min,
            max_threshold: max,
            ..
        } = self.config;
        let (low, high) = (min + 0.4 * (max - min), min + 0.6 * (max - min));
        while self.adapt_at <= now {
            let before = self.max_probability;
            if self.average > high && before <= ADAPTED.1 {
                self.max_probability += f64::min(0.01, before / 4.0);
            } else if self.average < low && before >= ADAPTED.0 {
                self.max_probability *= 0.9;
            }
            self.adapt_at += ADAPT_EVERY;
            if self.max_probability == before {
                // The parameter changes only after the average queue has changed, so the next
                // update is skipped to its time on the grid.
                self.adapt_at = next_on_grid(self.adapt_at, ADAPT_EVERY, now);
            }
        }
    }
}

/// Checks that the minimum threshold is not negative, and that the maximum is larger.
fn check_thresholds(minimum: f64, maximum: f64) -> Result<(), OutOfRange> {
    in_range("min-threshold", minimum, 0.0..)?;
    if maximum > minimum {
        return Ok(());
    }
    Err(OutOfRange {
        name: "max-threshold",
        value: maximum.to_string(),
        expected: format!("more than the `min-threshold` of {minimum}"),
    })
}

impl ManagedQueue for Red {
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool {
        let now = arrival.arrived_at;
        if self.config.is_adaptive {
            self.adapt(now);
        }
        self.average(now);
        let is_admitted = match self.verdict() {
            Verdict::Admit => {
                self.count = None;
                true
            }
            Verdict::Drop => {
                self.count = Some(0);
                false
            }
            Verdict::Early(probability) => {
                debug_assert!(
                    (0.0..=1.0).contains(&probability),
                    "a probability of {probability}"
                );
                let count = self.count.map_or(0, |count| count + 1);
                self.count = Some(count);
                // This spreads the drops evenly, with uniform instead of geometric gaps.
                let left = 1.0 - f64::from(count) * probability;
                let is_chosen = left <= 0.0 || self.stream.chance(probability / left);
                if is_chosen {
                    self.count = Some(0);
                }
                // Above the maximum threshold marks are not enough, so packets are dropped (RFC
                // 3168 section 7).
                let may_mark = self.config.ecn && self.average < self.config.max_threshold;
                !is_chosen || (may_mark && effects.mark(arrival.packet))
            }
        };
        if is_admitted {
            self.queue.push(arrival);
        }
        is_admitted
    }

    fn dequeue(&mut self, now: Time, _: &mut Effects<'_>) -> Option<Queued> {
        let head = self.queue.pop();
        if self.queue.is_empty() {
            self.empty_since = now;
        }
        head
    }

    fn set_threshold(&mut self, _: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        let mut config = self.config;
        match threshold {
            Threshold::Minimum(packets) => config.min_threshold = packets,
            Threshold::Maximum(packets) => config.max_threshold = packets,
            Threshold::Target(_) | Threshold::Marking(_) => return Err(ThresholdError::Absent),
        }
        check_thresholds(config.min_threshold, config.max_threshold)?;
        self.config = config;
        Ok(())
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, ms};
    use super::*;
    use fadeout_core::Ecn;

    fn config() -> RedConfig {
        config_with(RedParameters::default())
    }

    /// Returns RED on a link of 8 Mbit/s.
    fn config_with(parameters: RedParameters) -> RedConfig {
        RedConfig::on(Rate::from_bits_per_sec(8_000_000), parameters)
    }

    fn red(config: RedConfig) -> Red {
        Red::new(config, Stream::new(1, "link.aqm", 0)).expect("valid")
    }

    fn verdict(config: RedConfig, average: f64) -> Verdict {
        let mut red = red(config);
        red.average = average;
        red.verdict()
    }

    #[test]
    fn the_probability_rises_from_the_minimum_to_twice_the_maximum_threshold() {
        assert_eq!(verdict(config(), 4.9), Verdict::Admit);
        assert_eq!(verdict(config(), 5.0), Verdict::Early(0.0));
        assert_eq!(verdict(config(), 10.0), Verdict::Early(0.05));
        assert_eq!(verdict(config(), 15.0), Verdict::Early(0.1));
        let Verdict::Early(gentle) = verdict(config(), 22.5) else {
            panic!("gentle has a probability there");
        };
        // Halfway between the maximum threshold and twice this threshold, the probability is
        // halfway between 0.1 and 1.
        assert!((gentle - 0.55).abs() < 1e-12);
        assert_eq!(verdict(config(), 30.0), Verdict::Drop);
    }

    #[test]
    fn without_gentle_everything_is_dropped_from_the_maximum_threshold_on() {
        let config = config_with(RedParameters {
            is_gentle: false,
            ..RedParameters::default()
        });
        assert_eq!(verdict(config, 15.0), Verdict::Drop);
    }

    #[test]
    fn the_average_is_exponentially_weighted_over_arrivals() {
        let mut red = red(config_with(RedParameters {
            weight: 0.01,
            ..RedParameters::default()
        }));
        let mut rig = Rig::default();
        for _ in 0..4 {
            let arrival = rig.full(ms(0));
            red.queue.push(arrival);
        }
        for _ in 0..100 {
            red.average(ms(1));
        }
        let expected = 4.0 * (1.0 - math::pow(0.99, 100.0));
        assert!((red.average - expected).abs() < 1e-12);
    }

    #[test]
    fn an_idle_link_lets_the_average_fall_by_a_weight_a_packet_time() {
        let mut red = red(config());
        red.average = 10.0;
        // At 8 Mbit/s a packet of 1000 bytes takes a millisecond to send.
        red.average(ms(500));
        assert!((red.average - 10.0 * math::pow(0.998, 500.0)).abs() < 1e-9);
        red.average(ms(500));
        assert!((red.average - 10.0 * math::pow(0.998, 500.0)).abs() < 1e-9);
    }

    /// Returns the gaps between drops while the average stays at `average`.
    fn gaps(average: f64, n: u32) -> Vec<u32> {
        let mut red = red(config_with(RedParameters {
            weight: 0.0,
            ..RedParameters::default()
        }));
        red.average = average;
        let mut rig = Rig::default();
        let first = rig.full(ms(0));
        red.queue.push(first);
        let mut gap = 0;
        let mut gaps = Vec::new();
        for _ in 0..n {
            let arrival = rig.full(ms(0));
            gap += 1;
            if !red.enqueue(arrival, &mut rig.effects()) {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps
    }

    #[test]
    fn gaps_between_drops_are_uniform_up_to_the_inverse_probability() {
        // Figure 2 of the paper counts the arrival itself. So the gaps for p = 0.05 are uniform on
        // 1..=19, not on 1..=20 as in its section 7.
        let gaps = gaps(10.0, 400_000);
        assert!(gaps.iter().skip(1).all(|gap| (1..=19).contains(gap)));
        let mean = gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / gaps.len() as f64;
        // The mean is 10, with a standard deviation of 5.48 over 40 000 gaps. The limit is five
        // standard errors.
        assert!((mean - 10.0).abs() < 5.0 * 5.48 / 200.0, "{mean}");
    }

    #[test]
    fn ecn_capable_packets_are_marked_below_the_maximum_threshold_and_dropped_above() {
        for (average, is_marked) in [(14.9, true), (29.9, false)] {
            let mut red = red(config_with(RedParameters {
                weight: 0.0,
                ..RedParameters::default()
            }));
            red.average = average;
            let mut rig = Rig::default();
            let first = rig.full(ms(0));
            red.queue.push(first);
            let mut dropped = 0;
            for _ in 0..100 {
                let arrival = rig.packet(ms(0), 1500, Ecn::Ect0, 0);
                dropped += u32::from(!red.enqueue(arrival, &mut rig.effects()));
            }
            assert_eq!((rig.marked > 5, dropped > 5), (is_marked, !is_marked));
        }
    }

    #[test]
    fn the_adaptive_maximum_probability_follows_the_average_within_its_bounds() {
        let mut red = red(config_with(RedParameters {
            is_adaptive: true,
            ..RedParameters::default()
        }));
        red.average = 14.0;
        red.adapt(ms(1_000));
        assert!((red.max_probability - 0.12).abs() < 1e-12);
        red.adapt(ms(1_000_000));
        assert!((0.5..=0.51).contains(&red.max_probability));
        red.average = 6.0;
        red.adapt(ms(1_000_500));
        assert!((0.45..=0.459).contains(&red.max_probability));
        red.adapt(ms(2_000_000));
        assert!((0.009..=0.01).contains(&red.max_probability));
    }

    #[test]
    fn crossed_thresholds_are_an_error() {
        let config = config_with(RedParameters {
            max_threshold: 5.0,
            ..RedParameters::default()
        });
        let error = Red::new(config, Stream::new(1, "link.aqm", 0)).map(|_| ());
        let message = error.expect_err("crossed").to_string();
        let expected = "max-threshold is 5; expected more than the `min-threshold` of 5";
        assert_eq!(message, expected);
    }
}
