//! List of the cells that are prepared for a UE.

use super::policy::ReportedCell;
use super::report::MeasurementReport;
use crate::config::MOST_CANDIDATES;
use fadeout_core::CellId;

/// Cells that are prepared for a UE. One message lists all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidates {
    count: u8,
    cells: [CellId; MOST_CANDIDATES],
}

impl Candidates {
    pub(crate) const NONE: Candidates = Candidates {
        count: 0,
        cells: [CellId(0); MOST_CANDIDATES],
    };

    /// Adds a candidate, unless the maximum number is reached.
    pub(crate) fn add(&mut self, cell: CellId) {
        if let Some(place) = self.cells.get_mut(usize::from(self.count)) {
            *place = cell;
            self.count += 1;
        }
    }

    pub(crate) fn cells(&self) -> &[CellId] {
        &self.cells[..usize::from(self.count)]
    }
}

/// Returns the cells that become candidates after a measurement report, in the order in which a
/// policy chooses them. `choose` returns the choice of the policy among the remaining reported
/// cells. `may_be` returns false for a cell that may not be a candidate.
pub(crate) fn choose_candidates(
    report: &MeasurementReport,
    mut choose: impl FnMut(&[ReportedCell]) -> Option<CellId>,
    may_be: impl Fn(CellId) -> bool,
) -> Candidates {
    let mut left = [report.serving; MOST_CANDIDATES];
    let mut count = report.cells().len().min(MOST_CANDIDATES);
    left[..count].copy_from_slice(&report.cells()[..count]);
    let mut wanted = Candidates::NONE;
    // A policy may also choose a cell without a report, such as the target of a timetable.
    while let Some(cell) = choose(&left[..count]) {
        if may_be(cell) && !wanted.cells().contains(&cell) {
            wanted.add(cell);
        }
        let mut remaining = left[..count].iter();
        let Some(place) = remaining.position(|reported| reported.cell == cell) else {
            break;
        };
        left.copy_within(place + 1..count, place);
        count -= 1;
        if count == 0 {
            break;
        }
    }
    wanted
}

#[cfg(test)]
mod tests;
