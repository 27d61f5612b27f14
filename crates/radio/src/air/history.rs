//! What each cell does in each of the latest slots, all cells side by side: interference asks all of them at
//! once.

/// A quantity of each cell and of each of the latest slots, zero where nothing was added, and its mean.
#[derive(Debug, Clone)]
pub(crate) struct History {
    cells: usize,
    /// Of each slot, by cell.
    slots: Vec<(u64, f64)>,
    /// Mean over about a hundred slots, and as of which, by cell.
    means: Vec<(u64, f64)>,
}

/// Slots that are remembered: more than the longest decoding time.
const REMEMBERED: usize = 64;
/// Averaging time of the mean, in slots.
const AVERAGING_SLOTS: f64 = 100.0;

impl History {
    pub(crate) fn new(cells: usize) -> History {
        History {
            cells,
            slots: vec![(u64::MAX, 0.0); REMEMBERED * cells],
            means: vec![(0, 0.0); cells],
        }
    }

    /// Adds to the quantity of a cell in `slot`.
    pub(crate) fn add(&mut self, cell: usize, slot: u64, value: f64) {
        let before = self.at(cell, slot);
        let place = self.place(cell, slot);
        self.slots[place] = (slot, before + value);
        let mean = self.mean(cell, slot) + value / AVERAGING_SLOTS;
        self.means[cell] = (self.means[cell].0.max(slot), mean);
    }

    #[inline]
    fn place(&self, cell: usize, slot: u64) -> usize {
        slot as usize % REMEMBERED * self.cells + cell
    }

    /// The quantity of a cell in `slot`; zero when that is forgotten.
    #[inline]
    pub(crate) fn at(&self, cell: usize, slot: u64) -> f64 {
        let (at, value) = self.slots[self.place(cell, slot)];
        if at == slot { value } else { 0.0 }
    }

    /// The mean of a cell as of `slot`.
    #[inline]
    pub(crate) fn mean(&self, cell: usize, slot: u64) -> f64 {
        let (at, mean) = self.means[cell];
        let idle = slot.saturating_sub(at) as f64 / AVERAGING_SLOTS;
        // (1 + x/4)^-4 is e^-x for small x, and needs no transcendental function.
        let quarter = 1.0 / (1.0 + idle / 4.0);
        let square = quarter * quarter;
        mean * square * square
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_known_by_cell_and_slot_and_fades_from_the_mean() {
        let mut history = History::new(3);
        for slot in 0..2000 {
            history.add(1, slot, 0.25);
            history.add(1, slot, 0.25);
        }
        let of = |slot| history.at(1, slot);
        assert_eq!((of(1999), of(2000), of(3)), (0.5, 0.0, 0.0));
        let mean = history.mean(1, 1999);
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(history.mean(1, 12_000) < 1e-4);
        assert_eq!((history.at(0, 1999), history.mean(2, 1999)), (0.0, 0.0));
    }
}
