//! Tracks of UEs.

use fadeout_core::Point;
use fadeout_core::random::Stream;
use fadeout_mobility::{self as mobility, Mobility, Track};
use fadeout_scenario::{self as scenario, Movement, Named};

/// Returns the track of a UE that does not ride in a vehicle.
pub(super) fn build(ue: &scenario::Ue, random: Stream) -> Result<Track, String> {
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
        Movement::Trace(trace) => imported(trace, start.z),
        Movement::Vehicle { .. } => unreachable!("who rides has no track"),
    }
}

/// Returns the track of one node of a trace file, at the height of the UE's antenna.
fn imported(trace: &scenario::MovementTrace, height: f64) -> Result<Track, String> {
    let text = std::str::from_utf8(&trace.file.bytes)
        .map_err(|_| format!("{}: it is not text", trace.file.path))?;
    let read = match trace.format {
        scenario::MovementFormat::Ns2 => mobility::import::ns2(text),
        scenario::MovementFormat::SumoFcd => mobility::import::sumo_fcd(text),
        scenario::MovementFormat::SumoCsv => mobility::import::sumo_csv(text),
        scenario::MovementFormat::BonnMotion => mobility::import::bonnmotion(text),
        scenario::MovementFormat::Sumo | scenario::MovementFormat::SumoParquet => {
            return Err(format!(
                "{}: the format of [vehicles] alone; expected \"sumo-fcd\" or \"sumo-csv\", or the UE on \
                 a vehicle of such a table",
                trace.file.path
            ));
        }
    };
    let mut tracks = read.map_err(|error| format!("{}: {error}", trace.file.path))?;
    let track = tracks.remove(&trace.id).ok_or_else(|| {
        let known: Vec<&str> = tracks.keys().take(8).map(String::as_str).collect();
        format!(
            "{}: there is no \"{}\"; there is {}",
            trace.file.path,
            trace.id,
            known.join(", ")
        )
    })?;
    Ok(track.raised(height))
}
