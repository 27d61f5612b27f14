//! Measurements of a UE: events with hysteresis and time to trigger, reports.
//!
//! [`EventState`] is one configured event of one UE. It is told of samples and of time, and says
//! what is to be reported; it knows no air, no clock and no signalling.
//!
//! Standard: TS 38.331 §5.5; TS 36.331 §5.5.

use super::filter::{Before, Filter, Level};
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

    /// The level of a neighbour above which the entering condition would hold, with that of the serving cell; none of
    /// what is not about neighbours of it.
    fn enters_above(&self, serving: f64, hysteresis: f64) -> Option<f64> {
        match *self {
            EventKind::A1 { .. } | EventKind::A2 { .. } | EventKind::A6 { .. } => None,
            EventKind::A3 { offset } => Some(serving + offset + hysteresis),
            EventKind::A4 { threshold } | EventKind::B1 { threshold } => {
                Some(threshold + hysteresis)
            }
            EventKind::A5 {
                serving: first,
                neighbour: second,
            }
            | EventKind::B2 {
                serving: first,
                neighbour: second,
            } => Some(match serving + hysteresis < first {
                true => second + hysteresis,
                false => f64::INFINITY,
            }),
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

impl State {
    /// When something is to be reported.
    fn wake_at(self) -> Time {
        match self {
            State::Out => Time::NEVER,
            State::Entering(at) | State::In(at, _) => at,
        }
    }
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
    /// What the shadowing of sites takes from their cells, behind the filter, dB.
    shadows_db: Vec<f64>,
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
            shadows_db: Vec::new(),
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

    /// What the filter must make of a neighbour at least to enter the event, with the sample of the serving cell known;
    /// infinite where nothing enters it, and where any might.
    fn least_entering(&self, (serving, samples): (usize, &[Level])) -> f64 {
        let kind = self.event.kind;
        if !kind.has_neighbour() {
            return f64::INFINITY;
        }
        let before = self.cells[serving].filtered;
        let of_serving = self.filter.next_level(before, samples[serving]).low;
        let least = kind.enters_above(of_serving, self.event.hysteresis_db);
        least.unwrap_or(f64::NEG_INFINITY)
    }

    /// The same for each site, shadowing left out, which is so strong now, dB: lowers each of `least_db` to it.
    pub(crate) fn lower_least(
        &self,
        known: (usize, &[Level]),
        shadows_db: impl Iterator<Item = f64>,
        least_db: &mut [f64],
    ) {
        let of_neighbour = self.least_entering(known);
        let sites = least_db.iter_mut().zip(&self.shadows_db).zip(shadows_db);
        for ((least_db, &before_db), shadow_db) in sites {
            let of_site = of_neighbour + self.filter.next(Some(before_db), shadow_db);
            *least_db = least_db.min(of_site);
        }
    }

    /// There is a further site, whose shadowing is so strong now, dB.
    pub(crate) fn add_site(&mut self, shadow_db: f64) {
        self.shadows_db.push(shadow_db);
    }

    /// A cell of a site was not visited lately. It is known to be no more than `most_db`, shadowing left out.
    pub(crate) fn reopen(&mut self, position: usize, (most_db, site): (f64, usize)) {
        self.cells[position].filtered = Level {
            low: Level::ANY.low,
            high: most_db - self.shadows_db[site],
        };
    }

    /// Whether its condition does not hold for a cell.
    pub(crate) fn is_at_rest(&self, position: usize) -> bool {
        self.cells[position].state == State::Out
    }

    /// What the filter makes of a cell of a site at most, shadowing left out; none while its condition holds or it is
    /// reported.
    pub(crate) fn most_at_rest(&self, position: usize, site: usize) -> Option<f64> {
        let watched = &self.cells[position];
        let is_out = watched.state == State::Out && !watched.filtered.is_none();
        is_out.then(|| watched.filtered.high + self.shadows_db[site])
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

    /// These were the last samples of a cell, each with the period before it.
    pub(crate) fn replay(&mut self, position: usize, samples: (&[(Span, f64)], Before)) {
        let filtered = &mut self.cells[position].filtered;
        let of = (self.event.filter, self.period);
        *filtered = self.filter.replay(of, samples, *filtered);
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
    #[cfg(test)]
    pub(crate) fn on_samples(
        &mut self,
        now: Time,
        serving: usize,
        samples: &[f64],
        of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
        changed: impl FnMut(usize, bool),
    ) {
        let samples: Vec<Level> = samples.iter().map(|&sample| sample.into()).collect();
        let visited: Vec<usize> = (0..samples.len()).collect();
        self.on_samples_of(&visited, now, (serving, &samples), of, changed);
    }

    /// The shadowing of sites is so strong now, dB.
    pub(crate) fn on_shadows(&mut self, shadows_db: impl Iterator<Item = f64>) {
        for (filtered, shadow_db) in self.shadows_db.iter_mut().zip(shadows_db) {
            *filtered = self.filter.next(Some(*filtered), shadow_db);
        }
    }

    /// The same where no more than some cells were visited, in order: the others are surely out, and stay.
    pub(crate) fn on_samples_of(
        &mut self,
        visited: &[usize],
        now: Time,
        (serving, samples): (usize, &[Level]),
        of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
        mut changed: impl FnMut(usize, bool),
    ) {
        for &position in visited {
            let (watched, sample) = (&mut self.cells[position], samples[position]);
            if !sample.is_none() {
                watched.filtered = self.filter.next_level(watched.filtered, sample);
            }
        }
        let MeasurementEvent {
            kind,
            hysteresis_db,
            time_to_trigger,
            ..
        } = self.event;
        self.wake_at = Time::NEVER;
        for &position in visited {
            // An event about neighbours is not about the serving cell, one about that only about it.
            let is_about_it = (position == serving) != kind.has_neighbour();
            let compared = self.compared(serving, position);
            let compared = compared.filter(|&it| it != position || it == serving);
            let offset_db = match (is_about_it, kind.has_neighbour()) {
                (false, _) => None,
                (true, true) => of(&self.event, position),
                (true, false) => Some(0.0),
            };
            let (Some(compared), Some(offset_db)) = (compared, offset_db) else {
                self.wake_at = self.wake_at.min(self.cells[position].state.wake_at());
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
            self.wake_at = self.wake_at.min(watched.state.wake_at());
            if was_out != is_out {
                changed(position, !is_out);
            }
        }
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
        let at = self.cells.iter().map(|watched| watched.state.wake_at());
        self.wake_at = at.min().unwrap_or(Time::NEVER);
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
mod tests;
