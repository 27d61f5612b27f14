//! Depth of a straight line behind buildings, or clearance of the line from buildings.
//!
//! An edge that extends `h` metres across a line, `a` and `b` metres from the line's ends, has the
//! diffraction parameter `h sqrt(2 (1/a + 1/b) / wavelength)`. The offset of an edge is this
//! parameter without the wavelength: `h sqrt(2 (1/a + 1/b))`, in square roots of metres. Offsets
//! are continuous in the positions of both ends of the line, and so are all results.
//!
//! Standard: ITU-R P.526-15 equation 26.

use crate::Obstacle;
use fadeout_core::{Edge, Point};

/// Depth beyond which the line is fully blocked, and offset beyond which objects are ignored, in
/// square roots of metres. At 700 MHz its diffraction parameter is 23, a loss of 40 dB.
pub(crate) const DEEPEST: f64 = 15.0;

/// Smallest distance in metres between an edge and an end of the line. Closer edges are treated as
/// if they had this distance.
pub(crate) const NEAREST_M: f64 = 0.1;

/// Outline of a building as seen along a line. Its offsets from the line are in square roots of
/// metres.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silhouette {
    /// Lateral offsets of the building's right side (`low`) and left side (`high`).
    low: f64,
    high: f64,
    /// Offset of the roof above the line.
    pub(crate) roof: f64,
}

impl Silhouette {
    pub(crate) fn covers(&self, offset: f64) -> bool {
        self.low < offset && offset < self.high
    }

    /// Returns true if every path over or around the building has an offset of at least `cost`.
    /// `cost` must be above zero.
    pub(crate) fn bars(&self, cost: f64) -> bool {
        self.roof >= cost && self.low <= -cost && self.high >= cost
    }

    /// Returns the lateral offsets of the building's two sides.
    pub(crate) fn sides(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Returns the depth of the line behind the building. It is the smaller of the depth below the
    /// roof and the depth behind the nearer side.
    pub(crate) fn depth(&self) -> f64 {
        self.roof.min(self.past_a_side())
    }

    /// Returns the depth of the line behind the building's nearer side. Negative if the line passes
    /// beside the building.
    fn past_a_side(&self) -> f64 {
        -self.low.max(-self.high)
    }
}

/// Straight line above the ground.
pub(crate) struct SightLine {
    from: Point,
    to: Point,
    /// Length on the ground, metres.
    ground_m: f64,
    length_m: f64,
    /// Direction of the line on the ground, as a unit vector.
    along: (f64, f64),
    /// Smallest position of an edge along the line, as a share of the line's length. The largest
    /// position is one minus this share.
    nearest: f64,
    /// Lateral distance from the line beyond which objects are ignored, metres.
    pub(crate) far_m: f64,
}

/// Corner of a building, relative to the line from the transmitter to the receiver. The first
/// number is its position along that line, as a share of the line's length. The second is its
/// distance to the left of the line, metres.
type Corner = (f64, f64);

/// Point of a wall. `share` is its position along the line, as a share of the line's length.
/// `across` is its distance across the line in metres. `weight` is the factor from `across` to an
/// offset.
#[derive(Debug, Clone, Copy)]
struct Stand {
    share: f64,
    across: f64,
    weight: f64,
}

impl SightLine {
    pub(crate) fn new(from: Point, to: Point) -> Option<SightLine> {
        let (x, y) = (to.x - from.x, to.y - from.y);
        let ground_m = from.ground_distance_to(to);
        let length_m = from.distance_to(to);
        (ground_m > 0.0).then(|| SightLine {
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

    /// Returns the factor from metres across the line to an offset, at this share of the line's
    /// length.
    fn scale(&self, share: f64) -> f64 {
        scale(self.length_m, share)
    }

    /// Returns the offset of a roof above the line, at a point of a wall.
    fn roof(&self, height: f64, place: Stand) -> f64 {
        (height - self.height_at(place.share)) * place.weight
    }

    /// Returns a corner as a point of a wall, with its factor from metres to an offset.
    #[inline(always)]
    fn stands(&self, (share, across): Corner) -> Stand {
        Stand {
            share,
            across,
            weight: self.scale(share),
        }
    }

    /// Calls `visit` for the points of a straight wall at which the offset may be extreme. These
    /// are both ends of the wall and the point of smallest offset between them.
    #[inline]
    fn extremes(&self, one: Stand, other: Stand, mut visit: impl FnMut(Stand)) {
        let (near, far) = (self.nearest, 1.0 - self.nearest);
        let first = one.share.min(other.share).max(near);
        let last = one.share.max(other.share).min(far);
        if first > last {
            return;
        }
        let width = other.share - one.share;
        if width == 0.0 {
            visit(one);
            return visit(other);
        }
        let turn = other.across - one.across;
        let stand_at = |share: f64| {
            // Most walls lie entirely between the line's ends, so the factors of their corners are
            // used.
            let (t, weight) = if share == one.share {
                (0.0, one.weight)
            } else if share == other.share {
                (1.0, other.weight)
            } else {
                ((share - one.share) / width, self.scale(share))
            };
            Stand {
                share,
                across: one.across + turn * t,
                weight,
            }
        };
        visit(stand_at(first));
        visit(stand_at(last));
        // The square of the offset is proportional to (u + s t)^2 / (t (1 - t)) at the share t.
        // Here u is the wall's distance across the line at t = 0, and s its slope. The minimum is
        // at t = u / (2 u + s).
        let slope = turn / width;
        let begins = one.across - slope * one.share;
        let least = begins / (2.0 * begins + slope);
        if first < least && least <= last {
            visit(stand_at(least));
        }
    }

    /// Returns the distance from the line, in metres, beyond which every edge has an offset above
    /// `offset` square roots of metres. The edge may be beside or above the line.
    pub(crate) fn within_m(&self, offset: f64) -> f64 {
        // A metre across the line has the smallest offset in the line's middle. The factor covers
        // rounding.
        (1.0 + 1e-9) * offset / scale(self.length_m, 0.5)
    }

    /// Returns true if the line passes beside or above a box by more than `clear_m`. Returns true
    /// also if the box is behind an end of the line. May return false in both cases.
    #[inline]
    pub(crate) fn is_clear_of(&self, obstacle: &Obstacle, clear_m: f64) -> bool {
        let (x, y) = (
            obstacle.center.0 - self.from.x,
            obstacle.center.1 - self.from.y,
        );
        let (along_x, along_y) = self.along;
        let (sin, cos) = (obstacle.turn.sin, obstacle.turn.cos);
        let (length, width) = (0.5 * obstacle.size.0, 0.5 * obstacle.size.1);
        // Components of the box's axes along the line and across it.
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
        // Edges closer to an end than `nearest` are treated as if they had that distance.
        above(first - self.nearest) && above(last + self.nearest)
    }

    /// Returns the silhouette of a box from its corners. `None` if the box is behind an end of the
    /// line or too far to the side. `None` also if the depth behind the box's nearer side is at
    /// most `least`.
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
        let is_outside = |sign: f64| corners.iter().all(|corner| sign * corner.1 > self.far_m);
        if is_outside(1.0) || is_outside(-1.0) {
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

    /// Returns the offset of the line above a building's underside. If the line crosses the
    /// footprint, the result is the larger of the offsets at entry and exit. Otherwise it is the
    /// offset at the building's centre.
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

/// Returns [`SightLine::scale`] for a line of this length: the factor from metres across to an
/// offset.
fn scale(length_m: f64, share: f64) -> f64 {
    (2.0 / (length_m * share * (1.0 - share))).sqrt()
}

/// Straight line, with the limits beyond which boxes near it are ignored.
pub(crate) struct Boxes {
    /// Straight line between two points. `None` if one point is vertically above the other.
    line: Option<SightLine>,
    /// Depth up to which a box is ignored, in square roots of metres.
    least: f64,
    /// Distance of the line, beside or above a box, beyond which the box is ignored, metres.
    clear_m: f64,
}

impl Boxes {
    /// Returns the line between two points. Boxes are ignored if the line's depth behind them is at
    /// most `least`, which is negative.
    pub(crate) fn new((from, to): (Point, Point), least: f64) -> Boxes {
        let line = SightLine::new(from, to);
        Boxes {
            clear_m: line.as_ref().map_or(0.0, |line| line.within_m(-least)),
            line,
            least,
        }
    }

    /// Returns the depth of the line behind a box, and the box's position along the line. The depth
    /// is the smaller of the depths below the roof and behind the nearer side. `None` if the box is
    /// behind an end of the line, or if the box is ignored because of its depth.
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
