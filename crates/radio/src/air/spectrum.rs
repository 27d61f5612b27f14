//! Which cells share a carrier.

use crate::config::CellConfig;
use fadeout_core::CellId;

/// The cells of each carrier.
#[derive(Debug)]
pub(super) struct Spectrum {
    /// By cell: the number of its carrier.
    carriers: Vec<usize>,
    /// By that number, in their order.
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

    /// The number of a cell's carrier.
    pub(super) fn carrier(&self, cell: CellId) -> usize {
        self.carriers[cell.index()]
    }

    /// The cells on the carrier of a cell, itself too.
    #[inline]
    pub(super) fn of(&self, cell: CellId) -> &[CellId] {
        &self.cells[self.carrier(cell)]
    }
}
