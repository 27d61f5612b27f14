//! Which vehicles are near a straight line.

use crate::traffic::Fleet;
use fadeout_core::{Point, Span, Time};

/// Side of a square of the index, metres.
const SQUARE_M: f64 = 32.0;
/// Most squares along an axis; beyond it they are larger.
const MOST_ALONG: usize = 512;
/// How long the index stays as it is.
const LASTS: Span = Span::from_millis(100);

/// A vehicle: its fleet and its number in it.
pub(crate) type Vehicle = (u32, u32);

/// Squares of the ground, with the vehicles that are within each for a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct Near {
    /// Until when it holds, and from when; nothing at first.
    holds: Option<(Time, Time)>,
    low: (f64, f64),
    side: f64,
    columns: usize,
    rows: usize,
    /// Where the vehicles of each square begin in `inside`, and where the last ends.
    begins: Vec<u32>,
    /// Vehicles by their place in `around`.
    inside: Vec<u32>,
    around: Vec<Around>,
    /// Height of the tallest vehicle.
    tallest: f64,
    /// The number of the latest line that each place in `around` was looked at for, and of the latest of all.
    looked_at: (Vec<u64>, u64),
    found: Vec<Vehicle>,
}

/// Where all of a vehicle is for a while: in a square.
#[derive(Debug, Clone, Copy)]
struct Around {
    vehicle: Vehicle,
    middle: (f64, f64),
    /// Half the square's side, metres; never less than any part of the vehicle is from the middle.
    reach: f64,
}

impl Near {
    /// Brings the index up to `time`.
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
        let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
        for (number, fleet) in fleets.iter().enumerate() {
            // Those who turn meanwhile, and those at a corner of their box.
            let reach = fleet.fastest() * LASTS.as_secs_f64();
            for vehicle in 0..fleet.len() {
                let (pose, _) = fleet.pose(vehicle, time);
                let body = fleet.body(vehicle);
                let reach = reach + body.reach();
                let (x, y) = pose.front;
                low = (low.0.min(x - reach), low.1.min(y - reach));
                high = (high.0.max(x + reach), high.1.max(y + reach));
                self.tallest = self.tallest.max(body.height);
                self.around.push(Around {
                    vehicle: (number as u32, vehicle as u32),
                    middle: pose.front,
                    reach,
                });
            }
        }
        // Room for all of them anywhere, so that none is made while a run goes on.
        self.found.reserve(self.around.len());
        self.looked_at.0.resize(self.around.len(), 0);
        self.inside.clear();
        self.inside.reserve(4 * self.around.len());
        if self.around.is_empty() {
            (self.columns, self.rows) = (0, 0);
            return;
        }
        let extent = (high.0 - low.0).max(high.1 - low.1);
        self.side = SQUARE_M.max(extent / MOST_ALONG as f64);
        self.low = low;
        let count = |from: f64, to: f64| ((to - from) / self.side).floor() as usize + 1;
        (self.columns, self.rows) = (count(low.0, high.0), count(low.1, high.1));
        self.fill();
    }

    fn fill(&mut self) {
        let squares = self.columns * self.rows;
        self.begins.clear();
        self.begins.resize(squares + 1, 0);
        for index in 0..self.around.len() {
            for square in self.squares(self.around[index]) {
                self.begins[square + 1] += 1;
            }
        }
        for square in 0..squares {
            self.begins[square + 1] += self.begins[square];
        }
        let total = self.begins[squares] as usize;
        self.inside.clear();
        self.inside.resize(total, 0);
        // Each square's beginning serves as its pen, and is put back.
        for index in 0..self.around.len() {
            for square in self.squares(self.around[index]) {
                self.inside[self.begins[square] as usize] = index as u32;
                self.begins[square] += 1;
            }
        }
        for square in (1..=squares).rev() {
            self.begins[square] = self.begins[square - 1];
        }
        self.begins[0] = 0;
    }

    fn column(&self, x: f64) -> usize {
        (((x - self.low.0) / self.side).max(0.0) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f64) -> usize {
        (((y - self.low.1) / self.side).max(0.0) as usize).min(self.rows - 1)
    }

    fn squares(&self, around: Around) -> impl Iterator<Item = usize> + use<> {
        let ((x, y), reach) = (around.middle, around.reach);
        let columns = self.column(x - reach)..=self.column(x + reach);
        let (rows, all) = (self.row(y - reach)..=self.row(y + reach), self.columns);
        rows.flat_map(move |row| columns.clone().map(move |column| row * all + column))
    }

    /// The vehicles that may be as near to a straight line as counts, where it is lower than that above the tallest of
    /// them.
    pub(crate) fn along(&mut self, (from, to): (Point, Point), beside: &Beside) -> &[Vehicle] {
        self.found.clear();
        if self.columns == 0 {
            return &self.found;
        }
        let margin = beside.margin;
        self.looked_at.1 += 1;
        let line = self.looked_at.1;
        let Some((one, other)) = below(from, to, self.tallest + margin) else {
            return &self.found;
        };
        let (first, last) = if one.x <= other.x {
            (one, other)
        } else {
            (other, one)
        };
        let far_east = self.low.0 + self.side * self.columns as f64;
        let far_north = self.low.1 + self.side * self.rows as f64;
        if last.x + margin < self.low.0 || first.x - margin > far_east {
            return &self.found;
        }
        let slope = match last.x - first.x {
            way if way > 1e-9 => Some((last.y - first.y) / way),
            _ => None,
        };
        for column in self.column(first.x - margin)..=self.column(last.x + margin) {
            let west = self.low.0 + self.side * column as f64;
            // Where the line is while it is in this column, with the margin around.
            let (y0, y1) = match slope {
                None => (first.y, last.y),
                Some(slope) => {
                    let at = |x: f64| first.y + slope * (x.clamp(first.x, last.x) - first.x);
                    (at(west - margin), at(west + self.side + margin))
                }
            };
            let (south, north) = (y0.min(y1) - margin, y0.max(y1) + margin);
            if north < self.low.1 || south > far_north {
                continue;
            }
            for row in self.row(south)..=self.row(north) {
                let square = row * self.columns + column;
                let (begin, end) = (self.begins[square], self.begins[square + 1]);
                for &index in &self.inside[begin as usize..end as usize] {
                    let looked_at = &mut self.looked_at.0[index as usize];
                    // Who stands in several squares counts once.
                    let before = std::mem::replace(looked_at, line);
                    let Around {
                        vehicle,
                        middle,
                        reach,
                    } = self.around[index as usize];
                    if before != line && !beside.is_clear_of(middle, reach) {
                        self.found.push(vehicle);
                    }
                }
            }
        }
        &self.found
    }
}

/// A straight line on the ground, and how near to it something counts.
pub(crate) struct Beside {
    from: (f64, f64),
    /// Its direction.
    along: (f64, f64),
    ground_m: f64,
    margin: f64,
}

impl Beside {
    pub(crate) fn new(from: Point, to: Point, margin: f64) -> Beside {
        let ground_m = from.ground_distance_to(to).max(1e-9);
        Beside {
            from: (from.x, from.y),
            along: ((to.x - from.x) / ground_m, (to.y - from.y) / ground_m),
            ground_m,
            margin,
        }
    }

    /// Whether nothing within `reach` metres of a place is near enough; false more often than need be.
    pub(crate) fn is_clear_of(&self, (x, y): (f64, f64), reach: f64) -> bool {
        let (x, y) = (x - self.from.0, y - self.from.1);
        let reach = reach + self.margin;
        let across = y * self.along.0 - x * self.along.1;
        let along = x * self.along.0 + y * self.along.1;
        across.abs() > reach || along < -reach || along > self.ground_m + reach
    }
}

/// The part of a line that is lower than `height`.
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

/// How far from the middle of a line something may be that counts, metres, where it counts from a depth
/// of `least` square roots of metres on.
pub(crate) fn margin(length_m: f64, least: f64) -> f64 {
    least * (length_m / 8.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Body, Driving, GapRule, Mix, Motorway, Population, TrafficConfig};
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    /// Roads; each has hundreds of vehicles.
    fn roads() -> Cases {
        Cases::new(4000).among(100)
    }

    /// Vehicles looked at for a ray across and along the middle of a road, on average over the roads, and those
    /// on them.
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
            found += near.along((from, to), &Beside::new(from, to, 1.0)).len();
        });
        let count = roads().count() as f64;
        (found as f64 / count, all as f64 / count)
    }

    #[test]
    fn the_work_grows_with_those_near_the_ray_and_not_with_those_on_the_road() {
        let (short, few) = looked_at(1_000.0, 100.0);
        let (long, many) = looked_at(16_000.0, 100.0);
        assert!(many > 12.0 * few, "{many} vehicles beside {few}");
        // Both are means over the roads of about 6 vehicles: five standard errors of 6 to the half.
        assert!(
            (long - short).abs() < 5.0 * (2.0 * 6.0 / roads().count() as f64).sqrt(),
            "{long} and {short}"
        );
        assert!(short < 0.3 * few, "{short} of {few}");
        // A ray three times as long meets more columns of squares, not more than three times the vehicles.
        let (longer, _) = looked_at(16_000.0, 300.0);
        assert!(
            longer > 1.2 * long && longer < 3.5 * long,
            "{longer} beside {long}"
        );
    }
}
