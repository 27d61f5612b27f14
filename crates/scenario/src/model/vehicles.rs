//! Groups of vehicles.

use super::{File, MovementFormat};
use crate::build::Builder;
use crate::keys::{LENGTH, LENGTH_OR_ZERO, POSITIVE_TIME, PROBABILITY, TIME};
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, nested, table, variants};
use fadeout_core::agreed::{CarFollowing, GapRule};
use fadeout_core::{Meters, Span};
use serde_json::Value;

/// The defaults of drivers.
const DRIVING: Presence = Presence::OfPart("driving");
const PLACE: Shape = Shape::Quantity(Dimension::Length, Range::closed(-1e6, 1e6));
const POSITION: Shape = Shape::Pair(&PLACE, &PLACE);
const SPEED: Shape = Shape::Quantity(Dimension::Speed, Range::closed(0.0, 200.0));
const MOVING: Shape = Shape::Quantity(Dimension::Speed, Range::positive(200.0));
const BLOCKS: Shape = Shape::Integer { min: 1, max: 100 };
const SHARE: Shape = Shape::Number(Range::closed(0.0, 1e6));
const WARM_UP: Shape = Shape::Quantity(Dimension::Time, Range::closed(0.0, 3.6e12));
const LANE_WIDTH: Shape = Shape::Quantity(Dimension::Length, Range::closed(1.0, 50.0));
const LONG: Shape = Shape::Quantity(Dimension::Length, Range::closed(10.0, 1e6));
const DEGREES: Shape = Shape::Number(Range::closed(-180.0, 180.0));
const PULL: Shape = Shape::Number(Range::closed(0.1, 20.0));

table! {
    /// Vehicles that drive on a road, or as a trace says. They stand in the way of radio waves, and UEs
    /// may be on them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct VehicleGroup {
        own {
            /// Its name in the file.
            name: String,
        }
        check = VehicleGroup::with_speed;
        /// Where they drive.
        road: Road = Shape::Variants(Road::VARIANTS), Required;
        /// How many there are on a road, at places as likely as any without overlap; without it as many
        /// as the gaps make.
        number: Option<u32> = Shape::Integer { min: 1, max: 100_000 }, Optional;
        /// Distances of vehicles on a lane at the start, where no `number` is given.
        gaps: GapRule = Shape::Choice(GapRule::WORDS), Default("\"tr-37.885\"");
        /// Their types, of which each draws its own by `share`. In a trace they are the types of the
        /// file, by name; a type that is not here is as the first.
        types: Vec<VehicleType> =
            Shape::List(&Shape::Table(VehicleType::KEYS)), Default("[{ length = \"5 m\" }]");
        /// How they heed the vehicle ahead.
        following: CarFollowing = Shape::Choice(CarFollowing::WORDS), DRIVING;
        /// Headway that drivers want, or their reaction time in Krauss's model.
        headway: Span = POSITIVE_TIME, DRIVING;
        /// Gap at which they stand.
        min_gap: Meters = LENGTH_OR_ZERO, DRIVING;
        /// How imperfect drivers are in Krauss's model.
        dawdling: f64 = PROBABILITY, DRIVING;
        /// Relative standard deviation of the speeds that drivers want, where they heed each other.
        speed_deviation: f64 = PROBABILITY, DRIVING;
        /// How long they have driven before the run, where they heed each other.
        warm_up: Span = WARM_UP, Default("\"60 s\"");
        /// From one decision of a driver to the next; they move straight in between.
        step: Span = Shape::Quantity(Dimension::Time, Range::closed(1e7, 1e9)), Default("\"100 ms\"");
    }
}

impl VehicleGroup {
    fn with_speed(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let total: f64 = self.types.iter().map(|one| one.share).sum();
        if total <= 0.0 {
            let message = "vehicle types whose shares are all zero";
            builder.mistake(fields.place_of("types"), message, "one above zero");
            return None;
        }
        let (is_trace, is_grid) = match self.road {
            Road::Trace { .. } => (true, false),
            Road::Streets { .. } | Road::Map { .. } => (false, true),
            Road::Motorway { .. } => (false, false),
        };
        if is_grid && self.following == CarFollowing::None {
            let message = "vehicles on streets with crossings that do not heed each other";
            let expected = "`following = \"idm\"` or `\"krauss\"`";
            builder.mistake(fields.place_of("road"), message, expected);
            return None;
        }
        if self.gaps == GapRule::Tr36885 && self.following != CarFollowing::None {
            let message = "drivers who heed each other, at distances at which vehicles may overlap";
            let expected = "`gaps = \"tr-37.885\"` or a `number`";
            builder.mistake(fields.place_of("gaps"), message, expected);
            return None;
        }
        if is_trace && self.number.is_some() {
            let message = "a `number` of vehicles of a trace";
            builder.mistake(fields.place_of("number"), message, "all of the trace");
            return None;
        }
        Some(self)
    }
}

variants! {
    /// Where a group of vehicles drives.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Road {
        alone {}
        check = Road::with_room;
        /// A straight motorway. Who leaves it at its end enters it at its beginning.
        Motorway as "length" {
            /// Its length.
            length: Meters = LONG, Required;
            /// Where the middle of it begins: east and north.
            start: (Meters, Meters) = POSITION, Default("[\"0 m\", \"0 m\"]");
            /// Where it leads, counter-clockwise from east.
            heading: f64 =
                Shape::Quantity(Dimension::Angle, Range::closed(-360.0, 360.0)), Default("\"0 deg\"");
            /// Speeds of the lanes that lead there, from the outermost on.
            lanes: Vec<f64> = Shape::List(&SPEED), Required;
            /// Speeds of the lanes that lead back; without it there are none.
            opposite: Vec<f64> = Shape::List(&SPEED), Optional;
            /// Width of a lane (TR 37.885 annex A).
            lane_width: Meters = LANE_WIDTH, Default("\"4 m\"");
            /// From the innermost lanes of one direction to those of the other.
            median: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        }
        /// A grid of streets with crossings, on the right-hand side.
        Streets as "pitch" {
            /// From the middle of a street to that of the next: along x and along y (433 m and 250 m
            /// in TR 36.885 Table A.1.2-1).
            pitch: (Meters, Meters) = Shape::Pair(&LONG, &LONG), Required;
            /// The south-western crossing: east and north.
            corner: (Meters, Meters) = POSITION, Default("[\"0 m\", \"0 m\"]");
            /// Blocks along x and along y.
            blocks: (u32, u32) = Shape::Pair(&BLOCKS, &BLOCKS), Default("[3, 3]");
            /// Lanes of each direction.
            lanes_each_way: u32 = Shape::Integer { min: 1, max: 10 }, Default("2");
            /// Width of a lane.
            lane_width: Meters = LANE_WIDTH, Default("\"3.5 m\"");
            /// Width of a sidewalk.
            sidewalk: Meters = LENGTH_OR_ZERO, Default("\"3 m\"");
            /// Speed limit.
            speed: f64 = MOVING, Default("\"60 km/h\"");
            /// Speed of those who turn.
            turn_speed: f64 = MOVING, Default("\"25 km/h\"");
            /// Probability to turn left or right, each as often, where four streets meet.
            turn_probability: f64 = PROBABILITY, Default("0.5");
            /// Length of a cycle of the traffic lights, in which each street has one half; zero without
            /// lights.
            light_cycle: Span = TIME, Default("\"90 s\"");
            /// Height of buildings that fill the blocks; without it there are none.
            roof: Option<Meters> = LENGTH, Optional;
        }
        /// Streets of a map, on the right-hand side. Nobody leaves them: those from which one does not get to all
        /// others and back are left out.
        Map as "streets" {
            /// A table of streets, or an OpenStreetMap extract (.osm, or .osm.pbf) of which `fadeout` and its
            /// Python package make one; relative to the scenario file.
            streets: File = Shape::File("a table of streets or an OpenStreetMap extract, relative to the scenario file"), Required;
            /// Latitude and longitude that are at 0 m, 0 m of an extract; without it the middle of its
            /// buildings, or of its streets where it has none.
            origin: Option<(f64, f64)> = Shape::Pair(&DEGREES, &DEGREES), Optional;
            /// Width of a lane.
            lane_width: Meters = LANE_WIDTH, Default("\"3.5 m\"");
            /// Speed of those who turn.
            turn_speed: f64 = MOVING, Default("\"25 km/h\"");
            /// Length of a cycle of the traffic lights, in which each street has one half; zero without
            /// lights.
            light_cycle: Span = TIME, Default("\"90 s\"");
        }
        /// A trace, of which all vehicles are there. They come and go as it says.
        Trace as "file" {
            /// The trace file, relative to the scenario file.
            file: File = Shape::File("a movement trace, relative to the scenario file"), Required;
            /// Its format: one of SUMO's. With `sumo` the file is a configuration (.sumocfg).
            format: MovementFormat = MovementFormat::SHAPE, Required;
        }
    }
}

impl Road {
    fn with_room(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match &self {
            Road::Streets {
                pitch,
                lanes_each_way,
                lane_width,
                sidewalk,
                ..
            } => {
                let width = 2.0 * (f64::from(*lanes_each_way) * lane_width.0 + sidewalk.0);
                let pitch = pitch.0.0.min(pitch.1.0);
                if pitch < width + 1.0 {
                    let message = format!("streets {width} m wide every {pitch} m");
                    let expected = "a pitch above the width of a street";
                    builder.mistake(fields.place_of("pitch"), message, expected);
                    return None;
                }
            }
            Road::Trace { format, .. } => {
                if matches!(format, MovementFormat::Sumo | MovementFormat::SumoParquet) {
                    let message = format!(
                        "a trace of vehicles in the format `{}`, as it is",
                        format.word()
                    );
                    let expected = "it to be read through `fadeout` or its Python package, which make a table of it";
                    builder.mistake(fields.place_of("format"), message, expected);
                    return None;
                }
                if !matches!(format, MovementFormat::SumoFcd | MovementFormat::SumoCsv) {
                    let message = format!("vehicles of a trace in the format `{}`", format.word());
                    let expected = "\"sumo\", \"sumo-fcd\", \"sumo-csv\" or \"sumo-parquet\", which have vehicles";
                    builder.mistake(fields.place_of("format"), message, expected);
                    return None;
                }
            }
            Road::Map { streets, .. } if is_extract(&streets.path) => {
                let message = "an OpenStreetMap extract, as it is";
                let expected = "it to be read through `fadeout` or its Python package, which make a table of streets of it";
                builder.mistake(fields.place_of("streets"), message, expected);
                return None;
            }
            Road::Motorway { .. } | Road::Map { .. } => {}
        }
        Some(self)
    }
}

fn is_extract(path: &str) -> bool {
    [".osm", ".pbf"].iter().any(|end| path.ends_with(end))
}

table! {
    /// A type of vehicle; the defaults are those of a car in TR 37.885 clause 6.1.2, type 2.
    #[derive(Debug, Clone, PartialEq)]
    pub struct VehicleType {
        own {}
        /// Its name in a trace.
        name: Option<String> = Shape::Text, Optional;
        /// From bumper to bumper.
        length: Meters = LENGTH, Default("\"5 m\"");
        /// From side to side.
        width: Meters = LENGTH, Default("\"2 m\"");
        /// Height of its roof.
        height: Meters = LENGTH, Default("\"1.6 m\"");
        /// Height of its antenna; on the roof without it. Lower than the roof the vehicle itself stands in
        /// the way.
        antenna_height: Option<Meters> = LENGTH, Optional;
        /// How far the antenna is ahead of the vehicle's middle.
        antenna_ahead: Meters =
            Shape::Quantity(Dimension::Length, Range::closed(-100.0, 100.0)), Default("\"0 m\"");
        /// Share of the vehicles, in any unit.
        share: f64 = SHARE, Default("1");
        /// This many in a row, 2 m apart, where gaps are drawn.
        platoon: u32 = Shape::Integer { min: 1, max: 100 }, Default("1");
        /// Most that it speeds up, in m/s².
        acceleration: f64 = PULL, Default("2.6");
        /// How it slows down when nothing is wrong, in m/s².
        deceleration: f64 = PULL, Default("4.5");
    }
}

nested!(VehicleType);

impl KeyValue for Vec<VehicleType> {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::List(items) = &item.content else {
            return None;
        };
        let types = items.iter().map(|item| VehicleType::of(item, builder));
        // Each mistake is told, not only the first.
        let types: Vec<_> = types.collect();
        types.into_iter().collect()
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.iter()
            .map(|one| KeyValue::written(one, shape))
            .collect()
    }
}
