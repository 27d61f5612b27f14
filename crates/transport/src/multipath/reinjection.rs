//! Data to be retransmitted on another path.
//!
//! A subflow repairs its own losses with the same mapping. This queue contains the data of paths
//! that stopped working. The receiver accepts the first copy of the data, and drops the second by
//! its data sequence number.
//!
//! Standard: RFC 8684 §3.3.6.

use super::PathId;
use std::collections::VecDeque;

/// Range of data sequence numbers, and the path that sent it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stranded {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) from: PathId,
}

impl Stranded {
    /// Returns the key by which stranded ranges are sorted.
    fn place(&self) -> (u64, PathId) {
        (self.start, self.from)
    }
}

/// Queue of stranded ranges, in order of data sequence numbers.
#[derive(Debug, Default)]
pub(super) struct Reinjection {
    ranges: VecDeque<Stranded>,
}

impl Reinjection {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds a range. Ranges are added in the order of the path's mappings. So a range is nearly
    /// always merged with the last one. A range that is already stranded on another path is not
    /// merged.
    pub(super) fn add(&mut self, range: Stranded) {
        let at = self
            .ranges
            .partition_point(|known| known.place() < range.place());
        if at > 0 {
            let before = &mut self.ranges[at - 1];
            if before.from == range.from && before.end >= range.start {
                before.end = before.end.max(range.end);
                return;
            }
        }
        if self.ranges.get(at) != Some(&range) {
            self.ranges.insert(at, range);
        }
        self.assert_invariants();
    }

    /// Asserts that no range is empty and that they are in order.
    fn assert_invariants(&self) {
        debug_assert!(
            self.ranges.iter().all(|range| range.start < range.end),
            "an empty range is stranded"
        );
        debug_assert!(
            self.ranges.iter().is_sorted_by_key(Stranded::place),
            "stranded ranges are out of order"
        );
    }

    /// Returns the first range above `una` that another path than `path` sent, with its index.
    /// `None` if there is none.
    pub(super) fn next_for(&mut self, path: PathId, una: u64) -> Option<(usize, Stranded)> {
        while self.ranges.front().is_some_and(|range| range.end <= una) {
            self.ranges.pop_front();
        }
        let found = |range: &Stranded| range.from != path && range.end > una;
        let index = self.ranges.iter().position(found)?;
        let range = &mut self.ranges[index];
        range.start = range.start.max(una);
        let index = self.restore_order(index);
        Some((index, self.ranges[index]))
    }

    /// Moves a range with a new start to its place in the order. Returns the new index of the
    /// range.
    fn restore_order(&mut self, mut index: usize) -> usize {
        let place = self.ranges[index].place();
        while (self.ranges.get(index + 1)).is_some_and(|next| next.place() < place) {
            self.ranges.swap(index, index + 1);
            index += 1;
        }
        self.assert_invariants();
        index
    }

    /// Removes `bytes` that were sent from the range at `index`.
    pub(super) fn on_sent(&mut self, index: usize, bytes: u64) {
        let range = &mut self.ranges[index];
        debug_assert!(
            range.start + bytes <= range.end,
            "more left than was stranded"
        );
        range.start += bytes;
        if range.start >= range.end {
            self.ranges.remove(index);
        } else {
            self.restore_order(index);
        }
    }

    /// Removes the ranges of `path`, which works again and retransmits its own losses.
    pub(super) fn forget(&mut self, path: PathId) {
        self.ranges.retain(|range| range.from != path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64, from: u8) -> Stranded {
        Stranded {
            start,
            end,
            from: PathId(from),
        }
    }

    #[test]
    fn neighbours_join_and_acknowledged_data_is_left_out() {
        let mut queue = Reinjection::default();
        queue.add(range(300, 400, 0));
        queue.add(range(100, 200, 0));
        queue.add(range(200, 250, 0));
        assert_eq!(queue.next_for(PathId(0), 0), None);
        assert_eq!(
            queue.next_for(PathId(1), 150),
            Some((0, range(150, 250, 0)))
        );
        queue.on_sent(0, 100);
        assert_eq!(queue.next_for(PathId(1), 0), Some((0, range(300, 400, 0))));
        queue.forget(PathId(0));
        assert!(queue.is_empty());
    }

    /// Returns the queue's ranges after `ranges` were added one after another.
    fn added(ranges: &[Stranded]) -> Vec<Stranded> {
        let mut queue = Reinjection::default();
        for &each in ranges {
            queue.add(each);
        }
        queue.ranges.into()
    }

    #[test]
    fn ranges_join_where_they_touch_and_are_of_one_path() {
        let joined = [range(100, 250, 0)];
        assert_eq!(added(&[range(100, 200, 0), range(200, 250, 0)]), joined);
        assert_eq!(added(&[range(100, 200, 0), range(150, 250, 0)]), joined);
        let within = [range(100, 200, 0), range(120, 150, 0)];
        assert_eq!(added(&within), [range(100, 200, 0)]);
        for apart in [
            [range(100, 200, 0), range(201, 250, 0)],
            [range(100, 200, 0), range(200, 250, 1)],
            [range(100, 200, 0), range(100, 200, 1)],
        ] {
            assert_eq!(added(&apart), apart);
            assert_eq!(
                added(&[apart[1], apart[0]]),
                apart,
                "in order of their numbers"
            );
        }
        let twice = range(100, 200, 1);
        assert_eq!(added(&[twice, twice]), [twice]);
        assert_eq!(
            added(&[range(100, 200, 0), twice, twice]),
            [range(100, 200, 0), twice]
        );
        assert!(
            !Reinjection {
                ranges: [twice].into()
            }
            .is_empty()
        );
    }

    #[test]
    fn a_range_is_for_another_path_and_ends_with_what_is_acknowledged() {
        let mut queue = Reinjection::default();
        queue.add(range(100, 200, 1));
        queue.add(range(300, 400, 0));
        assert_eq!(queue.next_for(PathId(1), 0), Some((1, range(300, 400, 0))));
        assert_eq!(
            queue.next_for(PathId(0), 199),
            Some((0, range(199, 200, 1)))
        );
        queue.on_sent(0, 1);
        assert_eq!(queue.ranges, [range(300, 400, 0)]);
        queue.on_sent(0, 40);
        assert_eq!(queue.ranges, [range(340, 400, 0)]);
        assert_eq!(queue.next_for(PathId(1), 400), None);
        assert!(queue.is_empty());
        // Acknowledged data is skipped, also if it is behind a range that only other paths may
        // send.
        queue.add(range(500, 900, 1));
        queue.add(range(600, 700, 0));
        assert_eq!(queue.next_for(PathId(1), 700), None);
        assert_eq!(
            queue.next_for(PathId(1), 699),
            Some((1, range(699, 700, 0)))
        );
    }

    #[test]
    fn ranges_of_two_paths_stay_in_order_as_they_shrink() {
        let overlapping = || {
            let mut queue = Reinjection::default();
            queue.add(range(100, 300, 0));
            queue.add(range(150, 250, 1));
            queue
        };
        let mut queue = overlapping();
        queue.on_sent(0, 100);
        assert_eq!(queue.ranges, [range(150, 250, 1), range(200, 300, 0)]);
        let mut queue = overlapping();
        let found = queue.next_for(PathId(1), 200);
        assert_eq!(found, Some((1, range(200, 300, 0))));
        let found = queue.next_for(PathId(0), 200);
        assert_eq!(found, Some((1, range(200, 250, 1))));
    }

    #[test]
    fn a_path_that_works_again_takes_its_own_back() {
        let mut queue = Reinjection::default();
        queue.add(range(100, 200, 1));
        queue.add(range(300, 400, 0));
        queue.forget(PathId(1));
        assert_eq!(queue.ranges, [range(300, 400, 0)]);
    }
}
