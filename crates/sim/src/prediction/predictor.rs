//! Predictions of blockages from the maps of all base stations.

use super::ahead::{Ahead, first_cut};
use super::regions::Regions;
use super::{Prediction, PredictionSettings, Report};
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time, math};
use std::collections::BTreeMap;

/// Lowest speed of a moving vehicle, m/s. No path is predicted for slower vehicles.
const SLOWEST: f64 = 0.1;

/// Upper limit of predicted times, one hour. Real blockages are much shorter.
const LONGEST_S: f64 = 3600.0;

/// A report with the position and speed errors of its vehicle, as the base station receives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// The report, with the reported position and speed.
    pub report: Report,
    /// Position error in the direction of travel, metres.
    pub ahead_m: f64,
    /// Relative error of the reported speed. Positive if the reported speed is too high.
    pub too_fast: f64,
}

/// Position and speed errors of a vehicle's reports, and the vehicle's random stream.
#[derive(Debug, Clone)]
struct Car {
    random: Stream,
    place: (f64, f64),
    speed: f64,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    last: Report,
    /// Time before which no new prediction is made.
    until: Time,
}

/// Learns from reports and predicts blockages.
#[derive(Debug, Clone)]
pub struct Predictor {
    settings: PredictionSettings,
    regions: Regions,
    cars: BTreeMap<u32, Car>,
    /// Last report and end of the last prediction, for each UE and cell.
    paths: BTreeMap<(u32, u32), Known>,
}

impl Predictor {
    /// Creates a predictor without any reports.
    pub fn new(settings: PredictionSettings) -> Predictor {
        Predictor {
            settings,
            regions: Regions::new(settings.regions, settings.resolution_m),
            cars: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    /// Sets the horizontal position of a cell's antenna. The position matters only if regions are
    /// beams.
    pub fn stand(&mut self, cell: u32, mast: (f64, f64)) {
        self.regions.stand(cell, mast);
    }

    /// Learns from a report, and predicts a blockage in the regions ahead of the vehicle. The times
    /// of the reports must not decrease. `None` if no blockage is predicted.
    pub fn report(&mut self, report: Report) -> Option<Prediction> {
        let seen = self.learn_from(report)?;
        let found = self.of_regions(&seen.report);
        self.predict(&seen, found)
    }

    /// Learns from a report, and returns the report with the vehicle's errors. `None` if no
    /// prediction is possible now: the path is blocked, or the end of the last predicted blockage
    /// has not passed.
    pub fn learn_from(&mut self, report: Report) -> Option<Seen> {
        let key = (report.ue, report.cell);
        let (place, speed) = self.errors(report.ue);
        let heard = Report {
            place: (report.place.0 + place.0, report.place.1 + place.1),
            speed: (
                report.speed.0 * (1.0 + speed),
                report.speed.1 * (1.0 + speed),
            ),
            ..report
        };
        let last = heard;
        let before = self.paths.get(&key).copied();
        let known = before.map_or(Time::ZERO, |before| before.until);
        self.paths.insert(key, Known { last, until: known });
        if let Some(before) = before {
            self.fill_gap(&before.last, &heard);
        }
        let (cell, is_cut) = (heard.cell, heard.is_cut);
        self.regions.learn(cell, heard.place, is_cut);
        let (x, y) = heard.speed;
        let fast = math::hypot(x, y);
        let ahead_m = match fast > 0.0 {
            true => (place.0 * x + place.1 * y) / fast,
            false => 0.0,
        };
        (!is_cut && heard.at >= known).then_some(Seen {
            report: heard,
            ahead_m,
            too_fast: speed,
        })
    }

    /// Returns the prediction after a report. `found` is the blockage ahead of the vehicle, or
    /// `None` if no blockage is expected. A prediction may be lost at random. Without a blockage
    /// the result may be a false alarm. `None` if nothing is predicted.
    pub(super) fn predict(&mut self, seen: &Seen, found: Option<Ahead>) -> Option<Prediction> {
        let PredictionSettings {
            missed,
            false_alarms,
            horizon,
            ..
        } = self.settings;
        let report = &seen.report;
        let car = self.cars.get_mut(&report.ue).expect("it was heard");
        let mut is_lost = false;
        let (begins, lasts) = match found {
            Some(found) => {
                is_lost = missed > 0.0 && car.random.chance(missed);
                found
            }
            None if false_alarms > 0.0 && car.random.chance(false_alarms) => {
                let begins = car.random.uniform() * horizon.as_secs_f64();
                (begins, car.random.exponential(1.0))
            }
            None => return None,
        };
        let span = |seconds: f64| Span::from_secs_f64(seconds.clamp(0.0, LONGEST_S));
        let starts = report.at.saturating_add(span(begins));
        let lasts = span(lasts);
        // The cell predicts no further blockage of this UE before the end of the predicted one.
        let known = self.paths.get_mut(&(report.ue, report.cell));
        known.expect("it was heard").until = starts.saturating_add(lasts);
        (!is_lost).then_some(Prediction {
            made: report.at,
            ue: report.ue,
            cell: report.cell,
            starts,
            lasts,
        })
    }

    /// Returns the first blockage on the vehicle's path in a straight line, according to the map of
    /// regions. `None` if there is none.
    pub(super) fn of_regions(&self, seen: &Report) -> Option<Ahead> {
        let PredictionSettings {
            learning, horizon, ..
        } = self.settings;
        self.search_ahead(seen, |step| {
            first_cut(step, horizon.as_secs_f64(), None, |time| {
                let place = seen.after(time);
                self.regions.is_cut(seen.cell, place, learning) == Some(true)
            })
        })
    }

    /// Calls `search` with the time in which the vehicle covers half the side of a region, seconds,
    /// and returns its result. `None` if the vehicle stands still.
    pub(super) fn search_ahead<T>(
        &self,
        seen: &Report,
        search: impl FnOnce(f64) -> Option<T>,
    ) -> Option<T> {
        let speed = math::hypot(seen.speed.0, seen.speed.1);
        if speed < SLOWEST {
            return None;
        }
        search(self.settings.resolution_m / 2.0 / speed)
    }

    fn errors(&mut self, ue: u32) -> ((f64, f64), f64) {
        let PredictionSettings {
            seed,
            place_error_m,
            speed_error,
            ..
        } = self.settings;
        let car = self.cars.entry(ue).or_insert_with(|| {
            let mut random = Stream::new(seed, "blockage-prediction", u64::from(ue));
            let mut drawn = || random.normal();
            let place = (drawn() * place_error_m, drawn() * place_error_m);
            // The relative error stays above -0.9. A value below -1 would reverse the reported
            // direction.
            let speed = (drawn() * speed_error).max(-0.9);
            Car {
                random,
                place,
                speed,
            }
        });
        (car.place, car.speed)
    }

    /// Fills a long gap between two reports on the serving cell. In the gap, the vehicle sent no
    /// reports because its path was blocked. So the vehicle's positions in the gap are counted as
    /// blocked.
    fn fill_gap(&mut self, before: &Report, now: &Report) {
        let period = self.settings.report_period.as_secs_f64();
        let gap = now.at.since(before.at).as_secs_f64();
        let steps = (gap / period).round();
        if steps <= 2.0 || !before.serves {
            return;
        }
        for number in 1..steps as u64 {
            let share = number as f64 / steps;
            let between = |from: f64, to: f64| from + (to - from) * share;
            let place = (
                between(before.place.0, now.place.0),
                between(before.place.1, now.place.1),
            );
            self.regions.learn(now.cell, place, true);
        }
    }
}

impl Report {
    /// Returns the vehicle's position after this number of seconds in a straight line, metres.
    pub(super) fn after(&self, seconds: f64) -> (f64, f64) {
        (
            self.place.0 + self.speed.0 * seconds,
            self.place.1 + self.speed.1 * seconds,
        )
    }
}
