//! Road-side units.

use super::region::Region;
use super::registry::{Case, Layout, Plan, Site, stream_of};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, integer, number};

fadeout_core::parameters! {
    /// Road-side units along a straight road, which leads east through the deployment's centre.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Roadside {
        /// Distance between neighbouring road-side units along the road.
        spacing: f64 = number((5.0, 10_000.0, "m"), "100"),
        /// Length of the road. The road-side units are evenly spaced around its middle.
        length: f64 = number((5.0, 100_000.0, "m"), "1000"),
        /// Distance of the road-side units from the middle of the road, to the north. Negative
        /// values place them to the south.
        offset: f64 = number((-1000.0, 1000.0, "m"), "16"),
        /// True if every other road-side unit stands on the opposite side of the road.
        alternating: bool = flag("false"),
    }
}

impl Registered for Roadside {
    const ENTRY: Entry = Entry::new(
        "roadside",
        "roads",
        "Road-side units at equal distances along a straight road from west to east.",
        "TR 37.885 annex A",
    )
    .with_aliases(&["rsu"])
    .with_parameters(Roadside::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Roadside::read(settings)
    }
}

impl Layout for Roadside {
    fn plan(&self, _: u64, _: &str) -> Plan {
        let count = (self.length / self.spacing).floor().clamp(1.0, 2000.0) as u32;
        let site = |number: u32| {
            let along = (f64::from(number) + 0.5 - 0.5 * f64::from(count)) * self.spacing;
            let is_opposite = self.alternating && number % 2 == 1;
            let side = if is_opposite { -1.0 } else { 1.0 };
            unit((along, side * self.offset), Case::from_row("roadside"))
        };
        let (half, half_width) = (0.5 * self.length, self.offset.abs().max(1.0));
        Plan {
            sites: (0..count).map(site).collect(),
            region: Region::rectangle((-half, -half_width), (half, half_width)),
            lattice: None,
            cell_radius_m: self.spacing,
            buildings: Vec::new(),
            building_height_m: 0.0,
        }
    }
}

fn unit(place: (f64, f64), case: Case) -> Site {
    Site {
        place,
        sectors: vec![None],
        case,
        prefix: "",
    }
}

fadeout_core::parameters! {
    /// A square with streets, road-side units and obstacles.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Quarter {
        /// Length of each side of the square.
        side: f64 = number((10.0, 10_000.0, "m"), "100"),
        /// Number of road-side units. One stands in the middle of the square, the others evenly on
        /// a circle around it.
        units: u32 = integer((1, 100, ""), "5"),
        /// Radius of the circle of road-side units.
        radius: f64 = number((1.0, 10_000.0, "m"), "50"),
        /// Number of obstacles. Their places are drawn uniformly without overlap.
        obstacles: u32 = integer((0, 1000, ""), "10"),
        /// Smallest side of an obstacle. Each side is drawn uniformly from this value to
        /// `max-size`.
        min_size: f64 = number((0.1, 1000.0, "m"), "10"),
        /// Largest side of an obstacle. Each side is drawn uniformly from `min-size` to this value.
        max_size: f64 = number((0.1, 1000.0, "m"), "20"),
        /// Height of the obstacles.
        roof: f64 = number((0.1, 500.0, "m"), "15"),
        /// Distance between two streets, along both axes. The first streets meet in the
        /// south-western corner. A value above `side` means no streets.
        pitch: f64 = number((1.0, 100_000.0, "m"), "25"),
        /// Width of a street. Obstacles never stand on a street.
        street: f64 = number((0.0, 100.0, "m"), "4"),
    }
}

impl Registered for Quarter {
    const ENTRY: Entry = Entry::new(
        "obstacle-square",
        "roads",
        "A square area with road-side units and streets. Obstacles stand off the streets and do \
         not overlap.",
        "W. Na, D. S. Lakew, J. Lee, S. Cho, Congestion Control vs. Link Failure, section IV",
    )
    .with_parameters(Quarter::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Quarter::read(settings)
    }
}

impl Layout for Quarter {
    fn plan(&self, seed: u64, name: &str) -> Plan {
        let half = 0.5 * self.side;
        let around = f64::from(self.units.max(2) - 1);
        let place = |number: u32| match number {
            0 => (0.0, 0.0),
            number => {
                let turns = (f64::from(number) - 0.5) / around;
                let angle = 2.0 * std::f64::consts::PI * turns;
                let (sin, cos) = (
                    fadeout_core::math::sin(angle),
                    fadeout_core::math::cos(angle),
                );
                (self.radius * cos, self.radius * sin)
            }
        };
        let case = Case::from_row("obstacle-square");
        let sites = (0..self.units).map(|number| unit(place(number), case));
        let sites: Vec<Site> = sites.collect();
        let mut random = Stream::new(seed, "deployment.obstacles", stream_of(name));
        let mut buildings: Vec<[f64; 4]> = Vec::new();
        // There are fewer obstacles if not all of them fit into the square.
        let mut tries = 2000 * u64::from(self.obstacles);
        while buildings.len() < self.obstacles as usize && tries > 0 {
            tries -= 1;
            let drawn = self.draw(half, &mut random);
            let is_free = drawn.is_some_and(|one| {
                let is_at_unit = sites.iter().any(|site| within(&one, site.place, 1.0));
                !is_at_unit && !buildings.iter().any(|other| overlap(&one, other))
            });
            buildings.extend(drawn.filter(|_| is_free));
        }
        Plan {
            sites,
            region: Region::rectangle((-half, -half), (half, half)).without(buildings.clone()),
            lattice: None,
            cell_radius_m: self.side,
            buildings,
            building_height_m: self.roof,
        }
    }
}

impl Quarter {
    /// Returns an obstacle at a random position. `None` if it would stand on a street.
    fn draw(&self, half: f64, random: &mut Stream) -> Option<[f64; 4]> {
        let (low, high) = (self.min_size.min(self.max_size), self.max_size);
        let mut side = |from: f64, to: f64| random.uniform_in(from, to);
        let (wide, deep) = (side(low, high), side(low, high));
        let (x, y) = (side(-half, half - wide), side(-half, half - deep));
        let is_inside = wide <= 2.0 * half && deep <= 2.0 * half;
        let is_off = |from: f64, to: f64| {
            // The obstacle is off the streets if the first street that ends after `from` begins
            // after `to`.
            let (from, to) = (from + half, to + half);
            let number = ((from - 0.5 * self.street) / self.pitch).floor() + 1.0;
            number * self.pitch - 0.5 * self.street >= to || self.pitch > self.side
        };
        (is_inside && is_off(x, x + wide) && is_off(y, y + deep)).then_some([
            x,
            y,
            x + wide,
            y + deep,
        ])
    }
}

fn overlap(one: &[f64; 4], other: &[f64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// True if a position is in a rectangle, or closer to it than `margin`.
fn within(one: &[f64; 4], (x, y): (f64, f64), margin: f64) -> bool {
    one[0] - margin < x && x < one[2] + margin && one[1] - margin < y && y < one[3] + margin
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_testkit::Cases;

    #[test]
    fn units_stand_evenly_along_the_road() {
        let plan = Roadside {
            spacing: 100.0,
            length: 450.0,
            offset: 14.0,
            alternating: true,
        }
        .plan(1, "road");
        let places: Vec<(f64, f64)> = plan.sites.iter().map(|site| site.place).collect();
        assert_eq!(
            places,
            [(-150.0, 14.0), (-50.0, -14.0), (50.0, 14.0), (150.0, -14.0)]
        );
    }

    #[test]
    fn obstacles_overlap_neither_each_other_nor_streets_nor_units() {
        Cases::new(50).run(|seed| {
            let square = Quarter {
                side: 100.0,
                units: 5,
                radius: 50.0,
                obstacles: 9,
                min_size: 10.0,
                max_size: 20.0,
                roof: 15.0,
                pitch: 25.0,
                street: 4.0,
            };
            let plan = square.plan(seed, "square");
            assert!(plan.buildings.len() > 4, "{}", plan.buildings.len());
            for (number, one) in plan.buildings.iter().enumerate() {
                let (wide, deep) = (one[2] - one[0], one[3] - one[1]);
                assert!((10.0..=20.0).contains(&wide) && (10.0..=20.0).contains(&deep));
                assert!(one.iter().all(|side| side.abs() <= 50.0));
                assert!(
                    !plan.buildings[number + 1..]
                        .iter()
                        .any(|other| overlap(one, other))
                );
                assert!(!plan.sites.iter().any(|site| within(one, site.place, 0.5)));
                for street in 0..=4 {
                    let middle = 25.0 * f64::from(street) - 50.0;
                    let band = |low: f64, high: f64| {
                        low < middle + 2.0 - 1e-9 && middle - 2.0 + 1e-9 < high
                    };
                    assert!(!band(one[0], one[2]) && !band(one[1], one[3]), "{one:?}");
                }
            }
            assert_eq!(plan, square.plan(seed, "square"));
        });
    }
}
