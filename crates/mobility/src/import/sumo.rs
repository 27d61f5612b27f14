//! Floating car data of SUMO.

use super::{MAX_METRES, MAX_SECONDS, TraceError, Tracks, number, tracks};
use crate::Leg;
use fadeout_core::{Point, Span, Time};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;

/// A place of a vehicle at a time step.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: f64,
    place: Point,
    speed: Option<f64>,
}

/// Reads an `fcd-export` file of SUMO: vehicles and persons by their id.
///
/// Between two time steps a vehicle moves in a straight line, unless it jumped farther than twice
/// its speed allows: then it rests and jumps (a teleport). A missing speed never jumps. Before its
/// first step a vehicle is where it appears, after its last where it vanished; a step in between
/// without it does not matter. The place is that of the file, for vehicles the middle of the front
/// bumper; without a `z` it is on the ground.
///
/// # Errors
/// [`TraceError`] with the line of what is not well-formed XML or lacks a place, an id or a time,
/// and of time steps that go back.
pub fn sumo_fcd(text: &str) -> Result<Tracks, TraceError> {
    let mut reader = Reader::from_str(text);
    let mut samples: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
    let mut now: Option<f64> = None;
    let mut is_export = false;
    // Lines are counted as far as the reader came.
    let (mut line, mut counted) = (1, 0);
    loop {
        let event = reader.read_event();
        let position = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let event = event.map_err(|error| TraceError::new(line, format!("not XML: {error}")))?;
        match &event {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                b"fcd-export" => is_export = true,
                b"timestep" => now = Some(time_step(tag, now, line)?),
                b"vehicle" | b"person" => {
                    let at = now.ok_or_else(|| {
                        TraceError::new(line, "a vehicle outside of a `timestep`")
                    })?;
                    let (id, sample) = sample(tag, at, line)?;
                    samples.entry(id).or_default().push(sample);
                }
                _ => {}
            },
            _ => {}
        }
        let passed = &text.as_bytes()[counted..position.min(text.len()).max(counted)];
        line += passed.iter().filter(|&&byte| byte == b'\n').count();
        counted += passed.len();
    }
    if !is_export {
        let message = "there is no `fcd-export`; expected a file that SUMO wrote with --fcd-output";
        return Err(TraceError::new(line, message));
    }
    let legs = samples
        .into_iter()
        .map(|(id, samples)| (id, legs(&samples)))
        .collect();
    Ok(tracks(legs))
}

fn time_step(tag: &BytesStart<'_>, before: Option<f64>, line: usize) -> Result<f64, TraceError> {
    let text = attribute(tag, "time", line)?
        .ok_or_else(|| TraceError::new(line, "a `timestep` without a `time`"))?;
    let at = number(&text, "a time", MAX_SECONDS, line)?;
    if at < before.unwrap_or(0.0) {
        return Err(TraceError::new(line, "a `timestep` that goes back in time"));
    }
    Ok(at)
}

fn sample(tag: &BytesStart<'_>, at: f64, line: usize) -> Result<(String, Sample), TraceError> {
    let required = |name: &str| {
        attribute(tag, name, line)?
            .ok_or_else(|| TraceError::new(line, format!("a vehicle without `{name}`")))
    };
    let optional = |name: &str, what: &str| {
        attribute(tag, name, line)?
            .map(|text| number(&text, what, MAX_METRES, line))
            .transpose()
    };
    let x = number(&required("x")?, "a coordinate", MAX_METRES, line)?;
    let y = number(&required("y")?, "a coordinate", MAX_METRES, line)?;
    let z = optional("z", "a coordinate")?.unwrap_or(0.0);
    let speed = optional("speed", "a speed")?;
    let place = Point::new(x, y, z);
    Ok((required("id")?, Sample { at, place, speed }))
}

fn attribute(tag: &BytesStart<'_>, name: &str, line: usize) -> Result<Option<String>, TraceError> {
    let broken = |error: &dyn std::fmt::Display| TraceError::new(line, format!("not XML: {error}"));
    match tag.try_get_attribute(name) {
        Ok(None) => Ok(None),
        Ok(Some(found)) => match found.unescape_value() {
            Ok(value) => Ok(Some(value.into_owned())),
            Err(error) => Err(broken(&error)),
        },
        Err(error) => Err(broken(&error)),
    }
}

fn legs(samples: &[Sample]) -> Vec<Leg> {
    let time = |sample: &Sample| Time::ZERO + Span::from_secs_f64(sample.at);
    let mut legs = Vec::with_capacity(samples.len());
    for pair in samples.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        let (way, lasts) = (other.place - one.place, other.at - one.at);
        if lasts <= 0.0 {
            continue;
        }
        // A metre of slack for positions that the file rounds.
        let bound = |speed: f64| way.length() <= 2.0 * speed.abs() * lasts + 1.0;
        let is_walk = match (one.speed, other.speed) {
            (None, _) | (_, None) => true,
            (Some(before), Some(after)) => bound(before.max(after)),
        };
        legs.push(Leg {
            until: time(other),
            velocity: if is_walk {
                way * (1.0 / lasts)
            } else {
                way * 0.0
            },
            ..Leg::rest(time(one), one.place)
        });
    }
    if let Some(last) = samples.last() {
        legs.push(Leg::rest(time(last), last.place));
    }
    legs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(secs: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(secs)
    }

    fn file(steps: &str) -> String {
        format!("<?xml version=\"1.0\"?>\n<fcd-export>\n{steps}\n</fcd-export>")
    }

    #[test]
    fn a_vehicle_moves_straight_between_steps_and_stays_where_it_vanished() {
        let text = file(
            r#"<timestep time="1.00"><vehicle id="a" x="0" y="0" angle="90" speed="10" lane="l"/></timestep>
<timestep time="2.00"><vehicle speed="10" id="a" x="10" y="0"/><person id="p" x="1" y="2"/></timestep>
<timestep time="3.00"></timestep>"#,
        );
        let mut tracks = sumo_fcd(&text).expect("a good file");
        assert_eq!(tracks.keys().collect::<Vec<_>>(), ["a", "p"]);
        let car = tracks.get_mut("a").expect("the car");
        assert_eq!(car.at(at(0.0)).position.x, 0.0);
        assert_eq!(car.at(at(1.5)).position.x, 5.0);
        assert_eq!(car.at(at(1.5)).velocity.x, 10.0);
        assert_eq!(car.at(at(9.0)).position.x, 10.0);
        assert_eq!(car.at(at(9.0)).velocity.length(), 0.0);
    }

    #[test]
    fn a_teleport_is_a_jump() {
        let text = file(
            r#"<timestep time="0"><vehicle id="a" x="0" y="0" speed="10"/></timestep>
<timestep time="1"><vehicle id="a" x="500" y="0" speed="10"/></timestep>"#,
        );
        let mut tracks = sumo_fcd(&text).expect("a good file");
        let car = tracks.get_mut("a").expect("the car");
        assert_eq!(car.at(at(0.9)).position.x, 0.0);
        assert_eq!(car.at(at(1.0)).position.x, 500.0);
    }

    #[test]
    fn a_wrong_file_names_the_line() {
        let missing =
            file("<timestep time=\"0\">\n<vehicle id=\"a\" x=\"0\" speed=\"10\"/></timestep>");
        let error = sumo_fcd(&missing).expect_err("no y").to_string();
        assert_eq!(error, "line 4: a vehicle without `y`");
        for (text, expected) in [
            (file("<vehicle id=\"a\" x=\"0\" y=\"0\"/>"), "outside"),
            (file("<timestep time=\"x\"/>"), "a time"),
            (
                file("<timestep time=\"2\"/><timestep time=\"1\"/>"),
                "goes back",
            ),
            ("<routes/>".to_owned(), "fcd-export"),
            ("<fcd-export><timestep".to_owned(), "not XML"),
        ] {
            let error = sumo_fcd(&text).expect_err(&text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_text_makes_the_reader_panic(
            text in "(<fcd-export>|<timestep time=\"|<vehicle id=\"|[0-9.e\"]| x=\"| y=\"|/>|\\PC|\n){0,60}",
        ) {
            let _ = sumo_fcd(&text);
        }
    }
}
