//! The transmissions of each of the latest slots.

use fadeout_core::CellId;

/// Slots that are remembered: more than the longest decoding time.
const REMEMBERED: usize = 64;
/// Averaging time of the mean, in slots.
const AVERAGING_SLOTS: f64 = 100.0;

/// A quantity of each of the latest slots, zero where nothing was added.
#[derive(Debug, Clone)]
pub(crate) struct History(Box<[Entry; REMEMBERED]>);

/// The same of each cell, and its mean. A slot's lie side by side: whoever hears cells hears all of a carrier.
#[derive(Debug, Clone)]
pub(crate) struct Histories {
    slots: Vec<Entry>,
    means: Means,
}

/// The means of cells.
#[derive(Debug)]
pub(crate) struct Means(Vec<Mean>);

impl Clone for Means {
    fn clone(&self) -> Means {
        Means(self.0.clone())
    }
    /// Into the memory that is there: a derived one would take new memory.
    fn clone_from(&mut self, of: &Means) {
        self.0.clone_from(&of.0);
    }
}

/// A value added up in a slot.
#[derive(Debug, Clone, Copy)]
struct Entry {
    slot: u64,
    value: f64,
}

/// The mean over about a hundred slots, and as of which.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    slot: u64,
    value: f64,
}

impl Entry {
    const NOTHING: Entry = Entry {
        slot: u64::MAX,
        value: 0.0,
    };

    #[inline]
    fn add(&mut self, slot: u64, value: f64) {
        let before = self.at(slot);
        *self = Entry {
            slot,
            value: before + value,
        };
    }

    #[inline]
    fn at(&self, slot: u64) -> f64 {
        if self.slot == slot { self.value } else { 0.0 }
    }
}

impl Mean {
    #[inline]
    fn add(&mut self, slot: u64, value: f64) {
        self.value = self.at(slot) + value / AVERAGING_SLOTS;
        self.slot = self.slot.max(slot);
    }

    #[inline]
    fn at(&self, slot: u64) -> f64 {
        // Nothing fades to nothing.
        if slot <= self.slot || self.value <= 0.0 {
            return self.value;
        }
        let idle = (slot - self.slot) as f64 / AVERAGING_SLOTS;
        // (1 + x/4)^-4 is e^-x for small x, and needs no transcendental function.
        let quarter = 1.0 / (1.0 + idle / 4.0);
        let square = quarter * quarter;
        self.value * square * square
    }
}

impl History {
    pub(crate) fn new() -> History {
        History(Box::new([Entry::NOTHING; REMEMBERED]))
    }

    /// Adds to the quantity of `slot`.
    pub(crate) fn add(&mut self, slot: u64, value: f64) {
        self.0[slot as usize % REMEMBERED].add(slot, value);
    }

    /// The quantity of `slot`; zero when that is forgotten.
    #[inline]
    pub(crate) fn at(&self, slot: u64) -> f64 {
        self.0[slot as usize % REMEMBERED].at(slot)
    }
}

impl Histories {
    /// Of so many cells.
    pub(crate) fn new(cells: usize) -> Histories {
        Histories {
            slots: vec![Entry::NOTHING; cells * REMEMBERED],
            means: Means(vec![Mean::default(); cells]),
        }
    }

    #[inline]
    fn index(&self, cell: CellId, slot: u64) -> usize {
        slot as usize % REMEMBERED * self.means.0.len() + cell.index()
    }

    /// Adds to a cell's quantity of `slot`.
    #[inline]
    pub(crate) fn add(&mut self, cell: CellId, slot: u64, value: f64) {
        let index = self.index(cell, slot);
        self.slots[index].add(slot, value);
        self.means.0[cell.index()].add(slot, value);
    }

    /// A cell's quantity of `slot`; zero when that is forgotten.
    #[inline]
    pub(crate) fn at(&self, cell: CellId, slot: u64) -> f64 {
        self.slots[self.index(cell, slot)].at(slot)
    }

    /// A cell's mean as of `slot`.
    #[inline]
    pub(crate) fn mean(&self, cell: CellId, slot: u64) -> f64 {
        self.means.at(cell, slot)
    }

    /// The means of all cells.
    pub(crate) fn means(&self) -> &Means {
        &self.means
    }
}

impl Means {
    /// A cell's mean as of `slot`.
    #[inline]
    pub(crate) fn at(&self, cell: CellId, slot: u64) -> f64 {
        self.0[cell.index()].at(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_known_by_slot_and_fades_from_the_mean() {
        let (first, second) = (CellId(0), CellId(1));
        let mut histories = Histories::new(2);
        let mut history = History::new();
        for slot in 0..2000 {
            for _ in 0..2 {
                histories.add(first, slot, 0.25);
                history.add(slot, 0.25);
            }
        }
        histories.add(second, 1999, 1.0);
        for (slot, expected) in [(1999, 0.5), (2000, 0.0), (3, 0.0)] {
            assert_eq!(histories.at(first, slot), expected);
            assert_eq!(history.at(slot), expected);
        }
        assert_eq!(histories.at(second, 1999), 1.0);
        let mean = histories.mean(first, 1999);
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(histories.mean(first, 12_000) < 1e-4);
        assert_eq!(histories.mean(second, 1999), 1.0 / AVERAGING_SLOTS);
    }
}
