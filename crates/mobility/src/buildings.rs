//! Buildings, and how deep a straight line lies behind them.

use crate::Obstacle;
use crate::shadow::{DEEPEST, Line, Silhouette};
use crate::squares::Squares;
use fadeout_core::Point;

/// Side of a square of the index, metres.
const SQUARE_M: f64 = 64.0;

/// Buildings, or whatever else of boxes stands still.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buildings {
    all: Vec<Building>,
    /// Of use once it knows all.
    squares: Squares,
    is_laid_out: bool,
    /// Those of use for a line.
    seen: Vec<Silhouette>,
}

/// A building with the corners of its footprint.
#[derive(Debug, Clone)]
struct Building {
    obstacle: Obstacle,
    corners: [(f64, f64); 4],
}

impl Buildings {
    pub(crate) fn push(&mut self, obstacle: Obstacle) {
        self.all.push(Building {
            corners: obstacle.corners(),
            obstacle,
        });
        self.is_laid_out = false;
        // Room for all, so that none is made while a run goes on.
        self.seen.reserve(self.all.len());
    }

    fn lay_out(&mut self) {
        let all = &self.all;
        self.squares.lay_out((all.len(), SQUARE_M), |number| {
            let Building { obstacle, corners } = &all[number];
            let (x, y) = obstacle.center;
            let reach = corners.iter().fold((0.0_f64, 0.0_f64), |reach, corner| {
                (
                    reach.0.max((corner.0 - x).abs()),
                    reach.1.max((corner.1 - y).abs()),
                )
            });
            ((x, y), reach)
        });
        self.is_laid_out = true;
    }

    /// How deep the line from one place to the other lies behind the edges of buildings, by the way
    /// around them that costs least: over roofs or past walls. Negative where it passes by no more than `clear`.
    /// Infinite far behind and where it passes clear of them.
    ///
    /// Of several buildings in a row the deepest counts.
    pub(crate) fn obstruction(&mut self, (from, to): (Point, Point), clear: f64) -> f64 {
        let Some(line) = Line::new(from, to) else {
            return f64::NEG_INFINITY;
        };
        if !self.is_laid_out {
            self.lay_out();
        }
        self.seen.clear();
        let clear_m = line.within_m(clear);
        self.look((from, to), &line, [0.0, clear_m]);
        let across = self.seen.iter().filter(|it| it.covers(0.0));
        let over = across.map(|it| it.roof).fold(f64::NEG_INFINITY, f64::max);
        if over <= 0.0 {
            let depths = self.seen.iter().map(Silhouette::depth);
            let depth = depths.fold(f64::NEG_INFINITY, f64::max);
            return match depth >= -clear {
                true => depth,
                false => f64::NEG_INFINITY,
            };
        }
        // No way costs more than the one over these roofs, and none less than going that far aside: what stands
        // further aside is on no way that counts. Nor is anything else where the highest of them reaches so far.
        let mut depth = over;
        if !self.seen.iter().any(|it| it.bars(over)) {
            let within_m = line.within_m(over).min(line.far_m);
            if within_m > clear_m {
                self.look((from, to), &line, [clear_m, within_m]);
            }
            for offset in self.seen.iter().flat_map(Silhouette::sides) {
                depth = self.cost(offset, depth);
            }
        }
        match depth > DEEPEST {
            true => f64::INFINITY,
            false => depth,
        }
    }

    /// What going so far aside costs, with the roofs that are there, or `least` if that is less.
    fn cost(&self, offset: f64, least: f64) -> f64 {
        let mut cost = offset.abs();
        for it in &self.seen {
            if cost >= least {
                return least;
            }
            if it.covers(offset) {
                cost = cost.max(it.roof);
            }
        }
        cost.min(least)
    }

    /// Adds those to what is seen of which the line is clear by the first of two distances and not by the second, metres; by
    /// none, for zero.
    fn look(&mut self, ends: (Point, Point), line: &Line, [known_m, within_m]: [f64; 2]) {
        let Buildings {
            all, squares, seen, ..
        } = self;
        squares.along(ends, within_m, |number| {
            let Building { obstacle, corners } = &all[number];
            let is_new = known_m <= 0.0 || line.is_clear_of(obstacle, known_m);
            if is_new && !line.is_clear_of(obstacle, within_m) {
                seen.extend(line.silhouette(obstacle, *corners, f64::NEG_INFINITY));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::NEAREST_M;
    use crate::{Rectangle, Turn};
    use proptest::prelude::*;

    fn building(low: (f64, f64), high: (f64, f64), height: f64) -> Obstacle {
        Obstacle::building(Rectangle { low, high }, height)
    }

    /// What lines pass by more than this is left out.
    const CLEAR: f64 = 1.4;

    fn of(buildings: &[Obstacle], from: Point, to: Point) -> f64 {
        let mut all = Buildings::default();
        buildings.iter().for_each(|&building| all.push(building));
        all.obstruction((from, to), CLEAR)
    }

    /// The same, with every building and every way looked at.
    fn slow(buildings: &[Obstacle], from: Point, to: Point) -> f64 {
        let Some(line) = Line::new(from, to) else {
            return f64::NEG_INFINITY;
        };
        let outline = |it: &Obstacle| line.silhouette(it, it.corners(), f64::NEG_INFINITY);
        let seen: Vec<Silhouette> = buildings.iter().filter_map(outline).collect();
        let is_blocked = seen.iter().any(|it| it.covers(0.0) && it.roof > 0.0);
        let depth = if is_blocked {
            let ways = seen.iter().flat_map(Silhouette::sides).chain([0.0]);
            let cost = |offset: f64| {
                let roofs = seen.iter().filter(|it| it.covers(offset));
                roofs.map(|it| it.roof).fold(offset.abs(), f64::max)
            };
            ways.map(cost).fold(f64::INFINITY, f64::min)
        } else {
            let depths = seen.iter().map(Silhouette::depth);
            depths.fold(f64::NEG_INFINITY, f64::max)
        };
        match depth {
            deep if deep > DEEPEST => f64::INFINITY,
            clear if clear < -CLEAR => f64::NEG_INFINITY,
            depth => depth,
        }
    }

    #[test]
    fn a_corner_counts_by_its_distance_from_both_ends() {
        // The corner at (40, 0) reaches 1 m across, 40 m from one end and 60 m from the other.
        let house = building((40.0, -50.0), (41.0, 1.0), 100.0);
        let (from, to) = (Point::new(0.0, 0.0, 1.0), Point::new(100.0, 0.0, 1.0));
        let expected = (2.0 * (1.0 / 40.0 + 1.0 / 60.0_f64)).sqrt();
        assert!((of(&[house], from, to) - expected).abs() < 1e-3);
        let aside = building((40.0, -50.0), (40.5, -1.0), 100.0);
        assert!((of(&[aside], from, to) + expected).abs() < 1e-3);
    }

    #[test]
    fn the_way_over_a_low_roof_costs_less_than_the_way_around() {
        let (from, to) = (Point::new(0.0, 0.0, 10.0), Point::new(100.0, 0.0, 10.0));
        let long = |height| building((50.0, -80.0), (50.1, 80.0), height);
        let scale = (2.0 * (2.0 / 50.0_f64)).sqrt();
        assert!((of(&[long(12.0)], from, to) - 2.0 * scale).abs() < 1e-3);
        assert!((of(&[long(9.0)], from, to) + scale).abs() < 1e-3);
        assert_eq!(of(&[], from, to), f64::NEG_INFINITY);
        assert_eq!(of(&[long(1000.0)], from, to), f64::INFINITY);
    }

    #[test]
    fn two_buildings_wall_to_wall_leave_no_gap() {
        let (from, to) = (Point::new(0.0, 0.0, 1.5), Point::new(100.0, 0.0, 1.5));
        let pair = [
            building((40.0, -60.0), (60.0, 0.5), 200.0),
            building((40.0, 0.5), (60.0, 60.0), 200.0),
        ];
        assert!(of(&pair, from, to) > 9.0, "{}", of(&pair, from, to));
    }

    fn places() -> impl Strategy<Value = (Point, Point)> {
        (
            prop::array::uniform4(-60.0_f64..60.0),
            1.0_f64..25.0,
            1.0_f64..3.0,
        )
            .prop_map(|(at, high, low)| {
                (
                    Point::new(at[0], at[1], high),
                    Point::new(at[2], at[3], low),
                )
            })
            .prop_filter("far enough apart", |(from, to)| {
                from.ground_distance_to(*to) > 5.0
            })
    }

    fn town() -> impl Strategy<Value = Vec<Obstacle>> {
        let house = (
            (-40.0_f64..40.0, -40.0_f64..40.0),
            (2.0_f64..20.0, 2.0_f64..20.0),
            0.0_f64..3.2,
            3.0_f64..20.0,
        );
        prop::collection::vec(
            house.prop_map(|(center, size, turn, height)| Obstacle {
                center,
                size,
                turn: Turn::by(turn),
                height,
                base: 0.0,
            }),
            1..5,
        )
    }

    /// A star of walls around a court, at a place.
    #[derive(Debug, Clone)]
    struct Court {
        rings: Vec<Vec<(f64, f64)>>,
        base: f64,
        height: f64,
    }

    impl Court {
        /// Whether a place is in what stands, by crossings of a ray with the rings.
        fn holds(&self, at: Point) -> bool {
            let mut is_inside = false;
            for ring in &self.rings {
                for (n, &(x0, y0)) in ring.iter().enumerate() {
                    let (x1, y1) = ring[(n + 1) % ring.len()];
                    if (y0 > at.y) != (y1 > at.y) && at.x < x0 + (at.y - y0) / (y1 - y0) * (x1 - x0)
                    {
                        is_inside = !is_inside;
                    }
                }
            }
            is_inside && at.z < self.height && at.z > self.base
        }

        fn cuts(&self, from: Point, to: Point) -> bool {
            (0..=4000).any(|n| {
                let share = f64::from(n) / 4000.0;
                let at = |from: f64, to: f64| from + (to - from) * share;
                self.holds(Point::new(
                    at(from.x, to.x),
                    at(from.y, to.y),
                    at(from.z, to.z),
                ))
            })
        }
    }

    fn court() -> impl Strategy<Value = Court> {
        let radii = prop::collection::vec(8.0_f64..30.0, 3..9);
        (
            radii,
            0.1_f64..0.8,
            prop::bool::ANY,
            0.0_f64..6.0,
            8.0_f64..30.0,
        )
            .prop_map(|(radii, share, has_court, base, height)| {
                let count = radii.len() as f64;
                let ring = |share: f64| -> Vec<(f64, f64)> {
                    let corners = radii.iter().enumerate();
                    corners
                        .map(|(n, radius)| {
                            let turn = core::f64::consts::TAU * n as f64 / count;
                            let radius = radius * share;
                            let (sin, cos) =
                                (fadeout_core::math::sin(turn), fadeout_core::math::cos(turn));
                            (radius * cos, radius * sin)
                        })
                        .collect()
                };
                let mut rings = vec![ring(1.0)];
                rings.extend(has_court.then(|| ring(share)));
                // Most stand on the ground.
                let base = if base < 3.0 { 0.0 } else { base };
                Court {
                    rings,
                    base,
                    height,
                }
            })
    }

    /// Whether both ends are further than this from every building.
    fn is_outside(town: &[Obstacle], (from, to): (Point, Point), far: f64) -> bool {
        let mut walls = town.iter();
        walls.all(|house| {
            let is_far = |end| house.distance_on_the_ground(end) >= far;
            is_far(from) && is_far(to)
        })
    }

    /// Whether something stands in a straight way.
    fn is_cut(town: &[Obstacle], from: Point, to: Point) -> bool {
        town.iter().any(|house| house.crossing(from, to).is_some())
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        /// A place behind something has a positive depth, and nothing else has, where no end is in a
        /// building: what the line passes within `NEAREST_M` of an end is not looked at.
        #[test]
        fn the_sign_says_whether_the_line_is_cut((from, to) in places(), town in town()) {
            prop_assume!(is_outside(&town, (from, to), NEAREST_M));
            let depth = of(&town, from, to);
            prop_assume!(depth.abs() > 1e-6);
            prop_assert_eq!(depth > 0.0, is_cut(&town, from, to), "{}", depth);
        }

        /// Walls shade as what they are around does, with its courtyards and what is below it: the sign of the depth
        /// agrees with samples along the line, but for crossings too short or too shallow for them.
        #[test]
        fn walls_shade_as_the_building_does((from, to) in places(), court in court()) {
            prop_assume!(!court.holds(from) && !court.holds(to));
            let walls = Obstacle::walls(&court.rings, court.base, court.height);
            prop_assume!(is_outside(&walls, (from, to), NEAREST_M));
            let depth = of(&walls, from, to);
            prop_assume!(depth.abs() > 0.05);
            // A line that enters and leaves by roof or underside passes no wall.
            if depth > 0.0 || court.base > 0.0 || court.height > from.z.max(to.z) {
                prop_assert!(depth <= 0.0 || court.cuts(from, to), "{} but clear", depth);
            }
            if court.base == 0.0 && court.height > from.z.max(to.z) {
                prop_assert_eq!(depth > 0.0, court.cuts(from, to), "{}", depth);
            }
        }

        /// What is left out changes no bit: a city of many more buildings than stand near the line, over and under it.
        #[test]
        fn only_what_counts_is_looked_at(
            (from, to) in places(),
            towns in prop::collection::vec(town(), 1..12),
            spread in 1.0_f64..6.0,
            bases in prop::collection::vec(0.0_f64..6.0, 60),
        ) {
            let mut city = towns.concat();
            for (house, base) in city.iter_mut().zip(bases) {
                house.center = (house.center.0 * spread, house.center.1 * spread);
                // Most stand on the ground.
                house.base = if base < 4.0 { 0.0 } else { base.min(0.5 * house.height) };
            }
            let (found, expected) = (of(&city, from, to), slow(&city, from, to));
            prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} {}", found, expected);
        }

        /// A millimetre more changes little: nothing here is a step.
        #[test]
        fn the_depth_is_continuous((from, to) in places(), town in town(), turn in 0.0_f64..6.3) {
            // Within a building or at its wall an end is not where an antenna stands.
            prop_assume!(is_outside(&town, (from, to), 1.0));
            let step = 1e-3;
            let moved = Point::new(
                to.x + step * fadeout_core::math::cos(turn),
                to.y + step * fadeout_core::math::sin(turn),
                to.z,
            );
            let (one, other) = (of(&town, from, to), of(&town, from, moved));
            prop_assume!(one < 0.9 * DEEPEST && one > -0.9 * CLEAR);
            // An edge abreast of an end is `NEAREST_M` from it along the line, a: a metre across counts
            // sqrt(2 (1/a + 1/b)) there, b at least 4.9 m, and a metre along 1/(2 a) of its offset. A
            // line turns by no more than the step.
            let across = (2.0 * (1.0 / NEAREST_M + 1.0 / 4.9)).sqrt();
            let along = one.abs() / (2.0 * NEAREST_M);
            let allowed = step * (across + along);
            prop_assert!((one - other).abs() < allowed, "{} {}", one, other);
        }
    }
}
