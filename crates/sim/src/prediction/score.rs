//! How good predictions were.

use super::Prediction;
use fadeout_core::{Span, Time};

/// A prediction, and who was told when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The prediction.
    pub prediction: Prediction,
    /// When the sender knew.
    pub told: Time,
    /// Whether the cell served the UE then: otherwise nobody is told.
    pub serves: bool,
}

/// A time in which a path was cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// Whose.
    pub ue: u32,
    /// From whom.
    pub cell: u32,
    /// From when.
    pub began: Time,
    /// Until when; none where it lasted at the end.
    pub ended: Option<Time>,
    /// Whether the cell served the UE when it began.
    pub serves: bool,
}

impl Cut {
    /// How long it lasted; none where that is not known.
    pub fn lasted(&self) -> Option<Span> {
        self.ended.map(|ended| ended.since(self.began))
    }
}

/// A prediction and the cut that it was right of, or either alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The prediction, if there was one.
    pub said: Option<Said>,
    /// The cut, if there was one.
    pub cut: Option<Cut>,
    /// Whether this is the first prediction of the cut.
    pub is_first: bool,
}

impl Outcome {
    /// How long before the cut the sender knew, seconds.
    pub fn lead_s(&self) -> Option<f64> {
        let (said, cut) = (self.said?, self.cut?);
        Some(apart(said.told, cut.began))
    }

    /// By how much too late the beginning was said to be, seconds.
    pub fn onset_error_s(&self) -> Option<f64> {
        let (said, cut) = (self.said?, self.cut?);
        Some(apart(cut.began, said.prediction.starts))
    }

    /// By how much too long it was said to be, seconds.
    pub fn length_error_s(&self) -> Option<f64> {
        let (said, cut) = (self.said?, self.cut?);
        let length = cut.lasted()?.as_secs_f64();
        Some(said.prediction.lasts.as_secs_f64() - length)
    }
}

/// From one time to another, seconds; negative where it is earlier.
fn apart(from: Time, to: Time) -> f64 {
    to.as_secs_f64() - from.as_secs_f64()
}

/// Outcomes of predictions: each with the first cut that it overlaps with and that had not begun when it was
/// told, then the cuts that were not predicted. Predictions of a time after `end` are left out.
pub fn match_up(said: &[Said], cuts: &[Cut], end: Time) -> Vec<Outcome> {
    let mut is_met = vec![false; cuts.len()];
    let mut outcomes = Vec::new();
    for &said in said {
        let Prediction {
            ue,
            cell,
            starts,
            lasts,
            ..
        } = said.prediction;
        if starts > end {
            continue;
        }
        let stops = starts.saturating_add(lasts);
        let is_right = |cut: &&Cut| {
            (cut.ue, cut.cell) == (ue, cell)
                && cut.began < stops
                && cut.ended.is_none_or(|ended| starts < ended)
                && said.told < cut.began
        };
        let found = cuts.iter().position(|cut| is_right(&cut));
        let is_first = found.is_some_and(|found| !std::mem::replace(&mut is_met[found], true));
        outcomes.push(Outcome {
            said: Some(said),
            cut: found.map(|found| cuts[found]),
            is_first,
        });
    }
    let missed = cuts.iter().zip(is_met).filter(|(_, is_met)| !is_met);
    outcomes.extend(missed.map(|(&cut, _)| Outcome {
        said: None,
        cut: Some(cut),
        is_first: false,
    }));
    outcomes
}

/// Shares and errors; none where there is nothing to take them of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Predictions.
    pub predictions: u64,
    /// Cuts.
    pub cuts: u64,
    /// Share of predictions that are right.
    pub precision: Option<f64>,
    /// Share of cuts that were predicted.
    pub recall: Option<f64>,
    /// Mean time from the telling to the beginning.
    pub lead_s: Option<f64>,
    /// Root mean square of the error of the beginning.
    pub onset_error_s: Option<f64>,
    /// Root mean square of the error of the length.
    pub length_error_s: Option<f64>,
    /// Mean of the error of the length.
    pub length_bias_s: Option<f64>,
}

/// The score of what came of predictions.
pub fn score<'a>(outcomes: &(impl Iterator<Item = &'a Outcome> + Clone)) -> Score {
    let count = |is_such: fn(&Outcome) -> bool| {
        let such = outcomes.clone().filter(|one| is_such(one));
        such.count() as u64
    };
    let predictions = count(|one| one.said.is_some());
    let right = count(|one| one.said.is_some() && one.cut.is_some());
    let met = count(|one| one.is_first);
    let cuts = met + count(|one| one.said.is_none());
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
