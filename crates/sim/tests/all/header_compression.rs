//! Tests of header compression, from the scenario file to result rows and tables.

use crate::common::build;
use crate::common::rows::Rows;
use crate::common::{end, number, parse};
use fadeout_core::{HandoverOutcome, HandoverRow, RadioDropCause, RadioDropRow};
use fadeout_scenario::{Override, Source};
use fadeout_sim::{catalog, summary};
use serde_json::Value;

impl Rows {
    fn unfound(&self) -> u64 {
        let is_unfound = |row: &&RadioDropRow| row.cause == RadioDropCause::HeaderCompression;
        self.drops.iter().filter(is_unfound).count() as u64
    }

    fn successes(&self) -> u64 {
        let is_one = |row: &&HandoverRow| row.outcome == HandoverOutcome::Success;
        self.handovers.iter().filter(is_one).count() as u64
    }
}

const HANDOVER: &str = include_str!("../../../../scenarios/handover.toml");
const ROHC: &str = "ue.phone.pdcp={ name = \"standard\", header-compression = \"rohc\" }";
/// Channel settings with slowly varying levels, so that no link fails.
const SLOW: [&str; 4] = [
    "cell.west.channel.line-of-sight=\"obstructed\"",
    "cell.middle.channel.line-of-sight=\"obstructed\"",
    "cell.east.channel.line-of-sight=\"obstructed\"",
    "probe.drops=true",
];

/// Returns the rows and the summary of a drive past three cells.
fn drive(overrides: &[&str]) -> (Rows, Value) {
    let overrides: Vec<&str> = SLOW.iter().chain(overrides).copied().collect();
    let scenario = parse(HANDOVER, ".".into(), &overrides);
    let mut world = build(&scenario, Rows::default()).expect("a world");
    while world.run(end(&scenario), u64::MAX) {}
    let summary = summary(&scenario, &world);
    (world.into_probe(), summary)
}

/// Returns the row of one direction.
fn counts_of(summary: &Value, direction: &str) -> Value {
    let rows = summary["header_compression"].as_array().expect("a table");
    let mut rows = rows.iter();
    let row = rows.find(|row| row["direction"] == direction);
    row.expect("a row for each direction").clone()
}

#[test]
fn with_acknowledgments_handovers_cost_whole_headers_and_no_packet() {
    for seed in 1..=3 {
        let seed = format!("seed={seed}");
        let (rows, summary) = drive(&["duration=\"25 s\"", &seed, ROHC]);
        assert!(rows.successes() > 0, "{seed}");
        let changes = rows.handovers.iter().filter(|row| row.left_s.is_finite());
        let changes = changes.count() as f64;
        for direction in ["downlink", "uplink"] {
            let row = counts_of(&summary, direction);
            let per_header = number(&row, "compressed_bytes") / number(&row, "packets");
            let before = number(&row, "header_bytes") / number(&row, "packets");
            assert!(before > 51.0 && per_header < 20.0, "{seed}: {row}");
            assert_eq!(number(&row, "resets"), changes, "{seed}: {row}");
            // Four IR packets follow each reset. The other IR packets are the refreshes, one every
            // half second.
            let whole = number(&row, "ir_packets");
            let refreshes = whole - 4.0 * (1.0 + changes);
            assert!((0.0..=50.0).contains(&refreshes), "{seed}: {row}");
        }
        assert_eq!(rows.unfound(), 0, "{seed}");
    }
}

#[test]
fn without_acknowledgments_headers_that_are_not_found_have_their_cause() {
    let um = "ue.phone.rlc={ mode = \"um\" }";
    let mut unfound = 0;
    for seed in 1..=3 {
        let seed = format!("seed={seed}");
        let (rows, summary) = drive(&["duration=\"25 s\"", &seed, ROHC, um]);
        let failed = ["downlink", "uplink"]
            .map(|direction| number(&counts_of(&summary, direction), "failed_packets") as u64);
        assert_eq!(failed[0] + failed[1], rows.unfound(), "{seed}");
        unfound += rows.unfound();
        let delivered = number(&summary["flows"][0], "delivered_bytes");
        assert!(delivered > 1e6, "{seed}: {delivered}");
    }
    assert!(unfound > 0, "blocks are lost");
}

/// Two cells of one base station.
const SITE: &str = "title = \"One site\"\nduration = \"30 s\"\n\
    [link.internet]\nfrom = \"server\"\nto = \"site\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
    [cell.west]\nnode = \"site\"\nposition = [\"0 m\", \"0 m\"]\nheight = \"25 m\"\ncarrier = \"2.1 GHz\"\n\
    bandwidth = \"20 MHz\"\ntx-power = \"46 dBm\"\nradio = \"lte\"\n\
    channel = { path-loss = \"uma\", line-of-sight = \"obstructed\" }\n\
    [cell.east]\nnode = \"site\"\nposition = [\"400 m\", \"0 m\"]\nheight = \"25 m\"\ncarrier = \"2.1 GHz\"\n\
    bandwidth = \"20 MHz\"\ntx-power = \"46 dBm\"\nradio = \"lte\"\n\
    channel = { path-loss = \"uma\", line-of-sight = \"obstructed\" }\n\
    [ue.phone]\nposition = [\"50 m\", \"40 m\"]\nmobility = { model = \"line\", x-speed = 16.7 }\n\
    rlc = { mode = \"um\" }\n\
    [mobility-management]\ndata = \"forwarding\"\nevents = [{ kind = \"a3\", offset = \"3 dB\",\
    hysteresis = \"1 dB\", time-to-trigger = \"160 ms\" }]\n\
    [flow.download]\nfrom = \"server\"\nto = \"phone\"\n";

/// Compression contexts outlast a handover within a base station if the key asks for it.
#[test]
fn contexts_continue_within_a_base_station() {
    let run = |pdcp: &str| {
        let scenario = parse(SITE, ".".into(), &[pdcp]);
        let mut world = build(&scenario, Rows::default()).expect("a world");
        while world.run(end(&scenario), u64::MAX) {}
        let row = counts_of(&summary(&scenario, &world), "downlink");
        (world.into_probe(), row)
    };
    let (rows, row) = run(ROHC);
    let changes = rows.successes();
    assert!(changes > 0 && rows.handovers.len() as u64 == changes);
    assert_eq!(number(&row, "resets"), changes as f64);
    let continued = "ue.phone.pdcp={ name = \"standard\", header-compression = \"rohc\", drb-continue-rohc = true }";
    let (rows, row) = run(continued);
    assert!(rows.successes() > 0);
    assert_eq!(number(&row, "resets"), 0.0);
}

#[test]
fn without_the_key_there_is_no_row() {
    let (_, summary) = drive(&["duration=\"2 s\""]);
    let rows = summary["header_compression"].as_array();
    assert!(rows.is_none_or(Vec::is_empty));
}

#[test]
fn what_header_compression_does_not_go_with_is_refused_where_it_stands() {
    let refused = |overrides: &[&str]| {
        let source = Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        let overrides: Vec<Override> = overrides.iter().map(|text| Override::new(*text)).collect();
        let scenario = fadeout_scenario::parse(HANDOVER, &source, &overrides, catalog());
        match scenario {
            Err(error) => error.to_string(),
            Ok(scenario) => match build(&scenario, Rows::default()) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{overrides:?} is taken"),
            },
        }
    };
    let unordered = "ue.phone.pdcp={ name = \"standard\", header-compression = \"rohc\", delivery = \"out-of-order\" }";
    let continued = "ue.phone.pdcp={ name = \"standard\", header-compression = \"rohc\", drb-continue-rohc = true }";
    let misspelt = "ue.phone.pdcp={ name = \"standard\", header-compression = \"roch\" }";
    for (overrides, expected) in [
        (vec![unordered], "out-of-order delivery"),
        (vec![ROHC, "ue.phone.rlc=\"tm\""], "transparent mode"),
        (
            vec![ROHC, "mobility-management.procedure=\"daps\""],
            "procedure = \"daps\"",
        ),
        (
            vec![ROHC, "probe.radio-capture=[\"phone\"]"],
            "radio-capture",
        ),
        (vec![continued], "drb-continue-rohc"),
        (vec![misspelt], "rohc"),
    ] {
        let error = refused(&overrides);
        assert!(error.contains(expected), "{overrides:?}: {error}");
    }
}
