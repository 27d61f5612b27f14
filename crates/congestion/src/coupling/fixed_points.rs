//! Fixed points of the linked increases on two paths with fixed loss probabilities, compared with
//! the closed forms of their papers. The windows follow the mean effect of an ACK and a loss.

use super::testing::near;
use super::*;

/// A path: its loss probability and its round-trip time in seconds.
type Lossy = (f64, f64);

/// Returns the windows at which the mean change is zero. The increase per ACK times the share of
/// ACKs equals the decrease per loss times the share of losses.
fn settled(
    paths: [Lossy; 2],
    increase: impl Fn(&View) -> f64,
    decrease: impl Fn(f64, &View) -> f64,
) -> [f64; 2] {
    let mut windows = [10.0, 10.0];
    for _ in 0..200_000 {
        let states = [0, 1].map(|index| PathState {
            cwnd: windows[index],
            srtt_s: paths[index].1,
            loss_interval: 1.0 / paths[index].0,
            mean_interval: 1.0 / paths[index].0,
            round_rate: 0.0,
        });
        let paths_seen: ArrayVec<PathState, MOST_PATHS> = states.into_iter().collect();
        let views = [0, 1].map(|on| View {
            on,
            paths: paths_seen.clone(),
        });
        for index in [0, 1] {
            let (loss, rtt_s) = paths[index];
            let window = windows[index];
            let view = &views[index];
            let drift = (1.0 - loss) * increase(view) - loss * decrease(window, view);
            // One step lasts ten milliseconds and applies the window's mean change at the path's
            // ACK rate.
            windows[index] = (window + drift * window / rtt_s * 1e-2).max(1.0);
        }
    }
    windows
}

/// Returns the rate of Reno alone on a path, corrected for the share of ACKs.
fn reno_rate((loss, rtt_s): Lossy) -> f64 {
    (2.0 * (1.0 - loss) / loss).sqrt() / rtt_s
}

fn rates(windows: [f64; 2], paths: [Lossy; 2]) -> [f64; 2] {
    [windows[0] / paths[0].1, windows[1] / paths[1].1]
}

const HALF: fn(f64, &View) -> f64 = |window, _| window / 2.0;

/// Paths with different losses and round-trip times. The losses are small, so the share of ACKs is
/// almost one.
const UNLIKE: [Lossy; 2] = [(0.0001, 0.05), (0.0004, 0.08)];

#[test]
fn lia_shares_windows_as_one_over_the_loss_and_adds_up_to_the_best_path() {
    // Khalili et al., CoNEXT 2012, equation 2:
    // w_r = (1 / p_r) max(sqrt(2 / p_i) / rtt_i) / sum(1 / (rtt_i p_i)).
    let windows = settled(UNLIKE, lia::increase, HALF);
    assert!(
        (windows[0] / windows[1] / 4.0 - 1.0).abs() < 0.001,
        "{windows:?}"
    );
    let total: f64 = rates(windows, UNLIKE).iter().sum();
    let best = reno_rate(UNLIKE[0]).max(reno_rate(UNLIKE[1]));
    assert!((total / best - 1.0).abs() < 0.001, "{total} against {best}");
}

#[test]
fn olia_leaves_the_worse_path_and_adds_up_to_the_best() {
    // Khalili et al., theorem 1: OLIA uses only the best paths, which carry as much as one TCP.
    let olia = olia::Olia::default();
    let windows = settled(UNLIKE, |view| olia.increase(view), HALF);
    near(windows[1], 1.0);
    let total: f64 = rates(windows, UNLIKE).iter().sum();
    let best = reno_rate(UNLIKE[0]);
    assert!((total / best - 1.0).abs() < 0.001, "{total} against {best}");
}

#[test]
fn olia_splits_equal_paths() {
    let alike = [(0.0002, 0.05); 2];
    let olia = olia::Olia::default();
    let windows = settled(alike, |view| olia.increase(view), HALF);
    near(windows[0], windows[1]);
    let total: f64 = rates(windows, alike).iter().sum();
    assert!(
        (total / reno_rate(alike[0]) - 1.0).abs() < 0.001,
        "{windows:?}"
    );
}

#[test]
fn balia_settles_where_its_paper_says() {
    // Peng et al., ToN 24(1): the path with the larger rate has a = 1. The total rate is that of
    // one TCP on this path. For the other path, (1 + a)(4 + a) / 10 = min(a, 1.5) p_2 rtt_2^2 /
    // (p_1 rtt_1^2).
    let decrease = |window: f64, view: &View| window - balia::decreased(window, view);
    let windows = settled(UNLIKE, balia::increase, decrease);
    let [first, second] = rates(windows, UNLIKE);
    let total = first + second;
    assert!(
        (total / reno_rate(UNLIKE[0]) - 1.0).abs() < 0.001,
        "{total}"
    );
    let quotient =
        UNLIKE[1].0 * UNLIKE[1].1 * UNLIKE[1].1 / (UNLIKE[0].0 * UNLIKE[0].1 * UNLIKE[0].1);
    let a = (-5.0 + (9.0 + 60.0 * quotient).sqrt()) / 2.0;
    assert!(a > 1.5, "the branch of the formula that was solved");
    assert!(
        (first / second / a - 1.0).abs() < 0.002,
        "{} against {a}",
        first / second
    );
}
