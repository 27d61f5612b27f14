//! The radio technologies that a scenario may name, with the parameters of their cells.

mod lte;
mod nr;
mod shared;

pub use lte::Lte;
pub use nr::Nr;

use crate::config::CellConfig;
use fadeout_core::{Hertz, Point};

/// Where a cell is and what spectrum it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carrier {
    /// Place of its antenna.
    pub site: Point,
    /// Carrier frequency.
    pub carrier: Hertz,
    /// Channel bandwidth, from which the resource blocks follow unless they are given.
    pub bandwidth: Hertz,
}

fadeout_core::registry! {
    /// The radio technologies.
    pub static RADIOS;

    /// A radio technology and the parameters of a cell.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Radio {
        Nr(Nr),
        Lte(Lte),
    }
    macro radios;
}

impl Radio {
    /// A cell on a carrier.
    ///
    /// # Errors
    /// A bandwidth without a row in the standard's table, or a numerology without data channels; the
    /// message names what there is.
    pub fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        radios!(self, radio => radio.cell(carrier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Parameters;

    fn carrier(carrier: f64, bandwidth: f64) -> Carrier {
        Carrier {
            site: Point::new(0.0, 0.0, 10.0),
            carrier: Hertz(carrier),
            bandwidth: Hertz(bandwidth),
        }
    }

    fn cell(name: &str, carrier: &Carrier) -> Result<CellConfig, String> {
        let radio = Radio::new(name, Parameters::NONE);
        radio.expect("a name").cell(carrier)
    }

    #[test]
    fn a_bandwidth_has_the_resource_blocks_of_its_standard() {
        let lte = cell("lte", &carrier(2e9, 20e6)).expect("a cell");
        assert_eq!((lte.resource_blocks, lte.mu()), (100, 0));
        for (hertz, bandwidth, mu, blocks) in [(28e9, 400e6, 3, 264), (3.5e9, 100e6, 1, 273)] {
            let nr = cell("nr", &carrier(hertz, bandwidth)).expect("a cell");
            assert_eq!((nr.resource_blocks, nr.mu()), (blocks, mu));
        }
    }

    #[test]
    fn a_bandwidth_without_a_row_is_an_error_that_names_those_there_are() {
        let error = cell("nr", &carrier(28e9, 1e9)).expect_err("no row");
        assert!(error.contains("there are"), "{error}");
    }
}
