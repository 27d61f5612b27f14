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
pub(crate) const DEEPEST: f64 = 15.0;

/// Nearer to an end than this an edge counts as this far away, metres.
pub(crate) const NEAREST_M: f64 = 0.1;

/// A building as it is seen along the line: offsets from it in square roots of metres.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silhouette {
    /// From here to there it stands across.
    low: f64,
    high: f64,
    /// By so much its roof is above the line.
    pub(crate) roof: f64,
}

impl Silhouette {
    pub(crate) fn covers(&self, offset: f64) -> bool {
        self.low < offset && offset < self.high
    }

    /// Whether no way goes less far aside and costs less than `cost`, which is above zero.
    pub(crate) fn bars(&self, cost: f64) -> bool {
        self.roof >= cost && self.low <= -cost && self.high >= cost
    }

    /// Its sides.
    pub(crate) fn sides(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// How deep the line lies behind it: over its roof or past a side, whichever costs least.
    pub(crate) fn depth(&self) -> f64 {
        self.roof.min(self.past_a_side())
    }

    /// How deep it lies behind the nearer side; negative outside.
    fn past_a_side(&self) -> f64 {
        -self.low.max(-self.high)
    }
}

/// The line, with the ground as its plane.
pub(crate) struct Line {
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
    pub(crate) far_m: f64,
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
    pub(crate) fn new(from: Point, to: Point) -> Option<Line> {
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

    #[inline(always)]
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
    #[inline(always)]
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

    /// Further from the line than this, across or above, nothing has an edge as near to it as `offset` square roots of
    /// metres.
    pub(crate) fn within_m(&self, offset: f64) -> f64 {
        // A metre counts least in the middle; room for rounding.
        (1.0 + 1e-9) * offset / scale(self.length_m, 0.5)
    }

    /// Whether the line passes a box by more than `clear_m`, beside it or above, or the box stands behind an end; false more
    /// often than need be.
    #[inline]
    pub(crate) fn is_clear_of(&self, obstacle: &Obstacle, clear_m: f64) -> bool {
        let (x, y) = (
            obstacle.center.0 - self.from.x,
            obstacle.center.1 - self.from.y,
        );
        let (along_x, along_y) = self.along;
        let (sin, cos) = (obstacle.turn.sin, obstacle.turn.cos);
        let (length, width) = (0.5 * obstacle.size.0, 0.5 * obstacle.size.1);
        // What its own axes have along the line and across it.
        let with = (cos * along_x + sin * along_y).abs();
        let against = (sin * along_x - cos * along_y).abs();
        let across = y * along_x - x * along_y;
        if across.abs() - (length * against + width * with) > clear_m {
            return true;
        }
        let middle = x * along_x + y * along_y;
        let half = length * with + width * against;
        let (first, last) = (
            (middle - half) / self.ground_m,
            (middle + half) / self.ground_m,
        );
        if last < 0.0 || first > 1.0 {
            return true;
        }
        let above = |share: f64| self.height_at(share.clamp(0.0, 1.0)) - obstacle.height > clear_m;
        // An edge is taken to stand so far from the ends at least.
        above(first - self.nearest) && above(last + self.nearest)
    }

    /// A box by its corners, unless it stands behind the ends or too far aside. Of one behind which the line is no deeper
    /// than `least` past a side, nothing more is found.
    #[inline]
    pub(crate) fn silhouette(
        &self,
        building: &Obstacle,
        corners: [(f64, f64); 4],
        least: f64,
    ) -> Option<Silhouette> {
        let [a, b, c, d] = corners;
        let corners = [
            self.corner(a),
            self.corner(b),
            self.corner(c),
            self.corner(d),
        ];
        let aside = |sign: f64| corners.iter().all(|corner| sign * corner.1 > self.far_m);
        if aside(1.0) || aside(-1.0) {
            return None;
        }
        let [a, b, c, d] = corners;
        let corners = [
            self.stands(a),
            self.stands(b),
            self.stands(c),
            self.stands(d),
        ];
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
        let mut seen = Silhouette {
            low,
            high,
            roof: f64::INFINITY,
        };
        if seen.past_a_side() <= least {
            return None;
        }
        seen.roof = match building.crossing_on_the_ground(self.from, self.to) {
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
        if building.base > 0.0 {
            seen.roof = seen.roof.min(self.under(building));
        }
        Some(seen)
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
        Boxes {
            clear_m: line.as_ref().map_or(0.0, |line| line.within_m(-least)),
            line,
            least,
        }
    }

    /// How deep the line lies behind a box, and where along it that stands: over its roof or past a side, whichever costs
    /// least. None where it stands behind the ends, or does not count.
    pub(crate) fn behind(&self, obstacle: &Obstacle) -> Option<Edge> {
        let line = self.line.as_ref()?;
        if line.is_clear_of(obstacle, self.clear_m) {
            return None;
        }
        let seen = line.silhouette(obstacle, obstacle.corners(), self.least)?;
        let depth = seen.depth();
        if depth <= self.least {
            return None;
        }
        let (share, _) = line.corner(obstacle.center);
        Some(Edge {
            share: share.clamp(line.nearest, 1.0 - line.nearest),
            depth,
        })
    }
}
