//! Helpers that read and run the example scenarios.

#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod observed;
pub(crate) mod rows;

#[allow(unused_imports, reason = "each test file uses a part")]
pub(crate) use observed::{Observed, build, unobserved};

use fadeout_core::{NullProbe, Probe, Span, Time};
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::catalog;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns every file in `scenarios/`, sorted by name.
pub(crate) fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the scenarios are beside the crates")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has scenarios", folder.display());
    files
}

/// Returns a scenario's name, which is that of its file.
pub(crate) fn name(path: &Path) -> String {
    let stem = path.file_stem().expect("a scenario is a file");
    stem.to_string_lossy().into_owned()
}

/// Reads a file with overrides such as `seed=7`.
pub(crate) fn read(path: &Path, overrides: &[&str]) -> Scenario {
    let text = std::fs::read_to_string(path).expect("a readable scenario");
    let base_dir = path.parent().expect("a file is in a folder").to_owned();
    parse(&text, base_dir, overrides)
}

/// Reads a scenario from text.
pub(crate) fn parse(text: &str, base_dir: PathBuf, overrides: &[&str]) -> Scenario {
    let overrides: Vec<Override> = overrides.iter().map(|text| Override::new(*text)).collect();
    let source = Source {
        name: "test".to_owned(),
        base_dir,
    };
    fadeout_scenario::parse(text, &source, &overrides, catalog())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns the errors of a scenario from text, which reading the text or building its world finds.
pub(crate) fn errors_of(text: &str) -> String {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let none: &[Override] = &[];
    match fadeout_scenario::parse(text, &source, none, catalog()) {
        Err(errors) => errors.to_string(),
        Ok(scenario) => {
            let built = unobserved(&scenario).map(|_| ());
            let findings = built.expect_err("the scenario has mistakes").findings();
            fadeout_scenario::locate(text, &source, none, catalog(), &findings).to_string()
        }
    }
}

/// Returns two cells on different carriers, each in a world of its own, without flows. Each has a
/// UE, and a link from `server`.
pub(crate) fn by_carrier() -> String {
    let cell = |number: u32| {
        format!(
            "[link.core-{number}]\nfrom = \"server\"\nto = \"base-{number}\"\ndelay = \"5 ms\"\n\
             rate = \"1 Gbit/s\"\n[cell.base-{number}]\nradio = \"lte\"\ncarrier = \"{number} GHz\"\n\
             bandwidth = \"10 MHz\"\nchannel = {{ path-loss = \"uma\" }}\n\
             [ue.phone-{number}]\ncell = \"base-{number}\"\n"
        )
    };
    let head = "worlds = \"by-carrier\"\nduration = \"1 s\"\n";
    format!("{head}{}{}", cell(1), cell(2))
}

/// Runs a scenario to its end. Returns its probe and the number of packets that reached an
/// endpoint.
pub(crate) fn run_with<P: Probe + 'static>(scenario: &Scenario, probe: P) -> (P, u64) {
    let mut world = build(scenario, probe).expect("a checked scenario makes a world");
    while world.run(end(scenario), u64::MAX) {}
    let delivered = world.delivered_packets();
    (world.into_probe(), delivered)
}

/// Returns the world of a scenario without a probe.
pub(crate) fn world(scenario: &Scenario) -> Observed<NullProbe> {
    unobserved(scenario).expect("a checked scenario makes a world")
}

/// Runs a world up to `at`.
pub(crate) fn run_to<P: Probe + 'static>(world: &mut Observed<P>, at: Time) {
    while world.run(at, u64::MAX) {}
}

/// Returns the end of a scenario.
pub(crate) fn end(scenario: &Scenario) -> Time {
    Time::ZERO + scenario.duration
}

/// Returns the number in a column of a summary row.
pub(crate) fn number(row: &Value, column: &str) -> f64 {
    let found = &row[column];
    found
        .as_f64()
        .unwrap_or_else(|| panic!("{column} is {found} in {row}"))
}

/// Returns the time at this fraction of a scenario.
pub(crate) fn part(scenario: &Scenario, fraction: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(scenario.duration.as_secs_f64() * fraction)
}
