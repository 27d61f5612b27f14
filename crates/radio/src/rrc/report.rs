//! Measurement report of a UE.

use super::policy::ReportedCell;

/// Maximum number of cells in a measurement report (maxCellReport).
///
/// Standard: TS 38.331 §6.4; TS 36.331 §6.4.
const MOST_REPORTED: usize = 8;

/// Content of a measurement report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeasurementReport {
    /// Number of the measurement event.
    pub event: u16,
    pub serving: ReportedCell,
    count: u8,
    cells: [ReportedCell; MOST_REPORTED],
}

impl MeasurementReport {
    pub(crate) fn new(event: u16, serving: ReportedCell) -> MeasurementReport {
        MeasurementReport {
            event,
            serving,
            count: 0,
            cells: [serving; MOST_REPORTED],
        }
    }

    /// Adds a cell to the report, unless eight reported cells are at least as strong. Cells of
    /// equal level keep their order.
    pub(crate) fn add(&mut self, cell: ReportedCell) {
        let stronger = |other: &&ReportedCell| other.rsrp_dbm >= cell.rsrp_dbm;
        let place = self.cells().iter().take_while(stronger).count();
        if place == MOST_REPORTED {
            return;
        }
        let last = usize::from(self.count).min(MOST_REPORTED - 1);
        self.cells.copy_within(place..last, place + 1);
        self.cells[place] = cell;
        self.count = last as u8 + 1;
    }

    /// Returns the reported cells, the strongest first.
    pub(crate) fn cells(&self) -> &[ReportedCell] {
        &self.cells[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::CellId;

    #[test]
    fn a_report_has_the_eight_strongest_cells_in_order() {
        let cell = |cell, rsrp_dbm| ReportedCell {
            cell: CellId(cell),
            rsrp_dbm,
        };
        let mut report = MeasurementReport::new(0, cell(99, -100.0));
        for number in 0..20 {
            report.add(cell(number, -90.0 - f64::from(number * 7 % 20)));
        }
        let levels: Vec<f64> = report.cells().iter().map(|it| it.rsrp_dbm).collect();
        assert_eq!(
            levels,
            (0..8).map(|n| -90.0 - f64::from(n)).collect::<Vec<_>>()
        );
        let mut equal = MeasurementReport::new(0, cell(99, -100.0));
        (0..3).for_each(|number| equal.add(cell(number, -80.0)));
        let order: Vec<u32> = equal.cells().iter().map(|it| it.cell.0).collect();
        assert_eq!(order, [0, 1, 2]);
    }
}
