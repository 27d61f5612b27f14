//! Received bytes of a numbered SDU or PDU.

/// State of a number in a receive window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Received {
    /// No byte is received.
    #[default]
    Nothing,
    /// All bytes are received.
    All,
    /// Some bytes are received. The number is the index of the list of their ranges.
    Some(u32),
}

/// Received byte ranges, in order and disjoint.
#[derive(Clone, Default, Debug)]
struct List {
    ranges: Vec<(u32, u32)>,
    /// Position after the last byte. `None` before the part with that byte is received.
    end: Option<u32>,
}

/// Recycled lists of byte ranges.
#[derive(Clone, Default, Debug)]
pub(super) struct Pieces {
    lists: Vec<List>,
    free: Vec<u32>,
}

/// Result of adding a byte range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Insertion {
    /// No new byte.
    Duplicate,
    /// Some bytes are still missing.
    Incomplete,
    /// All bytes are received now.
    Complete,
}

impl Pieces {
    pub(super) fn open(&mut self) -> u32 {
        if let Some(id) = self.free.pop() {
            debug_assert!(
                self.lists[id as usize].ranges.is_empty(),
                "list {id} is given out and holds something"
            );
            return id;
        }
        self.lists.push(List::default());
        self.lists.len() as u32 - 1
    }
    pub(super) fn close(&mut self, id: u32) {
        let list = &mut self.lists[id as usize];
        list.ranges.clear();
        list.end = None;
        debug_assert!(
            self.free.len() < self.lists.len(),
            "list {id} is given back a second time"
        );
        self.free.push(id);
    }
    /// Adds the byte range `start .. end`.
    pub(super) fn insert(&mut self, id: u32, start: u32, end: u32, is_last: bool) -> Insertion {
        debug_assert!(start < end, "a segment from {start} to {end}");
        let list = &mut self.lists[id as usize];
        debug_assert!(
            list.end.is_none_or(|known| end <= known),
            "a segment ends at {end}, behind the last one"
        );
        if is_last {
            list.end = Some(end);
        }
        let ranges = &mut list.ranges;
        // The ranges `from..to` touch the new range and are merged with it.
        let from = ranges.partition_point(|range| range.1 < start);
        let to = ranges.partition_point(|range| range.0 <= end);
        if from == to {
            ranges.insert(from, (start, end));
        } else if ranges[from].0 <= start && end <= ranges[from].1 {
            return Insertion::Duplicate;
        } else {
            let merged = (ranges[from].0.min(start), ranges[to - 1].1.max(end));
            ranges[from] = merged;
            ranges.drain(from + 1..to);
        }
        debug_assert!(
            ranges.windows(2).all(|pair| pair[0].1 < pair[1].0),
            "ranges touch or are out of order"
        );
        if ranges.len() == 1 && ranges[0].0 == 0 && Some(ranges[0].1) == list.end {
            Insertion::Complete
        } else {
            Insertion::Incomplete
        }
    }
    /// Returns true if a byte is missing before the last byte received.
    pub(super) fn has_gap(&self, id: u32) -> bool {
        let ranges = &self.lists[id as usize].ranges;
        ranges.len() != 1 || ranges[0].0 != 0
    }
    /// Returns the missing ranges, each as first byte and position after the last byte. The end is
    /// `None` if it is unknown.
    pub(super) fn missing(&self, id: u32) -> impl Iterator<Item = (u32, Option<u32>)> + '_ {
        let list = &self.lists[id as usize];
        let starts = std::iter::once(0).chain(list.ranges.iter().map(|range| range.1));
        let ends = list.ranges.iter().map(|range| Some(range.0));
        starts
            .zip(ends.chain(std::iter::once(list.end)))
            .filter(|&(start, end)| end != Some(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_any_order_make_a_whole() {
        let mut pieces = Pieces::default();
        let id = pieces.open();
        assert_eq!(pieces.insert(id, 200, 300, false), Insertion::Incomplete);
        assert!(pieces.has_gap(id));
        assert_eq!(pieces.insert(id, 0, 100, false), Insertion::Incomplete);
        let missing: Vec<_> = pieces.missing(id).collect();
        assert_eq!(missing, [(100, Some(200)), (300, None)]);
        assert_eq!(pieces.insert(id, 50, 80, false), Insertion::Duplicate);
        assert_eq!(pieces.insert(id, 90, 250, false), Insertion::Incomplete);
        assert!(!pieces.has_gap(id));
        assert_eq!(pieces.insert(id, 300, 400, true), Insertion::Complete);
        pieces.close(id);
        assert_eq!(pieces.open(), id, "lists are used again");
        assert_eq!(pieces.insert(id, 10, 20, true), Insertion::Incomplete);
        assert_eq!(pieces.missing(id).collect::<Vec<_>>(), [(0, Some(10))]);
    }
}
