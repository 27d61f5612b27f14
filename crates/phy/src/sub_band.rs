//! Channel quality reports by sub-band.
//!
//! A UE reports the CQI of the whole band, and for each sub-band the difference from it in two
//! bits. So the base station sees a sub-band's CQI as at most one step below the band's, and at
//! most two steps above.

use super::error::PhyError;

/// Largest number of sub-bands of a carrier in any standard's table.
pub const MOST_SUB_BANDS: usize = 18;

/// Set of sub-bands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BandSet(u32);

impl BandSet {
    /// Adds the sub-band of this number, below [`MOST_SUB_BANDS`].
    pub fn insert(&mut self, band: usize) {
        debug_assert!(band < MOST_SUB_BANDS, "a set has room for every carrier's");
        self.0 |= 1 << band;
    }
    /// Returns true if the set contains the sub-band.
    pub fn contains(self, band: usize) -> bool {
        self.0 & (1 << band) != 0
    }
    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Column of NR's table of sub-band sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubBandSize {
    /// `value1`: small sub-bands.
    Small,
    /// `value2`: sub-bands of twice the size.
    Large,
}

/// Returns the resource blocks of a sub-band of an NR carrier.
///
/// # Errors
/// Returns an error if the carrier has fewer than 24 resource blocks, or more than 275.
///
/// Standard: TS 38.214 Table 5.2.1.4-2.
pub fn nr_size(resource_blocks: u32, size: SubBandSize) -> Result<u32, PhyError> {
    let small = match resource_blocks {
        24..=72 => 4,
        73..=144 => 8,
        145..=275 => 16,
        _ => return Err(out_of_table(resource_blocks, "24 to 275")),
    };
    Ok(match size {
        SubBandSize::Small => small,
        SubBandSize::Large => 2 * small,
    })
}

/// Returns the resource blocks of a sub-band of an LTE carrier, as configured by higher layers.
///
/// # Errors
/// Returns an error if the carrier has fewer than 8 resource blocks, or more than 110.
///
/// Standard: TS 36.213 Table 7.2.1-3.
pub fn lte_size(resource_blocks: u32) -> Result<u32, PhyError> {
    match resource_blocks {
        8..=26 => Ok(4),
        27..=63 => Ok(6),
        64..=110 => Ok(8),
        _ => Err(out_of_table(resource_blocks, "8 to 110")),
    }
}

fn out_of_table(resource_blocks: u32, expected: &'static str) -> PhyError {
    PhyError::Range {
        what: "number of resource blocks that are to have sub-bands",
        value: f64::from(resource_blocks),
        expected,
    }
}

/// Returns the CQI of a sub-band as known to the base station. `sub_band` is the true CQI of the
/// sub-band, and `wideband` the reported CQI of the whole band. The difference is reported as -1 or
/// less, 0, 1, or 2 or more.
///
/// Standard: TS 38.214 Table 5.2.2.1-1; TS 36.213 Table 7.2.1-2.
pub fn reported(wideband: u8, sub_band: u8) -> u8 {
    debug_assert!(
        wideband <= 15 && sub_band <= 15,
        "CQIs of {wideband} and {sub_band}"
    );
    let least = wideband.saturating_sub(1);
    sub_band.clamp(least, wideband + 2).min(15)
}

/// Returns the number of bits of a report on `sub_bands` sub-bands: 4 for the band and 2 for each
/// sub-band.
///
/// Standard: TS 38.212 §6.3.1.1.2; TS 36.212 §5.2.2.6.2.
pub fn report_bits(sub_bands: u32) -> u32 {
    4 + 2 * sub_bands
}

/// Number of bits of a report's CRC.
///
/// Standard: TS 38.212 §6.3.1.2.1.
const CHECK_BITS: u32 = 11;
/// Number of report bits in a pair of resource blocks. These are 12 symbols of 12 elements without
/// DM-RS, with QPSK at code rate 1/4.
const BITS_OF_BLOCK: u32 = 12 * 12 * 2 / 4;

/// Returns the number of resource blocks that a report on `sub_bands` sub-bands occupies in an
/// uplink slot.
pub fn report_blocks(sub_bands: u32) -> u32 {
    (report_bits(sub_bands) + CHECK_BITS).div_ceil(BITS_OF_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_tables_at_their_edges() {
        for (blocks, small) in [(24, 4), (72, 4), (73, 8), (144, 8), (145, 16), (275, 16)] {
            assert_eq!(nr_size(blocks, SubBandSize::Small), Ok(small));
            assert_eq!(nr_size(blocks, SubBandSize::Large), Ok(2 * small));
        }
        for (blocks, size) in [(8, 4), (10, 4), (11, 4), (26, 4), (27, 6), (63, 6), (64, 8)] {
            assert_eq!(lte_size(blocks), Ok(size));
        }
        for blocks in [0, 23, 276] {
            assert!(nr_size(blocks, SubBandSize::Large).is_err());
        }
        let error = lte_size(6).expect_err("too narrow").to_string();
        assert!(error.contains("expected 8 to 110"), "{error}");
    }

    #[test]
    fn no_carrier_has_more_sub_bands_than_there_is_room_for() {
        let nr = (24..=275).map(|blocks| (blocks, nr_size(blocks, SubBandSize::Small)));
        let lte = (8..=110).map(|blocks| (blocks, lte_size(blocks)));
        let counts = nr
            .chain(lte)
            .map(|(blocks, size)| blocks.div_ceil(size.expect("a size")));
        assert_eq!(counts.max(), Some(MOST_SUB_BANDS as u32));
    }

    #[test]
    fn a_difference_has_two_bits() {
        let known = |sub_band| reported(7, sub_band);
        assert_eq!([0, 6, 7, 8, 9, 15].map(known), [6, 6, 7, 8, 9, 9]);
        assert_eq!(
            (reported(0, 0), reported(15, 15), reported(14, 15)),
            (0, 15, 15)
        );
        assert_eq!(
            (report_bits(13), report_blocks(13), report_blocks(0)),
            (30, 1, 1)
        );
    }
}
