//! Tests of handover policies, from the scenario file to changes of cell.

use crate::common::observed::{build_with_own, unobserved};
use crate::common::rows::Rows;
use fadeout_core::{CellId, HandoverOutcome, HandoverRow, Procedure, Time};
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::Own;
use fadeout_sim::policy::{CustomPolicy, HandoverPolicy, Policy, Report};

fn read(text: &str, overrides: &[&str]) -> Scenario {
    let source = Source {
        name: "test.toml".to_owned(),
        base_dir: ".".into(),
    };
    let overrides: Vec<Override> = overrides.iter().map(|&it| Override::new(it)).collect();
    fadeout_scenario::parse(text, &source, &overrides, fadeout_sim::catalog())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn run_with(scenario: &Scenario, mut own: Option<Policy>) -> Vec<HandoverRow> {
    let classes = Own {
        congestion: &mut |_| None,
        policy: &mut |_| own.take(),
    };
    let world = build_with_own(scenario, Rows::default(), classes);
    let mut world = world.expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    world.into_probe().handovers
}

fn run(scenario: &Scenario) -> Vec<HandoverRow> {
    run_with(scenario, None)
}

/// Returns the successful handovers: time of the decision, source and target.
fn changes(rows: &[HandoverRow]) -> Vec<(f64, CellId, CellId)> {
    let well = rows.iter().filter(|row| {
        row.procedure == Procedure::Handover && row.outcome == HandoverOutcome::Success
    });
    well.map(|row| (row.triggered_s, row.source, row.target))
        .collect()
}

const EXAMPLE: &str = include_str!("../../../../scenarios/handover.toml");
const SHORT: &str = "duration=\"22 s\"";
/// Channels without random parts.
const SMOOTH: &str =
    "cell.channel={ path-loss = \"uma\", shadowing = false, line-of-sight = \"clear\" }";

/// A policy that selects the strongest cell of a report. It counts its calls.
#[derive(Default)]
struct Counting {
    asked: u32,
    notified: u32,
}

impl HandoverPolicy for Counting {
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        self.asked += 1;
        assert!(report.cells.len() <= 8 && report.measured.len() == 3);
        assert_eq!(report.loads, [1, 0, 0], "the phone is in the first cell");
        report.cells.first().map(|it| it.cell)
    }
    fn on_handover(&mut self, row: &HandoverRow) {
        self.notified += 1;
        assert!(self.asked >= self.notified && row.left_s > row.triggered_s);
    }
}

#[test]
fn a_policy_of_ones_own_that_does_as_a3_has_its_handovers() {
    let scenario = read(EXAMPLE, &[SHORT, SMOOTH]);
    let built_in = changes(&run(&scenario));
    assert_eq!(built_in.len(), 1);
    let own = Policy::Custom(CustomPolicy(Box::<Counting>::default()));
    assert_eq!(changes(&run_with(&scenario, Some(own))), built_in);
}

#[test]
fn one_that_never_chooses_keeps_the_ue_in_its_cell() {
    struct Never;
    impl HandoverPolicy for Never {
        fn choose(&mut self, _: &Report<'_>) -> Option<CellId> {
            None
        }
    }
    let scenario = read(EXAMPLE, &[SHORT, SMOOTH]);
    let own = Policy::Custom(CustomPolicy(Box::new(Never)));
    assert_eq!(changes(&run_with(&scenario, Some(own))), []);
}

#[test]
fn a_timetable_commands_all_handovers_at_its_times() {
    let table = "mobility-management.timetable=[\
        { at = \"3 s\", ue = \"phone\", to = \"middle\" }, \
        { at = \"5 s\", ue = \"phone\", to = \"west\" }]";
    let policy = "mobility-management.policy=\"timetable\"";
    let rows = run(&read(EXAMPLE, &[SHORT, SMOOTH, policy, table]));
    let [west, middle] = [CellId(0), CellId(1)];
    // With policy `a3`, the phone would leave the cell `west` within this time.
    assert_eq!(changes(&rows), [(3.0, west, middle), (5.0, middle, west)]);
}

#[test]
fn a_handover_of_a_timetable_waits_for_the_end_of_another() {
    let table = "mobility-management.timetable=[\
        { at = \"3 s\", ue = \"phone\", to = \"middle\" }, \
        { at = \"3.01 s\", ue = \"phone\", to = \"west\" }]";
    let policy = "mobility-management.policy=\"timetable\"";
    let rows = run(&read(EXAMPLE, &[SHORT, SMOOTH, policy, table]));
    let [(first, ..), (second, ..)] = changes(&rows)[..] else {
        panic!("{} rows", rows.len());
    };
    assert_eq!(first, 3.0);
    // A handover takes some tens of milliseconds, and attempts are 10 ms apart.
    assert!((3.03..3.5).contains(&second), "{second}");
}

#[test]
fn the_strongest_cell_is_another_more_often() {
    let noisy = "mobility-management.measurement-error=\"2 dB\"";
    let count = |policy: &str| {
        let slow = "ue.phone.mobility={ model = \"line\", x-speed = 4 }";
        let place = "ue.phone.position=[\"200 m\", \"40 m\"]";
        let scenario = read(EXAMPLE, &[SHORT, SMOOTH, noisy, policy, slow, place]);
        changes(&run(&scenario)).len()
    };
    let a3 = count("mobility-management.policy=\"a3\"");
    let strongest = count("mobility-management.policy={ name = \"strongest\", filter = 0 }");
    assert!(a3 >= 1 && strongest > 2 * a3, "{a3} and {strongest}");
}

#[test]
fn a_loaded_cell_is_left_sooner_and_entered_later() {
    let crowd = |cell: &str, x: &str| {
        format!(
            "{EXAMPLE}\n[ue.crowd]\ncount = 9\ncell = \"{cell}\"\nposition = [\"{x}\", \"40 m\"]\n"
        )
    };
    let first = |text: &str, policy: &str| {
        let policy = format!("mobility-management.policy={policy}");
        let rows = run(&read(text, &[SHORT, SMOOTH, &policy]));
        changes(&rows).first().map_or(f64::INFINITY, |&(at, ..)| at)
    };
    let balanced = "{ name = \"load-aware\", most-offset = 3 }";
    let (here, there) = (crowd("west", "30 m"), crowd("middle", "500 m"));
    let [plain, early, late] = [
        first(&here, "\"a3\""),
        first(&here, balanced),
        first(&there, balanced),
    ];
    // An offset of up to 3 dB moves the handover by several seconds, because the levels change by
    // about 0.3 dB each second. The handover is earlier out of a crowded cell, and later into one.
    assert!(
        early + 0.5 < plain && plain + 0.5 < late,
        "{early}, {plain}, {late}"
    );
}

/// A phone next to a small 28 GHz cell that people walk past, under a 3.5 GHz cell.
const TWO_BANDS: &str = r#"
duration = "18 s"
[link.core]
from = "server"
to = "site"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.wide]
node = "site"
position = ["0 m", "0 m"]
height = "25 m"
radio = { kind = "nr", numerology = 1 }
carrier = "3.5 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "umi", shadowing = false, line-of-sight = "geometry" }
[cell.small]
node = "site"
position = ["60 m", "0 m"]
height = "10 m"
radio = { kind = "nr", numerology = 3 }
carrier = "28 GHz"
bandwidth = "100 MHz"
channel = { path-loss = "umi", shadowing = false, line-of-sight = "geometry", blockage = "BLOCKAGE" }
[ue.phone]
cell = "small"
position = ["60 m", "30 m"]
[mobility-management]
measurement-period = "40 ms"
t310 = "2 s"
policy = { name = "blockage-aware", leave-below = -95, return-margin = 2, return-after = "1 s" }
[flow.download]
from = "server"
to = "phone"
"#;

#[test]
fn a_blocked_band_is_left_and_returned_to_when_it_has_been_clear_for_a_while() {
    let (small, wide) = (CellId(1), CellId(0));
    let run_of = |blockage: &str| {
        let text = TWO_BANDS.replace("\"BLOCKAGE\"", blockage);
        changes(&run(&read(&text, &[])))
    };
    // The small cell is blocked from 5 s to 7 s and from 12 s to 14 s.
    let seldom = "{ model = \"periodic\", first = \"5 s\", period = \"7 s\", duration = \"2 s\", loss = 40 }";
    let found = run_of(seldom);
    let cells: Vec<_> = found.iter().map(|&(_, from, to)| (from, to)).collect();
    let there_and_back = [(small, wide), (wide, small)];
    assert_eq!(
        cells,
        [there_and_back, there_and_back].concat(),
        "{found:?}"
    );
    let times: Vec<f64> = found.iter().map(|&(at, ..)| at).collect();
    // A handover follows after 40 ms of blockage, two measurements and the report. The return
    // follows 1 s after the end of the blockage.
    for (at, since) in times.iter().zip([5.0, 8.0, 12.0, 15.0]) {
        assert!((0.0..0.4).contains(&(at - since)), "{times:?}");
    }
    // Blockages follow each other after half a second. The UE stays in the other cell until the
    // last one is over.
    let often = "{ model = \"periodic\", first = \"5 s\", period = \"1500 ms\", duration = \"1 s\", loss = 40 }";
    let found = run_of(often);
    let cells: Vec<_> = found.iter().map(|&(_, from, to)| (from, to)).collect();
    assert_eq!(cells, [(small, wide)], "{found:?}");
}

#[test]
fn a_policy_alone_changes_no_channel() {
    let fingerprint = |policy: &str| {
        let scenario = read(EXAMPLE, &["duration=\"5 s\"", policy]);
        let mut world = unobserved(&scenario).expect("a world");
        while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
        world.fingerprint()
    };
    // No UE changes its cell in these 5 s, so all policies give the same trajectory.
    let a3 = fingerprint("mobility-management.policy=\"a3\"");
    let balanced = fingerprint("mobility-management.policy=\"load-aware\"");
    let fallback = fingerprint("mobility-management.policy=\"blockage-aware\"");
    assert_eq!([balanced, fallback], [a3, a3]);
}
