//! Sub-bands of a carrier, for which UEs report a CQI each.

use crate::channel::fading::MAX_SUB_BANDS;
use crate::config::CellConfig;
use crate::phy::sub_band::{BandSet, MOST_SUB_BANDS, report_blocks};
use std::ops::Range;

/// Maximum number of fading values in all sub-bands together. A sub-band may share one value with
/// the next sub-band.
pub(crate) const MOST_BAND_GAINS: usize = MAX_SUB_BANDS + MOST_SUB_BANDS;

/// CQI of each sub-band.
pub(crate) type BandCqi = [u8; MOST_SUB_BANDS];

/// Sub-bands of a carrier.
#[derive(Debug, Clone)]
pub(crate) struct SubBands {
    /// Number of units in each sub-band.
    units: Vec<u8>,
    /// Number of resource blocks of a sub-band, and of the carrier.
    blocks: (u32, u32),
    /// Uplink resource blocks that a report occupies.
    pub report_blocks: u32,
}

impl SubBands {
    /// Returns the sub-bands of a cell whose units are groups of `group` resource blocks. `None` if
    /// the cell has no sub-bands. A sub-band contains whole groups, as in the tables of the
    /// standards.
    pub(crate) fn new(config: &CellConfig, group: u32) -> Option<SubBands> {
        let size = config.cqi_sub_band?;
        let all = config.resource_blocks;
        let in_band = |band: u32| (all - band * size).min(size).div_ceil(group) as u8;
        let count = all.div_ceil(size).min(MOST_SUB_BANDS as u32);
        Some(SubBands {
            units: (0..count).map(in_band).collect(),
            blocks: (size, all),
            report_blocks: report_blocks(count),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.units.len()
    }

    /// Returns the number of units in each sub-band.
    pub(crate) fn units(&self) -> &[u8] {
        &self.units
    }

    /// Returns the index range of the fading values that overlap a sub-band. `count` fading values
    /// cover equal parts of the carrier.
    fn parts(&self, band: usize, count: usize) -> Range<usize> {
        let (size, all) = (self.blocks.0 as usize, self.blocks.1 as usize);
        let (from, to) = (band * size, (band * size + size).min(all));
        from * count / all..(to * count).div_ceil(all)
    }

    /// Returns the fading gains that overlap a sub-band. `gains` cover equal parts of the carrier.
    pub(crate) fn gains_in<'a>(&self, band: usize, gains: &'a [f32]) -> &'a [f32] {
        &gains[self.parts(band, gains.len())]
    }

    /// Collects the fading gains that overlap a transport block in the sub-bands `bands`. A gain
    /// that overlaps two of these sub-bands is listed twice.
    pub(crate) fn overlapping_gains<'a>(
        &self,
        bands: BandSet,
        gains: &[f32],
        found: &'a mut [f32; MOST_BAND_GAINS],
    ) -> &'a [f32] {
        let mut count = 0;
        for band in (0..self.count()).filter(|&band| bands.contains(band)) {
            let of_band = self.gains_in(band, gains);
            found[count..count + of_band.len()].copy_from_slice(of_band);
            count += of_band.len();
        }
        &found[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::{Hertz, Point};

    fn sub_bands(blocks: u32, size: u32, group: u32) -> SubBands {
        let cell = CellConfig {
            cqi_sub_band: Some(size),
            ..CellConfig::lte(Point::default(), Hertz(2e9), blocks)
        };
        SubBands::new(&cell, group).expect("sub-bands")
    }

    #[test]
    fn the_last_sub_band_has_what_is_left() {
        let bands = sub_bands(50, 6, 3);
        assert_eq!(bands.units(), [2, 2, 2, 2, 2, 2, 2, 2, 1]);
        assert_eq!(
            sub_bands(100, 8, 4)
                .units()
                .iter()
                .map(|&n| u32::from(n))
                .sum::<u32>(),
            25
        );
    }

    #[test]
    fn every_part_of_the_carrier_lies_in_some_sub_band_and_none_outside_its_own() {
        let bands = sub_bands(100, 8, 4);
        for count in [1, 13, 16, 64] {
            let mut next = 0;
            for band in 0..bands.count() {
                let parts = bands.parts(band, count);
                assert!(!parts.is_empty() && parts.start <= next && parts.end <= count);
                next = parts.end;
                let edge = |block: usize| block as f64 * count as f64 / 100.0;
                assert!(parts.start as f64 + 1.0 > edge(8 * band));
                assert!((parts.end as f64) < edge(8 * (band + 1)) + 1.0);
            }
            assert_eq!(next, count);
        }
    }
}
