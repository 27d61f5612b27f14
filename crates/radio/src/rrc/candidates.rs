//! List of the cells that are prepared for a UE.

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
