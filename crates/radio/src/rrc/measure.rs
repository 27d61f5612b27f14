//! Measurements of a UE: events with hysteresis and time to trigger, reports.
//!
//! [`EventState`] is one configured event of one UE. It is told of samples and of time, and says
//! what is to be reported; it knows no air, no clock and no signalling.
//!
//! Standard: TS 38.331 §5.5; TS 36.331 §5.5.

use super::filter::{Filter, Level};
use crate::config::{EventKind, MeasurementEvent};
use fadeout_core::{Span, Time};

impl EventKind {
    /// Whether the entering condition holds, for RSRP of the serving cell, or of A6 the secondary one, and of a
    /// neighbour.
    ///
    /// Standard: TS 38.331 §5.5.4.2, §5.5.4.3, §5.5.4.4, §5.5.4.5, §5.5.4.6, §5.5.4.7, §5.5.4.8, §5.5.4.9;
    /// TS 36.331 §5.5.4.6a, §5.5.4.7, §5.5.4.8.
    pub(crate) fn enters(&self, serving: f64, neighbour: f64, hysteresis: f64) -> bool {
        match *self {
            EventKind::A1 { threshold } => serving - hysteresis > threshold,
            EventKind::A2 { threshold } => serving + hysteresis < threshold,
            EventKind::A3 { offset } | EventKind::A6 { offset } => {
                neighbour - hysteresis > serving + offset
            }
            EventKind::A4 { threshold } | EventKind::B1 { threshold } => {
                neighbour - hysteresis > threshold
            }
            EventKind::A5 {
                serving: first,
                neighbour: second,
            }
            | EventKind::B2 {
                serving: first,
                neighbour: second,
            } => serving + hysteresis < first && neighbour - hysteresis > second,
        }
    }

    /// Whether the leaving condition holds.
    ///
    /// Standard: TS 38.331 §5.5.4.2, §5.5.4.3, §5.5.4.4, §5.5.4.5, §5.5.4.6, §5.5.4.7, §5.5.4.8, §5.5.4.9;
    /// TS 36.331 §5.5.4.6a, §5.5.4.7, §5.5.4.8.
    pub(crate) fn leaves(&self, serving: f64, neighbour: f64, hysteresis: f64) -> bool {
        match *self {
            EventKind::A1 { threshold } => serving + hysteresis < threshold,
            EventKind::A2 { threshold } => serving - hysteresis > threshold,
            EventKind::A3 { offset } | EventKind::A6 { offset } => {
                neighbour + hysteresis < serving + offset
            }
            EventKind::A4 { threshold } | EventKind::B1 { threshold } => {
                neighbour + hysteresis < threshold
            }
            EventKind::A5 {
                serving: first,
                neighbour: second,
            }
            | EventKind::B2 {
                serving: first,
                neighbour: second,
            } => serving - hysteresis > first || neighbour + hysteresis < second,
        }
    }
}

/// A cell as one event sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Watched {
    filtered: Level,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The event is not entered.
    Out,
    /// The entering condition holds, and is reported at this time if it still does.
    Entering(Time),
    /// It is reported, next at this time, and was so often.
    In(Time, u32),
}

/// One event of one UE, over all cells that it measures.
#[derive(Debug)]
pub(crate) struct EventState {
    event: MeasurementEvent,
    filter: Filter,
    /// The period that the filter is for.
    period: Span,
    /// By the position of the cell in the UE's list.
    cells: Vec<Watched>,
    /// Of A6 by the same: the secondary cell on the carrier of each.
    references: Vec<Option<u32>>,
    /// When something is to be reported next.
    wake_at: Time,
}

impl EventState {
    /// The event over `cells` cells that are measured each `period`.
    pub(crate) fn new(event: MeasurementEvent, period: Span, cells: usize) -> EventState {
        let unknown = Watched {
            filtered: Level::NONE,
            state: State::Out,
        };
        EventState {
            filter: Filter::new(event.filter, period),
            period,
            cells: vec![unknown; cells],
            references: match event.kind.is_about_secondaries() {
                true => vec![None; cells],
                false => Vec::new(),
            },
            wake_at: Time::NEVER,
            event,
        }
    }

    /// The event.
    pub(crate) fn event(&self) -> &MeasurementEvent {
        &self.event
    }

    /// Whether it is about neighbours.
    pub(crate) fn has_neighbour(&self) -> bool {
        self.event.kind.has_neighbour()
    }

    /// Cells are measured each `period` from now on: the filter keeps its time characteristics.
    ///
    /// Standard: TS 38.331 §5.5.3.2; TS 36.331 §5.5.3.2.
    pub(crate) fn set_period(&mut self, period: Span) {
        if self.period != period {
            self.period = period;
            self.filter = Filter::new(self.event.filter, period);
        }
    }

    /// The filtered value of a cell; none before its first sample. Of the serving cell and of those that are
    /// reported it is known.
    pub(crate) fn filtered(&self, cell: usize) -> Option<f64> {
        let filtered = self.cells[cell].filtered;
        (!filtered.is_none()).then_some(filtered.low)
    }

    /// Whether more of a cell must be known than its one of `samples`, with that of the cell it is compared with
    /// known: its condition may be entered, or it is reported. `offset_db` is none of a cell that is
    /// not meant.
    pub(crate) fn is_open(
        &self,
        (serving, samples): (usize, &[Level]),
        position: usize,
        offset_db: Option<f64>,
    ) -> bool {
        let watched = &self.cells[position];
        let next = self.filter.next_level(watched.filtered, samples[position]);
        if next.is_known() {
            return false;
        }
        let compared = self.compared(serving, position);
        if position == serving || compared == Some(position) || watched.state != State::Out {
            return true;
        }
        let Some(compared) = compared else {
            return false;
        };
        let serving = self
            .filter
            .next_level(self.cells[compared].filtered, samples[compared]);
        offset_db.is_some_and(|offset_db| {
            let value = next.high + offset_db;
            let kind = self.event.kind;
            kind.has_neighbour() && kind.enters(serving.low, value, self.event.hysteresis_db)
        })
    }

    /// The cell that one is compared with: the serving one, of A6 the secondary one on its carrier, if there
    /// is one.
    fn compared(&self, serving: usize, position: usize) -> Option<usize> {
        match self.event.kind.is_about_secondaries() {
            true => self.references[position].map(|it| it as usize),
            false => Some(serving),
        }
    }

    /// `secondary_of` says of each cell which secondary one is on its carrier from now on. What is compared with
    /// another one than before is looked at anew.
    pub(crate) fn set_secondaries(&mut self, secondary_of: impl Fn(usize) -> Option<usize>) {
        let cells = self.cells.iter_mut().zip(&mut self.references);
        for (position, (watched, reference)) in cells.enumerate() {
            let now = secondary_of(position).map(|it| it as u32);
            if std::mem::replace(reference, now) != now {
                watched.state = State::Out;
            }
        }
        self.note_wake();
    }

    /// These were the last samples of a cell, each with the period before it, the first one the first of all
    /// if they are `all`. What was before them is forgotten.
    pub(crate) fn replay(&mut self, position: usize, samples: &[(Span, f64)], all: bool) {
        let mut filtered = if all { Level::NONE } else { Level::ANY };
        let (mut period, mut filter) = (self.period, self.filter);
        for &(over, sample) in samples {
            if over != period {
                (period, filter) = (over, Filter::new(self.event.filter, over));
            }
            filtered = filter.next_level(filtered, sample.into());
        }
        self.cells[position].filtered = filtered.low.into();
    }

    /// A cell was measured, `over` after the last time, apart from the others.
    pub(crate) fn on_sample(&mut self, position: usize, sample: Level, over: Span) {
        let filtered = &mut self.cells[position].filtered;
        *filtered = Filter::new(self.event.filter, over).next_level(*filtered, sample);
    }

    /// All cells were measured, in dBm, but those of which it is none. The condition is looked at anew: a
    /// time to trigger ends as soon as the entering condition fails, reports when the leaving condition
    /// holds. `changed` hears of each cell whose condition holds from now on, or does not any more. `of` says
    /// of a neighbour whether it is meant, and its offset in dB.
    ///
    /// Standard: TS 38.331 §5.5.4.1.
    pub(crate) fn on_samples(
        &mut self,
        now: Time,
        serving: usize,
        samples: &[impl Copy + Into<Level>],
        of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
        mut changed: impl FnMut(usize, bool),
    ) {
        let samples = samples.iter().map(|&sample| sample.into());
        let known = self.cells.iter_mut().zip(samples);
        for (watched, sample) in known.filter(|(_, sample)| !sample.is_none()) {
            watched.filtered = self.filter.next_level(watched.filtered, sample);
        }
        let MeasurementEvent {
            kind,
            hysteresis_db,
            time_to_trigger,
            ..
        } = self.event;
        for position in 0..self.cells.len() {
            // An event about neighbours is not about the serving cell, one about that only about it.
            if (position == serving) == kind.has_neighbour() {
                continue;
            }
            let compared = self.compared(serving, position);
            let Some(compared) = compared.filter(|&it| it != position || it == serving) else {
                continue;
            };
            let offset_db = match kind.has_neighbour() {
                true => of(&self.event, position),
                false => Some(0.0),
            };
            let Some(offset_db) = offset_db else {
                continue;
            };
            let of_serving = self.cells[compared].filtered.low;
            let watched = &mut self.cells[position];
            // Where this is not the value, that does not enter either.
            let value = watched.filtered.high + offset_db;
            let enters = || kind.enters(of_serving, value, hysteresis_db);
            let was_out = watched.state == State::Out;
            watched.state = match watched.state {
                State::Out if enters() => State::Entering(now.saturating_add(time_to_trigger)),
                State::Entering(_) if !enters() => State::Out,
                State::In(..) if kind.leaves(of_serving, value, hysteresis_db) => State::Out,
                state => state,
            };
            let is_out = watched.state == State::Out;
            if was_out != is_out {
                changed(position, !is_out);
            }
        }
        self.note_wake();
    }

    /// The condition.
    pub(crate) fn kind(&self) -> EventKind {
        self.event.kind
    }

    /// The cells that are reported, with their filtered values.
    pub(crate) fn triggered(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let cells = self.cells.iter().enumerate();
        let reported = cells.filter(|(_, watched)| matches!(watched.state, State::In(..)));
        reported.map(|(position, watched)| (position, watched.filtered.low))
    }

    /// Calls `report` for each cell whose report is due by now, in order, and counts it.
    pub(crate) fn on_wake(&mut self, now: Time, mut report: impl FnMut(usize)) {
        let interval = self.event.report_interval;
        let most = self.event.report_amount.unwrap_or(u32::MAX);
        for (position, watched) in self.cells.iter_mut().enumerate() {
            let sent = match watched.state {
                State::Entering(at) if at <= now => 0,
                State::In(at, sent) if at <= now => sent,
                _ => continue,
            };
            let next = match sent + 1 < most {
                true => now.saturating_add(interval),
                false => Time::NEVER,
            };
            watched.state = State::In(next, sent.saturating_add(1));
            report(position);
        }
        self.note_wake();
    }

    /// When something is to be reported next.
    pub(crate) fn wake_at(&self) -> Time {
        self.wake_at
    }

    fn note_wake(&mut self) {
        let at = |watched: &Watched| match watched.state {
            State::Out => Time::NEVER,
            State::Entering(at) | State::In(at, _) => at,
        };
        self.wake_at = self.cells.iter().map(at).min().unwrap_or(Time::NEVER);
    }

    /// Another cell serves: all conditions are looked at anew, with the filtered values as they are.
    pub(crate) fn on_new_serving_cell(&mut self) {
        for watched in &mut self.cells {
            watched.state = State::Out;
        }
        self.wake_at = Time::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::FILTER_PERIOD;
    use super::*;
    use crate::config::Scope;
    use fadeout_core::math;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn event(kind: EventKind, hysteresis_db: f64, ttt_ms: u64, filter: u8) -> MeasurementEvent {
        MeasurementEvent {
            kind,
            hysteresis_db,
            time_to_trigger: Span::from_millis(ttt_ms),
            filter,
            report_interval: Span::from_millis(240),
            report_amount: None,
            scope: Scope::Any,
        }
    }

    const ALL: fn(&MeasurementEvent, usize) -> Option<f64> = |_, _| Some(0.0);

    const A3: EventKind = EventKind::A3 { offset: 3.0 };

    /// When the first report of the second cell is due, with its samples each `period` ms and the
    /// first cell serving at 0 dBm.
    fn first_report(event: MeasurementEvent, period: u64, samples: &[f64]) -> Option<u64> {
        let mut state = EventState::new(event, Span::from_millis(period), 2);
        let mut found = None;
        for (n, &sample) in (0..).zip(samples) {
            state.on_samples(at_ms(n * period), 0, &[0.0, sample], ALL, |_, _| {});
            while state.wake_at() < at_ms((n + 1) * period) && found.is_none() {
                let now = state.wake_at();
                state.on_wake(now, |_| found = Some(now.as_nanos() / 1_000_000));
            }
        }
        found
    }

    #[test]
    fn filter_and_conditions_match_the_reference_values() {
        let evaluate = |quantity: &str, inputs: &[f64]| match (quantity, inputs) {
            ("weight", &[k, period]) => {
                let period = Span::from_secs_f64(period / 1e3);
                vec![Filter::new(k as u8, period).weight()]
            }
            ("sequence", &[k, ref samples @ ..]) => {
                let filter = Filter::new(k as u8, FILTER_PERIOD);
                let mut value = None;
                let next = samples.iter().map(|&sample| {
                    let filtered = filter.next(value, sample);
                    value = Some(filtered);
                    filtered
                });
                next.collect()
            }
            ("time constant", &[k]) => {
                let weight = Filter::new(k as u8, FILTER_PERIOD).weight();
                vec![-200.0 / math::ln(1.0 - weight)]
            }
            (condition, &[serving, neighbour, hysteresis, first, second]) => {
                let (name, side) = condition.split_once(' ').expect("event and side");
                let kind = match name {
                    "a1" => EventKind::A1 { threshold: first },
                    "a2" => EventKind::A2 { threshold: first },
                    "a3" => EventKind::A3 { offset: first },
                    "a6" => EventKind::A6 { offset: first },
                    "a4" => EventKind::A4 { threshold: first },
                    "b1" => EventKind::B1 { threshold: first },
                    "b2" => EventKind::B2 {
                        serving: first,
                        neighbour: second,
                    },
                    _ => EventKind::A5 {
                        serving: first,
                        neighbour: second,
                    },
                };
                let holds = match side {
                    "enter" => kind.enters(serving, neighbour, hysteresis),
                    _ => kind.leaves(serving, neighbour, hysteresis),
                };
                vec![f64::from(u8::from(holds))]
            }
            _ => panic!("{quantity} with {inputs:?}"),
        };
        let table = include_str!("vectors.csv");
        // The values have six digits.
        let count = fadeout_testkit::vectors::check(table, evaluate, |_| 5e-6);
        assert_eq!(count, 50);
    }

    /// Vectors ttt_* and filter_then_a3 of the handover sheet.
    #[test]
    fn a_time_to_trigger_ends_as_soon_as_the_entering_condition_fails() {
        let a3 = event(A3, 0.0, 100, 0);
        let report = |event, samples: &[f64]| first_report(event, 40, samples);
        assert_eq!(report(a3, &[4.0, 4.0, 2.0, 4.0, 4.0, 4.0, 4.0]), Some(220));
        assert_eq!(report(a3, &[0.0, 4.0, 4.0, 4.0, 4.0]), Some(140));
        let at_once = event(A3, 0.0, 0, 0);
        assert_eq!(report(at_once, &[0.0, 2.0, 4.0, 4.0]), Some(80));
        let dead_zone = event(A3, 1.0, 100, 0);
        let samples = [5.0, 5.0, 3.5, 5.0, 5.0, 5.0];
        assert_eq!(report(dead_zone, &samples), Some(220));
        assert_eq!(report(a3, &[4.0, 4.0, 2.9, 4.0, 4.0, 2.9]), None);
        let filtered = event(A3, 0.0, 160, 4);
        let samples = [-4.0, 6.0, 6.0, 6.0, 6.0];
        assert_eq!(first_report(filtered, 200, &samples), Some(560));
    }

    /// Vector l3_rescale_same_at_200ms of the handover sheet.
    #[test]
    fn five_samples_in_the_period_filter_as_one_of_it() {
        let filter = Filter::new(4, Span::from_millis(40));
        let mut value = Some(0.0);
        for _ in 0..5 {
            value = Some(filter.next(value, 1.0));
        }
        assert!((value.expect("a value") - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_sample_of_a_longer_period_counts_as_the_samples_that_it_stands_for() {
        let a3 = event(A3, 0.0, 0, 4);
        let mut often = EventState::new(a3, FILTER_PERIOD, 2);
        let mut seldom = EventState::new(a3, FILTER_PERIOD, 2);
        for state in [&mut often, &mut seldom] {
            state.on_samples(at_ms(0), 0, &[-80.0, -90.0], ALL, |_, _| {});
        }
        for _ in 0..8 {
            often.on_samples(at_ms(1600), 0, &[-80.0, -70.0], ALL, |_, _| {});
        }
        seldom.set_period(FILTER_PERIOD * 8);
        seldom.on_samples(at_ms(1600), 0, &[-80.0, -70.0], ALL, |_, _| {});
        let of = |state: &EventState| state.filtered(1).expect("a value");
        // a = 1/2 for 200 ms: of the step of 20 dB, 1/256 is left.
        assert!((of(&seldom) - (-70.0 - 20.0 / 256.0)).abs() < 1e-9);
        assert!((of(&seldom) - of(&often)).abs() < 1e-9);
    }

    #[test]
    fn reports_follow_each_other_until_the_amount_is_reached_or_the_event_left() {
        let limited = MeasurementEvent {
            report_amount: Some(2),
            ..event(A3, 1.0, 0, 0)
        };
        let mut state = EventState::new(limited, Span::from_millis(40), 2);
        let mut heard = Vec::new();
        let reports = |state: &mut EventState, ms| {
            let mut count = 0;
            state.on_wake(at_ms(ms), |cell| count += cell);
            count
        };
        state.on_samples(at_ms(0), 0, &[0.0, 5.0], ALL, |cell, holds| {
            heard.push((cell, holds));
        });
        assert_eq!(reports(&mut state, 0), 1);
        assert_eq!(state.wake_at(), at_ms(240));
        assert_eq!(reports(&mut state, 240), 1);
        assert!(state.wake_at().is_never(), "as often as it may be");
        // Between entering and leaving nothing changes; after leaving the count starts anew.
        state.on_samples(at_ms(280), 0, &[0.0, 3.0], ALL, |cell, holds| {
            heard.push((cell, holds));
        });
        state.on_samples(at_ms(320), 0, &[0.0, 5.0], ALL, |_, _| {});
        assert!(state.wake_at().is_never());
        state.on_samples(at_ms(360), 0, &[0.0, 1.5], ALL, |cell, holds| {
            heard.push((cell, holds));
        });
        assert_eq!(heard, [(1, true), (1, false)]);
        state.on_samples(at_ms(400), 0, &[0.0, 5.0], ALL, |_, _| {});
        assert_eq!(state.wake_at(), at_ms(400));
    }

    #[test]
    fn the_serving_cell_is_no_neighbour_and_a_neighbour_no_serving_cell() {
        let mut a3 = EventState::new(event(A3, 0.0, 0, 0), FILTER_PERIOD, 2);
        a3.on_samples(at_ms(0), 1, &[-90.0, -80.0], ALL, |_, _| {});
        assert!(a3.wake_at().is_never());
        let a2 = EventKind::A2 { threshold: -85.0 };
        let mut a2 = EventState::new(event(a2, 0.0, 0, 0), FILTER_PERIOD, 2);
        a2.on_samples(at_ms(0), 1, &[-90.0, -80.0], ALL, |_, _| {});
        assert!(a2.wake_at().is_never());
        a2.on_samples(at_ms(200), 1, &[-80.0, -90.0], ALL, |_, _| {});
        assert_eq!(a2.wake_at(), at_ms(200));
        a2.on_new_serving_cell();
        assert!(a2.wake_at().is_never());
        assert_eq!(a2.filtered(1), Some(-90.0), "the history stays");
    }

    /// Outcome of lines through a circular pico cell: shares without a handover, with a failure, and with a
    /// ping-pong.
    fn circular_pico(speed_kmh: f64, ttt_ms: u64) -> [f64; 3] {
        const LINES: u32 = 1000;
        let (outer_m, inner_m, least_stay_ms) = (50.0_f64, 40.0, 1000);
        let at_a_ms = speed_kmh / 3600.0;
        let event = event(EventKind::A3 { offset: 0.0 }, 0.0, ttt_ms, 0);
        let mut counts = [0; 3];
        for line in 0..LINES {
            let offset_m = outer_m * (f64::from(line) + 0.5) / f64::from(LINES);
            let chord_m = 2.0 * (outer_m * outer_m - offset_m * offset_m).sqrt();
            let mut state = EventState::new(event, Span::from_millis(1), 2);
            let (mut serving, mut entered, mut failed) = (0, None, false);
            let mut left = None;
            let length = (chord_m / at_a_ms) as u64 + ttt_ms + 10;
            for ms in 0..length {
                let way_m = at_a_ms * ms as f64 - chord_m / 2.0;
                let distance_m = (way_m * way_m + offset_m * offset_m).sqrt();
                // The pico's level falls with the distance, and is the macro's at the outer circle.
                let samples = [0.0, outer_m - distance_m];
                state.on_samples(at_ms(ms), serving, &samples, ALL, |_, _| {});
                if serving == 0 && distance_m < inner_m {
                    // Below Qout before the report.
                    failed = true;
                    break;
                }
                let mut is_reported = false;
                state.on_wake(at_ms(ms), |_| is_reported = true);
                if is_reported {
                    if serving == 0 {
                        entered = Some(ms);
                    } else {
                        left = Some(ms);
                    }
                    serving = 1 - serving;
                    state.on_new_serving_cell();
                }
            }
            let stay = left.zip(entered).map(|(left, entered)| left - entered);
            counts[0] += u32::from(!failed && entered.is_none());
            counts[1] += u32::from(failed);
            // The sheet's share is of all lines: what the inner circle does to the UE is not looked at.
            let is_short = chord_m / at_a_ms < least_stay_ms as f64;
            let is_handed_over = chord_m / at_a_ms >= ttt_ms as f64;
            counts[2] += u32::from(is_short && is_handed_over);
            let is_counted = stay.is_none_or(|stay| (stay < least_stay_ms) == is_short);
            assert!(is_counted, "{stay:?} ms on a chord of {chord_m} m");
        }
        counts.map(|count| f64::from(count) / f64::from(LINES))
    }

    /// Vectors pico_geometry_* of the handover sheet, but for the slowest. A line is 0.001 of all, and a sample of 1 ms
    /// 0.03 m of the way.
    #[test]
    fn lines_through_a_circular_pico_cell_end_as_geometry_has_it() {
        for (speed_kmh, ttt_ms, expected) in [
            (120.0, 480, [0.012883, 0.691371, 0.044308]),
            (60.0, 1024, [0.014671, 0.716088, 0.0]),
            (30.0, 480, [0.000800, 0.0, 0.002678]),
            (60.0, 480, [0.003205, 0.0, 0.010782]),
            (120.0, 160, [0.001423, 0.0, 0.055768]),
        ] {
            let found = circular_pico(speed_kmh, ttt_ms);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 0.003, "{found} and {expected}");
            }
        }
    }
}
