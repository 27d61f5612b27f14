//! Timing of STATUS PDUs of the receiving side in acknowledged mode.
//!
//! Standard: TS 38.322 §5.3.4; TS 36.322 §5.2.3.

use fadeout_core::{Span, Time};

const NONE: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(super) struct Report {
    t_status_prohibit: Span,
    /// End of t-StatusProhibit.
    prohibited_until: Time,
    is_triggered: bool,
    /// True if a report was triggered while t-StatusProhibit ran, and the expiry of
    /// t-StatusProhibit has not been processed.
    is_held: bool,
    /// Lowest and highest number of the PDUs whose polls wait until their reception is decided. One
    /// STATUS PDU answers all polls in between.
    delayed: (u64, u64),
}

impl Report {
    pub(super) fn new(t_status_prohibit: Span) -> Report {
        Report {
            t_status_prohibit,
            prohibited_until: Time::ZERO,
            is_triggered: false,
            is_held: false,
            delayed: (NONE, NONE),
        }
    }
    #[inline]
    pub(super) fn trigger(&mut self, now: Time) {
        self.is_triggered = true;
        self.is_held = now < self.prohibited_until;
    }
    /// Records a poll in PDU `number`, whose reception is not decided yet.
    #[inline]
    pub(super) fn delay(&mut self, number: u64) {
        let (low, high) = self.delayed;
        self.delayed = (
            low.min(number),
            if high == NONE {
                number
            } else {
                high.max(number)
            },
        );
    }
    /// Records that the reception of all numbers below `decided` is decided.
    #[inline]
    pub(super) fn on_decided(&mut self, now: Time, decided: u64) {
        debug_assert!(
            self.delayed.0 <= self.delayed.1,
            "polls wait from {} to {}",
            self.delayed.0,
            self.delayed.1
        );
        if self.delayed.0 < decided {
            self.trigger(now);
            let high = self.delayed.1;
            self.delayed = if high < decided {
                (NONE, NONE)
            } else {
                (high, high)
            };
        }
    }
    /// Returns the time from which a STATUS PDU is due in the next grant.
    #[inline]
    pub(super) fn due_from(&self) -> Time {
        if self.is_triggered {
            self.prohibited_until
        } else {
            Time::NEVER
        }
    }
    /// Returns true if a STATUS PDU is due in the next grant.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.is_triggered && now >= self.prohibited_until
    }
    /// Records that a STATUS PDU was sent.
    pub(super) fn on_sent(&mut self, now: Time) {
        debug_assert!(self.is_due(now), "a STATUS PDU leaves that was not due");
        self.is_triggered = false;
        self.prohibited_until = now.saturating_add(self.t_status_prohibit);
    }
    /// Handles a possible expiry of t-StatusProhibit.
    pub(super) fn on_wake(&mut self, now: Time) {
        self.is_held &= now < self.prohibited_until;
    }
    /// Returns the time at which a held STATUS PDU becomes due.
    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        if self.is_held {
            self.due_from()
        } else {
            Time::NEVER
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::ZERO;

    /// Returns true if a report becomes due when the reception of all numbers below `number` is
    /// decided. The report is then sent.
    fn reports(report: &mut Report, number: u64) -> bool {
        report.on_decided(NOW, number);
        let is_due = report.is_due(NOW);
        if is_due {
            report.on_sent(NOW);
        }
        is_due
    }

    #[test]
    fn a_delayed_poll_is_answered_once_when_its_pdu_is_decided() {
        let mut report = Report::new(Span::ZERO);
        report.delay(5);
        let answers = [5, 7, 8].map(|number| reports(&mut report, number));
        assert_eq!(answers, [false, true, false]);
    }

    #[test]
    fn of_several_delayed_polls_the_highest_is_kept_until_it_is_decided() {
        for order in [[3, 5], [5, 3]] {
            let mut report = Report::new(Span::ZERO);
            for number in order {
                report.delay(number);
            }
            let answers = [4, 5, 6, 7].map(|number| reports(&mut report, number));
            assert_eq!(answers, [true, false, true, false], "{order:?}");
        }
        let mut report = Report::new(Span::ZERO);
        report.delay(3);
        report.delay(5);
        let answers = [5, 6, 7].map(|number| reports(&mut report, number));
        assert_eq!(answers, [true, true, false], "decided at once up to 5");
    }

    #[test]
    fn a_held_report_wakes_at_the_end_of_t_status_prohibit_and_not_before() {
        let wait = Span::from_millis(10);
        let mut report = Report::new(wait);
        report.trigger(NOW);
        assert!(report.is_due(NOW) && report.wake_at().is_never());
        report.on_sent(NOW);
        let at = NOW + Span::from_millis(4);
        report.trigger(at);
        report.on_wake(at);
        assert!(!report.is_due(at));
        assert_eq!(report.wake_at(), NOW + wait);
        report.on_wake(NOW + wait);
        assert!(report.is_due(NOW + wait) && report.wake_at().is_never());
    }
}
