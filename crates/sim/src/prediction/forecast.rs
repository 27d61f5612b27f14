//! Prediction of blockages during a run. Vehicles send reports, base stations learn from them and
//! predict blockages, and the ends of flows receive notices.

use super::ahead::{Ahead, first_cut};
use super::cars::Cars;
use super::predictor::Seen;
use super::{
    Cut, Outcome, PredictionSettings, Predictor, RegionShape, Report, SentPrediction, match_up,
};
use fadeout_core::{CellId, FlowId, LinkInfo, Point, Rate, Span, Time, UeId};
use fadeout_radio::access::RadioAccess;
use fadeout_radio::channel::ConfigError;
use fadeout_scenario::{BlockagePrediction, Knowledge, Regions};

/// Precision of the start and end of a blockage, seconds. It is one slot at a subcarrier spacing of
/// 15 kHz.
const SLOT_S: f64 = 1e-3;

/// Smallest relative change of a rate that causes a new notice.
const RATE_STEP: f64 = 0.05;

/// Start and end of all future blockages, for each UE and cell.
pub(crate) type Future = Vec<Vec<(Time, Time)>>;

/// State of the path between a UE and a cell, according to the reports so far.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    snr_db: f64,
    is_cut: bool,
    is_known: bool,
    /// Start of the current blockage. The second value is true if the cell served the UE at this
    /// time. `None` if the path is not blocked, or if it has been blocked since the start of the
    /// run.
    began: Option<(Time, bool)>,
}

/// A UE, and the last notices to the ends of its flows.
#[derive(Debug, Clone, Default)]
struct Rider {
    flows: Vec<FlowId>,
    delay: Span,
    is_notified_of_cut: bool,
    /// Cell and predicted end of the last blockage that flows know from a notice. `None` if flows
    /// have been notified of its end.
    predicted: Option<(CellId, Time)>,
    rate: Option<f64>,
}

/// Prediction of blockages in a run.
#[derive(Debug)]
pub(crate) struct Forecast {
    predictor: Predictor,
    knows: Knowledge,
    horizon_s: f64,
    threshold_db: f64,
    period: Span,
    cars: Cars,
    future: Future,
    paths: Vec<Path>,
    riders: Vec<Rider>,
    sent: Vec<SentPrediction>,
    cuts: Vec<Cut>,
}

impl Forecast {
    /// Creates the prediction of a run. `future` are the actual blockages. Only a prediction by an
    /// oracle uses them.
    pub(crate) fn new(
        described: &BlockagePrediction,
        cars: Cars,
        future: Future,
        seed: u64,
    ) -> Forecast {
        let paths = vec![Path::default(); cars.len() * cars.cells()];
        let threshold_db = described.threshold.0;
        let mut predictor = Predictor::new(settings(described, seed));
        for cell in 0..cars.cells() as u32 {
            predictor.stand(cell, cars.mast(CellId(cell)));
        }
        Forecast {
            predictor,
            knows: described.knows,
            horizon_s: described.horizon.as_secs_f64(),
            threshold_db,
            period: described.report_period,
            future,
            paths,
            riders: vec![Rider::default(); cars.len()],
            cars,
            sent: Vec::new(),
            cuts: Vec::new(),
        }
    }

    /// Adds a flow of a UE. The ends of the flow will receive notices. `delay` is the time from an
    /// event to its notice.
    pub(crate) fn add_flow(&mut self, ue: UeId, flow: FlowId, delay: Span) {
        let rider = &mut self.riders[ue.index()];
        rider.flows.push(flow);
        rider.delay = rider.delay.max(delay);
    }

    /// Returns the time between two reports.
    pub(crate) fn period(&self) -> Span {
        self.period
    }

    /// Processes the reports of all vehicles. Appends the notices to the ends of flows to `out`.
    pub(crate) fn on_reports(
        &mut self,
        now: Time,
        access: &RadioAccess,
        out: &mut Vec<(FlowId, LinkInfo)>,
    ) {
        for ue in (0..self.riders.len() as u32).map(UeId) {
            let serving = access.serving_cell(ue);
            self.measure(ue, serving, now);
            let is_heard = serving.is_some_and(|cell| !self.path(ue, cell).is_cut);
            self.notify_of_state(ue, serving.filter(|_| is_heard), now, out);
            if is_heard {
                self.report(ue, serving, now, out);
            }
        }
        self.send_rates(access, out);
    }

    fn path(&self, ue: UeId, cell: CellId) -> &Path {
        &self.paths[ue.index() * self.cars.cells() + cell.index()]
    }

    /// Measures the SNR of all cells at a UE, and records blockages. UEs whose SINR the scenario
    /// gives are skipped.
    fn measure(&mut self, ue: UeId, serving: Option<CellId>, now: Time) {
        for cell in (0..self.cars.cells() as u32).map(CellId) {
            // The function returns no error here, because the channels of all cells have been built
            // before.
            let Ok(Some(snr_db)) = self.cars.snr_db(ue, cell, now) else {
                continue;
            };
            let is_cut = snr_db < self.threshold_db;
            let index = ue.index() * self.cars.cells() + cell.index();
            let path = &mut self.paths[index];
            match (path.is_known && !path.is_cut, is_cut, path.began) {
                (true, true, _) => path.began = Some((now, serving == Some(cell))),
                (_, false, Some((began, serves))) => {
                    path.began = None;
                    self.cuts.push(Cut {
                        ue: ue.0,
                        cell: cell.0,
                        began,
                        ended: Some(now),
                        serves,
                    });
                }
                _ => {}
            }
            let path = &mut self.paths[index];
            (path.snr_db, path.is_cut, path.is_known) = (snr_db, is_cut, true);
        }
    }

    /// Appends notices to `out` if the base station no longer receives the UE or receives it again.
    /// Also appends a notice if a predicted blockage did not occur.
    fn notify_of_state(
        &mut self,
        ue: UeId,
        heard_by: Option<CellId>,
        now: Time,
        out: &mut Vec<(FlowId, LinkInfo)>,
    ) {
        let rider = &mut self.riders[ue.index()];
        let Some(cell) = heard_by else {
            if !std::mem::replace(&mut rider.is_notified_of_cut, true) {
                rider.rate = Some(0.0);
                rider.notify_flows(LinkInfo::Rate(Rate::ZERO), out);
                rider.notify_flows(LinkInfo::BlockageBegan, out);
            }
            return;
        };
        let is_past = |(by, until): (CellId, Time)| by != cell || until <= now;
        let is_over = std::mem::take(&mut rider.is_notified_of_cut);
        if is_over || rider.predicted.is_some_and(is_past) {
            rider.predicted = None;
            rider.notify_flows(LinkInfo::BlockageEnded, out);
        }
    }

    /// Processes a UE's reports on all cells, if the UE's base station receives them.
    fn report(
        &mut self,
        ue: UeId,
        serving: Option<CellId>,
        now: Time,
        out: &mut Vec<(FlowId, LinkInfo)>,
    ) {
        let at = self.cars.place(ue, now);
        for cell in (0..self.cars.cells() as u32).map(CellId) {
            let path = *self.path(ue, cell);
            if !path.is_known {
                continue;
            }
            let serves = serving == Some(cell);
            let seen = self.predictor.learn_from(Report {
                at: now,
                ue: ue.0,
                cell: cell.0,
                place: (at.position.x, at.position.y),
                speed: (at.velocity.x, at.velocity.y),
                is_cut: path.is_cut,
                serves,
            });
            let Some(seen) = seen else { continue };
            let found = self.look_ahead(&seen, at.position.z, path.snr_db);
            let Some(prediction) = self.predictor.predict(&seen, found) else {
                continue;
            };
            let rider = &mut self.riders[ue.index()];
            let received_at = now.saturating_add(rider.delay);
            self.sent.push(SentPrediction {
                prediction,
                received_at,
                serves,
            });
            if serves {
                let (starts_at, lasts) = (prediction.starts, prediction.lasts);
                rider.predicted = Some((cell, starts_at.saturating_add(lasts)));
                rider.notify_flows(LinkInfo::BlockagePredicted { starts_at, lasts }, out);
            }
        }
    }

    fn look_ahead(&mut self, seen: &Seen, height: f64, snr_db: f64) -> Option<Ahead> {
        let report = &seen.report;
        let (ue, cell) = (UeId(report.ue), CellId(report.cell));
        let Forecast {
            predictor,
            cars,
            horizon_s,
            threshold_db,
            ..
        } = self;
        match self.knows {
            Knowledge::Reports => predictor.of_regions(report),
            Knowledge::Future => {
                let known = &self.future[ue.index() * cars.cells() + cell.index()];
                of_future(known, seen, *horizon_s)
            }
            Knowledge::Buildings | Knowledge::Vehicles => predictor.search_ahead(report, |step| {
                let with_vehicles = self.knows == Knowledge::Vehicles;
                first_cut(step, *horizon_s, Some(SLOT_S), |time| {
                    let (x, y) = report.after(time);
                    let place = Point::new(x, y, height);
                    cars.is_behind_building(cell, place)
                        || with_vehicles && {
                            let who = (ue, report.at);
                            let lost_db = cars.vehicles_db(who, cell, (time, place));
                            snr_db - lost_db < *threshold_db
                        }
                })
            }),
        }
    }

    /// Notifies each UE of its rate. All UEs share the rate of a cell equally.
    fn send_rates(&mut self, access: &RadioAccess, out: &mut Vec<(FlowId, LinkInfo)>) {
        let ues = || (0..self.riders.len() as u32).map(UeId);
        let shares = |cell: CellId| {
            let busy = ues().filter(|ue| !self.riders[ue.index()].flows.is_empty());
            let served = busy.filter(|&ue| access.serving_cell(ue) == Some(cell));
            served.count().max(1) as f64
        };
        let mut changed = Vec::new();
        for ue in ues() {
            let rider = &self.riders[ue.index()];
            let Some(cell) = access.serving_cell(ue) else {
                continue;
            };
            let path = self.path(ue, cell);
            if rider.flows.is_empty() || !path.is_known || path.is_cut {
                continue;
            }
            let alone = access.downlink_rate(cell, path.snr_db);
            let rate = alone.as_bits_per_sec() as f64 / shares(cell);
            let is_new = |old: f64| (rate - old).abs() > RATE_STEP * old;
            if rider.rate.is_none_or(is_new) {
                changed.push((ue, rate));
            }
        }
        for (ue, rate) in changed {
            let rider = &mut self.riders[ue.index()];
            rider.rate = Some(rate);
            let rate = Rate::from_bits_per_sec(rate as u64);
            rider.notify_flows(LinkInfo::Rate(rate), out);
        }
    }

    /// Returns the outcomes of all predictions until `end`.
    pub(crate) fn outcomes(&self, end: Time) -> Vec<Outcome> {
        let mut cuts = self.cuts.clone();
        let cells = self.cars.cells();
        let open = self.paths.iter().enumerate().filter_map(|(index, path)| {
            let (began, serves) = path.began?;
            Some(Cut {
                ue: (index / cells) as u32,
                cell: (index % cells) as u32,
                began,
                ended: None,
                serves,
            })
        });
        cuts.extend(open);
        match_up(&self.sent, &cuts, end)
    }
}

impl Rider {
    fn notify_flows(&self, info: LinkInfo, out: &mut Vec<(FlowId, LinkInfo)>) {
        out.extend(self.flows.iter().map(|&flow| (flow, info)));
    }
}

fn settings(described: &BlockagePrediction, seed: u64) -> PredictionSettings {
    PredictionSettings {
        regions: match described.regions {
            Regions::Squares => RegionShape::Squares,
            Regions::Beams => RegionShape::Beams {
                width_deg: described.beam_width,
            },
        },
        resolution_m: described.resolution.0,
        learning: described.learning,
        report_period: described.report_period,
        horizon: described.horizon,
        place_error_m: described.place_error.0,
        speed_error: described.speed_error,
        missed: described.missed,
        false_alarms: described.false_alarms,
        seed,
    }
}

/// Returns the next actual blockage within the horizon. `None` if there is none. An error of
/// position or speed in the vehicle's report makes the predicted start too early or too late.
fn of_future(known: &[(Time, Time)], seen: &Seen, horizon_s: f64) -> Option<Ahead> {
    let now = seen.report.at;
    let next = known.partition_point(|&(began, _)| began <= now);
    let &(began, ended) = known.get(next)?;
    let (begins, lasts) = (
        began.since(now).as_secs_f64(),
        ended.since(began).as_secs_f64(),
    );
    if begins > horizon_s {
        return None;
    }
    let (x, y) = seen.report.speed;
    let speed = fadeout_core::math::hypot(x, y) / (1.0 + seen.too_fast);
    let early = match speed > 0.0 {
        true => seen.ahead_m / speed,
        false => 0.0,
    };
    let scale = 1.0 + seen.too_fast;
    Some((((begins - early) / scale).max(0.0), lasts / scale))
}

/// Returns the blockages of each UE and cell until `end`. Channels are sampled at the interval at
/// which the radio evaluates them.
///
/// # Errors
/// Returns an error if the channel of a cell cannot be built.
pub(crate) fn future(
    mut cars: Cars,
    end: Time,
    threshold_db: f64,
) -> Result<Future, (CellId, ConfigError)> {
    let mut found = vec![Vec::new(); cars.len() * cars.cells()];
    let mut began = vec![None; found.len()];
    let periods = (0..cars.cells() as u32).map(|cell| cars.gain_period(CellId(cell)));
    let period = periods.min().unwrap_or(Span::from_millis(1));
    let period = period.max(Span::from_nanos(1));
    let mut now = Time::ZERO;
    while now <= end {
        for ue in (0..cars.len() as u32).map(UeId) {
            for cell in (0..cars.cells() as u32).map(CellId) {
                let index = ue.index() * cars.cells() + cell.index();
                let snr_db = cars.snr_db(ue, cell, now);
                let snr_db = snr_db.map_err(|error| (cell, error))?;
                let Some(snr_db) = snr_db else { continue };
                if snr_db < threshold_db {
                    began[index].get_or_insert(now);
                } else if let Some(began) = began[index].take() {
                    found[index].push((began, now));
                }
            }
        }
        now = now.saturating_add(period);
    }
    for (known, began) in found.iter_mut().zip(began) {
        known.extend(began.map(|began| (began, now)));
    }
    Ok(found)
}
