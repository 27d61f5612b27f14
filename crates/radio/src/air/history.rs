//! The transmissions of each of the latest slots.

use fadeout_core::CellId;

/// Slots that are remembered: more than the longest decoding time.
const REMEMBERED: usize = 64;
/// What a slot counts in the mean, and what is left of the mean from one slot to the next: weights that sum to one.
const WEIGHT: f64 = 0.01;
const KEPT: f64 = 1.0 - WEIGHT;
/// Entries of a table of what is left.
const STEPS: usize = 64;
/// What is left after so many slots, and after so many times [`STEPS`] slots.
static FADED: ([f64; STEPS], [f64; STEPS + 1]) = {
    let (mut slots, mut steps) = ([1.0; STEPS], [1.0; STEPS + 1]);
    let mut n = 1;
    while n < STEPS {
        slots[n] = slots[n - 1] * KEPT;
        n += 1;
    }
    n = 1;
    while n < STEPS {
        steps[n] = steps[n - 1] * (slots[STEPS - 1] * KEPT);
        n += 1;
    }
    // From 4096 slots on it is less than what rounds away.
    steps[STEPS] = 0.0;
    (slots, steps)
};

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

/// The mean over about a hundred slots, and as of which. It is the sum over slots of [`WEIGHT`] times [`KEPT`] to the
/// power of their age, whoever adds in which order, so that means of parts sum to the mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    slot: u64,
    value: f64,
}

/// What is left of a mean after so many slots without anything.
#[inline]
fn faded(slots: u64) -> f64 {
    let slots = slots.min((STEPS * STEPS) as u64) as usize;
    FADED.0[slots % STEPS] * FADED.1[slots / STEPS]
}

impl Entry {
    const NOTHING: Entry = Entry {
        slot: u64::MAX,
        value: 0.0,
    };

    #[inline]
    fn add(&mut self, slot: u64, value: f64) {
        let before = self.at(slot);
        debug_assert!(
            value >= 0.0 && value.is_finite(),
            "{value} is added in slot {slot}"
        );
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
    pub(super) fn add(&mut self, slot: u64, value: f64) {
        let value = value * WEIGHT;
        if slot < self.slot {
            self.value += value * faded(self.slot - slot);
            return;
        }
        self.value = self.at(slot) + value;
        self.slot = slot;
        debug_assert!(
            self.value >= 0.0 && self.value.is_finite(),
            "a mean of {}",
            self.value
        );
    }

    /// As of `slot`, or of the latest one if that is later.
    #[inline]
    pub(super) fn at(&self, slot: u64) -> f64 {
        // Nothing fades to nothing.
        if slot <= self.slot || self.value <= 0.0 {
            return self.value;
        }
        self.value * faded(slot - self.slot)
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

    /// The same without the part of one that has added to it.
    #[inline]
    pub(super) fn mean_without(&self, cell: CellId, slot: u64, part: &Mean) -> f64 {
        let mean = &self.means.0[cell.index()];
        let slot = slot.max(mean.slot);
        (mean.at(slot) - part.at(slot)).max(0.0)
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
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

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
        // What is older than its 2,000 slots is 0.99^2000 of it.
        assert!((mean - 0.5).abs() < 2e-9, "{mean}");
        assert_eq!(histories.mean(first, 12_000), 0.0);
        assert_eq!(histories.mean(second, 1999), WEIGHT);
    }

    /// The mean as it is defined: of all that was added, each by its age.
    fn slow_mean(added: &[(u64, f64)], slot: u64) -> f64 {
        let of = |&(at, value): &(u64, f64)| (at..slot).fold(value * WEIGHT, |left, _| left * KEPT);
        added.iter().map(of).sum()
    }

    #[test]
    fn a_mean_does_not_depend_on_who_adds_when_and_parts_can_be_taken_out() {
        Cases::new(200).run(|seed| {
            let mut random = Stream::new(seed, "mean", 0);
            let cell = CellId(0);
            let mut histories = Histories::new(1);
            let (mut mine, mut of_mine, mut of_others) = (Mean::default(), Vec::new(), Vec::new());
            // Up to 30 dB above the others, and bursts with long gaps between them.
            let (level, others) = (1e3 * random.uniform(), random.chance(0.8));
            let mut slot = 0;
            for _ in 0..300 {
                slot += match random.below(20) {
                    0 => random.below(3000),
                    _ => random.below(3),
                };
                // Cells of other slots may come a little late.
                let late = slot - random.below(3).min(slot);
                if others && random.chance(0.5) {
                    let value = random.uniform();
                    of_others.push((late, value));
                    histories.add(cell, late, value);
                } else {
                    of_mine.push((late, level));
                    histories.add(cell, late, level);
                    mine.add(late, level);
                }
            }
            let slot = slot + random.below(300);
            let (all, left) = (
                histories.mean(cell, slot),
                histories.mean_without(cell, slot, &mine),
            );
            let (own, rest) = (slow_mean(&of_mine, slot), slow_mean(&of_others, slot));
            // To rounding, of the largest that the mean has been.
            let rounding = 1e-12 * (level + 1.0);
            assert!((all - own - rest).abs() < rounding, "{all} {own} {rest}");
            assert!((left - rest).abs() < rounding, "{left} {rest}");
            assert!(others || left.total_cmp(&0.0).is_eq(), "{left}");
        });
    }
}
