//! The bytes that a kernel has in order, by the segments that it was given.
//!
//! Its reader takes what arrives at the instant of its arrival. Telling us of each segment would cost
//! more than TCP does; it tells how much it has read when the other end closes, and that must agree.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub(crate) struct Arrivals {
    /// In order so far, bytes.
    in_order: u64,
    /// Ranges that arrived beyond a hole, bytes: ends by their beginnings, none touching another.
    beyond: BTreeMap<u64, u64>,
    /// Of what is in order, told already.
    told: u64,
}

impl Arrivals {
    /// Bytes `start` to `end` of the stream arrived.
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

    /// Bytes that came in order since the last call.
    pub(crate) fn take(&mut self) -> u64 {
        let new = self.in_order - self.told;
        self.told = self.in_order;
        new
    }

    /// Bytes in order so far.
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
        assert_eq!((arrivals.take(), arrivals.in_order()), (100, 100));
        arrivals.on_segment(300, 400);
        assert_eq!(arrivals.take(), 0);
        arrivals.on_segment(50, 200);
        assert_eq!((arrivals.take(), arrivals.take()), (400, 0));
        arrivals.on_segment(0, 500);
        assert_eq!(arrivals.in_order(), 500);
    }
}
