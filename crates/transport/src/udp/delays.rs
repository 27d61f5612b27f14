//! Many delays in little memory: exact smallest, largest and mean, percentiles to within a hundredth.

use fadeout_core::Span;

/// Buckets of a doubling: a power of two.
const BUCKETS: u64 = 64;
/// Doublings from the first bucket's on: delays up to 2^40 ns, 18 minutes; longer ones fall into the last.
const DOUBLINGS: u64 = 34;

/// The delays of packets. A bucket is at most 1/64 of its delays wide, and a percentile is a bucket's
/// middle, so it is off by less than 1 %.
#[derive(Debug, Clone)]
pub struct Delays {
    counts: Box<[u32]>,
    count: u64,
    sum_s: f64,
    smallest: Span,
    largest: Span,
}

impl Default for Delays {
    fn default() -> Self {
        Delays {
            counts: vec![0; (BUCKETS * (DOUBLINGS + 1)) as usize].into(),
            count: 0,
            sum_s: 0.0,
            smallest: Span::from_nanos(u64::MAX),
            largest: Span::ZERO,
        }
    }
}

/// The bucket of a delay of so many nanoseconds.
fn bucket(nanos: u64) -> usize {
    let doubling = nanos.max(BUCKETS).ilog2() - BUCKETS.ilog2();
    let bucket = u64::from(doubling) * BUCKETS + (nanos >> doubling);
    bucket.min(BUCKETS * (DOUBLINGS + 1) - 1) as usize
}

/// The middle of a bucket, ns.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let doubling = (bucket / BUCKETS).saturating_sub(1);
    let first = (bucket - doubling * BUCKETS) << doubling;
    first + (1 << doubling) / 2
}

impl Delays {
    /// One more.
    pub fn add(&mut self, delay: Span) {
        let count = &mut self.counts[bucket(delay.as_nanos())];
        *count = count.saturating_add(1);
        self.count += 1;
        self.sum_s += delay.as_secs_f64();
        self.smallest = self.smallest.min(delay);
        self.largest = self.largest.max(delay);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, seconds; none without one.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_s / self.count as f64)
    }

    /// The smallest; none without one.
    pub fn smallest(&self) -> Option<Span> {
        (self.count > 0).then_some(self.smallest)
    }

    /// The largest; none without one.
    pub fn largest(&self) -> Option<Span> {
        (self.count > 0).then_some(self.largest)
    }

    /// The delay that a share of them do not exceed (the nearest rank), to within 1 %; none without one.
    pub fn percentile(&self, share: f64) -> Option<Span> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let found = self.counts.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        })?;
        let middle = Span::from_nanos(middle(found));
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
