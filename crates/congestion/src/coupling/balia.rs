//! BALIA, balanced linked adaptation (Peng, Walid, Hwang, Low, IEEE/ACM ToN 24(1), 2016;
//! draft-walid-mptcp-congestion-control).
//!
//! With `x = w / rtt` and `a = max(x) / x`, each segment acknowledged adds
//! `x / (rtt (sum x)^2) (1 + a) / 2 (4 + a) / 5`, and a loss takes away `w / 2 min(a, 1.5)`.

use super::{Linked, PathState, View};
use crate::Window;
use fadeout_core::registry::{Entry, Registered, Settings};

/// BALIA (balanced linked adaptation).
#[derive(Debug, Clone)]
pub(super) struct Balia;

impl Registered for Balia {
    const ENTRY: Entry = Entry::new(
        "balia",
        "coupling",
        "Balanced linked adaptation (BALIA): a balance between friendliness and responsiveness.",
        "Peng, Walid, Hwang, Low, IEEE/ACM ToN 24(1), 2016",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Balia
    }
}

impl Linked for Balia {
    fn increase(&self, view: &View) -> f64 {
        increase(view)
    }

    fn decreased(&self, window: &Window, view: &View) -> f64 {
        decreased(window.cwnd, view)
    }
}

fn imbalance(view: &View) -> f64 {
    let own = view.own().rate();
    let largest = view.measured().map(PathState::rate).fold(0.0, f64::max);
    if own > 0.0 { largest / own } else { 1.0 }
}

/// Returns the window added for each acknowledged segment on the viewing path.
pub(super) fn increase(view: &View) -> f64 {
    let own = view.own();
    let total = view.total_rate();
    if total <= 0.0 || own.srtt_s <= 0.0 {
        return 1.0 / own.cwnd.max(1.0);
    }
    let a = imbalance(view);
    own.rate() / (own.srtt_s * total * total) * (1.0 + a) / 2.0 * (4.0 + a) / 5.0
}

/// Returns the window after a loss.
pub(super) fn decreased(cwnd: f64, view: &View) -> f64 {
    (cwnd - cwnd / 2.0 * imbalance(view).min(1.5)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{near, reference, view};
    use super::*;
    use crate::CongestionKind;
    use crate::testing::{congestion, window};
    use fadeout_core::Time;

    #[test]
    fn equal_rates_add_and_halve_alike() {
        // Reference vector BA-1: two paths.
        near(increase(&reference(0)), 0.025);
        near(increase(&reference(1)), 0.0125);
        near(decreased(10.0, &reference(0)), 5.0);
        near(decreased(20.0, &reference(1)), 10.0);
    }

    #[test]
    fn a_slower_path_gives_way_further() {
        // Reference vector BA-2.
        let paths = [(10.0, 50.0, 1.0), (10.0, 100.0, 1.0)];
        near(increase(&view(0, &paths)), 0.044_444_444);
        near(increase(&view(1, &paths)), 0.02);
        near(decreased(10.0, &view(0, &paths)), 5.0);
        near(decreased(10.0, &view(1, &paths)), 2.5);
    }

    #[test]
    fn without_a_round_trip_time_it_is_renos() {
        for paths in [
            &[(10.0, 0.0, 1.0)][..],
            &[(10.0, 0.0, 1.0), (10.0, 100.0, 1.0)],
        ] {
            near(increase(&view(0, paths)), 0.1);
            near(decreased(10.0, &view(0, paths)), 5.0);
        }
        near(increase(&view(0, &[(0.5, 0.0, 1.0)])), 1.0);
    }

    #[test]
    fn the_formula_holds_for_any_two_rates() {
        // The rates are x1 = 12 / 0.04 = 300 and x2 = 10 / 0.1 = 100, so `a` is 1 and 3.
        let paths = [(12.0, 40.0, 1.0), (10.0, 100.0, 1.0)];
        near(increase(&view(0, &paths)), 300.0 / (0.04 * 160_000.0));
        near(
            increase(&view(1, &paths)),
            100.0 / (0.1 * 160_000.0) * (4.0 / 2.0) * (7.0 / 5.0),
        );
        near(decreased(12.0, &view(0, &paths)), 6.0);
        // A loss reduces the window by at most 1.5 / 2 of its size, and to no less than one
        // segment.
        near(decreased(10.0, &view(1, &paths)), 2.5);
        near(decreased(2.0, &view(1, &paths)), 1.0);
    }

    #[test]
    fn a_loss_sets_the_threshold_to_what_the_formula_leaves() {
        let mut w = window(10.0, f64::INFINITY);
        let event = congestion(Time::ZERO, CongestionKind::FastRecovery, 10);
        let slower = view(1, &[(10.0, 50.0, 1.0), (10.0, 100.0, 1.0)]);
        super::super::Law::on_congestion(&mut Balia, &mut w, &event, &slower);
        assert_eq!((w.ssthresh, w.cwnd), (2.5, 10.0));
    }
}
