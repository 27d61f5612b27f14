//! Tests of names of users' own algorithms, which the catalog does not contain.

use crate::catalog::CATALOG;
use crate::{FLOW, LINK};
use fadeout_core::registry::Value;
use fadeout_scenario::{OwnNames, Scenario, ScenarioErrors, Source, parse_with};

const OWN: OwnNames<'_> = OwnNames {
    kind: "congestion-control",
    names: &["mine"],
};

fn read(lines: &str) -> Result<Scenario, ScenarioErrors> {
    let source = Source {
        name: "my.toml".to_owned(),
        base_dir: ".".into(),
    };
    parse_with(
        &format!("{LINK}{FLOW}{lines}"),
        &source,
        &[],
        &CATALOG,
        &[OWN],
    )
}

#[test]
fn a_name_of_ones_own_takes_parameters_of_any_name() {
    let line = "congestion-control = { name = \"mine\", gain = 2, fast = true, word = \"20 ms\" }";
    let scenario = read(line).expect("a valid scenario");
    let named = scenario.flows[0].congestion_control.as_ref();
    let named = named.expect("a congestion control");
    assert_eq!(named.name, "mine");
    assert_eq!(
        named.parameters.0,
        [
            ("gain".to_owned(), Value::Number(2.0)),
            ("fast".to_owned(), Value::Bool(true)),
            ("word".to_owned(), Value::Choice("20 ms".to_owned())),
        ]
    );
}

#[test]
fn a_list_is_no_parameter() {
    let errors = read("congestion-control = { name = \"mine\", gains = [1, 2] }");
    let errors = errors.expect_err("a mistake").errors;
    assert_eq!(errors.len(), 1);
    let expected = errors[0].expected.as_deref();
    assert_eq!(expected, Some("a number, a text, true or false"));
}

#[test]
fn a_mistyped_name_finds_ones_own() {
    let errors = read("congestion-control = \"mien\"").expect_err("a mistake");
    assert_eq!(errors.errors[0].suggestion.as_deref(), Some("`mine`"));
}

#[test]
fn a_name_of_ones_own_is_of_its_kind_alone() {
    let errors = read("application = \"mine\"").expect_err("a mistake");
    assert_eq!(errors.errors[0].message, "unknown application `mine`");
}
