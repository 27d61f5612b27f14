//! Roads as lanes: straight pieces that lead into each other.

use crate::MobilityError;
use fadeout_core::math;
use std::f64::consts::PI;

/// A straight piece of lane.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lane {
    /// Where it begins.
    pub(super) start: (f64, f64),
    /// Where it leads, counter-clockwise from east, in radians.
    pub(super) heading: f64,
    /// Its length in metres.
    pub(super) length: f64,
    /// Speed limit in metres per second.
    pub(super) speed: f64,
    /// The roads that it leads into, each with its probability.
    pub(super) next: Vec<(usize, f64)>,
    /// The phase in which the light at its end is green; without one it always is.
    pub(super) phase: Option<u8>,
    /// Whether vehicles start on it.
    pub(super) is_peopled: bool,
}

/// The lanes of a road or of a grid of streets.
#[derive(Debug, Clone, PartialEq)]
pub struct Road {
    pub(super) lanes: Vec<Lane>,
    /// Length of a cycle of all lights in seconds; they have two phases.
    pub(super) cycle: f64,
}

/// A straight motorway. Who leaves at its end enters at its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Motorway {
    /// Where its middle begins: east and north.
    pub start: (f64, f64),
    /// Where it leads, counter-clockwise from east, in radians.
    pub heading: f64,
    /// Its length in metres.
    pub length: f64,
    /// Speeds of the lanes that lead there, from the outermost on, in metres per second.
    pub lanes: Vec<f64>,
    /// Those of the lanes that lead back.
    pub opposite: Vec<f64>,
    /// Width of a lane.
    pub lane_width: f64,
    /// From the innermost lanes of one direction to those of the other.
    pub median: f64,
}

impl Motorway {
    /// Its lanes.
    ///
    /// # Errors
    /// No lane.
    pub fn road(&self) -> Result<Road, MobilityError> {
        if self.lanes.is_empty() && self.opposite.is_empty() {
            return Err(MobilityError(
                "a motorway without lanes; expected at least one".to_owned(),
            ));
        }
        let mut lanes = Vec::new();
        let (cos, sin) = (math::cos(self.heading), math::sin(self.heading));
        let place = |along: f64, left: f64| {
            (
                self.start.0 + along * cos - left * sin,
                self.start.1 + along * sin + left * cos,
            )
        };
        for (speeds, from, side, turn) in [
            (&self.lanes, 0.0, -1.0, 0.0),
            (&self.opposite, self.length, 1.0, PI),
        ] {
            for (number, &speed) in speeds.iter().enumerate() {
                let from_middle = (speeds.len() - 1 - number) as f64 + 0.5;
                let left = side * (0.5 * self.median + from_middle * self.lane_width);
                lanes.push(Lane {
                    start: place(from, left),
                    heading: self.heading + turn,
                    length: self.length,
                    speed,
                    next: vec![(lanes.len(), 1.0)],
                    phase: None,
                    is_peopled: true,
                });
            }
        }
        Ok(Road { lanes, cycle: 0.0 })
    }
}

/// A grid of streets with crossings, on the right-hand side. Nobody leaves it.
#[derive(Debug, Clone, PartialEq)]
pub struct Streets {
    /// South-western crossing.
    pub corner: (f64, f64),
    /// Blocks along x and along y.
    pub blocks: (u32, u32),
    /// From one street to the next, along x and along y.
    pub pitch: (f64, f64),
    /// Lanes of each direction.
    pub lanes: u32,
    /// Width of a lane.
    pub lane_width: f64,
    /// Width of a sidewalk.
    pub sidewalk: f64,
    /// Speed limit in metres per second.
    pub speed: f64,
    /// Speed of those who turn, in metres per second.
    pub turn_speed: f64,
    /// Probability to turn left or right, each as often, where four streets meet.
    pub turn_probability: f64,
    /// Length of a cycle of the traffic lights in seconds; zero without them.
    pub cycle: f64,
}

/// Ways to go, counter-clockwise from east.
const WAYS: [(i64, i64); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

impl Streets {
    /// From the middle of a street to the buildings.
    pub fn half_width(&self) -> f64 {
        f64::from(self.lanes) * self.lane_width + self.sidewalk
    }

    /// The blocks between the streets: south-west and north-east corners.
    pub fn blocks(&self) -> Vec<((f64, f64), (f64, f64))> {
        let half = self.half_width();
        let mut blocks = Vec::new();
        for y in 0..self.blocks.1 {
            for x in 0..self.blocks.0 {
                let (low, high) = (
                    self.crossing((x.into(), y.into())),
                    self.crossing((i64::from(x) + 1, i64::from(y) + 1)),
                );
                blocks.push(((low.0 + half, low.1 + half), (high.0 - half, high.1 - half)));
            }
        }
        blocks
    }

    fn crossing(&self, (x, y): (i64, i64)) -> (f64, f64) {
        (
            self.corner.0 + x as f64 * self.pitch.0,
            self.corner.1 + y as f64 * self.pitch.1,
        )
    }

    fn leads(&self, from: (i64, i64), way: usize) -> bool {
        let (x, y) = (from.0 + WAYS[way].0, from.1 + WAYS[way].1);
        (0..=i64::from(self.blocks.0)).contains(&x) && (0..=i64::from(self.blocks.1)).contains(&y)
    }

    /// Its lanes, and those that lead across its crossings.
    ///
    /// # Errors
    /// Blocks that leave no street between crossings, or no lane.
    pub fn road(&self) -> Result<Road, MobilityError> {
        let half = self.half_width();
        let shortest = self.pitch.0.min(self.pitch.1);
        if shortest <= 2.0 * half {
            return Err(MobilityError(format!(
                "streets {} m wide every {shortest} m; expected a pitch above the width",
                2.0 * half
            )));
        }
        if self.lanes == 0 {
            return Err(MobilityError(
                "streets without lanes; expected at least one".to_owned(),
            ));
        }
        let mut lanes = Vec::new();
        // The first lane of each street by the crossing that it leaves and its way.
        let mut first = std::collections::BTreeMap::new();
        let (columns, rows) = (i64::from(self.blocks.0), i64::from(self.blocks.1));
        let crossings = (0..=rows).flat_map(|y| (0..=columns).map(move |x| (x, y)));
        for at in crossings.clone() {
            for way in (0..4).filter(|&way| self.leads(at, way)) {
                first.insert((at, way), lanes.len());
                let heading = way as f64 * 0.5 * PI;
                let (east, north) = (WAYS[way].0 as f64, WAYS[way].1 as f64);
                let pitch = if way % 2 == 0 {
                    self.pitch.0
                } else {
                    self.pitch.1
                };
                for lane in 0..self.lanes {
                    let right = (f64::from(lane) + 0.5) * self.lane_width;
                    let (x, y) = self.crossing(at);
                    lanes.push(Lane {
                        start: (
                            x + east * half + north * right,
                            y + north * half - east * right,
                        ),
                        heading,
                        length: pitch - 2.0 * half,
                        speed: self.speed,
                        next: Vec::new(),
                        phase: (self.cycle > 0.0).then_some((way % 2) as u8),
                        is_peopled: true,
                    });
                }
            }
        }
        for at in crossings {
            for (way, (east, north)) in WAYS.into_iter().enumerate() {
                let before = (at.0 - east, at.1 - north);
                let Some(&from) = first.get(&(before, way)) else {
                    continue;
                };
                let ways = self.ways_on(at, way);
                for lane in 0..self.lanes as usize {
                    for &(way_on, probability) in &ways {
                        let to = first[&(at, way_on)] + lane;
                        let connector = self.connector(&lanes, (from + lane, to), way == way_on);
                        let number = lanes.len();
                        lanes.push(connector);
                        lanes[from + lane].next.push((number, probability));
                    }
                }
            }
        }
        Ok(Road {
            lanes,
            cycle: self.cycle,
        })
    }

    /// Ways on from a crossing with their probabilities: as many come from each street as go into it.
    fn ways_on(&self, at: (i64, i64), way: usize) -> Vec<(usize, f64)> {
        let turns = [way, (way + 1) % 4, (way + 3) % 4];
        let open: Vec<usize> = turns
            .into_iter()
            .filter(|&way| self.leads(at, way))
            .collect();
        let share = |one: usize| match open.len() {
            3 if one == way => 1.0 - self.turn_probability,
            3 => 0.5 * self.turn_probability,
            count => 1.0 / count as f64,
        };
        open.iter().map(|&one| (one, share(one))).collect()
    }

    fn connector(&self, lanes: &[Lane], (from, to): (usize, usize), is_straight: bool) -> Lane {
        let (from, target) = (&lanes[from], &lanes[to]);
        let end = (
            from.start.0 + from.length * math::cos(from.heading),
            from.start.1 + from.length * math::sin(from.heading),
        );
        let (x, y) = (target.start.0 - end.0, target.start.1 - end.1);
        Lane {
            start: end,
            heading: math::atan2(y, x),
            length: math::hypot(x, y),
            speed: if is_straight {
                self.speed
            } else {
                self.turn_speed.min(self.speed)
            },
            next: vec![(to, 1.0)],
            phase: None,
            is_peopled: false,
        }
    }
}

/// How long a light stays yellow, in seconds; who can stop does.
const YELLOW: f64 = 3.0;

impl Road {
    /// Highest speed limit, in metres per second.
    pub fn fastest(&self) -> f64 {
        self.lanes.iter().map(|lane| lane.speed).fold(0.0, f64::max)
    }

    /// Whether the light at a lane's end is green at a time in seconds.
    pub(super) fn is_green(&self, lane: usize, now: f64) -> bool {
        let Some(phase) = self.lanes[lane].phase else {
            return true;
        };
        let half = 0.5 * self.cycle;
        let passed = now + f64::from(phase) * half;
        let in_cycle = passed - self.cycle * (passed / self.cycle).floor();
        in_cycle < (half - YELLOW).max(0.5 * half)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::traffic) fn town() -> Streets {
        Streets {
            corner: (0.0, 0.0),
            blocks: (2, 2),
            pitch: (433.0, 250.0),
            lanes: 2,
            lane_width: 3.5,
            sidewalk: 3.0,
            speed: 60.0 / 3.6,
            turn_speed: 7.0,
            turn_probability: 0.5,
            cycle: 90.0,
        }
    }

    #[test]
    fn a_town_has_the_blocks_of_the_standard_and_lanes_that_meet() {
        let town = town();
        let blocks = town.blocks();
        assert_eq!(blocks[0], ((10.0, 10.0), (423.0, 240.0)));
        let road = town.road().expect("a road");
        // 12 streets, two ways, two lanes.
        assert_eq!(road.lanes.iter().filter(|lane| lane.is_peopled).count(), 48);
        for lane in &road.lanes {
            let total: f64 = lane.next.iter().map(|(_, share)| share).sum();
            assert!((total - 1.0).abs() < 1e-12);
            let end = (
                lane.start.0 + lane.length * math::cos(lane.heading),
                lane.start.1 + lane.length * math::sin(lane.heading),
            );
            for &(next, _) in &lane.next {
                let start = road.lanes[next].start;
                assert!((start.0 - end.0).abs() < 1e-9 && (start.1 - end.1).abs() < 1e-9);
            }
        }
        // As much comes into each lane as leaves it: the traffic stays even.
        let mut into = vec![0.0; road.lanes.len()];
        for lane in road.lanes.iter().filter(|lane| lane.is_peopled) {
            for &(connector, share) in &lane.next {
                into[road.lanes[connector].next[0].0] += share;
            }
        }
        let peopled = road
            .lanes
            .iter()
            .zip(&into)
            .filter(|(lane, _)| lane.is_peopled);
        assert!(
            peopled
                .into_iter()
                .all(|(_, share)| (share - 1.0).abs() < 1e-12)
        );
    }

    #[test]
    fn only_one_phase_is_green() {
        let road = town().road().expect("a road");
        let by_phase = |phase| road.lanes.iter().position(|lane| lane.phase == Some(phase));
        let (one, other) = (by_phase(0).expect("a lane"), by_phase(1).expect("a lane"));
        let mut green = 0;
        for second in 0..900 {
            let (a, b) = (
                road.is_green(one, f64::from(second)),
                road.is_green(other, f64::from(second)),
            );
            assert!(!(a && b));
            green += u32::from(a) + u32::from(b);
        }
        // 42 of 45 seconds.
        assert_eq!(green, 840);
    }

    #[test]
    fn roads_without_lanes_are_refused() {
        assert!(Streets { lanes: 0, ..town() }.road().is_err());
        assert!(
            Streets {
                pitch: (20.0, 250.0),
                ..town()
            }
            .road()
            .is_err()
        );
        let empty = Motorway {
            start: (0.0, 0.0),
            heading: 0.0,
            length: 1000.0,
            lanes: Vec::new(),
            opposite: Vec::new(),
            lane_width: 4.0,
            median: 0.0,
        };
        assert!(empty.road().is_err());
    }
}
