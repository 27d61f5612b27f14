//! Execution conditions of conditional handover, as a UE has them: its candidates, and to which it goes when.
//!
//! [`Conditions`] is told of samples and of time. It knows no air, no clock and no signalling.
//!
//! Standard: TS 38.331 §5.3.5.13; TS 36.331 §5.3.5.9.

use super::filter::{Before, Filter, Level};
use crate::config::{MOST_CANDIDATES, MeasurementEvent};
use crate::rlc::Generation;
use fadeout_core::{CellId, Span, Time};

/// How long a UE takes to process a reconfiguration.
///
/// Standard: TS 38.331 §12; TS 36.331 §11.2.
pub(crate) fn processing(generation: Generation) -> Span {
    Span::from_millis(match generation {
        Generation::Lte => 15,
        Generation::Nr => 10,
    })
}

/// The cells that are prepared for a UE, as one message names them all.
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

    /// A cell is among them, unless there are as many as may be.
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

/// All execution conditions of a UE over the cells that it measures.
#[derive(Debug)]
pub(crate) struct Conditions {
    conditions: Vec<Condition>,
    /// Positions of the candidates, in order.
    candidates: Vec<usize>,
    /// Candidates that the UE has been told of, in use from this time on.
    told: Option<(Time, Candidates)>,
    /// Whether a failure was answered with a candidate.
    has_recovered: bool,
    /// When all conditions of some candidate are fulfilled unless a sample says otherwise.
    met_at: Time,
    /// What was said of that.
    said: Time,
}

/// One condition: its filter, and where it stands for each cell.
#[derive(Debug)]
struct Condition {
    event: MeasurementEvent,
    filter: Filter,
    /// The period that the filter is for.
    period: Span,
    cells: Vec<(Level, Stand)>,
}

/// Where a condition stands for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Out,
    /// The entering condition has held; it is fulfilled from this time on.
    Entering(Time),
    Fulfilled,
    /// The leaving condition has held; it is fulfilled up to this time.
    Leaving(Time),
}

impl Stand {
    /// When it is fulfilled at the earliest; `now` if it is.
    fn fulfilled_at(self, now: Time) -> Time {
        match self {
            Stand::Out => Time::NEVER,
            Stand::Entering(at) => at.max(now),
            Stand::Fulfilled => now,
            Stand::Leaving(until) if now < until => now,
            Stand::Leaving(_) => Time::NEVER,
        }
    }

    /// As time alone has it, up to but not including `now`: a sample comes before a timer of its time.
    fn settled(self, now: Time) -> Stand {
        match self {
            Stand::Entering(at) if at < now => Stand::Fulfilled,
            Stand::Leaving(until) if until < now => Stand::Out,
            stand => stand,
        }
    }
}

impl Condition {
    fn new(event: MeasurementEvent, period: Span, cells: usize) -> Condition {
        Condition {
            filter: Filter::new(event.filter, period),
            period,
            cells: vec![(Level::NONE, Stand::Out); cells],
            event,
        }
    }

    /// A neighbour's values are known.
    fn judge(&mut self, now: Time, [serving, position]: [usize; 2]) {
        let [of_serving, value] = [serving, position].map(|cell| self.cells[cell].0.low);
        let (kind, hysteresis) = (self.event.kind, self.event.hysteresis_db);
        let stand = &mut self.cells[position].1;
        let ends_at = now.saturating_add(self.event.time_to_trigger);
        let enters = || kind.enters(of_serving, value, hysteresis);
        let leaves = || kind.leaves(of_serving, value, hysteresis);
        *stand = match stand.settled(now) {
            Stand::Out if enters() => Stand::Entering(ends_at),
            Stand::Entering(_) if !enters() => Stand::Out,
            Stand::Fulfilled if leaves() => Stand::Leaving(ends_at),
            Stand::Leaving(_) if !leaves() => Stand::Fulfilled,
            stand => stand,
        };
    }
}

impl Conditions {
    /// Those of a UE that measures `cells` cells each `period`; no candidates.
    pub(crate) fn new(events: &[MeasurementEvent], period: Span, cells: usize) -> Conditions {
        let condition = |&event| Condition::new(event, period, cells);
        Conditions {
            conditions: events.iter().map(condition).collect(),
            candidates: Vec::new(),
            told: None,
            has_recovered: false,
            met_at: Time::NEVER,
            said: Time::NEVER,
        }
    }

    /// The UE hears of its candidates, which it uses from `at` on.
    pub(crate) fn tell(&mut self, at: Time, candidates: Candidates) {
        self.told = Some((at, candidates));
    }

    /// The candidates that the UE was told of and uses from now on, once.
    pub(crate) fn take_told(&mut self, now: Time) -> Option<Candidates> {
        let told = self.told.take_if(|(at, _)| *at <= now);
        told.map(|(_, candidates)| candidates)
    }

    /// These are the candidates, by position. Of those that there were before conditions stand as they did.
    pub(crate) fn set_candidates(&mut self, now: Time, candidates: impl Iterator<Item = usize>) {
        self.candidates.clear();
        self.candidates.extend(candidates);
        self.candidates.sort_unstable();
        for condition in &mut self.conditions {
            for (position, (_, stand)) in condition.cells.iter_mut().enumerate() {
                if !self.candidates.contains(&position) {
                    *stand = Stand::Out;
                }
            }
        }
        self.note_met(now);
    }

    /// The UE has another serving cell, or none: it has no candidates.
    pub(crate) fn clear(&mut self) {
        self.told = None;
        self.has_recovered = false;
        self.set_candidates(Time::ZERO, std::iter::empty());
        self.said = Time::NEVER;
    }

    /// The candidates, by position.
    pub(crate) fn candidates(&self) -> &[usize] {
        &self.candidates
    }

    /// Whether the UE has been told of candidates that it does not use yet.
    pub(crate) fn is_told(&self) -> bool {
        self.told.is_some()
    }

    /// Whether there is anything to go to.
    pub(crate) fn is_idle(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Whether a UE whose link failed may enter the cell at a position without re-establishment: once, and a candidate.
    pub(crate) fn recovers_in(&mut self, position: usize) -> bool {
        let may = !self.has_recovered && self.candidates.contains(&position);
        self.has_recovered |= may;
        may
    }

    /// Whether more of a cell must be known than its one of `samples`.
    pub(crate) fn is_open(&self, (serving, samples): (usize, &[Level]), position: usize) -> bool {
        let is_meant = position == serving || self.candidates.contains(&position);
        let is_unknown = |condition: &Condition| {
            let before = condition.cells[position].0;
            let next = condition.filter.next_level(before, samples[position]);
            !next.is_known()
        };
        !self.is_idle() && is_meant && self.conditions.iter().any(is_unknown)
    }

    /// The next samples are `over` after the last ones.
    pub(crate) fn set_period(&mut self, over: Span) {
        for condition in self.conditions.iter_mut().filter(|it| it.period != over) {
            condition.period = over;
            condition.filter = Filter::new(condition.event.filter, over);
        }
    }

    /// As [`EventState::replay`](super::measure::EventState::replay).
    pub(crate) fn replay(&mut self, position: usize, samples: (&[(Span, f64)], Before)) {
        for condition in &mut self.conditions {
            let filtered = &mut condition.cells[position].0;
            let of = (condition.event.filter, condition.period);
            *filtered = condition.filter.replay(of, samples, *filtered);
        }
    }

    /// A cell was measured, `over` after the last time, apart from the others.
    pub(crate) fn on_sample(&mut self, position: usize, sample: Level, over: Span) {
        for condition in &mut self.conditions {
            let filtered = &mut condition.cells[position].0;
            *filtered = Filter::new(condition.event.filter, over).next_level(*filtered, sample);
        }
    }

    /// All cells were measured, in dBm, but those of which it is none.
    pub(crate) fn on_samples(&mut self, now: Time, serving: usize, samples: &[Level]) {
        for condition in &mut self.conditions {
            let known = condition.cells.iter_mut().zip(samples);
            for ((filtered, _), &sample) in known.filter(|(_, sample)| !sample.is_none()) {
                *filtered = condition.filter.next_level(*filtered, sample);
            }
            for &position in self.candidates.iter().filter(|&&it| it != serving) {
                condition.judge(now, [serving, position]);
            }
        }
        self.note_met(now);
    }

    fn note_met(&mut self, now: Time) {
        let all = self.candidates.iter();
        let all = all.map(|&position| self.met_at_of(position, now));
        self.met_at = all.min().unwrap_or(Time::NEVER);
    }

    /// When all conditions of a candidate are fulfilled unless a sample says otherwise.
    fn met_at_of(&self, position: usize, now: Time) -> Time {
        let stands = || self.conditions.iter().map(|it| it.cells[position].1);
        let at = stands().map(|stand| stand.fulfilled_at(now)).max();
        let at = at.unwrap_or(Time::NEVER);
        let lasts = stands().all(|stand| stand.fulfilled_at(at) <= at);
        if lasts { at } else { Time::NEVER }
    }

    /// When there is something to do: a message to answer, or a cell to go to.
    pub(crate) fn wake_at(&self) -> Time {
        let told_at = self.told.map_or(Time::NEVER, |(at, _)| at);
        told_at.min(self.met_at)
    }

    /// When the UE is to leave as things stand, or never, if that is not what it was last.
    pub(crate) fn take_news(&mut self) -> Option<Time> {
        let is_new = std::mem::replace(&mut self.said, self.met_at) != self.met_at;
        is_new.then_some(self.met_at)
    }

    /// The candidate that the UE goes to by now: of those whose conditions are fulfilled the strongest, of equals the
    /// first. It asks once.
    pub(crate) fn take_met(&mut self, now: Time) -> Option<usize> {
        if self.met_at > now {
            return None;
        }
        self.met_at = Time::NEVER;
        let met = self.candidates.iter().copied();
        let met = met.filter(|&position| self.met_at_of(position, now) <= now);
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

    fn at(ms: u64) -> Time {
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

    /// When the UE goes, and where to, with samples of the serving cell and its neighbours.
    fn executed(
        events: &[MeasurementEvent],
        candidates: &[usize],
        samples: &[(u64, &[f64])],
    ) -> Option<(u64, usize)> {
        let cells = samples[0].1.len();
        let mut conditions = Conditions::new(events, Span::from_millis(10), cells);
        conditions.set_candidates(at(0), candidates.iter().copied());
        for (number, &(ms, levels)) in samples.iter().enumerate() {
            let levels: Vec<Level> = levels.iter().map(|&level| level.into()).collect();
            conditions.on_samples(at(ms), 0, &levels);
            let next = samples.get(number + 1).map_or(100_000, |next| next.0);
            if conditions.wake_at() < at(next) {
                let now = conditions.wake_at();
                let position = conditions.take_met(now)?;
                return Some((now.as_nanos() / 1_000_000, position));
            }
        }
        None
    }

    /// Vector cho_two_conditions of the handover sheet.
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
        // The sample at 180 ms comes before the timer that ends then.
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
                // A5 enters with A4 still fulfilled, as it is left for less than 100 ms, or not.
                (last, &[-99.0, -89.0]),
            ];
            executed(&both, &[1], &samples)
        };
        assert_eq!(left_for(60), Some((260, 1)));
        // 101 ms: left, and entered anew.
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
        conditions.tell(at(20), named);
        assert_eq!(conditions.wake_at(), at(20));
        assert_eq!(conditions.take_told(at(19)), None);
        assert_eq!(conditions.take_told(at(20)), Some(named));
        conditions.set_candidates(at(20), [1].into_iter());
        conditions.on_samples(at(30), 0, &levels);
        // Another candidate: the first one's time goes on.
        conditions.set_candidates(at(40), [1, 2].into_iter());
        conditions.on_samples(at(40), 0, &levels);
        assert_eq!(conditions.wake_at(), at(70));
        assert_eq!(conditions.take_met(at(70)), Some(1));
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
        conditions.set_candidates(at(0), [1].into_iter());
        let told = |conditions: &mut Conditions, ms, levels: [f64; 2]| {
            conditions.on_samples(at(ms), 0, &levels.map(Level::from));
            conditions.take_news()
        };
        assert_eq!(told(&mut conditions, 0, [-80.0, -80.0]), None);
        assert_eq!(told(&mut conditions, 40, [-90.0, -80.0]), Some(at(140)));
        assert_eq!(told(&mut conditions, 80, [-90.0, -80.0]), None, "no news");
        assert_eq!(
            told(&mut conditions, 120, [-80.0, -80.0]),
            Some(Time::NEVER)
        );
        assert_eq!(told(&mut conditions, 160, [-90.0, -80.0]), Some(at(260)));
        // The UE has left: that is another notice's to say.
        conditions.clear();
        assert_eq!(conditions.take_news(), None);
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
        assert!(!conditions.is_open((0, &levels), 1), "no candidates");
        conditions.on_samples(at(0), 0, &levels);
        conditions.set_candidates(at(0), [1].into_iter());
        let open = |conditions: &Conditions, levels: &[Level]| {
            [0, 1, 2].map(|position| conditions.is_open((0, levels), position))
        };
        assert_eq!(open(&conditions, &levels), [false, true, false]);
        // Its sample alone does not do: what was filtered before is not known.
        let known = [-90.0, -115.0, -115.0].map(Level::from);
        assert!(conditions.is_open((0, &known), 1));
        conditions.replay(1, (&[(Span::from_millis(200), -112.0)], Before::Nothing));
        assert!(!conditions.is_open((0, &known), 1));
        conditions.set_period(Span::from_millis(400));
        conditions.on_samples(at(400), 0, &known);
        // a = 1/2 for 200 ms: of the step of 3 dB a quarter is left.
        assert!((conditions.conditions[0].cells[1].0.low + 114.25).abs() < 1e-9);
    }
}
