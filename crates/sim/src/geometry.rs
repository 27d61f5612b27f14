//! Positions of the UEs of a scenario.

use crate::build::{BuildError, named_error, recordings, surroundings};
use fadeout_core::{GeometryRow, Motion, Time};
use fadeout_radio::access;
use fadeout_scenario::Scenario;

/// Returns the position of each UE at the start of a run, in the order of the UEs. The list is
/// empty without cells.
///
/// # Errors
/// Returns a [`BuildError`] if a layer refuses a parameter.
pub fn geometry(scenario: &Scenario) -> Result<Vec<GeometryRow>, BuildError> {
    let (config, mut places) = surroundings(scenario)?;
    if config.cells.is_empty() {
        return Ok(Vec::new());
    }
    let recorded = recordings(scenario)?;
    let found = access::geometry(&config, &recorded, scenario.seed, &mut places);
    let found = found.map_err(|error| named_error(scenario, &error))?;
    let rows = scenario.ues.iter().zip(found).map(|(ue, geometry)| {
        let place = places.kinematics_at(ue.node, Time::ZERO).position;
        let finite = |db: f64| db.is_finite().then_some(db);
        GeometryRow {
            ue: ue.name.clone(),
            x_m: place.x,
            y_m: place.y,
            height_m: place.z,
            cell: geometry.map(|it| scenario.cells[it.cell.index()].name.clone()),
            distance_m: geometry.map(|it| it.distance_m),
            coupling_loss_db: geometry.map(|it| it.coupling_loss_db),
            snr_db: geometry.and_then(|it| finite(it.snr_db)),
            sir_db: geometry.and_then(|it| finite(it.sir_db)),
            sinr_db: geometry.and_then(|it| finite(it.sinr_db)),
            line_of_sight: geometry.map(|it| it.is_los),
        }
    });
    Ok(rows.collect())
}
