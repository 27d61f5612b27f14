//! Tests of queue management at the RLC in whole scenarios.

use crate::common::build;
use crate::common::parse;
use fadeout_core::{
    Direction, DrbId, Probe, RadioDelayRow, RadioDropCause, RadioDropRow, Span, Time,
};
use serde_json::Value;

/// A server is 5 ms from an LTE cell whose phone gets 38 Mbit/s. The buffer of 4 MB lasts 0.8 s.
const DEEP: &str = r#"
duration = "60 s"
[link.core]
from = "server"
to = "base"
rate = "10 Gbit/s"
delay = "5 ms"
[cell.base]
radio = { kind = "lte", adaptation = "fixed-mcs", mcs = 20 }
carrier = "2 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
[ue.phone]
downlink-sinr = "40 dB"
uplink-sinr = "40 dB"
rlc = { mode = "am", buffer = "4 MB" }
[flow.bulk]
from = "server"
to = "phone"
"#;

/// Waiting times of packets until their first transport block, and the losses.
struct Waits {
    direction: Direction,
    after: Time,
    seconds: Vec<f64>,
    drops: Vec<RadioDropRow>,
}

impl Probe for Waits {
    fn wants_radio_delay(&self, _: DrbId) -> bool {
        true
    }
    fn radio_delay(&mut self, row: RadioDelayRow) {
        if row.direction == self.direction && row.time_s >= self.after {
            self.seconds.push(row.queue_s.as_secs_f64());
        }
    }
    fn radio_dropped(&mut self, row: RadioDropRow) {
        self.drops.push(row);
    }
}

/// Results of a run.
struct Outcome {
    goodput_mbps: f64,
    /// Median waiting time in milliseconds, without the first 10 s.
    median_ms: f64,
    drops: Vec<RadioDropRow>,
    marks: u64,
}

fn run(text: &str, direction: Direction, overrides: &[&str]) -> Outcome {
    let scenario = parse(text, ".".into(), overrides);
    let probe = Waits {
        direction,
        after: Time::ZERO + Span::from_secs(10),
        seconds: Vec::new(),
        drops: Vec::new(),
    };
    let mut world = build(&scenario, probe).expect("a checked scenario");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let summary = fadeout_sim::summary(&scenario, &world);
    let interface = &summary["interfaces"][direction.index()];
    let count = |of: &Value| of.as_u64().expect("a count");
    let mut waits = world.into_probe();
    let dropped = waits.drops.iter().filter(|row| row.direction == direction);
    let by_aqm = dropped.filter(|row| row.cause == RadioDropCause::Aqm);
    assert_eq!(count(&interface["dropped_aqm"]), by_aqm.count() as u64);
    waits.seconds.sort_by(f64::total_cmp);
    let median = waits.seconds.get(waits.seconds.len() / 2);
    Outcome {
        goodput_mbps: summary["flows"][0]["goodput_mbps"]
            .as_f64()
            .expect("a rate"),
        median_ms: median.map_or(0.0, |seconds| seconds * 1e3),
        drops: waits.drops,
        marks: count(&interface["marked_packets"]),
    }
}

fn downlink(overrides: &[&str]) -> Outcome {
    run(DEEP, Direction::Downlink, overrides)
}

#[test]
fn the_queue_of_cubic_stands_near_the_target_and_the_rate_stays() {
    let full = downlink(&[]);
    assert!(full.median_ms > 300.0, "{}", full.median_ms);
    // The queue of a single CUBIC flow is shorter than its window, so the link is not quite full
    // after each drop. The rate was 2.8 % lower with CoDel and 2.1 % lower with PIE when this test
    // was written.
    for (name, target_ms) in [("codel", 5.0), ("pie", 15.0)] {
        let aqm = format!("ue.phone.rlc.aqm={name}");
        let managed = downlink(&[&aqm]);
        let (wait, rate) = (managed.median_ms, managed.goodput_mbps);
        assert!(
            wait < 2.0 * target_ms,
            "{name}: {wait} ms of {target_ms} ms"
        );
        assert!(
            rate > 0.96 * full.goodput_mbps,
            "{name}: {rate} of {} Mbit/s",
            full.goodput_mbps
        );
        assert!(!managed.drops.is_empty() && managed.marks == 0);
        assert!(
            managed
                .drops
                .iter()
                .all(|row| row.cause == RadioDropCause::Aqm)
        );
    }
}

#[test]
fn scalable_controls_are_marked_and_never_dropped() {
    let full = downlink(&[]);
    for name in ["prague", "dctcp"] {
        let control = format!("flow.bulk.congestion-control={name}");
        let step = downlink(&[&control, "ue.phone.rlc.aqm=ecn-step"]);
        let (wait, rate) = (step.median_ms, step.goodput_mbps);
        assert!(step.drops.is_empty() && step.marks > 1_000, "{name}");
        // The marking threshold is 10 ms, so the queue stays near 10 ms.
        assert!(wait < 12.0, "{name}: {wait} ms");
        assert!(
            rate > 0.96 * full.goodput_mbps,
            "{name}: {rate} of {} Mbit/s",
            full.goodput_mbps
        );
    }
}

#[test]
fn marks_replace_drops_where_the_flow_is_ecn_capable() {
    for aqm in ["codel", "pie"] {
        let aqm = format!("ue.phone.rlc.aqm={aqm}");
        let marked = downlink(&["flow.bulk.tcp.ecn=classic", &aqm, "duration=20 s"]);
        assert!(marked.drops.is_empty() && marked.marks > 0, "{aqm}");
    }
}

#[test]
fn every_generation_mode_and_direction_has_it() {
    const NR: [&str; 4] = [
        "cell.base.radio=nr",
        "cell.base.carrier=28 GHz",
        "cell.base.bandwidth=100 MHz",
        "cell.base.channel.path-loss=umi",
    ];
    let lte: [&str; 0] = [];
    for (cell, mode, direction) in [&lte[..], &NR[..]].into_iter().flat_map(|cell| {
        ["am", "um", "tm"].into_iter().flat_map(move |mode| {
            [Direction::Downlink, Direction::Uplink].map(|direction| (cell, mode, direction))
        })
    }) {
        let mode = format!("ue.phone.rlc.mode={mode}");
        let mut overrides = vec![mode.as_str(), "duration=6 s", "ue.phone.rlc.aqm=codel"];
        overrides.extend(cell);
        if direction == Direction::Uplink {
            overrides.extend(["flow.bulk.from=phone", "flow.bulk.to=server"]);
            // The target is above the waiting time for a grant.
            overrides.push("ue.phone.rlc.aqm.target=30 ms");
        }
        let managed = run(DEEP, direction, &overrides);
        let by_aqm = |row: &RadioDropRow| row.cause == RadioDropCause::Aqm;
        assert!(managed.drops.iter().any(by_aqm), "{overrides:?}");
        let rate = managed.goodput_mbps;
        assert!(rate > 5.0, "{overrides:?}: {rate} Mbit/s");
    }
}
