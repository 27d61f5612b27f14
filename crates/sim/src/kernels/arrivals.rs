//! In-order bytes at a Linux kernel, computed from the segments that the kernel received.
//!
//! The agent in the kernel could report each segment, but the reports would cost more computing
//! than TCP itself. So the bytes are counted here: the application in the kernel reads all data at
//! the instant of its arrival. The agent reports its total when the other end closes, and both
//! totals must agree.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub(crate) struct Arrivals {
    /// Number of in-order bytes so far.
    in_order: u64,
    /// Byte ranges behind a gap, as start and end. Adjacent ranges are merged.
    beyond: BTreeMap<u64, u64>,
    /// Number of in-order bytes that have been reported.
    reported: u64,
}

impl Arrivals {
    /// Records the arrival of bytes `start` to `end` of the stream.
    pub(crate) fn on_segment(&mut self, start: u64, end: u64) {
        if end <= self.in_order || end <= start {
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((&from, &to)) = self.beyond.range(..=end).next_back() {
            if to < start {
                break;
            }
            (start, end) = (start.min(from), end.max(to));
            self.beyond.remove(&from);
        }
        match start <= self.in_order {
            true => self.in_order = end,
            false => {
                self.beyond.insert(start, end);
            }
        }
    }

    /// Returns the number of new in-order bytes since the last call.
    pub(crate) fn take_new(&mut self) -> u64 {
        let new = self.in_order - self.reported;
        self.reported = self.in_order;
        new
    }

    /// Returns the number of in-order bytes so far.
    pub(crate) fn in_order(&self) -> u64 {
        self.in_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_that_is_filled_lets_what_lies_beyond_it_through() {
        let mut arrivals = Arrivals::default();
        arrivals.on_segment(0, 100);
        arrivals.on_segment(200, 300);
        arrivals.on_segment(400, 500);
        assert_eq!((arrivals.take_new(), arrivals.in_order()), (100, 100));
        arrivals.on_segment(300, 400);
        assert_eq!(arrivals.take_new(), 0);
        arrivals.on_segment(50, 200);
        assert_eq!((arrivals.take_new(), arrivals.take_new()), (400, 0));
        arrivals.on_segment(0, 500);
        assert_eq!(arrivals.in_order(), 500);
    }
}
