//! The pending events, earliest first; events of one instant in the order they were scheduled.

use crate::Time;

/// A priority queue on (time, sequence number).
///
/// A four-ary heap of small entries. For the tens to thousands of armed wake-ups of a run it
/// touches one cache line a level, and has half the levels of a binary heap.
///
/// A removed event leaves its place open until it is known if another event takes it. An event that
/// it schedules is mostly due before the waiting ones, so that nothing else moves.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    /// True if the first place is open, because its entry was removed.
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
    /// Returns the key of the order: time, then sequence number. Compared as one number, without a
    /// branch.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at.as_nanos()) << 64) | u128::from(self.sequence)
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
            is_first_open: false,
            scheduled: 0,
        }
    }

    /// Adds `event` at `at`. O(log n); allocates only when the queue outgrows its past maximum.
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
        let child = self.heap.len();
        self.heap.push(entry);
        // Most entries are later than their parent, and are not read again while they are being
        // written.
        if let Some(parent) = parent_of(child)
            && self.heap[parent].key() > entry.key()
        {
            self.sift_up(child);
        }
    }

    /// Removes the earliest event. O(log n).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_by(Time::NEVER)
    }

    /// Removes the earliest event if it is due by `until`. O(log n).
    #[inline]
    pub fn pop_by(&mut self, until: Time) -> Option<(Time, E)> {
        if self.is_first_open {
            self.close_first();
        }
        let &Entry { at, event, .. } = self.heap.first()?;
        if at > until {
            return None;
        }
        debug_assert!(
            least_child(&self.heap, 0).is_none_or(|least| at <= self.heap[least].at),
            "an event comes before an earlier one"
        );
        self.is_first_open = true;
        Some((at, event))
    }

    /// When the earliest event is due.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        let first = if self.is_first_open {
            least_child(&self.heap, 0)?
        } else {
            0
        };
        self.heap.get(first).map(|entry| entry.at)
    }

    /// Events pending.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.is_first_open)
    }

    /// Returns true if nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of events scheduled since the queue was made.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// Nothing took the first place: the last entry does.
    fn close_first(&mut self) {
        self.is_first_open = false;
        let last = self.heap.pop().expect("an open place is in the heap");
        if !self.heap.is_empty() {
            self.sink(last);
        }
    }

    fn sift_up(&mut self, mut child: usize) {
        let heap = &mut self.heap[..];
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

    /// Puts an entry in place of the first one, or below it.
    fn sink(&mut self, entry: Entry<E>) {
        let heap = &mut self.heap[..];
        let key = entry.key();
        let mut parent = 0;
        while let Some(least) = least_child(heap, parent)
            && heap[least].key() < key
        {
            heap[parent] = heap[least];
            parent = least;
        }
        heap[parent] = entry;
        debug_assert!(
            least_child(heap, parent).is_none_or(|least| key <= heap[least].key()),
            "an event stands over an earlier one"
        );
    }
}

/// Under which entry one stands; none of the first.
#[inline]
fn parent_of(child: usize) -> Option<usize> {
    Some(child.checked_sub(1)? / ARITY)
}

/// The earliest of an entry's children; none of a leaf.
#[inline]
fn least_child<E>(heap: &[Entry<E>], parent: usize) -> Option<usize> {
    let first = parent * ARITY + 1;
    let children = heap.get(first..)?;
    if let Some([a, b, c, d]) = children.first_chunk::<ARITY>() {
        // Two pairs, then their winners: no comparison waits for the one before.
        let (a, b, c, d) = (a.key(), b.key(), c.key(), d.key());
        let (left, right) = (a.min(b), c.min(d));
        let of_pair = [usize::from(b < a), 2 + usize::from(d < c)];
        return Some(first + of_pair[usize::from(right < left)]);
    }
    let keys = children.iter().map(Entry::key);
    let least = keys.enumerate().min_by_key(|&(_, key)| key);
    least.map(|(n, _)| first + n)
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
