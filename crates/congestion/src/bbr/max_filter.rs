//! Maximum filter over the last rounds.

/// Maximum number of rounds that the filter can cover.
const SLOTS: usize = 16;

/// Maximum over a window of rounds. Each round has a slot, so a value leaves exactly when its round
/// leaves the window.
#[derive(Debug, Clone)]
pub(in super::super) struct MaxFilter {
    slots: [f64; SLOTS],
    length: u64,
    round: u64,
    max: f64,
}

impl MaxFilter {
    /// Returns a filter over the present round and the `length` rounds before it. `length` is at
    /// most 15.
    pub(in super::super) fn new(length: u64) -> Self {
        MaxFilter {
            slots: [0.0; SLOTS],
            length: length.min(SLOTS as u64 - 1),
            round: 0,
            max: 0.0,
        }
    }

    /// Adds `value`, measured in `round`. The round number never decreases.
    pub(in super::super) fn update(&mut self, round: u64, value: f64) {
        self.advance(round);
        let slot = &mut self.slots[round as usize % SLOTS];
        *slot = slot.max(value);
        self.max = self.max.max(value);
    }

    /// Advances the window to `round` and clears the slots of rounds that left the window.
    fn advance(&mut self, round: u64) {
        if round == self.round {
            return;
        }
        // Only the slots that left the window have to be cleared, at most all of them.
        for passed in 0..(round - self.round).min(SLOTS as u64) {
            self.slots[(round - passed) as usize % SLOTS] = 0.0;
        }
        self.round = round;
        let in_window = (0..=self.length.min(round)).map(|age| (round - age) as usize % SLOTS);
        self.max = in_window.map(|slot| self.slots[slot]).fold(0.0, f64::max);
    }

    /// Returns the largest value in the window. Zero before the first value.
    pub(in super::super) fn max(&self) -> f64 {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_leaves_with_its_round() {
        let mut filter = MaxFilter::new(10);
        filter.update(0, 100.0);
        for round in 1..=10 {
            filter.update(round, 50.0);
            assert_eq!(filter.max(), 100.0);
        }
        filter.update(11, 40.0);
        assert_eq!(filter.max(), 50.0);
        filter.update(1000, 1.0);
        assert_eq!(filter.max(), 1.0);
    }
}
