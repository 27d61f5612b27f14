//! Proportional integral controller, enhanced (PIE): drops arrivals with a probability that follows
//! the queueing delay and its change.
//!
//! Standard: RFC 8033.

use super::{Threshold, ThresholdError, next_on_grid};
use crate::random::Stream;
use crate::registry::{
    Entry, OutOfRange, Registered, Settings, flag, in_range, integer, number, span,
};
use crate::{Span, Time};

/// Smallest time between updates that is simulated.
pub const SHORTEST_UPDATE: Span = Span::from_micros(100);

/// Limits of the probability, and divisors of the adjustment below each limit.
///
/// Standard: RFC 8033 §4.2, §A.
const SCALE: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

crate::parameters! {
    /// Parameters of PIE.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct PieConfig {
        /// Target delay (QDELAY_REF, RFC 8033 section 4.2).
        pub target: Span = span("15 ms"),
        /// Time between updates of the drop probability (T_UPDATE, RFC 8033 section 4.2).
        pub update_every as "update-interval": Span = span("15 ms"),
        /// Length of a burst after a quiet time during which PIE drops no packet (MAX_BURST, RFC
        /// 8033 section 4.4).
        pub max_burst: Span = span("150 ms"),
        /// Gain for the difference between delay and target (RFC 8033 section 4.2).
        pub alpha: f64 = number((0.0, 1000.0, "1/s"), "0.125"),
        /// Gain for the change of the delay (RFC 8033 section 4.2).
        pub beta: f64 = number((0.0, 1000.0, "1/s"), "1.25"),
        /// Mean packet size. PIE drops no packet from a queue of at most two packets of this size
        /// (RFC 8033 section 4.1). The default is the value of RFC 8034.
        pub mean_packet: u64 = integer((64, 65_535, "bytes"), "1024"),
        /// True if drops are spaced more evenly: neither in clusters nor with long gaps (RFC 8033
        /// section 5.4, optional).
        pub derandomize: bool = flag("false"),
        /// True if PIE is inactive until a third of the queue's limit is used. PIE becomes inactive
        /// again when its probability is zero and the delay is below half the target (RFC 8033
        /// section 5.3, optional).
        pub switches_off: bool = flag("false"),
        /// True if ECN-capable packets are marked in place of being dropped (RFC 3168).
        pub ecn: bool = flag("true"),
        /// Probability above which ECN-capable packets are dropped as well (mark_ecnth, RFC 8033
        /// section 5.1).
        pub mark_limit: f64 = number((0.0, 1.0, ""), "0.1"),
    }
}

impl PieConfig {
    /// Checks the values that the algorithm needs.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        in_range("update-interval", self.update_every, SHORTEST_UPDATE..)?;
        in_range("alpha", self.alpha, 0.0..=1000.0)?;
        in_range("beta", self.beta, 0.0..=1000.0)?;
        in_range("mark-limit", self.mark_limit, 0.0..=1.0)
    }
}

impl<Context> Registered<Context> for PieConfig {
    const ENTRY: Entry = Entry::new(
        "pie",
        "active",
        "PIE. Drops arriving packets with a probability that follows the queueing delay and its \
         change.",
        "RFC 8033",
    )
    .with_parameters(PieConfig::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Context) -> Self {
        PieConfig::read(settings)
    }
}

/// Decision on an arrival: kept, marked or dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The packet passes.
    Pass,
    /// The packet is marked and passes if it is ECN-capable. Otherwise it is dropped.
    Mark,
    /// The packet is dropped.
    Drop,
}

/// Controller state that an update changes.
#[derive(Debug, Clone, Copy)]
struct Control {
    probability: f64,
    old_delay: Span,
    burst_allowance: Span,
}

impl Control {
    /// Returns the state before any update.
    fn begin(config: &PieConfig) -> Control {
        Control {
            probability: 0.0,
            old_delay: Span::ZERO,
            burst_allowance: config.max_burst,
        }
    }

    /// Updates the state with the current delay.
    ///
    /// Returns true if congestion is over: the probability is zero, and the delay was below half
    /// the target twice in a row.
    ///
    /// Standard: RFC 8033 §4.2, §A.
    fn update(&mut self, config: &PieConfig, delay: Span) -> bool {
        debug_assert!(
            (0.0..=1.0).contains(&self.probability),
            "a probability of {}",
            self.probability
        );
        let (now, old) = (delay.as_secs_f64(), self.old_delay.as_secs_f64());
        let change = config.alpha * (now - config.target.as_secs_f64()) + config.beta * (now - old);
        let scale = SCALE
            .iter()
            .find(|(below, _)| self.probability < *below)
            .map_or(1.0, |(_, scale)| *scale);
        let mut change = change / scale;
        // RFC 8033 section 5.5 limits the increase to 2 % if the probability is high.
        if self.probability >= 0.1 {
            change = change.min(0.02);
        }
        self.probability += change;
        if delay.is_zero() && self.old_delay.is_zero() {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        debug_assert!(change.is_finite(), "the probability changes by {change}");
        self.burst_allowance = self.burst_allowance.saturating_sub(config.update_every);
        let half = config.target / 2;
        let is_over = self.probability == 0.0 && delay < half && self.old_delay < half;
        if is_over {
            self.burst_allowance = config.max_burst;
        }
        self.old_delay = delay;
        is_over
    }
}

/// State of the algorithm for one queue.
#[derive(Debug, Clone)]
pub struct Pie {
    config: PieConfig,
    control: Control,
    /// Sum of the probabilities of all packets since the last drop.
    accumulated: f64,
    may_switch_off: bool,
    is_active: bool,
    /// Time of the next update on a fixed grid. Updates that are due are made before the queue
    /// changes.
    update_at: Time,
    stream: Stream,
}

impl Pie {
    /// Returns the state before the first packet. `has_limit`: true if the queue has a limit.
    /// Without a limit no event could turn the algorithm on again.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range.
    pub fn new(config: PieConfig, has_limit: bool, stream: Stream) -> Result<Pie, OutOfRange> {
        config.check()?;
        let may_switch_off = config.switches_off && has_limit;
        Ok(Pie {
            update_at: Time::ZERO + config.update_every,
            control: Control::begin(&config),
            config,
            accumulated: 0.0,
            may_switch_off,
            is_active: !may_switch_off,
            stream,
        })
    }

    /// Returns true if the algorithm is inactive until a third of the limit is used.
    #[inline]
    pub fn is_off(&self) -> bool {
        !self.is_active
    }

    /// Changes the target delay. The probability stays, and the next update follows the new target.
    /// Must be called after [`catch_up`](Pie::catch_up).
    ///
    /// # Errors
    /// Returns [`ThresholdError::Absent`] for another threshold.
    pub fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        let Threshold::Target(target) = threshold else {
            return Err(ThresholdError::Absent);
        };
        self.config.target = target;
        Ok(())
    }

    /// Activates the algorithm, because an arrival fills a third of the limit.
    ///
    /// Standard: RFC 8033 §5.3.
    pub fn wake(&mut self) {
        self.is_active = true;
        self.control = Control::begin(&self.config);
    }

    /// Decides on an arrival at a queue of `bytes` bytes. Must be called after
    /// [`catch_up`](Pie::catch_up).
    #[inline]
    pub fn on_arrival(&mut self, bytes: u64) -> Verdict {
        if self.is_active && self.control.burst_allowance.is_zero() && self.is_chosen(bytes) {
            let may_mark = self.config.ecn && self.control.probability <= self.config.mark_limit;
            return if may_mark {
                Verdict::Mark
            } else {
                Verdict::Drop
            };
        }
        Verdict::Pass
    }

    /// Returns true if an arrival is chosen at random.
    ///
    /// Standard: RFC 8033 §4.1, §5.4.
    fn is_chosen(&mut self, bytes: u64) -> bool {
        let probability = self.control.probability;
        debug_assert!(
            self.accumulated >= 0.0,
            "a probability of {} is gathered",
            self.accumulated
        );
        let is_quiet = self.control.old_delay < self.config.target / 2 && probability < 0.2;
        if is_quiet || bytes <= 2 * self.config.mean_packet {
            return false;
        }
        if !self.config.derandomize {
            return self.stream.chance(probability);
        }
        self.accumulated = if probability == 0.0 {
            0.0
        } else {
            self.accumulated + probability
        };
        let is_chosen = self.accumulated >= 0.85
            && (self.accumulated >= 8.5 || self.stream.chance(probability));
        if is_chosen {
            self.accumulated = 0.0;
        }
        is_chosen
    }

    /// Makes the updates due by `now`, before the queue changes. No packet has entered or left
    /// since the last update. So the delay at each update is the age of the head at its time.
    /// `head_since` is the arrival of the head. `None` if the queue is empty.
    pub fn catch_up(&mut self, now: Time, head_since: Option<Time>) {
        if !self.is_active {
            self.update_at = next_on_grid(self.update_at, self.config.update_every, now);
            return;
        }
        while self.update_at <= now {
            let delay = head_since.map_or(Span::ZERO, |since| self.update_at.since(since));
            let is_settled = head_since.is_none()
                && self.control.probability == 0.0
                && self.control.old_delay.is_zero();
            let is_over = self.control.update(&self.config, delay);
            self.update_at += self.config.update_every;
            self.is_active = !(is_over && self.may_switch_off);
            if is_settled || !self.is_active {
                self.update_at = next_on_grid(self.update_at, self.config.update_every, now);
            }
        }
        debug_assert!(self.update_at > now, "an update is left in the past");
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SIZE, ms};
    use super::*;
    use std::collections::VecDeque;

    fn pie(config: PieConfig) -> Pie {
        Pie::new(config, false, Stream::new(1, "test.aqm", 0)).expect("valid")
    }

    fn control(probability: f64, old_delay: Span) -> Control {
        Control {
            probability,
            old_delay,
            burst_allowance: Span::ZERO,
        }
    }

    /// Returns an algorithm with a constant probability.
    fn frozen(probability: f64, config: PieConfig) -> Pie {
        let mut pie = pie(config);
        pie.update_at = Time::NEVER;
        pie.control = control(probability, Span::from_millis(100));
        pie
    }

    #[test]
    fn an_update_is_scaled_down_while_the_probability_is_small() {
        let (delay, old) = (Span::from_millis(25), Span::from_millis(20));
        // The change by the formula of the RFC is 0.125 (25 - 15) ms + 1.25 (25 - 20) ms.
        let full = 0.125 * 0.010 + 1.25 * 0.005;
        let table = [
            (5e-7, 2048.0),
            (5e-6, 512.0),
            (5e-5, 128.0),
            (5e-4, 32.0),
            (5e-3, 8.0),
            (5e-2, 2.0),
            (0.3, 1.0),
        ];
        for (probability, scale) in table {
            let mut control = control(probability, old);
            control.update(&PieConfig::default(), delay);
            let change = control.probability - probability;
            assert!((change - full / scale).abs() < 1e-12, "{probability}");
        }
    }

    #[test]
    fn a_high_probability_grows_by_at_most_two_percent_an_update() {
        let mut control = control(0.1, Span::ZERO);
        control.update(&PieConfig::default(), Span::from_millis(500));
        assert!((control.probability - 0.12).abs() < 1e-12);
    }

    #[test]
    fn the_probability_decays_when_the_queue_stays_empty() {
        let mut control = control(0.5, Span::ZERO);
        control.update(&PieConfig::default(), Span::ZERO);
        let expected = (0.5 - 0.125 * 0.015) * 0.98;
        assert!((control.probability - expected).abs() < 1e-12);
    }

    /// Queue that gets two packets each millisecond and serves one. The hundredth packet fills a
    /// third of its limit.
    #[derive(Default)]
    struct Overload {
        arrivals: VecDeque<Time>,
    }

    impl Overload {
        /// Returns the times of drops in milliseconds.
        fn run(&mut self, pie: &mut Pie, times: std::ops::Range<u64>) -> Vec<u64> {
            let mut drops = Vec::new();
            for n in times {
                for _ in 0..2 {
                    pie.catch_up(ms(n), self.arrivals.front().copied());
                    if pie.is_off() && self.arrivals.len() >= 100 {
                        pie.wake();
                    }
                    match pie.on_arrival(self.arrivals.len() as u64 * SIZE) {
                        Verdict::Pass => self.arrivals.push_back(ms(n)),
                        Verdict::Mark | Verdict::Drop => drops.push(n),
                    }
                }
                self.serve(pie, n);
            }
            drops
        }

        fn serve(&mut self, pie: &mut Pie, n: u64) {
            pie.catch_up(ms(n), self.arrivals.front().copied());
            self.arrivals.pop_front();
        }
    }

    #[test]
    fn one_that_switches_off_begins_at_a_third_of_the_limit_and_ends_with_the_congestion() {
        let config = PieConfig {
            switches_off: true,
            ..PieConfig::default()
        };
        let mut pie = Pie::new(config, true, Stream::new(1, "test.aqm", 0)).expect("valid");
        let mut queue = Overload::default();
        // The queue grows by a packet each millisecond. It has a hundred after 100 ms, and the
        // burst allowance of 150 ms follows.
        let drops = queue.run(&mut pie, 10_000..10_099);
        assert!(drops.is_empty() && pie.is_off());
        let drops = queue.run(&mut pie, 10_099..10_400);
        let first = *drops.first().expect("drops follow");
        assert!((10_245..10_275).contains(&first), "{first}");
        // Without arrivals the queue empties, the probability falls to zero, and the algorithm
        // turns off.
        (10_400..14_000).for_each(|n| queue.serve(&mut pie, n));
        assert!(pie.is_off() && queue.arrivals.is_empty());
    }

    #[test]
    fn without_a_limit_it_never_switches_off() {
        let pie = pie(PieConfig {
            switches_off: true,
            ..PieConfig::default()
        });
        assert!(!pie.is_off());
    }

    #[test]
    fn a_burst_of_150_ms_passes_untouched() {
        let drops = Overload::default().run(&mut pie(PieConfig::default()), 10_000..10_400);
        // The delay exceeds half the target 15 ms after the start. Ten updates of 15 ms then use up
        // the burst allowance.
        let first = *drops.first().expect("drops follow");
        assert!((10_150..10_200).contains(&first), "{first}");
    }

    #[test]
    fn quiet_restores_the_burst_allowance() {
        let mut pie = pie(PieConfig::default());
        Overload::default().run(&mut pie, 10_000..10_400);
        assert!(pie.control.burst_allowance.is_zero());
        pie.catch_up(ms(60_000), None);
        assert_eq!(pie.control.burst_allowance, Span::from_millis(150));
        assert_eq!(pie.control.probability, 0.0);
        assert!(pie.update_at > ms(60_000) && pie.update_at <= ms(60_015));
    }

    #[test]
    fn capable_packets_are_marked_up_to_the_limit_and_dropped_beyond() {
        for (probability, verdict) in [(0.1, Verdict::Mark), (0.11, Verdict::Drop)] {
            let mut pie = frozen(probability, PieConfig::default());
            let all: Vec<Verdict> = (0..1_000).map(|_| pie.on_arrival(10 * SIZE)).collect();
            assert!(all.iter().filter(|&&of| of == verdict).count() > 50);
            assert!(all.iter().all(|&of| of == verdict || of == Verdict::Pass));
        }
    }

    /// Returns the gaps between drops at a fixed probability.
    fn gaps(derandomize: bool, probability: f64) -> Vec<u32> {
        let config = PieConfig {
            derandomize,
            ..PieConfig::default()
        };
        let mut pie = frozen(probability, config);
        let (mut gap, mut gaps) = (0, Vec::new());
        for _ in 0..200_000 {
            gap += 1;
            if pie.on_arrival(10 * SIZE) != Verdict::Pass {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps
    }

    #[test]
    fn drops_have_the_probability() {
        let drops = gaps(false, 0.05).len() as f64;
        // The limit is five standard errors of a binomial count.
        let error = (200_000.0 * 0.05 * 0.95_f64).sqrt();
        assert!((drops - 10_000.0).abs() < 5.0 * error, "{drops}");
    }

    #[test]
    fn derandomised_drops_keep_their_distance() {
        // In RFC 8033 section 5.4 gaps have at least 0.85 / p and at most 8.5 / p packets. With p =
        // 1/16 sums of p are exact.
        let gaps = gaps(true, 0.0625);
        let range = 14..=136;
        assert!(gaps.iter().skip(1).all(|gap| range.contains(gap)));
    }

    #[test]
    fn a_queue_of_two_packets_is_left_alone() {
        let mut pie = frozen(1.0, PieConfig::default());
        // The limit of 2048 bytes is two mean packets. The third arrival finds 3000 bytes and is
        // dropped.
        let verdicts = [0, SIZE, 2 * SIZE].map(|bytes| pie.on_arrival(bytes));
        assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Drop]);
    }
}
