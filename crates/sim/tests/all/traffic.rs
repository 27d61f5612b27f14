//! Tests of applications in whole runs.

use crate::common::unobserved;
use fadeout_core::Time;
use fadeout_scenario::{Scenario, Source};
use fadeout_sim::{catalog, summary};
use serde_json::Value;

fn parse(flows: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"30 s\"\nseed = 3\n\
         [link.access]\nfrom = \"server\"\nto = \"client\"\nrate = \"20 Mbit/s\"\n\
         delay = \"10 ms\"\n{flows}"
    );
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    fadeout_scenario::parse(&text, &source, &[], catalog()).map_err(|errors| errors.to_string())
}

fn run(flows: &str) -> Value {
    let scenario = parse(flows).unwrap_or_else(|errors| panic!("{errors}"));
    let mut world = unobserved(&scenario).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    summary(&scenario, &world)
}

fn flow(application: &str, rest: &str) -> String {
    format!(
        "[flow.user]\nfrom = \"server\"\nto = \"client\"\napplication = {application}\n{rest}\n"
    )
}

fn number(summary: &Value, flow: usize, key: &str) -> f64 {
    let value = &summary["flows"][flow][key];
    value.as_f64().unwrap_or_else(|| panic!("{key} is {value}"))
}

#[test]
fn a_download_takes_a_round_trip_longer_than_a_transfer() {
    let size = "size = \"1 MB\"";
    let transfer = run(&flow(&format!("{{ kind = \"transfer\", {size} }}"), ""));
    let took = |summary: &Value| number(summary, 0, "flow_completion_time_s");
    for kind in ["ftp", "web"] {
        let download = run(&flow(&format!("{{ kind = \"{kind}\", {size} }}"), ""));
        assert_eq!(number(&download, 0, "delivered_bytes"), 1e6);
        // The client sends its SYN and then its request, so the sender starts half a round trip
        // later. A sender that opens the connection itself sends data with its ACK.
        let later = took(&download) - took(&transfer);
        assert!((0.005..0.03).contains(&later), "{kind}: {later} s later");
    }
}

#[test]
fn a_dialogue_gets_all_its_answers() {
    let dialogue = run(&flow(
        "{ kind = \"request-response\", requests = 10, size = \"50 kB\", think = \"100 ms\" }",
        "",
    ));
    assert_eq!(number(&dialogue, 0, "delivered_bytes"), 500_000.0);
    let took = number(&dialogue, 0, "flow_completion_time_s");
    // Ten answers take at least 20 ms each, and nine pauses have a mean of 100 ms.
    assert!((0.4..4.0).contains(&took), "{took}");
}

#[test]
fn bursts_have_their_mean_rate() {
    let bursts = run(&flow(
        "{ kind = \"on-off\", rate = \"4 Mbit/s\", on = \"100 ms\", off = \"100 ms\" }",
        "",
    ));
    let mbps = number(&bursts, 0, "delivered_bytes") * 8.0 / 30.0 / 1e6;
    // The run has 150 pairs of exponential times, and five standard errors of the share are 0.6.
    assert!((mbps - 2.0).abs() < 0.6, "{mbps}");
}

#[test]
fn arrivals_are_a_poisson_process_of_sized_flows() {
    let text = flow(
        "\"web\"",
        "arrivals = { rate = 10.0, size = \"50 kB\", distribution = \"exponential\" }",
    );
    let scenario = parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
    let count = scenario.flows.len() as f64;
    // The expected number of flows is 300, and five standard deviations are 87.
    assert!((count - 300.0).abs() < 87.0, "{count}");
    assert_eq!(
        parse(&text).ok(),
        Some(scenario),
        "the same seed, the same flows"
    );
    let summary = run(&text);
    let flows = summary["flows"].as_array().expect("a list of flows");
    let times: Vec<f64> = flows
        .iter()
        .filter_map(|flow| flow["flow_completion_time_s"].as_f64())
        .collect();
    assert!(
        times.len() as f64 > 0.95 * count,
        "{} of {count}",
        times.len()
    );
    // A transfer takes at least two round trips of 20 ms.
    assert!(times.iter().all(|&time| time >= 0.04));
}

#[test]
fn arrivals_without_a_size_or_without_end_are_errors() {
    let refusal_with = |application: &str, rate: &str| {
        let arrivals = format!("arrivals = {{ rate = {rate}, size = \"1 kB\" }}");
        parse(&flow(application, &arrivals)).expect_err("a mistake")
    };
    assert!(refusal_with("\"bulk\"", "1.0").contains("size"));
    assert!(refusal_with("\"transfer\"", "100000.0").contains("flows"));
}
