//! Repeats of signals that the peer does not confirm: MP_PRIO and REMOVE_ADDR.

use fadeout_core::{Span, Time};

/// Repeats of one signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeats {
    at: Time,
    left: u32,
}

impl Repeats {
    /// No repeats, before a signal is sent and after its last repeat.
    pub(super) const NONE: Repeats = Repeats {
        at: Time::NEVER,
        left: 0,
    };

    /// Returns `count` repeats of a signal that is sent now. The first is due after `interval`.
    /// Without an interval no path carries data, so nothing is repeated.
    pub(super) fn begin(now: Time, interval: Option<Span>, count: u32) -> Repeats {
        match interval {
            Some(interval) if count > 0 => Repeats {
                at: now.saturating_add(interval),
                left: count,
            },
            _ => Repeats::NONE,
        }
    }

    /// Returns the time of the next repeat. [`Time::NEVER`] if there is none.
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// Returns true if a repeat is due now. The next is due after the time that `interval` returns.
    pub(super) fn take_due(&mut self, now: Time, interval: impl FnOnce() -> Option<Span>) -> bool {
        if self.at > now {
            return false;
        }
        *self = Repeats::begin(now, interval(), self.left - 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_signal_is_repeated_as_often_as_configured_and_no_more() {
        let interval = || Some(Span::from_millis(100));
        let mut repeats = Repeats::begin(ms(0), interval(), 2);
        assert!(!repeats.take_due(ms(99), interval));
        assert!(repeats.take_due(ms(100), interval));
        assert_eq!(repeats.at(), ms(200));
        assert!(repeats.take_due(ms(250), interval));
        assert!(repeats.at().is_never() && !repeats.take_due(ms(9_999), interval));
    }

    #[test]
    fn nothing_is_repeated_without_a_path() {
        assert!(Repeats::begin(ms(0), None, 5).at().is_never());
        let mut repeats = Repeats::begin(ms(0), Some(Span::from_millis(1)), 5);
        assert!(repeats.take_due(ms(1), || None));
        assert!(repeats.at().is_never());
    }
}
