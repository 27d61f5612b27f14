//! Random access of a UE in a cell.
//!
//! [`RandomAccess`] computes the times of the steps and counts preambles. The caller simulates the
//! radio channel and decides if a transmission arrives.
//!
//! Standard: TS 38.321 §5.1; TS 36.321 §5.1.

use crate::config::AccessConfig;
use crate::phy::frame::{Duplex, Frame};
use fadeout_core::random::Stream;
use fadeout_core::{Direction, Span, Time};

/// Random access parameters and frame of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellAccess<'a> {
    /// Random access parameters of the cell.
    pub config: &'a AccessConfig,
    /// Frame of the cell, which gives the slots of each direction.
    pub frame: &'a Frame,
}

impl CellAccess<'_> {
    /// Returns the first occasion for a preamble from `at` on. In FDD the occasion is at a multiple
    /// of the period. In TDD it is at the start of the first uplink slot from that multiple on.
    ///
    /// Standard: TS 38.213 §8.1; TS 38.211 §6.3.3.2; TS 36.211 §5.7.1.
    pub(crate) fn occasion_from(&self, at: Time) -> Time {
        let occasion = occasion_from(at, self.config.occasion_period);
        sent_from(self.frame, Direction::Uplink, occasion)
    }
}

/// Returns the time at which a transmission that is ready at `at` begins. In TDD it begins with the
/// first slot of its direction from `at` on.
pub(crate) fn sent_from(frame: &Frame, direction: Direction, at: Time) -> Time {
    if !matches!(frame.duplex(), Duplex::Tdd(_)) {
        return at;
    }
    let slot = frame.slot_from(at);
    frame.start_of(match direction {
        Direction::Downlink => frame.downlink_from(slot, 1),
        Direction::Uplink => frame.whole_uplink_from(slot),
    })
}

/// Transmission of random access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessStep {
    /// Preamble to the base station.
    Preamble,
    /// Random access response to the UE.
    Response,
    /// Msg3 to the base station.
    Message3,
    /// Contention resolution to the UE.
    Resolution,
}

/// Result of a step of random access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Random access continues at [`RandomAccess::wake_at`].
    Running,
    /// The UE is in the cell.
    Done,
    /// The maximum number of preambles was sent without success.
    Problem,
}

/// State of a random access procedure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RandomAccess {
    is_contention_free: bool,
    /// True if the next preamble is a dedicated one.
    is_next_dedicated: bool,
    next: AccessStep,
    due_at: Time,
    /// Time at which the UE stops waiting for the next step and tries again.
    gives_up_at: Time,
    /// Number of preambles (PREAMBLE_TRANSMISSION_COUNTER).
    preambles: u32,
    /// Time of the latest preamble.
    sent_at: Time,
}

impl RandomAccess {
    /// Returns the random access of a UE that is ready at `ready_at` and uses the next occasion.
    /// Contention resolution is omitted if the preamble is dedicated (`is_contention_free`).
    pub(crate) fn new(cell: CellAccess<'_>, ready_at: Time, is_contention_free: bool) -> Self {
        RandomAccess {
            is_contention_free,
            is_next_dedicated: is_contention_free,
            next: AccessStep::Preamble,
            due_at: cell.occasion_from(ready_at),
            gives_up_at: Time::NEVER,
            preambles: 1,
            sent_at: Time::ZERO,
        }
    }

    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        self.due_at.min(self.gives_up_at)
    }

    /// Sets the kind of the following preambles: dedicated, or drawn for contention.
    pub(crate) fn choose(&mut self, is_dedicated: bool) {
        self.is_next_dedicated = is_dedicated;
    }

    /// Returns the number of preambles sent, including a preamble that is about to be sent.
    pub(crate) fn preambles(&self) -> u32 {
        self.preambles
    }

    /// Returns the count that a preamble would have if the UE sent the preamble now.
    pub(crate) fn number_at(&self, now: Time) -> u32 {
        let has_failed = self.gives_up_at <= now && self.gives_up_at < self.due_at;
        self.preambles + u32::from(has_failed)
    }

    /// Returns the time of the latest preamble if the UE drew that preamble for contention. `None`
    /// if the preamble was dedicated.
    pub(crate) fn drawn_at(&self) -> Option<Time> {
        (!self.is_contention_free).then_some(self.sent_at)
    }

    /// Ends the attempt, because the contention resolution message names another UE.
    ///
    /// Standard: TS 38.321 §5.1.5; TS 36.321 §5.1.5.
    pub(crate) fn lose(&mut self, now: Time) {
        self.gives_up_at = now;
    }

    /// Carries out the steps that are due by now. `arrives` returns true if a transmission arrives.
    pub(crate) fn on_wake(
        &mut self,
        now: Time,
        cell: CellAccess<'_>,
        draws: &mut Stream,
        mut arrives: impl FnMut(AccessStep) -> bool,
    ) -> Progress {
        while self.wake_at() <= now {
            if self.due_at > self.gives_up_at {
                if self.fail(now, cell, draws) {
                    return Progress::Problem;
                }
                continue;
            }
            self.carry_out_step(cell, &mut arrives);
            if self.wake_at().is_never() {
                return Progress::Done;
            }
        }
        debug_assert!(
            self.preambles <= cell.config.most_preambles,
            "preamble {} of {}",
            self.preambles,
            cell.config.most_preambles
        );
        debug_assert!(
            self.wake_at() > now,
            "random access left something undone at {now}"
        );
        Progress::Running
    }

    /// Carries out the step that is due.
    fn carry_out_step(
        &mut self,
        cell: CellAccess<'_>,
        arrives: &mut impl FnMut(AccessStep) -> bool,
    ) {
        let config = cell.config;
        let (at, step) = (self.due_at, self.next);
        self.due_at = Time::NEVER;
        let is_there = arrives(step);
        let mut follow = |next, delay: Span| {
            self.next = next;
            if is_there {
                let direction = match next {
                    AccessStep::Preamble | AccessStep::Message3 => Direction::Uplink,
                    AccessStep::Response | AccessStep::Resolution => Direction::Downlink,
                };
                self.due_at = sent_from(cell.frame, direction, at.saturating_add(delay));
            }
        };
        match step {
            AccessStep::Preamble => {
                self.sent_at = at;
                self.is_contention_free = self.is_next_dedicated;
                // If the base station receives the preamble, it sends the response at the start of
                // the response window.
                follow(AccessStep::Response, config.response_delay);
                let window = config.response_delay + config.response_window;
                self.gives_up_at = at.saturating_add(window);
            }
            AccessStep::Response if is_there && self.is_contention_free => {
                self.gives_up_at = Time::NEVER;
            }
            // Without a response the UE waits until the end of the window.
            AccessStep::Response if !is_there => {}
            AccessStep::Response => {
                follow(AccessStep::Message3, config.message3_delay);
                self.gives_up_at = Time::NEVER;
            }
            AccessStep::Message3 => {
                follow(AccessStep::Resolution, config.resolution_delay);
                self.gives_up_at = at.saturating_add(config.contention_timer);
            }
            AccessStep::Resolution if is_there => self.gives_up_at = Time::NEVER,
            AccessStep::Resolution => {}
        }
    }

    /// Ends a failed attempt. The next attempt follows after the back-off. Returns true if the
    /// maximum number of preambles was sent.
    ///
    /// Standard: TS 38.321 §5.1.4, §5.1.5.
    fn fail(&mut self, now: Time, cell: CellAccess<'_>, draws: &mut Stream) -> bool {
        let config = cell.config;
        self.preambles += 1;
        self.next = AccessStep::Preamble;
        self.gives_up_at = Time::NEVER;
        if self.preambles == config.most_preambles + 1 {
            self.due_at = Time::NEVER;
            return true;
        }
        let wait = Span::from_nanos(draws.below(config.backoff.as_nanos() + 1));
        self.due_at = cell.occasion_from(now.saturating_add(wait));
        false
    }
}

/// Returns the first multiple of `period` from `at` on.
pub(crate) fn occasion_from(at: Time, period: Span) -> Time {
    let period = period.as_nanos().max(1);
    let occasion = Time::from_nanos(at.as_nanos().div_ceil(period) * period);
    debug_assert!(occasion >= at, "an occasion before {at}");
    occasion
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::phy::lte_tdd::LteTdd;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Returns an FDD frame, in which both directions are always available.
    pub(crate) fn fdd() -> Frame {
        Frame::lte(Span::from_millis(1), Duplex::Fdd).expect("a frame")
    }

    /// Runs random access from 12 ms on. Returns the steps with their times in ms, the result, and
    /// the time of the result. `arrives` is called with the number of each step.
    fn run(
        config: &AccessConfig,
        is_contention_free: bool,
        mut arrives: impl FnMut(usize) -> bool,
    ) -> (Vec<(u64, AccessStep)>, Progress, u64) {
        run_in(&fdd(), config, is_contention_free, &mut arrives)
    }

    /// Returns the same values as `run`, for a cell with this frame.
    fn run_in(
        frame: &Frame,
        config: &AccessConfig,
        is_contention_free: bool,
        arrives: &mut impl FnMut(usize) -> bool,
    ) -> (Vec<(u64, AccessStep)>, Progress, u64) {
        let cell = CellAccess { config, frame };
        let mut access = RandomAccess::new(cell, at_ms(12), is_contention_free);
        let mut draws = Stream::new(1, "test.access", 0);
        let mut steps = Vec::new();
        loop {
            let now = access.wake_at();
            assert!(!now.is_never(), "it ends");
            let ms = now.as_nanos() / 1_000_000;
            let progress = access.on_wake(now, cell, &mut draws, |step| {
                steps.push((ms, step));
                arrives(steps.len() - 1)
            });
            if progress != Progress::Running {
                return (steps, progress, ms);
            }
        }
    }

    pub(crate) const AT_ONCE: AccessConfig = AccessConfig {
        occasion_period: Span::from_millis(10),
        response_delay: Span::from_millis(3),
        response_window: Span::from_millis(10),
        most_preambles: 10,
        drawn_preambles: 54,
        ramping: None,
        backoff: Span::ZERO,
        message3_delay: Span::from_millis(6),
        resolution_delay: Span::from_millis(5),
        contention_timer: Span::from_millis(48),
    };

    #[test]
    fn a_dedicated_preamble_is_in_with_the_response() {
        let (steps, progress, ms) = run(&AT_ONCE, true, |_| true);
        assert_eq!(
            steps,
            [(20, AccessStep::Preamble), (23, AccessStep::Response)]
        );
        assert_eq!((progress, ms), (Progress::Done, 23));
    }

    #[test]
    fn a_drawn_preamble_is_in_with_contention_resolution() {
        let (steps, progress, ms) = run(&AT_ONCE, false, |_| true);
        let (third, fourth) = ((29, AccessStep::Message3), (34, AccessStep::Resolution));
        assert_eq!(steps[2..], [third, fourth]);
        assert_eq!((progress, ms), (Progress::Done, 34));
    }

    #[test]
    fn what_is_lost_is_tried_again_after_the_window_or_the_contention_timer() {
        // The first preamble is lost, and then the second attempt's response. The response windows
        // end at 33 and 53 ms, so the UE sends the next preambles at 40 and 60 ms.
        let (steps, progress, _) = run(&AT_ONCE, true, |n| n != 0 && n != 2);
        let times: Vec<u64> = steps.iter().map(|&(ms, _)| ms).collect();
        assert_eq!(times, [20, 40, 43, 60, 63]);
        assert_eq!(progress, Progress::Done);
        // Msg3 is lost at 29 ms, and then the contention resolution at 94 ms. The contention timer
        // expires at 77 and 137 ms, so the UE sends preambles again at 80 and 140 ms.
        let (steps, _, ms) = run(&AT_ONCE, false, |n| n != 2 && n != 6);
        let preambles = steps
            .iter()
            .filter(|(_, step)| *step == AccessStep::Preamble);
        assert!(preambles.map(|&(ms, _)| ms).eq([20, 80, 140]));
        assert_eq!(ms, 154);
    }

    #[test]
    fn a_ue_that_has_lost_the_contention_tries_again_at_once() {
        let frame = fdd();
        let cell = CellAccess {
            config: &AT_ONCE,
            frame: &frame,
        };
        let mut access = RandomAccess::new(cell, at_ms(12), false);
        let mut draws = Stream::new(1, "test.access", 0);
        assert_eq!(access.number_at(at_ms(20)), 1);
        for ms in [20, 23, 29] {
            access.on_wake(at_ms(ms), cell, &mut draws, |_| true);
        }
        assert_eq!(access.drawn_at(), Some(at_ms(20)));
        access.on_wake(at_ms(34), cell, &mut draws, |_| false);
        assert_eq!(access.wake_at(), at_ms(77), "the timer runs on");
        access.lose(at_ms(34));
        assert_eq!(access.number_at(at_ms(34)), 2);
        access.on_wake(at_ms(34), cell, &mut draws, |_| true);
        assert_eq!((access.wake_at(), access.preambles()), (at_ms(40), 2));
    }

    /// Test vector ra_problem_counter of handover_vectors.csv.
    #[test]
    fn after_the_last_preamble_there_is_a_problem() {
        let (steps, progress, ms) = run(&AT_ONCE, true, |_| false);
        assert_eq!((steps.len(), progress), (10, Progress::Problem));
        assert_eq!(ms, 20 + 9 * 20 + 13);
    }

    #[test]
    fn the_back_off_is_drawn_up_to_its_longest() {
        let config = AccessConfig {
            backoff: Span::from_millis(960),
            occasion_period: Span::from_millis(1),
            most_preambles: 200,
            ..AT_ONCE
        };
        let (steps, ..) = run(&config, true, |_| false);
        let waits = steps.windows(2).map(|pair| pair[1].0 - pair[0].0 - 13);
        let (least, most) = (waits.clone().min(), waits.max());
        // The smallest and the largest of 199 back-offs lie within 48 ms of 0 and 960 ms, except
        // with a probability of 1e-4.
        assert!(least < Some(48) && (Some(912)..=Some(961)).contains(&most));
    }

    #[test]
    fn steps_of_tdd_are_in_slots_of_their_direction() {
        for (configuration, expected) in [
            // The pattern is DSUUDDSUUD. The preamble due at 20 ms is sent in uplink subframe 22,
            // and the response in downlink subframe 25. Subframe 31 is special, so Msg3 is sent in
            // 32. Subframes 37 and 38 are uplink, so the contention resolution is sent in 39.
            (1, [22, 25, 32, 39]),
            // The pattern is DSUDDDDDDD. Msg3 is sent in subframe 32 again. Subframe 37 is
            // downlink, so the contention resolution is sent in it.
            (5, [22, 25, 32, 37]),
        ] {
            let tdd = LteTdd::new(configuration).expect("0 to 6");
            let pattern = tdd.pattern(7).expect("0 to 10");
            let frame = Frame::lte(Span::from_millis(1), Duplex::Tdd(pattern)).expect("a frame");
            let (steps, progress, _) = run_in(&frame, &AT_ONCE, false, &mut |_| true);
            let times: Vec<u64> = steps.iter().map(|&(ms, _)| ms).collect();
            assert_eq!((&times[..], progress), (&expected[..], Progress::Done));
        }
    }
}
