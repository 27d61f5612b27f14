//! Cells that share a carrier.

use crate::config::CellConfig;
use fadeout_core::CellId;

/// Cells of each carrier.
#[derive(Debug)]
pub(super) struct Spectrum {
    /// Carrier number of each cell.
    carriers: Vec<usize>,
    /// Cells of each carrier number, in the order of their ids.
    cells: Vec<Vec<CellId>>,
}

impl Spectrum {
    pub(super) fn new(cells: &[CellConfig]) -> Spectrum {
        let mut spectrum = Spectrum {
            carriers: Vec::with_capacity(cells.len()),
            cells: Vec::new(),
        };
        for (id, cell) in (0..).map(CellId).zip(cells) {
            let is_on = |one: &Vec<CellId>| cells[one[0].index()].carrier == cell.carrier;
            let known = spectrum.cells.iter().position(is_on);
            let number = known.unwrap_or_else(|| {
                spectrum.cells.push(Vec::new());
                spectrum.cells.len() - 1
            });
            spectrum.cells[number].push(id);
            spectrum.carriers.push(number);
        }
        spectrum
    }

    /// Returns the number of a cell's carrier.
    pub(super) fn carrier_number(&self, cell: CellId) -> usize {
        self.carriers[cell.index()]
    }

    /// Returns the cells on the carrier of a cell, including that cell.
    #[inline]
    pub(super) fn cells_on_carrier(&self, cell: CellId) -> &[CellId] {
        &self.cells[self.carrier_number(cell)]
    }
}
