//! OLIA, opportunistic linked increases (Khalili, Gast, Popovic, Le Boudec, CoNEXT 2012;
//! draft-khalili-mptcp-congestion-control).
//!
//! Each segment acknowledged adds `(w / rtt^2) / (sum w_i / rtt_i)^2 + alpha / w`. The term `alpha`
//! is positive for a path with a small window and the largest distance between losses. It is
//! negative for the paths with the largest windows. A loss halves the window.

use super::{Linked, PathState, View};
use crate::{Window, linux::half};
use fadeout_core::registry::{Entry, Registered, Settings, choice};

fadeout_core::choices! {
    /// Criterion for the best path.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) enum BestPath {
        Draft = "draft",
        Kernel = "kernel",
    }
}

fadeout_core::parameters! {
    /// OLIA (opportunistic linked increases).
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Olia {
        /// Measure by which the best path is selected: l^2 / rtt (the paper and the draft) or l /
        /// rtt^2 (the Linux module). The variable l is the amount of data between two losses.
        best_path: BestPath = choice(BestPath::NAMES, "draft"),
    }
}

impl Registered for Olia {
    const ENTRY: Entry = Entry::new(
        "olia",
        "coupling",
        "Opportunistic linked increases (OLIA): moves window to the best paths, so that the \
         allocation is Pareto-optimal.",
        "Khalili, Gast, Popovic, Le Boudec, CoNEXT 2012",
    )
    .with_parameters(Olia::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Olia::read(settings)
    }
}

impl Olia {
    fn quality(&self, path: &PathState) -> f64 {
        let interval = path.loss_interval;
        if self.best_path == BestPath::Kernel {
            interval / (path.srtt_s * path.srtt_s)
        } else {
            interval * interval / path.srtt_s
        }
    }

    fn alpha(&self, view: &View) -> f64 {
        let count = view.measured().count() as f64;
        let largest = view.measured().map(|path| path.cwnd).fold(0.0, f64::max);
        let best = view
            .measured()
            .map(|path| self.quality(path))
            .fold(0.0, f64::max);
        let is_large = |path: &PathState| path.cwnd >= largest;
        let is_collected = |path: &PathState| self.quality(path) >= best && !is_large(path);
        let collected = view.measured().filter(|path| is_collected(path)).count() as f64;
        let own = view.own();
        if collected == 0.0 {
            0.0
        } else if is_collected(&own) {
            1.0 / (count * collected)
        } else if is_large(&own) {
            let large = view.measured().filter(|path| is_large(path)).count() as f64;
            -1.0 / (count * large)
        } else {
            0.0
        }
    }
}

impl Linked for Olia {
    fn increase(&self, view: &View) -> f64 {
        let own = view.own();
        let window = own.cwnd.max(1.0);
        let rate = view.total_rate();
        if rate <= 0.0 || own.srtt_s <= 0.0 {
            return 1.0 / window;
        }
        window / (own.srtt_s * own.srtt_s) / (rate * rate) + self.alpha(view) / window
    }

    fn decreased(&self, window: &Window, _: &View) -> f64 {
        half(window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{near, reference, view};
    use super::*;

    const DRAFT: Olia = Olia {
        best_path: BestPath::Draft,
    };
    const KERNEL: Olia = Olia {
        best_path: BestPath::Kernel,
    };

    #[test]
    fn window_moves_to_the_best_path() {
        // Reference vector O-1: the loss intervals are equal, so the path with the shorter round
        // trip is the best.
        near(DRAFT.increase(&reference(0)), 0.075);
        near(DRAFT.increase(&reference(1)), -0.0125);
    }

    #[test]
    fn nothing_moves_where_the_best_path_has_the_largest_window() {
        let paths = [(20.0, 50.0, 900.0), (10.0, 100.0, 100.0)];
        near(DRAFT.alpha(&view(0, &paths)), 0.0);
        near(DRAFT.alpha(&view(1, &paths)), 0.0);
    }

    #[test]
    fn draft_and_kernel_may_call_different_paths_the_best() {
        // Reference vector O-2: the second path has the larger window and the longer loss interval.
        let paths = view(0, &[(10.0, 50.0, 1e6), (20.0, 100.0, 3e6)]).paths;
        assert!(DRAFT.quality(&paths[1]) > DRAFT.quality(&paths[0]));
        assert!(KERNEL.quality(&paths[0]) > KERNEL.quality(&paths[1]));
    }

    #[test]
    fn quality_is_of_the_data_between_losses_and_the_round_trip_time() {
        let path = view(0, &[(10.0, 50.0, 100.0)]).paths[0];
        near(DRAFT.quality(&path), 200_000.0);
        near(KERNEL.quality(&path), 40_000.0);
    }

    #[test]
    fn the_largest_windows_give_and_the_best_small_ones_take_alike() {
        // Two of the five paths have the largest window, two are the best, and one is neither.
        let paths = [
            (20.0, 50.0, 100.0),
            (20.0, 50.0, 100.0),
            (10.0, 50.0, 900.0),
            (10.0, 50.0, 900.0),
            (10.0, 50.0, 100.0),
        ];
        let alphas = [-0.1, -0.1, 0.1, 0.1, 0.0];
        let rate = 70.0 / 0.05;
        for (on, alpha) in alphas.into_iter().enumerate() {
            let view = view(on, &paths);
            near(DRAFT.alpha(&view), alpha);
            let own = paths[on].0;
            near(
                DRAFT.increase(&view),
                own / (0.05 * 0.05) / (rate * rate) + alpha / own,
            );
        }
    }

    #[test]
    fn without_a_round_trip_time_it_is_renos() {
        for paths in [
            &[(10.0, 0.0, 1.0)][..],
            &[(10.0, 0.0, 1.0), (10.0, 100.0, 1.0)],
        ] {
            near(DRAFT.increase(&view(0, paths)), 0.1);
        }
        near(DRAFT.increase(&view(0, &[(0.5, 0.0, 1.0)])), 1.0);
        // A window below one segment counts as one segment.
        near(DRAFT.increase(&view(0, &[(0.5, 500.0, 1.0)])), 4.0);
    }
}
