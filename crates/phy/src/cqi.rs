//! Channel quality indicators.
//!
//! Standard: TS 36.213 §7.2.3; TS 38.214 §5.2.2.1.

use super::mcs::Mcs;
use super::mutual_information::Modulation;
use std::sync::LazyLock;

/// Table of channel quality indicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CqiTable {
    /// LTE's Table 7.2.3-1 and NR's Table 5.2.2.1-2, which are equal, up to 64QAM.
    Qam64,
    /// NR's Table 5.2.2.1-3, up to 256QAM.
    Qam256,
    /// NR's Table 5.2.2.1-4, with low spectral efficiency, for an error rate of 1e-5.
    LowSe,
}

impl CqiTable {
    /// Returns the rows 1 to 15. CQI 0 means out of range.
    pub fn rows(self) -> &'static [Mcs] {
        static QAM64: LazyLock<Vec<Mcs>> = LazyLock::new(|| read("NR_38.214_5.2.2.1-2"));
        static QAM256: LazyLock<Vec<Mcs>> = LazyLock::new(|| read("NR_38.214_5.2.2.1-3"));
        static LOW_SE: LazyLock<Vec<Mcs>> = LazyLock::new(|| read("NR_38.214_5.2.2.1-4"));
        match self {
            CqiTable::Qam64 => &QAM64,
            CqiTable::Qam256 => &QAM256,
            CqiTable::LowSe => &LOW_SE,
        }
    }

    /// Returns the largest error rate of a transport block with the MCS of a CQI.
    pub fn target_error(self) -> f64 {
        match self {
            CqiTable::Qam64 | CqiTable::Qam256 => 0.1,
            CqiTable::LowSe => 1e-5,
        }
    }
}

fn read(table: &str) -> Vec<Mcs> {
    let row = |line: &str| {
        let mut fields = line.split(',');
        if fields.next()? != table {
            return None;
        }
        Some(Mcs {
            index: fields.next()?.parse().ok()?,
            // CQI 0 has no modulation, so its row is left out.
            modulation: Modulation::from_bits(fields.next()?.parse().ok()?)?,
            code_rate: fields.next()?.parse::<f64>().ok()? / 1024.0,
            efficiency: fields.next()?.parse().ok()?,
        })
    };
    let tables = include_str!("../data/cqi_tables.csv");
    tables.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_fifteen_rows_of_growing_efficiency() {
        for table in [CqiTable::Qam64, CqiTable::Qam256, CqiTable::LowSe] {
            let rows = table.rows();
            assert!(rows.iter().map(|row| row.index).eq(1..16), "{table:?}");
            assert!(rows.is_sorted_by(|a, b| a.efficiency < b.efficiency));
            for row in rows {
                let product = f64::from(row.modulation.bits()) * row.code_rate;
                // The table rounds to four decimals.
                assert!((product - row.efficiency).abs() < 6e-5, "{row:?}");
            }
        }
        assert_eq!(read("LTE_36.213_7.2.3-1"), CqiTable::Qam64.rows());
    }
}
