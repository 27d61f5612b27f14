//! Execution conditions of conditional handover at the UE. The conditions determine when the UE
//! leaves its cell, and for which candidate.
//!
//! [`Conditions`] receives samples and times. The radio channel, the clock and signalling are
//! outside this module.
//!
//! Standard: TS 38.331 §5.3.5.13; TS 36.331 §5.3.5.9.

use super::filter::{Before, Filter, Level};
use crate::config::{MOST_CANDIDATES, MeasurementEvent};
use crate::rlc::Generation;
use fadeout_core::{CellId, Span, Time};

/// Returns the time that a UE takes to process a reconfiguration.
///
/// Standard: TS 38.331 §12; TS 36.331 §11.2.
pub(crate) fn processing(generation: Generation) -> Span {
    Span::from_millis(match generation {
        Generation::Lte => 15,
        Generation::Nr => 10,
    })
}

/// Cells that are prepared for a UE. One message lists all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidates {
    count: u8,
    cells: [CellId; MOST_CANDIDATES],
}

impl Candidates {
    pub(crate) const NONE: Candidates = Candidates {
        count: 0,
        cells: [CellId(0); MOST_CANDIDATES],
    };

    /// Adds a candidate, unless the maximum number is reached.
    pub(crate) fn add(&mut self, cell: CellId) {
        if let Some(place) = self.cells.get_mut(usize::from(self.count)) {
            *place = cell;
            self.count += 1;
        }
    }

    pub(crate) fn cells(&self) -> &[CellId] {
        &self.cells[..usize::from(self.count)]
    }
}

/// State of all execution conditions of a UE, over the cells that it measures.
#[derive(Debug)]
pub(crate) struct Conditions {
    conditions: Vec<Condition>,
    /// Positions of the candidates in the UE's list of cells, in order.
    candidates: Vec<usize>,
    /// Candidates that the UE has received, and the time from which it uses them. `None` if there
    /// is no new list.
    received: Option<(Time, Candidates)>,
    /// True if the UE has recovered from a link failure by a candidate.
    has_recovered: bool,
    /// Time at which all conditions of some candidate will be fulfilled, unless a later sample
    /// changes that.
    departure_at: Time,
    /// Value of `departure_at` at the last call of [`Conditions::take_changed_departure`].
    last_departure: Time,
}

/// Execution condition with its layer 3 filter, and its state for each cell.
#[derive(Debug)]
struct Condition {
    event: MeasurementEvent,
    filter: Filter,
    /// Sample period that the filter is computed for.
    period: Span,
    cells: Vec<(Level, ConditionState)>,
}

/// State of an execution condition for one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionState {
    Out,
    /// The entering condition holds. The condition is fulfilled from this time on.
    Entering(Time),
    Fulfilled,
    /// The leaving condition holds. The condition is fulfilled until this time.
    Leaving(Time),
}

impl ConditionState {
    /// Returns the earliest time at which the condition is fulfilled, or `now` if the condition is
    /// already fulfilled.
    fn fulfilled_at(self, now: Time) -> Time {
        match self {
            ConditionState::Out => Time::NEVER,
            ConditionState::Entering(at) => at.max(now),
            ConditionState::Fulfilled => now,
            ConditionState::Leaving(until) if now < until => now,
            ConditionState::Leaving(_) => Time::NEVER,
        }
    }

    /// Returns the state after all timers that expire before `now`. A sample at the expiry of a
    /// timer is handled before the timer.
    fn settled(self, now: Time) -> ConditionState {
        match self {
            ConditionState::Entering(at) if at < now => ConditionState::Fulfilled,
            ConditionState::Leaving(until) if until < now => ConditionState::Out,
            state => state,
        }
    }
}

impl Condition {
    fn new(event: MeasurementEvent, period: Span, cells: usize) -> Condition {
        Condition {
            filter: Filter::new(event.filter, period),
            period,
            cells: vec![(Level::NONE, ConditionState::Out); cells],
            event,
        }
    }

    /// Evaluates the condition of a neighbour. The filtered values of both cells must be exact.
    fn evaluate(&mut self, now: Time, [serving, position]: [usize; 2]) {
        let [of_serving, value] = [serving, position].map(|cell| self.cells[cell].0.low);
        let (kind, hysteresis) = (self.event.kind, self.event.hysteresis_db);
        let state = &mut self.cells[position].1;
        let ends_at = now.saturating_add(self.event.time_to_trigger);
        let enters = || kind.enters(of_serving, value, hysteresis);
        let leaves = || kind.leaves(of_serving, value, hysteresis);
        *state = match state.settled(now) {
            ConditionState::Out if enters() => ConditionState::Entering(ends_at),
            ConditionState::Entering(_) if !enters() => ConditionState::Out,
            ConditionState::Fulfilled if leaves() => ConditionState::Leaving(ends_at),
            ConditionState::Leaving(_) if !leaves() => ConditionState::Fulfilled,
            state => state,
        };
    }
}

impl Conditions {
    /// Returns the state of a UE without candidates. The UE measures `cells` cells each `period`.
    pub(crate) fn new(events: &[MeasurementEvent], period: Span, cells: usize) -> Conditions {
        let condition = |&event| Condition::new(event, period, cells);
        Conditions {
            conditions: events.iter().map(condition).collect(),
            candidates: Vec::new(),
            received: None,
            has_recovered: false,
            departure_at: Time::NEVER,
            last_departure: Time::NEVER,
        }
    }

    /// Records candidates that the UE has received and uses from `at` on.
    pub(crate) fn on_received(&mut self, at: Time, candidates: Candidates) {
        self.received = Some((at, candidates));
    }

    /// Returns the received candidates once, when the UE begins to use them. `None` before.
    pub(crate) fn take_received(&mut self, now: Time) -> Option<Candidates> {
        let received = self.received.take_if(|(at, _)| *at <= now);
        received.map(|(_, candidates)| candidates)
    }

    /// Sets the candidates, by position in the UE's list of cells. Cells that were candidates
    /// before keep the states of their conditions.
    pub(crate) fn set_candidates(&mut self, now: Time, candidates: impl Iterator<Item = usize>) {
        self.candidates.clear();
        self.candidates.extend(candidates);
        self.candidates.sort_unstable();
        for condition in &mut self.conditions {
            for (position, (_, state)) in condition.cells.iter_mut().enumerate() {
                if !self.candidates.contains(&position) {
                    *state = ConditionState::Out;
                }
            }
        }
        self.update_departure(now);
    }

    /// Removes all candidates, because the UE has another serving cell or none.
    pub(crate) fn clear(&mut self) {
        self.received = None;
        self.has_recovered = false;
        self.set_candidates(Time::ZERO, std::iter::empty());
        self.last_departure = Time::NEVER;
    }

    /// Returns the positions of the candidates in the UE's list of cells.
    pub(crate) fn candidates(&self) -> &[usize] {
        &self.candidates
    }

    /// True if the UE has received candidates that it does not use yet.
    pub(crate) fn has_received(&self) -> bool {
        self.received.is_some()
    }

    /// True if there are no candidates.
    pub(crate) fn is_idle(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns true if a UE with a failed link may enter the cell at `position` without
    /// re-establishment. The cell must be a candidate. In each serving cell the function returns
    /// true at most once.
    pub(crate) fn recovers_in(&mut self, position: usize) -> bool {
        let may = !self.has_recovered && self.candidates.contains(&position);
        self.has_recovered |= may;
        may
    }

    /// True if the filtered level of the serving cell or of a candidate would be inexact after
    /// `samples`.
    pub(crate) fn needs_exact_level(
        &self,
        (serving, samples): (usize, &[Level]),
        position: usize,
    ) -> bool {
        let is_meant = position == serving || self.candidates.contains(&position);
        let is_unknown = |condition: &Condition| {
            let before = condition.cells[position].0;
            let next = condition.filter.next_level(before, samples[position]);
            !next.is_known()
        };
        !self.is_idle() && is_meant && self.conditions.iter().any(is_unknown)
    }

    /// Adapts the filters to samples that follow the previous samples after the time `over`.
    pub(crate) fn set_period(&mut self, over: Span) {
        for condition in self.conditions.iter_mut().filter(|it| it.period != over) {
            condition.period = over;
            condition.filter = Filter::new(condition.event.filter, over);
        }
    }

    /// Filters the last samples of a cell again. See
    /// [`EventState::replay`](super::measure::EventState::replay).
    pub(crate) fn replay(&mut self, position: usize, samples: (&[(Span, f64)], Before)) {
        for condition in &mut self.conditions {
            let filtered = &mut condition.cells[position].0;
            let defined_for = (condition.event.filter, condition.period);
            *filtered = condition.filter.replay(defined_for, samples, *filtered);
        }
    }

    /// Handles a sample of one cell, taken the time `over` after the cell's previous sample.
    pub(crate) fn on_sample(&mut self, position: usize, sample: Level, over: Span) {
        for condition in &mut self.conditions {
            let filtered = &mut condition.cells[position].0;
            *filtered = Filter::new(condition.event.filter, over).next_level(*filtered, sample);
        }
    }

    /// Handles samples of all cells in dBm. A cell without a sample keeps its value.
    pub(crate) fn on_samples(&mut self, now: Time, serving: usize, samples: &[Level]) {
        for condition in &mut self.conditions {
            let known = condition.cells.iter_mut().zip(samples);
            for ((filtered, _), &sample) in known.filter(|(_, sample)| !sample.is_none()) {
                *filtered = condition.filter.next_level(*filtered, sample);
            }
            for &position in self.candidates.iter().filter(|&&it| it != serving) {
                condition.evaluate(now, [serving, position]);
            }
        }
        self.update_departure(now);
    }

    fn update_departure(&mut self, now: Time) {
        let all = self.candidates.iter();
        let all = all.map(|&position| self.departure_at_of(position, now));
        self.departure_at = all.min().unwrap_or(Time::NEVER);
    }

    /// Returns the time at which all conditions of a candidate will be fulfilled, unless a later
    /// sample changes that.
    fn departure_at_of(&self, position: usize, now: Time) -> Time {
        let states = || self.conditions.iter().map(|it| it.cells[position].1);
        let at = states().map(|state| state.fulfilled_at(now)).max();
        let at = at.unwrap_or(Time::NEVER);
        let lasts = states().all(|state| state.fulfilled_at(at) <= at);
        if lasts { at } else { Time::NEVER }
    }

    /// Returns the time of the next action: the use of received candidates, or the departure to a
    /// candidate.
    pub(crate) fn wake_at(&self) -> Time {
        let received_at = self.received.map_or(Time::NEVER, |(at, _)| at);
        received_at.min(self.departure_at)
    }

    /// Returns the expected time of departure, if it has changed since the last call.
    /// [`Time::NEVER`] if no departure is expected. `None` without a change.
    pub(crate) fn take_changed_departure(&mut self) -> Option<Time> {
        let is_new =
            std::mem::replace(&mut self.last_departure, self.departure_at) != self.departure_at;
        is_new.then_some(self.departure_at)
    }

    /// Returns the strongest candidate whose conditions are all fulfilled. Among equally strong
    /// candidates the first one is returned. `None` if no departure is due, or if the candidate was
    /// returned before.
    pub(crate) fn take_departure(&mut self, now: Time) -> Option<usize> {
        if self.departure_at > now {
            return None;
        }
        self.departure_at = Time::NEVER;
        let met = self.candidates.iter().copied();
        let met = met.filter(|&position| self.departure_at_of(position, now) <= now);
        let level = |position: usize| self.conditions[0].cells[position].0.low;
        met.fold(None, |best, position| match best {
            Some(best) if level(best) >= level(position) => Some(best),
            _ => Some(position),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{EventKind, Scope};

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    const A3: EventKind = EventKind::A3 { offset: 3.0 };
    const A4: EventKind = EventKind::A4 { threshold: -90.0 };
    const A5: EventKind = EventKind::A5 {
        serving: -95.0,
        neighbour: -90.0,
    };

    fn condition(kind: EventKind, time_to_trigger: u64) -> MeasurementEvent {
        MeasurementEvent {
            kind,
            hysteresis_db: 0.0,
            time_to_trigger: Span::from_millis(time_to_trigger),
            filter: 0,
            report_interval: Span::from_millis(240),
            report_amount: None,
            scope: Scope::Any,
        }
    }

    /// Returns the time in ms and the target of the departure. `samples` contains the levels of the
    /// serving cell and its neighbours.
    fn executed(
        events: &[MeasurementEvent],
        candidates: &[usize],
        samples: &[(u64, &[f64])],
    ) -> Option<(u64, usize)> {
        let cells = samples[0].1.len();
        let mut conditions = Conditions::new(events, Span::from_millis(10), cells);
        conditions.set_candidates(at_ms(0), candidates.iter().copied());
        for (number, &(ms, levels)) in samples.iter().enumerate() {
            let levels: Vec<Level> = levels.iter().map(|&level| level.into()).collect();
            conditions.on_samples(at_ms(ms), 0, &levels);
            let next = samples.get(number + 1).map_or(100_000, |next| next.0);
            if conditions.wake_at() < at_ms(next) {
                let now = conditions.wake_at();
                let position = conditions.take_departure(now)?;
                return Some((now.as_nanos() / 1_000_000, position));
            }
        }
        None
    }

    /// Test vector cho_two_conditions of handover_vectors.csv.
    #[test]
    fn of_two_conditions_the_later_one_decides() {
        let both = [condition(A3, 100), condition(A5, 40)];
        let samples: [(u64, &[f64]); 4] = [
            (0, &[-90.0, -99.0]),
            (100, &[-94.0, -85.0]),
            (150, &[-99.0, -85.0]),
            (190, &[-99.0, -85.0]),
        ];
        assert_eq!(executed(&both, &[1], &samples), Some((200, 1)));
        assert_eq!(executed(&both[1..], &[1], &samples), Some((190, 1)));
        assert_eq!(executed(&both[..1], &[1], &samples), Some((200, 1)));
    }

    #[test]
    fn a_sample_that_does_not_enter_ends_the_time_to_trigger() {
        let event = [condition(A4, 100)];
        let samples: [(u64, &[f64]); 4] = [
            (0, &[-80.0, -85.0]),
            (40, &[-80.0, -90.0]),
            (80, &[-80.0, -85.0]),
            (180, &[-80.0, -91.0]),
        ];
        // The time to trigger ends at 180 ms. The sample at 180 ms is handled first and ends the
        // entering condition, so the UE stays.
        assert_eq!(executed(&event, &[1], &samples), None);
        assert_eq!(executed(&event, &[1], &samples[..3]), Some((180, 1)));
    }

    #[test]
    fn a_fulfilled_condition_is_left_after_its_time_to_trigger() {
        let both = [condition(A4, 100), condition(A5, 0)];
        let left_for = |ms: u64| {
            let last = 200 + ms;
            let samples: [(u64, &[f64]); 4] = [
                (0, &[-80.0, -85.0]),
                (110, &[-80.0, -85.0]),
                (200, &[-80.0, -91.0]),
                // A5 is fulfilled at `last`. A4 is still fulfilled then if its leaving condition
                // has held for less than 100 ms.
                (last, &[-99.0, -89.0]),
            ];
            executed(&both, &[1], &samples)
        };
        assert_eq!(left_for(60), Some((260, 1)));
        // After 101 ms A4 is no longer fulfilled, so its time to trigger starts anew. The UE
        // departs at 401 ms.
        assert_eq!(left_for(101), Some((401, 1)));
    }

    #[test]
    fn of_several_the_strongest_is_gone_to_and_only_candidates_are() {
        let event = [condition(A3, 0)];
        let samples: [(u64, &[f64]); 1] = [(5, &[-90.0, -80.0, -75.0, -75.0, -70.0])];
        assert_eq!(executed(&event, &[1, 2, 3], &samples), Some((5, 2)));
        assert_eq!(executed(&event, &[1], &samples), Some((5, 1)));
        assert_eq!(executed(&event, &[0], &samples), None, "the serving cell");
        assert_eq!(executed(&event, &[], &samples), None);
    }

    #[test]
    fn candidates_are_in_use_when_the_message_is_processed_and_end_with_the_cell() {
        let event = [condition(A3, 40)];
        let mut conditions = Conditions::new(&event, Span::from_millis(10), 3);
        let levels = [-90.0, -80.0, -70.0].map(Level::from);
        let mut named = Candidates::NONE;
        named.add(CellId(7));
        conditions.on_received(at_ms(20), named);
        assert_eq!(conditions.wake_at(), at_ms(20));
        assert_eq!(conditions.take_received(at_ms(19)), None);
        assert_eq!(conditions.take_received(at_ms(20)), Some(named));
        conditions.set_candidates(at_ms(20), [1].into_iter());
        conditions.on_samples(at_ms(30), 0, &levels);
        // The time to trigger of the first candidate continues when another candidate is added, so
        // the departure stays at 70 ms.
        conditions.set_candidates(at_ms(40), [1, 2].into_iter());
        conditions.on_samples(at_ms(40), 0, &levels);
        assert_eq!(conditions.wake_at(), at_ms(70));
        assert_eq!(conditions.take_departure(at_ms(70)), Some(1));
        assert!(conditions.recovers_in(2), "a failure may");
        assert!(!conditions.recovers_in(1), "once");
        conditions.clear();
        assert!(conditions.is_idle() && conditions.wake_at().is_never());
        assert!(!conditions.recovers_in(1));
    }

    #[test]
    fn a_departure_is_news_when_it_is_expected_and_when_it_is_not_any_more() {
        let event = [condition(A3, 100)];
        let mut conditions = Conditions::new(&event, Span::from_millis(40), 2);
        conditions.set_candidates(at_ms(0), [1].into_iter());
        let change = |conditions: &mut Conditions, ms, levels: [f64; 2]| {
            conditions.on_samples(at_ms(ms), 0, &levels.map(Level::from));
            conditions.take_changed_departure()
        };
        assert_eq!(change(&mut conditions, 0, [-80.0, -80.0]), None);
        assert_eq!(
            change(&mut conditions, 40, [-90.0, -80.0]),
            Some(at_ms(140))
        );
        assert_eq!(change(&mut conditions, 80, [-90.0, -80.0]), None, "no news");
        assert_eq!(
            change(&mut conditions, 120, [-80.0, -80.0]),
            Some(Time::NEVER)
        );
        assert_eq!(
            change(&mut conditions, 160, [-90.0, -80.0]),
            Some(at_ms(260))
        );
        // The UE has departed. Clearing the candidates does not count as a change of the expected
        // departure.
        conditions.clear();
        assert_eq!(conditions.take_changed_departure(), None);
    }

    #[test]
    fn levels_of_candidates_must_be_known() {
        let filtered = MeasurementEvent {
            filter: 4,
            ..condition(A3, 0)
        };
        let mut conditions = Conditions::new(&[filtered], Span::from_millis(200), 3);
        let bound = Level {
            low: -120.0,
            high: -110.0,
        };
        let levels = [Level::from(-90.0), bound, bound];
        assert!(
            !conditions.needs_exact_level((0, &levels), 1),
            "no candidates"
        );
        conditions.on_samples(at_ms(0), 0, &levels);
        conditions.set_candidates(at_ms(0), [1].into_iter());
        let open = |conditions: &Conditions, levels: &[Level]| {
            [0, 1, 2].map(|position| conditions.needs_exact_level((0, levels), position))
        };
        assert_eq!(open(&conditions, &levels), [false, true, false]);
        // An exact sample alone does not suffice, because the filtered value before the sample is
        // not exact.
        let known = [-90.0, -115.0, -115.0].map(Level::from);
        assert!(conditions.needs_exact_level((0, &known), 1));
        conditions.replay(1, (&[(Span::from_millis(200), -112.0)], Before::Nothing));
        assert!(!conditions.needs_exact_level((0, &known), 1));
        conditions.set_period(Span::from_millis(400));
        conditions.on_samples(at_ms(400), 0, &known);
        // The filter weight is 1/2 for 200 ms. After 400 ms a quarter of the 3 dB step from -112 to
        // -115 dBm remains, so the value is -114.25 dBm.
        assert!((conditions.conditions[0].cells[1].0.low + 114.25).abs() < 1e-9);
    }
}
