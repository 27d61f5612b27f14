//! Tests of the effects of DRX on measurements, on the detection of a failing link and on delay.

use crate::common::build;
use crate::common::parse;
use fadeout_core::{MeasurementRow, Probe, RrcEvent, RrcRow, Time, UeId};

#[derive(Default)]
struct Rows {
    measured_s: Vec<f64>,
    steps: Vec<(RrcEvent, f64)>,
}

fn seconds(at: Time) -> f64 {
    at.as_nanos() as f64 / 1e9
}

impl Probe for Rows {
    fn wants_measurements(&self, _: UeId) -> bool {
        true
    }
    fn measurement(&mut self, row: MeasurementRow) {
        self.measured_s.push(seconds(row.time_s));
    }
    fn rrc(&mut self, row: RrcRow) {
        self.steps.push((row.event, seconds(row.time_s)));
    }
}

/// Runs a UE that leaves an LTE cell at 40 m/s from 1 km on. `radio` is the radio of the cell.
/// `flow` is the application of a flow to the UE.
fn run(radio: &str, flow: &str) -> Rows {
    let text = format!(
        "duration = \"100 s\"\n[link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\n\
         delay = \"5 ms\"\n[cell.base]\nradio = {radio}\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
         tx-power = \"40 dBm\"\nchannel = {{ path-loss = \"lte-macro\", shadowing = false, fading = \"none\" }}\n\
         [ue.phone]\nposition = [\"1 km\", \"0 m\"]\nmobility = {{ model = \"line\", x-speed = 40 }}\n\
         [mobility-management]\n[flow.data]\nfrom = \"server\"\nto = \"phone\"\napplication = {flow}\n"
    );
    let scenario = parse(&text, ".".into(), &[]);
    let mut world: crate::common::Observed<Rows> =
        build(&scenario, Rows::default()).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    world.into_probe()
}

/// An application that sends an echo every 50 s.
const QUIET: &str = "{ kind = \"echo\", period = \"50 s\" }";
/// An application that sends a packet every 40 ms.
const BUSY: &str = "{ kind = \"packet-stream\", rate = \"200 kbit/s\" }";

fn cell(cycle_ms: u32) -> String {
    format!(
        "{{ kind = \"lte\", drx-cycle = \"{cycle_ms} ms\", drx-on = \"10 ms\", drx-inactivity = \"100 ms\" }}"
    )
}

/// Returns the median time between measurements, ms.
fn period_ms(rows: &Rows) -> u64 {
    let pairs = rows.measured_s.windows(2);
    let mut gaps: Vec<u64> = pairs
        .map(|pair| ((pair[1] - pair[0]) * 1e3).round() as u64)
        .collect();
    gaps.sort_unstable();
    gaps[gaps.len() / 2]
}

/// Returns the time at which the link was first out of sync.
fn out_of_sync_s(rows: &Rows) -> f64 {
    let is_out = |step: &&(RrcEvent, f64)| step.0 == RrcEvent::OutOfSync;
    rows.steps
        .iter()
        .find(is_out)
        .expect("it leaves the cell")
        .1
}

#[test]
fn a_ue_that_sleeps_measures_once_in_five_cycles_and_one_with_data_as_ever() {
    for (cycle_ms, expected_ms) in [(0, 200), (40, 200), (320, 1600), (1280, 6400)] {
        assert_eq!(
            period_ms(&run(&cell(cycle_ms), QUIET)),
            expected_ms,
            "{cycle_ms} ms"
        );
    }
    assert_eq!(period_ms(&run(&cell(1280), BUSY)), 200);
}

/// The SINR falls by a quarter of a dB each second. This is slow enough for the mean over a window
/// to lag by half of the window.
#[test]
fn a_ue_that_sleeps_finds_later_that_its_link_fails() {
    let awake_s = out_of_sync_s(&run(&cell(0), QUIET));
    for (cycle_s, window_s) in [(0.04, 0.8), (0.32, 3.2), (1.28, 6.4)] {
        let found_s = out_of_sync_s(&run(&cell((cycle_s * 1e3) as u32), QUIET));
        let later_s = found_s - awake_s;
        // With DRX the detection is later by half of the difference between the windows. Up to one
        // cycle passes until the evaluation.
        let expected_s = (window_s - 0.2) / 2.0;
        assert!(
            (-0.1..cycle_s + 0.1).contains(&(later_s - expected_s)),
            "{cycle_s} s: {later_s} s later"
        );
    }
}

#[test]
fn once_t310_runs_the_ue_looks_as_if_it_did_not_sleep() {
    let rows = run(&cell(1280), QUIET);
    let out_s = out_of_sync_s(&rows);
    let failure = rows
        .steps
        .iter()
        .find(|step| step.0 == RrcEvent::LinkFailure);
    let failed_s = failure.expect("it leaves the cell").1;
    // T310 lasts one second. An in-sync indication would stop it.
    assert!(
        (failed_s - out_s - 1.0).abs() < 1e-6,
        "{out_s} and {failed_s}"
    );
}
