//! Persons or vehicles that cross the path, with the diffraction of model B in TR 38.901. They
//! block the path only while it is in line of sight.

use super::{BlockageModel, Process, View};
use crate::blockage_model_b::{DirectPath, Screen, screen_loss};
use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice, number, span};
use fadeout_core::{Meters, Span, Time};
use std::sync::Arc;

/// Screens that move across the path at a right angle.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// Width of a screen, metres. TR 38.901 Table 7.6.4.2-5 has 0.3 for a human and 4.8 for a
    /// vehicle.
    pub width_m: f64,
    /// Height of a screen, metres. The table has 1.7 for a human and 1.4 for a vehicle.
    pub height_m: f64,
    /// Speed across the path, m/s.
    pub speed: f64,
    /// Smallest and largest distance of a crossing from the UE along the path, metres. The distance
    /// of each crossing is drawn uniformly. On a short path the distance is limited to the middle
    /// of the path.
    pub from_ue_m: (f64, f64),
    /// Times at which a screen's centre is on the path, in order.
    pub at: Arc<[Time]>,
    /// Mean time between crossings after the listed ones. The times are drawn from an exponential
    /// distribution. `None` if there are only the listed crossings.
    pub mean_gap: Option<Span>,
}

impl Default for Crossing {
    fn default() -> Crossing {
        CrossingParameters::default().crossing()
    }
}

fadeout_core::choices! {
    /// Kind of the screens.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Blocker {
        /// A person.
        Person = "person",
        /// A vehicle.
        Vehicle = "vehicle",
    }
}

fadeout_core::parameters! {
    /// Parameters of crossings that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct CrossingParameters {
        /// Kind of the screens that cross the path: 0.3 m by 1.7 m for a person, 4.8 m by 1.4 m for
        /// a vehicle (TR 38.901 Table 7.6.4.2-5).
        blocker: Blocker = choice(Blocker::NAMES, "person"),
        /// Speed of the screens across the path. The default is 3 km/h.
        speed: f64 = number((0.01, 300.0, "m/s"), "0.8333333333333333"),
        /// Smallest distance from the UE at which a blocker crosses the path. The distance of each
        /// crossing is drawn uniformly.
        nearest: f64 = number((0.01, 1e5, "m"), "0.5"),
        /// Largest distance from the UE at which a blocker crosses the path. The distance of each
        /// crossing is drawn uniformly.
        farthest: f64 = number((0.01, 1e5, "m"), "5"),
        /// Mean time from one blocker's crossing of the path to the next. The times are
        /// exponentially distributed.
        mean_gap: Span = span("10 s"),
    }
}

impl CrossingParameters {
    fn crossing(&self) -> Crossing {
        let (width_m, height_m) = match self.blocker {
            Blocker::Person => (0.3, 1.7),
            Blocker::Vehicle => (4.8, 1.4),
        };
        Crossing {
            width_m,
            height_m,
            speed: self.speed,
            from_ue_m: (self.nearest, self.farthest),
            at: Arc::new([]),
            mean_gap: Some(self.mean_gap),
        }
    }
}

impl Registered for Crossing {
    const ENTRY: Entry = Entry::new(
        "crossing",
        "geometric",
        "Persons or vehicles that cross the path. The times between crossings are exponentially \
         distributed.",
        "TR 38.901 clause 7.6.4.2 (model B)",
    )
    .with_parameters(CrossingParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        CrossingParameters::read(settings).crossing()
    }
}

/// Distance in metres between the edge of a screen and the path beyond which the screen has no
/// effect.
const CLEARANCE_M: f64 = 3.0;

impl BlockageModel for Crossing {
    type Process = CrossingProcess;

    fn check(&self) -> Result<(), ConfigError> {
        check_screen(self.width_m, self.height_m, self.from_ue_m)?;
        ConfigError::within("speed of a blocker", self.speed, 0.01..=300.0, "m/s")?;
        if let Some(gap) = self.mean_gap {
            ConfigError::within(
                "mean time between blockers",
                gap.as_secs_f64(),
                1e-3..=1e6,
                "s",
            )?;
        }
        if let Some(pair) = self.at.windows(2).find(|pair| pair[1] < pair[0]) {
            return Err(ConfigError::new(
                "time of a crossing",
                pair[1].as_secs_f64(),
                "times in order, in seconds",
            ));
        }
        Ok(())
    }

    fn start(&self, stream: Stream) -> Self::Process {
        let screens = Screens {
            width_m: self.width_m,
            height_m: self.height_m,
            motion: Motion::Across { speed: self.speed },
            from_ue_m: self.from_ue_m,
        };
        let arrivals = Arrivals::Listed {
            at: Arc::clone(&self.at),
            listed: 0,
            mean_gap: self.mean_gap,
        };
        CrossingProcess::new(screens, arrivals, stream)
    }
}

/// Checks the size and the distances of a screen.
///
/// # Errors
/// Returns an error if a value is out of its range.
pub(super) fn check_screen(
    width_m: f64,
    height_m: f64,
    (near, far): (f64, f64),
) -> Result<(), ConfigError> {
    ConfigError::within("width of a blocker", width_m, 0.01..=100.0, "m")?;
    ConfigError::within("height of a blocker", height_m, 0.01..=100.0, "m")?;
    ConfigError::within("nearest distance of a blocker", near, 0.01..=1e5, "m")?;
    ConfigError::within("farthest distance of a blocker", far, near..=1e5, "m")
}

/// Screens of the same size, each with its own time and distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screens {
    pub(super) width_m: f64,
    pub(super) height_m: f64,
    pub(super) motion: Motion,
    /// Smallest and largest distance from the UE. The distance of each screen is drawn between
    /// them.
    pub(super) from_ue_m: (f64, f64),
}

/// Motion of a screen onto the path and off it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Motion {
    /// The screen moves across the path at this speed, m/s.
    Across { speed: f64 },
    /// The screen stands centred on the path for this time, and does not exist before and after.
    Stands { duration: Span },
}

impl Screens {
    /// Returns the time before and after the middle of a screen's crossing during which the screen
    /// causes a loss.
    fn reach(&self) -> Span {
        match self.motion {
            Motion::Across { speed } => {
                Span::from_secs_f64((self.width_m / 2.0 + CLEARANCE_M) / speed)
            }
            Motion::Stands { duration } => duration / 2,
        }
    }

    fn offset_m(&self, away: Span) -> f64 {
        match self.motion {
            Motion::Across { speed } => away.as_secs_f64() * speed,
            Motion::Stands { .. } => 0.0,
        }
    }
}

/// Times at which screens arrive.
#[derive(Debug)]
pub(super) enum Arrivals {
    /// Arrivals at listed times, followed by arrivals with exponential gaps.
    Listed {
        at: Arc<[Time]>,
        listed: usize,
        mean_gap: Option<Span>,
    },
    /// Arrivals at regular times. The first arrival is at `next_at`.
    Regular { next_at: Time, period: Span },
}

impl Arrivals {
    /// Returns the instant at which the next screen is centred on the path. `None` if no screen
    /// follows.
    fn next(&mut self, last_at: Time, stream: &mut Stream) -> Option<Time> {
        match self {
            Arrivals::Listed {
                at,
                listed,
                mean_gap,
            } => {
                if let Some(at) = at.get(*listed) {
                    *listed += 1;
                    return Some(*at);
                }
                let mean = (*mean_gap)?.as_secs_f64();
                let gap = Span::from_secs_f64(stream.exponential(mean));
                Some(last_at.saturating_add(gap.max(Span::from_nanos(1))))
            }
            Arrivals::Regular { next_at, period } => {
                let at = *next_at;
                *next_at = at.saturating_add(*period);
                Some(at)
            }
        }
    }
}

/// Screen with the time at which its centre is on the path, and its distance from the UE.
#[derive(Debug, Clone, Copy)]
struct Pass {
    at: Time,
    from_ue_m: f64,
}

/// Screens that are near the path, and the next screen to arrive.
#[derive(Debug)]
pub(crate) struct CrossingProcess {
    screens: Screens,
    arrivals: Arrivals,
    stream: Stream,
    last_at: Time,
    next: Option<Pass>,
    present: Vec<Pass>,
}

impl CrossingProcess {
    pub(super) fn new(screens: Screens, arrivals: Arrivals, stream: Stream) -> CrossingProcess {
        let mut process = CrossingProcess {
            screens,
            arrivals,
            stream,
            last_at: Time::ZERO,
            next: None,
            present: Vec::new(),
        };
        process.next = process.following();
        process
    }

    fn following(&mut self) -> Option<Pass> {
        let at = self.arrivals.next(self.last_at, &mut self.stream)?;
        self.last_at = at;
        let (near, far) = self.screens.from_ue_m;
        Some(Pass {
            at,
            from_ue_m: self.stream.uniform_in(near, far),
        })
    }

    pub(crate) fn loss_db(&mut self, view: &View) -> f64 {
        let reach = self.screens.reach();
        while let Some(pass) = self.next
            && pass.at.saturating_sub(reach) <= view.now
        {
            if pass.at.saturating_add(reach) > view.now {
                self.present.push(pass);
            }
            self.next = self.following();
        }
        self.present
            .retain(|pass| pass.at.saturating_add(reach) > view.now);
        let ground_m = view.ground_m();
        if !view.has_direct_path || self.present.is_empty() || ground_m < 2.0 * MIN_GAP_M {
            return 0.0;
        }
        let path = DirectPath {
            wavelength: Meters(view.wavelength_m),
            distance: Meters(ground_m),
            tx_height: Meters(view.base.z),
            rx_height: Meters(view.ue.z),
        };
        let losses = self.present.iter().map(|pass| {
            let from_ue = pass.from_ue_m.min(ground_m / 2.0).max(MIN_GAP_M);
            let away = view.now.since(pass.at).max(pass.at.since(view.now));
            let screen = Screen {
                width: Meters(self.screens.width_m),
                height: Meters(self.screens.height_m),
                from_tx: Meters(ground_m - from_ue),
                offset: Meters(self.screens.offset_m(away)),
            };
            screen_loss(&path, &screen).loss.0
        });
        losses.sum()
    }
}

/// Smallest distance of a screen from the UE, metres.
const MIN_GAP_M: f64 = 0.01;

impl Process for CrossingProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Point;

    #[test]
    fn a_pedestrian_on_the_path_costs_what_model_b_says() {
        let crossing = Crossing {
            from_ue_m: (10.0, 10.0),
            at: Arc::new([Time::ZERO + Span::from_secs(20)]),
            mean_gap: None,
            ..Crossing::default()
        };
        let mut process = crossing.start(Stream::new(1, "test.crossing", 0));
        let mut loss = |ms| {
            process.loss_db(&View {
                now: Time::ZERO + Span::from_millis(ms),
                base: Point::new(0.0, 0.0, 1.5),
                ue: Point::new(20.0, 0.0, 1.5),
                has_direct_path: true,
                wavelength_m: 3.0e8 / 28e9,
            })
        };
        assert_eq!(loss(10_000), 0.0);
        // 0.36 s before and after the crossing, the screen is 0.3 m from the path. The expected
        // losses are the test vectors of model B.
        assert!((loss(19_640) - 0.96315).abs() < 1e-4);
        assert!((loss(20_000) - 5.4299).abs() < 1e-4);
        assert!((loss(20_360) - 0.96315).abs() < 1e-4);
        assert_eq!(loss(30_000), 0.0);
    }
}
