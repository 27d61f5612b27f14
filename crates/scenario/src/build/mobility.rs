//! Mobility management, and prediction of blockages.

use super::*;

impl Builder<'_, '_> {
    /// Mobility management, where the file has it; nothing at all where it has a mistake.
    pub(super) fn mobility(
        &mut self,
        file: &Fields,
        has_cells: bool,
    ) -> Option<Option<MobilityManagement>> {
        let Some(fields) = file.fields("mobility-management") else {
            return Some(None);
        };
        if !has_cells {
            let message = "mobility management without a cell";
            self.mistake(fields.place, message, "tables [cell.NAME]");
            return None;
        }
        let core = match fields.item("core") {
            None => Some(None),
            Some(item) => self.node(item).map(Some),
        };
        MobilityManagement::read(fields, core.map(|core| (core,)), self).map(Some)
    }

    /// Prediction of blockages, where the file has it; nothing at all where it has a mistake.
    pub(super) fn prediction(
        &mut self,
        file: &Fields,
        has_cells: bool,
    ) -> Option<Option<BlockagePrediction>> {
        let Some(fields) = file.fields("blockage-prediction") else {
            return Some(None);
        };
        if !has_cells {
            let message = "prediction of blockages without a cell";
            self.mistake(fields.place, message, "tables [cell.NAME]");
            return None;
        }
        BlockagePrediction::read(fields, Some(()), self).map(Some)
    }
}
