//! Groups of vehicles.

use super::trace::START;
use super::{File, MovementFormat};
use crate::build::Builder;
use crate::keys::{COORDINATES, LENGTH, LENGTH_OR_ZERO, POSITIVE_TIME, PROBABILITY, TIME};
use crate::quantity::Dimension;
use crate::read::{Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, key_table, list, nested, variants};
use fadeout_core::agreed::{CarFollowing, GapRule};
use fadeout_core::{Meters, Span};
use serde_json::Value;

/// Presence of keys whose default value is that of the model of drivers.
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
const PULL: Shape = Shape::Number(Range::closed(0.1, 20.0));

key_table! {
    /// A group of vehicles that drive on a road, or follow a trace. The vehicles obstruct radio
    /// paths, and UEs may ride on them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct VehicleGroup {
        own {
            /// Name of the group in the file.
            name: String,
        }
        check = VehicleGroup::with_speed;
        /// Road of the vehicles, or their trace.
        road: Road = Shape::Variants(Road::VARIANTS), Required;
        /// Number of vehicles on the road. Their positions are drawn uniformly without overlap.
        /// Default: the number that follows from `gaps`.
        number: Option<u32> = Shape::Integer { min: 1, max: 100_000 }, Optional;
        /// Distribution of the distances between vehicles on a lane at the start. It has no effect
        /// with a `number`.
        gaps: GapRule = Shape::Choice(GapRule::WORDS), Default("\"tr-37.885\"");
        /// Types of the vehicles. On a road the type of each vehicle is drawn by `share`. In a
        /// trace a vehicle has the type with its name. If there is no such type, it has the first
        /// one.
        types: Vec<VehicleType> =
            Shape::List(&Shape::Table(VehicleType::KEYS)), Default("[{ length = \"5 m\" }]");
        /// Car-following model: the reaction of drivers to the vehicle ahead.
        following: CarFollowing = Shape::Choice(CarFollowing::WORDS), DRIVING;
        /// Time headway that drivers keep, or their reaction time in Krauss's model.
        headway: Span = POSITIVE_TIME, DRIVING;
        /// Distance between two vehicles that are standing.
        min_gap: Meters = LENGTH_OR_ZERO, DRIVING;
        /// Imperfection of drivers in Krauss's model, from 0 to 1 (`sigma` in SUMO).
        dawdling: f64 = PROBABILITY, DRIVING;
        /// Standard deviation of the speeds that drivers want, as a share of the lane's speed
        /// limit. Needs a car-following model.
        speed_deviation: f64 = PROBABILITY, DRIVING;
        /// Time for which the vehicles have driven before the run starts. Needs a car-following
        /// model.
        warm_up: Span = WARM_UP, Default("\"60 s\"");
        /// Time between two decisions of a driver. Vehicles move in straight lines between
        /// decisions.
        step: Span = Shape::Quantity(Dimension::Time, Range::closed(1e7, 1e9)), Default("\"100 ms\"");
    }
}

impl VehicleGroup {
    fn with_speed(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let total: f64 = self.types.iter().map(|one| one.share).sum();
        if total <= 0.0 {
            let message = "vehicle types whose shares are all zero";
            builder.mistake(
                fields.place_of("types"),
                message,
                "at least one share above zero",
            );
            return None;
        }
        let (is_trace, is_grid) = match self.road {
            Road::Trace { .. } => (true, false),
            Road::Streets { .. } | Road::Map { .. } => (false, true),
            Road::Motorway { .. } => (false, false),
        };
        if is_grid && self.following == CarFollowing::None {
            let message = "vehicles on streets with crossings, but no car-following model";
            let expected = "`following = \"idm\"` or `\"krauss\"`";
            builder.mistake(fields.place_of("road"), message, expected);
            return None;
        }
        if self.gaps == GapRule::Tr36885 && self.following != CarFollowing::None {
            let message = "a car-following model, but at the start vehicles may overlap";
            let expected = "`gaps = \"tr-37.885\"` or a `number`";
            builder.mistake(fields.place_of("gaps"), message, expected);
            return None;
        }
        if is_trace && self.number.is_some() {
            let message = "a `number` beside a trace";
            builder.mistake(
                fields.place_of("number"),
                message,
                "no `number`: all vehicles of a \
                trace take part",
            );
            return None;
        }
        Some(self)
    }
}

variants! {
    /// The road or the trace of a group of vehicles.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Road {
        alone {}
        check = Road::with_room;
        /// A straight motorway. A vehicle that leaves the motorway at its end enters again at its
        /// start.
        Motorway as "length" {
            /// Length of the motorway.
            length: Meters = LONG, Required;
            /// Position of the middle of the motorway's start: east and north.
            start: (Meters, Meters) = POSITION, Default("[\"0 m\", \"0 m\"]");
            /// Heading of the motorway, counter-clockwise from east.
            heading: f64 =
                Shape::Quantity(Dimension::Angle, Range::closed(-360.0, 360.0)), Default("\"0 deg\"");
            /// Speeds of the lanes in the direction of the `heading`, starting with the outermost
            /// lane.
            lanes: Vec<f64> = Shape::List(&SPEED), Required;
            /// Speeds of the lanes in the opposite direction, starting with the outermost lane.
            /// Default: no lanes in that direction.
            opposite: Vec<f64> = Shape::List(&SPEED), Optional;
            /// Width of a lane (TR 37.885 annex A).
            lane_width: Meters = LANE_WIDTH, Default("\"4 m\"");
            /// Distance between the innermost lanes of the two directions of the motorway.
            median: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        }
        /// A grid of streets with crossings. Vehicles drive on the right.
        Streets as "pitch" {
            /// Distances between the middles of neighbouring streets, along x and along y. TR
            /// 36.885 Table A.1.2-1 has 433 m and 250 m.
            pitch: (Meters, Meters) = Shape::Pair(&LONG, &LONG), Required;
            /// Position of the south-western crossing: east and north.
            corner: (Meters, Meters) = POSITION, Default("[\"0 m\", \"0 m\"]");
            /// Number of blocks along x and number of blocks along y.
            blocks: (u32, u32) = Shape::Pair(&BLOCKS, &BLOCKS), Default("[3, 3]");
            /// Number of lanes of a street in each direction.
            lanes_each_way: u32 = Shape::Integer { min: 1, max: 10 }, Default("2");
            /// Width of a lane.
            lane_width: Meters = LANE_WIDTH, Default("\"3.5 m\"");
            /// Width of a sidewalk.
            sidewalk: Meters = LENGTH_OR_ZERO, Default("\"3 m\"");
            /// Speed limit of the streets.
            speed: f64 = MOVING, Default("\"60 km/h\"");
            /// Speed of vehicles that turn at a crossing.
            turn_speed: f64 = MOVING, Default("\"25 km/h\"");
            /// Probability that a vehicle turns at a crossing of four streets. Left and right turns
            /// are equally likely.
            turn_probability: f64 = PROBABILITY, Default("0.5");
            /// Cycle of the traffic lights. Each street has green light for about half of the
            /// cycle. Zero disables the lights.
            light_cycle: Span = TIME, Default("\"90 s\"");
            /// Height of the buildings that fill the blocks. Default: no buildings.
            roof: Option<Meters> = LENGTH, Optional;
        }
        /// Streets of a map. Vehicles drive on the right and never leave the streets. Only streets
        /// that can be reached from each other are used.
        Map as "streets" {
            /// Path of a table of streets, or of an OpenStreetMap extract (.osm or .osm.pbf),
            /// relative to the scenario file. The command `fadeout` and the Python package convert
            /// an extract.
            streets: File = Shape::File("a table of streets or an OpenStreetMap extract, relative to the scenario file"), Required;
            /// Latitude and longitude of the point with the position 0 m, 0 m in an extract.
            /// Default: the middle of the extract's buildings, or of its streets if it has no
            /// buildings.
            origin: Option<(f64, f64)> = COORDINATES, Optional;
            /// Path of a SUMO network (.net.xml), relative to the scenario file. Streets of an
            /// extract then have the network's coordinates. Excludes `origin`.
            net: Option<String> = Shape::Text, Optional;
            /// Width of a lane.
            lane_width: Meters = LANE_WIDTH, Default("\"3.5 m\"");
            /// Speed of vehicles that turn at a crossing.
            turn_speed: f64 = MOVING, Default("\"25 km/h\"");
            /// Cycle of the traffic lights. Each street has green light for about half of the
            /// cycle. Zero disables the lights.
            light_cycle: Span = TIME, Default("\"90 s\"");
        }
        /// A movement trace. The group contains all vehicles of the trace, which appear and
        /// disappear as in the trace.
        Trace as "file" {
            /// Path of the trace file, relative to the scenario file.
            file: File = Shape::File("a movement trace, relative to the scenario file"), Required;
            /// Format of the trace file, which must be a format of SUMO. With `sumo` the file is a
            /// SUMO configuration (.sumocfg).
            format: MovementFormat = MovementFormat::SHAPE, Required;
            /// Time in the trace at which the run starts.
            start: Span = START, Default("\"0 s\"");
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
                    let message = format!("streets of {width} m, but a pitch of {pitch} m");
                    let expected = "a pitch larger than the width of a street";
                    builder.mistake(fields.place_of("pitch"), message, expected);
                    return None;
                }
            }
            Road::Trace { format, .. } => {
                if matches!(format, MovementFormat::Sumo | MovementFormat::SumoParquet) {
                    let message = format!(
                        "a trace in the format `{}`, which the Rust library cannot read",
                        format.word()
                    );
                    let expected = "a run by `fadeout` or its Python package, which convert the \
                        trace";
                    builder.mistake(fields.place_of("format"), message, expected);
                    return None;
                }
                if !matches!(format, MovementFormat::SumoFcd | MovementFormat::SumoCsv) {
                    let message = format!(
                        "a trace in the format `{}`, which has no vehicles",
                        format.word()
                    );
                    let expected = "\"sumo\", \"sumo-fcd\", \"sumo-csv\" or \"sumo-parquet\"";
                    builder.mistake(fields.place_of("format"), message, expected);
                    return None;
                }
            }
            Road::Map { streets, .. } if is_extract(&streets.path) => {
                let message = "an OpenStreetMap extract, which the Rust library cannot read";
                let expected = "a run by `fadeout` or its Python package, which convert the \
                    extract";
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

key_table! {
    /// A type of vehicle. The defaults are those of a car of type 2 in TR 37.885 clause 6.1.2.
    #[derive(Debug, Clone, PartialEq)]
    pub struct VehicleType {
        own {}
        /// Name of the type in a trace.
        name: Option<String> = Shape::Text, Optional;
        /// Length of the vehicle, from bumper to bumper.
        length: Meters = LENGTH, Default("\"5 m\"");
        /// Width of the vehicle.
        width: Meters = LENGTH, Default("\"2 m\"");
        /// Height of the vehicle's roof.
        height: Meters = LENGTH, Default("\"1.6 m\"");
        /// Height of the vehicle's antenna. An antenna below the roof is obstructed by the vehicle
        /// itself. Default: the height of the roof.
        antenna_height: Option<Meters> = LENGTH, Optional;
        /// Distance of the antenna ahead of the vehicle's middle. Negative behind the middle.
        antenna_ahead: Meters =
            Shape::Quantity(Dimension::Length, Range::closed(-100.0, 100.0)), Default("\"0 m\"");
        /// Share of this type among the vehicles, relative to the shares of all types.
        share: f64 = SHARE, Default("1");
        /// Number of vehicles of this type in a platoon, 2 m apart. Needs distances that are drawn
        /// by `gaps`.
        platoon: u32 = Shape::Integer { min: 1, max: 100 }, Default("1");
        /// Largest acceleration of the vehicle in m/s².
        acceleration: f64 = PULL, Default("2.6");
        /// Comfortable deceleration of the vehicle in m/s².
        deceleration: f64 = PULL, Default("4.5");
    }
}

nested!(VehicleType);

impl KeyValue for Vec<VehicleType> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.iter()
            .map(|one| KeyValue::written(one, shape))
            .collect()
    }
}
