//! Data to be sent again on another path.
//!
//! A subflow repairs its own losses itself, with the same mapping. What waits here is data whose
//! path stopped working: the first copy to arrive counts, and the receiver drops the other by its
//! data sequence number.
//!
//! Standard: RFC 8684 §3.3.6.

use super::PathId;
use std::collections::VecDeque;

/// A range of data sequence numbers with the path that it was sent on first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stranded {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) from: PathId,
}

/// Stranded ranges, in order of data sequence numbers.
#[derive(Debug, Default)]
pub(super) struct Reinjection {
    ranges: VecDeque<Stranded>,
}

impl Reinjection {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds a range. Ranges come in the order of their path's mappings, so neighbours are nearly
    /// always joined at the back; what another path already strands is left as it is.
    pub(super) fn add(&mut self, range: Stranded) {
        let at = self
            .ranges
            .partition_point(|known| (known.start, known.from) < (range.start, range.from));
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
    }

    /// The first range above `una` that `path` did not send before; its index with it.
    pub(super) fn next_for(&mut self, path: PathId, una: u64) -> Option<(usize, Stranded)> {
        while self.ranges.front().is_some_and(|range| range.end <= una) {
            self.ranges.pop_front();
        }
        let found = |range: &Stranded| range.from != path && range.end > una;
        let index = self.ranges.iter().position(found)?;
        let range = &mut self.ranges[index];
        range.start = range.start.max(una);
        Some((index, *range))
    }

    /// `bytes` of range number `index` left.
    pub(super) fn on_sent(&mut self, index: usize, bytes: u64) {
        let range = &mut self.ranges[index];
        range.start += bytes;
        if range.start >= range.end {
            self.ranges.remove(index);
        }
    }

    /// `path` works again and repairs its own losses.
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
}
