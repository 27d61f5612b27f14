//! Regions of the ground, and how often reports from there found a cell cut off.

use std::collections::BTreeMap;

/// Reports from a region, and how many of them found the cell cut off.
type Counts = (u32, u32);

/// For each cell the squares of the ground that cars have reported from.
#[derive(Debug, Clone, Default)]
pub(super) struct Regions {
    cells: Vec<BTreeMap<(i32, i32), Counts>>,
}

fn square((x, y): (f64, f64), side: f64) -> (i32, i32) {
    ((x / side).floor() as i32, (y / side).floor() as i32)
}

impl Regions {
    pub(super) fn learn(&mut self, cell: u32, place: (f64, f64), side: f64, is_cut: bool) {
        let cell = cell as usize;
        if self.cells.len() <= cell {
            self.cells.resize_with(cell + 1, BTreeMap::new);
        }
        let counts = self.cells[cell].entry(square(place, side)).or_default();
        counts.0 += 1;
        counts.1 += u32::from(is_cut);
    }

    /// Whether a region is mostly cut; none where fewer than `learning` reports came from.
    pub(super) fn is_cut(
        &self,
        cell: u32,
        place: (f64, f64),
        side: f64,
        learning: u32,
    ) -> Option<bool> {
        let known = self.cells.get(cell as usize)?;
        let &(count, cut) = known.get(&square(place, side))?;
        (count >= learning).then(|| u64::from(cut) * 2 > u64::from(count))
    }
}
