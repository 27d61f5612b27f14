//! Tests of whole runs against closed forms.

use crate::common::{end, number, parse, run_to, world};
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_sim::summary;
use serde_json::Value;
use std::path::PathBuf;

/// Runs one flow over one link and returns the flow's summary.
fn flow(link: &str, flow: &str, duration_s: u32) -> Value {
    let text = format!(
        "duration = \"{duration_s} s\"\nseed = 7\n\
         [link.path]\nfrom = \"a\"\nto = \"b\"\n{link}\n\
         [flow.only]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let scenario = parse(&text, PathBuf::from("."), &[]);
    let mut world = world(&scenario);
    run_to(&mut world, end(&scenario));
    summary(&scenario, &world)["flows"][0].clone()
}

/// Transmission time of a byte at 100 Mbit/s in nanoseconds, followed by the delay of the link.
const BYTE: u64 = 80;
const DELAY: u64 = 20_000_000;
/// Packet sizes: SYN and SYN-ACK with their options, a bare ACK, and a full segment.
const SYN: u64 = 60;
const ACK: u64 = 52;
const FULL: u64 = 1500;

/// Returns the time from opening the connection to the last byte of `segments` full segments. Every
/// segment is acknowledged and none is lost. The handshake takes a round trip. Each round of slow
/// start begins with the first ACK of the round before, and has twice as many segments. Each ACK
/// releases two segments while the link sends one, so the link is never idle within a round.
fn completion_time(segments: u64) -> u64 {
    let handshake = 2 * (SYN * BYTE + DELAY) + ACK * BYTE;
    let round_trip = (FULL + ACK) * BYTE + 2 * DELAY;
    let (mut left, mut window, mut rounds) = (segments, 10, 0);
    while left > window {
        left -= window;
        window *= 2;
        rounds += 1;
    }
    handshake + rounds * round_trip + left * FULL * BYTE + DELAY
}

#[test]
fn a_transfer_over_an_idle_link_takes_the_closed_form_to_the_nanosecond() {
    for segments in [1, 2, 10, 11, 30, 31, 70, 150, 310, 629] {
        let size = segments * 1448;
        let flow = flow(
            "rate = \"100 Mbit/s\"\ndelay = \"20 ms\"\nqueue = { limit = \"1000 packets\" }\n\
             reverse = { rate = \"100 Mbit/s\" }",
            &format!(
                "application = {{ kind = \"transfer\", size = \"{size} B\" }}\n\
                 profile = \"rfc\"\ncongestion-control = \"newreno\"\n\
                 tcp = {{ ack-rule = \"every-segment\" }}"
            ),
            10,
        );
        let nanos = (number(&flow, "flow_completion_time_s") * 1e9 + 0.5) as u64;
        assert_eq!(nanos, completion_time(segments), "{segments} segments");
    }
}

/// Returns the mean window of a bulk flow in segments, over a path of 100 ms with an empty queue.
fn mean_window(loss: f64, flow_keys: &str, duration_s: u32) -> (f64, Value) {
    let flow = flow(
        &format!(
            "rate = \"10 Gbit/s\"\ndelay = \"50 ms\"\nqueue = {{ limit = \"100000 packets\" }}\n\
             loss = {{ probability = {loss} }}\nreverse = {{ loss = {{ probability = 0.0 }} }}"
        ),
        &format!(
            "{flow_keys}\ntcp = {{ ack-rule = \"every-segment\", limited-transmit = false, \
             receive-window = 100000000, initial-ssthresh = 50 }}"
        ),
        duration_s,
    );
    let segments_per_sec = number(&flow, "goodput_mbps") * 1e6 / (1448.0 * 8.0);
    (segments_per_sec * 0.1, flow)
}

#[test]
fn newreno_under_random_loss_keeps_to_the_square_root_law() {
    // Mathis et al. 1997, section 3.2: W = C / sqrt(p). With independent losses and an ACK for each
    // packet, C is 1.31. C is up to 4 % higher here, because two losses in a window halve it only
    // once. A run has some 800 losses, so C varies by 3 % at random.
    for loss in [0.001, 0.003] {
        let keys = "profile = \"rfc\"\ncongestion-control = \"newreno\"";
        let (window, _) = mean_window(loss, keys, 2000);
        let c = window * loss.sqrt();
        assert!((c / 1.31 - 1.0).abs() < 0.07, "C is {c} at {loss}");
    }
}

#[test]
fn timeouts_take_less_than_padhye_says_and_more_than_nothing() {
    // Padhye et al. 1998, equation 30, with an ACK for each segment (b = 1) and the smallest
    // timeout T0 = 1 s. The model assumes that all segments after a loss in the same round trip are
    // lost, too. Here losses are independent, so more ACKs return and fewer recoveries time out.
    // The square-root law has no timeouts at all. So the measured window lies between both models.
    let loss: f64 = 0.03;
    let fast = 0.1 * (2.0 * loss / 3.0).sqrt();
    let timeouts = (3.0 * (3.0 * loss / 8.0).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    let (lower, upper) = (0.1 / (fast + timeouts), 1.31 / loss.sqrt());
    let keys = "profile = \"newreno\"\ncongestion-control = \"newreno\"";
    let (window, flow) = mean_window(loss, keys, 3000);
    assert!(number(&flow, "timeouts") > 100.0);
    assert!(
        lower < window && window < upper,
        "{window} is not in {lower}..{upper}"
    );
}

/// Returns the mean window of CUBIC as a fluid (RFC 9438 sections 4.2, 4.6 and 4.7), with round
/// trips of 100 ms and independent losses. Section 5.1 gives the response function for equal
/// distances between losses. For random distances there is no closed form.
fn fluid_cubic(loss: f64) -> f64 {
    const C: f64 = 0.4;
    const BETA: f64 = 0.7;
    let mut stream = Stream::new(1, "fluid cubic", 0);
    let (mut window, mut maximum): (f64, f64) = (100.0, 140.0);
    let (mut packets, mut rounds) = (0.0, 0.0);
    for _ in 0..100_000 {
        let mut left = stream.exponential(1.0 / loss);
        let origin: f64 = maximum.max(window);
        let k = math::cbrt((origin - window) / C);
        let mut time = 0.0;
        while left > 0.0 {
            let distance = time - k;
            window = origin + C * distance * distance * distance;
            left -= window;
            packets += window;
            rounds += 1.0;
            time += 0.1;
        }
        let lower = if window < maximum {
            (1.0 + BETA) / 2.0
        } else {
            1.0
        };
        maximum = window * lower;
        window *= BETA;
    }
    packets / rounds
}

#[test]
fn cubic_under_random_loss_keeps_to_the_fluid_model() {
    let loss = 0.0001;
    let keys = "profile = \"rfc\"\ncongestion-control = \
                { name = \"cubic\", variant = \"rfc9438\", friendliness = false }";
    let (window, _) = mean_window(loss, keys, 1500);
    let expected = fluid_cubic(loss);
    // A run has some 300 losses, and the window varies by about half between them. So the mean
    // window may be 8 % off.
    assert!(
        (window / expected - 1.0).abs() < 0.08,
        "{window} instead of {expected}"
    );
}
