//! The transmissions of each of the latest slots.

/// A quantity of each of the latest slots, zero where nothing was added, and its mean.
#[derive(Debug, Clone)]
pub(crate) struct History {
    slots: Box<[(u64, f64); REMEMBERED]>,
    /// Mean over about a hundred slots, and as of which.
    mean: (u64, f64),
    /// What each slot has without anything added.
    least: f64,
}

/// Slots that are remembered: more than the longest decoding time.
const REMEMBERED: usize = 64;
/// Averaging time of the mean, in slots.
const AVERAGING_SLOTS: f64 = 100.0;

impl History {
    pub(crate) fn new() -> History {
        History::above(0.0)
    }

    /// One whose slots have `least` without anything added, and one at most.
    pub(crate) fn above(least: f64) -> History {
        History {
            slots: Box::new([(u64::MAX, 0.0); REMEMBERED]),
            mean: (0, least),
            least,
        }
    }

    /// Adds to the quantity of `slot`.
    pub(crate) fn add(&mut self, slot: u64, value: f64) {
        let before = self.at(slot);
        let value = match self.least {
            0.0 => value,
            _ => value.min(1.0 - before),
        };
        self.slots[slot as usize % REMEMBERED] = (slot, before + value);
        let mean = self.mean(slot) + value / AVERAGING_SLOTS;
        self.mean = (self.mean.0.max(slot), mean);
    }

    /// The quantity of `slot`; the least when that is forgotten.
    #[inline]
    pub(crate) fn at(&self, slot: u64) -> f64 {
        let (at, value) = self.slots[slot as usize % REMEMBERED];
        if at == slot { value } else { self.least }
    }

    /// The mean as of `slot`.
    #[inline]
    pub(crate) fn mean(&self, slot: u64) -> f64 {
        let (at, mean) = self.mean;
        if slot <= at {
            return mean;
        }
        let idle = (slot - at) as f64 / AVERAGING_SLOTS;
        // (1 + x/4)^-4 is e^-x for small x, and needs no transcendental function.
        let quarter = 1.0 / (1.0 + idle / 4.0);
        let square = quarter * quarter;
        self.least + (mean - self.least) * square * square
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_known_by_slot_and_fades_from_the_mean() {
        let mut history = History::new();
        for slot in 0..2000 {
            history.add(slot, 0.25);
            history.add(slot, 0.25);
        }
        assert_eq!(
            (history.at(1999), history.at(2000), history.at(3)),
            (0.5, 0.0, 0.0)
        );
        let mean = history.mean(1999);
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(history.mean(12_000) < 1e-4);
    }
    #[test]
    fn what_is_always_there_is_added_to_and_stays() {
        let mut history = History::above(0.75);
        assert_eq!((history.at(5), history.mean(5)), (0.75, 0.75));
        for slot in 0..2000 {
            history.add(slot, 0.2);
            history.add(slot, 0.2);
        }
        assert_eq!((history.at(1999), history.at(2000)), (1.0, 0.75));
        assert!((history.mean(1999) - 1.0).abs() < 0.01);
        assert!((history.mean(12_000) - 0.75).abs() < 1e-4);
    }
}
