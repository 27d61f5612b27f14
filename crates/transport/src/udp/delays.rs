//! Statistics of many delays in little memory. Smallest, largest and mean are exact, and
//! percentiles are within 1 %.

use fadeout_core::Span;

/// Number of buckets in a doubling, a power of two.
const BUCKETS: u64 = 64;
/// Number of doublings after the first bucket's delay. They cover delays up to 2^40 ns, 18 minutes.
/// Longer delays are counted in the last bucket.
const DOUBLINGS: u64 = 34;

/// Delays of packets. A bucket is at most 1/64 of its delays wide. A percentile is a bucket's
/// middle, so it is off by less than 1 %.
#[derive(Debug, Clone)]
pub struct Delays {
    /// Counts of the buckets from `first` on.
    counts: Vec<u32>,
    /// Index of the doubling with the first counted bucket.
    first: usize,
    count: u64,
    sum_s: f64,
    smallest: Span,
    largest: Span,
}

impl Default for Delays {
    fn default() -> Self {
        Delays {
            counts: Vec::new(),
            first: 0,
            count: 0,
            sum_s: 0.0,
            smallest: Span::from_nanos(u64::MAX),
            largest: Span::ZERO,
        }
    }
}

/// Number of doublings below and above the first delay that get counters at once. The delays of a
/// path seldom lie outside this range.
const BELOW: usize = 1;
const ABOVE: usize = 7;

/// Returns the bucket of a delay of `nanos` nanoseconds.
fn bucket(nanos: u64) -> usize {
    let doubling = nanos.max(BUCKETS).ilog2() - BUCKETS.ilog2();
    let bucket = u64::from(doubling) * BUCKETS + (nanos >> doubling);
    bucket.min(BUCKETS * (DOUBLINGS + 1) - 1) as usize
}

/// Returns the middle of a bucket, ns.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let doubling = (bucket / BUCKETS).saturating_sub(1);
    let first = (bucket - doubling * BUCKETS) << doubling;
    first + (1 << doubling) / 2
}

impl Delays {
    /// Adds a delay.
    pub fn add(&mut self, delay: Span) {
        let bucket = bucket(delay.as_nanos());
        let count = match self.place(bucket) {
            Some(place) => &mut self.counts[place],
            None => self.make_room(bucket),
        };
        *count = count.saturating_add(1);
        self.count += 1;
        self.sum_s += delay.as_secs_f64();
        self.smallest = self.smallest.min(delay);
        self.largest = self.largest.max(delay);
    }

    /// Returns the index of a bucket's counter. `None` if the bucket has no counter yet.
    #[inline]
    fn place(&self, bucket: usize) -> Option<usize> {
        let place = bucket.checked_sub(self.first * BUCKETS as usize)?;
        (place < self.counts.len()).then_some(place)
    }

    /// Adds counters for a bucket that has none, and returns its counter.
    #[cold]
    fn make_room(&mut self, bucket: usize) -> &mut u32 {
        let buckets = BUCKETS as usize;
        let doubling = bucket / buckets;
        let (mut first, mut last) = (doubling.saturating_sub(BELOW), doubling + ABOVE);
        if !self.counts.is_empty() {
            first = self.first.min(first);
            last = last.max(self.first + self.counts.len() / buckets - 1);
        }
        last = last.min(DOUBLINGS as usize);
        let mut counts = vec![0; (last + 1 - first) * buckets];
        if !self.counts.is_empty() {
            let from = (self.first - first) * buckets;
            counts[from..from + self.counts.len()].copy_from_slice(&self.counts);
        }
        (self.first, self.counts) = (first, counts);
        &mut self.counts[bucket - first * buckets]
    }

    /// Returns the number of delays.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean delay, seconds. `None` without a delay.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_s / self.count as f64)
    }

    /// Returns the smallest delay. `None` without a delay.
    pub fn smallest(&self) -> Option<Span> {
        (self.count > 0).then_some(self.smallest)
    }

    /// Returns the largest delay. `None` without a delay.
    pub fn largest(&self) -> Option<Span> {
        (self.count > 0).then_some(self.largest)
    }

    /// Returns the delay that a share of all delays do not exceed (the nearest rank), to within 1
    /// %. `None` without a delay.
    pub fn percentile(&self, share: f64) -> Option<Span> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let found = self.counts.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        })?;
        let middle = Span::from_nanos(middle(self.first * BUCKETS as usize + found));
        Some(middle.max(self.smallest).min(self.largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_is_within_a_hundredth_of_the_middle_of_its_bucket() {
        let mut nanos = 1_u64;
        while nanos < 1 << 40 {
            for delay in [nanos, nanos + nanos / 3, 2 * nanos - 1] {
                let off = middle(bucket(delay)).abs_diff(delay);
                assert!(off * 100 <= delay, "{delay}: {off}");
            }
            nanos *= 2;
        }
        assert_eq!(bucket(u64::MAX), (BUCKETS * (DOUBLINGS + 1)) as usize - 1);
    }

    #[test]
    fn delays_of_any_size_find_room_and_take_little_of_it_when_they_are_alike() {
        let all: Vec<u64> = (0..48).map(|n| 3 << n).collect();
        for first in [0, 20, 47] {
            let mut delays = Delays::default();
            let order = all[first..].iter().chain(&all[..first]);
            for &nanos in order {
                delays.add(Span::from_nanos(nanos));
            }
            let whole = (BUCKETS * (DOUBLINGS + 1)) as usize;
            assert_eq!(delays.counts.len(), whole);
            for (rank, &nanos) in all[..38].iter().enumerate() {
                let share = (rank as f64 + 0.5) / all.len() as f64;
                let found = delays.percentile(share).expect("some").as_nanos();
                assert!(found.abs_diff(nanos) * 100 <= nanos, "{found} {nanos}");
            }
        }
        let mut alike = Delays::default();
        assert_eq!(alike.percentile(0.5), None);
        assert!(alike.counts.is_empty());
        for ms in 5..500 {
            alike.add(Span::from_millis(ms));
        }
        assert_eq!(alike.counts.len(), (BELOW + 1 + ABOVE) * BUCKETS as usize);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut delays = Delays::default();
        assert_eq!(delays.percentile(0.5), None);
        for millis in 1..=100 {
            delays.add(Span::from_millis(millis));
        }
        for share in [0.05, 0.5, 0.95, 0.99] {
            let found = delays.percentile(share).expect("there are some");
            let off = found.as_secs_f64() / (share / 10.0) - 1.0;
            assert!(off.abs() < 0.01, "{share}: {off}");
        }
        assert_eq!(delays.percentile(1.0), Some(Span::from_millis(100)));
        assert_eq!(delays.smallest(), Some(Span::from_millis(1)));
        assert!((delays.mean_s().expect("there are some") - 0.0505).abs() < 1e-9);
    }
}
