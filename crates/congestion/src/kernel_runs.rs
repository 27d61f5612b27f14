//! Comparison of the test pipe with recorded runs of the kernel at 20 Mbit/s, 25 ms in each
//! direction and a queue of 100 packets.
//!
//! The pipe's recovery is simpler than the kernel's, so the bounds are wide. The tests detect a
//! wrong algorithm, not a wrong TCP stack. The runs come from a Linux 6.12 built with 100 ticks per
//! second.

use super::testing::Pipe;
use super::{CONGESTION_CONTROLS, Congestion};
use fadeout_core::Span;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, Value, find};

/// Algorithm, received Mbit/s, mean round-trip time in ms, largest window in segments.
const KERNEL: &[(&str, f64, f64, f64)] = &[
    ("cubic", 19.08, 76.6, 145.0),
    ("reno", 18.77, 67.2, 237.0),
    ("westwood", 18.56, 69.2, 237.0),
    ("vegas", 19.08, 53.4, 174.0),
    ("veno", 18.92, 68.5, 237.0),
    ("bic", 19.08, 78.0, 237.0),
    ("illinois", 19.02, 74.5, 237.0),
    ("highspeed", 19.08, 68.5, 237.0),
    ("scalable", 19.08, 80.9, 237.0),
    ("yeah", 18.82, 67.9, 237.0),
];

#[test]
fn a_clean_run_is_near_the_kernels() {
    for &(name, mbps, rtt_ms, max_cwnd) in KERNEL {
        let entry = find(CONGESTION_CONTROLS, name).expect("the algorithm is registered");
        let mut given = Parameters::default();
        if entry
            .parameters
            .iter()
            .any(|parameter| parameter.name == "hz")
        {
            given.0.push(("hz".to_string(), Value::Number(100.0)));
        }
        let mut control = Congestion::new(name, &given, Stream::new(1, "congestion", 0))
            .expect("a registered algorithm can be built");
        let report = Pipe::clean_20m().run(&mut control, Span::from_secs(60));
        assert!(
            (report.received_mbps / mbps - 1.0).abs() < 0.12,
            "{name}: {report:?}"
        );
        assert!(
            (report.mean_rtt_ms / rtt_ms - 1.0).abs() < 0.08,
            "{name}: {report:?}"
        );
        // The pipe acknowledges each segment and the kernel every second one. So slow start
        // overshoots further in the pipe.
        assert!(
            (0.9..1.7).contains(&(report.max_cwnd / max_cwnd)),
            "{name}: {report:?}"
        );
        assert!(report.lost > 0, "{name}: {report:?}");
    }
}
