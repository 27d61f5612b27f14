//! Reader of SUMO's floating car data in XML.

use super::traced::Step;
use super::{MAX_METRES, MAX_SECONDS, TraceError, TracedVehicle, Tracks, number, tracks};
use crate::Leg;
use crate::vehicle::Pose;
use fadeout_core::{Point, Span, Time, Vector, math};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::BTreeMap;

/// Position of a vehicle at a time step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: f64,
    pub(super) place: Point,
    pub(super) speed: Option<f64>,
    /// Heading, clockwise from north, in degrees. `None` if the file has none.
    pub(super) angle: Option<f64>,
}

/// Vehicle or person of the file, with its positions at time steps.
#[derive(Debug, Default)]
pub(super) struct Passage {
    kind: Option<String>,
    samples: Vec<Sample>,
}

/// Vehicles and persons of a file. In SUMO a vehicle and a person may have the same id.
#[derive(Debug, Default)]
pub(super) struct Passages {
    vehicles: BTreeMap<String, Passage>,
    persons: BTreeMap<String, Passage>,
}

/// Vehicle or person of a row or an element.
#[derive(Debug, Clone)]
pub(super) struct Entity {
    pub(super) id: String,
    pub(super) kind: Option<String>,
    pub(super) is_person: bool,
}

impl Passages {
    /// Adds the position of a vehicle or a person. The samples of one vehicle come in the order of
    /// time.
    ///
    /// # Errors
    /// Returns an error if the sample is earlier than the one before, or if it has the same time
    /// and another position.
    pub(super) fn add(
        &mut self,
        entity: Entity,
        sample: Sample,
        line: usize,
    ) -> Result<(), TraceError> {
        let Entity { id, kind, .. } = entity;
        let (what, of_kind) = match entity.is_person {
            true => ("person", &mut self.persons),
            false => ("vehicle", &mut self.vehicles),
        };
        let passage = of_kind.entry(id.clone()).or_default();
        if passage.kind.is_none() {
            passage.kind = kind;
        }
        if let Some(last) = passage.samples.last() {
            let shown: String = id.chars().take(24).collect();
            if sample.at < last.at {
                let message = format!(
                    "{what} `{shown}` at {} s, after its position at {} s; expected increasing times",
                    sample.at, last.at
                );
                return Err(TraceError::new(line, message));
            }
            if sample.at == last.at && sample.place != last.place {
                let message = format!(
                    "{what} `{shown}` is at two positions at {} s; expected one",
                    sample.at
                );
                return Err(TraceError::new(line, message));
            }
        }
        passage.samples.push(sample);
        Ok(())
    }

    /// Refuses positions in degrees, which SUMO writes with `--fcd-output.geo`.
    ///
    /// # Errors
    /// Returns an error if all positions may be degrees, and the vehicles move less than a
    /// thousandth of the distance that their speeds give.
    pub(super) fn refuse_degrees(self) -> Result<Passages, TraceError> {
        let (mut moved, mut driven) = (0.0, 0.0);
        for passage in self.vehicles.values().chain(self.persons.values()) {
            for sample in &passage.samples {
                if sample.place.x.abs() > 180.0 || sample.place.y.abs() > 90.0 {
                    return Ok(self);
                }
            }
            for pair in passage.samples.windows(2) {
                moved += (pair[1].place - pair[0].place).length();
                driven += pair[0].speed.unwrap_or(0.0).abs() * (pair[1].at - pair[0].at);
            }
        }
        if driven >= 10.0 && moved < driven / 1000.0 {
            let message = format!(
                "positions are degrees, not metres: vehicles drive {driven:.0} m by their speeds, and \
                 move by {moved:.5}; expected a file written without --fcd-output.geo"
            );
            return Err(TraceError::new(1, message));
        }
        Ok(self)
    }
}

/// Largest valid angle in the file, in degrees clockwise from north.
pub(super) const MAX_DEGREES: f64 = 3600.0;

/// Reads an `fcd-export` file of SUMO: vehicles and persons by their id. A person with the id of a
/// vehicle is called `person:ID`.
///
/// Between two time steps a vehicle moves in a straight line. If its speed allows less than half of
/// the distance, the vehicle rests and then jumps (a teleport). A vehicle without a speed never
/// jumps. Before its first step a vehicle is at its first position. After its last step it is at
/// its last position. Steps in between that do not list the vehicle are ignored.
///
/// The position is that of the file. For vehicles this is the middle of the front bumper. A
/// position without a `z` is on the ground.
///
/// # Errors
/// Returns [`TraceError`] with the line of the mistake. The following mistakes are errors:
///
/// - malformed XML, XML with a document type, or a file that ends before `</fcd-export>`
/// - a missing position, id or time, or times that decrease
/// - two positions of a vehicle at one time
/// - positions in degrees.
pub fn sumo_fcd(text: &str) -> Result<Tracks, TraceError> {
    Ok(tracks_of(parse(text)?))
}

/// Reads the vehicles of an `fcd-export` file of SUMO by their id, with their types and headings.
/// Persons are left out. Vehicles move as in [`sumo_fcd`]. If the file has no `angle`, a vehicle's
/// heading is its direction of movement. The heading stays while the vehicle stands.
///
/// # Errors
/// Returns an error in the same cases as [`sumo_fcd`].
pub fn sumo_vehicles(text: &str) -> Result<BTreeMap<String, TracedVehicle>, TraceError> {
    Ok(vehicles_of(parse(text)?))
}

/// Returns the tracks of all vehicles and persons.
pub(super) fn tracks_of(passages: Passages) -> Tracks {
    let Passages { vehicles, persons } = passages;
    let persons = persons.into_iter().map(|(id, passage)| {
        let name = match vehicles.contains_key(&id) {
            true => format!("person:{id}"),
            false => id,
        };
        (name, legs(&passage.samples))
    });
    let mut named: BTreeMap<String, Vec<Leg>> = persons.collect();
    let of_vehicles = vehicles.iter();
    named.extend(of_vehicles.map(|(id, passage)| (id.clone(), legs(&passage.samples))));
    tracks(named)
}

/// Returns the vehicles, without the persons.
pub(super) fn vehicles_of(passages: Passages) -> BTreeMap<String, TracedVehicle> {
    let vehicles = passages.vehicles.into_iter();
    let vehicles = vehicles.map(|(id, passage)| {
        let steps = steps(&passage.samples);
        (id, TracedVehicle::new(passage.kind, steps))
    });
    vehicles.collect()
}

fn parse(text: &str) -> Result<Passages, TraceError> {
    let mut reader = Reader::from_str(text);
    let mut passages = Passages::default();
    let mut now: Option<f64> = None;
    let (mut is_export, mut is_ended) = (false, false);
    // Lines are counted up to the reader's position.
    let (mut line, mut counted) = (1, 0);
    loop {
        let event = reader.read_event();
        let position = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let event = event.map_err(|error| TraceError::new(line, format!("not XML: {error}")))?;
        match &event {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                b"fcd-export" => {
                    is_export = true;
                    is_ended = matches!(event, Event::Empty(_));
                }
                b"timestep" => now = Some(time_step(tag, now, line)?),
                b"vehicle" | b"person" => {
                    let at = now.ok_or_else(|| {
                        TraceError::new(line, "a vehicle outside of a `timestep`")
                    })?;
                    let (id, sample) = sample(tag, at, line)?;
                    let entity = Entity {
                        id,
                        kind: attribute(tag, "type", line)?,
                        is_person: tag.name().as_ref() == b"person",
                    };
                    passages.add(entity, sample, line)?;
                }
                _ => {}
            },
            Event::End(tag) if tag.name().as_ref() == b"fcd-export" => is_ended = true,
            // A document type may declare entities, which can expand to gigabytes.
            Event::DocType(_) => {
                let message = "a document type; expected XML of SUMO, which has none";
                return Err(TraceError::new(line, message));
            }
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
    if !is_ended {
        let message = "the file ends before `</fcd-export>`; expected a complete file, from a run of SUMO that has ended";
        return Err(TraceError::new(line, message));
    }
    passages.refuse_degrees()
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
    let angle = attribute(tag, "angle", line)?;
    let angle = angle.map(|text| number(&text, "an angle", MAX_DEGREES, line));
    let sample = Sample {
        at,
        place: Point::new(x, y, z),
        speed,
        angle: angle.transpose()?,
    };
    Ok((required("id")?, sample))
}

fn attribute(tag: &BytesStart<'_>, name: &str, line: usize) -> Result<Option<String>, TraceError> {
    let broken = |error: &dyn std::fmt::Display| TraceError::new(line, format!("not XML: {error}"));
    match tag.try_get_attribute(name) {
        Ok(None) => Ok(None),
        Ok(Some(found)) => match found.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => Ok(Some(value.into_owned())),
            Err(error) => Err(broken(&error)),
        },
        Err(error) => Err(broken(&error)),
    }
}

/// Returns true if the vehicle drives from one sample to the other instead of jumping. A margin of
/// 1 m allows for rounded positions.
fn is_drive(one: &Sample, other: &Sample) -> bool {
    let (offset, lasts) = (other.place - one.place, other.at - one.at);
    let bound = |speed: f64| offset.length() <= 2.0 * speed.abs() * lasts + 1.0;
    match (one.speed, other.speed) {
        (None, _) | (_, None) => true,
        (Some(before), Some(after)) => bound(before.max(after)),
    }
}

fn time(sample: &Sample) -> Time {
    Time::ZERO + Span::from_secs_f64(sample.at)
}

fn legs(samples: &[Sample]) -> Vec<Leg> {
    let mut legs = Vec::with_capacity(samples.len());
    for pair in samples.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        let (offset, lasts) = (other.place - one.place, other.at - one.at);
        if lasts <= 0.0 {
            continue;
        }
        legs.push(Leg {
            until: time(other),
            velocity: if is_drive(one, other) {
                offset * (1.0 / lasts)
            } else {
                Vector::new(0.0, 0.0, 0.0)
            },
            ..Leg::rest(time(one), one.place)
        });
    }
    if let Some(last) = samples.last() {
        legs.push(Leg::rest(time(last), last.place));
    }
    legs
}

fn steps(samples: &[Sample]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(samples.len());
    let mut heading = first_heading(samples);
    for (number, sample) in samples.iter().enumerate() {
        if steps.last().is_some_and(|before| before.at >= time(sample)) {
            continue;
        }
        let next = samples.get(number + 1);
        heading = match (sample.angle, next) {
            (Some(angle), _) => (90.0 - angle).to_radians(),
            (None, Some(next)) if is_drive(sample, next) => {
                direction_to(sample, next).unwrap_or(heading)
            }
            _ => heading,
        };
        steps.push(Step {
            at: time(sample),
            pose: Pose {
                front: (sample.place.x, sample.place.y),
                heading,
                velocity: (0.0, 0.0),
            },
            jumps: next.is_some_and(|next| !is_drive(sample, next)),
        });
    }
    steps
}

/// Returns the heading of the vehicle's first movement, or east if the vehicle never moves.
fn first_heading(samples: &[Sample]) -> f64 {
    let mut pairs = samples.windows(2);
    pairs
        .find_map(|pair| direction_to(&pair[0], &pair[1]))
        .unwrap_or(0.0)
}

/// Returns the direction from one sample to the next. `None` if the samples are too close together.
fn direction_to(one: &Sample, other: &Sample) -> Option<f64> {
    let offset = other.place - one.place;
    // The file's positions have a resolution of a centimetre or finer.
    (math::hypot(offset.x, offset.y) > 0.05).then(|| math::atan2(offset.y, offset.x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time_at_secs(secs: f64) -> Time {
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
        assert_eq!(car.kinematics_at(time_at_secs(0.0)).position.x, 0.0);
        assert_eq!(car.kinematics_at(time_at_secs(1.5)).position.x, 5.0);
        assert_eq!(car.kinematics_at(time_at_secs(1.5)).velocity.x, 10.0);
        assert_eq!(car.kinematics_at(time_at_secs(9.0)).position.x, 10.0);
        assert_eq!(car.kinematics_at(time_at_secs(9.0)).velocity.length(), 0.0);
    }

    /// `randomTrips.py` numbers vehicles and persons from 0.
    #[test]
    fn a_vehicle_and_a_person_may_have_the_same_id() {
        let text = file(
            r#"<timestep time="0"><vehicle id="0" x="5" y="0" type="car"/><person id="0" x="9" y="9" type="p"/></timestep>
<timestep time="1"><vehicle id="0" x="6" y="0" type="car"/><person id="0" x="9" y="8" type="p"/></timestep>"#,
        );
        let mut tracks = sumo_fcd(&text).expect("a good file");
        assert_eq!(tracks.keys().collect::<Vec<_>>(), ["0", "person:0"]);
        let car = tracks.get_mut("0").expect("the car");
        assert_eq!(car.kinematics_at(time_at_secs(1.0)).position.x, 6.0);
        let vehicles = sumo_vehicles(&text).expect("a good file");
        assert_eq!(vehicles.len(), 1);
        assert_eq!(vehicles["0"].kind.as_deref(), Some("car"));
    }

    #[test]
    fn a_teleport_is_a_jump() {
        let text = file(
            r#"<timestep time="0"><vehicle id="a" x="0" y="0" speed="10"/></timestep>
<timestep time="1"><vehicle id="a" x="500" y="0" speed="10"/></timestep>"#,
        );
        let mut tracks = sumo_fcd(&text).expect("a good file");
        let car = tracks.get_mut("a").expect("the car");
        assert_eq!(car.kinematics_at(time_at_secs(0.9)).position.x, 0.0);
        assert_eq!(car.kinematics_at(time_at_secs(1.0)).position.x, 500.0);
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
            (
                "<fcd-export>\n<timestep time=\"1\"><vehicle id=\"a\" x=\"0\" y=\"0\"/>\n"
                    .to_owned(),
                "line 3: the file ends before `</fcd-export>`",
            ),
            (
                "<!DOCTYPE x [<!ENTITY a \"b\">]>\n<fcd-export></fcd-export>".to_owned(),
                "line 1: a document type",
            ),
            (
                file(
                    "<timestep time=\"1\"><vehicle id=\"a\" x=\"0\" y=\"0\"/>\n\
                     <vehicle id=\"a\" x=\"1\" y=\"0\"/></timestep>",
                ),
                "line 4: vehicle `a` is at two positions at 1 s",
            ),
            (
                file(
                    "<timestep time=\"0\"><vehicle id=\"a\" x=\"24.94\" y=\"60.17\" speed=\"20\"/></timestep>\n\
                     <timestep time=\"1\"><vehicle id=\"a\" x=\"24.9404\" y=\"60.17\" speed=\"20\"/></timestep>",
                ),
                "positions are degrees, not metres",
            ),
        ] {
            let error = sumo_fcd(&text).expect_err(&text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// Angles are counted clockwise from north. A car that heads north extends to the south of its
    /// position.
    #[test]
    fn a_vehicle_looks_where_the_file_says_and_comes_and_goes() {
        let text = file(
            r#"<timestep time="1"><vehicle id="a" x="5" y="0" angle="0" type="bus" speed="10"><person id="p" x="5" y="0"/></vehicle></timestep>
<timestep time="2"><vehicle id="a" x="5" y="10" angle="0" type="bus" speed="10"/><vehicle id="b" x="0" y="0"/></timestep>
<timestep time="3"><vehicle id="b" x="-8" y="0"/></timestep>"#,
        );
        let mut vehicles = sumo_vehicles(&text).expect("a good file");
        assert_eq!(vehicles.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert!(sumo_fcd(&text).expect("a good file").contains_key("p"));
        let bus = vehicles.get_mut("a").expect("the bus");
        assert_eq!(bus.kind.as_deref(), Some("bus"));
        assert_eq!(bus.fastest(), 10.0);
        for (secs, is_there, y) in [
            (0.5, false, 0.0),
            (1.0, true, 0.0),
            (1.5, true, 5.0),
            (2.0, true, 10.0),
            (2.5, false, 10.0),
        ] {
            bus.advance(time_at_secs(secs));
            let (pose, found) = bus.pose_at(time_at_secs(secs));
            assert_eq!((found, pose.front), (is_there, (5.0, y)), "at {secs} s");
            let behind = pose.front.1 - 12.0 * math::sin(pose.heading);
            assert!((behind - (y - 12.0)).abs() < 1e-9);
        }
        // The file has no angle for this car, so its heading is its direction of movement, west.
        let car = vehicles.get("b").expect("the car");
        assert!((math::cos(car.pose_at(time_at_secs(2.0)).0.heading) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_four_angles_are_the_four_ways() {
        for (angle, (x, y)) in [
            (0, (0.0, 1.0)),
            (90, (1.0, 0.0)),
            (180, (0.0, -1.0)),
            (270, (-1.0, 0.0)),
        ] {
            let text = file(&format!(
                r#"<timestep time="0"><vehicle id="a" x="0" y="0" angle="{angle}"/></timestep>"#
            ));
            let vehicles = sumo_vehicles(&text).expect("a good file");
            let (pose, is_there) = vehicles["a"].pose_at(Time::ZERO);
            assert!(is_there);
            assert!(
                (math::cos(pose.heading) - x).abs() < 1e-12
                    && (math::sin(pose.heading) - y).abs() < 1e-12
            );
        }
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_text_makes_the_reader_panic(
            text in "(<fcd-export>|<timestep time=\"|<vehicle id=\"|[0-9.e\"]| x=\"| y=\"|/>|\\PC|\n){0,60}",
        ) {
            let _ = sumo_fcd(&text);
            if let Ok(vehicles) = sumo_vehicles(&text) {
                for (_, mut vehicle) in vehicles {
                    vehicle.advance(time_at_secs(1.0));
                    let _ = vehicle.pose_at(time_at_secs(1.0));
                }
            }
        }
    }
}
