//! Streets of a map: lines that are connected where they share a point.

use super::road::Road;
use crate::MobilityError;
use fadeout_core::math;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Street between two of its ends, or a part of a street with a constant number of lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct Street {
    /// Points of the street's middle line, east and north in metres. For a one-way street this is
    /// the middle of its lanes. Streets that share a point meet there.
    pub points: Vec<(f64, f64)>,
    /// Number of lanes from the first point to the last, and number of lanes in the other
    /// direction.
    pub lanes: [u32; 2],
    /// Speed limit in metres per second.
    pub speed: f64,
}

/// Streets and crossings of a map with right-hand traffic. Vehicles never leave the map.
#[derive(Debug, Clone, PartialEq)]
pub struct StreetMap {
    /// Streets of the map.
    pub streets: Vec<Street>,
    /// Positions of crossings with traffic lights, east and north in metres.
    pub lights: Vec<(f64, f64)>,
    /// Width of a lane in metres.
    pub lane_width: f64,
    /// Speed in turns, in metres per second.
    pub turn_speed: f64,
    /// Length of a cycle of the traffic lights in seconds. Zero disables the lights.
    pub cycle: f64,
}

/// Smallest angle between two streets that counts as a turn, radians.
const STRAIGHT: f64 = PI / 6.0;
/// Smallest distance between two points of a street, in metres. Closer points are left out.
const SHORTEST_M: f64 = 1.0;
/// Smallest distance at which lanes end before a joint of two streets, in metres.
const JOINT_M: f64 = 1.0;

/// Largest bend between two streets, in radians. Sharper bends are treated as this one.
const SHARPEST: f64 = 2.0 * PI / 3.0;

/// Point in whole millimetres. Ends of streets are equal if these are.
type Spot = (i64, i64);

fn spot((x, y): (f64, f64)) -> Spot {
    ((x * 1e3).round() as i64, (y * 1e3).round() as i64)
}

/// One direction of a street between two crossings.
#[derive(Debug)]
struct Direction {
    from: Spot,
    to: Spot,
    points: Vec<(f64, f64)>,
    lanes: u32,
    /// Number of lanes in the opposite direction of the same street.
    opposite: u32,
    speed: f64,
    /// Index of the opposite direction of the same street. `None` for a one-way street.
    back: Option<usize>,
}

impl Direction {
    /// Returns the heading at the street's start, or at its end if `at_end` is true, in radians.
    fn heading(&self, at_end: bool) -> f64 {
        let [.., before, last] = self.points[..] else {
            return 0.0;
        };
        let (from, to) = match at_end {
            true => (before, last),
            false => (self.points[0], self.points[1]),
        };
        math::atan2(to.1 - from.1, to.0 - from.0)
    }
}

impl StreetMap {
    /// Returns the lanes of the streets and the lanes across crossings.
    ///
    /// Vehicles neither enter nor leave the map. So only streets that can be reached from each
    /// other are kept, and all others are left out.
    ///
    /// # Errors
    /// Returns an error if there are no streets on which vehicles can drive without end.
    pub fn road(&self) -> Result<Road, MobilityError> {
        let directions = connected(self.directions());
        if directions.is_empty() {
            return Err(MobilityError(
                "no streets on which vehicles can drive forever; expected a street with lanes both \
                 ways, or a round of streets"
                    .to_owned(),
            ));
        }
        let mut road = Road::with_cycle(self.cycle);
        road.is_map = true;
        let joints = Joints::new(&directions, self.lane_width);
        let ends = self.add_lanes(&directions, &joints, &mut road);
        for (number, direction) in directions.iter().enumerate() {
            let onward_directions: Vec<usize> =
                onward(&directions, &joints.leaving[&direction.to], number);
            for lane in 0..direction.lanes as usize {
                for &to in &onward_directions {
                    let into = lane.min(directions[to].lanes as usize - 1);
                    let turn = turned(direction.heading(true), directions[to].heading(false));
                    let limit = direction.speed.min(directions[to].speed);
                    let speed = match turn < STRAIGHT {
                        true => limit,
                        false => self.turn_speed.min(limit),
                    };
                    let pair = (ends[number][lane].1, ends[to][into].0);
                    road.connect(pair, speed, 1.0 / onward_directions.len() as f64);
                }
            }
        }
        Ok(road)
    }

    /// Adds the lanes of all street directions to a road. Returns the first and the last part of
    /// each lane for each street direction.
    fn add_lanes(
        &self,
        directions: &[Direction],
        joints: &Joints,
        road: &mut Road,
    ) -> Vec<Vec<(usize, usize)>> {
        let with_lights: std::collections::BTreeSet<Spot> =
            self.lights.iter().copied().map(spot).collect();
        let mut ends: Vec<Vec<(usize, usize)>> = Vec::new();
        for direction in directions {
            let clear = [direction.from, direction.to].map(|end| joints.clearance_m(&end));
            let is_lit = self.cycle > 0.0
                && with_lights.contains(&direction.to)
                && joints.is_crossing(&direction.to);
            let phase = is_lit.then(|| {
                let across =
                    math::sin(direction.heading(true) - joints.widest[&direction.to].1).abs();
                u8::from(across > math::sin(PI / 4.0))
            });
            let lanes = (0..direction.lanes).map(|lane| {
                let line = trimmed(&self.lane_line(direction, lane), clear);
                road.add_stretch(&line, direction.speed, phase)
            });
            ends.push(lanes.collect());
        }
        ends
    }

    /// Returns both directions of all streets, from crossing to crossing.
    fn directions(&self) -> Vec<Direction> {
        let mut visits: BTreeMap<Spot, u32> = BTreeMap::new();
        let lines: Vec<Vec<(f64, f64)>> =
            self.streets.iter().map(|one| simple(&one.points)).collect();
        for line in &lines {
            for (number, &point) in line.iter().enumerate() {
                let is_end = number == 0 || number + 1 == line.len();
                *visits.entry(spot(point)).or_default() += 1 + u32::from(is_end);
            }
        }
        let mut directions = Vec::new();
        for (street, line) in self.streets.iter().zip(&lines) {
            let mut start = 0;
            for end in 1..line.len() {
                if visits[&spot(line[end])] < 2 {
                    continue;
                }
                let points = thinned(&line[start..=end]);
                start = end;
                if points.len() < 2 {
                    continue;
                }
                let mut reversed = points.clone();
                reversed.reverse();
                let first = directions.len();
                for (points, one) in [(points, 0), (reversed, 1)] {
                    let (lanes, opposite) = (street.lanes[one], street.lanes[1 - one]);
                    if lanes > 0 {
                        let both = opposite > 0;
                        directions.push(Direction {
                            from: spot(points[0]),
                            to: spot(points[points.len() - 1]),
                            points,
                            lanes,
                            opposite,
                            speed: street.speed,
                            back: both.then_some(first + 1 - one),
                        });
                    }
                }
            }
        }
        directions
    }

    /// Returns the points of a lane, to the right of the street's middle. Lane 0 is the innermost.
    fn lane_line(&self, direction: &Direction, lane: u32) -> Vec<(f64, f64)> {
        let first = match direction.opposite {
            0 => -0.5 * f64::from(direction.lanes),
            _ => 0.0,
        };
        let right = (first + f64::from(lane) + 0.5) * self.lane_width;
        let points = &direction.points;
        let normal = |from: (f64, f64), to: (f64, f64)| {
            let (x, y) = (to.0 - from.0, to.1 - from.1);
            let length = math::hypot(x, y);
            (y / length, -x / length)
        };
        let shifted = |number: usize| {
            let before = (number > 0).then(|| normal(points[number - 1], points[number]));
            let after =
                (number + 1 < points.len()).then(|| normal(points[number], points[number + 1]));
            let (one, other) = match (before, after) {
                (Some(one), Some(other)) => (one, other),
                (Some(one), None) | (None, Some(one)) => (one, one),
                (None, None) => ((0.0, 0.0), (0.0, 0.0)),
            };
            // The shifted lines of both parts of the street meet at this point. At sharp bends the
            // point's distance from the middle line is limited.
            let (x, y) = (one.0 + other.0, one.1 + other.1);
            let scale = (2.0 / (x * x + y * y)).min(2.0) * right;
            (points[number].0 + x * scale, points[number].1 + y * scale)
        };
        (0..points.len()).map(shifted).collect()
    }
}

/// Returns a line without repeated points.
fn simple(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = points.to_vec();
    line.dedup_by_key(|point| spot(*point));
    line
}

/// Returns a line without inner points that are closer together than [`SHORTEST_M`].
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (number, &point) in points.iter().enumerate() {
        let is_last = number + 1 == points.len();
        let apart = |to: &(f64, f64)| math::hypot(point.0 - to.0, point.1 - to.1);
        let is_close = line.last().is_some_and(|before| apart(before) < SHORTEST_M);
        if is_close && is_last && line.len() > 1 {
            line.pop();
        }
        if !is_close || is_last {
            line.push(point);
        }
    }
    line
}

/// Returns a line shortened at both ends, to leave room for crossings. Each end is shortened by at
/// most two fifths of the line's length.
fn trimmed(line: &[(f64, f64)], clear: [f64; 2]) -> Vec<(f64, f64)> {
    let length = |pair: &[(f64, f64)]| math::hypot(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
    let whole: f64 = line.windows(2).map(length).sum();
    let (from, to) = (clear[0].min(0.4 * whole), whole - clear[1].min(0.4 * whole));
    let mut cut = Vec::new();
    let mut passed = 0.0;
    for pair in line.windows(2) {
        let own = length(pair);
        let point_at = |along: f64| {
            let share = (along - passed) / own;
            let (x, y) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            (pair[0].0 + share * x, pair[0].1 + share * y)
        };
        if own > 0.0 && passed + own > from && passed < to {
            if cut.is_empty() {
                cut.push(point_at(from.max(passed)));
            }
            cut.push(point_at(to.min(passed + own)));
        }
        passed += own;
    }
    cut
}

/// Returns the absolute angle between two headings, in radians.
fn turned(from: f64, to: f64) -> f64 {
    let (x, y) = (math::cos(to - from), math::sin(to - from));
    math::atan2(y, x).abs()
}

/// Returns the street directions that a vehicle can take at the end of a street direction. The
/// opposite direction is left out unless it is the only one. If all streets have lanes both ways,
/// each street direction is entered as often as it is left. So traffic stays evenly distributed.
fn onward(directions: &[Direction], leaving: &[usize], number: usize) -> Vec<usize> {
    let others = leaving.iter().copied();
    let others: Vec<usize> = others
        .filter(|&other| directions[number].back != Some(other))
        .collect();
    match others.is_empty() {
        true => leaving.to_vec(),
        false => others,
    }
}

/// For each street direction, returns the street directions that a vehicle can take at its end.
fn followers(directions: &[Direction]) -> Vec<Vec<usize>> {
    let mut leaving: BTreeMap<Spot, Vec<usize>> = BTreeMap::new();
    for (number, direction) in directions.iter().enumerate() {
        leaving.entry(direction.from).or_default().push(number);
    }
    let from = |direction: &Direction| leaving.get(&direction.to).map_or(&[][..], Vec::as_slice);
    let each = directions.iter().enumerate();
    each.map(|(number, direction)| onward(directions, from(direction), number))
        .collect()
}

/// Returns the street directions for which `is_kept` returns true.
fn kept(directions: Vec<Direction>, is_kept: impl Fn(usize) -> bool) -> Vec<Direction> {
    let mut places = vec![None; directions.len()];
    for (place, direction) in (0..directions.len())
        .filter(|&direction| is_kept(direction))
        .enumerate()
    {
        places[direction] = Some(place);
    }
    let mut kept = Vec::new();
    for (number, mut direction) in directions.into_iter().enumerate() {
        if places[number].is_some() {
            direction.back = direction.back.and_then(|back| places[back]);
            kept.push(direction);
        }
    }
    kept
}

/// Points at which streets meet.
struct Joints {
    /// Indexes of the street directions that start at each joint.
    leaving: BTreeMap<Spot, Vec<usize>>,
    /// Number of streets that end at each joint.
    arms: BTreeMap<Spot, u32>,
    /// Width in metres and heading of the widest street at each joint.
    widest: BTreeMap<Spot, (f64, f64)>,
    /// Distance from each joint beyond which the innermost lanes of its streets do not cross, in
    /// half widths of the widest street.
    bends: BTreeMap<Spot, f64>,
}

impl Joints {
    /// Returns the joints of street directions, for lanes of this width.
    fn new(directions: &[Direction], lane_width: f64) -> Joints {
        let mut leaving: BTreeMap<Spot, Vec<usize>> = BTreeMap::new();
        let mut arms: BTreeMap<Spot, u32> = BTreeMap::new();
        let mut widest: BTreeMap<Spot, (f64, f64)> = BTreeMap::new();
        for (number, direction) in directions.iter().enumerate() {
            leaving.entry(direction.from).or_default().push(number);
            let width = f64::from(direction.lanes + direction.opposite) * lane_width;
            for (end, heading) in [
                (direction.from, direction.heading(false)),
                (direction.to, direction.heading(true)),
            ] {
                *arms.entry(end).or_default() +=
                    u32::from(direction.back.is_none_or(|back| number < back));
                let known = widest.entry(end).or_insert((width, heading));
                if width > known.0 {
                    *known = (width, heading);
                }
            }
        }
        let mut bends: BTreeMap<Spot, f64> = BTreeMap::new();
        for (number, direction) in directions.iter().enumerate() {
            for to in onward(directions, &leaving[&direction.to], number) {
                let turn = turned(direction.heading(true), directions[to].heading(false));
                let half = 0.5 * turn.min(SHARPEST);
                let bend = bends.entry(direction.to).or_default();
                *bend = bend.max(math::sin(half) / math::cos(half));
            }
        }
        Joints {
            leaving,
            arms,
            widest,
            bends,
        }
    }

    /// Returns true if more than two streets meet at a joint.
    fn is_crossing(&self, end: &Spot) -> bool {
        self.arms[end] > 2
    }

    /// Returns the distance from a joint at which the lanes of its streets end, in metres.
    fn clearance_m(&self, end: &Spot) -> f64 {
        let half = 0.5 * self.widest[end].0;
        match self.is_crossing(end) {
            true => half,
            false => (half * self.bends.get(end).copied().unwrap_or(0.0)).max(JOINT_M),
        }
    }
}

/// Returns the largest set of street directions that can all be reached from each other.
fn connected(mut directions: Vec<Direction>) -> Vec<Direction> {
    // Streets that lead out of the map are removed first. Otherwise a vehicle might turn back at a
    // crossing from which all other streets lead out.
    let (forward, backward) = loop {
        let forward = followers(&directions);
        let mut backward = vec![Vec::new(); directions.len()];
        for (number, next) in forward.iter().enumerate() {
            for &next in next {
                backward[next].push(number);
            }
        }
        if forward.iter().all(|next| !next.is_empty()) {
            break (forward, backward);
        }
        directions = kept(directions, |direction| !forward[direction].is_empty());
    };
    // Kosaraju's algorithm: a depth-first search orders the street directions by the time at which
    // it leaves them. A backward search then starts from the last one.
    let mut seen = vec![false; directions.len()];
    let mut order = Vec::with_capacity(directions.len());
    for first in 0..directions.len() {
        let mut open = vec![(first, 0)];
        while let Some((direction, tried)) = open.pop() {
            if tried == 0 && std::mem::replace(&mut seen[direction], true) {
                continue;
            }
            match forward[direction].get(tried) {
                Some(&next) => open.extend([(direction, tried + 1), (next, 0)]),
                None => order.push(direction),
            }
        }
    }
    let mut part = vec![usize::MAX; directions.len()];
    let mut sizes: Vec<usize> = Vec::new();
    for &last in order.iter().rev() {
        let mut open = vec![last];
        let number = sizes.len();
        let mut size = 0;
        while let Some(direction) = open.pop() {
            if part[direction] != usize::MAX {
                continue;
            }
            part[direction] = number;
            size += 1;
            open.extend(&backward[direction]);
        }
        sizes.push(size);
    }
    // A set with a single street direction is used only if the direction leads into itself.
    let leads_on = |number: usize| {
        (0..directions.len()).any(|direction| {
            part[direction] == number && forward[direction].iter().any(|&next| part[next] == number)
        })
    };
    let largest = (0..sizes.len()).filter(|&number| sizes[number] > 0);
    let largest = largest.max_by_key(|&number| (sizes[number], std::cmp::Reverse(number)));
    let Some(largest) = largest.filter(|&number| leads_on(number)) else {
        return Vec::new();
    };
    kept(directions, |direction| part[direction] == largest)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::traffic) fn street(points: &[(f64, f64)], lanes: [u32; 2]) -> Street {
        Street {
            points: points.to_vec(),
            lanes,
            speed: 50.0 / 3.6,
        }
    }

    /// Returns a map with one crossing with lights. One street bends, and a one-way street connects
    /// two arms of the crossing.
    pub(in crate::traffic) fn village() -> StreetMap {
        let bend: Vec<(f64, f64)> = (0..=12)
            .map(|step| 0.5 * PI * f64::from(step) / 12.0)
            .map(|angle| {
                (
                    100.0 + 60.0 * math::sin(angle),
                    60.0 - 60.0 * math::cos(angle),
                )
            })
            .collect();
        let mut east = vec![(-150.0, 0.0), (0.0, 0.0)];
        east.extend(bend);
        StreetMap {
            streets: vec![
                street(&east, [1, 1]),
                street(&[(0.0, -120.0), (0.0, 0.0), (0.0, 180.0)], [2, 2]),
                street(&[(160.0, 60.0), (160.0, 180.0), (0.0, 180.0)], [1, 0]),
                street(&[(-150.0, 0.0), (-400.0, 0.0)], [1, 0]),
            ],
            lights: vec![(0.0, 0.0)],
            lane_width: 3.5,
            turn_speed: 7.0,
            cycle: 60.0,
        }
    }

    #[test]
    fn lanes_meet_and_lie_beside_the_middle_of_their_street() {
        let road = village().road().expect("streets");
        // Two arms of one lane each way, two of two lanes each way, and the one-way street. The
        // street out of the map is left out. So is the lane of the bend that is never reached.
        assert_eq!(road.stretches.len(), 2 * 2 + 2 * 4 + 1 - 1);
        for lane in &road.lanes {
            let shares: f64 = lane.next.iter().map(|(_, share)| share).sum();
            assert!((shares - 1.0).abs() < 1e-12);
            for &(next, _) in &lane.next {
                let gap = road.lanes[next].start;
                let end = (
                    lane.start.0 + lane.length * math::cos(lane.heading),
                    lane.start.1 + lane.length * math::sin(lane.heading),
                );
                assert!(math::hypot(gap.0 - end.0, gap.1 - end.1) < 1e-6);
            }
        }
        // The lane along the left bend is an arc with a radius 1.75 m larger than that of the
        // middle line.
        let mut bent = road
            .stretches
            .iter()
            .filter(|&&(first, last)| last - first > 10);
        let &(first, last) = bent.next().expect("a bend");
        let length: f64 = road.lanes[first..=last].iter().map(|one| one.length).sum();
        let expected = 100.0 + 0.5 * PI * 61.75 - 7.0 - 1.0;
        assert!((length - expected).abs() < 0.2, "{length} for {expected}");
        for piece in &road.lanes[first + 2..last] {
            let radius = math::hypot(piece.start.0 - 100.0, piece.start.1 - 60.0);
            assert!((radius - 61.75).abs() < 0.02, "{radius}");
        }
    }

    #[test]
    fn lights_stand_where_the_map_has_them_with_one_phase_for_each_street() {
        let road = village().road().expect("streets");
        let lit = road
            .lanes
            .iter()
            .filter_map(|lane| Some((lane.phase?, lane.heading)));
        let mut phases: Vec<(u8, i64)> = lit
            .map(|(phase, heading)| (phase, (heading.to_degrees() / 90.0).round() as i64))
            .collect();
        phases.sort_unstable();
        assert_eq!(phases, [(0, -1), (0, -1), (0, 1), (0, 1), (1, 0)]);
        let dark = StreetMap {
            cycle: 0.0,
            ..village()
        };
        let road = dark.road().expect("streets");
        assert!(road.lanes.iter().all(|lane| lane.phase.is_none()));
    }

    #[test]
    fn where_all_streets_lead_both_ways_traffic_stays_even() {
        let (x, y) = ([0.0, 130.0, 210.0, 400.0], [0.0, 90.0, 250.0]);
        let mut streets = Vec::new();
        for &x in &x {
            streets.push(street(&y.map(|y| (x, y)), [1, 1]));
        }
        for &y in &y {
            streets.push(street(&x.map(|x| (x, y)), [1, 1]));
        }
        streets.push(street(&[(400.0, 250.0), (500.0, 300.0)], [1, 1]));
        let map = StreetMap {
            streets,
            lights: Vec::new(),
            ..village()
        };
        let road = map.road().expect("streets");
        assert_eq!(road.stretches.len(), 2 * (4 * 2 + 3 * 3 + 1));
        let mut into = vec![0.0; road.lanes.len()];
        for &(_, last) in &road.stretches {
            for &(connector, share) in &road.lanes[last].next {
                into[road.lanes[connector].next[0].0] += share;
            }
        }
        let mut starts = road.stretches.iter().map(|&(first, _)| into[first]);
        assert!(starts.all(|share: f64| (share - 1.0).abs() < 1e-12));
    }

    #[test]
    fn streets_that_lead_nowhere_are_refused() {
        for streets in [
            Vec::new(),
            vec![street(&[(0.0, 0.0), (100.0, 0.0)], [1, 0])],
            vec![street(&[(0.0, 0.0)], [1, 1])],
            vec![street(&[(0.0, 0.0), (0.0, 0.0)], [1, 1])],
            vec![street(&[(0.0, 0.0), (9.0, 0.0)], [0, 0])],
        ] {
            let map = StreetMap {
                streets,
                ..village()
            };
            let error = map.road().expect_err("nowhere to go").to_string();
            assert!(error.contains("forever"), "{error}");
        }
    }
}
