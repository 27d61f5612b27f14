//! First-in, first-out ring whose items have permanent numbers.

/// Capacity for the first item. A flow or bearer has several rings, and most rings hold few items.
const SMALLEST: usize = 4;

/// Growable ring buffer addressed by absolute number: the n-th item ever pushed has number n. It
/// uses no memory before the first item, grows to the next power of two, and shrinks only in
/// [`Ring::release`].
#[derive(Debug, Clone)]
pub struct Ring<T> {
    slots: Vec<T>,
    first: u64,
    end: u64,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Returns an empty ring.
    pub fn new() -> Self {
        Ring {
            slots: Vec::new(),
            first: 0,
            end: 0,
        }
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// Returns the number of the oldest item.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }
    /// Returns the number of the next pushed item.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }
    /// Returns the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        debug_assert!(self.first <= self.end, "the ring ends before it begins");
        (self.end - self.first) as usize
    }
    /// Returns true if the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == self.end
    }
    /// Adds an item at the back and returns its number.
    #[inline]
    pub fn push(&mut self, item: T) -> u64 {
        if self.len() == self.slots.len() {
            self.grow();
        }
        debug_assert!(self.len() < self.slots.len(), "the ring has no room");
        let number = self.end;
        let slot = self.slot(number);
        self.slots[slot] = item;
        self.end += 1;
        number
    }
    /// Removes and returns the oldest item. `None` if the ring is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let item = self.slots[self.slot(self.first)];
        self.first += 1;
        Some(item)
    }
    /// Removes and returns the newest item. `None` if the ring is empty.
    #[inline]
    pub fn pop_back(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.end -= 1;
        Some(self.slots[self.slot(self.end)])
    }
    /// Returns the oldest item. `None` if the ring is empty.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        (!self.is_empty()).then(|| &self.slots[self.slot(self.first)])
    }
    /// Returns the newest item. `None` if the ring is empty.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        (!self.is_empty()).then(|| &self.slots[self.slot(self.end - 1)])
    }
    /// Returns item `number`. `None` if it is not in the ring.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&T> {
        self.contains(number)
            .then(|| &self.slots[self.slot(number)])
    }
    /// Returns true if item `number` is in the ring.
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        self.first <= number && number < self.end
    }

    /// Removes all items with their numbers. Later items continue the numbering.
    pub fn take_all(&mut self) -> Ring<T> {
        let rest = Ring {
            slots: Vec::new(),
            first: self.end,
            end: self.end,
        };
        std::mem::replace(self, rest)
    }

    /// Releases the memory of an empty ring. The numbering continues.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.slots = Vec::new();
        }
    }

    /// Doubles the capacity. The function is separate from [`Ring::push`], because every packet
    /// calls `push` but few packets need a larger ring.
    #[cold]
    #[inline(never)]
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

impl<T: Copy + Default> std::ops::Index<u64> for Ring<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u64) -> &T {
        debug_assert!(self.contains(number), "item {number} has left the ring");
        &self.slots[self.slot(number)]
    }
}

impl<T: Copy + Default> std::ops::IndexMut<u64> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, number: u64) -> &mut T {
        debug_assert!(self.contains(number), "item {number} has left the ring");
        let slot = self.slot(number);
        &mut self.slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_number_across_growth() {
        let mut ring = Ring::new();
        for n in 0..10_u64 {
            assert_eq!(ring.push(n), n);
        }
        for n in 0..7 {
            assert_eq!(ring.pop(), Some(n));
        }
        for n in 10..100_u64 {
            ring.push(n);
        }
        assert!((7..100).all(|n| ring[n] == n));
        assert_eq!((ring.len(), ring.first(), ring.end()), (93, 7, 100));
        assert_eq!(ring.pop_back(), Some(99));
    }

    #[test]
    fn an_empty_ring_gives_its_memory_back_and_goes_on_counting() {
        let mut ring = Ring::new();
        assert_eq!(ring.slots.capacity(), 0);
        (0..100_u64).for_each(|n| {
            ring.push(n);
        });
        ring.release();
        assert_eq!(ring[50], 50, "what is inside stays");
        while ring.pop().is_some() {}
        ring.release();
        assert_eq!(ring.slots.capacity(), 0);
        assert_eq!((ring.front(), ring.back()), (None, None));
        assert_eq!(ring.pop(), None);
        assert_eq!(ring.push(7), 100);
        assert_eq!(ring[100], 7);
    }
}
