//! Rate at which a cell serves a bearer while data waits.

use fadeout_core::{Span, Time};

const SECOND: u64 = Span::from_secs(1).as_nanos();

/// Weight of the newest sample in the mean, as a divisor.
const SHARE: u64 = 16;

/// Rate of a bearer's transport blocks while data waits. It is the rate that a cell gives the
/// bearer if there is enough data. Times without data do not count.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ServedRate {
    /// Time of the latest block. `None` if that block left no data.
    left_at: Option<Time>,
    bytes: u64,
    nanos: u64,
}

impl ServedRate {
    /// Records a transport block of `bytes` bytes. `is_left`: true if more data waits.
    #[inline]
    pub fn on_block(&mut self, now: Time, bytes: u32, is_left: bool) {
        if let Some(left_at) = self.left_at {
            // Values are counted in sixteenths, so that small blocks are not rounded to zero.
            self.bytes += SHARE * u64::from(bytes);
            self.bytes -= self.bytes / SHARE;
            self.nanos += SHARE * now.since(left_at).as_nanos();
            self.nanos -= self.nanos / SHARE;
        }
        self.left_at = is_left.then_some(now);
    }

    /// Returns the rate in bytes per second. `None` if it is not known.
    pub fn bytes_per_s(&self) -> Option<u64> {
        let bytes = self.bytes.saturating_mul(SECOND);
        (self.nanos > 0 && bytes > 0).then(|| (bytes / self.nanos).max(1))
    }
}

/// Returns the time that `bytes` take at a rate. `bytes` must be below 10 GB.
#[inline]
pub fn time_for(bytes: u64, bytes_per_s: u64) -> Span {
    Span::from_nanos(bytes.saturating_mul(SECOND) / bytes_per_s.max(1))
}

/// Returns true if [`time_for`] is below a time.
#[inline]
pub(super) fn takes_less(bytes: u64, bytes_per_s: u64, than: Span) -> bool {
    let taken = bytes.saturating_mul(SECOND);
    u128::from(taken) < u128::from(than.as_nanos()) * u128::from(bytes_per_s.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_between_blocks_that_left_data_behind() {
        let time_at_ms = |millis| Time::ZERO + Span::from_millis(millis);
        let mut rate = ServedRate::default();
        rate.on_block(time_at_ms(0), 500, true);
        assert_eq!(rate.bytes_per_s(), None, "from when on is not known");
        for millis in 1..200 {
            rate.on_block(time_at_ms(millis), 1000, millis < 199);
        }
        // The subtracted sixteenths are rounded down. This raises the bytes more than the
        // nanoseconds, so the rate is slightly too high.
        let steady = rate.bytes_per_s().expect("known");
        assert!((1_000_000..1_000_100).contains(&steady), "{steady}");
        // A second without data does not change the rate.
        rate.on_block(time_at_ms(1200), 10, true);
        assert_eq!(rate.bytes_per_s(), Some(steady));
        for millis in 1201..1400 {
            rate.on_block(time_at_ms(millis), 3000, true);
        }
        // The share e^(-200/16) of the old rate remains, so the rate is nearly the new one.
        let now = rate.bytes_per_s().expect("known");
        assert!((2_990_000..3_000_100).contains(&now), "{now}");
    }

    #[test]
    fn a_rate_takes_its_time() {
        assert_eq!(time_for(1500, 1_000_000), Span::from_micros(1500));
        assert_eq!(time_for(u64::MAX, 1), Span::from_nanos(u64::MAX));
        assert_eq!(time_for(0, 0), Span::ZERO);
    }

    #[test]
    fn a_time_is_compared_with_as_if_it_were_divided() {
        let edges = [0, 1, 2, 3, 999, 1000, 12_345_678, 10_000_000_000, u64::MAX];
        for (bytes, rate, of) in triples(edges) {
            let took = time_for(bytes, rate);
            for nanos in [of, took.as_nanos(), took.as_nanos().saturating_add(1)] {
                let than = Span::from_nanos(nanos);
                assert_eq!(
                    takes_less(bytes, rate, than),
                    took < than,
                    "{bytes} {rate} {nanos}"
                );
            }
        }
    }

    fn triples<const N: usize>(of: [u64; N]) -> impl Iterator<Item = (u64, u64, u64)> {
        let pairs = move |a| of.into_iter().map(move |b| (a, b));
        let all = of.into_iter().flat_map(pairs);
        all.flat_map(move |(a, b)| of.into_iter().map(move |c| (a, b, c)))
    }
}
