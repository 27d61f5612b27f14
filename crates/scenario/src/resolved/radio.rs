//! Output of cells, UEs and buildings of a resolved scenario.

use super::*;
use crate::table::KeyValue as _;
use fadeout_core::Point;

pub(super) fn cell<'a>(cell: &Cell, cells: &[Cell], name: impl Fn(NodeId) -> &'a str) -> Value {
    let mut table = Value::Object(cell.written());
    table["node"] = json!(name(cell.node));
    table["position"] = place(cell.position);
    table["height"] = length(Meters(cell.position.z));
    if !cell.secondary_cells.is_empty() {
        let names = cell.secondary_cells.iter().map(|&other| &cells[other].name);
        table["secondary-cells"] = names.map(|name| json!(name)).collect();
    }
    if let Some(lattice) = cell.repeats {
        let shifts = lattice.shifts().map(|(x, y)| place(Point::new(x, y, 0.0)));
        table["repeats"] = json!(shifts);
    }
    table
}

pub(super) fn ue<'a>(
    ue: &Ue,
    (cells, groups): (&[Cell], &[VehicleGroup]),
    name: impl Fn(NodeId) -> &'a str,
) -> Value {
    let mut table = Value::Object(ue.written());
    table["node"] = json!(name(ue.node));
    table["position"] = place(ue.position);
    table["height"] = length(Meters(ue.position.z));
    if !ue.drbs.is_empty() {
        let drbs = ue.drbs.iter();
        let drbs = drbs.map(|drb| (drb.name.clone(), Value::Object(drb.written())));
        table["drb"] = Value::Object(drbs.collect());
    }
    if let Some((downlink, uplink)) = ue.sinr {
        table["downlink-sinr"] = ratio(downlink);
        table["uplink-sinr"] = ratio(uplink);
    }
    if let Some(cell) = ue.cell {
        table["cell"] = json!(cells[cell].name);
    }
    if !ue.secondary_cells.is_empty() {
        let names = ue.secondary_cells.iter().map(|&cell| &cells[cell].name);
        table["secondary-cells"] = names.map(|name| json!(name)).collect();
    }
    if let Some(cell) = ue.pscell {
        table["pscell"] = json!(cells[cell].name);
    }
    match &ue.movement {
        Movement::Model(model) => table["mobility"] = named(model, "model"),
        Movement::Waypoints(waypoints) => {
            let places = waypoints.iter().map(|waypoint| {
                let (Meters(x), Meters(y)) = waypoint.place;
                let mut table = Value::Object(waypoint.written());
                table["position"] = place(Point::new(x, y, 0.0));
                table
            });
            table["waypoints"] = places.collect();
        }
        Movement::Trace(trace) => {
            table["trace"] = trace.written(&MovementTrace::SHAPE).unwrap_or_default();
        }
        Movement::Vehicle { group, number } => {
            table["vehicles"] = json!(groups[*group].name);
            table["vehicle"] = json!(number);
        }
    }
    table
}

pub(super) fn building(building: &Building) -> Value {
    let corner = |(x, y): (f64, f64)| place(Point::new(x, y, 0.0));
    let mut table = Value::Object(building.written());
    table["corner"] = corner(building.low);
    table["opposite"] = corner(building.high);
    if !building.outline.is_empty() {
        let ring = |ring: &Vec<(f64, f64)>| ring.iter().copied().map(corner).collect::<Value>();
        table["outline"] = building.outline.iter().map(ring).collect();
    }
    table
}

fn place(place: Point) -> Value {
    json!([length(Meters(place.x)), length(Meters(place.y))])
}
