//! Plane that repeats itself periodically (wrap-around).

use crate::math::hypot;
use crate::{Point, Vector};

/// Two shifts after which a network repeats itself (wrap-around). The network has an image at every
/// sum of whole multiples of the two shifts.
///
/// Standard: TR 36.942 §4.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice {
    first: (f64, f64),
    second: (f64, f64),
}

impl Lattice {
    /// Returns the lattice of two shifts in metres, east and north. `None` if both lie along one
    /// line.
    pub fn new(first: (f64, f64), second: (f64, f64)) -> Option<Lattice> {
        let lattice = Lattice { first, second };
        (lattice.area_m2() > 0.0).then_some(lattice)
    }

    /// Returns the two shifts in metres.
    pub fn shifts(&self) -> [(f64, f64); 2] {
        [self.first, self.second]
    }

    /// Returns the repeated area in square metres.
    pub fn area_m2(&self) -> f64 {
        (self.first.0 * self.second.1 - self.first.1 * self.second.0).abs()
    }

    /// Returns the distance from an image to the nearest other image, metres.
    pub fn least_m(&self) -> f64 {
        let ((ax, ay), (bx, by)) = (self.first, self.second);
        let steps = [-1.0, 0.0, 1.0];
        let others = steps.iter().flat_map(|i| steps.iter().map(move |j| (i, j)));
        let others = others.filter(|&(i, j)| (*i, *j) != (0.0, 0.0));
        others
            .map(|(i, j)| hypot(i * ax + j * bx, i * ay + j * by))
            .fold(f64::INFINITY, f64::min)
    }

    /// Returns the shift of the image of `from` that is nearest to `to`, by the distance on the
    /// ground.
    pub fn shift(&self, from: Point, to: Point) -> Vector {
        let (x, y) = (to.x - from.x, to.y - from.y);
        let ((ax, ay), (bx, by)) = (self.first, self.second);
        let area = ax * by - ay * bx;
        debug_assert!(area != 0.0, "the shifts lie along one line");
        let first = ((x * by - y * bx) / area).round();
        let second = ((y * ax - x * ay) / area).round();
        // If the distance to an image is below half of the smallest distance between images, no
        // other image is nearer.
        let offset = Vector::new(first * ax + second * bx, first * ay + second * by, 0.0);
        let (dx, dy) = (x - offset.x, y - offset.y);
        let squared = |x: f64, y: f64| x * x + y * y;
        let between = squared(ax + bx, ay + by).min(squared(ax - bx, ay - by));
        let around = squared(ax, ay).min(squared(bx, by)).min(between);
        if squared(dx, dy) < 0.24 * around {
            return offset;
        }
        // The nearest image is one of these nine, if neither shift is longer than the distance
        // between the ends of the two shifts. Usual layouts fulfil this condition.
        let mut nearest = (f64::INFINITY, Vector::default());
        for i in [0.0, -1.0, 1.0] {
            for j in [0.0, -1.0, 1.0] {
                let (first, second) = (first + i, second + j);
                let offset = Vector::new(first * ax + second * bx, first * ay + second * by, 0.0);
                let (dx, dy) = (x - offset.x, y - offset.y);
                let squared = dx * dx + dy * dy;
                if squared < nearest.0 {
                    nearest = (squared, offset);
                }
            }
        }
        debug_assert!(nearest.0.is_finite(), "no image is near {to:?}");
        nearest.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn the_nearest_other_image_may_lie_between_the_shifts() {
        let least = |first, second| Lattice::new(first, second).expect("a plane").least_m();
        assert_eq!(least((10.0, 0.0), (0.0, 4.0)), 4.0);
        assert_eq!(least((5.0, 0.0), (-4.0, 3.0)), hypot(1.0, 3.0));
    }

    #[test]
    fn shifts_along_one_line_are_none() {
        assert_eq!(Lattice::new((1.0, 2.0), (2.0, 4.0)), None);
        assert_eq!(Lattice::new((0.0, 0.0), (2.0, 4.0)), None);
    }

    /// Compares the nearest image with the nearest one of all images within five lattice shifts.
    #[test]
    fn the_image_is_the_nearest_of_all() {
        let hexagon = ((3.5, 0.866), (1.0, 3.464));
        for (first, second) in [hexagon, ((10.0, 0.0), (0.0, 4.0))] {
            let lattice = Lattice::new(first, second).expect("they span a plane");
            let mut draw = Stream::new(1, "test.lattice", 0);
            for _ in 0..2000 {
                let mut place =
                    || Point::new(draw.uniform_in(-6.0, 6.0), draw.uniform_in(-6.0, 6.0), 1.0);
                let (from, to) = (place(), place());
                let found = (from + lattice.shift(from, to)).ground_distance_to(to);
                let mut least = f64::INFINITY;
                for i in -5..=5 {
                    for j in -5..=5 {
                        let (i, j) = (f64::from(i), f64::from(j));
                        let offset = Vector::new(
                            i * first.0 + j * second.0,
                            i * first.1 + j * second.1,
                            0.0,
                        );
                        least = least.min((from + offset).ground_distance_to(to));
                    }
                }
                assert!((found - least).abs() < 1e-9, "{found}, not {least}");
            }
        }
    }
}
