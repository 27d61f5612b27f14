//! Summary rows of predictions of blockages.

use crate::prediction::{Outcome, Score, score};
use crate::world::World;
use fadeout_core::table::SummarySink;
use fadeout_core::{PredictionRow, PredictionScoreRow, Probe, Span, Time};
use fadeout_scenario::Scenario;

/// Adds a row for each prediction, and the scores. Does nothing if the scenario has no predictions.
pub(super) fn add<P: Probe>(scenario: &Scenario, world: &World<P>, sink: &mut impl SummarySink) {
    let Some(forecast) = world.machines().forecast else {
        return;
    };
    let outcomes = forecast.outcomes(world.now());
    for outcome in &outcomes {
        sink.add(&row(scenario, outcome));
    }
    let serving = outcomes.iter().filter(|one| serves(one));
    sink.add(&score_row("serving", score(&serving)));
    sink.add(&score_row("all", score(&outcomes.iter())));
}

fn serves(outcome: &Outcome) -> bool {
    let of_cut = outcome.cut.map(|cut| cut.serves);
    outcome.sent.map(|sent| sent.serves).or(of_cut) == Some(true)
}

fn row(scenario: &Scenario, outcome: &Outcome) -> PredictionRow {
    let sent = outcome.sent.map(|sent| sent.prediction);
    let of_cut = outcome.cut.map(|cut| (cut.ue, cut.cell));
    let of = sent.map(|sent| (sent.ue, sent.cell)).or(of_cut);
    let (ue, cell) = of.unwrap_or_default();
    let seconds = |time: Time| time.as_secs_f64();
    PredictionRow {
        ue: scenario.ues[ue as usize].name.clone(),
        cell: scenario.cells[cell as usize].name.clone(),
        serves: serves(outcome),
        made_s: sent.map(|sent| seconds(sent.made)),
        told_s: outcome
            .sent
            .filter(|sent| sent.serves)
            .map(|sent| seconds(sent.received_at)),
        starts_s: sent.map(|sent| seconds(sent.starts)),
        lasts_s: sent.map(|sent| Span::as_secs_f64(sent.lasts)),
        began_s: outcome.cut.map(|cut| seconds(cut.began)),
        lasted_s: outcome
            .cut
            .and_then(|cut| cut.lasted().map(Span::as_secs_f64)),
    }
}

fn score_row(cells: &str, score: Score) -> PredictionScoreRow {
    PredictionScoreRow {
        cells: cells.to_owned(),
        predictions: score.predictions,
        cuts: score.cuts,
        precision: score.precision,
        recall: score.recall,
        lead_s: score.lead_s,
        onset_error_s: score.onset_error_s,
        length_error_s: score.length_error_s,
        length_bias_s: score.length_bias_s,
    }
}
