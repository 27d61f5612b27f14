//! UEs that are dropped at random positions in an area.

use super::*;
use crate::deployment::{Region, stream_of};
use crate::keys::MAX_UES;
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::registry::{self, Parameters};
use fadeout_core::{Lattice, Point};

/// Height of a floor in metres.
///
/// Standard: TR 36.873 Table 6-1.
const FLOOR_M: f64 = 3.0;

/// Cells and buildings near the positions of dropped UEs.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// Names of all cells, with their nodes.
    pub(super) bases: &'a [(String, NodeId)],
    pub(super) cells: Vec<&'a Cell>,
    pub(super) buildings: Vec<&'a Building>,
}

/// Rule for the positions and movements of the UEs of one table in the scenario.
#[derive(Debug)]
pub(super) struct Dropping {
    area: Area,
    min_distance_m: f64,
    indoor: Option<Indoor>,
    speed: Option<f64>,
    /// Random streams of this table, so that other tables do not change its UEs. Each quantity is
    /// drawn from a stream of its own, so that quantities do not change each other.
    places: Stream,
    floors: Stream,
    headings: Stream,
}

#[derive(Debug)]
enum Area {
    Region(Region),
    /// The area of a cell, given by its index.
    Cell {
        cell: usize,
        disc: Region,
    },
}

#[derive(Debug)]
struct Indoor {
    share: f64,
    floors: (u64, u64),
    penetration: Penetration,
    high_loss_share: f64,
}

/// UE at a drawn position.
#[derive(Debug)]
pub(super) struct Dropped {
    pub(super) place: (f64, f64),
    /// Height above the height of an outdoor UE, metres.
    pub(super) up_m: f64,
    /// Penetration loss of the walls around the UE. `None` outdoors.
    pub(super) penetration: Option<Penetration>,
    /// Movement of the UE. `None` if the table gives no speed.
    pub(super) movement: Option<Movement>,
}

impl Builder<'_, '_> {
    /// Returns the number of UEs, if the table gives one, and the rule for their positions. `None`
    /// after a mistake.
    pub(super) fn dropping(
        &mut self,
        name: &str,
        fields: &Fields,
        around: &Surroundings<'_>,
    ) -> Option<(Option<u64>, Option<Dropping>)> {
        let count = fields.integer("count");
        let Some(drop) = fields.fields("drop") else {
            for key in ["density", "indoor", "speed"] {
                if fields.item(key).is_some() {
                    let message = format!("`{key}` of UEs without a `drop`");
                    self.mistake(fields.place_of(key), message, "a `drop`");
                    return None;
                }
            }
            return Some((count, None));
        };
        for (key, other) in [("spread", "drop"), ("trace", "drop")] {
            if fields.item(key).is_some() {
                let message = format!("both `{key}` and `{other}`");
                self.mistake(fields.place_of(key), message, "one of the two keys");
                return None;
            }
        }
        if count.is_some() && fields.item("density").is_some() {
            let message = "both `count` and `density`";
            self.mistake(fields.place_of("density"), message, "one of the two keys");
            return None;
        }
        let mut reading = Reading {
            builder: self,
            drop,
            around,
        };
        let (area, nearest_m) = reading.area()?;
        let given_m = match drop.variant {
            "building" => None,
            _ => drop.meters("min-distance").map(|distance| distance.0),
        };
        let count = match fields.item("density").map(|item| &item.content) {
            Some(Content::Number(density)) => Some(reading.counted(fields, *density, &area)?),
            _ => count,
        };
        let indoor = reading.indoor(fields)?;
        let entity = stream_of(name);
        let stream = |domain| Stream::new(self.seed, domain, entity);
        let dropping = Dropping {
            area,
            min_distance_m: given_m.unwrap_or(nearest_m),
            indoor,
            speed: fields.quantity("speed"),
            places: stream("ue.drop.place"),
            floors: stream("ue.drop.floor"),
            headings: stream("ue.drop.way"),
        };
        Some((count, Some(dropping)))
    }
}

/// Reader of the table that describes an area.
struct Reading<'a, 'b, 'r, 'c> {
    builder: &'b mut Builder<'r, 'c>,
    drop: &'a Fields,
    around: &'a Surroundings<'a>,
}

impl<'a> Reading<'a, '_, '_, '_> {
    /// Returns the number of UEs that a density gives in an area. `None` after a mistake.
    fn counted(&mut self, fields: &Fields, density: f64, area: &Area) -> Option<u64> {
        let place = fields.place_of("density");
        let Area::Region(region) = area else {
            let message = "the density of a cell whose area is not known";
            self.builder.mistake(place, message, "a `count`");
            return None;
        };
        let number = (density * region.area_m2() / 1e6).round();
        if number > MAX_UES as f64 {
            let message = format!("this density means {number:.3e} UEs");
            let expected = format!("at most {MAX_UES} UEs in {:.4} km²", region.area_m2() / 1e6);
            self.builder.mistake(place, message, &expected);
            return None;
        }
        if number < 1.0 {
            let message = format!(
                "this density means no UE in {:.3e} km²",
                region.area_m2() / 1e6
            );
            self.builder.mistake(place, message, "at least one UE");
            return None;
        }
        Some(number as u64)
    }

    /// Returns the area, and the smallest distance of its UEs from cells. `None` after a mistake.
    fn area(&mut self) -> Option<(Area, f64)> {
        let places = |key: &str| {
            let places = self.drop.list(key).iter().map(point);
            places.collect::<Option<Vec<_>>>()
        };
        let region = match self.drop.variant {
            "radius" => Region::disc(
                point(self.drop.item("center")?)?,
                self.drop.meters("radius")?.0,
            ),
            "corner" => {
                let (a, b) = (
                    point(self.drop.item("corner")?)?,
                    point(self.drop.item("opposite")?)?,
                );
                let low = (a.0.min(b.0), a.1.min(b.1));
                let high = (a.0.max(b.0), a.1.max(b.1));
                Region::rectangle(low, high)
            }
            "polygon" => Region::polygon(places("polygon")?),
            "road" => {
                let width_m = self.drop.meters("width")?.0;
                let road = places("road")?;
                if road.windows(2).all(|step| step[0] == step[1]) {
                    let message = "a road without length";
                    self.builder.mistake(
                        self.drop.place_of("road"),
                        message,
                        "at least two different places",
                    );
                    return None;
                }
                return Some((Area::Region(Region::road(road, width_m)), 0.0));
            }
            "building" => {
                let item = self.drop.item("building")?;
                let found = self.named_building(item)?;
                Region::rectangle(found.low, found.high)
            }
            "deployment" => {
                let item = self.drop.item("deployment")?;
                let found = self
                    .builder
                    .deployed
                    .iter()
                    .position(|one| is_named(item, &one.name));
                let Some(found) = found else {
                    let names = self.builder.deployed.iter().map(|one| one.name.as_str());
                    refer_to_nothing(&mut self.builder.reader.mistakes, item, "deployment", names);
                    return None;
                };
                let found = &self.builder.deployed[found];
                return Some((Area::Region(found.region.clone()), found.min_distance_m));
            }
            _ => return self.cell_area(),
        };
        if region.area_m2() <= 0.0 {
            self.builder.mistake(
                self.drop.place,
                "an area without extent",
                "places that span an area",
            );
            return None;
        }
        Some((Area::Region(region), 0.0))
    }

    fn cell_area(&mut self) -> Option<(Area, f64)> {
        let item = self.drop.item("cell")?;
        let cell = self.builder.cell_index(item, self.around.bases)?;
        let name = &self.around.bases[cell].0;
        let of = self
            .builder
            .deployed
            .iter()
            .find(|one| one.cells.contains(name));
        let (radius_m, min_distance_m) = match (self.drop.meters("within"), of) {
            (Some(within), of) => (within.0, of.map_or(0.0, |of| of.min_distance_m)),
            (None, Some(of)) => (of.cell_radius_m, of.min_distance_m),
            (None, None) => {
                let message = "the cell has no known area";
                self.builder
                    .mistake(self.drop.place_of("cell"), message, "`within`, a distance");
                return None;
            }
        };
        let site = self.around.cells.get(cell)?.position;
        let disc = Region::disc((site.x, site.y), radius_m);
        Some((Area::Cell { cell, disc }, min_distance_m))
    }

    fn named_building(&mut self, item: &Item) -> Option<&'a Building> {
        let found = self
            .around
            .buildings
            .iter()
            .find(|one| is_named(item, &one.name));
        if found.is_none() {
            let names = self.around.buildings.iter().map(|one| one.name.as_str());
            refer_to_nothing(&mut self.builder.reader.mistakes, item, "building", names);
        }
        found.copied()
    }

    fn indoor(&mut self, fields: &Fields) -> Option<Option<Indoor>> {
        let Some(indoor) = fields.fields("indoor") else {
            if self.drop.variant != "building" {
                return Some(None);
            }
            let building = self.named_building(self.drop.item("building")?)?;
            let floors = (building.height.0 / FLOOR_M).floor().max(1.0) as u64;
            return Some(Some(Indoor {
                share: 1.0,
                floors: (floors, floors),
                penetration: Penetration::LowLoss,
                high_loss_share: 0.0,
            }));
        };
        let share = |key: &str| match indoor.item(key)?.content {
            Content::Number(share) => Some(share),
            _ => None,
        };
        let (fewest, most) = indoor.item("floors")?.pair()?;
        let (Content::Integer(fewest), Content::Integer(most)) = (&fewest.content, &most.content)
        else {
            return None;
        };
        if fewest > most {
            let message = format!("from {fewest} to {most} floors");
            self.builder.mistake(
                indoor.place_of("floors"),
                message,
                "the smaller number first",
            );
            return None;
        }
        use crate::table::KeyValue;
        Some(Some(Indoor {
            share: share("share")?,
            floors: (*fewest, *most),
            penetration: Penetration::from_item(indoor.item("penetration")?, self.builder)?,
            high_loss_share: share("high-loss-share")?,
        }))
    }
}

impl Dropping {
    /// Returns the next dropped UE. `None` if no valid position was found.
    pub(super) fn next(&mut self, around: &Surroundings<'_>) -> Option<Dropped> {
        const TRIES: u32 = 10_000;
        let (place, road) = (0..TRIES).find_map(|_| {
            let region = match &self.area {
                Area::Region(region) => region,
                Area::Cell { disc, .. } => disc,
            };
            let (place, road) = region.draw(&mut self.places)?;
            let is_far = around.is_far(place, self.min_distance_m);
            let is_its = match self.area {
                Area::Cell { cell, .. } => around.is_of(place, cell),
                Area::Region(_) => true,
            };
            (is_far && is_its).then_some((place, road))
        })?;
        let (up_m, penetration) = self.indoors();
        let movement = self.speed.map(|speed| {
            let turns = self.headings.uniform();
            let angle = match road {
                None => 2.0 * std::f64::consts::PI * turns,
                Some(along) if turns < 0.5 => along,
                Some(along) => along + std::f64::consts::PI,
            };
            let speeds = [
                ("x-speed", speed * math::cos(angle)),
                ("y-speed", speed * math::sin(angle)),
            ];
            let speeds = speeds.into_iter().filter(|(_, speed)| *speed != 0.0);
            Movement::Model(Named {
                name: "line".to_owned(),
                parameters: Parameters(
                    speeds
                        .map(|(key, speed)| (key.to_owned(), registry::Value::Number(speed)))
                        .collect(),
                ),
            })
        });
        Some(Dropped {
            place,
            up_m,
            penetration,
            movement,
        })
    }

    fn indoors(&mut self) -> (f64, Option<Penetration>) {
        let Some(indoor) = &self.indoor else {
            return (0.0, None);
        };
        let mut draw = || self.floors.uniform();
        let (is_indoors, floors, floor, walls) = (draw(), draw(), draw(), draw());
        if is_indoors >= indoor.share {
            return (0.0, None);
        }
        let (fewest, most) = indoor.floors;
        let floors = fewest as f64 + (floors * (most - fewest + 1) as f64).floor();
        let floor = (floor * floors).floor();
        let penetration = if walls < indoor.high_loss_share {
            Penetration::HighLoss
        } else {
            indoor.penetration
        };
        (FLOOR_M * floor, Some(penetration))
    }
}

impl Surroundings<'_> {
    /// Returns the vector from a cell to a position on the ground, metres. With wrap-around the
    /// vector starts at the nearest image of the cell.
    fn vector_from(&self, cell: &Cell, (x, y): (f64, f64)) -> (f64, f64) {
        let at = Point::new(x, y, 0.0);
        let shift = |lattice: Lattice| lattice.shift(cell.position, at);
        let shift = cell.repeats.map_or_else(Default::default, shift);
        let site = cell.position + shift;
        (x - site.x, y - site.y)
    }

    /// True if a position has at least the distance `distance_m` from all cells.
    fn is_far(&self, place: (f64, f64), distance_m: f64) -> bool {
        distance_m <= 0.0
            || self.cells.iter().all(|cell| {
                let (x, y) = self.vector_from(cell, place);
                math::hypot(x, y) >= distance_m
            })
    }

    /// True if a position belongs to a cell. The cell's site must be the nearest one, and its
    /// sector the one with the nearest direction. Cells on other carriers are ignored.
    fn is_of(&self, place: (f64, f64), own: usize) -> bool {
        let Some(own_cell) = self.cells.get(own) else {
            return false;
        };
        let (x, y) = self.vector_from(own_cell, place);
        let own_distance = math::hypot(x, y);
        let off = |cell: &Cell| {
            let azimuth_deg = math::atan2(y, x).to_degrees();
            let turns = (azimuth_deg - azimuth_deg_of(cell)) / 360.0;
            (turns - turns.round()).abs()
        };
        let own_off = off(own_cell);
        let others = self.cells.iter().enumerate();
        let mut others =
            others.filter(|(index, cell)| *index != own && cell.carrier == own_cell.carrier);
        others.all(|(index, cell)| {
            if cell.position.x == own_cell.position.x && cell.position.y == own_cell.position.y {
                let other = off(cell);
                return own_off < other || own_off == other && own < index;
            }
            let (x, y) = self.vector_from(cell, place);
            own_distance <= math::hypot(x, y)
        })
    }
}

/// Returns the direction of a cell's antenna, degrees.
fn azimuth_deg_of(cell: &Cell) -> f64 {
    cell.antenna.parameters.number("azimuth", 0.0)
}

fn point(item: &Item) -> Option<(f64, f64)> {
    let (x, y) = item.pair()?;
    Some((x.meters()?.0, y.meters()?.0))
}

fn is_named(item: &Item, name: &str) -> bool {
    matches!(&item.content, Content::Text(text) if text == name)
}
