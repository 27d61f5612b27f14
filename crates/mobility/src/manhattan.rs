//! Movement along the streets of a grid. Position and speed have their steady-state distribution
//! from the start.

use crate::area::METRES;
use crate::registry::Model;
use crate::speeds::Speeds;
use crate::track::DrawnLegs;
use crate::{Leg, MobilityError, Track};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, number, span};
use fadeout_core::{Point, Span, Time, Vector};

const PITCH: (f64, f64, &str) = (1.0, 1e5, "m");
const BLOCKS: (u64, u64, &str) = (1, 1000, "");
const SHARE: (f64, f64, &str) = (0.0, 1.0, "");

fadeout_core::parameters! {
    /// Parameters that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Manhattan {
        /// Position of the westernmost street.
        pub x_min: f64 = number(METRES, "0"),
        /// Position of the southernmost street.
        pub y_min: f64 = number(METRES, "0"),
        /// Number of blocks from west to east.
        pub x_blocks: u32 = integer(BLOCKS, "4"),
        /// Number of blocks from south to north.
        pub y_blocks: u32 = integer(BLOCKS, "4"),
        /// Distance from a street to the next one east of it.
        pub x_pitch: f64 = number(PITCH, "25"),
        /// Distance from a street to the next one north of it.
        pub y_pitch: f64 = number(PITCH, "25"),
        /// Speeds of the UE.
        pub speeds: Speeds = group(),
        /// Distance between two points at which the UE may change its speed.
        pub update_distance: f64 = number((0.1, 1e5, "m"), "5"),
        /// Probability that the UE changes its speed after each `update-distance`.
        pub change_probability: f64 = number(SHARE, "0.2"),
        /// Probability of a turn at a crossing of four streets. Left and right turns are equally
        /// likely. At a crossing of fewer streets, all streets but the UE's own are equally likely.
        /// No UE turns back.
        pub turn_probability: f64 = number(SHARE, "0.5"),
        /// Probability of a pause before a change of speed.
        pub pause_probability: f64 = number(SHARE, "0"),
        /// Longest pause. Each pause is drawn uniformly from zero to this value.
        pub max_pause: Span = span("0 s"),
    }
}

impl Registered for Manhattan {
    const ENTRY: Entry = Entry::new(
        "manhattan",
        "random",
        "The UE goes along the streets of a grid. It may change its speed after each \
         `update-distance`. Speed and position have their steady-state distribution from the start \
         of the run.",
        "ETSI TR 101 112 clause B.1.6.4.2; BonnMotion's ManhattanGrid",
    )
    .with_aliases(&["manhattan-grid"])
    .with_parameters(Manhattan::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Manhattan::read(settings)
    }
}

impl Model for Manhattan {
    fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError> {
        self.speeds.check()?;
        Ok(Track::drawn(Walk::new(self, start.z, random)))
    }
}

/// Directions of movement, counter-clockwise from east, as steps to the next crossing.
const DIRECTIONS: [(i64, i64); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

/// State of a UE that moves along the streets.
#[derive(Debug, Clone)]
struct Walk {
    streets: Manhattan,
    height: f64,
    random: Stream,
    /// Crossing that the UE left last, as its column and row from the south-west.
    left: (i64, i64),
    /// Index of the UE's direction in [`DIRECTIONS`].
    direction: usize,
    /// Distance of the UE from the crossing that it left last, metres.
    gone: f64,
    speed: f64,
    /// Distance to the next change of speed, metres.
    until_change: f64,
    is_pausing: bool,
}

impl Walk {
    fn new(streets: Manhattan, height: f64, random: Stream) -> Walk {
        Walk {
            streets,
            height,
            random,
            left: (0, 0),
            direction: 0,
            gone: 0.0,
            speed: streets.speeds.range.min_speed,
            until_change: f64::INFINITY,
            is_pausing: false,
        }
    }

    /// Returns the probability that the UE is pausing at a random time.
    fn pause_share(&self) -> f64 {
        let streets = &self.streets;
        let each_metre =
            streets.change_probability * streets.pause_probability / streets.update_distance;
        let pause = each_metre * 0.5 * streets.max_pause.as_secs_f64();
        let share = pause / (pause + streets.speeds.mean_pace());
        debug_assert!((0.0..=1.0).contains(&share), "a share of pauses of {share}");
        share
    }

    /// Draws the distance from one possible change of speed to the next actual change, metres.
    fn draw_change(&mut self) -> f64 {
        let probability = self.streets.change_probability;
        if probability == 0.0 {
            return f64::INFINITY;
        }
        let mut chances = 1.0;
        while !self.random.chance(probability) && chances < 1e9 {
            chances += 1.0;
        }
        chances * self.streets.update_distance
    }

    /// Draws a street with a probability in proportion to its length, and a direction on the
    /// street.
    fn draw_street(&mut self) {
        let streets = &self.streets;
        let (columns, rows) = (i64::from(streets.x_blocks), i64::from(streets.y_blocks));
        let (along, up) = (
            (columns * (rows + 1)) as f64 * streets.x_pitch,
            (rows * (columns + 1)) as f64 * streets.y_pitch,
        );
        let is_along = self.random.chance(along / (along + up));
        let (wide, high) = if is_along {
            (columns, rows + 1)
        } else {
            (columns + 1, rows)
        };
        let (x, y) = (
            self.random.below(wide as u64) as i64,
            self.random.below(high as u64) as i64,
        );
        let forward = self.random.chance(0.5);
        (self.left, self.direction) = match (is_along, forward) {
            (true, true) => ((x, y), 0),
            (false, true) => ((x, y), 1),
            (true, false) => ((x + 1, y), 2),
            (false, false) => ((x, y + 1), 3),
        };
    }

    /// Returns the length of the current street between two crossings.
    fn length(&self) -> f64 {
        match self.direction {
            0 | 2 => self.streets.x_pitch,
            _ => self.streets.y_pitch,
        }
    }

    fn place(&self) -> Point {
        let (east, north) = DIRECTIONS[self.direction];
        Point::new(
            self.streets.x_min
                + self.left.0 as f64 * self.streets.x_pitch
                + east as f64 * self.gone,
            self.streets.y_min
                + self.left.1 as f64 * self.streets.y_pitch
                + north as f64 * self.gone,
            self.height,
        )
    }

    /// Returns true if a street leads in this direction from the crossing that the UE left last.
    fn has_street(&self, direction: usize) -> bool {
        let (x, y) = (
            self.left.0 + DIRECTIONS[direction].0,
            self.left.1 + DIRECTIONS[direction].1,
        );
        (0..=i64::from(self.streets.x_blocks)).contains(&x)
            && (0..=i64::from(self.streets.y_blocks)).contains(&y)
    }

    /// Chooses the direction of the UE at a crossing. As many UEs leave each street as enter it, so
    /// UEs stay evenly distributed over the streets.
    fn turn(&mut self) {
        self.left.0 += DIRECTIONS[self.direction].0;
        self.left.1 += DIRECTIONS[self.direction].1;
        self.gone = 0.0;
        let (ahead, left, right) = (
            self.direction,
            (self.direction + 1) % 4,
            (self.direction + 3) % 4,
        );
        let draw = self.random.uniform();
        self.direction = match (
            self.has_street(ahead),
            self.has_street(left),
            self.has_street(right),
        ) {
            (true, true, true) if draw >= self.streets.turn_probability => ahead,
            (true, true, true) if draw < 0.5 * self.streets.turn_probability => left,
            (true, true, true) => right,
            (true, true, false) if draw < 0.5 => ahead,
            (true, false, true) if draw < 0.5 => ahead,
            (false, true, true) if draw < 0.5 => right,
            (_, true, _) => left,
            (_, false, true) => right,
            (true, false, false) => ahead,
            (false, false, false) => (self.direction + 2) % 4,
        };
        debug_assert!(
            self.has_street(self.direction),
            "no street leads that way from crossing {:?}",
            self.left
        );
    }

    /// Returns the UE's movement up to the next crossing or the next change of speed.
    fn go(&mut self, now: Time) -> Leg {
        let (start, direction) = (self.place(), DIRECTIONS[self.direction]);
        let (to_crossing, to_change) = (self.length() - self.gone, self.until_change);
        let length = to_crossing.min(to_change);
        debug_assert!(
            self.speed > 0.0 && self.speed.is_finite(),
            "a walk at {} m/s",
            self.speed
        );
        debug_assert!(
            length >= 0.0,
            "a walk of {length} m, {to_crossing} m from the next crossing"
        );
        let lasts = Span::from_secs_f64(length / self.speed).max(Span::from_nanos(1));
        let leg = Leg {
            from: now,
            until: now.saturating_add(lasts),
            start,
            velocity: Vector::new(
                direction.0 as f64 * self.speed,
                direction.1 as f64 * self.speed,
                0.0,
            ),
        };
        self.until_change -= length;
        self.gone += length;
        if to_crossing <= to_change {
            self.turn();
        }
        leg
    }

    fn pause(&mut self, now: Time, lasts: f64) -> Leg {
        self.is_pausing = true;
        Leg {
            until: now.saturating_add(Span::from_secs_f64(lasts)),
            ..Leg::rest(now, self.place())
        }
    }

    fn draw_speed(&mut self) {
        self.speed = self.streets.speeds.draw(&mut self.random);
        self.until_change = self.draw_change();
        self.is_pausing = false;
    }
}

impl DrawnLegs for Walk {
    /// Draws the first leg from the stationary distribution. The place is uniform on the streets.
    /// The probability of a speed is in proportion to the time for which the UE has that speed.
    fn first_leg(&mut self) -> Leg {
        self.draw_street();
        self.gone = self.length() * self.random.uniform();
        let stationary = self.pause_share();
        if self.random.chance(stationary) {
            // A random instant falls into a pause with a probability in proportion to the length of
            // the pause.
            let longest = self.streets.max_pause.as_secs_f64();
            let length = longest * self.random.uniform().sqrt();
            let left = length * self.random.uniform();
            return self.pause(Time::ZERO, left);
        }
        self.speed = self.streets.speeds.draw_in_time(&mut self.random);
        let passed = self.streets.update_distance * self.random.uniform();
        self.until_change = self.draw_change() - passed;
        self.go(Time::ZERO)
    }

    fn next_leg(&mut self, leg: &Leg) -> Leg {
        if self.is_pausing {
            self.draw_speed();
        } else if self.until_change <= 0.0 {
            let pauses = self.streets.max_pause > Span::ZERO
                && self.random.chance(self.streets.pause_probability);
            if pauses {
                let lasts = self.streets.max_pause.as_secs_f64() * self.random.uniform();
                return self.pause(leg.until, lasts);
            }
            self.draw_speed();
        }
        self.go(leg.until)
    }

    fn raise(&mut self, height: f64) {
        self.height += height;
    }

    fn boxed(&self) -> Box<dyn DrawnLegs> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpeedRange;
    use crate::speeds::SpeedLaw;
    use fadeout_testkit::Cases;

    fn walk(model: Manhattan, seed: u64) -> Track {
        let random = Stream::new(seed, "test", 0);
        model
            .track(Point::new(0.0, 0.0, 1.6), random)
            .expect("good parameters")
    }

    fn secs(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    fn uneven() -> Manhattan {
        Manhattan {
            x_blocks: 2,
            y_blocks: 3,
            x_pitch: 433.0,
            y_pitch: 250.0,
            pause_probability: 0.3,
            max_pause: Span::from_secs(8),
            turn_probability: 0.3,
            ..Manhattan::default()
        }
    }

    /// The number of UEs on a street is in proportion to its length, and speeds have their
    /// distribution over time. Both are checked at the start and later.
    #[test]
    fn the_walk_is_stationary_from_the_start() {
        let model = uneven();
        // Streets along x have a length of 2 * 4 * 433 m, and streets along y 3 * 3 * 250 m. The
        // streets of the border have 2 * 2 * 433 m and 2 * 3 * 250 m.
        let (along, up) = (8.0 * 433.0, 9.0 * 250.0);
        let border = (4.0 * 433.0 + 6.0 * 250.0) / (along + up);
        let probe = Walk::new(model, 0.0, Stream::new(0, "test", 0));
        let pausing = probe.pause_share();
        let cases = Cases::new(8000);
        for time in [0, 50, 1000] {
            let (mut is_along, mut is_border, mut pauses, mut speeds) = (0.0, 0.0, 0.0, 0.0);
            cases.run(|seed| {
                let at = walk(model, seed).kinematics_at(secs(time));
                let (x, y) = (at.position.x, at.position.y);
                let rows = y / 250.0;
                let columns = x / 433.0;
                let lies = |share: f64| (share - share.round()).abs() < 1e-6;
                assert!(lies(rows) || lies(columns), "{x} {y}");
                let on_row = lies(rows);
                is_along += f64::from(u8::from(on_row));
                let outer = (on_row && !(0.5..=2.5).contains(&rows))
                    || (!on_row && !(0.5..=1.5).contains(&columns));
                is_border += f64::from(u8::from(outer));
                pauses += f64::from(u8::from(at.velocity.length() == 0.0));
                speeds += at.velocity.length();
            });
            let walks = cases.count() as f64;
            let share = |count: f64| count / walks;
            // The limit is five standard errors. The standard deviation of a share is at most a
            // half.
            let error = 5.0 / walks.sqrt();
            assert!(
                (share(is_along) - along / (along + up)).abs() < 0.5 * error,
                "{time} s"
            );
            assert!((share(is_border) - border).abs() < 0.5 * error, "{time} s");
            assert!((share(pauses) - pausing).abs() < 0.5 * error, "{time} s");
            // The standard deviation of the speed is about 8 m/s.
            let expected = (1.0 - pausing) / model.speeds.mean_pace();
            assert!((share(speeds) - expected).abs() < 8.0 * error, "{time} s");
        }
    }

    /// Reference value `manhattan_mean_dist_speed_change` of the reference sheet: 5 m / 0.2.
    #[test]
    fn the_speed_changes_every_25_m_in_the_mean() {
        let mut drawn = Walk::new(Manhattan::default(), 0.0, Stream::new(3, "test", 0));
        let count = Cases::new(40_000).count();
        let sum: f64 = (0..count).map(|_| drawn.draw_change()).sum();
        // The limit is five standard errors. The standard deviation of the distance is 22.4 m.
        let error = 5.0 * 22.4 / (count as f64).sqrt();
        assert!((sum / count as f64 - 25.0).abs() < error);
    }

    #[test]
    fn nobody_leaves_the_streets_or_jumps() {
        let model = Manhattan {
            x_blocks: 1,
            y_blocks: 1,
            speeds: Speeds {
                speed_law: SpeedLaw::Normal,
                ..Speeds::default()
            },
            ..Manhattan::default()
        };
        let mut track = walk(model, 5);
        let mut before = track.kinematics_at(Time::ZERO).position;
        for step in 1..Cases::new(20_000).count() {
            let here = track
                .kinematics_at(Time::ZERO + Span::from_millis(50 * step))
                .position;
            // A UE at 30 m/s moves 1.5 m in 50 ms. The straight distance is shorter if it turns at
            // a crossing.
            assert!(before.distance_to(here) < 1.5 + 1e-6);
            assert!(
                (-1e-6..25.0 + 1e-6).contains(&here.x) && (-1e-6..25.0 + 1e-6).contains(&here.y)
            );
            before = here;
        }
    }

    #[test]
    fn speeds_that_decay_are_refused() {
        let model = Manhattan {
            speeds: Speeds {
                range: SpeedRange {
                    min_speed: 0.0,
                    ..SpeedRange::default()
                },
                ..Speeds::default()
            },
            ..Manhattan::default()
        };
        let made = model.track(Point::default(), Stream::new(1, "test", 0));
        assert!(made.is_err());
    }
}
