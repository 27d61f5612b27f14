//! Roads as lanes. A lane consists of straight parts, and each part leads into others.

use crate::MobilityError;
use fadeout_core::math;
use std::f64::consts::PI;

/// Straight part of a lane.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lane {
    /// Start of the part, east and north in metres.
    pub(super) start: (f64, f64),
    /// Direction, counter-clockwise from east, in radians.
    pub(super) heading: f64,
    /// Length in metres.
    pub(super) length: f64,
    /// Speed limit in metres per second.
    pub(super) speed: f64,
    /// Parts that a vehicle can enter at the end of this part, each with its probability.
    pub(super) next: Vec<(usize, f64)>,
    /// Phase in which the traffic light at the part's end is green. `None` without a light.
    pub(super) phase: Option<u8>,
    /// True if the next part belongs to the same lane of the same street.
    pub(super) joins: bool,
}

/// Lanes of a motorway, of a grid of streets, or of the streets of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Road {
    pub(super) lanes: Vec<Lane>,
    /// Lanes on which vehicles may start, each as the indexes of its first and last part.
    pub(super) stretches: Vec<(usize, usize)>,
    /// Length of a cycle of all traffic lights in seconds. The lights of a crossing have two
    /// phases.
    pub(super) cycle: f64,
    /// True if the lanes are those of a map. Lanes of a map have different lengths, so each has its
    /// own limit for the number of vehicles.
    pub(super) is_map: bool,
}

/// Straight motorway. A vehicle that leaves at its end enters at its start.
#[derive(Debug, Clone, PartialEq)]
pub struct Motorway {
    /// Start of the motorway's middle line, east and north in metres.
    pub start: (f64, f64),
    /// Direction of the motorway, counter-clockwise from east, in radians.
    pub heading: f64,
    /// Length of the motorway in metres.
    pub length: f64,
    /// Speeds of the lanes in the motorway's direction, from the outermost lane on, in metres per
    /// second.
    pub lanes: Vec<f64>,
    /// Speeds of the lanes in the opposite direction, from the outermost lane on, in metres per
    /// second.
    pub opposite: Vec<f64>,
    /// Width of a lane in metres.
    pub lane_width: f64,
    /// Distance between the innermost lanes of both directions, in metres.
    pub median: f64,
}

impl Motorway {
    /// Returns the lanes of the motorway.
    ///
    /// # Errors
    /// Returns an error if there is no lane.
    pub fn road(&self) -> Result<Road, MobilityError> {
        if self.lanes.is_empty() && self.opposite.is_empty() {
            return Err(MobilityError(
                "a motorway without lanes; expected at least one".to_owned(),
            ));
        }
        let mut road = Road::with_cycle(0.0);
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
                road.add_alone(Lane {
                    start: place(from, left),
                    heading: self.heading + turn,
                    length: self.length,
                    speed,
                    next: vec![(road.lanes.len(), 1.0)],
                    phase: None,
                    joins: false,
                });
            }
        }
        Ok(road)
    }
}

/// Grid of streets with crossings and right-hand traffic. Vehicles never leave the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Streets {
    /// Position of the south-western crossing, east and north in metres.
    pub corner: (f64, f64),
    /// Number of blocks along x and number of blocks along y.
    pub blocks: (u32, u32),
    /// Distance between neighbouring streets along x and along y, in metres.
    pub pitch: (f64, f64),
    /// Number of lanes of a street in each direction.
    pub lanes: u32,
    /// Width of a lane in metres.
    pub lane_width: f64,
    /// Width of a sidewalk in metres.
    pub sidewalk: f64,
    /// Speed limit in metres per second.
    pub speed: f64,
    /// Speed in turns, in metres per second.
    pub turn_speed: f64,
    /// Probability of a turn at a crossing of four streets. Left and right are equally likely.
    pub turn_probability: f64,
    /// Length of a cycle of the traffic lights in seconds. Zero disables the lights.
    pub cycle: f64,
}

/// Directions of a street, counter-clockwise from east, as steps to the next crossing.
const DIRECTIONS: [(i64, i64); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

impl Streets {
    /// Returns the distance from the middle of a street to the buildings, in metres.
    pub fn half_width(&self) -> f64 {
        f64::from(self.lanes) * self.lane_width + self.sidewalk
    }

    /// Returns the south-west and north-east corner of each block between the streets.
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

    fn has_street(&self, from: (i64, i64), direction: usize) -> bool {
        let (x, y) = (
            from.0 + DIRECTIONS[direction].0,
            from.1 + DIRECTIONS[direction].1,
        );
        (0..=i64::from(self.blocks.0)).contains(&x) && (0..=i64::from(self.blocks.1)).contains(&y)
    }

    /// Returns the lanes of the streets and the lanes across crossings.
    ///
    /// # Errors
    /// Returns an error if there is no lane, or if the blocks leave no street between crossings.
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
        let mut road = Road::with_cycle(self.cycle);
        // Index of the first lane of each street, by the crossing and the direction in which it
        // starts.
        let mut first = std::collections::BTreeMap::new();
        let (columns, rows) = (i64::from(self.blocks.0), i64::from(self.blocks.1));
        let crossings = (0..=rows).flat_map(|y| (0..=columns).map(move |x| (x, y)));
        for at in crossings.clone() {
            for direction in (0..4).filter(|&direction| self.has_street(at, direction)) {
                first.insert((at, direction), road.lanes.len());
                let heading = direction as f64 * 0.5 * PI;
                let (east, north) = (
                    DIRECTIONS[direction].0 as f64,
                    DIRECTIONS[direction].1 as f64,
                );
                let pitch = if direction % 2 == 0 {
                    self.pitch.0
                } else {
                    self.pitch.1
                };
                for lane in 0..self.lanes {
                    let right = (f64::from(lane) + 0.5) * self.lane_width;
                    let (x, y) = self.crossing(at);
                    road.add_alone(Lane {
                        start: (
                            x + east * half + north * right,
                            y + north * half - east * right,
                        ),
                        heading,
                        length: pitch - 2.0 * half,
                        speed: self.speed,
                        next: Vec::new(),
                        phase: (self.cycle > 0.0).then_some((direction % 2) as u8),
                        joins: false,
                    });
                }
            }
        }
        for at in crossings {
            for (direction, (east, north)) in DIRECTIONS.into_iter().enumerate() {
                let before = (at.0 - east, at.1 - north);
                let Some(&from) = first.get(&(before, direction)) else {
                    continue;
                };
                let turns = self.turns_at(at, direction);
                for lane in 0..self.lanes as usize {
                    for &(next_direction, probability) in &turns {
                        let to = first[&(at, next_direction)] + lane;
                        let speed = match direction == next_direction {
                            true => self.speed,
                            false => self.turn_speed.min(self.speed),
                        };
                        road.connect((from + lane, to), speed, probability);
                    }
                }
            }
        }
        Ok(road)
    }

    /// Returns the directions that a vehicle can take at a crossing, with their probabilities. As
    /// many vehicles leave each street as enter it, so the traffic stays evenly distributed.
    fn turns_at(&self, at: (i64, i64), direction: usize) -> Vec<(usize, f64)> {
        let turns = [direction, (direction + 1) % 4, (direction + 3) % 4];
        let open: Vec<usize> = turns
            .into_iter()
            .filter(|&direction| self.has_street(at, direction))
            .collect();
        let share = |one: usize| match open.len() {
            3 if one == direction => 1.0 - self.turn_probability,
            3 => 0.5 * self.turn_probability,
            count => 1.0 / count as f64,
        };
        open.iter().map(|&one| (one, share(one))).collect()
    }
}

impl Lane {
    fn end(&self) -> (f64, f64) {
        (
            self.start.0 + self.length * math::cos(self.heading),
            self.start.1 + self.length * math::sin(self.heading),
        )
    }
}

fn piece(start: (f64, f64), end: (f64, f64), speed: f64) -> Lane {
    let (x, y) = (end.0 - start.0, end.1 - start.1);
    Lane {
        start,
        heading: math::atan2(y, x),
        length: math::hypot(x, y),
        speed,
        next: Vec::new(),
        phase: None,
        joins: false,
    }
}

/// Duration of a yellow light, in seconds. A vehicle stops at a yellow light if it can.
const YELLOW: f64 = 3.0;

impl Road {
    pub(super) fn with_cycle(cycle: f64) -> Road {
        Road {
            lanes: Vec::new(),
            stretches: Vec::new(),
            cycle,
            is_map: false,
        }
    }

    /// Adds a lane that consists of one part.
    fn add_alone(&mut self, lane: Lane) {
        let number = self.lanes.len();
        self.stretches.push((number, number));
        self.lanes.push(lane);
    }

    /// Adds a lane along a line of points, with a traffic light at the end of the lane. Each line
    /// between two points becomes a [`Lane`]. Returns the indices of the first and the last one.
    pub(super) fn add_stretch(
        &mut self,
        line: &[(f64, f64)],
        speed: f64,
        phase: Option<u8>,
    ) -> (usize, usize) {
        let first = self.lanes.len();
        for pair in line.windows(2) {
            let next = vec![(self.lanes.len() + 1, 1.0)];
            self.lanes.push(Lane {
                next,
                joins: true,
                ..piece(pair[0], pair[1], speed)
            });
        }
        let last = self.lanes.len() - 1;
        let end = &mut self.lanes[last];
        (end.next, end.joins, end.phase) = (Vec::new(), false, phase);
        self.stretches.push((first, last));
        (first, last)
    }

    /// Connects the end of a lane to the start of another, with a probability.
    pub(super) fn connect(&mut self, (from, to): (usize, usize), speed: f64, probability: f64) {
        let (start, end) = (self.lanes[from].end(), self.lanes[to].start);
        let number = self.lanes.len();
        self.lanes.push(Lane {
            next: vec![(to, 1.0)],
            ..piece(start, end, speed)
        });
        self.lanes[from].next.push((number, probability));
    }

    /// Returns the last part of the lane that this part belongs to.
    pub(super) fn last_of(&self, lane: usize) -> usize {
        let mut last = lane;
        while self.lanes[last].joins {
            last += 1;
        }
        last
    }

    /// Returns the highest speed limit, in metres per second.
    pub fn fastest(&self) -> f64 {
        self.lanes.iter().map(|lane| lane.speed).fold(0.0, f64::max)
    }

    /// Returns true if the light at a lane's end is green at a time in seconds, or if there is no
    /// light.
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
        // The grid has 12 streets with two directions and two lanes each.
        assert_eq!(road.stretches.len(), 48);
        for lane in &road.lanes {
            let total: f64 = lane.next.iter().map(|(_, share)| share).sum();
            assert!((total - 1.0).abs() < 1e-12);
            let end = lane.end();
            for &(next, _) in &lane.next {
                let start = road.lanes[next].start;
                assert!((start.0 - end.0).abs() < 1e-9 && (start.1 - end.1).abs() < 1e-9);
            }
        }
        // As many vehicles enter each lane as leave it, so the traffic stays evenly distributed.
        let mut into = vec![0.0; road.lanes.len()];
        for &(_, lane) in &road.stretches {
            for &(connector, share) in &road.lanes[lane].next {
                into[road.lanes[connector].next[0].0] += share;
            }
        }
        let mut starts = road.stretches.iter().map(|&(first, _)| into[first]);
        assert!(starts.all(|share: f64| (share - 1.0).abs() < 1e-12));
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
        // Each half of the cycle is 45 s long, and its last 3 s are yellow. So one light is green
        // for 42 of 45 s.
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
