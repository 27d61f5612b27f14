//! Handover from the scenario file to rows: TCP runs through it.

use fadeout_core::{
    HandoverOutcome, HandoverRow, Probe, Procedure, RadioDropCause, RadioDropRow, Time,
};
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::{World, build};

#[derive(Default)]
struct Rows {
    handovers: Vec<HandoverRow>,
    drops: Vec<RadioDropRow>,
}

impl Probe for Rows {
    fn handover(&mut self, row: HandoverRow) {
        self.handovers.push(row);
    }
    fn radio_dropped(&mut self, row: RadioDropRow) {
        self.drops.push(row);
    }
}

/// The project's example with these overrides.
fn example(overrides: &[&str]) -> Scenario {
    let text = include_str!("../../../scenarios/handover.toml");
    let source = Source {
        name: "handover.toml".to_owned(),
        base_dir: ".".into(),
    };
    let overrides: Vec<Override> = overrides.iter().map(|&it| Override::new(it)).collect();
    fadeout_scenario::parse(text, &source, &overrides, fadeout_sim::catalog())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(overrides: &[&str]) -> (Rows, u64) {
    let scenario = example(overrides);
    let mut world: World<Rows> = build(&scenario, Rows::default()).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let delivered = world.delivered_packets();
    (world.into_probe(), delivered)
}

/// From the report to the command a step takes 5 + 10 + 5 ms; the UE needs 35 ms and waits up to 10 ms for
/// an occasion; the core switches 5 ms after the last message.
#[test]
fn a_handover_takes_the_times_of_its_steps() {
    let (rows, delivered) = run(&[]);
    let whole = |row: &&HandoverRow| {
        row.procedure == Procedure::Handover && row.outcome == HandoverOutcome::Success
    };
    let rows_of: Vec<&HandoverRow> = rows.handovers.iter().filter(whole).collect();
    assert!(rows_of.len() >= 2, "from the first cell to the third");
    for row in rows_of {
        let near = |span: f64, least: f64, most: f64| {
            assert!(
                least - 1e-9 <= span && span <= most + 1e-9,
                "{span}: {row:?}"
            );
        };
        near(row.commanded_s - row.triggered_s, 0.020, 0.020);
        near(row.entered_s - row.left_s, 0.038, 0.048);
        near(row.switched_s - row.completed_s, 0.005, 0.005);
        // No packet passes while the UE is in no cell, and not before its last message is there, which
        // RLC may have to repeat. The next one then comes within a grant's time.
        let outside_s = row.completed_s - row.left_s;
        near(row.downlink_gap_s, outside_s, outside_s + 0.02);
        assert_eq!(row.lost_packets, 0);
        assert!(row.forwarded_numbered > 0 && row.forwarded_fresh > 0);
    }
    assert!(delivered > 100_000, "{delivered}");
    assert!(
        rows.drops
            .iter()
            .all(|row| row.cause == RadioDropCause::BufferFull)
    );
}

#[test]
fn without_forwarding_what_the_source_has_is_lost() {
    let (rows, _) = run(&["mobility-management.data=\"none\""]);
    let lost: u32 = rows.handovers.iter().map(|row| row.lost_packets).sum();
    let dropped = rows.drops.iter();
    let dropped = dropped
        .filter(|row| row.cause == RadioDropCause::Handover)
        .count();
    assert!(lost > 100, "{lost}");
    assert!(dropped as u32 >= lost, "{dropped} and {lost}");
}

#[test]
fn what_cannot_be_moved_is_refused_with_the_reason() {
    let scenario = example(&[
        "flow.download.route=[\"internet\", \"s1-west\", \"phone\"]",
        "ue.phone.cell=\"west\"",
    ]);
    let error = build(&scenario, Rows::default())
        .map(|_| ())
        .expect_err("a route of its own");
    assert!(error.to_string().contains("`route`"), "{error}");
}
