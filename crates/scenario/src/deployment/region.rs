//! Areas in which UEs are dropped.

use super::hexagon;
use fadeout_core::random::Stream;
use fadeout_core::{math, polygon};

/// Area on the ground. Positions are in metres east and north.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    shape: Shape,
    /// Excluded rectangles. Each is given by its western, southern, eastern and northern edge.
    holes: Vec<[f64; 4]>,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Disc {
        center: (f64, f64),
        radius_m: f64,
    },
    Rectangle {
        low: (f64, f64),
        high: (f64, f64),
    },
    /// Corners of a polygon, in order.
    Polygon(Vec<(f64, f64)>),
    /// A band along straight lines between positions, as a road.
    Road {
        places: Vec<(f64, f64)>,
        width_m: f64,
    },
    /// The hexagons around sites.
    Hexagons {
        sites: Vec<(f64, f64)>,
        radius_m: f64,
    },
}

impl Region {
    fn new(shape: Shape) -> Region {
        Region {
            shape,
            holes: Vec::new(),
        }
    }

    pub(crate) fn disc(center: (f64, f64), radius_m: f64) -> Region {
        Region::new(Shape::Disc { center, radius_m })
    }

    pub(crate) fn rectangle(low: (f64, f64), high: (f64, f64)) -> Region {
        Region::new(Shape::Rectangle { low, high })
    }

    pub(crate) fn polygon(corners: Vec<(f64, f64)>) -> Region {
        Region::new(Shape::Polygon(corners))
    }

    pub(crate) fn road(places: Vec<(f64, f64)>, width_m: f64) -> Region {
        Region::new(Shape::Road { places, width_m })
    }

    /// Returns the hexagons around sites on a grid, with neighbours at `distance_m`.
    pub(crate) fn hexagons(sites: Vec<(f64, f64)>, distance_m: f64) -> Region {
        Region::new(Shape::Hexagons {
            sites,
            radius_m: distance_m / 3_f64.sqrt(),
        })
    }

    /// Excludes rectangles from the area. They must lie within the area and must not overlap.
    pub(crate) fn without(self, holes: Vec<[f64; 4]>) -> Region {
        Region { holes, ..self }
    }

    /// Returns the area shifted to the east and north.
    pub(crate) fn moved(mut self, (east, north): (f64, f64)) -> Region {
        let go = |place: &mut (f64, f64)| *place = (place.0 + east, place.1 + north);
        match &mut self.shape {
            Shape::Disc { center, .. } => go(center),
            Shape::Rectangle { low, high } => {
                go(low);
                go(high);
            }
            Shape::Polygon(places)
            | Shape::Road { places, .. }
            | Shape::Hexagons { sites: places, .. } => places.iter_mut().for_each(go),
        }
        for hole in &mut self.holes {
            let [west, south, east_side, north_side] = *hole;
            *hole = [
                west + east,
                south + north,
                east_side + east,
                north_side + north,
            ];
        }
        self
    }

    /// Returns the area in square metres. For a road it is length times width.
    pub(crate) fn area_m2(&self) -> f64 {
        let whole = match &self.shape {
            Shape::Disc { radius_m, .. } => std::f64::consts::PI * radius_m * radius_m,
            Shape::Rectangle { low, high } => (high.0 - low.0) * (high.1 - low.1),
            Shape::Polygon(corners) => polygon_area_m2(corners),
            Shape::Road { places, width_m } => length_m(places) * width_m,
            Shape::Hexagons { sites, radius_m } => {
                sites.len() as f64 * 1.5 * 3_f64.sqrt() * radius_m * radius_m
            }
        };
        let left_out = |hole: &[f64; 4]| (hole[2] - hole[0]) * (hole[3] - hole[1]);
        whole - self.holes.iter().map(left_out).sum::<f64>()
    }

    /// Returns a position drawn uniformly from the area. For a road the second result is the
    /// direction of the road, in radians from east. `None` if all tries fell into excluded
    /// rectangles.
    pub(crate) fn draw(&self, random: &mut Stream) -> Option<((f64, f64), Option<f64>)> {
        const TRIES: u32 = 10_000;
        (0..TRIES).find_map(|_| {
            let (place, heading) = self.try_draw(random)?;
            let is_left_out = |hole: &[f64; 4]| {
                (hole[0]..=hole[2]).contains(&place.0) && (hole[1]..=hole[3]).contains(&place.1)
            };
            (!self.holes.iter().any(is_left_out)).then_some((place, heading))
        })
    }

    fn try_draw(&self, random: &mut Stream) -> Option<((f64, f64), Option<f64>)> {
        let in_box = |low: (f64, f64), high: (f64, f64), random: &mut Stream| {
            (
                random.uniform_in(low.0, high.0),
                random.uniform_in(low.1, high.1),
            )
        };
        let place = match &self.shape {
            Shape::Disc { center, radius_m } => {
                let distance = radius_m * random.uniform().sqrt();
                let angle = 2.0 * std::f64::consts::PI * random.uniform();
                (
                    center.0 + distance * math::cos(angle),
                    center.1 + distance * math::sin(angle),
                )
            }
            Shape::Rectangle { low, high } => in_box(*low, *high, random),
            Shape::Polygon(corners) => {
                let (low, high) = bounds(corners);
                let place = in_box(low, high, random);
                return polygon::holds(corners, place).then_some((place, None));
            }
            Shape::Road { places, width_m } => {
                let mut along = random.uniform() * length_m(places);
                let across = random.uniform_in(-0.5, 0.5) * width_m;
                let mut steps = places.windows(2).peekable();
                while let Some(step) = steps.next() {
                    let length = length_m(step);
                    if along > length && steps.peek().is_some() {
                        along -= length;
                        continue;
                    }
                    let (east, north) = (step[1].0 - step[0].0, step[1].1 - step[0].1);
                    let (east, north) = (east / length, north / length);
                    let place = (
                        step[0].0 + along * east - across * north,
                        step[0].1 + along * north + across * east,
                    );
                    return Some((place, Some(math::atan2(north, east))));
                }
                return None;
            }
            Shape::Hexagons { sites, radius_m } => {
                let site = sites.get(random.below(sites.len() as u64) as usize)?;
                let offset = hexagon::draw(*radius_m, random);
                (site.0 + offset.0, site.1 + offset.1)
            }
        };
        Some((place, None))
    }
}

fn length_m(places: &[(f64, f64)]) -> f64 {
    let steps = places.windows(2);
    steps
        .map(|step| math::hypot(step[1].0 - step[0].0, step[1].1 - step[0].1))
        .sum()
}

fn polygon_area_m2(corners: &[(f64, f64)]) -> f64 {
    let twice: f64 = polygon::edges(corners)
        .map(|(a, b)| a.0 * b.1 - b.0 * a.1)
        .sum();
    0.5 * twice.abs()
}

fn bounds(corners: &[(f64, f64)]) -> ((f64, f64), (f64, f64)) {
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let span = |of: fn(&(f64, f64)) -> f64| {
        let values = corners.iter().map(of);
        values.fold(nothing, |(low, high), one| (low.min(one), high.max(one)))
    };
    let (x, y) = (span(|corner| corner.0), span(|corner| corner.1));
    ((x.0, y.0), (x.1, y.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(region: &Region, count: usize) -> Vec<(f64, f64)> {
        let mut random = Stream::new(7, "test.region", 0);
        let mut draw = || region.draw(&mut random).expect("there is room").0;
        (0..count).map(|_| draw()).collect()
    }

    /// Checks a sample against a distribution with the Kolmogorov-Smirnov test. The largest
    /// difference must be below 1.95 / √n, the 0.1 % point of Kolmogorov's distribution.
    fn follows(mut values: Vec<f64>, law: impl Fn(f64) -> f64) {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        for (rank, &value) in values.iter().enumerate() {
            let share = law(value);
            let (below, above) = (rank as f64 / n, (rank + 1) as f64 / n);
            let off = (share - below).abs().max((share - above).abs());
            assert!(off < 1.95 / n.sqrt(), "{off} at {value}");
        }
    }

    /// The share of positions up to distance r from the centre of a disc is r²/R². The direction is
    /// uniform.
    #[test]
    fn places_in_a_disc_have_the_law_of_distance_and_angle() {
        let places = draws(&Region::disc((100.0, -50.0), 40.0), 4000);
        let offsets: Vec<_> = places.iter().map(|(x, y)| (x - 100.0, y + 50.0)).collect();
        let distance = |offset: &(f64, f64)| math::hypot(offset.0, offset.1);
        follows(offsets.iter().map(distance).collect(), |r| r * r / 1600.0);
        let angle = |offset: &(f64, f64)| math::atan2(offset.1, offset.0).to_degrees();
        follows(offsets.iter().map(angle).collect(), |deg| {
            (deg + 180.0) / 360.0
        });
    }

    /// Within the inscribed circle of a hexagon with circumradius R, the share of positions up to
    /// distance r is πr² over the area, 3√3/2 R².
    #[test]
    fn places_in_hexagons_have_the_law_of_distance() {
        let sites = hexagon::sites(1, 300.0);
        let places = draws(&Region::hexagons(sites.clone(), 300.0), 6000);
        let nearest = |place: &(f64, f64)| {
            let distances = sites
                .iter()
                .map(|site| math::hypot(place.0 - site.0, place.1 - site.1));
            distances.fold(f64::INFINITY, f64::min)
        };
        let area = 1.5 * 3_f64.sqrt() * 300.0 * 300.0 / 3.0;
        let inside: Vec<f64> = places.iter().map(nearest).collect();
        let near = inside.iter().filter(|&&r| r <= 150.0).count() as f64 / 6000.0;
        let expected = std::f64::consts::PI * 150.0 * 150.0 / area;
        // The tolerance is five standard deviations of the share.
        let spread = (expected * (1.0 - expected) / 6000.0).sqrt();
        assert!(
            (near - expected).abs() < 5.0 * spread,
            "{near}, not {expected}"
        );
        let within: Vec<f64> = inside.into_iter().filter(|&r| r <= 150.0).collect();
        follows(within, |r| r * r / 22_500.0);
        // No site has more than its share of one seventh of the positions.
        for site in &sites {
            let own = places
                .iter()
                .filter(|p| math::hypot(p.0 - site.0, p.1 - site.1) <= 150.0);
            let share = own.count() as f64 / 6000.0;
            assert!((share - expected / 7.0).abs() < 5.0 * (expected / 42_000.0).sqrt());
        }
    }

    #[test]
    fn a_polygon_holds_what_is_inside() {
        let corner = vec![
            (0.0, 0.0),
            (4.0, 0.0),
            (4.0, 1.0),
            (1.0, 1.0),
            (1.0, 4.0),
            (0.0, 4.0),
        ];
        let region = Region::polygon(corner);
        assert_eq!(region.area_m2(), 7.0);
        for (x, y) in draws(&region, 1000) {
            assert!(x <= 1.0 || y <= 1.0);
        }
    }

    #[test]
    fn a_road_is_followed_and_holes_are_left_out() {
        let road = Region::road(vec![(0.0, 0.0), (30.0, 0.0), (30.0, 10.0)], 2.0);
        assert_eq!(road.area_m2(), 80.0);
        let mut random = Stream::new(3, "test.region", 1);
        let (mut first, mut second) = (0, 0);
        for _ in 0..4000 {
            let ((x, y), heading) = road.draw(&mut random).expect("there is room");
            if heading == Some(0.0) {
                assert!((0.0..=30.0).contains(&x) && y.abs() <= 1.0);
                first += 1;
            } else {
                assert!((0.0..=10.0).contains(&y) && (x - 30.0).abs() <= 1.0);
                second += 1;
            }
        }
        assert!((f64::from(first) / f64::from(second) - 3.0).abs() < 0.5);
        let around =
            Region::rectangle((0.0, 0.0), (10.0, 10.0)).without(vec![[2.0, 2.0, 8.0, 8.0]]);
        assert_eq!(around.area_m2(), 64.0);
        for (x, y) in draws(&around, 500) {
            assert!(!(2.0..=8.0).contains(&x) || !(2.0..=8.0).contains(&y));
        }
    }
}
