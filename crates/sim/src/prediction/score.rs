//! Scores of blockage predictions.

use super::Prediction;
use fadeout_core::{Span, Time};

/// A prediction, and the time at which the sender received it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentPrediction {
    /// The prediction.
    pub prediction: Prediction,
    /// Time at which the sender received the prediction.
    pub received_at: Time,
    /// True if the predicting cell served the UE at that time. Otherwise the ends of flows do not
    /// receive the prediction.
    pub serves: bool,
}

/// A period in which the path between a UE and a cell was blocked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// Number of the UE.
    pub ue: u32,
    /// Number of the cell.
    pub cell: u32,
    /// Start of the blockage.
    pub began: Time,
    /// End of the blockage. `None` if it lasted until the end of the run.
    pub ended: Option<Time>,
    /// True if the cell served the UE when the blockage began.
    pub serves: bool,
}

impl Cut {
    /// Returns the duration of the blockage. `None` if its end is unknown.
    pub fn lasted(&self) -> Option<Span> {
        self.ended.map(|ended| ended.since(self.began))
    }
}

/// A prediction with the blockage that it matches, a prediction that matches no blockage, or a
/// blockage that no prediction matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The prediction. `None` if the blockage was not predicted.
    pub sent: Option<SentPrediction>,
    /// The blockage. `None` if the prediction matches no blockage.
    pub cut: Option<Cut>,
    /// True if the prediction is the first one that matches the blockage.
    pub is_first: bool,
}

impl Outcome {
    /// Returns the time from the arrival of the prediction to the start of the blockage, seconds.
    /// `None` if the prediction or the blockage is missing.
    pub fn lead_s(&self) -> Option<f64> {
        let (sent, cut) = (self.sent?, self.cut?);
        Some(apart(sent.received_at, cut.began))
    }

    /// Returns the predicted start minus the actual start, seconds. `None` if the prediction or the
    /// blockage is missing.
    pub fn onset_error_s(&self) -> Option<f64> {
        let (sent, cut) = (self.sent?, self.cut?);
        Some(apart(cut.began, sent.prediction.starts))
    }

    /// Returns the predicted duration minus the actual duration, seconds. `None` if one of the
    /// durations is unknown.
    pub fn length_error_s(&self) -> Option<f64> {
        let (sent, cut) = (self.sent?, self.cut?);
        let length = cut.lasted()?.as_secs_f64();
        Some(sent.prediction.lasts.as_secs_f64() - length)
    }
}

/// Returns the time between two instants, seconds. Negative if `to` is earlier.
fn apart(from: Time, to: Time) -> f64 {
    to.as_secs_f64() - from.as_secs_f64()
}

/// Matches predictions with blockages. A prediction matches the first blockage that overlaps the
/// predicted one and began after the arrival of the prediction. Blockages without a prediction are
/// at the end of the list. Predicted blockages that start after `end` are left out.
pub fn match_up(sent: &[SentPrediction], cuts: &[Cut], end: Time) -> Vec<Outcome> {
    let mut is_met = vec![false; cuts.len()];
    let mut outcomes = Vec::new();
    for &sent in sent {
        let Prediction {
            ue,
            cell,
            starts,
            lasts,
            ..
        } = sent.prediction;
        if starts > end {
            continue;
        }
        let stops = starts.saturating_add(lasts);
        let is_right = |cut: &&Cut| {
            (cut.ue, cut.cell) == (ue, cell)
                && cut.began < stops
                && cut.ended.is_none_or(|ended| starts < ended)
                && sent.received_at < cut.began
        };
        let found = cuts.iter().position(|cut| is_right(&cut));
        let is_first = found.is_some_and(|found| !std::mem::replace(&mut is_met[found], true));
        outcomes.push(Outcome {
            sent: Some(sent),
            cut: found.map(|found| cuts[found]),
            is_first,
        });
    }
    let missed = cuts.iter().zip(is_met).filter(|(_, is_met)| !is_met);
    outcomes.extend(missed.map(|(&cut, _)| Outcome {
        sent: None,
        cut: Some(cut),
        is_first: false,
    }));
    outcomes
}

/// Precision, recall and errors of predictions. A value is `None` if there is nothing to average.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Number of predictions.
    pub predictions: u64,
    /// Number of blockages.
    pub cuts: u64,
    /// Share of predictions that match a blockage.
    pub precision: Option<f64>,
    /// Share of blockages that were predicted.
    pub recall: Option<f64>,
    /// Mean time from the arrival of a prediction to the start of its blockage, seconds.
    pub lead_s: Option<f64>,
    /// Root mean square error of the start, seconds.
    pub onset_error_s: Option<f64>,
    /// Root mean square error of the duration, seconds.
    pub length_error_s: Option<f64>,
    /// Mean error of the duration, seconds.
    pub length_bias_s: Option<f64>,
}

/// Returns the score of predictions from their outcomes.
pub fn score<'a>(outcomes: &(impl Iterator<Item = &'a Outcome> + Clone)) -> Score {
    let count = |is_such: fn(&Outcome) -> bool| {
        let such = outcomes.clone().filter(|one| is_such(one));
        such.count() as u64
    };
    let predictions = count(|one| one.sent.is_some());
    let right = count(|one| one.sent.is_some() && one.cut.is_some());
    let met = count(|one| one.is_first);
    let cuts = met + count(|one| one.sent.is_none());
    let share = |of: u64, all: u64| (all > 0).then(|| of as f64 / all as f64);
    let mean = |value: &dyn Fn(&Outcome) -> Option<f64>| {
        let firsts = outcomes.clone().filter(|one| one.is_first);
        let (mut sum, mut count) = (0.0, 0.0);
        for value in firsts.filter_map(value) {
            sum += value;
            count += 1.0;
        }
        (count > 0.0).then(|| sum / count)
    };
    let rms = |value: fn(&Outcome) -> Option<f64>| {
        mean(&|one| value(one).map(|error| error * error)).map(f64::sqrt)
    };
    Score {
        predictions,
        cuts,
        precision: share(right, predictions),
        recall: share(met, cuts),
        lead_s: mean(&Outcome::lead_s),
        onset_error_s: rms(Outcome::onset_error_s),
        length_error_s: rms(Outcome::length_error_s),
        length_bias_s: mean(&Outcome::length_error_s),
    }
}
