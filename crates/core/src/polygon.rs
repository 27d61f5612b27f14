//! Polygons, given by their corners. Edges join consecutive corners, and the last to the first.

/// Returns the edges of a polygon.
pub fn edges(corners: &[(f64, f64)]) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
    let next = corners.iter().cycle().skip(1);
    corners.iter().copied().zip(next.copied())
}

/// Returns true if a position is inside a polygon. A ray from an inside position crosses the edges
/// an odd number of times.
pub fn holds(corners: &[(f64, f64)], (x, y): (f64, f64)) -> bool {
    let crossed = edges(corners)
        .filter(|(a, b)| (a.1 > y) != (b.1 > y) && x < a.0 + (y - a.1) / (b.1 - a.1) * (b.0 - a.0));
    crossed.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn a_corner_that_points_inwards_is_outside() {
        let shape = [(0.0, 0.0), (4.0, 0.0), (2.0, 1.0), (4.0, 4.0), (0.0, 4.0)];
        for (place, is_inside) in [
            ((1.0, 1.0), true),
            ((3.5, 1.0), false),
            ((3.0, 0.25), true),
            ((-1.0, 2.0), false),
            ((1.0, 5.0), false),
        ] {
            assert_eq!(holds(&shape, place), is_inside, "{place:?}");
        }
        assert!(!holds(&[], (0.0, 0.0)));
    }
}
