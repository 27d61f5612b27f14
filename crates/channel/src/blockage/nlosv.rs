//! Blockage by random vehicles on a link whose scenario has no vehicles: state NLOSv of TR 37.885
//! and the loss in this state.
//!
//! The standard gives the probability of the state and the distribution of its loss, but no
//! duration. If every evaluation drew new values, the loss would act as fading. Here a state and
//! its loss last for an exponential time. Then a new state is drawn: another vehicle, or no
//! vehicle, in the path.
//!
//! The standard has "max {0 dB, a log-normal random variable}". It is read as a normal variable in
//! dB whose negative values become zero. A log-normal variable is never negative, so the maximum
//! would have no effect.
//!
//! Standard: TR 37.885 §6.2.1.

use super::{BlockageModel, Process, View};
use crate::error::ConfigError;
use fadeout_core::math::{exp, log10};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice, number, span};
use fadeout_core::{Span, Time};

fadeout_core::choices! {
    /// Kind of road, which sets the probabilities of the states.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Surrounding {
        /// Streets of a city.
        Urban = "urban",
        /// Motorway.
        Highway = "highway",
    }
}

impl Surrounding {
    /// Returns the probability that no vehicle blocks a path along a street without buildings in
    /// the path.
    pub fn line_of_sight(self, distance_m: f64) -> f64 {
        let d = distance_m;
        let share = match self {
            Surrounding::Urban => 1.05 * exp(-0.0114 * d),
            Surrounding::Highway if d <= 475.0 => 2.1013e-6 * d * d - 0.002 * d + 1.0193,
            Surrounding::Highway => 0.54 - 0.001 * (d - 475.0),
        };
        share.clamp(0.0, 1.0)
    }
}

/// Returns the mean and the standard deviation of a vehicle's loss in dB, before negative values
/// become zero. `None` if both antennas are above the vehicle. An antenna at the vehicle's height
/// is not above it.
pub fn law(distance_m: f64, antennas_m: (f64, f64), vehicle_m: f64) -> Option<(f64, f64)> {
    let (low, high) = (
        antennas_m.0.min(antennas_m.1),
        antennas_m.0.max(antennas_m.1),
    );
    let distant_db = (15.0 * log10(distance_m.max(1.0)) - 41.0).max(0.0);
    if low > vehicle_m {
        None
    } else if high < vehicle_m {
        Some((9.0 + distant_db, 4.5))
    } else {
        Some((5.0 + distant_db, 4.0))
    }
}

fadeout_core::parameters! {
    /// Random vehicles in the path, for a scenario without vehicles.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Nlosv {
        /// Kind of road. It determines the probability of a vehicle in the path.
        pub road: Surrounding = choice(Surrounding::NAMES, "urban"),
        /// Mean time for which a state and its loss last: one vehicle, another vehicle, or no
        /// vehicle in the path. The times are exponentially distributed.
        pub hold: Span = span("1 s"),
        /// Share of trucks among the vehicles in the path.
        pub trucks: f64 = number((0.0, 1.0, ""), "0.2"),
        /// Height of vehicles other than trucks.
        pub car_height: f64 = number((0.1, 10.0, "m"), "1.6"),
        /// Height of trucks.
        pub truck_height: f64 = number((0.1, 10.0, "m"), "3"),
    }
}

impl Registered for Nlosv {
    const ENTRY: Entry = Entry::new(
        "nlosv",
        "random",
        "Random vehicles in the path with the probabilities of TR 37.885, for scenarios without a \
         table `vehicles`.",
        "TR 37.885 clause 6.2.1",
    )
    .with_parameters(Nlosv::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Nlosv::read(settings)
    }
}

impl BlockageModel for Nlosv {
    type Process = NlosvProcess;

    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within(
            "hold time of NLOSv",
            self.hold.as_secs_f64(),
            1e-4..=1e6,
            "s",
        )
    }

    fn start(&self, stream: Stream) -> NlosvProcess {
        let mut process = NlosvProcess {
            model: *self,
            stream,
            until: Time::ZERO,
            state: 0.0,
            vehicle_m: 0.0,
            normal: 0.0,
        };
        process.next();
        process
    }
}

/// State of the path: with or without a vehicle, and the time until which the state lasts.
#[derive(Debug)]
pub(crate) struct NlosvProcess {
    model: Nlosv,
    stream: Stream,
    until: Time,
    /// Uniform number. A vehicle is in the path if the probability of line of sight is not above
    /// this number.
    state: f64,
    vehicle_m: f64,
    /// Deviation of the vehicle's loss from its mean, in standard deviations.
    normal: f64,
}

impl NlosvProcess {
    fn next(&mut self) {
        let holds = self.stream.exponential(self.model.hold.as_secs_f64());
        self.until = self.until.saturating_add(Span::from_secs_f64(holds));
        self.state = self.stream.uniform();
        self.vehicle_m = match self.stream.uniform() < self.model.trucks {
            true => self.model.truck_height,
            false => self.model.car_height,
        };
        self.normal = self.stream.normal();
    }
}

impl Process for NlosvProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        while self.until <= view.now && !self.until.is_never() {
            self.next();
        }
        let is_clear = self.state < self.model.road.line_of_sight(view.ground_m());
        if !view.has_direct_path || is_clear {
            return 0.0;
        }
        let law = law(
            view.base.distance_to(view.ue),
            (view.base.z, view.ue.z),
            self.vehicle_m,
        );
        law.map_or(0.0, |(mean, deviation)| {
            (mean + deviation * self.normal).max(0.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Point;

    fn view(ms: u64, distance: f64, (base, ue): (f64, f64)) -> View {
        View {
            now: Time::ZERO + Span::from_millis(ms),
            base: Point::new(0.0, 0.0, base),
            ue: Point::new(distance, 0.0, ue),
            has_direct_path: true,
            wavelength_m: 0.01,
        }
    }

    /// Compares states and losses with the reference values `plos_*` and `nlosv_case_a_b_h` of the
    /// reference sheet.
    #[test]
    fn states_and_cases_are_those_of_the_clause() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
        let urban = |d| Surrounding::Urban.line_of_sight(d);
        let highway = |d| Surrounding::Highway.line_of_sight(d);
        near(urban(4.0), 1.0);
        near(urban(50.0), 0.593_801_7);
        near(urban(100.0), 0.335_81);
        near(highway(100.0), 0.840_313);
        near(highway(475.0), 0.543_405_8);
        near(highway(800.0), 0.215);
        near(highway(1_015.0), 0.0);
        assert_eq!(law(100.0, (5.0, 1.6), 1.6), Some((5.0, 4.0)));
        assert_eq!(law(100.0, (5.0, 1.7), 1.6), None);
        assert_eq!(law(100.0, (1.6, 1.6), 3.0), Some((9.0, 4.5)));
        let far = law(1_000.0, (1.6, 1.6), 3.0).expect("below a truck");
        near(far.0, 13.0);
    }

    /// Compares losses with the reference values `nlosv_case2_100_realised`,
    /// `nlosv_case3_100_realised` and `nlosv_case2_P0`. Negative values of the distribution become
    /// zero.
    #[test]
    fn the_loss_has_the_mean_the_deviation_and_the_zeros_of_a_normal_cut_at_zero() {
        for (trucks, heights, mean, zeros) in [
            (1.0, (1.6, 1.6), 9.038_208, 0.022_750),
            (1.0, (5.0, 1.6), 5.202_347, 0.105_650),
        ] {
            let model = Nlosv {
                trucks,
                hold: Span::from_millis(100),
                ..Nlosv::default()
            };
            let mut process = model.start(Stream::new(3, "test", 1));
            // At 1,000 m in a city a vehicle is always in the path. The test subtracts the term of
            // the mean loss that grows with distance.
            let mut losses = Vec::new();
            let mut last = f64::NAN;
            for ms in 0..4_000_000 {
                let mut view = view(ms, 500.0, heights);
                view.ue.x = 500.0;
                let loss = process.loss_at(&view);
                if process.normal != last {
                    last = process.normal;
                    if process.state >= Surrounding::Urban.line_of_sight(500.0) {
                        losses.push(loss);
                    }
                }
            }
            let count = losses.len() as f64;
            assert!(count > 30_000.0, "{count}");
            let found = losses.iter().sum::<f64>() / count;
            let deviation = if trucks == 1.0 && heights.0 > 3.0 {
                4.0
            } else {
                4.5
            };
            // The limit is five standard errors.
            assert!(
                (found - mean).abs() < 5.0 * deviation / count.sqrt(),
                "{found}"
            );
            let square = losses
                .iter()
                .map(|it| (it - found) * (it - found))
                .sum::<f64>()
                / count;
            assert!(
                square.sqrt() < deviation && square.sqrt() > 0.9 * deviation,
                "{square}"
            );
            let none = losses.iter().filter(|&&it| it == 0.0).count() as f64 / count;
            let error = (zeros * (1.0 - zeros) / count).sqrt();
            assert!((none - zeros).abs() < 5.0 * error, "{none}");
        }
    }

    #[test]
    fn the_state_holds_and_has_the_share_of_its_law() {
        let model = Nlosv {
            road: Surrounding::Highway,
            trucks: 1.0,
            hold: Span::from_secs(2),
            ..Nlosv::default()
        };
        let mut process = model.start(Stream::new(5, "test", 2));
        let (mut blocked, mut changes, mut before) = (0, 0, false);
        let samples = 1_000_000;
        for n in 0..samples {
            process.loss_at(&view(20 * n, 300.0, (5.0, 1.6)));
            let now = process.state >= Surrounding::Highway.line_of_sight(300.0);
            blocked += u64::from(now);
            changes += u64::from(now != before);
            before = now;
        }
        let share = blocked as f64 / samples as f64;
        let expected = 1.0 - 0.608_417;
        // The run has 10,000 intervals in which the state is constant.
        assert!(
            (share - expected).abs() < 5.0 * (0.24_f64 / 10_000.0).sqrt(),
            "{share}"
        );
        // The rate of changes is the rate of intervals times the probability that two consecutive
        // intervals differ in their state.
        let rate = changes as f64 / (samples as f64 * 0.02);
        let expected = 2.0 * expected * (1.0 - expected) / 2.0;
        assert!(
            (rate / expected - 1.0).abs() < 0.1,
            "{rate} a second, not {expected}"
        );
    }

    #[test]
    fn above_all_roofs_or_without_a_direct_path_nothing_is_lost() {
        let mut process = Nlosv::default().start(Stream::new(1, "test", 3));
        for ms in 0..20_000 {
            assert_eq!(process.loss_at(&view(ms, 400.0, (5.0, 3.1))), 0.0);
            let mut behind = view(ms, 400.0, (5.0, 0.75));
            behind.has_direct_path = false;
            assert_eq!(process.loss_at(&behind), 0.0);
        }
    }
}
