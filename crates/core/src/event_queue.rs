//! The pending events, earliest first; events of one instant in the order they were scheduled.

use crate::Time;

/// A priority queue on (time, sequence number).
///
/// A four-ary heap of small entries: for the tens to thousands of armed wake-ups of a run it
/// touches one cache line a level, and half the levels of a binary heap.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    scheduled: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    at: Time,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Time, u64) {
        (self.at, self.sequence)
    }
}

const ARITY: usize = 4;

/// Events that an empty queue has room for: a small run never outgrows it.
const ROOM: usize = 1024;

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> EventQueue<E> {
    const ENTRY_FITS: () = assert!(size_of::<Entry<E>>() <= 32, "a queue entry is <= 32 bytes");

    /// An empty queue.
    pub fn new() -> Self {
        let () = Self::ENTRY_FITS;
        EventQueue {
            heap: Vec::with_capacity(ROOM),
            scheduled: 0,
        }
    }

    /// Adds `event` at `at`. O(log n); allocates only when the queue outgrows its past maximum.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: E) {
        let entry = Entry {
            at,
            sequence: self.scheduled,
            event,
        };
        self.scheduled += 1;
        self.heap.push(entry);
        self.sift_up(self.heap.len() - 1);
    }

    /// Removes the earliest event. O(log n).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let first = *self.heap.first()?;
        let last = self
            .heap
            .pop()
            .expect("a queue with a first entry has a last");
        if !self.heap.is_empty() {
            self.heap[0] = last;
            self.sift_down(0);
        }
        Some((first.at, first.event))
    }

    /// When the earliest event is due.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        self.heap.first().map(|entry| entry.at)
    }

    /// Events pending.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Events scheduled since the queue was made.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    fn sift_up(&mut self, mut child: usize) {
        let entry = self.heap[child];
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if self.heap[parent].key() <= entry.key() {
                break;
            }
            self.heap[child] = self.heap[parent];
            child = parent;
        }
        self.heap[child] = entry;
    }

    fn sift_down(&mut self, mut parent: usize) {
        let entry = self.heap[parent];
        let len = self.heap.len();
        loop {
            let first = parent * ARITY + 1;
            if first >= len {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + ARITY).min(len) {
                if self.heap[child].key() < self.heap[least].key() {
                    least = child;
                }
            }
            if entry.key() <= self.heap[least].key() {
                break;
            }
            self.heap[parent] = self.heap[least];
            parent = least;
        }
        self.heap[parent] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn ties_come_out_in_the_order_they_went_in() {
        let mut queue = EventQueue::new();
        for n in 0..100_u64 {
            queue.schedule(Time::from_nanos(n % 3), n);
        }
        let mut popped = Vec::new();
        while let Some((at, n)) = queue.pop() {
            popped.push((at.as_nanos(), n));
        }
        let mut expected = popped.clone();
        expected.sort_unstable();
        assert_eq!(popped, expected);
    }

    #[test]
    fn random_schedules_and_pops_agree_with_a_sorted_list() {
        let mut random = Stream::new(1, "queue", 0);
        let mut queue = EventQueue::new();
        let mut model: Vec<(u64, u64)> = Vec::new();
        for n in 0..20_000_u64 {
            if random.chance(0.55) || model.is_empty() {
                let at = random.below(1000);
                queue.schedule(Time::from_nanos(at), n);
                model.push((at, n));
            } else {
                let least = *model.iter().min().expect("the model is not empty");
                model.retain(|&entry| entry != least);
                let (at, n) = queue.pop().expect("the queue is as long as the model");
                assert_eq!((at.as_nanos(), n), least);
            }
            assert_eq!(queue.len(), model.len());
        }
    }
}
