//! Channels ahead of time, for the notices of radio hops.

use super::BuildError;
use super::radio::{around, cell, put_ue, ue};
use fadeout_core::{CellId, Time, UeId};
use fadeout_radio::outlook::Outlook;
use fadeout_scenario::Scenario;
use std::collections::BTreeMap;

/// The channels of a scenario's cells, and what is known of them.
pub(super) struct RadioOutlook<'a> {
    scenario: &'a Scenario,
    channels: Outlook,
    /// By UE and cell.
    known: BTreeMap<(UeId, CellId), Vec<(Time, Time)>>,
}

impl<'a> RadioOutlook<'a> {
    /// # Errors
    /// When a cell cannot be built.
    pub(super) fn new(scenario: &'a Scenario) -> Result<RadioOutlook<'a>, BuildError> {
        let cells = scenario.cells.iter().map(cell).collect::<Result<_, _>>()?;
        Ok(RadioOutlook {
            scenario,
            channels: Outlook::new(cells, scenario.seed),
            known: BTreeMap::new(),
        })
    }

    /// When a UE is cut off from a cell, up to `until`.
    ///
    /// # Errors
    /// When the cell's channel or the UE's way cannot be built.
    pub(super) fn outages(
        &mut self,
        id: UeId,
        cell: CellId,
        until: Time,
    ) -> Result<Vec<(Time, Time)>, BuildError> {
        if let Some(known) = self.known.get(&(id, cell)) {
            return Ok(known.clone());
        }
        let described = &self.scenario.ues[id.index()];
        let mut places = around(self.scenario)?;
        put_ue(self.scenario, described, &mut places)?;
        let subject = (id, &ue(described));
        let outages = self.channels.outages(subject, cell, until, &mut places);
        let outages = outages.map_err(|error| BuildError::Cell {
            cell: self.scenario.cells[cell.index()].name.clone(),
            reason: error.to_string(),
        })?;
        self.known.insert((id, cell), outages.clone());
        Ok(outages)
    }
}
