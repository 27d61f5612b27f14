//! Future outages of radio channels. Flows receive notices of these outages.

use super::BuildError;
use super::radio::{around, cell, put_ue, ue};
use fadeout_core::{CellId, Time, UeId};
use fadeout_radio::outlook::Outlook;
use fadeout_scenario::Scenario;
use std::collections::BTreeMap;

/// Channels of a scenario's cells, and the outages computed so far.
pub(super) struct RadioOutlook<'a> {
    scenario: &'a Scenario,
    channels: Outlook,
    /// Outages of each pair of UE and cell.
    known: BTreeMap<(UeId, CellId), Vec<(Time, Time)>>,
}

impl<'a> RadioOutlook<'a> {
    /// Creates the channels of a scenario.
    ///
    /// # Errors
    /// Returns an error if a cell cannot be built.
    pub(super) fn new(scenario: &'a Scenario) -> Result<RadioOutlook<'a>, BuildError> {
        let cells = scenario.cells.iter().map(cell).collect::<Result<_, _>>()?;
        Ok(RadioOutlook {
            scenario,
            channels: Outlook::new(cells, scenario.seed),
            known: BTreeMap::new(),
        })
    }

    /// Returns the start and end of each outage between a UE and a cell, up to `until`.
    ///
    /// # Errors
    /// Returns an error if the channel of the cell or the track of the UE cannot be built.
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
