//! Measurement events of a UE, with hysteresis, time to trigger and reports.
//!
//! [`EventState`] is one configured event of one UE. [`EventState`] receives samples and times, and
//! returns the due reports. The radio channel, the clock and signalling are outside this module.
//!
//! Standard: TS 38.331 §5.5; TS 36.331 §5.5.

use super::filter::{Before, Filter, Level};
use crate::config::{EventKind, MeasurementEvent};
use fadeout_core::{Span, Time};

impl EventKind {
    /// True if the entering condition holds. `serving` is the RSRP of the serving cell, or of the
    /// secondary cell for A6.
    ///
    /// Standard: TS 38.331 §5.5.4.2, §5.5.4.3, §5.5.4.4, §5.5.4.5, §5.5.4.6, §5.5.4.7, §5.5.4.8,
    /// §5.5.4.9; TS 36.331 §5.5.4.6a, §5.5.4.7, §5.5.4.8.
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

    /// Returns the level above which a neighbour enters the event, given the level of the serving
    /// cell. `None` for A1 and A2, which are not about neighbours. `None` for A6 too, which
    /// compares neighbours with secondary cells.
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

    /// True if the leaving condition holds.
    ///
    /// Standard: TS 38.331 §5.5.4.2, §5.5.4.3, §5.5.4.4, §5.5.4.5, §5.5.4.6, §5.5.4.7, §5.5.4.8,
    /// §5.5.4.9; TS 36.331 §5.5.4.6a, §5.5.4.7, §5.5.4.8.
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

/// State of one cell for one measurement event.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WatchedCell {
    filtered: Level,
    state: ReportState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportState {
    /// The cell has not entered the event, or has left it again.
    Out,
    /// The entering condition holds. The time to trigger ends at this time, and the cell is then
    /// reported.
    Entering(Time),
    /// The cell is reported. The fields are the time of the next report and the number of reports
    /// so far.
    In(Time, u32),
}

impl ReportState {
    /// Returns the time of the next report.
    fn wake_at(self) -> Time {
        match self {
            ReportState::Out => Time::NEVER,
            ReportState::Entering(at) | ReportState::In(at, _) => at,
        }
    }
}

/// State of one event of one UE, over all cells that the UE measures.
#[derive(Debug)]
pub(crate) struct EventState {
    event: MeasurementEvent,
    filter: Filter,
    /// Sample period that the filter is computed for.
    period: Span,
    /// States of the cells, by position in the UE's list.
    cells: Vec<WatchedCell>,
    /// Used for A6 only. Position of the secondary cell on the carrier of each cell.
    references: Vec<Option<u32>>,
    /// Time of the next report.
    wake_at: Time,
    /// Filtered shadowing of each site, as a loss in dB.
    shadows_db: Vec<f64>,
}

impl EventState {
    /// Returns the state of an event over `cells` cells that are measured each `period`.
    pub(crate) fn new(event: MeasurementEvent, period: Span, cells: usize) -> EventState {
        let unknown = WatchedCell {
            filtered: Level::NONE,
            state: ReportState::Out,
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

    /// Returns the configuration of the event.
    pub(crate) fn event(&self) -> &MeasurementEvent {
        &self.event
    }

    /// True if the event compares neighbours.
    pub(crate) fn has_neighbour(&self) -> bool {
        self.event.kind.has_neighbour()
    }

    /// Sets the time between samples. The filter weight is adapted, so that the filter reacts as
    /// fast as before.
    ///
    /// Standard: TS 38.331 §5.5.3.2; TS 36.331 §5.5.3.2.
    pub(crate) fn set_period(&mut self, period: Span) {
        if self.period != period {
            self.period = period;
            self.filter = Filter::new(self.event.filter, period);
        }
    }

    /// Returns the filtered value of a cell. `None` before its first sample. The value is exact for
    /// the serving cell and for reported cells.
    pub(crate) fn filtered(&self, cell: usize) -> Option<f64> {
        let filtered = self.cells[cell].filtered;
        (!filtered.is_none()).then_some(filtered.low)
    }

    /// True if the level of a cell must be known exactly, but `samples` gives bounds only. Exact
    /// levels are needed for the serving and secondary cells, for reported cells, and for cells
    /// that may enter the event. `offset_db` is `None` for a cell that the event does not apply to.
    pub(crate) fn needs_exact_level(
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
        if position == serving || compared == Some(position) || watched.state != ReportState::Out {
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

    /// Returns the lowest filtered level with which a neighbour enters the event. The sample of the
    /// serving cell must be exact. The result is infinity if no level enters the event, and
    /// negative infinity if any level may.
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

    /// Lowers each site's entry of `least_db` to the lowest level with which a cell of the site
    /// enters the event. Levels exclude shadowing. `shadows_db` is the present shadowing of each
    /// site in dB.
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

    /// Adds a site with this present shadowing in dB.
    pub(crate) fn add_site(&mut self, shadow_db: f64) {
        self.shadows_db.push(shadow_db);
    }

    /// Sets the bounds of a cell whose latest measurements were skipped. `most_db` is an upper
    /// bound of the cell's filtered level without shadowing.
    pub(crate) fn restore_bounds(&mut self, position: usize, (most_db, site): (f64, usize)) {
        self.cells[position].filtered = Level {
            low: Level::ANY.low,
            high: most_db - self.shadows_db[site],
        };
    }

    /// True if the entering condition does not hold for a cell, and the cell is not reported.
    pub(crate) fn is_out(&self, position: usize) -> bool {
        self.cells[position].state == ReportState::Out
    }

    /// Returns an upper bound of a cell's filtered level without shadowing. `None` while the
    /// entering condition holds or the cell is reported.
    pub(crate) fn upper_bound_if_out(&self, position: usize, site: usize) -> Option<f64> {
        let watched = &self.cells[position];
        let is_out = watched.state == ReportState::Out && !watched.filtered.is_none();
        is_out.then(|| watched.filtered.high + self.shadows_db[site])
    }

    /// Returns the cell that the event compares a cell with: the serving cell, or for A6 the
    /// secondary cell on the same carrier. `None` if there is no secondary cell.
    fn compared(&self, serving: usize, position: usize) -> Option<usize> {
        match self.event.kind.is_about_secondaries() {
            true => self.references[position].map(|it| it as usize),
            false => Some(serving),
        }
    }

    /// Sets the secondary cells. `secondary_of` returns the secondary cell on a cell's carrier. The
    /// condition of a cell starts anew if the cell is now compared with another secondary cell.
    pub(crate) fn set_secondaries(&mut self, secondary_of: impl Fn(usize) -> Option<usize>) {
        let cells = self.cells.iter_mut().zip(&mut self.references);
        for (position, (watched, reference)) in cells.enumerate() {
            let now = secondary_of(position).map(|it| it as u32);
            if std::mem::replace(reference, now) != now {
                watched.state = ReportState::Out;
            }
        }
        self.update_wake_at();
    }

    /// Computes the filtered value of a cell again from the cell's last samples, each with the time
    /// since the previous sample.
    pub(crate) fn replay(&mut self, position: usize, samples: (&[(Span, f64)], Before)) {
        let filtered = &mut self.cells[position].filtered;
        let defined_for = (self.event.filter, self.period);
        *filtered = self.filter.replay(defined_for, samples, *filtered);
    }

    /// Handles a sample of one cell, taken the time `over` after the cell's previous sample.
    pub(crate) fn on_sample(&mut self, position: usize, sample: Level, over: Span) {
        let filtered = &mut self.cells[position].filtered;
        *filtered = Filter::new(self.event.filter, over).next_level(*filtered, sample);
    }

    /// Handles samples of all cells in dBm. A cell without a sample keeps its value. The condition
    /// of each cell is evaluated. A time to trigger ends as soon as the entering condition fails,
    /// and reports end when the leaving condition holds. `changed` is called for each cell whose
    /// condition begins or ends. `offset_db_of` returns the offset in dB of a neighbour that
    /// the event applies to.
    ///
    /// Standard: TS 38.331 §5.5.4.1.
    #[cfg(test)]
    pub(crate) fn on_samples(
        &mut self,
        now: Time,
        serving: usize,
        samples: &[f64],
        offset_db_of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
        changed: impl FnMut(usize, bool),
    ) {
        let samples: Vec<Level> = samples.iter().map(|&sample| sample.into()).collect();
        let visited: Vec<usize> = (0..samples.len()).collect();
        self.on_samples_of(&visited, now, (serving, &samples), offset_db_of, changed);
    }

    /// Filters the shadowing of all sites with the present values in dB.
    pub(crate) fn on_shadows(&mut self, shadows_db: impl Iterator<Item = f64>) {
        for (filtered, shadow_db) in self.shadows_db.iter_mut().zip(shadows_db) {
            *filtered = self.filter.next(Some(*filtered), shadow_db);
        }
    }

    /// Handles samples of the cells in `visited`, which must be sorted. The caller guarantees that
    /// no other cell enters the event. Other cells keep their state.
    pub(crate) fn on_samples_of(
        &mut self,
        visited: &[usize],
        now: Time,
        (serving, samples): (usize, &[Level]),
        offset_db_of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
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
            // An event about neighbours does not apply to the serving cell. Any other event applies
            // to the serving cell only.
            let is_about_it = (position == serving) != kind.has_neighbour();
            let compared = self.compared(serving, position);
            let compared = compared.filter(|&it| it != position || it == serving);
            let offset_db = match (is_about_it, kind.has_neighbour()) {
                (false, _) => None,
                (true, true) => offset_db_of(&self.event, position),
                (true, false) => Some(0.0),
            };
            let (Some(compared), Some(offset_db)) = (compared, offset_db) else {
                self.wake_at = self.wake_at.min(self.cells[position].state.wake_at());
                continue;
            };
            let of_serving = self.cells[compared].filtered.low;
            let watched = &mut self.cells[position];
            // If the level is not exact, its upper bound is used. Such a cell is known not to enter
            // the event.
            let value = watched.filtered.high + offset_db;
            let enters = || kind.enters(of_serving, value, hysteresis_db);
            let was_out = watched.state == ReportState::Out;
            watched.state = match watched.state {
                ReportState::Out if enters() => {
                    ReportState::Entering(now.saturating_add(time_to_trigger))
                }
                ReportState::Entering(_) if !enters() => ReportState::Out,
                ReportState::In(..) if kind.leaves(of_serving, value, hysteresis_db) => {
                    ReportState::Out
                }
                state => state,
            };
            let is_out = watched.state == ReportState::Out;
            self.wake_at = self.wake_at.min(watched.state.wake_at());
            if was_out != is_out {
                changed(position, !is_out);
            }
        }
    }

    /// Returns the condition of the event.
    pub(crate) fn kind(&self) -> EventKind {
        self.event.kind
    }

    /// Returns the reported cells with their filtered values.
    pub(crate) fn triggered(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let cells = self.cells.iter().enumerate();
        let reported = cells.filter(|(_, watched)| matches!(watched.state, ReportState::In(..)));
        reported.map(|(position, watched)| (position, watched.filtered.low))
    }

    /// Calls `report` for each cell whose report is due by now, in order, and counts the report.
    pub(crate) fn on_wake(&mut self, now: Time, mut report: impl FnMut(usize)) {
        let interval = self.event.report_interval;
        let most = self.event.report_amount.unwrap_or(u32::MAX);
        for (position, watched) in self.cells.iter_mut().enumerate() {
            let sent = match watched.state {
                ReportState::Entering(at) if at <= now => 0,
                ReportState::In(at, sent) if at <= now => sent,
                _ => continue,
            };
            let next = match sent + 1 < most {
                true => now.saturating_add(interval),
                false => Time::NEVER,
            };
            watched.state = ReportState::In(next, sent.saturating_add(1));
            report(position);
        }
        self.update_wake_at();
    }

    /// Returns the time of the next report.
    pub(crate) fn wake_at(&self) -> Time {
        self.wake_at
    }

    fn update_wake_at(&mut self) {
        let at = self.cells.iter().map(|watched| watched.state.wake_at());
        self.wake_at = at.min().unwrap_or(Time::NEVER);
    }

    /// Clears the entered cells and the time to trigger, for a new serving cell. The filtered
    /// levels are kept.
    pub(crate) fn on_new_serving_cell(&mut self) {
        for watched in &mut self.cells {
            watched.state = ReportState::Out;
        }
        self.wake_at = Time::NEVER;
    }
}

#[cfg(test)]
mod tests;
