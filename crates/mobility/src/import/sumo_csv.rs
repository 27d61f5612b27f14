//! Reader of SUMO's floating car data in a CSV table.

use super::sumo::{Entity, MAX_DEGREES, Passages, Sample, tracks_of, vehicles_of};
use super::{MAX_METRES, MAX_SECONDS, TraceError, TracedVehicle, Tracks, number};
use fadeout_core::Point;
use std::collections::BTreeMap;

/// Reads a table of floating car data that SUMO wrote with `--fcd-output` to a `.csv` file. Returns
/// the tracks of vehicles and persons by their id, as [`sumo_fcd`](super::sumo_fcd) does. Rows of
/// several vehicles may be in any order.
///
/// A row describes a person if it has a `person_id`, or if its `vehicle_lane` is empty and its
/// `vehicle_edge` is not. SUMO writes the latter from version 1.24 on.
///
/// # Errors
/// Returns [`TraceError`] if a column, a position, an id or a time is missing, or if the times of a
/// vehicle decrease. The error names the line. Positions in degrees, and two positions of a vehicle
/// at one time, are errors, too.
pub fn sumo_csv(text: &str) -> Result<Tracks, TraceError> {
    Ok(tracks_of(parse(text)?))
}

/// Reads the vehicles of a CSV table of floating car data, as
/// [`sumo_vehicles`](super::sumo_vehicles) does.
///
/// # Errors
/// Returns an error in the same cases as [`sumo_csv`].
pub fn sumo_csv_vehicles(text: &str) -> Result<BTreeMap<String, TracedVehicle>, TraceError> {
    Ok(vehicles_of(parse(text)?))
}

/// Positions of the columns in a row.
struct Columns {
    separator: char,
    time: usize,
    vehicle: Who,
    person: Option<Who>,
}

/// Positions of the columns for vehicles or for persons.
struct Who {
    id: usize,
    x: usize,
    y: usize,
    z: Option<usize>,
    angle: Option<usize>,
    kind: Option<usize>,
    speed: Option<usize>,
    /// Columns of the lane and the edge. `None` if the table does not have both.
    lane_and_edge: Option<[usize; 2]>,
}

impl Columns {
    /// Finds the columns in the header. SUMO may prefix a column's name with the object, as in
    /// `vehicle_x`.
    fn new(header: &str) -> Result<Columns, TraceError> {
        let separator = [';', ',', '\t']
            .into_iter()
            .find(|&one| header.contains(one));
        let separator = separator.unwrap_or(';');
        let names: Vec<&str> = header.split(separator).map(str::trim).collect();
        let find = |name: String| names.iter().position(|known| *known == name);
        let missing = |name: &str| {
            let message = format!(
                "a table without a column `{name}`; expected the header of SUMO's floating car data, such as \
                 `timestep_time;vehicle_id;vehicle_x;vehicle_y`"
            );
            TraceError::new(1, message)
        };
        let who = |prefix: &str| {
            let column = |name: &str| find(format!("{prefix}{name}"));
            Ok::<_, TraceError>(Who {
                id: column("id").ok_or_else(|| missing(&format!("{prefix}id")))?,
                x: column("x").ok_or_else(|| missing(&format!("{prefix}x")))?,
                y: column("y").ok_or_else(|| missing(&format!("{prefix}y")))?,
                z: column("z"),
                angle: column("angle"),
                kind: column("type"),
                speed: column("speed"),
                lane_and_edge: column("lane").zip(column("edge")).map(<[usize; 2]>::from),
            })
        };
        let time = find("timestep_time".to_owned()).or_else(|| find("time".to_owned()));
        let is_plain = find("id".to_owned()).is_some();
        Ok(Columns {
            separator,
            time: time.ok_or_else(|| missing("timestep_time"))?,
            vehicle: who(if is_plain { "" } else { "vehicle_" })?,
            person: who("person_").ok(),
        })
    }
}

fn parse(text: &str) -> Result<Passages, TraceError> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line));
    let Some((_, header)) = lines.next() else {
        return Err(TraceError::new(1, "an empty table"));
    };
    let columns = Columns::new(header.trim_start_matches('\u{feff}'))?;
    let mut passages = Passages::default();
    let mut fields: Vec<&str> = Vec::new();
    for (line, row) in lines {
        if row.trim().is_empty() {
            continue;
        }
        fields.clear();
        fields.extend(row.split(columns.separator).map(str::trim));
        let at = number(field(&fields, columns.time), "a time", MAX_SECONDS, line)?;
        if at < 0.0 {
            return Err(TraceError::new(line, "a time before zero"));
        }
        let persons = columns.person.as_ref();
        for (who, is_person) in [(Some(&columns.vehicle), false), (persons, true)] {
            let Some(who) = who.filter(|who| !field(&fields, who.id).is_empty()) else {
                continue;
            };
            let kind = who.kind.map(|column| field(&fields, column));
            let walks = who.lane_and_edge.is_some_and(|[lane, edge]| {
                field(&fields, lane).is_empty() && !field(&fields, edge).is_empty()
            });
            let entity = Entity {
                id: field(&fields, who.id).to_owned(),
                kind: kind.filter(|kind| !kind.is_empty()).map(str::to_owned),
                is_person: is_person || walks,
            };
            passages.add(entity, sample(&fields, who, at, line)?, line)?;
        }
    }
    passages.refuse_degrees()
}

/// Returns the text of a column in a row. Empty if the row is too short.
fn field<'a>(fields: &[&'a str], column: usize) -> &'a str {
    fields.get(column).copied().unwrap_or("")
}

fn sample(fields: &[&str], who: &Who, at: f64, line: usize) -> Result<Sample, TraceError> {
    let required = |column| number(field(fields, column), "a coordinate", MAX_METRES, line);
    let optional = |column: Option<usize>, what, most| {
        let text = column.map_or("", |column| field(fields, column));
        match text.is_empty() {
            true => Ok(None),
            false => number(text, what, most, line).map(Some),
        }
    };
    let z = optional(who.z, "a coordinate", MAX_METRES)?;
    Ok(Sample {
        at,
        place: Point::new(required(who.x)?, required(who.y)?, z.unwrap_or(0.0)),
        speed: optional(who.speed, "a speed", MAX_METRES)?,
        angle: optional(who.angle, "an angle", MAX_DEGREES)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::sumo_vehicles;
    use fadeout_core::{Span, Time};
    use proptest::prelude::*;

    const TABLE: &str = "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed;vehicle_pos;vehicle_lane;vehicle_edge;vehicle_slope\n\
        0.00;a;1.00;2.00;90.00;truck;10.00;5.10;e_0;e;0.00\n\
        1.00;a;11.00;2.00;90.00;truck;10.00;15.10;e_0;e;0.00\n\
        1.00;b;0.00;0.00;0.00;;0.00;5.10;e_0;e;0.00\n";

    #[test]
    fn a_table_says_the_same_as_the_document() {
        let document = "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" x=\"1\" y=\"2\" angle=\"90\" type=\"truck\" speed=\"10\"/></timestep>\
            <timestep time=\"1\"><vehicle id=\"a\" x=\"11\" y=\"2\" angle=\"90\" type=\"truck\" speed=\"10\"/>\
            <vehicle id=\"b\" x=\"0\" y=\"0\" angle=\"0\" speed=\"0\"/></timestep></fcd-export>";
        let table = sumo_csv_vehicles(TABLE).expect("a good table");
        assert_eq!(table, sumo_vehicles(document).expect("a good file"));
        let plain = TABLE.replace("vehicle_", "").replace("timestep_", "");
        assert_eq!(table, sumo_csv_vehicles(&plain).expect("a good table"));
        let mut tracks = sumo_csv(TABLE).expect("a good table");
        let truck = tracks.get_mut("a").expect("the truck");
        assert_eq!(
            truck
                .kinematics_at(Time::ZERO + Span::from_millis(500))
                .position
                .x,
            6.0
        );
    }

    #[test]
    fn rows_without_a_lane_are_persons_and_rows_may_be_grouped_by_vehicle() {
        let header = "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_lane;vehicle_edge\n";
        let table = format!("{header}0;car;0;0;e_0;\n1;car;9;0;e_0;\n0;ped;5;5;;w\n1;ped;5;6;;w\n");
        let vehicles = sumo_csv_vehicles(&table).expect("a good table");
        assert_eq!(vehicles.keys().collect::<Vec<_>>(), ["car"]);
        let tracks = sumo_csv(&table).expect("a good table");
        assert_eq!(tracks.keys().collect::<Vec<_>>(), ["car", "ped"]);
    }

    #[test]
    fn a_wrong_table_names_the_line() {
        let header = "timestep_time;vehicle_id;vehicle_x;vehicle_y\n";
        for (text, expected) in [
            (String::new(), "line 1: an empty table"),
            (
                "time;x;y\n".to_owned(),
                "line 1: a table without a column `vehicle_id`",
            ),
            (format!("{header}0;a;1\n"), "line 2: `` as a coordinate"),
            (
                format!("{header}1;a;1;1\n0;a;1;1\n"),
                "line 3: vehicle `a` at 0 s, after its position at 1 s",
            ),
            (
                format!("{header}1;a;1;1\n1;a;2;1\n"),
                "line 3: vehicle `a` is at two positions at 1 s",
            ),
            (format!("{header}-1;a;1;1\n"), "line 2: a time before zero"),
            (format!("{header}x;a;1;1\n"), "line 2: `x` as a time"),
        ] {
            let error = sumo_csv(&text).expect_err(&text).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_text_makes_the_reader_panic(
            text in "(time;id;x;y\n)?(timestep_time|vehicle_|person_|[;,0-9.e]|\\PC|\n){0,60}",
        ) {
            let _ = sumo_csv(&text);
            let _ = sumo_csv_vehicles(&text);
        }
    }
}
