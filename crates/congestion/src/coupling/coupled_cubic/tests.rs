use super::super::testing::{near, view};
use super::*;
use crate::testing::{ack, at_ms, congestion, window};
use fadeout_core::Span;
use fadeout_core::registry::{Parameters, Value};

/// Returns the slow-start threshold after nine round-trip-time samples of `rtt` at a window of 64
/// segments.
fn threshold_after(rtt: Span, parameters: &Parameters) -> f64 {
    let mut cubic =
        CoupledCubic::from_settings(&Settings::new(&CoupledCubic::ENTRY, parameters), ());
    let mut w = window(64.0, f64::INFINITY);
    let paths = view(0, &[(64.0, 40.0, 1000.0), (20.0, 40.0, 1000.0)]);
    for n in 0..9 {
        // The ACKs are 10 ms apart, so they form no train.
        let sample = AckSample {
            snd_una: 1,
            snd_nxt: 100,
            rtt: Some(rtt),
            min_rtt: Span::from_millis(40),
            is_cwnd_limited: false,
            ..ack(at_ms(10 * n), 1)
        };
        cubic.on_ack(&mut w, &sample, &paths);
    }
    w.ssthresh
}

#[test]
fn with_hystart_slow_start_ends_when_the_delay_rises() {
    let with = Parameters(vec![("hystart".to_string(), Value::Bool(true))]);
    assert_eq!(threshold_after(Span::from_millis(46), &with), 64.0);
    let steady = threshold_after(Span::from_millis(40), &with);
    assert_eq!(steady, f64::INFINITY);
    let unwatched = threshold_after(Span::from_millis(46), &Parameters::default());
    assert_eq!(unwatched, f64::INFINITY);
}

#[test]
fn alone_it_is_cubic() {
    let alone = view(0, &[(10.0, 50.0, 1000.0)]);
    near(by_losses(&alone).constant, 1.0);
    assert_eq!(by_windows(&alone), ALONE);
}

#[test]
fn equal_paths_take_a_part_each() {
    let three = [(10.0, 50.0, 1000.0); 3];
    for scale in [by_losses(&view(1, &three)), by_windows(&view(1, &three))] {
        near(scale.constant, 1.0 / 81.0);
        near(scale.slope, 1.0 / 9.0);
    }
}

#[test]
fn by_losses_the_scaled_rates_add_up_to_the_best_paths() {
    let paths = [
        (10.0, 50.0, 1000.0),
        (40.0, 20.0, 300.0),
        (5.0, 90.0, 9000.0),
    ];
    let views = [view(0, &paths), view(1, &paths), view(2, &paths)];
    let share = |view: &View| by_losses(view).slope.sqrt();
    let sum: f64 = views.iter().map(|v| share(v) * alone(&v.own())).sum();
    let best = views.iter().map(|v| alone(&v.own())).fold(0.0, f64::max);
    near(sum / best, 1.0);
    assert!(views.iter().all(|v| share(v) <= 1.0));
}

#[test]
fn by_windows_the_rates_settle_on_the_best_paths_alone() {
    // In equilibrium the mean growth equals the mean decrease. So at a loss probability of p an
    // acknowledged segment adds (1 - beta) p w. CUBIC alone adds (C (1 - beta)^2)^(1/3) rtt
    // w^(-1/3), which scales with the cube root of the constant C.
    let paths = [(0.0001, 0.05), (0.0004, 0.08)];
    let mut windows = [100.0, 100.0];
    let own = |window: f64, rtt_s: f64| {
        math::cbrt(C * (1.0 - BETA) * (1.0 - BETA)) * rtt_s / math::cbrt(window)
    };
    for _ in 0..100_000 {
        let states = [
            (windows[0], paths[0].1 * 1e3, 1.0),
            (windows[1], paths[1].1 * 1e3, 1.0),
        ];
        for index in [0, 1] {
            let (loss, rtt_s) = paths[index];
            let scale = math::cbrt(by_windows(&view(index, &states)).constant);
            let window = windows[index];
            let drift = scale * own(window, rtt_s) - (1.0 - BETA) * loss * window;
            windows[index] += drift * window / rtt_s * 1e-2;
        }
    }
    near(windows[0] / windows[1], 4.0);
    // For CUBIC alone on a path, (1 - beta) p w equals the growth `own(w)`.
    let alone = |(loss, rtt_s): (f64, f64)| {
        let base = math::cbrt(C * (1.0 - BETA) * (1.0 - BETA)) * rtt_s / ((1.0 - BETA) * loss);
        math::pow(base, 0.75) / rtt_s
    };
    let total = windows[0] / paths[0].1 + windows[1] / paths[1].1;
    let best = alone(paths[0]).max(alone(paths[1]));
    assert!((total / best - 1.0).abs() < 1e-3, "{total} against {best}");
}

/// Returns a path with this mean distance between losses.
fn lossy(srtt_s: f64, mean_interval: f64) -> PathState {
    PathState {
        srtt_s,
        mean_interval,
        ..PathState::default()
    }
}

#[test]
fn alone_a_path_has_the_windows_of_the_rfcs_tables() {
    // RFC 9438 section 5.2, tables 1 and 2: windows for loss rates of 10^-2 to 10^-8, with 0.1 s
    // and with 0.01 s, C = 0.4. The tables give whole segments. Where Reno's window is larger, the
    // tables use 1.2 instead of sqrt(3/2), which is two percent less.
    let tables = [
        (0.1, [12.0, 38.0, 187.0, 1054.0, 5926.0, 33325.0, 187400.0]),
        (0.01, [12.0, 38.0, 120.0, 379.0, 1200.0, 5926.0, 33325.0]),
    ];
    for (srtt_s, windows) in tables {
        let mut interval = 10.0;
        for expected in windows {
            interval *= 10.0;
            let window = alone(&lossy(srtt_s, interval)) * srtt_s;
            let reno = (1.5 * interval).sqrt();
            if window > reno {
                assert!(
                    (window / expected - 1.0).abs() < 5e-3,
                    "{window} is not {expected}"
                );
            } else {
                near(window, reno);
                assert!(
                    (window / expected - 1.0).abs() < 0.04,
                    "{window} is not {expected}"
                );
            }
        }
    }
    // A mean distance below one segment counts as one segment.
    assert_eq!(alone(&lossy(0.1, 0.0)), alone(&lossy(0.1, 1.0)));
    assert!(alone(&lossy(0.1, 2.0)) > alone(&lossy(0.1, 1.0)));
}

#[test]
fn by_losses_each_path_has_its_share_of_the_best_ones_rate() {
    // With frequent losses Reno's law gives the larger window, so rates scale with the roots of the
    // distances.
    let paths = [lossy(0.01, 6.0), lossy(0.01, 24.0)];
    let view_of = |on| View {
        on,
        paths: paths.into_iter().collect(),
    };
    // The rates have the ratio 1 to 2, so the shares are 2 * 1 / (1 + 4) and 2 * 2 / (1 + 4).
    for (on, share) in [(0, 0.4_f64), (1, 0.8)] {
        let scale = by_losses(&view_of(on));
        near(scale.slope, share * share);
        near(scale.constant, share * share * share * share);
    }
}

#[test]
fn a_path_without_a_round_trip_grows_as_if_alone() {
    let paths = [(10.0, 0.0, 1000.0), (10.0, 50.0, 1000.0)];
    assert_eq!(by_losses(&view(0, &paths)), ALONE);
    assert_eq!(by_windows(&view(0, &paths)), ALONE);
    // A path without measurements does not affect the scale of the other path.
    assert_eq!(by_windows(&view(1, &paths)), ALONE);
    near(by_losses(&view(1, &paths)).constant, 1.0);
    // Without a window no rate is known, so the path keeps the scale of CUBIC alone.
    assert_eq!(
        by_windows(&view(0, &[(0.0, 50.0, 1.0), (10.0, 50.0, 1.0)])),
        ALONE
    );
}

#[test]
fn by_windows_the_growth_is_the_largest_alone_over_the_own_times_the_part_of_the_rate() {
    // The rates are 10 / 0.125 = 80 and 20 / 1 = 20 segments per second. CUBIC's measure w /
    // rtt^(1/3) is 20 on each path. Reno's measure w / rtt^2 is 640 and 20.
    let paths = [(10.0, 125.0, 1.0), (20.0, 1000.0, 1.0)];
    let (first, second) = (by_windows(&view(0, &paths)), by_windows(&view(1, &paths)));
    near(first.constant, 0.8 * 0.8 * 0.8 * 0.8);
    near(first.slope, 0.64);
    near(second.constant, 0.2 * 0.2 * 0.2 * 0.2);
    // The factor 640 / 20 times 0.04 would exceed one, the slope of a single path. So the slope is
    // one.
    near(second.slope, 1.0);
    // The rates are 27 / 0.125 = 216 and 2 / 1 = 2 segments per second. CUBIC's measures are 54 and
    // 2, Reno's 1728 and 2.
    let uneven = by_windows(&view(1, &[(27.0, 125.0, 1.0), (2.0, 1000.0, 1.0)]));
    near(
        uneven.constant,
        27.0 * 27.0 * 27.0 / (109.0 * 109.0 * 109.0 * 109.0),
    );
    near(uneven.slope, 864.0 / (109.0 * 109.0));
}

/// Returns coupled CUBIC in congestion avoidance, with this scale.
fn avoiding(w_max: f64, scale: Scale) -> CoupledCubic {
    let none = Parameters::default();
    CoupledCubic {
        w_max,
        scale,
        ..CoupledCubic::from_settings(&Settings::new(&CoupledCubic::ENTRY, &none), ())
    }
}

/// Scale of the cubic curve alone, without Reno's slope.
const CURVE: Scale = Scale {
    constant: 1.0,
    slope: 0.0,
};

/// Returns the window after an ACK for `acked` segments at `ms`, with a round-trip time of 100 ms.
fn grown(cubic: &mut CoupledCubic, w: &mut Window, ms: u64, acked: u32) -> f64 {
    cubic.avoid(w, &ack(at_ms(ms), acked), f64::from(acked));
    w.cwnd
}

#[test]
fn the_window_follows_the_cubic_through_its_plateau() {
    // K is 2 s, because C K^3 = 0.4 times 8 is the distance to the window of the last loss. An ACK
    // at time t counts for t plus a round trip, and adds (W(t) - cwnd) / cwnd for each segment.
    for (ms, curve) in [
        (0, 100.0 - 0.4 * 1.9 * 1.9 * 1.9),
        (900, 99.6),
        (1_900, 100.0),
        (2_900, 100.4),
        (4_900, 110.8),
    ] {
        let (mut cubic, mut w) = (avoiding(100.0, CURVE), window(96.8, 50.0));
        // The first ACK begins the epoch.
        cubic.avoid(&mut w, &ack(at_ms(0), 0), 0.0);
        near(
            grown(&mut cubic, &mut w, ms, 9),
            96.8 + 9.0 * (curve - 96.8) / 96.8,
        );
    }
    // The window grows by at most half a segment for each segment, and never shrinks.
    let (mut cubic, mut w) = (avoiding(100.0, CURVE), window(96.8, 50.0));
    cubic.avoid(&mut w, &ack(at_ms(0), 0), 0.0);
    near(grown(&mut cubic, &mut w, 60_000, 4), 98.8);
}

#[test]
fn a_scaled_path_has_a_scaled_cubic() {
    // The constant is an eighth of C, 0.05. The distance of 1.35 segments is 0.05 times 27, so K is
    // 3 s.
    let scale = Scale {
        constant: 0.125,
        slope: 0.25,
    };
    let (mut cubic, mut w) = (avoiding(100.0, scale), window(98.65, 50.0));
    cubic.avoid(&mut w, &ack(at_ms(0), 0), 0.0);
    let curve = 100.0 + 0.05 * 8.0;
    near(
        grown(&mut cubic, &mut w, 4_900, 5),
        98.65 + 5.0 * (curve - 98.65) / 98.65,
    );
}

#[test]
fn a_new_path_grows_from_where_it_is() {
    // At or above the window of the last loss there is no plateau, and K is zero.
    for w_max in [0.0, 40.0, 50.0] {
        let (mut cubic, mut w) = (avoiding(w_max, ALONE), window(50.0, 25.0));
        cubic.avoid(&mut w, &ack(at_ms(1_000), 0), 0.0);
        near(
            grown(&mut cubic, &mut w, 2_900, 10),
            50.0 + 10.0 * 0.4 * 8.0 / 50.0,
        );
    }
}

#[test]
fn where_renos_slope_is_steeper_the_window_is_renos() {
    // RFC 9438 section 4.3 with beta 0.7: Reno's slope is 9 / 17 of a segment in a window. In the
    // middle of the plateau the cubic curve adds nothing.
    for slope in [1.0, 0.25] {
        let scale = Scale {
            constant: 1.0,
            slope,
        };
        let (mut cubic, mut w) = (avoiding(100.0, scale), window(96.8, 50.0));
        cubic.avoid(&mut w, &ack(at_ms(0), 0), 0.0);
        w.cwnd = 100.0;
        let mut friendly = 96.8;
        for _ in 0..7 {
            let before = w.cwnd;
            let now = grown(&mut cubic, &mut w, 1_900, 100);
            friendly += 9.0 / 17.0 * slope * 100.0 / before;
            near(now, friendly.max(before));
        }
        assert_eq!(w.cwnd > 100.0, slope == 1.0);
    }
}

#[test]
fn a_constant_that_changed_by_2_44_begins_anew() {
    for (ratio, is_new) in [(2.43, false), (2.45, true), (0.412, false), (0.408, true)] {
        let (mut cubic, mut w) = (avoiding(100.0, ALONE), window(96.8, 50.0));
        cubic.avoid(&mut w, &ack(at_ms(0), 0), 0.0);
        cubic.scale.constant = ratio;
        cubic.avoid(&mut w, &ack(at_ms(5_000), 0), 0.0);
        let epoch = cubic.epoch.expect("it has begun");
        assert_eq!(epoch.began_at == at_ms(5_000), is_new, "{ratio}");
        assert_eq!(epoch.scale.constant == ratio, is_new, "{ratio}");
    }
}

#[test]
fn a_loss_takes_three_tenths_and_gives_way_where_the_window_shrank() {
    let mut cubic = avoiding(0.0, ALONE);
    // RFC 9438 sections 4.6 and 4.7: fast convergence applies if the window is below that of the
    // last loss. Then `w_max` is set to 0.85 of the present window.
    for (cwnd, threshold, w_max) in [
        (100.0, 70.0, 100.0),
        (100.0, 70.0, 100.0),
        (80.0, 56.0, 68.0),
        (68.0, 47.6, 68.0),
        (2.0, 2.0, 1.7),
    ] {
        let mut w = window(cwnd, f64::INFINITY);
        cubic.epoch = Some(cubic.begin(cwnd, Time::ZERO));
        let event = congestion(at_ms(1), CongestionKind::FastRecovery, 5);
        Law::on_congestion(&mut cubic, &mut w, &event, &view(0, &[]));
        near(w.ssthresh, threshold);
        near(cubic.w_max, w_max);
        assert!(cubic.epoch.is_none());
    }
}

#[test]
fn the_scale_is_taken_once_a_round_trip() {
    let both = view(0, &[(10.0, 100.0, 1000.0); 2]);
    let (mut cubic, mut w) = (avoiding(0.0, ALONE), window(10.0, 5.0));
    for (ms, scale) in [(99, 1.0), (100, 0.25), (199, 0.25), (200, 1.0)] {
        // The path is first alone, then one of two equal paths. With two equal paths its slope is a
        // quarter.
        let alone = view(0, &[(10.0, 100.0, 1000.0)]);
        let seen = if ms == 200 { &alone } else { &both };
        let seen = if ms == 199 { &alone } else { seen };
        cubic.on_ack(&mut w, &ack(at_ms(ms), 1), seen);
        near(cubic.scale.slope, scale);
    }
}

#[test]
fn what_slow_start_leaves_goes_into_avoidance_and_nothing_grows_when_it_is_not_due() {
    let none = view(0, &[]);
    let (mut cubic, mut w) = (avoiding(0.0, ALONE), window(8.0, 10.0));
    let idle = AckSample {
        may_grow: false,
        ..ack(at_ms(0), 4)
    };
    cubic.on_ack(&mut w, &idle, &none);
    assert_eq!((w.cwnd, cubic.epoch.is_some()), (8.0, false));
    cubic.on_ack(&mut w, &ack(at_ms(0), 2), &none);
    assert_eq!((w.cwnd, cubic.epoch.is_some()), (10.0, false));
    // Two of the next four segments raise the window from 8 to 10. Each of the other two adds
    // Reno's slope, 9 / 17 / 10.
    w.cwnd = 8.0;
    cubic.on_ack(&mut w, &ack(at_ms(0), 4), &none);
    near(w.cwnd, 10.0 + 2.0 * 9.0 / 17.0 / 10.0);
}

#[test]
fn hystart_watches_again_after_a_timeout_and_only_then() {
    let with = Parameters(vec![("hystart".to_string(), Value::Bool(true))]);
    let paths = view(0, &[(64.0, 40.0, 1000.0)]);
    for (kind, is_watched) in [
        (CongestionKind::Rto, true),
        (CongestionKind::FastRecovery, false),
    ] {
        let mut cubic =
            CoupledCubic::from_settings(&Settings::new(&CoupledCubic::ENTRY, &with), ());
        let ends = |cubic: &mut CoupledCubic| {
            let mut w = window(64.0, f64::INFINITY);
            for n in 1..10 {
                let sample = AckSample {
                    snd_una: 1,
                    snd_nxt: 1,
                    rtt: Some(Span::from_millis(46)),
                    min_rtt: Span::from_millis(40),
                    is_cwnd_limited: false,
                    ..ack(at_ms(10 * n), 1)
                };
                Law::on_ack(cubic, &mut w, &sample, &paths);
            }
            w.ssthresh == 64.0
        };
        assert!(ends(&mut cubic));
        let mut w = window(64.0, 64.0);
        let event = congestion(at_ms(100), kind, 5);
        Law::on_congestion(&mut cubic, &mut w, &event, &paths);
        assert_eq!(ends(&mut cubic), is_watched, "{kind:?}");
    }
}
