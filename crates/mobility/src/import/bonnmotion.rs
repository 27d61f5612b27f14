//! Movement files of BonnMotion.

use super::{MAX_METRES, MAX_SECONDS, TraceError, Tracks, number, tracks};
use crate::Leg;
use fadeout_core::{Point, Span, Time};
use std::collections::BTreeMap;

/// Reads an unpacked `.movements` file of BonnMotion. Each line describes a node. Nodes are
/// numbered from 0. A line has a time and a place for each waypoint. Nodes move straight from one
/// waypoint to the next. They rest if two waypoints have the same place, and stay at the last
/// waypoint.
///
/// All lines consist of triples `t x y`, or all of quadruples `t x y z`. They are quadruples if a
/// line cannot consist of triples. Then the number of its values is not a multiple of three, or
/// triples would have decreasing times. The header is ignored, because old files have `dim=3` and
/// triples.
///
/// # Errors
/// Returns [`TraceError`] if a word is not a number, if times decrease, or if the lines have
/// neither triples nor quadruples. The error names the line.
pub fn bonnmotion(text: &str) -> Result<Tracks, TraceError> {
    let mut rows = Vec::new();
    for (line, row) in text.lines().enumerate() {
        let mut numbers = Vec::new();
        for word in row.split_whitespace() {
            numbers.push(number(word, "a time or a place", MAX_METRES, line + 1)?);
        }
        if !numbers.is_empty() {
            rows.push((line + 1, numbers));
        }
    }
    let size = size_of_groups(&rows)?;
    let mut legs = BTreeMap::new();
    for (node, (_, numbers)) in rows.iter().enumerate() {
        let waypoints: Vec<(Time, Point)> = numbers
            .chunks_exact(size)
            .map(|one| {
                let z = one.get(3).copied().unwrap_or(0.0);
                let at = Time::ZERO + Span::from_secs_f64(one[0]);
                (at, Point::new(one[1], one[2], z))
            })
            .collect();
        let mut own = Vec::with_capacity(waypoints.len());
        for pair in waypoints.windows(2) {
            let ((from, start), (until, end)) = (pair[0], pair[1]);
            let lasts = until.since(from).as_secs_f64();
            if lasts > 0.0 {
                own.push(Leg {
                    until,
                    velocity: (end - start) * (1.0 / lasts),
                    ..Leg::rest(from, start)
                });
            }
        }
        if let Some(&(at, place)) = waypoints.last() {
            own.push(Leg::rest(at, place));
        }
        legs.insert(node.to_string(), own);
    }
    Ok(tracks(legs))
}

/// Returns the size of the groups of numbers that fits all lines, 3 or 4.
fn size_of_groups(rows: &[(usize, Vec<f64>)]) -> Result<usize, TraceError> {
    if rows.is_empty() {
        return Err(TraceError::new(1, "no node; expected a line for each"));
    }
    let misfit = |size| rows.iter().find(|(_, numbers)| !consists_of(numbers, size));
    let (Some((no_triples, _)), Some((no_quadruples, _))) = (misfit(3), misfit(4)) else {
        return Ok(if misfit(3).is_none() { 3 } else { 4 });
    };
    let neither =
        |(_, numbers): &&(usize, Vec<f64>)| !consists_of(numbers, 3) && !consists_of(numbers, 4);
    if let Some((line, numbers)) = rows.iter().find(neither) {
        let message = format!(
            "{} numbers; expected triples `t x y` or quadruples `t x y z` with times that do not go back",
            numbers.len()
        );
        return Err(TraceError::new(*line, message));
    }
    let message = format!(
        "quadruples `t x y z`, but line {no_quadruples} has triples `t x y`; expected the same in all lines"
    );
    Err(TraceError::new(*no_triples, message))
}

/// True if the numbers are groups of `size`, each of which begins with a time, and times never
/// decrease.
fn consists_of(numbers: &[f64], size: usize) -> bool {
    let times = || numbers.iter().step_by(size);
    numbers.len().is_multiple_of(size)
        && times()
            .zip(times().skip(1))
            .all(|(one, other)| one <= other)
        && times().all(|time| (0.0..=MAX_SECONDS).contains(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time_at_secs(secs: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(secs)
    }

    #[test]
    fn nodes_go_from_waypoint_to_waypoint_and_rest_where_one_stands_twice() {
        let text = "0.0 0 0 10.0 100 0 15.0 100 0 25.0 100 50\n\n0.0 5 5\n";
        let mut tracks = bonnmotion(text).expect("a good file");
        assert_eq!(tracks.keys().collect::<Vec<_>>(), ["0", "1"]);
        let node = tracks.get_mut("0").expect("the first node");
        assert_eq!(
            node.kinematics_at(time_at_secs(5.0)).position,
            Point::new(50.0, 0.0, 0.0)
        );
        assert_eq!(
            node.kinematics_at(time_at_secs(12.0)).velocity.length(),
            0.0
        );
        assert_eq!(
            node.kinematics_at(time_at_secs(20.0)).position,
            Point::new(100.0, 25.0, 0.0)
        );
        assert_eq!(
            node.kinematics_at(time_at_secs(99.0)).position,
            Point::new(100.0, 50.0, 0.0)
        );
        let other = tracks.get_mut("1").expect("the other");
        assert_eq!(
            other.kinematics_at(time_at_secs(99.0)).position,
            Point::new(5.0, 5.0, 0.0)
        );
    }

    #[test]
    fn quadruples_have_heights() {
        let text = "0 0 0 2 10 10 0 4";
        let mut tracks = bonnmotion(text).expect("a good file");
        let node = tracks.get_mut("0").expect("a node");
        assert_eq!(
            node.kinematics_at(time_at_secs(5.0)).position,
            Point::new(5.0, 0.0, 3.0)
        );
    }

    /// The twelve numbers of the second line could also be four triples.
    #[test]
    fn all_lines_have_the_same_number_of_coordinates() {
        let text = "0 0 0 2 10 10 0 4\n0 1 1 2 3 4 4 5 6 7 8 9";
        let mut tracks = bonnmotion(text).expect("a good file");
        let node = tracks.get_mut("1").expect("a node");
        let at_end = node.kinematics_at(time_at_secs(99.0)).position;
        assert_eq!(at_end, Point::new(7.0, 8.0, 9.0));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("", "line 1: no node"),
            ("0 1 1\n0 1", "line 2: 2 numbers"),
            ("0 1 x", "line 1: `x`"),
            ("5 1 1 4 1 1", "line 1: 6 numbers"),
            (
                "0 1 1 1\n0 1 1 1 1 1",
                "line 1: quadruples `t x y z`, but line 2 has triples",
            ),
        ] {
            let error = bonnmotion(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_text_makes_the_reader_panic(text in "([0-9.e-]| |\n|\\PC){0,80}") {
            let _ = bonnmotion(&text);
        }
    }
}
