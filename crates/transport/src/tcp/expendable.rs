//! Pattern of expendable segments that the two ends of TCP-Casablanca agree on.
//!
//! The paper asks for a pattern that both ends know. Here it is every `every`-th segment, counted
//! in full segments from the start of the stream.

/// Returns true if the segment that begins at `seq` is expendable.
pub(super) fn is_expendable(seq: u64, mss: u32, every: u32) -> bool {
    index(seq, mss).is_multiple_of(u64::from(every.max(1)))
}

/// Returns true if `start..end` contains no expendable segment. Then a biased queue did not drop
/// any of its segments.
pub(super) fn spares_expendable((start, end): (u64, u64), mss: u32, every: u32) -> bool {
    let every = u64::from(every.max(1));
    let (first, last) = (index(start, mss), index(end.saturating_sub(1), mss));
    last / every * every < first
}

/// Returns the index of the segment that contains sequence number `seq`. The stream begins at 1.
fn index(seq: u64, mss: u32) -> u64 {
    seq.saturating_sub(1) / u64::from(mss.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hole(from: u64, to: u64) -> (u64, u64) {
        (from * 1000 + 1, to * 1000 + 1)
    }

    #[test]
    fn the_pattern_tells_the_queues_losses_from_the_radios() {
        // Reference vector CA-1: holes with and without an expendable segment.
        assert!(spares_expendable(hole(12, 13), 1000, 5));
        assert!(!spares_expendable(hole(15, 16), 1000, 5));
        assert!(spares_expendable(hole(11, 15), 1000, 5));
        assert!(!spares_expendable(hole(11, 16), 1000, 5));
        assert!(is_expendable(15_001, 1000, 5) && !is_expendable(12_001, 1000, 5));
    }
}
