//! Tests of BBRv3 with unit vectors and on the test pipe.

use super::super::super::testing::{Pipe, ack, at_ms, build, window};
use super::*;
use crate::RateSample;
use model::{Bounds, inflight_at_loss};

const MSS: f64 = 1448.0;

/// Returns BBRv3 in CRUISE, paced at a bandwidth of 12.5 MB/s, with a round trip of 40 ms and a
/// full pipe.
fn cruising() -> BbrV3 {
    let mut bbr = build::<BbrV3>(&[]);
    bbr.model.max_bandwidth.update(0, 12.5e6 / MSS);
    bbr.model.start(at_ms(0), Some(Span::from_millis(40)));
    bbr.state = State::Cruise;
    bbr.is_pipe_full = true;
    bbr.set_pacing_rate(1.0);
    bbr
}

/// Asserts that `segments` segments are exactly `bytes` bytes.
#[track_caller]
fn assert_bytes(segments: f64, bytes: f64) {
    assert!(
        (segments * MSS - bytes).abs() < 0.5,
        "{} instead of {bytes}",
        segments * MSS
    );
}

#[test]
fn the_windows_are_products_of_the_model() {
    let mut bbr = cruising();
    assert_bytes(bbr.model.product(bbr.model.bandwidth(), 1.0), 500_000.0);
    assert_bytes(bbr.pacing.send_quantum(MSS), 12_375.0);
    assert_bytes(bbr.max_inflight(), 1_000_000.0);
    assert_bytes(bbr.probe_rtt_window(), 250_000.0);
    bbr.state = State::Up;
    assert_bytes(bbr.max_inflight(), 1_127_896.0);
}

#[test]
fn startup_paces_the_initial_window() {
    let mut bbr = build::<BbrV3>(&[]);
    let mut w = window(10.0, f64::INFINITY);
    bbr.on_established(&mut w, at_ms(0), Some(Span::from_millis(40)));
    assert_eq!(
        bbr.pacing_rate().map(Rate::as_bits_per_sec),
        Some(8 * 1_002_740)
    );
}

#[test]
fn cruising_leaves_headroom() {
    let mut bbr = cruising();
    bbr.model.bounds.long_inflight = 100.0;
    assert_eq!(bbr.model.bounds.with_headroom(0.15), 85.0);
    bbr.model.bounds.long_inflight = 4.0;
    assert_eq!(bbr.model.bounds.with_headroom(0.15), 4.0);
}

#[test]
fn too_much_loss_ends_the_probe_at_the_bound_it_found() {
    assert!((inflight_at_loss(0.02, 100.0, 3.0, 1.0) - 98.979_592).abs() < 1e-6);
    let mut bbr = cruising();
    bbr.state = State::Up;
    bbr.probe.is_sampling = true;
    let mut w = window(60.0 / 0.7, f64::INFINITY);
    let rate = RateSample {
        tx_in_flight: 100,
        lost: 3,
        ..RateSample::default()
    };
    bbr.on_loss(
        &w,
        &AckSample {
            lost_now: 1,
            rate,
            ..ack(at_ms(0), 1)
        },
    );
    assert!((bbr.model.bounds.long_inflight - 98.979_592).abs() < 1e-6);
    assert_eq!(bbr.state, State::Down);
    assert!(bbr.probe.was_too_high);
    bbr.on_spurious(&mut w, &window(100.0, f64::INFINITY), at_ms(1));
    assert_eq!(
        (bbr.state, bbr.model.bounds, w.cwnd),
        (State::Refill, Bounds::NONE, 100.0)
    );
}

#[test]
fn a_round_with_loss_lowers_the_short_term_bound() {
    for (latest, expected) in [(8.0, 8.0), (5.0, 7.0)] {
        let mut bbr = build::<BbrV3>(&[]);
        bbr.model.max_bandwidth.update(0, 10.0);
        bbr.model.signals.latest_bandwidth = latest;
        bbr.model.lower_short_term(100.0, 0.7);
        assert_eq!(
            (bbr.model.bounds.short_bandwidth, bbr.model.bandwidth()),
            (expected, expected)
        );
    }
}

#[test]
fn probing_up_doubles_its_slope_each_round() {
    let mut probe = Probe::default();
    let slopes = [(); 4].map(|()| {
        probe.raise_slope(100.0);
        probe.acked_per_segment()
    });
    assert_eq!(slopes, [100.0, 50.0, 25.0, 12.5]);
}

#[test]
fn three_rounds_without_growth_fill_the_pipe() {
    let mut bbr = build::<BbrV3>(&[]);
    let fulls = [100, 120, 126, 130, 140, 150].map(|delivered| {
        let interval = Some(Span::from_secs(1));
        let rate = RateSample {
            delivered,
            interval,
            ..RateSample::default()
        };
        bbr.model.round.is_start = true;
        bbr.check_plateau(&AckSample {
            rate,
            ..ack(at_ms(0), 1)
        });
        bbr.is_pipe_full
    });
    assert_eq!(fulls, [false, false, false, false, false, true]);
}

#[test]
fn a_full_pipe_has_a_short_queue() {
    let mut bbr = build::<BbrV3>(&[]);
    let report = Pipe::clean_20m().run(&mut bbr, Span::from_secs(30));
    assert!(report.received_mbps > 18.0, "{report:?}");
    // The round trip is 50.6 ms without a queue. UP adds a quarter to it in one of fifty rounds, so
    // the mean stays below 60 ms.
    assert!(report.mean_rtt_ms < 60.0, "{report:?}");
}

#[test]
fn loss_below_the_threshold_costs_little() {
    let pipe = Pipe {
        lose_every: 200,
        ..Pipe::clean_20m()
    };
    let report = pipe.run(&mut build::<BbrV3>(&[]), Span::from_secs(30));
    assert!(report.received_mbps > 16.0, "{report:?}");
}

#[test]
fn a_shallow_buffer_is_found_and_respected() {
    // The bandwidth-delay product is 84 packets, so a limit of 100 leaves a queue of 16.
    let report = Pipe::clean_20m().run(&mut build::<BbrV3>(&[]), Span::from_secs(60));
    let sent = report.received_mbps * 60e6 / (8.0 * MSS);
    assert!((report.lost as f64) < 0.02 * sent, "{report:?}");
}
