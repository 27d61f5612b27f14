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
/// A line consists of triples `t x y` or of quadruples `t x y z`. It is read as quadruples if the
/// number of its values is not a multiple of three, or if triples would have decreasing times. The
/// header is ignored, because old files have `dim=3` and triples.
///
/// # Errors
/// Returns [`TraceError`] if a word is not a number, if times decrease, or if a row has neither
/// triples nor quadruples. The error names the line.
pub fn bonnmotion(text: &str) -> Result<Tracks, TraceError> {
    let mut legs = BTreeMap::new();
    let rows = text
        .lines()
        .enumerate()
        .filter(|(_, row)| !row.trim().is_empty());
    for (node, (line, row)) in rows.enumerate() {
        let line = line + 1;
        let mut numbers = Vec::new();
        for word in row.split_whitespace() {
            numbers.push(number(word, "a time or a place", MAX_METRES, line)?);
        }
        let is_made_of = |size: usize| {
            let times = || numbers.iter().step_by(size);
            numbers.len().is_multiple_of(size)
                && times()
                    .zip(times().skip(1))
                    .all(|(one, other)| one <= other)
                && times().all(|time| (0.0..=MAX_SECONDS).contains(time))
        };
        let Some(size) = [3, 4].into_iter().find(|&size| is_made_of(size)) else {
            let message = format!(
                "{} numbers; expected triples `t x y` or quadruples `t x y z` with times that do not go back",
                numbers.len()
            );
            return Err(TraceError::new(line, message));
        };
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
    if legs.is_empty() {
        return Err(TraceError::new(1, "no node; expected a line for each"));
    }
    Ok(tracks(legs))
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

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("", "line 1: no node"),
            ("0 1 1\n0 1", "line 2: 2 numbers"),
            ("0 1 x", "line 1: `x`"),
            ("5 1 1 4 1 1", "line 1: 6 numbers"),
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
