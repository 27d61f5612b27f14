//! Buildings, and the depth of a straight line behind their edges.

use crate::Obstacle;
use crate::shadow::{DEEPEST, SightLine, Silhouette};
use crate::squares::Squares;
use fadeout_core::Point;

/// Side of a square of the spatial index, metres.
const SQUARE_M: f64 = 64.0;

/// Buildings and other stationary boxes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buildings {
    all: Vec<Building>,
    /// Spatial index. Valid once `is_laid_out` is true.
    squares: Squares,
    is_laid_out: bool,
    /// Silhouettes of the buildings near the current line.
    seen: Vec<Silhouette>,
}

/// Building with the corners of its footprint.
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
        // Capacity is reserved here, so that lookups during a run do not allocate.
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

    /// Returns the depth of the straight line between two points behind the edges of buildings. The
    /// result is the smallest depth over all paths over roofs or past walls. A path past several
    /// buildings has the largest of their depths.
    ///
    /// The depth is negative if no building blocks the line and the clearance is at most `clear`.
    /// It is minus infinity if the clearance is larger, and infinity if the depth exceeds
    /// [`DEEPEST`].
    pub(crate) fn obstruction(&mut self, (from, to): (Point, Point), clear: f64) -> f64 {
        let Some(line) = SightLine::new(from, to) else {
            return f64::NEG_INFINITY;
        };
        if !self.is_laid_out {
            self.lay_out();
        }
        self.seen.clear();
        let clear_m = line.within_m(clear);
        self.add_silhouettes((from, to), &line, [0.0, clear_m]);
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
        // The path straight over these roofs has the depth `over`. Every other path has at least
        // the depth of its lateral offset. So buildings with an offset above `over` cannot reduce
        // the depth. No search is needed if one building extends beyond the offset `over` upwards
        // and to both sides.
        let mut depth = over;
        if !self.seen.iter().any(|it| it.bars(over)) {
            let within_m = line.within_m(over).min(line.far_m);
            if within_m > clear_m {
                self.add_silhouettes((from, to), &line, [clear_m, within_m]);
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

    /// Returns the depth of a path at this lateral offset. It is the larger of the offset and the
    /// offsets of the roofs there, and at most `least`.
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

    /// Adds the silhouettes of buildings whose distance from the line is between `known_m` and
    /// `within_m` metres. If `known_m` is zero, all buildings up to `within_m` are added.
    fn add_silhouettes(
        &mut self,
        ends: (Point, Point),
        line: &SightLine,
        [known_m, within_m]: [f64; 2],
    ) {
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

    /// Clearance beyond which a building has no effect on the line, in square roots of metres.
    const CLEAR: f64 = 1.4;

    fn obstruction_of(buildings: &[Obstacle], from: Point, to: Point) -> f64 {
        let mut all = Buildings::default();
        buildings.iter().for_each(|&building| all.push(building));
        all.obstruction((from, to), CLEAR)
    }

    /// Returns the depth by an exhaustive search over all buildings and paths.
    fn slow(buildings: &[Obstacle], from: Point, to: Point) -> f64 {
        let Some(line) = SightLine::new(from, to) else {
            return f64::NEG_INFINITY;
        };
        let outline = |it: &Obstacle| line.silhouette(it, it.corners(), f64::NEG_INFINITY);
        let seen: Vec<Silhouette> = buildings.iter().filter_map(outline).collect();
        let is_blocked = seen.iter().any(|it| it.covers(0.0) && it.roof > 0.0);
        let depth = if is_blocked {
            let offsets = seen.iter().flat_map(Silhouette::sides).chain([0.0]);
            let cost = |offset: f64| {
                let roofs = seen.iter().filter(|it| it.covers(offset));
                roofs.map(|it| it.roof).fold(offset.abs(), f64::max)
            };
            offsets.map(cost).fold(f64::INFINITY, f64::min)
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
        // The corner at (40, 1) extends 1 m beyond the line. It is 40 m from one end of the line
        // and 60 m from the other end.
        let house = building((40.0, -50.0), (41.0, 1.0), 100.0);
        let (from, to) = (Point::new(0.0, 0.0, 1.0), Point::new(100.0, 0.0, 1.0));
        let expected = (2.0 * (1.0 / 40.0 + 1.0 / 60.0_f64)).sqrt();
        assert!((obstruction_of(&[house], from, to) - expected).abs() < 1e-3);
        let outside = building((40.0, -50.0), (40.5, -1.0), 100.0);
        assert!((obstruction_of(&[outside], from, to) + expected).abs() < 1e-3);
    }

    #[test]
    fn the_way_over_a_low_roof_costs_less_than_the_way_around() {
        let (from, to) = (Point::new(0.0, 0.0, 10.0), Point::new(100.0, 0.0, 10.0));
        let long = |height| building((50.0, -80.0), (50.1, 80.0), height);
        let scale = (2.0 * (2.0 / 50.0_f64)).sqrt();
        assert!((obstruction_of(&[long(12.0)], from, to) - 2.0 * scale).abs() < 1e-3);
        assert!((obstruction_of(&[long(9.0)], from, to) + scale).abs() < 1e-3);
        assert_eq!(obstruction_of(&[], from, to), f64::NEG_INFINITY);
        assert_eq!(obstruction_of(&[long(1000.0)], from, to), f64::INFINITY);
    }

    #[test]
    fn two_buildings_wall_to_wall_leave_no_gap() {
        let (from, to) = (Point::new(0.0, 0.0, 1.5), Point::new(100.0, 0.0, 1.5));
        let pair = [
            building((40.0, -60.0), (60.0, 0.5), 200.0),
            building((40.0, 0.5), (60.0, 60.0), 200.0),
        ];
        assert!(
            obstruction_of(&pair, from, to) > 9.0,
            "{}",
            obstruction_of(&pair, from, to)
        );
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

    /// Rings of walls around a courtyard.
    #[derive(Debug, Clone)]
    struct Court {
        rings: Vec<Vec<(f64, f64)>>,
        base: f64,
        height: f64,
    }

    impl Court {
        /// Returns true if a point is within the building. The function counts how often a ray from
        /// the point crosses the rings of walls.
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
                let between = |from: f64, to: f64| from + (to - from) * share;
                self.holds(Point::new(
                    between(from.x, to.x),
                    between(from.y, to.y),
                    between(from.z, to.z),
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
                // Bases below 3 m become zero, so that half of the buildings stand on the ground.
                let base = if base < 3.0 { 0.0 } else { base };
                Court {
                    rings,
                    base,
                    height,
                }
            })
    }

    /// Returns true if both ends are at least `far` away from every building.
    fn is_outside(town: &[Obstacle], (from, to): (Point, Point), far: f64) -> bool {
        let mut walls = town.iter();
        walls.all(|house| {
            let is_far = |end| house.distance_on_the_ground(end) >= far;
            is_far(from) && is_far(to)
        })
    }

    /// Returns true if a building crosses the straight line.
    fn is_cut(town: &[Obstacle], from: Point, to: Point) -> bool {
        town.iter().any(|house| house.crossing(from, to).is_some())
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        /// The depth is positive exactly if a building crosses the line. Lines with an end within
        /// `NEAREST_M` of a building are excluded, because edges so close to an end are moved.
        #[test]
        fn the_sign_says_whether_the_line_is_cut((from, to) in places(), town in town()) {
            prop_assume!(is_outside(&town, (from, to), NEAREST_M));
            let depth = obstruction_of(&town, from, to);
            prop_assume!(depth.abs() > 1e-6);
            prop_assert_eq!(depth > 0.0, is_cut(&town, from, to), "{}", depth);
        }

        /// Walls block a line exactly if the building that they surround does. The building may
        /// have a courtyard and free space below it. The sign of the depth is compared with samples
        /// along the line. Lines with a small depth or clearance are excluded.
        #[test]
        fn walls_shade_as_the_building_does((from, to) in places(), court in court()) {
            prop_assume!(!court.holds(from) && !court.holds(to));
            let walls = Obstacle::walls(&court.rings, court.base, court.height);
            prop_assume!(is_outside(&walls, (from, to), NEAREST_M));
            let depth = obstruction_of(&walls, from, to);
            prop_assume!(depth.abs() > 0.05);
            // Walls do not block a line that enters and leaves the building through its roof or
            // underside.
            if depth > 0.0 || court.base > 0.0 || court.height > from.z.max(to.z) {
                prop_assert!(depth <= 0.0 || court.cuts(from, to), "{} but clear", depth);
            }
            if court.base == 0.0 && court.height > from.z.max(to.z) {
                prop_assert_eq!(depth > 0.0, court.cuts(from, to), "{}", depth);
            }
        }

        /// The result is the same to the last bit as that of a search over all buildings. The city
        /// has many buildings far from the line, and some above or below it.
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
                // Bases below 4 m become zero, so that two thirds of the buildings stand on the
                // ground.
                house.base = if base < 4.0 { 0.0 } else { base.min(0.5 * house.height) };
            }
            let (found, expected) = (obstruction_of(&city, from, to), slow(&city, from, to));
            prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} {}", found, expected);
        }

        /// A move of the antenna by a millimetre changes the depth by little, because the depth is
        /// continuous.
        #[test]
        fn the_depth_is_continuous((from, to) in places(), town in town(), turn in 0.0_f64..6.3) {
            // Antennas within 1 m of a building are excluded.
            prop_assume!(is_outside(&town, (from, to), 1.0));
            let step = 1e-3;
            let moved = Point::new(
                to.x + step * fadeout_core::math::cos(turn),
                to.y + step * fadeout_core::math::sin(turn),
                to.z,
            );
            let one = obstruction_of(&town, from, to);
            let other = obstruction_of(&town, from, moved);
            prop_assume!(one < 0.9 * DEEPEST && one > -0.9 * CLEAR);
            // An edge is at least a = `NEAREST_M` from one end of the line and at least b = 4.9 m
            // from the other end. A metre across the line changes the offset by at most
            // sqrt(2 (1/a + 1/b)). A metre along the line changes the offset by a share of
            // 1/(2 a). All points of the line move by at most the step.
            let across = (2.0 * (1.0 / NEAREST_M + 1.0 / 4.9)).sqrt();
            let along = one.abs() / (2.0 * NEAREST_M);
            let allowed = step * (across + along);
            prop_assert!((one - other).abs() < allowed, "{} {}", one, other);
        }
    }
}
