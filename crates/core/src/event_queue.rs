//! Pending events, earliest first. Events of the same time keep the order in which they were
//! scheduled.

use crate::Time;

/// Priority queue by time and sequence number.
///
/// The queue is a four-ary heap of small entries. A run has tens to thousands of pending wake-ups.
/// At this size each level touches one cache line, and the heap has half the levels of a binary
/// heap.
///
/// The removal of an event leaves the root of the heap empty until the next call. The removed event
/// often causes a new event that is due before all others. The new event takes the root, so no
/// entry moves.
///
/// Three entries that are later than all others follow the heap. So each entry with children has
/// four of them, and the earliest child is found without a loop.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    /// Entries of the heap and, unless no event was ever scheduled, the later entries behind them.
    entries: Vec<Entry<E>>,
    /// Number of entries in the heap.
    len: usize,
    /// True if the root is empty: its entry was removed and not yet replaced.
    is_first_open: bool,
    scheduled: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    at: Time,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Returns the sort key: time, then sequence number, in one number. A comparison then needs no
    /// branch.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at.as_nanos()) << 64) | u128::from(self.sequence)
    }
}

impl<E: Copy> Entry<E> {
    /// Returns an entry that is later than all entries of events.
    fn later_than_all(self) -> Entry<E> {
        Entry {
            at: Time::NEVER,
            sequence: u64::MAX,
            ..self
        }
    }
}

const ARITY: usize = 4;

/// Number of later entries behind the heap. With them the last entry with children has four.
const BEHIND: usize = ARITY - 1;

/// Initial capacity in events, which a small run never exceeds.
const ROOM: usize = 1024;

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> EventQueue<E> {
    const ENTRY_FITS: () = assert!(size_of::<Entry<E>>() <= 32, "a queue entry is <= 32 bytes");

    /// Returns an empty queue.
    pub fn new() -> Self {
        let () = Self::ENTRY_FITS;
        EventQueue {
            entries: Vec::with_capacity(ROOM),
            len: 0,
            is_first_open: false,
            scheduled: 0,
        }
    }

    /// Adds `event` at `at` in O(log n). Allocates only if the queue exceeds its past maximum.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: E) {
        debug_assert!(!at.is_never(), "an event is scheduled that never comes");
        let entry = Entry {
            at,
            sequence: self.scheduled,
            event,
        };
        self.scheduled += 1;
        if self.is_first_open {
            self.is_first_open = false;
            self.sink(entry);
            return;
        }
        if self.entries.is_empty() {
            self.entries.resize(BEHIND, entry.later_than_all());
        }
        let child = self.len;
        self.entries.push(entry.later_than_all());
        self.entries[child] = entry;
        self.len += 1;
        // Most entries are later than their parent. They are compared before they are written, so
        // they are not read back.
        if let Some(parent) = parent_of(child)
            && self.entries[parent].key() > entry.key()
        {
            self.sift_up(child);
        }
    }

    /// Removes and returns the earliest event in O(log n). `None` if the queue is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_by(Time::NEVER)
    }

    /// Removes and returns the earliest event if it is due by `until`, in O(log n). `None` if there
    /// is none.
    #[inline]
    pub fn pop_by(&mut self, until: Time) -> Option<(Time, E)> {
        if self.is_first_open {
            self.close_first();
        }
        let &Entry { at, event, .. } = self.heap().first()?;
        if at > until {
            return None;
        }
        debug_assert!(
            self.least_child(0)
                .is_none_or(|(least, _)| at <= self.entries[least].at),
            "an event comes before an earlier one"
        );
        self.is_first_open = true;
        Some((at, event))
    }

    /// Returns the time of the earliest event. `None` if the queue is empty.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        let first = if self.is_first_open {
            self.least_child(0)?.0
        } else {
            0
        };
        self.heap().get(first).map(|entry| entry.at)
    }

    /// Returns the number of pending events.
    pub fn len(&self) -> usize {
        self.len - usize::from(self.is_first_open)
    }

    /// Returns true if no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of events scheduled since the queue was made.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    #[inline]
    fn heap(&self) -> &[Entry<E>] {
        &self.entries[..self.len]
    }

    /// Moves the last entry to the empty root, because no new event was placed there.
    fn close_first(&mut self) {
        self.is_first_open = false;
        self.len -= 1;
        let last = self.entries[self.len];
        self.entries[self.len] = last.later_than_all();
        self.entries.pop();
        if self.len > 0 {
            self.sink(last);
        }
    }

    fn sift_up(&mut self, mut child: usize) {
        let heap = &mut self.entries[..self.len];
        let entry = heap[child];
        let key = entry.key();
        while let Some(parent) = parent_of(child)
            && heap[parent].key() > key
        {
            heap[child] = heap[parent];
            child = parent;
        }
        heap[child] = entry;
        debug_assert!(
            parent_of(child).is_none_or(|parent| heap[parent].key() <= key),
            "an event stands under a later one"
        );
    }

    /// Inserts an entry at the root and moves it down to its place in the heap.
    fn sink(&mut self, entry: Entry<E>) {
        let key = entry.key();
        let mut parent = 0;
        while let Some((least, of_least)) = self.least_child(parent)
            && of_least < key
        {
            self.entries[parent] = self.entries[least];
            parent = least;
        }
        self.entries[parent] = entry;
        debug_assert!(
            self.least_child(parent)
                .is_none_or(|(_, of_least)| key <= of_least),
            "an event stands over an earlier one"
        );
    }

    /// Returns the earliest child of an entry, with its key. `None` if it has no child.
    #[inline]
    fn least_child(&self, parent: usize) -> Option<(usize, u128)> {
        let first = parent * ARITY + 1;
        if first >= self.len {
            return None;
        }
        let [a, b, c, d] = self.entries[first..].first_chunk::<ARITY>()?;
        // The two pairs are compared first, and then their earlier entries, so that comparisons run
        // in parallel.
        let (a, b, c, d) = (a.key(), b.key(), c.key(), d.key());
        let (left, right) = (a.min(b), c.min(d));
        let of_pair = [usize::from(b < a), 2 + usize::from(d < c)];
        let least = of_pair[usize::from(right < left)];
        Some((first + least, left.min(right)))
    }
}

/// Returns the parent of an entry. `None` for the first entry.
#[inline]
fn parent_of(child: usize) -> Option<usize> {
    Some(child.checked_sub(1)? / ARITY)
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
    fn what_is_due_later_stays() {
        let mut queue = EventQueue::new();
        queue.schedule(Time::from_nanos(20), 2);
        queue.schedule(Time::from_nanos(10), 1);
        assert_eq!(queue.pop_by(Time::from_nanos(9)), None);
        assert_eq!(
            queue.pop_by(Time::from_nanos(10)),
            Some((Time::from_nanos(10), 1))
        );
        assert_eq!(queue.pop_by(Time::from_nanos(19)), None);
        assert_eq!(
            (queue.len(), queue.pop()),
            (1, Some((Time::from_nanos(20), 2)))
        );
        assert_eq!((queue.len(), queue.pop()), (0, None));
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
            assert_eq!(queue.is_empty(), model.is_empty());
            let next = model.iter().min().map(|&(at, _)| Time::from_nanos(at));
            assert_eq!(queue.next_at(), next);
        }
    }
}
