//! Allocation of a slot to the candidates with the highest metrics.

use super::{Share, SlotView};

/// Gives units to the candidates in descending order of `metric`. Each candidate gets as many units
/// as it wants. Candidates with equal metrics are served in ascending order of `turn`, then in the
/// order of the list.
pub(super) fn best_first(
    view: &SlotView<'_>,
    metrics: &mut Vec<f64>,
    shares: &mut Vec<Share>,
    mut metric: impl FnMut(usize) -> f64,
    turn: impl Fn(usize) -> u64,
) {
    shares.clear();
    metrics.clear();
    metrics.extend((0..view.candidates.len()).map(&mut metric));
    let mut left = view.units;
    while left >= view.least && left > 0 && shares.len() < view.most_ues as usize {
        let mut best: Option<usize> = None;
        for (index, &value) in metrics.iter().enumerate() {
            let is_first = |best: usize| {
                let most = metrics[best];
                value > most || (value == most && turn(index) < turn(best))
            };
            if value >= 0.0 && best.is_none_or(is_first) {
                best = Some(index);
            }
        }
        let Some(best) = best else { break };
        metrics[best] = -1.0;
        let units = view.candidates[best].wanted.max(view.least).min(left);
        left -= units;
        shares.push(Share {
            candidate: best,
            units,
        });
    }
}
