//! How deep a straight line lies in the shadow of buildings, or how clear of them it passes.
//!
//! An edge that reaches `h` metres across a line, `a` and `b` metres from its ends, diffracts by
//! `h sqrt(2 (1/a + 1/b) / wavelength)`. Everything here is in these terms without the wavelength:
//! offsets in the square roots of metres. They are continuous in the places of both ends, so that
//! what is computed from them is.
//!
//! Standard: ITU-R P.526-15 equation 26.

use crate::Obstacle;
use fadeout_core::{Edge, Point};

/// Shadows deeper than this are complete, and what is further off does not matter, square roots of
/// metres: v = 23 at 700 MHz, where 40 dB are lost.
const DEEPEST: f64 = 15.0;

/// Nearer to an end than this an edge counts as this far away, metres.
const NEAREST_M: f64 = 0.1;

/// A building as it is seen along the line: offsets from it in square roots of metres.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silhouette {
    /// From here to there it stands across.
    low: f64,
    high: f64,
    /// By so much its roof is above the line.
    roof: f64,
}

impl Silhouette {
    fn covers(&self, offset: f64) -> bool {
        self.low < offset && offset < self.high
    }
    /// How far the line is from it sideways; negative inside.
    fn distance(&self) -> f64 {
        self.low.max(-self.high)
    }
}

/// The line, with the ground as its plane.
struct Line {
    from: Point,
    to: Point,
    /// Its length on the ground.
    ground_m: f64,
    length_m: f64,
    /// Its direction on the ground.
    along: (f64, f64),
    /// Least and most share of the way at which an edge is taken to stand.
    nearest: f64,
    /// Whatever is further across than this does not matter, metres.
    far_m: f64,
}

/// A corner by its share of the way and how far left of the line it stands, metres.
type Corner = (f64, f64);

/// A place along the line: its share of the way, how far across a wall stands there, metres, and what a
/// metre across weighs there.
#[derive(Debug, Clone, Copy)]
struct Stand {
    share: f64,
    across: f64,
    weight: f64,
}

impl Line {
    fn new(from: Point, to: Point) -> Option<Line> {
        let (x, y) = (to.x - from.x, to.y - from.y);
        let ground_m = from.ground_distance_to(to);
        let length_m = from.distance_to(to);
        (ground_m > 0.0).then(|| Line {
            from,
            to,
            ground_m,
            length_m,
            along: (x / ground_m, y / ground_m),
            nearest: (NEAREST_M / length_m).min(0.25),
            far_m: DEEPEST / scale(length_m, 0.5),
        })
    }

    fn corner(&self, (x, y): (f64, f64)) -> Corner {
        let (x, y) = (x - self.from.x, y - self.from.y);
        let (along_x, along_y) = self.along;
        (
            (x * along_x + y * along_y) / self.ground_m,
            y * along_x - x * along_y,
        )
    }

    /// Weight of a metre across the line at a share of the way.
    fn scale(&self, share: f64) -> f64 {
        scale(self.length_m, share)
    }

    /// By so much a roof is above the line.
    fn roof(&self, height: f64, place: Stand) -> f64 {
        (height - self.height_at(place.share)) * place.weight
    }

    /// A corner with the weight of its place.
    fn stands(&self, (share, across): Corner) -> Stand {
        Stand {
            share,
            across,
            weight: self.scale(share),
        }
    }

    /// Visits the places along a straight wall from one corner to another where its offset may be
    /// extreme: its ends, and where it comes nearest in between.
    #[inline]
    fn extremes(&self, one: Stand, other: Stand, mut visit: impl FnMut(Stand)) {
        let (near, far) = (self.nearest, 1.0 - self.nearest);
        let first = one.share.min(other.share).max(near);
        let last = one.share.max(other.share).min(far);
        if first > last {
            return;
        }
        let way = other.share - one.share;
        if way == 0.0 {
            visit(one);
            return visit(other);
        }
        let turn = other.across - one.across;
        let at = |share: f64| {
            // Most walls stand between the ends as a whole: no weights but those of their corners.
            let (t, weight) = if share == one.share {
                (0.0, one.weight)
            } else if share == other.share {
                (1.0, other.weight)
            } else {
                ((share - one.share) / way, self.scale(share))
            };
            Stand {
                share,
                across: one.across + turn * t,
                weight,
            }
        };
        visit(at(first));
        visit(at(last));
        // (u + s t)^2 / (t (1 - t)) is least at t = u / (2 u + s), with u at the line's beginning.
        let slope = turn / way;
        let begins = one.across - slope * one.share;
        let least = begins / (2.0 * begins + slope);
        if first < least && least <= last {
            visit(at(least));
        }
    }

    /// Whether a building may count, by the circle around it; true more often than need be.
    fn may_see(&self, building: &Obstacle) -> bool {
        let (share, across) = self.corner(building.center);
        let (length, width) = building.size;
        let radius = 0.5 * (length + width);
        let beyond = (share - 0.5).abs() - 0.5;
        across.abs() - radius <= self.far_m && beyond * self.ground_m <= radius
    }

    /// A building, unless it stands behind the ends or too far aside.
    fn silhouette(&self, building: &Obstacle) -> Option<Silhouette> {
        let corners = building.corners().map(|corner| self.corner(corner));
        self.silhouette_by(building, corners)
    }

    /// The same by its corners.
    fn silhouette_by(&self, building: &Obstacle, corners: [Corner; 4]) -> Option<Silhouette> {
        let aside = |sign: f64| corners.iter().all(|corner| sign * corner.1 > self.far_m);
        if aside(1.0) || aside(-1.0) {
            return None;
        }
        let corners = corners.map(|corner| self.stands(corner));
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut nearest = (f64::INFINITY, corners[0]);
        for n in 0..4 {
            self.extremes(corners[n], corners[(n + 1) % 4], |place| {
                let offset = place.across * place.weight;
                (low, high) = (low.min(offset), high.max(offset));
                if offset.abs() < nearest.0 {
                    nearest = (offset.abs(), place);
                }
            });
        }
        if low > high {
            return None;
        }
        let roof = match building.crossing_on_the_ground(self.from, self.to) {
            Some(crossing) => {
                let bounded = |share: f64| share.clamp(self.nearest, 1.0 - self.nearest);
                let (enters, leaves) = (bounded(crossing.enters), bounded(crossing.leaves));
                let over = |share| self.stands((share, building.height - self.height_at(share)));
                let mut highest = f64::NEG_INFINITY;
                self.extremes(over(enters), over(leaves), |place| {
                    highest = highest.max(self.roof(building.height, place));
                });
                highest
            }
            None => self.roof(building.height, nearest.1),
        };
        let roof = match building.base > 0.0 {
            true => roof.min(self.under(building)),
            false => roof,
        };
        Some(Silhouette { low, high, roof })
    }

    /// By so much the line is above a building's underside, where it crosses it or comes by.
    fn under(&self, building: &Obstacle) -> f64 {
        let middle = self.corner(building.center).0;
        let crossing = building.crossing_on_the_ground(self.from, self.to);
        let (enters, leaves) = crossing.map_or((middle, middle), |it| (it.enters, it.leaves));
        [enters, leaves]
            .map(|share| share.clamp(self.nearest, 1.0 - self.nearest))
            .map(|share| (self.height_at(share) - building.base) * self.scale(share))
            .into_iter()
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn height_at(&self, share: f64) -> f64 {
        self.from.z + (self.to.z - self.from.z) * share
    }
}

/// As [`Line::scale`], of a line of this length.
fn scale(length_m: f64, share: f64) -> f64 {
    (2.0 / (length_m * share * (1.0 - share))).sqrt()
}

/// How deep the line from one place to the other lies behind the edges of buildings, by the way
/// around them that costs least: over roofs or past walls. Negative where it passes clear of them.
/// Infinite far behind and far off.
///
/// Of several buildings in a row the deepest counts.
pub(crate) fn obstruction(
    buildings: &[Obstacle],
    (from, to): (Point, Point),
    seen: &mut Vec<Silhouette>,
) -> f64 {
    let Some(line) = Line::new(from, to) else {
        return f64::NEG_INFINITY;
    };
    seen.clear();
    let near = buildings.iter().filter(|building| line.may_see(building));
    seen.extend(near.filter_map(|building| line.silhouette(building)));
    let is_blocked = seen.iter().any(|it| it.covers(0.0) && it.roof > 0.0);
    let depth = if is_blocked {
        let ways = seen.iter().flat_map(|it| [it.low, it.high]);
        ways.chain([0.0]).fold(f64::INFINITY, |least, offset| {
            // No way costs less than going that far aside, whatever the roofs there.
            if offset.abs() >= least {
                return least;
            }
            let roofs = seen.iter().filter(|it| it.covers(offset));
            least.min(roofs.map(|it| it.roof).fold(offset.abs(), f64::max))
        })
    } else {
        seen.iter()
            .map(|it| it.roof.min(-it.distance()))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    match depth {
        deep if deep > DEEPEST => f64::INFINITY,
        clear if clear < -DEEPEST => f64::NEG_INFINITY,
        depth => depth,
    }
}

/// A straight line and the boxes near it.
pub(crate) struct Boxes {
    /// None where its ends are one above the other.
    line: Option<Line>,
    /// Boxes count from this depth on.
    least: f64,
    /// Further from a box than this, across or above, the line is less deep behind it, metres.
    clear_m: f64,
}

impl Boxes {
    /// Of those behind which the line from one place to the other lies deeper than `least`, which is negative.
    pub(crate) fn new((from, to): (Point, Point), least: f64) -> Boxes {
        let line = Line::new(from, to);
        // A metre counts least in the middle; room for rounding.
        let clear_m = |line: &Line| (1.0 + 1e-9) * -least / scale(line.length_m, 0.5);
        Boxes {
            clear_m: line.as_ref().map_or(0.0, clear_m),
            line,
            least,
        }
    }

    /// How deep the line lies behind a box, and where along it that stands: over its roof or past a side, whichever costs
    /// least. None where it stands behind the ends, or does not count.
    pub(crate) fn behind(&self, obstacle: &Obstacle) -> Option<Edge> {
        let line = self.line.as_ref()?;
        let corners = obstacle.corners().map(|corner| line.corner(corner));
        if self.is_clear(line, corners, obstacle.height) {
            return None;
        }
        let seen = line.silhouette_by(obstacle, corners)?;
        let depth = seen.roof.min(-seen.distance());
        if depth <= self.least {
            return None;
        }
        let (share, _) = line.corner(obstacle.center);
        Some(Edge {
            share: share.clamp(line.nearest, 1.0 - line.nearest),
            depth,
        })
    }

    /// Whether the line passes a box by far, beside it or above.
    fn is_clear(&self, line: &Line, corners: [Corner; 4], height: f64) -> bool {
        let aside = |sign: f64| corners.iter().all(|corner| sign * corner.1 > self.clear_m);
        let [mut first, mut last] = [corners[0].0; 2];
        for (share, _) in corners {
            (first, last) = (first.min(share), last.max(share));
        }
        let above = |share: f64| line.height_at(share.clamp(0.0, 1.0)) - height > self.clear_m;
        // An edge is taken to stand so far from the ends at least.
        let (first, last) = (first - line.nearest, last + line.nearest);
        aside(1.0) || aside(-1.0) || above(first) && above(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rectangle, Turn};
    use proptest::prelude::*;

    fn building(low: (f64, f64), high: (f64, f64), height: f64) -> Obstacle {
        Obstacle::building(Rectangle { low, high }, height)
    }

    fn of(buildings: &[Obstacle], from: Point, to: Point) -> f64 {
        obstruction(buildings, (from, to), &mut Vec::new())
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
            prop_assume!(one.abs() < 0.9 * DEEPEST);
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
