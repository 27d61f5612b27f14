//! Spatial index of vehicles near a straight line.

use crate::squares::Squares;
use crate::traffic::Fleet;
use fadeout_core::{Point, Span, Time};

/// Side of a square of the index, metres.
const SQUARE_M: f64 = 32.0;
/// Time for which the index is valid.
const LASTS: Span = Span::from_millis(100);

/// Vehicle: the number of its fleet, and its number in the fleet.
pub(crate) type Vehicle = (u32, u32);

/// Spatial index: the vehicles that may be in each square of the ground during a validity period.
#[derive(Debug, Clone, Default)]
pub(crate) struct Near {
    /// Start and end of the validity period. `None` before the first refresh.
    holds: Option<(Time, Time)>,
    /// Squares with indexes into `around`.
    squares: Squares,
    around: Vec<Around>,
    /// Height of the tallest vehicle, metres.
    tallest: f64,
    found: Vec<Vehicle>,
}

/// Region that contains all parts of a vehicle during the validity period: an upright square.
#[derive(Debug, Clone, Copy)]
struct Around {
    vehicle: Vehicle,
    middle: (f64, f64),
    /// Half of the square's side, metres: an upper bound of the distance of any part from the
    /// middle.
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
            // The region includes the turns of a vehicle and the corners of its box.
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

    /// Returns the vehicles that may be near enough to a straight line, over the part of it below
    /// the tallest vehicle.
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

/// Straight line on the ground, and the distance from it at which objects count.
pub(crate) struct GroundLine {
    from: (f64, f64),
    /// Direction of the line.
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

    /// Returns true if all objects within `reach` metres of a place are too far from the line. May
    /// return false for distant ones.
    pub(crate) fn is_clear_of(&self, (x, y): (f64, f64), reach: f64) -> bool {
        let (x, y) = (x - self.from.0, y - self.from.1);
        let reach = reach + self.margin;
        let across = y * self.along.0 - x * self.along.1;
        let along = x * self.along.0 + y * self.along.1;
        across.abs() > reach || along < -reach || along > self.ground_m + reach
    }
}

/// Returns the part of a line below `height`. `None` if there is none.
fn below(from: Point, to: Point, height: f64) -> Option<(Point, Point)> {
    let at = |share: f64| from + (to - from) * share;
    match (from.z < height, to.z < height) {
        (true, true) => Some((from, to)),
        (false, false) => None,
        (is_from_low, _) => {
            let share = ((height - from.z) / (to.z - from.z)).clamp(0.0, 1.0);
            match is_from_low {
                true => Some((from, at(share))),
                false => Some((at(share), to)),
            }
        }
    }
}

/// Returns the largest distance from the middle of a line at which an object counts, metres. An
/// object counts from a depth of `least` on, in square roots of metres.
pub(crate) fn margin(length_m: f64, least: f64) -> f64 {
    least * (length_m / 8.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Body, Driving, GapRule, Mix, Motorway, Population, TrafficConfig};
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    /// Returns the cases of the test, each a road with hundreds of vehicles.
    fn roads() -> Cases {
        Cases::new(4000).among(100)
    }

    /// Returns the mean number of vehicles found for a ray across the middle of a road, and the
    /// mean number of all vehicles.
    fn looked_at(road_m: f64, ray_m: f64) -> (f64, f64) {
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
        let (short, few) = looked_at(1_000.0, 100.0);
        let (long, many) = looked_at(16_000.0, 100.0);
        assert!(many > 12.0 * few, "{many} vehicles beside {few}");
        // The means are over roads of about 6 vehicles each. The limit is five standard errors with
        // a deviation of the square root of 6.
        assert!(
            (long - short).abs() < 5.0 * (2.0 * 6.0 / roads().count() as f64).sqrt(),
            "{long} and {short}"
        );
        assert!(short < 0.3 * few, "{short} of {few}");
        // A ray of three times the length covers more columns of squares, but at most three times
        // the vehicles.
        let (longer, _) = looked_at(16_000.0, 300.0);
        assert!(
            longer > 1.2 * long && longer < 3.5 * long,
            "{longer} beside {long}"
        );
    }
}
