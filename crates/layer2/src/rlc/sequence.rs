//! Sequence numbers, which wrap in PDUs and do not wrap internally.

/// First internal number. It is a multiple of every modulus, so the first SN is 0. It is so large
/// that a window below the number does not underflow.
pub(crate) const START: u64 = 1 << 24;

/// Initial number of slots, more than most bearers ever use at once.
const SMALLEST: usize = 4;

/// SN field of `bits` bits, and its window, which is half of its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnSpace {
    mask: u64,
    pub(crate) window: u64,
}

impl SnSpace {
    pub(crate) fn new(bits: u8) -> SnSpace {
        SnSpace {
            mask: (1 << bits) - 1,
            window: 1 << (bits - 1),
        }
    }
    /// Returns the SN field of `number`.
    #[inline]
    pub(crate) fn on_air(&self, number: u64) -> u32 {
        (number & self.mask) as u32
    }
    /// Returns the number at or above `base` whose SN field is `sn`.
    #[inline]
    pub(crate) fn extend(&self, sn: u32, base: u64) -> u64 {
        debug_assert!(
            u64::from(sn) <= self.mask,
            "sequence number {sn} has more bits than are sent"
        );
        base + (u64::from(sn).wrapping_sub(base) & self.mask)
    }
}

/// Items with the numbers `first .. end` in a ring. The number of slots is a power of two that
/// covers the largest number of items so far. The ring uses no memory before the first item.
#[derive(Clone, Debug)]
pub(crate) struct Window<T> {
    slots: Vec<T>,
    first: u64,
    end: u64,
}

impl<T: Copy + Default> Window<T> {
    pub(crate) fn new(start: u64) -> Self {
        Window {
            slots: Vec::new(),
            first: start,
            end: start,
        }
    }
    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }
    #[inline]
    pub(crate) fn first(&self) -> u64 {
        self.first
    }
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }
    #[inline]
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.first <= number && number < self.end
    }
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.end - self.first == self.slots.len() as u64 {
            self.grow();
        }
        debug_assert!(
            self.end - self.first < self.slots.len() as u64,
            "the window has no room"
        );
        let slot = self.slot(self.end);
        self.slots[slot] = item;
        self.end += 1;
    }
    /// Extends the window to `end` with default items.
    #[inline]
    pub(crate) fn extend_to(&mut self, end: u64) {
        while self.end < end {
            self.push(T::default());
        }
    }
    /// Drops the items below `first`, which may be beyond the end.
    #[inline]
    pub(crate) fn advance_to(&mut self, first: u64) {
        debug_assert!(first >= self.first, "a window never moves back");
        self.first = first;
        self.end = self.end.max(first);
    }
    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(SMALLEST);
        let mut slots = vec![T::default(); size];
        for number in self.first..self.end {
            slots[number as usize & (size - 1)] = self.slots[self.slot(number)];
        }
        self.slots = slots;
        debug_assert!(
            self.slots.len().is_power_of_two(),
            "a slot is found by masking"
        );
    }
}

impl<T: Copy + Default> std::ops::Index<u64> for Window<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u64) -> &T {
        debug_assert!(self.contains(number), "{number} is outside the window");
        &self.slots[self.slot(number)]
    }
}

impl<T: Copy + Default> std::ops::IndexMut<u64> for Window<T> {
    #[inline]
    fn index_mut(&mut self, number: u64) -> &mut T {
        debug_assert!(self.contains(number), "{number} is outside the window");
        let slot = self.slot(number);
        &mut self.slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_again_from_its_field() {
        let space = SnSpace::new(12);
        for number in [START, START + 4095, START + 4096, START + 70_000] {
            let sn = space.on_air(number);
            assert!(sn < 4096);
            assert_eq!(space.extend(sn, number - 4095), number);
            assert_eq!(space.extend(sn, number), number);
        }
        assert_eq!(space.extend(0, START + 4000), START + 4096);
    }

    #[test]
    fn a_window_keeps_its_items_across_growth() {
        let mut window = Window::new(START);
        window.extend_to(START + 100);
        window[START + 99] = 7;
        window.advance_to(START + 90);
        window.extend_to(START + 200);
        assert_eq!(window[START + 99], 7);
        assert_eq!(window[START + 150], 0);
        window.advance_to(START + 300);
        assert_eq!((window.first(), window.end()), (START + 300, START + 300));
    }
}
