//! Timestamps of the peer: the value to echo, and detection of old segments.
//!
//! Standard: RFC 7323 §4.3, §5.

use fadeout_core::{Flags, Segment, Span, Time};

/// Largest decrease of a timestamp that does not count as old, ms (Linux `TCP_PAWS_WINDOW`).
const PAWS_WINDOW: u32 = 1;
/// Shortest interval between answers to old segments without data (Linux `tcp_invalid_ratelimit`).
const OUTDATED_INTERVAL: Span = Span::from_millis(500);

/// State of the peer's timestamps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timestamps {
    /// True if timestamps are agreed on.
    is_on: bool,
    /// Newest timestamp to echo (TS.Recent).
    recent: u32,
    /// Time from which old segments without data are answered again.
    answers_from: Time,
}

impl Timestamps {
    pub(super) fn new(is_on: bool) -> Timestamps {
        Timestamps {
            is_on,
            recent: 0,
            answers_from: Time::ZERO,
        }
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    #[inline]
    pub(super) fn recent(&self) -> u32 {
        self.recent
    }

    pub(super) fn agree(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// Records the timestamp of the peer's SYN.
    pub(super) fn on_syn(&mut self, segment: &Segment) {
        self.recent = segment.ts_value;
    }

    /// Records the timestamp of a segment if the segment covers the last acknowledgment,
    /// `acked_up_to`.
    ///
    /// Standard: RFC 7323 §4.3, step 2.
    #[inline]
    pub(super) fn update_recent(&mut self, segment: &Segment, acked_up_to: u64) {
        if segment.has_timestamps && segment.seq <= acked_up_to && self.age(segment) == 0 {
            self.recent = segment.ts_value;
        }
    }

    /// Returns true if `segment` has a timestamp that is not older than the newest.
    #[inline]
    pub(super) fn continues(&self, segment: &Segment) -> bool {
        segment.has_timestamps && self.age(segment) == 0
    }

    /// Returns by how much the timestamp of `segment` is older than the newest, ms.
    #[inline]
    fn age(&self, segment: &Segment) -> u32 {
        let age = self.recent.wrapping_sub(segment.ts_value) as i32;
        if self.is_on && segment.has_timestamps {
            age.max(0) as u32
        } else {
            0
        }
    }

    /// Returns true if the timestamp shows an old segment. A reordered acknowledgment that would
    /// change nothing is not old (Linux `tcp_disordered_ack`). `next` is RCV.NXT. `sender` returns
    /// a flag and the retransmission timeout of the sending half. The flag is true if the segment
    /// would change the sending half.
    ///
    /// Standard: RFC 7323 §5.
    #[inline]
    pub(super) fn is_outdated(
        &self,
        segment: &Segment,
        next: u64,
        sender: impl FnOnce() -> (bool, Span),
    ) -> bool {
        let age = self.age(segment);
        if age <= PAWS_WINDOW || segment.flags.has(Flags::RST) || segment.flags.has(Flags::SYN) {
            return false;
        }
        let (changes_sender, rto) = sender();
        let changes_nothing = segment.seq_len() == 0 && segment.seq == next && !changes_sender;
        !(changes_nothing && u64::from(age) <= rto.as_millis())
    }

    /// Returns true if an old segment without data must be answered. The rate of answers is
    /// limited.
    pub(super) fn answers_outdated(&mut self, now: Time) -> bool {
        let answers = now >= self.answers_from;
        if answers {
            self.answers_from = now + OUTDATED_INTERVAL;
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at_ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn stamped(value: u32) -> Segment {
        Segment {
            seq: 100,
            ts_value: value,
            has_timestamps: true,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    fn timestamps() -> Timestamps {
        let mut timestamps = Timestamps::new(true);
        timestamps.on_syn(&stamped(1_000));
        timestamps
    }

    #[test]
    fn the_newest_timestamp_of_what_continues_the_last_ack_is_echoed() {
        for (segment, expected) in [
            (stamped(1_001), 1_001),
            (stamped(1_000), 1_000),
            (stamped(999), 1_000),
            (
                Segment {
                    seq: 101,
                    ..stamped(1_001)
                },
                1_000,
            ),
            (
                Segment {
                    has_timestamps: false,
                    ..stamped(1_001)
                },
                1_000,
            ),
        ] {
            let mut timestamps = timestamps();
            timestamps.update_recent(&segment, 100);
            assert_eq!(timestamps.recent(), expected, "{segment:?}");
        }
        // The timestamp clock wraps around, and the comparison still works.
        let mut wraps = Timestamps::new(true);
        wraps.on_syn(&stamped(u32::MAX));
        wraps.update_recent(&stamped(3), 100);
        assert_eq!(wraps.recent(), 3);
    }

    #[test]
    fn a_timestamp_that_goes_back_shows_an_old_segment() {
        let old = |segment: &Segment| timestamps().is_outdated(segment, 50, || (false, Span::MAX));
        assert!(!old(&stamped(1_000)));
        assert!(!old(&stamped(999)), "within the window");
        assert!(old(&stamped(998)));
        let spared = Segment {
            has_timestamps: false,
            ..stamped(998)
        };
        assert!(!old(&spared));
        for flags in [Flags::RST, Flags::SYN] {
            let spared = Segment {
                flags,
                ..stamped(998)
            };
            assert!(!old(&spared));
        }
        let mut off = timestamps();
        off.agree(false);
        assert!(!off.is_on());
        assert!(!off.is_outdated(&stamped(998), 50, || (true, Span::ZERO)));
    }

    #[test]
    fn an_acknowledgment_that_was_overtaken_within_a_timeout_passes() {
        let rto = Span::from_millis(200);
        let old = |segment: Segment, next, changes| {
            timestamps().is_outdated(&segment, next, || (changes, rto))
        };
        assert!(!old(stamped(800), 100, false));
        assert!(old(stamped(799), 100, false));
        assert!(old(stamped(900), 101, false));
        assert!(old(stamped(900), 100, true));
        let data = Segment {
            len: 1,
            ..stamped(900)
        };
        assert!(old(data, 100, false));
    }

    #[test]
    fn old_segments_are_answered_twice_a_second_at_most() {
        let mut timestamps = timestamps();
        assert!(timestamps.answers_outdated(time_at_ms(0)));
        assert!(!timestamps.answers_outdated(time_at_ms(499)));
        assert!(timestamps.answers_outdated(time_at_ms(500)));
        assert!(!timestamps.answers_outdated(time_at_ms(999)));
    }
}
