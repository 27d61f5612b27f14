//! Table of the streets of a map.

use super::{MAX_METRES, TraceError, number};
use crate::traffic::Street;

/// Streets, and positions of crossings with traffic lights.
pub type ImportedStreets = (Vec<Street>, Vec<(f64, f64)>);

/// Names of the columns, in any order.
const COLUMNS: [&str; 7] = [
    "street",
    "x_m",
    "y_m",
    "lanes",
    "lanes_back",
    "speed_kmh",
    "light",
];
/// Largest number of lanes in one direction of a street.
const MAX_LANES: f64 = 20.0;
/// Highest speed limit in kilometres per hour.
const MAX_SPEED: f64 = 720.0;
/// Largest number of points of all streets.
const MAX_POINTS: usize = 200_000;

/// Reads a table of streets with columns separated by semicolons. The table has a row for each
/// point of each street, in order. A row has the number of lanes onward from the point and the
/// number of lanes back. It also has a 1 if the point is a crossing with traffic lights. The lanes
/// and the speed limit of a street are those in its first row.
///
/// # Errors
/// Returns [`TraceError`] if the header lacks a column, or if a number is missing or out of range.
/// The error names the line.
pub fn streets(text: &str) -> Result<ImportedStreets, TraceError> {
    let mut lines = text.lines().enumerate().map(|(line, row)| (line + 1, row));
    let header = lines.next().map_or("", |(_, header)| header);
    let columns = columns_of(header)?;
    let (mut found, mut lights) = (Vec::new(), Vec::new());
    let mut current = "";
    let mut points = 0;
    for (line, row) in lines.filter(|(_, row)| !row.trim().is_empty()) {
        let fields: Vec<&str> = row.split(';').map(str::trim).collect();
        let [name, x, y, lanes, back, speed, light] =
            columns.map(|column| fields.get(column).copied().unwrap_or(""));
        let point = (
            number(x, "a coordinate", MAX_METRES, line)?,
            number(y, "a coordinate", MAX_METRES, line)?,
        );
        if name.is_empty() {
            return Err(TraceError::new(
                line,
                "a point without a street; expected the street's name",
            ));
        }
        points += 1;
        if points > MAX_POINTS {
            let message = format!("more than {MAX_POINTS} points; expected a smaller map");
            return Err(TraceError::new(line, message));
        }
        if found.is_empty() || name != current {
            current = name;
            found.push(street_of(lanes, back, speed, line)?);
        }
        if let Some(street) = found.last_mut() {
            street.points.push(point);
        }
        if light == "1" {
            lights.push(point);
        }
    }
    Ok((found, lights))
}

/// Returns the position of each of [`COLUMNS`] in a header.
fn columns_of(header: &str) -> Result<[usize; COLUMNS.len()], TraceError> {
    let names: Vec<&str> = header
        .trim_start_matches('\u{feff}')
        .split(';')
        .map(str::trim)
        .collect();
    let mut columns = [0; COLUMNS.len()];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        *column = names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| {
                let message = format!(
                    "a table without a column `{name}`; expected the header `{}`",
                    COLUMNS.join(";")
                );
                TraceError::new(1, message)
            })?;
    }
    Ok(columns)
}

/// Returns the street that begins in `line`, without its points. `lanes` and `back` are the fields
/// with its lanes in both directions, and `speed` is the field with its speed limit.
fn street_of(lanes: &str, back: &str, speed: &str, line: usize) -> Result<Street, TraceError> {
    let count = |text, what| {
        let value = number(text, what, MAX_LANES, line)?;
        let is_count = value >= 0.0 && value.fract() == 0.0;
        let message = format!("{value} as {what}; expected a whole number from 0 on");
        is_count
            .then_some(value as u32)
            .ok_or_else(|| TraceError::new(line, message))
    };
    let limit = number(speed, "a speed limit", MAX_SPEED, line)?;
    if limit <= 0.0 {
        let message = format!("{limit} km/h as a speed limit; expected one above zero");
        return Err(TraceError::new(line, message));
    }
    Ok(Street {
        points: Vec::new(),
        lanes: [count(lanes, "lanes")?, count(back, "lanes back")?],
        speed: limit / 3.6,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_street_has_the_points_of_its_rows() {
        let text = "x_m;y_m;street;lanes;lanes_back;speed_kmh;light\n\
                    0;0;1;2;1;36;0\n10;0;1;9;9;9;1\n\n10;0;2;1;0;18;0\n10;-5.5;2;1;0;18;\n";
        let (found, lights) = streets(text).expect("two streets");
        assert_eq!(lights, [(10.0, 0.0)]);
        let street = |points: &[(f64, f64)], lanes, speed| Street {
            points: points.to_vec(),
            lanes,
            speed,
        };
        let one = street(&[(0.0, 0.0), (10.0, 0.0)], [2, 1], 10.0);
        let two = street(&[(10.0, 0.0), (10.0, -5.5)], [1, 0], 5.0);
        assert_eq!(found, [one, two]);
    }

    #[test]
    fn mistakes_name_their_line() {
        let head = "street;x_m;y_m;lanes;lanes_back;speed_kmh;light\n";
        for (rows, line, part) in [
            ("a;0;0;1;1;50;0\na;x;0;1;1;50;0", 3, "`x` as a coordinate"),
            ("a;0;0;1.5;1;50;0", 2, "1.5 as lanes"),
            ("a;0;0;1;-1;50;0", 2, "-1 as lanes back"),
            ("a;0;0;1;1;0;0", 2, "0 km/h as a speed limit"),
            ("a;0;0;1;1;nan;0", 2, "`nan` as a speed limit"),
            (";0;0;1;1;50;0", 2, "a point without a street"),
            ("a;0", 2, "`` as a coordinate"),
        ] {
            let error = streets(&format!("{head}{rows}")).expect_err(rows);
            assert_eq!(error.line, line, "{rows}");
            assert!(error.message.contains(part), "{error}");
        }
        let error = streets("street;x_m").expect_err("no header");
        assert!(error.message.contains("without a column `y_m`"), "{error}");
        assert!(streets("").is_err());
    }
}
