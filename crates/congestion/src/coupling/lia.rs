//! LIA, linked increases: each acknowledged segment adds `min(alpha / w_total, 1 / w)` with `alpha
//! = w_total max(w_i / rtt_i^2) / (sum w_i / rtt_i)^2`. A loss halves the window.
//!
//! Standard: RFC 6356 §3.

use super::{Linked, View};
use crate::{Window, linux::half};
use fadeout_core::registry::{Entry, Registered, Settings};

/// LIA (linked increases).
#[derive(Debug, Clone)]
pub(super) struct Lia;

impl Registered for Lia {
    const ENTRY: Entry = Entry::new(
        "lia",
        "coupling",
        "Linked increases (LIA): all paths together have the throughput of TCP on the best path. A \
         loss halves the window of its path.",
        "RFC 6356",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Lia
    }
}

impl Linked for Lia {
    fn increase(&self, view: &View) -> f64 {
        increase(view)
    }

    fn decreased(&self, window: &Window, _: &View) -> f64 {
        half(window)
    }
}

/// Returns the window added for each acknowledged segment on the viewing path.
pub(super) fn increase(view: &View) -> f64 {
    let own = view.own();
    let rate = view.total_rate();
    if rate <= 0.0 {
        return 1.0 / own.cwnd.max(1.0);
    }
    let best = view
        .measured()
        .map(|path| path.cwnd / (path.srtt_s * path.srtt_s))
        .fold(0.0, f64::max);
    // The increase is alpha / w_total, where the total window cancels out.
    (best / (rate * rate)).min(1.0 / own.cwnd.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{near, reference, view};
    use super::*;

    #[test]
    fn the_reference_paths_share_the_best_ones_increase() {
        // Reference vector L-1: alpha is 0.75, so each acknowledged segment adds 0.75 / 30 = 0.025.
        near(increase(&reference(0)), 0.025);
        near(increase(&reference(1)), 0.025);
    }

    #[test]
    fn a_path_grows_no_faster_than_alone() {
        // Each path has a rate of 50 segments per second. The largest w / rtt^2 is 2500, divided by
        // the squared total rate 100^2.
        let paths = [(50.0, 1000.0, 1.0), (1.0, 20.0, 1.0)];
        near(increase(&view(0, &paths)), 0.02);
        near(increase(&view(1, &paths)), 0.25);
    }

    #[test]
    fn without_a_round_trip_time_it_is_renos() {
        near(increase(&view(0, &[(10.0, 0.0, 1.0)])), 0.1);
        near(increase(&view(0, &[(0.5, 0.0, 1.0)])), 1.0);
        near(increase(&view(0, &[(0.5, 1.0, 1.0)])), 1.0);
    }
}
