//! Groups of vehicles.

use super::BuildError;
use super::overlap::overlap;
use fadeout_core::random::Stream;
use fadeout_core::{Meters, Point, Span};
use fadeout_mobility::import::TracedVehicle;
use fadeout_mobility::traffic::{
    Body, Driving, Fleet, Mix, Motorway, Population, StreetMap, Streets, TrafficConfig,
};
use fadeout_mobility::{Obstacle, Places, Rectangle, import};
use fadeout_scenario::{File, MovementFormat, Road, Scenario, Ue, VehicleGroup, VehicleType};

/// Adds the vehicles, and the buildings along their streets, to the surroundings.
pub(super) fn add(scenario: &Scenario, places: &mut Places) -> Result<(), BuildError> {
    for (number, group) in (0..).zip(&scenario.vehicles) {
        let random = Stream::new(scenario.seed, "vehicles", number);
        let fleet =
            fleet(group, scenario.duration, random).map_err(|reason| BuildError::Vehicles {
                group: group.name.clone(),
                reason,
            })?;
        places.add(fleet);
        if let Road::Streets {
            roof: Some(roof), ..
        } = group.road
            && let Some(streets) = streets(&group.road)
        {
            for (low, high) in streets.blocks() {
                places.build(Obstacle::building(Rectangle { low, high }, roof.0));
            }
        }
    }
    Ok(())
}

/// Returns the vehicle group whose streets have a building block around a position. The second
/// value is the height of the block's roof in metres. `None` if the position is outside all blocks
/// or above their roofs.
pub(super) fn block_around(scenario: &Scenario, at: Point) -> Option<(&str, f64)> {
    scenario.vehicles.iter().find_map(|group| {
        let Road::Streets {
            roof: Some(roof), ..
        } = group.road
        else {
            return None;
        };
        let is_around = |&((west, south), (east, north)): &((f64, f64), (f64, f64))| {
            west < at.x && at.x < east && south < at.y && at.y < north
        };
        let blocks = streets(&group.road)?.blocks();
        let is_inside = at.z < roof.0 && blocks.iter().any(is_around);
        is_inside.then_some((group.name.as_str(), roof.0))
    })
}

/// Puts a UE on the vehicle that it rides in.
pub(super) fn ride(
    scenario: &Scenario,
    ue: &Ue,
    (group, number): (usize, usize),
    places: &mut Places,
) -> Result<(), BuildError> {
    let count = places.fleets()[group].len();
    if number >= count {
        return Err(BuildError::Ue {
            ue: ue.name.clone(),
            reason: format!(
                "it rides on vehicle {number} of \"{}\", which has {count}; expected fewer UEs, or \
                 more vehicles",
                scenario.vehicles[group].name
            ),
        });
    }
    places.ride(ue.node, group, number);
    Ok(())
}

fn fleet(group: &VehicleGroup, duration: Span, random: Stream) -> Result<Fleet, String> {
    let bodies: Vec<Body> = group.types.iter().map(body).collect();
    let road = match &group.road {
        Road::Trace { .. } => return traced(group, &bodies, duration),
        Road::Motorway {
            length,
            start,
            heading,
            lanes,
            opposite,
            lane_width,
            median,
        } => Motorway {
            start: (start.0.0, start.1.0),
            heading: heading.to_radians(),
            length: length.0,
            lanes: lanes.clone(),
            opposite: opposite.clone(),
            lane_width: lane_width.0,
            median: median.0,
        }
        .road(),
        Road::Streets { .. } => streets(&group.road).expect("these are streets").road(),
        Road::Map {
            streets,
            lane_width,
            turn_speed,
            light_cycle,
            ..
        } => {
            let text = text_of(streets)?;
            let read = import::streets(text).map_err(|error| format!("{}: {error}", streets.path));
            let (streets, lights) = read?;
            StreetMap {
                streets,
                lights,
                lane_width: lane_width.0,
                turn_speed: *turn_speed,
                cycle: light_cycle.as_secs_f64(),
            }
            .road()
        }
    };
    let number = group.number.map(|number| number as usize);
    let config = TrafficConfig {
        road: road.map_err(|error| error.to_string())?,
        population: number.map_or(Population::Gaps(group.gaps), Population::Number),
        mix: Mix::new(bodies).map_err(|error| error.to_string())?,
        driving: driving(group),
        warm_up: group.warm_up,
        step: group.step,
    };
    Fleet::driven(config, random).map_err(|error| error.to_string())
}

/// Returns the vehicles of a trace from the start of the run on.
fn traced(group: &VehicleGroup, bodies: &[Body], duration: Span) -> Result<Fleet, String> {
    let Road::Trace {
        file,
        format,
        start,
    } = &group.road
    else {
        unreachable!("the caller has a trace");
    };
    let read = match format {
        MovementFormat::SumoCsv => import::sumo_csv_vehicles(text_of(file)?),
        _ => import::sumo_vehicles(text_of(file)?),
    };
    let read = read.map_err(|error| format!("{}: {error}", file.path))?;
    let spans = read.values().map(TracedVehicle::span);
    let whole = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    if let Some(whole) = whole {
        overlap(whole, (*start, duration))
            .map_err(|reason| format!("{}: the traffic {reason}", file.path))?;
    }
    let seen = read.into_values();
    let seen = seen.filter_map(|vehicle| vehicle.starting_at(*start));
    let typed = seen.map(|vehicle| {
        let body = bodies[type_of(group, vehicle.kind.as_deref())];
        (vehicle, body)
    });
    Fleet::traced(typed.collect()).map_err(|error| error.to_string())
}

/// Returns the index of the vehicle type for a kind of vehicle in a trace file. Kinds that the
/// group does not list get the first type.
fn type_of(group: &VehicleGroup, kind: Option<&str>) -> usize {
    let types = &mut group.types.iter();
    let known = types.position(|one| one.name.as_deref() == kind);
    known.filter(|_| kind.is_some()).unwrap_or(0)
}

fn text_of(file: &File) -> Result<&str, String> {
    let text = std::str::from_utf8(&file.bytes);
    text.map_err(|_| format!("{}: the file is not text", file.path))
}

/// Returns the driver model of a group.
pub(super) fn driving(group: &VehicleGroup) -> Driving {
    Driving {
        model: group.following,
        headway: group.headway.as_secs_f64(),
        min_gap: group.min_gap.0,
        dawdling: group.dawdling,
        speed_deviation: group.speed_deviation,
    }
}

fn streets(road: &Road) -> Option<Streets> {
    let Road::Streets {
        pitch,
        corner,
        blocks,
        lanes_each_way,
        lane_width,
        sidewalk,
        speed,
        turn_speed,
        turn_probability,
        light_cycle,
        ..
    } = road
    else {
        return None;
    };
    let metres = |pair: &(Meters, Meters)| (pair.0.0, pair.1.0);
    Some(Streets {
        corner: metres(corner),
        blocks: *blocks,
        pitch: metres(pitch),
        lanes: *lanes_each_way,
        lane_width: lane_width.0,
        sidewalk: sidewalk.0,
        speed: *speed,
        turn_speed: *turn_speed,
        turn_probability: *turn_probability,
        cycle: light_cycle.as_secs_f64(),
    })
}

fn body(described: &VehicleType) -> Body {
    Body {
        length: described.length.0,
        width: described.width.0,
        height: described.height.0,
        antenna_height: described.antenna_height.unwrap_or(described.height).0,
        antenna_ahead: described.antenna_ahead.0,
        share: described.share,
        platoon: described.platoon,
        acceleration: described.acceleration,
        deceleration: described.deceleration,
    }
}
