//! Prediction of blockages, and the flows that receive notices of it.

use super::{BuildError, surroundings};
use crate::hop::Hop;
use crate::prediction::{Cars, Forecast, future};
use crate::world::Parts;
use fadeout_core::{Time, UeId};
use fadeout_scenario::{BlockagePrediction, Knowledge, LinkInfoSource, Medium, Scenario};

/// Returns the scenario's prediction of blockages if it applies to a source of notices. It applies
/// to UEs and cells. `None` for links, and in a scenario without a prediction.
pub(super) fn prediction_of(
    scenario: &Scenario,
    source: LinkInfoSource,
) -> Option<&BlockagePrediction> {
    let is_radio = matches!(
        source,
        LinkInfoSource::Cell(_) | LinkInfoSource::Medium(Medium::RadioBearer(_))
    );
    scenario.prediction.as_ref().filter(|_| is_radio)
}

/// Adds the prediction to a scenario's base stations, if the scenario asks for it.
pub(super) fn add(scenario: &Scenario, parts: &mut Parts) -> Result<(), BuildError> {
    let Some(described) = &scenario.prediction else {
        return Ok(());
    };
    if let Some(file) = scenario.channel_files.first() {
        return Err(BuildError::ChannelFile {
            name: file.name.clone(),
            reason: "its channels do not depend on places, which [blockage-prediction] needs; \
                expected one of the two"
                .to_owned(),
        });
    }
    let cars = || {
        let (config, places) = surroundings(scenario)?;
        Ok(Cars::new((config.cells, config.ues), places, scenario.seed))
    };
    let future = match described.knows {
        Knowledge::Future => {
            let end = Time::ZERO.saturating_add(scenario.duration);
            let found = future(cars()?, end, described.threshold.0);
            found.map_err(|(cell, error)| BuildError::Cell {
                cell: scenario.cells[cell.index()].name.clone(),
                reason: error.to_string(),
            })?
        }
        _ => Vec::new(),
    };
    let mut forecast = Forecast::new(described, cars()?, future, scenario.seed);
    for notices in &parts.notices {
        let flow = &scenario.flows[notices.flow.index()];
        let Some(info) = flow.link_info else { continue };
        if prediction_of(scenario, info.source).is_none() {
            continue;
        }
        if let Some(ue) = rider(scenario, parts, notices.flow) {
            forecast.add_flow(ue, notices.flow, notices.delay());
        }
    }
    parts.forecast = Some(forecast);
    Ok(())
}

/// Returns the UE whose notices a flow receives. If the flow's source of notices is a cell, this is
/// the first UE on the route of the flow's data. `None` if there is no such UE.
fn rider(scenario: &Scenario, parts: &Parts, flow: fadeout_core::FlowId) -> Option<UeId> {
    let info = scenario.flows[flow.index()].link_info?;
    if let LinkInfoSource::Medium(medium) = info.source {
        let is_reverse = false;
        let Hop::Bearer { bearer, .. } = parts
            .directory
            .hop(fadeout_scenario::Hop { medium, is_reverse })
        else {
            return None;
        };
        return Some(parts.directory.ue_of(bearer));
    }
    let sender = parts.directory.flow(flow)?.sender;
    let route = parts.endpoints[sender.index()].route;
    let bearers = parts.routes.hops(route).iter().filter_map(|hop| match hop {
        Hop::Bearer { bearer, .. } => Some(*bearer),
        _ => None,
    });
    bearers.map(|bearer| parts.directory.ue_of(bearer)).next()
}
