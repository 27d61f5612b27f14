//! Tests of a user's own congestion controls in a whole run.

use fadeout_core::Time;
use fadeout_record::Destination;
use fadeout_scenario::Source;
use fadeout_sim::congestion::{
    AckSample, Congestion, CongestionControl, CongestionEvent, Custom, SentSample, Window,
};
use fadeout_sim::{Control, Simulation, catalog};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const SCENARIO: &str = r#"
duration = "10 s"
[link.one]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
[link.two]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
[flow.own]
from = "a"
to = "b"
"#;

const PATHS: &str = "multipath = { paths = [[\"one\"], [\"two\"]], coupling = \"uncoupled\" }";

/// A congestion control with a window of ten segments, which fails after a second.
struct GivesUp {
    has_given_up: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
}

impl CongestionControl for GivesUp {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        window.cwnd = 10.0;
        if ack.now.as_millis() >= 1000 {
            self.has_given_up.store(true, Ordering::Relaxed);
        }
    }
    fn on_congestion(&mut self, _: &mut Window, _: &CongestionEvent) {}
    fn on_sent(&mut self, _: &mut Window, _: &SentSample) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }
}

/// Results of a run.
struct Outcome {
    /// Number of senders created.
    made: u64,
    /// Number of segments that they sent.
    sent: u64,
    summary: serde_json::Value,
    is_complete: bool,
}

fn run(more: &str) -> Outcome {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let text = format!("{SCENARIO}{more}");
    let scenario =
        fadeout_scenario::parse(&text, &source, &[], catalog()).expect("a valid scenario");
    let has_given_up = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicU64::new(0));
    let mut made = 0_u64;
    let simulation = Simulation::with_congestion(scenario, Destination::Memory, &mut |_| {
        made += 1;
        let own = GivesUp {
            has_given_up: Arc::clone(&has_given_up),
            sent: Arc::clone(&sent),
        };
        Some(Congestion::Custom(Custom(Box::new(own))))
    });
    let mut simulation = simulation.expect("a simulation");
    simulation.advance_unless(
        Time::NEVER,
        || has_given_up.load(Ordering::Relaxed),
        |_| Control::Continue,
    );
    let summary = simulation.summary();
    let outcome = simulation.finish().expect("an outcome");
    Outcome {
        made,
        sent: sent.load(Ordering::Relaxed),
        summary,
        is_complete: outcome.is_complete,
    }
}

#[test]
fn a_run_stops_after_the_event_in_which_it_is_halted() {
    let run = run("");
    assert_eq!(run.made, 2);
    assert!(!run.is_complete);
    let duration_s = run.summary["duration_s"].as_f64().expect("a duration");
    // The congestion control fails at the first ACK after one second. The run stops at this ACK,
    // because a window of ten segments has a round trip of about 21 ms.
    assert!((1.0..1.05).contains(&duration_s), "{duration_s}");
    let counted = &run.summary["flows"][0]["sent_segments"];
    assert_eq!(counted.as_u64(), Some(run.sent));
}

#[test]
fn each_end_of_each_path_has_a_control_of_its_own() {
    let run = run(PATHS);
    assert_eq!(run.made, 4);
    assert!(!run.is_complete);
    assert!(run.sent > 0);
}
