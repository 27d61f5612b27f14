//! Hexagonal grids of sites.

use fadeout_core::Lattice;
use fadeout_core::random::Stream;

/// Returns a position on the grid: `i` steps to the east and `j` steps at 60 degrees from it.
fn grid_position(i: i32, j: i32, distance_m: f64) -> (f64, f64) {
    let (i, j) = (f64::from(i), f64::from(j));
    let height = 3_f64.sqrt() / 2.0;
    (distance_m * (i + 0.5 * j), distance_m * height * j)
}

/// Returns the positions of a site and of `rings` rings around it, counter-clockwise from the east.
pub(super) fn sites(rings: u32, distance_m: f64) -> Vec<(f64, f64)> {
    const DIRECTIONS: [(i32, i32); 6] = [(-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0), (0, 1)];
    let mut places = vec![grid_position(0, 0, distance_m)];
    for ring in 1..=rings as i32 {
        let (mut i, mut j) = (ring, 0);
        for (east, up) in DIRECTIONS {
            for _ in 0..ring {
                places.push(grid_position(i, j, distance_m));
                (i, j) = (i + east, j + up);
            }
        }
    }
    places
}

/// Returns the two shifts after which the grid with this number of rings repeats itself without
/// gaps. `None` for a single site.
pub(super) fn lattice(rings: u32, distance_m: f64) -> Option<Lattice> {
    let (i, j) = (rings as i32 + 1, rings as i32);
    let shift = || {
        Lattice::new(
            grid_position(i, j, distance_m),
            grid_position(-j, i + j, distance_m),
        )
    };
    (rings > 0).then(shift).flatten()
}

/// True if a vector from a site ends within the site's hexagon. One corner of the hexagon lies at
/// 30 degrees.
pub(super) fn holds(radius_m: f64, (x, y): (f64, f64)) -> bool {
    let apothem = radius_m * 3_f64.sqrt() / 2.0;
    let sides = [
        (1.0, 0.0),
        (0.5, 3_f64.sqrt() / 2.0),
        (0.5, -(3_f64.sqrt()) / 2.0),
    ];
    sides
        .iter()
        .all(|(east, north)| (x * east + y * north).abs() <= apothem)
}

/// Returns a vector from a site, drawn uniformly from its hexagon.
pub(super) fn draw(radius_m: f64, random: &mut Stream) -> (f64, f64) {
    loop {
        let apothem = radius_m * 3_f64.sqrt() / 2.0;
        let offset = (
            random.uniform_in(-apothem, apothem),
            random.uniform_in(-radius_m, radius_m),
        );
        // Three of four drawn vectors end inside the hexagon.
        if holds(radius_m, offset) {
            return offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::hypot;

    #[test]
    fn every_site_has_its_neighbours_at_the_distance() {
        for (rings, count) in [(0, 1), (1, 7), (2, 19)] {
            let places = sites(rings, 500.0);
            assert_eq!(places.len(), count);
            for (n, a) in places.iter().enumerate() {
                let distances = places.iter().enumerate().filter(|&(m, _)| m != n);
                let distances = distances.map(|(_, b)| hypot(a.0 - b.0, a.1 - b.1));
                let least = distances.fold(f64::INFINITY, f64::min);
                assert!(count == 1 || (least - 500.0).abs() < 1e-6);
            }
        }
    }

    /// The area of the repeated part is that of its hexagons, so images neither leave gaps nor
    /// overlap. No image of a site coincides with another site.
    #[test]
    fn the_plane_is_filled_by_the_images() {
        let hexagon = 3_f64.sqrt() / 2.0 * 500.0 * 500.0;
        for rings in [1, 2] {
            let lattice = lattice(rings, 500.0).expect("it repeats");
            let places = sites(rings, 500.0);
            let area = hexagon * places.len() as f64;
            assert!((lattice.area_m2() / area - 1.0).abs() < 1e-9);
            for (x, y) in lattice.shifts() {
                for a in &places {
                    for b in &places {
                        assert!(hypot(a.0 + x - b.0, a.1 + y - b.1) > 499.0);
                    }
                }
            }
        }
    }
}
