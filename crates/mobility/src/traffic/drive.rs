//! Simulation of vehicles that drive on lanes, in time steps.

use super::following::{CarFollowing, Driving, Leader, approach_speed, speed_factor};
use super::gaps::{GapRule, LEAST_GAP_M, Placed, by_number, by_rule};
use super::road::Road;
use crate::MobilityError;
use crate::vehicle::{Body, Mix, Pose, seconds};
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time, math};

/// Rule for the number of vehicles on a road.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Population {
    /// Number of vehicles. Their places are drawn uniformly.
    Number(usize),
    /// Rule that gaps between vehicles are drawn by. The vehicles fill the road.
    Gaps(GapRule),
}

/// Configuration of a group of vehicles on a road.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficConfig {
    /// Road that the vehicles drive on.
    pub road: Road,
    /// Number of vehicles, or the rule for their gaps.
    pub population: Population,
    /// Types of the vehicles.
    pub mix: Mix,
    /// Parameters of the drivers.
    pub driving: Driving,
    /// Simulated time before the run. Used only with a car-following model.
    pub warm_up: Span,
    /// Time between two decisions of a driver. Vehicles move straight in between.
    pub step: Span,
}

/// Largest number of vehicles in a group.
pub const MAX_VEHICLES: usize = 100_000;

#[derive(Debug, Clone)]
struct Car {
    body: usize,
    lane: usize,
    /// Position of the front along the lane, metres.
    at: f64,
    speed: f64,
    /// Lane that the vehicle takes after the last part of its current lane.
    next: usize,
    /// Ratio of the driver's desired speed to the speed limit.
    factor: f64,
    idleness: f64,
}

/// Vehicles that drive on a road.
#[derive(Debug, Clone)]
pub(super) struct Drive {
    road: Road,
    mix: Mix,
    driving: Driving,
    step: Span,
    cars: Vec<Car>,
    /// Indexes of the vehicles on each lane, the foremost first.
    order: Vec<Vec<u32>>,
    /// For each lane, the other lanes that lead into the same next lane.
    into: Vec<Vec<usize>>,
    random: Stream,
    /// Simulated time in seconds, including the time before the run.
    driven: f64,
    /// Start of the current time step.
    from: Time,
    /// Poses at the start and at the end of the current time step.
    poses: Vec<(Pose, Pose)>,
    speeds: Vec<f64>,
}

impl Drive {
    pub(super) fn new(config: TrafficConfig, random: Stream) -> Result<Drive, MobilityError> {
        let mut drive = Drive {
            order: order(&config.road),
            into: into(&config.road),
            road: config.road,
            mix: config.mix,
            driving: config.driving,
            step: config.step.max(Span::from_millis(1)),
            cars: Vec::new(),
            random,
            driven: 0.0,
            from: Time::ZERO,
            poses: Vec::new(),
            speeds: Vec::new(),
        };
        drive.people(config.population)?;
        let poses = (0..drive.cars.len()).map(|car| drive.pose(car));
        drive.poses = poses.map(|pose| (pose, pose)).collect();
        drive.speeds = vec![0.0; drive.cars.len()];
        if drive.driving.model != CarFollowing::None {
            let steps = config.warm_up.as_nanos() / drive.step.as_nanos();
            for _ in 0..steps {
                drive.go();
            }
        }
        drive.go();
        drive.from = Time::ZERO;
        Ok(drive)
    }

    fn people(&mut self, population: Population) -> Result<(), MobilityError> {
        let road = &self.road;
        let length = |&(first, last): &(usize, usize)| {
            road.lanes[first..=last]
                .iter()
                .map(|piece| piece.length)
                .sum()
        };
        let lengths: Vec<f64> = road.stretches.iter().map(length).collect();
        let placed = match population {
            Population::Gaps(rule) => self.place_by_gaps(rule, &lengths),
            Population::Number(number) => self.place_by_number(number, &lengths)?,
        };
        if placed.is_empty() || placed.len() > MAX_VEHICLES {
            return Err(MobilityError(format!(
                "{} vehicles; expected 1 to {MAX_VEHICLES} on this road",
                placed.len()
            )));
        }
        self.add_cars(placed);
        self.shuffle();
        for car in 0..self.cars.len() {
            self.order[self.cars[car].lane].push(car as u32);
        }
        let Drive { order, cars, .. } = self;
        for lane in order {
            lane.sort_by(|&one, &other| cars[other as usize].at.total_cmp(&cars[one as usize].at));
        }
        Ok(())
    }

    /// Places vehicles on all stretches, with gaps drawn by the rule. `lengths` are those of the
    /// stretches. Each result names the first lane of the stretch.
    fn place_by_gaps(&mut self, rule: GapRule, lengths: &[f64]) -> Vec<(usize, Placed)> {
        let road = &self.road;
        let mut placed = Vec::new();
        for (&(first, _), &length) in road.stretches.iter().zip(lengths) {
            let speed = road.lanes[first].speed;
            let found = by_rule(rule, (length, speed), &self.mix, &mut self.random);
            placed.extend(found.into_iter().map(|one| (first, one)));
            if placed.len() > MAX_VEHICLES {
                break;
            }
        }
        placed
    }

    /// Places `number` vehicles on all stretches. The result is as in [`Drive::place_by_gaps`].
    ///
    /// # Errors
    /// Returns an error if the vehicles do not fit on the road.
    fn place_by_number(
        &mut self,
        number: usize,
        lengths: &[f64],
    ) -> Result<Vec<(usize, Placed)>, MobilityError> {
        let counts = self.draw_counts(number, lengths)?;
        let mut placed = Vec::new();
        let stretches = self.road.stretches.iter();
        for ((&(first, _), &length), &count) in stretches.zip(lengths).zip(&counts) {
            let found = by_number(count, length, &self.mix, &mut self.random);
            let found = found.ok_or_else(|| {
                MobilityError(format!(
                    "{count} vehicles on a lane of {length:.0} m; expected fewer, or a longer road"
                ))
            })?;
            placed.extend(found.into_iter().map(|one| (first, one)));
        }
        Ok(placed)
    }

    /// Draws the number of vehicles on each stretch, in proportion to its length.
    fn draw_counts(&mut self, number: usize, lengths: &[f64]) -> Result<Vec<usize>, MobilityError> {
        let whole: f64 = lengths.iter().sum();
        // Lanes of a map may be shorter than a truck, so their number of vehicles is limited.
        let longest = self.mix.bodies().iter().map(|body| body.length);
        let taken = longest.fold(0.0, f64::max) + LEAST_GAP_M;
        let fits = |length: &f64| match self.road.is_map {
            true => (length / taken) as usize,
            false => usize::MAX,
        };
        let room: Vec<usize> = lengths.iter().map(fits).collect();
        let most = room
            .iter()
            .fold(0_usize, |most, one| most.saturating_add(*one));
        if number > most {
            return Err(MobilityError(format!(
                "{number} vehicles where {most} of the longest have room; expected fewer, or a longer road"
            )));
        }
        let mut counts = vec![0_usize; lengths.len()];
        for _ in 0..number.min(MAX_VEHICLES + 1) {
            // If the drawn lane is full, another lane is drawn.
            let lane = loop {
                let mut left = whole * self.random.uniform();
                let chosen = lengths.iter().position(|length| {
                    left -= length;
                    left < 0.0
                });
                let lane = chosen.unwrap_or(lengths.len() - 1);
                if counts[lane] < room[lane] {
                    break lane;
                }
            };
            counts[lane] += 1;
        }
        Ok(counts)
    }

    /// Adds vehicles. A position beyond the first part of a stretch is moved to the part that
    /// contains it.
    fn add_cars(&mut self, placed: Vec<(usize, Placed)>) {
        for (mut lane, (body, mut at)) in placed {
            let normal = self.random.normal();
            let factor = match self.driving.model {
                CarFollowing::None => 1.0,
                _ => speed_factor(self.driving.speed_deviation, normal),
            };
            while self.road.lanes[lane].joins && at >= self.road.lanes[lane].length {
                at -= self.road.lanes[lane].length;
                lane += 1;
            }
            let next = self.draw_next(lane);
            self.cars.push(Car {
                body,
                lane,
                at,
                speed: self.road.lanes[lane].speed,
                next,
                factor,
                idleness: 0.0,
            });
        }
    }

    /// Shuffles the vehicles, so that the first few are a random sample.
    fn shuffle(&mut self) {
        for last in (1..self.cars.len()).rev() {
            let other = self.random.below(last as u64 + 1) as usize;
            self.cars.swap(last, other);
        }
    }

    /// Draws the lane that a vehicle takes after the last part of this lane.
    fn draw_next(&mut self, lane: usize) -> usize {
        let next = &self.road.lanes[self.road.last_of(lane)].next;
        if let [(only, _)] = next[..] {
            return only;
        }
        let mut left = self.random.uniform();
        for &(lane, share) in next {
            left -= share;
            if left < 0.0 {
                return lane;
            }
        }
        next[next.len() - 1].0
    }

    pub(super) fn len(&self) -> usize {
        self.cars.len()
    }

    pub(super) fn body(&self, car: usize) -> &Body {
        &self.mix.bodies()[self.cars[car].body]
    }

    /// Returns an upper bound of the vehicles' speed, in metres per second.
    pub(super) fn fastest(&self) -> f64 {
        let factors = self.cars.iter().map(|car| car.factor);
        self.road.fastest() * factors.fold(1.0, f64::max)
    }

    fn pose(&self, car: usize) -> Pose {
        let Car {
            lane, at, speed, ..
        } = self.cars[car];
        let lane = &self.road.lanes[lane];
        let (cos, sin) = (math::cos(lane.heading), math::sin(lane.heading));
        Pose {
            front: (lane.start.0 + at * cos, lane.start.1 + at * sin),
            heading: lane.heading,
            velocity: (speed * cos, speed * sin),
        }
    }

    /// Simulates steps until `time` lies within the current step.
    pub(super) fn advance(&mut self, time: Time) {
        while time >= self.from.saturating_add(self.step) {
            self.from = self.from.saturating_add(self.step);
            self.go();
        }
    }

    /// Returns the pose of a vehicle at a time within the current step.
    pub(super) fn pose_at(&self, car: usize, time: Time) -> Pose {
        let (before, after) = &self.poses[car];
        let share = (seconds(time) - seconds(self.from)) / self.step.as_secs_f64();
        debug_assert!(
            time < self.from.saturating_add(self.step),
            "{time} is asked for, and they have driven to a step from {}",
            self.from
        );
        before.towards(after, share.clamp(-1.0, 1.0))
    }

    /// Simulates one time step of all vehicles.
    fn go(&mut self) {
        let step = self.step.as_secs_f64();
        for lane in 0..self.order.len() {
            for position in 0..self.order[lane].len() {
                self.decide(lane, position, step);
            }
        }
        for car in 0..self.cars.len() {
            let next = self.speeds[car];
            let mean = match self.driving.model {
                CarFollowing::None => next,
                _ => 0.5 * (self.cars[car].speed + next),
            };
            debug_assert!(
                next >= 0.0 && next.is_finite(),
                "vehicle {car} goes at {next} m/s"
            );
            self.cars[car].at += mean * step;
            self.cars[car].speed = next;
        }
        let mut turned = false;
        for lane in 0..self.order.len() {
            turned |= self.hand_over(lane);
        }
        // A vehicle may cross several short lanes within a step, so the loop ends when none has
        // moved on.
        while turned {
            turned = false;
            for lane in 0..self.order.len() {
                turned |= self.hand_over(lane);
            }
        }
        self.assert_invariants();
        self.driven += step;
        for car in 0..self.cars.len() {
            let after = self.pose(car);
            let before = self.poses[car].1;
            let (x, y) = (
                after.front.0 - before.front.0,
                after.front.1 - before.front.1,
            );
            // A vehicle that leaves a motorway at its end appears at its start at once.
            let farthest = 4.0 * self.cars[car].speed.max(1.0) * step + 1.0;
            let is_jump = math::hypot(x, y) > farthest;
            let velocity = if is_jump {
                after.velocity
            } else {
                (x / step, y / step)
            };
            let begins = if is_jump {
                Pose {
                    front: (
                        after.front.0 - after.velocity.0 * step,
                        after.front.1 - after.velocity.1 * step,
                    ),
                    ..after
                }
            } else {
                before
            };
            self.poses[car] = (Pose { velocity, ..begins }, after);
        }
    }

    /// Asserts that each vehicle is in the list of its lane only, at a finite position.
    fn assert_invariants(&self) {
        debug_assert!(
            self.order.iter().map(Vec::len).sum::<usize>() == self.cars.len(),
            "a vehicle is on no lane, or on two"
        );
        for (lane, order) in self.order.iter().enumerate() {
            debug_assert!(
                order
                    .iter()
                    .all(|&car| self.cars[car as usize].lane == lane),
                "a vehicle is in the order of a lane that it is not on"
            );
            debug_assert!(
                order
                    .iter()
                    .all(|&car| self.cars[car as usize].at.is_finite()),
                "a vehicle is nowhere"
            );
        }
    }

    fn decide(&mut self, lane: usize, position: usize, step: f64) {
        let car = self.order[lane][position] as usize;
        let limit = self.road.lanes[lane].speed;
        if self.driving.model == CarFollowing::None {
            self.speeds[car] = limit;
            return;
        }
        let (leader, desired) = self.ahead(lane, position);
        // In Krauss's model a driver keeps a drawn idleness for about a second.
        if self.driving.model == CarFollowing::Krauss {
            let draw = self.random.uniform();
            let kept = (1.0 - step).max(0.0);
            self.cars[car].idleness = match draw < kept {
                true => self.cars[car].idleness,
                false => (draw - kept) / (1.0 - kept),
            };
        }
        let (speed, idleness) = (self.cars[car].speed, self.cars[car].idleness);
        let body = self.mix.bodies()[self.cars[car].body];
        let next = self
            .driving
            .next_speed(&body, (speed, desired), leader, (step, idleness));
        self.speeds[car] = next;
    }

    /// Returns the vehicle ahead or the stop line ahead, whichever is closer, and the desired
    /// speed. The first result is `None` if the lane ahead is free.
    fn ahead(&self, lane: usize, position: usize) -> (Option<Leader>, f64) {
        /// Distance ahead, in metres, beyond which the driver ignores lights and vehicles.
        const SIGHT_M: f64 = 250.0;
        /// Number of turns ahead beyond which the driver ignores vehicles.
        const TURNS: u32 = 4;
        let car = &self.cars[self.order[lane][position] as usize];
        let body = &self.mix.bodies()[car.body];
        let mut desired = self.road.lanes[lane].speed * car.factor;
        let mut nearest: Option<Leader> = None;
        let mut meet = |leader: Leader| {
            if nearest.is_none_or(|(gap, _)| leader.0 < gap) {
                nearest = Some(leader);
            }
        };
        if position > 0 {
            let ahead = &self.cars[self.order[lane][position - 1] as usize];
            let gap = ahead.at - self.length(ahead) - car.at;
            meet((gap, ahead.speed));
            return (nearest, desired);
        }
        let lanes = &self.road.lanes;
        let mut distance = lanes[lane].length - car.at;
        let (mut end, mut last) = (distance, lane);
        while lanes[last].joins && end <= SIGHT_M {
            last += 1;
            end += lanes[last].length;
        }
        if !self.road.is_green(last, self.driven) {
            let needed = car.speed * car.speed / (2.0 * end.max(0.1));
            if needed <= body.deceleration {
                meet((end, 0.0));
            }
        }
        // A vehicle that will enter the same lane from another lane earlier is treated as a vehicle
        // ahead.
        for &other in &self.into[lane] {
            if let Some(&first) = self.order[other].first() {
                let other_car = &self.cars[first as usize];
                let left = self.road.lanes[other].length - other_car.at;
                if left < distance {
                    meet((distance - left - self.length(other_car), other_car.speed));
                }
            }
        }
        let (mut here, mut turns) = (lane, 0);
        while distance <= SIGHT_M && turns < TURNS {
            let next = match lanes[here].next[..] {
                _ if lanes[here].joins => here + 1,
                _ if turns == 0 => car.next,
                [(only, _)] => only,
                _ => break,
            };
            turns += u32::from(!lanes[here].joins);
            let slow = approach_speed(lanes[next].speed * car.factor, distance, body.deceleration);
            desired = desired.min(slow.max(1.0));
            if let Some(&last) = self.order[next].last() {
                let ahead = &self.cars[last as usize];
                meet((distance + ahead.at - self.length(ahead), ahead.speed));
                break;
            }
            distance += lanes[next].length;
            here = next;
        }
        (nearest, desired)
    }

    fn length(&self, car: &Car) -> f64 {
        self.mix.bodies()[car.body].length
    }

    /// Moves vehicles beyond the end of a lane to the next lane. Returns true if any vehicle was
    /// moved.
    fn hand_over(&mut self, lane: usize) -> bool {
        let length = self.road.lanes[lane].length;
        let is_beyond = |car: &u32| self.cars[*car as usize].at >= length;
        let count = self.order[lane]
            .iter()
            .take_while(|car| is_beyond(car))
            .count();
        for _ in 0..count {
            let number = self.order[lane].remove(0);
            let before = &self.cars[number as usize];
            let at = before.at - length;
            let (next, on) = match self.road.lanes[lane].joins {
                true => (lane + 1, before.next),
                false => (before.next, self.draw_next(before.next)),
            };
            let car = &mut self.cars[number as usize];
            (car.lane, car.at, car.next) = (next, at, on);
            let cars = &self.cars;
            let place = self.order[next].partition_point(|&one| cars[one as usize].at >= at);
            self.order[next].insert(place, number);
        }
        count > 0
    }
}

/// Returns an empty list of vehicles for each lane, with capacity for a full lane. A lane of a map
/// gets capacity for 64 vehicles, because maps may have very many lanes.
fn order(road: &Road) -> Vec<Vec<u32>> {
    const SHORTEST_M: f64 = 4.0;
    const QUEUE: usize = 64;
    let most = if road.is_map { QUEUE } else { MAX_VEHICLES };
    let room = |lane: &super::road::Lane| {
        let fits = (lane.length / SHORTEST_M).min(most as f64);
        Vec::with_capacity(fits as usize + 2)
    };
    road.lanes.iter().map(room).collect()
}

/// For each lane that leads into one lane only, returns the other lanes that lead into that lane.
fn into(road: &Road) -> Vec<Vec<usize>> {
    let mut from = vec![Vec::new(); road.lanes.len()];
    for (number, lane) in road.lanes.iter().enumerate() {
        if let [(only, _)] = lane.next[..] {
            from[only].push(number);
        }
    }
    let merging_with = |(number, lane): (usize, &super::road::Lane)| match lane.next[..] {
        [(only, _)] => {
            let others = from[only].iter().copied();
            others.filter(|&other| other != number).collect()
        }
        _ => Vec::new(),
    };
    road.lanes.iter().enumerate().map(merging_with).collect()
}
