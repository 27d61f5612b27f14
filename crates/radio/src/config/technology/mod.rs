//! Radio technologies that a scenario may name, with the parameters of their cells.

mod lte;
mod nr;
mod overhead;
mod shared;
mod tdd;
mod utra;

pub use lte::Lte;
pub use nr::Nr;
pub use utra::Utra;

use crate::config::CellConfig;
use crate::phy::frame::Duplex;
use fadeout_core::{Hertz, Point};

/// Position and spectrum of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carrier {
    /// Position of the cell's antenna.
    pub site: Point,
    /// Carrier frequency.
    pub carrier: Hertz,
    /// Channel bandwidth. The bandwidth determines the number of resource blocks, unless that
    /// number is configured.
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
        Utra(Utra),
    }
    macro radios;
}

impl Radio {
    /// Returns a cell on a carrier.
    ///
    /// # Errors
    /// Returns an error for a bandwidth that is not in the standard's table, a numerology without
    /// data channels, or keys that contradict each other. The message names the valid values.
    pub fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        let cell = radios!(self, radio => radio.cell(carrier))?;
        if cell.cross_link && cell.duplex == Duplex::Fdd {
            let needs = "`cross-link-interference` needs a `duplex` of TDD or of flexible slots";
            return Err(format!("{needs}; this cell has FDD, where nothing crosses"));
        }
        Ok(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    fn carrier(carrier: f64, bandwidth: f64) -> Carrier {
        Carrier {
            site: Point::new(0.0, 0.0, 10.0),
            carrier: Hertz(carrier),
            bandwidth: Hertz(bandwidth),
        }
    }

    fn cell(name: &str, carrier: &Carrier) -> Result<CellConfig, String> {
        cell_with(name, carrier, &[])
    }

    fn cell_with(
        name: &str,
        carrier: &Carrier,
        keys: &[(&str, Value)],
    ) -> Result<CellConfig, String> {
        let keys = keys
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        let radio = Radio::new(name, &Parameters(keys.collect()));
        radio.expect("a name").cell(carrier)
    }

    #[test]
    fn crossing_between_directions_counts_where_asked_and_where_slots_turn() {
        let keys = [("cross-link-interference", Value::Bool(true))];
        let flexible = cell_with("nr", &carrier(28e9, 400e6), &keys).expect("flexible slots");
        assert!(flexible.cross_link);
        let plain = cell_with("nr", &carrier(28e9, 400e6), &[]).expect("a cell");
        assert!(!plain.cross_link);
        for name in ["nr", "lte"] {
            let error = cell_with(name, &carrier(2e9, 20e6), &keys).expect_err("FDD");
            assert!(
                error.contains("`cross-link-interference`") && error.contains("FDD"),
                "{error}"
            );
        }
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
    fn given_resource_blocks_are_those_that_the_bandwidth_has() {
        let blocks = |name, carrier: &Carrier, blocks| {
            let keys = [("resource-blocks", Value::Number(blocks))];
            cell_with(name, carrier, &keys).map(|cell| cell.resource_blocks)
        };
        assert_eq!(blocks("nr", &carrier(28e9, 400e6), 168.0), Ok(168));
        assert_eq!(blocks("nr", &carrier(28e9, 1e9), 694.0), Ok(694));
        let error = blocks("nr", &carrier(28e9, 400e6), 1000.0).expect_err("too many");
        assert!(
            error.contains("`resource-blocks`: 1000") && error.contains("1 to 264"),
            "{error}"
        );
        let error = blocks("lte", &carrier(2e9, 10e6), 100.0).expect_err("too many");
        assert!(error.contains("1 to 50"), "{error}");
        assert!(blocks("nr", &carrier(28e9, 1e6), 1.0).is_err());
    }

    #[test]
    fn a_cell_of_nr_has_any_pattern_by_period_and_counts() {
        let duplex_of = |keys: &[(&str, &str)]| {
            let mut all = vec![("duplex", Value::Choice("tdd".into()))];
            all.extend(keys.iter().map(|(key, value)| {
                let count = value.parse().map(Value::Number);
                (*key, count.unwrap_or(Value::Choice((*value).into())))
            }));
            cell_with("nr", &carrier(3.5e9, 100e6), &all).map(|cell| cell.duplex)
        };
        let counts = [
            ("tdd-period", "2.5 ms"),
            ("tdd-downlink-slots", "3"),
            ("tdd-downlink-symbols", "10"),
            ("tdd-uplink-slots", "1"),
            ("tdd-uplink-symbols", "2"),
        ];
        let by_pattern = [("duplex", Value::Choice("DDDSU".into()))];
        let by_pattern = cell_with("nr", &carrier(3.5e9, 100e6), &by_pattern).expect("a cell");
        assert_eq!(duplex_of(&counts), Ok(by_pattern.duplex));
        let error = duplex_of(&counts[..3]).expect_err("no uplink");
        assert!(error.contains("no uplink"), "{error}");
        let second = [
            counts[0],
            counts[1],
            counts[3],
            ("tdd-second-period", "2.5 ms"),
        ];
        let Ok(Duplex::Tdd(pattern)) = duplex_of(&second) else {
            panic!("a second pattern that is silent")
        };
        assert_eq!(pattern.slots().len(), 10);
    }

    #[test]
    fn lte_has_its_tdd_configurations_with_their_processes() {
        for (configuration, processes) in [(0.0, (4, 7)), (2.0, (10, 2)), (6.0, (6, 6))] {
            let keys = [
                ("duplex", Value::Choice("tdd".into())),
                ("tdd-configuration", Value::Number(configuration)),
            ];
            let lte = cell_with("lte", &carrier(2e9, 20e6), &keys).expect("a cell");
            let found = (lte.harq.downlink_processes, lte.harq.uplink_processes);
            assert_eq!(found, processes);
            assert!(matches!(lte.duplex, Duplex::Tdd(_)) && lte.timing.lte_tdd.is_some());
        }
        let short = [
            ("duplex", Value::Choice("tdd".into())),
            ("tti", Value::Choice("0.5 ms".into())),
        ];
        let error = cell_with("lte", &carrier(2e9, 20e6), &short).expect_err("1 ms alone");
        assert!(error.contains("`tti` of 1 ms"), "{error}");
    }

    #[test]
    fn sub_bands_have_the_sizes_of_the_tables_and_carriers_without_them_are_errors() {
        let sub_band = ("cqi-format", Value::Choice("sub-band".into()));
        let size = |name, carrier: &Carrier, more: &[(&str, Value)]| {
            let mut keys = vec![sub_band.clone()];
            keys.extend_from_slice(more);
            cell_with(name, carrier, &keys).map(|cell| cell.cqi_sub_band)
        };
        let large = ("sub-band-size", Value::Choice("large".into()));
        assert_eq!(size("lte", &carrier(2e9, 20e6), &[]), Ok(Some(8)));
        assert_eq!(size("nr", &carrier(3.5e9, 40e6), &[]), Ok(Some(8)));
        assert_eq!(size("nr", &carrier(3.5e9, 40e6), &[large]), Ok(Some(16)));
        assert_eq!(
            cell("nr", &carrier(3.5e9, 40e6))
                .expect("a cell")
                .cqi_sub_band,
            None
        );
        let fixed = ("adaptation", Value::Choice("fixed-mcs".into()));
        for (name, hertz, bandwidth, more, part) in [
            ("lte", 2e9, 1.4e6, &[][..], "expected 8 to 110"),
            ("nr", 3.5e9, 5e6, &[], "expected 24 to 275"),
            ("nr", 28e9, 400e6, &[], "one UE at a time"),
            ("lte", 2e9, 20e6, &[fixed], "`adaptation`"),
        ] {
            let error = size(name, &carrier(hertz, bandwidth), more).expect_err(part);
            assert!(
                error.contains("`cqi-format`") && error.contains(part),
                "{error}"
            );
        }
    }

    #[test]
    fn a_bandwidth_without_a_row_is_an_error_that_names_those_there_are() {
        let error = cell("nr", &carrier(28e9, 1e9)).expect_err("no row");
        assert!(error.contains("there are"), "{error}");
    }
}
