//! The maps of all base stations, and what follows from them.

use super::ahead::{Ahead, first_cut};
use super::regions::Regions;
use super::{Prediction, Report, Settings};
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time, math};
use std::collections::BTreeMap;

/// Slower than this, m/s, a car is on no way.
const SLOWEST: f64 = 0.1;

/// A length of time that nobody is told, and none is: an hour.
const LONGEST_S: f64 = 3600.0;

/// A report as the base station takes it: with the car's errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// The report, with the place and the speed that it says.
    pub report: Report,
    /// How far it is off along its way, metres.
    pub ahead_m: f64,
    /// How much too fast it says that it is, as a share.
    pub too_fast: f64,
}

/// Errors of a car's reports, and its random stream.
#[derive(Debug, Clone)]
struct Car {
    random: Stream,
    place: (f64, f64),
    speed: f64,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    last: Report,
    /// Nothing is said again until then.
    until: Time,
}

/// Learns from reports, and predicts.
#[derive(Debug, Clone)]
pub struct Predictor {
    settings: Settings,
    regions: Regions,
    cars: BTreeMap<u32, Car>,
    /// By car and cell.
    paths: BTreeMap<(u32, u32), Known>,
}

impl Predictor {
    /// One that knows nothing.
    pub fn new(settings: Settings) -> Predictor {
        Predictor {
            settings,
            regions: Regions::new(settings.regions, settings.resolution_m),
            cars: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    /// A base station stands at a place on the ground; of no effect unless regions are beams.
    pub fn stand(&mut self, cell: u32, mast: (f64, f64)) {
        self.regions.stand(cell, mast);
    }

    /// Learns from a report, and predicts what comes from the regions ahead. Reports are in order of time.
    pub fn report(&mut self, report: Report) -> Option<Prediction> {
        let seen = self.hear(report)?;
        let found = self.of_regions(&seen.report);
        self.say(&seen, found)
    }

    /// Learns from a report; the report with its errors, where there is something to be said of it: it is
    /// not cut off, and nothing that was said has yet to come.
    pub fn hear(&mut self, report: Report) -> Option<Seen> {
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

    /// The prediction after a report that was heard, with `found` ahead.
    pub(super) fn say(&mut self, seen: &Seen, found: Option<Ahead>) -> Option<Prediction> {
        let Settings {
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
        // It says so once.
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

    /// The first cut on the straight way ahead, by the regions.
    pub(super) fn of_regions(&self, seen: &Report) -> Option<Ahead> {
        let Settings {
            learning, horizon, ..
        } = self.settings;
        self.on_way(seen, |step| {
            first_cut(step, horizon.as_secs_f64(), None, |time| {
                let place = seen.after(time);
                self.regions.is_cut(seen.cell, place, learning) == Some(true)
            })
        })
    }

    /// `look` with the time that half a region takes; nothing of who stands.
    pub(super) fn on_way<T>(
        &self,
        seen: &Report,
        look: impl FnOnce(f64) -> Option<T>,
    ) -> Option<T> {
        let speed = math::hypot(seen.speed.0, seen.speed.1);
        if speed < SLOWEST {
            return None;
        }
        look(self.settings.resolution_m / 2.0 / speed)
    }

    fn errors(&mut self, ue: u32) -> ((f64, f64), f64) {
        let Settings {
            seed,
            place_error_m,
            speed_error,
            ..
        } = self.settings;
        let car = self.cars.entry(ue).or_insert_with(|| {
            let mut random = Stream::new(seed, "blockage-prediction", u64::from(ue));
            let mut drawn = || random.normal();
            let place = (drawn() * place_error_m, drawn() * place_error_m);
            // A car that goes backwards is none.
            let speed = (drawn() * speed_error).max(-0.9);
            Car {
                random,
                place,
                speed,
            }
        });
        (car.place, car.speed)
    }

    /// Who did not report for long was cut off from who served it, from the last report on to this one.
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
    /// Where it will be so many seconds later, if it goes straight on.
    pub(super) fn after(&self, seconds: f64) -> (f64, f64) {
        (
            self.place.0 + self.speed.0 * seconds,
            self.place.1 + self.speed.1 * seconds,
        )
    }
}
