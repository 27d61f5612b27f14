//! Mean windows under periodic loss, compared with the algorithms' published response functions.
//!
//! The link never queues, and every n-th packet is lost. In the test pipe the window falls to its
//! target at once and does not grow during recovery. The closed forms ignore recovery. So a cycle
//! of a few dozen round trips differs by up to one round trip.

use super::Congestion;
use super::testing::{Pipe, choice};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{Rate, Span, math};

/// Returns the mean window of `name` when every `every`-th packet is lost at a round-trip time of
/// 100 ms. The mean is over the second half of a run, after slow start.
fn mean_window(name: &str, parameters: &[(&str, Value)], every: u64) -> f64 {
    let pipe = Pipe {
        rate: Rate::from_bits_per_sec(100_000_000_000),
        one_way: Span::from_millis(50),
        limit: 1_000_000,
        lose_every: every,
        mark_above: 0,
    };
    let given = parameters
        .iter()
        .map(|(key, value)| ((*key).to_string(), value.clone()))
        .collect();
    let given = Parameters(given);
    let segments_per_sec = |seconds| {
        let stream = Stream::new(1, "congestion", 0);
        let mut control =
            Congestion::new(name, &given, stream).expect("the algorithm is registered");
        let report = pipe.run(&mut control, Span::from_secs(seconds));
        report.received_mbps * 1e6 / (1448.0 * 8.0)
    };
    (2.0 * segments_per_sec(800) - segments_per_sec(400)) * 0.1
}

/// Relative tolerance for the rate that is lost in recovery.
const RECOVERY: f64 = 0.08;

#[track_caller]
fn assert_within(bound: f64, window: f64, expected: f64) {
    assert!(
        (window / expected - 1.0).abs() < bound,
        "{window:.1} instead of {expected:.1}"
    );
}

#[test]
fn reno_follows_the_square_root_law() {
    // Mathis et al. 1997: W = sqrt(3 / (2 p)) with one ACK per segment.
    let expected = |every: u64| (1.5 * every as f64).sqrt();
    assert_within(RECOVERY, mean_window("reno", &[], 2_000), expected(2_000));
    let bytes = [("counting", choice("bytes"))];
    assert_within(
        RECOVERY,
        mean_window("newreno", &bytes, 2_000),
        expected(2_000),
    );
    assert_within(
        RECOVERY,
        mean_window("newreno", &[], 10_000),
        expected(10_000),
    );
}

#[test]
fn cubic_follows_the_response_function_of_rfc_9438() {
    // RFC 9438 section 5.1: W = 1.054 (RTT / p)^0.75 in the cubic region. In Linux's whole segments
    // the plateau begins 1.4 s before K. A loss on the plateau sets the same W_max again. So a
    // window above the fixed point hardly decreases to it, and Linux gets a wider bound.
    for (variant, bound) in [("rfc9438", RECOVERY), ("linux", 0.12)] {
        let parameters = [
            ("variant", choice(variant)),
            ("friendliness", Value::Bool(false)),
        ];
        let expected = 1.054 * math::pow(0.1 * 20_000.0, 0.75);
        assert_within(bound, mean_window("cubic", &parameters, 20_000), expected);
    }
}

#[test]
fn highspeed_follows_the_response_function_of_rfc_3649() {
    // RFC 3649 section 5: w = 0.12 / p^0.835. The table rounds the increase up to whole segments.
    let expected = 0.12 * math::pow(10_000.0, 0.835);
    for (increase, bound) in [("formula", RECOVERY), ("table", 0.15)] {
        let parameters = [("increase", choice(increase))];
        assert_within(
            bound,
            mean_window("highspeed", &parameters, 10_000),
            expected,
        );
    }
}

#[test]
fn bbr_keeps_no_more_than_two_products_and_its_bursts_in_flight() {
    // At 20 Mbit/s a frame of 1514 bytes takes 0.6056 ms, so the path of 50 ms contains 83.6
    // segments. The filters count whole segments a round and may overestimate the bandwidth by 2 %.
    // BBRv1 adds three bursts of two segments, rounds up to an even number and adds two more when
    // it probes (Linux `bbr_quantization_budget`). BBRv3 probes with 2.25 bandwidth-delay products
    // (draft-ietf-ccwg-bbr section 5.6.1).
    let product = 50.6056 / 0.6056;
    for (name, gain, extra) in [("bbr", 2.0, 10.0), ("bbr3", 2.25, 2.0)] {
        let pipe = Pipe {
            limit: 1_000,
            ..Pipe::clean_20m()
        };
        let stream = Stream::new(1, "congestion", 0);
        let mut control = Congestion::new(name, &Parameters::default(), stream)
            .expect("the algorithm is registered");
        let report = pipe.run(&mut control, Span::from_secs(60));
        let bound = gain * product * 1.02 + extra;
        let most = f64::from(report.late_in_flight);
        assert!(most <= bound, "{name}: {most} of {bound}");
        // BBR must probe above one bandwidth-delay product.
        assert!(most > 1.1 * product, "{name}: {most}");
        assert!(report.received_mbps > 18.0, "{name}: {report:?}");
    }
}
