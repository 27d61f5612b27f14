//! Tests of BBRv1 with unit vectors and on the test pipe.

use super::super::super::testing::{Pipe, ack, at_ms, build, window};
use super::*;
use crate::RateSample;

/// Returns BBRv1 in PROBE_BW, with a bandwidth of 10 segments per ms, a round trip of 40 ms and a
/// full pipe.
fn probing() -> BbrV1 {
    let mut bbr = build::<BbrV1>(&[]);
    bbr.bandwidth.update(0, 10_000.0);
    bbr.min_rtt = Some(Span::from_millis(40));
    bbr.mode = Mode::ProbeBw;
    bbr.is_pipe_full = true;
    bbr.cycle = 2;
    bbr.update_gains();
    bbr
}

#[test]
fn the_gains_are_the_kernels() {
    assert_eq!((HIGH_GAIN * 256.0, DRAIN_GAIN * 256.0), (739.0, 88.0));
    assert_eq!(
        phases::CYCLE.map(|gain| gain * 256.0)[..3],
        [320.0, 192.0, 256.0]
    );
}

#[test]
fn the_window_is_two_products_and_three_bursts() {
    let mut bbr = probing();
    // At this pacing rate a burst has two segments.
    bbr.pacing_rate = 2.0 * 1448.0 * 1024.0;
    assert_eq!(bbr.inflight(10_000.0, 2.0), 806.0);
    assert_eq!(bbr.target(), 806.0);
    bbr.cycle = 0;
    assert_eq!(bbr.target(), 808.0);
}

#[test]
fn the_pacing_rate_stays_a_percent_below() {
    let mut bbr = probing();
    bbr.cycle = 0;
    bbr.update_gains();
    bbr.set_pacing_rate(bbr.pacing_gain);
    assert!(
        (bbr.pacing_rate - 17_919_000.0).abs() < 1e-3,
        "{}",
        bbr.pacing_rate
    );
}

#[test]
fn three_rounds_without_growth_fill_the_pipe() {
    let mut bbr = build::<BbrV1>(&[]);
    let mut fulls = Vec::new();
    for (round, rate) in [100.0, 120.0, 126.0, 130.0, 140.0, 150.0]
        .into_iter()
        .enumerate()
    {
        bbr.bandwidth.update(round as u64, rate);
        bbr.round.is_start = true;
        bbr.check_full_pipe(&ack(at_ms(0), 1));
        fulls.push((bbr.full_bandwidth, bbr.is_pipe_full));
    }
    assert_eq!(fulls[1], (100.0, false));
    assert_eq!(fulls[4], (126.0, false));
    assert_eq!(fulls[5], (126.0, true));
}

#[test]
fn probe_rtt_holds_four_segments_for_200_ms_and_a_round() {
    let mut bbr = probing();
    let mut w = window(800.0, 400.0);
    bbr.min_rtt_at = at_ms(0);
    let sample = |ms: u64, in_flight: u32, delivered: u64| AckSample {
        rtt: Some(Span::from_millis(41)),
        in_flight,
        delivered,
        rate: RateSample {
            delivered: 40,
            interval: Some(Span::from_millis(4)),
            prior_delivered: delivered - 40,
            ..RateSample::default()
        },
        ..ack(at_ms(ms), 1)
    };
    bbr.on_ack(&mut w, &sample(10_001, 800, 10_000));
    assert_eq!((bbr.mode, w.cwnd), (Mode::ProbeRtt, 4.0));
    bbr.on_ack(&mut w, &sample(10_050, 4, 10_800));
    bbr.on_ack(&mut w, &sample(10_249, 4, 10_900));
    assert_eq!(bbr.mode, Mode::ProbeRtt);
    bbr.on_ack(&mut w, &sample(10_251, 4, 11_000));
    assert_eq!(bbr.mode, Mode::ProbeBw);
    assert!(w.cwnd > 700.0);
}

#[test]
fn a_full_pipe_has_a_short_queue() {
    let mut bbr = build::<BbrV1>(&[]);
    let report = Pipe::clean_20m().run(&mut bbr, Span::from_secs(60));
    // In the recorded run, the kernel reached 18.64 Mbit/s with a mean round-trip time of 55.6 ms.
    // The test pipe must come close to these values.
    assert!(
        (report.received_mbps / 18.64 - 1.0).abs() < 0.04,
        "{report:?}"
    );
    assert!((report.mean_rtt_ms / 55.6 - 1.0).abs() < 0.06, "{report:?}");
}

#[test]
fn random_loss_does_not_lower_the_rate() {
    let mut bbr = build::<BbrV1>(&[]);
    let pipe = Pipe {
        lose_every: 100,
        ..Pipe::clean_20m()
    };
    let report = pipe.run(&mut bbr, Span::from_secs(30));
    assert!(report.received_mbps > 17.0, "{report:?}");
}

#[test]
fn a_bandwidth_in_units_has_a_product_that_is_not_one_too_many() {
    // A rate of two segments in 12 ms sends 12 segments in 72 ms, also in Linux's integer
    // arithmetic.
    let rate = sizes::in_units(2.0 / 12e-3);
    let units = (2_u64 << 24) / 12_000;
    assert_eq!((rate / 1e6 * f64::from(1 << 24)).round() as u64, units);
    let mut bbr = build::<BbrV1>(&[]);
    bbr.min_rtt = Some(Span::from_millis(72));
    bbr.pacing_rate = 2e5;
    assert_eq!(bbr.inflight(rate, 1.0), 18.0);
}
