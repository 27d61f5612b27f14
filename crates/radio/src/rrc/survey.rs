//! Measurements of one UE: their times, and the state of all measurement events over the measured
//! cells.

use super::conditional::Conditions;
use super::filter::{Before, Level};
use super::measure::EventState;
use super::policy::ReportedCell;
use super::report::MeasurementReport;
use crate::config::{EventKind, MeasurementEvent};
use fadeout_core::{CellId, Span, Time};

/// State of a UE's measurements and measurement events.
#[derive(Debug)]
pub(crate) struct Survey {
    events: Vec<EventState>,
    /// Execution conditions of conditional handover.
    pub conditions: Conditions,
    next_at: Time,
    /// Time from the last measurement to the next one.
    period: Span,
}

impl Survey {
    /// Returns the state of a UE that measures `cells` cells each `period`, first at `first`.
    pub(crate) fn new(
        (events, cells): (&[MeasurementEvent], usize),
        first: Time,
        period: Span,
    ) -> Survey {
        let event = |&event| EventState::new(event, period, cells);
        Survey {
            events: events.iter().map(event).collect(),
            conditions: Conditions::new(&[], period, cells),
            next_at: first,
            period,
        }
    }

    /// Returns the time of the next measurement.
    pub(crate) fn next_at(&self) -> Time {
        self.next_at
    }

    /// Begins a measurement now. The next measurement follows after `period`. Returns the time
    /// since the previous measurement.
    pub(crate) fn begin(&mut self, now: Time, period: Span) -> Span {
        self.next_at = now.saturating_add(period);
        std::mem::replace(&mut self.period, period)
    }

    /// Adapts all filters to samples that follow the previous samples after the time `over`.
    pub(crate) fn set_period(&mut self, over: Span) {
        self.events
            .iter_mut()
            .for_each(|event| event.set_period(over));
        self.conditions.set_period(over);
    }

    /// True if any event needs the exact level of a cell. See [`EventState::needs_exact_level`].
    /// `offset_db_of` returns the offset in dB of a neighbour that the event applies to.
    pub(crate) fn needs_exact_level(
        &self,
        known: (usize, &[Level]),
        position: usize,
        offset_db_of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
    ) -> bool {
        let mut events = self.events.iter();
        events.any(|event| {
            event.needs_exact_level(known, position, offset_db_of(event.event(), position))
        }) || self.conditions.needs_exact_level(known, position)
    }

    /// Computes, for each site, the lowest level with which a cell of the site enters any event.
    /// See [`EventState::lower_least`].
    pub(crate) fn least_entering(
        &self,
        known: (usize, &[Level]),
        shadows_db: &(impl Iterator<Item = f64> + Clone),
        least_db: &mut Vec<f64>,
    ) {
        least_db.clear();
        least_db.resize(shadows_db.clone().count(), f64::INFINITY);
        for event in &self.events {
            event.lower_least(known, shadows_db.clone(), least_db);
        }
    }

    /// Adds a site to the state of every event. See [`EventState::add_site`].
    pub(crate) fn add_site(&mut self, shadow_db: f64) {
        let events = self.events.iter_mut();
        events.for_each(|event| event.add_site(shadow_db));
    }

    /// Sets the bounds of a cell in the state of every event. See [`EventState::restore_bounds`].
    pub(crate) fn restore_bounds(&mut self, position: usize, most: (f64, usize)) {
        let events = self.events.iter_mut();
        events.for_each(|event| event.restore_bounds(position, most));
    }

    /// Returns the highest of all events' upper bounds of a cell's filtered level. `None` without
    /// events. See [`EventState::upper_bound_if_out`].
    pub(crate) fn upper_bound_if_out(&self, position: usize, site: usize) -> Option<f64> {
        let mut most = None;
        for event in &self.events {
            let of_event = event.upper_bound_if_out(position, site)?;
            most = Some(most.map_or(of_event, |most: f64| most.max(of_event)));
        }
        most
    }

    /// True if no condition of any event holds for a cell.
    pub(crate) fn is_out(&self, position: usize) -> bool {
        self.events.iter().all(|event| event.is_out(position))
    }

    /// Sets the secondary cells of every event. See [`EventState::set_secondaries`].
    pub(crate) fn set_secondaries(&mut self, secondary_of: impl Fn(usize) -> Option<usize>) {
        let about = |event: &&mut EventState| event.kind().is_about_secondaries();
        for event in self.events.iter_mut().filter(about) {
            event.set_secondaries(&secondary_of);
        }
    }

    /// Filters the last samples of a cell again for every event. See [`EventState::replay`].
    pub(crate) fn replay(&mut self, position: usize, samples: (&[(Span, f64)], Before)) {
        self.events
            .iter_mut()
            .for_each(|event| event.replay(position, samples));
        self.conditions.replay(position, samples);
    }

    /// Handles samples in dBm of the cells in `visited`, `over` after the previous samples. See
    /// [`EventState::on_samples_of`]. `offset_db_of` returns the offset in dB of a neighbour that
    /// an event applies to. `changed` is called for each neighbour whose condition begins or ends.
    pub(crate) fn on_samples(
        &mut self,
        (visited, shadows_db): (&[usize], impl Iterator<Item = f64> + Clone),
        (now, over): (Time, Span),
        (serving, samples): (usize, &[Level]),
        offset_db_of: impl Fn(&MeasurementEvent, usize) -> Option<f64>,
        mut changed: impl FnMut(usize, bool),
    ) {
        self.set_period(over);
        for event in &mut self.events {
            let has_neighbour = event.has_neighbour();
            let levels = (serving, samples);
            event.on_shadows(shadows_db.clone());
            event.on_samples_of(visited, now, levels, &offset_db_of, |position, holds| {
                if has_neighbour {
                    changed(position, holds);
                }
            });
        }
        self.conditions.on_samples(now, serving, samples);
    }

    /// Handles a sample of one cell for every event. See [`EventState::on_sample`].
    pub(crate) fn on_sample(&mut self, position: usize, sample: Level, over: Span) {
        self.events
            .iter_mut()
            .for_each(|event| event.on_sample(position, sample, over));
        self.conditions.on_sample(position, sample, over);
    }

    /// Returns the level of a cell after the layer 3 filter of the first event. `None` before the
    /// first sample of the cell, and without events.
    pub(crate) fn filtered(&self, cell: usize) -> Option<f64> {
        self.events.first().and_then(|it| it.filtered(cell))
    }

    /// Returns the number of events.
    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }

    /// Returns the condition of the event with this number. `None` if there is no such event.
    pub(crate) fn kind(&self, event: u16) -> Option<EventKind> {
        self.events.get(usize::from(event)).map(EventState::kind)
    }

    /// True if the event applies to UEs in a 3G cell. If `is_in_utra` is false, true if it applies
    /// to UEs in other cells.
    pub(crate) fn fits(&self, event: usize, is_in_utra: bool) -> bool {
        self.events[event].event().scope.fits(is_in_utra)
    }

    /// Returns the report of event `number` that is due by now. `None` if none is due. `cells` are
    /// the measured cells, and `serving` is the position of the serving cell.
    pub(crate) fn report(
        &mut self,
        number: usize,
        now: Time,
        (cells, serving): (&[CellId], usize),
    ) -> Option<MeasurementReport> {
        let event = &mut self.events[number];
        if event.wake_at() > now {
            return None;
        }
        let mut is_due = false;
        event.on_wake(now, |_| is_due = true);
        if !is_due {
            return None;
        }
        let reported = |(position, rsrp_dbm): (usize, f64)| ReportedCell {
            cell: cells[position],
            rsrp_dbm,
        };
        let level = event.filtered(serving).unwrap_or(f64::NEG_INFINITY);
        let mut report = MeasurementReport::new(number as u16, reported((serving, level)));
        if event.has_neighbour() {
            event
                .triggered()
                .for_each(|cell| report.add(reported(cell)));
        }
        Some(report)
    }

    /// Returns the time of the next report.
    pub(crate) fn report_at(&self) -> Time {
        let reports = self.events.iter().map(EventState::wake_at).min();
        reports.unwrap_or(Time::NEVER)
    }

    /// Clears the entered cells and the time to trigger, for a new serving cell. The filtered
    /// levels are kept.
    pub(crate) fn on_new_serving_cell(&mut self) {
        self.events
            .iter_mut()
            .for_each(EventState::on_new_serving_cell);
        self.conditions.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scope;

    /// Shadowing values for a test without sites.
    const NONE: std::iter::Empty<f64> = std::iter::empty();

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn event(kind: EventKind) -> MeasurementEvent {
        MeasurementEvent {
            kind,
            hysteresis_db: 1.0,
            time_to_trigger: Span::from_millis(40),
            filter: 0,
            report_interval: Span::from_millis(240),
            report_amount: None,
            scope: Scope::Any,
        }
    }

    #[test]
    fn a_report_names_the_cells_of_its_event_and_is_due_after_the_time_to_trigger() {
        let events = [
            event(EventKind::A2 { threshold: -90.0 }),
            event(EventKind::A3 { offset: 3.0 }),
        ];
        let cells = [CellId(4), CellId(6), CellId(9)];
        let period = Span::from_millis(200);
        let mut survey = Survey::new((&events, 3), at_ms(10), period);
        assert_eq!(
            (survey.next_at(), survey.report_at()),
            (at_ms(10), Time::NEVER)
        );
        assert_eq!(survey.begin(at_ms(10), period * 2), period);
        assert_eq!(survey.next_at(), at_ms(410));
        let samples = [-99.0, -80.0, -90.0];
        let mut entered = Vec::new();
        let samples = samples.map(Level::from);
        survey.on_samples(
            (&[0, 1, 2], NONE),
            (at_ms(10), period),
            (0, &samples),
            |_, _| Some(0.0),
            |cell, holds| entered.push((cell, holds)),
        );
        assert_eq!(entered, [(1, true), (2, true)], "of neighbours alone");
        assert_eq!(survey.report_at(), at_ms(50));
        assert_eq!(survey.report(1, at_ms(49), (&cells, 0)), None);
        let reports: Vec<MeasurementReport> = (0..survey.events())
            .filter_map(|number| survey.report(number, at_ms(50), (&cells, 0)))
            .collect();
        let named = |report: &MeasurementReport| -> Vec<u32> {
            report.cells().iter().map(|cell| cell.cell.0).collect()
        };
        assert_eq!(
            reports.iter().map(named).collect::<Vec<_>>(),
            [vec![], vec![6, 9]]
        );
        assert!(reports.iter().all(|it| it.serving.cell == CellId(4)));
        assert_eq!(survey.report_at(), at_ms(290), "after the interval");
        survey.on_new_serving_cell();
        assert!(survey.report_at().is_never());
        assert_eq!(survey.filtered(2), Some(-90.0), "values stay");
    }

    /// Cells 0 and 1 are on one carrier, and cells 2 to 4 on another. Cell 2 is a secondary cell
    /// until cell 3 replaces it.
    #[test]
    fn a6_compares_with_the_secondary_cell_of_the_carrier() {
        let cells = [0, 1, 2, 3, 4].map(CellId);
        let period = Span::from_millis(200);
        let mut survey = Survey::new(
            (&[event(EventKind::A6 { offset: 3.0 })], 5),
            at_ms(0),
            period,
        );
        let samples = [-120.0, -60.0, -90.0, -85.0, -80.0].map(Level::from);
        let seen = |survey: &mut Survey, now| {
            let mut changes = Vec::new();
            survey.on_samples(
                (&[0, 1, 2, 3, 4], NONE),
                (at_ms(now), period),
                (0, &samples),
                |_, _| Some(0.0),
                |cell, holds| changes.push((cell, holds)),
            );
            changes
        };
        assert_eq!(seen(&mut survey, 0), [], "no secondary cell");
        let secondary_after = |secondary| move |position| (position > 1).then_some(secondary);
        survey.set_secondaries(secondary_after(2));
        assert_eq!(seen(&mut survey, 200), [(3, true), (4, true)]);
        let report = survey.report(0, at_ms(240), (&cells, 0)).expect("a report");
        let named: Vec<u32> = report.cells().iter().map(|it| it.cell.0).collect();
        assert_eq!((named, report.serving.cell), (vec![4, 3], CellId(0)));
        survey.set_secondaries(secondary_after(3));
        assert!(survey.report_at().is_never(), "looked at anew");
        assert_eq!(seen(&mut survey, 400), [(4, true)], "better by 5 dB");
        survey.set_secondaries(|_| None);
        assert!(survey.report_at().is_never());
        // Exact levels are needed for the secondary cell that A6 compares with, and for cells that
        // may enter the event.
        let bound = |low, high| Level { low, high };
        survey.set_secondaries(secondary_after(2));
        let levels = [-120.0, -60.0, -90.0, -99.0, -99.0].map(Level::from);
        let open = |survey: &Survey, position: usize, level| {
            let mut levels = levels;
            levels[position] = level;
            survey.needs_exact_level((0, &levels), position, |_, _| Some(0.0))
        };
        assert!(open(&survey, 2, bound(-95.0, -90.0)));
        assert!(open(&survey, 3, bound(-95.0, -85.0)));
        assert!(!open(&survey, 3, bound(-95.0, -87.0)));
        assert!(
            !open(&survey, 1, bound(-95.0, -20.0)),
            "no secondary cell there"
        );
    }

    #[test]
    fn a_survey_without_events_reports_nothing() {
        let mut survey = Survey::new((&[], 2), at_ms(0), Span::from_millis(200));
        let samples = [-80.0, -70.0].map(Level::from);
        let period = Span::from_millis(200);
        survey.on_samples(
            (&[0, 1], NONE),
            (at_ms(0), period),
            (0, &samples),
            |_, _| Some(0.0),
            |_, _| panic!("no event"),
        );
        assert!(survey.report_at().is_never());
        assert_eq!((survey.filtered(0), survey.kind(0)), (None, None));
    }
}
