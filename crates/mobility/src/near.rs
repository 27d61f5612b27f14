//! Spatial index of vehicles near a straight line.

use crate::squares::Squares;
use crate::traffic::Fleet;
use fadeout_core::{Point, Span, Time};

/// Side of a square of the index, metres.
const SQUARE_M: f64 = 32.0;
/// Duration for which the index is valid.
const LASTS: Span = Span::from_millis(100);

/// Vehicle: the number of its fleet, and its number in the fleet.
pub(crate) type Vehicle = (u32, u32);

/// Spatial index. It lists the vehicles that may be in each square of the ground during a validity
/// period.
#[derive(Debug, Clone, Default)]
pub(crate) struct Near {
    /// Start and end of the validity period. `None` before the first refresh.
    holds: Option<(Time, Time)>,
    /// Squares of the ground. Each lists indexes into `around`.
    squares: Squares,
    around: Vec<Around>,
    /// Height of the tallest vehicle, metres.
    tallest: f64,
    found: Vec<Vehicle>,
}

/// Upright square that contains all parts of a vehicle during the validity period.
#[derive(Debug, Clone, Copy)]
struct Around {
    vehicle: Vehicle,
    middle: (f64, f64),
    /// Half of the square's side, in metres. No part of the vehicle is farther from the square's
    /// middle during the validity period.
    reach: f64,
}

impl Near {
    /// Rebuilds the index if it is not valid at `time`.
    pub(crate) fn refresh(&mut self, fleets: &[Fleet], time: Time) {
        if self
            .holds
            .is_some_and(|(from, until)| from <= time && time < until)
        {
            return;
        }
        self.holds = Some((time, time.saturating_add(LASTS)));
        self.around.clear();
        self.tallest = 0.0;
        for (number, fleet) in fleets.iter().enumerate() {
            // The region must contain the corners of the vehicle's box also after turns.
            let reach = fleet.fastest() * LASTS.as_secs_f64();
            for vehicle in 0..fleet.len() {
                let (pose, _) = fleet.pose(vehicle, time);
                let body = fleet.body(vehicle);
                self.tallest = self.tallest.max(body.height);
                self.around.push(Around {
                    vehicle: (number as u32, vehicle as u32),
                    middle: pose.front,
                    reach: reach + body.reach(),
                });
            }
        }
        // Capacity is reserved for all vehicles, so that lookups during a run do not allocate.
        self.found.reserve(self.around.len());
        let around = &self.around;
        let extent = |number: usize| {
            let Around { middle, reach, .. } = around[number];
            (middle, (reach, reach))
        };
        self.squares.lay_out((around.len(), SQUARE_M), extent);
    }

    /// Returns the vehicles that may be close enough to a straight line to affect it. Only the part
    /// of the line below the tallest vehicle is searched.
    pub(crate) fn along(&mut self, (from, to): (Point, Point), line: &GroundLine) -> &[Vehicle] {
        self.found.clear();
        let Near {
            squares,
            around,
            found,
            ..
        } = self;
        if let Some(low) = below(from, to, self.tallest + line.margin) {
            squares.along(low, line.margin, |number| {
                let of = around[number];
                if !line.is_clear_of(of.middle, of.reach) {
                    found.push(of.vehicle);
                }
            });
        }
        &self.found
    }
}

/// Straight line on the ground, and the distance from the line beyond which objects are ignored.
pub(crate) struct GroundLine {
    from: (f64, f64),
    /// Direction of the line on the ground, as a unit vector.
    along: (f64, f64),
    ground_m: f64,
    margin: f64,
}

impl GroundLine {
    pub(crate) fn new(from: Point, to: Point, margin: f64) -> GroundLine {
        let ground_m = from.ground_distance_to(to).max(1e-9);
        GroundLine {
            from: (from.x, from.y),
            along: ((to.x - from.x) / ground_m, (to.y - from.y) / ground_m),
            ground_m,
            margin,
        }
    }

    /// Returns true if all objects within `reach` metres of a point are too far from the line to
    /// matter. The test is conservative: it may return false for such a point.
    pub(crate) fn is_clear_of(&self, (x, y): (f64, f64), reach: f64) -> bool {
        let (x, y) = (x - self.from.0, y - self.from.1);
        let reach = reach + self.margin;
        let across = y * self.along.0 - x * self.along.1;
        let along = x * self.along.0 + y * self.along.1;
        across.abs() > reach || along < -reach || along > self.ground_m + reach
    }
}

/// Returns the part of a line below `height`. `None` if no part is below.
fn below(from: Point, to: Point, height: f64) -> Option<(Point, Point)> {
    let point_at = |share: f64| from + (to - from) * share;
    match (from.z < height, to.z < height) {
        (true, true) => Some((from, to)),
        (false, false) => None,
        (is_from_low, _) => {
            let share = ((height - from.z) / (to.z - from.z)).clamp(0.0, 1.0);
            match is_from_low {
                true => Some((from, point_at(share))),
                false => Some((point_at(share), to)),
            }
        }
    }
}

/// Returns the largest distance from the middle of a line at which an object can have an effect, in
/// metres. Objects have an effect if their clearance is at most `least`, in square roots of metres.
pub(crate) fn margin(length_m: f64, least: f64) -> f64 {
    least * (length_m / 8.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Body, Driving, GapRule, Mix, Motorway, Population, TrafficConfig};
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    /// Returns the test cases. Each case is a road with hundreds of vehicles.
    fn roads() -> Cases {
        Cases::new(4000).among(100)
    }

    /// Returns means over the roads. The first is the number of vehicles that the index finds for a
    /// ray across the middle of a road. The second is the number of all vehicles.
    fn visited(road_m: f64, ray_m: f64) -> (f64, f64) {
        let (mut found, mut all) = (0, 0);
        roads().run(|seed| {
            let truck = Body {
                length: 13.0,
                width: 2.6,
                height: 3.0,
                antenna_height: 3.0,
                antenna_ahead: 0.0,
                share: 1.0,
                platoon: 1,
                acceleration: 2.6,
                deceleration: 4.5,
            };
            let road = Motorway {
                start: (0.0, 0.0),
                heading: 0.0,
                length: road_m,
                lanes: vec![20.0; 6],
                opposite: Vec::new(),
                lane_width: 4.0,
                median: 0.0,
            };
            let config = TrafficConfig {
                road: road.road().expect("lanes"),
                population: Population::Gaps(GapRule::Tr37885),
                mix: Mix::new(vec![truck]).expect("shares"),
                driving: Driving::default(),
                warm_up: Span::ZERO,
                step: Span::from_millis(100),
            };
            let fleet = Fleet::driven(config, Stream::new(seed, "test", 0)).expect("a good road");
            all += fleet.len();
            let mut near = Near::default();
            near.refresh(&[fleet], Time::ZERO);
            let middle = 0.5 * road_m;
            let (from, to) = (
                Point::new(middle - 0.5 * ray_m, -5.0, 2.0),
                Point::new(middle + 0.5 * ray_m, 30.0, 2.0),
            );
            found += near
                .along((from, to), &GroundLine::new(from, to, 1.0))
                .len();
        });
        let count = roads().count() as f64;
        (found as f64 / count, all as f64 / count)
    }

    #[test]
    fn the_work_grows_with_those_near_the_ray_and_not_with_those_on_the_road() {
        let (short, few) = visited(1_000.0, 100.0);
        let (long, many) = visited(16_000.0, 100.0);
        assert!(many > 12.0 * few, "{many} vehicles beside {few}");
        // Each mean is over roads with about 6 found vehicles. The limit is five standard errors.
        // The standard deviation is the square root of 6.
        assert!(
            (long - short).abs() < 5.0 * (2.0 * 6.0 / roads().count() as f64).sqrt(),
            "{long} and {short}"
        );
        assert!(short < 0.3 * few, "{short} of {few}");
        // A ray of three times the length finds more vehicles, because it covers more columns of
        // squares. It finds at most about three times as many.
        let (longer, _) = visited(16_000.0, 300.0);
        assert!(
            longer > 1.2 * long && longer < 3.5 * long,
            "{longer} beside {long}"
        );
    }
}
