//! Tests of overrides by `--set`, and of the messages for their mistakes.

use super::*;
use fadeout_core::Span;
use fadeout_scenario::{DelayModel, Loss, QueueLimit, RateModel};

fn text() -> String {
    format!(
        "{LINK}{FLOW}congestion-control = \"cubic\"\n[flow.other]\nfrom = \"client\"\nto = \"server\"\n"
    )
}

#[track_caller]
fn read_with(overrides: &[&str]) -> Scenario {
    read(&text(), overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
fn mistake(one: &str) -> ScenarioError {
    let errors = read(&text(), &[one]).expect_err("refused").errors;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((errors[0].file.as_str(), errors[0].line), ("--set", 1));
    errors[0].clone()
}

fn controls(scenario: &Scenario) -> Vec<&str> {
    let name = |flow: &fadeout_scenario::Flow| flow.congestion_control.clone().map(|one| one.name);
    scenario
        .flows
        .iter()
        .map(|flow| match name(flow).as_deref() {
            Some("cubic") => "cubic",
            Some("newreno") => "newreno",
            _ => "none",
        })
        .collect()
}

#[test]
fn a_key_without_a_name_is_set_on_every_flow() {
    assert_eq!(controls(&read_with(&[])), ["cubic", "none"]);
    assert_eq!(
        controls(&read_with(&["flow.congestion-control=newreno"])),
        ["newreno", "newreno"]
    );
    assert_eq!(
        controls(&read_with(&["flow.other.congestion-control=newreno"])),
        ["cubic", "newreno"]
    );
}

#[test]
fn the_last_override_wins() {
    let scenario = read_with(&[
        "seed=2",
        "flow.congestion-control=newreno",
        "seed = 3",
        "flow.bulk.congestion-control=cubic",
    ]);
    assert_eq!(scenario.seed, 3);
    assert_eq!(controls(&scenario), ["cubic", "newreno"]);
}

#[test]
fn a_value_that_is_no_toml_is_a_string() {
    let scenario = read_with(&["duration=5 s", "title=a = b", "link.radio.delay=\"2 ms\""]);
    assert_eq!(
        (scenario.duration, scenario.title.as_str()),
        (Span::from_secs(5), "a = b")
    );
    assert_eq!(
        scenario.links[0].forward.delay,
        DelayModel::Constant(Span::from_millis(2))
    );
}

#[test]
fn tables_on_the_way_appear() {
    let scenario = read_with(&[
        "link.radio.queue.limit=7 packets",
        "link.reverse.loss.probability=0.5",
    ]);
    assert_eq!(
        scenario.links[0].forward.queue.limit,
        QueueLimit::Packets(7)
    );
    assert_eq!(
        scenario.links[0].reverse.loss,
        Some(Loss::Independent { probability: 0.5 })
    );
    assert!(!read_with(&["probe.drops=false"]).probe.drops);
}

#[test]
fn a_parameter_joins_a_plain_name() {
    let scenario = read_with(&["flow.bulk.congestion-control.beta=0.5"]);
    let control = scenario.flows[0]
        .congestion_control
        .as_ref()
        .expect("given");
    assert_eq!(
        (
            control.name.as_str(),
            control.parameters.number("beta", 0.0)
        ),
        ("cubic", 0.5)
    );
}

#[test]
fn a_key_of_another_sort_of_table_replaces_the_old_sort() {
    let scenario = read_with(&[
        "link.radio.loss={ gilbert-elliott = { to-bad = 0.1, to-good = 0.1 } }",
        "link.radio.loss.probability=0.25",
        "link.radio.rate.trace=trace.down",
    ]);
    assert_eq!(
        scenario.links[0].forward.loss,
        Some(Loss::Independent { probability: 0.25 })
    );
    assert!(matches!(
        scenario.links[0].forward.rate,
        RateModel::Trace { .. }
    ));
}

#[test]
fn items_of_a_list_have_numbers() {
    let text = text() + "[probe]\ncapture = [\"client\", \"server\"]\n";
    let read_one = |one: &str| read(&text, &[one]);
    let errors = read_one("probe.capture.1=servr")
        .expect_err("no such node")
        .errors;
    assert_eq!(
        (errors[0].column, errors[0].suggestion.as_deref()),
        (17, Some("`server`"))
    );
    let errors = read_one("probe.capture.2=client")
        .expect_err("no such item")
        .errors;
    assert_eq!(
        (errors[0].column, errors[0].message.as_str()),
        (15, "item 2 of a list of 2")
    );
    assert_eq!(errors[0].expected.as_deref(), Some("a number from 0 to 1"));
}

#[test]
fn mistakes_point_into_the_override() {
    let error = mistake("flow.congestion-control=cubik");
    assert_eq!(
        (error.column, error.message.as_str()),
        (25, "unknown congestion control `cubik`")
    );
    assert_eq!(error.suggestion.as_deref(), Some("`cubic`"));
    assert!(error.snippet.contains("1 | flow.congestion-control=cubik"));
    assert!(error.snippet.ends_with("^^^^^"));

    let error = mistake("flow.bluk.start=1 s");
    assert_eq!(
        (error.column, error.suggestion.as_deref()),
        (6, Some("`bulk`"))
    );
    let error = mistake("flow.bulk.strat=1 s");
    assert_eq!(
        (error.column, error.suggestion.as_deref()),
        (11, Some("`start`"))
    );
    let error = mistake("durration=1 s");
    assert_eq!(
        (error.column, error.suggestion.as_deref()),
        (1, Some("`duration`"))
    );
    let error = mistake("link.radio.delay=20");
    assert_eq!(error.column, 18);
    assert!(
        error
            .message
            .ends_with("found the number 20 without a unit"),
        "{}",
        error.message
    );
    assert_eq!(mistake("seed").message, "an override needs a `=`");
    assert_eq!(mistake("flow..start=1").column, 6);
    assert_eq!(
        mistake("blockage.car.effect=lost").message,
        "the scenario has no `blockage`"
    );
}
