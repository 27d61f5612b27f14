//! Modulation and coding schemes of NR.
//!
//! Standard: TS 38.214 §5.1.3.1.

use super::mutual_information::Modulation;
use std::sync::LazyLock;

/// Tables, with the standard's values of spectral efficiency.
const TABLES: &str = include_str!("../data/nr_mcs_tables.csv");

/// Table of modulation and coding schemes for the downlink, and for the uplink without transform
/// precoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McsTable {
    /// Table 5.1.3.1-1, up to 64QAM.
    Qam64,
    /// Table 5.1.3.1-2, up to 256QAM.
    Qam256,
    /// Table 5.1.3.1-3, up to 64QAM with low spectral efficiencies.
    Qam64LowSe,
}

/// Row of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mcs {
    /// Index I_MCS.
    pub index: u32,
    /// Modulation.
    pub modulation: Modulation,
    /// Target code rate R.
    pub code_rate: f64,
    /// Spectral efficiency in bit per resource element.
    pub efficiency: f64,
}

impl McsTable {
    /// Returns the rows for first transmissions, by index. Reserved rows are left out.
    pub fn rows(self) -> &'static [Mcs] {
        static QAM64: LazyLock<Vec<Mcs>> = LazyLock::new(|| read("NR_38.214_5.1.3.1-1"));
        static QAM256: LazyLock<Vec<Mcs>> = LazyLock::new(|| read("NR_38.214_5.1.3.1-2"));
        static LOW_SE: LazyLock<Vec<Mcs>> = LazyLock::new(|| read("NR_38.214_5.1.3.1-3"));
        match self {
            McsTable::Qam64 => &QAM64,
            McsTable::Qam256 => &QAM256,
            McsTable::Qam64LowSe => &LOW_SE,
        }
    }
}

fn read(table: &str) -> Vec<Mcs> {
    TABLES.lines().filter_map(|line| row(line, table)).collect()
}

fn row(line: &str, table: &str) -> Option<Mcs> {
    let mut fields = line.split(',');
    if fields.next()? != table {
        return None;
    }
    let index = fields.next()?.parse().ok()?;
    let modulation = Modulation::from_bits(fields.next()?.parse().ok()?)?;
    // A reserved row has no number, so it is left out.
    let code_rate = fields.next()?.parse::<f64>().ok()? / 1024.0;
    let efficiency = fields.next()?.parse().ok()?;
    Some(Mcs {
        index,
        modulation,
        code_rate,
        efficiency,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_all_its_rows() {
        for (table, rows) in [
            (McsTable::Qam64, 29),
            (McsTable::Qam256, 28),
            (McsTable::Qam64LowSe, 29),
        ] {
            let found = table.rows();
            assert!(found.iter().map(|mcs| mcs.index).eq(0..rows), "{table:?}");
        }
    }

    #[test]
    fn efficiency_is_modulation_times_code_rate() {
        for table in [McsTable::Qam64, McsTable::Qam256, McsTable::Qam64LowSe] {
            for mcs in table.rows() {
                let product = f64::from(mcs.modulation.bits()) * mcs.code_rate;
                // The table rounds to four decimals.
                assert!((product - mcs.efficiency).abs() < 6e-5, "{mcs:?}");
            }
        }
    }
}
