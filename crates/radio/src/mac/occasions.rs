//! Periodic uplink occasions in slots where the duplex pattern has symbols for them.

use crate::phy::overhead::common_multiple;

/// Periodic occasions of a cell's UEs. Each UE has one occasion in each period, at the UE's offset.
///
/// If an occasion lies in a slot without symbols for it, the occasion is not used. The allowed
/// offsets are those whose occasions most often have symbols. If the period is a multiple of the
/// pattern, all occasions at an allowed offset have symbols.
///
/// Standard: TS 38.213 §9.2.4; TS 36.213 §10.1.5; TS 38.321 §5.8.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasions {
    /// Number of slots from one occasion to the next.
    period: u64,
    /// True for each slot of the pattern that has symbols for an occasion.
    usable: Vec<bool>,
    /// Allowed offsets in ascending order.
    offsets: Vec<u32>,
    /// Number of occasions with symbols among `until_repeat` consecutive ones.
    with_symbols: u64,
    /// Number of occasions after which both the period and the pattern repeat.
    until_repeat: u64,
}

impl Occasions {
    /// Creates occasions every `period` slots. `usable` is true for each slot of the pattern with
    /// symbols for an occasion.
    pub fn new(period: u32, usable: Vec<bool>) -> Occasions {
        let (period, pattern) = (u64::from(period.max(1)), usable.len().max(1) as u64);
        let until_repeat = common_multiple(period, pattern) / period;
        let is_usable = |slot: u64| usable.get((slot % pattern) as usize) == Some(&true);
        let hits = |offset: u64| {
            let slots = (0..until_repeat).map(|n| offset + n * period);
            slots.filter(|&slot| is_usable(slot)).count() as u64
        };
        let with_symbols = (0..period).map(hits).max().unwrap_or(0);
        let offsets = (0..period).filter(|&offset| hits(offset) == with_symbols);
        Occasions {
            period,
            offsets: offsets.map(|offset| offset as u32).collect(),
            usable,
            with_symbols,
            until_repeat,
        }
    }

    /// Returns occasions with another period in the same pattern.
    pub fn with_period(&self, period: u32) -> Occasions {
        Occasions::new(period, self.usable.clone())
    }

    /// Returns the number of allowed offsets.
    pub fn offsets(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Returns the allowed offset with index `n`. Indices wrap around at the number of offsets.
    pub fn offset(&self, n: u64) -> u32 {
        self.offsets[(n % self.offsets()) as usize]
    }

    /// Returns the first allowed offset that is at least `least`. If all allowed offsets are
    /// smaller, returns the smallest one.
    pub fn offset_from(&self, least: u32) -> u32 {
        let later = self.offsets.iter().find(|&&offset| offset >= least);
        *later.unwrap_or(&self.offsets[0])
    }

    /// Returns the slot of the first occasion with symbols, not before `slot`, for a UE with offset
    /// `offset`. `None` if no occasion has symbols.
    pub fn next_from(&self, slot: u64, offset: u32) -> Option<u64> {
        let (period, offset) = (self.period, u64::from(offset));
        let phase = (slot + period - offset % period) % period;
        let first = slot + (period - phase) % period;
        let mut occasions = (0..self.until_repeat).map(|n| first + n * period);
        let pattern = self.usable.len() as u64;
        occasions.find(|&slot| self.usable[(slot % pattern) as usize])
    }

    /// Returns the mean number of slots between occasions with symbols, if the pattern makes this
    /// mean longer than the period. The mean is infinite if no occasion has symbols. `None` if the
    /// mean equals the period.
    pub fn stretched_period(&self) -> Option<f64> {
        let mean = self.period as f64 * self.until_repeat as f64 / self.with_symbols as f64;
        (self.with_symbols < self.until_repeat).then_some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the usable slots of a pattern. `U` and `S` have uplink symbols, `D` has none.
    fn pattern(slots: &str) -> Vec<bool> {
        slots.chars().map(|slot| slot != 'D').collect()
    }

    fn offsets(occasions: &Occasions) -> Vec<u32> {
        (0..occasions.offsets())
            .map(|n| occasions.offset(n))
            .collect()
    }

    #[test]
    fn without_a_pattern_occasions_come_once_a_period_at_any_offset() {
        let five = Occasions::new(5, vec![true]);
        let found = (0..12).map(|slot| five.next_from(slot, 3));
        let expected = [3, 3, 3, 3, 8, 8, 8, 8, 8, 13, 13, 13].map(Some);
        assert!(found.eq(expected));
        assert_eq!(offsets(&five), [0, 1, 2, 3, 4]);
        assert_eq!(Occasions::new(1, vec![true]).next_from(17, 0), Some(17));
        assert_eq!((five.stretched_period(), five.offset_from(3)), (None, 3));
    }

    #[test]
    fn a_multiple_of_the_pattern_keeps_its_period_at_the_offsets_with_symbols() {
        for (period, expected) in [(5, vec![3, 4]), (10, vec![3, 4, 8, 9])] {
            let occasions = Occasions::new(period, pattern("DDDSU"));
            assert_eq!(
                (offsets(&occasions), occasions.stretched_period()),
                (expected, None)
            );
            for n in 0..occasions.offsets() {
                let offset = occasions.offset(n);
                let second = u64::from(offset + period);
                assert_eq!(
                    occasions.next_from(u64::from(offset) + 1, offset),
                    Some(second)
                );
            }
        }
        let occasions = Occasions::new(10, pattern("DDDSU"));
        assert_eq!(
            [0, 4, 5, 9, 10].map(|least| occasions.offset_from(least)),
            [3, 4, 8, 9, 3]
        );
    }

    #[test]
    fn a_period_that_does_not_fit_is_what_the_pattern_leaves_of_it() {
        // Two of five slots have symbols. With a period of 8, two of five occasions at any offset
        // have symbols. So all offsets are allowed.
        let eight = Occasions::new(8, pattern("DDDSU"));
        assert_eq!(offsets(&eight).len(), 8);
        assert_eq!(eight.stretched_period(), Some(20.0));
        let found: Vec<u64> = (0..5)
            .scan(0, |slot, _| {
                let at = eight.next_from(*slot, 0)?;
                *slot = at + 1;
                Some(at)
            })
            .collect();
        assert_eq!(found, [8, 24, 48, 64, 88]);
        // With an occasion in every slot, every uplink slot is used.
        let each = Occasions::new(1, pattern("DDDUU"));
        assert_eq!(
            (each.stretched_period(), each.next_from(0, 0)),
            (Some(2.5), Some(3))
        );
        // In this pattern (LTE configuration 3) two even subframes have uplink symbols, but only
        // one odd subframe has.
        let two = Occasions::new(2, pattern("DDUUUDDDDD"));
        assert_eq!(
            (offsets(&two), two.stretched_period()),
            (vec![0], Some(5.0))
        );
        let never = Occasions::new(4, pattern("DD"));
        assert_eq!(
            (never.stretched_period(), never.next_from(3, 1)),
            (Some(f64::INFINITY), None)
        );
    }
}
