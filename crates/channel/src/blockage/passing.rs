//! Vehicle that blocks the path at regular times, each time for a given duration, with the
//! diffraction of TR 38.901 model B.

use super::BlockageModel;
use super::crossing::{Arrivals, CrossingProcess, Motion, Screens, check_screen};
use super::schedule::{Phase, check_cycle, first_middle};
use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice, number, span};
use fadeout_core::{Span, Time};

fadeout_core::choices! {
    /// Motion of the screen at the beginning and end of a blockage.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Onset {
        /// The screen moves across the path. Its speed is its width divided by the duration. The
        /// loss is 5 to 7 dB when a side of a wide screen is on the path. The loss grows to the
        /// full depth within the first Fresnel zone.
        Moving = "moving",
        /// The screen stands centred on the path for the duration, so the loss changes in steps.
        Sudden = "sudden",
    }
}

fadeout_core::parameters! {
    /// Screens that block the path at regular times. A screen stands upright on the ground, at a
    /// right angle to the path. Only a path in line of sight is blocked, as with
    /// [`Crossing`](super::Crossing).
    ///
    /// The distance of each screen from the UE along the path is drawn uniformly between the
    /// nearest and the farthest. On a short path the distance is limited to the middle of the path.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Passing {
        /// Width of the screen across the path (TR 38.901 Table 7.6.4.2-5).
        pub width_m as "width": f64 = number((0.01, 100.0, "m"), "4.8"),
        /// Height of the screen above ground (TR 38.901 Table 7.6.4.2-5).
        pub height_m as "height": f64 = number((0.01, 100.0, "m"), "1.4"),
        /// Smallest distance of the screen from the UE. The distance of each blockage is drawn
        /// uniformly.
        pub nearest_m as "nearest": f64 = number((0.01, 1e5, "m"), "0.5"),
        /// Largest distance of the screen from the UE. The distance of each blockage is drawn
        /// uniformly.
        pub farthest_m as "farthest": f64 = number((0.01, 1e5, "m"), "1"),
        /// Phase of the blockages.
        pub phase: Phase = group(&[("phase", "random")]),
        /// Time between the starts of two blockages.
        pub period: Span = span("5 s"),
        /// Duration of a blockage: the time from the first side of the screen on the path to the
        /// second side.
        pub duration: Span = span("200 ms"),
        /// Motion of the screen. `moving`: the screen moves across the path. Its speed is its width
        /// divided by `duration`. `sudden`: the screen stands in the middle of the path for
        /// `duration`.
        pub onset: Onset = choice(Onset::NAMES, "moving"),
    }
}

impl Registered for Passing {
    const ENTRY: Entry = Entry::new(
        "passing",
        "geometric",
        "A vehicle that blocks the path at regular times for a given duration.",
        "TR 38.901 clause 7.6.4.2 (model B)",
    )
    .with_parameters(Passing::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Passing::read(settings)
    }
}

impl BlockageModel for Passing {
    type Process = CrossingProcess;

    fn check(&self) -> Result<(), ConfigError> {
        check_screen(
            self.width_m,
            self.height_m,
            (self.nearest_m, self.farthest_m),
        )?;
        check_cycle(self.period, self.duration)?;
        let duration = self.duration.as_secs_f64();
        ConfigError::within(
            "duration of a blockage",
            duration,
            SHORTEST.as_secs_f64()..=1e6,
            "s",
        )
    }

    fn start(&self, mut stream: Stream) -> Self::Process {
        let next_at: Time = first_middle(self.phase, self.period, self.duration, &mut stream);
        let screens = Screens {
            width_m: self.width_m,
            height_m: self.height_m,
            motion: match self.onset {
                Onset::Moving => Motion::Across {
                    speed: self.width_m / self.duration.as_secs_f64(),
                },
                Onset::Sudden => Motion::Stands {
                    duration: self.duration,
                },
            },
            from_ue_m: (self.nearest_m, self.farthest_m),
        };
        let period = self.period;
        CrossingProcess::new(screens, Arrivals::Regular { next_at, period }, stream)
    }
}

/// Shortest duration of a blockage. It limits the screen's speed.
const SHORTEST: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use super::super::View;
    use super::super::schedule::Periodic;
    use super::*;
    use fadeout_core::Point;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn stream(entity: u64) -> Stream {
        Stream::new(1, "test.passing", entity)
    }

    /// Returns the loss in dB at a time. `ends` contains the heights of both antennas and their
    /// distance.
    fn loss(process: &mut CrossingProcess, now: Time, ends: (f64, f64, f64), carrier: f64) -> f64 {
        let (tx, rx, distance) = ends;
        process.loss_db(&View {
            now,
            base: Point::new(0.0, 0.0, tx),
            ue: Point::new(distance, 0.0, rx),
            has_direct_path: true,
            wavelength_m: 3.0e8 / carrier,
        })
    }

    /// In the middle of a blockage the screen is centred on the path. The loss then equals the test
    /// vectors of model B for a vehicle.
    #[test]
    fn the_middle_of_a_blockage_costs_what_model_b_says() {
        for (from_ue, rx, carrier, expected) in
            [(20.0, 1.5, 28e9, 2.8482), (5.0, 1.0, 73e9, 19.928)]
        {
            for onset in [Onset::Moving, Onset::Sudden] {
                let passing = Passing {
                    nearest_m: from_ue,
                    farthest_m: from_ue,
                    phase: Phase::At(ms(4000)),
                    onset,
                    ..Passing::default()
                };
                passing.check().unwrap();
                let mut process = passing.start(stream(0));
                for middle in [4100, 9100, 14_100] {
                    let found = loss(&mut process, ms(middle), (1.5, rx, 40.0), carrier);
                    // The reference values have five significant digits.
                    assert!((found / expected - 1.0).abs() < 1e-4, "{found} {onset:?}");
                }
            }
        }
    }

    #[test]
    fn a_moving_vehicle_comes_and_goes_within_a_fresnel_zone_and_a_sudden_one_at_once() {
        let losses = |onset| {
            let passing = Passing {
                nearest_m: 0.75,
                farthest_m: 0.75,
                phase: Phase::At(ms(1000)),
                onset,
                ..Passing::default()
            };
            let mut process = passing.start(stream(0));
            move |at| loss(&mut process, at, (5.0, 1.0, 50.0), 38e9)
        };
        let mut moving = losses(Onset::Moving);
        // The speed is 24 m/s. An edge is on the path at 1.000 s. 10 ms before and after, it is
        // 0.24 m beside the path. The radius of the first Fresnel zone is 0.077 m. The edge
        // is therefore far outside this zone before, and far inside after.
        let [before, side, after, middle] = [990, 1000, 1010, 1100].map(|at| moving(ms(at)));
        assert!(before < 0.6, "{before}");
        assert!((5.0..7.0).contains(&side), "{side}");
        assert!(middle - after < 4.5 && middle > after, "{after} {middle}");
        assert!(middle > 20.0, "{middle}");
        assert!((moving(ms(1200)) - side).abs() < 1e-6);

        let mut sudden = losses(Onset::Sudden);
        let found = [999, 1000, 1199, 1200].map(|at| sudden(ms(at)));
        assert_eq!(found, [0.0, middle, middle, 0.0]);
    }

    #[test]
    fn each_blockage_draws_its_own_distance_whatever_the_query_times() {
        let passing = Passing {
            onset: Onset::Sudden,
            phase: Phase::At(ms(1000)),
            ..Passing::default()
        };
        let depths = |skip: usize| {
            let mut process = passing.start(stream(7));
            let middles = (0..40).step_by(skip).map(|n| 1100 + 5000 * n);
            let depths = middles.map(|at| loss(&mut process, ms(at), (5.0, 1.0, 50.0), 38e9));
            depths.collect::<Vec<f64>>()
        };
        let all = depths(1);
        let seldom: Vec<f64> = all.iter().copied().step_by(4).collect();
        assert_eq!(depths(4), seldom);
        // The formula gives a loss of 22.56 dB at 1 m from the UE and 25.02 dB at 0.5 m. Each drawn
        // loss lies between these values.
        let within = |loss: &f64| (22.55..25.03).contains(loss);
        assert!(all.iter().all(within), "{all:?}");
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        assert!(high - low > 2.0, "{low} to {high} dB");
    }

    #[test]
    fn a_drawn_phase_is_that_of_a_periodic_blockage_of_the_same_stream() {
        for entity in 0..50 {
            let passing = Passing {
                onset: Onset::Sudden,
                ..Passing::default()
            };
            let periodic = Periodic {
                phase: Phase::Drawn,
                period: passing.period,
                duration: passing.duration,
                loss_db: 300.0,
            };
            let (mut vehicle, plain) = (
                passing.start(stream(entity)),
                periodic.start(stream(entity)),
            );
            let mut blocked = 0;
            for at in (3..15_000).step_by(7).map(ms) {
                let is_blocked = loss(&mut vehicle, at, (5.0, 1.0, 50.0), 38e9) > 0.0;
                assert_eq!(is_blocked, plain.loss_db(at) > 0.0, "{at:?}");
                blocked += usize::from(is_blocked);
            }
            // Three blockages of 200 ms are sampled every 7 ms, which gives 86 samples. The first
            // or last blockage may lie partly outside the run.
            assert!((56..=88).contains(&blocked), "{blocked}");
        }
    }

    #[test]
    fn a_vehicle_below_the_path_costs_next_to_nothing() {
        let passing = Passing {
            phase: Phase::At(ms(0)),
            onset: Onset::Sudden,
            ..Passing::default()
        };
        let mut process = passing.start(stream(0));
        let found = loss(&mut process, ms(100), (5.0, 1.5, 50.0), 38e9);
        assert!((0.0..3.0).contains(&found), "{found}");
    }

    #[test]
    fn a_duration_that_does_not_fit_is_refused() {
        for (period, duration) in [(1000, 1001), (0, 0), (1000, 0)] {
            let passing = Passing {
                period: Span::from_millis(period),
                duration: Span::from_millis(duration),
                ..Passing::default()
            };
            assert!(passing.check().is_err(), "{duration} ms in {period} ms");
        }
    }
}
