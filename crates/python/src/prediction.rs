//! Predictions of blockages from reports, without a run.

use fadeout_core::{Span, Time};
use fadeout_sim::prediction::{
    Cut, Prediction, PredictionSettings, Predictor, RegionShape, Report, SentPrediction, match_up,
    score,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A prediction: time, UE, cell, start and duration. Times are in seconds.
type PredictionTuple = (f64, u32, u32, f64, f64);

fn time(seconds: f64) -> PyResult<Time> {
    Ok(Time::ZERO.saturating_add(span(seconds)?))
}

fn span(seconds: f64) -> PyResult<Span> {
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(Span::from_secs_f64(seconds))
    } else {
        let message = format!("{seconds} s; expected a finite time of at least zero");
        Err(PyValueError::new_err(message))
    }
}

/// The maps of all base stations. Reports must be in the order of time.
#[pyclass(name = "Predictor", module = "fadeout._native")]
#[derive(Debug)]
pub(crate) struct PyPredictor(Predictor);

#[pymethods]
impl PyPredictor {
    #[new]
    #[pyo3(signature = (*, beam_width_deg, resolution_m, learning, report_period_s, horizon_s, place_error_m, speed_error, missed, false_alarms, seed))]
    #[allow(clippy::too_many_arguments, reason = "each is a setting by its name")]
    fn new(
        beam_width_deg: Option<f64>,
        resolution_m: f64,
        learning: u32,
        report_period_s: f64,
        horizon_s: f64,
        place_error_m: f64,
        speed_error: f64,
        missed: f64,
        false_alarms: f64,
        seed: u64,
    ) -> PyResult<PyPredictor> {
        Ok(PyPredictor(Predictor::new(PredictionSettings {
            regions: beam_width_deg.map_or(RegionShape::Squares, |width_deg| RegionShape::Beams {
                width_deg,
            }),
            resolution_m,
            learning,
            report_period: span(report_period_s)?,
            horizon: span(horizon_s)?,
            place_error_m,
            speed_error,
            missed,
            false_alarms,
            seed,
        })))
    }

    /// Sets the position of a base station, metres.
    fn stand(&mut self, cell: u32, mast: (f64, f64)) {
        self.0.stand(cell, mast);
    }

    /// Learns from a report. Returns the predicted blockage. `None` if no blockage is predicted.
    fn report(
        &mut self,
        who: (f64, u32, u32),
        place: (f64, f64),
        speed: (f64, f64),
        is_cut: bool,
        serves: bool,
    ) -> PyResult<Option<PredictionTuple>> {
        let (at, ue, cell) = who;
        let report = Report {
            at: time(at)?,
            ue,
            cell,
            place,
            speed,
            is_cut,
            serves,
        };
        Ok(self.0.report(report).map(|prediction| {
            let starts = prediction.starts.as_secs_f64();
            let made = prediction.made.as_secs_f64();
            (
                made,
                prediction.ue,
                prediction.cell,
                starts,
                prediction.lasts.as_secs_f64(),
            )
        }))
    }
}

/// Number of predictions and of blockages, precision, recall, lead time, error of the start, error
/// of the duration, and mean error of the duration.
type Scores = (
    u64,
    u64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
);

/// Computes the scores of predictions. Each prediction has the time of its notice. Each blockage
/// has UE, cell, start and end.
#[pyfunction]
#[allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands over what it took from lists of Python's"
)]
pub(crate) fn score_predictions(
    received: Vec<(f64, PredictionTuple)>,
    cuts: Vec<(u32, u32, f64, f64)>,
) -> PyResult<Scores> {
    let serves = true;
    let sent = received
        .iter()
        .map(|&(arrival, (made, ue, cell, starts, lasts))| {
            let prediction = Prediction {
                made: time(made)?,
                ue,
                cell,
                starts: time(starts)?,
                lasts: span(lasts)?,
            };
            let received_at = time(arrival)?;
            Ok(SentPrediction {
                prediction,
                received_at,
                serves,
            })
        });
    let cuts = cuts.iter().map(|&(ue, cell, began, ended)| {
        let (began, ended) = (time(began)?, Some(time(ended)?));
        Ok(Cut {
            ue,
            cell,
            began,
            ended,
            serves,
        })
    });
    let sent = sent.collect::<PyResult<Vec<_>>>()?;
    let cuts = cuts.collect::<PyResult<Vec<_>>>()?;
    let outcomes = match_up(&sent, &cuts, Time::NEVER);
    let found = score(&outcomes.iter());
    Ok((
        found.predictions,
        found.cuts,
        found.precision,
        found.recall,
        found.lead_s,
        found.onset_error_s,
        found.length_error_s,
        found.length_bias_s,
    ))
}
