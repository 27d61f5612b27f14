//! One of several radio accesses that share a scenario's UEs. Each belongs to one world.

use super::{establish, generation, named_error, surroundings_of};
use crate::build::{BuildError, channel_file};
use crate::radio::{Radio, RadioNumbers};
use fadeout_core::{CellId, UeId};
use fadeout_radio::access::{RadioAccess, RadioError, RecordedPath, Serving};
use fadeout_radio::rlc::Generation;
use fadeout_scenario::Scenario;

/// Builds the radio access of the UEs `ues`, in their order. `serving` is the serving cell of each
/// UE of the scenario. The radio access contains all cells of the scenario. Cells of other worlds
/// serve no UE in it and cause no interference.
pub(in crate::build) fn part(
    scenario: &Scenario,
    ues: &[UeId],
    serving: &[Option<CellId>],
) -> Result<Radio, BuildError> {
    let mut numbers = RadioNumbers::new(scenario.ues.len(), scenario.bearers().count());
    ues.iter().for_each(|&ue| numbers.add_ue(ue));
    let (mut config, places) = surroundings_of(scenario, ues)?;
    for (&id, ue) in ues.iter().zip(&mut config.ues) {
        ue.drawn_as = Some(id);
        if let (Serving::Strongest, Some(cell)) = (ue.serving, serving[id.index()]) {
            ue.serving = Serving::StrongestOnCarrier(cell);
        }
    }
    let generations: Vec<Generation> = config.cells.iter().map(generation).collect();
    let recorded = channel_file::recorded(scenario)?.into_iter();
    let recorded = recorded.filter_map(|one| {
        let ue = numbers.ue(one.ue)?;
        Some(RecordedPath { ue, ..one })
    });
    let recorded: Vec<RecordedPath> = recorded.collect();
    let named = |error: RadioError| match error {
        // The number in the error counts the UEs of this radio access, not those of the scenario.
        RadioError::Ue { ue, .. } => BuildError::Ue {
            ue: scenario.ues[ues[ue].index()].name.clone(),
            reason: error.reason(),
        },
        _ => named_error(scenario, &error),
    };
    let access = RadioAccess::with_recordings(config, &recorded, scenario.seed).map_err(named)?;
    let mut radio = Radio::new(access, places);
    radio.numbers = Some(Box::new(numbers));
    establish(scenario, &generations, &mut radio)?;
    Ok(radio)
}
