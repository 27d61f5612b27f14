//! Regions around base stations, and how often reports from there found one cut off.

use fadeout_core::math::atan2;
use std::collections::BTreeMap;

/// What a region is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Division {
    /// A square of the ground with sides of the resolution.
    Squares,
    /// A beam of the base station: a sector from its mast on, however far.
    Beams {
        /// Its width, degrees.
        width_deg: f64,
    },
}

/// Reports from a region, and how many of them found the cell cut off.
type Counts = (u32, u32);

/// A place on the ground, metres: east and north.
type Place = (f64, f64);

/// What a base station knows.
#[derive(Debug, Clone, Default)]
struct Map {
    mast: Place,
    counts: BTreeMap<(i32, i32), Counts>,
}

/// For each cell the regions that cars have reported from.
#[derive(Debug, Clone)]
pub(super) struct Regions {
    division: Division,
    side: f64,
    cells: Vec<Map>,
}

impl Regions {
    /// With squares of this side, where regions are such.
    pub(super) fn new(division: Division, side: f64) -> Regions {
        Regions {
            division,
            side,
            cells: Vec::new(),
        }
    }

    /// A base station stands here.
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
        match self.division {
            Division::Squares => (
                (x / self.side).floor() as i32,
                (y / self.side).floor() as i32,
            ),
            Division::Beams { width_deg } => {
                let azimuth_deg = atan2(y - mast.1, x - mast.0).to_degrees();
                // Beams stand side by side from east on; the last is narrower where they do not fit.
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

    /// Whether a region is mostly cut; none where fewer than `learning` reports came from.
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
        let beams = Division::Beams { width_deg: 30.0 };
        for (division, is_one) in [(beams, true), (Division::Squares, false)] {
            let mut regions = Regions::new(division, 5.0);
            regions.stand(1, (100.0, 50.0));
            regions.learn(1, (103.0, 60.0), true);
            // 73 degrees from east, ten times as far.
            let far = regions.is_cut(1, (130.0, 150.0), 1);
            assert_eq!(far, is_one.then_some(true));
            assert_eq!(regions.is_cut(1, (103.5, 61.0), 1), Some(true));
            // The next beam, and the same direction of a mast elsewhere.
            assert_eq!(regions.is_cut(1, (97.0, 60.0), 1), None);
            assert_eq!(regions.is_cut(0, (3.0, 10.0), 1), None);
        }
    }

    #[test]
    fn a_region_is_cut_when_most_reports_from_it_are() {
        let mut regions = Regions::new(Division::Beams { width_deg: 7.0 }, 5.0);
        for (number, is_cut) in [true, true, false].into_iter().enumerate() {
            // South of east: the last beam but one.
            regions.learn(0, (10.0 + number as f64, -0.5), is_cut);
        }
        assert_eq!(regions.is_cut(0, (40.0, -1.0), 3), Some(true));
        assert_eq!(regions.is_cut(0, (40.0, -1.0), 4), None);
        regions.learn(0, (10.0, -0.5), false);
        assert_eq!(regions.is_cut(0, (40.0, -1.0), 4), Some(false));
    }
}
