//! History of a quantity over the latest slots, and its mean.

use fadeout_core::CellId;

/// Number of latest slots that are stored. The number exceeds the longest decoding time.
const SLOTS_KEPT: usize = 64;
/// Weight of one slot in the mean. In each slot, the mean is multiplied by one minus this weight.
const WEIGHT: f64 = 0.01;
const KEPT: f64 = 1.0 - WEIGHT;
/// Size of the decay tables.
const TABLE_SIZE: usize = 64;
/// Tables of decay factors: `KEPT.pow(n)`, and `KEPT.pow(TABLE_SIZE * n)`.
static DECAY: ([f64; TABLE_SIZE], [f64; TABLE_SIZE + 1]) = {
    let (mut slots, mut steps) = ([1.0; TABLE_SIZE], [1.0; TABLE_SIZE + 1]);
    let mut n = 1;
    while n < TABLE_SIZE {
        slots[n] = slots[n - 1] * KEPT;
        n += 1;
    }
    n = 1;
    while n < TABLE_SIZE {
        steps[n] = steps[n - 1] * (slots[TABLE_SIZE - 1] * KEPT);
        n += 1;
    }
    // After 4,096 slots the decay factor is below the rounding error, so the table contains zero.
    steps[TABLE_SIZE] = 0.0;
    (slots, steps)
};

/// Values of a quantity in the latest slots. Zero for slots to which no value was added.
#[derive(Debug, Clone)]
pub(crate) struct History(Box<[SlotValue; SLOTS_KEPT]>);

/// History of a quantity for each cell, and its mean. Values of one slot are adjacent in memory,
/// because every read needs all cells of a carrier.
#[derive(Debug, Clone)]
pub(crate) struct Histories {
    slots: Vec<SlotValue>,
    means: Means,
}

/// Means of a quantity, by cell.
#[derive(Debug)]
pub(crate) struct Means(Vec<Mean>);

impl Clone for Means {
    fn clone(&self) -> Means {
        Means(self.0.clone())
    }
    /// Copies `source` into existing memory. The derived implementation would allocate memory.
    fn clone_from(&mut self, source: &Means) {
        self.0.clone_from(&source.0);
    }
}

/// Sum of the values that were added in one slot.
#[derive(Debug, Clone, Copy)]
struct SlotValue {
    slot: u64,
    value: f64,
}

/// Exponential mean over about a hundred slots, and the slot of its latest update. Each slot's
/// value is weighted by [`WEIGHT`] times [`KEPT`] to the power of the slot's age. The order of
/// additions does not matter, so means of parts sum to the total mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    slot: u64,
    value: f64,
}

/// Returns the decay factor of a mean over this number of slots.
#[inline]
fn decay(slots: u64) -> f64 {
    let slots = slots.min((TABLE_SIZE * TABLE_SIZE) as u64) as usize;
    DECAY.0[slots % TABLE_SIZE] * DECAY.1[slots / TABLE_SIZE]
}

impl SlotValue {
    const EMPTY: SlotValue = SlotValue {
        slot: u64::MAX,
        value: 0.0,
    };

    #[inline]
    fn add(&mut self, slot: u64, value: f64) {
        let before = self.value_at(slot);
        debug_assert!(
            value >= 0.0 && value.is_finite(),
            "{value} is added in slot {slot}"
        );
        *self = SlotValue {
            slot,
            value: before + value,
        };
    }

    #[inline]
    fn value_at(&self, slot: u64) -> f64 {
        if self.slot == slot { self.value } else { 0.0 }
    }
}

impl Mean {
    #[inline]
    pub(super) fn add(&mut self, slot: u64, value: f64) {
        let value = value * WEIGHT;
        if slot < self.slot {
            self.value += value * decay(self.slot - slot);
            return;
        }
        self.value = self.value_at(slot) + value;
        self.slot = slot;
        debug_assert!(
            self.value >= 0.0 && self.value.is_finite(),
            "a mean of {}",
            self.value
        );
    }

    /// Returns the mean as of `slot`. If a later slot was added, returns the mean as of the latest
    /// added slot.
    #[inline]
    pub(super) fn value_at(&self, slot: u64) -> f64 {
        // A mean of zero does not decay.
        if slot <= self.slot || self.value <= 0.0 {
            return self.value;
        }
        self.value * decay(slot - self.slot)
    }
}

impl History {
    pub(crate) fn new() -> History {
        History(Box::new([SlotValue::EMPTY; SLOTS_KEPT]))
    }

    /// Adds `value` to the quantity of `slot`.
    pub(crate) fn add(&mut self, slot: u64, value: f64) {
        self.0[slot as usize % SLOTS_KEPT].add(slot, value);
    }

    /// Returns the quantity of `slot`. Zero if `slot` is no longer stored.
    #[inline]
    pub(crate) fn value_at(&self, slot: u64) -> f64 {
        self.0[slot as usize % SLOTS_KEPT].value_at(slot)
    }
}

impl Histories {
    /// Builds empty histories for this number of cells.
    pub(crate) fn new(cells: usize) -> Histories {
        Histories {
            slots: vec![SlotValue::EMPTY; cells * SLOTS_KEPT],
            means: Means(vec![Mean::default(); cells]),
        }
    }

    #[inline]
    fn index(&self, cell: CellId, slot: u64) -> usize {
        slot as usize % SLOTS_KEPT * self.means.0.len() + cell.index()
    }

    /// Adds `value` to a cell's quantity of `slot`.
    #[inline]
    pub(crate) fn add(&mut self, cell: CellId, slot: u64, value: f64) {
        let index = self.index(cell, slot);
        self.slots[index].add(slot, value);
        self.means.0[cell.index()].add(slot, value);
    }

    /// Returns a cell's quantity of `slot`. Zero if `slot` is no longer stored.
    #[inline]
    pub(crate) fn value_at(&self, cell: CellId, slot: u64) -> f64 {
        self.slots[self.index(cell, slot)].value_at(slot)
    }

    /// Returns a cell's mean as of `slot`.
    #[inline]
    pub(crate) fn mean(&self, cell: CellId, slot: u64) -> f64 {
        self.means.value_at(cell, slot)
    }

    /// Returns a cell's mean as of `slot` without `contribution`, the share of one sender in the
    /// mean.
    #[inline]
    pub(super) fn mean_without(&self, cell: CellId, slot: u64, contribution: &Mean) -> f64 {
        let mean = &self.means.0[cell.index()];
        let slot = slot.max(mean.slot);
        (mean.value_at(slot) - contribution.value_at(slot)).max(0.0)
    }

    /// Returns the means of all cells.
    pub(crate) fn means(&self) -> &Means {
        &self.means
    }
}

impl Means {
    /// Returns a cell's mean as of `slot`.
    #[inline]
    pub(crate) fn value_at(&self, cell: CellId, slot: u64) -> f64 {
        self.0[cell.index()].value_at(slot)
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
            assert_eq!(histories.value_at(first, slot), expected);
            assert_eq!(history.value_at(slot), expected);
        }
        assert_eq!(histories.value_at(second, 1999), 1.0);
        let mean = histories.mean(first, 1999);
        // The mean covers 2,000 slots with a mean value of 0.5. Older slots would have a weight of
        // 0.99^2000 only, so the result is 0.5.
        assert!((mean - 0.5).abs() < 2e-9, "{mean}");
        assert_eq!(histories.mean(first, 12_000), 0.0);
        assert_eq!(histories.mean(second, 1999), WEIGHT);
    }

    /// Returns the mean by its definition: the sum of all added values, each weighted by its slot's
    /// age.
    fn slow_mean(added: &[(u64, f64)], slot: u64) -> f64 {
        let weighted =
            |&(at, value): &(u64, f64)| (at..slot).fold(value * WEIGHT, |left, _| left * KEPT);
        added.iter().map(weighted).sum()
    }

    #[test]
    fn a_mean_does_not_depend_on_who_adds_when_and_parts_can_be_taken_out() {
        Cases::new(200).run(|seed| {
            let mut random = Stream::new(seed, "mean", 0);
            let cell = CellId(0);
            let mut histories = Histories::new(1);
            let (mut mine, mut of_mine, mut of_others) = (Mean::default(), Vec::new(), Vec::new());
            // The sender's values are up to 30 dB above the values of other senders. The sender
            // sends in bursts with long gaps.
            let (level, others) = (1e3 * random.uniform(), random.chance(0.8));
            let mut slot = 0;
            for _ in 0..300 {
                slot += match random.below(20) {
                    0 => random.below(3000),
                    _ => random.below(3),
                };
                // Cells with another slot length may add their values a few slots late.
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
            // The tolerance is the rounding error of the largest possible mean.
            let rounding = 1e-12 * (level + 1.0);
            assert!((all - own - rest).abs() < rounding, "{all} {own} {rest}");
            assert!((left - rest).abs() < rounding, "{left} {rest}");
            assert!(others || left.total_cmp(&0.0).is_eq(), "{left}");
        });
    }
}
