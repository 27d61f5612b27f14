//! Tests of carrier aggregation under mobility management, from the scenario file to result rows,
//! with a download.

use crate::common::build;
use crate::common::rows::Rows;
use crate::common::{parse, run_with};
use fadeout_core::{CellId, MeasurementRow, RrcEvent, RrcRow, Time};
use fadeout_scenario::Scenario;

/// Returns the example `handover` with a second cell at each site, and these overrides.
fn example(overrides: &[&str]) -> Scenario {
    let text = include_str!("../../../../scenarios/handover.toml");
    let sites = [("west", 0), ("middle", 500), ("east", 1000)];
    let second = sites.map(|(node, x)| {
        format!(
            "[cell.{node}-high]\nnode = \"{node}\"\nposition = [\"{x} m\", \"0 m\"]\nheight = \"25 m\"\n\
             carrier = \"2.6 GHz\"\nbandwidth = \"20 MHz\"\ntx-power = \"46 dBm\"\nradio = \"lte\"\n\
             channel = {{ path-loss = \"uma\" }}\n"
        )
    });
    let text = text.replacen("[ue.phone]", &format!("{}[ue.phone]", second.concat()), 1);
    parse(&text, ".".into(), overrides)
}

fn run(overrides: &[&str]) -> (Rows, u64) {
    run_with(&example(overrides), Rows::with_measurements())
}

const TWO: &str = "ue.phone.max-secondary-cells=1";

#[test]
fn a_download_uses_the_cells_of_each_site_it_comes_to() {
    let short = "duration=\"24 s\"";
    let (alone, of_one) = run(&[short]);
    let (rows, of_two) = run(&[short, TWO]);
    assert!(
        of_two > of_one * 3 / 2,
        "{of_two} packets, {of_one} with one carrier"
    );
    let released = |event: &RrcEvent| *event == RrcEvent::SecondaryReleased;
    assert!(!alone.steps.iter().any(|row| released(&row.event)));
    assert!(alone.measured.iter().all(|row| !row.is_secondary));
    let first = rows.handovers.first().expect("a handover");
    let seconds = |row: &RrcRow| row.time_s.since(Time::ZERO).as_secs_f64();
    let row_of = |event| {
        let mut steps = rows.steps.iter();
        let found = steps.find(|row| row.event == event && seconds(row) >= first.triggered_s);
        found.copied().unwrap_or_else(|| panic!("no {event:?}"))
    };
    let (old, new) = (
        row_of(RrcEvent::SecondaryReleased),
        row_of(RrcEvent::SecondaryAdded),
    );
    assert!(
        (seconds(&old) - first.left_s).abs() < 1e-9
            && (seconds(&new) - first.entered_s).abs() < 1e-9
    );
    // The number of a site's second cell is three above that of its first cell. Each of the two
    // cells is the secondary cell of the other.
    let secondary_of = |cell: CellId| CellId((cell.0 + 3) % 6);
    assert_eq!(
        (old.cell, new.cell),
        (secondary_of(first.source), secondary_of(first.target))
    );
    let mut times = rows
        .measured
        .chunk_by(|one, other| one.time_s == other.time_s);
    let count = |is_counted: fn(&MeasurementRow) -> bool, rows: &[MeasurementRow]| {
        rows.iter().filter(|&row| is_counted(row)).count()
    };
    assert!(times.all(|rows| {
        count(|it| it.is_serving, rows) == 1 && count(|it| it.is_secondary, rows) <= 1
    }));
}

#[test]
fn a_cell_says_which_others_are_beside_it() {
    let none_here =
        ["middle", "east"].map(|node| format!("cell.{node}.secondary-cells=[\"west-high\"]"));
    let (rows, _) = run(&["duration=\"24 s\"", TWO, &none_here[0], &none_here[1]]);
    let mut added = rows
        .steps
        .iter()
        .filter(|row| row.event == RrcEvent::SecondaryAdded);
    assert!(added.next().is_some() && added.all(|row| row.cell == CellId(3)));
}

#[test]
fn a_secondary_cell_has_the_drx_of_its_primary_one() {
    let drx = "cell.west-high.radio={ kind = \"lte\", drx-cycle = \"40 ms\", drx-on = \"4 ms\", \
               drx-inactivity = \"10 ms\" }";
    let scenario = example(&[TWO, drx, "cell.west.secondary-cells=[\"west-high\"]"]);
    let refused = build(&scenario, Rows::with_measurements()).map(|_| ());
    let error = refused.expect_err("two of them").to_string();
    assert!(error.contains("west") && error.contains("DRX"), "{error}");
}
