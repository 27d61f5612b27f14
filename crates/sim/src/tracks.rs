//! Positions of vehicles and UEs over time, and obstacles between UEs and cells, computed without a
//! run.

use crate::build::{BuildError, surroundings};
use fadeout_core::{CellId, Motion, Point, SightRow, Span, Time, TrackRow, UeId, math};
use fadeout_mobility::Places;
use fadeout_radio::channel::knife_edge::clear_beyond;
use fadeout_radio::channel::knife_edges::cascaded_loss;
use fadeout_radio::channel::path_loss::vehicle::foliage_db_per_m;
use fadeout_radio::channel::path_loss::wavelength;
use fadeout_radio::path_state::{PathState, PathStates};
use fadeout_scenario::{Movement, Scenario};
use std::collections::BTreeMap;

/// Maximum number of rows of each table: positions and lines of sight.
const MAX_ROWS: usize = 5_000_000;

/// Positions of nodes and vehicles over time, as [`tracks`] returns them.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracks {
    /// Positions of vehicles, and of UEs that ride in no vehicle.
    pub tracks: Vec<TrackRow>,
    /// State of the path between each UE and each cell.
    pub sights: Vec<SightRow>,
}

/// Returns the positions of all vehicles and UEs, and the obstacles between UEs and cells, in steps
/// of `every`. The rows cover the whole duration of the scenario.
///
/// # Errors
/// Returns a [`BuildError`] if a layer refuses a parameter. Returns the inner error if there would
/// be more than five million rows. Its text contains the smallest step that is possible.
pub fn tracks(scenario: &Scenario, every: Span) -> Result<Result<Tracks, String>, BuildError> {
    let (config, mut places) = surroundings(scenario)?;
    let mut path_states = PathStates::new(config.cells, scenario.seed);
    let mut found = Tracks {
        tracks: Vec::new(),
        sights: Vec::new(),
    };
    let vehicles: usize = places.fleets().iter().map(|fleet| fleet.len()).sum();
    let at_once = (vehicles + scenario.ues.len())
        .max(scenario.ues.len() * scenario.cells.len())
        .max(1);
    let steps = scenario.duration.as_nanos() / every.as_nanos().max(1) + 1;
    if steps.saturating_mul(at_once as u64) > MAX_ROWS as u64 {
        let least = scenario.duration.as_secs_f64() * at_once as f64 / MAX_ROWS as f64;
        return Ok(Err(format!(
            "{steps} steps of {at_once} rows; expected steps of at least {least:.3} s"
        )));
    }
    let riders: BTreeMap<(usize, u32), &str> = scenario
        .ues
        .iter()
        .filter_map(|ue| match ue.movement {
            Movement::Vehicle { group, number } => Some(((group, number), ue.name.as_str())),
            _ => None,
        })
        .collect();
    let mut now = Time::ZERO;
    for _ in 0..steps {
        put_tracks(scenario, &riders, now, &mut places, &mut found);
        for (id, ue) in (0..).map(UeId).zip(&config.ues) {
            for cell in (0..scenario.cells.len() as u32).map(CellId) {
                let state = path_states.state_at((id, ue), cell, now, &mut places);
                let state = state.map_err(|error| BuildError::Cell {
                    cell: scenario.cells[cell.index()].name.clone(),
                    reason: error.to_string(),
                })?;
                let row = sight_row(scenario, (id, cell), now, &mut places, state);
                found.sights.push(row);
            }
        }
        now = now.saturating_add(every);
    }
    Ok(Ok(found))
}

fn put_tracks(
    scenario: &Scenario,
    riders: &BTreeMap<(usize, u32), &str>,
    now: Time,
    places: &mut Places,
    found: &mut Tracks,
) {
    let time_s = now.since(Time::ZERO).as_secs_f64();
    places.advance(now);
    for (group, fleet) in places.fleets().iter().enumerate() {
        for vehicle in 0..fleet.len() {
            let Some(obstacle) = fleet.obstacle(vehicle, now) else {
                continue;
            };
            let (pose, _) = fleet.pose(vehicle, now);
            let (x, y) = pose.velocity;
            let ue = riders.get(&(group, vehicle as u32));
            found.tracks.push(TrackRow {
                time_s,
                vehicles: Some(scenario.vehicles[group].name.clone()),
                vehicle: Some(vehicle as u64),
                ue: ue.map(|&name| name.to_owned()),
                x_m: obstacle.center.0,
                y_m: obstacle.center.1,
                heading_deg: pose.heading.to_degrees(),
                speed_mps: math::hypot(x, y),
                length_m: Some(obstacle.size.0),
                width_m: Some(obstacle.size.1),
                height_m: obstacle.height,
            });
        }
    }
    for ue in &scenario.ues {
        let at = places.kinematics_at(ue.node, now);
        if !matches!(ue.movement, Movement::Vehicle { .. }) {
            let velocity = at.velocity;
            found.tracks.push(TrackRow {
                time_s,
                vehicles: None,
                vehicle: None,
                ue: Some(ue.name.clone()),
                x_m: at.position.x,
                y_m: at.position.y,
                heading_deg: math::atan2(velocity.y, velocity.x).to_degrees(),
                speed_mps: velocity.length(),
                length_m: None,
                width_m: None,
                height_m: at.position.z,
            });
        }
    }
}

fn sight_row(
    scenario: &Scenario,
    (ue, cell): (UeId, CellId),
    now: Time,
    places: &mut Places,
    state: Option<PathState>,
) -> SightRow {
    let (ue, cell) = (&scenario.ues[ue.index()], &scenario.cells[cell.index()]);
    let at = places.kinematics_at(ue.node, now);
    let shift = cell.repeats.map(|it| it.shift(cell.position, at.position));
    let site = cell.position + shift.unwrap_or_default();
    let clear = clear_beyond(wavelength(cell.carrier));
    SightRow {
        time_s: now.since(Time::ZERO).as_secs_f64(),
        ue: ue.name.clone(),
        cell: cell.name.clone(),
        distance_m: site.distance_to(at.position),
        vehicles_db: behind_vehicles(places, (ue.node, now), (site, at.position), cell),
        foliage_db: foliage_db_per_m(cell.carrier.0 / 1e9) * places.foliage_m(site, at.position),
        behind_building: places.obstruction((site, at.position), clear) > 0.0,
        snr_db: state.map(|it| it.snr_db),
        blockage_db: state.map(|it| it.causes.blockage_db),
        deafness_db: state.map(|it| it.causes.deafness_db),
        misalignment_db: state.map(|it| it.causes.misalignment_db),
        beam_deg: state.and_then(|it| it.causes.beam_deg),
        beam_recovery: state.map(|it| it.large_scale.is_recovering),
    }
}

fn behind_vehicles(
    places: &mut Places,
    (node, now): (fadeout_core::NodeId, Time),
    (site, place): (Point, Point),
    cell: &fadeout_scenario::Cell,
) -> f64 {
    let wavelength = wavelength(cell.carrier);
    let edges = places.vehicles((node, now), (site, place), clear_beyond(wavelength));
    if edges.is_empty() {
        return 0.0;
    }
    cascaded_loss(edges, site.distance_to(place), wavelength.0).0
}
