//! Entry of a UE into a cell without random access. The UE uses a preallocated uplink grant or
//! waits for a grant on PDCCH.
//!
//! ```text
//! grant on PDCCH, or preallocated opportunity ─► data ─► answer: the UE is in the cell
//! ```
//!
//! [`GrantedAccess`] computes the times of the steps. The caller decides if a transmission arrives.
//! The data are the UE's last message of the handover. The number of attempts is not limited, but
//! T304 ends the attempts.
//!
//! Standard: TS 36.331 §5.3.5.4; TS 36.321 §5.1, §5.4.1; TS 38.300 §9.2.3.6.

use super::random_access::{Progress, RandomAccess, occasion_from, sent_from};
use crate::config::FirstGrant;
use crate::phy::frame::Frame;
use fadeout_core::{Direction, Span, Time};

/// Step of a UE's entry into a cell without random access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantStep {
    /// Uplink grant to the UE.
    Grant,
    /// The UE's last message to the base station.
    Data,
    /// Answer of the base station to the UE's C-RNTI, after it has received the data.
    Answer,
}

/// Times between the steps in the target cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GrantTimes<'a> {
    /// Frame of the cell, which gives the slots of each direction.
    pub frame: &'a Frame,
    /// Time from a grant to its data.
    pub data_after: Span,
    /// Time from the beginning of the data to the end of the answer.
    pub answer_after: Span,
}

impl GrantTimes<'_> {
    /// Returns the start of the data transmission for a grant received at `at`.
    fn data_at(&self, at: Time) -> Time {
        sent_from(
            self.frame,
            Direction::Uplink,
            at.saturating_add(self.data_after),
        )
    }

    /// Returns the end of the answer to data that begin at `at`. The answer takes one slot.
    fn answered_at(&self, at: Time) -> Time {
        let slot = self.frame.slot();
        let ready = at.saturating_add(self.answer_after).saturating_sub(slot);
        sent_from(self.frame, Direction::Downlink, ready).saturating_add(slot)
    }
}

/// State of an entry without random access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GrantedAccess {
    grant: FirstGrant,
    /// Timing advance that the UE uses. `None` stands for the correct timing advance.
    advance: Option<Span>,
    next: GrantStep,
    due_at: Time,
}

impl GrantedAccess {
    /// Returns the entry of a UE that is ready at `ready_at`. `advance` is the timing advance that
    /// the UE uses, or `None` for the correct timing advance.
    pub(crate) fn new(
        (grant, advance): (FirstGrant, Option<Span>),
        ready_at: Time,
        frame: &Frame,
    ) -> GrantedAccess {
        let (next, direction) = match grant {
            FirstGrant::Preallocated(_) => (GrantStep::Data, Direction::Uplink),
            FirstGrant::Pdcch(_) => (GrantStep::Grant, Direction::Downlink),
        };
        let opportunity = occasion_from(ready_at, grant.interval());
        GrantedAccess {
            grant,
            advance,
            next,
            due_at: sent_from(frame, direction, opportunity),
        }
    }

    /// Returns the timing advance that the UE uses. `None` stands for the correct timing advance.
    pub(crate) fn advance(&self) -> Option<Span> {
        self.advance
    }

    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        self.due_at
    }

    /// Carries out the steps that are due by now. `arrives` returns true if a transmission arrives.
    pub(crate) fn on_wake(
        &mut self,
        now: Time,
        times: &GrantTimes<'_>,
        mut arrives: impl FnMut(GrantStep) -> bool,
    ) -> Progress {
        while self.due_at <= now {
            let (at, step) = (self.due_at, self.next);
            // The UE does not learn that its data were lost. The UE uses the next opportunity after
            // the time at which the answer was due.
            (self.due_at, self.next) = match (step, arrives(step)) {
                (GrantStep::Answer, true) => return Progress::Done,
                (GrantStep::Grant, true) => (times.data_at(at), GrantStep::Data),
                (GrantStep::Data, true) => (times.answered_at(at), GrantStep::Answer),
                (GrantStep::Data, false) => return self.retry_from(times.answered_at(at), times),
                (GrantStep::Grant | GrantStep::Answer, false) => {
                    return self.retry_from(at.saturating_add(Span::from_nanos(1)), times);
                }
            };
        }
        Progress::Running
    }

    /// Continues with the next opportunity from `from` on, which is after the failed attempt.
    fn retry_from(&mut self, from: Time, times: &GrantTimes<'_>) -> Progress {
        *self = GrantedAccess::new((self.grant, self.advance), from, times.frame);
        Progress::Running
    }
}

/// Entry of a UE into a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum EntryAccess {
    /// Entry by random access.
    Random(RandomAccess),
    /// Entry without random access.
    Granted(GrantedAccess),
}

impl EntryAccess {
    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        match self {
            EntryAccess::Random(access) => access.wake_at(),
            EntryAccess::Granted(access) => access.wake_at(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::frame::Duplex;
    use crate::phy::lte_tdd::LteTdd;
    use crate::rrc::random_access::tests::fdd;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Returns the times of LTE. Data follow 4 ms after a grant. The answer ends 6.5 ms after the
    /// data begin. Data and answer take 1 ms each, decoding takes 1.5 ms, and the answer follows 3
    /// ms later.
    fn times(frame: &Frame) -> GrantTimes<'_> {
        GrantTimes {
            frame,
            data_after: Span::from_millis(4),
            answer_after: Span::from_micros(6500),
        }
    }
    const TEN: Span = Span::from_millis(10);

    /// Returns the steps of a UE that is ready at 12 ms, with their times in microseconds.
    /// `arrives` is called with the number of each step.
    fn run(grant: FirstGrant, arrives: impl FnMut(usize) -> bool) -> Vec<(u64, GrantStep)> {
        run_in(&fdd(), grant, arrives)
    }

    /// Returns the same steps as `run`, for a cell with this frame.
    fn run_in(
        frame: &Frame,
        grant: FirstGrant,
        mut arrives: impl FnMut(usize) -> bool,
    ) -> Vec<(u64, GrantStep)> {
        let mut access = GrantedAccess::new((grant, None), at_ms(12), frame);
        let mut steps = Vec::new();
        loop {
            let now = access.wake_at();
            let us = now.as_nanos() / 1000;
            let progress = access.on_wake(now, &times(frame), |step| {
                steps.push((us, step));
                arrives(steps.len() - 1)
            });
            if progress == Progress::Done || steps.len() > 50 {
                return steps;
            }
        }
    }

    #[test]
    fn a_preallocated_grant_is_taken_at_its_next_opportunity() {
        use GrantStep::{Answer, Data};
        let steps = run(FirstGrant::Preallocated(TEN), |_| true);
        assert_eq!(steps, [(20_000, Data), (26_500, Answer)]);
        let often = FirstGrant::Preallocated(Span::from_millis(2));
        assert_eq!(run(often, |_| true)[0], (12_000, Data), "at once");
    }

    #[test]
    fn without_one_the_ue_waits_for_a_grant_on_pdcch() {
        use GrantStep::{Answer, Data, Grant};
        let steps = run(FirstGrant::Pdcch(TEN), |_| true);
        assert_eq!(steps, [(20_000, Grant), (24_000, Data), (30_500, Answer)]);
    }

    #[test]
    fn whatever_is_lost_the_next_opportunity_is_taken() {
        let times = |grant, lost: usize| -> Vec<u64> {
            let steps = run(grant, |n| n != lost);
            steps.into_iter().map(|(us, _)| us).collect()
        };
        let preallocated = FirstGrant::Preallocated(TEN);
        assert_eq!(times(preallocated, 0), [20_000, 30_000, 36_500]);
        // The answer at 26.5 ms is lost, so the UE sends its data again at 30 ms.
        assert_eq!(times(preallocated, 1), [20_000, 26_500, 30_000, 36_500]);
        let pdcch = FirstGrant::Pdcch(TEN);
        assert_eq!(times(pdcch, 0), [20_000, 30_000, 34_000, 40_500]);
        assert_eq!(times(pdcch, 1)[1..], [24_000, 40_000, 44_000, 50_500]);
        assert_eq!(times(pdcch, 2)[2..], [30_500, 40_000, 44_000, 50_500]);
    }

    #[test]
    fn it_goes_on_until_somebody_ends_it() {
        assert_eq!(run(FirstGrant::Pdcch(TEN), |_| false).len(), 51);
        assert_eq!(run(FirstGrant::Preallocated(TEN), |_| false).len(), 51);
    }

    #[test]
    fn steps_of_tdd_are_in_slots_of_their_direction() {
        use GrantStep::{Answer, Data, Grant};
        // The pattern is DSUUDDSUUD. The data due at 20 ms are sent in uplink subframe 22. Subframe
        // 28 is uplink, so the answer is sent in subframe 29 and ends at 30 ms.
        let pattern = LteTdd::new(1).and_then(|tdd| tdd.pattern(7));
        let duplex = Duplex::Tdd(pattern.expect("a pattern"));
        let frame = Frame::lte(Span::from_millis(1), duplex).expect("a frame");
        let steps = run_in(&frame, FirstGrant::Preallocated(TEN), |_| true);
        assert_eq!(steps, [(22_000, Data), (30_000, Answer)]);
        // The grant in subframe 20 is meant for subframe 24, which is downlink. The data are
        // therefore sent in subframe 27.
        let steps = run_in(&frame, FirstGrant::Pdcch(TEN), |_| true);
        assert_eq!(steps, [(20_000, Grant), (27_000, Data), (35_000, Answer)]);
    }
}
