//! Decisions of an agent about one flow, apart from the run: measurements, observations, and the
//! window or rate that an action means.
//!
//! [`Episode`](super::Episode) has one for each agent. A policy that is a congestion control of an
//! ordinary run has one at its sender, so both measure and decide in the same way.

use super::features::{FEATURES, Measured};
use super::meter::{Meter, Reading};
use fadeout_core::{Rate, Span};

/// Meaning of an agent's action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Relative change of the pacing rate. An action a ≥ 0 multiplies the rate by 1 + step · a, and
    /// a < 0 divides it by 1 − step · a. The window then limits nothing. Source: Jay et al., "A
    /// deep reinforcement learning perspective on internet congestion control", ICML 2019, section
    /// 3.1.
    RateFactor {
        /// Largest relative change for an action of 1.
        step: f64,
    },
    /// The action a multiplies the window of the flow's congestion control by 4^a, once. Source:
    /// Abbasloo et al., "Classic meets modern: a pragmatic learning-based congestion control",
    /// SIGCOMM 2020, section 4.
    WindowPower,
    /// The action a holds a congestion window of 10^(2 + 2a) segments until the next decision.
    Window,
}

/// Length of the decision intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interval {
    /// Number of round-trip times: the mean of the previous interval. With several agents, the
    /// longest one counts.
    RoundTrips(f64),
    /// Fixed time.
    Fixed(Span),
}

/// Shortest and longest interval of a number of round-trip times.
const INTERVALS: [f64; 2] = [1e-4, 1.0];

impl Interval {
    /// Returns the length of an interval after a mean round-trip time.
    pub fn length(self, rtt_s: f64) -> Span {
        match self {
            Interval::Fixed(span) => span,
            Interval::RoundTrips(count) => {
                let [least, most] = INTERVALS;
                Span::from_secs_f64((count * rtt_s).clamp(least, most))
            }
        }
    }
}

/// Window and pacing rate that an agent sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Nothing changes.
    Keep,
    /// Pacing at a rate in Mbit/s, with a window in segments that does not limit the sender.
    Pace {
        /// Pacing rate of the payload, Mbit/s.
        rate_mbps: f64,
        /// Congestion window, segments.
        window: f64,
    },
    /// A window in segments that neither ACKs nor losses change.
    Hold(f64),
    /// A window in segments from which the congestion control continues.
    Continue(f64),
}

/// Lowest and highest rate of [`Action::RateFactor`], Mbit/s.
const RATES: [f64; 2] = [0.01, 1e5];
/// Largest window of an action, segments.
const LARGEST_WINDOW: f64 = 1e6;
/// Largest absolute value of an observation.
const LARGEST: f64 = 1e9;

/// Measurements and decisions of an agent about one flow.
#[derive(Debug)]
pub struct Decider {
    action: Action,
    meter: Meter,
    /// Rate of [`Action::RateFactor`], Mbit/s.
    rate_mbps: f64,
}

impl Decider {
    /// Returns a decider whose first interval begins with a reading. The rate is one window in a
    /// smoothed round-trip time.
    pub fn new(action: Action, first: Reading) -> Decider {
        let meter = Meter::new(first);
        let it = meter.measured;
        let window_mbps = it.cwnd * it.mss_bytes * 8e-6 / it.srtt_s;
        let [least, most] = RATES;
        // Without a round-trip time the quotient is infinite or NaN, and nothing is paced.
        let rate_mbps = match it.srtt_s > 0.0 {
            true => window_mbps.clamp(least, most),
            false => 0.0,
        };
        Decider {
            action,
            meter,
            rate_mbps,
        }
    }

    /// Returns the decision before the first action: the sender keeps its window or rate.
    pub fn first_decision(&self) -> Decision {
        match self.action {
            Action::RateFactor { .. } if self.rate_mbps > 0.0 => self.pace(),
            Action::Window if self.measured().cwnd >= 1.0 => Decision::Hold(self.measured().cwnd),
            _ => Decision::Keep,
        }
    }

    /// Ends an interval with a reading, and begins the next.
    pub fn measure(&mut self, now: Reading) {
        self.meter.measure(now);
    }

    /// Returns the measurements of the latest interval.
    pub fn measured(&self) -> &Measured {
        &self.meter.measured
    }

    /// Returns a feature of the latest interval.
    pub fn feature(&self, number: usize) -> f64 {
        FEATURES[number].value(self.measured())
    }

    /// Returns the meaning of an action at the end of the latest interval.
    pub fn decide(&mut self, action: f64) -> Decision {
        match self.action {
            Action::RateFactor { step } => {
                let factor = if action >= 0.0 {
                    1.0 + step * action
                } else {
                    1.0 / (1.0 - step * action)
                };
                let [least, most] = RATES;
                self.rate_mbps = (self.rate_mbps * factor).clamp(least, most);
                self.pace()
            }
            Action::WindowPower => {
                let window = self.measured().cwnd * fadeout_core::math::pow(4.0, action);
                Decision::Continue(window.clamp(2.0, LARGEST_WINDOW))
            }
            Action::Window => {
                let window = fadeout_core::math::pow(100.0, 1.0 + action);
                Decision::Hold(window.clamp(1.0, LARGEST_WINDOW))
            }
        }
    }

    /// Returns the pacing rate with twice the window that it needs in a round-trip time.
    fn pace(&self) -> Decision {
        let it = self.measured();
        let bits = self.rate_mbps * 1e6 * it.srtt_s.max(it.rtt_s);
        let window = 2.0 * bits / (8.0 * it.mss_bytes.max(1.0));
        Decision::Pace {
            rate_mbps: self.rate_mbps,
            window: window.clamp(10.0, LARGEST_WINDOW),
        }
    }
}

/// Returns a rate in Mbit/s as a pacing rate.
pub(super) fn pacing(mbps: f64) -> Rate {
    Rate::from_bits_per_sec((mbps * 1e6) as u64)
}

/// Observed values of the latest intervals, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct History {
    values: Vec<f32>,
    width: usize,
}

impl History {
    /// Returns the history of a number of intervals that all have the first values.
    pub fn new(first: &[f32], intervals: usize) -> History {
        History {
            values: first.repeat(intervals),
            width: first.len(),
        }
    }

    /// Drops the oldest interval and appends one with these values.
    pub fn push(&mut self, values: impl Iterator<Item = f32>) {
        self.values.rotate_left(self.width);
        let first = self.values.len() - self.width;
        for (cell, value) in self.values[first..].iter_mut().zip(values) {
            *cell = value;
        }
    }

    /// Returns the values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// Returns a value of an observation, limited to a range that 32 bits represent. A value that does
/// not exist yet is zero.
pub fn limited(value: f64) -> f32 {
    if value.is_nan() {
        return 0.0;
    }
    value.clamp(-LARGEST, LARGEST) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decider(action: Action) -> Decider {
        let first = Reading {
            cwnd: 10.0,
            mss_bytes: 1000.0,
            srtt_s: 0.08,
            ..Reading::default()
        };
        Decider::new(action, first)
    }

    fn rate(decision: Decision) -> f64 {
        match decision {
            Decision::Pace { rate_mbps, .. } => rate_mbps,
            other => panic!("{other:?} does not pace"),
        }
    }

    #[test]
    fn a_rate_begins_at_a_window_in_a_round_trip_and_an_action_and_its_opposite_return_to_it() {
        let mut decider = decider(Action::RateFactor { step: 0.5 });
        // 10 segments of 8000 bits in 80 ms.
        assert!((rate(decider.first_decision()) - 1.0).abs() < 1e-12);
        assert!((rate(decider.decide(1.0)) - 1.5).abs() < 1e-12);
        assert!((rate(decider.decide(-1.0)) - 1.0).abs() < 1e-12);
        for _ in 0..100 {
            decider.decide(-1.0);
        }
        assert_eq!(rate(decider.decide(-1.0)), RATES[0]);
    }

    #[test]
    fn windows_are_powers() {
        assert_eq!(decider(Action::Window).decide(0.5), Decision::Hold(1000.0));
        let mut power = decider(Action::WindowPower);
        assert_eq!(power.first_decision(), Decision::Keep);
        assert_eq!(power.decide(1.0), Decision::Continue(40.0));
        assert_eq!(power.decide(-1.0), Decision::Continue(2.5));
    }

    #[test]
    fn without_a_round_trip_time_nothing_is_paced() {
        let decider = Decider::new(Action::RateFactor { step: 0.5 }, Reading::default());
        assert_eq!(decider.first_decision(), Decision::Keep);
    }

    #[test]
    fn a_history_keeps_the_latest_intervals_in_order() {
        let mut history = History::new(&[1.0, 2.0], 3);
        history.push([3.0, 4.0].into_iter());
        assert_eq!(history.values(), [1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_value_that_does_not_exist_is_zero_and_a_large_one_is_limited() {
        assert_eq!(limited(f64::NAN), 0.0);
        assert_eq!(limited(f64::INFINITY), 1e9);
    }
}
