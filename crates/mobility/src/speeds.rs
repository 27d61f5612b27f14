//! Distributions of speeds that a UE draws again during its movement.

use crate::MobilityError;
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::registry::{choice, number};

const SPEED: (f64, f64, &str) = (0.0, 1000.0, "m/s");

fadeout_core::choices! {
    /// Distribution that speeds are drawn from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SpeedLaw {
        /// Uniform distribution between the lowest and the highest speed.
        Uniform = "uniform",
        /// Normal distribution. A value outside the range from the lowest to the highest speed is
        /// set to the nearer limit.
        Normal = "normal",
    }
}

fadeout_core::parameters! {
    /// Range of speeds.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SpeedRange {
        /// Lowest speed of the UE. Must be above zero.
        pub min_speed: f64 = number(SPEED, "5"),
        /// Highest speed of the UE.
        pub max_speed: f64 = number(SPEED, "30"),
    }
}

fadeout_core::parameters! {
    /// Speeds of UEs that draw a new one from time to time.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Speeds {
        /// Distribution from which the speeds of the UE are drawn.
        pub speed_law: SpeedLaw = choice(SpeedLaw::NAMES, "uniform"),
        /// Range of the speeds.
        pub range: SpeedRange = group(),
        /// Mean of the normal distribution of speeds, before speeds are limited to the range.
        pub mean_speed: f64 = number(SPEED, "15"),
        /// Standard deviation of the normal distribution of speeds, before speeds are limited to
        /// the range.
        pub speed_deviation: f64 = number(SPEED, "3"),
    }
}

impl SpeedRange {
    /// Checks the range.
    ///
    /// # Errors
    /// Returns an error if the lowest speed is not above zero, because the mean speed would then
    /// decay for ever. Returns an error also if the lowest speed is above the highest.
    pub fn check(&self) -> Result<(), MobilityError> {
        let (low, high) = self.bounds();
        if low > 0.0 && high >= low && high.is_finite() {
            return Ok(());
        }
        Err(MobilityError(format!(
            "speeds from {low} to {high} m/s; expected a lowest speed above zero and a highest one \
             not below it"
        )))
    }

    /// Returns the lowest and the highest speed.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        (self.min_speed, self.max_speed)
    }
}

impl Speeds {
    /// Checks the speeds.
    ///
    /// # Errors
    /// Returns the errors of [`SpeedRange::check`].
    pub fn check(&self) -> Result<(), MobilityError> {
        self.range.check()
    }

    /// Draws a speed, in metres per second.
    pub fn draw(&self, random: &mut Stream) -> f64 {
        let (low, high) = self.range.bounds();
        match self.speed_law {
            SpeedLaw::Uniform => random.uniform_in(low, high),
            SpeedLaw::Normal => {
                (self.mean_speed + self.speed_deviation * random.normal()).clamp(low, high)
            }
        }
    }

    /// Draws a speed with a probability in proportion to the time for which a UE has that speed. If
    /// speeds are drawn once per distance, a speed v lasts for a time in proportion to 1/v. So the
    /// density over time is f(v)/v.
    pub fn draw_in_time(&self, random: &mut Stream) -> f64 {
        loop {
            let speed = self.draw(random);
            if random.chance(self.range.min_speed / speed) {
                return speed;
            }
        }
    }

    /// Returns the mean time that a UE needs for a metre, E[1/v], in seconds.
    pub fn mean_pace(&self) -> f64 {
        let (low, high) = self.range.bounds();
        match self.speed_law {
            _ if low == high => 1.0 / low,
            SpeedLaw::Uniform => math::ln(high / low) / (high - low),
            SpeedLaw::Normal if self.speed_deviation == 0.0 => {
                1.0 / self.mean_speed.clamp(low, high)
            }
            SpeedLaw::Normal => self.mean_normal_pace(),
        }
    }

    /// Returns E[1/v] for the normal distribution. Simpson's rule integrates between the lowest and
    /// the highest speed. The values set to these limits are added.
    fn mean_normal_pace(&self) -> f64 {
        // The probability of a value beyond ten standard deviations is negligible.
        let (mean, deviation) = (self.mean_speed, self.speed_deviation);
        let bound = |speed: f64| speed.clamp(mean - 10.0 * deviation, mean + 10.0 * deviation);
        let (low, high) = self.range.bounds();
        let (from, to) = (bound(low), bound(high));
        const STEPS: u32 = 2000;
        let width = (to - from) / f64::from(STEPS);
        let (mut inside, mut pace) = (0.0, 0.0);
        for step in 0..=STEPS {
            let weight = match step {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let speed = from + width * f64::from(step);
            let z = (speed - mean) / deviation;
            let density =
                math::exp(-0.5 * z * z) / (deviation * (2.0 * std::f64::consts::PI).sqrt());
            inside += weight * density * width / 3.0;
            pace += weight * density * width / 3.0 / speed.max(low);
        }
        let below = share_below((low - mean) / deviation);
        let above = (1.0 - below - inside).max(0.0);
        pace + below / low + above / high
    }
}

/// Returns the standard normal distribution function at `z`.
fn share_below(z: f64) -> f64 {
    0.5 * math::erfc(-z / 2.0_f64.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values `time_mean_speed`, `mean_inv_speed`, `manhattan_time_mean_speed` and
    /// `manhattan_3kmh_time_mean` of the reference sheet.
    #[test]
    fn the_mean_speed_over_time_is_the_harmonic_one() {
        let uniform = Speeds::default();
        assert!((1.0 / uniform.mean_pace() - 13.952_77).abs() < 1e-5);
        assert!((uniform.mean_pace() - 0.071_670_38).abs() < 1e-8);
        let normal = |min_speed, mean_speed, speed_deviation| Speeds {
            speed_law: SpeedLaw::Normal,
            range: SpeedRange {
                min_speed,
                max_speed: 100.0,
            },
            mean_speed,
            speed_deviation,
        };
        let slow = normal(0.5, 1.0, 0.2);
        assert!((1.0 / slow.mean_pace() - 0.957_873_7).abs() < 1e-6);
        // The reference value is an integral over speeds that are not limited to the range.
        let walkers = normal(0.01, 3.0, 0.3);
        assert!((1.0 / walkers.mean_pace() - 2.969_369).abs() < 1e-4);
    }

    #[test]
    fn a_speed_met_at_an_instant_has_the_law_of_time() {
        let mut random = Stream::new(1, "test", 0);
        for speeds in [
            Speeds::default(),
            Speeds {
                speed_law: SpeedLaw::Normal,
                range: SpeedRange {
                    min_speed: 12.0,
                    max_speed: 17.0,
                },
                ..Speeds::default()
            },
        ] {
            // The standard deviation is at most 7.5 m/s, so the standard error is at most 7.5 /
            // sqrt(40,000) m/s.
            let sum: f64 = (0..40_000).map(|_| speeds.draw_in_time(&mut random)).sum();
            let (mean, expected) = (sum / 40_000.0, 1.0 / speeds.mean_pace());
            assert!((mean - expected).abs() < 0.15, "{mean}, not {expected}");
        }
    }

    #[test]
    fn speeds_that_would_decay_are_refused() {
        let range_of = |min_speed, max_speed| SpeedRange {
            min_speed,
            max_speed,
        };
        assert!(range_of(0.0, 1.0).check().is_err());
        assert!(range_of(2.0, 1.0).check().is_err());
        assert!(range_of(2.0, 2.0).check().is_ok());
    }
}
