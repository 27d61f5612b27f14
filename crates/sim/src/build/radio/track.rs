//! Tracks of UEs.

use crate::build::overlap::overlap;
use fadeout_core::random::Stream;
use fadeout_core::{Point, Span};
use fadeout_mobility::{self as mobility, Mobility, Track};
use fadeout_scenario::{self as scenario, Movement, Named};

/// Returns the track of a UE that does not ride in a vehicle.
pub(super) fn build(ue: &scenario::Ue, duration: Span, random: Stream) -> Result<Track, String> {
    let start = ue.position;
    match &ue.movement {
        Movement::Model(Named { name, parameters }) => Mobility::new(name, parameters)
            .ok_or_else(|| format!("there is no mobility model \"{name}\""))?
            .track(start, random)
            .map_err(|error| error.to_string()),
        Movement::Waypoints(waypoints) => {
            let waypoints: Vec<mobility::Waypoint> = waypoints
                .iter()
                .map(|waypoint| mobility::Waypoint {
                    place: Point::new(waypoint.place.0.0, waypoint.place.1.0, start.z),
                    speed: waypoint.speed,
                    pause: waypoint.pause,
                })
                .collect();
            Track::waypoints(start, &waypoints).map_err(|error| error.to_string())
        }
        Movement::Trace(trace) => imported(trace, start.z, duration),
        Movement::Vehicle { .. } => unreachable!("who rides has no track"),
    }
}

/// Returns the track of one node of a trace file, at the height of the UE's antenna. The track
/// covers at least one instant of the run, which lasts for `duration`.
fn imported(trace: &scenario::MovementTrace, height: f64, duration: Span) -> Result<Track, String> {
    let scenario::MovementTrace::File {
        file,
        format,
        id,
        start,
    } = trace
    else {
        unreachable!("the scenario refuses a measurement")
    };
    let path = &file.path;
    let text = std::str::from_utf8(&file.bytes).map_err(|_| format!("{path}: it is not text"))?;
    let read = match format {
        scenario::MovementFormat::Ns2 => mobility::import::ns2(text),
        scenario::MovementFormat::SumoFcd => mobility::import::sumo_fcd(text),
        scenario::MovementFormat::SumoCsv => mobility::import::sumo_csv(text),
        scenario::MovementFormat::BonnMotion => mobility::import::bonnmotion(text),
        scenario::MovementFormat::Sumo | scenario::MovementFormat::SumoParquet => {
            return Err(format!(
                "{path}: the format of [vehicles] alone; expected \"sumo-fcd\" or \"sumo-csv\", or the UE on \
                 a vehicle of such a table"
            ));
        }
    };
    let mut tracks = read.map_err(|error| format!("{path}: {error}"))?;
    let track = tracks.remove(id).ok_or_else(|| {
        let known: Vec<&str> = tracks.keys().take(8).map(String::as_str).collect();
        format!(
            "{path}: there is no \"{id}\"; there is {}",
            known.join(", ")
        )
    })?;
    if let Some(span) = track.listed_span() {
        overlap(span, (*start, duration)).map_err(|reason| format!("{path}: \"{id}\" {reason}"))?;
    }
    Ok(track.starting_at(*start).raised(height))
}
