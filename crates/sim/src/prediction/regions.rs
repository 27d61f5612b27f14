//! Regions around base stations, and the share of reports from each region that found the path
//! blocked.

use fadeout_core::math::atan2;
use std::collections::BTreeMap;

/// Division of the ground into regions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RegionShape {
    /// A square of the ground. Its side is the resolution.
    Squares,
    /// A beam of the base station. The region is the sector in the beam's direction, at any
    /// distance from the antenna.
    Beams {
        /// Width of the beam, degrees.
        width_deg: f64,
    },
}

/// Number of all reports from a region, and number of reports that found the path blocked.
type Counts = (u32, u32);

/// A position on the ground, metres: east and north.
type Place = (f64, f64);

/// Map of one base station.
#[derive(Debug, Clone, Default)]
struct Map {
    mast: Place,
    counts: BTreeMap<(i32, i32), Counts>,
}

/// Maps of all cells. They contain the regions from which vehicles have sent reports.
#[derive(Debug, Clone)]
pub(super) struct Regions {
    shape: RegionShape,
    side: f64,
    cells: Vec<Map>,
}

impl Regions {
    /// Creates empty maps. `side` is the side of square regions, metres.
    pub(super) fn new(shape: RegionShape, side: f64) -> Regions {
        Regions {
            shape,
            side,
            cells: Vec::new(),
        }
    }

    /// Sets the position of a cell's antenna.
    pub(super) fn stand(&mut self, cell: u32, mast: Place) {
        self.map(cell).mast = mast;
    }

    fn map(&mut self, cell: u32) -> &mut Map {
        let cell = cell as usize;
        if self.cells.len() <= cell {
            self.cells.resize_with(cell + 1, Map::default);
        }
        &mut self.cells[cell]
    }

    fn region(&self, mast: Place, (x, y): Place) -> (i32, i32) {
        match self.shape {
            RegionShape::Squares => (
                (x / self.side).floor() as i32,
                (y / self.side).floor() as i32,
            ),
            RegionShape::Beams { width_deg } => {
                let azimuth_deg = atan2(y - mast.1, x - mast.0).to_degrees();
                // Beams are numbered counter-clockwise from east. If 360 degrees are no multiple of
                // the width, the last beam is narrower.
                let turn = azimuth_deg.rem_euclid(360.0);
                ((turn / width_deg).floor() as i32, 0)
            }
        }
    }

    pub(super) fn learn(&mut self, cell: u32, place: Place, is_cut: bool) {
        let region = self.region(self.mast(cell), place);
        let counts = self.map(cell).counts.entry(region).or_default();
        counts.0 += 1;
        counts.1 += u32::from(is_cut);
    }

    fn mast(&self, cell: u32) -> Place {
        let known = self.cells.get(cell as usize);
        known.map_or((0.0, 0.0), |map| map.mast)
    }

    /// True if most reports from the region at `place` found the path blocked. `None` if the region
    /// has fewer than `learning` reports.
    pub(super) fn is_cut(&self, cell: u32, place: Place, learning: u32) -> Option<bool> {
        let known = self.cells.get(cell as usize)?;
        let region = self.region(known.mast, place);
        let &(count, cut) = known.counts.get(&region)?;
        (count >= learning).then(|| u64::from(cut) * 2 > u64::from(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beam_is_all_that_lies_in_a_direction_and_a_square_is_not() {
        let beams = RegionShape::Beams { width_deg: 30.0 };
        for (shape, is_one) in [(beams, true), (RegionShape::Squares, false)] {
            let mut regions = Regions::new(shape, 5.0);
            regions.stand(1, (100.0, 50.0));
            regions.learn(1, (103.0, 60.0), true);
            // This position has the same direction from the antenna, 73 degrees from east, but ten
            // times the distance. So it is in the same beam.
            let far = regions.is_cut(1, (130.0, 150.0), 1);
            assert_eq!(far, is_one.then_some(true));
            assert_eq!(regions.is_cut(1, (103.5, 61.0), 1), Some(true));
            // No report came from the next beam, or from a beam of another antenna in this
            // direction. So the result is `None`.
            assert_eq!(regions.is_cut(1, (97.0, 60.0), 1), None);
            assert_eq!(regions.is_cut(0, (3.0, 10.0), 1), None);
        }
    }

    #[test]
    fn a_region_is_cut_when_most_reports_from_it_are() {
        let mut regions = Regions::new(RegionShape::Beams { width_deg: 7.0 }, 5.0);
        for (number, is_cut) in [true, true, false].into_iter().enumerate() {
            // The position is south of east, so it is in the last beam but one.
            regions.learn(0, (10.0 + number as f64, -0.5), is_cut);
        }
        assert_eq!(regions.is_cut(0, (40.0, -1.0), 3), Some(true));
        assert_eq!(regions.is_cut(0, (40.0, -1.0), 4), None);
        regions.learn(0, (10.0, -0.5), false);
        assert_eq!(regions.is_cut(0, (40.0, -1.0), 4), Some(false));
    }
}
