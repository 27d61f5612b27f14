//! Construction of mobility management, and of the prediction of blockages.

use super::*;

impl Builder<'_, '_> {
    /// Builds mobility management. The inner value is `None` if the file has none. The outer value
    /// is `None` after a mistake.
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

    /// Builds the prediction of blockages. The inner value is `None` if the file has none. The
    /// outer value is `None` after a mistake.
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
