//! Depth of a straight line behind buildings, or its clearance from them.
//!
//! An edge that extends `h` metres across a line, `a` and `b` metres from the line's ends, has the
//! diffraction parameter `h sqrt(2 (1/a + 1/b) / wavelength)`. All offsets here are this parameter
//! without the wavelength, in square roots of metres. They are continuous in the positions of both
//! ends, and so are all results.
//!
//! Standard: ITU-R P.526-15 equation 26.

use crate::Obstacle;
use fadeout_core::{Edge, Point};

/// Depth beyond which a shadow is complete, and offset beyond which objects do not count, in square
/// roots of metres. It is v = 23 at 700 MHz, a loss of 40 dB.
pub(crate) const DEEPEST: f64 = 15.0;

/// Smallest distance in metres between an edge and an end. Closer edges count as this far away.
pub(crate) const NEAREST_M: f64 = 0.1;

/// Building seen along the line: offsets from the line in square roots of metres.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silhouette {
    /// Lateral offsets of both sides.
    low: f64,
    high: f64,
    /// Height of the roof above the line.
    pub(crate) roof: f64,
}

impl Silhouette {
    pub(crate) fn covers(&self, offset: f64) -> bool {
        self.low < offset && offset < self.high
    }

    /// Returns true if the building blocks all paths with a cost below `cost`, which is above zero.
    pub(crate) fn bars(&self, cost: f64) -> bool {
        self.roof >= cost && self.low <= -cost && self.high >= cost
    }

    /// Returns the offsets of both sides.
    pub(crate) fn sides(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Returns the depth of the line behind the building: over its roof or past a side, whichever
    /// is smaller.
    pub(crate) fn depth(&self) -> f64 {
        self.roof.min(self.past_a_side())
    }

    /// Returns the depth of the line behind the nearer side. Negative if the line passes outside.
    fn past_a_side(&self) -> f64 {
        -self.low.max(-self.high)
    }
}

/// Straight line above the ground.
pub(crate) struct Line {
    from: Point,
    to: Point,
    /// Length on the ground, metres.
    ground_m: f64,
    length_m: f64,
    /// Direction on the ground.
    along: (f64, f64),
    /// Smallest share of the line at which an edge counts. The largest share is one minus this.
    nearest: f64,
    /// Lateral distance beyond which nothing counts, metres.
    pub(crate) far_m: f64,
}

/// Corner: its share of the line, and its distance to the left of the line, metres.
type Corner = (f64, f64);

/// Point of a wall: its share of the line, its distance across the line in metres, and the weight
/// of a metre across.
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

    /// Returns the weight of a metre across the line at a share of it.
    fn scale(&self, share: f64) -> f64 {
        scale(self.length_m, share)
    }

    /// Returns the height of a roof above the line, weighted.
    fn roof(&self, height: f64, place: Stand) -> f64 {
        (height - self.height_at(place.share)) * place.weight
    }

    /// Returns a corner with the weight of its share.
    #[inline(always)]
    fn stands(&self, (share, across): Corner) -> Stand {
        Stand {
            share,
            across,
            weight: self.scale(share),
        }
    }

    /// Visits the points of a straight wall where its offset may be extreme: both ends, and the
    /// nearest point in between.
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
            // Most walls lie between the ends as a whole, so the weights of their corners suffice.
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
        // The square of the offset, (u + s t)^2 / (t (1 - t)), is smallest at t = u / (2 u + s),
        // where u is its value at the line's start.
        let slope = turn / way;
        let begins = one.across - slope * one.share;
        let least = begins / (2.0 * begins + slope);
        if first < least && least <= last {
            visit(at(least));
        }
    }

    /// Returns the distance in metres beyond which no edge, beside or above the line, has an offset
    /// up to `offset` square roots of metres.
    pub(crate) fn within_m(&self, offset: f64) -> f64 {
        // The weight of a metre is smallest in the middle of the line. The factor covers rounding.
        (1.0 + 1e-9) * offset / scale(self.length_m, 0.5)
    }

    /// Returns true if the line passes a box by more than `clear_m`, beside it or above it, or if
    /// the box is behind an end. May return false in such cases.
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
        // Edges count as if they were at least this far from the ends.
        above(first - self.nearest) && above(last + self.nearest)
    }

    /// Returns the silhouette of a box from its corners. `None` if the box is behind an end or too
    /// far to the side. `None` also if the depth of the line past a side is at most `least`.
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

    /// Returns the height of the line above a building's underside, weighted, at the crossing or
    /// nearest point.
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

/// Returns [`Line::scale`] for a line of this length.
fn scale(length_m: f64, share: f64) -> f64 {
    (2.0 / (length_m * share * (1.0 - share))).sqrt()
}

/// Straight line, and the limits for boxes near it.
pub(crate) struct Boxes {
    /// Line. `None` if one end is above the other.
    line: Option<Line>,
    /// Smallest depth at which a box counts.
    least: f64,
    /// Distance from a box, beside or above it, beyond which the depth is smaller, metres.
    clear_m: f64,
}

impl Boxes {
    /// Returns the boxes behind which the line is deeper than `least`, which is negative.
    pub(crate) fn new((from, to): (Point, Point), least: f64) -> Boxes {
        let line = Line::new(from, to);
        Boxes {
            clear_m: line.as_ref().map_or(0.0, |line| line.within_m(-least)),
            line,
            least,
        }
    }

    /// Returns the depth of the line behind a box, and the box's position along the line. The depth
    /// is the smaller one over the roof or past a side. `None` if the box is behind an end, or does
    /// not count.
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
